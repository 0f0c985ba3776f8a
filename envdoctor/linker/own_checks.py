"""Checks that modules make themselves when they are imported: of an installed release, of Python, of a library.

The code at the top of a module is followed as far as values are known, with the functions that it calls. What is raised
under a condition that surely holds refuses the import.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from envdoctor.engine.installed_requirements import normalise
from envdoctor.linker import operations, releases
from envdoctor.linker.branches import holds, is_about_python, known_value
from envdoctor.linker.hooks import parsed
from envdoctor.linker.missing import Missing, severity_of
from envdoctor.linker.module_files import is_aside
from envdoctor.linker.module_getattr import Evaluator, changed_later
from envdoctor.linker.module_reader import raised_by
from envdoctor.linker.operations import UNKNOWN, Builtin, Function, Namespace, Raised, Returned, Taken, Undecided
from envdoctor.linker.releases import Installed, Release
from envdoctor.linker.summary import CATCHES_ALL, CATCHES_SYNTAX, caught

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.binaries import Binaries
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.world import World

_VERSIONS = {"__version__", "VERSION", "version", "version_info", "__version_info__"}
_METADATA = {"importlib.metadata.version", "importlib_metadata.version"}
_DISTRIBUTION = {"pkg_resources.get_distribution", "importlib.metadata.distribution", "importlib_metadata.distribution"}

#: Statements that end a way.
_ENDING = (ast.Raise, ast.Break, ast.Continue)


class _Refused(Raised):
    """An exception that the code raises itself, with the statement."""

    def __init__(self, name: str, node: ast.stmt, error: ast.expr | None) -> None:
        super().__init__(name)
        self.line, self.said = node.lineno, (raised_by(node, error)[2] if error is not None else name)


class _Jump(Exception):  # noqa: N818 - it never leaves a loop
    """A ``break`` or a ``continue``, which is its argument."""


class OwnChecks(Evaluator):
    """Follows what reached modules check; ``natives`` knows which shared libraries the system has."""

    def __init__(self, world: World, reach: Reach, natives: Binaries | None = None) -> None:
        super().__init__(world.layout, world.store, world.resolver)
        self._target = world.target
        self._reach = reach
        self._natives = natives if world.target.system == "linux" else None
        self._top: Namespace | None = None
        self._handled: list[Raised] = []
        self._within = 0
        self._told: dict[str, str] = {}
        self._compared: tuple[Any, ...] | None = None
        self._lacking = ""

    def all(self, names: Iterable[str], known: Iterable[Missing] = ()) -> Iterator[Missing]:
        """What some modules refuse to be imported with, but for those that are ``known`` to refuse it."""
        refused = {one.module for one in known if one.kind == "refused"}
        for name in [one for one in names if one not in refused]:
            if self.resolver.take_note(name).get("checks") and not is_aside(name):
                ways = self._reach.ways.get(name, [])
                if severity_of(ways, 0, 0)[0] in {"error", "warning"}:
                    yield from self._refusal(name, ways)

    def _refusal(self, name: str, ways: list[int]) -> Iterator[Missing]:
        place, error = self._layout.modules[name], self._raised(name)
        if error is None:
            return
        severity, way = severity_of(ways, 0, caught(error.name) & CATCHES_ALL or CATCHES_SYNTAX)
        provider, wanted = self._provider()
        if severity not in {"error", "warning"} or provider in {None, place.owner}:
            return
        said = (place.owner, place.path, error.line)
        if self._lacking:
            yield Missing(*said, f"lib{self._lacking}.so", "", "library", severity, way, name, "", place.path)
        else:
            asked = f"{provider or 'python'}{wanted}"
            yield Missing(*said, asked, str(provider), "check", severity, way, name, wanted, error.said)

    def _raised(self, name: str) -> _Refused | None:
        """The exception that importing a module surely raises, as its code says."""
        tree = parsed(self._store.text(name)) or ast.Module([], [])
        self._top = scope = Namespace(name)
        package = name if self._layout.modules[name].kind == "package" else name.rpartition(".")[0]
        scope.names.update(__name__=name, __package__=package)
        scope.later = changed_later(tree)
        self._steps, self._within, self._compared, self._lacking = 0, 0, None, ""
        try:
            self.run(tree.body, scope)
        except _Refused as error:
            return error
        except (Raised, Undecided, _Jump, RecursionError):
            return None
        return None

    def _provider(self) -> tuple[str | None, str]:
        """The distribution whose release was compared last, nothing for Python, and the specifier that was asked for.

        ``None`` where nothing of that was compared.
        """
        if self._lacking:
            return "", ""
        if self._compared is None or len(self._compared) == 1:
            return None if self._compared is None else "", ""
        left, kind, right, held = self._compared
        some = [releases.numbers_of(one) for one in (left, right)]
        for provider, version in reversed(self._told.items()):
            whole = releases.numbers_of(version)
            if any(whole[: len(one)] == one for one in some):
                return provider, releases.wanted(version, left, kind, right, held=held)
        if self._target.minor not in some:
            return None, ""
        return "", releases.wanted(".".join(map(str, self._target.minor)), left, kind, right, held=held)

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """The value as it is followed; of a name of a version what the module says, or else the metadata."""
        found = super().value(value)
        return self._version(value, found) if isinstance(value, Taken) and value.name in _VERSIONS else found

    def _version(self, taken: Taken, found: Any) -> Any:
        owner = self._layout.owner(taken.module)
        version = self._layout.versions.get(owner, "")
        if version and operations.is_unknown(found):
            found = version if "." not in taken.module and taken.name == "__version__" else UNKNOWN
        numbers = releases.numbers_of(found)
        if version and numbers:
            self._tell(owner, found if isinstance(found, str) else ".".join(map(str, numbers)))
        return found

    def inside(self, whole: Any, name: str) -> Any:
        """An attribute; of a module's version, the value."""
        if isinstance(whole, (Release, Installed)):
            return whole.attribute(name)
        if isinstance(whole, Taken) and not whole.name and name in _VERSIONS:
            found = self.value(Taken(whole.module, name))
            return UNKNOWN if operations.is_unknown(found) else found
        if isinstance(whole, Taken) and whole.module in {"sys", "os"} and not whole.name:
            told = known_value(ast.Attribute(ast.Name(whole.module), name), self._target)
            return UNKNOWN if told is None else told
        return super().inside(whole, name)

    def _lookup(self, name: str, scope: Namespace) -> Any:
        found = super()._lookup(name, scope)
        is_python = found is UNKNOWN and name in releases.BUILTIN and not self._is_bound(name, scope)
        return Builtin(name) if is_python else found

    @staticmethod
    def _is_bound(name: str, scope: Namespace) -> bool:
        inner: Namespace | None = scope
        while inner is not None and name not in inner.names:
            inner = inner.parent
        return inner is not None

    # --- statements -------------------------------------------------------------------------------------------------

    def run(self, body: Sequence[ast.stmt], scope: Namespace) -> Returned | None:
        """Follow statements; at the top, one that cannot be followed leaves unknown what it binds."""
        if scope is not self._top:
            return super().run(body, scope)
        for node in body:
            try:
                ended = super().run([node], scope)
            except Undecided:
                if self._within:
                    raise
                ended = self._forget(node, scope)
            if ended is not None:
                return ended
        return None

    def _fill_module(self, tree: ast.Module, scope: Namespace) -> None:
        kept, self._top = self._top, None
        told, lacking = self._compared, self._lacking
        try:
            super()._fill_module(tree, scope)
        except (Raised, _Jump):
            scope.names = dict.fromkeys(scope.names, UNKNOWN)
        self._top, self._compared, self._lacking = kept, told, lacking

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
        raise _Refused(name, node, node.exc)

    def _assert(self, node: Any, scope: Namespace) -> None:
        if self._is_followed(scope) and self.decided(node.test, scope) is False:
            raise _Refused("AssertionError", node, node.msg)

    def _jump(self, node: Any, _scope: Namespace) -> Returned:
        raise _Jump(node)

    def _if(self, node: ast.If, scope: Namespace) -> Returned | None:
        if scope is not self._top:
            return super()._if(node, scope)
        held = self.decided(node.test, scope)
        if held is not None:
            return self.run(node.body if held else node.orelse, scope)
        if self._within and any(isinstance(one, _ENDING) for one in ast.walk(node)):
            raise Undecided
        before, told = dict(scope.names), (self._compared, self._lacking)
        for branch in (node.body, node.orelse):
            kept, scope.names = scope.names, dict(before)
            try:
                self.run(branch, scope)
            except (Raised, _Jump):
                scope.names = kept
            else:
                scope.names = scope.names if kept is before else _common(kept, scope.names)
        self._compared, self._lacking = told
        return None

    def decided(self, test: ast.expr, scope: Namespace) -> bool | None:
        """Whether a condition holds; ``None`` where that is not known."""
        held = holds(test, self._target, {}) if self._is_followed(scope) else None
        if held is not None and is_about_python(test):
            self._compared = ("python",)
        return super().decided(test, scope)

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
                found = self.resolver.offers(*asked) if one.name != "*" else self.resolver.module(origin)
                if found.verdict is False:
                    raise Raised("ModuleNotFoundError" if found.why in {"absent", "module"} else "ImportError")
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

    # --- expressions ------------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, scope: Namespace) -> Any:
        """The value of an expression; besides what others follow, comparisons of versions and parts of texts."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(node, scope)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._slice(node, node.slice, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self.evaluate(node.operand, scope)
            return -number if isinstance(number, int) else UNKNOWN
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            told = known_value(node, self._target)
            if told is not None:
                return told
        if isinstance(node, ast.Attribute) and node.attr in releases.OF_TEXT:
            whole = self.value(self.evaluate(node.value, scope))
            return Builtin(node.attr, whole) if isinstance(whole, str) else UNKNOWN
        return super().evaluate(node, scope)

    def _compare(self, node: ast.Compare, scope: Namespace) -> Any:
        left, right = (self.value(self.evaluate(one, scope)) for one in (node.left, node.comparators[0]))
        held = releases.ordered(left, node.ops[0], right)
        if held is UNKNOWN:
            return super().evaluate(node, scope)
        if releases.numbers_of(left) and releases.numbers_of(right):
            self._compared = (left, node.ops[0], right, held)
        return held

    def _slice(self, node: ast.Subscript, cut: ast.Slice, scope: Namespace) -> Any:
        told = known_value(node, self._target)
        if told is not None:
            return told
        whole = self.value(self.evaluate(node.value, scope))
        ends = [None if one is None else self.evaluate(one, scope) for one in (cut.lower, cut.upper, cut.step)]
        fits = isinstance(whole, (str, list)) or type(whole) is tuple
        return whole[slice(*ends)] if fits and all(one is None or isinstance(one, int) for one in ends) else UNKNOWN

    def call(self, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The value that a function returns, those known that tell of releases."""
        dotted = ".".join(filter(None, function)) if isinstance(function, Taken) else ""
        known = [self.value(one) for one in given]
        told = self._asked(dotted, known[0]) if dotted and known and isinstance(known[0], str) else []
        if told:
            return told[0]
        if isinstance(function, Builtin) and not named:
            found = self._mapped(known) if function.name == "map" else releases.builtin(function, known)
            if found is not None:
                return found
        return super().call(function, given, named)

    def _asked(self, dotted: str, text: str) -> list[Any]:
        """What a function of metadata, versions or libraries tells of a text, as a list of one; of others nothing."""
        if releases.makes_release(dotted):
            return [Release(text)]
        if dotted in _METADATA | _DISTRIBUTION:
            name = normalise(text)
            version = self._layout.versions.get(name)
            if not version:
                raise Undecided
            self._tell(name, version)
            return [version if dotted in _METADATA else Installed(version)]
        if dotted == "ctypes.util.find_library":
            lacks = self._natives is not None and self._natives.machine.has(text) is False
            self._lacking = self._lacking or (text if lacks else "")
            return [None if lacks else f"lib{text}.so"]
        return []

    def _tell(self, owner: str, version: str) -> None:
        """Take note of a release that was asked for, as the last one."""
        self._told.pop(owner, None)
        self._told[owner] = version

    def _mapped(self, known: Sequence[Any]) -> Any:
        """The values that ``map`` gives, as a list."""
        rows = known[1] if len(known) == len(("function", "values")) else None
        return [self.call(known[0], [one], {}) for one in rows] if isinstance(rows, (list, tuple)) else UNKNOWN


def _common(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The names of two ways, unknown where they differ."""
    return {name: one[name] if name in one and one[name] is other.get(name) else UNKNOWN for name in {**one, **other}}
