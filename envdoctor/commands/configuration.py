"""Defaults of options and findings to ignore: ``[tool.envdoctor]`` of ``pyproject.toml``, or ``envdoctor.toml``.

The nearest file counts, from the examined project's directory, or the current one, upwards to the root of the
repository, the user's home or the root of the file system. On the plain path: TOML is read only where a file has it.
"""

from __future__ import annotations

import os

from envdoctor.errors import UsageError
from envdoctor.probes.distributions import read_bytes
from envdoctor.renderers import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from envdoctor.model import Ignore

_OWN, _SHARED = "envdoctor.toml", "pyproject.toml"
#: A longer file is no configuration that somebody wrote.
_LIMIT = 1 << 22
#: What may be set: one of some words, a flag, or paths from the directory of the file on.
OPTIONS: dict[str, Any] = {
    "fail-on": ("error", "warning", "info", "never"),
    "format": tuple(FORMATS),
    "start-method": ("fork", "spawn", "forkserver"),
    "all": bool,
    "candidates": bool,
    "project": str,
    "rules": list,
    "artifact": list,
    "catalogue": "address",
}
_IGNORE = {"rule": str, "package": str, "reason": str, "until": "date"}


def find(directory: str | None = None) -> tuple[str, bytes] | None:
    """The nearest configuration, as the path of its file and what that holds; ``None`` where there is none."""
    try:
        here = os.path.abspath(directory or os.getcwd())
    except OSError:  # the current directory was removed
        return None
    home = os.path.expanduser("~")
    while True:
        for name in (_OWN, _SHARED):
            path = os.path.join(here, name)
            data = read_bytes(path, _LIMIT)
            if data is not None and (name == _OWN or _mentioned(data)):
                return path, data
        above = os.path.dirname(here)
        if here in (home, above) or os.path.exists(os.path.join(here, ".git")):
            return None
        here = above


def _mentioned(data: bytes) -> bool:
    """Whether a ``pyproject.toml`` may have the table: looking for it spares most runs an import."""
    return b"tool.envdoctor" in data or (b"envdoctor" in data and b"[tool]" in data)


def parse(parser: ArgumentParser, words: Sequence[str]) -> Namespace:
    """The options of a command line, with defaults from the configuration; ``ignoring`` are the wishes of both.

    Raises :class:`UsageError` for a word that is no option, and for what the configuration may not hold.
    """
    options = parser.parse_args(words)
    found = find(getattr(options, "project", None))
    wishes: list[Ignore] = []
    if found:
        defaults, wishes = settings_of(*found)
        known = {name: value for name, value in defaults.items() if hasattr(options, name)}
        parser.set_defaults(**known)
        options = parser.parse_args(words)
    if getattr(options, "ignore", None):
        from envdoctor.model import Ignore

        wishes += [Ignore(rule=rule, source="--ignore") for rule in options.ignore]
    options.ignoring = wishes
    return options


def settings_of(path: str, data: bytes) -> tuple[dict[str, Any], list[Ignore]]:
    """The defaults by the names of their options, and the findings to ignore.

    Raises :class:`UsageError`, with file and key, for the first thing that is wrong.
    """
    text, document = _loaded(path, data)
    own = os.path.basename(path) == _OWN
    table = document if own else _of_tool(path, document)
    prefix = "" if own else "tool.envdoctor."
    for key in table:
        _known(key, [*OPTIONS, "ignore"], f"{path}: {prefix}{key}")
    home = os.path.dirname(path)
    defaults = {
        key.replace("-", "_"): _default(f"{path}: {prefix}{key}", OPTIONS[key], value, home)
        for key, value in table.items()
        if key in OPTIONS
    }
    stated = table.get("ignore", [])
    where = f"{path}: {prefix}ignore"
    if not isinstance(stated, list) or not all(isinstance(entry, dict) for entry in stated):
        raise UsageError(f'{where} must be a list of tables: ignore = [{{rule = "...", reason = "..."}}]')
    lines = _lines(text, [str(entry.get("rule")) for entry in stated])
    return defaults, [_wish(where, entry, f"{path}, line {line}") for entry, line in zip(stated, lines)]


def _loaded(path: str, data: bytes) -> tuple[str, dict[str, Any]]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib as reader
    else:
        import tomli as reader
    try:
        text = data.decode("utf-8-sig")
        return text, reader.loads(text)
    except (ValueError, RecursionError) as error:  # one line: the message may quote the file
        raise UsageError(f"{path} is not TOML: {' '.join(str(error).split())}") from error


def _of_tool(path: str, document: dict[str, Any]) -> dict[str, Any]:
    """The table of a ``pyproject.toml``."""
    tools = document.get("tool", {})
    table = tools.get("envdoctor", {}) if isinstance(tools, dict) else tools
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.envdoctor must be a table, as in [tool.envdoctor]")
    return table


def _known(key: str, names: Sequence[str], where: str) -> None:
    if key in names:
        return
    import difflib

    close = difflib.get_close_matches(key.replace("_", "-"), names, 1)
    raise UsageError(
        f"{where} is no option; " + (f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}")
    )


def _default(where: str, kind: Any, value: Any, home: str) -> Any:
    """The value of an option, with paths made absolute."""
    if isinstance(kind, tuple):
        if value not in kind:
            raise UsageError(f"{where} is {value!r}: give one of {', '.join(kind)}")
        return value
    items = value if kind is list and isinstance(value, list) else [value]
    if not all(isinstance(item, bool if kind is bool else str) for item in items):
        expected = {bool: "true or false", list: "a text or a list of them"}.get(kind, "a text")
        raise UsageError(f"{where} is {value!r}: give {expected}")
    if kind in (bool, "address"):
        return value
    paths = [os.path.join(home, item) for item in items]
    return paths if kind is list else paths[0]


def _wish(where: str, entry: dict[str, Any], source: str) -> Ignore:
    from envdoctor.model import Ignore

    for key, value in entry.items():
        _known(key, list(_IGNORE), f"{where}: {key}")
        if key != "until" and not isinstance(value, str):
            raise UsageError(f"{where}: {key} is {value!r}: give a text ({source})")
    for key in ("rule", "reason"):
        if not entry.get(key):
            raise UsageError(f'{where}: an entry without {key}: write {key} = "..." ({source})')
    return Ignore(
        source=source, **{**entry, "until": _day(where, entry["until"], source) if "until" in entry else None}
    )


def _day(where: str, value: object, source: str) -> str:
    """A date as ``YYYY-MM-DD``, given as a date of TOML or as text."""
    from datetime import date

    text = str(value)
    try:
        return date.fromisoformat(text[:10] if isinstance(value, date) else text).isoformat()
    except ValueError as error:
        raise UsageError(f"{where}: until is {text!r}: give a date, as in until = 2027-03-01 ({source})") from error


def _lines(text: str, rules: Sequence[str]) -> list[int]:
    """The line of each entry: that of its rule, or of the list where the rule is spelled in an odd way."""
    import re

    start = re.search(r"^\s*(\[\[?.*)?ignore\b", text, re.MULTILINE)
    first = at = start.start() if start else 0
    lines = []
    for rule in rules:
        found = re.compile(rf"\brule[\"']?\s*=\s*[\"']{re.escape(rule)}[\"']").search(text, at)
        at = found.end() if found else at
        lines.append(text.count("\n", 0, found.start() if found else first) + 1)
    return lines
