"""What a proof does not show, each with its reason, and whether a rule needs it to be called proven."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.workshop.proof.ends import PYTHON
from envdoctor.workshop.proof.judge import OTHERWISE, UNPROVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.workshop.proof.measure import Survey
    from envdoctor.workshop.proof.trials import Trial

#: The kinds of what may be missing, in words.
KINDS = {
    "cell": "a cell could not be built",
    "elsewhere": "a cell is of another platform or build, or recorded with its source",
    "remedy": "a remedy could not be run",
    "index": "no index told the releases",
    "begins": "a range begins before the first release that fails as it says",
    "edge": "nothing past an edge was shown to work",
    "refused": "past an edge releases refuse each other by their metadata",
    "adjacent": "between the edge and what was shown lie versions that show nothing",
    "open": "beyond what was shown lie versions that show nothing",
    "severity": "the plain import failed in another way",
}


#: What uv says of two releases of which one does not take the other.
_REFUSED = re.compile(
    r"[Bb]ecause ([\w.-]+)==\S+ depends on ([\w.-]+?)(?:\{[^}]*\})?[<>=!~]\S* and you require "
    r"(?:\1==\S+ we can conclude that you require \2[<>=!~]\S* And because you require )?\2=="
)


def missing(
    survey: Survey, edges: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], planned: Sequence[Trial]
) -> Iterator[dict[str, Any]]:
    """Each thing that is missing: its ``kind``, ``what`` it is, ``why``, and whether it is ``needed``."""
    by_name = {trial.name: trial for trial in planned}
    firsts: set[str] = set()
    for row in rows:
        trial = by_name[row["trial"]]
        base = trial.name.partition(", then ")[0]
        is_first = trial.kind == "remedy" and base not in firsts
        firsts.update([base] if is_first else [])
        if row["verdict"] == UNPROVEN:
            yield from _of_trial(trial, str(row.get("reason")), is_first=is_first)
    for name in sorted(survey.unknown):
        yield {"kind": "index", "what": name, "why": KINDS["index"], "needed": True}
    reasons = {row["trial"]: row.get("reason") for row in rows}
    for edge in edges:
        yield from _of_edge(survey, edge, reasons)


def _of_trial(trial: Trial, why: str, *, is_first: bool) -> Iterator[dict[str, Any]]:
    if trial.kind == "severity":
        yield {"kind": "severity", "what": trial.name, "why": why, "needed": False}
    elif trial.kind == "remedy":
        needed = is_first and not trial.measured and not trial.unbuildable
        yield {"kind": "remedy", "what": trial.name, "why": why, "needed": needed}
    elif not trial.measured:
        elsewhere = bool(trial.recorded or trial.unbuildable)
        yield {"kind": "elsewhere" if elsewhere else "cell", "what": trial.name, "why": why, "needed": not elsewhere}


def _until(side: str, shown: str | None) -> str:
    if not shown:
        return ""
    return f", shown {'from' if side == 'lower' else 'to'} {shown}"


def _of_edge(survey: Survey, edge: Mapping[str, Any], reasons: Mapping[str, str | None]) -> Iterator[dict[str, Any]]:
    shown, wanted, is_open = edge.get("shown"), edge["at"], edge.get("open", False)
    axis = "Python" if edge["axis"] == PYTHON else edge["axis"]
    why = _reason(reasons, f", on {axis} {wanted}")
    if edge.get("unlike"):
        last = f"{axis} {edge['unlike'][-1]}"
        what = f"bad on {axis} {wanted}: begin it at >={shown}"
        why = f"on {last}: {_reason(reasons, f', on {last}')}"
        yield {"kind": "begins", "what": what, "why": why, "needed": True}
        return
    if shown == wanted or (axis == "Python" and is_open and not why.startswith(OTHERWISE)):
        return  # where nothing can be installed, nothing is missing
    refused = "refused" if _is_refused(edge["axis"], why) else "edge"
    kind = "open" if is_open else "adjacent" if shown else refused
    is_claimed = edge["side"] == "upper" or edge["axis"] not in survey.rule.consumers  # below a consumer nothing is
    until = _until(edge["side"], shown)
    what = f"{edge['kind']} on {axis} {wanted}{until}"
    yield {"kind": kind, "what": what, "why": why, "needed": kind == "edge" and is_claimed}


def _reason(reasons: Mapping[str, str | None], end: str) -> str:
    """Why a trial, by the end of its name, shows nothing."""
    return next((said for name, said in reasons.items() if name.endswith(end) and said), "not run")


def _is_refused(axis: str, why: str) -> bool:
    """Whether no installer brings a version of an axis together with what else a cell pins."""
    return any(axis in found.groups() for found in _REFUSED.finditer(why))
