"""What was asked about a whole project and what came out, remembered by the content of all its source.

A project in which nothing changed is only read and hashed, not looked into again. The answers of a run are written when
the process ends, so that many questions cost one file.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
from typing import TYPE_CHECKING

from envdoctor.probes import cache
from envdoctor.probes.source.cache import directory, load, version

if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, list[Any]]

#: Bytes of source from which on looking again costs more than remembering.
WORTH_REMEMBERING = 200_000
_SUFFIXES = (".py", ".pyi", ".ipynb")


class Answers:
    """The answers about one project by pattern, on disk where the project is and is large enough."""

    def __init__(self, project: Any) -> None:
        self._known: dict[str, Answer] = {}
        self._path = None
        key = _content(project) if project.root is not None else None
        if key is not None:
            self._path = os.path.join(directory(), f"answers-{key}-{version()}.json")
            self._known = (load(self._path) or {}).get("value", {})
        self._written = len(self._known)
        if self._path is not None:
            atexit.register(self.keep)

    def get(self, pattern: str) -> Answer | None:
        """What was found for a pattern the last time."""
        return self._known.get(pattern)

    def put(self, pattern: str, answer: Answer) -> None:
        """Remember an answer."""
        self._known[pattern] = answer

    def keep(self) -> None:
        """Write what is new."""
        if self._path is not None and len(self._known) > self._written:
            self._written = len(self._known)
            cache.keep(self._path, json.dumps({"value": self._known}, separators=(",", ":")).encode())


def _content(project: Any) -> str | None:
    """A name for all source of a project; ``None`` where it is too small to be worth one."""
    digest = hashlib.blake2b(digest_size=16)
    size = 0
    project.kept()  # so that each file is read once
    for name in project.files():
        if name.endswith(_SUFFIXES):
            data = project.read(name)
            size += len(data)
            digest.update(f"{name}\n{len(data)}\n".encode("utf-8", "surrogatepass"))
            digest.update(data)
    return digest.hexdigest() if size >= WORTH_REMEMBERING else None
