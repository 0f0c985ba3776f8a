"""The files that a plan changes, read and made anew in memory."""

from __future__ import annotations

import os
from functools import partial

from envdoctor.model import Location
from envdoctor.plans import Edit
from envdoctor.remedies import project_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from envdoctor.model import Finding, Remedy
    from envdoctor.plans import Move

    Change = Callable[..., str]


def of_requirements(moves: Sequence[Move], files: Iterable[str], changes: Callable[[str], Change]) -> list[Edit]:
    """The edits of requirements, lists and tables of them, that would not admit what a plan moves to.

    ``changes`` gives for a file what makes its text another one for some moves.
    """
    made = []
    for path in files:
        found: Edit | None = None
        for one in moves:
            now = _changed(path, partial(changes(path), moves=[one]), found.after if found else None)
            if now:
                said, before = (found.why, found.before) if found else ((), now.before)
                found = now.replace(before=before, why=[*said, one.package])
        made += [found] if found else []
    return made


def placed(remedy: Remedy, finding: Finding) -> list[Remedy]:
    """A remedy at each place that a finding names: of an entry of configuration, or of code that is to change."""
    fact = {"set": f"config.{remedy.key}", "change": "source."}.get(remedy.kind)
    if fact is None or (remedy.kind == "change" and remedy.file):
        return [remedy]
    others = [one for one in dict.fromkeys(_places(finding, fact)) if one != (remedy.file, remedy.line)]
    made = [remedy.replace(file=file, line=line, write=None, replaces=None) for file, line in others]
    return made if made and remedy.kind == "change" else [remedy, *made]


def _places(finding: Finding, fact: str) -> Iterator[tuple[str, int | None]]:
    """The files and lines in the evidence of a fact, or of all whose names have a part that ends with a dot."""
    for one in finding.evidence:
        if isinstance(one.source, Location) and (one.fact == fact or (fact[-1] == "." and fact in one.fact)):
            yield one.source.path, one.source.line


def of_remedies(remedies: Iterable[Remedy], directory: str) -> tuple[list[Edit], list[Remedy]]:
    """The edits of configuration that remedies ask for, and those that a person has to make."""
    made: dict[str, Edit] = {}
    others: list[Remedy] = []
    for remedy in remedies:
        path = os.path.join(directory, remedy.file or "")
        found = None
        if remedy.kind == "set" and remedy.file:
            text = made[path].after if path in made else None
            found = _changed(path, partial(project_files.entry, remedy), text)
        if found is None:
            others.append(remedy)
        else:
            why = [f"{remedy.key}: {remedy.effect or 'as the rule says'}"]
            before, said = (made[path].before, made[path].why) if path in made else (found.before, [])
            made[path] = found.replace(before=before, why=[*said, *why])
    return list(made.values()), others


def _changed(path: str, change: Callable[[str], str | None], text: str | None = None) -> Edit | None:
    """A file after a change; ``None`` where it cannot be read, or stays as it is."""
    try:
        if text is None:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
    except (OSError, ValueError):
        return None
    after = change(text)
    return Edit(path=os.path.abspath(path), before=text, after=after) if after not in {None, text} else None
