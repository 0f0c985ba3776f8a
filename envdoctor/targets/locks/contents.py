"""The content of a lock file in any format, and how a file's bytes become text, tables and line numbers."""

from __future__ import annotations

import os
import re
import stat
import sys

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion

from envdoctor.engine.markers import YES, Verdict
from envdoctor.errors import ProbeError
from envdoctor.model import Location, Record, UnknownFact
from envdoctor.targets.marker_environment import Markers, environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

LARGEST = 50 * 1024 * 1024
_NAME = re.compile(r"[A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?", re.IGNORECASE | re.ASCII)
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


class Stated(Record):
    """The options that the user stated about the target."""

    python_version: str | None = None
    platform: str | None = None
    machine: str | None = None

    def markers(self) -> Markers:
        """The markers' environment."""
        return Markers(environment(self.python_version, self.platform, self.machine))


class TextFile(Record):
    """A file that was read: its path as the user wrote it, and its text, whose lines he may be able to look up."""

    path: str
    text: str
    numbered: bool = True

    @property
    def name(self) -> str:
        """The last part of the path."""
        return os.path.basename(self.path)

    def at(self, line: int | None) -> Location:
        """The place of a line or a table in the file, for evidence."""
        return Location(self.path, line if self.numbered else None)


class Entry(Record):
    """One version of a distribution that a file names; ``reason`` says why ``version`` is not known.

    ``optional`` says that only extras or groups of the project lead to it.
    """

    name: str
    version: str | None
    where: str
    verdict: Verdict = YES
    reason: str | None = None
    optional: bool = False


class Contents(Record):
    """The content of a file. ``python``, ``platform`` and ``machine`` are what it fixes by itself.

    ``of_pip`` are the names that pip installs where conda installs the others.
    """

    entries: Sequence[Entry]
    target: Mapping[str, Any] = {}
    python: str | None = None
    platform: str | None = None
    machine: str | None = None
    complete: bool = True
    of_pip: frozenset[str] = frozenset()
    notes: Sequence[UnknownFact] = ()


def note(reason: str, name: str | None = None) -> UnknownFact:
    """Something that could not be read: of one distribution, or of all."""
    return UnknownFact(rule=None, fact=f"packages.{name}" if name else "packages", reason=reason)


def load(path: str, why: str = "") -> TextFile:
    """Read a text file as pip does. Raises :class:`ProbeError` for what is no ordinary text file."""
    shown = f"{why}{path}"
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise ProbeError(f"{shown} is a directory: give the requirements or lock file in it")
        if not stat.S_ISREG(status.st_mode):
            raise ProbeError(f"{shown} is not an ordinary file: save its contents to one and give that")
        if status.st_size > LARGEST:
            size = f"{status.st_size // 2**20} MiB, more than the {LARGEST // 2**20} MiB"
            raise ProbeError(f"{shown} has {size} that a requirements or lock file may have: give another file")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise ProbeError(f"{shown} does not exist: give the path of a requirements or lock file") from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise ProbeError(f"{shown} could not be read ({cause}): see that it exists and may be read") from None
    return TextFile(path=path, text=_decode(data, shown))


def _decode(data: bytes, shown: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            break
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:  # names and versions are ASCII, so only comments can come out wrong
            text = data.decode("latin-1")
    if "\0" in text:
        raise ProbeError(f"{shown} is binary, not text: give a requirements or lock file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_toml(source: TextFile) -> dict[str, Any]:
    """The tables of a TOML file. Raises :class:`ProbeError` with the line."""
    try:
        return tomllib.loads(source.text)
    except (ValueError, RecursionError) as error:
        cause = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise malformed(source, f"as TOML ({cause})") from None


def malformed(source: TextFile, what: str, line: int | None = None) -> ProbeError:
    """The error for a file that is not in its format."""
    return ProbeError(f"{source.at(line)} could not be read {what}: lock again with the tool that wrote it")


def table(value: Any) -> dict[str, Any]:
    """A mapping, empty where it is something else."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list, empty where it is something else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The texts of a list, or one text by itself."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def text(value: Any) -> str | None:
    """A text that is not empty."""
    return value.strip() or None if isinstance(value, str) else None


def name_of(value: Any) -> str | None:
    """A normalised distribution name (PEP 503), or ``None`` where it is none."""
    if not isinstance(value, str) or not _NAME.fullmatch(value.strip()):
        return None
    return str(canonicalize_name(value.strip()))


def package_tables(
    source: TextFile, data: Mapping[str, Any], key: str
) -> tuple[list[tuple[int | None, Any]], list[UnknownFact]]:
    """The tables of ``[[key]]`` that have a name, each with its line, and a note for each that has none.

    Raises :class:`ProbeError` where the key holds something else.
    """
    value = data.get(key, [])
    if not isinstance(value, list):
        raise malformed(source, f"because {key!r} is not a list of tables")
    heading = re.compile(rf"[ \t]*\[\[[ \t]*{key}[ \t]*\]\]")
    lines: list[int | None] = [number for number, line in enumerate(source.text.split("\n"), 1) if heading.match(line)]
    if len(lines) != len(value):
        lines = [None] * len(value)
    found, notes = [], []
    for number, item in zip(lines, value):
        if isinstance(item, dict) and name_of(item.get("name")):
            found.append((number, item))
        else:
            notes.append(
                note(f"{source.at(number)}: an entry of {key!r} has no name of a distribution, and was left out")
            )
    return found, notes


def version_in_name(url: str) -> tuple[str, str] | None:
    """Name and version that the file name of a wheel or source archive says."""
    name = re.split(r"[/\\]", re.split(r"[?#]", url)[0])[-1].replace("%2B", "+").replace("%2b", "+")
    try:
        if name.endswith(".whl"):
            found, version = parse_wheel_filename(name)[:2]
        else:
            found, version = parse_sdist_filename(name)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return str(found), str(version)
