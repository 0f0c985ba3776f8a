"""What a function reads that only the program itself has set, so that a process which imports the file again lacks it.

Such a process runs what importing the file runs. It does not run what is under a ``__main__`` guard, nor the functions
that are called from there: names of the module that these bind or change are as the import left them.
"""

from __future__ import annotations

import ast
import functools
import sys

from envdoctor.probes.source.abstract_values import OWN, joined, names_class
from envdoctor.probes.source.bindings import IMPORT, VALUE, Place, Scope, below
from envdoctor.probes.source.call_graph import CallGraph, runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.probes.source.name_resolver import Resolver

    Lacks = list[dict[str, Any]]

_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))
#: Changed there, a new process inherits these.
_HANDED_ON = {"os.environ", "sys.path", "sys.argv"}


#: Calls that replace something as long as a block runs, or until it is undone.
_INSTALLING = ("gettext.install", "gettext.translation.install")
_PATCHING = ("unittest.mock.patch", "unittest.mock.patch.object")


class ParentState:
    """Answers for one file."""

    def __init__(self, module: Scope, resolver: Resolver) -> None:
        self._module = module
        self._resolver = resolver
        self._graph = CallGraph(module, resolver)
        self._changed: dict[Scope, list[tuple[str, Place]]] = {}

    def lacks(self, function: Scope) -> Lacks:
        """The names that a function of this file reads and only the program sets, each with the ``line`` there.

        With ``made_by`` those of objects that the file makes wherever it is imported.
        """
        if not (self._candidates or self._made):
            return []
        closure = self._graph.reachable([function], guarded=True)
        lines = {name: place.order >> 32 for scope in closure for name, place in self._changed_by(scope)}
        own = lines.keys()
        seen = self._read(closure)
        read = ((seen | self._settings(seen)) & (self._candidates | self._made.keys())) - own
        made = [self._made[one] for one in sorted(read & self._made.keys()) if one not in self._set_elsewhere]
        lost = [{"name": one, "line": lines[one], "lost": True} for one in sorted(own & self._awaited(closure))]
        givers = self._givers(function)
        changes = {**(self._changes_by(givers) if givers else {}), **self._changes}
        return [{"name": one, "line": changes[one]} for one in sorted(read) if one in changes] + made + lost

    def _settings(self, read: set[str]) -> set[str]:
        """The attributes that the program sets of modules of the standard library of which some names are read."""
        modules = {name.rpartition(".")[0] for name in read if _top(name) in _STANDARD}
        return {name for name in self._candidates if name.rpartition(".")[0] in modules and _top(name) in _STANDARD}

    def _awaited(self, closure: set[Scope]) -> set[str]:
        """The plain values of the file that the program reads, where it does not itself run what a worker runs."""
        plain = {name for name, found in self._module.bindings.items() if len(found) == 1 and found[0].kind == VALUE}
        called = self._started & closure
        read = set()
        for scope in () if called else (self._module, *self._started):
            for node, place in scope.reads:
                if scope is not self._module or place.block.guard:
                    read |= {node.id} if isinstance(node, ast.Name) else set()
        return read & plain

    def reads(self, functions: list[Scope]) -> tuple[list[str], list[str]]:
        """What functions of this file read, and what they set, of its values and of what it imports."""
        closure = self._graph.reachable(functions, guarded=True)
        own = {name for name, found in self._module.bindings.items() if found[0].kind == VALUE}
        read = {OWN + one if one in own else one for one in self._read(closure)}
        known = {one for one in read if one[:1] == OWN or ("." in one.strip(".") and _top(one) not in _STANDARD)}
        changed = {OWN + one if one in own else one for scope in closure for one, _ in self._changed_by(scope)}
        return sorted(known), sorted(changed)

    def program(self) -> dict[str, Any]:
        """What only the program ``does`` to others, and what importing this file ``changes`` of them.

        The first are ``sets``, ``calls`` or ``imports``, each with a name and a line.
        """
        does = [["sets", name, line] for name, line in self._changes.items() if "." in name]
        does += self._done_alone()
        changed = [self._of_module(node, place) or "" for node, place in self._module.changes if not place.block.guard]
        fields = {"does": does, "changes": [one for one in changed if "." in one]}
        return {name: one for name, one in fields.items() if one}

    def given_names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of others that the file itself sets: of modules and classes as it is imported, of objects anywhere.

        A value that reads the attribute that it is for gives nothing.
        """
        stores = [
            (scope, name)
            for scope in below(self._module)
            for node, place in scope.changes
            if isinstance(getattr(node, "ctx", None), ast.Store) and not place.block.guard
            for name in [self._of_module(node, place)]
            if name is not None
        ]
        run = self._graph.reached({scope for scope, _ in stores if scope is not self._module})
        found = {name for scope, name in stores if scope is self._module or scope in run}
        of_objects: set[str] = set()
        for scope in below(self._module):
            for name, attr, value, place in scope.late:
                if value is None:
                    continue
                of_others = [one for one in self._resolver.lookup(name, place) if one.scope is None and one.name]
                names = {
                    joined(one.name, attr) for one in of_others if one.kind in {"made", "member", "declared", "ref"}
                }
                if any(isinstance(one, ast.Attribute) and one.attr == attr for one in ast.walk(value)):
                    found -= names
                elif all(one.kind != "ref" for one in of_others):
                    of_objects |= names
        return frozenset(found), frozenset(of_objects)

    def _done_alone(self) -> Iterator[list[Any]]:
        """The calls and imports that only the program does: in its functions, or where the main program is guarded."""
        alone = self._started - self._run_elsewhere
        for scope in below(self._module):
            outside = runner(scope) is self._module
            for how, name, place in self._on_others(scope) if outside or runner(scope) in alone else ():
                if place.block.guard or not outside:
                    yield [how, name, place.order >> 32]

    def _on_others(self, scope: Scope) -> Iterator[tuple[str, str, Place]]:
        """The calls of what is imported, and the imports, in a scope."""
        for node, place in scope.reads:
            for one in self._resolver.resolve(node.func, place) if isinstance(node, ast.Call) else ():
                if one.kind == "ref" and "." in one.name:
                    yield "calls", one.name, place
        imported = (each for bindings in scope.bindings.values() for each in bindings if each.kind == IMPORT)
        yield from (("imports", each.value, each.place) for each in imported)

    @functools.cached_property
    def _started(self) -> set[Scope]:
        """The functions that only the program runs."""
        return self._graph.reachable([self._module], guarded=True) - self._graph.reachable([self._module])

    @functools.cached_property
    def _made(self) -> dict[str, dict[str, Any]]:
        """The objects that importing the file makes by classes of elsewhere, by name, with ``made_by``."""
        return {
            name: {"name": name, "line": getattr(one.node, "lineno", None), "made_by": one.name}
            for name, bindings in self._module.bindings.items()
            for binding in bindings
            if binding.kind == VALUE and isinstance(binding.value, ast.Call)
            if binding.place.scope is self._module and not binding.place.block.guard
            for one in self._resolver.resolve(binding.value, binding.place)
            if one.kind == "made" and one.scope is None and names_class(one.name)
        }

    @functools.cached_property
    def _set_elsewhere(self) -> set[str]:
        """The names that functions bind or change which may run in another process."""
        return {name for scope in self._run_elsewhere for name, _ in self._changed_by(scope)}

    @functools.cached_property
    def _candidates(self) -> set[str]:
        """The names that functions, or what is under a guard, bind or change."""
        return {name for scope in below(self._module) for name, _ in self._changed_by(scope)}

    @functools.cached_property
    def _changing(self) -> set[str]:
        """The last segments of calls that may change something: of methods that assign, and of ``patch``."""
        return {"patch", "object", "install", *(scope.name for scope in below(self._module) if scope.assigned)}

    @functools.cached_property
    def _changes(self) -> dict[str, int]:
        """The names that only the program sets or changes, with the first line that does; attributes are dotted."""
        return self._changes_by(self._started)

    def _changes_by(self, started: set[Scope]) -> dict[str, int]:
        """The names that some functions, or what is under a guard, set or change, and nobody in another process."""
        passed = self._run_elsewhere
        found: dict[str, int] = {}
        for scope in below(self._module):
            run = runner(scope)
            for name, place in self._changed_by(scope):
                alone = place.block.guard if run is self._module else run in started and run not in passed
                if alone:
                    found[name] = min(found.get(name, place.order), place.order)
        return {name: order >> 32 for name, order in found.items() if name not in self._set_elsewhere}

    def _givers(self, function: Scope) -> set[Scope]:
        """What runs before a function is given to a call by other functions, and not when the file is imported."""
        givers = [giver for given, giver in self._given if given is function and giver is not self._module]
        return self._graph.reachable(givers) - self._graph.reachable([self._module]) if givers else set()

    @functools.cached_property
    def _run_elsewhere(self) -> set[Scope]:
        """What functions run that are given to calls: who is called with them may do so in another process."""
        return self._graph.reachable([given for given, _ in self._given])

    @functools.cached_property
    def _given(self) -> list[tuple[Scope, Scope]]:
        """The functions that are given to calls, each with the function, or the module, that does so."""
        found = []
        for scope in below(self._module):
            for node, place in scope.reads:
                if isinstance(node, ast.Call):
                    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                        if isinstance(argument, (ast.Name, ast.Attribute)):
                            values = self._resolver.resolve(argument, place)
                            known = [one.scope for one in values if one.kind in {"function", "method"} and one.scope]
                            found += [(one, runner(scope)) for one in known]
        return found

    @functools.cached_property
    def _bound_by(self) -> dict[Scope, list[tuple[str, Place]]]:
        """The names of the module that each scope binds."""
        found: dict[Scope, list[tuple[str, Place]]] = {}
        for name, bindings in self._module.bindings.items():
            for one in bindings:
                if one.place.scope is not self._module or one.place.block.guard:
                    found.setdefault(one.place.scope, []).append((name, one.place))
        return found

    def _changed_by(self, scope: Scope) -> list[tuple[str, Place]]:
        """The names of the module, or of what it imports, that a scope itself binds or changes."""
        if scope not in self._changed:
            self._changed[scope] = [*self._bound_by.get(scope, ()), *self._changed_in(scope)]
        return self._changed[scope]

    def _changed_in(self, scope: Scope) -> Iterator[tuple[str, Place]]:
        for node, place in (*scope.changes, *self._replaced(scope)):
            changed = self._of_module(node, place)
            if changed is not None and (scope is not self._module or place.block.guard):
                yield changed, place

    def _replaced(self, scope: Scope) -> Iterator[tuple[ast.expr, Place]]:
        """What the calls of a scope replace or change: by ``unittest.mock``, and by methods of this file's own."""
        for node, place in scope.reads:
            if not isinstance(node, ast.Call) or _last(node.func) not in self._changing:
                continue
            for one in self._resolver.resolve(node.func, place):
                if one.name in _INSTALLING:
                    yield ast.copy_location(ast.Name("_", ast.Load()), node), place
                elif one.name in _PATCHING and node.args:
                    yield from ((each, place) for each in _patched(node, one.name))
                elif isinstance(node.func, ast.Attribute) and one.scope is not None and one.scope.assigned:
                    yield node.func.value, place

    def _read(self, closure: set[Scope]) -> set[str]:
        """The names of the module, and attributes of what it imports, that functions read."""
        found = set()
        for scope in (one for function in closure for one in below(function)):
            for node, place in scope.reads:
                name = self._of_module(node.func if isinstance(node, ast.Call) else node, place) or ""
                parts = name.split(".")
                found |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
            if scope.kind == "function" and any(one.kind == IMPORT for each in scope.bindings.values() for one in each):
                found.add("sys.modules")
        return found

    def _of_module(self, node: ast.expr, place: Place) -> str | None:
        """The name by which an expression means something of the module: of an import with the attribute."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        owner, _, _ = self._resolver.owner(node.id, place)
        if owner is None and node.id == "_":
            return node.id
        if owner is not self._module:
            return None
        if not all(one.kind == IMPORT for one in owner.bindings[node.id]):
            return node.id
        module = owner.bindings[node.id][0].value
        dotted = ".".join([module, *reversed(names)])
        return dotted if names and not any(dotted.startswith(one) for one in _HANDED_ON) else None


@functools.lru_cache(maxsize=1024)
def is_given(name: str, given: frozenset[str]) -> bool:
    """Whether a name is among what files give to others; what a class is given, all that may be of it have."""
    if name in given:
        return True
    owners = (one.rpartition(".") for one in given if _top(one) == _top(name))
    return any(attr == name.rpartition(".")[2] and names_class(owner) for owner, _, attr in owners)


def _top(name: str) -> str:
    return name.partition(".")[0]


def _last(node: ast.expr) -> str:
    """The last segment of a dotted name."""
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def _patched(node: ast.Call, patch: str) -> Iterator[ast.expr]:
    """The dotted name that a call of ``patch`` replaces."""
    named = [one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if patch == _PATCHING[1] and len(node.args) > 1 and named:
        yield ast.Attribute(node.args[0], named[0], ast.Load())
    elif patch == _PATCHING[0] and named and all(one.isidentifier() for one in named[0].split(".")):
        yield ast.parse(named[0], mode="eval").body
