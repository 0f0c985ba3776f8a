"""Rules against a snapshot: findings, and what could not be decided. Pure."""

from __future__ import annotations

from envdoctor.engine.evaluate import holds, matches
from envdoctor.engine.metadata_conflicts import Requirements
from envdoctor.engine.questions import questions
from envdoctor.engine.trace import LESS, Trace
from envdoctor.engine.versions import within
from envdoctor.facts import OF_PROCESS, OF_PROJECT, PROJECT
from envdoctor.model import SEVERITIES, Action, Finding, Remedy, UnknownFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from envdoctor.engine.index import Entry, Index
    from envdoctor.engine.trace import Match
    from envdoctor.facts import Questions
    from envdoctor.model import Evidence, Snapshot

    Candidates = Sequence[tuple[Index, Sequence[Entry]]]

#: What a text may name of a consumer.
OF_CONSUMERS = ("consumer", "works", "module")


def candidates(snapshot: Snapshot, indexes: Iterable[Index]) -> Candidates:
    """The rules that may hold in a snapshot, by rule base."""
    names = [*snapshot.packages, *_besides(snapshot)]
    # A rule comes once for each name that it is filed under: whole, or with the consumer of that name.
    return [
        (index, list({(entry[0], *entry[2].get("consumers", ())): entry for entry in index.candidates(names)}.values()))
        for index in indexes
    ]


def asked(found: Candidates, snapshot: Snapshot) -> Questions:
    """The facts of a snapshot that these rules ask for."""
    return questions([entry[2] for _, entries in found for entry in entries], snapshot)


def diagnose(snapshot: Snapshot, found: Candidates) -> tuple[list[Finding], list[UnknownFact]]:
    """Every finding of some rules, most severe first, and every fact that kept one from being decided."""
    findings: list[Finding] = []
    unknown: list[UnknownFact] = []
    requirements = Requirements(snapshot)
    for index, entries in found:
        missed: dict[tuple[str, str, str], None] = {}
        trace = Trace()
        for entry in entries:
            matched = matched_by(entry[2], snapshot, trace, requirements)
            if matched or trace.unknown:
                texts = index.texts(entry)
                findings += [finding(texts, match, snapshot, trace) for match in matched]
                missed.update(((texts["id"], fact, why), None) for fact, why in trace.unknown)
                trace = Trace()
        unknown += [UnknownFact(rule=rule, fact=fact, reason=why) for rule, fact, why in missed]
    unknown += requirements.notes
    findings.sort(key=lambda one: (SEVERITIES.index(one.severity), one.rule, one.consumer or ""))
    if findings:
        from envdoctor.engine.groups import united

        findings = united(findings)
    return findings, unknown


def matched_by(
    compiled: Mapping[str, Any], snapshot: Snapshot, trace: Trace, requirements: Requirements | None = None
) -> list[Match]:
    """Every way in which a rule holds, whichever of several candidate versions gets installed."""
    matched = matches(compiled, snapshot, trace, requirements)
    if trace.unknown and snapshot.target.get("kind") in {"requirements", "snapshot"}:
        from envdoctor.engine.open_versions import over_all, undecided

        if undecided(snapshot, trace.unknown):
            matched = over_all(compiled, snapshot, matched, trace)
    return matched


def _besides(snapshot: Snapshot) -> list[str]:
    """The keys of rules that are filed under no distribution: a project that was named, and a process."""
    names = [OF_PROJECT] if snapshot.facts.ask(PROJECT, "named") is True else []
    return [*names, OF_PROCESS] if snapshot.target.get("kind") == "process" else names


def finding(texts: Mapping[str, Any], match: Match, snapshot: Snapshot, missed: Trace | None = None) -> Finding:
    """The finding that a rule's texts and one match make; ``missed`` takes what keeps a remedy from being offered."""
    from envdoctor.engine.wording import said

    names = {**_open(texts), **match.names}
    optional = [one for one in _packages(texts, match) if one in snapshot.packages and snapshot.packages[one].optional]
    return Finding(
        rule=texts["id"],
        severity=_severity(texts, match, less=bool(optional) or LESS in match.names),
        impact=texts["impact"],
        title=said(texts["title"], names),
        why=said(texts["why"], names) + (_OPTIONAL.format(optional[0]) if optional else ""),
        packages=_packages(texts, match),
        facts=texts["facts"],
        evidence=match.evidence,
        remedies=remedies(texts, match.names, snapshot, missed),
        references=texts["references"],
        proof=texts.get("proof", "unproven"),
        status=texts.get("status", "stable"),
        consumer=match.consumer,
        several=texts.get("several", ""),
    )


#: What is said of a package that not every installation of the project has.
_OPTIONAL = " Only an extra or a group of the project asks for {}."


def _severity(texts: Mapping[str, Any], match: Match, *, less: bool) -> str:
    """The severity of a rule, or that of the consumer that is found where it is less, or one ``less`` than that."""
    stated = texts["consumers"].get(match.consumer, {}).get("severity", texts["severity"])
    least = max(map(SEVERITIES.index, (texts["severity"], stated)))
    return SEVERITIES[min(least + less, len(SEVERITIES) - 1)]


def _open(texts: Mapping[str, Any]) -> dict[str, str]:
    """What stays in braces while it is open which of the consumers of a rule is meant."""
    return {word: f"{{{word}}}" for word in OF_CONSUMERS} if texts["consumers"] else {}


def _packages(texts: Mapping[str, Any], match: Match) -> list[str]:
    """The distributions that a finding is about: those its evidence names, and those its rule does."""
    seen = [one.fact.partition(".")[2] for one in match.evidence if _is_package(one)]
    absent = [one.fact.partition(".")[2] for one in match.evidence if one.value == "not installed"]
    named = [name for name in texts["packages"] if name not in absent] if not match.consumer else []
    first = [match.consumer] if match.consumer else []
    return list(dict.fromkeys([*first, *seen, *named]))


def _is_package(evidence: Evidence) -> bool:
    return evidence.fact.startswith("packages.") and evidence.value != "not installed"


def remedies(
    texts: Mapping[str, Any], names: Mapping[str, str], snapshot: Snapshot, missed: Trace | None = None
) -> Sequence[Remedy]:
    """The remedies of a rule that are on offer in this snapshot, best first.

    What cannot be installed on its Python, or was seen not to cure there, is left out or, where nothing else would be
    left, needs another Python first.
    """
    offered, elsewhere = [], []
    for stated in texts["remedies"]:
        trace = Trace()
        if _is_offered(stated, names, snapshot, trace):
            made, action = _remedy(stated, texts, {**_open(texts), **names, **trace.names}, snapshot, trace)
            python = _other_python(action, texts.get("installable", {}), snapshot)
            offered += [] if python else [made]
            elsewhere += [_with_python(made, action, python)] if python else []
        elif missed is not None and stated["kind"] == "set":
            missed.unknown += trace.unknown
    return offered or elsewhere


def _other_python(action: Action, installable: Mapping[str, str], snapshot: Snapshot) -> str:
    """The Pythons, as a specifier, that an action needs and this is none of."""
    here = snapshot.python.get("version")
    needed = [installable[one] for one in action.requirements if one in installable]
    return ",".join(dict.fromkeys(needed)) if any(within(here, one) is False for one in needed if here) else ""


def _with_python(remedy: Remedy, action: Action, python: str) -> Remedy:
    """A remedy in an environment of another Python, which begins empty: there is nothing to be removed there."""
    wanted = (f"python{python}", *action.requirements)
    made: Remedy = remedy.replace(
        kind="install" if action.packages else remedy.kind,
        requirement=" ".join(wanted),
        package=None,
        action=action.replace(verb="install", requirements=wanted, packages=()),
    )
    return made


def _is_offered(stated: Mapping[str, Any], names: Mapping[str, str], snapshot: Snapshot, trace: Trace) -> bool:
    """Whether a remedy's condition holds or is open, and the release that its requirement needs is known."""
    condition = stated.get("when")
    verdict = condition is None or holds(condition, snapshot, trace)
    if not verdict and (verdict is False or not trace.unknown):  # false, or about a project that is not there
        return False
    if verdict is None and stated["kind"] == "set":  # nobody knows whether the entry is there
        return False
    return "{works}" not in str(stated.get("requirement")) or bool(names.get("works"))


def _remedy(
    stated: Mapping[str, Any], texts: Mapping[str, Any], known: Mapping[str, str], snapshot: Snapshot, trace: Trace
) -> tuple[Remedy, Action]:
    values, several = _filled(stated, known)
    entry = trace.entries.get((values.get("file", ""), values.get("key", "")))
    if stated["kind"] == "set" and entry is not None:
        values.update(file=entry["file"], key=entry["key"], line=entry.get("line"))
        values.update(_exactly(entry, values["to"]))
    if "kin" in texts:
        from envdoctor.engine.kin import fitted

        several = fitted(several, texts["kin"], snapshot.packages)
        values.update((key[:-1], " ".join(named)) for key, named in several.items() if named)
    action = _action(values, **several)
    return Remedy(action=action, **values), action


def _exactly(entry: Mapping[str, Any], to: Any) -> dict[str, Any]:
    """What to write in place of what, where it is known; without a line where no one line will do."""
    if "written" not in entry:
        return {}
    if entry["written"] is None:
        return {"line": None}
    from envdoctor.remedy_kinds import scalar

    before, value, whole = entry["written"]
    return {"write": before + scalar(to), "replaces": None if whole else before + value}


def _filled(stated: Mapping[str, Any], known: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The fields of a remedy, with its texts filled in; and the requirements and packages of its action."""
    from envdoctor.engine.wording import fill, said

    values: dict[str, Any] = dict(stated)
    for key, value in stated.items():
        if isinstance(value, str):
            values[key] = said(value, known) if key in _IN_WORDS else fill(value, known)
    values.pop("when", None)
    several = {
        key: [fill(text, known) for text in values.pop(key, ()) or [values.get(key[:-1])] if text]
        for key in ("requirements", "packages")
    }
    return values, several


def _action(values: Mapping[str, Any], requirements: Sequence[str], packages: Sequence[str]) -> Action:
    """The action of a remedy, with requirements as the rule and the metadata write them."""
    from envdoctor.remedy_kinds import verb_of

    return Action(
        verb=verb_of(values["kind"]),
        requirements=tuple(requirements),
        packages=tuple(packages),
        **{key: values[key] for key in ("file", "key", "name", "to", "at") if key in values},
    )


#: What of a remedy is a sentence.
_IN_WORDS = ("text", "effect")
