"""What the first part of a dotted name tells about all of it, before that is resolved."""

from __future__ import annotations

import ast

from envdoctor.probes.source.scopes import IMPORT, below, silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.source.scopes import Binding, Place, Scope


class Roots:
    """The names of one file."""

    def __init__(self, module: Scope) -> None:
        self._module = module
        self._counted: dict[str, int] = {}
        top = module.inside.block
        #: The names that one plain import at the top of the file binds there, and nothing else.
        self._imports: dict[str, Binding] = {
            name: one
            for name, (one, *others) in module.bindings.items()
            if not others and one.kind == IMPORT and one.place.block is top and not top.spared and one.value[:1] != "."
        }

    def may_tell(self, target: ast.expr, scope: Scope) -> bool:
        """Whether a dotted name is worth resolving: something known may be at its root."""
        first = ""
        while isinstance(target, ast.Attribute):
            first, target = target.attr, target.value
        if not isinstance(target, ast.Name):
            return True
        if scope.parent is not None and scope.receiver == target.id:
            return first in scope.parent.bindings or bool(scope.parent.attribute(first))
        return _is_telling(target.id, scope)

    def imported(self, target: ast.expr, place: Place) -> str | None:
        """The full name of a dotted name below one that only an import binds, which is what resolving it comes to."""
        attributes = []
        while isinstance(target, ast.Attribute):
            attributes.append(target.attr)
            target = target.value
        binding = self._imports.get(target.id) if isinstance(target, ast.Name) else None
        if binding is None or not isinstance(target, ast.Name) or not self._is_direct(target.id, binding, place):
            return None
        return ".".join([binding.value, *reversed(attributes)]) if attributes else str(binding.value)

    def _is_direct(self, name: str, binding: Binding, place: Place) -> bool:
        """Whether nothing but an import binds a name; where it is the nearest, what else there is does not matter."""
        later = binding.order <= place.order
        scope = place.scope
        if scope is self._module:
            return later
        while scope is not self._module and scope.parent is not None:
            if name in scope.bindings:
                return False
            if name in scope.outer:
                return self._count(name) == 1
            later = later or scope.kind in {"function", "lambda"}
            scope = scope.parent
        return later or self._count(name) == 1

    def _count(self, name: str) -> int:
        """How often a name is bound in the whole file."""
        if name not in self._counted:
            self._counted[name] = sum(len(scope.bindings.get(name, ())) for scope in below(self._module))
        return self._counted[name]


def _is_telling(name: str, scope: Scope) -> bool:
    """Whether a name may stand for something of another file where it is read."""
    one: Scope | None = scope
    while one is not None:
        bindings = one.outer.get(name, one).bindings.get(name)
        if bindings is not None and (one.kind != "class" or one is scope):
            return not all(map(silent, bindings))
        one = one.parent
    return False
