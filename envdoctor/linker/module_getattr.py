"""What a module-level ``__getattr__`` returns for one name: its code is followed as far as values are known.

Nothing is executed. A value that is not known is :data:`UNKNOWN`, and so is whatever may have changed it; where the way
depends on such a value, there is no answer.
"""

from __future__ import annotations

import ast
from typing import Any

from envdoctor.linker import operations
from envdoctor.linker.branches import holds
from envdoctor.linker.evaluation import UNKNOWN, Deferred, Function, Namespace, Raised, Returned, Taken, Undecided
from envdoctor.linker.lazy_stubs import LazyStubs
from envdoctor.linker.syntax_trees import CHANGING, changed_later, walked
from envdoctor.linker.verdicts import no, yes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.store import Store
    from envdoctor.linker.verdicts import Answer, Names

#: So many statements and expressions are followed for one name.
_MOST_STEPS = 20_000
#: So many modules are held that were followed.
_MOST_MODULES = 50
#: Decorators behind which a function answers as it does without them.
_KEEPING = {"cache", "lru_cache", "wraps"}


class Evaluator:
    """Follows the ``__getattr__`` of modules. What they import from others is resolved."""

    def __init__(self, layout: Layout, store: Store, names: Names) -> None:
        self._layout = layout
        self._store = store
        self._names = names
        self._stubs = LazyStubs(layout, store)
        self._modules: dict[str, Namespace] = {}
        self._steps = 0
        self.asked = ("", "")
        #: Whether something was found by a name that it was compared with: the answer is about that name.
        self.named = False

    def answer(self, module: str, name: str) -> Answer | None:
        """The answer of a module's ``__getattr__`` about a name; ``None`` where that is not known."""
        attached = self._stubs.names(module)
        if attached is not None:
            held = self._names.offers(*attached[name]) if name in attached else no("name", module, name)
            return yes() if name in attached and not held.verdict else held
        before = self.asked, self.named
        self.asked, self.named, self._steps = (module, name), False, 0
        try:
            value = self.call(self.value(Taken(module, "__getattr__")), [name], {})
        except Raised:
            return no("gone" if self.named else "name", module, name)
        except (Undecided, RecursionError):
            return None
        finally:
            self.asked, self.named = before
        if value is UNKNOWN:
            return None
        found = self._names.offers(*value) if isinstance(value, Taken) else None
        return found if found is not None and found.verdict else yes()

    def make_room(self) -> None:
        """Drop the modules that were followed where they are many; nothing may be followed just then."""
        if len(self._modules) > _MOST_MODULES:
            for scope in self._modules.values():
                scope.names.clear()  # whose functions hold the scope
            self._modules.clear()

    def is_about(self, value: Any) -> bool:
        """Whether a value is the name that is asked for, or ends in it."""
        return isinstance(value, str) and value.endswith(self.asked[1])

    # --- names ------------------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """A value that was put off; a name of another module where that is Python."""
        if isinstance(value, Deferred):
            return self.tried(value.node, value.scope)
        if isinstance(value, Taken) and value.name and "." not in value.name and self._is_python(value.module):
            held = self._module(value.module).names.get(value.name, value)
            return held if held == value else self.value(held)
        return value

    def _is_python(self, module: str) -> bool:
        place = self._layout.modules.get(module)
        return place is not None and place.kind != "native"

    def module(self, name: str) -> Any:
        """A module. Raises :class:`Undecided` where there is none: somebody may choose to install it."""
        if not self._names.module(name).verdict:
            raise Undecided
        return Taken(name)

    def inside(self, whole: Any, name: str) -> Any:
        """An attribute of a module, or of what it has. Raises :class:`Raised` where it has none."""
        if not isinstance(whole, Taken) or (whole.module, name) == self.asked:
            return UNKNOWN
        path = ".".join(filter(None, (whole.name, name)))
        found = self._names.offers(whole.module, path)
        if found.verdict is False:
            raise Raised("AttributeError")
        return Taken(whole.module, path) if found.verdict else UNKNOWN

    def _module(self, name: str) -> Namespace:
        scope = self._modules.get(name)
        if scope is None:
            scope = self._modules[name] = Namespace(name)
            package = name if self._layout.modules[name].kind == "package" else name.rpartition(".")[0]
            scope.names.update(__name__=name, __package__=package)
            tree = self._store.trees.get(name)
            if tree is not None:
                self._fill_module(tree, scope)
        return scope

    def _fill_module(self, tree: ast.Module, scope: Namespace) -> None:
        before, self._steps = self._steps, 0
        scope.later = changed_later(tree)
        try:
            self.run(tree.body, scope)
        except (Undecided, RecursionError):
            scope.names = dict.fromkeys(scope.names, UNKNOWN)
        self._steps = before

    def _lookup(self, name: str, scope: Namespace) -> Any:
        inner: Namespace | None = scope
        while inner is not None:
            if name in inner.names:
                value = inner.names[name] = self.value(inner.names[name])
                return value
            inner = inner.parent
        return operations.BUILTINS.get(name, UNKNOWN)

    # --- statements -------------------------------------------------------------------------------------------------

    def run(self, body: Sequence[ast.stmt], scope: Namespace) -> Returned | None:
        """Follow statements in order; the value of a ``return`` among them."""
        for node in body:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise Undecided
            ended: Returned | None = getattr(self, STATEMENTS.get(type(node), "_forget"))(node, scope)
            if ended is not None:
                return ended
        return None

    def _forget(self, node: ast.AST, scope: Namespace) -> Returned | None:
        """Take for unknown what a statement binds that is not followed, and each container that it mentions."""
        if scope.parent is not None and any(
            isinstance(one, (ast.Return, ast.Raise, ast.Yield)) for one in ast.walk(node)
        ):
            raise Undecided
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and (
                isinstance(one.ctx, ast.Store) or isinstance(scope.names.get(one.id), (dict, list, set))
            ):
                scope.names[one.id] = UNKNOWN
        return None

    def _define(self, node: ast.FunctionDef, scope: Namespace) -> None:
        names = {
            one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "")
            for one in map(_called, node.decorator_list)
        }
        scope.names[node.name] = Function(node, scope) if names <= _KEEPING else UNKNOWN

    def _class(self, node: ast.ClassDef, scope: Namespace) -> None:
        scope.names[node.name] = UNKNOWN if scope.parent is not None else Taken(scope.module, node.name)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Namespace) -> None:
        origin = ""
        if isinstance(node, ast.ImportFrom):
            origin = operations.absolute(node.module or "", node.level, self._lookup("__package__", scope))
        for one in node.names:
            name, inner = one.asname or one.name.partition(".")[0], f"{origin}.{one.name}"
            if not isinstance(node, ast.ImportFrom):
                taken = Taken(one.name if one.asname else name)
            else:
                taken = Taken(inner) if inner in self._layout.modules else Taken(origin, one.name)
            if scope.parent is not None and not self._names.offers(*taken).verdict:
                raise Undecided
            scope.names[name] = taken

    def _assign(self, node: ast.Assign | ast.AnnAssign, scope: Namespace) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        put_off = scope.parent is None and isinstance(node.value, ast.Call)
        value = Deferred(node.value, scope.at_this_point()) if put_off else self.tried(node.value, scope)
        for target in targets:
            self.bind(target, value, scope)

    def tried(self, node: ast.expr, scope: Namespace) -> Any:
        """A value; at the top of a module, one that cannot be evaluated is unknown."""
        if scope.parent is not None:
            return self.evaluate(node, scope)
        try:
            return self.evaluate(node, scope)
        except (Raised, Undecided):
            return UNKNOWN

    def bind(self, target: ast.expr, value: Any, scope: Namespace) -> None:
        """Give a target a value."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = UNKNOWN if target.id in scope.later else value
        elif isinstance(target, (ast.Tuple, ast.List)):
            whole = self.value(value) if scope.parent is not None or not isinstance(value, Deferred) else value
            for one, part in zip(target.elts, _parts(whole, len(target.elts))):
                self.bind(one, part, scope)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            whole, key = self._lookup(target.value.id, scope), self.tried(target.slice, scope)
            if isinstance(whole, dict) and key is not UNKNOWN:
                whole[key] = value
            else:
                self._forget(target.value, scope)

    def _effect(self, node: ast.Expr, scope: Namespace) -> None:
        """A call for its effect, which may be an exception, or change a container."""
        call = node.value
        if not isinstance(call, ast.Call):
            return
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        changing = isinstance(owner, ast.Name) and call.func.attr in CHANGING  # type: ignore[attr-defined]
        if scope.parent is not None and not changing:
            self.evaluate(call, scope)
        elif not (changing and operations.changed(self, call, scope)):
            self._forget(node, scope)

    def _raise(self, node: ast.Raise, scope: Namespace) -> Returned:
        if scope.parent is None:
            return Returned(None)  # what follows is not reached
        raise Raised(ast.unparse(_called(node.exc)).rpartition(".")[2] if node.exc else "")

    def _return(self, node: ast.Return, scope: Namespace) -> Returned:
        return Returned(self.evaluate(node.value, scope) if node.value else None)

    def _if(self, node: ast.If, scope: Namespace) -> Returned | None:
        held = self.decided(node.test, scope)
        if held is not None:
            return self.run(node.body if held else node.orelse, scope)
        if scope.parent is not None:
            raise Undecided
        before = dict(scope.names)
        ended = self.run(node.body, scope)
        first, scope.names = scope.names, before
        if self.run(node.orelse, scope):
            scope.names = first
        for name, value in first.items() if not ended else ():
            scope.names[name] = value if scope.names.get(name, value) is value else UNKNOWN
        return None

    def decided(self, test: ast.expr, scope: Namespace) -> bool | None:
        """Whether a condition holds; ``None`` where that is not known."""
        held = holds(test, self._store.target, {})
        if held is None:
            value = self.tried(test, scope)
            held = None if operations.is_unknown(value) else bool(value)
        return held

    def _try(self, node: ast.Try, scope: Namespace) -> Returned | None:
        if scope.parent is None:
            self.run(node.body, scope)
            for handler in node.handlers:
                self._forget(handler, scope)
            return None
        try:
            ended = self.run(node.body, scope)
        except Raised as error:
            handlers = [one for one in node.handlers if operations.catches(one.type, error.name)]
            if not handlers:
                raise
            ended = self.run(handlers[0].body, scope)
        else:
            ended = ended or self.run(node.orelse, scope)
        return ended or self.run(node.finalbody, scope)

    def _with(self, node: ast.With, scope: Namespace) -> Returned | None:
        return self.run(node.body, scope)

    def _for(self, node: ast.For, scope: Namespace) -> Returned | None:
        values = self.value(self.tried(node.iter, scope))
        jumps = any(isinstance(one, (ast.Break, ast.Continue)) for one in ast.walk(node))
        if jumps or (not isinstance(values, (list, dict)) and type(values) is not tuple):
            self._forget(node, scope)
            return None
        for value in list(values):
            self.bind(node.target, value, scope)
            ended = self.run(node.body, scope)
            if ended:
                return ended
        return self.run(node.orelse, scope)

    def _nothing(self, node: ast.stmt, scope: Namespace) -> None:
        """A statement that changes nothing which is followed."""

    _assert = _jump = _forget

    # --- calls ------------------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, scope: Namespace) -> Any:
        """The value of an expression, as far as it is known. Raises :class:`Raised` where it raises."""
        if isinstance(node, ast.Name):
            return self._lookup(node.id, scope)
        follow = operations.EXPRESSIONS.get(type(node))
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Undecided
        return follow(self, node, scope) if follow else UNKNOWN

    def call(self, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The value that a function returns."""
        function = self.value(function)
        if not isinstance(function, Function):
            return operations.call(self, function, given, named)
        scope = Namespace(function.scope.module, function.scope)
        if not self._fill(scope, function.node.args, given, named):
            return UNKNOWN
        if any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in walked(function.node)):
            return UNKNOWN
        ended = self.run(function.node.body, scope)
        return ended.value if ended else None

    def _fill(self, scope: Namespace, taken: ast.arguments, given: Sequence[Any], named: Mapping[str, Any]) -> bool:
        """Give parameters their values; false where they do not fit."""
        names = [one.arg for one in (*taken.posonlyargs, *taken.args)]
        if len(given) > len(names) and not taken.vararg:
            return False
        parent = scope.parent
        behind = names[len(names) - len(taken.defaults) :] + [one.arg for one in taken.kwonlyargs]
        for name, default in zip(behind, [*taken.defaults, *taken.kw_defaults]):
            if default is not None and parent is not None:
                scope.names[name] = self.tried(default, parent)
        scope.names.update(zip(names, given))
        scope.names.update(named)
        if taken.vararg:
            scope.names[taken.vararg.arg] = tuple(given[len(names) :])
        if taken.kwarg:
            scope.names[taken.kwarg.arg] = UNKNOWN
        return all(name in scope.names for name in names)


def _parts(whole: Any, count: int) -> list[Any]:
    """The parts of a value for so many targets; of one that is evaluated later each part is, too."""
    if isinstance(whole, Deferred):
        places = [ast.Subscript(whole.node, ast.Constant(at), ast.Load()) for at in range(count)]
        return [Deferred(place, whole.scope) for place in places]
    fits = isinstance(whole, (tuple, list)) and len(whole) == count
    return list(whole) if fits else [UNKNOWN] * count


def _called(node: ast.expr | None) -> Any:
    return node.func if isinstance(node, ast.Call) else node


#: The method that follows each kind of statement.
STATEMENTS: dict[Any, str] = {
    ast.FunctionDef: "_define", ast.Import: "_import", ast.ImportFrom: "_import",
    ast.Assign: "_assign", ast.AnnAssign: "_assign", ast.Expr: "_effect",
    ast.Raise: "_raise", ast.Return: "_return", ast.If: "_if", ast.Try: "_try",
    ast.ClassDef: "_class", ast.With: "_with", ast.For: "_for", ast.Pass: "_nothing",
    ast.Delete: "_nothing", ast.Global: "_nothing", ast.Nonlocal: "_nothing",
    ast.Assert: "_assert", ast.Break: "_jump", ast.Continue: "_jump",
}  # fmt: skip
