"""The public names of a distribution, from the source of its modules. Nothing is executed.

A name is ``module``, ``module.name``, ``module.Class.attribute``, or either of the latter with ``:parameter`` for what
may be passed by keyword. Where a scope may have names that its source does not show, it has one more, ``*``: a module
with an unresolved ``__getattr__``, a class with a base from another distribution or a ``__getattr__`` that asks another
object, a function that takes ``**keywords``. What a class of the standard library has, its heirs have. What a private
module defines is listed under the shortest public name that it has.
"""

from __future__ import annotations

import ast
import functools

from envdoctor.linker.standard_library import class_of, source_of
from envdoctor.linker.tables import delegates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: Bases without attributes whose removal is recorded.
_CLOSED_BASES = frozenset({
    "object", "type", "str", "bytes", "int", "float", "dict", "list", "tuple", "set", "frozenset", "ABC", "Generic",
    "Protocol", "NamedTuple", "TypedDict", "Enum", "IntEnum", "BaseException", "Exception", "ArithmeticError",
    "AttributeError", "ImportError", "KeyError", "LookupError", "NotImplementedError", "OSError", "RuntimeError",
    "TypeError", "ValueError", "Warning", "DeprecationWarning", "FutureWarning", "UserWarning",
})  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: How often a name is followed from module to module.
_DEPTH = 8


class ModuleSurface:
    """The names of one module: its own, those that it imports, and its classes."""

    def __init__(self, name: str, source: str | bytes, *, package: bool) -> None:
        """Read a module. Raises :class:`SyntaxError`, :class:`ValueError` or :class:`RecursionError`."""
        self.name = name
        self.package = package
        self.names: set[str] = set()
        self.parts: dict[str, set[str]] = {}  # of classes their attributes, of functions their parameters after ":"
        self.bases: dict[str, list[str]] = {}
        self.taken: dict[str, str] = {}  # name -> dotted origin
        self.stars: list[str] = []
        self.exported: list[str] | None = None
        self._body(ast.parse(source).body)

    def _body(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, _FUNCTIONS):
                self.names.add(statement.name)
                self.parts.setdefault(statement.name, set()).update(_parameters(statement))
            elif isinstance(statement, ast.ClassDef):
                self._class(statement)
            elif isinstance(statement, ast.ImportFrom):
                self._taken(statement)
            elif isinstance(statement, ast.Import):
                self.taken.update((one.asname, one.name) for one in statement.names if one.asname)
            else:
                self._other(statement)

    def _other(self, statement: ast.stmt) -> None:
        """An assignment, or a statement whose blocks bind names too."""
        for name in _bound(statement):
            self.names.add(name)
        if "__all__" in self.names:
            self._exports(statement)
        if _writes_globals(statement):
            self.names.add("*")
        for block in _blocks(statement):
            self._body(block)

    def _exports(self, statement: ast.stmt) -> None:
        value = getattr(statement, "value", None)
        if isinstance(value, (ast.List, ast.Tuple)) and "__all__" in _bound(statement):
            words = [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            self.exported = [*(self.exported or []), *words]

    def _taken(self, statement: ast.ImportFrom) -> None:
        origin = statement.module or ""
        if statement.level:
            path = self.name.split(".") if self.package else self.name.split(".")[:-1]
            path = path[: len(path) - statement.level + 1]
            origin = ".".join([*path, *([origin] if origin else [])])
        for one in statement.names:
            if one.name == "*":
                self.stars.append(origin)
            else:
                self.taken[one.asname or one.name] = f"{origin}.{one.name}"

    def _class(self, statement: ast.ClassDef) -> None:
        self.names.add(statement.name)
        found = self.parts.setdefault(statement.name, set())
        self.bases[statement.name] = [_dotted(base) for base in statement.bases]
        if any(keyword.arg is None or keyword.arg == "metaclass" for keyword in statement.keywords):
            found.update({"*"} if not _is_abc(statement) else ())
        _members(statement.body, found)


def _members(body: Iterable[ast.stmt], found: set[str]) -> None:
    """Collect the attributes of a class, those that its methods set on themselves included."""
    for member in body:
        if isinstance(member, _FUNCTIONS):
            found.add(member.name)
            found.update(f"{member.name}{one}" for one in _parameters(member, method=True))
            found.update(_set_on_self(member))
            if member.name in {"__getattr__", "__getattribute__"} and delegates(member):
                found.add("*")
        elif isinstance(member, ast.ClassDef):
            found.add(member.name)
        else:
            found.update(_bound(member))
            for block in _blocks(member):
                _members(block, found)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, *, method: bool = False) -> Iterator[str]:
    given = function.args
    static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)
    for one in [*given.args[int(method and not static) :], *given.kwonlyargs]:
        yield f":{one.arg}"
    if given.kwarg or (function.decorator_list and not _plain(function)):
        yield ":*"


def _plain(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the decorators of a function keep its parameters."""
    kept = {"staticmethod", "classmethod", "property", "abstractmethod", "abc.abstractmethod", "overload"}
    return all(_dotted(one) in kept for one in function.decorator_list)


def _set_on_self(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    first = function.args.args[0].arg if function.args.args else ""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _dotted(node.value) == first:
            yield node.attr


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that an assignment, a loop or an import binds."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For)):
        targets = [statement.target]
    elif isinstance(statement, ast.With):
        targets = [one.optional_vars for one in statement.items if one.optional_vars]
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        for field in ("body", "orelse", "finalbody"):
            yield getattr(statement, field, [])
        for handler in getattr(statement, "handlers", []):
            yield handler.body


def _writes_globals(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        return any(_globals_call(node) for node in ast.walk(statement))
    return _globals_call(statement) or any(_globals_call(node) for node in ast.walk(statement))


def _globals_call(node: ast.AST) -> bool:
    """Whether something may bind names that nobody sees: ``globals()``, ``exec``, ``sys.modules[...] =``."""
    if isinstance(node, ast.Call):
        return _dotted(node.func) in {"globals", "exec", "vars", "setattr"}
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _dotted(node.value) == "sys.modules"


def _is_abc(statement: ast.ClassDef) -> bool:
    return all(_dotted(one.value).rpartition(".")[2] in {"ABCMeta", "EnumMeta"} for one in statement.keywords)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    return "?"


def surface(modules: Mapping[str, ModuleSurface]) -> set[str]:
    """The public names of the modules of one distribution, by their dotted names."""
    return set(_Surface(modules).names())


class _Surface:
    def __init__(self, modules: Mapping[str, ModuleSurface]) -> None:
        self.modules = modules
        self.roots = {name.partition(".")[0] for name in modules}
        self._of_modules: dict[str, set[str]] = {}
        self._of_classes: dict[tuple[str, str], set[str]] = {}

    def names(self) -> Iterator[str]:
        for name, module in self.modules.items():
            if _private(name):
                continue
            yield name
            for bound in self.bound(name):
                if bound == "*" or not _private(bound):
                    yield f"{name}.{bound}"
            for owner in module.parts:
                if not _private(owner):
                    yield from self.of_parts(name, owner, f"{name}.{owner}")
        for place, public in self.shown().items():
            yield from self.of_parts(*place, public)

    def of_parts(self, module: str, owner: str, public: str) -> Iterator[str]:
        """The parts of a class or function of a module, under its public name."""
        is_class = owner in self.modules[module].bases
        for part in self.members(module, owner) if is_class else self.modules[module].parts[owner]:
            if part.startswith(":"):
                yield f"{public}{part}"
            elif not _private(part.partition(":")[0]) or part.startswith("__init__:"):
                yield f"{public}.{part}"

    def shown(self) -> dict[tuple[str, str], str]:
        """The shortest public name of each class and function of a private module that has any."""
        found: dict[tuple[str, str], str] = {}
        for name in sorted((one for one in self.modules if not _private(one)), key=lambda one: (one.count("."), one)):
            for bound in sorted(self.bound(name) - {"*"} - self.modules[name].parts.keys()):
                place = None if _private(bound) else self._place(name, bound)
                if place is not None and _private(place[0]):
                    found.setdefault(place, f"{name}.{bound}")
        return found

    def bound(self, name: str) -> set[str]:
        """The names of a module, those of stars included; ``*`` where there may be more."""
        if name in self._of_modules:
            return self._of_modules[name]
        found = self._of_modules[name] = set()
        module = self.modules[name]
        found.update(module.names)
        if "__getattr__" in module.names:
            found.add("*")
        found.update(own for own, origin in module.taken.items() if origin.partition(".")[0] in self.roots)
        prefix = name + "."
        found.update(
            one[len(prefix) :] for one in self.modules if one.startswith(prefix) and "." not in one[len(prefix) :]
        )
        for star in module.stars:
            found.update(self._star(star))
        return found

    def _star(self, origin: str) -> Iterable[str]:
        if origin not in self.modules:
            return ["*"]
        exported = self.modules[origin].exported
        return exported if exported is not None else [one for one in self.bound(origin) if not one.startswith("_")]

    def members(self, module: str, name: str) -> set[str]:
        """The attributes of a class and of those it is derived from; ``*`` where one of these is not known."""
        key = (module, name)
        if key in self._of_classes:
            return self._of_classes[key]
        found = self._of_classes[key] = set(self.modules[module].parts[name])
        for base in self.modules[module].bases[name]:
            place = self._place(module, base)
            if place is not None and place[1] in self.modules[place[0]].bases:
                found |= self.members(*place)
            elif base.rpartition(".")[2] not in _CLOSED_BASES:
                found |= self._of_python(module, base)
        return found

    def _of_python(self, module: str, base: str) -> set[str]:
        """The attributes of a class of the standard library that a module knows under a name; ``*`` if it is none."""
        head, _, rest = base.partition(".")
        here = self.modules[module]
        known = here.taken.get(head, "" if head in here.names else head)
        where, _, name = f"{known}.{rest}".strip(".").rpartition(".")
        return {*_of_library(where, name)} or {"*"}

    def _place(self, module: str, name: str, depth: int = 0) -> tuple[str, str] | None:
        """Where a class or function is defined that a module knows under a name."""
        head, _, rest = name.partition(".")
        here = self.modules.get(module)
        if here is None or depth > _DEPTH:
            return None
        if not rest and head in here.parts:
            return module, head
        origin = here.taken.get(head)
        if origin is not None:
            where, _, last = f"{origin}.{rest}".rstrip(".").rpartition(".")
            return self._place(where, last, depth + 1)
        for star in here.stars:
            if star in self.modules and star != module:
                found = self._place(star, name, depth + 1)
                if found:
                    return found
        return None


@functools.cache
def _of_library(module: str, name: str) -> frozenset[str]:
    """The public attributes of a class of the standard library and of its objects; empty for what is no such class."""
    kind = class_of(module, name)
    found = set(dir(kind)) if kind else set[str]()
    for one in kind.__mro__ if kind else ():
        found |= ModuleSurface(one.__module__, source_of(one), package=False).parts.get(one.__name__, set())
    return frozenset(one for one in found if one[0] != "_" and ":" not in one)


def _private(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("."))
