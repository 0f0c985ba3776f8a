"""What compiled modules miss: libraries and symbols, or the release that they were made for."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from envdoctor.engine.versions import meets
from envdoctor.facts import ENV
from envdoctor.linker.binary_facts import Facts
from envdoctor.linker.linkage import Fault, Linkage, brought
from envdoctor.linker.loader import Loader, Machine
from envdoctor.linker.reach import SUBMODULE, severity_of
from envdoctor.linker.summary import CATCHES_IMPORT, LATER
from envdoctor.linker.verdicts import Missing
from envdoctor.linker.word_search import Words
from envdoctor.probes import ask, shared_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.linker.branches import Target
    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.reach import Reach
    from envdoctor.model import Snapshot

    Rows = Mapping[str, Sequence[Mapping[str, Any]]]

_NOT_READ = "compiled modules whose shared libraries were not read: that needs pip install 'pyenvdoctor[link]'"


class Binaries(NamedTuple):
    """The input besides the distributions: the machine that they run on, and how files state what they are for.

    ``compiled`` and ``generated`` are sections of the vocabulary of rules, by distribution; ``variables`` are those of
    the environment that they ask about.
    """

    machine: Machine
    compiled: Rows
    generated: Rows
    variables: Mapping[str, str]

    @classmethod
    def of(cls, snapshot: Snapshot, vocabulary: Mapping[str, Any]) -> Binaries:
        """Those of a target."""
        generated = vocabulary["generated"]
        names = {name for rows in generated.values() for row in rows for name in row.get("unless", ())}
        values = {name: ask(snapshot, ENV, name) for name in sorted(names)}
        known = {name: value for name, value in values.items() if isinstance(value, str)}
        return cls(Machine.of(snapshot), vocabulary["compiled"], generated, known)

    def state(self) -> Iterator[str]:
        """Texts that identify all that an answer depends on, besides the distributions."""
        yield from self.machine.state()
        yield json.dumps(self[1:])
        yield str(shared_objects.can_read())


class BinarySearch:
    """Checks the reached compiled modules of a layout."""

    def __init__(self, layout: Layout, reach: Reach, target: Target, binaries: Binaries, unknown: Counter[str]) -> None:
        self._layout = layout
        self._reach = reach
        self._target = target
        self._binaries = binaries
        self._unknown = unknown
        self._facts = Facts(layout, binaries.compiled)

    def all(self) -> Iterator[Missing]:
        """Everything that is missing."""
        natives = {name: one.path for name, one in self._layout.modules.items() if one.kind == "native"}
        if not natives or self._target.system != "linux" or self._target.implementation != "cpython":
            return
        self._facts.prepare()
        reads = shared_objects.can_read()
        if not reads:
            self._unknown[_NOT_READ] = len(natives)
        loader = Loader(self._binaries.machine, self._facts.elf, brought(self._facts)) if reads else None
        linkage = Linkage(self._facts, loader, self._unknown) if loader else None
        for name, path in natives.items():
            if self._is_module(path):
                yield from self._native(name, path, linkage)
        if linkage:
            yield from self._named(linkage)

    def _is_module(self, path: str) -> bool:
        """Whether the interpreter takes a file for a module, and what is in it, as far as it can be read, is one."""
        header = self._facts.elf(path)
        starts = header is None or any(one.startswith("PyInit") for one in header["defined"])
        return starts and shared_objects.loadable(os.path.basename(path), self._target.minor)

    def _named(self, linkage: Linkage) -> Iterator[Missing]:
        """What libraries miss that are linked with no compiled module, but named in their distribution's source."""
        words = Words(self._layout)
        for path, owner in self._facts.owners.items():
            file = os.path.basename(path)
            for kind, asked, provider, detail in linkage.libraries(path) if path not in linkage.seen else ():
                if words.anywhere(owner, file.partition(".so")[0]):
                    yield Missing(owner, path, 0, asked, provider, kind, "warning", LATER, file, "", detail)

    def _native(self, name: str, path: str, linkage: Linkage | None) -> Iterator[Missing]:
        """What one compiled module misses, with the libraries of its distribution that are loaded together with it."""
        for one in linkage.loaded(path) if linkage else [path]:
            for provider, works, when in self._facts.of(one)["works"]:
                if self._refuses(name, provider, works):
                    fault = Fault("compiled", provider + works, provider, "")
                    yield from self._missing(name, fault, CATCHES_IMPORT, LATER if when == "call" else 0)
        for fault in linkage.faults(path) if linkage else ():
            yield from self._missing(name, fault, CATCHES_IMPORT)

    def _refuses(self, name: str, provider: str, works: str) -> bool:
        """Whether the installed release of another distribution is none of those that a module was made for."""
        version = self._layout.versions.get(provider)
        return bool(version) and provider != self._layout.modules[name].owner and meets(str(version), works) is False

    def _missing(self, name: str, fault: Fault, catching: int, flags: int = 0) -> Iterator[Missing]:
        """A fault of a module on the plainest way to it; where no import names it, the way is its user's."""
        place = self._layout.modules[name]
        ways = [*self._reach.natives.get(name, ()), *self._reach.ways.get(name, ())]
        severity, way = severity_of(ways or ([] if self._layout.is_aside(name) else [SUBMODULE]), flags, catching)
        kind, asked, provider, detail = fault
        if kind == "compiled" and severity == "info":
            severity = "warning"  # whatever the condition is, this module cannot be loaded
        if severity != "silent":
            yield Missing(place.owner, place.path, 0, asked, provider, kind, severity, way, name, "", detail)
