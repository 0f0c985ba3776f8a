"""The values of installed releases in code that is followed, and the results of comparisons and calls of them."""

from __future__ import annotations

import ast
import functools
import operator
from typing import Any

from envdoctor.engine.versions import key, meets
from envdoctor.linker.evaluation import UNKNOWN, Raised
from envdoctor.linker.operations import is_unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.operations import Builtin

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: What makes a version of a text, by the last word, where a module of versions has it.
_MAKERS = {"Version", "LooseVersion", "StrictVersion", "LegacyVersion", "parse_version", "parse"}
#: Functions of Python, and methods of texts, that are followed where versions are taken apart.
BUILTIN: dict[str, Callable[..., Any] | None] = {
    "int": int, "str": str, "len": len, "all": all, "any": any, "min": min, "max": max, "zip": zip,
    "enumerate": enumerate, "reversed": reversed, "map": None,
}  # fmt: skip
OF_TEXT = {"isdigit", "isnumeric", "isdecimal", "find", "count", "splitlines"}
#: A number that is longer is no part of a version.
_LONGEST_NUMBER = 9
_ABOUT_VERSIONS = ("version", "packaging", "pkg_resources", "distutils")


@functools.total_ordering
class Release:
    """A version as the libraries that compare versions have it, with the attributes that they give it."""

    def __init__(self, text: str) -> None:
        found = key(text)
        if found is None:
            raise Raised("InvalidVersion")
        self.text, self.key = text, found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.key == other.key

    def __lt__(self, other: Release) -> bool:
        return bool(self.key < other.key)

    def __hash__(self) -> int:
        return hash(self.text)

    def attribute(self, name: str) -> Any:
        """The value of an attribute; unknown where it is not one that is followed."""
        numbers = numbers_of(self.text)
        parts = dict(zip(("major", "minor", "micro"), (*numbers, 0, 0)))
        plain = ".".join(map(str, numbers))
        return {**parts, "release": numbers, "base_version": plain, "public": self.text.partition("+")[0]}.get(
            name, UNKNOWN
        )


class Installed:
    """What metadata says of an installed distribution."""

    def __init__(self, version: str) -> None:
        self._version = version

    def attribute(self, name: str) -> Any:
        """The version, as a text or parsed; unknown for anything else."""
        return {"version": self._version, "parsed_version": Release(self._version)}.get(name, UNKNOWN)


def makes_release(dotted: str) -> bool:
    """Whether a function or class, by its full name, makes a version of a text."""
    module, _, name = dotted.rpartition(".")
    return name in _MAKERS and any(word in module.lower() for word in _ABOUT_VERSIONS)


def numbers_of(value: Any) -> tuple[int, ...]:
    """The numbers that a version begins with, be it a text, a row, a release or its first number; none of others."""
    if isinstance(value, Release):
        value = value.text
    if type(value) is int:
        return (value,) if value >= 0 else ()
    parts: Sequence[Any] = value.split(".") if isinstance(value, str) else value if _is_row(value) else ()
    found: list[int] = []
    for part in parts:
        if not str(part).isdigit():
            break
        found.append(int(part))
    return tuple(found)


def _is_row(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not hasattr(value, "_fields")


def ordered(left: Any, kind: ast.cmpop, right: Any) -> Any:
    """Whether two versions, numbers or rows of them compare like that; unknown where they are not such."""
    compare = _ORDER.get(type(kind))
    alike = type(left) is type(right) and (isinstance(left, (Release, str, int)) or _is_row(left))
    if compare is None or not alike or (_is_row(left) and not _are_plain([*left, *right])):
        return UNKNOWN
    try:
        return bool(compare(left, right))
    except TypeError:
        return UNKNOWN


def _are_plain(values: Sequence[Any]) -> bool:
    return all(isinstance(one, (int, str)) for one in values)


def wanted(version: str, left: Any, kind: ast.cmpop, right: Any, *, held: bool) -> str:
    """The specifier that a comparison asks of a release, which it has just refused; empty where that is not plain."""
    sign = _SIGNS.get(type(kind), "")
    if not sign:
        return ""
    numbers = numbers_of(left)
    if numbers and numbers == numbers_of(version)[: len(numbers)]:
        bound = right
    else:
        bound, sign = left, _TURNED[sign]
    sign = _OPPOSITE[sign] if held else sign
    text = bound.text if isinstance(bound, Release) else ".".join(map(str, numbers_of(bound)))
    if sign in {">", "<="} and _is_row(bound):  # a row of two numbers is all releases that begin with them
        *first, last = numbers_of(bound) or (0,)
        sign, text = {">": ">=", "<=": "<"}[sign], ".".join(map(str, (*first, last + 1)))
    return f"{sign}{text}" if text and meets(version, f"{sign}{text}") is False else ""


def builtin(function: Builtin, known: Sequence[Any]) -> Any:
    """The value of a function of Python or of a method of a text; ``None`` for one that is not followed here."""
    copy = {"tuple": tuple, "list": list}.get(function.name) if function.owner is UNKNOWN else None
    if copy is not None and len(known) == 1 and _is_row(known[0]):
        return copy(known[0])
    make = _called(function)
    if make is None:
        return None
    if not _is_known(known, with_elements=make is not len) or (make is int and _is_too_long(known)):
        return UNKNOWN
    try:
        made = make(*known)
    except (TypeError, ValueError) as error:
        raise Raised(type(error).__name__) from None
    return list(made) if isinstance(made, (zip, enumerate, reversed)) else made


def _is_known(arguments: Sequence[Any], *, with_elements: bool) -> bool:
    """Whether arguments are known, and the elements of collections among them where these matter."""
    collections = [one for one in arguments if isinstance(one, (list, tuple, set, frozenset)) and with_elements]
    return not any(map(is_unknown, [*arguments, *(element for one in collections for element in one)]))


def _is_too_long(known: Sequence[Any]) -> bool:
    """Whether a text has more digits than are made a number here."""
    return any(isinstance(one, str) and len(one) > _LONGEST_NUMBER for one in known)


def _called(function: Builtin) -> Callable[..., Any] | None:
    if function.name in OF_TEXT and isinstance(function.owner, str):
        method: Callable[..., Any] = getattr(function.owner, function.name)
        return method
    return BUILTIN.get(function.name) if function.owner is UNKNOWN else None
