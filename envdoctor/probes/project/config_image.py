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
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_FROM = re.compile(r"(?:--\S+[ \t]+)*(\S+)(?:[ \t]+[Aa][Ss][ \t]+(\S+))?")
_ARGUMENT = re.compile(r"\$\{?(\w+)(?::-([^}]*))?\}?", re.ASCII)
_HEREDOC = re.compile(r"<<-?[\"']?(\w+)")
_COUNTED = ("RUN", "COPY", "ADD")
_STATED = ("USER", "WORKDIR", "CMD", "ENTRYPOINT")


def dockerfile(data: bytes) -> Contents:
    """``FROM``, ``USER``, ``CMD``, ``RUN.0`` and so on, and ``ENV.NAME``: what holds at the end of the last stage.

    A stage that begins with an earlier one has its entries; the variables of ``ARG`` are replaced by their defaults,
    and a command that is a list of words is there as a shell would be given it.
    """
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if text.count("\n") > _MOST_LINES:
        return (), f"it has more than {_MOST_LINES} lines, and was not read"
    stages: dict[str, dict[str, Entry]] = {}
    arguments: dict[str, str] = {}
    stage: dict[str, Entry] = {}
    numbers: Counter[str] = Counter()
    for line, word, rest in _instructions(text):
        if word == "ARG":
            name, _, default = rest.partition("=")
            arguments.setdefault(name.strip(), default.strip("\"' "))
        elif word == "FROM" and (begun := _FROM.match(_replaced(rest, arguments))):
            stage = dict(stages.get(begun[1].lower(), {"FROM": ("FROM", begun[1], line)}))
            stages[(begun[2] or "").lower()] = stage
            numbers = Counter(key.partition(".")[0] for key in stage)
        elif word == "ENV":
            stage.update({f"ENV.{name}": (f"ENV.{name}", value, line) for name, value in _variables(rest)})
        elif word in _COUNTED:
            key = f"{word}.{numbers[word]}"
            stage[key] = (key, rest, line)
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
            rest += "\n" + "\n".join(_until(lines, end[1]))
        while rest.rstrip().endswith("\\"):
            following = next((more for _, more in lines if not more.lstrip().startswith("#")), "")
            rest = rest.rstrip()[:-1] + " " + following
        yield number, word, rest


def _until(lines: Iterator[tuple[int, str]], end: str) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == end:
            return
        yield line


def _command(text: str) -> str:
    """The command line of ``["program", "argument"]``; a text that is no such list is one."""
    try:
        words = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        return text
    return shlex.join(map(str, words)) if words else text


def _replaced(text: str, arguments: dict[str, str]) -> str:
    return _ARGUMENT.sub(lambda found: arguments.get(found[1]) or found[2] or found[0], text)


def _variables(rest: str) -> Sequence[tuple[str, str]]:
    """``A=b C="d"``, and in the old form ``A b``."""
    try:
        words = shlex.split(rest)
    except ValueError:
        return ()
    if words and "=" not in words[0]:
        return [(words[0], " ".join(words[1:]))]
    return [(name, value) for name, _, value in (word.partition("=") for word in words)]
