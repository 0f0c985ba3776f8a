"""Runs trials again in the very releases that a proof records, and holds what comes out against it."""

from __future__ import annotations

import functools
from typing import Any

from envdoctor.workshop.proof.judge import CONTRADICTS, UNPROVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from envdoctor.workshop.every_release import Published
    from envdoctor.workshop.proof.measure import Index
    from envdoctor.workshop.proof.trials import Trial


class Locks:
    """What a proof records of its trials; without a proof it holds nothing against anything."""

    def __init__(self, proof: Mapping[str, Any] | None) -> None:
        self.rows = {row["trial"]: row for row in (proof or {}).get("trials", ())}
        self.date = str((proof or {}).get("date", "9"))

    def as_of(self, index: Index) -> Index:
        """An index as it was on the day of the proof."""

        @functools.cache
        def asked(name: str) -> list[Published] | None:
            found = index(name)
            return None if found is None else [one for one in found if one.uploaded <= self.date]

        return asked

    def locked(self, trial: Trial) -> Trial:
        """A trial in the releases that were recorded of it; what an installation itself shows cannot be locked."""
        row = self.rows.get(trial.name, {})
        if not row.get("installed") or trial.installs or trial.examines or trial.prepare:
            return trial
        place = trial.place.replace(
            python=row["python"], install=row["installed"], absent=(), together=False, needs=(), locked=True
        )
        again: Trial = trial.replace(place=place, applies=None)
        return again

    def held_against(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row as it came out, contradicted where another verdict was recorded."""
        had = self.rows.get(row["trial"])
        if had is None or UNPROVEN in {row["verdict"], had["verdict"]} or row["verdict"] == had["verdict"]:
            return row
        said = f"the proof records that it {had['verdict']}, and run again it {row['verdict']}: {row.get('symptom')}"
        return {**row, "verdict": CONTRADICTS, "reason": said}
