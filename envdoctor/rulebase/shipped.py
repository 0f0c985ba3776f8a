"""Finds the compiled rules: beside the package, inside a zip archive, or made from a checkout's ``rules``."""

from __future__ import annotations

import os

from envdoctor.engine import index
from envdoctor.probes import opened
from envdoctor.rulebase.shipped_files import FILE, PACKAGE, SILENT, WORDS, checkout, in_archive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.rulebase.compiled_cache import Base


def shipped(*, silent: bool = False) -> index.Index:
    """The rules that came with envdoctor, or those of them that stay out of ordinary runs.

    Raises :class:`~envdoctor.errors.RuleError` where a checkout's rules are not well formed.
    """
    name = SILENT if silent else FILE
    path = os.path.join(PACKAGE, name)
    try:
        return index.Index(opened(path), path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    if in_archive():
        return index.from_bytes(_packed(name), path)
    base = _of_checkout(checkout())
    return base.silent if silent else base.asked


#: The rules of a checkout that this process has read: a program sees them as they were when it first asked.
_READ: dict[str, Base] = {}


def _of_checkout(rules: str) -> Base:
    """The rules of the checkout that this package is in, of which all have to be well formed."""
    if rules not in _READ:
        _READ[rules] = _read_checkout(rules)
    return _READ[rules]


def _read_checkout(rules: str) -> Base:
    from envdoctor.errors import RuleError
    from envdoctor.rulebase.compiled_cache import base_of
    from envdoctor.rulebase.sources import directory

    base = base_of(directory(rules, own=False), lambda _: {})
    if base.left_out:
        lines = [f"{path}:{line}: {reason}" for path, line, reason in base.left_out]
        raise RuleError("the rules could not be compiled:\n  " + "\n  ".join(lines))
    return base


def words() -> dict[str, Any]:
    """The words that error texts and installed files are read by: compiled in the wheel, else from a checkout."""
    import json

    try:
        if in_archive():
            data = _packed(WORDS)
        else:
            with open(os.path.join(PACKAGE, WORDS), "rb") as file:
                data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return dict(_of_checkout(checkout()).words)
    found: dict[str, Any] = json.loads(data)
    return found


def _packed(name: str) -> bytes:
    """The bytes of a file in the archive that envdoctor runs from."""
    loader: Any = globals()["__loader__"]  # it knows its archive by the very name it was given, relative or not
    data: bytes = loader.get_data(os.path.join(os.path.dirname(os.path.dirname(__file__)), name))
    return data
