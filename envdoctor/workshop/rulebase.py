"""Finds the compiled rules: beside the package, inside a zip archive, or made from a checkout's ``rules``."""

from __future__ import annotations

import os

from envdoctor.engine import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "rules.idx"
#: The rules that stay out of ordinary runs: candidates, and those that never hold.
SILENT = "silent.idx"
#: The sections of the vocabulary that an error text is read by.
WORDS = "words.json"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def shipped(*, silent: bool = False) -> index.Index:
    """The rules that came with envdoctor, or those of them that stay out of ordinary runs.

    Raises :class:`~envdoctor.errors.RuleError` where a checkout's rules are not well formed.
    """
    name = SILENT if silent else FILE
    path = os.path.join(_PACKAGE, name)
    try:
        return index.from_file(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    if _in_archive():
        return index.from_bytes(_packed(name), path)
    return further(checkout(), silent=silent, own=False)


def words() -> dict[str, Any]:
    """The words that error texts and installed files are read by: compiled in the wheel, else from a checkout."""
    import json

    try:
        if _in_archive():
            data = _packed(WORDS)
        else:
            with open(os.path.join(_PACKAGE, WORDS), "rb") as file:
                data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        from envdoctor.workshop.syntax import load_vocabulary

        return load_vocabulary(vocabulary(checkout()))
    found: dict[str, Any] = json.loads(data)
    return found


def _packed(name: str) -> bytes:
    """The bytes of a file in the archive that envdoctor runs from."""
    loader: Any = globals()["__loader__"]  # it knows its archive by the very name it was given, relative or not
    data: bytes = loader.get_data(os.path.join(os.path.dirname(os.path.dirname(__file__)), name))
    return data


def _in_archive() -> bool:
    return not os.path.isdir(_PACKAGE) and hasattr(globals().get("__loader__"), "get_data")


def checkout() -> str:
    """The ``rules`` directory of the checkout that this package stands in."""
    return os.path.join(os.path.dirname(_PACKAGE), "rules")


def further(directory: str, *, silent: bool = False, own: bool = True) -> index.Index:
    """Rules of a directory, compiled once for each content. Imports YAML.

    ``own`` rules, which a user gives, keep the severity that they state; others are warnings at most until proven.
    """
    from envdoctor.errors import UsageError
    from envdoctor.workshop.compile import cached

    if not os.path.isdir(directory):
        raise UsageError(f"no rules at {directory}: it is not a directory")
    return index.from_bytes(cached(directory, vocabulary(directory), silent=silent, own=own), directory)


def vocabulary(directory: str) -> str:
    """The file of words that a directory of rules may use: its own, else the one that came with envdoctor."""
    own = os.path.join(directory, "vocabulary.yaml")
    if os.path.exists(own):
        return own
    packaged = _unpacked("vocabulary.yaml") if _in_archive() else os.path.join(_PACKAGE, "vocabulary.yaml")
    return packaged if os.path.exists(packaged) else os.path.join(checkout(), "vocabulary.yaml")


def _unpacked(name: str) -> str:
    """A copy of a file of the archive that envdoctor runs from, gone when it ends."""
    import atexit
    from contextlib import ExitStack
    from importlib import resources

    copies = ExitStack()
    atexit.register(copies.close)
    return str(copies.enter_context(resources.as_file(resources.files("envdoctor") / name)))
