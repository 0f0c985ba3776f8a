"""What lint asks of a rule that is well formed: each demand, by the line and the hint of its complaint."""

import os

import pytest
from workshop.rule_texts import LINTED as RULE
from workshop.rule_texts import LINTED_CONSUMERS as CONSUMERS
from workshop.rule_texts import OTHER

from envdoctor.rulebase.patterns import danger, literals
from envdoctor.workshop.lint import lint

RELEASES = {
    "left": ["1.8", "1.9", "2.0", "2.1", "3.0rc1"],
    "right": ["1.2", "1.3", "1.4", "1.5"],
    "left-cpu": ["1.8", "2.1"],
    "middle": ["1.0"],
    "wrong": ["0.2", "0.3", "2.0"],
}


def known(names):
    return {name: RELEASES.get(name, []) for name in names}


def silent(names):
    return dict.fromkeys(names)


@pytest.fixture
def base(tmp_path):
    (tmp_path / "vocabulary.yaml").write_text(
        "families: {left: [left-cpu]}\nmodules: [missing, standard-library]\nsystem: {glibc: version}\n"
    )

    def write(*texts):
        for text in texts:
            name = text.split("\n")[0].removeprefix("id: ")
            (tmp_path / f"{name}.yaml").write_text(text)
        return str(tmp_path)

    return write


def complaints(path, releases=known):
    return [(os.path.basename(one.path), one.line, one.message) for one in lint([path], releases) if not one.note]


def test_rules_without_fault(base):
    assert complaints(base(RULE, CONSUMERS)) == []
    assert lint([base(RULE, CONSUMERS)]) == []


FAULTS = [
    # symptoms
    ("message: \"cannot import name 'pad'\"", 'message: "(a|a)*cannot import"', 10, "in too many ways"),
    ("message: \"cannot import name 'pad'\"", 'message: "(no )*(no )*cannot"', 10, "side by side"),
    ("message: \"cannot import name 'pad'\"", 'message: ".* no .*"', 10, "at least 8 characters"),
    (", message: \"cannot import name 'pad'\"", "", 10, "`raises` alone is not specific"),
    ("{raises: ImportError, message: \"cannot import name 'pad'\"}", "{in: right}", 10, "`in` alone is not specific"),
    # references
    ("[https://example.org/left/1]", "[]", 15, "a rule needs a reference"),
    ("[https://example.org/left/1]", "[example.org/left]", 15, "is not an address"),
    ('{python: "3.9",', '{recorded: "thread 7", python: "3.9",', 24, "is not an address"),
    # ranges
    ('left: ">=2", right', 'left: ">=7", right', 7, "holds for no release; its releases go from 1.8 to 3.0rc1"),
    ('left: ">=2", right', 'left: ">=1", right', 7, "holds for every release; write `left: present`"),
    ("upgrade: right>=1.4", "upgrade: right>=1.9", 12, "holds for no release"),
    ("upgrade: right>=1.4", "upgrade: rihgt>=1.4", 12, "no index knows a distribution `rihgt`"),
    ('left: "2.1", right: "1.2"', 'left: "2.2", right: "1.2"', 20, "left has no release 2.2"),
    # cells
    ('{left: "2.1", right: "1.2"}', '{left: "2.1", right: "1.4"}', 20, "the rule does not match bad cell 2"),
    ('{left: "2.1", right: "1.2"}', '{left: "2.1"}', 20, "the rule does not match bad cell 2"),
    ('{left: "1.9", right: "1.3"}', '{left: "2.1", right: "1.3"}', 22, "the rule matches good cell 1"),
    ('python: ">=3.10"', 'python: ">=3.10.4"', 19, "python.version is unknown: 3.10 does not say which patch"),
    ('python: ">=3.10"', "module: {distutils: missing}", 19, "add `modules: {distutils: ...}`"),
    ('python: ">=3.10"', 'system: {glibc: "<2.17"}', 19, "add `system: {glibc: ...}`"),
    # edges
    ('    - {python: "3.9", packages: {left: "2.0", right: "1.3"}}\n', "", 6, "just past `Python >=3.10`"),
    ('    - {python: "3.10", packages: {left: "1.9", right: "1.3"}}\n', "", 7, "just past `left >=2`"),
    ('    - {python: "3.10", packages: {left: "2.0", right: "1.4"}}\n', "", 7, "just past `right <1.4`"),
    ('{left: "1.9", right: "1.3"}', '{left: "1.9", right: "1.4"}', 7, "just past `left >=2`"),
    ('left: ">=2", right', 'left: ">=2,!=3.0rc1", right', 7, "just past `left !=3.0rc1`"),
    (
        '  python: ">=3.10"\n',
        '  not: {python: "<3.10"}\n  any: [{python: "<3.12"}, {packages: {left: "<1"}}]\n',
        7,
        "past `Python <3.12`",
    ),
    # remedies
    ("upgrade: right>=1.4", "upgrade: right>=1.2", 12, "after `upgrade: right>=1.2` the rule still matches bad cell 1"),
    ("upgrade: right>=1.4", "uninstall: middle", 12, "the rule still matches"),
    ("downgrade: python<3.10", "downgrade: python<3.11", 14, "the rule still matches"),
    ("upgrade: right>=1.4", "replace: left\n    with: left-cpu>=2", 12, "the rule still matches"),
]


@pytest.mark.parametrize(
    ("old", "new", "line", "part"), FAULTS, ids=[row[3][:30] + "/" + row[1][:20] for row in FAULTS]
)
def test_faults(base, old, new, line, part):
    assert RULE.count(old) == 1
    found = complaints(base(RULE.replace(old, new)))
    assert [one for one in found if one[1] == line and part in one[2]], found


@pytest.mark.parametrize(
    "new",
    [
        "replace: left\n    with: left-cpu<2",
        "uninstall: right",
        "install: [right>=1.4, left<2]",
        "upgrade: right>=1.2\n    safety: manual",
        "upgrade: right>=1.2\n    when: {packages: {middle: present}}",
        "pin: middle<2\n    at: build",
        "change: call another function",
    ],
)
def test_remedies_that_are_well_formed(base, new):
    assert complaints(base(RULE.replace("upgrade: right>=1.4", new))) == []


def test_a_remedy_must_not_raise_another_rule(base):
    found = complaints(base(RULE, OTHER))
    hint = "bound the version that it installs, or say `when:` to offer it elsewhere"
    assert [(line, message) for file, line, message in found if file == "left-breaks-right.yaml"] == [
        (12, f"`upgrade: right>=1.4` raises the rule right-needs-middle in {cell}; {hint}")
        for cell in ("bad cell 1 (Python 3.10, left 2.0, right 1.3)", "bad cell 2 (Python 3.11, left 2.1, right 1.2)")
    ]
    assert complaints(base(RULE.replace("right>=1.4", "right>=1.4,<1.5"), OTHER)) == []


def test_another_rule_is_seen_when_a_single_file_is_read(base):
    path = base(RULE, OTHER) + "/left-breaks-right.yaml"
    assert any("raises the rule right-needs-middle" in message for _, _, message in complaints(path))


@pytest.mark.parametrize(
    ("old", "new", "line", "part"),
    [
        (
            '    - {python: "3.10", packages: {left: "2.0", wrong: "0.3"}}\n',
            "",
            8,
            "the consumer `wrong` has no bad cell",
        ),
        ('    - {python: "3.10", packages: {left: "2.0", right: "1.4"}}\n', "", 7, "just past `right <1.4`"),
        ('    - {python: "3.10", packages: {left: "2.0", wrong: "2.0"}}\n', "", 8, "just past `wrong <2`"),
        ('works: "1.4"', 'works: "1.4.1"', 7, "right has no release 1.4.1"),
        ('works: "1.4"', 'works: "1.3"', 7, "right 1.3 lies in its bad range"),
        ('bad: "<1.4"', 'bad: "<0.4"', 7, "holds for no release"),
        ("pin: left<2", "pin: left<3", 12, "the rule still matches"),
    ],
)
def test_faults_of_consumers(base, old, new, line, part):
    found = complaints(base(CONSUMERS.replace(old, new)))
    assert [one for one in found if one[1] == line and part in one[2]], found


def test_what_is_not_demanded_of_consumers(base):
    older = CONSUMERS.replace('    - {python: "3.10", packages: {left: "2.0", wrong: "0.2"}}\n', "")
    assert complaints(base(older)) == []
    unknown = older.replace('    - {python: "3.10", packages: {left: "2.0", wrong: "2.0"}}\n', "")
    assert complaints(base(unknown), None) == []


def test_an_error_class_of_a_library_makes_a_short_message_specific(base):
    assert (
        complaints(base(RULE.replace("ImportError, message: \"cannot import name 'pad'\"", 'PadError, message: "pad"')))
        == []
    )


def test_a_family_means_whichever_member_is_installed(base):
    text = RULE.replace('{left: "2.1", right: "1.2"}', '{left-cpu: "2.1", right: "1.2"}')
    assert complaints(base(text), None) == []


def test_without_an_index_the_ranges_are_said_once_to_be_unheld(base):
    found = lint([base(RULE.replace("left/1", "left/2"), CONSUMERS, OTHER)], silent)
    assert [one.note for one in found] == [True]
    assert "no index answered" in found[0].message


def test_a_recorded_cell_may_name_what_no_longer_exists(base):
    text = RULE.replace(
        '{python: "3.11", packages: {left: "2.1"',
        '{recorded: "https://example.org/1", python: "3.11", packages: {left: "2.7"',
    )
    assert complaints(base(text)) == []


def test_facts_besides_versions(base):
    text = RULE.replace(
        '  python: ">=3.10"',
        '  python: {version: ">=3.10", free-threaded: false}\n'
        "  marker: sys_platform == 'linux' and platform_machine == 'x86_64'\n"
        '  env: {USE_LEFT: {matches: "^[1-9]"}}\n'
        "  module: {pad: missing}\n"
        "  start_method: [fork, spawn]",
    )
    text = text.replace('{python: "3', '{env: {USE_LEFT: "1"}, modules: {pad: missing}, start_method: fork, python: "3')
    assert complaints(base(text)) == []
    assert len(complaints(base(text.replace("modules: {pad: missing}", "modules: {pad: left}")))) > 0


def test_malformed_files_and_missing_paths_are_complaints(base, tmp_path):
    found = lint([base(RULE.replace("impact: crash", "impact: no")), str(tmp_path / "nothing.yaml")])
    assert [one.line for one in found] == [4, 1]
    assert "no rule is here" in found[1].message
    assert lint([str(tmp_path / "nothing")])[0].line == 1


DANGEROUS = [
    r"(a+)+$", r"(a*)*b", r"(a|a)*b", r"(a|aa)+$", r"(.*a){12}b", r"(\w+\s?)*$", r"(a?){30}a{30}", r"(x+x+)+y",
    r"([a-zA-Z]+)*1", r"(\d+|\d+x)+z", r".*.*x", r"\s*\s+x", r"x*y?x*z", r".*a.*b.*c.*d", r"(?:a|)*b", r"(a)\1*b|(?:\1*)*",
    r"x{1,30}x{1,30}x{1,30}x{1,30}y", r"((ab)*)*c", r"(?:(?:a{1,4}){1,4}){1,9}b", "a" * 501, r"^(([a-z])+.)+[A-Z]([a-z])+$",
]  # fmt: skip
HARMLESS = [
    r"No module named 'a\.b'", r"code\(\) argument \d+ must be str, not int", r"module '[^']*' has no attribute '[^']*'",
    r"(?:\w+\.)+x: no such name", r"cannot import name .* from .*", r"requires (?:one|two) (?:or|and) [\w.]+", r"(?:ab)+c",
    r"requires [A-Za-z0-9._-]+[^,\n]{1,120}, but", r"^\s*File \"[^\"]+\", line \d+", r"(?i)undefined symbol: _Z\w+", r"\bfoo\b.*\bbar\b",
    r"a(?=bc)", r"x(?!\d+y)", r"(?:a{1,3}){2}", r"[^\W\d]\w* is gone", "caf\u00e9 ist zu \u2014 \\u2014[\u0100-\u0200]+!",
]  # fmt: skip


@pytest.mark.parametrize("pattern", DANGEROUS, ids=lambda text: text[:30])
def test_expressions_that_can_take_very_long(pattern):
    assert danger(pattern)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_expressions_that_cannot(pattern):
    assert danger(pattern) is None


def test_literal_characters_are_those_of_every_match():
    assert literals(r"ab\.c") == 4
    assert literals(r"a*b+(cd)?(?=ef)") == 1
    assert literals(r"(?:abc|de)\d\w+") == 1 + 1  # the parser moves nothing out here: the shorter branch counts
    assert literals(r"(?:ab){2}") == 2


def test_where_another_rule_begins_no_good_cell_can_be(base):
    text = RULE.replace('left: ">=2"', 'left: ">=2,<3"').replace(
        '"3.10", packages: {left: "1.9"', '"3.9", packages: {left: "1.9"'
    )
    text = text.replace("  - downgrade: left<2\n", "")
    assert any("just past `left >=2`" in message for _, _, message in complaints(base(text), None))
    other = RULE.replace("left-breaks-right", "left-one-breaks-right").replace('left: ">=2"', 'left: "<2"')
    other = other.replace('left: "2', 'left: "1').replace('left: "1.9"', 'left: "2.9"')
    found = [message for file, _, message in complaints(base(text, other), None) if file == "left-breaks-right.yaml"]
    assert found == ["no good cell is just past `left <3`; add a bad cell's copy with left outside of it"]
