"""Whether a run may ask the index: by an option, else as a person at a terminal has answered once."""

from __future__ import annotations

import argparse
import os
import sys

from envdoctor.commands.output import say
from envdoctor.probes import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_QUESTION = "envdoctor: ask the package index in which releases this went, and who still asks for it? [y/N] "


def add_online(parser: argparse.ArgumentParser) -> None:
    """Add ``--online`` and ``--no-online``."""
    said = (
        "ask the index, or not, in which releases went what is missing; at a terminal this is asked once and remembered"
    )
    parser.add_argument("--online", action=argparse.BooleanOptionalAction, default=None, help=said)


def permitted(*, option: bool | None) -> Callable[[str], None] | None:
    """A function that reports what is read, where the index may be asked; ``None`` where it may not.

    A person at a terminal is asked once, and an option that is given there is the answer from then on. Without a
    terminal only the option counts, and nothing is remembered.
    """
    if sys.stderr.isatty() and sys.stdin is not None and sys.stdin.isatty():
        kept = cache.kept(_place())
        answer = option if option is not None else None if kept is None else kept == b"yes"
        if answer is None:
            answer = _asked()
        if kept is None or (kept == b"yes") is not answer:
            cache.keep(_place(), b"yes" if answer else b"no")
        option = answer
    return _tell if option else None


def _asked() -> bool:
    sys.stderr.write(_QUESTION)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _tell(text: str) -> None:
    say(f"envdoctor: {text}")


def _place() -> str:
    """The file that holds the answer."""
    return os.path.join(cache.directory(), "online", "answer")
