"""How far a rule may speak: what its author states of it, and what follows from its proof.

A **stable** rule is proven; a **reported** one is cited and not proven, and is a warning at most; a **candidate** is
silent unless asked for, and never more than a warning; a **retired** one never holds and keeps its id from being used
again. Only the last two are stated.
"""

from __future__ import annotations

from typing import Any

from envdoctor.rulebase import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from envdoctor.rulebase.rule import Rule

STABLE, REPORTED, CANDIDATE, RETIRED = "stable", "reported", "candidate", "retired"
#: What an author writes, and all there is.
STATED = (CANDIDATE, RETIRED)
STATUSES = (STABLE, REPORTED, CANDIDATE, RETIRED)


def of(rule: Rule, proof: str) -> str:
    """The status of a rule whose proof has some status, as :func:`.record.status` returns it."""
    if rule.status in STATED:
        return rule.status
    return STABLE if proof == record.PROVEN else REPORTED


def severity(rule: Rule, status: str, *, own: bool = False) -> str:
    """The severity that findings have. ``own`` rules are a user's: who wrote them answers for what they state."""
    trusted = status == STABLE or (own and status == REPORTED)
    return rule.severity if trusted or rule.severity != "error" else "warning"


def silent(status: str) -> bool:
    """Whether a rule of this status stays out of ordinary runs."""
    return status in STATED


def of_base(rules: Mapping[str, Rule]) -> dict[str, Any]:
    """The rules by id that other rules have to agree with: those that may hold in an ordinary run."""
    return {name: rule for name, rule in rules.items() if not silent(rule.status)}
