"""Pasted or piped text -> what failed: exceptions, messages and frames, whatever printed, wrapped or cut them.

The forms are those of the ``traceback`` and ``faulthandler`` modules of CPython 3.6 to 3.14, test runners, notebooks,
installers, compilers, the dynamic loader and process pools; ``tests/data/logs`` holds real ones. Reading never
fails: text that says nothing gives no failures.
"""

from __future__ import annotations

import re
from collections import Counter

from envdoctor.model import Record
from envdoctor.probes.error_lines import MOST_LINE, clean
from envdoctor.probes.error_reader import drafts, signal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from envdoctor.probes.error_reader import Draft, Spot

#: Characters of a text that are read; of longer ones the head and the tail.
MOST_TEXT = 2_000_000
_MOST_FAILURES, _MOST_FRAMES, _MOST_MESSAGE = 100, 400, 20_000


class Frame(Record):
    """One line of a traceback. ``module`` is the dotted name that ``file`` is imported by, as far as the path shows it.

    ``installed`` says that the path runs through ``site-packages``, ``standard_library`` that it is Python's own.
    """

    file: str
    line: int | None = None
    function: str | None = None
    code: str | None = None
    module: str | None = None
    standard_library: bool = False
    installed: bool = False

    @property
    def package(self) -> str | None:
        """The import name of the installed package that the frame is in; ``None`` for a script or Python's own."""
        module = self.module or ""
        if self.standard_library or not (self.installed or "." in module):
            return None
        return module.partition(".")[0] or None


class Failure(Record):
    """One thing that failed, with its frames, the innermost last.

    ``exception`` is the name as printed, or ``None`` where the text shows none (a compiler's error, a signal, a copy
    without its last line). ``notes`` are the lines of ``message`` after the first: a message of several lines and
    the notes of an exception print alike. ``exit_signal`` is a name such as ``SIGSEGV``; ``prefix`` what stood in
    front of the line. ``chained`` says how it follows from the failure before it: ``cause`` (raised by that),
    ``context`` (while that was handled), ``group`` (part of that), ``ignored`` (Python went on), or ``None``.
    ``complete`` says that the head of the traceback was seen, so that a missing frame is not merely cut off.
    """

    exception: str | None
    message: str
    frames: tuple[Frame, ...] = ()
    exit_signal: str | None = None
    prefix: str = ""
    chained: str | None = None
    notes: tuple[str, ...] = ()
    complete: bool = False


class ErrorText(Record):
    """The content of a text: the failures in their order, the cleaned text, and the versions that it names.

    ``versions`` maps a normalised distribution name to a version; ``python`` is a version such as ``3.11.7`` or
    ``3.11``, or ``None``. ``notes`` say what of the text was left out.
    """

    failures: tuple[Failure, ...]
    text: str
    versions: Mapping[str, str] = {}
    python: str | None = None
    notes: tuple[str, ...] = ()


def read(text: str) -> ErrorText:
    """The failures in a traceback, a log, or a part of one."""
    notes = []
    if len(text) > MOST_TEXT:
        text = f"{text[: MOST_TEXT // 2]}\n\n{text[-MOST_TEXT // 2 :]}"
        notes.append(f"the text is long: only its first and last {MOST_TEXT // 2} characters were read")
    lines = list(clean(text))
    found = drafts(lines)
    if len(found) > _MOST_FAILURES:
        notes.append(f"only the first and last {_MOST_FAILURES // 2} of {len(found)} failures were kept")
    cleaned = "\n".join(line for _prefix, line in lines)
    return ErrorText(
        failures=tuple(_failure(draft) for draft in _ends(found, _MOST_FAILURES)),
        text=cleaned,
        versions=_versions(cleaned),
        python=_python(cleaned),
        notes=tuple(notes),
    )


def _ends(items: list[Any], most: int) -> list[Any]:
    return items if len(items) <= most else items[: most // 2] + items[-(most // 2) :]


def _failure(draft: Draft) -> Failure:
    message = "\n".join(draft.lines).strip()[:_MOST_MESSAGE]
    return Failure(
        exception=draft.exception,
        message=message,
        frames=tuple(_frame(spot) for spot in _ends(draft.frames, _MOST_FRAMES)),
        exit_signal=draft.signal or signal_of(message[:MOST_LINE]),
        prefix=draft.prefix,
        chained=draft.chained,
        notes=tuple(line.strip() for line in message.split("\n")[1:] if line.strip()),
        complete=draft.complete,
    )


# -- frames -------------------------------------------------------------------------------------------------------

_INSTALLED = re.compile(r".*(?:site|dist)-packages/(?:[^/]+\.egg/)?")
_LIBRARY = re.compile(
    r"(?i).*(?:/lib(?:64|32)?/(?:pypy|python)[\d.]+t?/|/python[\d.]*/lib/|/x(?:64|86)/lib/|conda\d?/lib/)"
)
_ENDING = re.compile(r"(?:/__init__)?\.(?:pyx?|pyi|pxd|[\w.-]*so|pyd)$")


def _frame(spot: Spot) -> Frame:
    path = spot.file.replace("\\", "/")
    frozen = re.fullmatch(r"<frozen ([\w.]+)>", path)
    installed = _INSTALLED.match(path)
    library = None if installed else _LIBRARY.match(path)
    root = installed or library
    module = frozen[1] if frozen else _dotted(path[root.end() :]) if root else _guessed(path)
    return Frame(
        file=spot.file,
        line=spot.line,
        function=spot.function,
        code=spot.code,
        module=module or None,
        standard_library=bool(frozen or library),
        installed=bool(installed),
    )


def _guessed(path: str) -> str:
    """The name that a file outside every known root is most likely imported by."""
    if path.startswith("<") or not _ENDING.search(path):
        return ""
    if path.startswith(("/", "~")) or path[1:2] == ":":
        path = "/".join(path.split("/")[-2 if "/__init__." in path else -1 :])
    return _dotted(path.lstrip("./"))


def _dotted(path: str) -> str:
    return _ENDING.sub("", path).replace("/", ".")


# -- versions -----------------------------------------------------------------------------------------------------

_NAMED = r"(?P<name>[A-Za-z][\w.]{0,60}(?:-[A-Za-z_][\w.]{0,60}){0,6})"
_VERSION = r"(?P<version>\d[\w.!+]{0,60})"
_VERSIONED = tuple(
    re.compile(form, re.MULTILINE)
    for form in (  # the most telling last
        rf"^[ \t]{{0,20}}(?:[+-] ?)?(?:Collecting )?{_NAMED}==(?P<version>\d[\w.!+-]{{0,60}}?)(?=$|[ \t;\\])",
        rf"^[ \t]{{0,20}}(?:Downloading|Using cached) (?:\S{{1,200}}/)?{_NAMED}-{_VERSION}(?=-|\.tar|\.zip|\.whl)",
        rf"^[ \t]{{0,20}}Requirement already satisfied: {_NAMED}.{{1,400}}\((?P<version>\d[\w.!+]{{0,60}})\)$",
        rf"[/\\]{_NAMED}-{_VERSION}(?=\.dist-info|\.egg-info|-py\d\.\d+\.egg)",
        rf"^(?:ERROR: )?{_NAMED} {_VERSION} (?=requires |has requirement )",
        rf"you(?:'ll)? have {_NAMED} {_VERSION}(?= which|,)",
    )
)
_EXACT = re.compile(
    r"^[ \t]{0,8}(?:C?Python|python_version|Python version)(?::? v?| ?==? ?)(?P<exact>[23]\.\d{1,2}(?:\.\d{1,2})?)"
    r"(?=[\w+]{0,6}(?:$| \(| \||,| \[| environment))|(?:-- |[Uu]sing C?)Python (?P<also>[23]\.\d{1,2}(?:\.\d{1,2})?)\b",
    re.MULTILINE,
)
_MINOR = re.compile(r"(?i)(?:[/\\-](?:lib/)?c?python-?|[/\\]envs[/\\]py|-cp)([23])\.?(\d{1,2})(?=t?[/\\.\s-])")


def _versions(text: str) -> dict[str, str]:
    found = {_normal(m["name"]): m["version"].rstrip(".") for form in _VERSIONED for m in form.finditer(text)}
    for line in re.findall(r"^[ \t]{0,20}Successfully installed (.{1,20000})", text, re.MULTILINE):
        for item in line.split():
            name, _, version = item.rpartition("-")
            if name and version[:1].isdigit():
                found[_normal(name)] = version
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _python(text: str) -> str | None:
    """The version that a line states, or the one that most of the paths name."""
    minors = Counter(f"{major}.{minor}" for major, minor in _MINOR.findall(text))
    common = minors.most_common(1)[0][0] if minors else None
    exact = [m["exact"] or m["also"] for m in _EXACT.finditer(text)]
    fitting = [version for version in exact if common is None or f"{version}.".startswith(f"{common}.")]
    return (fitting or [common or None])[-1]
