"""Dotted names that files hold as text: what a saved artefact would import, and what settings name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from envdoctor.linker.layout import is_aside
from envdoctor.linker.missing import Missing
from envdoctor.linker.reach import ENTRY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.linker.answers import Answer
    from envdoctor.linker.layout import Layout
    from envdoctor.linker.resolve import Resolver

#: The kinds of artefact whose names are imported when they are loaded.
_IMPORTING = {"pickle", "joblib", "torch", "stable-baselines3"}


def answer(layout: Layout, resolver: Resolver, name: str) -> Answer:
    """Whether there is a module of this dotted name, or something in one."""
    parts = name.split(".")
    end = next((end for end in range(len(parts), 0, -1) if layout.has(".".join(parts[:end]))), 0)
    if not end:
        return resolver.module(name)
    found = resolver.offers(".".join(parts[:end]), ".".join(parts[end:]))
    missing = ".".join(parts[: end + 1])
    if found.verdict is False and end < len(parts) - 1 and not parts[end][:1].isupper():
        whole = resolver.module(missing)  # rather a module that is gone than a name in the one around it
        return found if whole.verdict else whole
    return found


def saved(records: Sequence[Mapping[str, Any]], layout: Layout, resolver: Resolver) -> Iterator[Missing]:
    """Names that loading an artefact imports, and that nothing installed has.

    A provider that has the lost name as a text may have a loader of its own, which knows where it went: a warning.
    """
    for record in records:
        for name in record["names"] if record["kind"] in _IMPORTING else ():
            found = answer(layout, resolver, name)
            if found.verdict is False and found.why in {"name", "attribute", "module", "gone"}:
                owner = layout.owner(found.module)
                aside = not os.path.isabs(record["file"]) and is_aside(record["file"].replace("/", "."))
                doubtful = aside or found.weak or _is_known(name, found, owner, resolver)
                severity = "warning" if doubtful else "error"
                yield Missing(
                    record["file"], record["file"], 0, name, owner, found.why, severity, ENTRY, found.module, found.path
                )


def _is_known(name: str, found: Answer, owner: str, resolver: Resolver) -> bool:
    lost = name.rpartition(".")[0] if found.why == "module" else found.path.rpartition(".")[2]
    return any(resolver.words.anywhere(owner, f"{quote}{lost}{quote}") for quote in "'\"")
