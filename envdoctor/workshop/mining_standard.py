"""Which releases break on what Python removed: wheels read one at a time, linked against the standard library.

One link shows what a release misses of the newest Python; the table of the standard library says in which Python
it went, and releases on both sides are linked against that one until the edges of the consumer are known. Nothing is
installed or executed.
"""

from __future__ import annotations

import os
import re

from envdoctor.engine.installed_requirements import name_of
from envdoctor.engine.versions import within
from envdoctor.linker.branches import Target
from envdoctor.linker.fetch import fetched
from envdoctor.linker.history import shipped
from envdoctor.linker.link import link
from envdoctor.linker.side import turn
from envdoctor.linker.standard_library import Standard
from envdoctor.linker.summary import LATER, PROGRAM
from envdoctor.probes import published
from envdoctor.workshop.mining import Lost, Mined, before, first, lost_of, snapshot_of
from envdoctor.workshop.repodata import PYTHON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.probes.published import Release

_IMPORT = re.compile(r"^[ \t]*(?:from|import)\b[^(\n]*(?:\([^)]*)?", re.MULTILINE)
_DOTTED, _WORD = re.compile(r"(?=\b(\w+\.\w+))\w+"), re.compile(r"\w+")
#: The newest Python of the table, and the oldest in which something may have gone.
NEWEST, OLDEST = 14, 8
#: The last releases from before these days are tried, and the newest: Python 3.9, 3.10 and 3.12 came on three of them.
_DAYS = ("2019-01", "2020-10", "2021-10", "2023-10", "9")


class MineStandard:
    """The search for what breaks on Python; the interface is that of :class:`~envdoctor.workshop.mining.Mine`."""

    def __init__(self, tell: Callable[[str], None], names: Sequence[str] = ()) -> None:
        self.provider, self._tell, self._names = PYTHON, tell, names
        self._standard = Standard((3, NEWEST))
        tops = self._standard.tops  # what a module happens to import is none of its own names
        named = (one for one in self._standard.removed() if "." not in one[1] and one[1] not in tops)
        removed = (one for one in named if self.gone(Lost(*one, "", "", "")))
        self._gone = [(frozenset(module.split(".")), module.rpartition(".")[2], name) for module, name in removed]
        self.edges = {(f"3.{one - 1}", f"3.{one}"): () for one in range(OLDEST, NEWEST + 1)}

    def consumers(self) -> Iterator[str]:
        """All of them: everybody requires Python."""
        yield from self._names

    def of(self, consumer: str) -> list[Mined]:
        """What releases of a consumer miss of each Python, with the edges; what fails on the oldest Python first."""
        found = self._by_cause(consumer).values()
        kept = sorted(found, key=lambda one: (int(one.gone[2:]), one.lost[0].severity))
        return [one for number, one in enumerate(kept) if not any(_covers(each, one) for each in kept[:number])]

    def _by_cause(self, consumer: str) -> dict[tuple[str, int], Mined]:
        """What the tried releases miss, seen in the newest that misses it; by the thing and the Python without it."""
        listed = [one for one in published.wheels(consumer) or () if _is_pure(one) and not one.yanked]
        found: dict[tuple[str, int], Mined] = {}
        for at in sorted({at for day in _DAYS for at in before(listed, day)}, reverse=True):
            side = _Side(consumer, listed, at, self)
            for cause, lost in side.causes(NEWEST).items():
                if cause not in found and (made := side.mined(cause, lost)):
                    found[cause] = made
        return found

    def has_words(self, root: str) -> bool:
        """Whether some file below a directory has the words of anything that went: reading costs less than linking."""
        paths = (os.path.join(folder, file) for folder, _, files in os.walk(root) for file in files)
        return any(self._in(_words(path)) for path in paths if path.endswith(".py"))

    def _in(self, found: tuple[set[str], set[str]]) -> bool:
        imported, dotted = found
        asked = ((name, last) for modules, last, name in self._gone if modules <= imported)
        return any(not name or name in imported or f"{last}.{name}" in dotted for name, last in asked)

    def gone(self, lost: Lost) -> int:
        """The minor version of the first Python without a name; 0 where it never went, or too long ago."""
        moved = self._standard.moved(".".join(filter(None, (lost.module, lost.name))))
        minor = int(moved[1].split(".")[1]) if moved and moved[0] == "removed" else 0
        return minor if minor >= OLDEST else 0


class _Side:
    """The releases of a consumer, the tried one at ``at``."""

    def __init__(self, name: str, listed: Sequence[Release], at: int, mine: MineStandard) -> None:
        self._name, self._listed, self.at, self._mine = name, listed, at, mine

    def missed(self, number: int, minor: int) -> list[Lost] | None:
        """What a release misses of a Python, most severe first; ``None`` where it cannot be read."""
        pinned = snapshot_of(f"3.{NEWEST}", {self._name: self._listed[number].version})
        placed, notes = fetched(pinned, lambda _: None)
        if notes:
            return None
        root = placed.packages[self._name].location or ""
        if not self._mine.has_words(root):
            return []
        found = link(placed.packages.values(), Target((3, minor), "linux"), lambda _: None).missing
        taken = [one for one in found if one.kind == "standard" and one.severity in {"error", "warning"}]
        lost = {lost_of(one, root) for one in taken if not one.way & (LATER | PROGRAM)}
        brought = self._brought(number)
        kept = (one for one in lost if one.module.split(".")[0] not in brought)
        return sorted(kept, key=lambda one: (one.severity, one))

    def _brought(self, number: int) -> set[str]:
        """The modules of Python that something which a release requires brings back."""
        history, stated = shipped(), published.metadata(self._listed[number])
        names = {name_of(one) for one in getattr(stated, "requires", ())}
        return {top for top in self._mine._standard.tops if history and names & set(history.distributions(top))}  # noqa: SLF001

    def causes(self, minor: int) -> dict[tuple[str, int], list[Lost]]:
        """What the tried release misses, by what went and the Python in which it did."""
        found: dict[tuple[str, int], list[Lost]] = {}
        for one in self.missed(self.at, minor) or ():
            if gone := self._mine.gone(one):
                same = found.setdefault((one.module.split(".")[0], gone), [])
                same += [one] if not same or same[0].severity == one.severity else []
        return found

    def mined(self, cause: tuple[str, int], lost: Sequence[Lost]) -> Mined | None:
        """The edges of the consumer for one cause; ``None`` where none of its releases is for that Python."""
        top, gone = cause

        def asks(number: int) -> bool | None:
            found = self.missed(number, gone)
            mine = [one for one in found or () if one.module.split(".")[0] == top and self._mine.gone(one) == gone]
            return None if found is None else any(one.severity == lost[0].severity for one in mine)

        def stopped(number: int) -> bool:
            return asks(number) is False

        newest = len(self._listed) - 1
        back, forward = turn(self.at, 0, stopped), turn(self.at, newest, stopped)
        until, since = forward or (newest, None)
        free = next((one for one in range(until, self.at - 1, -1) if self._is_for(one, gone)), None)
        if free is None:
            return None
        works = None if since is None else self._works(since, gone)
        kept = {"first": back[0] if back else None, "until": until, "free": free, "since": since, "works": works}
        self._mine._tell(f"{PYTHON}: {self._name} takes {lost[0].module}.{lost[0].name}")  # noqa: SLF001
        return Mined(
            provider=PYTHON, last=f"3.{gone - 1}", gone=f"3.{gone}", consumer=self._name, lost=lost, python=f"3.{gone}",
            **{key: None if one is None else self._listed[one].version for key, one in kept.items()},  # type: ignore[arg-type]
        )  # fmt: skip

    def _is_for(self, number: int, minor: int) -> bool:
        return within(f"3.{minor}", self._listed[number].requires_python) is not False

    def _works(self, since: int, gone: int) -> int | None:
        """The first release from one on that misses nothing whose absence ends its import."""

        def works(number: int) -> bool:
            found = self.missed(number, gone) if self._is_for(number, gone) else None
            return found is not None and all(one.severity != "error" for one in found)

        return first(since, len(self._listed) - 1, works)


def _words(path: str) -> tuple[set[str], set[str]]:
    """The words of the import statements of a file, and each two of its words with a dot between."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return set(_WORD.findall(" ".join(_IMPORT.findall(text)))), set(_DOTTED.findall(text))


def _is_pure(release: Release) -> bool:
    return any(one in {"py3-none-any", "py2.py3-none-any"} for one in release.tags)


def _covers(one: Mined, other: Mined) -> bool:
    """Whether what fails on an older Python fails in the same releases, as an import does."""
    return one.lost[0].severity == "error" and one.until == other.until and int(one.gone[2:]) <= int(other.gone[2:])
