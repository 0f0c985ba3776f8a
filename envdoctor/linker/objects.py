"""The types of a module's objects by its source alone: who makes them, and what the module asks of them."""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.linker.bases_of_others import is_changed, is_foreign
from envdoctor.linker.makings import (
    ANY,
    AWAITED,
    ENTERED,
    KIND,
    OWN,
    annotated,
    decorators,
    is_made,
    is_special,
    making,
    makings,
    members,
    promised,
    settled,
    text,
)
from envdoctor.linker.standard_library import modules
from envdoctor.linker.summary import INSTANCE
from envdoctor.linker.super_calls import SuperCalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.linker.makings import Making
    from envdoctor.linker.module_record import ModuleRecord
    from envdoctor.linker.scopes import Scope, Use

    Function = ast.FunctionDef | ast.AsyncFunctionDef

#: Times that what the module itself makes is looked up in what it makes.
_ROUNDS = 3
#: Decorators that leave what a function returns as its annotation says.
_KEEPING = re.compile(
    r"(static|class)method|abstract|final|override|overload|(lru_)?cache|deprecat|doc|appender|substitution|set_module"
    r"|export|preload|version(added|changed)",
    re.IGNORECASE,
)
_PROPERTY = re.compile(r"property$|memoize", re.IGNORECASE)
_MANAGED = {"contextmanager", "asynccontextmanager"}
#: Builtin types that take each other's place from release to release.
_PLAIN = {"str", "bytes"}
_STEPS = re.compile(r"\.\((?:\d*|super)\)")
#: Methods that are given anything, whatever their annotation says.
_COMPARING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}


class Objects:
    """Gathers, for a reader, the makings and uses of objects while it reads.

    ``uses`` are what the module asks of objects that others make, as a summary has them. A making is ``module:path``,
    and starts at this module where that is empty.
    """

    def __init__(self, reader: ModuleRecord) -> None:
        self._reader = reader
        self._wanted: dict[str, int] = {}
        self._spoilt: set[str] = set()
        self._single: set[str] = set()
        self._makings: dict[str, list[list[str]]] = {}
        self._late: list[tuple[list[Any], Any]] = []
        self._hinted: dict[str, tuple[str, str]] = {}
        self._numbers: dict[int, int] = {}
        self._own: list[tuple[int, Use]] = []
        self.super_calls = SuperCalls(reader)
        self.uses: dict[tuple[Any, ...], list[Any]] = {}

    def hint(self, node: ast.stmt) -> None:
        """Take note of what a statement imports for annotations only."""
        if isinstance(node, ast.ImportFrom):
            module = self._reader.imported(node)
            self._hinted.update({one.asname or one.name: (module, one.name) for one in node.names})
        elif isinstance(node, ast.Import):
            for one in node.names:
                top = one.asname or one.name.partition(".")[0]
                self._hinted[top] = (one.name if one.asname else top, "")

    def named(self, name: str, value: ast.expr | None, kind: ast.expr | None = None) -> None:
        """A name that gets a value in the current scope, with its annotation if there is one."""
        scope = self._reader.scope
        if name in scope.outer:
            self._spoilt.add(f"v.{name}")
            return
        found = annotated(kind) if kind is not None else makings(value)
        declared = kind is not None or scope.kind == "class"
        if found is not None and (ANY, ()) not in found and (declared or is_made(found, scope)):
            scope.types.setdefault(name, []).append(found)
            self._reader.roots.add(name)
        if scope.kind == "class":  # where another value may replace what instances have
            self.field(name, found if _is_nothing(value) else None)
        elif scope is self._reader.top:
            self._variable(name, found if kind is None else makings(value))  # which may be another name for it

    def _variable(self, name: str, found: list[Making] | None) -> None:
        """A name of the module, and what it may be."""
        top = self._reader.top
        whole = found and (ANY, ()) not in found and is_made(found, top)
        self._sink(f"v.{name}", found if whole else None, top)

    def entered(self, target: ast.expr | None, context: ast.expr) -> None:
        """``with context as target``."""
        found = making(context)
        if isinstance(target, ast.Name) and found is not None:
            self._reader.scope.types.setdefault(target.id, []).append([(found[0], (*found[1], ENTERED))])
            self._reader.roots.add(target.id)

    def given(self, name: str, value: ast.expr | None, kind: ast.expr | None = None) -> None:
        """An attribute that a method gives its object, with its annotation if there is one."""
        self.field(name, annotated(kind) if kind is not None else makings(value))

    def field(self, name: str, found: list[Making] | None) -> None:
        """An attribute of a class or its object, and what it may be."""
        number = self._number(self._reader.scope)
        if number is not None:
            self._sink(f"c{number}.{name}", found, self._reader.scope)

    def narrow(self, node: ast.expr) -> None:
        """Something whose kind is asked for: it may be of another one than is written."""
        found = making(node)
        number = self._number(self._reader.scope)
        if found is not None and not found[1]:
            self._reader.scope.narrowed.add(found[0])
        elif found is not None and number is not None:
            self._spoilt.add(f"c{number}.{found[1][0]}")

    def _number(self, scope: Scope) -> int | None:
        """The number of the top-level class that a scope belongs to."""
        return self._numbers.get(id(scope.record))

    def kind(self, record: Sequence[Any], number: int) -> None:
        """Take note of a class at the top of the module."""
        self._numbers[id(record)] = number

    def _sink(self, key: str, found: list[Making] | None, scope: Scope) -> None:
        self._wanted[key] = self._wanted.get(key, 0) + 1
        if found is None:
            self._spoilt.add(key)
        elif not found:
            self._makings.setdefault(key, []).append([])
        else:
            scope.objects.append((list(found), key))

    def function(self, node: Function, inner: Scope, outside: Scope) -> None:
        """The parameters of a function, and what its annotation says that it returns."""
        words = decorators(node)
        number = self._number(outside) if outside.kind == "class" else None
        self._parameters(node, words, inner, number)
        key = self._key(node, words, outside, number)
        if key and number is not None and _returns_own(node):
            self._sink(key, [(f"{OWN}{number}", ())], outside)
        elif key in self._wanted:
            pass  # what its overloads say counts
        elif not key or node.returns is None:
            inner.returns = key
        else:
            self._sink(key, promised(node.returns, key), outside)
            for at, one in enumerate(members(node.returns) if not key.endswith(ENTERED) else ()):
                self._sink(f"{key}({at})", annotated(one), outside)

    def _parameters(self, node: Function, words: Sequence[str], inner: Scope, number: int | None) -> None:
        """The makings of a function's parameters; of the first one of a method, the number of its class."""
        given = [*node.args.posonlyargs, *node.args.args]
        types = inner.types
        if number is not None and given and "staticmethod" not in words:
            kind = KIND if "classmethod" in words or node.name == "__new__" else OWN
            inner.own = given.pop(0).arg
            types[inner.own] = [[(f"{kind}{number}", ())]]
        for one in (*given, *node.args.kwonlyargs):
            told = one.annotation is not None and node.name not in _COMPARING
            if told and (found := annotated(one.annotation)):
                types[one.arg] = [[*found, (ANY, ())]]  # what callers give may be of another class
        self._reader.roots.update(types)

    def overloaded(self, node: Function) -> None:
        """One of several signatures of what is defined below them."""
        scope = self._reader.scope
        number = self._number(scope)
        if scope is self._reader.top:
            key = f"f{len(self._reader.functions)}()"
        elif scope.kind == "class" and number is not None:
            key = f"c{number}.{node.name}()"
        else:
            return
        key += AWAITED if isinstance(node, ast.AsyncFunctionDef) else ""
        self._sink(key, promised(node.returns, key) if node.returns is not None else None, scope)

    def _key(self, node: Function, words: Sequence[str], outside: Scope, number: int | None) -> str:
        """The key of what a function makes; empty where that is of no use."""
        if outside is self._reader.top:
            key = f"f{len(self._reader.functions) - 1}"
        elif number is not None:
            key = f"c{number}.{node.name}"
        else:
            return ""
        if [word for word in words if word not in _MANAGED and not _KEEPING.match(word)]:
            return key if number is not None and len(words) == 1 and _PROPERTY.search(words[0]) else ""
        if _MANAGED.intersection(words):
            return f"{key}(){ENTERED}"
        return f"{key}(){AWAITED}" if isinstance(node, ast.AsyncFunctionDef) else f"{key}()"

    def returned(self, value: ast.expr | None, *, yields: bool = False) -> None:
        """What a function without an annotation returns, or yields."""
        scope = self._reader.scope
        if not scope.returns:
            return
        if yields == scope.returns.endswith(ENTERED):
            self._sink(scope.returns, makings(value), scope)
            if type(value) is not ast.Tuple and not _is_nothing(value):
                self._single.add(scope.returns)
            for at, one in enumerate(value.elts if type(value) is ast.Tuple else ()):
                self._sink(f"{scope.returns}({at})", makings(one), scope)
        elif yields:
            self._spoilt.add(scope.returns)

    def own(self, use: Use, record: Sequence[Any]) -> None:
        """Take note of what a class asks of ``self``."""
        number = self._numbers.get(id(record))
        if number is not None and use.path and not use.store:
            self._own.append((number, use))

    # --- what it is of ----------------------------------------------------------------------------------------------

    def settle(self, scope: Scope) -> None:
        """Resolve the makings of a scope that ends; the rest goes to the scope around."""
        outside, hidden = scope.outside, set[str]()
        if outside is not None:
            outside.narrowed |= scope.narrowed.difference(scope.bound)
            hidden = scope.shadowed.union(scope.bound.keys() - scope.types.keys()) if scope.objects else hidden
        for found, sink in scope.objects:
            if len(found) == 1 and found[0][0] in hidden and not isinstance(sink, str):
                continue  # most names hold something else
            left = settled(scope, found, anything=isinstance(sink, str))
            if left is not None:
                waits = outside is not None and any(isinstance(one, tuple) for one in left)
                (outside.objects if outside is not None and waits else self._late).append((left, sink))
        scope.objects = []

    def finish(self) -> dict[str, list[str]]:
        """The types by key, when all is read: ``f1()`` of a function, ``c1.name`` of a field, ``v.name`` of a name."""
        types = self._types()
        for found, sink in self._late:
            if not isinstance(sink, str):
                self._use([self._known(one, types, 0) for one in found], sink)
        self._use_own(types)
        for one, use in self.super_calls.kept(self._numbers):
            self._use([[one]], use)
        return {key: kinds for key, kinds in types.items() if all(map(_is_foreign, kinds))}

    def _use_own(self, types: Mapping[str, Sequence[str]]) -> None:
        """Keep what classes ask of ``self``, where other modules may know more about that."""
        promising = {key.partition(".")[0] for key in types}
        numbers = {number for number, _ in self._own}
        reader = self._reader
        telling = {one for one in numbers if f"c{one}" in promising or is_foreign(reader, one)}
        for number, use in self._own:
            if number in telling or is_changed(reader, number, use.path[0]):
                self._use([self._known((f"{OWN}{number}", use.path), types, 0)], use)

    def _types(self) -> dict[str, list[str]]:
        """The makings of each key of which all makings are known."""
        for found, sink in self._late:
            if isinstance(sink, str):
                self._makings.setdefault(sink, []).append([self._promises(one, sink) or ANY for one in found])
        types = {}
        for key, alternatives in self._makings.items():
            kinds = {one for some in alternatives for one in some}
            if kinds - {ANY} and self._is_whole(key, len(alternatives)):
                types[key] = sorted(kinds)
        return types

    def _is_whole(self, key: str, count: int) -> bool:
        """Whether a key is given a value exactly so many times."""
        if key in self._spoilt or count != self._wanted[key] or key.rpartition("(")[0] in self._single:
            return False
        return key[0] != "v" or self._reader.top.bound.get(key[2:]) == count

    def _promises(self, one: Any, key: str) -> str | None:
        """The text of a making in a type, which starts at the object where the class makes it itself."""
        if isinstance(one, str):
            return one if _is_foreign(one) or "(" not in key else None  # a field may be asked for what changes
        root, path = one
        if root.startswith("<"):
            return _from_itself(root, path) if key.startswith(f"c{root.rpartition(' ')[2]}.") else None
        if root in self._reader.names:
            return text("", root, path)
        if root in self._hinted:
            found = text(*self._hinted[root], path)
            return found if _is_foreign(found) else None
        plain = root in _PLAIN and path == (INSTANCE,) and "(" in key
        return f"builtins:{root}.{INSTANCE}" if plain else None

    def _known(self, one: Any, types: Mapping[str, Sequence[str]], depth: int) -> list[str]:
        """The texts of a making that others know: the module's own makings are replaced by theirs."""
        reader = self._reader
        if isinstance(one, str):
            return [one]
        root, path = one
        if root in self._hinted and root not in reader.names:
            return [text(*self._hinted[root], path)]
        if reader.script and reader.names.get(root):
            return [text("", root, path)]
        key = self._prefix(root)
        if not key or depth > _ROUNDS:
            return []
        for count in (4, 3, 2, 1):
            made = types.get(key + "".join(path[:count]))
            if made:
                return self._replaced(made, root, path[count:], types, depth)
        return self._inherited(int(root[len(OWN) :]), path) if root.startswith(OWN) else []

    def _prefix(self, root: str) -> str:
        """What the keys begin with of what a function or an object of the module makes; empty for anything else."""
        if root.startswith(OWN):
            return f"c{root[len(OWN) :]}."
        bound = self._reader.names.get(root)
        return f"f{bound[1]}" if bound and bound[0] == "f" else ""

    def _replaced(self, made: Sequence[str], root: str, rest: Sequence[str], types: Any, depth: int) -> list[str]:
        found = []
        for one in made:
            if one == ANY:
                some = [ANY]
            elif one == "self" or one.startswith("self."):
                some = self._known((root, (*one.split(".")[1:], *rest)), types, depth + 1)
            elif one.startswith(":"):
                first, *more = one[1:].split(".")
                some = self._known((first, (*more, *rest)), types, depth + 1)
            else:
                some = [".".join((one, *rest))]
            if not some:
                return []
            found += some
        return found

    def _inherited(self, number: int, path: Sequence[str]) -> list[str]:
        """What a class asks of its object and does not have, where another distribution may."""
        reader = self._reader
        _, names, is_open = reader.classes[number][:3]
        if not path or is_open or path[0] in names or "*" in names or path[0][:2] == "__":
            return []
        if not (is_foreign(reader, number) or is_changed(reader, number, path[0])):
            return []
        name = next((name for name, at in reader.class_numbers.items() if at == number), "")
        return [text("", name, (INSTANCE, *path))] if reader.names.get(name) == ["c", number] else []

    def _use(self, alternatives: Sequence[list[str]], use: Use) -> None:
        """Keep a use if all that its object may be is known, and another distribution's or of a changed class."""
        reader = self._reader
        if not all(alternatives) or is_special("".join(use.path[-1:])):
            return
        possible = [one for some in alternatives for one in some]
        if not set(possible) - {ANY}:
            return
        for one in possible:
            module, _, path = one.partition(":")
            if one == ANY:
                continue
            if module == "builtins":
                return
            plain = _STEPS.sub("", path)
            if module and not (reader.keep(module, plain, None) and INSTANCE in path):
                return
        makings = sorted(set(possible))
        key = (*makings, use.flags, use.attempt, use.handler, str(use.call))
        self.uses.setdefault(key, [makings, "", use.line, use.flags, use.attempt, use.handler, 0, use.call])


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or makings(value) == []


def _returns_own(node: Function) -> bool:
    """Whether a function promises what its first parameter is annotated with: a variable for any type."""
    given = [*node.args.args, *node.args.posonlyargs]
    named = getattr(node.returns, "id", None)
    return bool(named and given) and getattr(given[0].annotation, "id", None) == named


def _from_itself(root: str, path: Sequence[str]) -> str | None:
    """The text of a making that starts at the object of a class, or at the class and makes one."""
    if root.startswith(OWN):
        return ".".join(("self", *path))
    return ".".join(("self", *path[1:])) if path[:1] == (INSTANCE,) else None


def _is_foreign(text: str) -> bool:
    """Whether a making starts at something that is not the standard library's."""
    return text.startswith("builtins:") or text.partition(":")[0].partition(".")[0] not in modules()
