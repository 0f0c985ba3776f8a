"""The packs that the metadata of distributions declares, read as any installer's are: by ``importlib.metadata``.

The standard module is used from Python 3.10 on, the backport of it before.
"""

from __future__ import annotations

import os
import re
import sys

if sys.version_info >= (3, 10):
    from importlib import metadata
else:
    import importlib_metadata as metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import PurePath

    #: What a pack is installed from, its files, and the other fields of its :class:`~.sources.Source`.
    Pack = tuple[str, list[str], dict[str, str]]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_NO_FILES = (
    "no rule is installed below {}, so this pack is left out: an editable install lists no files, and --rules DIR "
    "takes the rules of its directory"
)


def packs_of(directories: Iterable[str], group: str) -> list[Pack]:
    """The packs that some metadata directories declare; the first of two directories of one distribution counts."""
    found: dict[str, list[Pack]] = {}
    for directory in directories:
        distribution = metadata.Distribution.at(directory)
        if distribution.metadata["Name"] not in found:
            points = [point for point in distribution.entry_points if point.group == group]
            declared = os.path.join(directory, "entry_points.txt")
            found[distribution.metadata["Name"]] = [
                _pack(distribution, point.name, point.value, declared) for point in points
            ]
    return [pack for _, packs in sorted(found.items()) for pack in packs]


def _pack(distribution: metadata.Distribution, name: str, value: str, declared: str) -> Pack:
    """One pack; its value is a package, or a directory in one, with dots in between."""
    above = tuple(value.split("."))
    files = [str(distribution.locate_file(path)) for path in _below(distribution, above)]
    more = {"name": name, "declared": declared}
    if not _NAME.fullmatch(name):
        more["wrong"] = f"the pack {name!r} is left out: ids begin with its name, so write words joined by hyphens"
    elif not files:
        more["wrong"] = _NO_FILES.format("/".join(above))
    return f"{distribution.metadata['Name']} {distribution.version}", [] if "wrong" in more else files, more


def _below(distribution: metadata.Distribution, above: tuple[str, ...]) -> Iterator[PurePath]:
    """The files of rules that a distribution has recorded below a directory."""
    for path in distribution.files or ():
        inside = path.parts[: len(above)] == above and ".." not in path.parts
        if inside and path.name.endswith((".yaml", ".yml")):
            yield path
