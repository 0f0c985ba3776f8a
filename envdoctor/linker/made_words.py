"""Where distributions make something of a name: a definition, a value, a key, or a text of it."""

from __future__ import annotations

import re

from envdoctor.engine.families import PYTHON_2
from envdoctor.linker.module_files import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.linker.reach import Reach
    from envdoctor.linker.world import World

_IMPORTED = re.compile(rb"(?:^|[:;])[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
#: How an attribute, a parameter, a key, a column or an option of this name is made.
_MADE = r"(?:\b(?:def|class|import|as)\s+{0}\b|\b{0}\s*(?:=(?!=)|:)|[\"']{0}[\"']|--{1}\b)"


class MadeWords:
    """Looks words up in the source and the compiled modules of a world; nothing is looked up twice."""

    def __init__(self, world: World, reach: Reach) -> None:
        self._world, self._reach = world, reach
        self._defined: dict[tuple[str, str], bool] = {}
        self._imports: dict[str, set[str]] = {}

    def imported(self, name: str) -> set[str]:
        """The distributions that a module imports from; empty for the standard library."""
        refs = self._world.resolver.take_note(name).get("refs", ())
        return {self._world.layout.owner(ref[0]) for ref in refs} - {""}

    def tops_of(self, name: str) -> set[str]:
        """The distributions that a module imports, for a type checker too; an empty name for what is absent."""
        tops = {one.decode() for one in _IMPORTED.findall(self._world.store.text(name))}
        tops -= {*self._world.standard.tops, *PYTHON_2}  # which many ask for first, and go on without
        return {self._world.layout.owner(top) for top in tops}

    def imported_by(self, owner: str) -> set[str]:
        """The distributions that any module of one imports from."""
        if owner not in self._imports:
            names = self._world.layout.names.get(owner, ())
            known = [one for one in names if one in self._reach.ways]
            self._imports[owner] = set().union(*map(self.imported, known))
        return self._imports[owner]

    def is_made(self, owners: Iterable[str], word: str) -> bool:
        """Whether a distribution makes anything so called, or has a compiled module that names it."""
        return any(self._is_made(one, word) for one in sorted(owners))

    def _is_made(self, owner: str, word: str) -> bool:
        if (owner, word) not in self._defined:
            made = any(True for _ in self.places(owner, word))
            self._defined[owner, word] = made or self.is_compiled(owner, word)
        return self._defined[owner, word]

    def is_compiled(self, owner: str, word: str) -> bool:
        """Whether a compiled module of a distribution has a word in it."""
        natives = self._world.layout.natives(owner) if owner != PROJECT else []
        return any(self._world.resolver.words.in_file(path, word) is not False for path in natives)

    def places(self, owner: str, word: str) -> Iterator[tuple[bytes, re.Match[bytes]]]:
        """Where the source of a distribution makes something so called: the source, and the place in it."""
        plain, dashed = word.encode(), word.replace("_", "-")
        option, pattern = f"--{dashed}".encode(), re.compile(_MADE.format(word, dashed).encode())
        for name in self._world.layout.names.get(owner, ()):
            if name in self._world.layout.modules and self._world.layout.modules[name].kind != "native":
                text = self._world.store.text(name)
                if plain in text or option in text:
                    yield from ((text, one) for one in pattern.finditer(text))
