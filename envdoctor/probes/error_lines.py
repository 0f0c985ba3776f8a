"""The lines of pasted or piped text, without what other programs put around the words of the one that wrote them.

Taken off: colours, progress overwritten by a carriage return, the times and names that build services, containers,
clusters and loggers put in front, quotation marks, boxes, and the marks of test runners and exception groups.
The forms were seen in the logs under ``tests/data/logs``.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters of one line that are looked at for a form; what follows is kept as it is.
MOST_LINE = 4_000

#: The first line of a traceback, and the (dotted) name of an exception.
HEADER = r"(?:Exception Group )?Traceback \(most recent call last\)"
NAME = r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*"

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)"  # the title of a window
    r"|(?:\x1b|\u241b|\^\[|\\x1b|\\033|\\u001b)?\[\d{1,3}(?:;\d{1,3}){0,5}m"  # a colour; copying often loses its start
    r"|\x1b\[[0-?]{0,20}[ -/]{0,4}[@-~]|\x1b."
)
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(https?://[^()\s]{1,400}\)")  # a web page made one of a path or a number
_ENTITIES = {"&quot;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}
_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
_TELLING = r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt)\b(?=: |$)"
_PREFIXES = re.compile(
    "|".join(
        (
            r"\ufeff",
            r"(?:[\w .()/-]{1,80}\t){2}(?=\d{4}-\d\d-\d\dT)",  # a build service's job and step
            # the time, then a time zone, a worker, a stream
            (
                r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
                r"(?:: [A-Z]+/[\w-]+)?\]?(?: \d\d[OE]\+?)?[ ,:]?"
            ),
            r"\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?(?: {1,2}|$)",
            r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,100} [\w./-]{1,100}(?:\[\d+\])?: ",  # the log of a system
            r"##\[\w+\]|::error[^:]{0,200}::",  # a build service's own mark
            r" {0,8}#\d+ (?:\d+\.\d+(?: |$))?|\d{1,5}\.\d{1,3} (?=\S| )",  # a step of an image being built
            r"[A-Za-z][\w.-]{0,60} +\|(?: |$)",  # a container
            r"\((?:[\w.:<>-]{1,100} )?pid=\d+(?:, ip=[\w.:-]+)?\)(?: |$)",  # a worker in a cluster
            r"\[(?:rank ?\d+|default\d+|\d+,\d+|\d+)\](?:<std(?:out|err)>)?:(?: |$)",  # one of several processes
            rf"\[?{_LEVEL}\]?(?:[\s:|-][^\"'\n]{{0,120}}?)?[\s:|-](?={_TELLING})",  # a logger
            rf"(?:FAILED|ERROR) \S{{1,400}} - (?={_TELLING})",  # the summary of a test run
            r"E(?: {2,3}(?=\s*\S)|\s*$)",  # the error of a test
            r"\*\*(?=[A-Za-z])",  # bold print
            r"INTERNALERROR> ?",  # a test runner that failed itself
            r"In \[\d+\]: ?|\.\.\. |(?:> ?)+",  # a prompt, a quotation, the line that failed
            r"\s*[│┃×╰├╭└❱✗]+(?:─+[>▶]?)?\s?",  # noqa: RUF001 - a box
            r"\s*\|(?: |$)|\s*\+ (?=Exception Group)",  # a group of exceptions
        )
    )
)
_BOXES, _BOX_ENDS = tuple("│┃╭╰"), "│┃╮╯─ \t"
_SHARED = re.compile(rf"(?P<prefix>\S.{{0,199}}?){HEADER}")
_NOTEBOOK = re.compile(rf"{NAME}\s{{2,}}")
_TORN = re.compile(r'\s*File "[^"]{60,}$')
_TORN_IN_BOX = re.compile(r"(?:[~/]|[A-Za-z]:[\\/])[^\s:]{20,}$")


def clean(text: str) -> Iterator[tuple[str, str]]:
    """Each line as the prefix that was taken off, and the rest of it."""
    shared: re.Pattern[str] | None = None
    torn = ""
    for raw in _unfolded(text).split("\n"):
        if not raw:
            yield "", torn
            torn = ""
            continue
        line = raw.rstrip("\r").rpartition("\r")[2]
        prefix, line = _stripped(line.lstrip() if torn else line)
        line = torn + line.strip() if torn else line
        shared = _before_header(line) or shared
        if shared and (common := shared.match(line)):
            prefix, line = prefix + common.group(), line[common.end() :]
        torn = line if not torn and _is_torn(prefix, line) else ""
        if not torn:
            yield prefix, line
    if torn:
        yield "", torn


def _before_header(line: str) -> re.Pattern[str] | None:
    """What matches, with any numbers, the words in front of the first line of a traceback; ``None`` for any other."""
    found = _SHARED.match(line[:MOST_LINE])
    if not found or _NOTEBOOK.fullmatch(found["prefix"]):
        return None
    return re.compile(re.sub(r"\d+", r"\\d+", re.escape(found["prefix"])))


def _is_torn(prefix: str, line: str) -> bool:
    """Whether a line is a path that is broken at the edge of a window, and goes on in the next."""
    edge = _TORN_IN_BOX if "│" in prefix else _TORN
    return edge.match(line[:MOST_LINE]) is not None


def _unfolded(text: str) -> str:
    text = _ESCAPES.sub("", text.replace("\r\n", "\n")).replace("\x00", "")
    if "\n" not in text:
        text = text.replace("\r", "\n")
    if "](http" in text:
        text = _LINK.sub(r"\1", text)
    if "&quot;, line " in text or "&lt;module&gt;" in text:
        for entity, character in _ENTITIES.items():
            text = text.replace(entity, character)
    if "Error:` " in text:  # a quotation that begins in the middle of the line
        text = text.replace("Error:` ", "Error: ")
    if "last):\\n" not in text:
        return text
    return "\n".join(  # a traceback that a log holds as a JSON string
        line.replace("\\n", "\n").replace('\\"', '"') if "last):\\n" in line else line for line in text.split("\n")
    )


def _stripped(line: str) -> tuple[str, str]:
    prefix, head = "", line[:MOST_LINE]
    for _layer in range(6):
        found = _PREFIXES.match(head)
        if not found or not found.end():
            break
        prefix, head = prefix + found.group(), head[found.end() :]
    line = head + line[MOST_LINE:]
    if "**" in prefix:
        line = line.removesuffix("**")
    if prefix.lstrip().startswith(_BOXES):
        line = line.rstrip(_BOX_ENDS)
    return prefix, line


def source(prefix: str) -> str:
    """Which of several programs wrote a line with this prefix; empty where there is only one."""
    found = re.search(r"pid=\d+|^[\w.-]+(?= +\|)|^\[(?:rank ?|default)?[\d,]+\](?=:|<)", prefix)
    return found.group() if found else ""
