"""The constant that a pickled function or schedule returns, where the file shows it."""

from __future__ import annotations

from envdoctor.probes.artifacts import code_objects, marks
from envdoctor.probes.artifacts.pickled_values import Function, Made, Pairs, short

_DEPTH = 6


def is_called(value: object) -> bool:
    """Whether a value is a function that travels as bytecode, or an object that is called as one."""
    if isinstance(value, Function):
        return True
    name = short(value.name) if isinstance(value, Made) else ""
    return name in marks.CONSTANT_OBJECTS or name in marks.CALLED_OBJECTS


def constant(value: object, depth: int = 0) -> float | None:
    """The number that a function, a schedule or a captured variable always gives, or ``None``."""
    if depth > _DEPTH:
        return None
    if isinstance(value, Function):
        needed = value.closure[: len(value.code.free)]
        closure = [constant(content(cell), depth + 1) for cell in needed]
        return code_objects.constant(value.code, closure)
    if isinstance(value, Made):
        attribute = marks.CONSTANT_OBJECTS.get(short(value.name), "")
        state = value.state if isinstance(value.state, Pairs) else None
        return constant(state.get(attribute), depth + 1) if state and attribute else None
    return code_objects.number(value)


def content(cell: object) -> object:
    """The value of a captured variable."""
    if isinstance(cell, Made) and short(cell.name) in marks.CELLS and cell.arguments:
        return cell.arguments[0]
    return cell
