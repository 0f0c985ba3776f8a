"""What a proof says on disk: ``<rule>.proof.json`` beside the rule. Only the runner writes it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from envdoctor.engine.wording import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.rulebase.rule import Rule

PROVEN, UNPROVEN, STALE, REFUTED = "proven", "unproven", "stale", "refuted"
#: A candidate of which a bad cell passes: the lead was followed, and is false.
DISPROVED = "disproved"
#: What "proven" means where a proof says so; without a number it is what it meant before there was a second meaning.
MEANING = 2
#: What of a rule a proof is about: a changed title does not make it stale.
_ABOUT = ("when", "consumers", "symptoms", "remedies", "proof")


def digest(rule: Rule, vocabulary: Mapping[str, Any]) -> str:
    """A name for what a rule states and what of the vocabulary it may mean by it."""
    stated = [[name, getattr(rule, name)] for name in _ABOUT if name != "remedies"]
    stated[1][1] = {name: _without_severity(line) for name, line in rule.consumers.items()}
    stated.insert(_ABOUT.index("remedies"), ["remedies", [_unbracketed(remedy) for remedy in rule.remedies]])
    words = {key: vocabulary.get(key) for key in ("families", "calls", "start_methods")}
    return _sum([stated, {key: value for key, value in words.items() if _mentioned(value, json.dumps(stated))}])


def _unbracketed(remedy: Mapping[str, Any]) -> dict[str, Any]:
    """A remedy with its words as if everything were known: which of them may be left out proves nothing."""
    return {key: whole(value) if key in {"text", "effect"} else value for key, value in remedy.items()}


def _without_severity(line: Mapping[str, Any]) -> dict[str, Any]:
    return {key: said for key, said in line.items() if key != "severity"}


def _mentioned(words: Any, stated: str) -> bool:
    return isinstance(words, dict) and any(json.dumps(word) in stated for word in words)


def _sum(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=list).encode()).hexdigest()[:32]


def document(
    rule: Rule, vocabulary: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], tools: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of a proof file; ``trials`` in the order in which they were planned.

    ``tools`` say with what they were run and, where edges were measured, ``edges`` and what is ``missing``.
    """
    found = {"rule": rule.id, "states": digest(rule, vocabulary), **tools, "trials": list(trials)}
    if _disproved(rule, trials):
        found = {"rule": rule.id, "outcome": DISPROVED, **found}
    return {**found, "sum": _sum(found)}


def with_installable(found: Mapping[str, Any], installable: Mapping[str, str]) -> dict[str, Any]:
    """A proof, as :func:`read` returned it, with the Pythons that its remedies need, by their requirements."""
    kept = {key: value for key, value in found.items() if key not in {"sum", "edited", "installable"}}
    made = {**kept, "installable": dict(installable)} if installable else kept
    return {**made, "sum": _sum(made)}


def _disproved(rule: Rule, trials: Sequence[Mapping[str, Any]]) -> bool:
    """Whether what a candidate calls bad was seen to work: such a trial showed no symptom."""
    wrong = [one for one in trials if one["kind"] == "bad" and one["verdict"] == "contradicts"]
    return rule.status == "candidate" and any(one.get("symptom") is None for one in wrong)


def dump(found: Mapping[str, Any]) -> str:
    """One line for each trial, so that a changed result is a changed line."""
    head = {key: value for key, value in found.items() if key not in _LISTS}
    text = json.dumps(head, indent=2, ensure_ascii=False)
    lists = [f',\n  "{name}": [\n{_lines(found[name])}  ]' for name in _LISTS if name in found]
    return text[: text.rindex("\n}")] + "".join(lists) + "\n}\n"


_LISTS = ("missing", "edges", "trials")


def _lines(rows: Sequence[Any]) -> str:
    return ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows) + ("\n" if rows else "")


def read(path: str) -> dict[str, Any] | None:
    """A proof file, or ``None`` where there is none. One that is damaged or was edited has ``edited`` set."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {"edited": True, "trials": []}
    if not isinstance(found, dict) or not isinstance(found.get("trials"), list):
        return {"edited": True, "trials": []}
    whole = {key: value for key, value in found.items() if key != "sum"}
    return {**found, "edited": found.get("sum") != _sum(whole)}


def status(rule: Rule, vocabulary: Mapping[str, Any], found: Mapping[str, Any] | None) -> str:
    """Whether a rule is ``proven``, ``unproven``, ``refuted`` by a trial, or has a ``stale`` proof.

    A candidate whose bad cell passes is ``disproved``.
    """
    if found is None:
        return UNPROVEN
    if found["edited"] or found.get("states") != digest(rule, vocabulary):
        return STALE
    if _disproved(rule, found["trials"]):
        return DISPROVED
    verdicts = [(trial["kind"], trial["verdict"]) for trial in found["trials"]]
    if any(verdict == "contradicts" for _, verdict in verdicts):
        return REFUTED
    if any(one["needed"] for one in found.get("missing", ())):
        return UNPROVEN
    return PROVEN if {("bad", "agrees"), ("good", "agrees")} <= set(verdicts) else UNPROVEN
