"""Which functions of a file run when it is imported."""

from __future__ import annotations

import ast
import functools
import itertools
import operator

from envdoctor.probes.source.abstract_values import Call
from envdoctor.probes.source.bindings import CALLS, PARAMETER, Function, annotation_of, below, classes_in

#: Of the calls of a function no more are looked at.
MOST_CALLERS = 8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.source.abstract_values import Value
    from envdoctor.probes.source.bindings import Place, Scope
    from envdoctor.probes.source.name_resolver import Resolver


class CallGraph:
    """Follows the calls of one file from its top level."""

    def __init__(self, module: Scope, resolver: Resolver) -> None:
        self._resolver = resolver
        self._module = module

    def reached(self, wanted: set[Scope], *, uncaught: bool = False) -> set[Scope]:
        """Those of some functions, and of the module, that run when the file is imported; calls in a guard do not.

        With ``uncaught``, only those whose callers do not provide for what they raise.
        """
        return wanted & self.reachable([self._module], wanted=wanted, apart=CALLS if uncaught else 0)

    def reachable(
        self, starts: Iterable[Scope], *, wanted: set[Scope] | None = None, guarded: bool = False, apart: int = 0
    ) -> set[Scope]:
        """Some functions and all that they call, as far as ``wanted``; with ``guarded`` also what a guard calls.

        Calls in a block that spares one of the bits of ``apart`` are left out.
        """
        waiting = list(starts)
        reached = set(waiting)
        while waiting and not (wanted is not None and wanted <= reached):
            new = set(self._called_by(waiting.pop(), guarded=guarded, apart=apart)) - reached
            reached |= new
            waiting += new
        return reached

    def _called_by(self, caller: Scope, *, guarded: bool, apart: int) -> Iterator[Scope]:
        for scope in _run_by(caller):
            for node, place in scope.reads:
                seen = guarded or not place.block.guard
                if isinstance(node, ast.Call) and seen and not place.block.spared & apart:
                    yield from self._callees(self._resolver.resolve(node.func, place))

    def _callees(self, values: Iterable[Value]) -> Iterator[Scope]:
        for one in values:
            callee = one.scope
            if callee is None or one.kind not in {"function", "method", "lambda", "class"}:
                continue
            if one.kind != "class":
                yield callee
                continue
            for binding in callee.bindings.get("__init__", ()):
                if isinstance(binding.value, Function):
                    yield self._resolver.scope_of[id(binding.value)]


class Callers:
    """The calls of a file's own functions, by what they call."""

    def __init__(self, module: Scope, resolver: Resolver) -> None:
        self._module = module
        self._resolver = resolver

    def of(self, functions: set[Scope]) -> list[tuple[Call, Scope]]:
        """The calls in this file of the first of some functions that has any, each with the function."""
        for function in sorted(functions, key=lambda one: one.inside.order):
            calling = [*self._calls.get(function.name, ()), *self._started.get(function.name, ())]
            found = [(Call(node, place), function) for node, place in calling]
            calls = [one for one in found if self._calls_it(*one)]
            if calls:
                return calls[:MOST_CALLERS]
        return []

    def of_parameter(self, node: ast.expr, place: Place) -> list[Value]:
        """What the attribute of a parameter means for the calls of its function here, if nothing is annotated."""
        if not isinstance(node, ast.Attribute):
            return []
        bases = self._resolver.resolve(node.value, place)
        if any(one.kind in {"items", "dict"} for one in bases):
            return []  # it is made one of these before
        given = [
            made
            for base in bases
            if base.kind == "parameter" and base.scope is not None and not _is_annotated(base.name, base.scope)
            for call, function in self.of({base.scope})
            for made in self._resolver.argument(base.name, function, call)
            if made.kind in {"made", "ref"}
        ]
        if isinstance(node.value, ast.Name):
            given = self._resolver.narrowed(given, node.value.id, place)
        return [meant for made in given for meant in self._resolver.attribute(made, node.attr)]

    def provide(self, function: Scope) -> int:
        """What every call of a function provides for that is this file's alone, as its name says."""
        is_private = function.name.startswith("_") and not function.name.startswith("__")
        spared = [place.block.spared for _, place in (self._calls.get(function.name, ()) if is_private else ())]
        return functools.reduce(operator.and_, spared) if spared else 0

    def calls(self, name: str) -> bool:
        """Whether anything of this name is called."""
        return name in self._calls

    def _calls_it(self, call: Call, function: Scope) -> bool:
        return any(one.scope is function for one in self._resolver.resolve(call.node.func, call.place))

    @functools.cached_property
    def _calls(self) -> dict[str, list[tuple[ast.Call, Place]]]:
        """The calls by the last segment of what they call."""
        found: dict[str, list[tuple[ast.Call, Place]]] = {}
        for scope in below(self._module):
            for node, place in scope.reads:
                if isinstance(node, ast.Call):
                    name = str(getattr(node.func, "attr", None) or getattr(node.func, "id", ""))
                    found.setdefault(name, []).append((node, place))
        return found

    @functools.cached_property
    def _started(self) -> dict[str, list[tuple[ast.Call, Place]]]:
        """The calls that processes and threads make: ``Process(target=f, args=(a, b))`` calls ``f(a, b)``."""
        found: dict[str, list[tuple[ast.Call, Place]]] = {}
        for node, place in itertools.chain.from_iterable(self._calls.values()):
            given = {one.arg: one.value for one in node.keywords}
            target, args = given.get("target"), given.get("args")
            if isinstance(target, ast.Name) and isinstance(args, (ast.Tuple, ast.List)):
                found.setdefault(target.id, []).append((ast.Call(target, args.elts, []), place))
        return found


def runner(scope: Scope) -> Scope:
    """The function or module in whose course a class body or comprehension runs."""
    while scope.kind in {"class", "comprehension"} and scope.parent is not None:
        scope = scope.parent
    return scope


def _run_by(function: Scope) -> Iterator[Scope]:
    waiting = [function]
    while waiting:
        one = waiting.pop()
        waiting += [child for child in one.children if child.kind in {"class", "comprehension"}]
        yield one


def _is_annotated(name: str, function: Scope) -> bool:
    """Whether an annotation says of which classes a parameter is."""
    return any(classes_in(annotation_of(one)) for one in function.bindings.get(name, ()) if one.kind == PARAMETER)
