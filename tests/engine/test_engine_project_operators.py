"""Facts of projects and artefacts: what holds, what does not, and what a gap leaves open."""

from typing import ClassVar

import pytest
from known_facts import facts_of

from envdoctor.engine.evaluate import holds, matches
from envdoctor.engine.project_operators import imports_of, replacement
from envdoctor.engine.questions import questions
from envdoctor.engine.start_method import asked as settles
from envdoctor.engine.start_method import in_use
from envdoctor.engine.trace import LESS, Trace
from envdoctor.facts import Answer
from envdoctor.model import Snapshot, Unknown
from envdoctor.probes import answered
from envdoctor.rulebase.compile_condition import compile_condition

WORDS = {"start_methods": {"follower": "default", "fixed": ["forkserver", "spawn"], "setter": "spawn"}}


def snapshot(answers, *, gaps=(), version="3.11.4", **facts):
    return Snapshot(target={}, python={"version": version}, packages={}, probes=Searched(answers, gaps), **facts)


class Searched:
    """Answers with what was found, by the kind of fact, in whatever a rule asks."""

    def __init__(self, answers, gaps):
        self.found, self.gaps = answers, list(gaps)

    def answers(self, questions):
        return {kind: {key: self.of(kind.name, key) for key in keys} for kind, keys in questions.items()}

    def of(self, name, key):
        if name not in self.found:
            return Unknown(reason="no project")
        found = self.found[name](key) if callable(self.found[name]) else self.found[name]
        return Answer(found=found, gaps=self.gaps)


def asked(condition, here):
    """The snapshot with all that a condition asks of it."""
    return answered(here, lambda now: questions([{"when": condition, "asks": []}], now))


def verdict(when, answers, **facts):
    condition, trace = compile_condition(when, WORDS), Trace()
    return holds(condition, asked(condition, snapshot(answers, **facts)), trace), trace


def argument(*kinds, **more):
    return {"is": list(kinds), "made_by": [], "names": [], "carries": [], "text": "x", **more}


def use(kind="call", name="lib.envs.Parallel", **more):
    return {
        "kind": kind, "name": name, "file": "main.py", "line": 3, "guarded": True, "text": "Parallel(2, env)",
        "arguments": [], "keywords": {}, "open": False, **more,
    }  # fmt: skip


class TestConfig:
    def entry(self, value):
        return {"file": "a/configs.yaml", "line": 7, "key": "defaults.run.fast", "value": value}

    @pytest.mark.parametrize(("test", "value", "expected"), [
        ({"equals": True}, True, True), ({"equals": True}, "true", True), ({"equals": True}, 1, True), ({"equals": False}, "yes", False),
        ({"equals": 1}, True, False), ({"equals": 4}, 4, True), ({"equals": None}, None, True),
        ({"matches": "^postgres://"}, "postgres://u:p@h", True), ({"matches": "^postgres://"}, "sqlite://", False),
        ({"matches": "1"}, 1, False), ({"is": "set"}, None, True), ({"is": "set"}, "", True),
    ])  # fmt: skip
    def test_a_value_is_compared_with_its_type(self, test, value, expected):
        when = {"config": {"file": "**/configs.yaml", "key": "run.fast", **test}}
        assert verdict(when, {"config": [self.entry(value)]})[0] is expected

    def test_the_probe_is_asked_for_the_glob_and_the_key(self):
        asked = []
        verdict(
            {"config": {"file": "*.ini", "key": "a.b", "is": "set"}}, {"config": lambda key: asked.append(key) or []}
        )
        assert asked == [("*.ini", "a.b")]

    def test_only_what_matches_is_shown_since_the_rest_may_be_secret(self):
        when = {"config": {"file": ".env", "key": "URL", "matches": "^postgres://"}}
        _, trace = verdict(when, {"config": [self.entry("postgres://user:password@host")]})
        (shown,) = trace.evidence()
        assert (shown.value, shown.source) == ("postgres://", "a/configs.yaml:7")
        assert (shown.location.path, shown.location.line) == ("a/configs.yaml", 7)

    def test_a_remedy_can_name_the_entry(self):
        _, trace = verdict({"config": {"file": "f", "key": "k", "equals": True}}, {"config": [self.entry(value=True)]})
        assert trace.entries["f", "k"]["line"] == 7
        assert trace.names == {"file": "a/configs.yaml", "line": "7", "key": "defaults.run.fast"}


@pytest.mark.parametrize("when", [
    {"config": {"file": "f", "key": "k", "is": "set"}}, {"source": {"calls": ["lib.f"]}}, {"artifact": {"kind": ["npy"]}},
    {"shadowed": "standard-library"},
])  # fmt: skip
def test_nothing_found_is_false_a_gap_or_no_project_leaves_it_open(when):
    nothing = {kind: [] for kind in ("config", "source", "artifact", "shadows")}
    assert verdict(when, nothing)[0] is False
    gaps = ["a.py could not be read", "b.pkl ends too early"]
    found, trace = verdict(when, nothing, gaps=gaps)
    assert found is None
    assert [reason for _, reason in trace.unknown] == gaps
    assert verdict(when, {})[0] is None


class TestSource:
    @pytest.mark.parametrize(("verb", "kinds"), [
        ("imports", {"import"}), ("calls", {"call"}), ("uses", {"import", "name", "call"}),
    ])  # fmt: skip
    def test_each_verb_takes_its_kinds_of_use(self, verb, kinds):
        for kind in ("import", "name", "call"):
            assert verdict({"source": {verb: ["x"]}}, {"source": [use(kind)]})[0] is (kind in kinds)

    @pytest.mark.parametrize(("test", "given", "expected"), [
        ({"is": ["instance"]}, argument("instance"), True),
        ({"is": ["instance"]}, argument("lambda", "instance"), True),
        ({"is": ["instance"]}, argument("lambda"), False),
        ({"made-by": ["lib.**.Env"]}, argument(made_by=["lib.envs.Env"]), True),
        ({"is": ["instance"], "not-made-by": ["**.Creator"]}, argument("instance", made_by=["lib.Creator"]), False),
        ({"names": ["**.SubprocVecEnv"]}, argument("class", names=["sb.vec.SubprocVecEnv"]), True),
        ({"carries": ["zmq.Context"]}, argument(carries=[{"name": "zmq.Context", "line": 1, "via": "ctx"}]), True),
        ({"carries": ["zmq.Context"]}, argument(made_by=["zmq.Context"]), True),
        ({"carries": ["zmq.Context"]}, argument("lambda"), False),
        ({"equals": 0}, argument("constant", value=0), True),
        ({"differs": 0}, argument("constant", value=0), False),
        ({"differs": 0}, argument("constant", value=4), True),
        ({"differs": 0}, argument("unknown"), True),
    ])  # fmt: skip
    def test_an_argument_is_tested(self, test, given, expected):
        when = {"source": {"calls": ["lib.**.Parallel"], "arguments": [{"at": 1, "name": "make", **test}]}}
        by_position = use(arguments=[argument("constant"), given])
        by_keyword = use(arguments=[argument("constant")], keywords={"make": given})
        assert verdict(when, {"source": [by_position]})[0] is expected
        assert verdict(when, {"source": [by_keyword]})[0] is expected

    def test_an_argument_that_is_not_given_fails_unless_a_star_may_hold_it(self):
        when = {"source": {"calls": ["f"], "arguments": [{"at": 1, "is": ["lambda"]}]}}
        assert verdict(when, {"source": [use(arguments=[argument()])]})[0] is False
        found, trace = verdict(when, {"source": [use(open=True)]})
        assert found is None
        assert trace.unknown == [("source", "main.py:3 does not tell what is given to lib.envs.Parallel")]

    @pytest.mark.parametrize(("given", "expected"), [
        (argument(entries={"host": argument("constant", value="h")}), True),
        (argument(entries={"host": argument("constant", value="i")}), False),
        (argument(entries={"port": argument("constant", value="h")}), False),
        (argument("constant", value="h"), False),
    ])  # fmt: skip
    def test_an_entry_of_a_dictionary_that_is_given_is_tested(self, given, expected):
        when = {"source": {"calls": ["f"], "arguments": [{"at": 0, "name": "hosts.host", "equals": "h"}]}}
        assert verdict(when, {"source": [use(arguments=[given])]})[0] is expected
        assert verdict(when, {"source": [use(keywords={"hosts": given})]})[0] is expected

    @pytest.mark.parametrize(("given", "expected"), [
        (argument(entries={"a": argument("constant", value=1), "b": argument("list")}), True),
        (argument(entries={"a": argument("constant", value=1)}), False),
        (argument(entries={}, open=True), False),
        (argument("list"), False),
    ])  # fmt: skip
    def test_each_entry_of_a_dictionary_may_be_tested(self, given, expected):
        when = {"source": {"calls": ["f"], "arguments": [{"at": 1, "name": "mapping.*", "is": ["list"]}]}}
        assert verdict(when, {"source": [use(arguments=[argument(), given])]})[0] is expected
        assert verdict(when, {"source": [use(keywords={"mapping": given})]})[0] is expected

    def test_one_certain_use_settles_it(self):
        when = {"source": {"calls": ["f"], "arguments": [{"at": 0, "is": ["lambda"]}]}}
        assert verdict(when, {"source": [use(open=True), use(arguments=[argument("lambda")])]})[0] is True

    @pytest.mark.parametrize(("word", "given", "expected"), [
        ("start_method", {}, True),
        ("start_method", {"start_method": argument("constant", value="fork")}, False),
        ("options.start_method", {}, True),
        ("options.start_method", {"options": argument(entries={"start_method": argument()})}, False),
        ("options.start_method", {"options": argument(entries={"daemon": argument()})}, True),
        ("options.start_method", {"options": argument(entries={}, open=True)}, None),
        ("options.start_method", {"options": argument("unknown")}, None),
        ("options.start_method", {"options": argument("constant", value=None)}, True),
    ])  # fmt: skip
    def test_keywords_that_must_not_be_given(self, word, given, expected):
        when = {"source": {"calls": ["f"], "without": [{"name": word}]}}
        assert verdict(when, {"source": [use(keywords=given)]})[0] is expected

    def test_a_star_may_hold_the_keyword_that_must_not_be_given(self):
        assert (
            verdict({"source": {"calls": ["f"], "without": [{"name": "x"}]}}, {"source": [use(open=True)]})[0] is None
        )

    def test_a_guarded_call_is_not_unguarded(self):
        when = {"source": {"calls": ["f"], "unguarded": True}}
        assert verdict(when, {"source": [use()]})[0] is False
        assert verdict(when, {"source": [use(guarded=False)]})[0] is True

    def test_each_place_is_evidence_up_to_a_few(self):
        uses = [use(line=number) for number in range(1, 9)]
        _, trace = verdict({"source": {"calls": ["f"]}}, {"source": uses})
        assert [str(one.source) for one in trace.evidence()][:2] == ["main.py:1", "main.py:2"]
        assert trace.evidence()[-1].value == "and 3 more places"


class TestArtifact:
    MODEL: ClassVar = {
        "file": "model.zip", "kind": "pickle", "protocol": 4, "names": ["numpy._core.multiarray._reconstruct"],
        "written_by": {"python": "3.8.10", "packages": {"lib": "1.6.0"}}, "paths": [],
        "code": [{"where": "clip_range", "name": "f", "python": ">=3.8,<3.11", "constant": 0.2}],
        "functions": {"clip_range": 0.2, "lr_schedule": None},
    }  # fmt: skip

    @pytest.mark.parametrize(("test", "expected"), [
        ({"kind": ["npy", "pickle"]}, True), ({"kind": ["npy"]}, False),
        ({"names": ["numpy._core.**"]}, True), ({"names": ["numpy.core.**"]}, False),
        ({"protocol": "<5"}, True), ({"protocol": ">=5"}, False),
        ({"written-by": {"python": "<3.11"}}, True), ({"written-by": {"packages": {"lib": "<1.6"}}}, False),
        ({"written-by": {"packages": {"other": "<1.6"}}}, None), ({"kind": ["npy"], "protocol": ">=5"}, False),
        ({"code": "any"}, True), ({"code": "foreign"}, True),
    ])  # fmt: skip
    def test_each_test(self, test, expected):
        assert verdict({"artifact": test}, {"artifact": [self.MODEL]})[0] is expected

    @pytest.mark.parametrize(("version", "code", "expected"), [
        ("3.10.4", ">=3.8,<3.11", False), ("3.11.4", ">=3.8,<3.11", True), ("3.11", ">=3.11,<3.12", False),
        ("3.10.4", None, None),
    ])  # fmt: skip
    def test_code_is_foreign_where_this_python_cannot_have_written_it(self, version, code, expected):
        model = {**self.MODEL, "code": [{"where": None, "name": None, "python": code, "constant": None}]}
        assert verdict({"artifact": {"code": "foreign"}}, {"artifact": [model]}, version=version)[0] is expected

    def test_each_file_makes_a_finding_with_its_own_names(self):
        second = {**self.MODEL, "file": "other.zip"}
        compiled = {"when": compile_condition({"python": ">=3.11", "artifact": {"code": "foreign"}}, {})}
        here = asked(compiled["when"], snapshot({"artifact": [self.MODEL, second]}))
        first, other = matches(compiled, here)
        assert (first.names["file"], other.names["file"]) == ("model.zip", "other.zip")
        assert first.names["functions"] == '{"clip_range": 0.2, "lr_schedule": ...}'
        assert first.names["writer"] == "Python 3.8.10, lib 1.6.0"
        assert [one.fact for one in first.evidence] == ["python", "artifact.pickle"]
        assert first.evidence[1].value == (
            "clip_range is a function in the bytecode of Python >=3.8,<3.11, this is 3.11.4"
        )

    def test_what_stands_in_for_functions_is_python(self):
        assert eval(replacement({"b": None, "a": 0.5})) == {"a": 0.5, "b": ...}


def test_each_shadowing_file_makes_a_finding():
    compiled = {"when": compile_condition({"shadowed": "standard-library"}, {})}
    hiding = [{"module": "logging", "file": "logging.py"}, {"module": "random", "file": "random.py"}]
    found = matches(compiled, asked(compiled["when"], snapshot({"shadows": hiding})))
    assert [(one.names["module"], one.evidence[0].fact) for one in found] == [
        ("logging", "module.logging"), ("random", "module.random"),
    ]  # fmt: skip


@pytest.mark.parametrize(("known", "expected"), [
    ({"kind": "standard-library", "origin": "/lib/lib-dynload/math.so"}, True),
    ({"kind": "standard-library", "origin": None}, False),
    ({"kind": "missing", "origin": None}, False),
    (Unknown(reason="no"), False),
])  # fmt: skip
def test_what_varies_is_hidden_where_the_interpreter_has_a_file_of_it(known, expected):
    answer = Answer(found=[{"module": "math", "file": "math.py", "varies": True}], gaps=[])
    facts = facts_of({("shadows", "standard-library"): answer, ("module", "math"): known})
    shot = Snapshot(target={}, python={}, packages={}, facts=facts)
    assert holds(compile_condition({"shadowed": "standard-library"}, {}), shot, Trace()) is expected


def test_a_file_that_lacks_a_name_is_of_the_severity_of_the_rule_any_other_less():
    compiled = {"when": compile_condition({"shadowed": "standard-library"}, {})}
    hiding = [{"module": "queue", "file": "queue.py", "lacks": ["Queue"]}, {"module": "random", "file": "random.py"}]
    found = matches(compiled, asked(compiled["when"], snapshot({"shadows": hiding})))
    assert [(LESS in one.names, one.evidence[0].value) for one in found] == [
        (False, "queue.py of the project, without Queue"), (True, "random.py of the project"),
    ]  # fmt: skip


class TestLocalModule:
    WHEN: ClassVar = {"module": {"wandb": "local"}}

    def verdict(self, hidden, kind=None):
        answers = {
            ("local_module", "wandb"): hidden,
            ("module", "wandb"): {"kind": kind} if kind else Unknown(reason="no"),
        }
        shot = Snapshot(target={}, python={}, packages={}, facts=facts_of(answers))
        return holds(compile_condition(self.WHEN, {}), shot, Trace())

    def test_a_file_of_the_project_comes_before_every_installed_module(self):
        assert self.verdict({"file": "wandb.py", "namespace": False}) is True

    @pytest.mark.parametrize(("kind", "expected"), [("missing", True), ("site-packages", False), (None, None)])
    def test_a_directory_gives_way_to_an_installed_module(self, kind, expected):
        assert self.verdict({"file": "wandb", "namespace": True}, kind) is expected

    def test_without_such_a_file_the_path_decides(self):
        assert self.verdict(None, "local") is True
        assert self.verdict(None, "site-packages") is False


class TestStartMethod:
    def method(self, library=None, setters=(), **facts):
        shot = snapshot({"source": list(setters)}, **facts)
        chooses = WORDS["start_methods"].get(library)
        shot = answered(shot, lambda now: {kind: [key] for kind, key in settles(now, library, chooses)})
        found, seen = in_use(shot, library, chooses)
        return found, [fact for fact, _, _ in seen]

    def setter(self, value):
        return use(name="multiprocessing.set_start_method", arguments=[argument("constant", value=value)])

    def test_the_default_of_the_interpreter_comes_last(self):
        default = {"start_method": {"default": "fork"}}
        assert self.method(**default) == ("fork", ["start_method"])
        assert self.method(setters=[self.setter("spawn")], **default) == (
            "spawn", ["start_method.default", "start_method.set"],
        )  # fmt: skip
        stated = {"start_method": {"default": "fork", "stated": "forkserver"}}
        assert self.method(setters=[self.setter("spawn")], **stated) == ("forkserver", ["start_method"])

    def test_a_project_that_sets_two_sets_none(self):
        both = [self.setter("spawn"), self.setter("fork")]
        assert self.method(setters=both, start_method={"default": "fork"})[0] == "fork"

    @pytest.mark.parametrize(("library", "system", "expected"), [
        ("follower", "linux", "fork"), ("fixed", "linux", "forkserver"), ("fixed", "win32", "spawn"), ("setter", "linux", "spawn"),
    ])  # fmt: skip
    def test_a_library_may_choose_for_itself(self, library, system, expected):
        facts = {"start_method": {"default": "fork"}, "platform": {"system": system}}
        assert self.method(library, **facts)[0] == expected

    def test_nothing_known_is_unknown(self):
        assert verdict({"start_method": "spawn"}, {"source": []})[0] is None


@pytest.mark.parametrize(("kind", "test", "value", "expected"), [
    ("system", "<4096", "1024", True), ("system", "<4096", "65536", False), ("process", ">1", 2, True),
    ("process", True, True, True), ("process", True, False, False), ("system", {"matches": "RTX 50"}, "NVIDIA RTX 5090", True),
    ("system", {"matches": "RTX 50"}, "NVIDIA RTX 3090", False), ("system", "<2", None, False),
])  # fmt: skip
def test_tables_compare_by_the_kind_of_value(kind, test, value, expected):
    shot = Snapshot(target={}, python={}, packages={}, facts=facts_of({(kind, "x"): value}))
    assert holds(compile_condition({kind: {"x": test}}, {}), shot, Trace()) is expected


def test_a_library_is_there_or_not():
    for value, expected in (("missing", True), ("present", False), (Unknown(reason="no"), None)):
        shot = Snapshot(target={}, python={}, packages={}, facts=facts_of({("library", "libgomp.so.1"): value}))
        assert holds(compile_condition({"library": {"libgomp.so.1": "missing"}}, {}), shot, Trace()) is expected


def test_the_only_literal_that_is_shown_is_the_one_that_the_rule_compares():
    one = use(
        name="lib.make", text="make('...', token='...', name='...')", literals=["Walker", None, "hunter2"],
        arguments=[argument("constant", value="Walker")], keywords={},
    )  # fmt: skip
    when = {"source": {"calls": ["lib.make"], "arguments": [{"at": 0, "equals": "Walker"}]}}
    found, trace = verdict(when, {"source": [one]})
    assert found is True
    assert trace.evidence()[0].value == "make('Walker', token='...', name='...')"
    assert trace.names["call"] == "make('Walker', token='...', name='...')"
    _, trace = verdict({"source": {"calls": ["lib.make"]}}, {"source": [one]})
    assert trace.evidence()[0].value == "make('...', token='...', name='...')"


@pytest.mark.parametrize("count", [1, 5, 6, 7])
def test_so_many_places_are_shown_and_the_rest_is_counted(count):
    uses = [use(line=number) for number in range(1, count + 1)]
    _, trace = verdict({"source": {"calls": ["f"]}}, {"source": uses})
    shown = [(one.fact, one.value, one.source) for one in trace.evidence()]
    assert shown[:5] == [
        ("source.lib.envs.Parallel", "Parallel(2, env)", f"main.py:{line}") for line in range(1, min(count, 5) + 1)
    ]
    assert shown[5:] == [("source.more", f"and {count - 5} more places", "the project")] * (count > 5)
    assert trace.names == {"file": "main.py", "line": "1", "call": "Parallel(2, env)", "name": "lib.envs.Parallel"}

    entries = [{"file": "c.yaml", "line": line, "key": "k", "value": True} for line in range(1, count + 1)]
    found, trace = verdict({"config": {"file": "f", "key": "k", "equals": True}}, {"config": entries})
    assert found is True
    assert [str(one.source) for one in trace.evidence()] == [f"c.yaml:{line}" for line in range(1, min(count, 5) + 1)]
    assert trace.entries == {("f", "k"): entries[0]}


@pytest.mark.parametrize(
    ("kind", "verb", "said"), [("import", "imports", "imports"), ("call", "calls", "calls"), ("name", "uses", "uses")]
)
def test_a_use_without_a_text_is_told_by_its_kind(kind, verb, said):
    one = use(kind, "lib.x", text="", line=None)
    _, trace = verdict({"source": {verb: ["lib.x"]}}, {"source": [one]})
    assert [(one.fact, one.value, one.source) for one in trace.evidence()] == [
        ("source.lib.x", f"{said} lib.x", "main.py")
    ]
    assert trace.names == {"file": "main.py", "line": "", "call": "", "name": "lib.x"}


def test_one_place_is_shown_once_but_for_calls_of_several_names():
    twice = [use(name="lib.a"), use(name="lib.b"), use(name="lib.a")]
    assert len(verdict({"source": {"calls": ["lib.*"]}}, {"source": twice})[1].seen) == 2
    assert len(verdict({"source": {"uses": ["lib.*"]}}, {"source": twice})[1].seen) == 1
    cells = [use(cell=1, row=2), use(cell=2, row=2)]
    seen = verdict({"source": {"calls": ["lib.*"]}}, {"source": cells})[1].evidence()
    assert [str(one.source) for one in seen] == ["main.py cell 1 line 2", "main.py cell 2 line 2"]


@pytest.mark.parametrize(
    ("systems", "here", "runs"),
    [
        ([["win32", True]], "linux", False), ([["win32", True]], "win32", True), ([["win32", False]], "linux", True),
        ([["win32", False]], "win32", False), ([["win32", True]], None, True), ([], "linux", True),
        ([["linux", True], ["win32", False]], "linux", True), ([["linux", True], ["linux", False]], "linux", False),
    ],
)  # fmt: skip
def test_code_for_another_system_does_not_run_here(systems, here, runs):
    found = verdict({"source": {"calls": ["f"]}}, {"source": [use(systems=systems)]}, platform={"system": here})
    assert found[0] is runs


@pytest.mark.parametrize(
    ("imports", "counts"),
    [
        ([], True), ([use("import", guarded=False, file="other.py")], True), ([use("import", file="other.py")], False),
        ([use("import", file="other.py"), use("import", guarded=False, file="third.py")], True),
        ([use("import", file="a/main.py")], True), ([use("name", file="other.py")], True),
    ],
)  # fmt: skip
def test_a_file_that_is_only_imported_late_runs_nothing_at_import(imports, counts):
    when = {"source": {"calls": ["lib.f"], "unguarded": True}}
    keys = []

    def found(key):
        keys.append(key)
        return [use(guarded=False, file="a/main.py")] if key == "lib.f" else imports

    assert verdict(when, {"source": found})[0] is counts
    assert set(keys) == {"lib.f", "import **.main"}
    assert verdict({"source": {"calls": ["lib.f"]}}, {"source": found})[0] is True


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("main.py", "import **.main"),
        ("a/b/main.py", "import **.main"),
        ("a/b/__init__.py", "import **.b"),
        ("__init__.py", "import **.__init__"),
        ("x.pyw", "import **.x.pyw"),
    ],
)
def test_the_key_of_the_imports_of_a_file(file, key):
    assert imports_of(file) == key


def test_what_is_caught_is_excused_where_a_rule_says_so():
    when = {"source": {"calls": ["f"], "uncaught": True}}
    assert verdict(when, {"source": [use(excused=True)]})[0] is False
    assert verdict(when, {"source": [use(excused=False)]})[0] is True
    assert verdict({"source": {"calls": ["f"]}}, {"source": [use(excused=True)]})[0] is True


CARRIED = {"name": "zmq.Context", "via": "ctx", "line": 7}


@pytest.mark.parametrize(
    ("carried", "said", "place"),
    [
        (CARRIED, "ctx holds what zmq.Context made", "main.py:7"),
        ({**CARRIED, "via": ""}, "made by zmq.Context", "main.py:7"),
        ({"name": "zmq.Context", "line": None}, "made by zmq.Context", "main.py:3"),
        ({**CARRIED, "file": "shared.py"}, "ctx holds what zmq.Context made", "shared.py:7"),
        (
            {"name": "zmq.Context", "row": 4, "cell": 2, "file": "n.ipynb"},
            "made by zmq.Context",
            "n.ipynb cell 2 line 4",
        ),
    ],
)
def test_what_an_argument_carries_is_shown_where_it_was_made(carried, said, place):
    when = {"source": {"calls": ["f"], "arguments": [{"at": 0, "carries": ["zmq.*"]}]}}
    given = argument(carries=[{"name": "lib.fine", "line": 1}, carried, {**carried, "line": 99}])
    found, trace = verdict(when, {"source": [use(arguments=[given])]})
    assert found is True
    (first, second) = trace.seen
    assert first[:2] == ("source.zmq.Context", said)
    assert str(first[2]) == place
    assert second[0] == "source.lib.envs.Parallel"


@pytest.mark.parametrize(
    ("more", "through", "counts"),
    [
        ({}, None, True), ({"by_value": True}, None, False), ({"kept_by": ["lib.Keep"]}, None, False),
        ({"kept_by": ["lib.Keep"]}, ["lib.*"], True), ({"kept_by": ["lib.Keep", "b.f"]}, ["lib.*"], False),
        ({"kept_by": []}, ["lib.*"], True),
    ],
)  # fmt: skip
def test_what_is_carried_counts_if_what_it_was_given_to_keeps_it(more, through, counts):
    test = {"at": 0, "carries": ["zmq.*"], **({"through": through} if through else {})}
    given = argument(carries=[{**CARRIED, **more}])
    found, trace = verdict({"source": {"calls": ["f"], "arguments": [test]}}, {"source": [use(arguments=[given])]})
    assert found is counts
    assert len(trace.seen) == 2 * counts


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (True, True, True), ("true", True, True), ("True", True, True), ("1", True, True), (1, True, True), (0, False, True),
        ("0", False, True), ("false", False, True), ("no", False, False), (None, False, False), (True, False, False),
        (1, 1, True), (True, 1, False), ("1", 1, False), ("a", "a", True), ("A", "a", False), (False, 0, False), (2, True, False),
    ],
)  # fmt: skip
def test_a_value_of_an_entry_is_what_is_wanted(given, wanted, expected):
    entry = {"file": "c.yaml", "line": 1, "key": "k", "value": given}
    found, trace = verdict({"config": {"file": "f", "key": "k", "equals": wanted}}, {"config": [entry]})
    assert found is expected
    shown = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    assert [value for _, value, _ in trace.seen] == [shown] * expected


def test_an_entry_that_is_set_is_shown_so_and_a_line_may_be_unknown():
    entry = {"file": "c.yaml", "line": None, "key": "k", "value": None}
    found, trace = verdict({"config": {"file": "f", "key": "k", "is": "set"}}, {"config": [entry]})
    assert found is True
    assert [(one.fact, one.value, one.source) for one in trace.evidence()] == [("config.k", "set", "c.yaml")]
    assert trace.names == {"file": "c.yaml", "line": "", "key": "k"}
    for value, expected in ((3, False), ("x3", True), ("x", False)):
        found, _ = verdict(
            {"config": {"file": "f", "key": "k", "matches": "[0-9]"}}, {"config": [{**entry, "value": value}]}
        )
        assert found is expected


ARTIFACT = {
    "file": "m.pkl",
    "kind": "pickle",
    "names": ["a.b", "c.d"],
    "protocol": None,
    "written_by": None,
    "code": None,
}


@pytest.mark.parametrize(
    ("test", "more", "expected", "said"),
    [
        ({"kind": ["pickle"]}, {}, True, "pickle"), ({"names": ["c.*"]}, {}, True, "refers to c.d"),
        ({"kind": ["pickle"], "names": ["c.*"]}, {}, True, "refers to c.d"), ({"names": ["x.*"]}, {}, False, None),
        ({"protocol": ">=4"}, {}, None, "m.pkl does not tell its protocol"), ({"protocol": ">=4"}, {"protocol": 4}, True, "pickle protocol 4"),
        ({"protocol": ">=4"}, {"protocol": 3}, False, None), ({"protocol": ">=4"}, {"protocol": 0}, False, None),
        ({"written-by": {"python": "<3.9"}}, {}, None, "m.pkl does not tell which Python wrote it"),
        ({"written-by": {"python": "<3.9"}}, {"written_by": {"python": "3.8.1"}}, True, "written by Python 3.8.1"),
        ({"written-by": {"packages": {"lib": "<2"}}}, {"written_by": {"python": "3.8"}}, None, "m.pkl does not tell which lib wrote it"),
        ({"written-by": {"packages": {"lib": "<2"}}}, {"written_by": {"packages": {"lib": "1.0"}}}, True, "written by lib 1.0"),
        ({"written-by": {"packages": {"lib": "<2"}}}, {"written_by": {"packages": {"lib": "2.0"}}}, False, None),
        ({"names": ["c.*"], "protocol": ">=4"}, {"protocol": 4}, True, "refers to c.d; pickle protocol 4"),
        ({"names": ["x.*"], "protocol": ">=4"}, {}, False, None), ({"code": "any"}, {}, False, None), ({"code": "foreign"}, {}, False, None),
        ({"code": "any"}, {"code": [{"python": None}]}, True, "it holds a function in the bytecode of Python unknown"),
        ({"code": "foreign"}, {"code": [{"python": None}]}, None, "m.pkl does not tell which Python its functions are for"),
        ({"code": "foreign"}, {"code": [{"python": None}, {"python": ">=3.8,<3.9", "where": "f"}]}, True,
         "f is a function in the bytecode of Python >=3.8,<3.9, this is 3.11.4"),
        ({"code": "foreign"}, {"code": [{"python": ">=3.11,<3.12"}]}, False, None),
        ({"code": "any", "where": ["f"]}, {"code": [{"python": "x", "where": "g"}]}, False, None),
        ({"code": "any", "where": ["f"]}, {"code": [{"python": "x", "where": "f"}]}, True, "f is a function in the bytecode of Python x"),
        ({"code": "any", "where": ["!f"]}, {"code": [{"python": "x", "where": "f"}]}, False, None),
        ({"code": "any", "where": ["!f", "!h"]}, {"code": [{"python": "x", "where": "h"}, {"python": "x", "where": "g"}]}, True,
         "g is a function in the bytecode of Python x"),
    ],
)  # fmt: skip
def test_what_is_said_of_an_artefact(test, more, expected, said):
    found, trace = verdict({"artifact": test}, {"artifact": [{**ARTIFACT, **more}]})
    assert found is expected
    shown = [(fact, value, str(source)) for seen, _ in trace.cases for fact, value, source in seen]
    assert shown == ([("artifact.pickle", said, "m.pkl")] if expected else [])
    assert trace.unknown == ([("artifact", said)] if expected is None else [])


def test_an_artefact_that_may_pass_leaves_open_what_another_does_not_decide():
    unread = {**ARTIFACT, "file": "a.pkl"}
    no, yes = {**ARTIFACT, "protocol": 2}, {**ARTIFACT, "file": "b.pkl", "protocol": 4}
    when = {"artifact": {"protocol": ">=4"}}
    assert verdict(when, {"artifact": [unread, no]})[0] is None
    found, trace = verdict(when, {"artifact": [no, unread, yes]})
    assert found is True
    assert [names["file"] for _, names in trace.cases] == ["b.pkl"]
    assert verdict(when, {"artifact": [no]}, gaps=["x"])[0] is None
    assert verdict(when, {"artifact": [yes]}, gaps=["x"])[0] is True


@pytest.mark.parametrize(
    ("writer", "said"),
    [
        (None, ""), ({"python": "3.8"}, "Python 3.8"), ({"packages": {"lib": "1"}}, "lib 1"),
        ({"python": "3.8", "packages": {"lib": "1", "b": "2"}}, "Python 3.8, lib 1, b 2"), ({"python": None, "packages": None}, ""),
    ],
)  # fmt: skip
def test_the_names_that_an_artefact_gives_to_texts(writer, said):
    _, trace = verdict({"artifact": {"names": ["c.*"]}}, {"artifact": [{**ARTIFACT, "written_by": writer}]})
    assert [names for _, names in trace.cases] == [
        {"file": "m.pkl", "artifact": "pickle", "functions": "{}", "name": "c.d", "writer": said}
    ]


def test_files_that_only_a_later_alternative_finds_are_findings_too():
    when = compile_condition({"any": [{"artifact": {"names": "c.*"}}, {"artifact": {"names": ["c.*", "e.*"]}}]}, {})
    files = [{**ARTIFACT, "file": "a.pkl"}, {**ARTIFACT, "file": "b.pkl", "names": ["e.f"]}]
    found = matches({"when": when}, asked(when, snapshot({"artifact": files})))
    assert [(one.names["file"], one.names["name"]) for one in found] == [("a.pkl", "c.d"), ("b.pkl", "e.f")]


def test_nobody_is_told_of_a_project_that_was_not_named():
    for asked_for, missed in ((True, [("source", "no project")]), (False, [])):
        here = Snapshot(
            target={}, python={}, packages={},
            facts=facts_of({("source", "f"): Unknown(reason="no project", asked=asked_for), ("project", "there"): True}),
        )  # fmt: skip
        trace = Trace()
        assert holds(compile_condition({"source": {"calls": ["f"]}}, {}), here, trace) is None
        assert trace.unknown == missed


def test_an_argument_that_is_only_named_is_given_whatever_it_is():
    when = {"source": {"calls": ["lib.**.Parallel"], "arguments": [{"name": "old"}]}}

    assert verdict(when, {"source": [use(keywords={"old": argument(value=None)})]})[0] is True
    assert verdict(when, {"source": [use(keywords={"old": argument("instance")})]})[0] is True
    assert verdict(when, {"source": [use(keywords={"new": argument(value=None)})]})[0] is False


def test_of_several_uses_one_of_which_is_enough_each_that_is_there_is_evidence():
    used = {"lib.a": [use(name="lib.a", line=3)], "lib.b": [], "lib.c": [use(name="lib.c", line=5)]}
    when = {"any": [{"source": {"calls": [name]}} for name in used]}

    found, trace = verdict(when, {"source": lambda key: used[key[-5:]]})

    assert found is True
    assert [str(one.source) for one in trace.evidence()] == ["main.py:3", "main.py:5"]
    assert trace.names["line"] == "3"
