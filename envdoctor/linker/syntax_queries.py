"""The attributes, calls and definitions in a source by its syntax tree, and the conditions that guard them."""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.linker import signatures
from envdoctor.linker.branches import holds, is_about_versions
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.engine.asks import Ask
    from envdoctor.linker.branches import Target

_ENDS = (ast.Return, ast.Raise, ast.Continue)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def tree_of(source: bytes) -> ast.Module:
    """The tree of a source; an empty one where it is none of this Python."""
    return parsed(source) or ast.Module(body=[], type_ignores=[])


def takes(node: Any, ask: Ask, *, bound: bool) -> bool:
    """Whether a definition accepts the call that failed."""
    if not isinstance(node, _FUNCTIONS):
        return True
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)][int(bound) :]
    if ask.kind == "keyword":
        return given.kwarg is not None or ask.argument in [*names, *(one.arg for one in given.kwonlyargs)]
    if ask.kind == "count":
        return given.vararg is not None or len(names) + int(bound) >= ask.given
    required = [*names[: max(len(names) - len(given.defaults), 0)], *_required_keywords(given)]
    return ask.argument not in required


def _required_keywords(given: ast.arguments) -> list[str]:
    return [one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults) if default is None]


class Branches(ast.NodeTransformer):
    """Replaces each condition that a target decides by the branch that is taken."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """The statements of the branch that is taken, or the condition."""
        self.generic_visit(node)
        holding = holds(node.test, self._target, {})
        return node if holding is None else (node.body if holding else node.orelse) or ast.Pass()


def takes_attribute(tree: ast.AST, ask: Ask) -> bool:
    """Whether a source reads an attribute of this name, from the object of the failing statement where that is given.

    Where something guards against its not being there does not count.
    """
    taken = {text for node in ast.walk(_statement(ask.code)) if (text := attribute_of(node, ask.name))}
    found = (attribute_of(node, ask.name) for node in _unguarded(tree, {ask.name}, "AttributeError"))
    return any(text in taken if taken else text for text in found)


def attribute_of(node: ast.AST, name: str) -> str:
    """The source of the object that an attribute of this name is read from; empty for anything else."""
    if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
        return ast.unparse(node.value)
    return ""


def _statement(code: str) -> ast.Module:
    """The tree of a statement, or of the head of one, from anywhere in a function."""
    text = code.strip()
    text = text[2:] if text.startswith(("elif ", "elif(")) else text
    for form in ("async def _():\n {}", "async def _():\n {} pass", "async def _():\n {})"):
        tree = tree_of(form.format(text).encode())
        if tree.body and text:
            return tree
    return tree_of(b"")


def _unguarded(tree: ast.AST, words: set[str], exception: str) -> Iterator[ast.AST]:
    """The nodes of a tree, but for those that a condition about releases or the words decides, or that are tried."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.If, ast.IfExp)) and _decides(node.test, words):
            stack.append(node.test)
        elif isinstance(node, ast.Try) and any(_catches(one, exception) for one in node.handlers):
            stack += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            stack += _reached(node, words)


def _reached(node: ast.AST, words: set[str]) -> Iterator[ast.AST]:
    """The children of a node; of statements none behind a condition that decides and does not come back, or sets it."""
    for _, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield one
            settles = isinstance(one, ast.If) and (isinstance(one.body[-1], _ENDS) or _sets(one, words))
            if settles and _decides(one.test, words):
                break


def _sets(node: ast.If, words: set[str]) -> bool:
    """Whether a condition that asks whether an attribute is there sets it where it is not."""
    attributes = (one for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.Attribute))
    return any(one.attr in words and isinstance(one.ctx, ast.Store) for one in attributes)


def _decides(test: ast.expr, words: set[str]) -> bool:
    """Whether a condition asks which release is there, or for the name of what it has."""
    nodes = list(ast.walk(test))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    named = any(isinstance(node, ast.Attribute) and node.attr == "__name__" for node in nodes)
    return bool(texts & words) or named or is_about_versions(test)


def _catches(handler: ast.ExceptHandler, exception: str) -> bool:
    named = ast.unparse(handler.type) if handler.type is not None else exception
    return re.search(rf"\b(?:{exception}|Exception|BaseException)\b", named) is not None


def calls(tree: ast.AST, ask: Ask) -> bool:
    """Whether a source calls the function as it was called when that failed."""
    function = ask.name.rpartition(".")[2]
    function = ask.name.rpartition(".")[0].rpartition(".")[2] if function == "__init__" else function
    given = next(_made(_statement(ask.code), function), None)
    calls = _made(tree, function, {ask.argument, function})
    if ask.kind == "keyword":
        return any(ask.argument in call[1] for call in calls)
    return any(given is None or call == given for call in calls)


def _made(tree: ast.AST, function: str, words: set[str] = frozenset()) -> Iterator[list[Any]]:  # type: ignore[assignment]
    """The arguments of the calls of a function that nothing guards."""
    for node in _unguarded(tree, words, "TypeError"):
        if isinstance(node, ast.Call) and function == (getattr(node.func, "attr", "") or getattr(node.func, "id", "")):
            yield signatures.of_call(node)


def turns(tree: ast.AST, word: str) -> Iterator[tuple[Any, ...]]:
    """The versions in conditions that decide how an attribute is read."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.If)
            and is_about_versions(node.test)
            and any(attribute_of(one, word) for one in ast.walk(node))
        ):
            tuples = (one for one in ast.walk(node.test) if isinstance(one, ast.Tuple))
            yield from (tuple(getattr(part, "value", None) for part in one.elts) for one in tuples)


def saying(tree: ast.AST, words: str) -> Iterator[str]:
    """The names of the functions that write words down."""
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and any(words in str(getattr(one, "value", "")) for one in ast.walk(node)):
            yield node.name


def words_of(tree: ast.AST, function: str) -> Iterator[set[str]]:
    """For each definition of a function its name, and the names in it."""
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and node.name == function:
            yield {function, *(one.id for one in ast.walk(node) if isinstance(one, ast.Name))}
