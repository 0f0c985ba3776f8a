"""The cheapest choice among alternatives, held against trying all of them."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from envdoctor.remedies import planner
from envdoctor.remedies.planner import Alternative, Clause, Market

RELEASES = {"one": ["1.0", "1.1", "2.0"], "two": ["1.0", "1.0.1", "3.0"], "three": ["0.9", "1.0"]}
WANTS = st.dictionaries(st.sampled_from(sorted(RELEASES)), st.integers(1, 7), min_size=1, max_size=2)


def market(asked=()):
    return Market(dict.fromkeys(RELEASES, "1.0"), lambda name: RELEASES.get(name, ()), dict.fromkeys(asked))


def alternative(marks):
    """The releases of each distribution whose bits are set."""
    return Alternative(
        wants={
            name: frozenset(one for bit, one in enumerate(RELEASES[name]) if mark >> bit & 1) or frozenset(["1.0"])
            for name, mark in marks.items()
        }
    )


CLAUSES = st.lists(st.lists(WANTS.map(alternative), min_size=1, max_size=3), max_size=4).map(
    lambda several: [Clause(name=str(number), alternatives=ways) for number, ways in enumerate(several)]
)


@given(CLAUSES, st.sets(st.sampled_from(sorted(RELEASES))))
def test_no_set_of_releases_that_ends_all_is_cheaper(clauses, asked):
    here = market(asked)
    choice = planner.cheapest(clauses, here, [])

    every = [dict(zip(RELEASES, versions)) for versions in product(*RELEASES.values())]
    ending = [
        versions
        for versions in every
        if all(planner.ending(one, one.alternatives[0], versions) is not None for one in clauses)
    ]
    costs = [planner.total(here.cost(name, one) for name, one in versions.items()) for versions in ending]
    assert (choice.cost if choice else None) == min(costs, default=None)


@given(CLAUSES)
def test_a_conflict_is_one_and_without_any_of_it_there_is_none(clauses):
    found = planner.conflict(clauses, market(), [])

    if planner.cheapest(clauses, market(), []) is not None:
        assert found == []
    else:
        assert planner.cheapest(found, market(), []) is None
        for one in found:
            assert planner.cheapest([other for other in found if other is not one], market(), []) is not None


def test_what_was_refused_is_not_chosen_again():
    clauses = [Clause(name="a", alternatives=[alternative({"one": 2}), alternative({"two": 2})])]
    first = planner.cheapest(clauses, market(), [])

    second = planner.cheapest(clauses, market(), [first.wants])

    assert second is not None
    assert second.wants != first.wants
    assert planner.cheapest(clauses, market(), [first.wants, second.wants]) is None


def test_steps_are_counted_as_people_count_them():
    assert planner.step("1.1.2", "3.0") == ("major", 2)
    assert planner.step("1.1.2", "1.3") == ("minor", 1)
    assert planner.step("1.1.2", "1.1.9") == ("patch", 1)
    assert planner.step("", "1.0") == ("new", 1)
    assert planner.step("1.0", "") == ("removed", 1)
    assert planner.step("2023.1", "2026.1") == ("major", 3)
