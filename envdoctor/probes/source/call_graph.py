"""Which functions of a file run when it is imported."""

from __future__ import annotations

import ast

from envdoctor.probes.source.bindings import CALLS, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.source.abstract_values import Value
    from envdoctor.probes.source.bindings import Scope
    from envdoctor.probes.source.resolver import Resolver


class CallGraph:
    """Follows the calls of one file from its top level."""

    def __init__(self, module: Scope, resolver: Resolver) -> None:
        self._resolver = resolver
        self._module = module

    def reached(self, wanted: set[Scope], *, uncaught: bool = False) -> set[Scope]:
        """Those of some functions, and of the module, that run when the file is imported; calls in a guard do not.

        With ``uncaught``, only those whose callers do not provide for what they raise.
        """
        reached = {self._module}
        waiting = [self._module]
        while waiting and not wanted <= reached:
            new = set(self._called_by(waiting.pop(), CALLS if uncaught else 0)) - reached
            reached |= new
            waiting += new
        return wanted & reached

    def _called_by(self, caller: Scope, apart: int) -> Iterator[Scope]:
        for scope in _run_by(caller):
            for node, place in scope.reads:
                if isinstance(node, ast.Call) and not place.block.guard and not place.block.spared & apart:
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
