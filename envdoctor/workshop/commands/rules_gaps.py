"""``envdoctor rules gaps``: which names a release removed that no rule asks for."""

from __future__ import annotations

import shutil
import textwrap

from envdoctor.commands.options import Parser
from envdoctor.commands.output import say, write
from envdoctor.errors import TargetError, UsageError
from envdoctor.workshop.commands.chosen import positive, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.removed_names import Asked, Edge


def parser() -> Parser:
    """The options of ``envdoctor rules gaps``."""
    made = Parser(
        prog="envdoctor rules gaps",
        description="Read the wheels of the last release before a rule's range and of the first one in it, and print "
        "the public modules, names, attributes and parameters that went between them and that no rule asks a "
        "project's source for. Nothing is installed or executed; what a release makes while it runs, and what its "
        "compiled modules have, is not seen, and some of what is printed is nothing that people use. With --run both "
        "releases are installed and imported, without network: what classes inherit and modules make is seen then, not "
        "what a module's __getattr__ makes, and what is printed may be taken into the rule. Names that the rule asks "
        "for and that are still there are printed too.",
        epilog="examples:\n  envdoctor rules gaps my-cause\n"
        "  envdoctor rules gaps --run my-cause\n"
        "  envdoctor rules gaps --of DISTRIBUTION   between all minor versions\n",
    )
    made.add_argument("rule", nargs="*", help="ids, files or directories (default: every rule of rules/)")
    made.add_argument("--run", action="store_true", help="import both releases instead of reading their wheels")
    made.add_argument("--first", default="", metavar="CODE", help="with --run, what is run before modules are imported")
    made.add_argument("--of", action="append", default=[], metavar="NAME", help="every edge of this distribution")
    made.add_argument("--most", type=positive, default=20, metavar="N", help="releases with --of (default: 20)")
    made.add_argument("--rules", default=None, metavar="DIR", help="the directory of rules (default: rules)")
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules gaps``; 1 where something went that no rule asks for."""
    from envdoctor.workshop import removed_names

    if options.of and options.run:
        raise UsageError("--run builds what a rule's proof states: give rules, not --of NAME")
    if options.first and not options.run:
        raise UsageError("--first is run where modules are imported: add --run")
    if options.of and options.rule:
        raise UsageError("a rule has edges of its own: give rules, or --of NAME")
    asked = removed_names.Asked(rules_of([], options.rules)[0])
    try:
        return int(any([*(_of_distributions if options.of else _of_rules)(options, asked)]))
    except TargetError as error:
        raise UsageError(str(error)) from error


def _of_distributions(options: argparse.Namespace, asked: Asked) -> Iterator[bool]:
    """Write what each edge of the named distributions removed, and say whether that was anything."""
    from envdoctor.workshop.removed_names import of_distribution

    for name in options.of:
        yield from (_shown("", edge, asked) for edge in of_distribution(name, options.most))


def _of_rules(options: argparse.Namespace, asked: Asked) -> Iterator[bool]:
    """Write what each edge of the rules removed, and say whether that was anything."""
    from envdoctor.workshop.removed_names import of_rule

    for rule in rules_of(options.rule, options.rules)[0]:
        for edge in of_rule(rule, run=options.run):
            yield _ran(rule, edge, asked, options.first) if options.run else _shown(f"{rule.id}: ", edge, asked)


def _ran(rule: Rule, edge: Edge, asked: Asked, first: str) -> bool:
    """Import both releases, and write what went; whether there was anything."""
    from envdoctor.workshop import removed_at_runtime
    from envdoctor.workshop.proof.build import UnbuiltError

    say(f"{rule.id}: installing {edge.distribution} {edge.last} and {edge.gone}, and importing their modules")
    try:
        found = removed_at_runtime.of_rule(rule, edge, asked, first)
    except UnbuiltError as error:
        write(f"{rule.id}: {edge.distribution} {edge.last} and {edge.gone} were not compared: {error}\n")
        return False
    text = removed_at_runtime.written(found)
    newest = f", {found.newest} too," if found.newest else ""
    said = text or "  nothing went that no rule asks for\n"
    write(f"{rule.id}: {edge.distribution} {edge.last} and {edge.gone}{newest} on Python {found.python}\n{said}")
    return bool(text)


def _shown(before: str, edge: Edge, asked: Asked) -> bool:
    """Write what one edge removed; whether there was anything."""
    from envdoctor.workshop.removed_names import unasked

    lost = unasked(edge, asked)
    if not lost:
        return False
    width = shutil.get_terminal_size().columns
    count = sum(map(len, lost.values()))
    write(f"{before}{edge.distribution} {edge.last} has {count} that {edge.gone} lacks\n")
    for scope, names in lost.items():
        text = f"{scope}{'' if scope.endswith(':') or not scope else '.'} {', '.join(names)}"
        write(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False) + "\n")
    return True
