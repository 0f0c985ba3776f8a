"""Which start method is used, and what that rests on: a library's choice, the children, what is stated, the default."""

import pytest
from engine.rule_bases import snapshot

from envdoctor.engine.start_method import asked, in_use
from envdoctor.facts import SOURCE, Answer
from envdoctor.model import Location

SETTERS = "**.set_start_method"


def call(method, line=3, **more):
    return {"kind": "call", "file": "train.py", "line": line, "arguments": [{"value": method}], "keywords": {}, **more}


def program(*uses, **known):
    answer = Answer(found=list(uses), gaps=[])
    return snapshot(lookups={("source", SETTERS): answer}, start_method={"default": "fork", **known})


def test_a_library_that_chooses_counts_before_all_else():
    here = program(call("spawn"), children="spawn", stated="spawn")

    assert in_use(here, "farm", "forkserver") == (
        "forkserver",
        [("start_method.farm", "forkserver", "farm chooses it, whatever the program sets")],
    )
    assert in_use(here, "farm", ["forkserver", "spawn"])[0] == "forkserver"
    assert in_use(here.replace(platform={"system": "win32"}), "farm", ["forkserver", "spawn"])[0] == "spawn"


@pytest.mark.parametrize(
    ("library", "chooses"), [("farm", "default"), ("farm", None), (None, "forkserver"), (None, None)]
)
def test_one_that_follows_the_program_has_what_the_program_has(library, chooses):
    assert in_use(program(call("spawn")), library, chooses)[0] == "spawn"


def test_children_count_before_what_is_stated_and_that_before_the_source():
    assert in_use(program(call("spawn"), children="fork", stated="forkserver")) == (
        "fork", [("start_method", "fork", "the children of the process")],
    )  # fmt: skip
    assert in_use(program(call("spawn"), stated="forkserver")) == (
        "forkserver", [("start_method", "forkserver", "--start-method")],
    )  # fmt: skip


def test_what_the_source_sets_is_shown_beside_the_default_with_its_line():
    method, seen = in_use(program(call("spawn", line=7)))

    assert method == "spawn"
    assert seen == [
        ("start_method.default", "fork", "the default of that Python on that platform"),
        ("start_method.set", "spawn", "train.py:7"),
    ]
    assert in_use(program(call("spawn"), default=None))[1] == [("start_method.set", "spawn", "train.py:3")]


@pytest.mark.parametrize(
    "uses",
    [
        [],
        [call("spawn"), call("fork")],
        [call(None)],
        [call("spawn", kind="import")],
        [call("spawn", arguments=[{"kind": "name"}])],
        [call("spawn", arguments=[{"value": 1}, {"value": "spawn"}])],
    ],
    ids=["none", "two methods", "none given", "no call", "a variable", "the second argument"],
)
def test_what_the_source_does_not_settle_is_the_default(uses):
    assert in_use(program(*uses)) == ("fork", [("start_method", "fork", "the default of that Python on that platform")])


def test_a_keyword_says_it_and_the_same_said_twice_is_one():
    by_keyword = call(None, arguments=[], keywords={"method": {"value": "spawn"}})

    assert in_use(program(by_keyword))[0] == "spawn"
    assert in_use(program(call("spawn", line=9), by_keyword))[1][-1] == ("start_method.set", "spawn", "train.py:9")


def test_a_cell_of_a_notebook_is_named_with_the_line_in_it():
    here = call("spawn", file="train.ipynb", line=40, row=2, cell=3)

    ((_, _, place),) = [one for one in in_use(program(here))[1] if one[0] == "start_method.set"]
    assert place == Location("train.ipynb", 2, 3)


def test_without_a_default_and_a_source_nothing_is_known():
    assert in_use(snapshot()) == (None, [])


def test_the_source_is_asked_only_where_nothing_else_settles_it():
    assert list(asked(program())) == [(SOURCE, SETTERS)]
    assert list(asked(program(), "farm", "default")) == [(SOURCE, SETTERS)]
    assert list(asked(program(), "farm", "spawn")) == []
    assert list(asked(program(stated="spawn"))) == []
    assert list(asked(program(children="spawn"))) == []
