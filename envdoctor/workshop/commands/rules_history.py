"""``envdoctor rules history``: which names of a distribution were there in which releases, read from its wheels."""

from __future__ import annotations

import os
import sys

from envdoctor.commands.options import Parser
from envdoctor.errors import TargetError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def parser() -> Parser:
    """The options of ``envdoctor rules history``."""
    made = Parser(
        prog="envdoctor rules history",
        description="Read the wheels of distributions on the index, first and last release of each minor version, "
        "and write which public modules, names, attributes and parameters each of them has. Nothing is installed or "
        "executed; of large wheels only the Python files are fetched, and what was read once is kept. The history of "
        "distributions that are not named stays in the file as it is.",
        epilog="examples:\n  envdoctor rules history DISTRIBUTION\n"
        "  envdoctor rules history DISTRIBUTION OTHER -o history.zip --most 20\n",
    )
    made.add_argument("name", nargs="+", metavar="NAME", help="distributions")
    made.add_argument("-o", "--output", metavar="FILE", default=os.path.join("rules", "history.zip"),
                      help="the file to write, or to add to (default: rules/history.zip)")  # fmt: skip
    made.add_argument("--newest", action="store_true",
                      help="read the newest release alone, for its modules and classes, and keep the rest")  # fmt: skip
    made.add_argument("--most", type=int, default=60, metavar="N", help="of how many releases each (default: 60)")
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules history``. The exit status is 1 where one of the distributions could not be read."""
    from envdoctor.engine.installed_requirements import normalise
    from envdoctor.workshop.name_history import history, store, stored

    histories = stored(options.output)
    failed = []
    for name in map(normalise, options.name):
        try:
            found = history(name, lambda text: print(text, file=sys.stderr), 1 if options.newest else options.most)
            if options.newest and name in histories:
                found = {**histories[name], "classes": found["classes"]}
            histories[name] = found
        except TargetError as error:
            print(f"envdoctor: {error}", file=sys.stderr)
            failed.append(name)
            continue
        try:
            store(options.output, histories)
        except OSError as error:
            raise UsageError(
                f"{options.output} could not be written: {error.strerror}; give another -o FILE"
            ) from error
        count = sum(map(len, found["names"].values()))
        releases = found["releases"]
        print(f"{name}: {len(releases)} releases, {releases[0]} to {releases[-1]}; {count:,} names that some lack")
    return int(bool(failed))
