"""From the failures in a text to the rules that explain them, checked against the environment. Pure."""

from __future__ import annotations

import itertools
import re
from typing import Any

from envdoctor.engine import symptoms
from envdoctor.engine.diagnose import OF_CONSUMERS, finding, matched_by, remedies
from envdoctor.engine.evaluate import holds
from envdoctor.engine.frames import failed_in, last_own_place, not_named, own_frames, packages_in
from envdoctor.engine.index import NEVER
from envdoctor.engine.lost_names import having_lost
from envdoctor.engine.questions import questions
from envdoctor.engine.trace import Match, Trace
from envdoctor.engine.wording import fill, said
from envdoctor.facts import IMPORTABLE, METADATA, PROJECT, Answer
from envdoctor.model import Distribution, Evidence, Finding, Location, Record, Report, Snapshot, Unknown, UnknownFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.engine.index import Index
    from envdoctor.facts import Kind, Questions

#: Of how many consumers a finding gives the names and the remedies, where the text does not tell which one trips.
MOST_NAMES = 3
#: Of how many lines of the user's own code a finding tells, and how much of each.
MOST_FRAMES, MOST_CODE = 3, 80

#: Kinds of fact whose rules name a file that is no code.
_NOT_CODE = {"artifact", "config", "shadowed"}
#: The snapshot of a finding where no environment is given.
NOWHERE = Snapshot(target={"kind": "text"}, python={}, packages={}, complete=False, source="the text")

_TOO_SLOW = "searching this text for its symptoms takes too long, so that they were not all searched for"


class Recognised(Record):
    """The rules that a text shows symptoms of, with what of it matched, and those for which that took too long.

    ``error_text`` has ``failures``, ``text``, ``versions`` and ``python``, as ``probes.error_text`` gives them.
    """

    error_text: Any
    cases: Sequence[_Case]
    slow: Sequence[str]
    rules: int

    def asked(self, snapshot: Snapshot) -> Questions:
        """The facts of an environment that these rules ask for."""
        wanted: dict[Any, Any] = {METADATA: [(one.name, one.version) for one in snapshot.packages.values()]}
        wanted[IMPORTABLE] = not_named(self.error_text, snapshot)
        for case in self.cases:
            for kind, keys in questions([case.compiled], case.lenient(snapshot)).items():
                wanted[kind] = dict.fromkeys([*wanted.get(kind, ()), *keys])
        return wanted


def recognised(error_text: Any, indexes: Sequence[Index]) -> Recognised:
    """The rules that a text shows symptoms of."""
    rules = {texts["id"]: (texts, compiled) for index in indexes for texts, compiled in _rules(index)}
    slow: list[str] = []
    known = symptoms.rank(stated(texts for texts, _ in rules.values()), error_text, slow)
    shown = _by_rule(symptoms.in_order([*known, *having_lost(rules.values(), error_text)]))
    place = last_own_place(error_text)
    cases = [_Case(*rules[rule], seen, error_text, place) for rule, seen in shown.items()]
    return Recognised(error_text=error_text, cases=cases, slow=slow, rules=sum(index.rules for index in indexes))


def explain(known: Recognised, snapshot: Snapshot | None) -> Report:
    """The rules that a text shows symptoms of, best first, and those that the environment rules out.

    Findings that the environment confirms come first; those that the versions in the text contradict, or for which the
    environment has the cause but none of the consumers, come last.
    """
    stated_there = stated_environment(known.error_text)
    findings: list[tuple[tuple[Any, ...], Finding]] = []
    ruled_out: list[Finding] = []
    for case in known.cases:
        contradicted = _contradicts(case.compiled, stated_there) or bool(failed_in(known.error_text, case.compiled))
        for score, found in case.findings(snapshot):
            doubtful = contradicted or any(one.fact == "environment" for one in found.evidence)
            order = (found.confirmed is not True, doubtful, -score, found.rule, found.consumer or "")
            if found.confirmed is False:
                ruled_out.append(found)
            else:
                findings.append((order, found))
    findings.sort(key=lambda pair: pair[0])
    return Report(
        snapshot=snapshot or NOWHERE,
        findings=[found for _, found in findings],
        ruled_out=ruled_out,
        unknown=[UnknownFact(rule=rule, fact="text", reason=_TOO_SLOW) for rule in known.slow],
        rules=known.rules,
        understood=_understood(known.error_text),
    )


def stated_environment(error_text: Any) -> Snapshot:
    """The snapshot of an environment that a text describes: some versions, never all of them."""
    return Snapshot(
        target={"kind": "text"},
        python={"version": error_text.python} if error_text.python else {},
        packages={name: Distribution(name=name, version=version) for name, version in error_text.versions.items()},
        complete=False,
        source="the text",
    )


def _rules(index: Index) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    seen = set()
    for entry in index.all():
        if entry[0] not in seen and entry[2]["when"] != NEVER:
            seen.add(entry[0])
            texts = index.texts(entry)
            yield texts, {**entry[2], "consumers": texts["consumers"]} if texts["consumers"] else entry[2]


def stated(rules: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every symptom, once for each consumer where it names one."""
    for texts in rules:
        for symptom in texts["symptoms"]:
            lines = texts["consumers"] if _open(symptom.values()) else {}
            if not lines:
                yield {**symptom, "rule": texts["id"], "consumer": None}
            for name in lines:
                names = _names(texts, name)
                filled = {key: fill(value, names) for key, value in symptom.items()}
                yield {**filled, "rule": texts["id"], "consumer": name}


def _open(values: Iterable[Any]) -> bool:
    """Whether a text still names a consumer in braces."""
    return any(f"{{{word}}}" in str(value) for value in values for word in OF_CONSUMERS)


def _names(texts: Mapping[str, Any], consumer: str) -> dict[str, str]:
    line = texts["consumers"][consumer]
    return {"consumer": consumer, "works": line["works"] or "", "module": line["module"]}


def _by_rule(ranked: Iterable[symptoms.SymptomMatch]) -> dict[str, list[symptoms.SymptomMatch]]:
    grouped: dict[str, list[symptoms.SymptomMatch]] = {}
    for match in ranked:
        grouped.setdefault(match.rule, []).append(match)
    return grouped


class _Case:
    """One rule that knows the text, with what of it matched, best first."""

    def __init__(
        self,
        texts: Mapping[str, Any],
        compiled: Mapping[str, Any],
        shown: Sequence[symptoms.SymptomMatch],
        error_text: Any,
        place: Mapping[str, str],
    ) -> None:
        self.texts = texts
        self.compiled = compiled
        self.error_text = error_text
        self.best = shown[0]
        self.by_consumer = {match.consumer: match for match in shown}
        self.place = {} if _NOT_CODE.intersection(texts["facts"]) else place
        self.pointed, self.suspects = self._suspects(error_text)

    def _suspects(self, error_text: Any) -> tuple[bool, list[str]]:
        """The consumers that the text points to: by their own symptom, a frame, or their name, and whether so.

        Otherwise those that it gives a version of, or all of them.
        """
        lines: Mapping[str, Any] = self.texts["consumers"]
        if self.best.consumer:
            lines = {name: lines[name] for name in lines if self._score(name) == self.best.score}
        pointed = bool(self.best.consumer)
        for clue in (_tripping, _named):
            found = clue(error_text, lines)
            pointed = pointed or bool(found)
            lines = {name: lines[name] for name in found} or lines
        return pointed, [name for name in lines if name in error_text.versions and not pointed] or list(lines)

    def _score(self, consumer: str) -> float:
        match = self.by_consumer.get(consumer)
        return match.score if match else 0.0

    def findings(self, snapshot: Snapshot | None) -> Iterator[tuple[float, Finding]]:
        """A finding for each consumer that is affected, or one for the rule, with its score."""
        if snapshot is None:
            yield self._open()
            return
        open_minded = self.lenient(snapshot)
        confirmed = matched_by(self.compiled, open_minded, Trace())
        if confirmed:
            confirmed = self._fitting(confirmed)
        elif not failed_in(self.error_text, self.compiled) and not _contradicts(self.compiled, open_minded):
            yield self._open(snapshot)
            return
        for match in confirmed:
            symptom = self.by_consumer.get(match.consumer) or self.by_consumer.get(None, self.best)
            found = finding(self.texts, match, snapshot)
            yield symptom.score, _with(found, symptom, confirmed=True, frames=self._frames(snapshot))
        if not confirmed:
            yield self._unconfirmed(snapshot)

    def lenient(self, snapshot: Snapshot) -> Snapshot:
        """The environment, in which a use that is not seen, or a package whose install failed, proves nothing."""
        named = [*self.texts["packages"], *self.texts["consumers"]]
        failed = self.texts["impact"] == "install-failure" and not any(name in snapshot.packages for name in named)
        complete = snapshot.complete and not failed
        lenient: Snapshot = snapshot.replace(facts=snapshot.facts.changed(_doubted), complete=complete)
        return lenient

    def _fitting(self, confirmed: Sequence[Match]) -> list[Match]:
        """Of the consumers that the environment has in their bad range, those that the text points to or allows."""
        pointed = [match for match in confirmed if match.consumer in self.suspects]
        return pointed or [match for match in confirmed if {match.consumer, None} & self.by_consumer.keys()]

    def _unconfirmed(self, snapshot: Snapshot) -> tuple[float, Finding]:
        """The environment does not have the combination: ruled out, unless the cause is there for others to meet."""
        trace = Trace()
        confirmed: bool | None = False
        library = failed_in(self.error_text, self.compiled)
        said = "the environment does not have this combination"
        if library:
            said = f"it failed in the code of {library}; this rule is about the project's own"
        elif self._may_be_of_another() and holds(self.compiled["when"], snapshot, trace):
            confirmed = None
            said = "none of the distributions that this rule lists is affected; another one, or your own code, may be"
        elif not _is_where_it_failed(self.error_text, snapshot, self.texts["consumers"]):
            confirmed = None
            said = "this environment lacks packages that the traceback runs through, so that it rules nothing out"
        evidence = [*trace.evidence(), Evidence(fact="environment", value=said, source=snapshot.source)]
        match = Match(evidence=evidence, names=self.place)
        found = self._worded(finding(self.texts, match, snapshot), self.suspects)
        return self.best.score, _with(found, self.best, confirmed=confirmed)

    def _may_be_of_another(self) -> bool:
        """Whether the cause is there for more than the consumers of the rule, as far as the text tells."""
        return bool(self.texts["consumers"]) and not self.pointed and self.best.placed

    def _open(self, snapshot: Snapshot | None = None) -> tuple[float, Finding]:
        """One finding, from the text alone, that names everything that may be meant."""
        evidence = [Evidence(fact="text", value="; ".join(self.best.matched), source="the text")]
        place = snapshot or NOWHERE
        suspects = [name for name in self.suspects if self._may_trip(name, place)] or self.suspects
        consumer = suspects[0] if len(suspects) == 1 else None
        names = {**self.place, **(_names(self.texts, consumer) if consumer else {})}
        found = finding(self.texts, Match(evidence=evidence, consumer=consumer, names=names), place)
        if not consumer and suspects:
            named = [{**self.place, **_names(self.texts, name)} for name in suspects[:MOST_NAMES]]
            offered = [remedy for names in named for remedy in remedies(self.texts, names, place)]
            found = self._worded(found, suspects).replace(remedies=_ordered(offered, self.texts))
        packages = list(dict.fromkeys([*suspects, *self.texts["packages"]]))
        found = found.replace(packages=packages)
        return self.best.score, _with(found, self.best, confirmed=None, frames=self._frames(place))

    def _frames(self, snapshot: Snapshot) -> list[Evidence]:
        """Where in the project the traceback was, the last place first."""
        frames = own_frames(self.error_text) if snapshot.facts.ask(PROJECT, "there") is True else ()
        return [
            Evidence(
                fact="frames.own", value=(one.code or "your code")[:MOST_CODE], source=Location(one.file, one.line)
            )
            for one in itertools.islice(dict.fromkeys(frames), MOST_FRAMES)
        ]

    def _worded(self, found: Finding, suspects: Sequence[str]) -> Finding:
        """The finding with several consumers in the place of one, and without the remedies that are for one alone."""
        if not self.texts["consumers"]:
            return found
        modules = [self.texts["consumers"][name]["module"] for name in suspects]
        words = {"consumer": _either(suspects), "module": _either(modules), "works": "a newer release"}

        def reword(text: str) -> str:
            return said(text.replace("{consumer} before {works}", "an older {consumer}"), {**self.place, **words})

        kept = [one for one in found.remedies if not _open(one.as_dict().values())]
        changed: Finding = found.replace(
            title=reword(self.texts["title"]), why=reword(self.texts["why"]), remedies=kept
        )
        return changed

    def _may_trip(self, consumer: str, snapshot: Snapshot) -> bool:
        line = self.texts["consumers"][consumer]
        return holds(["packages", [consumer], line["bad"], line["intervals"]], snapshot, Trace()) is not False


def _doubted(_kind: Kind[Any, Any], _key: Any, answer: Any) -> Any:
    """The answer of a search in a project with one more gap, since no search sees everything; others as they are."""
    more = "it was not seen in the project, which does not rule it out"
    return answer.replace(gaps=[*answer.gaps, more]) if isinstance(answer, Answer) else answer


def _with(
    found: Finding, symptom: symptoms.SymptomMatch, *, confirmed: bool | None, frames: Sequence[Evidence] = ()
) -> Finding:
    evidence = [*found.evidence, *(one for one in frames if one not in found.evidence)]
    changed: Finding = found.replace(matched=symptom.matched, confirmed=confirmed, evidence=evidence)
    return changed


def _is_where_it_failed(error_text: Any, snapshot: Snapshot, lines: Mapping[str, Any]) -> bool:
    """Whether the packages that a traceback runs through are installed in an environment, as far as is known.

    Where it is not known what can be imported, a distribution of the same name as one of them shows it, or a
    consumer, whose import name is in ``lines``.
    """
    names = packages_in(error_text)
    imported = {line["module"].partition(".")[0] for name, line in lines.items() if name in snapshot.packages}
    missing = not_named(error_text, snapshot) - imported
    answers = [snapshot.facts.ask(IMPORTABLE, name) for name in missing]
    known = [answer for answer in answers if not isinstance(answer, Unknown)]
    return all(known) and (len(missing) < len(names) or bool(known) or not names)


def _tripping(error_text: Any, lines: Mapping[str, Any]) -> list[str]:
    """The consumers that own the innermost frame that any of them owns, of each failure."""
    found: dict[str, None] = {}
    for failure in error_text.failures:
        owners = (_owners(getattr(frame, "module", None) or "", lines) for frame in reversed(failure.frames))
        found.update(dict.fromkeys(next(filter(None, owners), ())))
    return list(found)


def _owners(module: str, lines: Mapping[str, Any]) -> list[str]:
    """The consumers that a module belongs to: by their own import name, else by the first part of it."""
    exact = [name for name, line in lines.items() if f"{module}.".startswith(f"{line['module']}.")]
    top = module.partition(".")[0]
    return exact or [name for name, line in lines.items() if line["module"].partition(".")[0] == top]


def _named(error_text: Any, lines: Mapping[str, Any]) -> list[str]:
    """The consumers whose name, or import name, is a word of what failed, or begins a path."""
    said = "\n".join(failure.message for failure in error_text.failures)

    def is_named(word: str) -> bool:
        form = "[-_.]".join(map(re.escape, re.split(r"[-_.]", word)))
        return re.search(rf"(?i)(?<![\w./\\-]){form}(?![\w-])", said) is not None

    return [name for name, line in lines.items() if is_named(name) or is_named(line["module"])]


def _either(names: Sequence[str]) -> str:
    """``a``, ``a or b``, or ``a, b, c or one of 7 others``."""
    unique = list(dict.fromkeys(names))
    shown = unique[:MOST_NAMES] if len(unique) > MOST_NAMES + 1 else unique
    if len(shown) < len(unique):
        return f"{', '.join(shown)} or one of {len(unique) - len(shown)} others"
    return " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _ordered(offered: Iterable[Any], texts: Mapping[str, Any]) -> list[Any]:
    """Remedies of several consumers, each once, in the order in which the rule states their kinds."""
    kinds = [stated["kind"] for stated in texts["remedies"]]
    return sorted(dict.fromkeys(offered), key=lambda remedy: kinds.index(remedy.kind))


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


def _understood(error_text: Any) -> dict[str, Any]:
    """The content of the text for a report: the last exception, its innermost third-party frame, versions."""
    failures = [failure for failure in error_text.failures if failure.exception or failure.exit_signal]
    understood: dict[str, Any] = {"versions": dict(error_text.versions), "python": error_text.python}
    if failures:
        last = failures[-1]
        frames = [frame for frame in last.frames if getattr(frame, "package", None)]
        understood["exception"] = last.exception or last.exit_signal
        understood["message"] = last.message
        understood["frame"] = frames[-1].package if frames else None
    return understood
