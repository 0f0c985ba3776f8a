"""Runs the trials of rules side by side, remembers each result as it comes, and writes the proofs."""

from __future__ import annotations

import concurrent.futures
import datetime as dt
import os
import platform
from typing import Any

from packaging.utils import canonicalize_version

from envdoctor._version import __version__
from envdoctor.model import Record
from envdoctor.probes import cache
from envdoctor.remedies.words import names
from envdoctor.rulebase import record
from envdoctor.rulebase import status as statuses
from envdoctor.rulebase.compile import compile_rule
from envdoctor.rulebase.sources import proof_of
from envdoctor.workshop import every_release, installable
from envdoctor.workshop.proof import build, far_cures, gaps, locks, measure, processes, pythons, trials
from envdoctor.workshop.proof.judge import CONTRADICTS, OTHERWISE, UNPROVEN, judge, through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Protocol

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.trials import Trial

    class Watch(Protocol):
        """Sees each trial that is done."""

        def __call__(self, trial: Trial, *, failed: bool, seconds: float | None) -> None:
            """Take note of one."""

    #: Runs many trials and gives each with its result as it comes.
    Pool = Callable[[Sequence[Trial]], Iterator[tuple[Trial, dict[str, Any]]]]

#: Days for which a result is remembered, so that an interrupted run goes on where it stopped.
DAYS = 7
#: Which way of building found that something cannot be built: what another found impossible is tried again.
BUILDS = 2
_AGES = 365_000


class Verified(Record):
    """The proof of one rule after a run."""

    rule: Rule
    status: str
    trials: Sequence[Mapping[str, Any]]
    missing: Sequence[Mapping[str, Any]] = ()
    ran: int = 0


def local_pool(jobs: int, *, offline: bool, begin: Callable[[Trial], None] | None = None) -> Pool:
    """Trials on this machine, so many at a time; when the run is interrupted, none of them goes on.

    ``begin`` sees each trial when it begins, in the thread that runs it.
    """

    def run_one(trial: Trial) -> dict[str, Any]:
        if begin is not None:
            begin(trial)
        return build.run_trial(trial, offline=offline)

    def run(planned: Sequence[Trial]) -> Iterator[tuple[Trial, dict[str, Any]]]:
        build.uv()  # looking for it is not for several threads at once
        executor = concurrent.futures.ThreadPoolExecutor(jobs)
        waiting = {executor.submit(run_one, trial): trial for trial in planned}
        refused = None
        try:
            for done in concurrent.futures.as_completed(waiting):
                if done.exception() is None:
                    yield waiting[done], done.result()
                elif not isinstance(done.exception(), processes.StoppedError):
                    refused = refused or done.exception()
                    processes.stop()  # and what is done by now is given all the same
        except BaseException:
            processes.stop()
            raise
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
        if refused is not None:
            raise refused

    return run


def outdated(rules: Sequence[Rule], vocabulary: Mapping[str, Any]) -> list[Rule]:
    """The rules whose proof is missing, stale or edited."""
    found = [(rule, record.read(proof_of(rule.path))) for rule in rules]
    return [rule for rule, proof in found if proof is None or record.status(rule, vocabulary, proof) == record.STALE]


def aged(rules: Sequence[Rule], days: int, today: dt.date | None = None) -> list[Rule]:
    """The rules whose proof was run more than so many days ago, the oldest first; of a damaged one it is not known."""
    last = (today or dt.datetime.now(dt.timezone.utc).date()) - dt.timedelta(days=min(days, _AGES))
    found = []
    for rule in rules:
        proof = record.read(proof_of(rule.path))
        if proof is not None and proof.get("date", "") < last.isoformat():
            found.append((proof.get("date", ""), rule.id, rule))
    return [rule for _, _, rule in sorted(found, key=lambda one: one[:2])]


def _at_hand() -> list[str]:
    """The Pythons, as ``X.Y``, of which an interpreter is found."""
    return sorted({".".join(version.split(".")[:2]) for version in pythons.found()})


class Run:
    """One run over some rules: what is planned, what has come out, and the proofs it writes.

    ``versions`` restricts the trials to interpreters ``X.Y``; then no proof is written, since it would be a part of
    one. ``again`` runs what is remembered too, and ``locked`` in the releases that the proof records, as of its day.
    What is measured is planned from what has come out so far.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        vocabulary: Mapping[str, Any],
        *,
        versions: Sequence[str] = (),
        again: bool = False,
        locked: bool = False,
    ) -> None:
        at_hand = _at_hand()
        self.rules = {rule.id: rule for rule in rules}
        self.vocabulary = vocabulary
        self.partial = bool(versions)
        self.again = again or locked
        self.locks = {rule.id: locks.Locks(record.read(proof_of(rule.path)) if locked else None) for rule in rules}
        self.plans = {rule.id: _restricted(trials.plan(rule, vocabulary, at_hand), versions) for rule in rules}
        self.surveys = {
            rule.id: measure.Survey(rule, vocabulary, at_hand, self.locks[rule.id].as_of(every_release.everything))
            for rule in rules
            if rule.status != statuses.CANDIDATE and not versions
        }
        self.texts = {rule.id: compile_rule(rule, vocabulary) for rule in rules}
        self.results: dict[str, dict[str, Mapping[str, Any]]] = {rule.id: {} for rule in rules}
        self.ran = dict.fromkeys(self.rules, 0)
        self.todo: dict[str, list[Trial]] = {}
        for name in self.rules:
            self._take(self.plans[name])
            self._go_on(name)

    def _take(self, planned: Sequence[Trial]) -> None:
        """Answer trials by what is known of them, and keep the others to be run."""
        for trial in planned:
            result = _without_running(trial) or (None if self.again else self._decided(trial))
            if result is not None:
                self.results[trial.rule][trial.name] = result
            else:
                locked = self.locks[trial.rule].locked(trial)
                self.todo.setdefault(locked.key(), []).append(locked)

    def _go_on(self, name: str) -> None:
        """Plan what is still to be measured of a rule, as long as what is known tells of more."""
        while name in self.surveys and self._is_done(name):
            known = {trial.name for trial in self.plans[name]}
            wanted = self.surveys[name].plan(lambda one: self._verdict(name, one))
            more = [one for one in wanted if one.name not in known]
            if not more:
                break
            self.plans[name] += more
            self._take(more)

    def _verdict(self, name: str, trial: str) -> str | None:
        result = self.results[name].get(trial)
        if result is None:
            return None
        planned = next(one for one in self.plans[name] if one.name == trial)
        found = judge(planned, result, self.texts[name])
        return OTHERWISE if str(found["reason"]).startswith(OTHERWISE) else str(found["verdict"])

    def verify(self, pool: Pool, watch: Watch, more: Callable[[int], object] = int) -> Iterator[Verified]:
        """Run what has to be run, giving each rule when its last trial is done.

        ``watch`` sees each trial, and ``more`` how many came out to be needed besides.
        """
        for rule in self.rules:
            if self._is_done(rule):
                yield self._finish(rule)
        while self.todo:
            batch, self.todo = self.todo, {}
            for trial, result in pool([same[0] for same in batch.values()]):
                alike = batch[trial.key()]
                verdicts = {judge(one, result, self.texts[one.rule])["verdict"] for one in alike}
                remember(trial, result)
                watch(trial, failed=CONTRADICTS in verdicts, seconds=result.get("seconds"))
                for same in alike:
                    self.results[same.rule][same.name] = result
                    self.ran[same.rule] += 1
                    if self._is_done(same.rule):
                        self._go_on(same.rule)
                        if self._is_done(same.rule):
                            yield self._finish(same.rule)
            more(len(self.todo))

    def _decided(self, trial: Trial) -> Mapping[str, Any] | None:
        """A remembered result that decides something; one that does not, as of a slow program, is tried again."""
        result = remembered(trial)
        undecided = result is not None and judge(trial, result, self.texts[trial.rule])["verdict"] == UNPROVEN
        return None if undecided and not trial.measured else result

    def _is_done(self, rule: str) -> bool:
        return len(self.results[rule]) == len(self.plans[rule])

    def _finish(self, name: str) -> Verified:
        rule, planned = self.rules[name], self.plans[name]
        rows = [_row(trial, self.results[name][trial.name], self.texts[name]) for trial in planned]
        rows = [self.locks[name].held_against(row) for row in rows]
        path = proof_of(rule.path)
        told = {**tools(), **self._installable(rule, path), **self._measured(name, rows)}
        found = record.document(rule, self.vocabulary, rows, told)
        if planned and not self.partial:
            with build.writing("a proof", path):
                build.write(path + ".new", record.dump(found))
                os.replace(path + ".new", path)
        status = record.status(rule, self.vocabulary, {**found, "edited": False})
        return Verified(rule=rule, status=status, trials=rows, missing=found.get("missing", ()), ran=self.ran[name])

    def _installable(self, rule: Rule, path: str) -> dict[str, Any]:
        """Where the remedies of a rule can be installed: as the index says, else as it was recorded."""
        found = installable.recorded(rule, self.vocabulary, every_release.everything)
        kept = (record.read(path) or {}).get("installable", {}) if found is None else found
        return {"installable": kept} if kept else {}

    def _measured(self, name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What a proof tells besides its trials: what it means, the edges, and what is missing."""
        if name not in self.surveys:
            return {}
        survey = self.surveys[name]
        edges = survey.edges(lambda one: self._verdict(name, one))
        left = list(gaps.missing(survey, edges, rows, self.plans[name]))
        late = {row["trial"] for row in rows if build.TOOK_LONGER in str(row.get("reason"))}  # which tells nothing
        cures = far_cures.not_everywhere(survey, lambda one: None if one in late else self._verdict(name, one))
        return {"meaning": record.MEANING, "edges": edges, "missing": left, **({"cures": cures} if cures else {})}


def _restricted(planned: Sequence[Trial], versions: Sequence[str]) -> list[Trial]:
    return [one for one in planned if not versions or any(_in(one.place.python, version) for version in versions)]


def _in(python: str, version: str) -> bool:
    return f"{python}.".startswith(f"{version}.")


def _without_running(trial: Trial) -> dict[str, Any] | None:
    """The result of a trial that is not run."""
    if trial.recorded is not None:
        return {"outcome": "unbuilt", "reason": f"it is recorded: {trial.recorded}"}
    if trial.unbuildable is not None:
        return {"outcome": "unbuilt", "reason": trial.unbuildable}
    return None


def _row(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    """One trial as a proof tells it."""
    row = {"trial": trial.name, "kind": trial.kind, **judge(trial, result, texts)}
    row["consumer"] = trial.consumer if trial.kind == "severity" else None
    row["measured"] = trial.measured or None
    row["python"] = result.get("python")
    row["installed"] = result.get("installed")
    row["isolated"] = result.get("isolated")
    row["findings"] = result.get("findings") or None
    row["through"] = (through(result) if trial.kind == "bad" and result["outcome"] == "failed" else None) or None
    row["moved"] = _moved(trial, result, texts) or None
    kept = ("trial", "kind", "verdict")
    return {name: value for name, value in row.items() if name in kept or value is not None}


def _moved(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> list[str]:
    """What a rule is about that a remedy moved without naming it: the resolver avoids the pair, and proves no more."""
    wanted = set(names(trial.applies)) if trial.applies else set()
    stated = dict(text.split("==", 1) for text in trial.place.install if "==" in text)
    there = dict(text.split("==", 1) for text in result.get("installed", ()))
    about = {*texts["packages"], *texts["consumers"]} - wanted if trial.applies else set()
    return [
        f"{name} {stated[name]} to {there[name]}"
        for name in sorted(about & stated.keys() & there.keys())
        if canonicalize_version(stated[name]) != canonicalize_version(there[name])
    ]


def tools() -> dict[str, str]:
    """Where and with what trials are run."""
    libc = " ".join(filter(None, platform.libc_ver()))
    return {
        "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
        "platform": " ".join(filter(None, [platform.system().lower(), platform.machine(), libc])),
        "envdoctor": __version__,
        "uv": build.uv_version(),
    }


# --- what is remembered ---------------------------------------------------------------------------------------------


def _place(trial: Trial) -> str:
    return os.path.join(cache.directory(), "trials", trial.key() + ".json")


def remembered(trial: Trial) -> dict[str, Any] | None:
    """The result of the same trial of a few days ago; one that could not be built is tried again."""
    result: dict[str, Any] | None = cache.remembered(_place(trial), shape=dict)
    if result is None or (trial.place.wheels and result["outcome"] == "unbuilt" and result.get("builds") != BUILDS):
        return None
    at = dt.datetime.fromisoformat(result["at"])
    return result if dt.datetime.now(dt.timezone.utc) - at < dt.timedelta(days=DAYS) else None


def remember(trial: Trial, result: Mapping[str, Any]) -> None:
    """Keep a result; that something could not be built, where that was measured and not for want of the Python."""
    if result["outcome"] != "unbuilt" or (trial.measured and pythons.find(trial.place.python)):
        at = dt.datetime.now(dt.timezone.utc).isoformat()
        cache.remember(_place(trial), {**result, "at": at, "builds": BUILDS})
