"""TOML, JSON, INI and ``.env`` files as entries with lines. Every reader takes bytes and raises nothing."""

from __future__ import annotations

import re
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    #: The dotted path of a value, the value, and its line where that is known.
    Entry = tuple[str, Any, int | None]
    #: The entries of a file, and what of it could not be read: ``line 3: ...``.
    Contents = tuple[Sequence[Entry], str | None]

#: What one file may hold: values, and levels.
MOST_ENTRIES = 100_000
DEEPEST = 100
_TOO_MANY = f"it has more than {MOST_ENTRIES} values, and was not read"
_TOO_DEEP = f"it is nested deeper than {DEEPEST} levels, and was not read"
_PART = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_DOT = r"[ \t]*\.[ \t]*"
_KEY = rf"{_PART}(?:{_DOT}{_PART})*"
#: The parser's time grows with the square of a key's length.
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_\\-])(?:{_PART}{_DOT}){{20}}")
_HEADER = re.compile(rf"[ \t]*(\[{{1,2}})[ \t]*({_KEY})[ \t]*\]{{1,2}}[ \t]*(?:#.*)?$")
_ASSIGNED = re.compile(rf"[ \t]*({_KEY})[ \t]*=(.*)")
_ONE_PART = re.compile(_PART)
_VARIABLE = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*"
    r"(?:\"([^\"\\]*(?:\\[\s\S][^\"\\]*)*)\"|'([^']*)'|`([^`]*)`|([^\n]*))",
    re.ASCII | re.MULTILINE,
)
_COMMENT = re.compile(r"(?:^|[ \t])#")
#: What precedes the ``=`` of a line, and a run of spaces in it: the parser's time grows with the square of that.
_BEFORE = re.compile(r"(\s*)([^=:]*)")
_WIDE = re.compile(r"[^\S\n]{5,}")
#: The option of a systemd unit whose values add up, each of them to those before it; an empty one takes them back.
_REPEATED = "Service.Environment"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TOKEN = re.compile(r"[\s,:]*([{}\[\]\"]|[^\s,:{}\[\]\"]+)?")
_LITERALS = {"true": True, "false": False, "null": None}


def _decoded(data: bytes, errors: str = "replace") -> str:
    return data.decode("utf-8-sig", errors)


def _is_crowded(data: bytes, marks: bytes) -> bool:
    """Whether a file contains more than may be built of it; checked before anything is."""
    return sum(data.count(mark) for mark in marks) > MOST_ENTRIES


def _flat(value: Any, *, empty: bool = False) -> Iterator[tuple[str, Any]]:
    """The scalars of nested tables and lists, by dotted path. Raises :class:`RecursionError` if too deep.

    With ``empty`` a table or list without any is there as the empty text.
    """
    todo: list[tuple[str, Any, int]] = [("", value, 0)]
    while todo:
        path, value, level = todo.pop()
        if level > DEEPEST:
            raise RecursionError
        if isinstance(value, (dict, list)) and (value or not empty):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            todo += [(f"{path}.{name}" if path else str(name), one, level + 1) for name, one in reversed(list(items))]
        else:
            is_plain = isinstance(value, (str, int, float, type(None)))
            yield path, value if is_plain else "" if isinstance(value, (dict, list)) else str(value)


# --- TOML -----------------------------------------------------------------------------------------------------------


def toml(data: bytes) -> Contents:
    """The values of a TOML file; dates are text."""
    try:
        import tomllib as reader  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        import tomli as reader  # type: ignore[no-redef, unused-ignore]

    if _is_crowded(data, b"=[,"):
        return (), _TOO_MANY
    try:
        text = _decoded(data, "strict").replace("\r\n", "\n")
        if _LONG_KEY.search(text):
            return (), "it has a key of more than 20 parts, and was not read"
        values = list(_flat(reader.loads(text), empty=True))
    except RecursionError:
        return (), _TOO_DEEP
    except UnicodeDecodeError:
        return (), "it is not valid UTF-8"
    except ValueError as error:
        return (), f"it is not valid TOML: {error}"
    lines = _toml_lines(text)
    return [(path, value, _line_of(path, lines)) for path, value in values], None


def _line_of(path: str, lines: dict[str, int]) -> int | None:
    """The line of a key, or of the key whose list or inline table holds it."""
    while path not in lines:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return None
    return lines[path]


def _toml_lines(text: str) -> dict[str, int]:
    """The line of every table and assignment, by dotted path. The file is known to be valid."""
    lines: dict[str, int] = {}
    numbers: dict[str, int] = {}
    table = ""
    closing = None
    for number, line in enumerate(text.split("\n"), 1):
        if closing:
            closing = None if closing in line else closing
            continue
        header = _HEADER.match(line)
        assigned = None if header else _ASSIGNED.match(line)
        if header:
            table = _table(_parts(header[2]), numbers, several=len(header[1]) > 1)
            lines.setdefault(table, number)
        elif assigned:
            path = ".".join(_parts(assigned[1]))
            lines.setdefault(f"{table}.{path}" if table else path, number)
        rest = assigned[2] if assigned else line
        closing = next((mark for mark in ('"""', "'''") if rest.count(mark) % 2), None)
    return lines


def _parts(key: str) -> list[str]:
    return [part[1:-1] if part[0] in "\"'" else part for part in _ONE_PART.findall(key)]


def _table(parts: list[str], numbers: dict[str, int], *, several: bool) -> str:
    """The path of a table; ``[[name]]`` begins the next of several, and ``[name.sub]`` belongs to the last of them."""
    path = ""
    for position, part in enumerate(parts, 1):
        path = f"{path}.{part}" if path else part
        if several and position == len(parts):
            numbers[path] = numbers.get(path, -1) + 1
        if path in numbers:
            path = f"{path}.{numbers[path]}"
    return path


# --- JSON -----------------------------------------------------------------------------------------------------------


def json(data: bytes) -> Contents:
    """The values of a JSON file; the last of two keys of the same name counts."""
    from json import JSONDecodeError, detect_encoding, loads

    if _is_crowded(data, b",["):
        return (), _TOO_MANY
    try:
        text = data.decode(detect_encoding(data))
        loads(text)
        return list({entry[0]: entry for entry in _json(text)}.values()), None
    except RecursionError:
        return (), _TOO_DEEP
    except UnicodeDecodeError:
        return (), "it is not valid text"
    except JSONDecodeError as error:
        return (), f"line {error.lineno}: it is not valid JSON: {error.msg}"
    except ValueError as error:  # a number of too many digits
        return (), f"it is not valid JSON: {error}"


def json_values(data: bytes) -> tuple[Iterator[tuple[str, Any]], str | None]:
    """The scalars of a large JSON file by dotted path, one after the other, and why there are none."""
    from json import detect_encoding, loads

    try:
        return _flat(loads(data.decode(detect_encoding(data)))), None
    except RecursionError:
        return iter(()), _TOO_DEEP
    except ValueError as error:  # also of its encoding
        return iter(()), f"it is not valid JSON: {error}"


def _json(text: str) -> Iterator[Entry]:
    """The values of a valid document in order, with lines."""
    from json.decoder import scanstring  # type: ignore[attr-defined]

    frames: list[tuple[str, list[Any]]] = []  # the path, and the key or position of what comes next
    at, line, counted = 0, 1, 0
    while True:
        token = _TOKEN.match(text, at)
        if token is None or token[1] is None:
            return
        word, at = token[1], token.end()
        line, counted = line + text.count("\n", counted, token.start(1)), token.start(1)
        if word in "}]":
            frames.pop()
            _advance(frames)
        elif word in "{[":
            if len(frames) > DEEPEST:
                raise RecursionError
            frames.append((_here(frames), [None if word == "{" else 0]))
        else:
            if word == '"':
                value, at = scanstring(text, at)
                if frames and frames[-1][1][0] is None:
                    frames[-1][1][0] = value
                    continue
            else:
                value = _LITERALS[word] if word in _LITERALS else _number(word)
            yield _here(frames), value, line
            _advance(frames)


def _here(frames: list[tuple[str, list[Any]]]) -> str:
    if not frames:
        return ""
    path, (key,) = frames[-1]
    return f"{path}.{key}" if path else str(key)


def _advance(frames: list[tuple[str, list[Any]]]) -> None:
    if frames:
        key = frames[-1][1]
        key[0] = key[0] + 1 if isinstance(key[0], int) else None


def _number(word: str) -> float:
    try:
        return int(word)
    except ValueError:
        return float(word)


# --- INI ------------------------------------------------------------------------------------------------------------


class _Lines:
    """Lines of a text that know how many of them were read. One is put before them, to hold what is in no section."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self.number = -1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.number += 1
        if self.number > len(self._lines):
            raise StopIteration
        return self._lines[self.number - 1] + "\n" if self.number else "[\0]\n"


def _narrow(line: str) -> str:
    match = _BEFORE.match(line)
    return line if match is None else f"{match[1]}{_WIDE.sub(' ', match[2])}{line[match.end() :]}"


def ini(data: bytes) -> Contents:
    """The options of an INI file as ``section.option``, all of them text; without interpolation."""
    import configparser

    if _is_crowded(data, b"[\n"):
        return (), _TOO_MANY
    text = _decoded(data).replace("\r\n", "\n").replace("\0", "\ufffd")
    lines = _Lines("\n".join(map(_narrow, text.split("\n"))) if _WIDE.search(text) else text)
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section="\0\0")
    # The parser keeps no lines, but asks how to write each option as it reads it.
    parser.optionxform = lambda name: f"{name}\0{lines.number}"  # type: ignore[method-assign, assignment]
    problem = None
    try:
        parser.read_file(lines)
    except (configparser.Error, AttributeError) as error:  # older parsers stumble over a value that follows none
        errors = getattr(error, "errors", None)
        problem = f"line {errors[0][0] - 1 if errors else lines.number}: it is not a valid INI file"
    entries: dict[str, Entry] = {}
    variables: list[str] = []
    for section in parser.sections():
        for option, value in parser.items(section):
            name, _, number = option.partition("\0")
            path = name if section == "\0" else f"{section}.{name}"
            said = "\n".join(value) if isinstance(value, list) else value
            entries[path] = path, said, int(number)
            if path == _REPEATED:
                variables = variables if said else []
                variables.append(said or "")
    if variables:
        entries[_REPEATED] = _REPEATED, " ".join(variables).strip(), entries[_REPEATED][2]
    return list(entries.values()), problem


# --- .env -----------------------------------------------------------------------------------------------------------


def env(data: bytes) -> Contents:
    """The variables of a ``.env`` file, all of them text; a variable in a value is left as it is written."""
    if _is_crowded(data, b"="):
        return (), _TOO_MANY
    text = _decoded(data).replace("\r\n", "\n")
    entries: dict[str, Entry] = {}
    line, counted = 1, 0
    for match in _VARIABLE.finditer(text):
        line, counted = line + text.count("\n", counted, match.start(1)), match.start(1)
        name, double, single, back, plain = match.groups()
        if plain is not None:
            value = _COMMENT.split(plain, maxsplit=1)[0].strip()
        else:
            value = _ESCAPED.sub(_unescaped, double) if double is not None else single if back is None else back
        entries[name] = name, value, line
    return list(entries.values()), None


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1])
