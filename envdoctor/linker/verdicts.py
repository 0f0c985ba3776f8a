"""Answers to what a module offers, and references that find nothing."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

#: Whether a class lacks an attribute: surely (``none``), or unless it takes it for a name in its data (``columns``), a
#: decorator or a computed name gives it (``open``), or its ``__getattr__`` (``answers``); or it is not known.
DOUBTS = ("none", "columns", "open", "answers", "unknown")


def own_doubts(is_open: object, names: Container[str]) -> set[str]:
    """The doubts about what a class lacks, by its own record, as its source says what it is open for."""
    computed = "unknown" if is_open is True or "__dict__" in names else str(is_open or "none")
    return {computed, "open" if "*" in names else "none"}


class Missing(NamedTuple):
    """A reference that finds nothing.

    ``consumer`` is the distribution that asks in ``file`` at ``line`` for ``asked``; ``provider`` the one that should
    have it, empty for Python. ``kind`` is the kind of mistake and ``detail`` its words; ``severity`` and ``way`` say
    how sure it is and on which way it is reached. ``module`` and ``name`` are where the search ended.
    """

    consumer: str
    file: str
    line: int
    asked: str
    provider: str
    kind: str
    severity: str
    way: int
    module: str
    name: str
    detail: str = ""


class Linked(NamedTuple):
    """The result for an environment: missing references, how many were asked in how many modules, what is unknown."""

    missing: Sequence[Missing]
    modules: int
    asked: int
    unknown: Mapping[str, int]


class Answer(NamedTuple):
    """The answer about a name.

    ``verdict`` is ``None`` for unknown. ``why`` is the kind of reason: for no, ``name``, ``attribute``, ``module``,
    ``absent`` (nothing installed has the module), ``loader`` (Python no longer asks who would load it), ``standard``
    (this version of Python has it no more, or not yet) or ``gone`` (a module-level ``__getattr__`` refuses it).
    ``module`` and ``path`` are where the search ended, ``weak`` says that the answer follows from a word that is
    written nowhere. ``value`` is what a yes resolves to.
    """

    verdict: bool | None
    why: str = ""
    module: str = ""
    path: str = ""
    value: Any = None
    weak: bool = False


class Names(Protocol):
    """Resolves modules, and dotted names in them."""

    def module(self, name: str) -> Answer:
        """Whether a module can be imported."""

    def offers(self, module: str, path: str) -> Answer:
        """Whether a dotted path resolves in a module."""


def yes(value: Any = None) -> Answer:
    """The answer that something is there."""
    return Answer(verdict=True, value=value)


def no(why: str, module: str, path: str = "", *, weak: bool = False) -> Answer:
    """The answer that something is not there."""
    return Answer(verdict=False, why=why, module=module, path=path, weak=weak)


def unknown(why: str) -> Answer:
    """The answer that cannot be given, with the reason."""
    return Answer(verdict=None, why=why)
