"""Holds what came out of a trial against what was stated."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine import symptoms
from envdoctor.engine.explanation import stated
from envdoctor.probes.error_text import read
from envdoctor.workshop.proof import scripts, severity
from envdoctor.workshop.proof.sandbox import SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from envdoctor.probes.error_text import Failure, Frame
    from envdoctor.workshop.proof.trials import Trial

#: The verdicts on a trial: as stated, not as stated, or not run.
AGREES, CONTRADICTS, UNPROVEN = "agrees", "contradicts", "unproven"
#: The outcome of a program that does not end.
HANG = "hang"
#: How the reason begins of a trial that fails, and does not show the rule's symptom.
OTHERWISE = "it fails in another way"
_LINE = 200


def judge(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict on a trial, the symptom that was seen and, where it does not agree, why.

    ``texts`` is the compiled rule, whose symptoms a bad cell must show that states no failure itself. That a
    program does not end tells something only of a rule that is about a hang: any other may have been slow.
    """
    seen = _failed_by(trial, result, texts)
    undecided = _undecided(trial, result, texts, seen)
    if undecided is not None:
        return {"verdict": UNPROVEN, "symptom": None, "reason": undecided}
    if trial.kind == "severity":
        broken = severity.breaks(result) if seen else None
        return {"verdict": AGREES, "symptom": seen, "reason": None, "breaks": broken}
    wrong = (
        _wrong(trial, result, texts, seen)
        or _unseen(trial, result)
        or _without(result)
        or _by_script(trial, result, texts)
    )
    if wrong and result.get("installing") and _GONE.search(result["output"]):
        return {"verdict": UNPROVEN, "symptom": seen, "reason": f"nothing was there to install: {seen}"}
    return {"verdict": CONTRADICTS if wrong else AGREES, "symptom": seen, "reason": wrong}


def _failed_by(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> str | None:
    """How a trial failed: by the exception that the rule knows, else by a line that it does, else by the last."""
    last = symptom(result)
    if trial.kind != "bad" or last is None or known_by(last, trial, texts):
        return last
    lines = [_line(one) for one in read(result["output"]).failures if one.exception]
    lines += [line.strip()[:_LINE] for line in result["output"].splitlines()]
    return next((line for line in lines if known_by(line, trial, texts)), last)


def _undecided(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any], seen: str | None) -> str | None:
    """Why a trial tells nothing, if it does not: it was not run, or failed as the rule does not say."""
    if result["outcome"] == "unbuilt":
        return str(result["reason"])
    if seen == HANG and HANG not in {texts["impact"], trial.raises}:
        return f"it had not ended after {SECONDS} seconds"
    is_probe = trial.measured or trial.kind == "severity"
    return f"{OTHERWISE}: {seen}" if is_probe and seen and not _shown(trial, result, texts) else None


#: What pip says of a release that the index does not have, or does not have for this interpreter.
_GONE = re.compile(r"No matching distribution found|Could not find a version that satisfies")


def _unseen(trial: Trial, result: Mapping[str, Any]) -> str | None:
    """Why what envdoctor found in the environment is not what is stated, if it is not."""
    if trial.examines is None:
        return None
    stated, found = trial.finding or {}, result["findings"]
    there = [one for one in found if stated.items() <= one.items()]
    if trial.kind == "bad":
        said = ", ".join(f"{name} {value}" for name, value in stated.items())
        return None if there else f"envdoctor finds nothing there that is {trial.examines}: {said}"
    left = there if trial.kind == "remedy" else found
    return f"envdoctor finds that {left[0]['distribution']} is {trial.examines}" if left else None


def _wrong(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any], seen: str | None) -> str | None:
    """Why a trial that was run is not as stated, if it is not."""
    passed = result["outcome"] == "passed"
    if trial.kind == "remedy":
        return None if passed else f"the remedy does not cure it: {seen}"
    if trial.kind == "good":
        return None if passed else f"it should pass, and it fails: {seen}"
    if passed:
        return "it should fail, and it passes"
    if trial.raises is not None and not trial.measured:
        return None if shows(result, trial.raises) else f"it should fail with `{trial.raises}`, not with `{seen}`"
    if not _shown(trial, result, texts):
        return f"it fails with `{seen}`, which is none of the rule's symptoms"
    return None


def shows(result: Mapping[str, Any], raises: str) -> bool:
    """Whether a failure is the one that is stated: ``Type: start of message``, a signal, or ``hang``."""
    wanted = raises.strip()
    if wanted == HANG or result["outcome"] == "timeout":
        return wanted == HANG and result["outcome"] == "timeout"
    if result.get("signal") == wanted:
        return True
    name, _, message = wanted.partition(":")
    pattern = re.compile(rf"(?:[\w.]+\.)?{re.escape(name.rpartition('.')[2])}(?::\s*{_loosely(message)}|\s*$)")
    return any(pattern.match(line.strip(" |+")) for line in result["output"].splitlines()) or (
        "\n" in message and _loosely_in(wanted, result["output"])
    )


def _loosely(message: str) -> str:
    """The first line of a message as an expression that minds no amount of white space."""
    first = message.strip().partition("\n")[0]
    return r"\s+".join(re.escape(word) for word in first.split())


def _loosely_in(wanted: str, output: str) -> bool:
    return " ".join(wanted.split()) in " ".join(output.split())


def known_by(seen: str, trial: Trial | None, texts: Mapping[str, Any]) -> bool:
    """Whether a symptom on record is one of the rule, or what the cell of a trial states."""
    result = {
        "outcome": "timeout" if seen == HANG else "failed",
        "output": seen,
        "signal": seen if seen in _SAID else None,
    }
    stated_so = trial is not None and trial.raises is not None and shows(result, trial.raises)
    return stated_so or known(result, texts)


def _shown(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> bool:
    """Whether a failure is the rule's: by its symptoms, or as the cell states it that was moved."""
    return known(result, texts) or (trial.raises is not None and shows(result, trial.raises))


def _without(result: Mapping[str, Any]) -> str | None:
    """Why a remedy cures nothing after which the script merely goes without what it is about."""
    return f"after the remedy nothing is left to import as {', '.join(result['lost'])}" if result.get("lost") else None


def _by_script(trial: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> str | None:
    """Why a failure is none of a library, if the script itself raises it."""
    if trial.kind != "bad" or trial.installs or texts["impact"] in _BY_VALUE or texts["packages"] == []:
        return None
    failures = [one for one in read(result["output"]).failures if one.exception and one.frames]
    code = (failures[-1].frames[-1].code or "") if failures and _is_script(failures[-1].frames[-1]) else ""
    return f"the script raises it itself: {code}" if scripts.raises(code) else None


#: The impacts that a script can only see by looking at a value.
_BY_VALUE = {"wrong-result", "slow", "hang"}


def _is_script(frame: Frame) -> bool:
    return frame.file.replace("\\", "/").rpartition("/")[2] == ".script.py"


def known(result: Mapping[str, Any], texts: Mapping[str, Any]) -> bool:
    """Whether a failure is one of a rule's symptoms; of a rule that states none every failure is."""
    if not texts["symptoms"]:
        return True
    if result["outcome"] == "timeout":
        return True  # of a rule about a hang
    said = result["output"] + (f"\n{_SAID[result['signal']]}\n" if result.get("signal") in _SAID else "")
    return bool(symptoms.rank(stated([texts]), read(said)))


#: What a shell says of a program that a signal ended.
_SAID = {"SIGSEGV": "Segmentation fault (core dumped)", "SIGABRT": "Aborted (core dumped)", "SIGBUS": "Bus error"}


def _line(failure: Failure) -> str:
    return " ".join(f"{failure.exception}: {failure.message}".rstrip(": ").split())[:_LINE]


def through(result: Mapping[str, Any]) -> list[str]:
    """The installed packages whose frames are in the last traceback of a failure, by their import names."""
    failures = [one for one in read(result.get("output", "")).failures if one.frames]
    found = [frame.package for one in failures for frame in one.frames if frame.package]
    return list(dict.fromkeys(found))


def symptom(result: Mapping[str, Any]) -> str | None:
    """How a trial failed, in one line: the exception and its message, or the signal."""
    if result["outcome"] == "timeout":
        return HANG
    if result["outcome"] != "failed":
        return None
    if result.get("signal"):
        return str(result["signal"])
    failures = [one for one in read(result["output"]).failures if one.exception]
    if failures:
        return _line(failures[-1])
    lines: list[str] = [line.strip() for line in result["output"].splitlines() if line.strip()]
    return (lines or ["it said nothing"])[-1][:_LINE]
