"""What a project's own source and notebooks use from installed distributions. Nothing of it is imported or run."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from envdoctor.linker import dotted
from envdoctor.linker.forwarded_keywords import ForwardedKeywords
from envdoctor.linker.generated import Generated
from envdoctor.linker.instances import Instances
from envdoctor.linker.lost_words import LostWords
from envdoctor.linker.made_words import MadeWords
from envdoctor.linker.missing import ReferenceSearch
from envdoctor.linker.module_files import PROJECT, Module, is_aside
from envdoctor.linker.overrides import Overrides
from envdoctor.linker.own_checks import OwnChecks
from envdoctor.linker.reach import ENTRY, Reach
from envdoctor.linker.refused_calls import RefusedCalls
from envdoctor.linker.stub_numbers import StubNumbers
from envdoctor.linker.summary import CATCHES_ALL, CONDITIONAL, LATER
from envdoctor.linker.verdicts import Missing
from envdoctor.probes.source import source_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.linker.generated import Rows
    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.resolve import Resolver
    from envdoctor.linker.summary import Summary
    from envdoctor.linker.world import World
    from envdoctor.probes.project import Project

#: Bytes of source that are read of a project.
MOST_SOURCE = 8 << 20
_INSTALLS = (b"pip install", b"pip3 install", b"%pip", b"conda install", b"uv pip")


class ProjectFile(NamedTuple):
    """A file of a project: ``name`` is its path, ``key`` the name that its module has here, and no other has.

    ``way`` is how it is reached: as a script, or by other programs, or where a notebook has prepared what it needs.
    """

    name: str
    key: str
    text: source_text.SourceText
    way: int

    @property
    def folder(self) -> str:
        """The directory of the file; empty for the project's own."""
        return os.path.dirname(self.name)

    def place(self, line: int) -> tuple[str, int]:
        """The file and line as they are shown; of a notebook, all of it in the text."""
        place = self.text.place(line)
        if "cell" not in place:
            return self.name, line
        return f"{self.name} cell {place['cell']} line {place['row']}", 0


class Sources:
    """The source of a project as modules, each reached by the names that scripts of the project import it by.

    ``texts`` has the source by each of these names. ``hidden`` are distributions and their files, by the module that a
    single file hides from the files beside it. ``settings`` are dotted names of its configuration.
    """

    def __init__(self, project: Project) -> None:
        self.all: dict[str, ProjectFile] = {}
        self.left = 0
        self.hidden: dict[str, tuple[str, list[str]]] = {}
        self.texts: dict[str, bytes] = {}
        self.settings: Sequence[dotted.Setting] = ()
        names = project.code()
        self._packages = {os.path.dirname(name) for name in names if name.endswith("__init__.py")}
        size = 0
        for name in names:
            if size > MOST_SOURCE:
                self.left += 1
                continue
            data = project.read(name)
            size += len(data)
            with contextlib.suppress(source_text.TextError):
                key = self._key(name)
                self.all[key] = ProjectFile(name, key, source_text.decode(name, data), _way(name, data))

    def files(self) -> Iterator[tuple[str, str, bytes]]:
        """The key, path and source of each file that is no notebook."""
        for source in self.all.values():
            if source.text.cells is None:
                yield source.key, source.name, self.texts[source.key]

    def _key(self, name: str) -> str:
        """The dotted name below the directory that holds the outermost package; of what is no module, the path."""
        parts = _parts(name)
        start = len(parts) - 1
        while start > 0 and "/".join(parts[:start]) in self._packages:
            start -= 1
        key = ".".join(parts[start:] if parts[-1] != "__init__" else parts[start:-1])
        plain = name.endswith(".py") and all(part.isidentifier() for part in key.split("."))
        return key if plain and key not in self.all else name.replace(".", "/")

    def put_into(self, layout: Layout) -> None:
        """Add the modules to a layout; a package of the project takes the place of one that is installed."""
        tops = {top for some in layout.tops.values() for top in some}
        self._hide(layout, tops)
        for source in self.all.values():
            kind = "package" if source.name.endswith("__init__.py") else "py"
            module, text = Module(source.name, PROJECT, kind), source.text.source.encode("utf-8", "surrogatepass")
            layout.modules[source.key], self.texts[source.key] = module, text
            for name in _suffixes(source.name):
                if name.partition(".")[0] not in tops and layout.modules.setdefault(name, module) is module:
                    self.texts[name] = text
        layout.add_namespaces()
        layout.names[PROJECT] = list(self.all)

    def _hide(self, layout: Layout, tops: set[str]) -> None:
        """Take away the installed packages that modules of the project have the names of."""
        for key in [key for key in self.all if "/" not in key and "." not in key]:
            module = layout.modules.get(key)
            if module is not None and os.path.basename(self.all[key].name) == f"{key}.py":
                paths = [layout.modules[name].path for name in layout.names[module.owner] if name in layout.modules]
                self.hidden[key] = (module.owner, paths)
            if key in tops:
                layout.forget(key)


def _way(name: str, data: bytes) -> int:
    prepared = name.endswith(".ipynb") and any(word in data for word in _INSTALLS)
    return ENTRY if prepared or is_aside(name.rpartition(".")[0].replace("/", ".")) else 0


def _parts(name: str) -> list[str]:
    return name.rpartition(".")[0].split("/")


def _suffixes(name: str) -> Iterator[str]:
    """The names that a file of the project may be imported by, from one directory above it or another."""
    parts = _parts(name)
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    if name.endswith(".py") and all(part.isidentifier() for part in parts):
        for start in range(len(parts)):
            yield ".".join(parts[start:])


def link(
    sources: Sources,
    world: World,
    dispatch: Sequence[Mapping[str, str]],
    generated: tuple[Rows, Mapping[str, str]],
    unknown: Counter[str],
    tell: Callable[[str], None],
) -> list[Missing]:
    """Resolve what a project uses, and count by reason what stays unknown; the sources are in the layout."""
    layout, resolver, store = world.layout, world.resolver, world.store
    store.sources = sources.texts
    reach = Reach(layout, store, resolver, tell)
    reach.follow({key: one.way for key, one in sources.all.items()})
    forwarded = ForwardedKeywords(resolver, store, world.makes)
    refused = RefusedCalls(forwarded, OwnChecks(world, reach), store)
    made = MadeWords(world, reach)
    gone = [*Instances(world, reach, made, refused, forwarded=forwarded).all(sources.all)]
    gone += Overrides(world, dispatch).all(sources.all)
    gone += StubNumbers(world).all(sources.all)
    reach.ways = {key: ways for key, ways in reach.ways.items() if key in sources.all}
    gone += OwnChecks(world, reach).all(sources.all)
    gone += Generated(layout, reach, store, *generated).all()
    search = ReferenceSearch(layout, resolver, reach, world.standard, (forwarded.misfit, refused.misfit))
    found = [one for one in search.all((0, 0), world.target.minor) if one.kind not in {"syntax", "broken"}]
    found += gone
    found += LostWords(world, reach, made).all(sources.all, found)
    found += _hidden(sources, resolver, reach)
    unknown.update(search.unknown)
    if sources.left:
        unknown["files of the project that were not read: there are too many"] = sources.left
    places = {source.name: source for source in sources.all.values()}
    named = dotted.configured(sources.settings, layout, resolver, search.misfit)
    return [*(_shown(one, places[one.file], resolver) for one in found), *named]


def _shown(one: Missing, source: ProjectFile, resolver: Resolver) -> Missing:
    """A finding with its place; of a file that imports what is not installed, which may be for elsewhere, a warning."""
    file, line = source.place(one.line)
    broken = resolver.broken(source.key)
    elsewhere = broken is not None and broken.why == "absent" and one.severity == "error"
    return one._replace(file=file, line=line, severity="warning" if elsewhere else one.severity)


def _hidden(sources: Sources, resolver: Resolver, reach: Reach) -> Iterator[Missing]:
    """Names that a file imports from an installed module that a file in its own directory hides."""
    for key, (owner, paths) in sources.hidden.items():
        hiding = sources.all[key]
        for source in sources.all.values():
            summary = resolver.take_note(source.key) if source.folder == hiding.folder else {}
            for line, name, flags in _taken(key, source, summary, reach):
                lacks = resolver.attribute(key, name).verdict is False
                if lacks and any(resolver.words.in_file(path, name) for path in paths):
                    yield Missing(
                        PROJECT, source.name, line, f"{key}.{name}", owner, "hidden",
                        "warning" if flags & LATER else "error", flags, key, name, hiding.name,
                    )  # fmt: skip


def _taken(key: str, source: ProjectFile, summary: Summary, reach: Reach) -> Iterator[tuple[int, str, int]]:
    """The names that a file uses from a module for sure: line, name and flags."""
    refs: Sequence[list[int | str]] = summary.get("refs", ())
    for ref in refs:
        flags = reach.flags(source.key, ref) if ref[0] == key and ref[1] else None
        if flags is not None and not flags & (CATCHES_ALL | CONDITIONAL):
            yield int(ref[2]), str(ref[1]).partition(".")[0], flags
