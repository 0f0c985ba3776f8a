"""A cell of a proof as a snapshot: what it states is so, and a project in it is read as one on disk would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from packaging.version import InvalidVersion, Version

from envdoctor.model import Distribution, Snapshot, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Cell = Mapping[str, Any]

#: What a cell without project files answers for them.
NOTHING: Mapping[str, Any] = {"found": [], "gaps": []}
_PLATFORM_TEXTS = {"linux": ("Linux", "posix", "x86_64"), "darwin": ("Darwin", "posix", "arm64")}
_WINDOWS = ("Windows", "nt", "AMD64")


def snapshot_of(cell: Cell, vocabulary: Mapping[str, Any]) -> Snapshot:
    """A cell as a snapshot: what it does not list is absent, and it runs on Linux where it does not say."""
    absent = cell.get("absent", ())
    packages = {
        name: Distribution(name=name, version=version)
        for name, version in cell.get("packages", {}).items()
        if name not in absent
    }
    python = {
        "implementation": cell.get("implementation", "cpython"),
        "free_threaded": cell.get("free-threaded", False),
        "debug": cell.get("debug", False),
    }
    if "python" in cell:
        python["version"] = cell["python"]
    system = cell.get("platform", "linux")
    return Snapshot(
        target={"kind": "proof"},
        python=python,
        packages=packages,
        platform={"system": system, "machine": cell.get("machine") or _PLATFORM_TEXTS.get(system, _WINDOWS)[2]},
        start_method=_start_method(cell),
        source="the proof",
        lookup=_Lookup(cell, vocabulary),
    )


def _start_method(cell: Cell) -> dict[str, str]:
    if "start_method" in cell:
        return {"stated": cell["start_method"]}
    if cell.get("platform", "linux") != "linux":
        return {"default": "spawn"}
    newer = "python" in cell and _release(cell["python"]) >= (3, 14)
    return {"default": "forkserver" if newer else "fork"}


def _release(version: str) -> tuple[int, ...]:
    try:
        return Version(version).release
    except InvalidVersion:
        return ()


def _project(files: Mapping[str, str]) -> Any:
    from envdoctor.probes.project import Project

    return Project.of(files)


class _Lookup:
    """Answers for the facts of a cell that a snapshot reads only when asked."""

    def __init__(self, cell: Cell, vocabulary: Mapping[str, Any]) -> None:
        self.cell = cell
        self.kinds = vocabulary.get("modules", ())
        self.project = _project(cell["files"]) if "files" in cell else None

    def __call__(self, kind: str, key: str) -> Any:
        """Give the value of a fact, or :class:`Unknown`."""
        told = self._TOLD.get(kind)
        value = told(self, kind, key) if told else self._unsaid(kind, key)
        return self._unsaid(kind, key) if value is None and kind not in self._NULLABLE else value

    def _unsaid(self, kind: str, key: str) -> Unknown:
        word = {"module": "modules", "library": "libraries"}.get(kind, kind)
        return Unknown(reason=f"the cell does not say; add `{word}: {{{key}: ...}}`")

    def _of_project(self, kind: str, key: str) -> Any:
        nothing = None if kind == "local_module" else NOTHING
        return nothing if self.project is None else self.project.lookup(kind, key)

    def _stated(self, kind: str, key: str) -> Any:
        word = {"library": "libraries"}.get(kind, kind)
        unsaid = False if (kind, key) == ("system", "container") else None
        return self.cell.get(word, {}).get(key, unsaid)

    def _module(self, kind: str, key: str) -> Any:
        value = self.cell.get("modules", {}).get(key)
        return None if value is None else self.module(value)

    _TOLD: ClassVar[Mapping[str, Callable[[_Lookup, str, str], Any]]] = {
        "config": _of_project,
        "source": _of_project,
        "shadows": _of_project,
        "local_module": _of_project,
        "artifact": lambda self, *_: {
            "found": [_artifact(one) for one in self.cell.get("artifact", ())],
            "gaps": [],
        },
        "env": lambda self, _, key: self.cell.get("env", {}).get(key),
        "marker": lambda self, _, key: self.marker().get(key) or None,
        "module": _module,
        "system": _stated,
        "process": _stated,
        "library": _stated,
    }
    _NULLABLE: ClassVar = frozenset(("env", "local_module"))

    def module(self, value: str) -> dict[str, Any]:
        """What `import` finds: a place, or a distribution."""
        if value in self.kinds:
            return {"kind": value}
        return {"kind": "site-packages", "distribution": value}

    def marker(self) -> dict[str, str]:
        """The variables of a PEP 508 environment that a cell settles."""
        system = self.cell.get("platform", "linux")
        name, family, machine = _PLATFORM_TEXTS.get(system, _WINDOWS)
        implementation = self.cell.get("implementation", "cpython")
        found = {
            "sys_platform": system,
            "platform_system": name,
            "os_name": family,
            "platform_machine": self.cell.get("machine", machine),
            "implementation_name": implementation,
            "platform_python_implementation": {"cpython": "CPython", "pypy": "PyPy"}.get(implementation, ""),
        }
        release = _release(self.cell.get("python", ""))
        if release:
            found["python_version"] = ".".join(map(str, release[:2]))
        if len(release) > 2:  # noqa: PLR2004 - it says which patch release
            found["python_full_version"] = self.cell["python"]
        return found


def _artifact(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What a cell states of an artefact, as ``probes.artifacts`` would tell it."""
    code = stated.get("code", ())
    held = code.items() if isinstance(code, dict) else [(None, python) for python in code]
    return {
        "file": stated.get("file", "artefact"),
        "kind": stated["kind"],
        "protocol": stated.get("protocol"),
        "names": stated.get("names", ()),
        "written_by": stated.get("written-by", {}),
        "code": [{"where": where, "name": None, "python": python, "constant": None} for where, python in held],
        "functions": stated.get("functions", {}),
    }
