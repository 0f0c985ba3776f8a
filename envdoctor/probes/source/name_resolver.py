"""Names and expressions are resolved: canonical qualified names through imports, assignments and calls.

What cannot be resolved yields nothing; where one of several possibilities is not known, ``unknown`` is among them.
"""

from __future__ import annotations

import ast
import builtins

from envdoctor.probes.source.abstract_values import (
    CALLED,
    ITEM,
    UNKNOWN,
    Call,
    Value,
    distinct,
    is_property,
    is_transparent,
    joined,
    last,
    names_class,
    passed_on,
    qualified,
)
from envdoctor.probes.source.binding_values import declared, given_by, of_decorated
from envdoctor.probes.source.bindings import (
    ATTRIBUTES,
    IMPORT,
    IMPORTS,
    MOST_SEGMENTS,
    Binding,
    Block,
    Function,
    Place,
    Scope,
    parameters,
    reaching,
    within,
)
from envdoctor.probes.source.containers import (
    OF_DICT,
    VIEWS,
    collected,
    elements,
    entries,
    imported,
    mapping,
    of_builtin,
)
from envdoctor.probes.source.guards import spared_by
from envdoctor.probes.source.inheritance import attributes, inherited
from envdoctor.probes.source.literals import begin_of_format, formatted, repeated
from envdoctor.probes.source.narrowing import of_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar

    from envdoctor.probes.source.version_flags import VersionFlags

#: Steps for one question: beyond these, nothing is said.
MOST_STEPS = 600
MOST_NESTED = 100
_BUILTINS = frozenset(dir(builtins))
_SAME_ELEMENTS = {"builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.reversed"}


def _is_object(one: Value) -> bool:
    """Whether a value of elsewhere is an object: something that was made, or an attribute that is called like one."""
    return one.kind in {"made", "member"} or (one.kind == "ref" and "." in one.name and not names_class(one.name))


class Resolver:
    """Answers for one file; what has been asked is remembered."""

    def __init__(self, scope_of: dict[int, Scope], flags: VersionFlags) -> None:
        self.scope_of = scope_of
        self._flags = flags
        self.known: dict[int, list[Value]] = {}
        self.asked: dict[int, int] = {}
        self.selves: dict[int, Value] = {}
        self.each: dict[int, ast.expr] = {}
        self.lowest = 0
        self.steps = 0

    def resolve(self, node: ast.expr, place: Place) -> list[Value]:
        """The values that an expression may resolve to."""
        self.steps = 0
        return self.evaluate(node, place)

    def evaluate(self, node: ast.expr, place: Place) -> list[Value]:
        """As ``resolve``, within a question. A value that depends on itself adds nothing to itself."""
        key = id(node)
        if key in self.known:
            return self.known[key]
        depth = self.asked.get(key)
        if depth is not None:
            self.lowest = min(self.lowest, depth)
            return []
        if len(self.asked) > MOST_NESTED:
            return [UNKNOWN]
        handler = self._handlers.get(type(node))
        self.steps += 1
        if handler is None or self.steps > MOST_STEPS:
            return [UNKNOWN]
        depth = self.asked[key] = len(self.asked)
        before, self.lowest = self.lowest, depth
        answer = distinct(handler(self, node, place))
        del self.asked[key]
        if self.lowest >= depth and self.steps <= MOST_STEPS:
            self.known[key] = answer
        self.lowest = min(before, self.lowest)
        return answer

    def _name(self, node: ast.Name, place: Place) -> list[Value]:
        return self.lookup(node.id, place)

    def lookup(self, name: str, place: Place) -> list[Value]:
        """The values that a name may resolve to where it is read."""
        owner, where, later = self.owner(name, place)
        if owner is None:
            return [Value("ref", f"builtins.{name}")] if name in _BUILTINS else []
        found: list[Value] = []
        for binding in reaching(owner.bindings[name], where, later=later):
            given = self.bound(binding, owner)
            found += self.narrowed(given, name, where, binding.place.block) if where.block.narrowed else given
        return found

    def narrowed(self, found: list[Value], name: str, place: Place, bound: Block | None = None) -> list[Value]:
        """Those of some values of a name that conditions around a place let through since it was bound."""
        since = bound.path() if bound is not None else ()
        for one, asked, same, block in place.block.narrowed:
            if one == name and block not in since:
                found = of_class(found, asked, place, self, same=same) or [UNKNOWN]
        return found

    def owner(self, name: str, place: Place) -> tuple[Scope | None, Place, bool]:
        """The scope that a name belongs to, the place of the read within it, and whether it may be read later."""
        scope: Scope | None = place.scope
        later = False
        while scope is not None:
            scope = scope.outer.get(name, scope)
            if name in scope.bindings and (scope.kind != "class" or scope is place.scope):
                if scope is not place.scope and not within(place.scope, scope):
                    return scope, place, True
                return scope, _seen_from(scope, place), later
            later = later or scope.kind in {"function", "lambda"}
            scope = scope.parent
        return None, place, False

    def bound(self, binding: Binding, owner: Scope) -> list[Value]:
        """The values that one binding gives its name."""
        found = given_by(binding, owner, self)
        if binding.place.block.spared & (IMPORTS if binding.kind == IMPORT else ATTRIBUTES):
            found = [one.provided_for() for one in found]
        return found

    def definition(self, scope: Scope) -> Value:
        """A function or class of this file."""
        kind = "class" if scope.kind == "class" else "function"
        return Value(kind, qualified(scope), node=scope.node, place=scope.place, scope=scope)

    def _attribute(self, node: ast.Attribute, place: Place) -> list[Value]:
        found: list[Value] = []
        for base in self.evaluate(node.value, place):
            found += self.attribute(base, node.attr)
        return found

    def attribute(self, base: Value, attr: str) -> list[Value]:
        """The values that an attribute of a value may resolve to."""
        if base.scope is not None and base.kind in {"self", "made", "class", "super"}:
            return self.own_attribute(base, attr)
        if base.kind == "function":
            return of_decorated(base, attr, self) or [UNKNOWN]
        if base.kind in {"ref", "made", "member", "declared", "element"} and base.name.count(".") < MOST_SEGMENTS:
            return [Value("ref" if base.kind == "ref" else "member", joined(base.name, attr)).through(base)]
        return [Value("ref", f"builtins.dict.{attr}")] if base.kind == "dict" and attr in OF_DICT else [UNKNOWN]

    def own_attribute(self, base: Value, attr: str) -> list[Value]:
        """An attribute of a class of this file, or of its instance: what the class body and its methods assign."""
        owner = base.scope
        found: list[Value] = []
        for binding, scope in attributes(self.evaluate, owner, attr) if owner else ():
            for one in self.bound(binding, scope) if base.kind != "super" or scope is not owner else ():
                if base.kind in {"self", "made"} and is_property(one.node):
                    found += self.returned(one, Call(ast.Call(ast.Name(attr, ast.Load()), [], []), scope.inside))
                    continue
                if one.kind == "function" and base.kind != "class" and one.scope and one.scope.receiver:
                    one = Value("method", one.name, node=one.node, place=base.place, scope=one.scope, parts=base)  # noqa: PLW2901
                found.append(one)
        return found or (inherited(self.evaluate, owner, attr) if owner else []) or [UNKNOWN]

    def _call(self, node: ast.Call, place: Place) -> list[Value]:
        if (begins := begin_of_format(node)) is not None:
            return [Value("text", node=node, place=place, parts=begins)]
        return [one for made in self.evaluate(node.func, place) for one in self.called(made, node, place)] or [UNKNOWN]

    def called(self, callee: Value, node: ast.Call, place: Place) -> list[Value]:
        """The values that a call of a value may return."""
        if callee.kind in {"ref", "member"}:
            return self._external(callee, node, place)
        if callee.kind == "class":
            return [Value("made", callee.name, node=node, place=place, scope=callee.scope)]
        if callee.kind in {"function", "method"}:
            return self.returned(callee, Call(node, place))
        if callee.kind == "lambda" and callee.scope is not None:
            return self.evaluate(*callee.scope.returns[0])
        if callee.kind == "made" and callee.scope is None and callee.name.count(".") < MOST_SEGMENTS:
            return [Value("made", joined(callee.name, CALLED), node=node, place=place).through(callee)]
        return self._called_partial(callee) if callee.kind == "partial" else [UNKNOWN]

    def _called_partial(self, callee: Value) -> list[Value]:
        if not isinstance(callee.node, ast.Call) or not callee.node.args or callee.place is None:
            return [UNKNOWN]
        inner = self.evaluate(callee.node.args[0], callee.place)
        return [made for one in inner if one.kind != "partial" for made in self.called(one, callee.node, callee.place)]

    def of_partial(self, one: Value) -> list[Value]:
        """What a partial calls; nothing for any other value."""
        if one.kind != "partial" or not isinstance(one.node, ast.Call) or not one.node.args or one.place is None:
            return []
        return self.evaluate(one.node.args[0], one.place)

    def _external(self, callee: Value, node: ast.Call, place: Place) -> list[Value]:
        name = callee.name
        if name == "functools.partial":
            return [Value("partial", name, node=node, place=place)]
        if name == "importlib.import_module" and node.args:
            return imported(node)
        inner = passed_on(callee, node)
        if inner is not None:
            return self.evaluate(inner, place)
        if name.startswith("builtins.") and name != "builtins.open" and last(name) not in VIEWS:
            return self._builtin(name, node, place)
        return [Value("made", name, node=node, place=place).through(callee)]

    def _builtin(self, name: str, node: ast.Call, place: Place) -> list[Value]:
        first = node.args[0] if node.args else None
        if name not in _SAME_ELEMENTS:
            return of_builtin(name, node, place, self)
        if first is None:
            return [Value("items", node=node, place=place, parts=[])]
        found = self._elements_of(first, place)
        return [one if one is UNKNOWN else Value("items", node=node, place=place, parts=one.parts) for one in found]

    def _elements_of(self, node: ast.expr, place: Place) -> list[Value]:
        if isinstance(node, ast.GeneratorExp):
            return self._comprehension(node, place)
        return collected(node, place, self)

    def _await(self, node: ast.Await, place: Place) -> list[Value]:
        call = node.value
        called = self.evaluate(call.func, place) if isinstance(call, ast.Call) else ()
        called = [one for one in called if one.scope is not None]
        found = [made for one in called for made in self.returned(one, Call(call, place), awaited=True)]  # type: ignore[arg-type]
        found = [one for one in found if one.node is not call] or self.evaluate(call, place)
        own = {one.name for one in called}
        return [UNKNOWN if one.name in own or one.name.startswith("asyncio.") else one for one in found]

    def returned(self, callee: Value, call: Call, *, awaited: bool = False) -> list[Value]:
        """The values that a function of this file returns. A decorator may return anything."""
        scope = callee.scope
        if scope is None or not isinstance(scope.node, Function):
            return [UNKNOWN]
        unknown = Value("made", callee.name, node=call.node, place=call.place)
        if isinstance(scope.node, ast.AsyncFunctionDef) is not awaited or not all(
            map(is_transparent, scope.node.decorator_list)
        ):
            return [unknown]
        if scope.yields:
            return [Value("generator", node=call.node, place=call.place, parts=scope.yielded)]
        found: list[Value] = []
        for node, place in scope.returns:
            for one in self.evaluate(node, place):
                found += self._as_returned(one, scope, call, unknown)
        if all(one is unknown for one in found) and scope.place is not None:
            found += declared(scope.node.returns, scope.place, self)
        return found or [unknown if scope.returns else Value("constant", parts=None)]

    def _as_returned(self, one: Value, scope: Scope, call: Call, unknown: Value) -> list[Value]:
        if one.kind in {"unknown", "self"}:
            return [unknown]
        if one.kind == "parameter" and one.scope is scope:
            return self.argument(one.name, scope, call) or [unknown]
        if one.kind in {"function", "lambda", "made"} and one.given is None:
            copy = Value(one.kind, one.name, node=one.node, place=one.place, scope=one.scope, parts=one.parts)
            copy.given = (call, scope)
            return [copy.through(one)]
        return [one]

    def argument(self, name: str, scope: Scope, call: Call) -> list[Value]:
        """The values that a call gives a parameter of a function of this file; none where it does not give it."""
        if not isinstance(scope.node, (*Function, ast.Lambda)):
            return []
        for keyword in call.node.keywords:
            if keyword.arg == name:
                return self.evaluate(keyword.value, call.place)
        names = [argument.arg for argument, _ in parameters(scope.node.args)]
        position = names.index(name) - (scope.receiver is not None) if name in names else -1
        given = call.node.args[: position + 1]
        if position < 0 or len(given) <= position or any(isinstance(one, ast.Starred) for one in given):
            return []
        return self.evaluate(given[position], call.place)

    def elements(self, found: Iterable[Value], *, parts: bool = False) -> list[Value]:
        """The values that the elements of some values may resolve to; ``parts`` are taken by number."""
        return elements(found, self, parts=parts)

    def _sequence(self, node: ast.List, place: Place) -> list[Value]:
        parts = [(one, place) for one in node.elts if not isinstance(one, ast.Starred)]
        found = [Value("items", node=node, place=place, parts=parts)]
        for one in node.elts:
            if isinstance(one, ast.Starred):
                found += self._elements_of(one.value, place)
        return found

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, place: Place) -> list[Value]:
        return [Value("items", node=node, place=place, parts=[(node.elt, self.scope_of[id(node)].inside)])]

    def _mapping(self, node: ast.Dict, place: Place) -> list[Value]:
        return [mapping(node, place, self)]

    def _mapped(self, node: ast.DictComp, place: Place) -> list[Value]:
        return [Value("dict", node=node, place=place, parts=[(None, node.value, self.scope_of[id(node)].inside)])]

    def _lambda(self, node: ast.Lambda, place: Place) -> list[Value]:
        return [Value("lambda", node=node, place=place, scope=self.scope_of[id(node)])]

    def _generator(self, node: ast.GeneratorExp, place: Place) -> list[Value]:
        return [Value("generator", node=node, place=place, parts=[(node.elt, self.scope_of[id(node)].inside)])]

    def _constant(self, node: ast.Constant, place: Place) -> list[Value]:
        return [Value("constant", node=node, place=place, parts=node.value)]

    def _negative(self, node: ast.UnaryOp, place: Place) -> list[Value]:
        value: Any = getattr(node.operand, "value", None)
        if isinstance(node.op, ast.USub) and type(value) in {int, float}:
            return [Value("constant", node=node, place=place, parts=-value)]
        return [UNKNOWN]

    def _either(self, node: ast.IfExp, place: Place) -> list[Value]:
        found = self.evaluate(node.body, place) + self.evaluate(node.orelse, place)
        return [one.provided_for() for one in found] if spared_by(node.test, self._flags) else found

    def _or(self, node: ast.BoolOp, place: Place) -> list[Value]:
        return [one for value in node.values for one in self.evaluate(value, place)]

    def _walrus(self, node: ast.NamedExpr, place: Place) -> list[Value]:
        return self.evaluate(node.value, place)

    def _text(self, node: ast.JoinedStr, place: Place) -> list[Value]:
        return formatted(node, place)

    def _operation(self, node: ast.BinOp, place: Place) -> list[Value]:
        return repeated(node, place, self)

    def _subscript(self, node: ast.Subscript, place: Place) -> list[Value]:
        base = self.evaluate(node.value, place)
        if any(one.kind == "dict" for one in base):
            return entries(base, node.slice, self)
        if isinstance(node.slice, ast.Tuple) and all(isinstance(one, ast.Constant) for one in node.slice.elts):
            return [UNKNOWN]  # one cell, whatever is in it
        if isinstance(getattr(node.slice, "value", None), int):
            return self.elements((UNKNOWN if last(one.name) == ITEM else one for one in base), parts=True)
        held = [one for one in base if one.scope is None and _is_object(one)]
        found = [Value("made", joined(one.name, ITEM), node=node, place=place).through(one) for one in held]
        return [*found, *self.elements(one for one in base if one not in held)]

    _handlers: ClassVar[dict[type, Callable[..., list[Value]]]] = {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Await: _await,
        ast.Constant: _constant,
        ast.JoinedStr: _text,
        ast.List: _sequence,
        ast.Tuple: _sequence,
        ast.Set: _sequence,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _generator,
        ast.Dict: _mapping,
        ast.DictComp: _mapped,
        ast.Lambda: _lambda,
        ast.UnaryOp: _negative,
        ast.IfExp: _either,
        ast.BoolOp: _or,
        ast.NamedExpr: _walrus,
        ast.BinOp: _operation,
        ast.Subscript: _subscript,
    }


def _seen_from(scope: Scope, place: Place) -> Place:
    """The place within ``scope`` of the read, or of the function that contains it."""
    while place.scope is not scope and place.scope.place is not None:
        place = place.scope.place
    return place
