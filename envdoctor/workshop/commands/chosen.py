"""The rules that a command of ``envdoctor rules`` is about, and what such commands share."""

from __future__ import annotations

import argparse
import os
from typing import Any

from envdoctor.commands.options import Parser
from envdoctor.errors import UsageError
from envdoctor.rulebase.shipped_files import checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.rulebase.rule import Rule


def parser_for_trials(name: str, description: str, examples: str) -> Parser:
    """A parser with what every command takes that runs trials."""
    made = Parser(prog=f"envdoctor rules {name}", description=description, epilog=examples)
    made.add_argument("--python", action="append", default=[], metavar="X.Y", help="only on this Python")
    made.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="trials at a time")
    made.add_argument("--offline", action="store_true", help="install from uv's cache alone")
    made.add_argument("--rules", default=None, metavar="DIR", help="the directory of rules (default: rules)")
    return made


def positive(text: str) -> int:
    """A number on the command line of which there has to be one at least."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} runs nothing: give 1 or more")
    return number


def home_of(directory: str | None) -> str:
    """The directory of rules: the one that is given, ``rules``, or that of the checkout."""
    return directory or ("rules" if os.path.isdir("rules") else checkout())


def files_of(words: Sequence[str], directory: str | None) -> list[str]:
    """The rule files that ids, files and directories name; all of them where there are no words.

    Raises :class:`UsageError` for what names none.
    """
    from envdoctor.rulebase.sources import files_below

    home = home_of(directory)
    return list(dict.fromkeys(path for word in words for path in _files(word, home))) if words else files_below(home)


def days(text: str) -> int:
    """A number of days on the command line."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"no proof is {number} days old: give 0 or more")
    return number


def rules_of(words: Sequence[str], directory: str | None) -> tuple[list[Rule], Mapping[str, Any]]:
    """The rules that ids, files and directories name, all of them where there are no words; and their vocabulary.

    Raises :class:`UsageError` for what names none, and where one of them is not well formed.
    """
    from envdoctor.rulebase.reader import vocabulary_of
    from envdoctor.rulebase.syntax import read_files

    vocabulary = vocabulary_of(home_of(directory))
    rules, complaints = read_files(files_of(words, directory), vocabulary)
    if complaints:
        raise UsageError("the rules are not well formed:\n  " + "\n  ".join(map(str, complaints)))
    return rules, vocabulary


def _files(word: str, home: str) -> list[str]:
    """The files behind a word: a directory's, the file itself, or the one that is called like an id."""
    from envdoctor.rulebase.sources import files_below

    if os.path.isdir(word):
        return files_below(word)
    if os.path.isfile(word):
        return [word]
    named = [path for path in files_below(home) if os.path.splitext(os.path.basename(path))[0] == word]
    if not named:
        raise UsageError(f"there is no rule {word} in {home}; envdoctor rules list names them all")
    return named
