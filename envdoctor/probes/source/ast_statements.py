"""One pass over a syntax tree that fills its scopes and notes every place where something is read or imported."""

from __future__ import annotations

import ast
import builtins

from envdoctor.probes.source.abstract_values import STARS
from envdoctor.probes.source.ast_expressions import Expressions
from envdoctor.probes.source.bindings import (
    ANNOTATED,
    ATTRIBUTES,
    CALLS,
    DEFINITION,
    DELETED,
    ELEMENT,
    IMPORT,
    IMPORTS,
    UNKNOWN,
    VALUE,
    Block,
    Place,
    Scope,
    below,
    declared,
)
from envdoctor.probes.source.guards import (
    asked_for,
    caught,
    caught_by,
    caught_names,
    instead_of,
    is_for_newer,
    kept,
    last_names,
    leaves,
    main_guard,
    skipped_by,
    suppressed,
    system,
    tried_out,
)
from envdoctor.probes.source.narrowing import narrowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar


_BUILTINS = frozenset(dir(builtins))


class Walker(Expressions):
    """Fills ``scope_of`` (by the ``id`` of a node), ``imports`` (name, line, place) and the scopes below ``module``."""

    def __init__(self, tree: ast.Module, source: str) -> None:
        super().__init__(source)
        self.module = Scope("module", tree, None)
        self.imports: list[tuple[str, int, Place]] = []
        #: The modules whose names a star imports, in the order of the file.
        self.stars: dict[str, Place] = {}
        self._body(tree.body, self.module, self.module.inside.block)
        if self.stars:  # of several it is known where names are resolved which of them gives one
            module, first = next(iter(self.stars.items()))
            self._bind_star(module if len(self.stars) == 1 else STARS, first)

    def _bind_star(self, module: str, place: Place) -> None:
        """Bind what ``from module import *`` must have brought: every name that nothing else explains."""
        prefix = module + ("" if module.endswith(".") else ".")
        for scope in below(self.module):
            for node, _ in scope.reads:
                base: ast.expr = node
                while isinstance(base, (ast.Call, ast.Attribute)):
                    base = base.func if isinstance(base, ast.Call) else base.value
                if isinstance(base, ast.Name) and base.id not in _BUILTINS and not _is_bound(base.id, scope):
                    self._bind(base.id, IMPORT, prefix + base.id, place)

    def _body(self, statements: Iterable[ast.stmt], scope: Scope, block: Block) -> None:
        around = block
        for statement in statements:
            place = Place(scope, block, _order(statement))
            handler = self._statements.get(type(statement))
            if handler is None:
                self._children(statement, place)
            else:
                handler(self, statement, place)
            if isinstance(statement, (ast.Return, ast.Raise)):
                block.ends = around.ends = True
            elif isinstance(statement, (ast.If, ast.Assert)):
                block = self._settled_by(statement, block)

    def _settled_by(self, statement: ast.If | ast.Assert, block: Block) -> Block:
        """The block of the statements after one: where it asks for a version, they may run with older ones alone."""
        test = statement.test
        is_newer, is_assert = is_for_newer(test), isinstance(statement, ast.Assert)
        if isinstance(statement, ast.If) and not leaves(statement.body):
            return block
        kinds = narrowed(test, same=is_assert)
        if is_newer is is_assert:
            asked = asked_for(test)
            return Block(block, narrowed=kinds, asked=asked) if kinds or asked else block
        spared = self._spared_by(test)
        return Block(block, spared=spared, narrowed=kinds, tests=() if spared else (test,))

    def _expression(self, node: ast.Expr, place: Place) -> None:
        if type(node.value) is not ast.Constant:
            self._read(node.value, place)

    def _children(self, node: ast.AST, place: Place) -> None:
        for _, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.expr):
                    self._read(child, place)

    def _assignment(self, node: ast.Assign, place: Place) -> None:
        self._read(node.value, place)
        self.flags.assigned(node.targets, node.value)
        for target in node.targets:
            self._assign(target, VALUE, node.value, place)

    def _annotated(self, node: ast.AnnAssign, place: Place) -> None:
        self._read(node.value, place)
        if place.scope.kind in {"module", "class"}:
            self._annotation(node.annotation, place)
        if node.value is not None:
            node.value.annotation = node.annotation  # type: ignore[attr-defined] # which the binding of the value has
            self._assign(node.target, VALUE, node.value, place)
        elif place.scope.kind == "class" and isinstance(node.target, ast.Name):
            self._bind(node.target.id, ANNOTATED, node.annotation, place)

    def _augmented(self, node: ast.AugAssign, place: Place) -> None:
        self._read(node.value, place)
        if isinstance(node.target, ast.Name):
            self._extend(node.target, node.value, place)
        elif isinstance(node.target, ast.Attribute):  # it is read first
            read = ast.Attribute(node.target.value, node.target.attr, ast.Load())
            self._read(ast.copy_location(read, node.target), place)

    def _for(self, node: Any, place: Place) -> None:
        self._read(node.iter, place)
        self._iterate(node.iter, place)
        inside = Block(place.block, loop=True)
        self._assign(node.target, ELEMENT, node.iter, Place(place.scope, inside, place.order), None)
        self._body(node.body, place.scope, inside)
        self._body(node.orelse, place.scope, Block(place.block))

    def _while(self, node: ast.While, place: Place) -> None:
        self._read(node.test, place)
        self._body(node.body, place.scope, Block(place.block, loop=True))
        self._body(node.orelse, place.scope, Block(place.block))

    def _if(self, node: ast.If, place: Place) -> None:
        self._read(node.test, place)
        guard, otherwise = main_guard(node.test)
        spared = self._spared_by(node.test) | self._asked_before(node.test, place)
        never = ATTRIBUTES | IMPORTS if isinstance(node.test, ast.Constant) and not node.test.value else 0
        for body, guarded, same, more in ((node.body, guard, True, never), (node.orelse, otherwise, False, 0)):
            inside = Block(
                place.block,
                branch=id(node),
                guard=guarded,
                spared=spared | more,
                on=system(node.test, same=same),
                narrowed=narrowed(node.test, same=same),
                tests=() if spared else (node.test,),
            )
            self._body(body, place.scope, inside)

    def _with(self, node: Any, place: Place) -> None:
        for item in node.items:
            self._read(item.context_expr, place)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, VALUE, item.context_expr, place)
        kinds = suppressed(node.items)
        spared = caught(ast.Tuple(elts=kinds, ctx=ast.Load())) | tried_out(node.body, kinds)
        inside = Block(place.block, spared=spared, catches=last_names(kinds)) if kinds else place.block
        self._body(node.body, place.scope, inside)

    def _asked_before(self, test: ast.expr, place: Place) -> int:
        """What a test provides for by a name that was bound to an answer."""
        bound = place.scope.bindings
        names = [one.id for one in ast.walk(test) if isinstance(one, ast.Name) and one.id in bound]
        values = [one.value for name in names for one in bound[name] if one.kind == VALUE]
        return CALLS if any(self._spared_by(value) & CALLS for value in values) else 0

    def _try(self, node: Any, place: Place) -> None:
        handlers = node.handlers
        unseen = [one for one in handlers if one.name is None]  # who looks at what was raised, tells it
        spared = caught_by(handlers) | tried_out(node.body, kept(unseen))
        inside = Block(place.block, spared=spared, catches=caught_names(handlers))
        self._body(node.body, place.scope, inside)
        for handler in handlers:
            inside = Block(place.block, branch=id(node), spared=instead_of(handler.type))
            here = Place(place.scope, inside, _order(handler))
            self._read(handler.type, place)
            if handler.name:
                self._bind(handler.name, ANNOTATED if handler.type else UNKNOWN, handler.type, here)
            self._body(handler.body, place.scope, inside)
        self._body(node.orelse, place.scope, Block(place.block))
        self._body(node.finalbody, place.scope, place.block)

    def _match(self, node: Any, place: Place) -> None:
        self._read(node.subject, place)
        for case in node.cases:
            inside = Block(place.block, branch=id(node), spared=self._spared_by(node.subject))
            here = Place(place.scope, inside, _order(case.pattern))
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                asked = getattr(part, "cls", None) or getattr(part, "value", None)
                self._read(asked if isinstance(asked, ast.expr) else None, here)
                if isinstance(name, str):
                    self._bind(name, UNKNOWN, None, here)
            self._read(case.guard, here)
            self._body(case.body, place.scope, inside)

    def _function(self, node: Any, place: Place) -> None:
        self._decorated(node, place)
        if node.returns is not None:
            self._annotation(node.returns, place)
        inner = self._enter("function", node, place)
        inner.inside.block.spared |= skipped_by(node.decorator_list, self.flags)
        self._defaults(node.args, place)
        self._bind(node.name, DEFINITION, node, place)
        self._parameters(node.args, inner, place)
        self._body(node.body, inner, inner.inside.block)

    def _decorated(self, node: Any, place: Place) -> None:
        """Read decorators; one without brackets is called with what it decorates."""
        for decorator in node.decorator_list:
            self._read(decorator, place)
            if isinstance(decorator, (ast.Name, ast.Attribute)):
                given = ast.copy_location(ast.Name(node.name, ast.Load()), decorator)
                place.scope.reads.append((ast.copy_location(ast.Call(decorator, [given], []), decorator), place))

    def _class(self, node: ast.ClassDef, place: Place) -> None:
        self._decorated(node, place)
        for part in (*node.bases, *(keyword.value for keyword in node.keywords)):
            self._read(part, place)
        inner = self._enter("class", node, place)
        inner.inside.block.spared |= skipped_by(node.decorator_list, self.flags)
        self._bind(node.name, DEFINITION, node, place)
        self._body(node.body, inner, inner.inside.block)

    def _import(self, node: ast.Import, place: Place) -> None:
        for alias in node.names:
            self.imports.append((alias.name, node.lineno, place))
            if alias.asname:
                self._bind(alias.asname, IMPORT, alias.name, place)
            else:
                top = alias.name.partition(".")[0]
                self._bind(top, IMPORT, top, place)
            self.flags.imported("", alias.name, alias.asname or alias.name.partition(".")[0])

    def _import_from(self, node: ast.ImportFrom, place: Place) -> None:
        module = "." * node.level + (node.module or "")
        if module == "__future__":
            self.annotations = self.annotations and all(alias.name != "annotations" for alias in node.names)
            return
        if module.strip("."):
            self.imports.append((module, node.lineno, place))
        for alias in node.names:
            if alias.name == "*":
                self.stars[module] = place
            else:
                name = module + ("" if module.endswith(".") else ".") + alias.name
                self.imports.append((name, node.lineno, place))
                self._bind(alias.asname or alias.name, IMPORT, name, place)
                self.flags.imported(module, alias.name, alias.asname or alias.name)

    def _declare(self, node: Any, place: Place) -> None:
        scope = place.scope
        for name in node.names:
            if scope is not scope.module:
                scope.outer[name] = declared(scope, name, nonlocal_=isinstance(node, ast.Nonlocal))

    def _delete(self, node: ast.Delete, place: Place) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._bind(target.id, DELETED, None, place)
            else:
                self._children(target, place)
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    self._extend(target.value, target.slice, place)
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    place.scope.late.append((target.value.id, target.attr, None, place))

    def _return(self, node: ast.Return, place: Place) -> None:
        self._read(node.value, place)
        if node.value is not None:
            place.scope.returns.append((node.value, place))
            self.flags.returned(place.scope.name, node.value)

    _statements: ClassVar[dict[type, Callable[..., None]]] = {
        ast.Expr: _expression,
        ast.Assign: _assignment,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.While: _while,
        ast.If: _if,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Try: _try,
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.ClassDef: _class,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        ast.Global: _declare,
        ast.Nonlocal: _declare,
        ast.Delete: _delete,
        ast.Return: _return,
    }
    if hasattr(ast, "Match"):
        _statements[ast.Match] = _match
    if hasattr(ast, "TryStar"):
        _statements[ast.TryStar] = _try


def _is_bound(name: str, scope: Scope | None) -> bool:
    """Whether a scope or one around it binds a name."""
    while scope is not None and name not in scope.bindings:
        scope = scope.parent
    return scope is not None


def _order(node: Any) -> int:
    """A number that grows along the file. It is even: what a statement binds comes after what it reads."""
    number: int = (node.lineno << 32) + (node.col_offset << 1)
    return number
