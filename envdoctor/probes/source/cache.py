"""What has been read of a file's text is remembered by its content: in this process, and in the user's cache.

An entry is named after the content and after a digest of this package's own sources, so that neither an edited file
nor another release is answered from the past. Small files are read anew and leave no trace.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys

from envdoctor import dotted
from envdoctor.probes import cache, several
from envdoctor.probes.source.uses import NotReadError, details, exports, facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from envdoctor.probes.source.asked import Asked

#: From how many characters on reading again costs more than remembering.
WORTH_REMEMBERING = 2048
#: Entries and bytes on disk; the oldest go first.
MOST_ENTRIES = 4000
MOST_BYTES = 64 << 20
#: Entries in memory.
_MOST_HELD = 4096
_READERS: dict[str, Any] = {"facts": facts, "exports": exports, "details": details}
#: What is remembered together: each by itself, or all that depends on what is asked.
_KINDS = {**{what: (what,) for what in _READERS}, "asked": ("facts", "details")}


class Cache:
    """Remembers ``facts``, ``exports`` and ``details``: ``{"value": ...}`` or ``{"line": ..., "reason": ...}``.

    What is asked of a text is remembered as one: who asks for its facts may ask for details next.
    """

    def __init__(self) -> None:
        self._held: dict[str, dict[str, Any]] = {}
        self._written = False

    def ask(self, what: str, source: str, asked: Asked = None) -> dict[str, Any]:
        """What a reader says about a text."""
        kind = what if asked is None else "asked"
        key = _key(kind, source, asked)
        answers = self._held.get(key)
        if answers is None:
            answers = None if len(source) < WORTH_REMEMBERING else _load(_path(key), kind)
            if answers is None:
                answers = json.loads(_made(kind, source, asked, key))
                self._written = True
            self._hold(key, answers)
        answer: dict[str, Any] = answers[what]
        return answer

    def prepare(self, texts: Sequence[tuple[str, Asked]]) -> None:
        """Read several texts on every core: what is asked of each, or its ``exports``. Nothing is read twice."""
        new = []
        for text, asked in texts:
            kind = "exports" if asked is None else "asked"
            key = _key(kind, text, asked)
            if not self._is_known(key, text):
                new.append((kind, text, asked, key))
        made = several.each([len(text) for _, text, *_ in new], lambda at: _made(*new[at]))
        for at, told in made.items():
            self._hold(new[at][-1], json.loads(told))
        self._written = self._written or bool(new)

    def _is_known(self, key: str, source: str) -> bool:
        return key in self._held or (len(source) >= WORTH_REMEMBERING and os.path.exists(_path(key)))

    def _hold(self, key: str, answers: dict[str, Any]) -> None:
        if len(self._held) >= _MOST_HELD:
            self._held.clear()
        self._held[key] = answers

    def tidy(self) -> None:
        """Remove the oldest entries where there are too many; nothing unless this process has added some."""
        if self._written:
            self._written = False
            cache.prune(directory(), MOST_ENTRIES, MOST_BYTES)


def _key(what: str, source: str, asked: Asked) -> str:
    return f"{what}-{_digest(source, asked)}"


@functools.lru_cache(maxsize=4)
def _digest(source: str, asked: Asked) -> str:
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16, salt=_salt(asked)).hexdigest()


@functools.lru_cache(maxsize=256)
def _salt(asked: Asked) -> bytes:
    if asked is None:
        return b""
    told = "\n".join("\t".join(sorted(one)) for one in asked)
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _path(key: str) -> str:
    return os.path.join(directory(), f"{key}-{version()}.json")


def _made(kind: str, source: str, asked: Asked, key: str) -> bytes:
    """What readers say about a text, by their names, as JSON; kept on disk as well where it is worth that."""
    answers = {what: _read(what, source, asked) for what in _KINDS[kind]}
    data = json.dumps(answers, separators=(",", ":")).encode()
    if len(source) >= WORTH_REMEMBERING:
        cache.keep(_path(key), data)
    return data


def _read(what: str, source: str, asked: Asked) -> dict[str, Any]:
    try:
        return {"value": _READERS[what](source, asked)}
    except NotReadError as error:
        return {"line": error.line, "reason": error.reason}


def _load(path: str, kind: str) -> dict[str, Any] | None:
    """What an earlier run kept of one text."""
    answers = load(path)
    whole = answers is not None and all(_is_answer(answers.get(what)) for what in _KINDS[kind])
    return answers if whole else None


def _is_answer(answer: object) -> bool:
    return isinstance(answer, dict) and ("value" in answer or "reason" in answer)


def load(path: str) -> dict[str, Any] | None:
    """What an earlier run kept; nothing where it is not there or damaged."""
    try:
        answer = json.loads(cache.read(path) or b"null")
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def directory() -> str:
    """Where entries stand."""
    return os.path.join(cache.directory(), "source")


@functools.cache
def version() -> str:
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
    return [
        *(os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")),
        dotted.__file__,
    ]
