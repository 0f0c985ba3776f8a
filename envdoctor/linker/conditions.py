"""Conditions that ask for installed releases: whether they hold where something is missing behind them."""

from __future__ import annotations

import ast
from typing import Any

from envdoctor.linker.branches import holds, is_one_version
from envdoctor.linker.evaluation import Namespace, Raised, Undecided
from envdoctor.linker.summary import CONDITIONAL
from envdoctor.linker.syntax_trees import bound_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.linker.own_checks import OwnChecks
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.verdicts import Missing
    from envdoctor.linker.world import World

    #: What has to hold, and whether it has to.
    Test = tuple[ast.expr, bool]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: What decides in another way whether a line is reached: statements, and expressions.
_LOOPS = (ast.While, *((ast.Match,) if hasattr(ast, "Match") else ()))
_CHOICES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BODIES = ("body", "orelse", "handlers", "finalbody")
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Conditions:
    """Decides such conditions in the modules of a world."""

    def __init__(self, world: World, reach: Reach, checks: OwnChecks) -> None:
        self._world, self._reach, self._checks = world, reach, checks
        self._scopes: dict[str, Namespace] = {}

    def decided(self, missing: Iterable[Missing]) -> Iterator[Missing]:
        """What is missing; a warning where it is behind nothing but conditions that hold with what is installed.

        What is Python's is left: who asks for its version calls functions that need not ask again.
        """
        modules = {self._world.layout.modules[name].path: name for name in self._reach.ways}
        for one in missing:
            name = modules.get(one.file, "")
            asked = one.severity == "info" and one.way & CONDITIONAL and one.provider
            reached = asked and name and self._is_reached(name, one)
            yield one._replace(severity="warning", way=one.way & ~CONDITIONAL) if reached else one

    def _is_reached(self, name: str, one: Missing) -> bool:
        """Whether a place behind conditions is reached for sure; what a module asks for first is not missing."""
        hints = self._world.resolver.take_note(name).get("hints", ())
        if one.name.rpartition(".")[2] in hints or all(way & CONDITIONAL for way in self._reach.ways[name]):
            return False
        tree = self._world.resolver.decorated.tree(name)
        tests = _tests(tree.body, one.line) if tree else None
        return bool(tests) and all(self._holds(name, test) is wanted for test, wanted in tests or ())

    def _holds(self, name: str, test: ast.expr) -> bool | None:
        decided = holds(test, self._world.target, {})
        if decided is not None:
            return decided
        if name not in self._scopes:
            self._scopes = {name: self._checks.followed(name)}  # which is forgotten when another one is followed
        try:
            return self._checks.decided(test, Namespace(name, self._scopes[name]))
        except (Raised, Undecided, RecursionError):
            return None


def _tests(body: Sequence[ast.stmt], line: int) -> list[Test] | None:
    """The conditions that a line is behind; ``None`` where something else decides whether it is reached, too."""
    found: list[Test] = []
    bound: set[str] = set()
    inner: Any = None
    before, node = _around(body, line)
    while node is not None:
        inner = node
        if isinstance(node, _LOOPS):
            return None
        found += _deciding(before, node, line)
        if isinstance(node, _FUNCTIONS):
            bound |= bound_in(node) | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        before, node = _around([part for name in _BODIES for part in getattr(node, name, ())], line)
    return None if bound & _named(found) or _is_chosen(inner, line) else found


def _deciding(before: Sequence[Any], node: Any, line: int) -> Iterator[Test]:
    """The conditions by which the statements before one, and one itself, decide whether a line in it is reached."""
    yield from ((one.test, False) for one in before if _ends(one))
    if isinstance(node, ast.If) and not _spans(node.test, line):
        yield node.test, any(_spans(one, line) for one in node.body)


def _named(tests: Iterable[Test]) -> set[str]:
    return {one.id for test, _ in tests for one in ast.walk(test) if isinstance(one, ast.Name)}


def _is_chosen(node: ast.AST | None, line: int) -> bool:
    """Whether an expression in a statement decides whether a line is reached."""
    parts = ast.walk(node) if node is not None else ()
    return any(_spans(one, line) for one in parts if isinstance(one, _CHOICES))


def _around(parts: Sequence[Any], line: int) -> tuple[Sequence[Any], Any]:
    """The statement that a line is in, behind those before it; ``None`` where it is in none of them."""
    at = next((at for at, one in enumerate(parts) if _spans(one, line)), None)
    return ((), None) if at is None else (parts[:at], parts[at])


def _spans(node: Any, line: int) -> bool:
    """Whether a line is in a node; a definition begins at its first decorator."""
    starts = [one.lineno for one in getattr(node, "decorator_list", ())]
    first: int = min([*starts, getattr(node, "lineno", line + 1)])
    return first <= line <= (getattr(node, "end_lineno", None) or 0)


def _ends(node: Any) -> bool:
    """Whether a statement leaves what follows to the case that its condition does not hold."""
    ends = isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], _ENDING)
    return ends and is_one_version(node.test)
