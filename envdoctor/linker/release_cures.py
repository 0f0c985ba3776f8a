"""Which releases of a provider have what a consumer misses, by the history of names."""

from __future__ import annotations

import functools

from envdoctor.engine.versions import key
from envdoctor.linker.history import shipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.linker.history import History, Life
    from envdoctor.linker.verdicts import Missing

#: The kinds of what is missing that a release has or has not: a name, a parameter of a signature.
_NAMES, _PARAMETERS = frozenset({"name", "attribute", "module", "gone"}), frozenset({"unknown"})


class ReleaseCures:
    """Looks up what is missing; the history is opened when the first one is asked for."""

    @functools.cached_property
    def _history(self) -> History | None:
        return shipped()

    def life(self, missing: Missing, version: str) -> Life | None:
        """When a release had it, or will have it; ``None`` where the history does not know the provider or the name."""
        if missing.kind not in _NAMES | _PARAMETERS or not missing.provider or not missing.name:
            return None
        history, names = self._history, _full(missing)
        if history is None:
            return None
        lost = (_lost(history, missing.provider, version, name) for name in names)
        lives = (life for name in names for life in history.life(name) if life.distribution == missing.provider)
        new = (life for life in lives if _is_newer(life.since, version))
        return next((life for life in (*lost, *new) if life), None)


def _lost(history: History, provider: str, version: str, name: str) -> Life | None:
    """The record of a name that older releases have: under this path, or under the only other one that ends alike."""
    found = [life for life in history.gone(provider, version, *name.split(".")[-2:]) if life.last]
    exact = [life for life in found if life.name == name]
    return exact[0] if exact else found[0] if len(found) == 1 else None


def requirement(life: Life, version: str) -> str:
    """What to require of the provider instead of the installed version."""
    return (
        f"{life.distribution}>={life.since}" if _is_newer(life.since, version) else f"{life.distribution}<={life.last}"
    )


def _is_newer(one: str | None, other: str) -> bool:
    newer, older = key(one or ""), key(other)
    return newer is not None and older is not None and newer > older


def _full(missing: Missing) -> list[str]:
    """The full names that the history may have it under."""
    name = f"{missing.module}.{missing.name}"
    return [f"{name}:{missing.detail}", f"{name}.__init__:{missing.detail}"] if missing.kind in _PARAMETERS else [name]
