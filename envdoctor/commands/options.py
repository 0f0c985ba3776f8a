"""Options that commands share, and the target they describe."""

from __future__ import annotations

import argparse
import os
import re
import sys

from envdoctor import doctor
from envdoctor.commands import instead
from envdoctor.commands.output import write
from envdoctor.errors import TargetError, UsageError
from envdoctor.renderers import FORMATS
from envdoctor.targets import project as beside
from envdoctor.targets.started import as_asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import IO, Any, NoReturn

    from envdoctor.model import Snapshot

TARGET_EXAMPLES = """\
examples:
  envdoctor {command}                          the active environment, else the project's .venv
  envdoctor {command} --python /opt/app/bin/python
  envdoctor {command} -r requirements.txt --python-version 3.11 --platform linux
  envdoctor {command} --root /mnt/image        a container's file system; nothing in it is executed
  envdoctor {command} --pid 4711               a running or hung job
  envdoctor {command} --snapshot facts.json    what `envdoctor snapshot` wrote elsewhere
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. A width that is given keeps ``argparse`` from importing what looks for one."""

    def __init__(self, prog: str) -> None:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            columns = 100
        super().__init__(prog, width=max(columns - 2, 40), max_help_position=28)


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong, and raises :class:`UsageError` to do so."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, **options)

    def parse_args(self, words: Sequence[str]) -> argparse.Namespace:  # type: ignore[override]
        """The options of a command line; a word that is none of them is named, with the one that it resembles."""
        options, rest = self.parse_known_args(words)
        strange = next((word for word in rest if word.startswith("-") and word != "-"), None)
        if strange is not None:
            name = strange.partition("=")[0]
            import difflib

            close = difflib.get_close_matches(name, self._option_string_actions, 1)
            hint = instead.OPTIONS.get(name) or (f"did you mean {close[0]}?" if close else "")
            self.error(f"there is no option {name}{'; ' if hint else ''}{hint}")
        if rest:
            meant = instead.word(rest[0])
            self.error(f"{rest[0]!r} is one word too many{f'; did you mean {meant}?' if meant else ''}")
        return options

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and ending the process."""
        raise UsageError(f"{message} ({self.prog} --help says more)")

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        if message and file in {None, sys.stdout}:
            write(message)
        else:
            super()._print_message(message, file)


def _platform(text: str) -> str:
    """A platform by Python's name of it; another name that people have for it is refused with Python's."""
    name = instead.PLATFORMS.get(text.lower())
    if name:
        raise argparse.ArgumentTypeError(f"{text!r} is {name} to Python; did you mean --platform {name}?")
    return text


class _Once(argparse.Action):
    """An option that is refused when it is given twice: a second target would silently replace the first."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option} is given twice, and one target is examined at a time: give one")
        setattr(namespace, self.dest, value)


def parser_for(command: str, description: str, examples: str) -> Parser:
    """A parser with what every command takes."""
    parser = Parser(prog=f"envdoctor {command}", description=description, epilog=examples)
    parser.add_argument("--rules", action="append", default=[], metavar="DIR", help="add the rules of a directory")
    return parser


def parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command, and those of the user's own command behind the first ``--``."""
    at = list(words).index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a target."""
    group = parser.add_argument_group(
        "target", "at most one; by default the active environment, else the project's .venv, else python on PATH"
    )
    for names, metavar, said in (
        (
            ["--python"],
            "PATH",
            "another interpreter, or its environment's directory; its .pth files and sitecustomize are read, not run",
        ),
        (["-r", "--requirements"], "FILE", "a requirements or lock file; nothing is installed"),
        (
            ["--root"],
            "DIR",
            "a root file system: every environment in it, or the one that --python names; nothing is executed",
        ),
        (["--pid"], "N", "a running process: its interpreter, environment, start method and libraries"),
        (["--snapshot"], "FILE", "a file that envdoctor snapshot wrote; - reads stdin"),
    ):
        group.add_argument(*names, metavar=metavar, help=said, action=_Once)
    more = parser.add_argument_group("about the target")
    more.add_argument("--python-version", metavar="X.Y", help="the Python that -r, or --project's workers, are for")
    more.add_argument(
        "--platform", choices=["linux", "darwin", "win32"], type=_platform, help="the platform of the same"
    )
    more.add_argument("--machine", metavar="NAME", help="the processor that -r is for, such as x86_64 or arm64")
    more.add_argument(
        "--resolve",
        action="store_true",
        help="ask uv what -r leads to, where it does not pin all; uv may have to build what has no wheel",
    )
    more.add_argument(
        "--start-method", choices=["fork", "spawn", "forkserver"], help="the start method that your program will use"
    )


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the project and the artefacts beside the target."""
    group = parser.add_argument_group("beside the target", "read only where a rule asks; nothing is executed or loaded")
    group.add_argument(
        "--project", metavar="DIR",
        help="the project's directory, for its configuration, source and artefacts; by default rules about what is "
        "installed look at the current directory, with --pid at that of the process, with --root or --snapshot at none",
    )  # fmt: skip
    group.add_argument(
        "--artifact", metavar="FILE", action="append", default=[],
        help="a saved model, pickle or array that the program loads; may be given several times",
    )  # fmt: skip


def add_candidates(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks rules which keep silent otherwise."""
    parser.add_argument(
        "--candidates", action="store_true", help="ask candidates too: rules that are leads, and that nobody has proven"
    )


def target_of(options: argparse.Namespace) -> list[str]:
    """The options that name a target, without their hyphens."""
    return [
        kind for kind in ("python", "requirements", "root", "pid", "snapshot") if getattr(options, kind) is not None
    ]


def examine(options: argparse.Namespace, frames: Sequence[str] = ()) -> Snapshot:
    """The snapshot of the target that the options name, else of the environment that the files of ``frames`` lie in.

    Raises :class:`UsageError` for options that contradict each other, and what the target raises.
    """
    kind = _kind_of(options)
    more = _described(options, kind)
    if kind == "root":
        more["python"] = options.python
    if hasattr(options, "project"):
        more.update(_beside(options, kind))
    if kind is None and frames:
        more["frames"] = frames
    if hasattr(options, "candidates"):
        more["candidates"] = options.candidates
    value = getattr(options, kind) if kind else None
    snapshot = doctor.examine(kind, value, start_method=options.start_method, rules=options.rules, **more)
    return as_asked(snapshot, options.python_version, options.platform)


def _kind_of(options: argparse.Namespace) -> str | None:
    """The kind of target that the options name, if any."""
    given = target_of(options)
    if given == ["python", "root"]:  # the one within the other
        return "root"
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} are both targets: give one")
    if given == ["python"] and re.fullmatch(r"\d+(\.\d+)*t?", options.python) and not os.path.exists(options.python):
        meant = f"--python python{options.python}, or -r FILE --python-version {options.python}"
        raise UsageError(f"--python {options.python} is a version, not an interpreter; did you mean {meant}?")
    return given[0] if given else None


def _described(options: argparse.Namespace, kind: str | None) -> dict[str, Any]:
    """The options about the target of a requirements file; empty for any other kind, which has none of these."""
    described = {name: getattr(options, name) for name in ("python_version", "platform", "machine", "resolve")}
    if kind == "requirements":
        return described
    if kind in {None, "python"} and getattr(options, "project", None) is not None:
        described.update(python_version=None, platform=None)  # how its workers start there, which is judged
    name = next((name for name, value in described.items() if value), None)
    if name is not None:
        raise UsageError(f"--{name.replace('_', '-')} describes a requirements file: give it with -r FILE")
    return {}


def _beside(options: argparse.Namespace, kind: str | None) -> dict[str, Any]:
    """The ``project`` and ``artifacts`` that are named, and the current directory for a target on this machine."""
    given = options.project
    if given is not None and not _is_directory(given):
        raise UsageError(f"--project {given} is not a directory: give the one that holds the project")
    for path in options.artifact:
        if not os.path.exists(path):
            raise TargetError(f"--artifact {path} does not exist: give the file that the program loads")
    around = None if given is not None or kind in {"root", "snapshot", "pid"} else beside.default()
    return {"project": given, "surroundings": around, "artifacts": options.artifact}


def add_ignore(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves out findings."""
    parser.add_argument(
        "--ignore", metavar="RULE", action="append", default=[],
        help="count what this rule finds, but do not show it; may be given several times. For one package, with a "
        "reason and a last day, and for defaults of the other options: [tool.envdoctor] of pyproject.toml",
    )  # fmt: skip


def _is_directory(path: str) -> bool:
    """Whether a directory is there; the current one may have been removed since it was entered."""
    try:
        return os.path.isdir(os.path.abspath(path))
    except OSError:
        return False


def add_output(parser: argparse.ArgumentParser, *, formats: bool = True) -> None:
    """Add the options that say where the result goes and in which form."""
    if formats:
        add_format(parser, FORMATS)
        parser.add_argument("--all", action="store_true", help="all of it: text is otherwise cut after two screens")
        parser.add_argument(
            "--catalogue", metavar="ADDRESS", help="where the catalogue is served: findings name the page of their rule"
        )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")


def add_format(parser: argparse.ArgumentParser, formats: Iterable[str], default: str = "text") -> None:
    """Add the option that says in which form the result is printed."""
    parser.add_argument("-f", "--format", choices=[*formats], default=default, help=f"default: {default}")
