"""Bytecode taken apart by the rules of one minor version of Python 3, or refused by them.

What is refused was certainly not compiled by that version: an instruction or a cache that it does not have, an
argument past the end of what it counts, a jump into the middle of an instruction, an end that control can fall out of.
Nothing is ever run. On the functions of the standard libraries of 3.6 to 3.14, no version refuses its own.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from envdoctor.probes.artifacts.opcode_tables import CHANGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Every minor version whose instructions are known, oldest first.
MINORS = tuple(sorted(CHANGES))
#: Code longer than this is not taken apart; the longest function of the standard library has 20 kB.
CODE_LIMIT = 1 << 18

_ENDS = {
    "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT", "BREAK_LOOP", "CONTINUE_LOOP",
}  # fmt: skip
_OLD_ENDS = {"RETURN_VALUE", "POP_TOP", "END_FINALLY"}
_PREFIX = {"COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP"}
_SHIFTED = {"LOAD_GLOBAL": (11, 1), "LOAD_ATTR": (12, 1), "LOAD_SUPER_ATTR": (12, 2)}
_COMPARISONS = {6: (0, 11), 7: (0, 11), 8: (0, 11), 9: (0, 6), 10: (0, 6), 11: (0, 6), 12: (4, 6)}
_NEWER_COMPARISONS = (5, 6)


class Opcode(NamedTuple):
    """A kind of instruction: its name, what its argument counts, and how many cache entries follow."""

    name: str
    counts: str
    caches: int


class Step(NamedTuple):
    """One instruction with its place: ``start`` is that of its first prefix, ``end`` is behind its caches."""

    start: int
    end: int
    kind: Opcode
    argument: int


class Sizes(NamedTuple):
    """How many constants, names, local variables, and cells with free variables the code object has."""

    constants: int
    names: int
    variables: int
    cells: int


#: From this minor version on, any number is left beside an instruction that counts nothing.
_UNUSED_SINCE = 10


def words(minor: int) -> list[str]:
    """The words of a minor version's instructions, as :data:`CHANGES` writes them."""
    found: dict[str, str] = {}
    for word in (word for one in MINORS if one <= minor for word in CHANGES[one].split()):
        if word[0] == "-":
            del found[word[1:]]
        else:
            found[word.partition("=")[0]] = word
    return list(found.values())


@functools.cache
def table(minor: int) -> Mapping[int, Opcode]:
    """The instructions of a minor version by their numbers."""
    kinds = {}
    for word in words(minor):
        name, _, rest = word.partition("=")
        rest, _, caches = rest.partition("/")
        number = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
        kinds[int(number)] = Opcode(name, rest[len(number) :], int(caches or 0))
    return kinds


def steps(code: bytes, minor: int) -> list[Step] | None:
    """The instructions, or ``None`` where this version has no such code."""
    if len(code) % 2 or not 0 < len(code) <= CODE_LIMIT:
        return None
    kinds, found, at, start, argument = table(minor), list[Step](), 0, 0, 0
    while at < len(code):
        kind = kinds.get(code[at])
        has_argument = code[at + 1] != 0 or start != at
        if kind is None or (has_argument and not _may_have_argument(kind, minor)):
            return None
        argument = argument << 8 | code[at + 1]
        at += 2
        if kind.name == "EXTENDED_ARG":
            if argument >= 1 << 24:
                return None
            continue
        end = at + 2 * kind.caches
        if any(code[at:end]):
            return None
        found.append(Step(start, end, kind, argument))
        at = start = end
        argument = 0
    return found if start == len(code) else None  # else it ends within an instruction


def _may_have_argument(kind: Opcode, minor: int) -> bool:
    """Whether a number may be beside an instruction: it counts something, or this version leaves any there."""
    return bool(kind.counts) or minor >= _UNUSED_SINCE


def is_possible(code: bytes, sizes: Sizes, minor: int) -> bool:
    """Whether a compiler of this minor version can have made the code."""
    found = steps(code, minor)
    if not found or not all(_argument_fits(step, sizes, minor) for step in found):
        return False
    targets = [_target(step, minor) for step in found]
    starts = {step.start for step in found}
    return (
        all(target is None or target in starts for target in targets)
        and _ends(found, minor)
        and _begins(found, minor)
        and not (minor == 7 and _calls_as_3_6(found, targets))  # noqa: PLR2004
    )


def _argument_fits(step: Step, sizes: Sizes, minor: int) -> bool:
    """Whether what the argument counts is there."""
    argument, counts = step.argument, step.kind.counts
    if not argument and "_UNPACK" in step.kind.name:  # what 3.11 and later begin with has such a number in 3.8
        return False
    since, shift = _SHIFTED.get(step.kind.name, (99, 0))
    if minor >= since:
        argument >>= shift
    if counts == "p":
        shift, number = _COMPARISONS.get(minor, _NEWER_COMPARISONS)
        return argument >> shift < number
    in_one = minor > 10  # noqa: PLR2004 - since 3.11 local variables, cells and free variables are counted in one row
    all_locals = sizes.variables + sizes.cells
    if counts == "l" and step.kind.name.count("_FAST") > 1 and "AND" not in step.kind.name:
        return argument >> 4 < all_locals and argument & 15 < all_locals
    limits = {
        "c": sizes.constants,
        "n": sizes.names,
        "l": all_locals if in_one else sizes.variables,
        "f": all_locals if in_one else sizes.cells,
    }
    return argument < limits.get(counts, 1 << 32)


def _target(step: Step, minor: int) -> int | None:
    """Where a jump leads, or ``None`` for what does not jump."""
    unit = 2 if minor > 9 else 1  # noqa: PLR2004 - jumps count instructions since 3.10, bytes before
    if step.kind.counts == "j":
        return step.argument * unit
    if step.kind.counts != "r":
        return None
    back = "BACKWARD" in step.kind.name or step.kind.name == "END_ASYNC_FOR"
    return step.end + (-step.argument if back else step.argument) * unit


def _ends(found: Sequence[Step], minor: int) -> bool:
    """Whether control stays inside. Up to 3.9 every function ended with a return, but for one out of a ``finally``."""
    return found[-1].kind.name in (_ENDS if minor > 9 else _OLD_ENDS)  # noqa: PLR2004


def _begins(found: Sequence[Step], minor: int) -> bool:
    """Whether the code begins as that of its version: since 3.11 with ``RESUME``, before with anything else."""
    first = next((step for step in found if step.kind.name not in _PREFIX), None)
    return minor < 11 or (first is not None and first.kind.name == "RESUME" and not first.argument)  # noqa: PLR2004


def _calls_as_3_6(found: Sequence[Step], targets: Sequence[int | None]) -> bool:
    """Whether a method is called without arguments as 3.6 did and 3.7 does not: that has instructions for it."""
    joined = set(targets)
    return any(
        first.kind.name == "LOAD_ATTR"
        and then.kind.name == "CALL_FUNCTION"
        and not then.argument
        and then.start not in joined  # several ways to get what is called
        for first, then in zip(found, found[1:])
    )
