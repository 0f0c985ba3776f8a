"""From rules as written to what the engine matches: conditions, the names a rule is filed under, and the cache."""

import json
import os
import subprocess
import sys
import threading

import pytest
from conftest import CHECKOUT, environment, run
from engine.rule_bases import VOCABULARY, base, diagnose, rule, snapshot

from envdoctor.engine.evaluate import holds
from envdoctor.engine.index import from_bytes
from envdoctor.engine.trace import Trace
from envdoctor.errors import RuleError, UsageError
from envdoctor.rulebase import reader
from envdoctor.rulebase.compile import pack
from envdoctor.rulebase.compiled_cache import base_of
from envdoctor.rulebase.sources import directory

PRESENT = {"packages": {"a": "present"}}


def when(condition):
    return rule(when=condition)["match"]["when"]


def filed_under(written, *others):
    """The names that lead to a rule, or ``None`` where no name is needed."""
    index = base(written, *others)
    names = {"a", "b", "c", "left", "left-cpu", "left-gpu", "right"}
    own = {index.texts(entry)["id"] for entry in index.candidates([])}
    found = {n for n in names if written["id"] in {index.texts(entry)["id"] for entry in index.about(n)}}
    return None if written["id"] in own else found


# -- conditions ---


def test_conditions_are_lists_with_the_cheap_ones_first():
    found = when({"env": {"X": "1"}, "packages": {"A_b": ">=2"}, "python": ">=3.11"})

    assert found[0] == "all"
    assert [part[0] for part in found[1:]] == ["python", "packages", "env"]
    assert found[2][1] == ["a-b"]
    assert found[3] == ["env", "X", "equals", "1"]


@pytest.mark.parametrize(
    ("condition", "compiled"),
    [
        ({"packages": {"left": "present"}}, ["present", ["left", "left-cpu", "left-gpu"]]),
        ({"packages": {"left-cpu": "absent"}}, ["absent", ["left-cpu"]]),
        ({"python": {"implementation": "pypy"}}, ["trait", "implementation", "pypy"]),
        ({"python": {"free-threaded": True}}, ["trait", "free_threaded", True]),
        ({"start_method": "spawn"}, ["start_method", ["spawn"]]),
        ({"start_method": ["spawn", "fork"]}, ["start_method", ["spawn", "fork"]]),
        ({"env": {"X": {"is": "unset"}}}, ["env", "X", "is", "unset"]),
        ({"env": {"X": {"matches": "^a"}}}, ["env", "X", "matches", "^a"]),
        (
            {"config": {"file": "{a,b}.toml", "key": "x.{y,z}", "is": "set"}},
            ["any", *(["config", f"{one}.toml", key, "is", "set"] for one in "ab" for key in ("x.y", "x.z"))],
        ),
        (
            {"config": {"file": "a.toml", "unless": ["b.toml", "c.toml"], "key": "x", "equals": 1}},
            ["config", "a.toml unless b.toml unless c.toml", "x", "equals", 1],
        ),
        (
            {"source": {"uses": ["a.{b,c}.{d,e}", "f.g"]}},
            ["source", "name", ["a.b.d", "a.b.e", "a.c.d", "a.c.e", "f.g"], {}],
        ),
        ({"module": {"x.y": "missing"}}, ["module", "x.y", "missing"]),
        ({"system": {"container": True}}, ["system", "container", True, None]),
        ({"marker": "os_name == 'nt'"}, ["marker", "os_name == 'nt'"]),
        ({"not": PRESENT}, ["not", ["present", ["a"]]]),
        ({"any": [PRESENT, {"start_method": "fork"}]}, ["any", ["present", ["a"]], ["start_method", ["fork"]]]),
    ],
)
def test_each_fact_has_its_form(condition, compiled):
    assert when(condition) == compiled


def test_a_rule_says_what_it_is_about_and_which_facts_it_asks():
    written = rule(when={"any": [{"packages": {"left": ">=2", "b": "absent"}}, {"not": {"python": {"debug": True}}}]})

    assert (written["packages"], written["facts"]) == (["left"], ["packages", "python"])
    assert rule(when={"installed": "missing"})["facts"] == ["installed"]


def test_consumers_and_remedies_are_carried_over():
    written = rule(
        consumers={"Right.Way": {"bad": "<1", "works": None}, "b": {"bad": "<2", "works": "2.1", "module": "bee"}},
        remedies=[{"pin": ["a<1", "b<2"], "when": {"packages": {"left": "present"}}}],
    )

    assert {name: (one["bad"], one["works"], one["module"]) for name, one in written["consumers"].items()} == {
        "right-way": ("<1", None, "right_way"), "b": ("<2", "2.1", "bee"),
    }  # fmt: skip
    (remedy,) = written["remedies"]
    assert (remedy["kind"], remedy["requirement"]) == ("pin", "a<1 b<2")
    assert remedy["when"] == ["present", ["left", "left-cpu", "left-gpu"]]


def test_a_compiled_rule_survives_json():
    written = rule(when={"not": {"any": [{"packages": {"a": ">=1,<2", "b": "absent"}}, {"env": {"X": "1"}}]}})

    again = json.loads(json.dumps(written))

    here = snapshot({"a": "1.5"}, lookups={("env", "X"): "2"})
    assert again == written
    assert holds(again["match"]["when"], here, Trace()) is holds(written["match"]["when"], here, Trace()) is False


# -- where a rule is filed ---


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        (PRESENT, {"a"}),
        ({"packages": {"left": ">=2"}}, {"left", "left-cpu", "left-gpu"}),
        ({"packages": {"a": "absent"}}, None),
        ({"not": PRESENT}, None),
        ({"python": ">=3"}, None),
        ({"any": [PRESENT, {"packages": {"b": "<2"}}]}, {"a", "b"}),
        ({"any": [PRESENT, {"python": ">=3"}]}, None),
        ({"any": [PRESENT, {"not": {"packages": {"b": "present"}}}]}, None),
        ({"all": [{"not": {"packages": {"b": "present"}}}, PRESENT]}, {"a"}),
        ({"python": ">=3", "packages": {"a": "<2"}}, {"a"}),
        (
            {"any": [{"all": [PRESENT, {"python": ">=3"}]}, {"all": [{"packages": {"b": "<2", "c": "absent"}}]}]},
            {"a", "b"},
        ),
        ({"installed": "missing"}, None),
    ],
)
def test_a_rule_is_filed_under_names_without_which_it_cannot_hold(condition, names):
    assert filed_under(rule(when=condition)) == names


def test_a_rule_is_filed_under_its_rarest_name():
    common = [rule(f"other-{number}", when={"packages": {"a": ">=2"}}) for number in range(3)]

    assert filed_under(rule(when={"packages": {"a": ">=1", "b": "<2"}}), *common) == {"b"}


def test_consumers_stand_for_a_cause_without_a_name():
    written = rule(
        when={"python": ">=3.12"}, consumers={"a": {"bad": "<1", "works": "1"}, "b": {"bad": "<1", "works": "1"}}
    )

    assert filed_under(written) == {"a", "b"}


@pytest.mark.parametrize(
    "installed", [{}, {"a": "1.5"}, {"b": "1"}, {"a": "1.5", "b": "1"}, {"left-cpu": "2"}, {"a": "1.5", "left": "3"}]
)
@pytest.mark.parametrize(
    "condition",
    [
        {"packages": {"a": ">=1", "b": "absent"}}, {"any": [{"packages": {"a": "<2"}}, {"packages": {"left": ">=2"}}]},
        {"not": {"packages": {"a": ">=1"}}}, {"not": {"not": {"packages": {"a": "present"}}}},
        {"any": [{"all": [{"packages": {"b": "present"}}, {"not": {"packages": {"a": "<1"}}}]}, {"packages": {"left": "<9"}}]},
    ],
)  # fmt: skip
def test_filing_hides_no_rule_that_holds(condition, installed):
    written, here = rule(when=condition), snapshot(installed)

    found = diagnose(here, [base(written)])[0]

    assert bool(found) is holds(written["match"]["when"], here, Trace())


def test_what_rules_ask_of_a_target_is_listed():
    rules = [
        rule("a", when={"env": {"X": "1"}, "not": {"module": {"distutils": "missing"}}}),
        rule("b", remedies=[{"pin": "a<1", "when": {"any": [{"env": {"Y": "1"}}, {"system": {"glibc": "<2.28"}}]}}]),
        rule("c", when={"env": {"X": {"is": "set"}}}),
    ]

    assert base(*rules).wanted == {
        "env": ["X", "Y"],
        "library": [],
        "module": ["distutils"],
        "program": [],
        "system": ["glibc"],
    }


# -- a directory and its cache ---

TEXT = """\
id: {id}
title: left breaks
severity: error
impact: crash
when: {{packages: {{left: "{range}"}}}}
why: It does.
symptoms: [{{raises: ImportError, message: "{message}"}}]
remedies: [{{downgrade: left<2}}]
references: ["https://example.org/1"]
proof: {{script: import left, bad: [{{python: "3.10", packages: {{left: "2.0"}}}}]}}
"""


def write(folder, name="left-breaks", specifier=">=2", message="cannot import name", **more):
    text = TEXT.format(id=name, range=specifier, message=message) + "".join(more.values())
    (folder / "area").mkdir(parents=True, exist_ok=True)
    (folder / "area" / f"{name}.yaml").write_text(text)


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """A directory with one rule, and a separate cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "vocabulary.yaml").write_text(json.dumps(VOCABULARY))
    write(folder)
    return folder


def cached(folder):
    """The rules of a directory as any run has them: compiled, or from the cache."""
    return base_of(directory(str(folder)), lambda _: {})


def kept(tmp_path):
    return sorted((tmp_path / "cache" / "envdoctor").glob("rules-*"))


def ids(base):
    return {base.asked.texts(entry)["id"] for entry in base.asked.all()}


def ranges(base):
    """The lower ends of what rules ask of their distribution."""
    return {str(entry[2]["when"][3][0][0]) for entry in base.asked.all()}


@pytest.fixture
def compilations(monkeypatch):
    """The places of the sources that are compiled, while they still are."""
    seen, real = [], reader.read_source
    monkeypatch.setattr(reader, "read_source", lambda *words: seen.append(words[0].place) or real(*words))
    return seen


def test_rules_are_compiled_once_for_each_content(rules, tmp_path, compilations):
    first, second = cached(rules), cached(rules)
    assert ids(first) == ids(second) == {"left-breaks"}
    assert compilations.count(str(rules)) == 1
    write(rules, specifier=">=3")
    third = cached(rules)

    assert compilations.count(str(rules)) == 2
    assert ranges(first) != ranges(third)
    assert len([path for path in kept(tmp_path) if "own" in path.name]) == 1, "one file however often it changes"


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda rules: write(rules, "another"), True),
        (lambda rules: os.rename(rules / "area", rules / "elsewhere"), True),
        (lambda rules: (rules / "vocabulary.yaml").write_text("families: {left: [left-ng]}\n"), True),
        (lambda rules: (rules / "area" / "left-breaks.proof.json").write_text("{}"), True),
        (lambda rules: (rules / "notes.txt").write_text("no rule"), False),
    ],
    ids=["another rule", "another place", "another word", "a proof", "no rule"],
)
def test_rules_are_compiled_again_when_anything_that_decides_them_changes(rules, change, again, compilations):
    cached(rules)
    change(rules)
    cached(rules)

    assert compilations.count(str(rules)) == 1 + again


def test_a_change_that_keeps_size_and_time_of_a_file_is_seen(rules):
    cached(rules)
    path = rules / "area" / "left-breaks.yaml"
    before = path.stat()
    path.write_text(path.read_text().replace('">=2"', '">=5"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert path.stat().st_size == before.st_size
    assert ranges(cached(rules)) == {str(entry) for entry in ranges(cached(rules)) if "5" in entry}


@pytest.mark.parametrize("place", [0, 40, 100, -1])
def test_a_damaged_cache_is_made_anew(rules, tmp_path, place):
    cached(rules)
    path = next(path for path in kept(tmp_path) if "own" in path.name)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)

    assert ids(cached(rules)) == {"left-breaks"}
    assert path.read_bytes() != bytes(data)


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 10_000])
def test_a_cache_cut_short_is_made_anew(rules, tmp_path, content):
    cached(rules)
    for path in kept(tmp_path):
        path.write_bytes(content)

    assert ids(cached(rules)) == {"left-breaks"}


def test_a_cache_that_cannot_be_written_costs_only_time(rules, tmp_path):
    (tmp_path / "cache").write_text("a file where the directory should be")

    assert ids(cached(rules)) == {"left-breaks"}


def test_a_cache_file_that_is_a_directory_is_passed_over_and_nothing_is_left(rules, tmp_path):
    cached(rules)
    path = next(path for path in kept(tmp_path) if "own" in path.name)
    path.unlink()
    path.mkdir()
    (path / "x").write_text("")
    before = kept(tmp_path)

    assert ids(cached(rules)) == {"left-breaks"}
    assert kept(tmp_path) == before


def test_several_processes_may_compile_at_once(rules, tmp_path):
    code = (
        "import sys; from envdoctor.rulebase.compiled_cache import base_of; from envdoctor.rulebase.sources import directory; "
        "print(base_of(directory(sys.argv[1]), lambda _: {}).asked.rules)"
    )
    environment = {**os.environ, "PYTHONPATH": CHECKOUT}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(rules)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    said = [process.communicate(timeout=300) for process in runs]

    assert [error for _, error in said if error] == []
    assert {out.strip() for out, _ in said} == {b"1"}


def test_a_reader_never_sees_half_a_cache(rules):
    results = []
    threads = [threading.Thread(target=lambda: results.append(ids(cached(rules)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [{"left-breaks"}] * 8


def test_rules_of_a_directory_are_compiled_from_within_an_archive_too(wheel, rules, tmp_path):
    code = (
        "import sys; from envdoctor.rulebase.load import further; "
        "print(further([sys.argv[1]])[0].asked.rules, 'yaml' in sys.modules)"
    )
    words = [sys.executable, "-c", code, rules]

    first, second = (run(*words, env=environment(PYTHONPATH=str(wheel)), cwd=tmp_path) for _ in range(2))

    assert (first.stdout.split(), first.stderr) == (["1", "True"], "")
    assert (second.stdout.split(), second.stderr) == (["1", "False"], "")


# -- what is refused ---


def test_all_complaints_come_at_once_with_file_and_line(rules):
    write(rules, "first-bad", specifier="2")
    write(rules, "second-bad", more="colour: blue\n")

    with pytest.raises(RuleError) as raised:
        reader.compile_directory(str(rules))

    assert "first-bad.yaml:5: " in str(raised.value)
    assert "second-bad.yaml:11: " in str(raised.value)


HOSTILE = ["(a+)+b", "(a|aa)*c", "(.*a){20}", "x*x*y", "(?:a?){50}a{50}", "a" * 600]


@pytest.mark.parametrize("message", HOSTILE)
def test_an_expression_that_could_keep_explain_busy_for_ever_is_refused(rules, message):
    write(rules, "hostile", message=message)

    base = cached(rules)

    assert ids(base) == {"left-breaks"}
    ((path, line, why),) = base.left_out
    assert (os.path.basename(path), line) == ("hostile.yaml", 7)
    assert "expression" in why or "quantifier" in why


@pytest.mark.parametrize("place", ["when", "remedy"])
def test_the_same_holds_for_the_value_of_an_environment_variable(rules, place):
    condition = '{env: {X: {matches: "(a+)+b"}}}'
    text = TEXT.format(id="hostile", range=">=2", message="cannot import name")
    if place == "when":
        text = text.replace('{packages: {left: ">=2"}}', condition)
    else:
        text = text.replace("{downgrade: left<2}", f"{{downgrade: left<2, when: {condition}}}")
    (rules / "area" / "hostile.yaml").write_text(text)

    ((path, line, _),) = cached(rules).left_out
    assert (os.path.basename(path), line) == ("hostile.yaml", 5 if place == "when" else 8)


def test_a_directory_that_is_none_is_named(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        directory(str(tmp_path / "nowhere"))


def test_the_head_carries_the_digest_it_was_given():
    assert from_bytes(pack([rule()], "abc"), "x").digest == "abc"
