"""What is noted of a module while its source is read: the names that it binds, and what it takes from others."""

from __future__ import annotations

import ast
import sys
from typing import Any

from envdoctor.linker.branches import is_about_python, is_about_versions
from envdoctor.linker.makings import last
from envdoctor.linker.scopes import Scope, Use
from envdoctor.linker.standard_library import modules
from envdoctor.linker.summary import CONDITIONAL, IMPORTS, PROGRAM
from envdoctor.linker.syntax_trees import chain, only_reads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.branches import Target

#: From this version on annotations are not evaluated when a function is defined.
_LAZY_ANNOTATIONS = (3, 14)
#: So much is kept of what an exception says.
MOST_SAID = 160
#: What a method calls its object or class.
OWN = {("self", ()), ("cls", ())}
#: What a function calls a module that it is given.
_GIVEN = {("module", ()), ("mod", ())}


class ModuleRecord:
    """What is noted of one module while it is read. ``keep(module, path)`` says which references matter."""

    def __init__(
        self,
        module: str,
        target: Target,
        keep: Callable[[str, str, object], bool],
        *,
        package: bool = False,
        script: bool = False,
    ) -> None:
        self.module = module
        self.package = module if package else module.rpartition(".")[0]
        self.target = target
        self.script = script
        self.keep = keep
        self.scope = self.top = Scope("module")
        #: Names whose uses are read: those that imports may bind, and those of instances.
        self.roots: set[str] = set()
        self.flags = self.attempt = self.handler = self.attempts = self.branches = self.loops = 0
        self.around: dict[int, int] = {}
        self.sets: set[str] = set()
        self.known: dict[str, bool] = {}
        self.raised: list[Any] = []
        self.stand_ins: list[list[Any]] = []
        self.hints: set[str] = set()
        self.lazy_annotations = target.minor >= _LAZY_ANNOTATIONS
        #: Words whose uses as attributes of what no import binds are gathered: word, line, flags, handler.
        self.wanted: frozenset[str] = frozenset()
        self.of_anything: list[tuple[str, int, int, int]] = []
        self._begin()

    def _begin(self) -> None:
        """Begin with nothing of what a module has and does."""
        self.names: dict[str, Any] = {}
        self.stars: list[str] = []
        self.tables: dict[str, list[str]] = {}
        #: What the names of loops over literal texts go through.
        self.rounds: dict[str, list[str]] = {}
        #: Names of the module itself, of ``sys.modules[__name__]``.
        self.itself: set[str] = set()
        self.exported: list[str] | None = []
        self.dynamic: set[str] = set()
        self.loader = self.elsewhere = self.fills = self.fills_given = self.paths = self.checks = False
        self.provided: set[str] = set()
        self.stores: set[tuple[str, str]] = set()
        self.classes: list[list[Any]] = []
        self.class_numbers: dict[str, int] = {}
        self.functions: list[Any] = []
        self.top_functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.refs: dict[tuple[Any, ...], list[Any]] = {}
        #: What functions set on what they are given, ``*`` for any attribute, and the classes whose objects they get.
        self.setting: dict[str, set[str]] = {}
        self.set_by: list[tuple[str, list[Any]]] = []

    # --- names ------------------------------------------------------------------------------------------------------

    def bind_name(self, name: str, value: Any = 0) -> None:
        """Give a name a value in the current scope."""
        scope = self.scope
        if name in scope.outer:
            scope = self.top
        if not (self.handler and scope.imports.get(name)):  # a stand-in for an import that failed
            scope.bind(name)
        self._value(scope, name, value)

    def _value(self, scope: Scope, name: str, value: Any) -> None:
        if scope is self.top:
            before = self.names.get(name, value)
            self.names[name] = value if before == value else 0
        elif scope.kind == "class":
            scope.record[1].add(name)

    def bind_import(self, name: str, module: str, path: str) -> None:
        """Bind a name to a module, or to something that is imported from it."""
        scope = self.top if name in self.scope.outer else self.scope
        self.roots.add(name)
        scope.imports.setdefault(name, []).append((module, path))
        scope.tried.setdefault(name, []).append((self.attempt, self.handler))
        self._value(scope, name, ["i", module, path])

    def imported(self, node: ast.ImportFrom) -> str:
        """The full name of the module that a statement imports names from."""
        parts = self.package.split(".")
        base = parts[: len(parts) - node.level + 1] if node.level else []
        return ".".join([*base, *([node.module] if node.module else [])])

    def of_sys(self, node: ast.expr) -> tuple[str, ...]:
        """The attributes of the module ``sys`` that an expression names, whatever it is imported as; else nothing."""
        root, path = chain(node) or ("", ())
        return path if root == "sys" or ("sys", "") in self.top.imports.get(root, ()) else ()

    def is_in_modules(self, node: ast.expr) -> bool:
        """Whether something is an entry of ``sys.modules``."""
        return isinstance(node, ast.Subscript) and self.of_sys(node.value) == ("modules",)

    def is_itself(self, node: ast.expr) -> bool:
        """Whether something is ``sys.modules[__name__]``, the module that is read."""
        return self.is_in_modules(node) and getattr(getattr(node, "slice", None), "id", "") == "__name__"

    def stored(self, thing: ast.expr, name: str | None) -> None:
        """Take note of an attribute that is set on something; ``None`` for any."""
        found = chain(thing)
        if found in OWN and self.scope.record:
            self.scope.record[1].add(name or "*")
        elif self.is_itself(thing) or (found is not None and found[0] in self.itself and not found[1]):
            self.own(name, "it sets attributes of itself in sys.modules")
        elif found is not None:
            self.scope.pending.append(Use(found[0], (*found[1], name or "*"), 0, self.flags, store=True))
            if self.scope.kind == "function":
                self._stored_in_function(found, name)
        else:
            self.fills |= self.is_in_modules(thing)

    def _stored_in_function(self, found: tuple[str, tuple[str, ...]], name: str | None) -> None:
        """Take note of what a function sets on what it may have been given."""
        self.fills_given |= name is None and found in _GIVEN
        if not found[1]:
            self.scope.sets.add(name or "*")

    def filled(self) -> None:
        """Add what functions set on the objects that they are given to what the classes of these have.

        What a function of another module sets, but for Python's own, is not known.
        """
        for function, record in self.set_by:
            origins = self.top.imports.get(function, ())
            others = [path for module, path in origins if path and module.partition(".")[0] not in modules()]
            record[1] |= self.setting.get(function, set()).union("*" for path in others if not path[0].isupper())

    def own(self, name: str | None, reason: str) -> None:
        """Take note of a name that the module gives itself; ``None`` for any name, with the reason."""
        if name is None:
            self.dynamic.add(reason)
        else:
            self._value(self.top, name, 0)

    def gains(self, whole: ast.expr, key: object) -> None:
        """Take note of a key that a dictionary gets for sure, before it may be unpacked into a call."""
        if isinstance(whole, ast.Name) and isinstance(key, str) and not self.branches:
            self.scope.keys.setdefault(whole.id, []).append(key)

    def stands_in(self, statements: Sequence[ast.stmt], test: ast.expr) -> None:
        """Take note of what is imported because the version of Python asks for it, and nothing else decides."""
        if self.scope is not self.top or self.flags or self.attempt or self.handler or not is_about_python(test):
            return
        for node in statements:
            if isinstance(node, ast.Import):
                self.stand_ins += [[one.name, node.lineno] for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.stand_ins.append([node.module, node.lineno])

    def refuses(self, node: ast.stmt) -> None:
        """Take note of an exception that importing the module raises for sure, and of what it says."""
        if not isinstance(node, ast.Raise) or self.scope is not self.top:
            return
        self.checks = True
        if node.exc is None:
            return
        if not (self.flags or self.attempt or self.handler or self.loops or self.raised):
            self.raised = raised_by(node, node.exc)

    def given_away(self, node: ast.expr, taker: str = "") -> None:
        """Take note of ``globals()``, ``vars()`` or ``locals()`` where somebody gets them who may add names.

        ``taker`` is the name of who gets them, if there is one: a function of the module may only read them.
        """
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.args:
            return
        if taker in self.top_functions and only_reads(self.top_functions[taker]):
            return
        name = node.func.id
        if name == "globals" or (name in {"vars", "locals"} and self.scope.kind == "module"):
            self.dynamic.add("it gives globals() away")
        elif name in {"vars", "locals"} and self.scope.kind == "class":
            self.scope.record[2] = True

    def reference(self, module: str, path: str, line: int, flags: int, top: str = "") -> None:
        """Keep what the module imports from another; ``top`` is the package that the import of a submodule binds."""
        use = Use(top, (), line, self.flags | flags, self.attempt, self.handler)
        if top and self.scope.kind == "function" and top != self.module.partition(".")[0]:
            self.scope.imported.append((use, module, path))
        else:
            self.keep_use(use, module, path, 0)

    def keep_use(self, use: Use, module: str, path: str, own: int) -> None:
        """Keep a use that is resolved to a module and a path, where it matters."""
        if use.flags & IMPORTS or self.keep(module, path, use.call):
            module, path = sys.intern(module), sys.intern(path)
            key = (module, path, use.flags, use.attempt, use.handler, str(use.call))
            self.refs.setdefault(key, [module, path, use.line, use.flags, use.attempt, use.handler, own, use.call])

    def base(self, base: tuple[str, tuple[str, ...]] | None) -> Any:
        """A base class as a value: a number of a class here, a module and path, ``None`` where it is not known."""
        if base is None:
            return None
        root, path = base
        if root in self.class_numbers and not path:
            return self.class_numbers[root]
        origins = self.top.imports.get(root, [])
        if len(set(origins)) == 1 and root not in self.top.bound:
            return [origins[0][0], ".".join(filter(None, (origins[0][1], *path)))]
        return ["builtins", root] if root not in self.names and not path else None

    def conditional(self, test: ast.expr) -> int:
        """The flags behind an undecided condition: in a function, only one that asks what is installed counts.

        What a script does only where it is the program, or was given an option, is reached all the same.
        """
        if self.script and self.scope.kind != "function":
            return CONDITIONAL if is_about_versions(test) and not _is_main(test) else PROGRAM
        return CONDITIONAL if self.scope.kind != "function" or is_about_versions(test) else 0


def raised_by(node: ast.stmt, error: ast.expr) -> list[Any]:
    """The line of an exception, its name and what it says."""
    name = last(error.func if isinstance(error, ast.Call) else error) or ""
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    message = "".join(text for text in texts if isinstance(text, str))
    return [node.lineno, name, " ".join(f"{name}: {message}".split())[:MOST_SAID]]


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
