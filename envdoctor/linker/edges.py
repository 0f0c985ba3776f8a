"""From a name that is missing to the releases between which it went, or came, and to those that no longer ask.

By galloping away from what is installed and by halving, so that of hundreds of releases a dozen are read.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

from packaging.version import InvalidVersion, Version

from envdoctor.engine.asks import NAMED, NEW, Asking, Edges
from envdoctor.errors import TargetError
from envdoctor.linker.branches import Target
from envdoctor.linker.history import Life
from envdoctor.linker.index_files import Archive, File, is_for, published
from envdoctor.linker.release_archives import Room
from envdoctor.linker.side import MOST_READ, Enough, Side, cap, required
from envdoctor.linker.standard_library import standard_of
from envdoctor.linker.store import version
from envdoctor.probes import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envdoctor.engine.asks import Ask

#: Distributions of which it is asked whether they define what was called.
MOST_OTHERS = 6


class _EdgeSearch:
    def __init__(self, ask: Ask, tell: Callable[[str], None]) -> None:
        self.ask, self.tell = ask, tell
        self.standard = standard_of(ask.python)
        self.target = Target(self.standard.minor, ask.system)

    def place(self, question: str, file: File) -> str:
        """Where the answer to a question about a release is kept."""
        asked = [question, self.ask.as_dict(), self.target, version()]
        plain = json.dumps(asked, sort_keys=True, default=str)
        name = f"{os.path.basename(file.address)}-{zlib.crc32(plain.encode()):08x}.json"
        return os.path.join(cache.directory(), "online", name)

    def provided(self) -> tuple[Side | None, Life | None]:
        """The one that is asked, as far as it is found, and the life of the name."""
        side = self.listed(self.ask.provider)
        try:
            if self.ask.provider is None:
                side = self.defining(self.listed(self.ask.consumer, fitting=True))
            return side, self.provider(side) if side else None
        except (Enough, TargetError) as error:
            self._give_up(error, side)
            return side, None

    def consumed(self, provider: Side | None, life: Life | None) -> tuple[Side | None, Asking | None]:
        """The one that asks, as far as it is found, and how long it does."""
        side = self.listed(self.ask.consumer, fitting=True)
        try:
            if side is None and provider is not None:
                side = self.asking(provider)
            seen = self.ask.provider == "" or (self.ask.kind == "attribute" and self.ask.code)
            if side is None or side is provider or (provider is None and not seen):
                return side, None
            return side, self._longest(side, provider, life)
        except (Enough, TargetError) as error:
            self._give_up(error, side)
            return side, None

    def _longest(self, side: Side, provider: Side | None, life: Life | None) -> Asking | None:
        """How long releases ask, with those that are for other Pythons alone where only one of these has stopped."""
        found = self.consumer(side, provider, life)
        return found if found is None or found.since else self._later(side, provider, life) or found

    def _later(self, side: Side, provider: Side | None, life: Life | None) -> Asking | None:
        """The same with all releases; nothing where none has stopped."""
        every = self.listed(side.name)
        found = self.consumer(every, provider, life) if every and every.last != side.last else None
        return found if found and found.since else None

    def _give_up(self, error: Exception, side: Side | None) -> None:
        name = side.name if side else "a distribution"
        self.tell(str(error) or f"{MOST_READ} releases of {name} were read without finding the edge")

    def listed(self, name: str | None, *, fitting: bool = False) -> Side | None:
        """The releases of a distribution, from the installed one where its version is known, else from the newest.

        ``fitting`` leaves out those that are not for this Python. ``None`` where the index does not say.
        """
        have = _version(self.ask.versions.get(name or "", ""))
        files = self._files(name, have) if name else []
        if fitting:
            files = [one for one in files if one.version == str(have) or is_for(one, self.ask.python)]
        known = [number for number, one in enumerate(files) if have is None or Version(one.version) <= have]
        return Side(name or "", files, known[-1], self) if known else None

    def _files(self, name: str, have: Version | None) -> list[File]:
        """What the index has of a distribution, with early releases where the installed one is such; or nothing."""
        try:
            return published(name, early=have is not None and have.is_prerelease)
        except TargetError as error:
            self.tell(str(error))
            return []

    def defining(self, consumer: Side | None) -> Side | None:
        """Of what may be meant, the one that defines what was called, and differently; of what is new, the only one."""
        requires = required(consumer.metadata(consumer.at)) if consumer and self.ask.kind != "made" else []
        sides = map(self.listed, list(dict.fromkeys([*self.ask.others, *requires]))[:MOST_OTHERS])
        found = (
            one for one in sides if one and one is not consumer and self._has(one, one.at) is False and self._had(one)
        )
        first = next(found, None)
        return None if self.ask.kind in NEW and next(found, None) else first

    def _had(self, side: Side) -> bool:
        """Whether an older release has the word that is asked for; of anything else that does not matter here."""
        return self.ask.kind not in {"word", *NEW} or self.provider(side) is not None

    def _never_had(self, side: Side | None) -> bool:
        """Whether the class that a message names never had the attribute, as far as its failing release shows."""
        if side is None:
            return self.standard.method(self.ask.owner, self.ask.name) is None

        def defined(archive: Archive) -> bool:
            return Room({side.name: archive}, self.target, self.standard).defines(side.name, self.ask.name)

        return self._has(side, side.at) is False or side.decided("defined", side.at, defined) is False

    def maker(self, side: Side | None) -> _EdgeSearch | None:
        """The search for the one that gives an object of a class that never had the attribute."""
        ask = self.ask
        if ask.kind != "attribute" or not ask.module or ask.provider is None or not self._never_had(side):
            return None
        installed = [name for name in ask.versions if name not in {ask.provider, ask.consumer}]
        made = ask.replace(kind="made", provider=None, others=installed)
        return _EdgeSearch(made, self.tell) if installed else None

    def asking(self, provider: Side) -> Side | None:
        """Of what is installed besides, the one that requires the provider and asks."""
        for name in self.ask.others[:MOST_OTHERS]:
            side = self.listed(name, fitting=True) if name != provider.name else None
            # of two, the other one asks, even where an import that may fail is all that names the provider
            if side is not None and (len(self.ask.others) <= 2 or provider.name in required(side.metadata(side.at))):  # noqa: PLR2004
                room = Room({side.name: side.archive(side.at)}, self.target, self.standard)
                if room.asks(self.ask, side.name):
                    return side
        return None

    def _has(self, side: Side, number: int) -> bool | None:
        """Whether a release has what is asked for."""
        return self._offers("offers", side, number, self.ask.replace(provider=side.name))

    def _offers(self, question: str, side: Side, number: int, ask: Ask) -> bool | None:
        def offered(archive: Archive) -> bool | None:
            return Room({side.name: archive}, self.target, self.standard).offers(ask)

        offers: bool | None = side.decided(question, number, offered)
        return offers

    def provider(self, side: Side) -> Life | None:
        """Between which releases the name went or came; nothing where the failing release may have it."""
        ask = self.ask

        def has(number: int) -> bool | None:
            return self._has(side, number)

        newest = len(side.files) - 1
        if has(side.at) is not False or self._is_unseen(side):
            return None
        if ask.kind not in NEW and has(newest):
            since = (side.turn(newest, has) or (0, newest))[1]
            return Life(distribution=side.name, name=ask.said(), since=side.version(since))
        # where nobody can tell, a release before the one that surely lacks it is taken to have it
        found = side.turn(0, lambda number: has(number) is not False)
        if found is None:
            return None
        last, gone = side.version(found[1]), side.version(found[0])
        return Life(distribution=side.name, name=ask.said(), last=last, gone=gone, fails=ask.kind in NEW)

    def _is_unseen(self, side: Side) -> bool:
        """Whether the failing release has no file of a module that is there, as the message says."""
        if self.ask.kind not in {"name", "part"} or side.name not in self.ask.versions:
            return False
        return self._offers("module", side, side.at, self.ask.replace(kind="module", provider=side.name)) is False

    def consumer(self, side: Side, beside: Side | None, life: Life | None) -> Asking | None:
        """Which releases ask; nothing where it is not known that the installed one asks."""
        for ask in self._variants():
            found = _Consumer(self, side, beside, life, ask).asking()
            if found is not None:
                return found
        return None

    def _variants(self) -> Iterator[Ask]:
        """The ask as it is, then in words that fit more: without the statement, or as an attribute of anything."""
        if self.ask.kind == "words":
            yield self.ask.replace(kind="attribute")
            return
        yield self.ask
        if self.ask.kind in {"attribute", "required", "count"} and self.ask.code:
            yield self.ask.replace(code="")
        elif self.ask.kind == "part":
            yield self.ask.replace(kind="attribute")


class _Consumer:
    """The releases of the one that asks, beside the failing release of the one that is asked."""

    def __init__(self, search: _EdgeSearch, side: Side, beside: Side | None, life: Life | None, ask: Ask) -> None:
        self._search, self._side, self._beside, self._life, self._ask = search, side, beside, life, ask

    def asking(self) -> Asking | None:
        """Which releases ask; nothing where it is not known that the installed one, else any, asks."""
        side = self._side
        if not self._asks(side.at):
            return self._older() if side.name not in self._ask.versions else None
        newest = len(side.files) - 1
        if self._asks(newest) is None:
            return None  # nobody can tell how long it does
        end = next((one for one in (newest, side.latest) if one > side.at and self._stopped(one)), None)
        forward = None if end is None else side.turn(end, self._stopped)
        if forward is None or end is None:
            return self._until(newest, {}, before=self._before())
        more = self._since(forward[1], end, newest)
        return self._until(forward[0], more, before=self._before() if self._came() else None)

    def _until(self, last: int, more: dict[str, Any], before: str | None) -> Asking:
        """That releases ask from the installed one to the last that does."""
        side = self._side
        more = {"free": side.version(last), **(self._capped(last) if last > side.at else {}), **more}
        module = str(self._asks(side.at) or "")
        verb = f"does without {self._ask.name}" if self._ask.kind == "super" else "asks"
        return Asking(distribution=side.name, until=side.version(last), before=before, module=module, verb=verb, **more)

    def _since(self, first: int, end: int, newest: int) -> dict[str, Any]:
        """The first release that asks no more, one from there on that works, and the one that asks again, if any."""
        side, version = self._side, self._side.version
        again = side.turn(newest, lambda one: bool(self._asks(one)), end) if end < newest else None
        works = self._whole(first, end)
        found = {"since": version(first), "works": version(works), "python": side.files[works].python}
        return {**found, **({"again": version(again[1])} if again else {}), **self._turned(first, newest)}

    def _turned(self, *numbers: int) -> dict[str, str]:
        """The patch release of Python at which one of these releases tells Pythons apart where it asks."""
        side, ask = self._side, self._ask
        for number in numbers if ask.provider == "" else ():
            tells = side.decided("turned", number, lambda one: self._room(one, None).turned(side.name, ask))
            if tells:
                return {"tells": tells, "teller": side.version(number)}
        return {}

    def _came(self) -> bool:
        """Whether the name came rather than went."""
        return self._life is not None and self._life.since is not None

    def _before(self) -> str | None:
        """The last older release that does not ask yet."""
        found = self._side.turn(0, self._stopped)
        return self._side.version(found[1]) if found else None

    def _older(self) -> Asking | None:
        """How long releases asked of which the newest does not."""
        side = self._side
        found = side.turn(0, lambda one: bool(self._asks(one)))
        if found is None:
            return None
        since, until = map(side.version, found)
        module = str(self._asks(found[1]))
        return Asking(distribution=side.name, until=until, since=since, works=since, free=until, module=module)

    def _room(self, archive: Archive, number: int | None) -> Room:
        """A release, beside one of the provider where there is one."""
        archives = {self._side.name: archive}
        if self._beside is not None and number is not None:
            archives[self._beside.name] = self._beside.archive(number)
        return Room(archives, self._search.target, self._search.standard)

    def _asks(self, number: int) -> Any:
        """The module in which a release asks, false where it does not, ``None`` where that is not known."""
        ask, here = self._ask, self._beside.at if self._beside else None
        question = f"asks {ask.kind} {ask.code}"
        return self._side.decided(question, number, lambda one: self._room(one, here).asks(ask, self._side.name))

    def _stopped(self, number: int) -> bool:
        return self._asks(number) is False

    def _whole(self, since: int, newest: int) -> int:
        """The first release from one on that takes nothing else that the provider has lost; that one, if none is."""
        beside, life = self._beside, self._life
        if beside is None or life is None or not life.last or self._ask.kind not in NAMED:
            return since
        last = next(number for number, one in enumerate(beside.files) if one.version == life.last)

        def whole(number: int) -> bool:
            def taken(one: Archive) -> bool:
                room, older = self._room(one, beside.at), self._room(one, last)
                return not room.lost(self._side.name, beside.name, older)

            return bool(self._side.decided(f"whole {last}", number, taken))

        if whole(since) or not whole(newest):
            return since
        after = self._side.turn(newest, whole, since)
        return after[1] if after else since

    def _capped(self, last: int) -> dict[str, Any]:
        """The first release that asks, but whose metadata keeps the failing release out, or requires a stand-in."""
        if not self._cap(last) or self._cap(self._side.at):
            return {}
        found = self._side.turn(last, lambda number: bool(self._cap(number)))
        version = self._side.version
        return {"caps": version(found[1]), "cap": self._cap(found[1]), "free": version(found[1] - 1)} if found else {}

    def _cap(self, number: int) -> str:
        """The requirement that keeps a release from failing; empty where it has none."""
        provider = self._beside.name if self._beside else self._ask.brings
        failing = self._ask.versions.get(provider, "")
        if not provider or (self._beside and not failing):
            return ""

        def stated(archive: Archive) -> str:
            return cap(archive.metadata().decode("utf-8", "replace"), provider, failing)

        return self._side.decided("caps", number, stated) or ""


def edges(ask: Ask, tell: Callable[[str], None]) -> Edges:
    """What the releases on the index say of an ask: both edges, as far as they were found."""
    search = _EdgeSearch(ask, tell)
    provider, life = search.provided()
    maker = search.maker(provider) if life is None else None
    made, came = maker.provided() if maker else (None, None)
    if made is not None and came is not None:
        provider, life = made, came
    consumer, asking = search.consumed(provider, life)
    return Edges(
        provider=provider.name if provider and provider.name != ask.provider else None,
        made=provider is made is not None,
        consumer=consumer.name if consumer and ask.consumer is None and asking else None,
        life=life,
        asking=asking,
        read={side.name: side.releases_read for side in (provider, consumer) if side},
    )


def _version(text: str) -> Version | None:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None
