"""Keeps the results of scans by content, in the user's cache: of each file, and of a whole project.

An entry is named after the content and after a digest of this package's own sources, so that neither an edited file
nor another release is answered from the past. Small files are scanned anew and leave no trace.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import sys

from envdoctor import globs_of_names
from envdoctor.probes import cache, parallel
from envdoctor.probes.source.file_uses import UnreadableError, exports_of, program_of, uses_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Union

    from envdoctor.probes.source.relevance import Asked

    #: Patterns of uses; ``None`` for the exports of a file, and ``PROGRAM`` for what it does as a program.
    Wanted = Union[Asked, str, None]
    #: A file's source, with what is asked of it.
    Question = tuple[str, Wanted]
    #: ``{"value": ...}``, or ``{"line": ..., "reason": ...}`` where the file cannot be scanned.
    Answer = dict[str, Any]

#: From how many characters on scanning a file again costs more than remembering it, and all files of a project.
WORTH_REMEMBERING = 2048
WORTH_REMEMBERING_ALL = 200_000
#: Entries and bytes on disk; the oldest go first.
MOST_ENTRIES = 4000
MOST_BYTES = 64 << 20
#: New entries after which the number of all is looked at again.
_MANY = 500
#: Entries in memory.
_MOST_HELD = 4096


class FileFacts:
    """The results of :func:`uses_of` and :func:`exports_of` for files."""

    def __init__(self) -> None:
        self._held: dict[str, Answer] = {}
        self._written = 0
        self._pruned_at = 0

    def ask(self, source: str, asked: Wanted) -> Answer:
        """The uses in a file, or its exports."""
        key = _key(source, asked)
        answer = self._held.get(key)
        if answer is None:
            known = load(_path(key)) if len(source) >= WORTH_REMEMBERING else {}
            answer = known if "value" in known or "reason" in known else json.loads(self._scan(source, asked))
            self._hold(key, answer)
        return answer

    def prepare(self, questions: Sequence[Question]) -> None:
        """Scan several files on every core; none twice."""
        new = [one for one in questions if not self._is_known(*one)]
        made = parallel.each([len(source) for source, _ in new], lambda at: self._scan(*new[at]))
        for at, data in made.items():
            self._hold(_key(*new[at]), json.loads(data))
        self._written += len(new)

    def _is_known(self, source: str, asked: Wanted) -> bool:
        key = _key(source, asked)
        return key in self._held or (len(source) >= WORTH_REMEMBERING and os.path.exists(_path(key)))

    def _hold(self, key: str, answer: Answer) -> None:
        if len(self._held) >= _MOST_HELD:
            self._held.clear()
        self._held[key] = answer

    def _scan(self, source: str, asked: Wanted) -> bytes:
        """An answer as JSON; kept on disk as well where the source is long enough."""
        answer: Answer
        try:
            answer = _answer(source, asked)
        except UnreadableError as error:
            answer = {"line": error.line, "reason": error.reason}
        data = json.dumps(answer, separators=(",", ":")).encode()
        if len(source) >= WORTH_REMEMBERING:
            cache.keep(_path(_key(source, asked)), data)
            self._written += 1
        return data

    def tidy(self) -> None:
        """Remove the oldest entries beyond the most: once this process has added some, and at every so many."""
        if self._written > self._pruned_at:
            self._pruned_at = self._written + _MANY
            cache.prune(directory(), MOST_ENTRIES, MOST_BYTES)


def _answer(source: str, asked: Wanted) -> Answer:
    if not isinstance(asked, tuple):
        return {"value": program_of(source) if asked else exports_of(source)}
    uses, program = uses_of(source, asked)
    return {"value": uses} if program is None else {"value": uses, "program": program}


class ProjectFacts(dict[str, "dict[str, list[Any]]"]):
    """The answers about one project by pattern, on disk where the project is and is large enough.

    They are written when the process ends, so that many questions cost one file. A project in which nothing changed is
    only read and hashed, not scanned.
    """

    def __init__(self, project: Any) -> None:
        super().__init__()
        name = _content(project) if project.root is not None else None
        if name is not None:
            self._path = _path(f"answers-{name}")
            self.update(load(self._path).get("value", {}))
            self._written = len(self)
            atexit.register(self.keep)

    def keep(self) -> None:
        """Write what is new."""
        if len(self) > self._written:
            self._written = len(self)
            cache.keep(self._path, json.dumps({"value": self}, separators=(",", ":")).encode())


def _content(project: Any) -> str | None:
    """A name for all source of a project; ``None`` where it is too small to be worth one."""
    digest = hashlib.blake2b(digest_size=16)
    size = 0
    project.kept()  # so that each file is read once
    for name in project.code():
        data = project.read(name)
        size += len(data)
        digest.update(f"{name}\n{len(data)}\n".encode("utf-8", "surrogatepass"))
        digest.update(data)
    return digest.hexdigest() if size >= WORTH_REMEMBERING_ALL else None


@functools.lru_cache(maxsize=4)
def _key(source: str, asked: Wanted) -> str:
    digest = hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16, salt=_salt(asked))
    kind = "asked" if isinstance(asked, tuple) else "program" if asked else "exports"
    return f"{kind}-{digest.hexdigest()}"


@functools.lru_cache(maxsize=256)
def _salt(asked: Wanted) -> bytes:
    text = "\n".join("\t".join(sorted(one)) for one in asked) if isinstance(asked, tuple) else ""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _path(key: str) -> str:
    return os.path.join(directory(), f"{key}-{_version()}.json")


def load(path: str) -> dict[str, Any]:
    """The answers that an earlier run kept; empty where they are not there or damaged."""
    try:
        answer = json.loads(cache.kept(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def directory() -> str:
    """The directory of the entries."""
    return os.path.join(cache.directory(), "source")


@functools.cache
def _version() -> str:
    """A digest of what an answer depends on besides the text: the sources that make it, and the Python that parses."""
    digest = hashlib.blake2b(repr(sys.version_info[:2]).encode(), digest_size=8)
    for path in _makers():
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def _makers() -> list[str]:
    """The files of code that make an answer; of a package in an archive, the archive."""
    archive = getattr(sys.modules[__name__].__loader__, "archive", None)
    if archive is not None:
        return [archive]
    folder = os.path.dirname(__file__)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    return [*(os.path.join(folder, name) for name in names), globs_of_names.__file__]
