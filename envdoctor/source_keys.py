"""The keys under which uses in a project's source are asked for."""

from __future__ import annotations

#: Before a glob of names that only imports are asked for.
IMPORTED = "import "
#: Between a glob and another, in whose files alone uses of the first are asked for.
BESIDE = " beside "


def source_key(kind: str, name: str) -> str:
    """The key of :data:`~envdoctor.facts.SOURCE` under which uses of some kind are asked for."""
    return IMPORTED + name if kind == "import" else name
