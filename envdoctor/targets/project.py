"""A project and its artefacts beside a target, read when a rule needs facts of their files. On the plain path.

Nothing is read, and nothing that reads is imported, before the first question.
"""

from __future__ import annotations

import os

from envdoctor.facts import ARTIFACT, CONFIG, FILES, LOCAL_MODULE, PROJECT, SHADOWS, SOURCE, Answer
from envdoctor.model import Unknown, UnknownFact
from envdoctor.probes import unrecorded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from envdoctor.facts import Answers, Kind, Questions
    from envdoctor.found import Artifact
    from envdoctor.model import Snapshot
    from envdoctor.probes.project import Project

_KINDS = frozenset((CONFIG, SOURCE, SHADOWS, LOCAL_MODULE, ARTIFACT))
_NONE = "no project was examined: name its directory with --project"


def default() -> str | None:
    """The current directory, unless it holds more than one project: the user's home, or the root of the file system."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        return None
    home = os.path.expanduser("~")
    return None if here in (home, os.path.realpath(home), os.path.abspath(os.sep)) else here


#: How the name of a file begins or ends that makes the directory around it a project.
_BEGINNINGS = (".git", ".env", "pyproject", "requirements", "setup.")
_ENDINGS = (
    ".py", ".ipynb", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".json",
    ".zip", ".pkl", ".pickle", ".joblib", ".pt", ".pth", ".ckpt", ".npy", ".npz", ".keras", ".h5",
)  # fmt: skip


#: So many folders are searched for such a file.
_FOLDERS = 50


def _is_one(directory: str) -> bool:
    """Whether the directory where the user happens to be holds files of a project, and no virtual environment."""
    above = os.path.dirname(os.path.abspath(directory))
    if any(os.path.exists(os.path.join(place, "pyvenv.cfg")) for place in (directory, above)):
        return False
    names = _names(directory)
    if any(name.startswith(_BEGINNINGS) or name.endswith(_ENDINGS) for name in names):
        return True
    folders = [os.path.join(directory, name) for name in names if name[0] != "."][:_FOLDERS]
    return any(name.endswith(_ENDINGS) for folder in folders if os.path.isdir(folder) for name in _names(folder))


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def of_target(snapshot: Snapshot) -> str | None:
    """The project that a target shows by itself: the directory in which a process runs, where that can be read."""
    target = snapshot.target
    return target.get("directory") if target.get("kind") == "process" and not target.get("root") else None


def attach(snapshot: Snapshot, directory: str | None, artifacts: Sequence[str] = (), *, named: bool = True) -> Snapshot:
    """The snapshot, with the project in a directory and some artefacts beside it.

    A project that is not ``named`` is the one where the user happens to be: only the rules about something that is
    installed look at it, and where the snapshot has recorded facts of a project, nothing does.
    """
    named = bool(artifacts) or (named and directory is not None)
    if not named and snapshot.facts.ask(PROJECT, "there") is True:  # what a saved snapshot recorded of one
        directory, named = None, snapshot.facts.ask(PROJECT, "named") is True
    beside = Beside(snapshot, directory, artifacts, named=named)
    notes = snapshot.notes
    if artifacts:
        reasons = beside.given().gaps
        notes = [*notes, *(UnknownFact(rule=None, fact="artifact", reason=reason) for reason in reasons)]
    facts = snapshot.facts.having({PROJECT: {"named": named}})
    attached: Snapshot = snapshot.replace(facts=facts, probes=beside, notes=notes)
    return attached


class Beside:
    """Answers for the files of a project and for artefacts, and passes every other question on."""

    def __init__(self, snapshot: Snapshot, directory: str | None, artifacts: Sequence[str], *, named: bool) -> None:
        self._probes = snapshot.probes
        self._directory = directory
        self._artifacts = artifacts
        self._named = named
        self._project: Project | None = None
        self._given: Answer[Artifact] | None = None

    def answers(self, questions: Questions) -> Answers:
        """The values of facts."""
        answers = self._passed_on(questions)
        if PROJECT in questions:
            answers[PROJECT] = {"there": bool(self._artifacts) or self.project() is not None}
        if FILES in questions:
            answers[FILES] = {"": self.project()}
        if SOURCE in questions and (project := self.project()) is not None:
            project.expect(questions[SOURCE])
        for kind in [kind for kind in questions if kind in _KINDS]:
            answers[kind] = {key: self._of_files(kind, key) for key in questions[kind]}
        return answers

    def _passed_on(self, questions: Questions) -> dict[Kind[Any, Any], Any]:
        """The values of the facts that are not of the project's files."""
        others = {kind: questions[kind] for kind in questions if kind not in {*_KINDS, FILES, PROJECT}}
        if not others:
            return {}
        return dict(self._probes.answers(others) if self._probes else unrecorded(others))

    def _of_files(self, kind: Kind[Any, Any], key: Any) -> Any:
        if kind is ARTIFACT and self._artifacts:
            return self._with_given()
        project = self.project()
        return Unknown(reason=_NONE, asked=False) if project is None else project.ask(kind, key)

    def project(self) -> Project | None:
        """The project, if there is one."""
        if self._directory is not None and not self._named and not _is_one(self._directory):
            self._directory = None
        if self._project is None and self._directory is not None:
            from envdoctor.probes.project import Project

            self._project = Project.at(self._directory)
        return self._project

    def given(self) -> Answer[Artifact]:
        """The facts of the artefacts that were named."""
        if self._given is None:
            from envdoctor.probes.artifacts import of_files

            self._given = Answer(**of_files(self._artifacts))
        return self._given

    def _with_given(self) -> Answer[Artifact]:
        project, given = self.project(), self.given()
        found = None if project is None else project.ask(ARTIFACT, "")
        beside = found if isinstance(found, Answer) else Answer()
        return Answer(found=[*given.found, *beside.found], gaps=[*given.gaps, *beside.gaps])
