"""What a scope does to an object with a name before it is given to a call."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.probes.source.bindings import Place, Scope


class EarlierUses:
    """The uses of names in the scopes of one file, each scope walked once."""

    def __init__(self) -> None:
        self._parts: dict[int, list[tuple[str, int]]] = {}

    def of(self, node: ast.Name, place: Place) -> dict[str, Any]:
        """The methods of an object that are ``called`` before, and the attributes ``dropped``; without empty fields."""
        called = {method for owner, method in self._methods(place) if owner == node.id}
        if any(name == node.id and line < node.lineno for name, line in self._indexed(place.scope)):
            called.add("__getitem__")
        gone = [attr for name, attr, value, _ in place.scope.late if name == node.id and value is None]
        fields = {"called": sorted(called), "dropped": gone}
        return {word: one for word, one in fields.items() if one}

    @staticmethod
    def _methods(place: Place) -> Iterator[tuple[str, str]]:
        """The methods called in a scope before a place, each with the name of its object."""
        for call, where in place.scope.reads:
            method = call.func if isinstance(call, ast.Call) and where.order < place.order else None
            if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name):
                yield method.value.id, method.attr

    def _indexed(self, scope: Scope) -> list[tuple[str, int]]:
        """The names that a scope takes a part of, each with the line."""
        if id(scope) not in self._parts:
            body = [one for one in ast.walk(scope.node) if isinstance(one, ast.Subscript)]
            self._parts[id(scope)] = [(one.value.id, one.lineno) for one in body if isinstance(one.value, ast.Name)]
        return self._parts[id(scope)]
