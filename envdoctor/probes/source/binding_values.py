"""The values that a binding gives its name, by the kind of the binding."""

from __future__ import annotations

from envdoctor.probes.source.abstract_values import CALLED, UNKNOWN, Value, is_transparent, joined, names_class
from envdoctor.probes.source.bindings import (
    ADDED,
    ANNOTATED,
    DEFINITION,
    DELETED,
    ELEMENT,
    IMPORT,
    MOST_SEGMENTS,
    PARAMETER,
    PART,
    VALUE,
    Binding,
    Place,
    Scope,
    annotation_of,
    classes_in,
)
from envdoctor.probes.source.containers import part

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from envdoctor.probes.source.containers import Resolving


def given_by(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    """The values that a binding gives a name of a scope, its owner."""
    found = _BY_KIND.get(binding.kind)
    return found(binding, owner, resolver) if found is not None else [UNKNOWN]


def _deleted(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    return []


def _assigned(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    found = resolver.evaluate(binding.value, binding.place)
    if any(one.kind not in {"unknown", "parameter"} for one in found):
        return found
    return found + declared(annotation_of(binding), binding.place, resolver)


def _imported(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    return [Value("ref", binding.value)]


def _defined(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    return [resolver.definition(resolver.scope_of[id(binding.value)])]


def _element(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    place, whole = binding.value
    return resolver.elements(resolver.evaluate(whole, place or binding.place))


def _part(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    kind, value, index = binding.value
    whole = given_by(Binding(kind, value, binding.place, binding.order), owner, resolver)
    return [each for one in whole for each in part(one, index, resolver)]


def _added(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    (key, added), place = binding.value, binding.place
    if key is None:
        return [Value("items", node=added, place=place, parts=[(added, place)])]
    return [Value("dict", node=added, place=place, parts=[(key, added, place)])]


def _parameter(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    argument, default, place = binding.value
    if owner.parent is not None and owner.receiver == argument.arg:
        return [resolver.selves.setdefault(id(owner.parent), Value("self", scope=owner.parent))]
    found = [Value("parameter", argument.arg, scope=owner)]
    if default is not None:
        found += resolver.evaluate(default, place)
    return found + declared(argument.annotation, place, resolver)


def _annotated(binding: Binding, owner: Scope, resolver: Resolving) -> list[Value]:
    return declared(binding.value, binding.place, resolver)


def declared(annotation: ast.expr | None, place: Place, resolver: Resolving) -> list[Value]:
    """Objects of the class of elsewhere that an annotation names; of several classes it is not known which."""
    nodes = classes_in(annotation)
    found = [one for node in nodes for one in resolver.evaluate(node, place) if not one.name.startswith("builtins.")]
    if len(nodes) > 1 and len(found) != 1:
        return []
    return [Value("declared", one.name) for one in found if one.kind == "ref" and names_class(one.name)]


def of_decorated(function: Value, attr: str, resolver: Resolving) -> list[Value]:
    """An attribute of what a decorator of elsewhere makes of a function: ``@lib.group() def cli``, ``cli.command``."""
    decorators = getattr(function.node, "decorator_list", ())
    if not decorators or function.place is None or is_transparent(decorators[0]):
        return []
    found = resolver.evaluate(decorators[0], function.place)
    made = [(one, joined(one.name, CALLED) if one.kind == "made" else one.name) for one in found if _is_elsewhere(one)]
    return [Value("member", joined(name, attr)).through(one) for one, name in made]


def _is_elsewhere(one: Value) -> bool:
    """Whether a value is one of a library, whose name may be continued."""
    is_named = one.kind in {"ref", "made", "member"} and one.scope is None and not one.name.startswith("builtins.")
    return is_named and one.name.count(".") < MOST_SEGMENTS


_BY_KIND: dict[int, Callable[[Binding, Scope, Resolving], list[Value]]] = {
    DELETED: _deleted,
    VALUE: _assigned,
    IMPORT: _imported,
    DEFINITION: _defined,
    ELEMENT: _element,
    PART: _part,
    ADDED: _added,
    PARAMETER: _parameter,
    ANNOTATED: _annotated,
}
