"""Where rules come from: the files of a directory, or of an installed pack, and what shows that one of them changed.

Nothing is imported here that a plain run does not have; files are listed, not opened.
"""

from __future__ import annotations

import os

from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VOCABULARY = "vocabulary.yaml"
PROOF = ".proof.json"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class RuleSource(Record):
    """Files with rules that belong together.

    ``name`` is what the ids of a pack begin with, empty where the vocabulary may say it; ``place`` is what messages
    name, a directory or a distribution with its version; ``declared`` the file that gives the name, and ``wrong`` why
    no rules are read. ``vocabulary`` is a path, or ``None``. ``own`` rules, which a user chose, keep the severity that
    they state without a proof.
    """

    place: str
    rules: Sequence[str]
    vocabulary: str | None
    name: str = ""
    declared: str = ""
    wrong: str = ""
    own: bool = True


def source_of(place: str, paths: Iterable[str], **more: str | bool) -> RuleSource:
    """The source whose files are among some paths."""
    every = sorted(paths)
    rules = [path for path in every if path.endswith((".yaml", ".yml")) and os.path.basename(path) != VOCABULARY]
    words = [path for path in every if os.path.basename(path) == VOCABULARY]
    return RuleSource(place=place, rules=rules, vocabulary=min(words, key=len, default=None), **more)  # type: ignore[arg-type]


def files_below(directory: str) -> list[str]:
    """The rule files below a directory, in a fixed order; hidden directories and the vocabulary are none."""
    found, pending = [], [directory]
    while pending:
        entries = _entries(pending.pop())
        found += [entry.path for entry in entries if _may_be_rule(entry.name) and entry.is_file()]
        folders = [entry for entry in entries if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)]
        pending += [entry.path for entry in reversed(folders)]
    return found


def _entries(directory: str) -> list[os.DirEntry[str]]:
    """What is in a directory, by name; nothing where it cannot be listed."""
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _may_be_rule(name: str) -> bool:
    return name.endswith((".yaml", ".yml")) and name != VOCABULARY


def directory(path: str, *, own: bool = True) -> RuleSource:
    """The rules below a directory. Raises :class:`~envdoctor.errors.UsageError` where it is none."""
    if not os.path.isdir(path):
        from envdoctor.errors import UsageError

        raise UsageError(f"no rules at {path}: it is not a directory")
    words = os.path.join(path, VOCABULARY)
    return RuleSource(place=path, rules=files_below(path), vocabulary=words if os.path.isfile(words) else None, own=own)


def proof_of(path: str) -> str:
    """The proof file that belongs to a rule's file."""
    return os.path.splitext(path)[0] + PROOF


def state(source: RuleSource, words: Sequence[str]) -> str:
    """A text that changes whenever a file of a source does, one of ``words``, or the code that compiles them.

    The system's time of the last change counts besides that of the content, which some tools set as they please.
    """
    files = [one for path in source.rules for one in (path, proof_of(path))]
    files += [path for path in (source.vocabulary, source.declared) if path]
    lines = [f"{source.name}\t{source.place}\t{source.own}"]
    lines += [f"{path}\t{_changed(path)}" for path in (*files, *words, *_compilers())]
    return "\n".join(lines)


def _changed(path: str) -> str:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return "-"
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _compilers() -> list[str]:
    """The files of the code that compiles rules: those of two packages, or the archive that holds them."""
    if not os.path.isdir(_PACKAGE):
        return [os.path.dirname(_PACKAGE)]
    rooms = [os.path.join(_PACKAGE, room) for room in ("rulebase", "engine")]
    return [os.path.join(room, name) for room in rooms for name in sorted(os.listdir(room)) if name.endswith(".py")]
