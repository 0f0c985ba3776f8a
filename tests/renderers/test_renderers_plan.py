"""The table of a plan's steps, on terminals of several widths."""

import pytest

from envdoctor.model import Report, Snapshot
from envdoctor.plans import Move, Plan
from envdoctor.renderers import plan

LONG = "a-rule-whose-name-takes-more-than-half-of-a-terminal-of-eighty-columns"
MOVES = (
    Move(package="left", before="2.1", after="1.26", step="major", down=True, asked=True, why=("left2", LONG)),
    Move(package="an-extension-with-a-long-name", before="4.5", after=None, step="removed", why=("left2",)),
)
SNAPSHOT = Snapshot(target={"kind": "snapshot"}, python={"version": "3.11"}, packages={})


def lines(width):
    text = plan.text(Plan(moves=MOVES), Report(snapshot=SNAPSHOT, findings=()), width=width, color=False, unicode=True)
    return text.splitlines()[2:]


@pytest.mark.parametrize("width", [None, 160])
def test_reasons_are_beside_their_step_where_they_fit(width):
    head, first, second, third, *_ = lines(width)
    assert head.split() == ["package", "from", "to", "step", "why"]
    assert [one.index(why) for one, why in ((first, "left2"), (second, LONG), (third, "left2"))] == [
        head.index("why")
    ] * 3
    assert first.split()[:3] == ["left", "2.1", "1.26"]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_reasons_are_below_it_whole_where_they_do_not_fit(width):
    assert lines(width)[:6] == [
        "package                        from  to    step",
        "left                           2.1   1.26  major down, asked for",
        "  left2",
        f"  {LONG}",
        "an-extension-with-a-long-name  4.5   -     removed",
        "  left2",
    ]
