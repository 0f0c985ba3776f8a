"""Which functions of a file run when it is imported."""

from __future__ import annotations

import ast

from envdoctor.probes.source.scopes import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.source.names import Resolver
    from envdoctor.probes.source.roots import Roots
    from envdoctor.probes.source.scopes import Scope
    from envdoctor.probes.source.things import Thing


class Reach:
    """Follows the calls of one file from its top level."""

    def __init__(self, module: Scope, resolver: Resolver, roots: Roots) -> None:
        self._resolver = resolver
        self._roots = roots
        self._reached = {module}
        self._waiting = [module]

    def among(self, wanted: set[Scope]) -> set[Scope]:
        """Those of some functions, and of the module, that run when the file is imported; calls in a guard do not."""
        while self._waiting and not wanted <= self._reached:
            for callee in self._called_by(self._waiting.pop()):
                if callee not in self._reached:
                    self._reached.add(callee)
                    self._waiting.append(callee)
        return wanted & self._reached

    def _called_by(self, runner: Scope) -> Iterator[Scope]:
        for scope in _run_by(runner):
            for node, place in scope.reads:
                if (
                    isinstance(node, ast.Call)
                    and not place.block.guard
                    and self._roots.may_tell(node.func, scope)
                    and self._roots.imported(node.func, place) is None
                ):
                    yield from self._callees(self._resolver.things(node.func, place))

    def _callees(self, things: Iterable[Thing]) -> Iterator[Scope]:
        for one in things:
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
        one = waiting.pop().opened()
        waiting += [child for child in one.children if child.kind in {"class", "comprehension"}]
        yield one
