"""Code objects as a pickle takes them apart: for which Pythons their bytecode is, and the constant that they return.

The number of arguments gives the family of Pythons, and what the bytecode cannot be narrows it. A release of a pickling
library that does not know a newer Python writes that one's code in the shape of an older family, so where no member of
the family fits, the newer ones are asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from envdoctor.probes.artifacts.bytecode import MINORS, Sizes, is_possible, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.probes.artifacts.bytecode import Step

#: By the number of arguments: how many integers come first, and the first and last minor of the family.
_SHAPES: Mapping[int, tuple[int, int, int]] = {15: (5, 6, 7), 16: (6, 8, 10), 18: (6, 11, 99)}
_QUALIFIED = 18
_LINE_TABLE_SINCE = 10
#: Instructions that leave nothing behind and do nothing that shows.
_SILENT = {"RESUME", "COPY_FREE_VARS", "PUSH_NULL", "PRECALL", "NOP"}
_CALLS = {"CALL", "CALL_FUNCTION"}


@dataclass(frozen=True, eq=False)
class Code:
    """A code object; ``family`` is its number of arguments, ``lines`` the table of its line numbers.

    ``minors`` are the minor versions of Python 3 that can have compiled it: none where no known one can.
    """

    family: int
    code: bytes
    constants: tuple[object, ...]
    names: tuple[object, ...]
    variables: tuple[object, ...]
    filename: str
    name: str
    qualified: str | None
    lines: object
    free: tuple[object, ...]
    cells: tuple[object, ...]
    minors: frozenset[int] = frozenset()


def of_arguments(arguments: Sequence[object]) -> Code | None:
    """The code object that a call with these arguments makes, or ``None`` where they are not those of one."""
    if arguments and isinstance(arguments[0], bytes):  # one pickling library puts an old line table in front
        arguments = arguments[1:]
    shape = _SHAPES.get(len(arguments))
    if shape is None or not all(isinstance(argument, int) for argument in arguments[: shape[0]]):
        return None
    code, constants, names, variables, filename, name = arguments[shape[0] : shape[0] + 6]
    qualified = arguments[shape[0] + 6] if len(arguments) == _QUALIFIED else None
    lines = arguments[shape[0] + (8 if len(arguments) == _QUALIFIED else 7)]
    free, cells = arguments[-2:]
    kinds = (bytes, str, str, tuple, tuple, tuple, tuple, tuple)
    if not all(map(isinstance, (code, filename, name, constants, names, variables, free, cells), kinds)):
        return None
    made = Code(
        len(arguments), code, constants, names, variables, filename, name,  # type: ignore[arg-type]
        qualified if isinstance(qualified, str) else None, lines, free, cells,  # type: ignore[arg-type]
    )  # fmt: skip
    return replace(made, minors=_minors(made))


def _minors(code: Code) -> frozenset[int]:
    """The minor versions that can have compiled the code, together with the functions inside it."""
    _, first, last = _SHAPES[code.family]
    sizes = Sizes(len(code.constants), len(code.names), len(code.variables), len(code.cells) + len(code.free))
    able = [minor for minor in MINORS if minor >= first and is_possible(code.code, sizes, minor)]
    able = [minor for minor in able if minor <= last] or able
    if _has_line_table(code):
        able = [minor for minor in able if minor >= _LINE_TABLE_SINCE]
    inside = [inner.minors for inner in code.constants if isinstance(inner, Code)]
    return frozenset(able).intersection(*inside)


def _has_line_table(code: Code) -> bool:
    """Whether the lines are those of 3.10, which cover the code to its end; the older kind stops before."""
    return isinstance(code.lines, bytes) and code.family == 16 and sum(code.lines[::2]) == len(code.code)  # noqa: PLR2004


def specifier(code: Code) -> str:
    """The PEP 440 specifier of the Pythons that can have compiled it, or of its family where none is known to fit.

    Nothing is said against versions that are newer than every known one.
    """
    found = sorted(code.minors)
    _, first, last = _SHAPES[code.family]
    lowest, highest = (found[0], found[-1]) if found else (first, last)
    words = [f">=3.{lowest}"]
    if highest < MINORS[-1]:
        words.append(f"<3.{highest + 1}")
    words += [f"!=3.{minor}.*" for minor in range(lowest + 1, highest) if found and minor not in found]
    return ",".join(words)


def constant(code: Code, closure: Sequence[object]) -> float | None:
    """The number that the function returns whatever it is given, where the bytecode shows it without being run.

    ``closure`` are the values of its free variables, each a number for a function that itself returns one. All the
    versions that fit must agree.
    """
    answers = {_returned(steps(code.code, minor) or [], minor, code, closure) for minor in code.minors}
    return answers.pop() if len(answers) == 1 else None


def _returned(found: Sequence[Step], minor: int, code: Code, closure: Sequence[object]) -> float | None:
    """The constant, read by the rules of one version."""
    useful = [step for step in found if step.kind.name not in _SILENT]
    names = [step.kind.name for step in useful]
    if names in (["RETURN_CONST"], ["LOAD_CONST", "RETURN_VALUE"]):
        return number(code.constants[useful[0].argument])
    if names == ["LOAD_SMALL_INT", "RETURN_VALUE"]:
        return number(useful[0].argument)
    if names == ["LOAD_DEREF", "RETURN_VALUE"]:
        return _free(useful[0], minor, code, closure)
    if len(names) == 6 and _is_cast(names, useful, code, minor):  # noqa: PLR2004
        return _free(useful[1], minor, code, closure)
    return None


def _is_cast(names: Sequence[str], useful: Sequence[Step], code: Code, minor: int) -> bool:
    """Whether the function is ``lambda argument: float(variable(argument))``."""
    shift = 1 if minor > 10 else 0  # noqa: PLR2004
    load = useful[0].argument >> shift
    return (
        names[0] == "LOAD_GLOBAL"
        and load < len(code.names)
        and code.names[load] == "float"
        and names[1] == "LOAD_DEREF"
        and names[2] in ("LOAD_FAST", "LOAD_FAST_BORROW")
        and {names[3], names[4]} <= _CALLS
        and (useful[3].argument, useful[4].argument) == (1, 1)
        and names[5] == "RETURN_VALUE"
    )


def _free(step: Step, minor: int, code: Code, closure: Sequence[object]) -> float | None:
    """The number in the free variable that an instruction loads."""
    before = len(code.cells)
    if minor > 10:  # noqa: PLR2004 - since 3.11 they are counted behind the local variables, each only once
        before = len({*code.variables, *code.cells})
    at = step.argument - before
    return number(closure[at]) if 0 <= at < len(closure) else None


def number(value: object) -> float | None:
    """The value if it is a number that can be written down."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None
