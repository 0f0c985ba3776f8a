"""The rule bases of a run: what came with envdoctor, installed packs, and directories; compiled where they changed."""

from __future__ import annotations

import os

from envdoctor.rulebase import shipped
from envdoctor.rulebase.packs import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from envdoctor.engine.index import Index
    from envdoctor.rulebase.compiled_cache import Base


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

    return _agreeing([base_of(source, _stated) for source in sources])


def _stated(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Digests of the shipped rules that have one of some ids."""
    from envdoctor.rulebase.reader import stated
    from envdoctor.rulebase.shipped_files import file
    from envdoctor.rulebase.sources import files_below

    if os.path.isdir(file()):  # a checkout, whose rules are compiled only where one of them is asked for
        stems = {os.path.splitext(os.path.basename(path))[0] for path in files_below(file())}
        if stems.isdisjoint(ids):
            return {}
    found = {}
    for index in (shipped.shipped(), shipped.shipped(silent=True)):
        for texts in map(index.texts, index.all()):
            if texts["id"] in ids:
                found[texts["id"]] = (file(), stated(texts))
    return found


def _agreeing(bases: list[Base]) -> list[Base]:
    """The bases, each without what one before it states; raises where two of them contradict each other."""
    if len(bases) > 1:
        from envdoctor.rulebase import merge

        merge.rules(base.ids for base in bases)
        bases = list(_once(bases))
        first = bases[0]
        words, path = first.words, first.source.vocabulary or first.source.place
        for base in bases[1:]:
            words = merge.vocabularies(words, base.words, (path, base.source.vocabulary or base.source.place))
    return bases


def _once(bases: Iterable[Base]) -> Iterator[Base]:
    """The bases, of which one that repeats rules of another before it is compiled without these."""
    from envdoctor.rulebase.compiled_cache import base_beside

    known: dict[str, tuple[str, str]] = {}
    for base in bases:
        if known.keys() & base.ids.keys():
            yield base_beside(base.source, lambda ids: {**_stated(ids), **known})
        else:
            yield base
        known.update(base.ids)


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
    from envdoctor.rulebase.shipped_files import vocabulary

    known = shipped.words()
    for base in bases:
        known = merge.vocabularies(known, base.words, (vocabulary(), base.source.vocabulary or ""))
    return known
