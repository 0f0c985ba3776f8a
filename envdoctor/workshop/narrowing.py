"""Which of many differences make something fail: halving over what may be moved together, one culprit after the other.

Differences are put in an order in which each comes behind all that it needs, so that whatever number of them is moved
from the front, what was moved fits together. The shortest such beginning that fails ends with a culprit; that one stays
moved, and the rest of the beginning is searched for what it takes besides. Of ``n`` differences each culprit takes
``log2(n)`` trials, and one that says whether it is the last. Pure.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    #: Judges sets of names that are moved, side by side.
    Judge = Callable[[Sequence[frozenset[str]]], Sequence[str]]

PASSES, FAILS, UNRESOLVED = "passes", "fails", "unresolved"


def units(needs: Mapping[str, Collection[str]], first: Collection[str] = ()) -> list[tuple[str, ...]]:
    """All names in an order in which each comes behind what it needs; what needs each other is one.

    Those of ``first``, and what they need, come before the others.
    """
    reached = {name: _reached(name, needs) for name in needs}
    made: dict[tuple[str, ...], None] = {}
    for name in sorted(needs, key=lambda one: (one not in first, one)):
        for one in sorted(reached[name], key=lambda one: (len(reached[one]), one)):
            made.setdefault(tuple(sorted(other for other in reached[one] if one in reached[other])))
    return list(made)


def _reached(name: str, needs: Mapping[str, Collection[str]]) -> set[str]:
    """A name and all that it needs, directly or not."""
    found, left = {name}, [name]
    while left:
        new = set(needs.get(left.pop(), ())) - found
        found |= new
        left += new
    return found


def smallest(
    order: Sequence[Sequence[str]], needs: Mapping[str, Collection[str]], judge: Judge, jobs: int = 1
) -> list[tuple[str, ...]]:
    """The culprits: of each the names that are indistinguishable, in the order in which they were found.

    ``judge`` says of a set of moved names what came out; all of them fail, and none passes. What cannot be built is
    tried with more or fewer moved; where that helps nowhere, all between are one culprit.
    """
    found: list[tuple[str, ...]] = []
    kept: frozenset[str] = frozenset()
    high = len(order)
    while not found or (high and judge([kept])[0] != FAILS):
        low, high = _halved(order, kept, high, judge, jobs)
        culprit = tuple(name for unit in order[low:high] for name in unit)
        found.append(culprit)
        kept = kept.union(*(_reached(name, needs) for name in culprit))
        high = low
    return found


def _halved(
    order: Sequence[Sequence[str]], kept: frozenset[str], high: int, judge: Judge, jobs: int
) -> tuple[int, int]:
    """The longest beginning of the order that was seen to pass, and the shortest that was seen to fail, as sizes."""
    low = 0
    while high - low > 1:
        sizes, outcomes = _tried(order, kept, (low, high), judge, jobs)
        failing = [size for size, outcome in zip(sizes, outcomes) if outcome == FAILS]
        passing = [size for size, outcome in zip(sizes, outcomes) if outcome == PASSES]
        if not failing and not passing:
            break
        high = min(failing, default=high)
        low = max((size for size in passing if size < high), default=low)
    return low, high


def _tried(
    order: Sequence[Sequence[str]], kept: frozenset[str], ends: tuple[int, int], judge: Judge, jobs: int
) -> tuple[list[int], list[str]]:
    """What some sizes between the two ends showed: as many as are tried at once, or else one near the middle."""

    def moved(size: int) -> frozenset[str]:
        return kept.union(*order[:size])

    low, high = ends
    sizes = sorted({low + (high - low) * part // (jobs + 1) for part in range(1, jobs + 1)} - {low})
    if jobs == 1:
        sizes = [low + _lower(high - low)]
    outcomes = list(judge([moved(size) for size in sizes]))
    if set(outcomes) == {UNRESOLVED}:
        for size in _outwards(sizes[0], low, high):
            sizes, outcomes = [size], list(judge([moved(size)]))
            if outcomes != [UNRESOLVED]:
                break
    return sizes, outcomes


def _lower(number: int) -> int:
    """How many of so many ends are in the lower part: none takes more trials than by halving, the last ones fewer."""
    depth = (number - 1).bit_length()
    return number - max(number - (1 << (depth - 1)), (1 << depth) >> 2, 1)


def _outwards(middle: int, low: int, high: int) -> Iterator[int]:
    """Sizes strictly between two, ever nearer to both of them."""
    below, above = middle - low, high - middle
    while below > 1 or above > 1:
        below, above = max(below // 2, 1), max(above // 2, 1)
        yield from {low + below, high - above} - {middle}
