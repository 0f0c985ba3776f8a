"""Truth tables, unknown included: what is not known is never false."""

import pytest
from known_facts import facts_of

from envdoctor.engine.evaluate import holds, matches
from envdoctor.engine.trace import Trace
from envdoctor.model import Distribution, Evidence, Finding, Snapshot, Unknown
from envdoctor.rulebase.compile_condition import compile_condition

FAMILIES = {"families": {"tensorflow": ["tensorflow-cpu"]}}


def snapshot(packages=None, **facts):
    answers = facts.pop("answers", {})
    return Snapshot(
        target={},
        python=facts.pop("python", {"version": "3.11.4", "implementation": "cpython", "free_threaded": False}),
        packages={
            name: Distribution(name=name, version=version, path=f"/site/{name}")
            for name, version in (packages or {}).items()
        },
        facts=facts_of(answers),
        **facts,
    )


def verdict(when, *args, **facts):
    return holds(compile_condition(when, FAMILIES), snapshot(*args, **facts), Trace())


T, F, U = True, False, None
PARTS = {T: {"python": ">=3.11"}, F: {"python": "<3.11"}, U: {"env": {"X": "1"}}}


@pytest.mark.parametrize(("left", "right", "both"), [
    (T, T, T), (T, F, F), (T, U, U), (F, T, F), (F, F, F), (F, U, F), (U, T, U), (U, F, F), (U, U, U),
])  # fmt: skip
def test_all_is_the_least_of_its_parts(left, right, both):
    assert verdict({"all": [PARTS[left], PARTS[right]]}) is both


@pytest.mark.parametrize(("left", "right", "either"), [
    (T, T, T), (T, F, T), (T, U, T), (F, T, T), (F, F, F), (F, U, U), (U, T, T), (U, F, U), (U, U, U),
])  # fmt: skip
def test_any_is_the_greatest_of_its_parts(left, right, either):
    assert verdict({"any": [PARTS[left], PARTS[right]]}) is either


@pytest.mark.parametrize(("part", "opposite"), [(T, F), (F, T), (U, U)])
def test_not_of_unknown_is_unknown(part, opposite):
    assert verdict({"not": PARTS[part]}) is opposite


@pytest.mark.parametrize(("when", "expected"), [
    ({"packages": {"a": ">=2"}}, T),
    ({"packages": {"a": ">=3"}}, F),
    ({"packages": {"b": ">=1"}}, F),
    ({"packages": {"b": "absent"}}, T),
    ({"packages": {"a": "absent"}}, F),
    ({"packages": {"a": "present"}}, T),
    ({"packages": {"unpinned": ">=1"}}, U),
    ({"packages": {"unpinned": "present"}}, T),
    ({"packages": {"odd": ">=1"}}, U),
    ({"packages": {"tensorflow": ">=2"}}, T),
    ({"packages": {"tensorflow": "absent"}}, F),
])  # fmt: skip
def test_packages(when, expected):
    packages = {"a": "2.1", "unpinned": None, "odd": "2004d", "tensorflow-cpu": "2.15.0"}
    assert verdict(when, packages) is expected


def test_what_a_partial_list_does_not_name_is_unknown():
    for wanted in ("absent", "present", ">=1"):
        assert verdict({"packages": {"b": wanted}}, complete=False) is None


@pytest.mark.parametrize(("version", "specifier", "expected"), [
    ("3.11", ">=3.11", T), ("3.11", "<3.12", T), ("3.11", ">=3.11.4", U), ("3.11", "==3.11.*", T),
    ("3.11.4", ">=3.11.4", T), ("3.12.0rc1", ">=3.12", F), ("3.11.7+", ">=3.11", T), (None, ">=3", U),
])  # fmt: skip
def test_python_without_a_patch_release_is_only_compared_where_that_settles_it(version, specifier, expected):
    assert verdict({"python": specifier}, python={"version": version} if version else {}) is expected


@pytest.mark.parametrize(("when", "expected"), [
    ({"python": {"implementation": "cpython"}}, T),
    ({"python": {"free-threaded": True}}, F),
    ({"python": {"debug": True}}, U),
    ({"start_method": "fork"}, T),
    ({"start_method": ["spawn", "forkserver"]}, F),
    ({"env": {"SET": "1"}}, T),
    ({"env": {"SET": {"matches": "^[0-9]$"}}}, T),
    ({"env": {"SET": {"is": "unset"}}}, F),
    ({"env": {"GONE": {"is": "unset"}}}, T),
    ({"env": {"GONE": "1"}}, F),
    ({"env": {"OTHER": "1"}}, U),
    ({"module": {"distutils": "missing"}}, T),
    ({"module": {"typing": "site-packages"}}, F),
    ({"module": {"other": "missing"}}, U),
    ({"system": {"glibc": "<2.28"}}, T),
    ({"system": {"musl": "<2"}}, F),
    ({"system": {"container": True}}, T),
    ({"system": {"openssl": "<2"}}, U),
    ({"marker": "sys_platform == 'linux'"}, T),
    ({"marker": "sys_platform == 'win32'"}, F),
    ({"marker": "os_name == 'nt'"}, U),
])  # fmt: skip
def test_every_other_fact(when, expected):
    answers = {
        ("env", "SET"): "1", ("env", "GONE"): None,
        ("module", "distutils"): {"kind": "missing", "origin": None},
        ("module", "typing"): {"kind": "standard-library", "origin": None},
        ("system", "glibc"): "2.17", ("system", "musl"): None, ("system", "container"): True,
        ("marker", "sys_platform"): "linux",
    }  # fmt: skip
    assert verdict(when, answers=answers, start_method={"default": "fork"}) is expected


def test_what_of_a_variable_matched_is_the_evidence():
    def seen(condition):
        trace = Trace()
        compiled = compile_condition({"env": {"LIMIT": condition}}, FAMILIES)
        held = holds(compiled, snapshot({}, answers={("env", "LIMIT"): "a secret, 64"}), trace)
        return held, [(one.fact, one.value, one.source) for one in trace.evidence()]

    assert seen({"matches": "[0-9]+"}) == (True, [("env.LIMIT", "64", "the environment")])
    assert seen({"matches": "(?=a)"}) == (True, [("env.LIMIT", "matches", "the environment")])
    assert seen({"matches": "[0-9]{3}"}) == (False, [])


def test_a_stated_start_method_counts_before_the_default():
    assert verdict({"start_method": "spawn"}, start_method={"default": "fork", "stated": "spawn"}) is True


def test_a_match_carries_evidence_with_its_source_and_the_unknown_says_why():
    compiled = {"when": compile_condition({"python": ">=3.11", "packages": {"a": "<3"}}, FAMILIES)}

    (match,) = matches(compiled, snapshot({"a": "2.1"}))

    assert [(one.fact, one.value, one.source) for one in match.evidence] == [
        ("python", "3.11.4", "the snapshot"),
        ("packages.a", "2.1", "/site/a"),
    ]
    trace = Trace()
    assert matches(compiled, snapshot({"a": None}), trace) == []
    assert trace.unknown == [("packages.a", "its version is not known")]


def test_each_consumer_in_its_bad_range_is_a_match_of_its_own():
    consumer = {"bad": "<2", "intervals": None, "works": "2.0", "module": "x"}
    compiled = {
        "when": compile_condition({"packages": {"cause": ">=3"}}, FAMILIES),
        "consumers": {"x": consumer, "y": consumer, "z": {**consumer, "works": None}},
    }

    found = matches(compiled, snapshot({"cause": "3.1", "x": "1.0", "y": "2.0", "z": "1.9"}))

    assert [match.consumer for match in found] == ["x", "z"]
    assert found[0].names == {"consumer": "x", "works": "2.0", "module": "x"}
    assert matches(compiled, snapshot({"cause": "2.9", "x": "1.0"})) == []


def test_no_finding_without_evidence_and_no_evidence_without_a_source():
    with pytest.raises(ValueError, match="needs a source"):
        Evidence(fact="python", value="3", source="")
    with pytest.raises(ValueError, match="needs evidence"):
        Finding(rule="r", severity="error", impact="crash", title="t", why="w", packages=[], facts=[], evidence=[])


def test_an_unknown_refuses_to_be_taken_for_true_or_false():
    with pytest.raises(TypeError):
        bool(Unknown(reason="not read"))
