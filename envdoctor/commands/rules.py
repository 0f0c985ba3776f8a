"""``envdoctor rules``: list, show, write and lint rules."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from envdoctor import doctor
from envdoctor.commands.output import write
from envdoctor.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

_EXAMPLES = """\
examples:
  envdoctor rules list                       every rule, a line each
  envdoctor rules list cloudpickle           the rules about one distribution
  envdoctor rules show altair-vegalite-v4-removed
  envdoctor rules new my-cause --area web    write the skeleton of a rule
  envdoctor rules lint rules/web             read rules back; all mistakes of a file at once
"""


def run(words: Sequence[str]) -> int:
    """Run ``envdoctor rules``."""
    parser = argparse.ArgumentParser(
        prog="envdoctor rules",
        description="List, show, write and lint rules. The language is on one page: rules/README.md.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="every rule, a line each")
    listing.add_argument("package", nargs="?", help="only the rules about this distribution")
    showing = commands.add_parser("show", help="one rule, whole")
    showing.add_argument("id")
    for command in (listing, showing):
        command.add_argument("--rules", action="append", default=[], metavar="DIR", help="add the rules of a directory")
        command.add_argument("-f", "--format", choices=["text", "json"], default="text", help="default: text")
    making = commands.add_parser("new", help="write the skeleton of a rule")
    making.add_argument("id", help="lower-case words joined by hyphens; names the root cause")
    making.add_argument("--area", help="the folder below rules/ (default: none)")
    making.add_argument(
        "-o", "--output", metavar="FILE", help="where to write (default: rules/AREA/ID.yaml, or ID.yaml)"
    )
    linting = commands.add_parser("lint", help="read rules back; all mistakes of a file at once")
    linting.add_argument("path", nargs="*", help="rule files or directories (default: rules)")
    linting.add_argument("--offline", action="store_true", help="do not hold ranges against the releases on the index")
    options = parser.parse_args(words)
    return _COMMANDS[options.command](options)


def _every(directories: Sequence[str]) -> list[Mapping[str, Any]]:
    """All rules by id."""
    found = {}
    for index in doctor.rule_bases(directories):
        for entry in index.all():
            texts = index.texts(entry)
            found[texts["id"]] = texts
    return [found[name] for name in sorted(found)]


def _about(rule: Mapping[str, Any]) -> list[str]:
    return [*rule["packages"], *rule["consumers"]]


def _list(options: argparse.Namespace) -> int:
    from envdoctor.engine.requirements import normalise

    rules = _every(options.rules)
    if options.package:
        rules = [rule for rule in rules if normalise(options.package) in _about(rule)]
        if not rules:
            print(f"envdoctor: no rule is about {options.package}", file=sys.stderr)
            return 1
    if options.format == "json":
        keys = ("id", "severity", "impact", "title", "packages")
        write(_json([{key: rule[key] for key in keys} for rule in rules]), None)
        return 0
    width = max((len(rule["id"]) for rule in rules), default=0)
    lines = [f"{rule['id']:<{width}}  {rule['severity']:<7}  {rule['title']}\n" for rule in rules]
    write("".join(lines), None)
    return 0


def _json(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _show(options: argparse.Namespace) -> int:
    rules = {rule["id"]: rule for rule in _every(options.rules)}
    if options.id not in rules:
        import difflib

        close = difflib.get_close_matches(options.id, rules, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(f"there is no rule {options.id}{hint}; envdoctor rules list names them all")
    rule = rules[options.id]
    if options.format == "json":
        write(_json(rule), None)
        return 0
    import yaml

    shown = {key: value for key, value in rule.items() if value and key not in {"facts", "proven"}}
    shown["consumers"] = {
        name: {"bad": line["bad"], "works": line["works"]} for name, line in rule["consumers"].items()
    } or None
    shown = {key: value for key, value in shown.items() if value}
    write(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=110), None)
    return 0


def _new(options: argparse.Namespace) -> int:
    from envdoctor.authoring.skeleton import skeleton

    path = options.output
    if path is None:
        folder = os.path.join("rules", options.area or "") if os.path.isdir("rules") or options.area else ""
        path = os.path.join(folder, options.id + ".yaml")
    text = skeleton(options.id)
    if os.path.exists(path):
        raise UsageError(f"{path} exists already: choose another id, or remove it first")
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    write(text, path)
    print(f"wrote {path}; fill it in, then run: envdoctor rules lint {path}")
    return 0


def _lint(options: argparse.Namespace) -> int:
    from envdoctor.authoring.lint import lint
    from envdoctor.authoring.releases import known_releases

    paths = options.path or ["rules"]
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"no rules at {path}: give a rule file or a directory of them")
    complaints = lint(paths, None if options.offline else known_releases)
    for one in complaints:
        print(f"{one.path}:{one.line}: {one.message}", file=sys.stderr if one.note else sys.stdout)
    wrong = [one for one in complaints if not one.note]
    if wrong:
        print(f"{_count(wrong, 'complaint')} in {_count({one.path for one in wrong}, 'file')}", file=sys.stderr)
    else:
        print("every rule is well formed", file=sys.stderr)
    return int(bool(wrong))


def _count(things: Collection[Any], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "show": _show,
    "new": _new,
    "lint": _lint,
}
