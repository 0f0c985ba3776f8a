"""The story of an error text: what it shows, which rules know that, and what follows from it without any."""

from __future__ import annotations

from typing import Any

from envdoctor import doctor
from envdoctor.probes import answered
from envdoctor.rulebase import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.engine.asks import Ask, Edges
    from envdoctor.engine.families import Clue
    from envdoctor.engine.names import Names
    from envdoctor.model import Finding, Report, Snapshot
    from envdoctor.probes.error_text import ErrorText
    from envdoctor.rulebase.compiled_cache import Base


def explain(
    text: str | ErrorText,
    snapshot: Snapshot | None,
    rules: Sequence[str] = (),
    *,
    candidates: bool = False,
    ruled: bool = True,
    online: Callable[[], Callable[[str], None] | None] = lambda: None,
) -> Report:
    """The rules whose symptoms a traceback or log shows, ranked, checked against the environment where there is one.

    Behind them comes what follows from the text itself, which nobody has proven. Without ``ruled``, no rule is asked.
    Where releases could show when what is missing was removed and no rule is confirmed, ``online`` is called: the index
    is asked if that returns a function that reports progress.
    """
    from envdoctor.engine import explanation as engine_of_text
    from envdoctor.engine.ranking import together
    from envdoctor.probes.error_text import read

    said = read(text) if isinstance(text, str) else text
    bases = load.further(rules) if ruled else []
    indexes = load.indexes(bases, candidates=candidates) if ruled else []
    recognised = engine_of_text.recognised(said, indexes)
    if snapshot is not None:
        snapshot = answered(snapshot, recognised.asked)
    report = engine_of_text.explain(recognised, snapshot)
    known = any(finding.confirmed for finding in report.findings)
    place = engine_of_text.stated_environment(said) if snapshot is None else snapshot
    derived, names = derive(said, place, (lambda: None) if known else online, bases)
    holding = doctor.diagnosed(snapshot, indexes).findings if snapshot is not None and ruled else []
    report = doctor.commandable(report.replace(findings=together(report.findings, derived, holding, said, names)))
    each = [group for finding in report.findings for group in doctor.groups([finding], report.snapshot)]
    explained: Report = report.replace(groups=each, unknown=[*doctor.left_out(bases), *report.unknown])
    return explained


def derive(
    said: ErrorText,
    snapshot: Snapshot,
    online: Callable[[], Callable[[str], None] | None] = lambda: None,
    bases: Sequence[Base] = (),
) -> tuple[list[Finding], Names]:
    """The findings that follow from an error text without any rule, and its import names; ``online`` as above."""
    from envdoctor.engine import derived

    clues, names, seen = _seen(said, snapshot, load.words(bases))
    asks = derived.asks(clues, names, snapshot, seen)
    tell = online() if asks else None
    if tell is not None:
        from envdoctor.linker.edges import edges

        seen["edges"] = {what: edges(ask, tell) for what, ask in asks.items()}
    return derived.derive(clues, names, snapshot, seen), names


def _seen(said: ErrorText, snapshot: Snapshot, words: Mapping[str, Any]) -> tuple[list[Clue], Names, dict[str, Any]]:
    """The clues of a text, the owners of its names, and what files and the shipped history say of them."""
    from envdoctor.engine import build_logs, derived, families
    from envdoctor.engine.names import Names
    from envdoctor.linker.history import holders, imports, lives
    from envdoctor.linker.import_names import distributions
    from envdoctor.linker.standard_library import standard_of
    from envdoctor.probes import providers

    roots = imports()
    plugins = {module: name for module, name in build_logs.plugins(said.text).items() if module not in roots}
    words = {**words, "imports": {**plugins, **words.get("imports", {})}}
    clues = families.clues(said, words.get("voices"))
    modules = derived.modules(clues, said)
    owners = providers.provided(snapshot.packages, modules)
    for name, some in distributions(modules).items():
        roots[name] = list(dict.fromkeys([*roots.get(name, ()), *some]))
    library = standard_of(str(snapshot.python.get("version", "")))
    names = Names(words, snapshot.packages, owners, library, roots)
    seen = derived.held(clues, holders)
    asked = derived.questions(clues, names, snapshot, seen)
    return clues, names, {**seen, **providers.answers(snapshot.packages, asked), "history": lives(asked["offers"])}


def measured(said: ErrorText, snapshot: Snapshot | None, tell: Callable[[str], None]) -> tuple[Clue, Ask, Edges] | None:
    """The first thing that a text says is missing and of which the releases on the index show the edges."""
    from envdoctor.engine import derived
    from envdoctor.engine.explanation import recognised, stated_environment
    from envdoctor.linker.edges import edges

    place = stated_environment(said) if snapshot is None else answered(snapshot, recognised(said, ()).asked)
    clues, names, seen = _seen(said, place, load.words(load.further()))
    for what, ask in derived.asks(clues, names, place, seen).items():
        found = edges(ask, tell)
        clue = next(one for one in clues if one.said == what)
        if found.asking and (found.life or ask.provider == ""):
            return clue, ask, found
    return None
