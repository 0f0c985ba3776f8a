"""What is beside an environment and uses it: a project, its notebooks, and saved artefacts."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from envdoctor.facts import ARTIFACT, FILES
from envdoctor.linker import dotted, project_uses
from envdoctor.linker.hooks import Hooks
from envdoctor.linker.saved_states import SavedStates
from envdoctor.linker.verdicts import Linked
from envdoctor.model import Unknown
from envdoctor.probes import ask
from envdoctor.probes.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.linker.generated import Rows
    from envdoctor.linker.world import World
    from envdoctor.model import Snapshot


class Beside:
    """The source of a project, if there is one, and the records of artefacts."""

    def __init__(self, around: Project | None, artifacts: Sequence[Mapping[str, Any]] = ()) -> None:
        self._sources = project_uses.Sources(around) if around is not None else None
        self._artifacts = artifacts
        self._around = around
        self._settings: list[dotted.Setting] = []

    @classmethod
    def of(cls, snapshot: Snapshot) -> Beside | None:
        """The project and artefacts of a snapshot; ``None`` where it has neither."""
        around, saved = ask(snapshot, FILES, ""), ask(snapshot, ARTIFACT, "")
        beside = cls(around if isinstance(around, Project) else None, () if isinstance(saved, Unknown) else saved.found)
        return beside if beside._artifacts or (beside._sources and beside._sources.all) else None

    def state(self, known: Mapping[str, Any]) -> Iterator[str]:
        """Texts that identify all that an answer depends on, besides the environment."""
        self._settings = list(dotted.settings(self._around, known)) if self._around is not None else []
        if self._sources is not None:
            self._sources.settings = self._settings
        yield json.dumps(self._settings)
        for source in self._sources.all.values() if self._sources else ():
            yield source.name
            yield source.text.source
        yield from (json.dumps([one["file"], one["kind"], one["names"], one.get("states")]) for one in self._artifacts)

    def linked(
        self,
        world: World,
        known: Mapping[str, Any],
        generated: tuple[Rows, Mapping[str, str]],
        tell: Callable[[str], None],
    ) -> Linked:
        """The references of the project and the artefacts that the environment does not resolve."""
        missing = list(dotted.saved(self._artifacts, world.layout, world.resolver))
        missing += SavedStates(world).all(self._artifacts)
        unknown: Counter[str] = Counter()
        if self._sources is not None:
            hooks = Hooks(world.layout, known["hooks"])
            self._sources.put_into(world.layout)
            world.resolver.forget()
            dispatch = known["hooks"].get("dispatch", ())
            missing += project_uses.link(self._sources, world, dispatch, generated, unknown, tell)
            missing += hooks.of_project(self._sources.files())
            missing += dotted.removed(self._settings, world.layout, world.resolver)
        return Linked(missing, len(self._sources.all) if self._sources else 0, len(missing), unknown)
