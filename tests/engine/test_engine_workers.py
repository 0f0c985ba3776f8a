"""What a call that starts workers, or sends them a task, is given and lacks, by start method: made-up calls."""

import pytest

from envdoctor.engine.trace import Trace
from envdoctor.engine.workers import asked, worker
from envdoctor.facts import SOURCE, Answer, Facts
from envdoctor.file_keys import BESIDE
from envdoctor.model import Snapshot, Unknown
from envdoctor.rulebase.compile_condition import compile_condition

DEFAULT = "the default of that Python on that platform"
TASK = {"calls": ["mp.Pool.map"], "with-task": [{"at": 0, "name": "func", "runs": True}, {"at": 1, "each": True}]}
START = {"calls": ["mp.Process"], "starts": True, "at-start": [{"name": "target", "runs": True}, {"name": "args"}]}
CALLS = {
    "keeping": ["lib.Keep"], "unpicklable": ["lib.Frame"], "bound-to-process": ["zmq.Context", "open", "lib.Frame"],
    "shared-by-inheritance": ["mp.Lock"], "exchanging": ["mp.Manager"],
}  # fmt: skip
STATE = [
    {"set": ["lib.seed"], "read": ["lib.draw"]}, {"set": ["lib.limit"], "read": ["lib.deep"], "always": True},
    {"set": ["lib.Env.register"], "read": ["lib.make"], "method-of-object": True},
]  # fmt: skip


def argument(**more):
    return {"is": [], "made_by": [], "names": [], "carries": [], "text": "x", **more}


def carrying(*names, **more):
    return argument(carries=[{"name": name, "line": 1, "via": "box", **more} for name in names])


def call(name="mp.Pool.map", *arguments, **more):
    return {
        "kind": "call", "name": name, "file": "main.py", "line": 9, "guarded": True, "within": "", "text": f"{name}()",
        "arguments": list(arguments), "keywords": {}, **more,
    }  # fmt: skip


def judged(about, uses, method="spawn", entries=(TASK, START), gaps=(), **facts):
    """The verdict, the evidence and names of each finding, and what was missed."""
    words = {"workers": {"all": list(entries)}, "calls": CALLS, "state_of_process": STATE}
    words["start_methods"] = {"loky": ["loky", "spawn"], "own": "spawn"}
    condition = compile_condition({"worker": {"is": about, "of": ["all"]}}, words)
    named = {name: [] for one in entries for name in one["calls"]}
    for one in uses:
        named.setdefault(one["name"], []).append(one)
    table = {name: Answer(found=found, gaps=gaps) for name, found in named.items()}
    beside = {
        f"{name}{BESIDE}{glob}": found for name, found in table.items() for one in entries for glob in one["calls"]
    }
    answers = Facts({SOURCE: {**beside, **table, **facts.pop("answers", {})}})
    here = Snapshot(target={}, python={}, packages={}, start_method={"default": method}, facts=answers, **facts)
    trace = Trace()
    verdict = worker(condition, here, trace)
    cases = [([(fact, str(value), str(source)) for fact, value, source in seen], names) for seen, names in trace.cases]
    return verdict, cases, trace.unknown, list(asked(condition, here))


def names_of(about, *uses, **facts):
    return [names for _, names in judged(about, uses, **facts)[1]]


# -- what is pickled ---


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork", None])
def test_what_a_worker_is_started_with_is_pickled_by_what_starts_anew(method):
    use = call("mp.Process", keywords={"args": carrying("lib.fine", "zmq.Context", "open")})
    verdict, cases, *_ = judged("given-object", [use], method)
    assert verdict is (method in {"spawn", "forkserver"})
    seen = [
        ("source.mp.Process", "mp.Process()", "main.py:9"),
        ("source.zmq.Context", "box holds what zmq.Context made", "main.py:1"),
        ("start_method", str(method), DEFAULT),
    ]
    names = {
        "file": "main.py", "line": "9", "call": "mp.Process()", "name": "mp.Process", "given": "box",
        "object": "what zmq.Context made", "start_method": method,
    }  # fmt: skip
    assert cases == ([(seen, names)] if verdict else [])


@pytest.mark.parametrize("method", ["spawn", "fork", None])
def test_what_a_task_is_sent_with_is_pickled_always(method):
    plain = argument(carries=[{"name": "open", "line": None}])
    _, cases, *_ = judged("given-object", [call("mp.Pool.map", plain)], method)
    seen = [("source.mp.Pool.map", "mp.Pool.map()", "main.py:9"), ("source.open", "what open made", "main.py:9")]
    names = {"file": "main.py", "line": "9", "call": "mp.Pool.map()", "name": "mp.Pool.map"}
    more = {"given": "it", "object": "what open made", "start_method": "every start method"}
    assert cases == [(seen, {**names, **more})]


@pytest.mark.parametrize(
    ("found", "given"),
    [
        ({"carries": [{"name": "generator"}]}, None), ({"carries": [{"name": "open"}]}, "it"),
        ({"carries": [{"name": "open"}], "itself": ["open"]}, None),
        ({"carries": [{"name": "open.read"}], "itself": ["open"]}, None),
        ({"carries": [{"name": "open"}], "itself": ["zmq.Context"]}, "it"),
        ({"carries": [{"name": "open", "via": "each of files"}], "itself": ["open"]}, "files"),
        ({"carries": [{"name": "open", "via": "files"}], "itself": ["open"]}, None),
        ({"carries": [{"name": "open", "kept_by": ["lib.Keep"]}]}, "it"),
        ({"carries": [{"name": "open", "kept_by": ["lib.Keep", "lib.f"]}]}, None),
        ({"carries": [{"name": "open", "by_value": True}]}, None), ({"carries": []}, None),
        ({"carries": [{"name": "generator"}, {"name": "zmq.Context", "via": "each of them"}]}, "them"),
    ],
)  # fmt: skip
def test_of_an_iterable_of_tasks_each_is_sent_and_not_itself(found, given):
    use = call("mp.Pool.map", argument(), argument(**found))
    assert [one["given"] for one in names_of("given-object", use)] == [given] * (given is not None)


@pytest.mark.parametrize(
    ("name", "more", "pickled", "by_value"),
    [
        ("lib.Frame", {}, True, True),
        ("zmq.Context", {}, True, False),
        ("lib.Frame", {"by_value": True}, False, True),
        ("lib.fine", {}, False, False),
    ],
)
def test_who_pickles_by_value_refuses_less_and_sends_more(name, more, pickled, by_value):
    use = call("mp.Pool.map", carrying(name, **more))
    entry = {**TASK, "pickler": "cloudpickle"}
    assert bool(names_of("given-object", use)) is pickled
    assert bool(names_of("given-object", use, entries=[entry])) is by_value


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ({"on": True}, ["itself"]), ({"rest": 1}, ["second"]), ({"rest": 0}, ["first"]), ({"rest": 2}, ["named"]),
        ({"at": 1}, ["second"]), ({"at": 2}, []), ({"name": "key", "at": 0}, ["named"]), ({"name": "gone"}, []),
    ],
)  # fmt: skip
def test_which_arguments_of_a_call_are_sent(test, expected):
    use = call(
        "mp.Pool.map", carrying("open", via="first"), carrying("open", via="second"),
        keywords={"key": carrying("open", via="named")}, on=carrying("open", via="itself"),
    )  # fmt: skip
    found = names_of("given-object", use, entries=[{"calls": ["mp.Pool.map"], "with-task": [test]}])
    assert [one["given"] for one in found] == expected


def test_a_method_of_nothing_known_sends_nothing_itself():
    entry = {"calls": ["mp.Pool.map"], "with-task": [{"on": True}]}
    assert names_of("given-object", call("mp.Pool.map", carrying("open")), entries=[entry]) == []


@pytest.mark.parametrize(
    ("own", "place"), [({}, "other.py:4"), ({"file": "third.py"}, "third.py:4"), ({"line": None}, "main.py:9")]
)
def test_what_another_call_gives_a_parameter_that_is_passed_on(own, place):
    parameter = {"of": "main.start", "at": 1, "name": "job"}
    given = carrying("open", **{"line": 4, **own})
    uses = [
        call("mp.Pool.map", argument(parameter=parameter)), call("main.start", argument(), file="other.py"),
        call("main.start", argument(), file="other.py", keywords={"job": given}),
    ]  # fmt: skip
    _, ((seen, names),), _, wanted = judged("given-object", uses)
    assert (names["file"], seen[1][2]) == ("main.py", place)
    assert (SOURCE, "main.start") in wanted


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("lambda", "a lambda"),
        ("local-function", "a function inside a function"),
        ("local-class", "an object of a class that has no name to be imported by"),
    ],
)
@pytest.mark.parametrize(("use", "always"), [(call("mp.Process"), False), (call("mp.Pool.map"), True)])
def test_a_function_without_a_name_is_refused_where_it_is_pickled(kind, said, use, always):
    given = carrying(kind)
    use = {**use, "keywords": {"target": given, "func": given}}
    assert [one["object"] for one in names_of("given-function", use)] == [said]
    forked = names_of("given-function", use, method="fork")
    assert [one["start_method"] for one in forked] == ["every start method"] * always
    by_value = [{**one, "pickler": "cloudpickle"} for one in (TASK, START)]
    assert names_of("given-function", use, entries=by_value) == []
    assert names_of("given-object", use) == []


@pytest.mark.parametrize(("method", "refused"), [("spawn", True), ("forkserver", True), ("fork", False), (None, False)])
def test_what_a_notebook_defines_is_only_missing_in_what_starts_anew(method, refused):
    use = call("mp.Pool.map", carrying("notebook-definition"), cell=2, row=5)
    verdict, cases, *_ = judged("given-function", [use], method)
    assert verdict is refused
    if refused:
        ((seen, names),) = cases
        assert (names["object"], names["line"], names["start_method"]) == (
            "what the notebook defines",
            "5 of cell 2",
            method,
        )
        assert seen[-1] == ("start_method", method, DEFAULT)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_what_is_shared_by_inheritance_may_go_with_the_start_alone(method):
    lock = carrying("mp.Lock")
    assert names_of("given-shared", call("mp.Process", keywords={"args": lock}), method=method) == []
    (found,) = names_of("given-shared", call("mp.Pool.map", lock), method=method)
    assert (found["object"], found["start_method"]) == ("what mp.Lock made", "every start method")
    assert names_of("given-object", call("mp.Pool.map", lock), method=method) == []


@pytest.mark.parametrize(
    ("name", "what", "by_value"),
    [
        ("generator", "a generator", True), ("lib.Frame", "what lib.Frame made", True), ("lambda", "a lambda", False),
        ("zmq.Context", "what zmq.Context made", False), ("lib.fine", None, False), ("types.ModuleType", None, False),
        ("exception", "an exception whose class takes more than it passes on to its base, so that it cannot be made again", True),
    ],
)  # fmt: skip
def test_a_result_is_pickled_to_come_back(name, what, by_value):
    use = call("mp.Pool.map", argument(results=[{"name": "lib.fine"}, {"name": name, "line": 2}]))
    verdict, cases, *_ = judged("given-object", [use], "fork")
    assert verdict is (what is not None)
    if what:
        ((seen, names),) = cases
        assert seen == [
            ("source.mp.Pool.map", "mp.Pool.map()", "main.py:9"), (f"source.{name}", f"its result is {what}", "main.py:2"),
        ]  # fmt: skip
        assert (names["given"], names["object"]) == (f"{what} as a result", f"a function whose result is {what}")
        assert (names["start_method"], names["file"], names["line"]) == ("every start method", "main.py", "9")
    assert bool(names_of("given-object", use, entries=[{**TASK, "pickler": "cloudpickle"}])) is by_value
    as_start = call("mp.Process", keywords={"target": use["arguments"][0]})
    assert names_of("given-object", as_start) == []
    as_data = call("mp.Pool.map", argument(), use["arguments"][0])
    assert names_of("given-object", as_data) == []


# -- which calls, and what is not known ---


@pytest.mark.parametrize(
    ("when", "given", "takes"),
    [
        ({"name": "n", "differs": [1]}, argument(value=2), True), ({"name": "n", "differs": [1]}, argument(value=1), False),
        ({"name": "n", "differs": [1]}, argument(), True), ({"name": "n", "differs": [1]}, None, False),
        ({"name": "n", "differs": [1], "absent": True}, None, True),
        ({"name": "n", "made-by": ["mp.*"]}, argument(made_by=["x", "mp.Pool"]), True),
        ({"name": "n", "made-by": ["mp.*"]}, argument(names=["mp.Pool"]), False),
        ({"name": "n", "names": ["mp.*"]}, argument(names=["x", "mp.Pool"]), True),
        ({"name": "n", "names": ["mp.*"]}, argument(made_by=["mp.Pool"]), False),
    ],
)  # fmt: skip
def test_an_argument_may_decide_that_a_call_starts_workers(when, given, takes):
    use = call("mp.Pool.map", carrying("open"), keywords={} if given is None else {"n": given})
    assert bool(names_of("given-object", use, entries=[{**TASK, "when": [when]}])) is takes
    other = {"name": "n", "differs": [1], "absent": True}
    assert bool(names_of("given-object", use, entries=[{**TASK, "when": [other, when]}])) is takes


@pytest.mark.parametrize(
    ("maker", "takes"),
    [
        ({"keywords": {"n": {"value": 2}}}, True),
        ({"keywords": {"n": {"value": 1}}}, False),
        ({"arguments": [{"value": 1}, {"value": 2}]}, True),
        ({"arguments": [{"value": 2}, {"value": 1}]}, False),
        ({"arguments": [{"value": 2}]}, False),
        ({}, False),
        (None, False),
    ],
)
def test_an_argument_of_what_made_the_pool_may_decide(maker, takes):
    on = {} if maker is None else {"on": argument(maker={"name": "mp.Pool", **maker})}
    use = call("mp.Pool.map", carrying("open"), **on)
    entry = {**TASK, "when": [{"on": "n", "at": 1, "differs": [1]}]}
    assert bool(names_of("given-object", use, entries=[entry])) is takes
    by_name = {**TASK, "when": [{"on": "n", "differs": [1]}]}
    assert bool(names_of("given-object", use, entries=[by_name])) is (takes and "keywords" in maker)


def test_each_place_makes_one_finding_in_the_order_of_the_calls():
    uses = [call("mp.Pool.map", carrying("open", via=via), line=line) for line, via in ((4, "a"), (4, "b"), (2, "c"))]
    start = call("mp.Process", keywords={"args": carrying("open", via="d")}, line=1)
    found = names_of("given-object", *uses, start, {**uses[2], "kind": "name", "line": 7})
    assert [(one["line"], one["given"]) for one in found] == [("4", "a"), ("2", "c"), ("1", "d")]


def test_a_gap_leaves_open_what_nothing_found_decides():
    fine, bad = call("mp.Pool.map", argument()), call("mp.Pool.map", carrying("open"))
    missed = [("source", "a.py could not be read")] * 2
    assert judged("given-object", [fine], gaps=["a.py could not be read"])[:3] == (None, [], missed)
    assert judged("given-object", [bad], gaps=["a.py could not be read"])[0] is True
    assert judged("given-object", [fine])[::2] == (False, [])
    unread = {"mp.Process": Unknown(reason="nobody looked")}
    assert judged("given-object", [fine], answers=unread)[:3] == (None, [], [("source", "nobody looked")])


# -- started where a file is imported ---


@pytest.mark.parametrize(("method", "starts"), [("spawn", True), ("forkserver", True), ("fork", False), (None, False)])
def test_a_start_at_import_starts_again_in_what_starts_anew(method, starts):
    verdict, cases, *_ = judged("started-at-import", [call("mp.Process", guarded=False)], method)
    assert verdict is starts
    seen = [("source.mp.Process", "mp.Process()", "main.py:9"), ("start_method", str(method), DEFAULT)]
    names = {"file": "main.py", "line": "9", "call": "mp.Process()", "name": "mp.Process", "start_method": method}
    assert cases == ([(seen, names)] if starts else [])
    assert names_of("started-at-import", call("mp.Pool.map", guarded=False)) == []
    assert names_of("started-at-import", call("mp.Process")) == []


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ([{"file": "train.py", "guarded": False}], "train.py"), ([{"file": "train.py", "guarded": True}], None),
        ([{"file": "main.py", "guarded": False}], None), ([], None),
        ([{"file": "a.py", "guarded": True}, {"file": "b.py", "guarded": False}, {"file": "c.py", "guarded": False}], "b.py"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("line", [5, None])
def test_a_function_that_starts_workers_called_where_a_file_is_imported(callers, expected, line):
    start = call("mp.Process", within="main.begin")
    uses = [start, *(call("main.begin", **one, line=line) for one in callers)]
    verdict, cases, _, wanted = judged("started-at-import", uses)
    assert verdict is (expected is not None)
    assert (SOURCE, "main.begin") in wanted
    if expected:
        ((seen, names),) = cases
        place = expected + (f":{line}" if line else "")
        assert seen == [
            ("source.mp.Process", "mp.Process()", "main.py:9"), ("source.main.begin", "main.begin()", place),
            ("start_method", "spawn", DEFAULT),
        ]  # fmt: skip
        assert names == {
            "file": expected, "line": str(line or ""), "call": "main.begin()", "name": "mp.Process", "start_method": "spawn",
        }  # fmt: skip
    assert judged("started-at-import", uses, "fork")[0] is False


def test_what_is_asked_for():
    parameter = {"of": "main.start", "at": 0}
    uses = [
        call("mp.Pool.map", argument(parameter=parameter), argument(), within="main.f"),
        call("mp.Process", keywords={"args": argument(parameter={"of": "main.other"})}, within="main.g"),
        call("mp.Process", within="top"), call("mp.Process", within="main.h", guarded=False),
    ]  # fmt: skip

    def wanted(about, method="spawn", **facts):
        return [name for kind, name in judged(about, uses, method, **facts)[3] if kind is SOURCE]

    setters = "**.set_start_method"
    assert wanted("given-object") == ["mp.Pool.map", setters, "main.start", "mp.Process", setters, "main.other"]
    assert wanted("started-at-import") == ["mp.Pool.map", setters, "mp.Process", setters, "main.g"]
    starts = ["mp.Pool.map", "mp.Process"]
    states = [f"{name} beside {one}" for name in ("lib.seed", "lib.limit", "lib.Env.register") for one in starts]
    assert wanted("lacks") == [*wanted("given-object"), *states]
    assert wanted("lacks", "fork") == [*wanted("given-object"), *(one for one in states if "limit" in one)]
    own = [{**TASK, "library": "own"}]
    assert wanted("given-object", entries=own) == ["mp.Pool.map", "main.start"]


@pytest.mark.parametrize(
    ("setter", "read"),
    [
        ({}, ["lib.draw"]), ({"guarded": False}, []), ({"file": "other.py"}, []),
    ],
)  # fmt: skip
def test_what_reads_a_state_is_asked_for_once_a_program_is_known_to_set_it(setter, read):
    def wanted(*uses, method="spawn"):
        return [name for kind, name in judged("lacks", uses, method)[3] if name in {seed, "lib.draw"}]

    seed = "lib.seed beside mp.Pool.map"
    assert wanted(call("mp.Pool.map", argument()), call("lib.seed", **setter)) == [seed, *read]
    assert wanted(call("mp.Pool.map", argument()), call("lib.seed", **setter), method="fork") == []
    assert wanted(call("lib.seed", **setter)) == []


# -- what workers lack ---


def lacking(*lacks, names=("main.work",), **more):
    return argument(
        lacks=[{"file": "main.py", "line": 2, **one} for one in lacks], names=list(names), text="work", **more
    )


@pytest.mark.parametrize(
    ("lack", "said", "forked"),
    [
        ({"name": "TABLE", "by": "fill"}, "TABLE is set here, which no worker runs", False),
        ({"name": "TABLE", "copied": True}, "TABLE is a method of an object: each worker is given a copy of that, and calls its method", False),
        ({"name": "TABLE", "lost": True}, "TABLE is changed here, in the worker's own copy: the program's stays as it was", True),
        ({"name": "LOCK", "made_by": "mp.Manager"}, "LOCK is made here, in each worker anew", False),
        ({"name": "LOCK", "made_by": "lib.fine"}, None, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("use", [call("mp.Process"), call("mp.Pool.map")])
def test_what_only_the_program_sets(use, lack, said, forked):
    given = lacking(lack)
    use = {**use, "keywords": {"target": given, "func": given}}
    verdict, cases, *_ = judged("lacks", [use])
    assert verdict is (said is not None)
    if said:
        ((seen, names),) = cases
        assert seen == [
            (f"source.{use['name']}", f"{use['name']}()", "main.py:9"), (f"source.{lack['name']}", said, "main.py:2"),
            ("start_method", "spawn", DEFAULT),
        ]  # fmt: skip
        assert names == {
            "file": "main.py", "line": "9", "call": f"{use['name']}()", "name": use["name"], "object": lack["name"],
            "given": "work", "start_method": "spawn", "where": "main.py:2",
        }  # fmt: skip
    assert judged("lacks", [use], "fork")[0] is forked
    assert judged("lacks", [use], None)[0] is forked


def test_all_that_is_lacking_is_named_once_in_its_order():
    given = lacking({"name": "B"}, {"name": "A", "line": 4}, {"name": "B", "line": 6})
    ((seen, names),) = judged("lacks", [call("mp.Pool.map", given)])[1]
    assert (names["object"], names["where"]) == ("B and A", "main.py:2")
    assert [(fact, source) for fact, _, source in seen[1:-1]] == [("source.B", "main.py:6"), ("source.A", "main.py:4")]
    assert names_of("lacks", call("mp.Pool.map", argument(), given)) == [], "which no worker runs"


@pytest.mark.parametrize(
    ("lack", "found"),
    [({"name": "TABLE"}, False), ({"name": "other.TABLE"}, True), ({"name": "T", "lost": True}, False)],
)
def test_what_is_the_own_of_a_program_goes_with_its_function_by_value(lack, found):
    use = call("mp.Pool.map", lacking(lack))
    assert bool(names_of("lacks", use, entries=[{**TASK, "pickler": "cloudpickle"}])) is found
    assert names_of("lacks", use)


@pytest.mark.parametrize(
    "given", [{"keywords": {"initializer": {"names": ["@main.fill"]}}}, {"arguments": [{}, {"names": ["main.fill"]}]}]
)
def test_what_the_initializer_of_a_pool_sets_is_not_lacking(given):
    on = argument(maker={"name": "mp.Pool", **given})
    use = call("mp.Pool.map", lacking({"name": "TABLE", "by": "fill"}), on=on)
    assert names_of("lacks", use) == []
    (found,) = names_of(
        "lacks", {**use, "arguments": [lacking({"name": "TABLE", "by": "fill"}, {"name": "B", "by": "x"})]}
    )
    assert found["object"] == "B"


@pytest.mark.parametrize(
    ("state", "reader", "setter", "methods"),
    [
        (("lib.seed", "lib.draw"), "main.work", {}, ["spawn", "forkserver"]),
        (("lib.limit", "lib.deep"), "main.work", {}, ["spawn", "forkserver", "fork"]),
        (("lib.seed", "lib.draw"), "main.work.step", {}, ["spawn", "forkserver"]),
        (("lib.seed", "lib.draw"), "main.other", {}, []), (("lib.seed", "lib.draw"), "main.work", {"guarded": False}, []),
        (("lib.seed", "lib.draw"), "main.work", {"file": "other.py"}, []),
        (("lib.seed", "lib.draw"), "main.work", {"within": "main.work"}, []),
        (("lib.seed", "lib.draw"), "main.work", {"within": "main.begin"}, ["spawn", "forkserver"]),
        (("lib.seed", "lib.deep"), "main.work", {}, []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("runs", [{"names": ["main.work"]}, {"names": ["main.run"], "runs": ["main.work"]}])
def test_a_state_of_the_process_that_a_worker_reads_and_the_program_sets(state, reader, setter, methods, runs):
    uses = [
        call("mp.Pool.map", lacking(**runs)), call(state[1], within=reader), call(state[0], **{"line": 6, **setter}),
    ]  # fmt: skip
    found = {method: names_of("lacks", *uses, method=method) for method in ("spawn", "forkserver", "fork")}
    assert [method for method, names in found.items() if names] == methods
    for names in filter(None, found.values()):
        assert (names[0]["object"], names[0]["where"], names[0]["given"]) == (state[0], "main.py:6", "work")
    assert names_of("lacks", *uses, method=None) == []


@pytest.mark.parametrize(
    ("setter", "reader", "method", "found"),
    [
        ("lib.seed", "lib.draw", "spawn", None),
        ("lib.Env.register", "lib.make", "spawn", "lib.Env.register"),
        ("lib.Env.register", "lib.make", "fork", None),
    ],
)
def test_a_state_that_the_initializer_itself_sets(setter, reader, method, found):
    on = argument(maker={"name": "mp.Pool", "keywords": {"initializer": {"names": [setter]}}})
    uses = [call("mp.Pool.map", lacking(), on=on), call(reader, within="main.work"), call(setter, line=6)]
    cases = judged("lacks", uses, method)[1]
    assert [names["object"] for _, names in cases] == [found] * (found is not None)
    for seen, names in cases:
        assert (names["where"], seen[1][1]) == (
            "main.py:9", f"{found} is a method of an object: each worker is given a copy of that, and calls its method",
        )  # fmt: skip


# -- by which start method ---


@pytest.mark.parametrize(
    ("entry", "more", "method", "source"),
    [
        ({}, {}, "spawn", DEFAULT), ({"method": "forkserver"}, {}, "forkserver", "as good as this, whatever the program sets"),
        ({"library": "own"}, {}, "spawn", "own chooses it, whatever the program sets"),
        ({"context": [{"name": "ctx"}], "method": "spawn"}, {"keywords": {"ctx": argument(value="forkserver")}}, "forkserver", "main.py:9"),
        ({"context": [{"name": "ctx"}]}, {"keywords": {"ctx": argument(value=None)}}, "spawn", DEFAULT),
        ({"context": [{"name": "ctx"}]}, {"keywords": {"ctx": argument(value="odd")}}, None, None),
        ({"context": [{"name": "ctx"}]}, {"keywords": {"ctx": argument()}}, None, None),
        ({"context": [{"name": "ctx"}]}, {"keywords": {"ctx": argument(value="fork")}}, None, None),
        ({"context": [{"name": "o", "entry": "m"}]}, {"keywords": {"o": argument(entries={"m": {"value": "forkserver"}})}}, "forkserver", "main.py:9"),
        ({"context": [{"name": "o", "entry": "m"}]}, {"keywords": {"o": argument(entries={"n": {"value": "fork"}})}}, "spawn", DEFAULT),
        ({"context": [{"name": "o", "entry": "m"}]}, {"keywords": {"o": argument()}}, "spawn", DEFAULT),
        ({"context": [{"on": "how"}]}, {"on": argument(maker={"name": "P", "keywords": {"how": {"value": "forkserver"}}})}, "forkserver", "main.py:9"),
        ({"context": [{"on": "how", "at": 0}]}, {"on": argument(maker={"name": "P", "arguments": [{"value": "fork"}]})}, None, None),
    ],
)  # fmt: skip
def test_what_a_call_is_given_decides_its_start_method(entry, more, method, source):
    use = call("mp.Process", **{**more, "keywords": {**more.get("keywords", {}), "args": carrying("open")}})
    cases = judged("given-object", [use], entries=[{**START, **entry}])[1]
    assert [names["start_method"] for _, names in cases] == [method] * (method is not None)
    assert [seen[-1][1:] for seen, _ in cases] == [(method, source)] * (method is not None)


@pytest.mark.parametrize(
    ("maker", "method"),
    [
        ({"name": "multiprocessing.get_context", "arguments": [{"value": "forkserver"}]}, "forkserver"),
        ({"name": "multiprocessing.get_context", "keywords": {"method": {"value": "forkserver"}}}, "forkserver"),
        ({"name": "multiprocessing.get_context", "arguments": [{"value": "fork"}]}, None),
        ({"name": "multiprocessing.get_context"}, None), ({"name": "lib.Pool"}, "spawn"),
        ({"name": "lib.Pool", "keywords": {"mp_context": {"value": "forkserver"}}}, "forkserver"),
        ({"name": "lib.Pool", "keywords": {"context": {"value": "forkserver"}}}, "forkserver"),
        ({"name": "lib.Pool", "keywords": {"other": {"value": "forkserver"}}}, "spawn"),
        ({"name": "lib.Pool", "keywords": {"max_tasks_per_child": {"value": 1}, "context": {"value": "forkserver"}}}, "forkserver"),
        ({"name": "lib.Pool", "arguments": [{"value": 4}, {"maker": {"name": "mp.get_context", "arguments": [{"value": "forkserver"}]}}]}, "forkserver"),
        ({"name": "lib.Pool", "arguments": [{"value": "forkserver"}]}, "spawn"),
        ({"name": "x.Pool", "on": {"name": "mp.get_context", "arguments": [{"value": "forkserver"}]}}, "forkserver"),
        ({"name": "x.Pool", "on": {"name": "lib.f", "on": {"name": "mp.get_context", "arguments": [{"value": "forkserver"}]}}}, "forkserver"),
    ],
)  # fmt: skip
def test_what_made_the_pool_decides_its_start_method(maker, method):
    entry = {"calls": ["lib.submit"], "at-start": [{"at": 0}]}
    use = call("lib.submit", carrying("open"), on=argument(maker=maker))
    found = names_of("given-object", use, entries=[entry])
    assert [one["start_method"] for one in found] == [method] * (method is not None)


def test_a_pool_that_is_renewed_is_never_forked():
    entry = {"calls": ["lib.submit"], "at-start": [{"at": 0}]}
    maker = {"name": "lib.Pool", "keywords": {"max_tasks_per_child": {"value": 1}}}
    (found,) = names_of(
        "given-object", call("lib.submit", carrying("open"), on=argument(maker=maker)), method="fork", entries=[entry]
    )
    assert found["start_method"] == "spawn"


def test_a_context_that_nobody_can_follow_leaves_the_method_open():
    entry = {"calls": ["mp.get_context.Process"], "at-start": [{"at": 0}]}
    assert names_of("given-object", call("mp.get_context.Process", carrying("open")), entries=[entry]) == []


@pytest.mark.parametrize(
    ("within", "lacks"), [("main.fill", False), ("fill", False), ("other.fill", False), ("main.run", True), ("", True)]
)
def test_a_state_that_a_function_sets_which_every_worker_runs_first(within, lacks):
    on = argument(maker={"name": "mp.Pool", "keywords": {"initializer": {"names": ["main.fill"]}}})
    uses = [
        call("mp.Pool.map", lacking(), on=on),
        call("lib.draw", within="main.work"),
        call("lib.seed", within=within),
    ]
    assert bool(names_of("lacks", *uses)) is lacks
