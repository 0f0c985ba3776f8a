"""``envdoctor rules list`` and ``envdoctor rules show``."""

from __future__ import annotations

import difflib
from typing import Any

from envdoctor import doctor
from envdoctor.commands.options import Parser, add_format, parser_for
from envdoctor.commands.output import say, table, write
from envdoctor.errors import UsageError
from envdoctor.rulebase import load, shipped, shipped_files
from envdoctor.rulebase.status import RETIRED, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from envdoctor.rulebase.compiled_cache import Base


def list_parser() -> Parser:
    """The options of ``rules list``."""
    parser = parser_for(
        "rules list",
        "Print every rule, a line each: id, severity, status, proof and its date, title (README: what a status says).",
        "examples:\n  envdoctor rules list\n  envdoctor rules list DISTRIBUTION\n"
        "  envdoctor rules list --status reported\n  envdoctor rules list -f json\n"
        "  envdoctor rules list --packs\n",
    )
    parser.add_argument("package", nargs="?", help="only the rules about this distribution")
    parser.add_argument("--packs", action="store_true", help="where rules come from, and what of them was left out")
    parser.add_argument("--status", choices=STATUSES, help="only the rules of this status")
    add_format(parser, ["text", "json"])
    return parser


def show_parser() -> Parser:
    """The options of ``rules show``."""
    parser = parser_for(
        "rules show",
        "Print one rule, whole.",
        "examples:\n  envdoctor rules show requirement-missing\n  envdoctor rules show requirement-missing -f json\n",
    )
    parser.add_argument("id", help="as findings and `envdoctor rules list` name it")
    add_format(parser, ["text", "json"])
    return parser


def every(directories: Sequence[str]) -> list[Mapping[str, Any]]:
    """All rules by id."""
    found = {}
    for index in doctor.rule_bases(directories, candidates=True):
        for entry in index.all():
            texts = index.texts(entry)
            found[texts["id"]] = texts
    return [found[name] for name in sorted(found)]


def _about(package: str, rules: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [rule for rule in rules if package in rule["packages"] or package in rule["consumers"]]


def list_rules(options: argparse.Namespace) -> int:
    """Print every rule, a line each."""
    from envdoctor.engine.installed_requirements import normalise

    if options.packs:
        return _list_packs(options)
    rules = every(options.rules)
    if options.package:
        rules = _about(normalise(options.package), rules)
        if not rules:
            say(f"envdoctor: no rule is about {options.package}")
            return 1
    rules = [rule for rule in rules if options.status in {None, rule["status"]}]
    if options.format == "json":
        write(_json([{key: rule[key] for key in _KEYS if key in rule} for rule in rules]), None)
        return 0
    write(table(_HEADS, [(rule["id"], *_status_row(rule), _title(rule)) for rule in rules]), None)
    _say_left_out(load.further(options.rules))
    return 0


def _list_packs(options: argparse.Namespace) -> int:
    """Print where rules come from: what came with envdoctor, packs beside it, and directories."""
    bases = load.further(options.rules)
    own = {"pack": "envdoctor", "from": shipped_files.file(), "rules": shipped.shipped().rules, "left_out": []}
    rows: list[dict[str, Any]] = [own]
    for base in bases:
        found = {"pack": base.name or None, "from": base.source.place, "rules": base.asked.rules}
        rows.append({**found, "left_out": load.left_out(base)})
    if options.format == "json":
        write(_json(rows), None)
        return 0
    write(
        table(("pack", "rules", "from"), [(row["pack"] or "-", str(row["rules"]), row["from"]) for row in rows]), None
    )
    _say_left_out(bases)
    return 0


def _say_left_out(bases: Sequence[Base]) -> None:
    for base in bases:
        for reason in load.left_out(base):
            say(f"{base.source.place}: {reason}")


_KEYS = ("id", "severity", "impact", "title", "packages", "status", "proof", "date", "replaced_by")
_HEADS = ("rule", "severity", "status", "proof", "of", "")


def _status_row(rule: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Severity, status, proof and its date of a rule's findings."""
    if rule["status"] == RETIRED:
        return "", RETIRED, "", ""
    return rule["severity"], rule["status"], rule["proof"], rule.get("date", "")


def _title(rule: Mapping[str, Any]) -> str:
    """A rule's title with words for what only a finding can name."""
    names = list(rule["consumers"])
    others = names[1:] if len(names) <= 2 else [f"{len(names) - 1} more"]  # noqa: PLR2004 - two fit
    few = "".join([*names[:1], *(f" (and {one})" for one in others)])  # in brackets, for the verb of a title is of one
    from envdoctor.engine.wording import worded

    return worded(rule["title"], {"consumer": few} if few else {})


def _json(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def show(options: argparse.Namespace) -> int:
    """Print one rule, whole."""
    rule = named(options.id, options.rules)
    if options.format == "json":
        write(_json(rule), None)
        return 0
    import yaml

    write(yaml.safe_dump(document(rule), sort_keys=False, allow_unicode=True, width=110), None)
    return 0


def named(name: str, directories: Sequence[str] = ()) -> Mapping[str, Any]:
    """One rule by its id. Raises :class:`UsageError` where there is none."""
    rules = {rule["id"]: rule for rule in every(directories)}
    if name not in rules:
        close = difflib.get_close_matches(name, rules, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(f"there is no rule {name}{hint}; envdoctor rules list names them all")
    return rules[name]


def document(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as people are shown it."""
    consumers = {name: {"bad": line["bad"], "works": line["works"]} for name, line in rule["consumers"].items()}
    whole = {**rule, "consumers": consumers, "severity": rule.get("stated", rule["severity"])}
    shown = {key.replace("_", "-"): whole[key] for key in _SHOWN if whole.get(key)}
    if rule["status"] == RETIRED:
        del shown["severity"]
    if "stated" in rule:
        shown["status"] += f": its findings are {rule['severity']}s"
    return shown


_SHOWN = (
    "id", "title", "status", "proof", "date", "replaced_by", "severity", "impact", "when", "consumers", "why",
    "symptoms", "remedies", "references",
)  # fmt: skip
