"""``envdoctor rules draft``: from a traceback to a rule, and with ``--verify`` to a proven one."""

from __future__ import annotations

import os
import re
import time

from envdoctor import explaining
from envdoctor.commands.explain import frames_of, read_text
from envdoctor.commands.options import Parser, add_target, examine
from envdoctor.commands.output import say, write
from envdoctor.errors import UsageError
from envdoctor.probes.error_text import read
from envdoctor.workshop.commands import rules_verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


#: Distributions that are added to a proof because something imports them without requiring them.
MOST_NEEDS = 3


def parser() -> Parser:
    """The options of ``envdoctor rules draft``."""
    made = Parser(
        prog="envdoctor rules draft",
        description="Write a rule from a traceback: the index is asked in which releases what is missing went, and "
        "which releases ask for it; the edges become its condition, its remedies and its proof. Nothing is installed "
        "or executed but with --verify.",
        epilog="examples:\n  envdoctor rules draft error.log\n"
        "  envdoctor rules draft error.log --verify    and prove it\n"
        "  python app.py 2>&1 | envdoctor rules draft - -o rules/web/\n",
    )
    made.add_argument("file", nargs="?", default="-", help="the traceback; - or nothing reads stdin")
    made.add_argument(
        "-o", "--output", metavar="PATH", help="the file, or the directory, to write to (default: rules/)"
    )
    made.add_argument("--no-target", action="store_true", help="go by the text alone")
    made.add_argument("--rules", action="append", default=[], metavar="DIR", help="add the rules of a directory")
    made.add_argument("--verify", action="store_true", help="run its proof at once, in throw-away environments")
    add_target(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules draft``; the status is that of ``rules verify`` where it is asked for."""
    from envdoctor.workshop.draft import draft

    began = time.monotonic()
    said = read(read_text(options.file))
    target = None if options.no_target else examine(options, frames_of(said))
    found = explaining.measured(said, target, lambda text: say(f"envdoctor: {text}"))
    if found is None:
        raise UsageError(
            "no rule could be drafted: of what the text says to be missing, the releases on the index do not tell both "
            "edges; envdoctor rules new ID --from-traceback FILE begins a rule by hand"
        )
    name, text = draft(*found)
    path = _path(options.output, name)
    needs: list[str] = []
    status = 1
    while True:
        write(text, path)
        if not options.verify:
            break
        status = rules_verify.run(rules_verify.parser().parse_args([path]))
        lacking = [one for one in _lacking(path) if one not in needs and one not in found[0].said]
        if not status or not lacking or len(needs) > MOST_NEEDS:
            break
        needs += lacking
        say(f"envdoctor: {', '.join(lacking)} is imported without being required, so that every cell installs it")
        _, text = draft(*found, needs)
    write(f"wrote {path} in {time.monotonic() - began:.0f} s; fill in the TODO, then: envdoctor rules lint {path}\n")
    return status if options.verify else 0


def _lacking(path: str) -> list[str]:
    """The modules that trials could not import and that the rule is not about, by distribution."""
    from envdoctor.engine.names import Names
    from envdoctor.rulebase import shipped
    from envdoctor.rulebase.sources import proof_of

    try:
        with open(proof_of(path), encoding="utf-8") as file:
            recorded = file.read()
    except OSError:
        return []
    names = Names(shipped.words())
    missing = re.findall(r"ModuleNotFoundError: No module named '(\w+)'", recorded)
    return [one for one in dict.fromkeys(map(names.distribution, missing)) if one]


def _path(output: str | None, name: str) -> str:
    """Where a rule is written to. Raises :class:`UsageError` where there is a file already."""
    path = output or ("rules" if os.path.isdir("rules") else ".")
    if os.path.isdir(path) or path.endswith(("/", os.sep)):
        path = os.path.normpath(os.path.join(path, f"{name}.yaml"))
    if os.path.exists(path):
        raise UsageError(f"{path} exists already: give another -o PATH, or remove it first")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    return path
