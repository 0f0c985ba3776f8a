"""A cell of a proof as a snapshot: what it states is so, and a project in it is read as one on disk would be."""

from __future__ import annotations

from typing import Any, ClassVar

from packaging.version import InvalidVersion, Version

from envdoctor import facts as kinds
from envdoctor.engine.evaluate import matches
from envdoctor.engine.questions import questions
from envdoctor.facts import Answer
from envdoctor.model import Distribution, Snapshot, Unknown
from envdoctor.probes import answered
from envdoctor.targets.marker_environment import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envdoctor.engine.trace import Match, Trace
    from envdoctor.facts import Answers, Kind, Questions
    from envdoctor.found import Artifact

    Cell = Mapping[str, Any]

#: The processor of a cell that names none.
_MACHINES = {"linux": "x86_64", "darwin": "arm64", "win32": "AMD64"}


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
        platform={"system": system, "machine": cell.get("machine") or _MACHINES[system]},
        start_method=_start_method(cell),
        source="the proof",
        probes=_Stated(cell, vocabulary),
    )


def matched(
    match: Mapping[str, Any], cell: Cell, vocabulary: Mapping[str, Any], trace: Trace | None = None
) -> list[Match]:
    """How a compiled rule holds in a cell."""
    return matches(match, answered(snapshot_of(cell, vocabulary), lambda now: questions([match], now)), trace)


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


class _Stated:
    """Answers with what a cell states; a project in it is read."""

    def __init__(self, cell: Cell, vocabulary: Mapping[str, Any]) -> None:
        self.cell = cell
        self.kinds = vocabulary.get("modules", ())
        self.project = _project(cell["files"]) if "files" in cell else None

    def answers(self, questions: Questions) -> Answers:
        """The values of facts."""
        if self.project is not None and kinds.SOURCE in questions:
            self.project.expect(questions[kinds.SOURCE])
        return {kind: {key: self._answer(kind, key) for key in questions[kind]} for kind in questions}

    def _answer(self, kind: Kind[Any, Any], key: Any) -> Any:
        stated = self._TOLD.get(kind, _Stated._stated if kind.states else None)
        value = stated(self, kind, key) if stated else None
        if value is not None or kind in {kinds.ENV, kinds.LOCAL_MODULE}:
            return value
        return Unknown(reason=f"the cell does not say; add `{kind.section or kind.name}: {{{key}: ...}}`")

    def _of_project(self, kind: Kind[Any, Any], key: Any) -> Any:
        nothing: Answer[Any] | None = None if kind is kinds.LOCAL_MODULE else Answer()
        return nothing if self.project is None else self.project.ask(kind, key)

    def _stated(self, kind: Kind[Any, Any], key: str) -> Any:
        unsaid = {(kinds.SYSTEM, "container"): False, (kinds.FILE, key): []}.get((kind, key))
        return self.cell.get(kind.section, {}).get(key, unsaid)

    def _module(self, _: Kind[Any, Any], key: str) -> Any:
        value = self.cell.get("modules", {}).get(key)
        return None if value is None else self.module(value)

    _TOLD: ClassVar[Mapping[Kind[Any, Any], Callable[[_Stated, Kind[Any, Any], Any], Any]]] = {
        **dict.fromkeys((kinds.CONFIG, kinds.SOURCE, kinds.SHADOWS, kinds.LOCAL_MODULE), _of_project),
        kinds.ARTIFACT: lambda self, *_: Answer(found=[_artifact(one) for one in self.cell.get("artifact", ())]),
        kinds.ENV: lambda self, _, key: self.cell.get("env", {}).get(key),
        kinds.MARKER: lambda self, _, key: self.marker().get(key) or None,
        kinds.MODULE: _module,
        kinds.PROJECT: lambda self, _, key: "files" in self.cell if key == "named" else None,
    }

    def module(self, value: str) -> dict[str, Any]:
        """What `import` finds: a place, or a distribution."""
        if value in self.kinds:
            return {"kind": value}
        return {"kind": "site-packages", "distribution": value}

    def marker(self) -> dict[str, str]:
        """The variables of a PEP 508 environment that a cell settles."""
        system = self.cell.get("platform", "linux")
        found = environment(None, system, self.cell.get("machine", _MACHINES[system]))
        implementation = self.cell.get("implementation", "cpython")
        if implementation != "cpython":
            found["implementation_name"] = implementation
            found["platform_python_implementation"] = {"pypy": "PyPy"}.get(implementation, "")
        release = _release(self.cell.get("python", ""))
        if release:
            found["python_version"] = ".".join(map(str, release[:2]))
        if len(release) > 2:  # noqa: PLR2004 - it says which patch release
            found["python_full_version"] = self.cell["python"]
        return found


def _artifact(stated: Mapping[str, Any]) -> Artifact:
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
