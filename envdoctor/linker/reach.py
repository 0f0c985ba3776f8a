"""Which modules are imported, from where, and what is caught or decided on the way."""

from __future__ import annotations

import itertools
import os
import re
from typing import Any

from envdoctor.linker.module_files import size_of
from envdoctor.linker.summary import CATCHES_ALL, CONDITIONAL, FROM, IMPORTS, LATER, PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.resolve import Resolver
    from envdoctor.linker.store import Store

#: A way begins at an entry point, or at a submodule that its user imports.
ENTRY, SUBMODULE = 1024, 2048
#: What travels along a way.
_CARRIED = CATCHES_ALL | CONDITIONAL | LATER | ENTRY | SUBMODULE
#: Source, in bytes, of further submodules that are read although no import leads to them: of a distribution, of all.
MOST_FURTHER = 1_000_000
MOST_FURTHER_OF_ALL = 24_000_000
#: Source, in bytes, that is read of one distribution at all.
MOST_OF_ONE = 16_000_000
_MOST_TEXT = 1 << 20
_ORDER = {"error": 0, "warning": 1, "info": 2, "silent": 3}
#: So many modules take a while to read.
LARGE_WAVE = 1000


class Reach:
    """The ways on which modules are reached; each is a set of flags, and only the plainest are kept."""

    def __init__(self, layout: Layout, store: Store, resolver: Resolver, tell: Callable[[str], None]) -> None:
        self._layout = layout
        self._store = store
        self._resolver = resolver
        self._tell = tell
        self.ways: dict[str, list[int]] = {}
        self.natives: dict[str, set[int]] = {}
        self.skipped: dict[str, int] = {}
        #: What is imported when a function is called.
        self._later: dict[str, None] = {}
        self._size: dict[str, int] = {}
        self._failing: dict[str, dict[int, bool | None]] = {}
        self._around: dict[str, Sequence[str]] = {}
        self._known_edges: dict[str, Sequence[tuple[str, int]]] = {}

    def follow(self, roots: dict[str, int] | None = None) -> None:
        """Read what top-level imports, entry points and submodules reach, or the given modules, and find the ways."""
        seen: set[str] = set()
        alone = roots is not None
        roots = self._roots() if roots is None else roots
        self._read(roots, seen)
        self._read(further := {} if alone else self._further(seen), seen)
        while later := [one for one in self._later if one not in seen and one not in self._resolver.left]:
            self._read(later, seen)
        self._resolver.forget()
        for name in roots:
            self._spread(name, roots[name])
        for name in further:
            if name not in self.ways:
                self._spread(name, SUBMODULE)

    # --- where ways begin -------------------------------------------------------------------------------------------

    def _roots(self) -> dict[str, int]:
        """The shallowest modules of each distribution, and the modules of its entry points."""
        roots: dict[str, int] = {}
        for owner, names in self._layout.names.items():
            tops = [name for name in names if not self._layout.is_aside(name) and self._is_top(name)]
            plain = [name for name in tops if not name.startswith("_")]
            roots.update(dict.fromkeys(plain, 0))
            for name in entry_points(self._layout.metadata[owner]):
                if name in self._layout.modules:
                    roots.setdefault(name, ENTRY)
        return roots

    def _is_top(self, name: str) -> bool:
        outer = name.rpartition(".")[0]
        above = outer in self._layout.namespaces and outer not in self._layout.modules
        return not outer or (above and self._is_top(outer))

    def _further(self, seen: set[str]) -> dict[str, int]:
        """Submodules that nothing imports, of the distributions where they are few."""
        further: dict[str, int] = {}
        sizes, known = {}, seen | self._resolver.left
        for owner, names in self._layout.names.items():
            left = [name for name in names if name not in known and self._is_for_others(name)]
            sizes[owner] = (sum(size_of(self._layout.modules[name].path) for name in left), left)
        total = 0
        for owner, (size, left) in sorted(sizes.items(), key=lambda item: item[1][0]):
            total += size
            if size <= MOST_FURTHER and total <= MOST_FURTHER_OF_ALL:
                further.update(dict.fromkeys(left, SUBMODULE))
            else:
                self.skipped[owner] = self.skipped.get(owner, 0) + len(left)
        return further

    def _is_for_others(self, name: str) -> bool:
        """Whether a module has source that is meant to be imported by others."""
        is_hidden = any(part[:1] == "_" for part in name.split("."))
        return not is_hidden and self._is_python(name) and not self._layout.is_aside(name)

    def _is_followed_into(self, name: str, way: int) -> bool:
        """Whether a module has imports that can be read; a compiled one keeps the way to it."""
        if not self._is_python(name):
            self.natives.setdefault(name, set()).add(way)
        return self._is_python(name)

    def _is_python(self, name: str) -> bool:
        return self._layout.modules[name].kind != "native"

    # --- reading ----------------------------------------------------------------------------------------------------

    def _read(self, roots: Iterable[str], seen: set[str]) -> None:
        """Read modules and what they import, wave by wave."""
        wave = [one for name in roots for one in self._with_parents(name) if one not in seen]
        while wave := self._affordable(dict.fromkeys(wave)):
            self._tell(f"reading {len(wave)} modules ({len(seen)} are read)")
            self._store.prepare(wave)
            if len(wave) > LARGE_WAVE:
                self._store.keep()  # who interrupts a long run does not begin anew
            seen.update(wave)
            wave = [one for name in wave for one in self._imported(name) if one not in seen]

    def _imported(self, name: str) -> Iterator[str]:
        """What a module imports on import; what its functions import is left for later."""
        for ref in self._resolver.take_note(name).get("refs", ()):
            if ref[3] & IMPORTS and ref[3] & LATER:
                self._later.update(dict.fromkeys(self._targets(ref)))
            elif ref[3] & IMPORTS and self._is_followed(ref, name):
                yield from self._targets(ref)

    def _affordable(self, wave: Iterable[str]) -> list[str]:
        """Of modules those that are read: of a distribution with very much source, what is nearest to its top."""
        found = []
        for name in wave:
            module = self._layout.modules[name]
            self._size[module.owner] = self._size.get(module.owner, 0) + size_of(module.path) * self._is_python(name)
            if self._size[module.owner] <= MOST_OF_ONE:
                found.append(name)
            elif name not in self._resolver.left:
                self._resolver.left.add(name)
                self.skipped[module.owner] = self.skipped.get(module.owner, 0) + 1
        return found

    def _is_followed(self, ref: list[Any], name: str) -> bool:
        """Whether an import that is reached happens; of a ``try``, the handler only where a module is missing."""
        body = self._resolver.take_note(name).get("refs", ()) if ref[5] > 0 else ()
        tried = [one[0] for one in body if one[4] == ref[5]]
        return not tried or any(not self._resolver.module(one).verdict for one in tried)

    def _targets(self, ref: list[Any]) -> Iterator[str]:
        """The modules that an import statement executes."""
        yield from self._with_parents(ref[0])
        if ref[3] & FROM:
            inner = f"{ref[0]}.{ref[1]}"
            if inner in self._layout.modules:
                yield inner

    def _with_parents(self, name: str) -> Sequence[str]:
        """A module with the packages around it, innermost first, as far as the layout has them."""
        found = self._around.get(name)
        if found is None:
            outer = self._with_parents(name.rpartition(".")[0]) if name else ()
            found = self._around[name] = (name, *outer) if name in self._layout.modules else outer
        return found

    def executed(self, names: Iterable[str], owner: str) -> set[str]:
        """The modules of a distribution that a plain import of some of them executes for sure."""
        todo, found = [*names], set[str]()
        while todo:
            name = todo.pop()
            if name not in found and name in self.ways and self._layout.modules[name].owner == owner:
                found.add(name)
                refs = self._resolver.take_note(name).get("refs", ())
                todo += [one for ref in refs if is_plain(ref) for one in self._targets(ref)]
        return found

    # --- ways -------------------------------------------------------------------------------------------------------

    def _spread(self, name: str, way: int) -> None:
        stack = [(one, way) for one in self._with_parents(name)]
        while stack:
            name, way = stack.pop()
            if name in self._resolver.left or not self._is_new(name, way):
                continue
            edges = self._edges(name)
            stack += [(one, way | flags) for one, flags in edges if self._is_followed_into(one, way | flags)]

    def _edges(self, name: str) -> Sequence[tuple[str, int]]:
        """The modules that a module imports, each with what travels along."""
        found = self._known_edges.get(name)
        if found is None:
            edges: dict[tuple[str, int], None] = {}
            for ref in self._resolver.take_note(name).get("refs", ()):
                flags = self.flags(name, ref) if ref[3] & IMPORTS else None
                if flags is not None:
                    edges.update(((one, flags & _CARRIED), None) for one in self._targets(ref))
            plain = {one for one, flags in edges if not flags}
            found = [(one, flags) for one, flags in edges if not flags or one not in plain]
            self._known_edges[name] = found
        return found

    def _is_new(self, name: str, way: int) -> bool:
        """Add a way unless one that is as plain is known."""
        known = self.ways.setdefault(name, [])
        if any(one & way == one for one in known):
            return False
        known[:] = [one for one in known if one & way != way]
        known.append(way)
        return True

    def flags(self, name: str, ref: Sequence[Any]) -> int | None:
        """The flags of a reference; none in a handler whose ``try`` succeeds, or the ``else`` of one that fails."""
        flags, handler = int(ref[3]), ref[5]
        around = self._resolver.take_note(name).get("around", {}) if handler else {}
        while handler:
            failing = self._fails(name, abs(handler))
            if failing is (handler < 0):
                return None
            flags |= CONDITIONAL if failing is None else 0
            handler = around.get(abs(handler), 0)
        return flags

    def stands_in(self, name: str, ref: Sequence[Any]) -> bool:
        """Whether a reference is in the handler of a ``try`` that imports what nothing installed has."""
        refs = self._resolver.take_note(name).get("refs", ()) if ref[5] > 0 else ()
        return any(one[4] == ref[5] and self._resolver.offers(one[0], one[1]).why == "absent" for one in refs)

    def _fails(self, name: str, attempt: int) -> bool | None:
        """Whether what a ``try`` imports is surely missing."""
        held = self._failing.setdefault(name, {})
        if attempt not in held:
            held[attempt] = None  # a module that imports itself
            verdicts = [
                self._resolver.offers(ref[0], ref[1]).verdict
                for ref in self._resolver.take_note(name).get("refs", ())
                if ref[4] == attempt
            ]
            held[attempt] = True if False in verdicts else None if None in verdicts or not verdicts else False
        return held[attempt]


def is_plain(ref: Sequence[Any]) -> bool:
    """Whether a reference is an import that happens whenever its module is imported, and that nothing catches."""
    return ref[3] & ~FROM == IMPORTS and not ref[5]


def entry_points(folder: str) -> list[str]:
    """The modules that a distribution's entry points name."""
    return [module for modules in groups(folder).values() for module in modules]


def groups(folder: str) -> dict[str, list[str]]:
    """The modules that a distribution's entry points name, by group."""
    found: dict[str, list[str]] = {}
    group = ""
    for line in _entry_lines(folder):
        if line.startswith("["):
            group = line.strip("[]")
        elif "=" in line and not line.startswith("#"):
            value = line.partition("=")[2].partition("[")[0].partition(":")[0].strip()
            found.setdefault(group, []).append(value)
    return found


def _entry_lines(folder: str) -> list[str]:
    try:
        with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file.read(_MOST_TEXT).splitlines()]
    except OSError:
        return []


def keywords_of_setup(folder: str) -> dict[str, tuple[str, str]]:
    """By argument of ``setup()``, the module and the name of the function that checks it, by entry points."""
    lines = _entry_lines(folder)
    at = lines.index("[distutils.setup_keywords]") + 1 if "[distutils.setup_keywords]" in lines else len(lines)
    rows = itertools.takewhile(lambda line: not line.startswith("["), lines[at:])
    named = (line.partition("=")[::2] for line in rows if "=" in line)
    parts = ((key.strip(), value.strip().partition(":")) for key, value in named)
    return {key: (module, name) for key, (module, _, name) in parts}


def starting(layout: Layout) -> list[str]:
    """The files of modules that path files import when Python starts."""
    found = []
    for path in layout.links():
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read(_MOST_TEXT).splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith("import "):
                words = re.findall(r"[A-Za-z_]\w*", line)
                found += [layout.modules[word].path for word in words if word in layout.modules]
    return found


def severity_of(ways: list[int], flags: int, catching: int) -> tuple[str, int]:
    """The severity of a reference with these flags that finds nothing, on the plainest of the ways; and that way."""
    best = ("silent", 0)
    for one in ways:
        way = one | flags
        if way & catching:
            severity = "silent"
        elif way & CONDITIONAL:
            severity = "info"
        else:
            severity = "warning" if way & (LATER | ENTRY | SUBMODULE | PROGRAM) else "error"
        best = min(best, (severity, way), key=lambda pair: _ORDER[pair[0]])
    return best
