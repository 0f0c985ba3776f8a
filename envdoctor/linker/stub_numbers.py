"""Floats that are given to compiled classes for integers, which Python converts no longer since 3.10.

The stub beside a compiled module says what its constructors take; looked at are those of a generator of bindings that
leaves the conversion to Python, which its base classes show.
"""

from __future__ import annotations

import ast
import os

from envdoctor.linker.summary import LATER
from envdoctor.linker.syntax_trees import bound_in, chain
from envdoctor.linker.verdicts import Missing
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.linker.world import World

    #: The annotations of the parameters of a constructor, and how many of them have no default.
    Overload = tuple[list[str], int]
    Classes = dict[str, list[Overload]]

_SINCE = (3, 10)
_BASES = {"simplewrapper", "wrapper"}
_SHOWN = b".simplewrapper"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: So many assignments are followed from a name.
_DEEP = 2
_CATCHING = {"TypeError", "Exception", "BaseException"}


class StubNumbers:
    """Looks for such calls in some modules of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        #: By name of a compiled module, the constructors of its classes.
        self._stubs = dict(_stubs(world)) if world.target.minor >= _SINCE else {}
        self._words = {name.partition(".")[0].encode() for name in self._stubs}

    def all(self, names: Iterable[str]) -> Iterator[Missing]:
        """The calls that raise ``TypeError`` when they are made."""
        for name in names if self._stubs else ():
            yield from self._of_module(name)

    def _of_module(self, name: str) -> Iterator[Missing]:
        """Those in one module, of classes of other distributions."""
        layout = self._world.layout
        place = layout.modules[name]
        text = self._world.store.text(name) if place.kind != "native" else b""
        tree = parsed(text) if any(word in text for word in self._words) else None
        imported = self._imported(tree) if tree else {}
        for call, scope in _calls(tree) if tree and imported else ():
            found = self._refused(call, scope, imported)
            if found and layout.owner(found[0]) != place.owner:
                module, kind, argument = found
                yield Missing(
                    place.owner, place.path, call.lineno, f"{module}.{kind}", layout.owner(module),
                    "float", "warning", LATER if scope is not tree else 0, module, "python<3.10", argument,
                )  # fmt: skip

    def _imported(self, tree: ast.AST) -> dict[str, str]:
        """By name in a file, the module or class of a stub that it names; names with a second meaning are out."""
        found: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update({one.asname: one.name for one in node.names if one.asname})
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.update(self._imported_from(node.module, node.names))
        bound = bound_in(tree)
        return {name: full for name, full in found.items() if name not in bound}

    def _imported_from(self, module: str, names: Sequence[ast.alias]) -> dict[str, str]:
        """By name, what an import from a module binds; a star binds the classes of its stub."""
        stars = self._stubs.get(module, {}) if any(one.name == "*" for one in names) else {}
        named = {one.asname or one.name: f"{module}.{one.name}" for one in names}
        return {**{name: f"{module}.{name}" for name in stars}, **named}

    def _refused(self, call: ast.Call, scope: ast.AST, imported: dict[str, str]) -> tuple[str, str, str] | None:
        """The module and class that refuse an argument of a call, and the argument."""
        root, path = chain(call.func) or ("", ())
        module, _, kind = ".".join((imported.get(root, root), *path)).rpartition(".")
        overloads = self._stubs.get(module, {}).get(kind, ())
        fitting = [taken for taken, needed in overloads if needed <= len(call.args) <= len(taken)]
        if not fitting or call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
            return None
        for at, argument in enumerate(call.args):
            if all(taken[at] == "int" for taken in fitting) and _is_float(argument, scope):
                return module, kind, ast.unparse(argument)
        return None


def _stubs(world: World) -> Iterator[tuple[str, Classes]]:
    """The compiled modules beside which there is such a stub, and their classes."""
    for name, module in world.layout.modules.items():
        path = os.path.join(os.path.dirname(module.path), f"{name.rpartition('.')[2]}.pyi")
        if module.kind == "native" and os.path.exists(path):
            with open(path, "rb") as file:
                text = file.read()
            tree = parsed(text) if _SHOWN in text else None
            if tree is None:
                continue
            kinds = [one for one in tree.body if isinstance(one, ast.ClassDef)]
            named = {one.name: one for one in kinds}
            yield name, {one.name: _constructors(one) for one in kinds if _is_bound(one, named)}


def _is_bound(kind: ast.ClassDef, named: dict[str, ast.ClassDef]) -> bool:
    """Whether a class is derived from those that the generator gives to all of its classes."""
    bases = [ast.unparse(one).strip("'\"").rpartition(".")[2] for one in kind.bases]
    return any(one in _BASES or (one != kind.name and one in named and _is_bound(named[one], named)) for one in bases)


def _constructors(kind: ast.ClassDef) -> list[Overload]:
    found = []
    for one in kind.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            taken = [*one.args.posonlyargs, *one.args.args][1:]
            words = [ast.unparse(each.annotation) if each.annotation else "" for each in taken]
            found.append((words, len(taken) - len(one.args.defaults)))
    return found


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Each call of a file, with the function around it or the file itself; not where ``TypeError`` is caught."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.Call):
            yield node, scope
        inner = node if isinstance(node, _FUNCTIONS) else scope
        skipped = node.body if isinstance(node, ast.Try) and _catches(node.handlers) else []
        waiting += [(child, inner) for child in ast.iter_child_nodes(node) if child not in skipped]


def _catches(handlers: Sequence[ast.ExceptHandler]) -> bool:
    return any(
        handler.type is None or not _CATCHING.isdisjoint(getattr(one, "id", "") for one in ast.walk(handler.type))
        for handler in handlers
    )


def _is_float(node: ast.expr, scope: ast.AST, depth: int = 0) -> bool:
    """Whether an expression is a float for sure, or something else that no integer is."""
    if isinstance(node, ast.UnaryOp):
        return _is_float(node.operand, scope, depth)
    if isinstance(node, ast.IfExp):
        return _is_float(node.body, scope, depth) and _is_float(node.orelse, scope, depth)
    if isinstance(node, ast.BinOp):
        return _is_float_operation(node, scope, depth)
    if isinstance(node, ast.Name):
        return _holds_float(node.id, scope, depth)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(getattr(node, "value", None), float) or getattr(called, "id", "") == "float"


def _is_float_operation(node: ast.BinOp, scope: ast.AST, depth: int) -> bool:
    """Whether an operation gives a float: a division, or a sum, difference or product with a float."""
    arithmetic = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
    sides = (_is_float(side, scope, depth) for side in (node.left, node.right))
    return isinstance(node.op, ast.Div) or (arithmetic and any(sides))


def _holds_float(name: str, scope: ast.AST, depth: int) -> bool:
    """Whether all that a function gives a name are floats."""
    given = _given(name, scope) if isinstance(scope, _FUNCTIONS) and depth < _DEEP else []
    return bool(given) and all(one is not None and _is_float(one, scope, depth + 1) for one in given)


def _given(name: str, function: ast.AST) -> list[ast.expr | None]:
    """What a function gives a name, once for each place; ``None`` where that is no plain assignment."""
    plain = {
        id(node.targets[0]): node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    taken = [node for node in ast.walk(function) if isinstance(node, ast.arg) and node.arg == name]
    stored = [
        plain.get(id(node))
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    return [*stored, *(None for _ in taken)]
