"""The reading of a module, as the readers of its statements take it."""

from __future__ import annotations

from typing import Any

from envdoctor.linker.expressions import Expressions
from envdoctor.linker.forms import Forms
from envdoctor.linker.module_record import ModuleRecord
from envdoctor.linker.objects import Objects
from envdoctor.linker.summary import CONDITIONAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

    from envdoctor.linker.scopes import Scope, Use


class ModuleReading(ModuleRecord):
    """A record with what reads expressions, objects and forms into it; how statements are read is left open."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        self.objects = Objects(self)
        self.forms = Forms(self)
        self.expressions = Expressions(self, self.objects, self.forms)
        self.walk = self.expressions.walk

    def body(self, statements: Sequence[ast.stmt]) -> bool:
        """Read statements in order; whether the end is surely not reached."""
        raise NotImplementedError

    def within(self, statements: Sequence[ast.stmt], flags: int) -> bool:
        """Read statements that are reached under further circumstances."""
        before = self.flags
        self.flags |= flags
        self.branches += 1
        ended = self.body(statements)
        self.branches -= 1
        self.flags = before
        return ended

    def close(self, scope: Scope) -> None:
        """Resolve the uses of a scope that ends."""
        if scope.own and scope.bound.get(scope.own) == 1:
            for use in scope.pending:
                if use.root == scope.own:
                    self.objects.own(use, scope.record)
        if scope.imported:
            self._keep_submodules(scope)
        for use, module, path, own in scope.settled():
            if use.store:
                self.stores.add((module, path))
            elif path:
                self.keep_use(use, module, path, own)
        self.objects.settle(scope)
        if scope is self.top:
            self._own_stores(scope.pending)

    def _keep_submodules(self, scope: Scope) -> None:
        """Keep the imports of submodules in a function; one never used is there for tools that read imports."""
        used = {use.root for use in scope.pending} | scope.outer
        for use, module, path in scope.imported:
            self.keep_use(use if use.root in used else use._replace(flags=use.flags | CONDITIONAL), module, path, 0)

    def _own_stores(self, uses: Iterable[Use]) -> None:
        """What the module sets on its own classes."""
        for use in uses:
            number = self.class_numbers.get(use.root)
            if use.store and number is not None and len(use.path) == 1:
                if use.path[0] == "*":
                    self.classes[number][2] = True
                elif use.path[0] in self.classes[number][3]:
                    self.classes[number][3][use.path[0]] = None
                self.classes[number][1].add(use.path[0])
