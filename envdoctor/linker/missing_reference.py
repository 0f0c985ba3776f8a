"""What a reference that finds nothing says of itself."""

from __future__ import annotations

from typing import NamedTuple


class Missing(NamedTuple):
    """A reference that finds nothing.

    ``consumer`` is the distribution that asks in ``file`` at ``line`` for ``asked``; ``provider`` the one that should
    have it, empty for Python. ``kind`` is the kind of mistake and ``detail`` its words; ``severity`` and ``way`` say
    how sure it is and on which way it is reached. ``module`` and ``name`` are where the search ended.
    """

    consumer: str
    file: str
    line: int
    asked: str
    provider: str
    kind: str
    severity: str
    way: int
    module: str
    name: str
    detail: str = ""
