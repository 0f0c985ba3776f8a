"""What an expression is as it is written: its form, and the constants in it."""

from __future__ import annotations

import ast

from envdoctor.probes.source.abstract_values import UNKNOWN, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from envdoctor.probes.source.bindings import Place

MOST_VALUE = 200
_LARGEST_NUMBER = 1 << 53
_MOST = 20
_FORMS: dict[type, str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Dict: "dictionary",
    ast.DictComp: "dictionary",
    ast.JoinedStr: "text",
}
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_OF_SETS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_MAKERS = {"list": "list", "sorted": "list", "tuple": "tuple", "set": "set", "frozenset": "set", "dict": "dictionary"}


def forms(node: ast.AST | None, found: Sequence[Value]) -> set[str]:
    """The words for what is written: ``text``, ``list``, ``tuple``, ``set`` or ``dictionary``; none for the rest."""
    written = {form(one.node) for one in found if one.kind in {"items", "dict", "text"}}
    texts = {"text" for one in found if one.kind == "constant" and isinstance(one.parts, str)}
    return (written | texts | {form(node)}) - {""}


def form(node: ast.AST | None) -> str:
    """The word for what is written, by itself; empty for none."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OF_SETS):
        return "set" if "set" in {form(node.left), form(node.right)} else ""
    if is_filled(node):
        return "text"
    if isinstance(node, ast.Call):
        return _MAKERS.get(getattr(node.func, "id", ""), "")
    return _FORMS.get(type(node), "")


def is_filled(node: ast.AST | None) -> bool:
    """Whether it is a text into which values are put: ``"a/{}".format(b)``, ``"a/%s" % b``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    return begin_of_format(node) is not None


def begin_of_format(node: ast.AST | None) -> str | None:
    """The plain text with which ``"a/{}".format(b)`` begins; nothing for what is no such call."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "format":
        return None
    whole = node.func.value.value if isinstance(node.func.value, ast.Constant) else None
    return whole.partition("{")[0] if isinstance(whole, str) else None


def constant(found: Sequence[Value]) -> dict[str, Any]:
    """The ``value`` of what is one constant."""
    known = len(found) == 1 and found[0].kind == "constant" and _plain(found[0].parts)
    return {"value": found[0].parts} if known else {}


def constants(found: Sequence[Value], flat: Iterable[Value]) -> list[Any]:
    """The constants in a sequence that is written out, or among several possible values."""
    if len(found) == 1 and found[0].kind == "constant":
        return []
    return [one.parts for one in flat if one.kind == "constant" and _plain(one.parts)][:_MOST]


def beginnings(found: Iterable[Value]) -> list[str]:
    """The plain text with which a value begins, of which the rest is put together when the program runs."""
    return [one.parts for one in found if one.kind == "text" and one.parts and _plain(one.parts)][:_MOST]


def _plain(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_VALUE
    if isinstance(value, (int, float)):
        return -_LARGEST_NUMBER < value < _LARGEST_NUMBER
    return value is None


def formatted(node: ast.JoinedStr, place: Place) -> list[Value]:
    """An f-string that begins with plain text."""
    first = node.values[0] if node.values else None
    begins = first.value if isinstance(first, ast.Constant) else None
    return [Value("text", node=node, place=place, parts=begins) if begins else UNKNOWN]


def _joined(node: ast.BinOp, place: Place, resolver: Any) -> list[Value]:
    """``"a" + b`` and ``"a%s" % b`` begin as the left side does, up to what is put in."""
    begun = [one for one in resolver.evaluate(node.left, place) if one.kind in {"constant", "text"}]
    texts = [str(one.parts).partition("%")[0] if isinstance(node.op, ast.Mod) else one.parts for one in begun]
    return [Value("text", node=node, place=place, parts=one) for one in texts if one and isinstance(one, str)]


def repeated(node: ast.BinOp, place: Place, resolver: Any) -> list[Value]:
    """``[make] * 4`` and ``[a] + [b]`` keep their elements, texts their beginning."""
    begun = _joined(node, place, resolver) if isinstance(node.op, (ast.Add, ast.Mod)) else []
    if begun:
        return begun
    if form(node):
        return [Value("items", node=node, place=place, parts=[])]
    sides = (node.left, node.right)
    literal = isinstance(node.op, (ast.Mult, ast.Add)) and any(isinstance(one, _LISTS) for one in sides)
    items = [one for side in sides if literal for one in resolver.evaluate(side, place) if one.kind == "items"]
    return items or [UNKNOWN]
