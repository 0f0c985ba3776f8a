"""Steps taken back and made smaller, on markets of a few releases: by hand, and against trying all of them."""

from itertools import product

import pytest
from engine.rule_bases import snapshot
from hypothesis import given
from hypothesis import strategies as st
from remedies.actions import examined

from envdoctor.engine.versions import key
from envdoctor.facts import MANAGER
from envdoctor.plans import Move
from envdoctor.remedies import planner, steps
from envdoctor.remedies.planner import Alternative, Choice, Clause, Market

HERE = snapshot({}, lookups={("marker", "python_version"): "3.11"})
#: What each release requires.
REQUIRES = {
    ("app", "1.0"): ["lib>=1", "old ; python_version < '3'"],
    ("app", "2.0"): ["Lib >= 2 ; python_version > '3'", "part"],
    ("app", "2.1"): ["lib>=2"],
    ("lib", "1.0"): ["app<2"],
    ("lib", "2.0"): ["part>=1"],
    ("lib", "2.0.1"): [],
    ("part", "1.0"): [],
    ("lone", "1.0"): ["not a requirement at all"],
}


def together(requires=REQUIRES):
    return steps.Together(HERE, lambda name, version: requires.get((name, version)))


def market(releases, asked=(), **installed):
    return Market(installed, lambda name: releases.get(name, ()), dict.fromkeys(asked))


def choice(*wants):
    """The choice of one alternative for each clause."""
    picks = [(Clause(name=f"rule-{at} about", alternatives=[way]), way) for at, way in enumerate(map(_way, wants))]
    merged = {name: allowed for one in wants for name, allowed in _way(one).wants.items()}
    return Choice(wants=merged, cost=planner.FREE, picks=picks)


def _way(wants):
    return Alternative(wants={name: frozenset(allowed) for name, allowed in wants.items()})


def test_what_a_release_requires_here():
    found = together()
    assert found.lines("app", "1.0") == {"lib": ["lib>=1"]}
    assert found.lines("app", "2.0") == {"lib": ["Lib >= 2 ; python_version > '3'"], "part": ["part"]}
    assert found.lines("nobody", "1") == found.lines("lone", "1.0") == {}
    assert (found.admits("lib>=2", "lib", "2.0"), found.admits("lib>=2", "lib", "1.0")) == (True, False)


def test_what_is_not_met():
    found = together()
    versions = {"app": "2.0", "lib": "1.0", "lone": "1.0"}
    broken = [("app", "Lib >= 2 ; python_version > '3'"), ("app", "part"), ("lib", "app<2")]
    assert list(found.unmet(versions, versions)) == broken
    assert list(found.unmet(versions, ["lib"])) == [broken[0], broken[2]]
    assert list(found.unmet(versions, ["part"])) == [broken[1]]
    assert list(found.unmet(versions, ["lone"])) == []
    assert list(found.unmet({"app": "2.1", "lib": "2.0", "part": "1.0"}, ["app", "lib", "part"])) == []


def test_who_is_near_and_who_asks():
    found = together()
    versions = {"app": "2.1", "lib": "2.0", "part": "1.0", "lone": "1.0"}
    assert found.near(versions, ["app"]) == {"app", "lib"}
    assert found.near(versions, ["lib"]) == {"app", "lib", "part"}
    assert found.near(versions, []) == set()
    assert found.near({**versions, "lib": "1.0"}, []) == {"app", "lib"}
    assert list(found.askers(versions, "lib")) == [("app", "lib>=2")]
    assert list(found.askers({"lib": "2.0"}, "part")) == [("lib", "part>=1")]
    assert found.unwilling(versions, "lib", ["1.0"]) == {"app"}
    assert found.unwilling(versions, "lib", ["1.0", "2.0"]) == found.unwilling(versions, "lib", [""]) == set()


def test_a_release_in_another_spelling_has_not_moved():
    assert steps.moved({"a": "1.0", "b": "1.0", "d": "1"}, {"a": "1", "b": "1.1", "c": "1"}) == ["b", "c"]


RELEASES = {
    "app": ["1.0", "2.0", "2.1"],
    "lib": ["1.0", "2.0", "2.0.1"],
    "part": ["1.0"],
    "lone": ["1.0", "1.1", "3.0"],
}


@pytest.mark.parametrize(
    ("solved", "wants", "expected"),
    [
        # nobody wants it moved: it stays
        ({"app": "1.0", "lib": "1.0", "lone": "3.0"}, {"app": ["1.0"]}, {"app": "1.0", "lib": "1.0", "lone": "1.0"}),
        # the smallest step that the rule allows
        ({"app": "1.0", "lib": "1.0", "lone": "3.0"}, {"lone": ["1.1", "3.0"]}, {"app": "1.0", "lib": "1.0", "lone": "1.1"}),
        # what comes along alone is not brought where another release does without
        (
            {"app": "2.0", "lib": "2.0.1", "part": "1.0", "lone": "1.0"}, {"app": ["2.0", "2.1"]},
            {"app": "2.1", "lib": "2.0.1", "lone": "1.0"},
        ),
        # and stays where the only release that is wanted requires it
        (
            {"app": "2.0", "lib": "2.0", "part": "1.0", "lone": "1.0"}, {"app": ["2.0"]},
            {"app": "2.0", "lib": "2.0", "part": "1.0", "lone": "1.0"},
        ),
        # nothing asks for what is new
        ({"app": "1.0", "lib": "1.0", "lone": "1.0", "part": "1.0"}, {}, {"app": "1.0", "lib": "1.0", "lone": "1.0"}),
    ],
)  # fmt: skip
def test_steps_are_as_few_and_small_as_they_can_be(solved, wants, expected):
    here = market(RELEASES, app="1.0", lib="1.0", lone="1.0")
    assert steps.nearer(solved, choice(*[wants] * bool(wants)), here, together()) == expected


NUMBERS = ["1.0", "1.1", "2.0"]
WORLD = dict.fromkeys("abc", NUMBERS)
LINES = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from(NUMBERS)),
    st.lists(st.builds(lambda name, bound: name + bound, st.sampled_from("abc"), st.sampled_from([">=2", "<2", "!=1.1"])), max_size=1),
    max_size=4,
)  # fmt: skip


@given(LINES, st.tuples(*[st.sampled_from(NUMBERS)] * 3), st.sampled_from("abc"), st.integers(1, 7))
def test_what_is_nearer_still_goes_together_and_costs_no_more(requires, solved, name, mark):
    found, here = together(requires), market(WORLD, a="1.0", b="1.0", c="1.1")
    before = dict(zip("abc", solved))
    picked = choice({name: [one for bit, one in enumerate(NUMBERS) if mark >> bit & 1]})
    cost = lambda versions: planner.total(here.cost(one, version) for one, version in versions.items())  # noqa: E731
    ends = lambda versions: versions[name] in picked.wants[name] and not any(found.unmet(versions, versions))  # noqa: E731
    if ends(before):
        after = steps.nearer(before, picked, here, found)
        assert ends(after)
        assert cost(after) <= cost(before)
        alone = [{**after, one: version} for one, version in product("abc", NUMBERS)]
        assert cost(after) == min(cost(one) for one in alone if ends(one)), "no single step is better"


def test_each_step_says_what_it_is_for():
    here = market(RELEASES, ["app"], app="1.0", lib="1.0", lone="1.0", gone="1.0")
    after = {"app": "2.0", "lib": "2.0", "part": "1.0", "lone": "1.0"}
    picked = choice({"app": ["2.0", "2.1"]}, {"app": ["2.0"], "gone": [""]})
    assert steps.moves(after, picked, here, together()) == [
        Move(package="app", before="1.0", after="2.0", why=["rule-0", "rule-1"], step="major", asked=True),
        Move(package="gone", before="1.0", after=None, why=["rule-1"], step="removed"),
        Move(package="lib", before="1.0", after="2.0", why=["app 2.0 requires Lib >= 2"], step="major"),
        Move(package="part", before=None, after="1.0", why=["app 2.0 requires part"], step="new"),
    ]
    down = steps.moves({**after, "lone": "0.9"}, choice({"lone": ["0.9"]}), here, together())
    assert [(one.step, one.down) for one in down if one.package == "lone"] == [("major", True)]


@pytest.mark.parametrize(
    ("moves", "verb", "requirements", "packages"),
    [
        ([("a", "1", "2"), ("b", None, "1")], "install", ("a==2", "b==1"), ()),
        ([("a", "1", "2"), ("B_b", "1", None)], "replace", ("a==2",), ("b-b",)),
        ([("B_b", "1", None)], "uninstall", (), ("b-b",)),
    ],
)
def test_all_steps_are_one_action(moves, verb, requirements, packages):
    found = steps.action([Move(package=name, before=before, after=after) for name, before, after in moves])
    assert (found.verb, found.requirements, found.packages) == (verb, requirements, packages)


def test_no_step_is_no_action():
    assert steps.action([]) is None
    assert steps.at_once([], HERE, {}, [], "{}{}".format) is None


COSTS = [
    ("1.0", "", "REMOVED"),
    ("1.0", "2.1", "MAJOR"),
    ("1.0", "1.1", "MINOR"),
    ("1.0", "1.0.1", "PATCH"),
    ("", "1", "PACKAGES"),
]


@pytest.mark.parametrize(("before", "after", "place"), COSTS)
def test_what_a_step_costs(before, after, place):
    here = market({}, **({"a": before} if before else {}))
    places = {getattr(planner, place)} | ({planner.PACKAGES} if after else set())
    assert here.cost("a", after) == tuple(int(at in places) for at in range(10))
    assert here.cost("a", before) == planner.FREE


@pytest.mark.parametrize(
    ("wish", "after", "breaks"), [(None, "2.0", 1), ("<2", "2.0", 1), ("<3", "2.0", 0), ("==1.0", "1.1", 1)]
)
def test_what_was_asked_for_is_dear_outside_its_range(wish, after, breaks):
    cost = Market({"a": "1.0"}, lambda _: (), {"a": wish}).cost("a", after)
    assert cost[planner.ASKED] == breaks
    assert Market({"a": "3"}, lambda _: (), {}).cost("a", "1.0")[planner.DOWN :] == (1,)
    assert Market({"a": "3"}, lambda _: (), {}).cost("a", "1.0")[planner.MAJOR] == 2


def test_the_best_of_some_releases_is_the_cheapest_then_the_newest():
    here = market({"a": ["1.0", "1.1", "1.2", "2.0", "9"]}, a="1.0")
    assert [version for _, version in here.by_cost("a")] == sorted(
        here.releases("a"), key=lambda one: (here.cost("a", one), [-part for part in key(one)[1]])
    )
    assert here.best("a", frozenset(["1.1", "1.2", "9"])) == (here.cost("a", "1.2"), "1.2")


def managed(tool, **more):
    """An environment of a project, whose tool writes down what the project requires."""
    here = examined(["app", "lib"], tool="pip")
    found = {"tool": tool, "directory": "/p", **more}
    return here.replace(facts=here.facts.having({MANAGER: {here.python["prefix"]: found}}))


STEPS = [
    Move(package="app", before="1.0", after="2.0", why=["some-rule"]),
    Move(package="lib", before="1.0", after="2.0", why=["app 2.0 requires lib>=2"]),
    Move(package="part", before=None, after="1.0", why=["app 2.0 requires part"]),
    Move(package="more", before=None, after="3.0", why=["another-rule"]),
]


MOVED = (
    "uv add --directory /p more==3.0 && uv lock --directory /p --upgrade-package app==2.0 --upgrade-package lib==2.0"
)
ADDED = "uv add --directory /p app==2.0 more==3.0 && uv lock --directory /p --upgrade-package lib==2.0"
SYNC = " && uv sync --directory /p --inexact"


@pytest.mark.parametrize(
    ("here", "asked", "edited", "line"),
    [
        (examined(["pip"], "pip"), {}, [], "/opt/env/bin/python -m pip install app==2.0 lib==2.0 part==1.0 more==3.0"),
        (managed("uv-project", direct={"app": []}), {"app": ">=1"}, [], MOVED + SYNC),
        (managed("uv-project", direct={"app": []}), {"app": "<2"}, ["app"], MOVED + SYNC),
        (managed("uv-project", direct={"app": []}), {"app": "<2", "lib": "<2"}, [], ADDED + SYNC),
        (managed("uv-project"), {}, ["lib"], ADDED + SYNC),
        (
            managed("poetry"), {"app": "<3"}, ["app"],
            "poetry lock --directory /p && poetry add --directory /p 'lib>=2.0,<9' 'more>=3.0,<9'",
        ),
    ],
)  # fmt: skip
def test_the_one_command_leaves_what_only_comes_along_to_the_resolver_of_a_project(here, asked, edited, line):
    found = steps.at_once(STEPS, here, asked, edited, lambda _stated, move: f">={move.after},<9")
    assert found.command == line
