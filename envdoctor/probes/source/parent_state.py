"""What a function reads that only the program itself has set, so that a process which imports the file again lacks it.

Such a process runs what importing the file runs. It does not run what is under a ``__main__`` guard, nor the functions
that are called from there: names of the module that these bind or change are as the import left them.
"""

from __future__ import annotations

import ast
import functools

from envdoctor.probes.source.bindings import IMPORT, Place, Scope, below
from envdoctor.probes.source.call_graph import CallGraph, runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.probes.source.resolver import Resolver

    Lacks = list[dict[str, Any]]

#: Changed there, these are handed on to a new process.
_HANDED_ON = {"os.environ", "sys.path", "sys.argv"}


class ParentState:
    """Answers for one file."""

    def __init__(self, module: Scope, resolver: Resolver) -> None:
        self._module = module
        self._resolver = resolver
        self._graph = CallGraph(module, resolver)

    def lacks(self, function: Scope) -> Lacks:
        """The names that a function of this file reads and only the program sets, each with the ``line`` there."""
        if not self._candidates:
            return []
        closure = self._graph.reachable([function], guarded=True)
        own = {name for scope in closure for name, _ in self._changed_by(scope)}
        read = (self._read(closure) & self._candidates) - own
        return [{"name": one, "line": self._changes[one]} for one in sorted(read) if one in self._changes]

    @functools.cached_property
    def _candidates(self) -> set[str]:
        """The names that functions, or what is under a guard, bind or change."""
        return {name for scope in below(self._module) for name, _ in self._changed_by(scope)}

    @functools.cached_property
    def _changes(self) -> dict[str, int]:
        """The names that only the program sets or changes, with the first line that does; attributes are dotted."""
        started = self._graph.reachable([self._module], guarded=True) - self._graph.reachable([self._module])
        passed = self._graph.reachable(self._passed())
        found: dict[str, int] = {}
        for scope in below(self._module):
            run = runner(scope)
            for name, place in self._changed_by(scope):
                alone = place.block.guard if run is self._module else run in started and run not in passed
                if alone:
                    found[name] = min(found.get(name, place.order), place.order)
        elsewhere = {name for scope in passed for name, _ in self._changed_by(scope)}
        return {name: order >> 32 for name, order in found.items() if name not in elsewhere}

    def _passed(self) -> list[Scope]:
        """The functions that are given to calls: who is called with them may run them in another process."""
        found = []
        for scope in below(self._module):
            for node, place in scope.reads:
                if isinstance(node, ast.Call):
                    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                        if isinstance(argument, (ast.Name, ast.Attribute)):
                            values = self._resolver.resolve(argument, place)
                            found += [one.scope for one in values if one.kind in {"function", "method"} and one.scope]
        return found

    def _changed_by(self, scope: Scope) -> Iterator[tuple[str, Place]]:
        """The names of the module, or of what it imports, that a scope itself binds or changes."""
        for name, bindings in self._module.bindings.items():
            for one in bindings:
                if one.place.scope is scope and (scope is not self._module or one.place.block.guard):
                    yield name, one.place
        for node, place in scope.changes:
            changed = self._of_module(node, place)
            if changed is not None and (scope is not self._module or place.block.guard):
                yield changed, place

    def _read(self, closure: set[Scope]) -> set[str]:
        """The names of the module, and attributes of what it imports, that functions read."""
        found = set()
        for scope in (one for function in closure for one in below(function)):
            for node, place in scope.reads:
                name = self._of_module(node.func if isinstance(node, ast.Call) else node, place) or ""
                parts = name.split(".")
                found |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
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
        if owner is not self._module:
            return None
        if not all(one.kind == IMPORT for one in owner.bindings[node.id]):
            return node.id
        module = owner.bindings[node.id][0].value
        dotted = ".".join([module, *reversed(names)])
        return dotted if names and not any(dotted.startswith(one) for one in _HANDED_ON) else None
