"""Names by the scope that binds them, and references that wait for their scope to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from envdoctor.linker.summary import INSTANCE

if TYPE_CHECKING:
    from collections.abc import Iterator


class Use(NamedTuple):
    """A chain of attributes on a name, or an attribute that is set on one (``store``)."""

    root: str
    path: tuple[str, ...]
    line: int
    flags: int
    attempt: int = 0
    handler: int = 0
    call: Any = None
    store: bool = False


class Scope:
    """One module, class or function while it is read.

    ``bound`` counts what binds a name here, imports apart; ``imports`` has the modules and paths that a name is
    imported from; ``keys`` what a dictionary of this name surely has; ``types`` names what makes the value of a name:
    the root and path of a class. ``record`` is what is kept of the class that is being read, here or around.
    """

    def __init__(self, kind: str, parent: Scope | None = None) -> None:
        self.kind = kind
        self.parent = parent
        self.bound: dict[str, int] = {}
        self.shadowed: set[str] = set()
        self.imports: dict[str, list[tuple[str, str]]] = {}
        self.types: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.outer: set[str] = set()
        self.keys: dict[str, list[str]] = {}
        self.record: list[Any] = parent.record if parent is not None and kind == "function" else []
        self.pending: list[Use] = []

    def bind(self, name: str) -> None:
        """Take note of a name that gets a value here."""
        self.bound[name] = self.bound.get(name, 0) + 1

    def settled(self) -> Iterator[tuple[Use, str, str, int]]:
        """Each pending use of an imported name, with the module and path it is of, and how much the import gave.

        The others go to the parent.
        """
        for use in self.pending:
            root, path = use.root, use.path
            if self.bound.get(root) == 1 and root in self.types and root not in self.shadowed:
                root, path = self.types[root][0], (*self.types[root][1], INSTANCE, *path)
            if root in self.bound or root in self.shadowed:
                continue
            origins = self.imports.get(root)
            if origins is None:
                outside = self.parent
                while outside is not None and outside.kind == "class":
                    outside = outside.parent
                if outside is not None:
                    outside.pending.append(use._replace(root=root, path=path))
            elif len(set(origins)) == 1:
                module, inner = origins[0]
                steps = inner.split(".") if inner else []
                yield use, module, ".".join((*steps, *path)), len(steps)
