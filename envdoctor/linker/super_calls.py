"""Calls of ``super()`` in a class with one base: what its object gives the method of that base."""

from __future__ import annotations

import ast

from envdoctor.linker.makings import text
from envdoctor.linker.summary import INHERITED, INSTANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.linker.module_record import ModuleRecord
    from envdoctor.linker.scopes import Use


class SuperCalls:
    """Collects such calls while a module is read."""

    def __init__(self, reader: ModuleRecord) -> None:
        self._reader = reader
        self._found: list[tuple[int, str, Use]] = []

    def add(self, called: ast.expr, use: Use) -> None:
        """Take note of a use whose object ``super(...)`` makes, by the class that it names if it names one."""
        given = called.args[:1] if isinstance(called, ast.Call) else []
        if len(use.path) > 1 and use.path[0] == INSTANCE and all(isinstance(one, ast.Name) for one in given):
            named = next((one.id for one in given if isinstance(one, ast.Name)), "")
            self._found.append((id(self._reader.scope.record), named, use))

    def kept(self, numbers: Mapping[int, int]) -> Iterator[tuple[str, Use]]:
        """Each use with the making of its object, where the class has one base and that is known."""
        names = {number: name for name, number in self._reader.class_numbers.items()}
        for record, named, use in self._found:
            number = numbers.get(record)
            if number is None or named not in {"", names.get(number)}:
                continue
            bases = self._reader.classes[number][0]
            base = self._reader.base(bases[0]) if len(bases) == 1 and number not in self._mixed() else None
            path = (INSTANCE, INHERITED, *use.path[1:])
            if isinstance(base, int) and base in names:
                yield text("", names[base], path), use
            elif isinstance(base, list) and base[0] != "builtins":
                yield text(base[0], base[1], path), use

    def _mixed(self) -> set[int]:
        """The classes that one of several bases of another class is: ``super()`` may be that one's neighbour there."""
        several = (record[0] for record in self._reader.classes if len(record[0]) > 1)
        known = (self._reader.base(base) for bases in several for base in bases)
        return {base for base in known if isinstance(base, int)}
