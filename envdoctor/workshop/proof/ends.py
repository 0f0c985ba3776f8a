"""The ends of ranges: what is expected there, what shows it, and which version has to be run next to tell."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from envdoctor.model import Record
from envdoctor.workshop.proof.judge import AGREES, CONTRADICTS, OTHERWISE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.workshop.proof.trials import StatedTrial

PYTHON = "python"


def version_of(text: str | None) -> Version | None:
    """The version that a text is; ``None`` where it is none."""
    try:
        return None if text is None else Version(text)
    except InvalidVersion:
        return None


class End(Record):
    """One end of a stretch of versions: ``order`` goes from the outermost to the last before the ``anchor``, a cell's.

    ``kind`` is what is expected there, ``side`` is ``lower`` or ``upper``, and ``is_open`` says that the rule has no
    bound there. ``beyond`` is the first version on the other side.
    """

    axis: str
    side: str
    kind: str
    base: StatedTrial
    order: Sequence[str]
    anchor: str | None
    is_open: bool = False
    beyond: str | None = None

    def is_of_old_releases(self) -> bool:
        """Whether it is the lower end of a range of releases, or what lies below one."""
        return self.side == "lower" and self.axis != PYTHON

    def is_shown_by(self, verdict: str) -> bool:
        """Whether a verdict on a trial at this end shows what is expected there: below a range a release may fail."""
        is_below = self.kind == "good" and self.is_of_old_releases()
        return verdict == AGREES or (verdict == OTHERWISE and is_below)

    def unlike(self, seen: Callable[[str], str | None]) -> list[str]:
        """The releases at the lower end of a range that work, or fail in another way, oldest first."""
        is_within = self.kind == "bad" and self.is_of_old_releases()
        return [one for one in self.order if is_within and seen(one) in {CONTRADICTS, OTHERWISE}]

    def after(self, versions: Sequence[str]) -> str | None:
        """The version that follows the last of some: what cannot be built above them stays within the range."""
        line = [*self.order, *([self.anchor] if self.anchor else [])]
        return line[line.index(versions[-1]) + 1] if versions else None


def search(end: End, seen: Callable[[str], str | None]) -> tuple[str | None, list[str]]:
    """The outermost version that shows what is expected, as far as is known, and what has to be run to tell."""
    order = end.order
    asked: list[str] = []

    def agrees(at: int) -> bool | None:
        asked.append(order[at])
        verdict = seen(order[at])
        return None if verdict is None else end.is_shown_by(verdict)

    if not order:
        return end.anchor, asked
    first = agrees(0)
    if first is not False:
        return (order[0] if first else end.anchor), asked
    if end.anchor is None:
        for at in range(1, len(order)):
            answer = agrees(at)
            if answer is not False:
                return (order[at] if answer else None), asked
        return None, asked
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        answer = agrees(middle)
        if answer is None:
            break
        low, high = (low, middle) if answer else (middle, high)
    return (order[high] if high < len(order) else end.anchor), asked


def name_of(end: End, version: str) -> str:
    """The name of the trial that moves a cell along an axis."""
    return f"{end.base.trial.name}, on {'Python' if end.axis == PYTHON else end.axis} {version}"
