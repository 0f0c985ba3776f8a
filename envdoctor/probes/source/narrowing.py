"""What a value may be where a condition asks for its class: ``isinstance(a, lib.Table)``, ``type(a) is list``."""

from __future__ import annotations

import ast

from envdoctor.probes.source.abstract_values import Value, names_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.probes.source.bindings import Place

    #: A name, the expression for a class or several, and whether what is so called is one of these or none.
    Asked = tuple[str, ast.expr, bool]

_SAME = (ast.Is, ast.Eq)
_OTHER = (ast.IsNot, ast.NotEq)


def narrowed(test: ast.expr, *, same: bool = True) -> tuple[Asked, ...]:
    """What a condition asks of the classes of names, where it holds or, without ``same``, where it does not."""
    return tuple(_asked(test, same=same))


def _asked(test: ast.expr, *, same: bool) -> Iterator[Asked]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(test.operand, same=not same)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if same else ast.Or):
        for part in test.values:
            yield from _asked(part, same=same)
    elif isinstance(test, ast.Call) and len(test.args) == 2:  # noqa: PLR2004 - what, and of which class
        name, kind = test.args
        if getattr(test.func, "id", "") == "isinstance" and isinstance(name, ast.Name):
            yield name.id, kind, same
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Call):
        call, operator = test.left, test.ops[0]
        is_type = getattr(call.func, "id", "") == "type" and len(call.args) == 1
        if is_type and isinstance(call.args[0], ast.Name) and isinstance(operator, (*_SAME, *_OTHER)):
            yield call.args[0].id, test.comparators[0], same is isinstance(operator, _SAME)


def of_class(found: list[Value], asked: ast.expr, place: Place, resolver: Any, *, same: bool) -> list[Value]:
    """The values that are of a class, or of none of several; of what a library made, its own classes are one."""
    nodes = asked.elts if isinstance(asked, ast.Tuple) else [asked]
    classes = [one for node in nodes for one in resolver.evaluate(node, place)]
    theirs = [one for one in classes if one.kind == "ref" and not one.name.startswith("builtins.")]
    tops = {_top(one) for one in theirs}
    if not same:
        return [one for one in found if not _is_made(one) or _top(one) not in tops]
    if theirs or any(one.kind == "unknown" for one in classes):
        kept = found
    else:
        kept = [one for one in found if not _is_made(one)]
    if len(classes) == len(theirs) == 1 and names_class(theirs[0].name):
        return kept if any(_top(one) in tops for one in kept) else [*kept, Value("declared", theirs[0].name)]
    return kept


def _is_made(one: Value) -> bool:
    """Whether a value is an object of another library."""
    return one.kind in {"made", "declared", "member"} and one.scope is None and not one.name.startswith("builtins.")


def _top(one: Value) -> str:
    return one.name.partition(".")[0]
