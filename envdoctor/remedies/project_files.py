"""What a plan changes in the files of a project, as texts: single lines, and the rest byte for byte as it was. Pure.

An edit of configuration is read back: it is accepted only where exactly the one entry has changed.
"""

from __future__ import annotations

import json
import re
from typing import Any

from envdoctor.engine.installed_requirements import normalise, parts
from envdoctor.engine.versions import within
from envdoctor.probes.project.config import contents, format_of
from envdoctor.remedies.ranges import narrowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from envdoctor.model import Remedy
    from envdoctor.plans import Move

    #: The range to state in the place of a stated one, for a move.
    Narrow = Callable[[str, Move], str]
    Read = Callable[[str], Sequence[str]]

_VALUE = r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}}\]#"']+)"""
_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*")
_REQUIREMENT = re.compile(
    r"^(\s*)([A-Za-z0-9][\w.-]*(?:\s*\[[^]]*\])?)(\s*)([^#;\\]*?)(\s*(?:[;\\].*|#.*| --.*)?)$", re.DOTALL
)
#: What a file of requirements says without an operator is not about releases.
_OPERATORS = "<>=!~("


#: Where a project says what it requires.
_LISTS = (
    "project.dependencies.", "project.optional-dependencies.", "dependency-groups.", "tool.pdm.dev-dependencies.",
    "tool.uv.dev-dependencies.",
)  # fmt: skip
_TABLE = re.compile(
    r"(?:tool\.poetry\.(?:group\.[^.]+\.)?(?:dev-)?dependencies|packages|dev-packages)\.(.+?)(?:\.version)?$"
)


def entry(remedy: Remedy, text: str) -> str | None:
    """The text of a remedy's file with its entry set; ``None`` where that cannot be done on its line alone."""
    name = remedy.file or ""
    lines = text.splitlines(keepends=True)
    number = remedy.line or 0
    if not 0 < number <= len(lines) or not remedy.key:
        return None
    if remedy.write is not None:
        line, old = lines[number - 1], remedy.replaces or lines[number - 1].strip()
        lines[number - 1] = line.replace(old, remedy.write, 1)
        return _checked(name, text, lines, remedy)
    key, form = remedy.key.rpartition(".")[2], format_of(name)
    found = re.compile(rf"""(["']?){re.escape(key)}\1\s*[:=]\s*{_VALUE.replace("}}", "}")}""").search(lines[number - 1])
    if found is None:
        return None
    line = lines[number - 1]
    lines[number - 1] = line[: found.start(2)] + _literal(remedy.to, form, line) + line[found.end(2) :]
    return _checked(name, text, lines, remedy)


def _checked(name: str, before: str, lines: Iterable[str], remedy: Remedy) -> str | None:
    made = "".join(lines)
    return made if _is_set(name, before, made, remedy) else None


def _literal(value: Any, form: str, line: str) -> str:
    """A scalar as a format writes it; one of YAML in the case that the line's writer prefers."""
    if form in {"ini", "env"}:
        return str(value)
    if form == "python":
        return repr(value)
    if form == "yaml" and isinstance(value, bool):
        return str(value) if re.search(r"\b(?:True|False)\b", line) else str(value).lower()
    if form == "yaml" and isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value)


def _is_set(name: str, before: str, after: str, remedy: Remedy) -> bool:
    """Whether exactly one entry differs, and is what it is to be."""
    old, gap = contents(name, before.encode())
    new, other_gap = contents(name, after.encode())
    if gap or other_gap or [path for path, *_ in old] != [path for path, *_ in new]:
        return False
    pairs = ((path, was, value) for (path, was, _), (_, value, _) in zip(old, new))
    changed = {path: value for path, was, value in pairs if (type(was), was) != (type(value), value)}
    ends = {path.rpartition(".")[2] for path in changed}  # an entry that is repeated changes with its copies
    return remedy.key in changed and len(ends) == 1 and {*map(str, changed.values())} == {str(remedy.to)}


def requirements(text: str, moves: Iterable[Move], narrow: Narrow = narrowed, *, steers: bool = False) -> str:
    """A requirements or constraints file in which every range admits what a plan moves to.

    With ``steers`` all that moves is written, and added where nothing is said of it, so that a resolver takes the plan.
    """
    wanted = {one.package: one for one in moves}
    lines = text.splitlines(keepends=True)
    made = "".join(_admitting(line, wanted, narrow, steers=steers) for line in lines)
    named = set(map(_named, lines)) if steers else wanted.keys()
    more = [one for one in wanted.values() if one.after and one.package not in named]
    if more and made and not made.endswith("\n"):
        made += "\n"
    return made + "".join(f"{one.package}{narrow('', one)}  # {next(iter(one.why), '')}\n" for one in more)


def declared(
    text: str, moves: Iterable[Move], narrow: Narrow = narrowed, read: Read | None = None, *, steers: bool = False
) -> str:
    """A ``pyproject.toml``, or with ``read`` also a ``Pipfile``, whose requirements admit what a plan moves to.

    ``read`` gives the specifiers of which a version in a table of requirements has to meet one. With ``steers`` every
    requirement of what moves is written, so that a resolver takes the release of the plan.
    """
    wanted = {one.package: one for one in moves if one.after}  # a tool's own command takes out what goes
    lines = text.splitlines(keepends=True)
    for path, value, number in contents("pyproject.toml", text.encode())[0]:
        made, table = value, _TABLE.match(path)
        if isinstance(value, str) and path.startswith(_LISTS):
            made = _admitting(value, wanted, narrow, steers=steers)
        elif isinstance(value, str) and table and read and normalise(table[1]) in wanted:
            made = _entered(value, wanted[normalise(table[1])], narrow, read, steers=steers)
        if made != value:
            _exchange(lines, (number or 1) - 1, value, made)
    return "".join(lines)


def _entered(value: str, move: Move, narrow: Narrow, read: Read, *, steers: bool) -> str:
    """A version in a table of requirements, where a plan moves what it is about; one that is not understood stays."""
    stated = read(value)
    unclear = len(stated) != 1 and value.strip() not in {"", "*"}
    if unclear or move.after is None or (not steers and within(move.after, ",".join(stated)) is True):
        return value
    made = narrow(",".join(stated), move)
    return made[2:] if value[:1].isdigit() and made.startswith("==") else made


def _exchange(lines: list[str], first: int, value: str, made: str) -> None:
    """Replace a value in quotes with another one, in the first line from a line on that has it; not with nothing."""
    for number, quote in ((number, quote) for number in range(first, len(lines)) for quote in "\"'"):
        if made and quote + value + quote in lines[number]:
            lines[number] = lines[number].replace(quote + value + quote, quote + made + quote, 1)
            return


def _named(line: str) -> str | None:
    """The name that a line of requirements begins with."""
    found = _REQUIREMENT.match(line.rstrip("\r\n"))
    return normalise(found[2].partition("[")[0].strip()) if found else None


def _admitting(line: str, moves: dict[str, Move], narrow: Narrow, *, steers: bool = False) -> str:
    body = line.rstrip("\r\n")
    found, move = _REQUIREMENT.match(body), moves.get(_named(line) or "")
    if found is None or move is None or "--hash" in line:
        return line
    start, name, space, specifier, rest = found.groups()
    stated = _range(name, specifier)
    if stated is None or _admits(move, specifier, stated, steers=steers):
        return line
    end = rest + line[len(body) :]
    if move.after is None:
        return start + move.heir + end if move.heir else ""
    return start + name + _written(narrow(stated, move), space, specifier) + end


def _admits(move: Move, specifier: str, stated: str, *, steers: bool) -> bool:
    """Whether a requirement may stay as it is: its range admits the release, and it need not be written."""
    return move.after is not None and not steers and (not specifier or within(move.after, stated) is True)


def _range(name: str, specifier: str) -> str | None:
    """The range that a requirement states; ``None`` where it is not about releases."""
    found = parts(name + specifier) if specifier[:1] in _OPERATORS else None
    return None if found is None or found[3] else found[2]


def _written(made: str, space: str, specifier: str) -> str:
    """A range in the place of a specifier, in brackets where that was; of none, before what followed the name."""
    if specifier[:1] == "(":
        return f"{space}({made})"
    return space + made if specifier else made + space
