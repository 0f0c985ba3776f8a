"""The beginning of a rule: a file that parses, teaches, and whose unfinished parts lint names one by one."""

from __future__ import annotations

import re

from envdoctor.errors import RuleError

_TEMPLATE = """\
# One rule, one file. Replace every TODO, then: envdoctor rules lint {file}
# The language on one page: rules/README.md
id: {id}
title: "TODO: what breaks with what"     # one line, as a person would say it
severity: error                         # error: it breaks | warning: it breaks in some uses (say which) | info
impact: crash                           # crash | hang | wrong-result | install-failure | slow
when:                                   # all of these hold; also: marker, env, module, system, start_method
  python: ">=3.11"                      # leave it out if every Python is affected; versions always in quotes
  packages: {{todo-distribution: "<2.0"}} # a specifier, `present` or `absent`
why: >
  TODO: what changed, in which release, and why that hurts. One or two sentences.
symptoms:                               # message: a regular expression, searched in the error's text
  - {{raises: TypeError, message: "TODO: the words that only this error has"}}
remedies:                               # best first; upgrade, downgrade, pin, install, uninstall, replace, set, change
  - upgrade: todo-distribution>=2.0
references:
  - https://TODO.example/where-it-is-told
proof:                                  # real releases: `envdoctor rules verify` builds each cell and runs the script
  script: |
    import todo_distribution
  bad:                                  # the script fails here, and the rule matches
    - {{python: "3.11", packages: {{todo-distribution: "1.9"}}, raises: "TypeError: TODO"}}
  good:                                 # one cell just past each boundary that `when` names
    - {{python: "3.11", packages: {{todo-distribution: "2.0"}}}}
    - {{python: "3.10", packages: {{todo-distribution: "1.9"}}}}
"""


def skeleton(rule_id: str) -> str:
    """Return the text of a new rule's file.

    Raises :class:`RuleError` where the id is not made of lower-case words joined by hyphens.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule_id):
        better = re.sub(r"[^a-z0-9]+", "-", rule_id.lower()).strip("-") or "name-of-the-cause"
        raise RuleError(
            f"a rule could not be named {rule_id!r}: ids are lower-case words joined by hyphens; try {better}"
        )
    return _TEMPLATE.format(id=rule_id, file=f"{rule_id}.yaml")
