"""Holds what a proof file records against what can be derived from the rule, and the rule against what was measured."""

from __future__ import annotations

import re
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, canonicalize_version

from envdoctor.rulebase.compile import compile_rule
from envdoctor.workshop.proof import severity
from envdoctor.workshop.proof.judge import AGREES, OTHERWISE, known_by
from envdoctor.workshop.proof.trials import plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.rulebase.document import Complaint
    from envdoctor.workshop.cells import Cell
    from envdoctor.workshop.lint_proof import Subject
    from envdoctor.workshop.proof.trials import Trial

    Row = Mapping[str, Any]

_MOVED = re.compile(r"^(bad|good) .*, on (\S+) (\S+?)(?:, until \S+)?(?:, then .*)?$")


def proof_underivable(subject: Subject) -> Iterator[Complaint]:
    """What a proof records and cannot have seen: trials of another rule, verdicts that do not follow from a result."""
    found = subject.measured()
    if found is None:
        return
    rows = {row["trial"]: row for row in found["trials"]}
    planned = {trial.name: trial for trial in plan(subject.rule, subject.vocabulary, ())}
    texts = compile_rule(subject.rule, subject.vocabulary)
    faults = [f"it records nothing of {name}" for name in planned if name not in rows]
    for name, row in rows.items():
        if row["verdict"] == AGREES:
            base = planned.get(name.partition(", on ")[0])
            faults += [f"{name}: {fault}" for fault in _impossible(row, planned.get(name), base, texts)]
    faults += [f"nothing shows the edge at {edge['axis']} {edge['shown']}" for edge in _unfounded(found)]
    for fault in faults:
        again = f"run: envdoctor rules verify --again {subject.rule.id}"
        yield subject.complaint(("proof",), f"the proof file cannot be derived again: {fault}; {again}")


def _impossible(row: Row, trial: Trial | None, base: Trial | None, texts: Mapping[str, Any]) -> Iterator[str]:
    """Why a row that agrees cannot do so; ``base`` is the trial of the cell, also where that was moved."""
    seen = row.get("symptom")
    if row["kind"] == "bad" and not seen:
        yield "a bad cell has no symptom"
    elif row["kind"] == "bad" and not known_by(str(seen), base, texts):
        yield f"`{seen}` is none of the rule's symptoms"
    elif row["kind"] in {"good", "remedy"} and seen:
        yield f"it has the symptom `{seen}`"
    facts = _facts(row)
    for name, version in _pinned(row, trial, base):
        there = facts.get(name, "")
        if not (_same(there, version) or (name == "python" and f"{there}.".startswith(f"{version}."))):
            yield f"it was run with {name} {there or 'absent'}, not {version}"
    yield from _not_applied(trial, facts)


def _not_applied(trial: Trial | None, facts: Mapping[str, str]) -> Iterator[str]:
    """What a remedy asks for and did not bring."""
    for text in trial.applies.requirements if trial and trial.applies else ():
        wanted = Requirement(text)
        there = facts.get(canonicalize_name(wanted.name), "")
        if not there or not wanted.specifier.contains(there, prereleases=True):
            yield f"after the remedy there is {wanted.name} {there or 'absent'}"


def _pinned(row: Row, trial: Trial | None, base: Trial | None) -> Iterator[tuple[str, str]]:
    """What a trial that is no remedy was to be run with."""
    if row["kind"] not in {"bad", "good"}:
        return
    moved = _MOVED.match(row["trial"].partition(": ")[0] if trial else row["trial"])
    if trial is not None:
        yield "python", trial.place.python
        free = {*trial.place.absent, *trial.installs}
        pins = (text.split("==", 1) for text in trial.place.install)
        yield from ((name, version) for name, version in pins if name not in free and not trial.prepare)
    elif moved and not (base and moved[2] in base.installs):
        yield ("python" if moved[2] == "Python" else moved[2]), moved[3]


def _same(one: str, other: str) -> bool:
    """Whether a version that was installed is the one that is stated, of any local build where none is named."""
    public = one if "+" in other else one.partition("+")[0]
    return bool(one) and canonicalize_version(public) == canonicalize_version(other)


def _unfounded(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The edges that no row shows."""
    for edge in found.get("edges", ()):
        shown, axis = edge.get("shown"), edge["axis"]
        rows = (row for row in found["trials"] if row["kind"] == edge["kind"] and _shows(row, edge))
        if shown and not any(_on(row, axis, shown) for row in rows):
            yield edge


def _shows(row: Row, edge: Mapping[str, Any]) -> bool:
    """Whether a trial shows what an edge expects of it: past a lower one a release may fail in another way."""
    is_below = (edge["kind"], edge["side"]) == ("good", "lower") and edge["axis"] != "python"
    return row["verdict"] == AGREES or (is_below and str(row.get("reason")).startswith(OTHERWISE))


def _on(row: Row, axis: str, version: str) -> bool:
    if axis == "python":
        return f"{row.get('python')}.".startswith(f"{version}.")
    pins = dict(text.split("==", 1) for text in row.get("installed", ()))
    has_failed = "symptom" in row or "reason" in row  # maybe to install that very release
    return _same(pins.get(axis, ""), version) or (axis not in pins and has_failed)


def remedies_not_quiet(subject: Subject) -> Iterator[Complaint]:
    """Remedies in whose outcome, as it was installed, envdoctor still finds this, or finds something new."""
    found = subject.measured()
    rows = {row["trial"]: row for row in found["trials"]} if found and not subject.about_metadata() else {}
    for name, row in rows.items():
        before = rows.get(name.partition(", then ")[0], {})
        if row["kind"] == "remedy" and row["verdict"] == AGREES and row.get("installed") and before.get("installed"):
            for other in _found_after(subject, _facts(before), _facts(row)):
                hint = "bound what it installs, or offer it elsewhere"
                yield subject.complaint(("remedies",), f"after `{name}` envdoctor finds {other}; {hint}")


def _found_after(subject: Subject, had: Mapping[str, str], has: Mapping[str, str]) -> Iterator[str]:
    """The rules that hold after a change and should not, by their ids."""
    changed: set[str] = {name for name, _ in set(has.items()) ^ set(had.items())}
    for other in [subject, *subject.others()]:
        if changed & other.axes and other.rule.severity != "info" and _begins(other, had, has, stays=other is subject):
            yield other.rule.id


def _begins(subject: Subject, had: Mapping[str, str], has: Mapping[str, str], *, stays: bool) -> bool:
    """Whether a rule holds after a change, of which it did not hold before or, if it ``stays``, that it did."""
    after = {one.consumer for one in subject.matches(_cell(has))}
    before = {one.consumer for one in subject.matches(_cell(had))} if after else set()
    return bool(after & before if stays else after - before)


def _facts(row: Row) -> dict[str, str]:
    return {"python": row.get("python") or "", **dict(text.split("==", 1) for text in row.get("installed", ()))}


def _cell(facts: Mapping[str, str]) -> Cell:
    return {"python": facts["python"], "packages": {key: said for key, said in facts.items() if key != "python"}}


def severity_unshown(subject: Subject) -> Iterator[Complaint]:
    """Errors on installed versions alone that a plain import does not show, or that reach below what was run."""
    found = subject.measured()
    if found is None or subject.rule.severity != "error" or not severity.by_environment(subject.rule):
        return
    for row in found["trials"]:
        less = subject.rule.consumers.get(row.get("consumer"), {}).get("severity")
        if row["kind"] == "severity" and row["verdict"] == AGREES and not (row.get("breaks") or less):
            hint = "say `severity: warning`, and name in the title what it takes"
            hint += "; which call of a package counts is in `first_use` of the vocabulary"
            what = f"{row['trial']} nothing fails, at import or at a command"
            yield subject.complaint(("severity",), f"it is no error: with {what}; {hint}")
    for edge in filter(_is_below, found["edges"]):
        if "severity" not in subject.rule.consumers.get(edge["axis"], {"severity": ""}):
            hint = f'write `">={edge["shown"]},..."`, or say `severity: warning`'
            said = f"{edge['axis']} below {edge['shown']} was not seen to fail like this"
            yield subject.complaint(("consumers", edge["axis"]), f"it is no error there: {said}; {hint}")


def _is_below(edge: Mapping[str, Any]) -> bool:
    """Whether a range is open below, and older releases than what was shown tell nothing."""
    is_open = edge["side"] == "lower" and edge["kind"] == "bad" and edge.get("open", False)
    return is_open and edge.get("shown") not in {None, edge["at"]}


def consumers_never_run(subject: Subject, left_out: Mapping[str, str]) -> Iterator[str]:
    """The consumers that a script does not name, and that no failure on record names or passes through."""
    found = subject.measured() if left_out else None
    bad = [row for row in (found or {"trials": ()})["trials"] if row["kind"] == "bad" and row["verdict"] == AGREES]
    for name, module in left_out.items() if found else ():
        if not any(_passes_through(row, name, module) for row in bad if name in _facts(row)):
            yield name


def _passes_through(trial: Mapping[str, Any], name: str, module: str) -> bool:
    """Whether a failure's traceback passes through a consumer, or its message names it."""
    message = str(trial.get("symptom"))
    return module.partition(".")[0] in trial.get("through", ()) or name in message or module in message
