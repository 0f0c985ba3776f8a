"""A project: its files, and the facts that they show. Nothing is read before it is asked for."""

from __future__ import annotations

from envdoctor.facts import ARTIFACT, CONFIG, LOCAL_MODULE, SHADOWS, SOURCE, Unknown
from envdoctor.probes.project import walk
from envdoctor.probes.project.tree import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    from envdoctor.facts import Answer, Kind
    from envdoctor.found import Artifact, LocalModule, Setting, Shadow, Use

    K = TypeVar("K")
    V = TypeVar("V")


class Project(Files):
    """The files of a project, with the answers to what was asked about them."""

    def __init__(self, *files: Any) -> None:
        super().__init__(*files)
        self._answers: dict[tuple[Kind[Any, Any], Any], Any] = {}
        self._configuration: Callable[[str, str], Answer[Setting]] | None = None

    def local_module(self, name: str) -> LocalModule | None:
        """What a script at the top would import by a name: ``{"file": ..., "namespace": bool}``."""
        found = self.ask(LOCAL_MODULE, name)
        return None if isinstance(found, Unknown) else found

    def ask(self, kind: Kind[K, V], key: K) -> V | Unknown:
        """A fact of the files; :class:`Unknown` for kinds that files do not show."""
        if kind not in _ASK:
            return Unknown(reason=f"the files of a project do not tell `{kind}`")
        if (kind, key) not in self._answers:
            self._answers[kind, key] = _ASK[kind](self, key)
        value: V | Unknown = self._answers[kind, key]
        return value

    def expect(self, patterns: Iterable[str]) -> None:
        """Scan the source files for several patterns at once, before :meth:`ask` asks for each."""
        from envdoctor.probes.source import expect

        expect(self, list(patterns))

    def configuration(self, key: tuple[str, str]) -> Answer[Setting]:
        """The entries of configuration files that a glob and a key name; each file is read once."""
        if self._configuration is None:
            from envdoctor.probes.project.config import ConfigReader

            self._configuration = ConfigReader(self).lookup
        return self._configuration(*key)


def _source(project: Project, key: str) -> Answer[Use]:
    from envdoctor.probes.source import uses

    answer = uses(project, key)
    return project.answer(answer["found"], answer["gaps"], walk.is_code)


def _shadows(project: Project, _key: str) -> Answer[Shadow]:
    from envdoctor.probes.project import shadows

    return project.answer(shadows.shadows(project), (), lambda _: False)


def _local_module(project: Project, key: str) -> LocalModule | None:
    from envdoctor.probes.project import shadows

    return shadows.local_module(project, key)


def _artifact(project: Project, _key: str) -> Answer[Artifact]:
    from envdoctor.probes.artifacts import in_project
    from envdoctor.probes.artifacts.marks import SUFFIXES

    answer = in_project(project)
    return project.answer(answer["found"], answer["gaps"], lambda name: name.lower().endswith(SUFFIXES))


_ASK: Mapping[Kind[Any, Any], Callable[[Project, Any], Any]] = {
    CONFIG: Project.configuration,
    SOURCE: _source,
    SHADOWS: _shadows,
    LOCAL_MODULE: _local_module,
    ARTIFACT: _artifact,
}
