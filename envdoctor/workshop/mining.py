"""Which consumers break on what a provider removed: releases of both, linked in pairs from their wheels.

The shipped history of names says between which releases of the provider names went. Of each consumer the last release
from before such an edge is linked against the release behind it; where that misses something, releases on both sides
are linked until the edges are known. Nothing is installed or executed.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.engine.versions import within
from envdoctor.errors import TargetError
from envdoctor.linker.branches import Target
from envdoctor.linker.fetch import fetched
from envdoctor.linker.history import shipped
from envdoctor.linker.index_files import SEARCHED
from envdoctor.linker.link import link
from envdoctor.linker.side import turn
from envdoctor.linker.summary import FROM, LATER, PROGRAM
from envdoctor.model import Distribution, Record, Snapshot
from envdoctor.probes import published
from envdoctor.workshop.candidates import PYTHONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.linker.verdicts import Missing
    from envdoctor.probes.published import Release

#: Of so many releases of one consumer it is tried what they miss.
MOST_TRIED = 3
#: Kinds of what the linker misses that an import statement shows.
_NAMED = frozenset({"name", "module", "gone", "refused"})
#: From when on distributions worked on a Python, as a rule: a year after it came.
_DAYS = {"3.10": "2022-10", "3.11": "2023-10", "3.9": "2021-10", "3.12": "2024-10", "3.13": "2025-10", "3.8": "2020-10",
         "3.14": "2026-10"}  # fmt: skip


class Lost(NamedTuple):
    """A name that a plain import of a consumer's ``inside`` misses: an error, or a warning of a submodule."""

    module: str
    name: str
    severity: str
    inside: str
    kind: str


class Mined(Record):
    """A consumer that breaks on names that a provider removed.

    ``last`` is the provider's last release that has them and ``gone`` the next one. The consumer asks from ``first``
    (``None`` where no older wheel is known not to) ``until`` a release; ``free`` is the last of these whose metadata
    lets ``gone`` in, ``since`` the first that no longer asks and ``works`` the first one that misses nothing else, both
    ``None`` where the newest still asks. ``beside`` are, by releases of consumer and provider, the releases of what
    else they require from when both were new: later ones may break them for another reason.
    """

    provider: str
    last: str
    gone: str
    consumer: str
    lost: Sequence[Lost]
    first: str | None
    until: str
    free: str
    since: str | None
    works: str | None
    python: str
    beside: Mapping[tuple[str, str], Mapping[str, str]] = {}

    def cause(self) -> tuple[str, str, str, str]:
        """What makes one rule: the provider's release, the module that lost names, and how much breaks."""
        return self.provider, self.gone, self.lost[0].module, self.lost[0].severity


def snapshot_of(python: str, pins: Mapping[str, str]) -> Snapshot:
    """An environment of pinned releases on Linux."""
    packages = {name: Distribution(name=name, version=version) for name, version in pins.items()}
    platform = {"system": "linux", "machine": "x86_64"}
    told = {"version": python, "implementation": "cpython"}
    return Snapshot(target={"kind": "pins"}, python=told, packages=packages, platform=platform, complete=False)


def missed(python: str, consumer: tuple[str, str], provider: tuple[str, str]) -> list[Lost] | None:
    """What an import of one release misses of another, most severe first; ``None`` where one cannot be read."""
    placed, notes = fetched(snapshot_of(python, dict([consumer, provider])), lambda _: None)
    if notes:
        return None
    minor = int(python.split(".")[1])
    root = placed.packages[consumer[0]].location or ""
    found = link(placed.packages.values(), Target((3, minor), "linux"), lambda _: None).missing
    lost = [lost_of(one, root) for one in found if _is_taken(one, consumer[0], provider[0])]
    return sorted(set(lost), key=lambda one: (one.severity, one))


def _is_taken(one: Missing, consumer: str, provider: str) -> bool:
    sides = one.consumer == consumer and one.provider == provider
    return sides and one.kind in _NAMED and one.severity in {"error", "warning"} and not one.way & (LATER | PROGRAM)


def lost_of(one: Missing, root: str) -> Lost:
    """What the linker misses, by the module that lost it and the outermost package that cannot be imported."""
    inside = os.path.splitext(os.path.relpath(one.file, root))[0].replace(os.sep, ".").removesuffix(".__init__")
    module, name = (one.module, one.name) if one.name else _parted(one.module)
    if not one.asked.startswith(one.module):  # by another name than the one that lost it
        module, name = _parted(one.asked)
    kind = "module" if one.kind in {"module", "refused"} else "name" if one.way & FROM else "part"
    return Lost(module, name, one.severity, _top(inside, root) if one.severity == "error" else inside, kind)


def _top(inside: str, root: str) -> str:
    """The outermost package of a module that is no namespace; the module itself where it is in none."""
    parts = inside.split(".")
    outer = (parts[:number] for number in range(1, len(parts)))
    found = (one for one in outer if os.path.exists(os.path.join(root, *one, "__init__.py")))
    return ".".join(next(found, parts))


def _parted(dotted: str) -> tuple[str, str]:
    module, _, name = dotted.rpartition(".")
    return module or name, name if module else ""


class Mine:
    """The search for what breaks on one provider; ``names`` are distributions that rules name, ``tell`` reports.

    Raises :class:`TargetError` where the history does not know the provider, or no index has it.
    """

    def __init__(self, provider: str, tell: Callable[[str], None], names: Sequence[str] = ()) -> None:
        self.provider, self._tell, self._names = provider, tell, names
        history = shipped()
        self.edges = history.edges(provider) if history else {}
        self.releases = published.wheels(provider) or []
        if not self.edges or not self.releases:
            message = f"no history of {provider}: envdoctor rules history {provider} writes it, where it has wheels"
            raise TargetError(message)
        self._versions = [one.version for one in self.releases]

    def consumers(self) -> Iterator[str]:
        """Those that require the provider, or something that does, in their newest release or one from the middle."""
        through: dict[str, set[str]] = {}
        for name in self._names:
            self._tell(f"{self.provider}: who requires it, {name} ({len(through) + 1} of {len(self._names)})")
            listed = published.wheels(name) or ()
            looked_at = {len(listed) - 1, len(listed) // 2} if listed and name != self.provider else ()
            through[name] = {one for number in looked_at for one in self._required(listed[number])}
        direct = {name for name, required in through.items() if self.provider in required}
        yield from (one for one, required in through.items() if one in direct or required & direct)

    def _required(self, release: Release, python: str = "") -> dict[str, SpecifierSet]:
        """What a release requires without an extra, on any Python or on one."""
        stated = published.metadata(release)
        found: dict[str, SpecifierSet] = {}
        for line in getattr(stated, "requires", ()):
            with contextlib.suppress(ValueError):
                one = Requirement(line)
                if not (one.marker and python) or one.marker.evaluate({"python_version": python, "extra": ""}):
                    found[canonicalize_name(one.name)] = one.specifier
        return found

    def beside(self, release: Release, python: str, provider: str) -> dict[str, str]:
        """What rules name of what two releases require, each as it was when both were there."""
        other = next(one for one in self.releases if one.version == provider)
        day = max(release.uploaded, other.uploaded)
        found: dict[str, str] = {}
        stated: dict[str, SpecifierSet] = {}
        left = [other, release]
        while left and day:
            for name, wanted in self._required(left.pop(), python).items():
                stated[name] = stated.get(name, SpecifierSet()) & wanted
                known = name in self._names and name != self.provider
                newest = _newest_of(name, stated[name], python, day) if known else None
                if newest is not None and found.get(name) != newest.version:
                    found[name] = newest.version
                    left.append(newest)
        return found

    def allows(self, consumer: str, release: Release, provider: str) -> bool:
        """Whether the metadata of two releases lets them be installed together."""
        other = next(one for one in self.releases if one.version == provider)
        mine, theirs = self._required(release), self._required(other)
        anything = SpecifierSet()
        return provider in mine.get(self.provider, anything) and release.version in theirs.get(consumer, anything)

    def of(self, consumer: str) -> list[Mined]:
        """What releases of a consumer miss, with the edges of both sides; of several causes at once the first."""
        kept: list[Mined] = []
        for one in sorted(self._all(consumer), key=lambda one: (Version(one.gone), one.lost[0].severity)):
            if not any(_covers(each, one) for each in kept):
                kept.append(one)
        return kept

    def _all(self, consumer: str) -> Iterator[Mined]:
        listed = published.wheels(consumer) or []
        seen: set[str] = set()
        for release, gone in self._tried(consumer, listed):
            python = _python(release, self.releases[self._versions.index(gone)])
            lost = missed(python, (consumer, release.version), (self.provider, gone)) if python else None
            for one in lost or ():
                if one.module not in seen:  # errors come first
                    seen.add(one.module)
                    self._tell(f"{self.provider}: {consumer} {release.version} takes {one.module}.{one.name}")
                    made = self._mined(one, _Consumer(self, consumer, listed, python, listed.index(release)), gone)
                    yield from [made] if made else []

    def _mined(self, one: Lost, side: _Consumer, gone: str) -> Mined | None:
        """Both edges of what a release misses; ``None`` where no older provider has it."""

        def is_there(number: int) -> bool:
            found = side.missed(side.at, self._versions[number])
            return found is not None and not any(_is_same(one, each) for each in found)

        edge = turn(*self._span(one, gone), is_there)
        if edge is None:
            return None
        gone, last = (self._versions[number] for number in edge)
        lost = [each for each in side.missed(side.at, gone) or () if _is_same(one, each)]
        return side.mined(lost, last, gone) if lost else None

    def _tried(self, consumer: str, listed: Sequence[Release]) -> list[tuple[Release, str]]:
        """Releases of a consumer, each with the newest provider behind an edge that came later and that it lets in.

        Of each edge it is the release before it; those come first behind which the most names went.
        """
        days = {one.version: one.uploaded for one in self.releases}
        weights: Counter[int] = Counter()
        for (_, gone), names in self.edges.items():
            weights.update(dict.fromkeys(before(listed, days.get(gone, "")), len(names)))
        best = [listed[at] for at in sorted(at for at, _ in weights.most_common(MOST_TRIED))]
        found = [(one, self._newest(consumer, one, days)) for one in best]
        return [(release, gone) for release, gone in found if gone]

    def _newest(self, consumer: str, release: Release, days: Mapping[str, str]) -> str:
        """The newest provider behind an edge that came after a release and that it lets in; empty where none is."""
        later = (gone for _, gone in self.edges if days.get(gone, "") > release.uploaded)
        return max((one for one in later if self.allows(consumer, release, one)), key=Version, default="")

    def _span(self, one: Lost, gone: str) -> tuple[int, int]:
        """Between which releases of the provider a name went, as far as the history knows: from the later one back."""
        dotted = ".".join(filter(None, (one.module, one.name)))
        names = ((edge, name) for edge, names in self.edges.items() for name in names)
        known = next((edge for edge, name in names if name == dotted and set(edge) <= set(self._versions)), None)
        late, early = (known[1], known[0]) if known else (gone, self._versions[0])
        return self._versions.index(late), self._versions.index(early)


def first(start: int, end: int, works: Callable[[int], bool]) -> int | None:
    """The first number of some that works, as far as galloping finds it; ``None`` where none does."""
    after = None if works(start) else turn(start, end, works)
    return start if works(start) else after[1] if after else None


def before(listed: Sequence[Release], day: str) -> list[int]:
    """The place of the last release from before a day that is no large wheel; empty where there is none."""
    light = (at for at, one in enumerate(listed) if not one.yanked and (one.size or 0) <= SEARCHED)
    return [at for at in light if listed[at].uploaded < day][-1:]


def _newest_of(name: str, wanted: SpecifierSet, python: str, day: str) -> Release | None:
    """The newest release within a specifier that was there on a day, for a Python."""
    listed = [one for one in published.wheels(name) or () if one.uploaded <= day and not one.yanked]
    fitting = [one for one in listed if one.version in wanted and is_for(python, one)]
    return fitting[-1] if fitting else None


def _python(*releases: Release) -> str:
    """A Python that releases are for and have wheels for, and that was there before them; empty where none is."""
    day = max(one.uploaded for one in releases)
    known = sorted(PYTHONS, key=lambda one: not day or _DAYS.get(one, "") > day)
    return next((one for one in known if all(is_for(one, each) for each in releases)), "")


def is_for(python: str, release: Release) -> bool:
    """Whether a release has a wheel for a Python ``X.Y`` on Linux, and its metadata lets it in."""
    own = f"cp{python.replace('.', '')}"
    allowed = within(python, release.requires_python) is not False
    tags = [one for one in release.tags if one.endswith("-any") or "x86_64" in one]
    return allowed and any(one.startswith(("py3-", "py2.py3-", own)) or "-abi3-" in one for one in tags)


class _Consumer:
    """The releases of a consumer on one Python, the tried one at ``at``."""

    def __init__(self, mine: Mine, name: str, listed: Sequence[Release], python: str, at: int) -> None:
        self._mine, self._name, self._listed, self._python, self.at = mine, name, listed, python, at

    def missed(self, number: int, provider: str) -> list[Lost] | None:
        """What a release misses of one of the provider."""
        return missed(self._python, (self._name, self._listed[number].version), (self._mine.provider, provider))

    def mined(self, lost: Sequence[Lost], last: str, gone: str) -> Mined:
        """The edges of the consumer, for what went between two releases of the provider."""
        first, until, since = self._asking(lost[0], gone)
        free, works = self._free(until, gone), None if since is None else self._works(lost[0], since, gone)
        cells = [(free, gone), (until, gone), (free, last), *([] if works is None else [(works, gone)])]
        sides = [one for one in self._mine.releases if one.version in {last, gone}]
        python = _python(*sides, *(self._listed[one] for one, _ in cells)) or self._python
        named: dict[str, int | None] = {"first": first, "until": until, "free": free, "since": since, "works": works}
        return Mined(
            provider=self._mine.provider, last=last, gone=gone, consumer=self._name, lost=lost, python=python,
            beside={
                (self._listed[one].version, side): self._mine.beside(self._listed[one], python, side)
                for one, side in cells
            },
            **{key: self._version(one) for key, one in named.items()},
        )  # fmt: skip

    def _version(self, number: int | None) -> Any:
        return None if number is None else self._listed[number].version

    def _asking(self, one: Lost, gone: str) -> tuple[int | None, int, int | None]:
        """The first and the last release that ask, and the first that no longer does; ``None`` where none is known."""

        def stopped(number: int) -> bool:
            found = self.missed(number, gone)
            return found is not None and not any(_is_same(one, each) for each in found)

        newest = len(self._listed) - 1
        forward, back = turn(self.at, newest, stopped), turn(self.at, 0, stopped)
        return back[0] if back else None, *(forward or (newest, None))

    def _caps(self, number: int, gone: str) -> bool:
        return not self._mine.allows(self._name, self._listed[number], gone)

    def _free(self, until: int, gone: str) -> int:
        """The last release that asks and whose metadata lets the failing provider in."""
        capped = turn(self.at, until, lambda number: self._caps(number, gone)) if self._caps(until, gone) else None
        return capped[0] if capped else until

    def _works(self, one: Lost, since: int, gone: str) -> int | None:
        """The first release from one on that misses nothing else; ``None`` where none does."""

        def works(number: int) -> bool:
            found = None if self._caps(number, gone) else self.missed(number, gone)
            return found is not None and not any(each.severity == "error" or _is_same(one, each) for each in found)

        return first(since, len(self._listed) - 1, works)


def _covers(one: Mined, other: Mined) -> bool:
    """Whether whoever trips over a later cause has tripped over an earlier one."""
    later = Version(one.until) >= Version(other.until) and Version(one.first or "0") <= Version(other.first or "0")
    return later and one.lost[0].severity <= other.lost[0].severity


def _is_same(one: Lost, other: Lost) -> bool:
    """Whether two losses belong to one cause: the names of one module."""
    return one.module == other.module and one.severity == other.severity
