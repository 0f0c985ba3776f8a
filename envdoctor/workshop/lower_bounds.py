"""Writes into the file of a rule where its ranges begin, as its proof has measured."""

from __future__ import annotations

import re
from typing import Any

from packaging.version import Version

from envdoctor.engine.versions import within
from envdoctor.rulebase.when_tree import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.rulebase.rule import Rule


def unlike(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The lower ends of ranges, as a proof records them, at which a release works or fails in another way."""
    yield from (edge for edge in found.get("edges", ()) if edge.get("unlike"))


def begun(text: str, rule: Rule, axis: str, first: str) -> str | None:
    """The text of a rule in which the range of an axis begins at a release; layout and comments are kept.

    ``None`` where the rule does not state one range of that axis in which the release is.
    """
    places = [one for one in _places(rule, axis) if within(first, one[1])]
    if len(places) != 1:
        return None
    (line, stated, key), lines = places[0], text.split("\n")
    quoted = re.compile(
        rf"(?<![\w.-])[\"']?{re.escape(key)}[\"']?:\s*(?:\"{re.escape(stated)}\"|'{re.escape(stated)}'|present\b)"
    )
    rest = "\n".join(lines[line - 1 :])
    there = quoted.search(rest)
    if there is None:
        return None
    said = re.sub(r"(:\s*).*", rf'\g<1>"{_from(stated, first)}"', there[0], flags=re.DOTALL)
    changed = rest[: there.start()] + said + rest[there.end() :]
    return "\n".join([*lines[: line - 1], changed])


def _places(rule: Rule, axis: str) -> Iterator[tuple[int, str, str]]:
    """Where a rule states a range of a distribution: the line, the specifier, and the key that it is the value of."""
    if axis in rule.consumers:
        yield rule.line("consumers", axis), rule.consumers[axis]["bad"], "bad"
    for leaf in leaves(rule.when, ("when",)):
        if (leaf.fact, leaf.key, leaf.negated) == ("packages", axis, False) and leaf.value != "absent":
            yield rule.line(*leaf.where), "" if leaf.value == "present" else leaf.value, axis


def _from(specifier: str, first: str) -> str:
    """A specifier that begins at a release, without what it says of older ones."""
    kept = [one.strip() for one in specifier.split(",") if one.strip() and not _is_below(one.strip(), first)]
    return ",".join([f">={first}", *kept])


def _is_below(clause: str, first: str) -> bool:
    """Whether a clause only says something of what is older than a release."""
    version = clause.lstrip("<>=!~").strip()
    return clause.startswith(">") or (
        clause.startswith("!=") and "*" not in version and Version(version) < Version(first)
    )
