"""Generated source that is not made for what is installed, as the vocabulary says by the names of its files."""

from __future__ import annotations

import os
import re
from typing import Any

from envdoctor.engine.versions import meets
from envdoctor.linker.reach import severity_of
from envdoctor.linker.summary import CATCHES_TYPE
from envdoctor.linker.verdicts import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.store import Store

    Rows = Mapping[str, Sequence[Mapping[str, Any]]]

#: Of generated source so many characters are looked through.
_MOST_TEXT = 1 << 22


class Generated:
    """Checks the reached generated modules; ``rows`` are by provider, ``variables`` those of the environment."""

    def __init__(self, layout: Layout, reach: Reach, store: Store, rows: Rows, variables: Mapping[str, str]) -> None:
        self._layout = layout
        self._reach = reach
        self._store = store
        self._rows = [(re.compile(row["file"]), name, row) for name, some in rows.items() for row in some]
        self._variables = variables

    def all(self) -> Iterator[Missing]:
        """Generated source that is reached, not made for what is installed, and not there for that as well."""
        fitting: set[tuple[str, str]] = set()
        wrong: list[tuple[str, str, str]] = []
        for name in list(self._reach.ways):
            place = self._layout.modules[name]
            asked = [(provider, row) for file, provider, row in self._rows if file.search(place.path)]
            refused = list(self._refused(name, asked)) if asked else []
            wrong += [(name, provider, works) for provider, works in refused]
            fitting.update({(place.owner, os.path.basename(place.path))} if asked and not refused else ())
        for name, provider, works in wrong:
            place = self._layout.modules[name]
            severity, way = severity_of(self._reach.ways[name], 0, CATCHES_TYPE)
            if severity != "silent" and (place.owner, os.path.basename(place.path)) not in fitting:
                asks = provider + works
                yield Missing(place.owner, place.path, 0, asks, provider, "generated", severity, way, name, "")

    def _refused(self, name: str, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
        """The providers whose installed release is none of those that a module was made for, with what these are."""
        source = self._store.text(name)[:_MOST_TEXT].decode("utf-8", "replace")
        for provider, row in asked:
            found = re.search(row["text"], source)
            works = row["works"].format(*found.groups()) if found else ""
            version = self._layout.versions.get(provider)
            other = version and provider != self._layout.modules[name].owner and not self._is_excused(row)
            if works and other and meets(str(version), works) is False:
                yield provider, works

    def _is_excused(self, row: Mapping[str, Any]) -> bool:
        return any(self._variables.get(name) == value for name, value in row.get("unless", {}).items())
