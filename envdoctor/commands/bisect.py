"""``envdoctor bisect``, which builds environments as the workshop does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.commands.rules import loaded

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(words: Sequence[str]) -> int:
    """``envdoctor bisect``. Raises :class:`~envdoctor.errors.UsageError` where the workshop is not installed."""
    status: int = loaded("bisect", "workshop.commands.bisect:run")(words)
    return status
