"""Holds what came out of a trial against what was stated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from envdoctor.engine import symptoms
from envdoctor.engine.explanation import stated
from envdoctor.probes.error_text import read
from envdoctor.workshop.proof.sandbox import SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envdoctor.workshop.proof.trials import Trial

#: The verdicts on a trial: as stated, not as stated, or not run.
AGREES, CONTRADICTS, UNPROVEN = "agrees", "contradicts", "unproven"
#: What stands for a program that does not end.
HANG = "hang"
_LINE = 200


def judge(trial: Trial, told: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict on a trial, the symptom that was seen and, where it does not agree, why.

    ``texts`` is the compiled rule, whose symptoms a bad cell must show that states no failure of its own. That a
    program does not end tells something only of a rule that is about a hang: any other may have been slow.
    """
    if told["outcome"] == "unbuilt":
        return {"verdict": UNPROVEN, "symptom": None, "reason": told["reason"]}
    seen = symptom(told)
    if seen == HANG and HANG not in {texts["impact"], trial.raises}:
        return {"verdict": UNPROVEN, "symptom": None, "reason": f"it had not ended after {SECONDS} seconds"}
    wrong = _wrong(trial, told, texts, seen) or _unseen(trial, told)
    if wrong and told.get("installing") and _GONE.search(told["output"]):
        return {"verdict": UNPROVEN, "symptom": seen, "reason": f"nothing was there to install: {seen}"}
    return {"verdict": CONTRADICTS if wrong else AGREES, "symptom": seen, "reason": wrong}


#: What pip says of a release that the index does not have, or does not have for this interpreter.
_GONE = re.compile(r"No matching distribution found|Could not find a version that satisfies")


def _unseen(trial: Trial, told: Mapping[str, Any]) -> str | None:
    """Why what envdoctor found in the environment is not what is stated, if it is not."""
    if trial.examines is None:
        return None
    stated, found = trial.finding or {}, told["findings"]
    there = [one for one in found if stated.items() <= one.items()]
    if trial.kind == "bad":
        said = ", ".join(f"{name} {value}" for name, value in stated.items())
        return None if there else f"envdoctor finds nothing there that is {trial.examines}: {said}"
    left = there if trial.kind == "remedy" else found
    return f"envdoctor finds that {left[0]['distribution']} is {trial.examines}" if left else None


def _wrong(trial: Trial, told: Mapping[str, Any], texts: Mapping[str, Any], seen: str | None) -> str | None:
    """Why a trial that was run is not as stated, if it is not."""
    passed = told["outcome"] == "passed"
    if trial.kind == "remedy":
        return None if passed else f"the remedy does not cure it: {seen}"
    if trial.kind == "good":
        return None if passed else f"it should pass, and it fails: {seen}"
    if passed:
        return "it should fail, and it passes"
    if trial.raises is not None:
        return None if shows(told, trial.raises) else f"it should fail with `{trial.raises}`, not with `{seen}`"
    if texts["symptoms"] and not _known(told, texts):
        return f"it fails with `{seen}`, which is none of the rule's symptoms"
    return None


def shows(told: Mapping[str, Any], raises: str) -> bool:
    """Whether a failure is the one that is stated: ``Type: start of message``, a signal, or ``hang``."""
    wanted = raises.strip()
    if wanted == HANG or told["outcome"] == "timeout":
        return wanted == HANG and told["outcome"] == "timeout"
    if told.get("signal") == wanted:
        return True
    name, _, message = wanted.partition(":")
    pattern = re.compile(rf"(?:[\w.]+\.)?{re.escape(name.rpartition('.')[2])}(?::\s*{_loosely(message)}|\s*$)")
    return any(pattern.match(line.strip(" |+")) for line in told["output"].splitlines()) or (
        "\n" in message and _loosely_in(wanted, told["output"])
    )


def _loosely(message: str) -> str:
    """The first line of a message as an expression that minds no amount of white space."""
    first = message.strip().partition("\n")[0]
    return r"\s+".join(re.escape(word) for word in first.split())


def _loosely_in(wanted: str, output: str) -> bool:
    return " ".join(wanted.split()) in " ".join(output.split())


def _known(told: Mapping[str, Any], texts: Mapping[str, Any]) -> bool:
    if told["outcome"] == "timeout":
        return True  # of a rule about a hang
    said = told["output"] + (f"\n{_SAID[told['signal']]}\n" if told.get("signal") in _SAID else "")
    return bool(symptoms.rank(stated([texts]), read(said)))


#: What a shell says of a program that a signal ended.
_SAID = {"SIGSEGV": "Segmentation fault (core dumped)", "SIGABRT": "Aborted (core dumped)", "SIGBUS": "Bus error"}


def symptom(told: Mapping[str, Any]) -> str | None:
    """How a trial failed, in one line: the exception and its message, or the signal."""
    if told["outcome"] == "timeout":
        return HANG
    if told["outcome"] != "failed":
        return None
    if told.get("signal"):
        return str(told["signal"])
    failures = [one for one in read(told["output"]).failures if one.exception]
    if failures:
        last = failures[-1]
        return " ".join(f"{last.exception}: {last.message}".rstrip(": ").split())[:_LINE]
    lines: list[str] = [line.strip() for line in told["output"].splitlines() if line.strip()]
    return (lines or ["it said nothing"])[-1][:_LINE]
