"""The rule bases of a run: what came with envdoctor, installed packs, and directories; compiled where they changed."""

from __future__ import annotations

from envdoctor.model import Record
from envdoctor.rulebase import shipped
from envdoctor.rulebase.packs import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from envdoctor.engine.index import Index
    from envdoctor.rulebase.sources import RuleSource


class Base(Record):
    """The compiled rules of a source: those that are asked, those that keep silent, and what was left out.

    ``name`` is what the ids of a pack begin with, or empty. ``left_out`` has the file's path, a line and the reason.
    """

    source: RuleSource
    name: str
    asked: Index
    silent: Index
    ids: Mapping[str, tuple[str, str]]
    words: Mapping[str, Any]
    left_out: Sequence[tuple[str, int, str]]


def further(directories: Sequence[str] = ()) -> list[Base]:
    """The rules of installed packs, and of directories.

    Raises :class:`~envdoctor.errors.RuleError` where they contradict each other or the shipped ones, and
    :class:`~envdoctor.errors.UsageError` for what is no directory.
    """
    sources = installed()
    if directories:
        from envdoctor.rulebase.sources import directory

        sources = [*sources, *map(directory, dict.fromkeys(directories))]
    if not sources:
        return []
    from envdoctor.rulebase.compiled_cache import base_of

    return _agreeing([base_of(source) for source in sources])


def _agreeing(bases: list[Base]) -> list[Base]:
    """The bases; raises where two of them contradict each other."""
    if len(bases) > 1:
        from envdoctor.rulebase import merge

        merge.rules(base.ids for base in bases)
        first = bases[0]
        words, path = first.words, first.source.vocabulary or first.source.place
        for base in bases[1:]:
            words = merge.vocabularies(words, base.words, (path, base.source.vocabulary or base.source.place))
    return bases


def indexes(bases: Sequence[Base], *, candidates: bool = False) -> list[Index]:
    """The shipped rules and those of further bases; ``candidates`` adds what is silent in an ordinary run."""
    found = [shipped.shipped(), *(base.asked for base in bases)]
    if candidates:
        found += [shipped.shipped(silent=True), *(base.silent for base in bases)]
    return found


def left_out(base: Base) -> list[str]:
    """The files of a base that were left out, a sentence each: the first thing that is wrong, and how many more are."""
    files: dict[str, list[str]] = {}
    for path, line, why in base.left_out:
        files.setdefault(path, []).append(f"{path}:{line}: {why}")
    lint = "envdoctor rules lint names them"
    more = {path: f"; and {len(wrong) - 1} more ({lint})" for path, wrong in files.items() if len(wrong) > 1}
    return [f"left out: {wrong[0]}{more.get(path, '')}" for path, wrong in files.items()]


def words(bases: Sequence[Base]) -> dict[str, Any]:
    """The words that error texts and installed files are read by: the shipped ones, and those of further bases."""
    from envdoctor.rulebase import merge

    known = shipped.words()
    for base in bases:
        known = merge.vocabularies(known, base.words, (shipped.vocabulary(), base.source.vocabulary or ""))
    return known
