"""``envdoctor rules``: list, show, write and lint rules."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any

from envdoctor import doctor
from envdoctor.commands import rules_draft, rules_history, rules_import, rules_measure, rules_verify
from envdoctor.commands.options import Parser, add_format, parser_for
from envdoctor.commands.output import say, write
from envdoctor.errors import UsageError
from envdoctor.talk import safe
from envdoctor.workshop.status import RETIRED, STATUSES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Mapping, Sequence

_EXAMPLES = """\
commands:
  list      every rule, a line each
  show      one rule, whole
  new       write the skeleton of a rule
  draft     write a rule from a traceback, with the edges that releases tell
  lint      read rules back; all mistakes of a file at once
  verify    run their proofs in throw-away environments
  bisect    measure where a rule begins and ends
  matrix    draw what works with what
  import    write candidates from another channel's patches
  history   write which names of a distribution were there in which releases

examples:
  envdoctor rules list                       every rule, a line each
  envdoctor rules list DISTRIBUTION          the rules about one distribution
  envdoctor rules show requirement-missing
  envdoctor rules new my-cause --area web    write the skeleton of a rule
  envdoctor rules lint rules/web             read rules back
  envdoctor rules verify my-cause            run its proof

envdoctor rules COMMAND --help says more.
"""


def run(words: Sequence[str]) -> int:
    """Run ``envdoctor rules``."""
    parser = Parser(
        prog="envdoctor rules",
        usage="envdoctor rules COMMAND [OPTIONS]",
        description="List, show, write and lint rules. The language is on one page: rules/README.md.",
        epilog=_EXAMPLES,
    )
    if not words:
        parser.error(f"rules needs a command: {', '.join(_COMMANDS)}")
    if words[0] not in _COMMANDS:
        parser.parse_known_args(words)  # --help ends here
        close = difflib.get_close_matches(words[0], _COMMANDS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        parser.error(f"rules has no command {words[0]!r}{hint}")
    make, execute = _COMMANDS[words[0]]
    return execute(make().parse_args(words[1:]))


def _list_parser() -> Parser:
    parser = parser_for(
        "rules list",
        "Print every rule, a line each: id, severity, status, proof and its date, title (README: what a status says).",
        "examples:\n  envdoctor rules list\n  envdoctor rules list DISTRIBUTION\n"
        "  envdoctor rules list --status reported\n  envdoctor rules list -f json\n",
    )
    parser.add_argument("package", nargs="?", help="only the rules about this distribution")
    parser.add_argument("--status", choices=STATUSES, help="only the rules of this status")
    add_format(parser, ["text", "json"])
    return parser


def _show_parser() -> Parser:
    parser = parser_for(
        "rules show",
        "Print one rule, whole.",
        "examples:\n  envdoctor rules show requirement-missing\n  envdoctor rules show requirement-missing -f json\n",
    )
    parser.add_argument("id", help="as findings and `envdoctor rules list` name it")
    add_format(parser, ["text", "json"])
    return parser


def _new_parser() -> Parser:
    parser = Parser(
        prog="envdoctor rules new",
        description="Write the skeleton of a rule: a file that says what to fill in.",
        epilog="examples:\n  envdoctor rules new my-cause --area web    writes rules/web/my-cause.yaml\n"
        "  envdoctor rules new my-cause -o my-cause.yaml\n"
        "  envdoctor rules new my-cause --from-traceback error.log\n",
    )
    parser.add_argument("id", help="lower-case words joined by hyphens; names the root cause")
    parser.add_argument("--area", help="the folder below rules/ (default: none)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write (default: rules/AREA/ID.yaml, or ID.yaml)"
    )
    parser.add_argument(
        "--from-traceback", metavar="FILE",
        help="fill in what a traceback tells: exception, message, frames, and the releases that are installed",
    )  # fmt: skip
    return parser


def _lint_parser() -> Parser:
    parser = Parser(
        prog="envdoctor rules lint",
        description="Read rules back and say all that is wrong with them, with line and what to write instead.",
        epilog="examples:\n  envdoctor rules lint\n  envdoctor rules lint rules/web/my-cause.yaml\n"
        "  envdoctor rules lint --offline rules       without looking at the index\n",
    )
    parser.add_argument("path", nargs="*", help="rule files or directories (default: rules)")
    parser.add_argument("--offline", action="store_true", help="do not hold ranges against the releases on the index")
    return parser


def _every(directories: Sequence[str]) -> list[Mapping[str, Any]]:
    """All rules by id."""
    found = {}
    for index in doctor.rule_bases(directories, candidates=True):
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
            say(f"envdoctor: no rule is about {options.package}")
            return 1
    rules = [rule for rule in rules if options.status in {None, rule["status"]}]
    if options.format == "json":
        keys = ("id", "severity", "impact", "title", "packages", "status", "proof", "date", "replaced_by")
        write(_json([{key: rule[key] for key in keys if key in rule} for rule in rules]), None)
        return 0
    width = max((len(rule["id"]) for rule in rules), default=0)
    write("".join(f"{rule['id']:<{width}}  {_standing(rule)}  {_title(rule)}\n" for rule in rules), None)
    return 0


def _standing(rule: Mapping[str, Any]) -> str:
    """What a rule's findings may claim, in columns."""
    if rule["status"] == RETIRED:
        return f"{'':<7}  {RETIRED:<9}  {'':<9}  {'':<10}"
    return f"{rule['severity']:<7}  {rule['status']:<9}  {rule['proof']:<9}  {rule.get('date', ''):<10}"


def _title(rule: Mapping[str, Any]) -> str:
    """A rule's title with words for what only a finding can name."""
    names = list(rule["consumers"])
    few = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")  # noqa: PLR2004 - two fit
    from envdoctor.engine.wording import worded

    return worded(rule["title"], {"consumer": few} if few else {})


def _json(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _show(options: argparse.Namespace) -> int:
    rules = {rule["id"]: rule for rule in _every(options.rules)}
    if options.id not in rules:
        close = difflib.get_close_matches(options.id, rules, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(f"there is no rule {options.id}{hint}; envdoctor rules list names them all")
    rule = rules[options.id]
    if options.format == "json":
        write(_json(rule), None)
        return 0
    import yaml

    consumers = {name: {"bad": line["bad"], "works": line["works"]} for name, line in rule["consumers"].items()}
    whole = {**rule, "consumers": consumers, "severity": rule.get("stated", rule["severity"])}
    shown = {key.replace("_", "-"): whole[key] for key in _SHOWN if whole.get(key)}
    if rule["status"] == RETIRED:
        del shown["severity"]
    if "stated" in rule:
        shown["status"] += f": its findings are {rule['severity']}s"
    write(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=110), None)
    return 0


_SHOWN = (
    "id", "title", "status", "proof", "date", "replaced_by", "severity", "impact", "when", "consumers", "why",
    "symptoms", "remedies", "references",
)  # fmt: skip


def _new(options: argparse.Namespace) -> int:
    from envdoctor.workshop.skeleton import skeleton

    path = options.output
    if options.area and (os.path.isabs(options.area) or ".." in options.area.replace("\\", "/").split("/")):
        raise UsageError(f"--area {options.area} leads out of rules/: give the name of a folder in it, such as web")
    if path is None:
        folder = os.path.join("rules", options.area or "") if os.path.isdir("rules") or options.area else ""
        path = os.path.join(folder, options.id + ".yaml")
    text = skeleton(options.id, _seen(options.from_traceback))
    if os.path.exists(path):
        raise UsageError(f"{path} exists already: choose another id, or remove it first")
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    write(text, path)
    write(f"wrote {path}; fill it in, then run: envdoctor rules lint {path}\n")
    return 0


def _seen(path: str | None) -> Mapping[str, str] | None:
    """What a traceback, and the environment at hand, tell a new rule."""
    if path is None:
        return None
    from envdoctor.commands.explain import read_text
    from envdoctor.probes.error_text import read
    from envdoctor.workshop.skeleton import from_traceback

    packages = doctor.examine().packages
    return from_traceback(read(read_text(path)), {name: one.version for name, one in packages.items()})


def _lint(options: argparse.Namespace) -> int:
    from envdoctor.probes.releases import known_releases
    from envdoctor.workshop.lint import lint

    paths = options.path or ["rules"]
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"no rules at {path}: give a rule file or a directory of them")
    complaints = lint(paths, None if options.offline else known_releases)
    for one in complaints:
        line = safe(f"{one.path}:{one.line}: {one.message}")
        say(line) if one.note else write(line + "\n")
    wrong = [one for one in complaints if not one.note]
    if wrong:
        say(f"{_count(wrong, 'complaint')} in {_count({one.path for one in wrong}, 'file')}")
    else:
        say("every rule is well formed")
    return int(bool(wrong))


def _count(things: Collection[Any], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


_COMMANDS: Mapping[str, tuple[Callable[[], Parser], Callable[[argparse.Namespace], int]]] = {
    "list": (_list_parser, _list),
    "show": (_show_parser, _show),
    "new": (_new_parser, _new),
    "draft": (rules_draft.parser, rules_draft.run),
    "lint": (_lint_parser, _lint),
    "verify": (rules_verify.parser, rules_verify.run),
    "import": (rules_import.parser, rules_import.run),
    "history": (rules_history.parser, rules_history.run),
    "bisect": (rules_measure.bisect_parser, rules_measure.bisect),
    "matrix": (rules_measure.matrix_parser, rules_measure.matrix),
}
