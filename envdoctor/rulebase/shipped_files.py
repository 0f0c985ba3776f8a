"""Where what came with envdoctor is: files beside the package, in a zip archive, or the ``rules`` of a checkout."""

from __future__ import annotations

import os

FILE = "rules.idx"
#: The rules that stay out of ordinary runs: candidates, and those that never hold.
SILENT = "silent.idx"
#: The sections of the vocabulary that an error text is read by.
WORDS = "words.json"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def in_archive() -> bool:
    """Whether this package is in a zip archive that Python imports from."""
    return not os.path.isdir(PACKAGE) and hasattr(globals().get("__loader__"), "get_data")


def checkout() -> str:
    """The ``rules`` directory of the checkout that this package is in."""
    return os.path.join(os.path.dirname(PACKAGE), "rules")


def file() -> str:
    """The file of the compiled rules, or the directory that they are made from."""
    return os.path.join(PACKAGE, FILE) if in_archive() or os.path.exists(os.path.join(PACKAGE, FILE)) else checkout()


def files() -> list[str]:
    """The files that tell whether the shipped rules or their vocabulary changed; what is in an archive is none."""
    return [file(), *(os.path.join(folder, "vocabulary.yaml") for folder in (PACKAGE, checkout()))]


def vocabulary() -> str:
    """The file of words that every rule may use."""
    packaged = _unpacked("vocabulary.yaml") if in_archive() else os.path.join(PACKAGE, "vocabulary.yaml")
    return packaged if os.path.exists(packaged) else os.path.join(checkout(), "vocabulary.yaml")


def _unpacked(name: str) -> str:
    """A copy of a file of the archive that envdoctor runs from, gone when it ends."""
    import atexit
    from contextlib import ExitStack
    from importlib import resources

    copies = ExitStack()
    atexit.register(copies.close)
    return str(copies.enter_context(resources.as_file(resources.files("envdoctor") / name)))
