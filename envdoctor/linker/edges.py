"""From a name that is missing to the releases between which it went, or came, and to those that no longer ask.

By galloping away from what is installed and by halving, so that of hundreds of releases a dozen are read.
"""

from __future__ import annotations

import functools
import json
import os
import zlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from envdoctor.engine.asks import NAMED, Asking, Edges
from envdoctor.engine.requirements import parse
from envdoctor.engine.versions import within
from envdoctor.errors import TargetError
from envdoctor.linker.conditions import Target
from envdoctor.linker.history import Life
from envdoctor.linker.published import Archive, File, fits, published
from envdoctor.linker.releases import Room
from envdoctor.linker.standard import Standard
from envdoctor.linker.store import version
from envdoctor.probes import cache, releases

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.engine.asks import Ask

#: Releases that are read of one side.
MOST_READ = 12
#: Distributions of which it is asked whether they define what was called.
MOST_OTHERS = 6
_LATEST = (3, 14)


class _Enough(Exception):  # noqa: N818 - it never leaves this file
    """So many releases were read that the search ends."""


class _Side:
    """The releases of one distribution, with what was asked of each of them."""

    def __init__(self, name: str, files: Sequence[File], at: int, search: _Search) -> None:
        self.name, self.files, self.at = name, files, at
        self._search = search
        self._told: dict[tuple[str, int], Any] = {}
        self._opened: dict[int, Archive] = {}

    @property
    def read(self) -> int:
        """How many releases were read."""
        return len(self._opened)

    def version(self, number: int) -> str:
        """The version of a release by its number."""
        return self.files[number].version

    def archive(self, number: int) -> Archive:
        """The archive of a release. Raises :class:`TargetError` where it cannot be read."""
        if number not in self._opened:
            if len(self._opened) >= MOST_READ:
                raise _Enough
            self._search.tell(f"reading {self.name} {self.version(number)}")
            self._opened[number] = Archive(self.files[number], self._search.context)
        return self._opened[number]

    def metadata(self, number: int) -> str:
        """The metadata of a release. Raises :class:`TargetError` where it cannot be read."""
        return self.archive(number).metadata().decode("utf-8", "replace")

    def told(self, question: str, number: int, answer: Callable[[Archive], Any]) -> Any:
        """The answer to a question about a release, kept for good; ``None`` where it cannot be read."""
        key = (question, number)
        if key not in self._told:
            place = self._search.place(question, self.files[number])
            kept = cache.read(place)
            if kept is None:
                try:
                    self._told[key] = answer(self.archive(number))
                except TargetError:
                    self._told[key] = None
                    return None
                cache.keep(place, json.dumps(self._told[key]).encode())
            else:
                self._told[key] = json.loads(kept)
        return self._told[key]

    def turn(
        self, end: int, differs: Callable[[int], bool | None], start: int | None = None
    ) -> tuple[int, int] | None:
        """The last release like the installed one, or another ``start``, on the way to an end, and the first that differs.

        ``None`` where none differs. What cannot be told counts as alike.
        """
        near, far, width = self.at if start is None else start, None, 1
        forth = 1 if end > near else -1
        while near != end and far is None:
            number = min(near + forth * width, end, key=lambda one: one * forth)
            near, far = (near, number) if differs(number) else (number, None)
            width *= 2
        while far is not None and abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if differs(middle) else (middle, far)
        return None if far is None else (near, far)


class _Search:
    def __init__(self, ask: Ask, tell: Callable[[str], None]) -> None:
        self.ask, self.tell = ask, tell
        where = releases.configuration()
        self.context = _context(where.certificates)
        parts = ask.python.split(".")[:2]
        minor = (int(parts[0]), int(parts[1])) if len(parts) > 1 and parts[1].isdigit() else _LATEST
        self.target = Target(minor, ask.system)
        self.standard = Standard(minor)

    def place(self, question: str, file: File) -> str:
        """Where the answer to a question about a release is kept."""
        asked = [question, self.ask.as_dict(), self.target, version(), _reader()]
        plain = json.dumps(asked, sort_keys=True, default=str)
        name = f"{os.path.basename(file.address)}-{zlib.crc32(plain.encode()):08x}.json"
        return os.path.join(cache.directory(), "online", name)

    def listed(self, name: str | None, *, fitting: bool = False) -> _Side | None:
        """The releases of a distribution, from the installed one where its version is known, else from the newest.

        ``fitting`` leaves out those that are not for this Python. ``None`` where the index does not tell.
        """
        have = _version(self.ask.versions.get(name or "", ""))
        try:
            files = published(name, early=have is not None and have.is_prerelease) if name else []
        except TargetError as error:
            self.tell(str(error))
            return None
        if fitting:
            files = [one for one in files if one.version == str(have) or fits(one, self.ask.python)]
        known = [number for number, one in enumerate(files) if have is None or Version(one.version) <= have]
        return _Side(name or "", files, known[-1], self) if known else None

    def defining(self, consumer: _Side | None) -> _Side | None:
        """Of what may be meant, the one that defines what was called, and differently."""
        required = _required(consumer.metadata(consumer.at)) if consumer else []
        for name in list(dict.fromkeys([*self.ask.others, *required]))[:MOST_OTHERS]:
            side = self.listed(name)
            if side is not None and side is not consumer and self._has(side, side.at) is False:
                return side
        return None

    def asking(self, provider: _Side) -> _Side | None:
        """Of what is installed besides, the one that requires the provider and asks."""
        for name in self.ask.others[:MOST_OTHERS]:
            side = self.listed(name, fitting=True) if name != provider.name else None
            if side is not None and provider.name in _required(side.metadata(side.at)):
                room = Room({side.name: side.archive(side.at)}, self.target, self.standard)
                if room.asks(self.ask, side.name):
                    return side
        return None

    def _has(self, side: _Side, number: int) -> bool | None:
        """Whether a release has what is asked for."""
        ask = self.ask.replace(provider=side.name)

        def offered(archive: Archive) -> bool | None:
            return Room({side.name: archive}, self.target, self.standard).offers(ask)

        told: bool | None = side.told("offers", number, offered)
        return told

    def provider(self, side: _Side) -> Life | None:
        """Between which releases the name went or came; nothing where the failing release cannot be told to lack it."""
        ask = self.ask

        def has(number: int) -> bool | None:
            return self._has(side, number)

        newest = len(side.files) - 1
        if has(side.at) is not False:
            return None
        if has(newest):
            near, far = side.turn(newest, has) or (0, newest)
            return Life(distribution=side.name, name=ask.said(), since=side.version(far))
        # where nobody can tell, a release before the one that surely lacks it is taken to have it
        found = side.turn(0, lambda number: has(number) is not False)
        if found is None:
            return None
        near, far = found
        return Life(distribution=side.name, name=ask.said(), last=side.version(far), gone=side.version(near))

    def consumer(self, side: _Side, beside: _Side | None, life: Life | None) -> Asking | None:
        """Which releases ask; nothing where the installed one cannot be told to ask."""
        for ask in self._variants():
            found = self._asking(side, beside, life, ask)
            if found is not None:
                return found
        return None

    def _variants(self) -> Iterator[Ask]:
        """The ask as it is, then in words that fit more: without the statement, or as an attribute of anything."""
        yield self.ask
        if self.ask.kind in {"attribute", "required", "count"} and self.ask.code:
            yield self.ask.replace(code="")
        elif self.ask.kind == "part":
            yield self.ask.replace(kind="attribute")

    def _asking(self, side: _Side, beside: _Side | None, life: Life | None, ask: Ask) -> Asking | None:
        def room(archive: Archive, number: int | None) -> Room:
            archives = {side.name: archive}
            if beside is not None and number is not None:
                archives[beside.name] = beside.archive(number)
            return Room(archives, self.target, self.standard)

        def asks(number: int) -> Any:
            here = beside.at if beside else None
            return side.told(f"asks {ask.kind} {ask.code}", number, lambda one: room(one, here).asks(ask, side.name))

        def stopped(number: int) -> bool:
            return asks(number) is False

        newest = len(side.files) - 1
        if not asks(side.at):
            found = side.turn(0, lambda number: bool(asks(number))) if side.name not in ask.versions else None
            if found is None:
                return None
            until, since = side.version(found[1]), side.version(found[0])
            return Asking(distribution=side.name, until=until, since=since, free=until, module=str(asks(found[1])))
        forward = side.turn(newest, stopped) if side.at < newest and stopped(newest) else None
        backward = side.turn(0, stopped) if forward is None or (life and life.since) else None
        until = forward[0] if forward else newest
        caps = self._capped(side, until, beside.name if beside else ask.brings) if until > side.at else None
        works = forward[1] if forward else None
        if forward and beside and life and life.last and ask.kind in NAMED:
            last = next(number for number, one in enumerate(beside.files) if one.version == life.last)

            def whole(number: int) -> bool:
                def taken(one: Archive) -> bool:
                    return not room(one, beside.at).lost(side.name, beside.name, room(one, last))

                return bool(side.told(f"whole {last}", number, taken))

            if not whole(forward[1]):
                after = side.turn(newest, whole, forward[1]) if whole(newest) else None
                works = after[1] if after else works
        return Asking(
            distribution=side.name,
            until=side.version(until),
            since=side.version(forward[1]) if forward else None,
            works=side.version(works) if works is not None else None,
            before=side.version(backward[1]) if backward else None,
            caps=side.version(caps[0]) if caps else None,
            cap=caps[1] if caps else "",
            free=side.version(caps[0] - 1 if caps else until),
            module=str(asks(side.at) or ""),
        )

    def _capped(self, side: _Side, until: int, provider: str) -> tuple[int, str] | None:
        """The first release that asks, but whose metadata keeps the failing release out, or requires a stand-in."""
        failing = self.ask.versions.get(provider, "") if self.ask.provider != "" else ""

        def cap(number: int) -> str:
            def stated(archive: Archive) -> str:
                return _cap(archive.metadata().decode("utf-8", "replace"), provider, failing)

            return side.told("caps", number, stated) or ""

        if not (provider and (failing or self.ask.provider == "")) or not cap(until) or cap(side.at):
            return None
        found = side.turn(until, lambda number: bool(cap(number)))
        return (found[1], cap(found[1])) if found else None


def _required(metadata: str) -> list[str]:
    """The distributions that a release requires without an extra."""
    parsed = [parse(line) for line in _lines(metadata) if "extra" not in line]
    return [one[0] for one in parsed if one]


def _lines(metadata: str) -> list[str]:
    """The requirements in the metadata of a wheel, or in the list of a source archive."""
    lines = metadata.splitlines()
    stated = [line.partition("Requires-Dist:")[2].strip() for line in lines if line.startswith("Requires-Dist:")]
    return stated or [line.strip() for line in lines if line[:1].isalpha() and ": " not in line]


def _cap(metadata: str, provider: str, failing: str) -> str:
    """The requirement of a release that excludes another distribution's failing release, or for an empty one that it is
    there; empty where there is none.
    """
    for line in _lines(metadata):
        parsed = parse(line.partition(";")[0])
        if not parsed or parsed[0] != provider or "extra" in line:
            continue
        if not failing or (parsed[1] and within(failing, parsed[1]) is False):
            return f"{parsed[0]}{parsed[1]}".replace(" ", "").replace("(", "").replace(")", "")
    return ""


def edges(ask: Ask, tell: Callable[[str], None]) -> Edges:
    """What the releases on the index say of an ask: the provider's edge and the consumer's, as far as they were found."""
    search = _Search(ask, tell)
    life = asking = None
    consumer = search.listed(ask.consumer, fitting=True)
    provider = search.listed(ask.provider)
    try:
        provider = provider or (search.defining(consumer) if ask.provider is None else None)
        life = search.provider(provider) if provider else None
        if consumer is None and provider is not None:
            consumer = search.asking(provider)
    except (_Enough, TargetError) as error:
        tell(str(error) or f"{MOST_READ} releases of {provider and provider.name} were read without finding the edge")
    try:
        if consumer and consumer is not provider and (provider or ask.provider == ""):
            asking = search.consumer(consumer, provider, life)
    except (_Enough, TargetError) as error:
        tell(str(error) or f"{MOST_READ} releases of {consumer and consumer.name} were read without finding the edge")
    return Edges(
        provider=provider.name if provider and ask.provider is None else None,
        consumer=consumer.name if consumer and ask.consumer is None and asking else None,
        life=life,
        asking=asking,
        read={side.name: side.read for side in (provider, consumer) if side},
    )


@functools.cache
def _reader() -> int:
    """What changes when releases are read in another way."""
    return zlib.crc32(resources.files("envdoctor.linker").joinpath("releases.py").read_bytes())


def _context(certificates: str | None) -> ssl.SSLContext:
    import ssl

    return ssl.create_default_context(cafile=certificates)


def _version(text: str) -> Version | None:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None
