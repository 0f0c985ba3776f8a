"""The ``when`` tree of a rule: reads it node by node, and walks over what was read."""

from __future__ import annotations

import re
from typing import Any

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier
from packaging.version import InvalidVersion

from envdoctor.facts import WORDS
from envdoctor.model import Record
from envdoctor.rulebase.document import shorten, suggest
from envdoctor.rulebase.values import read_names, read_pattern, read_specifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from envdoctor.rulebase.document import Node, Where

IMPLEMENTATIONS = ("cpython", "pypy", "graalpy", "jython", "ironpython", "micropython")
INSTALLED = (
    *("missing", "incompatible", "requires-python", "platform"),
    *("duplicate", "leftover", "unreadable", "drift"),
)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_MARKER_LENGTH = 500
_MARKER_HINT = "write one such as sys_platform == 'win32'"
_PATCHED = 3  # the parts of a version that names a patch release


def python(node: Node) -> Any:
    """The version of Python, and what else is asked of it."""
    if not isinstance(node.value, dict):
        return _python_version(node)
    readers: dict[str, Callable[[Node], Any]] = {
        "version": _python_version,
        "implementation": lambda child: child.choice(IMPLEMENTATIONS),
        "free-threaded": lambda child: child.flag(),
        "debug": lambda child: child.flag(),
    }
    if not node.value:
        node.complain('`python` says nothing; write `python: ">=3.11"`')
    return {key: readers[key](child) for key, child in node.fields(readers).items()}


def _python_version(node: Node) -> str:
    text = read_specifier(node)
    for clause in (part.strip() for part in text.split(",")):
        operator = clause.rstrip("0123456789.")
        version = clause[len(operator) :].strip()
        if operator.strip() in {"==", "!=", "<=", ">"} and version and version.count(".") < _PATCHED - 1:
            meant = {"==": f"=={version}.*", "!=": f"!={version}.*", "<=": "<", ">": ">="}[operator.strip()]
            hint = f'write "{meant}"' if "*" in meant else f'write "{meant}" with the next minor version'
            node.complain(f"`{clause}` tells {version}.0 from {version}.1, which is hardly meant; {hint}")
    return text


def packages(node: Node) -> dict[str, str]:
    """Distributions, each in a range, present or absent."""
    return {
        name: child.value if child.value in ("present", "absent") else read_specifier(child)
        for name, child in read_names(node).items()
    }


def marker(node: Node) -> str:
    """A PEP 508 marker."""
    text = node.text()
    try:
        marker = Marker(text if len(text) <= _MARKER_LENGTH else "too long")
        if "extra" in str(marker):
            node.complain("a marker about extras says nothing about an environment; name the distribution instead")
        else:
            marker.evaluate()
    except (InvalidMarker, RecursionError):
        node.complain(f"`{shorten(text)}` is not a PEP 508 marker; {_MARKER_HINT}")
    except (UndefinedComparison, UndefinedEnvironmentName, InvalidVersion, InvalidSpecifier):
        node.complain(f"`{shorten(text)}` compares what cannot be compared; {_MARKER_HINT}")
    return text


def env(node: Node) -> dict[str, Any]:
    """Environment variables, each with its value or a test of that."""
    found = {}
    for name, child in node.entries().items():
        if not _VARIABLE.fullmatch(name):
            child.complain(f"`{shorten(name)}` is not the name of an environment variable")
        found[name] = _env_test(child) if isinstance(child.value, dict) else child.text()
    return found


def _env_test(node: Node) -> dict[str, str]:
    readers: dict[str, Callable[[Node], str]] = {
        "equals": lambda child: child.text(),
        "matches": lambda child: read_pattern(child, child.text()),
        "is": lambda child: child.choice(("set", "unset", "empty")),
    }
    fields = node.fields(readers)
    if len(fields) != 1:
        node.complain(f"`{node.name()}` needs exactly one of: equals, matches, is")
    return {key: readers[key](child) for key, child in fields.items()}


def module(node: Node) -> dict[str, str]:
    """Modules by their dotted names, each with a place."""
    found = {}
    words = tuple(node.book.vocabulary.get("modules", ()))
    for name, child in node.entries().items():
        if not all(part.isidentifier() for part in name.split(".")):
            child.complain(f"`{shorten(name)}` is not what `import` takes; write a module's dotted name")
        found[name] = child.choice(words)
    return found


def installed(node: Node) -> str:
    """A kind of defect of the installation."""
    if len(node.where) != 2:  # noqa: PLR2004 - when, installed
        node.complain("`installed` belongs alone at the top of a rule's `when`; move it there")
    return node.choice(INSTALLED)


def several(node: Node) -> list[dict[str, Any]]:
    """A list of conditions."""
    items = node.items()
    if isinstance(node.value, list) and not items:
        node.complain(f"`{node.name()}` needs at least one condition")
    return [read_condition(item) for item in items]


def read_condition(node: Node) -> dict[str, Any]:
    """Read a condition: a mapping of facts, all of which must hold."""
    if isinstance(node.value, dict) and not node.value:
        node.complain(f"`{node.name()}` names no fact; {suggest('', WORDS)}")
    return {word: WORDS[word].function("reads")(child) for word, child in node.fields(WORDS).items()}


class Leaf(Record):
    """One fact of a condition, the entry of it that is asked for, and whether it is under an odd number of nots."""

    fact: str
    key: str
    value: Any
    where: Where
    negated: bool


def leaves(condition: Mapping[str, Any], where: Where, *, negated: bool = False) -> Iterator[Leaf]:
    """Every fact that a condition names, one by one."""
    for fact, value in condition.items():
        inner = (*where, fact)
        if fact in {"all", "any"}:
            for number, part in enumerate(value):
                yield from leaves(part, (*inner, number), negated=negated)
        elif fact == "not":
            yield from leaves(value, inner, negated=not negated)
        elif isinstance(value, dict) and not WORDS[fact].whole:
            for key, one in value.items():
                yield Leaf(fact=fact, key=key, value=one, where=(*inner, key), negated=negated)
        else:
            key = "version" if fact == "python" else ""
            yield Leaf(fact=fact, key=key, value=value, where=inner, negated=negated)
