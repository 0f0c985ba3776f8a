"""The measured grid of a rule: releases against Pythons, or against the releases of another distribution."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.model import Record
from envdoctor.workshop.proof.edge_search import BAD, GOOD, UNBUILT, at
from envdoctor.workshop.proof.judge import symptom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.workshop.proof.trials import Trial

_COUNT = re.compile(r"(\d+) of (\d+)\s*\Z")


class Axis(Record):
    """One side of a grid: ``python`` or a distribution, and its versions in order."""

    name: str
    versions: Sequence[str]


class Square(Record):
    """What one combination showed; ``share`` is how much of a script passed that counts (`17 of 20` at its end)."""

    outcome: str
    share: float
    text: str
    symptom: str | None = None


class Grid(Record):
    """Rows by columns of :class:`Square`, ``squares[row][column]``."""

    title: str
    rows: Axis
    columns: Axis
    squares: Sequence[Sequence[Square]]


def plan(base: Trial, rows: Axis, columns: Axis) -> list[list[Trial]]:
    """The trials of a grid, row by row."""
    return [
        [
            at(at(base, rows.name, row), columns.name, column).replace(kind="good", raises=None)
            for column in columns.versions
        ]
        for row in rows.versions
    ]


def square(told: Mapping[str, Any]) -> Square:
    """What a result looks like in the grid."""
    if told["outcome"] == "unbuilt":
        return Square(outcome=UNBUILT, share=0.0, text="", symptom=told["reason"])
    counted = _COUNT.search(told.get("output", "").rstrip())
    if counted and int(counted[2]):
        share = int(counted[1]) / int(counted[2])
        return Square(outcome=GOOD if share == 1 else BAD, share=share, text=counted[1], symptom=counted[0].strip())
    passed = told["outcome"] == "passed"
    return Square(outcome=GOOD if passed else BAD, share=float(passed), text="", symptom=symptom(told))


def thinned(versions: Sequence[str], wanted: str) -> list[str]:
    """``all`` versions, or the last of each ``minor`` or ``major`` series."""
    if wanted == "all":
        return list(versions)
    parts = 2 if wanted == "minor" else 1
    last = {tuple(version.split(".")[:parts]): version for version in versions}
    return list(last.values())
