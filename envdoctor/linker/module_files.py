"""Which modules an environment contains, in which file, and of which distribution."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from typing import NamedTuple

from envdoctor.model import Distribution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NATIVE = (".so", ".pyd")
#: Which of several files of one name is read: a package hides a module, and source shows more than a binary.
_RANK = {"native": 0, "py": 1, "package": 2}
#: Who owns the modules of a project, in place of a distribution.
PROJECT = "the project"
#: What a RECORD may hold at most, in bytes; the longest seen is 3 MB.
_LIMIT = 64 << 20
#: Folders whose modules no user of the distribution imports.
_ASIDE = {
    *(
        "tests",
        "test",
        "testing",
        "_tests",
        "_testing",
        "benchmarks",
        "benchmark",
        "examples",
        "example",
        "docs",
        "doc",
    ),
    *("conftest", "setup", "samples", "demo", "demos", "_vendor", "vendor", "_vendored", "tools", "scripts"),
    *("experimental", "__main__", "templates", "migrations", "alembic"),
}


class Module(NamedTuple):
    """A module: the file, the distribution it belongs to, and ``py``, ``package`` or ``native``."""

    path: str
    owner: str
    kind: str


def _as_distribution(name: str) -> str:
    """The normalised name of the distribution that is called like a module."""
    return name.replace(".", "-").replace("_", "-").lower()


class Layout:
    """The modules of installed distributions, by dotted name.

    ``keys`` identify a distribution's files, ``tops`` its top-level modules; ``blind`` are distributions whose files
    are not listed; ``namespaces`` are folders without an ``__init__`` file.
    """

    def __init__(self, distributions: Iterable[Distribution]) -> None:
        self.modules: dict[str, Module] = {}
        self.namespaces: set[str] = set()
        self.keys: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.tops: dict[str, set[str]] = {}
        self.blind: set[str] = set()
        self.locations: dict[str, None] = {}
        self.names: dict[str, list[str]] = {}
        self.metadata: dict[str, str] = {}
        self.requires: dict[str, set[str]] = {}
        self.others: dict[str, list[str]] = {}
        self._natives: dict[str, list[str]] = {}
        self._owners: dict[str, set[str]] = {}
        self._listed: list[tuple[str, str, list[str]]] = []
        for one in distributions:
            if one.location is None or one.path is None:
                continue
            self.locations[one.location] = None
            self.versions[one.name] = one.version or ""
            self.metadata[one.name] = one.path
            found = _files(one)
            if found is None:
                self.blind.add(one.name)
                continue
            files, self.keys[one.name] = found
            self._listed.append((one.name, one.location, files))

    def list_modules(self) -> None:
        """Fill in the modules; a second distribution's file of the same name is the one that is there."""
        for owner, location, files in self._listed:
            own = self.names.setdefault(owner, [])
            self.others[owner] = [os.path.join(location, file) for file in files if _is_binary(file)]
            for file in files:
                found = _module(file)
                if found is not None:
                    name, kind = found
                    if name in self.modules and _RANK[kind] < _RANK[self.modules[name].kind]:
                        continue
                    self.modules[name] = Module(os.path.join(location, file), owner, kind)
                    own.append(name)
            self.tops[owner] = {name.partition(".")[0] for name in own}
            if not own:
                self.blind.add(owner)
        self._listed.clear()
        self.add_namespaces()

    def add_namespaces(self) -> None:
        """Take note of the folders above modules that are no modules."""
        self._owners.clear()
        for name in self.modules:
            outer = name.rpartition(".")[0]
            while outer and outer not in self.modules and outer not in self.namespaces:
                self.namespaces.add(outer)
                outer = outer.rpartition(".")[0]

    def has(self, name: str) -> bool:
        """Whether a module or a namespace package of this name is listed."""
        return name in self.modules or name in self.namespaces

    def forget(self, top: str) -> None:
        """Take a top-level module with all that is below it for not installed."""
        self.namespaces = {name for name in self.namespaces if name.partition(".")[0] != top}
        self.modules = {name: module for name, module in self.modules.items() if name.partition(".")[0] != top}
        self.names = {owner: [name for name in names if name in self.modules] for owner, names in self.names.items()}
        self._natives.clear()
        self._owners.clear()

    def owner(self, name: str) -> str:
        """The distribution of a module, or of all modules of a namespace package; of several the one of its name."""
        if name in self.modules:
            return self.modules[name].owner
        if name not in self.namespaces:
            return ""
        if not self._owners:
            for one, module in self.modules.items():
                for at in (at for at, letter in enumerate(one) if letter == "."):
                    self._owners.setdefault(one[:at], set()).add(module.owner)
        owners, own = self._owners.get(name, set()), _as_distribution(name)
        return next(iter(owners)) if len(owners) == 1 else own if own in owners else ""

    def is_aside(self, name: str) -> bool:
        """Whether a module is for tests, documentation and the like, and not just called so as its distribution is."""
        top, _, inner = name.partition(".")
        place = self.modules.get(name)
        return is_aside(inner if place is not None and _as_distribution(top) == place.owner else name)

    def natives(self, owner: str) -> list[str]:
        """The files of a distribution's compiled modules."""
        if owner not in self._natives:
            own = [self.modules[name] for name in self.names.get(owner, ())]
            self._natives[owner] = [one.path for one in own if one.kind == "native"]
        return self._natives[owner]

    def on_disk(self, name: str) -> bool:
        """Whether files that no distribution lists provide a module."""
        if name in self._replaced:
            return False
        inner = name.replace(".", os.sep)
        for place in self.locations:
            path = os.path.join(place, inner)
            if os.path.isdir(path) or os.path.exists(path + ".py"):
                return True
            folder, stem = os.path.split(path)
            if any(entry.startswith(stem + ".") and entry.endswith(_NATIVE) for entry in _entries(folder)):
                return True
        return False

    @functools.cached_property
    def _replaced(self) -> set[str]:
        """The modules of distributions that lie where others do and are none of these: of what a plan replaces."""
        known, found = set(self.metadata.values()), set()
        for place in self.locations:
            for path in (os.path.join(place, one) for one in _entries(place) if one.endswith(".dist-info")):
                listed = (
                    None if path in known else _files(Distribution(name="", version=None, path=path, location=place))
                )
                found |= {module[0] for file in (listed or ((), ""))[0] if (module := _module(file))}
        return found

    def links(self) -> Iterator[str]:
        """Path files, which may add directories or loaders that are not known."""
        for place in self.locations:
            with contextlib.suppress(OSError):
                names = sorted(os.listdir(place))
                yield from (os.path.join(place, name) for name in names if name.endswith((".egg-link", ".pth")))


@functools.lru_cache(64)
def _entries(folder: str) -> list[str]:
    """The entries of a folder; none where there is no folder."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def size_of(path: str) -> int:
    """The size of a file in bytes; 0 where it is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def is_aside(name: str) -> bool:
    """Whether a module is for tests, documentation and the like."""
    return not _ASIDE.isdisjoint(name.split(".")) or any(
        part.startswith("test_") or part.endswith(("_test", "_tests")) for part in name.split(".")
    )


def _files(one: Distribution) -> tuple[list[str], str] | None:
    """The files of a distribution relative to its location, and what identifies them; ``None`` where none is listed."""
    folder = one.path or ""
    for name, csv in (("RECORD", True), ("installed-files.txt", False), ("SOURCES.txt", False)):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read(_LIMIT)
        except OSError:
            continue
        lines = data.decode("utf-8", "replace").splitlines()
        if csv:
            files = [line.partition(",")[0] if line[:1] != '"' else line[1:].partition('"')[0] for line in lines]
        elif name == "SOURCES.txt":
            files = _without_source_folder(one, lines)
        else:
            base = os.path.basename(folder)
            files = [os.path.normpath(os.path.join(base, line)) for line in lines]
        return files, _digest(one, data, files)
    return None


def _digest(one: Distribution, data: bytes, files: list[str]) -> str:
    """A digest of the contents of files: of the hashes in a RECORD, else of the time and the size of each."""
    digest = hashlib.blake2b(data, digest_size=16)
    if b",sha" not in data:
        for file in files:
            if file.endswith(".py"):
                path = os.path.join(one.location or "", file)
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    digest.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _without_source_folder(one: Distribution, lines: list[str]) -> list[str]:
    """Of the files that went into a source distribution, those that are in the location."""
    return [line for line in lines if line.endswith(".py") and os.path.exists(os.path.join(one.location or "", line))]


def _is_binary(file: str) -> bool:
    """Whether a file that is no module may name what a module binds: a shared library, a table."""
    name = file.rpartition("/")[2]
    return (
        name.endswith((".dll", ".dylib", ".json", ".yaml", ".pyi", ".txt")) and ".dist-info" not in file
    ) or ".so" in name


def _module(file: str) -> tuple[str, str] | None:
    """The dotted name and kind of a file; ``None`` where it is no module."""
    if file.endswith(".py"):
        parts = file[:-3].replace("\\", "/").split("/")
        kind = "py"
        if parts[-1] == "__init__":
            parts.pop()
            kind = "package"
    elif file.endswith(_NATIVE):
        parts = file.replace("\\", "/").split("/")
        parts[-1] = parts[-1].partition(".")[0]
        kind = "native"
        if parts[-1] == "__init__":
            parts.pop()
    else:
        return None
    return (".".join(parts), kind) if parts and all(part.isidentifier() for part in parts) else None
