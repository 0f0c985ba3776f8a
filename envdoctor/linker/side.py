"""The releases of one distribution, read one at a time: a galloping, then binary search reads a dozen of hundreds."""

from __future__ import annotations

import json
from typing import Any

from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.versions import within
from envdoctor.errors import TargetError
from envdoctor.linker.index_files import Archive, File
from envdoctor.probes import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    class ReleaseSearch(Protocol):
        """The interface of a search that its sides share."""

        tell: Callable[[str], None]

        def place(self, question: str, file: File) -> str:
            """Where the answer to a question about a release is kept."""


#: Releases that are read of one side.
MOST_READ = 18


class Enough(Exception):  # noqa: N818 - not a mistake
    """So many releases were read that the search ends."""


class Side:
    """The releases of one distribution, with what was asked of each of them."""

    def __init__(self, name: str, files: Sequence[File], at: int, search: ReleaseSearch) -> None:
        self.name, self.files, self.at = name, files, at
        self._search = search
        self._answers: dict[tuple[str, int], Any] = {}
        self._opened: dict[int, Archive] = {}

    @property
    def releases_read(self) -> int:
        """How many releases were read."""
        return len(self._opened)

    @property
    def last(self) -> str:
        """The version of the newest release."""
        return self.files[-1].version

    @property
    def latest(self) -> int:
        """The number of the release that came last: another one may have a higher version, by mistake."""
        return max(range(len(self.files)), key=lambda one: (self.files[one].uploaded, one))

    def version(self, number: int) -> str:
        """The version of a release by its number."""
        return self.files[number].version

    def archive(self, number: int) -> Archive:
        """The archive of a release. Raises :class:`TargetError` where it cannot be read."""
        if number not in self._opened:
            if len(self._opened) >= MOST_READ:
                raise Enough
            self._search.tell(f"reading {self.name} {self.version(number)}")
            self._opened[number] = Archive(self.files[number])
        return self._opened[number]

    def metadata(self, number: int) -> str:
        """The metadata of a release. Raises :class:`TargetError` where it cannot be read."""
        return self.archive(number).metadata().decode("utf-8", "replace")

    def decided(self, question: str, number: int, answer: Callable[[Archive], Any]) -> Any:
        """The answer to a question about a release, kept for good; ``None`` where it cannot be read."""
        key = (question, number)
        if key not in self._answers:
            place = self._search.place(question, self.files[number])
            kept = cache.kept(place)
            if kept is None:
                try:
                    self._answers[key] = answer(self.archive(number))
                except TargetError:
                    self._answers[key] = None
                    return None
                cache.keep(place, json.dumps(self._answers[key]).encode())
            else:
                self._answers[key] = json.loads(kept)
        return self._answers[key]

    def turn(self, end: int, differs: Callable[[int], bool | None], start: int | None = None) -> tuple[int, int] | None:
        """The last release like the installed one, or ``start``, on the way to an end, and the first that differs.

        ``None`` where none differs. What is not known counts as alike.
        """
        return turn(self.at if start is None else start, end, differs)


def turn(start: int, end: int, differs: Callable[[int], bool | None]) -> tuple[int, int] | None:
    """The last number like the first on the way to an end, and the first that differs; ``None`` where none does."""
    near, far, width = start, None, 1
    forth = 1 if end > near else -1
    while near != end and far is None:
        number = min(near + forth * width, end, key=lambda one: one * forth)
        near, far = (near, number) if differs(number) else (number, None)
        width *= 4  # a dozen reads reach across two hundred releases
    while far is not None and abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (near, middle) if differs(middle) else (middle, far)
    return None if far is None else (near, far)


def required(metadata: str) -> list[str]:
    """The distributions that a release requires without an extra."""
    parsed = [parse(line) for line in _lines(metadata) if "extra" not in line]
    return [one[0] for one in parsed if one]


def cap(metadata: str, provider: str, failing: str) -> str:
    """The requirement of a release that excludes a failing release of another distribution; empty where it has none.

    Where no failing release is given, that the other is required is enough.
    """
    for line in _lines(metadata):
        parsed = parse(line.partition(";")[0])
        if not parsed or parsed[0] != provider or "extra" in line:
            continue
        if not failing or (parsed[1] and within(failing, parsed[1]) is False):
            return f"{parsed[0]}{parsed[1]}".replace(" ", "").replace("(", "").replace(")", "")
    return ""


def _lines(metadata: str) -> list[str]:
    """The requirements in the metadata of a wheel, or in the list of a source archive."""
    lines = metadata.splitlines()
    stated = [line.partition("Requires-Dist:")[2].strip() for line in lines if line.startswith("Requires-Dist:")]
    return stated or [line.strip() for line in lines if line[:1].isalpha() and ": " not in line]
