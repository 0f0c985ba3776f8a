"""Names by the scope that binds them, and references that wait for their scope to end."""

from __future__ import annotations

from typing import Any, NamedTuple

TYPE_CHECKING = False
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
    imported from; ``keys`` what a dictionary of this name surely has; ``types`` says for each time that a name is
    bound what may make its value, and ``narrowed`` has names whose kind is asked for. ``imported`` has the submodules
    that a function imports. ``record`` is the record of the class that is being read, here or around. ``objects`` are
    uses, and keys of types, that wait with what makes them; ``own`` is what a method calls its object, and
    ``returns`` the key of what a function returns. ``outside`` is the next scope around whose names are seen from
    here, which is none of a class.
    """

    def __init__(self, kind: str, parent: Scope | None = None) -> None:
        self.kind = kind
        self.parent = parent
        self.outside: Scope | None = parent.outside if parent is not None and parent.kind == "class" else parent
        self.bound: dict[str, int] = {}
        self.shadowed: set[str] = set()
        self.imports: dict[str, list[tuple[str, str]]] = {}
        #: By the name, the ``try`` and the handler around each of its imports.
        self.tried: dict[str, list[tuple[int, int]]] = {}
        self.types: dict[str, list[list[tuple[str, tuple[str, ...]]]]] = {}
        self.outer: set[str] = set()
        self.keys: dict[str, list[str]] = {}
        self.record: list[Any] = parent.record if parent is not None and kind == "function" else []
        self.pending: list[Use] = []
        self.imported: list[tuple[Use, str, str]] = []
        self.objects: list[tuple[list[Any], Any]] = []
        self.narrowed: set[str] = set()
        #: The attributes that a function sets on names, ``*`` for any.
        self.sets: set[str] = set()
        self.own = self.returns = ""
        #: By the name of a class, the base whose constructor it has; ``None`` where that is not known.
        self.made_as: dict[str, tuple[str, tuple[str, ...]] | None] = {}

    def bind(self, name: str) -> None:
        """Take note of a name that gets a value here."""
        self.bound[name] = self.bound.get(name, 0) + 1

    def settled(self) -> Iterator[tuple[Use, str, str, int]]:
        """Each pending use of an imported name, with its module and path, and how many steps of that the import names.

        The others go to the parent.
        """
        for use in self.pending:
            root, path = use.root, use.path
            if root in self.types and root != self.own and not use.store:
                self.objects.append(([(root, path)], use))
            if root in self.bound or root in self.shadowed:
                continue
            origins = self.imports.get(root)
            if origins is None:
                if self.outside is not None:
                    self.outside.pending.append(use)
            elif len(set(origins)) == 1:
                module, inner = origins[0]
                steps = inner.split(".") if inner else []
                yield use, module, ".".join((*steps, *path)), len(steps)
            elif number := self._tried(root, use):
                for handler, (module, inner) in zip((-number, number), origins):
                    steps = inner.split(".") if inner else []
                    yield use._replace(handler=handler), module, ".".join((*steps, *path)), len(steps)

    def _tried(self, root: str, use: Use) -> int:
        """The ``try`` that imports a name, where its handler imports it from elsewhere and nothing else does."""
        tried = self.tried.get(root, [])
        if use.handler or len(tried) != len(("try", "except")):
            return 0
        (attempt, around), (outer, handler) = tried
        return attempt if attempt == handler and not around and outer in {0, attempt} else 0
