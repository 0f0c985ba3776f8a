"""What would end a finding, as releases: what a rule says, and what lies outside of its ranges."""

import pytest
from engine.rule_bases import base, rule, snapshot

from envdoctor.engine import diagnose
from envdoctor.engine.alternatives import MOST, held
from envdoctor.engine.versions import within


def ways(when, *remedies, **packages):
    """Of each way out, the releases 0.9 to 3.0 that it admits, by distribution."""
    here = snapshot(packages)
    made = rule(when=when, remedies=list(remedies))
    (one,) = held(here, diagnose.candidates(here, [base(made)]))
    tried = ["0.9", "1.0", "1.5", "2.0", "3.0"]
    return [{name: [v for v in tried if within(v, None, bad)] for name, bad in way.wants.items()} for way in one.ways]


CURE = {"upgrade": "left>=3"}


@pytest.mark.parametrize(
    ("bad", "left"),
    [
        (">=1.5,<3", ["3.0"]),  # nobody has said that 0.9 and 1.0 work: the range begins where somebody began to look
        ("==1.5", ["2.0", "3.0"]),
        (">=1.5", ["0.9", "1.0"]),
        ("<2", ["2.0", "3.0"]),
    ],
)
def test_what_is_older_than_a_range_is_no_way_out_where_something_newer_is(bad, left):
    assert ways({"packages": {"left": bad}}, CURE, left="1.5")[1:] == [{"left": left}]


def test_what_the_rule_says_of_older_ones_is_a_way_out():
    older = {"downgrade": "left<1.5"}

    assert ways({"packages": {"left": ">=1.5,<3"}}, older, left="1.5")[0] == {"left": ["0.9", "1.0"]}


def test_each_distribution_of_a_condition_is_a_way_out():
    both = {"packages": {"left": "<2", "right": ">=2"}}

    assert ways(both, CURE, left="1.5", right="2.0")[1:] == [{"left": ["2.0", "3.0"]}, {"right": ["0.9", "1.0", "1.5"]}]


def test_of_several_that_hold_all_have_to_end():
    several = {"any": [{"packages": {"left": "<2"}}, {"packages": {"right": ">=2"}}]}

    assert ways(several, CURE, left="1.5", right="2.0")[1:] == [
        {"left": ["2.0", "3.0"], "right": ["0.9", "1.0", "1.5"]}
    ]
    assert ways(several, CURE, left="1.5", right="1.0")[1:] == [{"left": ["2.0", "3.0"]}]


def test_what_must_not_be_is_made_to_be():
    but = {"all": [{"packages": {"left": "<2"}}, {"not": {"packages": {"right": "<2"}}}]}

    assert ways(but, CURE, left="1.5", right="2.0")[1:] == [{"left": ["2.0", "3.0"]}, {"right": ["0.9", "1.0", "1.5"]}]


def test_neither_side_of_a_negation_has_to_be_the_first():
    both = {"not": {"any": [{"packages": {"left": ">=2"}}, {"packages": {"right": "<2"}}]}}
    each = {"not": {"all": [{"packages": {"left": ">=2"}}, {"packages": {"right": "<2"}}]}}

    one = [{"left": ["2.0", "3.0"]}, {"right": ["0.9", "1.0", "1.5"]}]
    assert ways(both, CURE, left="1.5", right="2.0")[1:] == one
    assert ways(each, CURE, left="1.5", right="2.0")[1:] == [one[0] | one[1]]


def test_a_remedy_may_remove_want_another_python_or_be_about_a_file():
    here = snapshot({"left": "2.0"})
    remedies = [
        {"uninstall": "left"},
        {"downgrade": "python<3.11"},
        {"change": "call the other name"},
        {"pin": "left<2", "at": "build"},
    ]
    (one,) = held(here, diagnose.candidates(here, [base(rule(remedies=remedies))]))

    assert [(list(way.wants), list(way.removes), way.python) for way in one.ways[:3]] == [
        ([], ["left"], ""),
        ([], [], "<3.11"),
        ([], [], ""),
    ]
    assert one.ways[2].remedy.kind == "change"
    assert len(one.ways) == 4, "what is about a build ends nothing here"


def found(made, packages, **fields):
    """The findings of a rule with what would end each."""
    here = snapshot(packages, **fields)
    return held(here, diagnose.candidates(here, [base(made)]))


def admitted(way, *tried):
    """The releases of some that a way admits, by distribution."""
    return {name: [one for one in tried if within(one, None, ranges)] for name, ranges in way.wants.items()}


def test_a_remedy_wants_all_that_it_names_and_removes_what_it_replaces():
    remedies = [
        {"replace": "Left_Gpu", "with": "Left_Cpu>=2,<3"}, {"downgrade": "Left.Lib<2"}, {"pin": "other==1.0"},
        {"reinstall": "left"}, {"install": "other @ https://example.org/other.whl"},
    ]  # fmt: skip
    (one,) = found(rule(remedies=remedies[:4]), {"left": "2.0"})

    assert [admitted(way, "1.0", "2.0", "3.0") for way in one.ways[:3]] == [
        {"left-cpu": ["2.0"]}, {"left-lib": ["1.0"]}, {"other": ["1.0"]},
    ]  # fmt: skip
    assert [way.removes for way in one.ways] == [("left-gpu",), (), (), (), ()]
    assert [way.python for way in one.ways] == [""] * 5
    assert [way.remedy for way in one.ways] == [*one.finding.remedies, None]


def test_each_consumer_may_leave_its_bad_range_instead():
    consumers = {
        "right": {"bad": "<1.4", "works": "1.4"}, "third": {"bad": "<9", "works": None},
    }  # fmt: skip
    first, second = found(rule(consumers=consumers, remedies=[CURE]), {"left": "2.1", "right": "1.0", "third": "1"})

    assert (first.finding.consumer, second.finding.consumer) == ("right", "third")
    tried = ["0.1", "1.3", "1.4", "2.0", "9.0"]
    assert [admitted(way, *tried) for way in first.ways[1:]] == [{"left": ["0.1", "1.3", "1.4"]}, {"right": tried[2:]}]
    assert [admitted(way, *tried) for way in second.ways[1:]][1] == {"third": ["9.0"]}
    assert first.declared == second.declared == {}


@pytest.mark.parametrize(
    ("line", "there", "kind", "wants"),
    [
        ("right>=2", "1.0", "incompatible", [{"right": ["2.0", "3.0"]}, {"left": ["1.0", "3.0"]}]),
        ("right>=2 ; python_version > '3'", "1.0", "incompatible", [{"right": ["2.0", "3.0"]}, {"left": ["1.0", "3.0"]}]),
        ("Right", None, "missing", [{"right": ["1.0", "2.0", "3.0"]}, {"left": ["1.0", "3.0"]}]),
        ("right @ https://example.org/right.whl", None, "missing", [{"left": ["1.0", "3.0"]}]),
    ],
)  # fmt: skip
def test_of_a_requirement_that_is_not_met_either_side_moves(line, there, kind, wants):
    lookups = {("requirements", "left"): [line], ("marker", "python_version"): "3.11"}
    made = rule(when={"installed": kind}, remedies=[{"change": "one of them"}])
    (one,) = found(made, {"left": "2.0", **({"right": there} if there else {})}, lookups=lookups)

    assert [admitted(way, "1.0", "2.0", "3.0") for way in one.ways[1:]] == wants
    assert (one.declared["distribution"], one.declared["required"]) == ("left", "right")
    assert one.declared["requirement"] == line.partition(";")[0].strip()


def test_an_owner_without_a_version_that_could_be_read_stays_as_it_is():
    made = rule(when={"installed": "missing"}, remedies=[{"change": "it"}])
    for version in (None, "odd"):
        (one,) = found(made, {"left": version}, lookups={("requirements", "left"): ["right>=2"]})
        assert [list(way.wants) for way in one.ways[1:]] == [["right"]]


def test_of_a_family_all_that_are_there_leave_the_range():
    assert ways({"packages": {"left": "<2"}}, CURE, **{"left-cpu": "1.5", "left-gpu": "1.5"})[1:] == [
        {"left-cpu": ["2.0", "3.0"], "left-gpu": ["2.0", "3.0"]}
    ]


def test_what_cannot_be_had_together_is_no_way():
    both = {"any": [{"packages": {"left": ">=1"}}, {"packages": {"left": "<3"}}]}
    assert ways(both, CURE, left="1.5")[1:] == []
    nearer = {"any": [{"packages": {"left": "<2"}}, {"packages": {"left": "<3"}}]}
    assert ways(nearer, CURE, left="1.5")[1:] == [{"left": ["3.0"]}]


def test_what_may_hold_has_to_end_too():
    open_still = {"any": [{"packages": {"left": "<2"}}, {"packages": {"right": ">=2"}}]}
    assert ways(open_still, CURE, left="1.5", right=None)[1:] == [
        {"left": ["2.0", "3.0"], "right": ["0.9", "1.0", "1.5"]}
    ]
    begun = {"not": {"all": [{"packages": {"left": ">=2"}}, {"packages": {"right": "<2"}}]}}
    assert ways(begun, CURE, left="1.5", right=None)[1:] == [{"left": ["2.0", "3.0"], "right": ["0.9", "1.0", "1.5"]}]
    assert ways(begun, CURE, left="1.5", right="1.0")[1:] == [{"left": ["2.0", "3.0"]}]


def test_no_more_ways_are_tried_than_anybody_looks_at():
    several = {"all": [{"packages": {f"p{number}": "<2"}} for number in range(MOST + 8)]}
    found = ways(several, CURE, **{f"p{number}": "1.5" for number in range(MOST + 8)})
    assert [list(one) for one in found] == [["left"], *([f"p{number}"] for number in range(MOST))]
    pairs = {"any": [{"all": [{"packages": {f"{side}{one}": "<2"}} for one in range(6)]} for side in ("a", "b")]}
    found = ways(pairs, CURE, **{f"{side}{one}": "1.5" for one in range(6) for side in ("a", "b")})[1:]
    assert [list(one) for one in found] == [[f"a{one}", f"b{two}"] for one in range(6) for two in range(6)][:MOST]


def test_a_rule_about_something_else_is_ended_by_its_remedies_alone():
    (way,) = found(rule(when={"packages": {"left": "present"}}, remedies=[{"uninstall": "left"}]), {"left": "1"})[
        0
    ].ways
    assert (way.wants, way.removes) == ({}, ("left",))
