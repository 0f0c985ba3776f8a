"""The names that expressions read and bind: the part of a walk over a syntax tree that is below its statements."""

from __future__ import annotations

import ast
import re

from envdoctor.probes.source.abstract_values import ASSIGNED, CONTAINED, ITERATED, UNPACKED
from envdoctor.probes.source.bindings import (
    ADDED,
    ELEMENT,
    PARAMETER,
    PART,
    UNKNOWN,
    VALUE,
    Binding,
    Block,
    Place,
    Scope,
    bind,
    parameters,
)
from envdoctor.probes.source.guards import spared_by
from envdoctor.probes.source.narrowing import narrowed
from envdoctor.probes.source.version_flags import VersionFlags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

#: A file with more nodes is not scanned: about 40,000 lines of ordinary code.
MOST_NODES = 400_000
_PASSIVE = {"ctx", "op", "ops", "kind", "type_comment", "conversion", "attr", "id", "n", "s", "is_async", "arg"}
_ADDING = {"append", "add", "appendleft"}
#: Builtins that iterate over what they are given, and those that do not.
_ITERATING = {"iter", "list", "tuple", "set", "sorted", "enumerate", "zip", "sum", "min", "max", "any", "all", "dict"}
_COUNTING = {"range", "len"}
#: What may be something made, behind ``in``.
_MAKING = (ast.Name, ast.Attribute, ast.Call)
#: Methods that change what they belong to.
_CHANGING = {*_ADDING, "extend", "update", "setdefault", "insert", "pop", "clear", "remove"}
#: Beyond so many, a part of a value has no place that is known.
_MOST_PARTS = 64
_SETTING = re.compile(r"(?:set|add|load|register|configure|init|setup|connect|enable|disable)(?:$|_|[A-Z])")


def _is_dictionary(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) or getattr(getattr(node, "func", None), "id", "") == "dict"


class TooLargeError(Exception):
    """The file has more nodes than are scanned."""


class Expressions:
    """Fills ``scope_of`` (by the ``id`` of a node) and the scopes that it is given."""

    def __init__(self, source: str) -> None:
        self.flags = VersionFlags(source)
        self.scope_of: dict[int, Scope] = {}
        self.nodes = 0
        self.annotations = True
        self.fields: dict[type, tuple[str, ...]] = {}

    def _read(self, node: ast.expr | None, place: Place) -> None:
        """Note what an expression reads, without recursion: operators may be chained by the thousand."""
        stack: list[ast.AST] = [node] if node is not None else []
        while stack:
            one = stack.pop()
            kind = type(one)
            if kind is ast.Constant:
                continue
            self.nodes += 1
            handler = self._expressions.get(kind)
            if handler is None:
                self._push(one, stack)
            else:
                handler(self, one, place, stack)
        if self.nodes > MOST_NODES:
            raise TooLargeError

    def _push(self, node: ast.AST, stack: list[ast.AST]) -> None:
        kind = type(node)
        fields = self.fields.get(kind)
        if fields is None:
            fields = self.fields[kind] = tuple(name for name in kind._fields if name not in _PASSIVE)
        for name in fields:
            value = getattr(node, name, None)
            if type(value) is list:
                stack.extend(child for child in value if child is not None)
            elif isinstance(value, ast.AST):
                stack.append(value)

    def _name(self, node: ast.Name, place: Place, stack: list[ast.AST]) -> None:
        if type(node.ctx) is ast.Load:
            place.scope.reads.append((node, place))

    def _attribute(self, node: ast.Attribute, place: Place, stack: list[ast.AST]) -> None:
        if type(node.ctx) is ast.Load:
            place.scope.reads.append((node, place))
        self._base(node, place, stack)

    def _base(self, node: ast.expr, place: Place, stack: list[ast.AST]) -> None:
        """Go on with the object that an attribute is read from; a plain dotted name has been noted as a whole."""
        while type(node) is ast.Attribute:
            node = node.value
        if type(node) is not ast.Name:
            stack.append(node)

    def _call(self, node: ast.Call, place: Place, stack: list[ast.AST]) -> None:
        place.scope.reads.append((node, place))
        self._base(node.func, place, stack)
        stack.extend(node.args)
        stack.extend(keyword.value for keyword in node.keywords)
        function = node.func
        if type(function) is ast.Name and function.id in _ITERATING:
            self._iterate(node, place)
        if type(function) is ast.Attribute and type(function.value) is ast.Name:
            if function.attr in _CHANGING or _SETTING.match(function.attr):
                place.scope.changes.append((function.value, place))
            self._changed(function.value, function.attr, node, place)
        elif type(function) is ast.Name and function.id == "setattr" and len(node.args) > 1:
            self._set(node.args[0], node.args[1], place)
        elif type(function) is ast.Name and function.id == "getattr" and len(node.args) == 2:  # noqa: PLR2004 - no default
            self._get(node, place)

    def _subscript(self, node: ast.Subscript, place: Place, stack: list[ast.AST]) -> None:
        if type(node.ctx) is ast.Load:
            place.scope.unwritten.append((node, place))
        self._push(node, stack)

    def _compare(self, node: ast.Compare, place: Place, stack: list[ast.AST]) -> None:
        for operator, right in zip(node.ops, node.comparators):
            if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(right, _MAKING):
                self._unwritten(right, CONTAINED, place)
        self._push(node, stack)

    def _unwritten(self, node: ast.expr, method: str, place: Place) -> None:
        """Note the call of a method that nobody writes."""
        function = ast.copy_location(ast.Attribute(node, method, ast.Load()), node)
        place.scope.unwritten.append((ast.copy_location(ast.Call(function, [], []), node), place))

    def _set(self, target: ast.expr, name: ast.expr, place: Place) -> None:
        """Note that an attribute is changed by its name."""
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            place.scope.changes.append((ast.Attribute(target, name.value, ast.Store()), place))

    def _get(self, node: ast.Call, place: Place) -> None:
        """Note that an attribute is read by its name."""
        target, name = node.args
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
            read = ast.copy_location(ast.Attribute(target, name.value, ast.Load()), node)
            place.scope.reads.append((read, place))

    def _iterate(self, node: ast.expr, place: Place) -> None:
        """Note what is iterated over, and what is given to a call that may wrap it, as ``enumerate`` does."""
        if getattr(getattr(node, "func", None), "id", "") in _COUNTING:
            return
        self._unwritten(node, ITERATED, place)
        for one in node.args if isinstance(node, ast.Call) else ():
            self._iterate(one, place)

    def _changed(self, target: ast.Name, method: str, node: ast.Call, place: Place) -> None:
        """Note what a method adds to a list or dictionary."""
        if method not in _CHANGING:
            return
        if method == "update":
            for keyword in node.keywords:
                self._add(target, ast.Constant(keyword.arg), keyword.value, place)
        if not node.args or (len(node.args) > 1 and method != "pop"):
            return
        is_bound = target.id in place.scope.bindings or target.id in place.scope.outer
        if method == "pop" and is_bound and isinstance(node.args[0], ast.Constant):
            self._bind(target.id, UNKNOWN, None, place, definite=False)
        if method in _ADDING:
            self._add(target, None, node.args[0], place)
        elif is_bound and (method == "extend" or (method == "update" and _is_dictionary(node.args[0]))):
            self._extend(target, node.args[0], place)

    def _add(self, target: ast.Name, key: ast.expr | None, value: ast.expr, place: Place) -> None:
        if target.id in place.scope.bindings or target.id in place.scope.outer:
            self._bind(target.id, ADDED, (key, value), place, definite=False)

    def _extend(self, target: ast.Name, value: ast.expr, place: Place) -> None:
        literal = isinstance(value, (ast.List, ast.ListComp, ast.Tuple)) or _is_dictionary(value)
        self._bind(target.id, VALUE if literal else UNKNOWN, value, place, definite=False)

    def _lambda(self, node: ast.Lambda, place: Place, stack: list[ast.AST]) -> None:
        inner = self._enter("lambda", node, place)
        self._defaults(node.args, place)
        self._parameters(node.args, inner, place)
        inner.returns.append((node.body, inner.inside))
        self._read(node.body, inner.inside)

    def _comprehension(self, node: Any, place: Place, stack: list[ast.AST]) -> None:
        inner = self._enter("comprehension", node, place)
        here = inner.inside
        for index, generator in enumerate(node.generators):
            source = place if index == 0 else here
            self._read(generator.iter, source)
            self._iterate(generator.iter, source)
            self._assign(generator.target, ELEMENT, generator.iter, here, source)
            for test in generator.ifs:
                self._read(test, here)
                here.block.spared |= self._spared_by(test)
                here.block.narrowed += tuple((*one, here.block) for one in narrowed(test))
        for part in ("elt", "key", "value"):
            self._read(getattr(node, part, None), here)

    def _walrus(self, node: ast.NamedExpr, place: Place, stack: list[ast.AST]) -> None:
        scope = place.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        bind(scope, node.target.id, Binding(VALUE, node.value, place, place.order, definite=scope is place.scope))
        stack.append(node.value)

    def _either(self, node: ast.IfExp, place: Place, stack: list[ast.AST]) -> None:
        for part, same in ((node.body, True), (node.orelse, False)):
            block = self._asked(node.test, place.block, narrowed(node.test, same=same))
            self._read(part, Place(place.scope, block, place.order))
        stack.append(node.test)

    def _any_of(self, node: ast.BoolOp, place: Place, stack: list[ast.AST]) -> None:
        block = place.block
        for part in node.values:
            self._read(part, Place(place.scope, block, place.order) if block is not place.block else place)
            block = self._asked(part, block, narrowed(part, same=isinstance(node.op, ast.And)))

    def _asked(self, test: ast.expr, block: Block, kinds: tuple[tuple[str, ast.expr, bool], ...]) -> Block:
        """A block that a test around it decides about."""
        spared = self._spared_by(test)
        if spared or kinds:
            return Block(block, spared=spared, narrowed=kinds)
        plain = test.operand if isinstance(test, ast.UnaryOp) else test
        return Block(block, tests=(test,)) if isinstance(plain, (ast.Name, ast.Attribute, ast.Call)) else block

    def _spared_by(self, test: ast.expr) -> int:
        return spared_by(test, self.flags)

    def _yield(self, node: Any, place: Place, stack: list[ast.AST]) -> None:
        place.scope.yields = True
        if isinstance(node, ast.Yield) and node.value is not None:
            place.scope.yielded.append((node.value, place))
        stack += [] if node.value is None else [node.value]

    def _enter(self, kind: str, node: ast.AST, place: Place) -> Scope:
        scope = self.scope_of[id(node)] = Scope(kind, node, place)
        place.scope.children.append(scope)
        return scope

    def _bind(self, name: str, kind: int, value: Any, place: Place, *, definite: bool = True) -> None:
        bind(place.scope, name, Binding(kind, value, place, place.order + 1, definite=definite))

    def _assign(self, target: ast.expr, kind: int, value: Any, place: Place, source: Place | None = None) -> None:
        """Bind a target; ``source`` is where the value is read, if that is another scope."""
        if isinstance(target, ast.Name):
            order = place.order + (source is None)
            bind(place.scope, target.id, Binding(kind, (source, value) if kind == ELEMENT else value, place, order))
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, kind, (source, value) if kind == ELEMENT else value, place, source)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, kind, value, place)
        elif isinstance(target, ast.Subscript):
            self._read(target.value, place)
            self._read(target.slice, place)
            place.scope.changes.append((target.value, place))
            if isinstance(target.value, ast.Name) and kind == VALUE:
                self._add(target.value, target.slice, value, place)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, UNKNOWN, None, place)

    def _unpack(self, target: Any, kind: int, value: Any, place: Place, source: Place | None) -> None:
        parts = target.elts
        values = getattr(value, "elts", None) if kind == VALUE and isinstance(value, (ast.Tuple, ast.List)) else None
        if values is None or len(values) != len(parts) or any(isinstance(one, ast.Starred) for one in parts + values):
            if kind == VALUE and isinstance(value, (ast.Call, ast.Name)):
                self._unwritten(value, UNPACKED, place)
            for at, part in enumerate(parts):
                is_starred = any(isinstance(one, ast.Starred) for one in parts[:at])
                known = kind in {VALUE, ELEMENT, PART} and not (is_starred and kind != VALUE)
                index = len(parts) + _MOST_PARTS if is_starred else at
                self._assign(part, PART if known else UNKNOWN, (kind, value, index), place, source)
            return
        for part, one in zip(parts, values):
            self._assign(part, VALUE, one, place)

    def _assign_attribute(self, target: ast.Attribute, kind: int, value: Any, place: Place) -> None:
        self._read(target.value, place)
        place.scope.changes.append((target, place))
        if isinstance(target.value, ast.Call):
            self._unwritten(target.value, ASSIGNED, place)
        owner = place.scope
        if isinstance(target.value, ast.Name) and owner.parent is not None and owner.receiver == target.value.id:
            kept = (None, value) if kind == ELEMENT else value
            owner.assigned.append((target.attr, Binding(kind, kept, place, place.order + 1)))
        elif isinstance(target.value, ast.Name) and kind == VALUE:
            owner.late.append((target.value.id, target.attr, value, place))

    def _annotation(self, node: ast.expr | None, place: Place) -> None:
        """Annotations are read where they are evaluated; the module may say that none is."""
        if self.annotations:
            self._read(node, place)

    def _defaults(self, node: ast.arguments, place: Place) -> None:
        """Read what parameters are given and declared as where the function is defined."""
        for argument, default in parameters(node):
            if default is not None:
                self._read(default, place)
            if argument.annotation is not None:
                self._annotation(argument.annotation, place)

    def _parameters(self, node: ast.arguments, inner: Scope, place: Place) -> None:
        root = inner.inside
        for argument, default in parameters(node):
            bind(inner, argument.arg, Binding(PARAMETER, (argument, default, place), root, -1))
        for rest in (node.vararg, node.kwarg):
            if rest is not None:
                bind(inner, rest.arg, Binding(UNKNOWN, None, root, -1))

    _expressions: ClassVar[dict[type, Callable[..., None]]] = {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Lambda: _lambda,
        ast.BoolOp: _any_of,
        ast.IfExp: _either,
        ast.NamedExpr: _walrus,
        ast.Yield: _yield,
        ast.YieldFrom: _yield,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.DictComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.Subscript: _subscript,
        ast.Compare: _compare,
    }
