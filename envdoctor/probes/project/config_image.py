"""The instructions of a Dockerfile as entries with lines: of the image that it builds in the end."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.probes.project.config_text import Contents, Entry

_MOST_LINES = 2_000
#: Longer instructions are left as they are written, and longer values are put into none: they may double each other.
_LONGEST = 10_000
_LONGEST_VALUE = 200
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_FROM = re.compile(r"(?:--\S+[ \t]+)*(\S+)(?:[ \t]+[Aa][Ss][ \t]+(\S+))?")
_ARGUMENT = re.compile(r"\$\{?(\w+)(?::-([^}]*))?\}?", re.ASCII)
_CONTINUED = re.compile(r"\\[ \t]*\n")
_HEREDOC = re.compile(r"<<-?[\"']?(\w+)")
_COUNTED = ("RUN", "COPY", "ADD")
#: What of an instruction is for the builder: of ``COPY`` and ``ADD``, ``--from`` tells what there will be.
_FLAGS = re.compile(r"(?:--(?:mount|network|security)=\S+\s+)+")
_STATED = ("USER", "WORKDIR", "CMD", "ENTRYPOINT")


def dockerfile(data: bytes) -> Contents:
    """``FROM``, ``USER``, ``CMD``, ``RUN.0`` and so on, and ``ENV.NAME``: what holds at the end of the last stage.

    A stage that begins with an earlier one has its entries; variables are replaced by what ``ENV`` and the defaults of
    ``ARG`` say, and a command that is a list of words is there as a shell would be given it.
    """
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if text.count("\n") > _MOST_LINES:
        return (), f"it has more than {_MOST_LINES} lines, and was not read"
    stages: dict[str, dict[str, Entry]] = {}
    arguments: dict[str, str] = {}
    stage: dict[str, Entry] = {}
    numbers: Counter[str] = Counter()
    for line, word, written in _instructions(text):
        rest = _replaced(written, arguments)
        if word == "ARG":
            for name, _, default in (one.partition("=") for one in _words(rest)):
                arguments.setdefault(name, default)
        elif word == "FROM" and (begun := _FROM.match(rest)):
            stage = dict(stages.get(begun[1].lower(), {"FROM": ("FROM", begun[1], line)}))
            stages[(begun[2] or "").lower()] = stage
            numbers = Counter(key.partition(".")[0] for key in stage)
        elif word == "ENV":
            stage.update({f"ENV.{name}": (f"ENV.{name}", value, line) for name, value in _variables(rest)})
            arguments.update(_variables(rest))
        elif word in _COUNTED:
            key = f"{word}.{numbers[word]}"
            stage[key] = (key, _given(rest), line)
            numbers[word] += 1
        elif word in _STATED:
            stage[word] = (word, _command(rest.strip()), line)
    return list(stage.values()), None


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """Each instruction with the line that it begins in, its lines joined, without comments."""
    lines = enumerate(text.split("\n"), 1)
    for number, line in lines:
        if line.lstrip().startswith("#") or not (found := _INSTRUCTION.match(line)):
            continue
        word, rest = found[1].upper(), found[2]
        if end := _HEREDOC.search(rest):
            script = "\n".join(one for one in _until(lines, end[1]) if not one.lstrip().startswith("#"))
            rest = f"{rest[: end.start()]}\n{script}" if not rest[end.end() :].strip() else f"{rest}\n{script}"
            rest = _CONTINUED.sub(" ", rest)
        while rest.rstrip().endswith("\\"):
            following = next((more for _, more in lines if more.strip() and not more.lstrip().startswith("#")), "")
            rest = rest.rstrip()[:-1] + " " + following
        yield number, word, rest


def _until(lines: Iterator[tuple[int, str]], end: str) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == end:
            return
        yield line


def _given(text: str) -> str:
    """What an instruction runs or copies, without what is for the builder alone."""
    flags = _FLAGS.match(text)
    return _command(text[flags.end() :] if flags else text)


def _command(text: str) -> str:
    """The command line of ``["program", "argument"]``; a text that is no such list is one."""
    try:
        words = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        return text
    return shlex.join(map(str, words)) if words else text


def _replaced(text: str, known: dict[str, str]) -> str:
    """A text with the values of variables; a list of words is given to no shell, and keeps them."""
    if len(text) > _LONGEST or text.lstrip().startswith("["):
        return text
    return _ARGUMENT.sub(lambda one: _short(known.get(one[1])) or one[2] or one[0], text)


def _short(value: str | None) -> str | None:
    return value if value and len(value) <= _LONGEST_VALUE else None


def _variables(rest: str) -> Sequence[tuple[str, str]]:
    """``A=b C="d"``, and in the old form ``A b``."""
    words = _words(rest)
    if words and "=" not in words[0]:
        return [(words[0], " ".join(words[1:]))]
    return [(name, value) for name, _, value in (word.partition("=") for word in words)]


def _words(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return ()
