"""What the classes of a file inherit: from each other, and from classes of elsewhere."""

from __future__ import annotations

import ast
from typing import Any

from envdoctor.probes.source.abstract_values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envdoctor.probes.source.bindings import Binding, Place, Scope

    #: The values that an expression at a place may have.
    Evaluate = Callable[[ast.expr, Place], list[Value]]

_MOST_CLASSES = 12
#: A class that defines one of these says itself what travels.
_OWN_PICKLING = {
    "__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__copyreg__", "__deepcopy__",
}  # fmt: skip
#: Calls that say it of the class that they are given.
_REGISTERED = {"copyreg.pickle", "pickle", "ForkingPickler.register", "reduction.register"}


def lineage(evaluate: Evaluate, scope: Scope) -> Iterator[Value]:
    """A class of this file and those it is derived from, nearest first: of this file with a scope, others without."""
    waiting, seen = [Value("class", scope=scope)], 0
    while waiting and seen < _MOST_CLASSES:
        one = waiting.pop(0)
        seen += 1
        yield one
        if one.scope is not None and isinstance(one.scope.node, ast.ClassDef) and one.scope.place is not None:
            for base in one.scope.node.bases:
                found = evaluate(base, one.scope.place)
                waiting += [each for each in found if each.kind in {"class", "ref", "member"}]


def is_constructor_above(node: ast.expr) -> bool:
    """Whether an expression is ``super().__init__``."""
    made = node.value if isinstance(node, ast.Attribute) and node.attr == "__init__" else None
    return isinstance(made, ast.Call) and getattr(made.func, "id", "") == "super"


def constructed_above(evaluate: Evaluate, place: Place) -> list[Value]:
    """The class of elsewhere whose constructor ``super().__init__`` is at a place in a method, if it is one."""
    own = place.scope.parent if place.scope.receiver else None
    bases = [*lineage(evaluate, own)][1:] if own is not None else []
    if any(one.scope is not None and "__init__" in one.scope.bindings for one in bases):
        return []
    return [one for one in bases if one.scope is None][:1]


def own_classes(evaluate: Evaluate, scope: Scope) -> list[Scope]:
    """The scopes of a class of this file, and of those of this file that it is derived from."""
    return [one.scope for one in lineage(evaluate, scope) if one.scope is not None]


def pickles_itself(evaluate: Evaluate, scope: Scope) -> bool:
    """Whether a class of this file says itself what is pickled or copied of its instances."""
    classes = own_classes(evaluate, scope)
    return any(name in own.bindings for own in classes for name in _OWN_PICKLING) or any(
        one.scope in classes
        for node, place in scope.module.reads
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in _REGISTERED
        for one in evaluate(node.args[0], place)
    )


def attributes(evaluate: Evaluate, scope: Scope, attr: str) -> list[tuple[Binding, Scope]]:
    """What the bodies and methods of a class and its own bases bind an attribute to, each with its class."""
    classes = own_classes(evaluate, scope)
    return [(one, of) for of in classes for one in (*of.bindings.get(attr, ()), *of.attribute(attr))]


def foreign_base(evaluate: Evaluate, scope: Scope | None) -> dict[str, Any]:
    """``inherits``, the only class of elsewhere that a class is derived from, and what it has ``instead`` itself."""
    foreign = _foreign(evaluate, scope) if scope is not None else []
    if scope is None or len(foreign) != 1:
        return {}
    members = {name for one in own_classes(evaluate, scope) for name in one.members()}
    is_open = not members.isdisjoint(("__getattr__", "__getattribute__"))
    return {} if is_open else {"inherits": foreign[0].name, "instead": sorted(members)}


def _foreign(evaluate: Evaluate, scope: Scope) -> list[Value]:
    """The classes of elsewhere that a class is derived from."""
    return [one for one in lineage(evaluate, scope) if one.scope is None and not one.name.startswith("builtins.")]


def inherited(evaluate: Evaluate, scope: Scope, attr: str) -> list[Value]:
    """An attribute of an instance as a class of elsewhere has it, under that class's name; empty without such."""
    return [Value("member", f"{one.name}.{attr}").through(one) for one in _foreign(evaluate, scope)]
