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
