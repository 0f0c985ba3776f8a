"""Remembers which rules have a proof that is up to date, by the content of everything that decides it.

Reading five hundred rules takes seconds, and their bytes a few milliseconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os

from envdoctor.probes import cache
from envdoctor.rulebase.sources import proof_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: The parts of the package that decide what a rule states; a change in one makes every rule be read again.
_CODE = ("rulebase", "workshop", os.path.join("workshop", "proof"), "engine", "")


class Ledger:
    """The rules of a directory that are known to have a proof that is up to date.

    A rule is known by the bytes of its file, its proof, the vocabulary and the code, all of them read every time.
    """

    def __init__(self, directory: str, vocabularies: Iterable[str]) -> None:
        name = hashlib.sha256(os.path.realpath(directory).encode(errors="surrogateescape")).hexdigest()[:24]
        self._path = os.path.join(cache.directory(), f"proofs-{name}.json")
        state = hashlib.sha256()
        for path in [*_code(), *vocabularies]:
            state.update(hashlib.sha256(_bytes(path)).digest())
        self._state = state.digest()
        self._known: set[str] = {*(cache.remembered(self._path) or ())}

    def unknown(self, paths: Sequence[str]) -> list[str]:
        """The rule files that are not known; all of them where two have the same name, which is to be refused."""
        if len({os.path.basename(path) for path in paths}) < len(paths):
            return list(paths)
        return [path for path in paths if self._sum(path) not in self._known]

    def keep(self, paths: Iterable[str], among: Iterable[str]) -> None:
        """Remember rule files whose proof was found to be up to date, and forget what is not among the others."""
        known = {self._sum(path) for path in paths} | ({self._sum(path) for path in among} & self._known)
        if known != self._known:
            self._known = known
            cache.remember(self._path, sorted(known))

    def _sum(self, path: str) -> str:
        told = hashlib.sha256(self._state)
        name = os.path.basename(path).encode(errors="surrogateescape")
        for part in (name, _bytes(path), _bytes(proof_of(path))):
            told.update(hashlib.sha256(part).digest())
        return told.hexdigest()[:32]


def _code() -> Iterator[str]:
    for part in _CODE:
        folder = os.path.join(_PACKAGE, part)
        with contextlib.suppress(OSError):  # inside an archive, whose version changes with its content
            yield from sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py"))


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
