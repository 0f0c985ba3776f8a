"""The facts of the shared libraries of each release: read side by side, and kept in the user's cache."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import zlib
from typing import Any

from envdoctor.linker import store
from envdoctor.linker.module_files import size_of
from envdoctor.probes import cache, parallel, shared_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.linker.module_files import Layout

#: So many bytes of a binary take as long as one character of source.
_BYTES_OF_A_CHARACTER = 16


class Facts:
    """The facts of shared libraries by path: ``elf`` as :func:`shared_objects.read_facts` has them, and ``works``.

    ``works`` says with which releases of others a file works by its own words: ``[distribution, specifier, when]``.
    """

    def __init__(self, layout: Layout, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        self._layout = layout
        self._rows = rows
        self._reads = shared_objects.can_read()
        self._held: dict[str, dict[str, Any]] = {}
        self.owners: dict[str, str] = {}

    def prepare(self) -> None:
        """Take what is kept of each distribution, and read the rest on every core."""
        new: list[tuple[str, str]] = []
        for owner, paths in self._listed().items():
            self.owners.update(dict.fromkeys(paths, owner))
            kept = store.load(self._place(owner)) if owner in self._layout.keys else None
            if kept is not None:
                self._held.update(zip(paths, kept["files"]))
            else:
                new += [(owner, path) for path in paths]
        weights = [size_of(path) // _BYTES_OF_A_CHARACTER for _, path in new]
        for at, answer in parallel.each(weights, lambda at: json.dumps(self._made(new[at][1])).encode()).items():
            self._held[new[at][1]] = json.loads(answer)
        self._keep({owner for owner, _ in new})

    def of(self, path: str) -> dict[str, Any]:
        """The facts of a file, which may be the system's."""
        if path not in self._held:
            self._held[path] = {"elf": shared_objects.read_facts(path) if self._reads else None, "works": []}
        return self._held[path]

    def elf(self, path: str) -> dict[str, Any] | None:
        """Those of its header."""
        found: dict[str, Any] | None = self.of(path)["elf"]
        return found

    def _listed(self) -> dict[str, list[str]]:
        """The shared libraries of each distribution that has some, in a fixed order."""
        found: dict[str, list[str]] = {}
        for owner, names in self._layout.names.items():
            modules = (self._layout.modules[name] for name in names)
            paths = {one.path for one in modules if one.kind == "native" and one.owner == owner}
            paths |= {path for path in self._layout.others.get(owner, ()) if ".so" in os.path.basename(path)}
            there = sorted(path for path in paths if os.path.exists(path))  # of a fetched wheel they are not
            if there:
                found[owner] = there
        return found

    def _made(self, path: str) -> dict[str, Any]:
        return {"elf": shared_objects.read_facts(path) if self._reads else None, "works": list(self._works(path))}

    def _works(self, path: str) -> list[list[str]]:
        """The first row of each distribution that the bytes of a file fit."""
        found = []
        try:
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                for name, rows in self._rows.items():
                    row = data.find(name.encode()) >= 0 and next(filter(None, (_fit(row, data) for row in rows)), None)
                    if row:
                        found.append([name, *row])
        except (OSError, ValueError):  # an empty file cannot be mapped
            return []
        return found

    def _keep(self, owners: set[str]) -> None:
        paths: dict[str, list[str]] = {}
        for path, owner in self.owners.items():
            paths.setdefault(owner, []).append(path)
        for owner in owners & self._layout.keys.keys():
            data = json.dumps({"files": [self._held[path] for path in paths[owner]]}, separators=(",", ":"))
            cache.keep(self._place(owner), zlib.compress(data.encode(), 1))

    def _place(self, owner: str) -> str:
        parts = [self._layout.versions[owner], self._layout.keys[owner], json.dumps(self._rows), str(self._reads)]
        digest = hashlib.blake2b("\n".join([*parts, store.version()]).encode(), digest_size=12).hexdigest()
        return os.path.join(store.directory(), f"{owner}-{digest}.so.json.z")


def _fit(row: Mapping[str, Any], data: mmap.mmap) -> tuple[str, str] | None:
    """The specifier that a row of the vocabulary finds in the bytes of a file, and when it matters."""
    found = re.search(row["text"].encode(), data)
    if found is None or data.find(row.get("also", "").encode()) < 0:
        return None
    if "without" in row and data.find(row["without"].encode()) >= 0:
        return None
    return row["works"].format(*(group.decode("ascii", "replace") for group in found.groups())), row.get(
        "when", "import"
    )
