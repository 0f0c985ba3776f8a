"""The kept result for an environment that has not changed since."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zlib
from typing import Any

from envdoctor.linker import store
from envdoctor.probes import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from envdoctor.linker.branches import Target
    from envdoctor.linker.module_files import Layout


def path(layout: Layout, target: Target, more: Iterable[str] = ()) -> str:
    """The file for an environment: named after its releases, their files and places, this code, and more."""
    digest = hashlib.blake2b(f"{target!r} {store.version()}".encode(), digest_size=16)
    for owner in sorted(layout.versions):
        digest.update(f"{owner} {layout.versions[owner]} {layout.keys.get(owner)}\n".encode())
    for place in (*layout.locations, *layout.links()):
        with contextlib.suppress(OSError):  # it was removed
            status = os.stat(place)
            digest.update(f"{place} {status.st_mtime_ns} {status.st_size}\n".encode("utf-8", "backslashreplace"))
    for text in more:
        digest.update(f"{len(text)}\n{text}".encode("utf-8", "surrogatepass"))
    return os.path.join(store.directory(), f"found-{digest.hexdigest()}.json.z")


def recall(file: str) -> dict[str, Any] | None:
    """The kept result for an environment; ``None`` where it is not there, damaged, or in another shape."""
    content = store.load(file)
    return content if content is not None and {"missing", "modules", "asked", "unknown"} == content.keys() else None


def keep(file: str, found: dict[str, Any]) -> None:
    """Keep what was found."""
    cache.keep(file, zlib.compress(json.dumps(found, separators=(",", ":")).encode(), 1))
