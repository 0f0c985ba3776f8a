"""``envdoctor rules new`` and ``envdoctor rules lint``."""

from __future__ import annotations

import functools
import os
from typing import Any

from envdoctor import doctor
from envdoctor.commands.options import Parser
from envdoctor.commands.output import say, write
from envdoctor.errors import UsageError
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping


def new_parser() -> Parser:
    """The options of ``rules new``."""
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


def new(options: argparse.Namespace) -> int:
    """Write the skeleton of a rule."""
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


def lint_parser() -> Parser:
    """The options of ``rules lint``."""
    parser = Parser(
        prog="envdoctor rules lint",
        description="Read rules back and say all that is wrong with them, with line and what to write instead.",
        epilog="examples:\n  envdoctor rules lint\n  envdoctor rules lint rules/web/my-cause.yaml\n"
        "  envdoctor rules lint --offline rules       without looking at the index\n",
    )
    parser.add_argument("path", nargs="*", help="rule files or directories (default: rules)")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--offline", action="store_true", help="ask neither the index for releases nor for references")
    asked.add_argument(
        "--write", action="store_true", help="record in the proofs on which Pythons their remedies can be installed"
    )
    return parser


def lint(options: argparse.Namespace) -> int:
    """Say what is wrong with rules; the exit status is 1 where anything is."""
    from envdoctor.probes.releases import known_releases
    from envdoctor.workshop.every_release import everything
    from envdoctor.workshop.lint import lint as complaints_of
    from envdoctor.workshop.references import gone

    paths = options.path or ["rules"]
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"no rules at {path}: give a rule file or a directory of them")
    asked = () if options.offline else (known_releases, gone, functools.cache(everything))
    complaints = complaints_of(paths, *asked, write=options.write)
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
