"""The names of packages that are attached lazily: those that the stub beside their ``__init__`` file imports.

What is given the name and the file of a package alone, and returns ``__getattr__, __dir__, __all__``, reads that stub
when the package is imported, and answers for nothing else (https://scientific-python.org/specs/spec-0001/).
"""

from __future__ import annotations

import ast
import re

from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.store import Store

_ATTACHED = re.compile(rb"^__getattr__,[^\n=]*=\s*[\w.]+\(\s*__name__,\s*__file__\s*\)", re.MULTILINE)


def has_stub(text: bytes) -> bool:
    """Whether a module has the names that the stub beside it imports."""
    return _ATTACHED.search(text) is not None


class LazyStubs:
    """Reads the stubs of packages, each once."""

    def __init__(self, layout: Layout, store: Store) -> None:
        self._layout, self._store = layout, store
        self._known: dict[str, dict[str, tuple[str, str]] | None] = {}

    def names(self, module: str) -> dict[str, tuple[str, str]] | None:
        """The module and attribute behind each name that a package has by its stub; ``None`` where it has none."""
        if module not in self._known:
            self._known[module] = self._read(module) if has_stub(self._store.text(module)) else None
        return self._known[module]

    def _read(self, module: str) -> dict[str, tuple[str, str]] | None:
        place = self._layout.modules[module]
        try:
            tree = parsed(self._store.source(place.path + "i"))
        except OSError:
            return None
        package = module if place.kind == "package" else module.rpartition(".")[0]
        imports = [one for one in tree.body if isinstance(one, ast.ImportFrom) and one.level == 1] if tree else []
        return {name: origin for one in imports for name, origin in _taken(one, package)} or None


def _taken(node: ast.ImportFrom, package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names that an import of a stub gives, each with the module and the attribute behind it."""
    for one in node.names:
        inner = f"{package}.{node.module or one.name}"
        yield one.asname or one.name, (inner, one.name if node.module else "")
