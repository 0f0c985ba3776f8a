"""What a function does with a keyword that it takes as any keyword: to whom it passes it on, and where it keeps it.

Only that keyword counts: what is done with another one that is named leaves it as it is, and so does a copy.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
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
        harmless.update(map(id, _harmless(one, rest, keyword)))
        if isinstance(one, ast.Call):
            yield from _of_call(one, rest)
        elif isinstance(one, ast.Assign) and _copied(one, rest):
            yield from _of_copy(node, rest, spelled(one.targets[0]), keyword, own)
    for one in ast.walk(node):
        if spelled(one) == rest and id(one) not in harmless and not _is_its_value(one, once=once):
            yield None


def _of_call(call: ast.Call, rest: str) -> Iterator[ast.Call | None]:
    """A call that is given ``**rest``; ``None`` for one that sees all names of a function."""
    if _unpacked(call, rest):
        yield call
    if "." not in rest and getattr(call.func, "id", "") in _SEEING_ALL:
        yield None


def _of_copy(node: ast.AST, rest: str, copy: str, keyword: str, own: str) -> Iterator[ast.Call | str | None]:
    """The same for a copy of ``rest``: the attribute of ``own`` that it is, or what is done with a name for it."""
    if own and copy.startswith(f"{own}."):
        yield copy
    elif copy != rest and stored(node, copy) == 1:
        yield from forwarding(node, copy, keyword, own, once=True)
    elif copy != rest:
        yield None


def _harmless(node: ast.AST, rest: str, keyword: str) -> Iterator[ast.expr]:
    """What an expression or a statement passes on or copies, asks for another key, or only for its truth."""
    if isinstance(node, ast.Call):
        yield from _unpacked(node, rest)
    elif isinstance(node, ast.Assign) and (whole := _copied(node, rest)):
        yield from (whole, node.targets[0])
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield from _parts(node.test)
    yield from _about_others(node, keyword)


def _unpacked(call: ast.Call, rest: str) -> list[ast.expr]:
    """The dictionaries of this name that a call is given with two stars."""
    return [one.value for one in call.keywords if one.arg is None and spelled(one.value) == rest]


def _is_its_value(node: ast.AST, *, once: bool) -> bool:
    """Whether a name that is given its value ``once``, or an attribute, gets it here."""
    return isinstance(getattr(node, "ctx", None), ast.Store) and (once or isinstance(node, ast.Attribute))


def spelled(node: ast.AST) -> str:
    """A name, or an attribute of a name, as it is written; empty for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def keeps(node: ast.AST, name: str) -> int:
    """How often an attribute of this name gets a value."""
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    return sum(one.attr == name for one in stored)


def stored(node: ast.AST, name: str) -> int:
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
    whole, key = looked_up(node) or (None, None)
    if whole is not None and isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value != keyword:
        yield whole


def looked_up(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The dictionary and the key of an expression that is about one key; ``None`` for any other."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], node.left
    method = node.func if isinstance(node, ast.Call) and node.args else None
    if isinstance(node, ast.Call) and isinstance(method, ast.Attribute) and method.attr in _ABOUT_ONE:
        return method.value, node.args[0]
    return None


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which only the truth is asked."""
    if isinstance(test, ast.BoolOp):
        for one in test.values:
            yield from _parts(one)
    else:
        yield test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
