"""What the index has on offer for a snapshot's Python and platform, and what each release says of itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from envdoctor.engine.tags import mismatch
from envdoctor.engine.versions import key, within
from envdoctor.probes import published, releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envdoctor.facts import Metadata
    from envdoctor.model import Snapshot
    from envdoctor.probes.published import Release

_WORKERS = 16


class Offers:
    """The final releases with a wheel, asked once for each distribution, side by side."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._listed: dict[str, Mapping[str, Release]] = {}
        self._fitting: dict[str, list[str]] = {}
        self._metadata: dict[tuple[str, str], Metadata | None] = {}

    def ask(self, names: Iterable[str]) -> None:
        """Ask for several distributions at once; an index that does not answer has nothing on offer."""
        wanted = [name for name in dict.fromkeys(names) if name not in self._listed]
        if not wanted:
            return
        releases.configuration()  # read before several ask for it at once
        with ThreadPoolExecutor(_WORKERS) as pool:
            for name, found in zip(wanted, pool.map(published.wheels, wanted)):
                self._listed[name] = {one.version: one for one in found or ()}

    def has(self, name: str, version: str) -> bool:
        """Whether the index has a wheel of a release, for whichever Python."""
        self.ask([name])
        at = key(version)
        return "+" not in version and any(key(one) == at for one in self._listed[name])

    def releases(self, name: str) -> list[str]:
        """The releases to choose from, oldest first, with the installed one unless Python changes."""
        if name not in self._fitting:
            self.ask([name])
            fitting = [version for version, one in self._listed[name].items() if self._fits(one)]
            stays = "" if any(one.other_python for one in self._snapshot.effects) else self._installed(name)
            if stays and not any(key(one) == key(stays) for one in fitting):
                fitting.append(stays)
            self._fitting[name] = sorted(fitting, key=lambda version: key(version) or [])
        return self._fitting[name]

    def _installed(self, name: str) -> str:
        have = self._snapshot.packages.get(name)
        return have.version or "" if have else ""

    def _fits(self, one: Release) -> bool:
        python = str(self._snapshot.python.get("version") or "")
        fits = not (python and one.requires_python) or within(python.rstrip("+"), one.requires_python) is not False
        return fits and not one.yanked and mismatch(one.tags, self._snapshot) is None

    def metadata(self, wanted: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], Metadata | None]:
        """What releases say of themselves, by name and version; ``None`` where that cannot be had."""
        missing = [one for one in dict.fromkeys(wanted) if one not in self._metadata]
        if not missing:
            return self._metadata
        self.ask(name for name, _ in missing)
        with ThreadPoolExecutor(_WORKERS) as pool:
            self._metadata.update(zip(missing, pool.map(self._read, missing)))
        return self._metadata

    def _read(self, one: tuple[str, str]) -> Metadata | None:
        name, version = one
        at = key(version)
        release = next((found for text, found in self._listed[name].items() if key(text) == at), None)
        return published.metadata(release) if release else None
