"""Finds the compiled rules: beside the package, inside a zip archive, or made from a checkout's ``rules``."""

from __future__ import annotations

import os

from envdoctor.engine import index
from envdoctor.probes import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.rulebase.load import Base

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
        return index.Index(opened(path), path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    if _in_archive():
        return index.from_bytes(_packed(name), path)
    base = _of_checkout()
    return base.silent if silent else base.asked


def _of_checkout() -> Base:
    """The rules of the checkout that this package is in, of which all have to be well formed."""
    from envdoctor.errors import RuleError
    from envdoctor.rulebase.compiled_cache import base_of
    from envdoctor.rulebase.sources import directory

    base = base_of(directory(checkout(), own=False))
    if base.left_out:
        lines = [f"{path}:{line}: {reason}" for path, line, reason in base.left_out]
        raise RuleError("the rules could not be compiled:\n  " + "\n  ".join(lines))
    return base


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
        from envdoctor.rulebase.syntax import load_vocabulary

        return load_vocabulary(vocabulary())
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
    """The ``rules`` directory of the checkout that this package is in."""
    return os.path.join(os.path.dirname(_PACKAGE), "rules")


def file() -> str:
    """The file of the compiled rules, or the directory that they are made from."""
    return os.path.join(_PACKAGE, FILE) if _in_archive() or os.path.exists(os.path.join(_PACKAGE, FILE)) else checkout()


def files() -> list[str]:
    """The files that tell whether the shipped rules or their vocabulary changed; what is in an archive is none."""
    return [file(), *(os.path.join(folder, "vocabulary.yaml") for folder in (_PACKAGE, checkout()))]


def vocabulary() -> str:
    """The file of words that every rule may use."""
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
