"""The shipped history of names: which public names of a distribution were there in which releases. Read offline.

The file has one member for each distribution, so that asking about one does not cost reading the others.
``envdoctor rules history`` writes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from typing import Any

from envdoctor.engine.versions import key
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FILE = "history.zip"
#: The member that says which top-level modules each distribution has.
ROOTS = "roots.json"
#: The member that says which classes each distribution's newest release has.
CLASSES = "classes.json"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Life(Record):
    """When a name of a distribution was there, by the releases that were read.

    ``name`` is dotted, a parameter behind ``:``. ``since`` is the first release that has it, ``None`` where the oldest
    has it already; ``last`` is the last release that has it and ``gone`` the first one after it, both ``None`` where
    the newest release has it. ``fails`` says that the name is of what fails: the last release is still without it.
    """

    distribution: str
    name: str
    since: str | None = None
    last: str | None = None
    gone: str | None = None
    fails: bool = False

    def said(self) -> str:
        """A sentence about the releases that were read."""
        if self.fails:
            return f"{self.name} came with {self.distribution} {self.gone}; {self.last} is without it"
        since = f"{self.name} is in {self.distribution} from {self.since} on" if self.since else ""
        if not self.gone:
            return since
        return f"{since or f'{self.name} is in {self.distribution}'}, last in {self.last}, and gone in {self.gone}"


class History:
    """An opened history."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._roots: Mapping[str, Sequence[str]] = json.loads(archive.read(ROOTS))
        self._kept: dict[str, _Lives] = {}

    def distributions(self, module: str) -> Sequence[str]:
        """The distributions that have had a module, or a name in it, by its first part."""
        return self._roots.get(module.partition(".")[0], ())

    def life(self, name: str) -> list[Life]:
        """The records of a dotted name; none where every release that was read has it, or none has."""
        return [life for one in self.distributions(name) for life in self._of(one).lives(name)]

    def holders(self, endings: Iterable[str]) -> dict[str, list[str]]:
        """By the end of a name, the distributions that have or had one in some releases and not in others.

        An end that begins with a dot or a colon is of any class.
        """
        wanted = {one: f'{"" if one[0] in ".:" else "."}{one}"'.encode() for one in endings}
        found: dict[str, list[str]] = {one: [] for one in wanted}
        for member in self._archive.namelist() if wanted else ():
            data = b"" if member in {ROOTS, CLASSES} else self._archive.read(member)
            for one in (one for one, word in wanted.items() if word in data):
                found[one].append(member.removesuffix(".json"))
        return found

    def with_class(self, endings: Iterable[str]) -> dict[str, list[str]]:
        """By the end of a name, the distributions that have a class of the name that it begins with."""
        first = {one: one.partition(".")[0] for one in endings}
        classes = self._classes() if first else {}
        return {one: [name for name, some in classes.items() if word in some] for one, word in first.items()}

    def _classes(self) -> Mapping[str, Sequence[str]]:
        found: Mapping[str, Sequence[str]] = {}
        with contextlib.suppress(KeyError):
            found = json.loads(self._archive.read(CLASSES))
        return found

    def imports(self) -> dict[str, list[str]]:
        """The distribution of each import name that one alone has."""
        return {root: [*owners] for root, owners in self._roots.items() if len(owners) == 1}

    def edges(self, distribution: str) -> dict[tuple[str, str], list[str]]:
        """The names that went for good, by the last release that was read and has them, and the next one."""
        return self._of(distribution).edges() if f"{distribution}.json" in self._archive.namelist() else {}

    def gone(self, distribution: str, version: str, kind: str, word: str) -> list[Life]:
        """The records of an attribute that classes of a name had before a release, and do not have in it."""
        if not any(distribution in some for some in self._roots.values()):
            return []
        return self._of(distribution).gone(version, f"{kind}.{word}")

    def lost_words(self, distribution: str, version: str) -> dict[str, list[Life]]:
        """By the last word of their name, the attributes of classes that releases had before one, and it has not."""
        if f"{distribution}.json" not in self._archive.namelist():
            return {}
        return self._of(distribution).lost_words(version)

    def _of(self, distribution: str) -> _Lives:
        if distribution not in self._kept:
            self._kept[distribution] = _Lives(distribution, json.loads(self._archive.read(f"{distribution}.json")))
        return self._kept[distribution]


class _Lives:
    """The names of one distribution that some of its releases lack."""

    def __init__(self, distribution: str, stated: Mapping[str, Any]) -> None:
        self._distribution = distribution
        self._releases: Sequence[str] = stated["releases"]
        self._spans: dict[str, str] = {name: spans for spans, names in stated["names"].items() for name in names}
        self._endings: dict[str, list[str]] = {}

    def lives(self, name: str) -> Iterator[Life]:
        if name in self._spans:
            yield self._life(name)

    def edges(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for name, spans in self._spans.items():
            end = spans.rpartition("-")[2]
            if end:
                found.setdefault((self._releases[int(end)], self._releases[int(end) + 1]), []).append(name)
        return found

    def _at(self, version: str) -> int | None:
        """The place of a release among those that were read, of each minor version one."""
        installed, minor = key(version), version.split(".")[:2]
        if installed is None:
            return None
        return sum((key(one) or installed) <= installed or one.split(".")[:2] == minor for one in self._releases) - 1

    def _next(self, version: str) -> int | None:
        """The place of a release among those that were read, or of the next newer one that was."""
        at, installed = self._at(version), key(version)
        if at is None or installed is None:
            return None
        near, minor = self._releases[max(at, 0)], version.split(".")[:2]
        is_between = at >= 0 and near.split(".")[:2] != minor and (key(near) or installed) < installed
        return min(at + is_between, len(self._releases) - 1)

    def gone(self, version: str, ending: str) -> list[Life]:
        """The names with an end of two parts that an older release has, and this one has not."""
        if not self._endings:
            for name in self._spans:
                self._endings.setdefault(".".join(name.rsplit(".", 2)[1:]), []).append(name)
        at = self._at(version)
        return [
            self._life(name) for name in self._endings.get(ending, ()) if at is not None and self._is_gone(name, at)
        ]

    def lost_words(self, version: str) -> dict[str, list[Life]]:
        """By last word, the attributes of classes that an older release has, where this one may have no such word.

        Of a release between two that were read, what the next one lacks: whether it is gone already, its source says.
        """
        at, found, there = self._next(version), dict[str, list[str]](), set[str]()
        for name, spans in self._spans.items() if at is not None else ():
            word = name.rpartition(".")[2]
            if _is_in(spans, at or 0):
                there.add(word)
            elif _is_attribute(name) and self._is_gone(name, at or 0):
                found.setdefault(word, []).append(name)
        return {word: [self._life(name) for name in names] for word, names in found.items() if word not in there}

    def _is_gone(self, name: str, at: int) -> bool:
        """Whether a release lacks a name that an older one has, and that the newest one has not either.

        A name that the newest release has was there all the time, as a rule: some releases define it by running code.
        """
        if self._spans[name].endswith("-"):
            return False
        return int(self._spans[name].partition("-")[0]) <= at and not _is_in(self._spans[name], at)

    def _life(self, name: str) -> Life:
        spans = [span.partition("-") for span in self._spans[name].split(",")]
        first, end = int(spans[0][0]), spans[-1][2]
        return Life(
            distribution=self._distribution,
            name=name,
            since=self._releases[first] if first else None,
            last=self._releases[int(end)] if end else None,
            gone=self._releases[int(end) + 1] if end else None,
        )


def _is_attribute(name: str) -> bool:
    """Whether a full name is that of a public attribute of a class, and not of a parameter."""
    head, _, word = name.rpartition(".")
    return head.rpartition(".")[2][:1].isupper() and word[:1] != "_" and ":" not in word


def _is_in(spans: str, at: int) -> bool:
    """Whether a release, by its place, is in one of the spans ``first-last``, the last one of which may be open."""
    ends = (span.partition("-")[::2] for span in spans.split(","))
    return any(int(one) <= at and (not end or int(end) >= at) for one, end in ends)


def places(file: str) -> tuple[str, str]:
    """Where a file that comes with the rules may be: beside the package's modules, or in a checkout's ``rules``."""
    return os.path.join(_PACKAGE, file), os.path.join(os.path.dirname(_PACKAGE), "rules", file)


def shipped() -> History | None:
    """The history that came with envdoctor; ``None`` where there is none, or it cannot be read (without ``bz2``)."""
    for path in places(FILE):
        try:
            return History(zipfile.ZipFile(path))
        except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile):
            continue
    return None


def holders(endings: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The distributions that may have each name of which only the end is known.

    First those that have or had it in some releases and not in others; where there are none, those that have a class of
    the name that it begins with.
    """
    history = shipped() if endings else None
    found = history.holders(endings) if history else {}
    return found, history.with_class(one for one in found if not found[one]) if history else {}


def imports() -> dict[str, list[str]]:
    """The distribution of each import name, by the shipped history."""
    history = shipped()
    return history.imports() if history else {}


def lives(asked: Iterable[Sequence[str]]) -> dict[tuple[str, str], Life]:
    """The records of the shipped history about names, by (module, name); ``asked`` has (distribution, module, name)."""
    wanted = [(module, name) for _, module, name in asked if name]
    history = shipped() if wanted else None
    known = {key: history.life(".".join(key)) for key in wanted} if history else {}
    return {key: found[0] for key, found in known.items() if found}
