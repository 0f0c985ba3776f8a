"""What a function does with a keyword that it takes as any keyword: to whom it passes it on, and where it keeps it.

Only that keyword counts: what is done with another one that is named leaves it as it is, and so does a copy.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Methods of a dictionary that are about the key that they are given.
_ABOUT_ONE = {"pop", "get", "setdefault"}
_SEEING_ALL = {"locals", "vars", "eval", "exec"}


def forwarding(
    node: ast.AST, rest: str, keyword: str, own: str = "", *, once: bool = False
) -> Iterator[ast.Call | str | None]:
    """The calls that are given ``**rest``, and each attribute of ``own`` that keeps it; ``None`` for another use of it.

    ``rest`` is a name, which is given its value ``once`` or is a parameter, or an attribute that gets its value once.
    """
    harmless: set[int] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            given = [each.value for each in one.keywords if each.arg is None and spelled(each.value) == rest]
            if given:
                yield one
                harmless.update(map(id, given))
            if "." not in rest and getattr(one.func, "id", "") in _SEEING_ALL:
                yield None
        elif isinstance(one, ast.Assign) and (whole := _copied(one, rest)):
            target = spelled(one.targets[0])
            harmless.update((id(whole), id(one.targets[0])))
            if own and target.startswith(f"{own}."):
                yield target
            elif target != rest:
                yield from forwarding(node, target, keyword, own, once=True) if _stored(node, target) == 1 else [None]
        harmless.update(map(id, _about_others(one, keyword)))
        tests = [one.test] if isinstance(one, (ast.If, ast.IfExp, ast.While)) else []
        harmless.update(id(each) for test in tests for each in _parts(test))
    for one in ast.walk(node):
        kept = isinstance(getattr(one, "ctx", None), ast.Store) and (once or isinstance(one, ast.Attribute))
        if isinstance(one, (ast.Name, ast.Attribute)) and spelled(one) == rest and not (kept or id(one) in harmless):
            yield None


def spelled(node: ast.AST) -> str:
    """A name, or an attribute of a name, as it is written; empty for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def keeps(node: ast.AST, name: str) -> int:
    """How often an attribute of this name gets a value."""
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    return sum(one.attr == name for one in stored)


def _stored(node: ast.AST, name: str) -> int:
    """How often a name gets a value."""
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return sum(one.id == name for one in stored)


def _copied(node: ast.Assign, rest: str) -> ast.expr | None:
    """The dictionary where a statement gives one name just that, or a copy of it."""
    value = node.value
    if isinstance(value, ast.Call) and not value.keywords:
        function = value.func
        if isinstance(function, ast.Attribute) and function.attr == "copy" and not value.args:
            value = function.value
        elif getattr(function, "id", "") == "dict" and len(value.args) == 1:
            value = value.args[0]
    single = len(node.targets) == 1 and spelled(node.targets[0])
    return value if single and spelled(value) == rest else None


def _about_others(node: ast.AST, keyword: str) -> Iterator[ast.expr]:
    """The dictionary in an expression that is about another key of it than the keyword."""
    keys: list[ast.expr] = []
    whole: ast.expr | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ABOUT_ONE:
        keys, whole = node.args[:1], node.func.value
    elif isinstance(node, ast.Subscript):
        keys, whole = [node.slice], node.value
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        keys, whole = [node.left], node.comparators[0]
    key = keys[0].value if keys and isinstance(keys[0], ast.Constant) else None
    if whole is not None and isinstance(key, str) and key != keyword:
        yield whole


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which only the truth is asked."""
    if isinstance(test, ast.BoolOp):
        for one in test.values:
            yield from _parts(one)
    else:
        yield test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
