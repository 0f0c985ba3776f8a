"""From the failures in a text to the rules that explain them, held against the environment. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdoctor.engine import symptoms
from envdoctor.engine.diagnose import fill, finding
from envdoctor.engine.evaluate import Match, Trace, holds, matches
from envdoctor.model import Evidence, Finding, Report, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.engine.index import Index

#: What stands behind a finding where no environment is given.
NOWHERE = Snapshot(target={"kind": "text"}, python={}, packages={}, complete=False, source="the text")


def explain(error_text: Any, snapshot: Snapshot | None, indexes: Sequence[Index]) -> Report:
    """The rules that a text shows symptoms of, best first, and those that the environment rules out.

    ``error_text`` has ``failures``, ``text``, ``versions`` and ``python``, as ``probes.error_text`` gives them.
    """
    rules = {texts["id"]: (texts, compiled) for index in indexes for texts, compiled in _rules(index)}
    ranked = symptoms.rank(_stated(texts for texts, _ in rules.values()), error_text)
    findings: list[tuple[float, Finding]] = []
    ruled_out: list[Finding] = []
    for rule, shown in _by_rule(ranked).items():
        texts, compiled = rules[rule]
        for score, found in _findings(texts, compiled, shown, snapshot):
            if found.confirmed is False:
                ruled_out.append(found)
            else:
                findings.append((score, found))
    findings.sort(key=lambda pair: (pair[1].confirmed is not True, -pair[0], pair[1].rule, pair[1].consumer or ""))
    return Report(
        snapshot=snapshot or NOWHERE,
        findings=[found for _, found in findings],
        ruled_out=ruled_out,
        rules=sum(index.rules for index in indexes),
        understood=_understood(error_text),
    )


def _rules(index: Index) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    seen = set()
    for entry in index.all():
        if entry[0] not in seen:
            seen.add(entry[0])
            yield index.texts(entry), entry[2]


def _stated(rules: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every symptom, once for each consumer where it names one."""
    for texts in rules:
        for symptom in texts["symptoms"]:
            if not any("{" in str(value) for value in symptom.values()):
                yield {**symptom, "rule": texts["id"], "consumer": None}
                continue
            for name, consumer in texts["consumers"].items():
                names = {"consumer": name, "module": consumer["module"], "works": consumer["works"] or ""}
                filled = {key: fill(value, names) for key, value in symptom.items()}
                yield {**filled, "rule": texts["id"], "consumer": name}


def _by_rule(ranked: Iterable[Any]) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for match in ranked:
        grouped.setdefault(match.rule, []).append(match)
    return grouped


def _findings(
    texts: Mapping[str, Any], compiled: Mapping[str, Any], shown: Sequence[Any], snapshot: Snapshot | None
) -> Iterator[tuple[float, Finding]]:
    """One finding for each consumer that the environment or the text points to, else one for the rule."""
    best = shown[0]
    scores = {match.consumer: match for match in reversed(shown)}
    if snapshot is not None:
        confirmed = matches(compiled, snapshot)
        if confirmed:
            named = [match for match in confirmed if match.consumer in scores]
            for match in named or confirmed:
                symptom = scores.get(match.consumer, best)
                yield symptom.score, _with(finding(texts, match, snapshot), symptom, confirmed=True)
            return
        if _contradicts(compiled, snapshot):
            match = Match(evidence=[_refusal(snapshot)])
            yield best.score, _with(finding(texts, match, snapshot), best, confirmed=False)
            return
    consumer = best.consumer
    lines = texts["consumers"]
    names = (
        {"consumer": consumer, **{k: str(lines[consumer][k] or "") for k in ("works", "module")}} if consumer else {}
    )
    evidence = [Evidence(fact="text", value="; ".join(best.matched), source="the text")]
    found = finding(texts, Match(evidence=evidence, consumer=consumer, names=names), snapshot or NOWHERE)
    about = [*([consumer] if consumer else list(lines)), *texts["packages"]]
    if not consumer and lines:
        found = found.replace(remedies=[one for one in found.remedies if "{" not in str(one.requirement)])
    yield best.score, _with(found.replace(packages=list(dict.fromkeys(about))), best, confirmed=None)


def _with(found: Finding, symptom: Any, *, confirmed: bool | None) -> Finding:
    changed: Finding = found.replace(matched=symptom.matched, confirmed=confirmed)
    return changed


def _contradicts(compiled: Mapping[str, Any], snapshot: Snapshot) -> bool:
    """Whether the environment rules a rule out: its condition is false, or no consumer may be affected."""
    trace = Trace()
    if holds(compiled["when"], snapshot, trace) is False:
        return True
    if "consumers" not in compiled:
        return False
    verdicts = [
        holds(["packages", [name], consumer["bad"], consumer["intervals"]], snapshot, trace)
        for name, consumer in compiled["consumers"].items()
    ]
    return all(verdict is False for verdict in verdicts)


def _refusal(snapshot: Snapshot) -> Evidence:
    return Evidence(fact="environment", value="the environment does not have this combination", source=snapshot.source)


def _understood(error_text: Any) -> dict[str, Any]:
    """What was made of the text: the last exception, its innermost third-party frame, versions."""
    failures = [failure for failure in error_text.failures if failure.exception or failure.exit_signal]
    understood: dict[str, Any] = {"versions": dict(error_text.versions), "python": error_text.python}
    if failures:
        last = failures[-1]
        frames = [frame for frame in last.frames if getattr(frame, "package", None)]
        understood["exception"] = last.exception or last.exit_signal
        understood["message"] = last.message
        understood["frame"] = frames[-1].package if frames else None
    return understood
