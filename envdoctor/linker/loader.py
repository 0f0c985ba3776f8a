"""Which shared libraries are loaded with one, and which of them nothing has: ld.so(8)."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from envdoctor.collector import find_library
from envdoctor.facts import ENV
from envdoctor.probes import ask
from envdoctor.probes.file_system import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.model import Snapshot


class Machine(NamedTuple):
    """Where programs run: the directory of another file system, if any, and the search path of the loader there."""

    executable: str
    base: str
    root: str = ""
    search: str = ""

    @classmethod
    def of(cls, snapshot: Snapshot) -> Machine:
        """That of a target. The environment variable is this process's own where the target's is not known."""
        target, python = snapshot.target, snapshot.python
        root = str(target.get("root") or (target.get("path") if target.get("kind") == "root" else "") or "")
        inner = os.path.join(root, "rootfs")
        search = ask(snapshot, ENV, "LD_LIBRARY_PATH")
        return cls(
            str(python.get("executable") or ""),
            str(python.get("base_prefix") or ""),
            inner if root and os.path.isdir(inner) else root,
            search if isinstance(search, str) else "",
        )

    def host(self, path: str) -> str:
        """Where a path of the machine is read."""
        return Root(self.root).host(path) if self.root else path

    def find(self, name: str) -> str | None:
        """The file that the loader takes for a name, where no library says more."""
        found = find_library(name, self.search, self.base, self.executable, self.host)
        return self.host(found) if found else None

    def has(self, name: str) -> bool | None:
        """Whether a library that programs link by a name is the system's; ``None`` where its list cannot be read."""
        sought = f"lib{name}.so"
        try:
            with open(self.host("/etc/ld.so.cache"), "rb") as file:
                listed = file.read()
        except (OSError, ValueError):
            return None
        places = [*self.search.split(":"), f"{self.base}/lib", "/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib"]
        found = (one for place in filter(None, places) for one in _entries(self.host(place)))
        return sought.encode() in listed or any(one.startswith(sought) for one in found)

    def state(self) -> Iterator[str]:
        """Texts that change when libraries of the system are installed, removed or upgraded."""
        yield repr(self)
        for path in ("/etc/ld.so.cache", self.executable, "/lib64", "/usr/lib", "/usr/lib64"):
            try:
                status = os.stat(self.host(path))
            except (OSError, ValueError):
                continue
            yield f"{path} {status.st_mtime_ns} {status.st_size}"


class LoadedFiles(NamedTuple):
    """What is loaded with a file: paths with their facts, names that nothing has, names that only others bring."""

    files: dict[str, dict[str, Any]]
    missing: list[tuple[str, str]]
    brought: dict[str, list[str]]


class Loader:
    """Follows what libraries need. ``read`` gives a file's facts, ``brought`` the environment's libraries by name.

    ``always`` is what the interpreter has loaded, by path, and ``kind`` for which machine it is built; ``None`` where
    that is not known.
    """

    def __init__(self, machine: Machine, read: Any, brought: Mapping[str, Sequence[str]]) -> None:
        self._machine = machine
        self._read: Callable[[str], dict[str, Any] | None] = read
        self._brought = brought
        self._found: dict[str, str | None] = {}
        self._program: list[str] = []
        self.always: dict[str, dict[str, Any]] = {}
        self.kind: list[Any] | None = None
        program = os.path.realpath(machine.host(machine.executable)) if machine.executable else ""
        facts = read(program) if program else None
        if facts is not None:
            self._program = _places(facts["rpath"], program)
            scope = self.scope(program, facts)
            if not scope.missing:  # who does not find these looks in other places than the loader does
                self.always, self.kind = scope.files, facts["machine"]

    def scope(self, path: str, facts: dict[str, Any]) -> LoadedFiles:
        """The files that are loaded together with one, besides those that the interpreter has loaded already."""
        scope = LoadedFiles({path: facts}, [], {})
        names = {name for one, held in self.always.items() for name in (held["soname"], os.path.basename(one))}
        todo = [(path, facts, list[str]())]
        while todo:
            asker, held, before = todo.pop(0)
            inherited = [*_places(held["rpath"], asker), *before]
            for name in held["needed"]:
                if name in names:
                    continue
                names.add(name)
                found = self._path(name, asker, held, inherited)
                more = self._read(found) if found else None
                if found and more is not None:
                    names.add(more["soname"])
                    scope.files.setdefault(found, more)
                    todo.append((found, more, inherited))
                elif not found and name in self._brought:
                    scope.brought[name] = list(self._brought[name])
                elif not found:
                    scope.missing.append((name, asker))
        return scope

    def _path(self, name: str, asker: str, facts: dict[str, Any], inherited: Sequence[str]) -> str | None:
        """The file that a needed name resolves to."""
        if "/" in name:
            path = self._machine.host(_expanded(name, asker))
            return path if os.path.isfile(path) else None
        own = _places(facts["runpath"], asker)
        before = [*([] if own else [*inherited, *self._program]), *self._machine.search.split(":")]
        for place in filter(None, [*before, *own]):
            is_read_here = place.startswith(self._machine.root)  # relative to a library, whose place is known
            path = os.path.join(place if is_read_here else self._machine.host(place), name)
            if os.path.isfile(path):
                return path
        if name not in self._found:
            self._found[name] = self._machine.find(name)
        return self._found[name]


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []


def _places(paths: Sequence[str], asker: str) -> list[str]:
    return [_expanded(path, asker) for path in paths]


def _expanded(path: str, asker: str) -> str:
    """A path with the directory of the library that names it in the place of the loader's variable."""
    folder = os.path.dirname(asker)
    return os.path.normpath(path.replace("${ORIGIN}", folder).replace("$ORIGIN", folder))
