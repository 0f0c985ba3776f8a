"""The values of code that is followed and not executed, and what evaluates them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence


class _Unknown:
    """A value that is not known."""


class _Globals:
    """The names of the module that is asked: all but the one that is asked for, as nobody would ask otherwise."""


UNKNOWN, GLOBALS = _Unknown(), _Globals()


class Namespace:
    """The names of a module, or of a call of a function."""

    def __init__(self, module: str, parent: Namespace | None = None) -> None:
        self.module = module
        self.parent = parent
        self.names: dict[str, Any] = {}
        #: Names of a module whose values its functions change when they are called.
        self.later: set[str] = set()

    def at_this_point(self) -> Namespace:
        """The scope with the names that it has now."""
        copy = Namespace(self.module)
        copy.names = dict(self.names)
        return copy


class Function(NamedTuple):
    """A function with the scope that it was defined in."""

    node: ast.FunctionDef
    scope: Namespace


class Deferred(NamedTuple):
    """A value that is evaluated when it is first needed."""

    node: ast.expr
    scope: Namespace


class Returned(NamedTuple):
    """That a function has ended, with its value."""

    value: Any


class Taken(NamedTuple):
    """Something of a module; with an empty name the module."""

    module: str
    name: str = ""


class Raised(Exception):  # noqa: N818 - what is followed raises it
    """An exception of the code that is followed; ``absent`` where it imports what nothing installed has."""

    def __init__(self, name: str, *, absent: bool = False) -> None:
        super().__init__(name)
        self.name, self.absent = name, absent


class Undecided(Exception):  # noqa: N818 - it never leaves the evaluator
    """The way depends on what is not known."""


class Evaluation(Protocol):
    """Evaluates expressions of a module whose code is not run.

    ``asked`` is the module and the name that are looked up, ``named`` whether that name was compared with.
    """

    asked: tuple[str, str]
    named: bool

    def is_about(self, value: Any) -> bool:
        """Whether a value is the name that is looked up."""

    def value(self, value: Any) -> Any:
        """A value that is deferred, evaluated."""

    def module(self, name: str) -> Any:
        """A module by its dotted name."""

    def inside(self, whole: Any, name: str) -> Any:
        """An attribute of a value."""

    def tried(self, node: ast.expr, scope: Namespace) -> Any:
        """The value of an expression, unknown where it raises."""

    def bind(self, target: ast.expr, value: Any, scope: Namespace) -> None:
        """Give the names of a target their values."""

    def decided(self, test: ast.expr, scope: Namespace) -> bool | None:
        """Whether a condition holds; ``None`` where that is not known."""

    def evaluate(self, node: ast.expr, scope: Namespace) -> Any:
        """The value of an expression."""

    def call(self, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """What a function returns."""
