"""Rule files that several tests read: whole ones, ones without fault, and ones that were written to break a reader."""

#: Every word of the language, in a rule that parses.
RULE = """\
id: left-breaks-right
title: left 2 removed what right imports
severity: error
impact: crash
when:
  python: ">=3.10"
  packages: {Left_Pad: ">=2", right: "<1.4", third: absent}
why: >
  left 2.0 removed a name.
symptoms:
  - {raises: ImportError, message: "cannot import name 'pad' from 'left'", in: right}
remedies:
  - upgrade: right>=1.4
  - replace: Left_Pad
    with: leftpad>=1
    when: {any: [{marker: sys_platform == "win32"}, {not: {env: {LEFT: {is: set}}}}]}
  - set: {file: "*.ini", key: left.pad, to: false}
    safety: workaround
    effect: nothing is padded
  - pin: [left-pad<2, right<1.4]
    at: build
  - change: call the other name
references:
  - https://example.org/left/1
proof:
  script: import right
  bad:
    - {python: "3.10", packages: {left-pad: "2.0", right: "1.3"}, raises: "ImportError: cannot"}
  good:
    - {python: "3.10", packages: {left-pad: "1.9", right: "1.3"}, absent: [third], modules: {left: missing}}
    - {python: "3.11.4", platform: win32, machine: AMD64, env: {LEFT: "1"}, system: {glibc: "2.17", container: true}}
    - {recorded: "https://example.org/left/2", start_method: spawn}
"""

CONSUMERS = """\
id: left-breaks-right
title: "{consumer} imports what left 2 removed"
severity: warning
impact: crash
when: {packages: {left: ">=2"}}
consumers:
  right: {bad: "<1.4", works: "1.4"}
  Wrong.Way: {bad: ">=0.3", works: null, module: wrong}
why: It is gone.
remedies:
  - upgrade: "{consumer}>={works}"
  - uninstall: "{consumer}"
references: ["https://example.org/left/1"]
proof: {script: "import {module}", each: consumer, bad: [{python: "3.10", packages: {left: "2", right: "1.3"}}]}
"""

#: Rules that lint has nothing against.
LINTED = """\
id: left-breaks-right
title: left 2 removed what right imports
severity: error
impact: crash
when:
  python: ">=3.10"
  packages: {left: ">=2", right: "<1.4"}
why: left 2.0 removed a name.
symptoms:
  - {raises: ImportError, message: "cannot import name 'pad'"}
remedies:
  - upgrade: right>=1.4
  - downgrade: left<2
  - downgrade: python<3.10
references: [https://example.org/left/1]
proof:
  script: import right
  bad:
    - {python: "3.10", packages: {left: "2.0", right: "1.3"}}
    - {python: "3.11", packages: {left: "2.1", right: "1.2"}}
  good:
    - {python: "3.10", packages: {left: "1.9", right: "1.3"}}
    - {python: "3.10", packages: {left: "2.0", right: "1.4"}}
    - {python: "3.9", packages: {left: "2.0", right: "1.3"}}
"""

LINTED_CONSUMERS = """\
id: left-name-removed
title: "{consumer} imports what left 2 removed"
severity: error
impact: crash
when: {packages: {left: ">=2"}}
consumers:
  right: {bad: "<1.4", works: "1.4"}
  wrong: {bad: ">=0.3,<2", works: null}
why: It is gone.
remedies:
  - upgrade: "{consumer}>={works}"
  - pin: left<2
references: [https://example.org/left/1]
proof:
  script: import {module}
  each: consumer
  bad:
    - {python: "3.10", packages: {left: "2.0", right: "1.3"}}
    - {python: "3.10", packages: {left: "2.0", wrong: "0.3"}}
  good:
    - {python: "3.10", packages: {left: "1.9", right: "1.3"}}
    - {python: "3.10", packages: {left: "2.0", right: "1.4"}}
    - {python: "3.10", packages: {left: "2.0", wrong: "0.2"}}
    - {python: "3.10", packages: {left: "2.0", wrong: "2.0"}}
"""

#: A rule that some remedies of the others raise.
OTHER = """\
id: right-needs-middle
title: right 1.5 does not start without middle
severity: error
impact: crash
when: {packages: {right: ">=1.5", middle: absent}}
why: It says so itself.
symptoms: [{raises: ImportError, message: "right needs middle"}]
remedies: [{install: middle}]
references: [https://example.org/right/2]
proof:
  script: import right
  bad: [{python: "3.10", packages: {right: "1.5"}}]
  good:
    - {python: "3.10", packages: {right: "1.4"}}
    - {python: "3.10", packages: {right: "1.5", middle: "1"}}
"""

HUGE = "x" * 300_000
NASTY = {
    "billion laughs": "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n" + "d: [*c,*c]\n",
    "merge": "a: {<<: *b}",
    "brackets": "[" * 1_000_000,
    "nested": "[" * 2_000,
    "nested maps": "{a: " * 2_000,
    "large": f"id: {HUGE}",
    "tab": "id: a\n\ttitle: b\n",
    "nul": "id: a\0b\n",
    "surrogate": "id: \ud800",
    "escaped surrogate": 'id: "\\ud800"',
    "control": "id: \x1b[31m",
    "empty": "",
    "comment": "# nothing\n",
    "null": "null",
    "scalar": "id",
    "list": "- id",
    "two": "id: a\n---\nid: b\n",
    "python object": "id: !!python/object/apply:os.system [true]",
    "set": "? a\n? b\n",
    "complex key": "? [a]\n: b\n",
    "unclosed": "when: {packages: {a: '<1'",
    "binary": "id: !!binary aGFsbG8=",
    "bad number": "id: 0b_\nwhy: 1__\ntitle: .inf\n",
    "directive": "%YAML 3.0\n---\nid: a\n",
    "dollar": "%TAG ! tag:x,2000:\n---\n!a b",
    "deep when": "id: a\nwhen: {not: " + "{not: " * 40 + "}" * 41,
}
