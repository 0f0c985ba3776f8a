"""What is in a value: the elements it gives, the parts of these, and the entries of a dictionary."""

from __future__ import annotations

import ast

from envdoctor.probes.source.abstract_values import ITEM, ITERATED, UNKNOWN, Value, joined, last, names_class, part_of
from envdoctor.probes.source.bindings import MOST_SEGMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol

    from envdoctor.probes.source.bindings import Place, Scope

    class Resolving(Protocol):
        """What resolves the expressions of a file."""

        scope_of: dict[int, Scope]
        selves: dict[int, Value]
        each: dict[int, ast.expr]

        def evaluate(self, node: ast.expr, place: Place) -> list[Value]:
            """The values that an expression may resolve to."""

        def elements(self, found: Iterable[Value], *, parts: bool = False) -> list[Value]:
            """The values that the elements of some values may resolve to."""

        def attribute(self, base: Value, attr: str) -> list[Value]:
            """The values that an attribute of a value may resolve to."""

        def called(self, callee: Value, node: ast.Call, place: Place) -> list[Value]:
            """The values that a call of a value may return."""

        def definition(self, scope: Scope) -> Value:
            """A function or class of this file."""


#: What gives the entries of a dictionary; and one of them, by its key.
VIEWS = {"keys", "values", "items"}
_GETTERS = {"get", "pop", "setdefault"}
#: Methods of a dictionary that are followed.
OF_DICT = {*VIEWS, *_GETTERS, "copy"}
#: Builtins that give what they take from others, one after the other.
_PASSING = {"builtins.enumerate", "builtins.zip", "builtins.map", "builtins.filter"}


def elements(found: Iterable[Value], resolver: Resolving, *, parts: bool = False) -> list[Value]:
    """The values that the elements of some values may resolve to; ``parts`` are taken by number."""
    answer: list[Value] = []
    for one in found:
        if one.kind in {"items", "generator"} and one.parts:
            answer += [each for node, place in one.parts for each in resolver.evaluate(node, place)]
        elif one.kind == "member" and one.name.count(".") < MOST_SEGMENTS:
            answer.append(Value("member", joined(one.name, ITEM)).through(one))
        elif one.kind != "items":
            answer += [part_of(one)] if parts else _given_by(one, resolver)
    return answer


def collected(node: ast.expr, place: Place, resolver: Resolving) -> list[Value]:
    """The values that hold the elements of what an expression gives, and no view of them."""
    if id(node) not in resolver.each:  # always the same, since values are known by their expressions
        resolver.each[id(node)] = ast.copy_location(ast.Call(ast.Name("next", ast.Load()), [node], []), node)
    given = Value("items", node=node, place=place, parts=[(resolver.each[id(node)], place)])
    return [
        one if one.kind == "items" else given if one.kind == "passing" or _is_view(one) else UNKNOWN
        for one in resolver.evaluate(node, place)
    ]


def _is_view(one: Value) -> bool:
    """Whether a value is a view of a dictionary."""
    return one.kind == "made" and one.name.startswith("builtins.dict.")


def _given_by(one: Value, resolver: Resolving) -> list[Value]:
    """What iterating over the result of a call gives."""
    if part_of(one) is one and one.name.count(".") < MOST_SEGMENTS:
        return [Value("element", joined(one.name, ITERATED)).through(one)]
    call, method = one.node, last(one.name)
    if not isinstance(call, ast.Call) or one.scope is not None or one.place is None:
        return [UNKNOWN]
    if one.kind == "passing" and call.args:
        return _passed(method, call, one.place, resolver)
    if one.kind == "made" and method in {"values", "items"} and isinstance(call.func, ast.Attribute):
        held = entries(resolver.evaluate(call.func.value, one.place), None, resolver)
        return held if method == "values" else [Value("pair", parts=[[UNKNOWN], held])]
    return [UNKNOWN]


def _passed(method: str, call: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    """The elements of what ``enumerate``, ``zip``, ``map`` or ``filter`` returns."""
    if method == "map":
        callees = resolver.evaluate(call.args[0], place)
        return [made for each in callees if each.kind == "ref" for made in resolver.called(each, call, place)]
    given = [elements(resolver.evaluate(each, place), resolver) for each in call.args]
    if method == "filter":
        return given[-1]
    return [Value("pair", parts=[[UNKNOWN], given[0]] if method == "enumerate" else given)]


def part(one: Value, index: int, resolver: Resolving) -> list[Value]:
    """What a value gives the name at a place where it is taken apart: ``a, b = value``."""
    if one.kind == "pair":
        found: list[Value] = one.parts[index] if index < len(one.parts) else [UNKNOWN]
        return found
    if one.kind == "items" and isinstance(one.node, (ast.Tuple, ast.List)) and index < len(one.parts):
        return resolver.evaluate(*one.parts[index])
    return [one if one.kind == "element" else part_of(one)]


def entries(found: Iterable[Value], key: ast.expr | None, resolver: Resolving) -> list[Value]:
    """The entries of dictionaries that a key may mean; ``None`` means any."""
    wanted = key.value if isinstance(key, ast.Constant) else None
    return [
        each
        for one in found
        if one.kind == "dict"
        for name, value, place in one.parts
        if not isinstance(name, ast.Constant) or wanted is None or name.value == wanted
        for each in resolver.evaluate(value, place)
    ] or [UNKNOWN]


def of_builtin(name: str, node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    """What a builtin, or a method of a dictionary, gives back."""
    if name in _PASSING:
        return [Value("passing", name, node=node, place=place)]
    if name.startswith("builtins.dict.") and isinstance(node.func, ast.Attribute):
        return _of_dictionary(last(name), node.func.value, node, place, resolver)
    handler = _BUILTINS.get(last(name))
    return handler(node, place, resolver) if handler is not None else [UNKNOWN]


def _of_dictionary(method: str, whole: ast.expr, node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    found = resolver.evaluate(whole, place)
    if method == "copy":
        return found
    given = [one for each in node.args[1:2] for one in resolver.evaluate(each, place)]
    return [*entries(found, node.args[0] if node.args else None, resolver), *given]


def _attribute(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    """What ``getattr`` gives; with a default, that is not known."""
    if len(node.args) != 2:  # noqa: PLR2004
        return [UNKNOWN]
    names = [one.parts for one in resolver.evaluate(node.args[1], place) if one.kind == "constant"]
    of = resolver.evaluate(node.args[0], place)
    return [found for one in of for attr in names for found in resolver.attribute(one, str(attr))] or [UNKNOWN]


def _type(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    """The class of an object."""
    made = resolver.evaluate(node.args[0], place) if len(node.args) == 1 else ()
    found = [one for one in made if one.kind == "made" and one.scope is None and names_class(one.name)]
    return [Value("ref", one.name) for one in found] or [UNKNOWN]


def _next(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    return elements(resolver.evaluate(node.args[0], place), resolver) if node.args else [UNKNOWN]


def _iter(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    return resolver.evaluate(node.args[0], place) if node.args else [UNKNOWN]


def imported(node: ast.Call, *, top: bool = False) -> list[Value]:
    """The module that a call imports by an absolute name, or the first of its packages."""
    text = str(getattr(node.args[0], "value", "")) if node.args else ""
    if not all(map(str.isidentifier, text.split("."))):
        return [UNKNOWN]
    return [Value("ref", text.partition(".")[0] if top else text)]


def _package(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    return imported(node, top=True)


def _above(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    """What ``super`` gives in a method: an object as the classes above that of the method know it."""
    scope: Scope | None = place.scope
    while scope is not None and (scope.parent is None or scope.parent.kind != "class"):
        scope = scope.parent
    return [Value("super", scope=scope.parent)] if scope is not None and scope.receiver else [UNKNOWN]


def _dictionary(node: ast.Call, place: Place, resolver: Resolving) -> list[Value]:
    """The dictionary that ``dict`` makes of keywords, and of another one."""
    named = [(keyword.arg and ast.Constant(keyword.arg), keyword.value, place) for keyword in node.keywords]
    base = [one for each in node.args[:1] for one in resolver.evaluate(each, place)]
    if any(one.kind != "dict" for one in base):
        return [UNKNOWN]
    parts = [*(part for one in base for part in one.parts), *_flat(named, resolver)]
    return [Value("dict", node=node, place=place, parts=parts)]


def mapping(node: ast.Dict, place: Place, resolver: Resolving) -> Value:
    """A dictionary as it is written, with the entries of those that are spread in it."""
    parts = [(key, value, place) for key, value in zip(node.keys, node.values)]
    return Value("dict", node=node, place=place, parts=list(_flat(parts, resolver)))


def _flat(parts: Iterable[Any], resolver: Resolving) -> Iterator[Any]:
    for key, value, place in parts:
        spread = resolver.evaluate(value, place) if key is None else []
        if spread and all(one.kind == "dict" for one in spread):
            for one in spread:
                yield from one.parts
        else:
            yield key, value, place


_BUILTINS: dict[str, Callable[[ast.Call, Place, Resolving], list[Value]]] = {
    "dict": _dictionary,
    "getattr": _attribute,
    "type": _type,
    "super": _above,
    "next": _next,
    "iter": _iter,
    "__import__": _package,
}
