"""Imports for type checkers, which are not run, of the names that a module's ``__getattr__`` makes.

A module that imports its parts when they are asked for lists them under ``if TYPE_CHECKING``, or in a stub beside it.
"""

from __future__ import annotations

import ast

from envdoctor.linker import operations
from envdoctor.linker.lazy_stubs import has_stub
from envdoctor.linker.makings import last
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.store import Store
    from envdoctor.linker.verdicts import Answer


class Hinted:
    """Resolves such names; ``offers`` answers what a module has."""

    def __init__(self, layout: Layout, store: Store, offers: Callable[[str, str], Answer]) -> None:
        self._layout, self._store, self._offers = layout, store, offers
        self._imports: dict[str, list[tuple[str, str, str]]] = {}

    def answer(self, module: str, name: str) -> Answer | None:
        """The answer about what a name is declared to be; ``None`` where nothing declares it, or nothing is there."""
        definitions = self._store.definitions(module)
        if "__getattr__" not in definitions.get("names", {}) and name not in (definitions.get("all") or ()):
            return None
        if module not in self._imports:
            self._imports[module] = list(self._type_checking_imports(module))
        for origin, inner, own in self._imports[module]:
            if own in {name, "*"} and origin != module:
                found = self._offers(origin, name if own == "*" else inner)
                if found.verdict is True and (own != "*" or found.value):
                    return found
        return None

    def _type_checking_imports(self, module: str) -> Iterator[tuple[str, str, str]]:
        """The imports for type checkers: module, name in it, and name here."""
        place = self._layout.modules[module]
        package = module if place.kind == "package" else module.rpartition(".")[0]
        for node in self._type_checking_statements(self._store.text(module), place.path):
            if isinstance(node, ast.ImportFrom):
                origin = operations.absolute(node.module or "", node.level, package)
                yield from ((origin, one.name, one.asname or one.name) for one in node.names)

    def _type_checking_statements(self, text: bytes, path: str) -> Iterator[ast.stmt]:
        """The statements of a module under ``if TYPE_CHECKING``, and those of the stub that makes its names."""
        tree = parsed(text) if b"TYPE_CHECKING" in text else None
        for node in tree.body if tree else ():
            if isinstance(node, ast.If) and last(node.test) == "TYPE_CHECKING":
                yield from node.body
        stub = self._stub(path) if has_stub(text) else None
        yield from stub.body if stub else ()

    def _stub(self, path: str) -> ast.Module | None:
        """The tree of the stub beside a file; nothing where there is none."""
        try:
            return parsed(self._store.source(f"{path}i"))
        except OSError:
            return None
