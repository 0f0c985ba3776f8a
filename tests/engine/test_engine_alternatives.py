"""What would end a finding, as releases: what a rule says, and what lies outside of its ranges."""

import pytest
from engine.rule_bases import base, rule, snapshot

from envdoctor.engine import diagnose
from envdoctor.engine.alternatives import held
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
