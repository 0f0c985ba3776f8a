"""The rule language, word by word: what is read, and what is refused with its line and what to write instead."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
import yaml
from conftest import untraced
from workshop.rule_texts import CONSUMERS, NASTY, RULE

from envdoctor.errors import RuleError
from envdoctor.rulebase.shipped_files import checkout
from envdoctor.rulebase.sources import files_below
from envdoctor.rulebase.syntax import load_vocabulary, parse, read_rules

RULES = checkout()
VOCABULARY = load_vocabulary(os.path.join(RULES, "vocabulary.yaml"))
with open(os.path.join(RULES, "schema.json"), encoding="utf-8") as _file:
    SCHEMA = jsonschema.Draft202012Validator(json.load(_file))


def read(text, path="rules/left-breaks-right.yaml"):
    return parse(text, path, VOCABULARY)


def test_a_rule_is_read_and_normalised():
    rule, complaints = read(RULE)
    assert complaints == []
    assert rule.id == "left-breaks-right"
    assert rule.when == {"python": ">=3.10", "packages": {"left-pad": ">=2", "right": "<1.4", "third": "absent"}}
    assert rule.why == "left 2.0 removed a name."
    assert rule.status == ""
    assert rule.consumers == {}
    kinds = [remedy["kind"] for remedy in rule.remedies]
    assert kinds == ["upgrade", "replace", "set", "pin", "change"]
    upgrade, replace, entry, pin, change = rule.remedies
    assert upgrade == {"kind": "upgrade", "requirement": "right>=1.4", "safety": "safe", "at": "run"}
    assert replace["package"] == "left-pad"
    assert replace["requirement"] == "leftpad>=1"
    assert replace["when"]["any"][1] == {"not": {"env": {"LEFT": {"is": "set"}}}}
    assert (entry["file"], entry["key"], entry["to"]) == ("*.ini", "left.pad", False)
    assert entry["effect"] == "nothing is padded"
    assert pin["requirements"] == ["left-pad<2", "right<1.4"]
    assert pin["at"] == "build"
    assert (change["text"], change["safety"]) == ("call the other name", "manual")
    assert rule.proof["bad"][0]["packages"] == {"left-pad": "2.0", "right": "1.3"}
    assert rule.proof["good"][1]["system"] == {"glibc": "2.17", "container": True}
    assert SCHEMA.is_valid(yaml.safe_load(RULE))


def test_consumers_are_read_and_their_import_names_completed():
    rule, complaints = read(CONSUMERS)
    assert complaints == []
    assert rule.consumers == {
        "right": {"bad": "<1.4", "works": "1.4", "module": "right"},
        "wrong-way": {"bad": ">=0.3", "works": None, "module": "wrong"},
    }
    assert [remedy.get("package") for remedy in rule.remedies] == [None, "{consumer}"]
    assert rule.proof["each"] == "consumer"
    assert SCHEMA.is_valid(yaml.safe_load(CONSUMERS))


def test_lines_of_key_paths_are_known():
    rule, _ = read(RULE)
    assert rule.line("when", "packages", "left-pad") == 7
    assert rule.line("remedies", 1) == 14
    assert rule.line("remedies", 1, "with") == 15
    assert rule.line("proof", "good", 2, "packages", "unheard-of") == 32
    assert rule.line("nowhere") == 1


#: What is replaced by what; the line and a part of the complaint; whether the schema refuses it too.
BROKEN = [
    ('python: ">=3.10"', "python: 3.10", 6, 'write "3.10" in quotes', True),
    ('python: ">=3.10"', "python: >=3.10", 6, "put versions in quotes", None),
    ('python: ">=3.10"', 'python: "3.10"', 6, 'write "==3.10" or "<3.10"', True),
    ('python: ">=3.10"', 'python: "==3.10"', 6, 'write "==3.10.*"', False),
    ('python: ">=3.10"', 'python: {version: ">=3.10", free_threaded: true}', 6, "did you mean `free-threaded`?", True),
    ('python: ">=3.10"', "python: {implementation: cpyhton}", 6, "did you mean `cpython`?", True),
    ('python: ">=3.10"', "python: {debug: 1}", 6, "must be `true` or `false`", True),
    ('right: "<1.4"', "right: 1.4", 7, 'write "1.4" in quotes', True),
    ('right: "<1.4"', "right: <1.4", 7, 'write "<1.4" in quotes', False),
    ('right: "<1.4"', 'right: ""', 7, "must be text, and not empty", True),
    ('right: "<1.4"', 'right: "=<1.4"', 7, "is not a version specifier", True),
    ('right: "<1.4"', 'right: "===1.4"', 7, "is not a PEP 440 specifier", True),
    ('right: "<1.4"', 'right: [">1"]', 7, "must be text", True),
    ('right: "<1.4"', 'left.pad: "<1.4"', 7, "same distribution as another entry", False),
    ('right: "<1.4"', '"ri ght": "<1.4"', 7, "is not the name of a distribution", True),
    ('right: "<1.4"', 'python: "<3.4"', 7, "Python itself is no distribution", True),
    ("severity: error", "severity: fatal", 3, "known here: error, info, warning", True),
    ("severity: error", "severity: eror", 3, "did you mean `error`?", True),
    ("severity: error", "severty: error", 3, "did you mean `severity`?", True),
    ("severity: error", "severity: error\nseverity: info", 4, "is here twice", None),
    ("impact: crash\n", "", 1, "lacks `impact`", True),
    ("id: left-breaks-right", "id: Left", 1, "lower-case words joined by hyphens", True),
    ("id: left-breaks-right", "id: right-breaks-left", 1, "write `left-breaks-right`, or rename", False),
    ("title: left 2 removed what right imports", "title: 5", 2, 'write "5" in quotes', True),
    ("title: left 2 removed", "title: '{consumer} removed'\nx: ", 2, "nothing fills {consumer}", None),
    (
        "title: left 2 removed",
        "when: {installed: missing}\ntitle: '{found} removed'\nx: ",
        3,
        "without {found} this",
        None,
    ),
    ("why: >\n  left", "why: &a >\n  left", 8, "anchors (&name) and aliases (*name) are refused", None),
    ("impact: crash", "impact: !!str crash", 4, "is refused in rules; write the value without it", None),
    ("raises: ImportError", "raises: builtins.ImportError", 11, "not the last part of an exception's name", True),
    ('message: "cannot', 'message: "can(not', 11, "does not compile", False),
    ('message: "cannot', 'mesage: "cannot', 11, "did you mean `message`?", True),
    ("in: right", "in: right-hand", 11, "is not what `import` takes", True),
    ("  - upgrade: right>=1.4", "  - upgrad: right>=1.4", 13, "did you mean `upgrade`?", True),
    ("  - upgrade: right>=1.4", "  - upgrade: right", 13, "`upgrade` needs a version", False),
    ("  - upgrade: right>=1.4", "  - upgrade: right 1.4", 13, "is not a requirement", False),
    ("  - upgrade: right>=1.4", "  - upgrade: right===1,~=1", 13, "is not a requirement", False),
    ("  - upgrade: right>=1.4", "  - upgrade: right>=1.4; sys_platform == 'x'", 13, "takes no marker", True),
    ("  - upgrade: right>=1.4", "  - {upgrade: right>=1.4, pin: left<2}", 13, "exactly one verb, here it has 2", True),
    ("  - upgrade: right>=1.4", "  - {safety: safe}", 13, "exactly one verb, here it has 0", True),
    ("  - upgrade: right>=1.4", "  - {upgrade: right>=1.4, with: left}", 13, "`with` belongs to `replace`", True),
    ("  - upgrade: right>=1.4", "  - upgrade: []", 13, "needs a requirement", True),
    ("  - upgrade: right>=1.4", "  - setenv: {A: 1}", 13, 'write "1" in quotes', True),
    ("  - upgrade: right>=1.4", "  - setenv: {A: x, B: y}", 13, "takes one variable", True),
    ("  - upgrade: right>=1.4", "  - uninstall: 3", 13, 'write "3" in quotes', True),
    ("    with: leftpad>=1\n", "", 14, "`replace` needs what to install instead", True),
    ("    effect: nothing is padded\n", "", 17, "a workaround works at a cost", True),
    ("to: false", "to: [false]", 17, "`to` takes one value", True),
    (", to: false", "", 17, "lacks `to`", True),
    ("at: build", "at: bild", 21, "did you mean `build`?", True),
    ("is: set", "is: on", 16, "must be text", True),
    ("is: set", "is: set, equals: a", 16, "needs exactly one of: equals, matches, is", True),
    ("is: set", 'matches: "("', 16, "does not compile", False),
    ('sys_platform == "win32"', "sys_platform is win32", 16, "is not a PEP 508 marker", False),
    ('sys_platform == "win32"', 'extra == "win32"', 16, "a marker about extras", False),
    ("{not: ", "{nott: ", 16, "did you mean `not`?", True),
    ("{not: ", "{config: ", 16, "`env` is not known in config", True),
    ("{any: [", "{any: [{}, ", 16, "names no fact", True),
    ("when: {any: ", "when: {installed: missing, any: ", 16, "`installed` belongs alone at the top", True),
    ("references:\n  - https", "references: https", 23, "must be a list", True),
    ("  script: import right\n", "", 25, "lacks `script`", False),
    ('python: "3.10", packages: {left-pad: "2.0"', 'packages: {left-pad: "2.0"', 28, "a cell needs its Python", True),
    ('python: "3.11.4"', 'python: ">=3.11.4"', 31, "is not a version", True),
    ('left-pad: "2.0"', "left-pad: 2.0", 28, 'write "2.0" in quotes', True),
    ('left-pad: "2.0"', "left-pad: 2.0.0", 28, 'write "2.0.0" in quotes', False),
    ("platform: win32", "platform: windows", 31, "known here: darwin, linux, win32", True),
    ('glibc: "2.17"', 'glbc: "2.17"', 31, "did you mean `glibc`?", True),
    ("absent: [third]", "absent: third", 30, "must be a list", True),
    ("  bad:\n", "  worse:\n", 27, "is not known in proof", True),
]


@pytest.mark.parametrize(("old", "new", "line", "part", "schema"), BROKEN, ids=[row[1][:40] for row in BROKEN])
def test_what_is_refused(old, new, line, part, schema):
    assert RULE.count(old) == 1
    text = RULE.replace(old, new)
    rule, complaints = read(text)
    assert rule is None
    assert [(one.line, part) for one in complaints if part in one.message] == [(line, part)], complaints
    assert all(one.path == "rules/left-breaks-right.yaml" for one in complaints)
    if schema is not None:
        assert SCHEMA.is_valid(yaml.safe_load(text)) is not schema


def test_all_complaints_come_at_once_in_the_order_of_lines():
    text = RULE.replace("impact: crash", "impact: crsh").replace('right: "<1.4"', "right: 1.4").replace("pin:", "pn:")
    _, complaints = read(text)
    assert [one.line for one in complaints] == [4, 7, 20, 20]
    assert str(complaints[0]) == "rules/left-breaks-right.yaml:4: `crsh` is no impact; did you mean `crash`?"


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('works: "1.4"', "works: 1.4", 'write "1.4" in quotes'),
        (', works: "1.4"', "", "lacks `works`"),
        ("module: wrong", "module: wrong-way", "is not what `import` takes"),
        ("It is gone.", "It is gone from {consumr}.", "nothing fills {consumr}"),
        ('bad: "<1.4"', "bad: []", "must be text"),
    ],
)
def test_what_is_refused_of_consumers(old, new, part):
    _, complaints = read(CONSUMERS.replace(old, new))
    assert [one.message for one in complaints if part in one.message], complaints


def test_rules_about_metadata_name_what_the_engine_fills_in():
    text = CONSUMERS.replace('{packages: {left: ">=2"}}', "{installed: missing}").replace(
        "{consumer}>={works}", "{requirement}"
    )
    text = text[: text.index("consumers:")] + text[text.index("why:") :]
    _, complaints = read(
        text.replace("{consumer}", "{distribution}").replace("{module}", "x").replace(", each: consumer", "")
    )
    assert complaints == []


@pytest.mark.parametrize("name", NASTY)
def test_nothing_nasty_raises(name):
    rule, complaints = read(NASTY[name])
    assert rule is None
    assert complaints
    assert all(one.line >= 1 and one.message for one in complaints)


def test_hints_for_tabs_and_unreadable_files():
    assert "indent with spaces, not tabs" in read(NASTY["tab"])[1][0].message
    assert read(NASTY["tab"])[1][0].line == 2


def write(directory, name, text):
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_directory_is_read_sorted_and_without_its_vocabulary(tmp_path):
    write(tmp_path, "vocabulary.yaml", "families: {}\n")
    write(tmp_path, "b/left-breaks-right.yaml", RULE)
    write(tmp_path, "c/a-rule.yaml", RULE.replace("left-breaks-right", "a-rule"))
    write(tmp_path, ".hidden/c.yaml", "[")
    write(tmp_path, "d/latin.yaml", "id: é".encode("latin-1"))
    write(tmp_path, "d/again/left-breaks-right.yaml", RULE)
    (tmp_path / "loop").symlink_to(tmp_path)
    rules, complaints = read_rules(str(tmp_path), VOCABULARY)
    assert [rule.id for rule in rules] == ["a-rule", "left-breaks-right"]
    assert [(os.path.basename(one.path), one.line) for one in complaints] == [
        ("latin.yaml", 1),
        ("left-breaks-right.yaml", 1),
    ]
    assert "save it as UTF-8" in complaints[0].message
    assert "is taken by" in complaints[1].message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_the_rules_is_passed_by(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    assert files_below(str(tmp_path)) == []


@pytest.mark.parametrize("text", ["families: []", "[", "- a", "modules: {a: b}"])
def test_a_vocabulary_of_another_shape_is_refused(tmp_path, text):
    path = write(tmp_path, "vocabulary.yaml", text)
    with pytest.raises(RuleError, match=r"vocabulary"):
        load_vocabulary(path)


def test_a_missing_vocabulary_is_said(tmp_path):
    with pytest.raises(RuleError, match="cannot be read"):
        load_vocabulary(str(tmp_path / "none.yaml"))


def test_the_shipped_rules_parse():
    rules, complaints = read_rules(RULES)
    assert [str(one) for one in complaints] == []
    assert rules


@pytest.mark.trials
def test_the_schema_accepts_the_shipped_rules():
    loader, found = getattr(yaml, "CSafeLoader", yaml.SafeLoader), []
    with untraced():
        for path in files_below(RULES):
            rule = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=loader)
            found += [f"{path}: {error.json_path}: {error.message}" for error in SCHEMA.iter_errors(rule)]
    assert found == []


WHENS = [
    ("config: {file: '**/a.yaml', key: run.fast, equals: true}", None, True),
    ("config: {file: '/etc/a.yaml', key: run.fast, equals: true}", "relative to the project", False),
    ("config: {file: a.yaml, key: run.fast}", "exactly one of: equals, matches, is", True),
    ("config: {file: a.yaml, key: run.fast, equals: [1]}", "takes one value", True),
    ("config: {file: a.yaml, key: run.fast, matches: '('}", "does not compile", False),
    ("config: {file: '{a,b}.yaml', unless: c.yaml, key: 'run.{fast,slow}', is: set}", None, True),
    ("config: {file: a.yaml, unless: d/c.yaml, key: run.fast, is: set}", "in the same directory", False),
    ("source: {calls: 'lib.**.Parallel', argument: {at: 1, name: env, is: instance}}", None, True),
    (
        "source: {calls: [a.b, c.d], arguments: [{name: x, differs: 0}, {at: 0, carries: a.B}], without: x.y}",
        None,
        True,
    ),
    ("source: {imports: a.b, argument: {at: 1, is: lambda}}", "write `calls:` instead of `imports:`", False),
    ("source: {imports: a.b, uses: a.c}", "exactly one of: uses, imports, calls", True),
    ("source: {calls: 'a b'}", "is not a dotted name", False),
    ("source: {uses: 'a.{b'}", "is not a dotted name", False),
    ("source: {uses: 'a.}b{'}", "is not a dotted name", False),
    ("source: {uses: 'a.{b,}'}", "is not a dotted name", False),
    ("source: {calls: a.b, argument: {is: lambda}}", "needs its position or its keyword", True),
    ("source: {calls: a.b, argument: {at: 0}}", None, True),
    ("source: {calls: a.b, argument: {at: true, is: lambda}}", "counted from 0", True),
    ("source: {calls: a.b, argument: {at: 0, is: lambdas}}", "did you mean `lambda`?", False),
    ("artifact: {kind: pickle, names: 'a.**', protocol: '>=5', code: foreign}", None, True),
    ("artifact: {written-by: {python: '<3.8', packages: {Left.Pad: '<2'}}}", None, True),
    ("artifact: {kind: pickles}", "did you mean `pickle`?", True),
    ("artifact: {}", "`artifact` says nothing", True),
    ("artifact: {written-by: {packages: {left: 1.5}}}", "unquoted version", True),
    ("shadowed: standard-library", None, True),
    ("not: {shadowed: standard-library}", "belongs at the top", True),
    ("library: {libgomp.so.1: missing}", None, True),
    ("library: {/lib/libgomp.so.1: missing}", "is not the file name of a shared library", True),
    ("process: {openmp-runtimes: '>1', forked-with-threads: true}", None, True),
    ("process: {openmp: '>1'}", "`openmp` is not known in process; known here: children", True),
    ("start_method: [fork, spawn]", None, True),
    ("file: {'/usr/lib/*/libcuda.so.1': present}", None, True),
    ("file: {'a/b.py: text': present}", "is no glob of files", False),
    ("build: {of: left, is: cpu-only}", "add it to `builds`", False),
    ("start_method: {of: nobody, is: spawn}", "add it to `start_methods`", False),
    ("system: {gpu: '(', open-files: '<4096'}", "does not compile", False),
]


@pytest.mark.parametrize(("when", "part", "schema"), WHENS, ids=[row[0][:60] for row in WHENS])
def test_facts_that_are_read_outside_of_packages(when, part, schema):
    """``schema`` says whether the JSON schema is of the same opinion."""
    text = RULE.replace(RULE[RULE.index("when:") : RULE.index("why:")], f"when: {{{when}}}\n")
    rule, complaints = read(text)
    if part is None:
        assert complaints == []
        assert rule is not None
    else:
        assert any(part in one.message for one in complaints), complaints
    assert SCHEMA.is_valid(yaml.safe_load(text)) is (part is None) or not schema


def test_a_cell_states_a_project_and_what_was_written_elsewhere():
    cell = """{python: "3.10", files: {main.py: "import left"}, libraries: {liba.so.1: missing}, process: {threads: "4"},
      artifact: {kind: pickle, names: a.b, code: "<3.8", written-by: {python: "3.7"}}, writer: {python: "3.7"}}"""
    text = RULE.replace("  bad:\n", f"  bad:\n    - {cell}\n", 1)
    rule, complaints = read(text)
    assert [one.message for one in complaints] == [
        "a cell names a `writer`, so `proof` needs `write`: the lines that write the artefact there"
    ]
    rule, complaints = read(text.replace("  script:", "  write: import right\n  script:"))
    assert complaints == []
    first = rule.proof["bad"][0]
    assert first["artifact"] == [
        {"kind": "pickle", "names": ["a.b"], "code": ["<3.8"], "written-by": {"python": "3.7"}}
    ]
    assert rule.proof["write"] == "import right"
    assert SCHEMA.is_valid(yaml.safe_load(text))


def test_the_schema_knows_the_words_of_the_language():
    from envdoctor.facts import WORDS
    from envdoctor.remedy_kinds import KINDS
    from envdoctor.rulebase.project_conditions import TESTS
    from envdoctor.rulebase.remedy import MODIFIERS
    from envdoctor.rulebase.syntax import CELL, KEYS, NEEDED

    schema = SCHEMA.schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == set(KEYS)
    assert set(schema["required"]) == set.intersection(*map(set, NEEDED.values()))
    assert {*schema["required"], *schema["then"]["required"]} == set(NEEDED["retired"])
    assert {*schema["required"], *schema["else"]["required"]} == set(NEEDED["candidate"])
    assert {*schema["required"], *schema["else"]["required"], *schema["else"]["then"]["required"]} == set(NEEDED[""])
    assert set(schema["$defs"]["facts"]["properties"]) | {"installed", "shadowed"} == set(WORDS)
    assert set(schema["$defs"]["remedy"]["properties"]) == {*KINDS, *MODIFIERS, "with"}
    assert set(schema["$defs"]["cell"]["properties"]) == set(CELL)
    assert set(schema["$defs"]["facts"]["properties"]["system"]["properties"]) == set(VOCABULARY["system"])
    assert set(schema["$defs"]["process"]["properties"]) == set(VOCABULARY["process"])
    assert set(schema["$defs"]["argument"]["properties"]) == set(TESTS)
    assert set(schema["$defs"]["artifactKind"]["enum"]) == set(VOCABULARY["artifacts"])
