"""Conditions that a target decides: its Python, its platform, ``TYPE_CHECKING``."""

from __future__ import annotations

import ast
import functools
import operator
import re
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Target(NamedTuple):
    """For which Python and system source is read. ``system`` is that of ``sys.platform``."""

    minor: tuple[int, int]
    system: str = "linux"
    implementation: str = "cpython"


class _Undecided(Exception):  # noqa: N818 - it never leaves this file
    """An expression that the target does not decide."""


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda one, many: one in many, ast.NotIn: lambda one, many: one not in many,
}  # fmt: skip
#: What the parts of ``sys.version_info`` are called.
_PARTS = {"major": 0, "minor": 1}
_MEANT = {"TYPE_CHECKING": False, "PY2": False, "PY3": True, "MYPY": False}
#: What only a build script makes true, in the modules that it imports from its own source.
_OF_BUILD = re.compile(r"__?[A-Z]+_SETUP__?")
#: What a walk meets that has no parts, and the fields that have none of these.
LEAVES = {ast.Constant, str, type(None)}
_PLAIN = {"ctx", "op", "ops", "id", "attr", "arg", "asname", "kind", "level", "conversion", "is_async", "type_comment"}
#: The release of a target's Python is not known: it lies between any two.
_SOME_MICRO = 5.5
_EXACT = 2
#: What modules call a version of Python.
_PYTHON = re.compile(r"_?(IS_|HAS_)?PY(THON|VERSION)?_?\d")
_VERSION_WORDS = re.compile(
    r"version|vers\b|major|has_|have_|hasattr|avail|compat|legacy|installed|support|module|import|platform|windows|py\d|v\d|_\d",
    re.IGNORECASE,
)


def holds(test: ast.expr, target: Target, known: Mapping[str, bool]) -> bool | None:
    """Whether a condition holds on a target, ``known`` giving names of the module; ``None`` where it does not say."""
    if type(test) is ast.Name:
        return known.get(test.id, _meant(test.id))
    if type(test) is ast.BoolOp:
        parts = [holds(value, target, known) for value in test.values]
        deciding = isinstance(test.op, ast.Or)
        if deciding in parts:
            return deciding
        return None if None in parts else not deciding
    if type(test) is ast.UnaryOp and type(test.op) is ast.Not:
        inner = holds(test.operand, target, known)
        return None if inner is None else not inner
    try:
        return bool(_value(test, target, known))
    except (_Undecided, TypeError, ValueError, IndexError):
        return None


def _meant(name: str) -> bool | None:
    """What a name means wherever it is used; ``None`` for most."""
    return False if _OF_BUILD.fullmatch(name) else _MEANT.get(name)


def known_value(node: ast.expr, target: Target) -> Any:
    """What an expression about Python or the platform is worth; ``None`` where it is of something else."""
    try:
        value = _value(node, target, {})
    except (_Undecided, TypeError, ValueError, IndexError):
        return None
    return None if isinstance(value, tuple) and _SOME_MICRO in value else value


def is_about_versions(test: ast.expr) -> bool:
    """Whether a condition seems to ask what is installed, and not what a program works on."""
    return any(map(_is_version_word, _names(test)))


def is_about_python(test: ast.expr) -> bool:
    """Whether a condition asks for the version of Python."""
    return any(name in {"version_info", "hexversion"} or _PYTHON.match(name) for name in _names(test))


def is_one_version(test: ast.expr) -> bool:
    """Whether a condition asks for a constant or a version and nothing else, so that behind its branch it is false."""
    while isinstance(test, ast.UnaryOp):
        test = test.operand
    plain = isinstance(test, (ast.Name, ast.Attribute, ast.Compare))
    return plain and any(name.isupper() or "version" in name.lower() for name in _names(test))


def _names(test: ast.expr) -> Iterator[str]:
    """The names and attributes in an expression."""
    nodes: list[Any] = [test]
    while nodes:
        node = nodes.pop()
        kind = type(node)
        if kind is ast.Name:
            yield node.id
        elif kind not in LEAVES:
            if kind is ast.Attribute:
                yield node.attr
            nodes += children(node)


def children(node: ast.AST) -> list[Any]:
    """The parts of a node that may be nodes; among them ``None`` and plain values."""
    found: list[Any] = []
    kind: Any = type(node)
    for name in _parts(kind):
        value = getattr(node, name)
        if type(value) is list:
            found += value
        else:
            found.append(value)
    return found


@functools.cache
def _parts(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node that have nodes."""
    return tuple(name for name in getattr(kind, "_fields", ()) if name not in _PLAIN)


@functools.lru_cache(1 << 14)
def _is_version_word(name: str) -> bool:
    return name.isupper() or _VERSION_WORDS.search(name) is not None


def _value(node: ast.expr, target: Target, known: Mapping[str, bool]) -> Any:
    form = _FORMS.get(type(node))
    if form is None:
        raise _Undecided
    return form(node, target, known)


def _of_name(node: ast.Name, _target: Target, known: Mapping[str, bool]) -> bool:
    value = known.get(node.id, _meant(node.id))
    if value is None:
        raise _Undecided
    return value


def _of_attribute(node: ast.Attribute, target: Target, _known: Mapping[str, bool]) -> Any:
    if node.attr in _MEANT:
        return _MEANT[node.attr]
    dotted = _dotted(node)
    if dotted == "sys.version_info":
        return (*target.minor, _SOME_MICRO)
    if dotted in {"sys.version_info.major", "sys.version_info.minor"}:
        return target.minor[_PARTS[node.attr]]
    value = {
        "sys.platform": target.system,
        "os.name": "nt" if target.system == "win32" else "posix",
        "sys.implementation.name": target.implementation,
        "sys.hexversion": (target.minor[0] << 24) + (target.minor[1] << 16) + 1,
    }.get(dotted)
    if value is None:
        raise _Undecided
    return value


def _dotted(node: ast.expr) -> str:
    """The text of a name with attributes; that of anything else ends in no name."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _of_subscript(node: ast.Subscript, target: Target, known: Mapping[str, bool]) -> Any:
    whole = _value(node.value, target, known)
    if not isinstance(whole, tuple):
        raise _Undecided
    if not isinstance(node.slice, ast.Slice):
        part = whole[_value(node.slice, target, known)]
        if part == _SOME_MICRO:
            raise _Undecided
        return part
    last = node.slice.upper
    end = None if last is None else _value(last, target, known)
    return whole[:end]


def _compare(node: ast.Compare, target: Target, known: Mapping[str, bool]) -> bool:
    values = [_value(one, target, known) for one in (node.left, *node.comparators)]
    return all(_holds_between(*pair) for pair in zip(values, node.ops, values[1:]))


def _holds_between(left: Any, operation: ast.cmpop, right: Any) -> bool:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, tuple) and _SOME_MICRO in one and isinstance(other, tuple) and len(other) > _EXACT:
            _decided(one, other)
    return _COMPARISONS[type(operation)](left, right)


def _decided(version: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    """Raise where two versions differ at most in the release, which is not known."""
    if other[:_EXACT] == version[:_EXACT]:
        raise _Undecided


def _of_call(node: ast.Call, target: Target, known: Mapping[str, bool]) -> Any:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "startswith" and len(node.args) == 1:
        whole = _value(node.func.value, target, known)
        return isinstance(whole, str) and whole.startswith(_value(node.args[0], target, known))
    dotted = _dotted(node.func)
    if dotted == "platform.system":
        return {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}.get(target.system, target.system)
    if dotted == "platform.python_implementation":
        return {"cpython": "CPython", "pypy": "PyPy"}.get(target.implementation, target.implementation)
    raise _Undecided


_FORMS: dict[type[ast.AST], Callable[[Any, Target, Mapping[str, bool]], Any]] = {
    ast.Constant: lambda node, _target, _known: node.value,
    ast.Tuple: lambda node, target, known: tuple(_value(one, target, known) for one in node.elts),
    ast.Name: _of_name, ast.Attribute: _of_attribute, ast.Subscript: _of_subscript, ast.Compare: _compare,
    ast.Call: _of_call,
}  # fmt: skip
