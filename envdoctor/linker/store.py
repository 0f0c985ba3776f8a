"""Summaries by distribution release, in the user's cache: a file each, made side by side, and never twice."""

from __future__ import annotations

import functools
import hashlib
import json
import marshal
import os
import sys
import zlib
from importlib import resources
from typing import Any

from envdoctor.linker.module_files import size_of
from envdoctor.linker.module_reader import ModuleReader, summary_of
from envdoctor.linker.syntax_trees import SyntaxTrees
from envdoctor.probes import cache, parallel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from envdoctor.linker.branches import Target
    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.summary import Summary

#: A file longer than this is generated, and takes nothing of others.
LONGEST = 4 << 20
#: Entries and bytes on disk; the oldest go first.
MOST_ENTRIES, MOST_BYTES = 4000, 256 << 20
_MOST_OF_ONE = 64 << 20
#: So many summaries are unpacked at a time, and as many that were asked for before these.
MOST_OPEN = 1000


class Store:
    """Summaries of the modules of a layout, for one target."""

    def __init__(self, layout: Layout, target: Target, keep: Callable[[str, str, object], bool]) -> None:
        self._layout = layout
        self.target = target
        self._keep = keep
        self._held: dict[str, dict[str, bytes]] = {}
        self._open: dict[str, Summary] = {}
        self._unpacked: dict[str, Summary] = {}
        self._open_before: dict[str, Summary] = {}
        self._unpacked_before: dict[str, Summary] = {}
        self._changed: set[str] = set()
        self._class_names: dict[tuple[str, int], str] = {}
        self.read = 0
        #: Scripts, by the name of their module, that are read from here and not from a file.
        self.sources: dict[str, bytes] = {}
        self.trees = SyntaxTrees(self.text)

    def get(self, name: str) -> Summary:
        """The summary of a module that the layout has; it is read where that has not been done."""
        found = self._open.get(name)
        if found is None:
            if len(self._open) >= MOST_OPEN:
                self._open_before, self._open = self._open, {}
            found = self._open_before.get(name)
            if found is None:
                found = marshal.loads(self.packed(name))  # noqa: S302 - packed by this user
            self._open[name] = found
        return found

    def packed(self, name: str) -> bytes:
        """The summary of a module as it is kept: the names in it are found in these bytes."""
        owner = self._layout.modules[name].owner
        held = self._of(owner)
        if name not in held:
            held[name] = self._made(name)
            self._changed.add(owner)
            self.read += 1
        return held[name]

    def text(self, name: str) -> bytes:
        """The source of a module; nothing where it cannot be read."""
        try:
            return self.sources[name] if name in self.sources else self.source(self._layout.modules[name].path)
        except OSError:
            return b""

    def definitions(self, name: str) -> Summary:
        """The names and definitions of a module, which are unpacked when they are first asked for."""
        found = self._unpacked.get(name)
        if found is None:
            if len(self._unpacked) >= MOST_OPEN:
                self._unpacked_before, self._unpacked = self._unpacked, {}
            found = self._unpacked_before.get(name)
            if found is None:
                packed = self.get(name).get("definitions")
                found = marshal.loads(packed) if packed else {}  # noqa: S302 - packed by this user
            self._unpacked[name] = found
        return found

    def class_name(self, module: str, number: int) -> str:
        """The name of a class by its number in a module."""
        if (module, number) not in self._class_names:
            names = self.definitions(module).get("names", {})
            self._class_names[module, number] = next((one for one in names if names[one] == ["c", number]), "a class")
        return self._class_names[module, number]

    def prepare(self, names: Iterable[str]) -> None:
        """Read several modules on every core."""
        modules = self._layout.modules
        new = [name for name in names if modules[name].kind != "native" and name not in self._of(modules[name].owner)]
        weights = [len(self.sources.get(name, "")) or size_of(modules[name].path) for name in new]
        for at, packed in parallel.each(weights, lambda at: self._made(new[at])).items():
            owner = modules[new[at]].owner
            self._held[owner][new[at]] = packed
            self._changed.add(owner)
        self.read += len(new)

    def keep(self) -> None:
        """Write what is new to the cache."""
        for owner in sorted(self._changed & self._layout.keys.keys()):
            cache.keep(self._path(owner), zlib.compress(marshal.dumps(self._held[owner]), 1))
        if self._changed:
            cache.prune(directory(), MOST_ENTRIES, MOST_BYTES)
        self._changed.clear()

    def _of(self, owner: str) -> dict[str, bytes]:
        held = self._held.get(owner)
        if held is None:
            held = self._held[owner] = (
                load(self._path(owner), marshal.loads) if owner in self._layout.keys else None
            ) or {}
        return held

    def _path(self, owner: str) -> str:
        return os.path.join(directory(), f"{owner}-{self.key(owner)}.z")

    def key(self, owner: str) -> str:
        """A digest that identifies a distribution's summaries: its release, its files, the target, and this code."""
        parts = (self._layout.versions[owner], self._layout.keys[owner], *map(str, self.target), version())
        return hashlib.blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()

    def source(self, path: str) -> bytes:
        """The bytes of a file, one more than :data:`LONGEST` where it is longer. Raises :class:`OSError`."""
        with open(path, "rb") as file:
            return file.read(LONGEST + 1)

    def _made(self, name: str) -> bytes:
        module = self._layout.modules[name]
        if module.kind == "native":
            return marshal.dumps({"error": ["native", 0, ""]})
        script = self.sources.get(name)
        try:
            source = script if script is not None else self.source(module.path)
        except OSError as error:
            return marshal.dumps({"error": ["missing", 0, error.strerror or str(error)]})
        if len(source) > LONGEST:
            return marshal.dumps({"error": ["unreadable", 0, "it is longer than 4 MiB"]})
        own = name.partition(".")[0] if script is None else ""
        keep = self._keep
        reader = ModuleReader(
            name,
            self.target,
            lambda other, path, call: other.partition(".")[0] != own and keep(other, path, call),
            package=module.kind == "package",
            script=script is not None,
        )
        return marshal.dumps(summary_of(source, reader))


def load(path: str, read: Callable[[bytes], Any] = json.loads) -> dict[str, Any] | None:
    """The document that an earlier run kept; ``None`` where it is not there or damaged."""
    kept = cache.kept(path, _MOST_OF_ONE)
    try:
        content = read(zlib.decompressobj().decompress(kept, _MOST_OF_ONE)) if kept else None
    except (ValueError, TypeError, EOFError, RecursionError, zlib.error):
        return None
    return content if isinstance(content, dict) else None


def directory() -> str:
    """The directory of summaries."""
    return os.path.join(cache.directory(), "linker")


@functools.cache
def version() -> str:
    """A digest of what is made of files here besides these: the code with its data, and the Python that parses."""
    digest = hashlib.blake2b(repr(sys.version_info[:2]).encode(), digest_size=8)
    own = [one for one in resources.files("envdoctor.linker").iterdir() if one.name.endswith((".py", ".dat"))]
    for file in (*sorted(own, key=lambda one: one.name), resources.files("envdoctor.probes") / "shared_objects.py"):
        digest.update(file.read_bytes())
    return digest.hexdigest()
