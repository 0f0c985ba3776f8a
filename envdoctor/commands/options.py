"""Options that commands share, and the target they describe."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from envdoctor import doctor
from envdoctor.errors import UsageError

if TYPE_CHECKING:
    from envdoctor.model import Snapshot

TARGET_EXAMPLES = """\
examples:
  envdoctor {command}                          the active environment
  envdoctor {command} --python /opt/app/bin/python
  envdoctor {command} -r requirements.txt --python-version 3.11 --platform linux
  envdoctor {command} --root /mnt/image        a container's file system; nothing in it is executed
  envdoctor {command} --snapshot facts.json    what `envdoctor snapshot` wrote elsewhere
"""


def parser_for(command: str, description: str, examples: str) -> argparse.ArgumentParser:
    """A parser with what every command takes."""
    parser = argparse.ArgumentParser(
        prog=f"envdoctor {command}",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--rules", action="append", default=[], metavar="DIR", help="add the rules of a directory")
    return parser


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a target."""
    group = parser.add_argument_group("target", "at most one; by default the active environment")
    group.add_argument("--python", metavar="PATH", help="another interpreter, or the directory of its environment")
    group.add_argument("-r", "--requirements", metavar="FILE", help="a requirements or lock file; nothing is installed")
    group.add_argument("--root", metavar="DIR", help="a root file system; nothing in it is executed")
    group.add_argument("--snapshot", metavar="FILE", help="a file that envdoctor snapshot wrote; - reads stdin")
    more = parser.add_argument_group("about the target")
    more.add_argument("--python-version", metavar="X.Y", help="the Python that -r is for")
    more.add_argument("--platform", choices=["linux", "darwin", "win32"], help="the platform that -r is for")
    more.add_argument("--machine", metavar="NAME", help="the processor that -r is for, such as x86_64 or arm64")
    more.add_argument(
        "--start-method", choices=["fork", "spawn", "forkserver"], help="the start method that your program will use"
    )


def examine(options: argparse.Namespace) -> Snapshot:
    """The snapshot of the target that the options name.

    Raises :class:`UsageError` for options that contradict each other, and what the target raises.
    """
    given = [kind for kind in ("python", "requirements", "root", "snapshot") if getattr(options, kind) is not None]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} are both targets: give one")
    kind = given[0] if given else None
    described = {name: getattr(options, name) for name in ("python_version", "platform", "machine")}
    if kind != "requirements" and any(described.values()):
        name = next(name for name, value in described.items() if value)
        raise UsageError(f"--{name.replace('_', '-')} describes a requirements file: give it with -r FILE")
    more = described if kind == "requirements" else {}
    value = getattr(options, kind) if kind else None
    return doctor.examine(kind, value, start_method=options.start_method, **more)


def add_output(parser: argparse.ArgumentParser, *, formats: bool = True) -> None:
    """Add the options that say where the result goes and in which form."""
    if formats:
        parser.add_argument(
            "-f", "--format", choices=["text", "json", "markdown"], default="text", help="default: text"
        )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
