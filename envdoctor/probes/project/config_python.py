"""Settings in Python, as ``settings.py`` or ``conf.py``: what a module assigns under no condition. Nothing is run."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from envdoctor.probes.project.config_text import MOST_ENTRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.probes.project.config_text import Contents, Entry


def python(data: bytes) -> Contents:
    """The values of names, attributes and keys with constant names; a value that is no constant is ``None``.

    What is assigned again replaces what there was, a list that is added to goes on.
    """
    if data.count(b"\n") + data.count(b",") > MOST_ENTRIES:
        return (), f"it has more than {MOST_ENTRIES} values, and was not read"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(data).body
        held: dict[str, list[Entry]] = {}
        for node in body:
            for path, value in _assigned(node):
                more = held.get(path, []) if isinstance(node, ast.AugAssign) else []
                for outdated in [one for one in held if one == path or one.startswith(f"{path}.")]:
                    del held[outdated]
                held[path] = [*more, *_flat(path, value, len(more))]
    except (RecursionError, MemoryError):
        return (), "it is nested too deeply, and was not read"
    except (SyntaxError, ValueError) as error:
        return (), f"it cannot be parsed: {getattr(error, 'msg', error)}"
    return [entry for entries in held.values() for entry in entries], None


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The paths that a statement assigns to, each with the value."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            path = _path(target)
            if path:
                yield path, node.value


def _path(target: ast.expr) -> str:
    """The dotted path of a name, an attribute or a key that is text; empty for anything else."""
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, (ast.Attribute, ast.Subscript)):
        last = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
        outer = _path(target.value)
        return f"{outer}.{last}" if outer and isinstance(last, str) else ""
    return ""


def _flat(path: str, value: ast.expr, start: int = 0) -> Iterator[Entry]:
    """The scalars of a value, those of lists and dictionaries by number or key; the first number is ``start``."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        for number, one in enumerate(value.elts, start):
            yield from _flat(f"{path}.{number}", one)
    elif isinstance(value, ast.Dict):
        for key, one in zip(value.keys, value.values):
            if isinstance(key, ast.Constant):
                yield from _flat(f"{path}.{key.value!s}", one)
    else:
        yield path, _constant(value), value.lineno


def _constant(value: ast.expr) -> Any:
    """The text, number or truth value that an expression is; ``None`` for anything else."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, MemoryError):
        return None
    return found if isinstance(found, (str, int, float)) else None
