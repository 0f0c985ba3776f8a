"""The values of expressions over known values, for code that is followed and not executed."""

from __future__ import annotations

import ast
import operator
from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any, NamedTuple

from envdoctor.linker.evaluation import GLOBALS, UNKNOWN, Namespace, Raised, Taken, Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.linker.evaluation import Evaluation


class Builtin(NamedTuple):
    """A function of Python, or a method of a value that is known."""

    name: str
    owner: Any = UNKNOWN


_PLAIN = (str, int, float, bool, tuple, list, dict, set, frozenset, type(None))
_MAKING: dict[str, Callable[..., Any]] = {
    "dict": dict, "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "sorted": sorted,
}  # fmt: skip
_ASKING = {"getattr", "hasattr", "globals", "vars"}
BUILTINS = {name: Builtin(name) for name in (*_MAKING, *_ASKING)}
_METHODS: dict[type, str] = {
    str: "startswith endswith split rsplit partition rpartition join lower upper replace strip lstrip rstrip",
    dict: "get keys values items copy", set: "union difference", frozenset: "union difference", list: "copy", tuple: "",
}  # fmt: skip
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.BitOr: operator.or_, ast.Sub: operator.sub,
}  # fmt: skip
#: What an exception is besides itself.
_BASES = {"KeyError": "LookupError", "IndexError": "LookupError", "ModuleNotFoundError": "ImportError"}


def is_unknown(value: Any) -> bool:
    """Whether nothing is known about a value, not even that there is one."""
    return value is UNKNOWN or value is GLOBALS or (isinstance(value, Taken) and value.name != "")


def _is_whole(value: Any) -> bool:
    """Whether a value and all that it holds are known."""
    if isinstance(value, dict):
        return all(map(_is_whole, value.keys())) and all(map(_is_whole, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        return all(map(_is_whole, value))
    return isinstance(value, _PLAIN) and not hasattr(value, "_fields")


def catches(kind: ast.expr | None, name: str) -> bool:
    """Whether a handler catches an exception. Raises :class:`Undecided` where one of them is not known."""
    if kind is None:
        return True
    names = {ast.unparse(one).rpartition(".")[2] for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])}
    if not name:
        raise Undecided
    return bool(names & {name, _BASES.get(name, ""), "Exception", "BaseException"})


def absolute(module: str, level: int, package: Any) -> str:
    """The name of a module that a package names relatively."""
    if not level or not isinstance(package, str):
        return module
    parts = package.split(".")
    return ".".join(filter(None, [*parts[: len(parts) - level + 1], module]))


# --- expressions ------------------------------------------------------------------------------------------------------


def _text(evaluator: Evaluation, node: ast.JoinedStr, scope: Namespace) -> Any:
    parts = []
    for one in node.values:
        value = evaluator.evaluate(one.value if isinstance(one, ast.FormattedValue) else one, scope)
        plain = isinstance(one, ast.Constant) or (one.conversion == -1 and one.format_spec is None)  # type: ignore[attr-defined]
        if not plain or not isinstance(value, (str, int)):
            return UNKNOWN
        parts.append(str(value))
    return "".join(parts)


def _many(evaluator: Evaluation, node: ast.List | ast.Tuple | ast.Set, scope: Namespace) -> Any:
    values: list[Any] = []
    for one in node.elts:
        if isinstance(one, ast.Starred):
            inner = evaluator.value(evaluator.evaluate(one.value, scope))
            if not _is_container(inner):
                return UNKNOWN
            values += inner
        else:
            values.append(evaluator.tried(one, scope))
    if isinstance(node, ast.Set):
        return set(values) if all(map(_is_whole, values)) else UNKNOWN
    return values if isinstance(node, ast.List) else tuple(values)


def _dictionary(evaluator: Evaluation, node: ast.Dict, scope: Namespace) -> Any:
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values):
        evaluated = evaluator.evaluate(value if key is None else key, scope)
        if key is None and isinstance(evaluated, dict):
            found.update(evaluated)
        elif key is None or not _is_whole(evaluated):
            return UNKNOWN
        else:
            found[evaluated] = evaluator.tried(value, scope)
    return found


def _comprehension(evaluator: Evaluation, node: Any, scope: Namespace) -> Any:
    inner = Namespace(scope.module, scope)
    keys, values = [], []
    for _ in _bindings(evaluator, node.generators, inner):
        keys.append(evaluator.evaluate(node.key if isinstance(node, ast.DictComp) else node.elt, inner))
        values.append(evaluator.evaluate(node.value, inner) if isinstance(node, ast.DictComp) else None)
    if not isinstance(node, (ast.DictComp, ast.SetComp)):
        return keys
    if not all(map(_is_whole, keys)):
        return UNKNOWN
    return dict(zip(keys, values)) if isinstance(node, ast.DictComp) else set(keys)


def _bindings(evaluator: Evaluation, loops: Sequence[ast.comprehension], scope: Namespace) -> Iterator[None]:
    """Bind the names of each round of nested loops."""
    if not loops:
        yield
        return
    values = evaluator.value(evaluator.evaluate(loops[0].iter, scope))
    if not _is_container(values):
        raise Undecided
    for value in list(values):
        evaluator.bind(loops[0].target, value, scope)
        held = [evaluator.decided(test, scope) for test in loops[0].ifs]
        if None in held:
            raise Undecided
        if all(held):
            yield from _bindings(evaluator, loops[1:], scope)


def _compare(evaluator: Evaluation, node: ast.Compare, scope: Namespace) -> Any:
    values = [evaluator.evaluate(one, scope) for one in (node.left, *node.comparators)]
    values = [evaluator.value(one) for one in values]
    verdicts = [_compared(evaluator, left, kind, right) for left, kind, right in zip(values, node.ops, values[1:])]
    return False if any(one is False for one in verdicts) else UNKNOWN if UNKNOWN in verdicts else True


def _compared(evaluator: Evaluation, left: Any, kind: ast.cmpop, right: Any) -> Any:
    verdict = _agreed(left, kind, right)
    evaluator.named |= verdict is True and evaluator.is_about(left) and not isinstance(kind, (ast.Is, ast.IsNot))
    return not verdict if isinstance(kind, (ast.NotIn, ast.IsNot, ast.NotEq)) and verdict is not UNKNOWN else verdict


def _agreed(left: Any, kind: ast.cmpop, right: Any) -> Any:
    """Whether values are in, are, or equal each other, whether the comparison affirms or denies that."""
    if isinstance(kind, (ast.In, ast.NotIn)):
        return False if right is GLOBALS else _contains(right, left)
    if isinstance(kind, (ast.Is, ast.IsNot)) and (left is None or right is None):
        return UNKNOWN if is_unknown(left) or is_unknown(right) else left is right
    if isinstance(kind, (ast.Eq, ast.NotEq)) and _is_whole(left) and _is_whole(right):
        return left == right
    return UNKNOWN


def _contains(whole: Any, part: Any) -> Any:
    if not _is_container(whole) or not _is_whole(part):
        return UNKNOWN
    try:
        there = part in whole
    except TypeError:
        return UNKNOWN
    return there or (UNKNOWN if isinstance(whole, (list, tuple)) and not _is_whole(whole) else False)


def _is_container(value: Any) -> bool:
    return isinstance(value, (str, dict, set, frozenset, list, tuple)) and not hasattr(value, "_fields")


def _either(evaluator: Evaluation, node: ast.BoolOp, scope: Namespace) -> Any:
    stop = isinstance(node.op, ast.Or)
    value: Any = UNKNOWN
    for one in node.values:
        value = evaluator.evaluate(one, scope)
        if is_unknown(value):
            return UNKNOWN
        if bool(value) is stop:
            return value
    return value


def _not(evaluator: Evaluation, node: ast.UnaryOp, scope: Namespace) -> Any:
    value = evaluator.evaluate(node.operand, scope)
    return UNKNOWN if is_unknown(value) or not isinstance(node.op, ast.Not) else not value


def _choice(evaluator: Evaluation, node: ast.IfExp, scope: Namespace) -> Any:
    held = evaluator.decided(node.test, scope)
    return UNKNOWN if held is None else evaluator.evaluate(node.body if held else node.orelse, scope)


def _sum(evaluator: Evaluation, node: ast.BinOp, scope: Namespace) -> Any:
    left, right = evaluator.evaluate(node.left, scope), evaluator.evaluate(node.right, scope)
    if type(left) is not type(right) or not isinstance(left, _PLAIN) or type(node.op) not in _SUMS:
        return UNKNOWN
    try:
        return _SUMS[type(node.op)](left, right)
    except TypeError:
        return UNKNOWN


def _part(evaluator: Evaluation, node: ast.Subscript, scope: Namespace) -> Any:
    if ast.unparse(node.value) == "sys.modules":
        name = evaluator.evaluate(node.slice, scope)
        return evaluator.module(name) if isinstance(name, str) else UNKNOWN
    whole = evaluator.value(evaluator.evaluate(node.value, scope))
    key = UNKNOWN if isinstance(node.slice, ast.Slice) else evaluator.evaluate(node.slice, scope)
    if whole is GLOBALS and key == evaluator.asked[1]:  # nobody asks here for what is there
        raise Raised("KeyError")
    if not _is_container(whole) or isinstance(whole, (set, frozenset)) or not _is_whole(key):
        return UNKNOWN
    try:
        found = evaluator.value(whole[key])
    except (KeyError, IndexError) as error:
        raise Raised(type(error).__name__) from None
    except TypeError:
        return UNKNOWN
    evaluator.named |= evaluator.is_about(key)
    return found


def _attribute(evaluator: Evaluation, node: ast.Attribute, scope: Namespace) -> Any:
    whole = evaluator.evaluate(node.value, scope)
    if node.attr == "__dict__" and whole == Taken(evaluator.asked[0]):
        return GLOBALS
    held = evaluator.value(whole)
    if _is_container(held):
        return Builtin(node.attr, held) if node.attr in _METHODS[type(held)].split() else UNKNOWN
    return evaluator.inside(whole, node.attr)


def _called(evaluator: Evaluation, node: ast.Call, scope: Namespace) -> Any:
    given: list[Any] = []
    function = evaluator.evaluate(node.func, scope)
    for one in node.args:
        value = evaluator.evaluate(one.value if isinstance(one, ast.Starred) else one, scope)
        if isinstance(one, ast.Starred) and not isinstance(value, (list, tuple)):
            return UNKNOWN
        given += value if isinstance(one, ast.Starred) else [value]
    if any(one.arg is None for one in node.keywords):
        return UNKNOWN
    named = {str(one.arg): evaluator.evaluate(one.value, scope) for one in node.keywords}
    return evaluator.call(function, given, named)


EXPRESSIONS: dict[Any, Callable[[Any, Any, Any], Any]] = {
    ast.Constant: lambda _evaluator, node, _scope: node.value, ast.JoinedStr: _text,
    ast.List: _many, ast.Tuple: _many, ast.Set: _many, ast.Dict: _dictionary,
    ast.ListComp: _comprehension, ast.SetComp: _comprehension, ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension, ast.Compare: _compare, ast.BoolOp: _either, ast.UnaryOp: _not,
    ast.IfExp: _choice, ast.BinOp: _sum, ast.Subscript: _part, ast.Attribute: _attribute, ast.Call: _called,
}  # fmt: skip


# --- calls ------------------------------------------------------------------------------------------------------------


def call(evaluator: Evaluation, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The value that a function of Python itself returns, or a method of a known value."""
    if function == Taken("importlib", "import_module"):
        return _imported(evaluator, given, named)
    if not isinstance(function, Builtin) or named:
        return UNKNOWN
    if function.name in _ASKING:
        return _asked(evaluator, function.name, given)
    own = function.name in _MAKING and function.owner is UNKNOWN
    known = [evaluator.value(one) for one in given]
    if not all(map(_is_container if own else _is_whole, known)):
        return UNKNOWN
    try:
        made = (_MAKING[function.name] if own else getattr(function.owner, function.name))(*known)
    except (TypeError, ValueError):
        return UNKNOWN
    return evaluator.value(list(made) if isinstance(made, (KeysView, ValuesView, ItemsView)) else made)


def _imported(evaluator: Evaluation, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    name, package = given[0] if given else UNKNOWN, named.get("package", given[1] if len(given) > 1 else UNKNOWN)
    if not isinstance(name, str):
        return UNKNOWN
    level = len(name) - len(name.lstrip("."))
    if level and not isinstance(package, str):
        return UNKNOWN
    return evaluator.module(absolute(name.lstrip("."), level, package))


def _asked(evaluator: Evaluation, function: str, given: Sequence[Any]) -> Any:
    """The value of a call of ``getattr``, ``hasattr``, ``globals`` or ``vars``."""
    if function in {"globals", "vars"}:
        return GLOBALS if not given or given[0] == Taken(evaluator.asked[0]) else UNKNOWN
    if len(given) < len(("thing", "name")) or not isinstance(given[1], str):
        return UNKNOWN
    try:
        found = evaluator.inside(given[0], given[1])
    except Raised:
        if function == "hasattr":
            return False
        if len(given) > len(("thing", "name")):
            return given[-1]
        raise
    return found if function == "getattr" or found is UNKNOWN else True


def changed(evaluator: Evaluation, node: ast.Call, scope: Namespace) -> bool:
    """Do what a method of a known container does; false where that is not known."""
    function = node.func
    whole = evaluator.evaluate(function.value, scope) if isinstance(function, ast.Attribute) else UNKNOWN
    if not isinstance(whole, (dict, list, set)) or node.keywords:
        return False
    given = [evaluator.value(evaluator.tried(one, scope)) for one in node.args]
    if any(map(is_unknown, given)):
        return False
    try:
        getattr(whole, function.attr)(*given)  # type: ignore[attr-defined]
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        return False
    return True
