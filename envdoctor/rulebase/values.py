"""Reads the small values of a rule: names, versions, specifiers, expressions, and globs."""

from __future__ import annotations

import itertools
import math
import re
import warnings

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envdoctor.rulebase.document import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.rulebase.document import Node

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_VERSION_LENGTH = 120
#: What the braces of one glob may mean together.
_MOST_ALTERNATIVES = 2_000
_SEGMENT = re.compile(r"\*\*|[A-Za-z_*?][A-Za-z0-9_*?]*", re.ASCII)


def read_specifier(node: Node) -> str:
    """A PEP 440 specifier in quotes."""
    text = node.quoted().strip()
    if text:
        complain_of_specifier(node, text)
    return text


def complain_of_specifier(node: Node, text: str) -> SpecifierSet | None:
    """Read a specifier, or say what to write instead."""
    try:
        parsed = SpecifierSet(text if len(text) <= _VERSION_LENGTH else "?")
    except InvalidSpecifier:
        version = shorten(text)
        hint = f'write "=={version}" or "<{version}"' if is_version(text) else 'write one such as ">=1.2,<2"'
        node.complain(f"`{version}` is not a version specifier; {hint}")
        return None
    if not len(parsed) or "===" in text:
        node.complain(f'`{shorten(text)}` is not a PEP 440 specifier; write one such as ">=1.2,<2"')
        return None
    return parsed


def is_version(text: str) -> bool:
    """Whether a text is a PEP 440 version of ordinary length."""
    try:
        Version(text if len(text) <= _VERSION_LENGTH else "?")
    except InvalidVersion:
        return False
    return True


def read_version(node: Node) -> str:
    """A PEP 440 version in quotes."""
    text = node.quoted().strip()
    if text and not is_version(text):
        node.complain(f'`{shorten(text)}` is not a version; write one such as "1.6.0"')
    return text


def read_name(node: Node, text: str) -> str:
    """Normalise the name of a distribution (PEP 503)."""
    if not _NAME.fullmatch(text):
        node.complain(f"`{shorten(text)}` is not the name of a distribution; write it as pip would install it")
        return ""
    name = str(canonicalize_name(text))
    if name == "python":
        node.complain("Python itself is no distribution; write `python:` with the version beside `packages:`")
    return name


def read_names(node: Node) -> dict[str, Node]:
    """The entries of a mapping by distribution, under normalised names, whose lines are remembered too."""
    found: dict[str, Node] = {}
    for raw, child in node.entries().items():
        name = read_name(child, raw)
        if name in found:
            child.complain(f"`{shorten(raw)}` is the same distribution as another entry here; keep one of them")
        found[name] = child
        node.book.lines.setdefault((*node.where, name), node.book.lines.get(child.where, 1))
    return found


def read_pattern(node: Node, text: str) -> str:
    """A regular expression that compiles on every supported Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(text)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        node.complain(f"the regular expression does not compile: {shorten(str(error))}; escape literal signs with \\")
    return text


def read_several(node: Node) -> list[str]:
    """One text, or a list of texts."""
    items = node.items_or_self()
    if not items:
        node.complain(f"`{node.name()}` needs at least one entry")
    return [item.text() for item in items]


def read_globs(node: Node) -> list[str]:
    """Globs of qualified names: ``*`` within one segment, ``**`` for any number of segments, ``{a,b}`` for either.

    Each alternative in braces becomes a glob of its own.
    """
    found: list[str] = []
    for item in node.items_or_self():
        text = item.text()
        globs = list(alternatives(text))
        if text and not all(_SEGMENT.fullmatch(segment) for glob in globs for segment in glob.split(".")):
            item.complain(f"`{shorten(text)}` is not a dotted name; write one such as package.**.{{Class,Other}}")
        found += globs
    return found or read_several(node)


def alternatives(glob: str) -> Iterator[str]:
    """A glob once for each alternative in its braces (``a.{b,c}``); as it is where there are too many."""
    parts = re.split(r"\{([^{}]*)\}", glob)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    if math.prod(map(len, choices)) <= _MOST_ALTERNATIVES:
        yield from map("".join, itertools.product(*choices))
    else:
        yield glob
