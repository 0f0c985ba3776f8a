"""Reads the remedies of a rule: the values of the verbs, and what any remedy may say besides."""

from __future__ import annotations

import re
from typing import Any

from packaging.requirements import Requirement

from envdoctor.model import SAFETIES
from envdoctor.remedy_kinds import KINDS
from envdoctor.rulebase.document import shorten
from envdoctor.rulebase.placeholders import filled
from envdoctor.rulebase.values import complain_of_specifier, read_name
from envdoctor.rulebase.when_tree import read_condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envdoctor.rulebase.document import Node

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_REQUIREMENT_LENGTH = 300


def read_remedies(node: Node) -> list[dict[str, Any]]:
    """The remedies of a rule, best first; their shape is given with :class:`~envdoctor.rulebase.rule.Rule`."""
    items = node.items()
    if isinstance(node.value, list) and not items:
        node.complain("`remedies` needs at least one; write `- upgrade: name>=1.2`, or `- change: what to do`")
    return [_remedy(item) for item in items]


def _remedy(node: Node) -> dict[str, Any]:
    fields = node.fields([*KINDS, *MODIFIERS, "with"])
    verbs = [word for word in fields if word in KINDS]
    if len(verbs) != 1:
        node.complain(f"a remedy needs exactly one verb, here it has {len(verbs)}; one of: {', '.join(KINDS)}")
        return {}
    verb, row = verbs[0], KINDS[verbs[0]]
    remedy = {"kind": verb, **row.function("reads")(fields[verb])}
    if row.instead:
        _with(node, fields, remedy)
    elif "with" in fields:
        fields["with"].complain("`with` belongs to `replace`; leave it out")
    remedy["safety"] = row.safety
    remedy["at"] = "run"
    remedy.update({word: MODIFIERS[word](fields[word]) for word in MODIFIERS if word in fields})
    if remedy["safety"] == "workaround" and "effect" not in remedy and isinstance(node.value, dict):
        node.complain("a workaround works at a cost; say it: `effect: what is slower or lost`")
    return remedy


def _with(node: Node, fields: Mapping[str, Node], remedy: dict[str, Any]) -> None:
    if "with" in fields:
        remedy.update(requirements(fields["with"]))
    else:
        node.complain("`replace` needs what to install instead; add `with: name>=1.2`")


def bounded(node: Node) -> dict[str, Any]:
    """Requirements that make no sense without a version."""
    return requirements(node, bounded=True)


def requirements(node: Node, *, bounded: bool = False) -> dict[str, Any]:
    """One requirement, or several."""
    items = node.items_or_self()
    if not items:
        node.complain(f"`{node.name()}` needs a requirement such as name>=1.2")
    found = [_requirement(item, bounded=bounded) for item in items]
    return {"requirements": found} if len(found) > 1 else {"requirement": "".join(found)}


def _requirement(node: Node, *, bounded: bool) -> str:
    """A PEP 508 requirement without marker; ``bounded`` where the verb makes no sense without a version."""
    text = node.text().strip()
    if not text:
        return ""
    example = filled(text)
    try:
        parsed = Requirement(example if len(example) <= _REQUIREMENT_LENGTH else "?")
    except (ValueError, RecursionError):
        node.complain(f"`{shorten(text)}` is not a requirement; write one such as name>=1.2")
        return ""
    if parsed.marker is not None:
        node.complain("a remedy's requirement takes no marker; say where to offer it with `when:`")
    if str(parsed.specifier):
        complain_of_specifier(node, str(parsed.specifier))
    elif bounded and not parsed.url and "{requirement}" not in text:
        node.complain(f"`{node.name()}` needs a version; write `{shorten(text)}>=1.2`, or use `install`")
    return text


def distributions(node: Node) -> dict[str, Any]:
    """The names of distributions."""
    items = node.items_or_self()
    if not items:
        node.complain(f"`{node.name()}` needs the name of a distribution")
    found = []
    for item in items:
        text = item.text().strip()
        name = read_name(item, filled(text)) if text else ""
        found.append(text if "{" in text else name)
    return {"package": " ".join(found)}


def entry(node: Node) -> dict[str, Any]:
    """An entry of a configuration file, and its value."""
    fields = node.fields(("file", "key", "to"), needed=("file", "key", "to"))
    found: dict[str, Any] = {key: fields[key].text() for key in ("file", "key") if key in fields}
    if "to" in fields:
        found["to"] = fields["to"].value
        if isinstance(found["to"], (dict, list)):
            fields["to"].complain("`to` takes one value; write a further remedy for each further entry")
    return found


def variable(node: Node) -> dict[str, Any]:
    """An environment variable, and its value."""
    entries = node.entries()
    if len(entries) > 1:
        node.complain("`setenv` takes one variable; write a remedy for each")
    for name, child in entries.items():
        if not _VARIABLE.fullmatch(name):
            child.complain(f"`{shorten(name)}` is not the name of an environment variable")
        return {"name": name, "to": child.text()}
    return {}


def text(node: Node) -> dict[str, Any]:
    """What to do, in words."""
    return {"text": node.text()}


#: What any remedy may say besides.
MODIFIERS: dict[str, Callable[[Node], Any]] = {
    "when": read_condition,
    "safety": lambda node: node.choice(SAFETIES),
    "effect": lambda node: node.text(),
    "at": lambda node: node.choice(("run", "build")),
}
