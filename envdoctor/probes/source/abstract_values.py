"""The values that an expression may resolve to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from typing import Any

    from envdoctor.probes.source.bindings import Place, Scope

#: The first letter of a name of this file's own module; ``.`` begins a relative name, as in ``import``.
OWN = "@"
#: The module of a name that one of several star imports of this file brings: which, is known where names are resolved.
STARS = "*"
#: Under this, a file's exports say what it does as a program, and what importing it changes of others.
PROGRAM = "!"
#: Possible values of one expression: beyond these, nothing is said.
MOST_THINGS = 12
_PROPERTIES = {"property", "cached_property"}
_TRANSPARENT = {"staticmethod", "classmethod", "cache", "lru_cache", "wraps", *_PROPERTIES}
#: The last segment of a name that means the call of something made: ``joblib.delayed(work)(1)``.
CALLED = "__call__"
#: And one that means that something made is iterated over: ``for batch in loader``.
ITERATED = "__iter__"
#: What a subscript of an object from elsewhere gives: ``lib.Table.__getitem__`` of ``lib.Table()["column"]``.
ITEM = "__getitem__"
#: And one that means that an attribute of what a call returned is assigned: ``getcontext().prec = 9``.
ASSIGNED = "__setattr__"
#: And one that what a call returned is taken apart by names: ``data, errors = schema.load(given)``.
UNPACKED = "__unpack__"
#: And one that means that something made is asked for a member: ``word in model``.
CONTAINED = "__contains__"
#: What no file has to write for it to happen.
UNWRITTEN = frozenset((CALLED, ITERATED, ITEM, ASSIGNED, UNPACKED, CONTAINED))

#: Methods that return a copy, or of modules with parameters, and of what is built on them, the object itself.
_GIVES_BACK = {"to", "cpu", "cuda", "eval", "train", "float", "double", "half", "requires_grad_", "append_transform"}
_GIVES_BACK.add("copy")
_COPIES = {"copy.copy", "copy.deepcopy"}


class Value:
    """One possible value of an expression.

    ``kind``: ``ref`` (what a qualified name means), ``made`` (what calling ``name`` returned), ``member`` (an
    attribute of something made), ``declared`` (a parameter with an annotation), ``function``, ``class``, ``lambda``,
    ``method``, ``self``, ``partial``, ``items``, ``dict``, ``constant``, ``text`` (of which the beginning is known),
    ``generator``, ``parameter``, ``element`` (what something made gives when it is iterated over), ``passing`` (what
    a builtin gives one by one of others), ``pair`` (an element with several parts), ``unknown``.
    """

    __slots__ = ("given", "kind", "name", "node", "parts", "place", "scope", "spared")

    def __init__(
        self,
        kind: str,
        name: str = "",
        *,
        node: ast.AST | None = None,
        place: Place | None = None,
        scope: Scope | None = None,
        parts: Any = (),
    ) -> None:
        self.kind = kind
        self.name = name
        self.node = node
        #: The place of ``node``.
        self.place = place
        #: The scope of a project's function or class; for ``made``, of the class; for ``parameter``, its function.
        self.scope = scope
        #: Elements (``[(expression, place)]``), entries (``[(key, expression, place)]``), a constant, a beginning.
        self.parts = parts
        #: The call that returned this function, so that its parameters are known: ``(call, scope)``.
        self.given: tuple[Call, Scope] | None = None
        #: Names whose absence the code provides for, on the way to this one.
        self.spared: tuple[str, ...] = ()

    def provided_for(self) -> Value:
        """Give the same as bound where its absence is provided for, which matters if it comes from outside the file."""
        if self.kind not in {"ref", "made", "member", "constant", "dict", "items"} or self.scope is not None:
            return self
        copy = Value(self.kind, self.name, node=self.node, place=self.place, parts=self.parts)
        copy.given = self.given
        copy.spared = (*self.spared, self.name)
        return copy

    def through(self, other: Value) -> Value:
        """Give the same, reached by way of another."""
        self.spared = other.spared
        return self


class Call:
    """A call of a function of this file: where its arguments can be read."""

    __slots__ = ("node", "place")

    def __init__(self, node: ast.Call, place: Place) -> None:
        self.node = node
        self.place = place


UNKNOWN = Value("unknown")


def part_of(one: Value) -> Value:
    """A part of a value: what something elsewhere made is called as the whole, of the rest nothing is known.

    A part of what a builtin made, such as ``dict.values()``, is none of its kind.
    """
    is_elsewhere = one.kind == "made" and one.scope is None and not one.name.startswith("builtins.")
    return one if is_elsewhere else UNKNOWN


def last(name: str) -> str:
    """The last segment of a qualified name."""
    return name.rpartition(".")[2].lstrip(OWN)


def joined(name: str, attr: str) -> str:
    """An attribute of what a name means; a relative name may end in a dot."""
    return name + attr if name.endswith(".") else f"{name}.{attr}"


def passed_on(callee: Value, node: ast.Call) -> ast.expr | None:
    """The expression that a call returns: the object of a method that gives it back, what a cast or copy is given."""
    method = node.func if callee.kind == "member" and last(callee.name) in _GIVES_BACK else None
    if method is None and callee.name == "typing.cast" and len(node.args) > 1:
        return node.args[1]
    if callee.name in _COPIES and node.args:
        return node.args[0]
    return getattr(method, "value", None)


def names_class(name: str) -> bool:
    """Whether a callee's name is written as classes are: ``Process``, ``DB``, ``_Lock``."""
    return last(name).lstrip("_")[:1].isupper()


def qualified(scope: Scope) -> str:
    """The name of a function or class within this file's module."""
    names: list[str] = []
    one: Scope | None = scope
    while one is not None and one.kind != "module":
        names.append(one.name)
        one = one.parent
    return OWN + ".".join(reversed(names))


def is_transparent(decorator: ast.expr) -> bool:
    """Whether a decorator leaves alone what a function returns."""
    return _word(decorator) in _TRANSPARENT


def is_property(function: ast.AST | None) -> bool:
    """Whether a function of a class is read like an attribute."""
    return any(_word(one) in _PROPERTIES for one in getattr(function, "decorator_list", ()))


def _word(decorator: ast.expr) -> str:
    node = decorator.func if hasattr(decorator, "func") else decorator
    return last(getattr(node, "attr", None) or getattr(node, "id", None) or "")


def distinct(found: list[Value]) -> list[Value]:
    """Each possibility once."""
    if len(found) <= 1:
        return found
    answer: dict[tuple[object, ...], Value] = {}
    for one in found:
        answer.setdefault((one.kind, one.name, id(one.node), id(one.given), one.spared), one)
    return list(answer.values())[:MOST_THINGS]
