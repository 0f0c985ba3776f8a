"""Truth tables, unknown included: what is not known is never false."""

import pytest
from known_facts import facts_of

from envdoctor.engine.evaluate import holds, matches
from envdoctor.engine.trace import Trace
from envdoctor.model import Distribution, Evidence, Finding, Snapshot, Unknown, UnknownFact
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


def decided(when, *args, **facts):
    """The verdict, what was seen, and what was missed."""
    trace = Trace()
    found = holds(compile_condition(when, FAMILIES), snapshot(*args, **facts), trace)
    return found, [(fact, str(value), str(source)) for fact, value, source in trace.seen], trace.unknown


ENVIRONMENT = "the environment"
UNREAD = Unknown(reason="nobody looked")


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ({"is": "set"}, "1", (True, [("env.X", "set", ENVIRONMENT)], [])), ({"is": "set"}, None, (False, [], [])),
        ({"is": "set"}, "", (True, [("env.X", "set", ENVIRONMENT)], [])),
        ({"is": "unset"}, None, (True, [("env.X", "unset", ENVIRONMENT)], [])), ({"is": "unset"}, "", (False, [], [])),
        ("1", "1", (True, [("env.X", "1", ENVIRONMENT)], [])), ("1", "11", (False, [], [])), ("1", None, (False, [], [])),
        ({"matches": "b$"}, "a" * 3999 + "b", (True, [("env.X", "b", ENVIRONMENT)], [])),
        ({"matches": "b$"}, "a" * 4000 + "b", (None, [], [("env.X", "its value is too long to be searched")])),
        ("a" * 5000, "a" * 5000, (True, [("env.X", "a" * 5000, ENVIRONMENT)], [])),
        ({"matches": "b"}, None, (False, [], [])), ({"is": "set"}, UNREAD, (None, [], [("env.X", "nobody looked")])),
    ],
)  # fmt: skip
def test_what_is_seen_of_a_variable(condition, value, expected):
    assert decided({"env": {"X": condition}}, answers={("env", "X"): value}) == expected


@pytest.mark.parametrize(
    ("when", "python", "expected"),
    [
        ({"python": ">=3.11"}, {"version": "3.11.7+", "executable": "/p"}, (True, [("python", "3.11.7", "/p")], [])),
        ({"python": ">=3.11"}, {"version": "3.11.7"}, (True, [("python", "3.11.7", "the snapshot")], [])),
        ({"python": ">=3.11.4"}, {"version": "3.11"}, (None, [], [("python.version", "3.11 does not say which patch release")])),
        ({"python": "<3.11.4"}, {"version": "3.11"}, (None, [], [("python.version", "3.11 does not say which patch release")])),
        ({"python": "<3"}, {"version": "3"}, (False, [], [])),
        ({"python": {"implementation": "cpython"}}, {"implementation": "cpython", "executable": "/p"}, (True, [("python.implementation", "cpython", "/p")], [])),
        ({"python": {"implementation": "pypy"}}, {"implementation": "cpython"}, (False, [], [])),
        ({"python": {"implementation": "pypy"}}, {}, (None, [], [("python.implementation", "the target does not say")])),
        ({"python": {"free-threaded": False}}, {"free_threaded": False}, (True, [("python.free_threaded", "False", "the snapshot")], [])),
        ({"python": ">=3"}, {}, (None, [], [("python.version", "the target does not say which Python it is for")])),
    ],
)  # fmt: skip
def test_what_is_seen_of_the_interpreter(when, python, expected):
    assert decided(when, python=python) == expected


@pytest.mark.parametrize(
    ("made_for", "specifier", "expected"),
    [
        (">=3.9,<3.12", ">=3.9", True), (">=3.9", "<3.9", False), (">=3.9", ">=3.10", None), ("", ">=3", None), (None, ">=3", None),
        (["3.9"], ">=3", None), (">=3.9" + " " * 195, ">=3.9", True), (">=3.9" + " " * 196, ">=3.9", None), ("odd", ">=3", None),
    ],
)  # fmt: skip
def test_all_pythons_that_a_lock_file_was_made_for(made_for, specifier, expected):
    here = snapshot({}, python={}).replace(target={"requires_python": made_for})
    trace = Trace()
    assert holds(compile_condition({"python": specifier}, FAMILIES), here, trace) is expected
    assert trace.seen == ([("python", made_for, "the snapshot")] if expected else [])
    open_still = [("python.version", "the target does not say which Python it is for")]
    assert trace.unknown == (open_still if expected is None else [])


@pytest.mark.parametrize(
    ("wanted", "packages", "expected"),
    [
        ("<2.16", {"tensorflow-cpu": "2.15"}, (True, [("packages.tensorflow-cpu", "2.15", "/site/tensorflow-cpu")], [])),
        ("<2.16", {"tensorflow": "2.16", "tensorflow-cpu": "2.15"}, (True, [("packages.tensorflow-cpu", "2.15", "/site/tensorflow-cpu")], [])),
        ("<2.16", {"tensorflow": "2.14", "tensorflow-cpu": "2.15"}, (True, [("packages.tensorflow", "2.14", "/site/tensorflow")], [])),
        ("<2.16", {"tensorflow": None, "tensorflow-cpu": "2.16"}, (None, [], [("packages.tensorflow", "its version is not known")])),
        ("<2.16", {"tensorflow": "2.16", "tensorflow-cpu": "odd"}, (None, [], [("packages.tensorflow-cpu", "'odd' is not a PEP 440 version")])),
        ("present", {"tensorflow-cpu": None}, (True, [("packages.tensorflow-cpu", "present", "/site/tensorflow-cpu")], [])),
        ("present", {"tensorflow-cpu": "2"}, (True, [("packages.tensorflow-cpu", "2", "/site/tensorflow-cpu")], [])),
        ("absent", {"other": "1"}, (True, [("packages.tensorflow", "not installed", "the snapshot")], [])),
        ("absent", {"tensorflow-cpu": "1"}, (False, [], [])), ("<2", {}, (False, [], [])), ("present", {}, (False, [], [])),
    ],
)  # fmt: skip
def test_what_is_seen_of_a_family(wanted, packages, expected):
    assert decided({"packages": {"tensorflow": wanted}}, packages) == expected


@pytest.mark.parametrize("wanted", ["absent", "present", ">=1"])
def test_what_a_partial_list_does_not_name_is_missed(wanted):
    reason = "a.txt does not list everything that will be installed"
    found = decided({"packages": {"tensorflow": wanted}}, complete=False, source="a.txt")
    assert found == (None, [], [("packages.tensorflow", reason)])


def test_why_a_version_is_not_known_is_said_where_somebody_knows():
    notes = [UnknownFact(rule=None, fact=f"packages.{name}", reason=f"{name} is a path") for name in ("b", "a")]
    assert decided({"packages": {"a": "<2"}}, {"a": None}, notes=notes)[2] == [("packages.a", "a is a path")]


@pytest.mark.parametrize(
    ("hidden", "value", "wanted", "expected"),
    [
        ({"file": "x.py", "namespace": False}, None, "local", (True, [("module.x", "x.py of the project", "x.py")], [])),
        ({"file": "x", "namespace": True}, {"kind": "missing"}, "local", (True, [("module.x", "the directory x of the project", "x")], [])),
        ({"file": "x", "namespace": True}, {"kind": "site-packages"}, "local", (False, [], [])),
        ({"file": "x.py", "namespace": False}, {"kind": "missing", "origin": None}, "missing", (True, [("module.x", "missing", "the snapshot")], [])),
        (None, {"kind": "site-packages", "origin": "/s/x.py"}, "site-packages", (True, [("module.x", "site-packages", "/s/x.py")], [])),
        (None, {"kind": "local", "origin": "/x.py"}, "local", (True, [("module.x", "local", "/x.py")], [])),
        (None, UNREAD, "local", (None, [], [("module.x", "nobody looked")])),
        (None, {"kind": "missing"}, "site-packages", (False, [], [])),
    ],
)  # fmt: skip
def test_what_is_seen_of_a_module(hidden, value, wanted, expected):
    answers = {("local_module", "x"): hidden, ("module", "x"): value}
    assert decided({"module": {"x": wanted}}, answers=answers) == expected


def test_a_module_that_the_project_hides_may_be_named():
    trace = Trace()
    answers = {("local_module", "x"): {"file": "x", "namespace": True}, ("module", "x"): {"kind": "missing"}}
    holds(compile_condition({"module": {"x": "local"}}, FAMILIES), snapshot(answers=answers), trace)
    assert trace.names == {"file": "x", "module": "x"}


@pytest.mark.parametrize(
    ("target", "kind", "name", "expected"),
    [
        ({"kind": "process", "pid": 7}, "process", "threads", ("process.threads", "2", "process 7")),
        ({"kind": "process", "pid": 7, "forked": "of 6"}, "process", "threads", ("process.threads", "2", "process 7")),
        ({"kind": "process", "pid": 7, "forked": "of 6"}, "process", "forked-threads", ("process.forked-threads", "2", "process 7: of 6")),
        ({"kind": "process", "pid": 7, "forked": "of 6"}, "system", "forked-threads", ("system.forked-threads", "2", "the snapshot")),
    ],
)  # fmt: skip
def test_where_a_fact_of_the_machine_or_the_process_is_from(target, kind, name, expected):
    here = snapshot(answers={(kind, name): 2}).replace(target=target)
    trace = Trace()
    assert holds(compile_condition({kind: {name: ">1"}}, FAMILIES), here, trace) is True
    assert [(fact, str(value), str(source)) for fact, value, source in trace.seen] == [expected]


@pytest.mark.parametrize(("kind", "missed"), [("process", [("process.x", "no process")]), ("python", [])])
def test_only_of_a_process_is_it_missed_that_nobody_could_look_into_it(kind, missed):
    here = snapshot(answers={("process", "x"): Unknown(reason="no process")}).replace(target={"kind": kind})
    trace = Trace()
    assert holds(compile_condition({"process": {"x": ">1"}}, FAMILIES), here, trace) is None
    assert trace.unknown == missed


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        (None, False, False), (False, False, True), (True, False, False), (None, {"matches": ""}, False),
        ("a" * 3999 + "b", {"matches": "b"}, True), ("a" * 4000 + "b", {"matches": "b"}, False), (12, {"matches": "^12$"}, True),
        ("x", ">1", None), (2, ">1", True), ("1", ">1", False),
    ],
)  # fmt: skip
def test_a_fact_is_compared_by_what_it_is(value, wanted, expected):
    assert verdict({"system": {"x": wanted}}, answers={("system", "x"): value}) is expected


def test_a_marker_and_a_start_method_are_evidence():
    marker = "sys_platform == 'linux'"
    answers = {("marker", "sys_platform"): "linux"}
    assert decided({"marker": marker}, answers=answers) == (True, [("marker", marker, "the snapshot")], [])
    assert decided({"marker": "os_name == 'nt'"})[2] == [("marker", "the target does not settle os_name == 'nt'")]
    assert decided({"start_method": "fork"}, start_method={"default": "spawn"}) == (False, [], [])
    missed = [("start_method", "the target does not say; state it with --start-method")]
    assert decided({"start_method": "fork"}, start_method={}) == (None, [], missed)
    trace = Trace()
    here = snapshot(start_method={"stated": "spawn"})
    assert holds(compile_condition({"start_method": ["fork", "spawn"]}, FAMILIES), here, trace) is True
    assert (trace.seen, trace.names) == ([("start_method", "spawn", "--start-method")], {"start_method": "spawn"})


HELD, FALSE, OPEN = {"packages": {"a": ">=1"}}, {"packages": {"a": ">=9"}}, {"env": {"X": "1"}}
MISSED = [("env.X", "nobody looked")]
SEEN = [("packages.a", "2", "/site/a")]


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"any": [OPEN, HELD]}, (True, SEEN, MISSED)), ({"any": [HELD, OPEN]}, (True, SEEN, [])),
        ({"any": [FALSE, OPEN, FALSE]}, (None, [], MISSED)), ({"any": [FALSE, FALSE]}, (False, [], [])),
        ({"any": [HELD, {"packages": {"b": "absent"}}]}, (True, SEEN, [])),
        ({"all": [HELD, OPEN]}, (None, SEEN, MISSED)), ({"all": [OPEN, FALSE]}, (False, [], [])),
        ({"all": [FALSE, OPEN]}, (False, [], [])), ({"not": OPEN}, (None, [], MISSED)), ({"not": HELD}, (False, [], [])),
        ({"not": FALSE}, (True, [], [])), ({"all": [HELD, {"not": FALSE}]}, (True, SEEN, [])),
    ],
)  # fmt: skip
def test_what_conditions_together_saw_and_missed(when, expected):
    assert decided(when, {"a": "2"}, answers={("env", "X"): UNREAD}) == expected


def test_a_rule_that_holds_without_any_fact_shows_the_interpreter():
    compiled = {"when": compile_condition({"not": {"packages": {"a": ">=1"}}}, FAMILIES)}
    (match,) = matches(compiled, snapshot({}))
    assert [(one.fact, one.value, one.source) for one in match.evidence] == [("python", "3.11.4", "the snapshot")]
    assert (match.consumer, match.names) == (None, {})
    (match,) = matches(compiled, snapshot({}, python={}))
    assert match.evidence[0].value == "None"


def test_what_of_a_consumer_is_not_known_is_missed_and_the_others_are_found():
    consumer = {"bad": "<2", "intervals": None, "works": None, "module": "m"}
    compiled = {
        "when": compile_condition({"packages": {"a": ">=1"}}, FAMILIES),
        "consumers": {"x": consumer, "y": consumer, "z": consumer},
    }
    trace = Trace()
    (match,) = matches(compiled, snapshot({"a": "2", "x": None, "y": "1"}), trace)
    assert match.names == {"consumer": "y", "works": "", "module": "m"}
    assert [one.fact for one in match.evidence] == ["packages.y", "packages.a"]
    assert trace.unknown == [("packages.x", "its version is not known")]


def test_a_rule_that_is_decided_misses_nothing():
    compiled = {"when": compile_condition({"any": [OPEN, HELD]}, FAMILIES)}
    for packages, missed in (({"a": "2"}, []), ({}, MISSED)):
        trace = Trace()
        found = matches(compiled, snapshot(packages, answers={("env", "X"): UNREAD}), trace)
        assert (bool(found), trace.unknown) == (not missed, missed)
    compiled = {"when": compile_condition({"all": [OPEN, FALSE]}, FAMILIES)}
    trace = Trace()
    assert matches(compiled, snapshot({"a": "2"}, answers={("env", "X"): UNREAD}), trace) == []
    assert trace.unknown == []
