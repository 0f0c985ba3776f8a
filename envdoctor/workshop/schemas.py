"""Writes into the JSON Schemas what follows from the rows of facts and of remedies.

python -m envdoctor.workshop.schemas [DIRECTORY]      (default: the current one, a checkout)

What is said of each part of a fact or of a document besides is written in the schemas by hand, and stays.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from envdoctor.facts import OF_METADATA, RECORDED, WORDS
from envdoctor.model import IMPACTS, SAFETIES, SEVERITIES
from envdoctor.plans import STEPS
from envdoctor.remedy_kinds import KINDS
from envdoctor.targets.snapshot_file import VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WIDTH = 140
_CHECK = "docs/check.schema.json"
_TABLE = {"type": "object", "minProperties": 1}


def _of_check(schema: dict[str, Any]) -> None:
    """The kinds of remedy that a report may have, and the words of its findings."""
    finding, remedy = (schema["$defs"][name]["properties"] for name in ("finding", "remedy"))
    finding["severity"]["enum"], finding["impact"]["enum"] = [*SEVERITIES], [*IMPACTS]
    remedy["kind"]["enum"], remedy["safety"]["enum"] = [*KINDS], [*SAFETIES]


def _of_plan(schema: dict[str, Any]) -> None:
    """The kinds of step, and findings and remedies as a report has them."""
    schema["$defs"]["move"]["properties"]["step"]["enum"] = [*STEPS]
    _with_findings(schema)


def _with_findings(schema: dict[str, Any]) -> None:
    """Findings and remedies as a report has them."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", _CHECK), encoding="utf-8") as file:
        parts = json.load(file)["$defs"]
    schema["$defs"].update({name: parts[name] for name in _needed(["finding", "remedy"], parts)})


def _needed(names: Sequence[str], parts: Mapping[str, Any]) -> list[str]:
    """Some definitions, and those that they refer to."""
    found = list(names)
    for name in found:
        text = json.dumps(parts[name])
        found += [other for other in parts if f'"#/$defs/{other}"' in text and other not in found]
    return found


def _of_snapshot(schema: dict[str, Any]) -> None:
    """The sections that record facts by key."""
    sections = {section: (value, about) for section, (_, value, about) in OF_METADATA.items()}
    sections.update((kind.section, (kind.value, kind.about)) for kind in RECORDED)
    for section, (value, about) in sections.items():
        values = VALUES[value].schema
        schema["properties"][section] = {"type": "object", "description": about, "additionalProperties": values}


def _of_rules(schema: dict[str, Any]) -> None:
    """The words of conditions, the verbs of remedies, and what the cells of a proof state."""
    parts = schema["$defs"]
    words, cell, remedy = parts["facts"]["properties"], parts["cell"]["properties"], parts["remedy"]
    for word, kind in WORDS.items():
        if word not in parts["topCondition"]["properties"]:
            words.setdefault(word, {**_TABLE, "description": kind.about})
        if kind.states:
            cell.setdefault(kind.section, _TABLE)
    for verb, row in KINDS.items():
        remedy["properties"].setdefault(verb, {})["$ref"] = f"#/$defs/{row.takes}"
    remedy["oneOf"] = [{"required": [verb, "with"] if row.instead else [verb]} for verb, row in KINDS.items()]


SCHEMAS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    _CHECK: _of_check,
    "docs/diff.schema.json": _with_findings,
    "docs/fleet.schema.json": _with_findings,
    "docs/plan.schema.json": _of_plan,
    "docs/snapshot.schema.json": _of_snapshot,
    "rules/schema.json": _of_rules,
}


def made(name: str, text: str) -> str:
    """The text of a schema with what follows from the rows."""
    schema = json.loads(text)
    SCHEMAS[name](schema)
    return _laid_out(schema) + "\n"


def _laid_out(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON in which everything that fits in a line, behind so many characters, is in one."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or indent + before + len(line) < _WIDTH:
        return line
    opening, closing = line[0] + "\n", "\n" + " " * indent + line[-1]
    named = value if isinstance(value, dict) else {}
    keys = [f"{json.dumps(key)}: " for key in named] or [""] * len(value)
    parts = zip(keys, named.values() or value)
    lines = [" " * (indent + 2) + key + _laid_out(part, indent + 2, len(key)) for key, part in parts]
    return opening + ",\n".join(lines) + closing


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the schemas that are out of date, and name them."""
    directory = next(iter(sys.argv[1:] if arguments is None else arguments), os.curdir)
    for name in SCHEMAS:
        path = os.path.join(directory, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if made(name, text) != text:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(made(name, text))
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
