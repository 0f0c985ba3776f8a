"""What git ignores by its ``.gitignore`` files. Git itself is never run: its configuration can run programs.

Names are matched as git does it, byte by byte: every text here holds the bytes of a name as latin-1 (:func:`bytewise`).
An expression made of one name's pattern cannot backtrack, so that a hostile file costs no time.
The rules are those of https://git-scm.com/docs/gitignore; the tests compare them with ``git check-ignore``.
pathspec 1.1 was tried in place of this: it looks back over a name (``*a*a*a*a*b`` takes it minutes), says of a path
that it is ignored because a directory above is, which is wrong where that directory is what is examined, and differs
from git in ``x/**/``.
"""

from __future__ import annotations

import os
import re

from envdoctor.probes.project.globs import closed, match_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from envdoctor.probes.project.globs import Segment

_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda one: one in " \t",
    "cntrl": lambda one: one < " " or one == "\x7f",
    "digit": str.isdigit,
    "graph": lambda one: "!" <= one <= "~",
    "lower": str.islower,
    "print": lambda one: " " <= one <= "~",
    "punct": lambda one: "!" <= one <= "~" and not one.isalnum(),
    "space": lambda one: one in " \t\n\v\f\r",
    "upper": str.isupper,
    "xdigit": lambda one: one in "0123456789abcdefABCDEF",
}
_SPECIAL = frozenset("*?[\\")
#: A file's rules with wildcards beyond so many are not followed, nor what follows so many bytes.
MOST_PATTERNS = 2_000
MOST_BYTES = 1 << 18


def bytewise(name: str) -> str:
    """A file's name as the text of its bytes."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


class Ignored:
    """The rules of one file, for paths relative to the directory that they are about."""

    def __init__(self, data: bytes) -> None:
        self._blocks: list[_Block] = []
        self._left = MOST_PATTERNS
        for line in data[:MOST_BYTES].removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            text = _without_trailing_spaces(line.removesuffix(b"\r").decode("latin-1"))
            if text and text[0] != "#":
                self._add(text)
        self._blocks.reverse()

    def _add(self, pattern: str) -> None:
        if _SPECIAL & set(pattern):
            self._left -= 1
            if self._left < 0:
                return
        negative = pattern[0] == "!"
        if not self._blocks or self._blocks[-1].negative is not negative:
            self._blocks.append(_Block(negative=negative))
        self._blocks[-1].add(pattern[negative:])

    def says(self, path: str, name: str, *, directory: bool) -> bool | None:
        """Whether an entry is ignored, or ``None`` where no rule is about it: the last rule that does decides."""
        for block in self._blocks:
            if block.matches(path, name, directory=directory):
                return not block.negative
        return None


class _Block:
    """Neighbouring rules that all ignore, or all keep: the plain ones are looked up, the others tried."""

    def __init__(self, *, negative: bool) -> None:
        self.negative = negative
        self._plain: tuple[set[str], set[str]] = (set(), set())
        self._suffixes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._names: list[tuple[bool, Callable[[str], Any]]] = []
        self._paths: list[tuple[bool, list[Segment]]] = []

    def add(self, pattern: str) -> None:
        """Take one rule, without its exclamation mark."""
        only = pattern[-1:] == "/"
        pattern = pattern[:-1] if only else pattern
        if "/" not in pattern:
            self._add_name(pattern, only=only)
        elif not _SPECIAL & set(pattern):
            # the slash distinguishes a plain path from a plain name
            self._plain[only].add("/" + pattern.removeprefix("/"))
        else:
            variants = [_segments(variant) for variant in _variants(pattern.removeprefix("/"))]
            self._paths += [(only, segments) for segments in variants if segments]

    def _add_name(self, pattern: str, *, only: bool) -> None:
        if not _SPECIAL & set(pattern):
            self._plain[only].add(pattern)
        elif pattern[0] == "*" and not _SPECIAL & set(pattern[1:]):
            suffixes = list(self._suffixes)
            suffixes[only] = (*suffixes[only], pattern[1:])
            self._suffixes = (suffixes[0], suffixes[1])
        else:
            matching = _name(pattern)
            if matching:
                self._names.append((only, matching))

    def matches(self, path: str, name: str, *, directory: bool) -> bool:
        """Whether some rule is about the entry."""
        if self._looked_up(path, name, 0) or (directory and self._looked_up(path, name, 1)):
            return True
        if any(matching(name) for only, matching in self._names if directory or not only):
            return True
        if not self._paths:
            return False
        parts = path.split("/")
        return any(match_all(segments, parts) for only, segments in self._paths if directory or not only)

    def _looked_up(self, path: str, name: str, only: int) -> bool:
        plain = self._plain[only]
        return name in plain or "/" + path in plain or name.endswith(self._suffixes[only])


def _without_trailing_spaces(text: str) -> str:
    """Spaces at the end do not count unless the first of them follows a backslash."""
    kept = text.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return text[: len(kept) + 1] if backslashes % 2 else kept


def _variants(pattern: str) -> list[str]:
    """The patterns that a path's pattern means: git reads ``name**`` as ``name*/**`` where no wildcard precedes it."""
    start = next((at for at, one in enumerate(pattern) if one in _SPECIAL), 0)
    rest = pattern[start:].lstrip("*")
    if start and pattern[start - 1] != "/" and pattern.startswith("**", start) and rest[:1] in ("", "/"):
        begin = pattern[:start]
        return [f"{begin}*/**{rest}", *_variants(begin + (rest[1:] or "*"))]
    return [pattern]


def _segments(pattern: str) -> list[Segment]:
    """The segments of a path's pattern; none where it can match nothing."""
    segments: list[Segment] = []
    for name in _split(pattern):
        if len(name) > 1 and not name.strip("*"):
            segments.append(None)
        else:
            matching = _name(name)
            if matching is None:
                return []
            segments.append(matching)
    return closed(segments)


def _split(pattern: str) -> list[str]:
    """Cut at slashes, but not within brackets."""
    names = []
    start = at = 0
    while at < len(pattern):
        one = pattern[at]
        if one == "[":
            some, at = _bracket(pattern, at + 1)
            if not some:  # nothing matches the rest
                break
        elif one == "/" or pattern.startswith("\\/", at):
            some = pattern[start:at]
            # before a slash that is escaped, git takes ** for one directory at least
            names += ["*", some] if one != "/" and len(some) > 1 and not some.strip("*") else [some]
            at += 1 if one == "/" else 2
            start = at
        else:
            at += 2 if one == "\\" else 1
    return [*names, pattern[start:]]


def _name(pattern: str) -> Callable[[str], Any] | None:
    """A test of a name, or ``None`` for a pattern that nothing matches: an open bracket, a lone backslash."""
    pieces = [""]
    at = 0
    while at < len(pattern):
        one = pattern[at]
        if one == "*":
            pieces.append("")
            at += 1
            continue
        if one == "[":
            some, at = _bracket(pattern, at + 1)
        elif one == "\\":
            some, at = re.escape(pattern[at + 1 : at + 2]), at + 2
        else:
            some, at = "." if one == "?" else re.escape(one), at + 1
        if not some:
            return None
        pieces[-1] += some
    # What is between two stars matches where it is found first, once and for all: no backtracking.
    inner = [f"(?=(?P<g{number}>.*?{piece}))(?P=g{number})" for number, piece in enumerate(pieces[1:-1]) if piece]
    last = [rf".*{pieces[-1]}"] if len(pieces) > 1 else []
    return re.compile(rf"(?s:{''.join([pieces[0], *inner, *last])})\Z").match


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """An expression for one character as brackets list it, and where they end; empty where they do not."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    start, last, chosen = at, "", set[str]()
    while at < len(pattern):
        one = pattern[at]
        if one == "]" and at > start:
            return _one_of(chosen, negated=negated), at + 1
        if pattern.startswith("[:", at):
            end = pattern.find("]", at + 2)
            if end > at + 2 and pattern[end - 1] == ":":
                belongs = _CLASSES.get(pattern[at + 2 : end - 1])
                if belongs is None:
                    return "", at
                chosen.update(filter(belongs, map(chr, range(128))))
                at, last = end + 1, ""
                continue
        if one == "-" and last and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1 + (pattern[at + 1] == "\\")
            chosen.update(map(chr, range(ord(last), ord(pattern[at : at + 1] or "\0") + 1)))
            at, last = at + 1, ""
            continue
        at += one == "\\"
        last = pattern[at : at + 1]
        chosen.add(last)
        at += 1
    return "", at


def _one_of(chosen: set[str], *, negated: bool) -> str:
    some = "".join(map(re.escape, sorted(chosen)))
    if not some:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{some}]"
