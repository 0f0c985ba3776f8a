"""Checks that modules make themselves when they are imported: of an installed release, of Python, of a library.

The code at the top of a module is followed as far as values are known, with the functions that it calls. What is raised
under a condition that surely holds refuses the import.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.linker import operations, release_values
from envdoctor.linker.branches import holds, is_about_python
from envdoctor.linker.checked_values import Releases
from envdoctor.linker.evaluation import UNKNOWN, Function, Namespace, Raised, Returned, Taken, Undecided
from envdoctor.linker.module_record import MOST_SAID, raised_by
from envdoctor.linker.reach import ENTRY, SUBMODULE, severity_of
from envdoctor.linker.summary import CATCHES_ALL, CATCHES_SYNTAX, caught
from envdoctor.linker.syntax_trees import changed_later, walked
from envdoctor.linker.verdicts import Missing
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import NoReturn

    from envdoctor.linker.binaries import Binaries
    from envdoctor.linker.checked_values import Compared
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.world import World

_IMPORTS = (ast.Import, ast.ImportFrom)
#: What source has that asks for a release, for Python's, or for a library.
_ASKS = re.compile(rb"_version__|VERSION|version_info|\bversion\(|get_distribution|distribution\(|find_library")
#: Statements that end a way.
_ENDING = (ast.Raise, ast.Break, ast.Continue)


class Refused(Raised):
    """An exception that the code raises itself, with the statement."""

    def __init__(
        self, name: str, node: ast.stmt, error: ast.expr | None, compared: Compared | None, *, absent: bool = False
    ) -> None:
        super().__init__(name, absent=absent)
        self.compared = compared
        self.line, self.message = node.lineno, (raised_by(node, error)[2] if error is not None else name)


class _Jump(Exception):  # noqa: N818 - it never leaves a loop
    """A ``break`` or a ``continue``, which is its argument."""


class OwnChecks(Releases):
    """Follows what reached modules check; ``natives`` knows which shared libraries the system has."""

    def __init__(self, world: World, reach: Reach, natives: Binaries | None = None) -> None:
        super().__init__(world, natives)
        self._checking = world.resolver.run_time.checking
        self._reach = reach
        self._top: Namespace | None = None
        self._handled: list[Raised] = []
        #: By file of a module that refuses to be imported, the line where it ends.
        self.ends: dict[str, int] = {}
        self._within = 0
        self._body: list[ast.stmt] = []

    def all(self, names: Iterable[str], known: Iterable[Missing] = ()) -> Iterator[Missing]:
        """What some modules refuse to be imported with, but for those that are ``known`` to refuse it."""
        refused = {one.module for one in known if one.kind == "refused"}
        reached = {*names} - refused
        for name in [one for one in self._checking if one in reached and not self._layout.is_aside(one)]:
            ways = self._reach.ways.get(name, [])
            if severity_of(ways, 0, 0)[0] in {"error", "warning"}:
                yield from self._refusal(name, ways)

    def refuses(self, module: str, function: str, name: str, value: Any) -> Refused | None:
        """The exception that a function surely raises, called with something unknown, a name and a value."""
        return self.refusal(Taken(module, function), [UNKNOWN, name, value], {})

    def defined(self, module: str, node: ast.FunctionDef) -> Function:
        """A function of a module, or a method that knows nothing of its object."""
        return Function(node, self._module(module))

    def refusal(self, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Refused | None:
        """The exception that a function surely raises, called with values each of which may be unknown."""
        self.make_room()
        self._steps, self._top = 0, None
        try:
            self.call(function, given, named)
        except Refused as error:
            return error
        except (Raised, Undecided, _Jump, RecursionError):
            return None
        return None

    def _refusal(self, name: str, ways: list[int]) -> Iterator[Missing]:
        place, error = self._layout.modules[name], self._raised(name)
        if error is None:
            return
        severity, way = severity_of(ways, 0, caught(error.name) & CATCHES_ALL or CATCHES_SYNTAX)
        provider, wanted = self._provider(error.compared)
        if severity not in {"error", "warning"} or provider in {None, place.owner}:
            return
        self.ends[place.path] = error.line
        optional = error.absent or (self.lacking and way & SUBMODULE)  # a choice not to install that, or not to use it
        if optional and severity == "warning" and not way & ENTRY:
            return
        where = (place.owner, place.path, error.line)
        if self.lacking:
            yield Missing(*where, f"lib{self.lacking}.so", "", "library", severity, way, name, "", place.path)
        else:
            asked = f"{provider or 'python'}{wanted}"
            yield Missing(*where, asked, str(provider), "check", severity, way, name, wanted, error.message)

    def _raised(self, name: str) -> Refused | None:
        """The exception that importing a module surely raises, as its code says."""
        text = self._store.text(name)
        return self._run_top(name, (parsed(text) if _ASKS.search(text) else None) or ast.Module([], []))[1]

    def followed(self, name: str) -> Namespace:
        """The names of a module, with their values as far as its code at the top can be followed."""
        return self._run_top(name, parsed(self._store.text(name)) or ast.Module([], []))[0]

    def _run_top(self, name: str, tree: ast.Module) -> tuple[Namespace, Refused | None]:
        """Follow the code at the top of a module, and return its names with the exception that it surely raises."""
        self.make_room()
        self._top = scope = Namespace(name)
        package = name if self._layout.modules[name].kind == "package" else name.rpartition(".")[0]
        scope.names.update(__name__=name, __package__=package)
        scope.later = changed_later(tree) if b"global " in self._store.text(name) else set()
        self._steps, self._within, self.compared, self.lacking = 0, 0, None, ""
        self.origins.clear()
        self._body = tree.body
        try:
            self.run(tree.body, scope)
        except Refused as error:
            return scope, error
        except (Raised, Undecided, _Jump, RecursionError):
            pass
        return scope, None

    def _provider(self, compared: Compared | None) -> tuple[str | None, str]:
        """The distribution whose release was compared, nothing for Python, and the specifier that was asked for.

        ``None`` where nothing of that was compared.
        """
        if self.lacking:
            return "", ""
        if compared is None or len(compared) == 1:
            return None if compared is None else "", ""
        left, kind, right, held = compared
        some = [release_values.numbers_of(one) for one in (left, right)]
        for provider, version in reversed(self.asked_releases.items()):
            whole = release_values.numbers_of(version)
            if any(whole[: len(one)] == one for one in some):
                return provider, release_values.wanted(version, left, kind, right, held=held)
        if self.target.minor not in some:
            return None, ""
        return "", release_values.wanted(".".join(map(str, self.target.minor)), left, kind, right, held=held)

    # --- statements -------------------------------------------------------------------------------------------------

    def run(self, body: Sequence[ast.stmt], scope: Namespace) -> Returned | None:
        """Follow statements; at the top, one that cannot be followed leaves unknown what it binds."""
        if scope is not self._top:
            return super().run(body, scope)
        for node in body:
            self.compared = None if body is self._body else self.compared
            try:
                ended = super().run([node], scope)
            except Undecided:
                if self._within or (
                    isinstance(node, ast.Try) and any(isinstance(one, _IMPORTS) for one in walked(node))
                ):
                    raise
                ended = self._forget(node, scope)
            if ended is not None:
                return ended
        return None

    def _fill_module(self, tree: ast.Module, scope: Namespace) -> None:
        kept, self._top = self._top, None
        compared, lacking = self.compared, self.lacking
        try:
            super()._fill_module(tree, scope)
        except (Raised, _Jump):
            scope.names = dict.fromkeys(scope.names, UNKNOWN)
        self._top, self.compared, self.lacking = kept, compared, lacking

    def _is_followed(self, scope: Namespace) -> bool:
        """Whether statements of a scope are run: at the top of the module that is asked, and in functions."""
        return scope is self._top or scope.parent is not None

    def _raise(self, node: ast.Raise, scope: Namespace) -> Returned:
        if not self._is_followed(scope):
            return super()._raise(node, scope)
        if node.exc is None:
            raise self._handled[-1] if self._handled else Undecided
        called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = ast.unparse(called).rpartition(".")[2]
        if not name[:1].isupper():
            raise Undecided
        error = Refused(name, node, node.exc, self.compared, absent=any(one.absent for one in self._handled))
        named = [one.id for one in getattr(node.exc, "args", ()) if isinstance(one, ast.Name)]
        texts = [text for text in (self._lookup(one, scope) for one in named) if isinstance(text, str)]
        error.message = " ".join([error.message, *texts])[:MOST_SAID]
        raise error

    def _assert(self, node: Any, scope: Namespace) -> None:
        if self._is_followed(scope) and self.decided(node.test, scope) is False:
            raise Refused("AssertionError", node, node.msg, self.compared)

    def _jump(self, node: Any, _scope: Namespace) -> Returned:
        raise _Jump(node)

    def _if(self, node: ast.If, scope: Namespace) -> Returned | None:
        if scope is not self._top:
            is_open = node.orelse and self._is_followed(scope) and self.decided(node.test, scope) is None
            if is_open:
                self._either(node, scope)
            return super()._if(node, scope)
        held = self.decided(node.test, scope)
        if held is not None:
            return self.run(node.body if held else node.orelse, scope)
        if self._within and any(isinstance(one, _ENDING) for one in ast.walk(node)):
            raise Undecided
        self._both(node, scope)
        return None

    def _both(self, node: ast.If, scope: Namespace) -> None:
        """Follow both branches of a condition at the top that is not known, and keep what they have in common."""
        before, state = dict(scope.names), (self.compared, self.lacking)
        for branch in (node.body, node.orelse):
            kept, scope.names = scope.names, dict(before)
            try:
                self.run(branch, scope)
            except (Raised, _Jump):
                scope.names = kept
            else:
                scope.names = scope.names if kept is before else _common(kept, scope.names)
        self.compared, self.lacking = state

    def _either(self, node: ast.If, scope: Namespace) -> NoReturn:
        """Follow both branches of a condition that is not known, for what each of them raises itself."""
        errors, before = [], dict(scope.names)
        for branch in (node.body, node.orelse):
            try:
                self.run(branch, scope)
            except Refused as error:
                errors.append(error)
            except (Raised, _Jump):
                raise Undecided from None  # it is not known that this branch is taken
            scope.names = dict(before)
        raise errors[0] if errors[1:] else Undecided

    def decided(self, test: ast.expr, scope: Namespace) -> bool | None:
        """Whether a condition holds; ``None`` where that is not known."""
        if not self._is_followed(scope):
            return super().decided(test, scope)
        self.compared = None
        held = super().decided(test, scope)
        if self.compared is None:
            origins = (self.origins.get(one.id) for one in ast.walk(test) if isinstance(one, ast.Name))
            python = ("python",) if is_about_python(test) and holds(test, self.target, {}) is not None else None
            self.compared = next(filter(None, origins), python)
        return held

    def _assign(self, node: ast.Assign | ast.AnnAssign, scope: Namespace) -> None:
        before, self.compared = self.compared, None
        super()._assign(node, scope)
        if self.compared is not None and isinstance(node, ast.Assign):
            self.origins.update({one.id: self.compared for one in node.targets if isinstance(one, ast.Name)})
        self.compared = before

    def _try(self, node: ast.Try, scope: Namespace) -> Returned | None:
        if not self._is_followed(scope):
            return super()._try(node, scope)
        self._within += 1
        try:
            ended = self.run(node.body, scope)
        except Raised as error:
            handlers = [one for one in node.handlers if operations.catches(one.type, error.name)]
            if not handlers:
                raise
            ended = self._handle(handlers[0], error, scope)
        else:
            for handler in node.handlers if scope is self._top else ():
                self._forget(handler, scope)
            ended = ended or self.run(node.orelse, scope)
        finally:
            self._within -= 1
        return ended or self.run(node.finalbody, scope)

    def _handle(self, handler: ast.ExceptHandler, error: Raised, scope: Namespace) -> Returned | None:
        self._handled.append(error)
        self.compared = None
        scope.names.update({handler.name: UNKNOWN} if handler.name else {})
        try:
            return self.run(handler.body, scope)
        finally:
            self._handled.pop()

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Namespace) -> None:
        if self._is_followed(scope) and (self._within or scope.parent is not None):
            origin = ""
            if isinstance(node, ast.ImportFrom):
                origin = operations.absolute(node.module or "", node.level, self._lookup("__package__", scope))
            for one in node.names:
                asked = (origin, one.name) if origin else (one.name, "")
                found = self._names.offers(*asked) if one.name != "*" else self._names.module(origin)
                if found.verdict is False:
                    name = "ModuleNotFoundError" if found.why in {"absent", "module"} else "ImportError"
                    raise Raised(name, absent=found.why == "absent")
                if found.verdict is None:
                    raise Undecided
        super()._import(node, scope)

    def _with(self, node: ast.With, scope: Namespace) -> Returned | None:
        try:
            return super()._with(node, scope)
        except Raised:
            raise Undecided from None  # which may be caught there

    def _for(self, node: ast.For, scope: Namespace) -> Returned | None:
        if not self._is_followed(scope):
            return super()._for(node, scope)
        values = self.value(self.tried(node.iter, scope))
        if not isinstance(values, (list, dict)) and type(values) is not tuple:
            raise Undecided
        self._within += 1
        try:
            for value in list(values):
                self.bind(node.target, value, scope)
                ended = self._round(node.body, scope)
                if ended is not None:
                    return ended if isinstance(ended, Returned) else None
        finally:
            self._within -= 1
        return self.run(node.orelse, scope)

    def _round(self, body: Sequence[ast.stmt], scope: Namespace) -> Returned | _Jump | None:
        """One round of a loop; a jump where it ends the loop."""
        try:
            return self.run(body, scope)
        except _Jump as jump:
            return jump if isinstance(jump.args[0], ast.Break) else None

    def _effect(self, node: ast.Expr, scope: Namespace) -> None:
        if scope is self._top and isinstance(node.value, ast.Call):
            function = self.tried(node.value.func, scope)
            if isinstance(function, (Taken, Function)):
                self.evaluate(node.value, scope)
        super()._effect(node, scope)


def _common(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The names of two ways, unknown where they differ."""
    return {name: one[name] if name in one and one[name] is other.get(name) else UNKNOWN for name in {**one, **other}}
