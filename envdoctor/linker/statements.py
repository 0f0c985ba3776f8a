"""What each kind of statement means to a reader. A function returns true where the statements behind it are dead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from envdoctor.linker import signatures, tables
from envdoctor.linker.conditions import holds
from envdoctor.linker.expressions import chain
from envdoctor.linker.scopes import Scope
from envdoctor.linker.summary import CATCHES_ALL, CONDITIONAL, FROM, IMPORTS, LATER, caught

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.reader import Reader

#: What may stand at the top of a class statement without making the class impossible to tell.
_PLAIN_META = {"ABCMeta", "EnumMeta", "type"}
_PLAIN_DECORATORS = {"dataclass", "dataclasses", "total_ordering", "final", "runtime_checkable", "runtime", "unique"}
_CHANGING = {"update", "setdefault"}
_LISTING = {"append", "extend", "insert"}


def _import(reader: Reader, node: ast.Import) -> None:
    for alias in node.names:
        reader.reference(alias.name, "", node.lineno, IMPORTS)
        if alias.asname:
            reader.bind_import(alias.asname, alias.name, "")
        else:
            reader.bind_import(alias.name.partition(".")[0], alias.name.partition(".")[0], "")


def _import_from(reader: Reader, node: ast.ImportFrom) -> None:
    module = node.module or ""
    if node.level:
        parts = reader.package.split(".")
        base = parts[: len(parts) - node.level + 1]
        module = ".".join([*base, *([module] if module else [])])
    if module == "__future__":
        reader.lazy_annotations |= any(alias.name == "annotations" for alias in node.names)
        return
    for alias in node.names:
        if alias.name == "*":
            reader.reference(module, "", node.lineno, IMPORTS)
            reader.stars.append(module)
        else:
            reader.reference(module, alias.name, node.lineno, IMPORTS | FROM)
            reader.bind_import(alias.asname or alias.name, module, alias.name)


# --- functions and classes ------------------------------------------------------------------------------------------


def _function(reader: Reader, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    given = node.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    arguments += [one for one in (given.vararg, given.kwarg) if one is not None]
    for part in (*node.decorator_list, *given.defaults, *given.kw_defaults):
        reader.walk(part)
    if not reader.lazy_annotations:
        for annotation in (*(one.annotation for one in arguments), node.returns):
            reader.walk(annotation)
    _define(reader, node)
    outside, before = reader.scope, (reader.flags, reader.attempt, reader.handler)
    reader.scope = inner = Scope("function", outside)
    reader.flags = reader.flags & CONDITIONAL | LATER
    reader.attempt = reader.handler = 0
    for one in arguments:
        inner.bind(one.arg)
        made = _annotated(one.annotation)
        if made:
            inner.types[one.arg] = made
    reader.body(node.body)
    reader.scope = outside
    reader.flags, reader.attempt, reader.handler = before
    reader.close(inner)


def _define(reader: Reader, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Bind the name of a function, with its signature where that is kept."""
    scope = reader.scope
    value: Any = 0
    if scope.kind == "class":
        methods = scope.record[3]
        static = any(getattr(one, "id", "") == "staticmethod" for one in node.decorator_list)
        methods[node.name] = None if node.name in methods or static else signatures.of_function(node)
        if node.name in {"__getattr__", "__getattribute__"}:
            scope.record[2] = True
    elif scope is reader.top:
        if node.name == "__getattr__" and isinstance(node, ast.FunctionDef):
            reader.answers = tables.defined_getattr(node, reader.tables)
        reader.functions.append(signatures.of_function(node))
        value = ["f", len(reader.functions) - 1]
    reader.bind_name(node.name, value)


def _annotated(annotation: ast.expr | None) -> tuple[str, tuple[str, ...]] | None:
    """The class that an annotation names: ``a.B``, ``Optional[a.B]``, ``"a.B"``."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(annotation, ast.Subscript):
        name = getattr(annotation.value, "attr", None) or getattr(annotation.value, "id", "")
        return _annotated(annotation.slice) if name == "Optional" else None
    return chain(annotation) if isinstance(annotation, (ast.Name, ast.Attribute)) else None


def _class(reader: Reader, node: ast.ClassDef) -> None:
    for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
        reader.walk(part)
    decorated = [_last(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
    metas = [_last(one.value) if one.arg == "metaclass" else None for one in node.keywords]
    changed = any(one not in _PLAIN_DECORATORS for one in decorated) or any(one not in _PLAIN_META for one in metas)
    record = [[_base(base) for base in node.bases], set(), changed, {}, int(bool(decorated))]
    value: Any = 0
    if reader.scope is reader.top:
        value = ["c", len(reader.classes)]
        reader.class_numbers[node.name] = len(reader.classes)
        reader.classes.append(record)
    reader.bind_name(node.name, value)
    outside = reader.scope
    reader.scope = inner = Scope("class", outside)
    inner.record = record
    reader.body(node.body)
    reader.scope = outside
    reader.close(inner)


def _last(node: ast.expr) -> str | None:
    return getattr(node, "attr", None) or getattr(node, "id", None)


def _base(base: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    return chain(base.value if isinstance(base, ast.Subscript) else base)


# --- branches -------------------------------------------------------------------------------------------------------


def _if(reader: Reader, node: ast.If) -> bool:
    reader.walk(node.test)
    decided = holds(node.test, reader.target, reader.known)
    if decided is not None:
        return reader.body(node.body if decided else node.orelse)
    ended = reader.within(node.body, CONDITIONAL)
    return reader.within(node.orelse, CONDITIONAL) and ended


def _try(reader: Reader, node: ast.Try) -> None:
    flags = 0
    for handler in node.handlers:
        if not any(isinstance(one, ast.Raise) for one in handler.body[-1:]):
            flags |= _handled(handler.type)
    reader.attempts += 1
    number, before = reader.attempts, (reader.attempt, reader.handler)
    reader.attempt = number
    reader.within(node.body, flags)
    reader.attempt = before[0]
    for handler in node.handlers:
        if handler.name:
            reader.scope.shadowed.add(handler.name)
        reader.handler = number
        reader.body(handler.body)
        reader.handler = before[1]
    reader.body(node.orelse)
    reader.body(node.finalbody)


def _handled(kind: ast.expr | None) -> int:
    """The flags of what ``except KIND`` catches."""
    if kind is None:
        return CATCHES_ALL
    flags = 0
    for one in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
        flags |= caught(_last(one) or "")
    return flags


def _with(reader: Reader, node: ast.With | ast.AsyncWith) -> None:
    flags = 0
    for item in node.items:
        reader.walk(item.context_expr)
        if item.optional_vars is not None:
            _assign_to(reader, item.optional_vars, None)
        call = item.context_expr
        if isinstance(call, ast.Call) and _last(call.func) == "suppress":
            for one in call.args:
                flags |= _handled(one)
    reader.within(node.body, flags)


def _loop(reader: Reader, node: ast.For | ast.AsyncFor) -> None:
    reader.walk(node.iter)
    _assign_to(reader, node.target, None)
    reader.body(node.body)
    reader.body(node.orelse)


def _while(reader: Reader, node: ast.While) -> None:
    reader.walk(node.test)
    reader.within(node.body, 0 if isinstance(node.test, ast.Constant) else CONDITIONAL)
    reader.body(node.orelse)


def _match(reader: Reader, node: Any) -> None:
    reader.walk(node.subject)
    for case in node.cases:
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                reader.bind_name(name)
        reader.walk(case.guard)
        reader.within(case.body, CONDITIONAL)


# --- assignments ----------------------------------------------------------------------------------------------------


def _assign(reader: Reader, node: ast.Assign) -> None:
    reader.walk(node.value)
    reader.given_away(node.value)
    for target in node.targets:
        _assign_to(reader, target, node.value)


def _annotated_assign(reader: Reader, node: ast.AnnAssign) -> None:
    if reader.scope.kind != "function" and not reader.lazy_annotations:
        reader.walk(node.annotation)
    if node.value is not None or reader.scope.kind == "class":
        reader.walk(node.value)
        _assign_to(reader, node.target, node.value)


def _augmented(reader: Reader, node: ast.AugAssign) -> None:
    reader.walk(node.value)
    if isinstance(node.target, ast.Name):
        name = node.target.id
        reader.bind_name(name)
        if name == "__all__":
            _export(reader, tables.strings(node.value, reader.tables))
        elif name == "__path__":
            reader.elsewhere = True
    else:
        _assign_to(reader, node.target, None)


def _export(reader: Reader, names: list[str] | None) -> None:
    reader.exported = None if names is None or reader.exported is None else reader.exported + names


def _assign_to(reader: Reader, target: ast.expr, value: ast.expr | None) -> None:
    if isinstance(target, ast.Name):
        _assign_name(reader, target.id, value)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(reader, target)
    elif isinstance(target, ast.Subscript):
        reader.walk(target.slice)
        _assign_entry(reader, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            _assign_to(reader, one, None)
    elif isinstance(target, ast.Starred):
        _assign_to(reader, target.value, None)


def _assign_name(reader: Reader, name: str, value: ast.expr | None) -> None:
    bound: Any = 0
    found = chain(value) if isinstance(value, (ast.Name, ast.Attribute)) else None
    if reader.scope is reader.top and value is not None:
        _top_level(reader, name, value)
        origins = reader.top.imports.get(found[0], []) if found else []
        if found and len(origins) == 1 and found[0] not in reader.top.bound:
            bound = ["i", origins[0][0], ".".join(filter(None, (origins[0][1], *found[1])))]
        elif found and not found[1] and found[0] in reader.class_numbers:
            bound = ["c", reader.class_numbers[found[0]]]
    elif isinstance(value, ast.Call):
        made = chain(value.func)
        if made and reader.scope.kind == "function" and (made[1] or made[:1])[-1][:1].isupper():
            reader.scope.types[name] = made
    reader.bind_name(name, bound)


def _top_level(reader: Reader, name: str, value: ast.expr) -> None:
    """What a name of the module means beyond being there."""
    decided = (
        holds(value, reader.target, reader.known) if isinstance(value, (ast.Compare, ast.BoolOp, ast.Call)) else None
    )
    if decided is not None:
        reader.known[name] = decided
    if name == "__all__":
        reader.exported = tables.strings(value, reader.tables)
    elif name == "__path__":
        reader.elsewhere = True
    elif name == "__getattr__":
        reader.answers = tables.assigned_getattr(value, reader.tables)
    else:
        held = tables.table(value, reader.tables)
        if held is not None:
            reader.tables[name] = held


def _assign_attribute(reader: Reader, target: ast.Attribute) -> None:
    found = chain(target)
    if found is None:
        if target.attr == "__class__" and "sys.modules" in ast.unparse(target):
            reader.dynamic.add("it gives its module another class")
        elif ast.unparse(target.value) == "sys.modules[__name__]":
            reader.own(target.attr, "")
        reader.walk(target.value)
        return
    root, path = found
    if root in {"self", "cls"} and len(path) == 1 and reader.scope.record:
        reader.scope.record[1].add(path[0])
    elif root not in {"self", "cls"}:
        reader.stored(target.value, target.attr)
    if found == ("sys", ("meta_path",)):
        reader.loader = True


def _assign_entry(reader: Reader, target: ast.Subscript) -> None:
    """``globals()[...] = ``, ``sys.modules[...] = `` and ``vars()[...] = ``."""
    whole = target.value
    key = target.slice.value if isinstance(target.slice, ast.Constant) else None
    if (
        isinstance(whole, ast.Call)
        and isinstance(whole.func, ast.Name)
        and whole.func.id in {"globals", "vars", "locals"}
    ):
        _dynamic_names(reader, key)
    elif chain(whole) == ("sys", ("modules",)):
        if isinstance(target.slice, ast.Name) and target.slice.id == "__name__":
            reader.dynamic.add("it replaces itself in sys.modules")
        else:
            reader.provided.add(key if isinstance(key, str) else "*")
    elif isinstance(whole, ast.Attribute) and whole.attr == "__dict__":
        reader.stored(whole.value, key if isinstance(key, str) else None)
    reader.walk(whole)


def _dynamic_names(reader: Reader, key: object) -> None:
    if reader.scope.kind == "class":
        reader.scope.record[2] = True
    else:
        reader.own(key if isinstance(key, str) else None, "it writes names into globals()")


# --- the rest -------------------------------------------------------------------------------------------------------


def _expression(reader: Reader, node: ast.Expr) -> None:
    reader.walk(node.value)
    call = node.value
    if not isinstance(call, ast.Call):
        return
    if isinstance(call.func, ast.Name):
        if call.func.id == "exec" and (reader.scope.kind == "module" or len(call.args) > 1):
            reader.dynamic.add("it executes text")
        return
    if isinstance(call.func, ast.Attribute):
        _method(reader, call, call.func)


def _method(reader: Reader, call: ast.Call, function: ast.Attribute) -> None:
    """A call for its effect: on ``globals()``, ``__all__``, ``__path__``, ``sys.meta_path`` or ``sys.modules``."""
    name, owner = function.attr, function.value
    if isinstance(owner, ast.Call) and _last(owner.func) in {"globals", "vars", "locals"} and name in _CHANGING:
        _dynamic_names(reader, None)
    elif isinstance(owner, ast.Attribute) and owner.attr == "__dict__" and name in _CHANGING:
        reader.stored(owner.value, None)
    elif name in _LISTING and isinstance(owner, ast.Name) and owner.id == "__all__" and call.args:
        given = call.args[-1]
        names = (
            tables.strings(given, reader.tables) if name == "extend" else tables.strings(ast.List([given], ast.Load()))
        )
        _export(reader, names)
    elif name in _LISTING and isinstance(owner, ast.Name) and owner.id == "__path__":
        reader.elsewhere = True
    elif chain(owner) == ("sys", ("meta_path",)):
        reader.loader = True
    elif chain(owner) == ("sys", ("modules",)) and name in _CHANGING:
        reader.provided.add("*")
    elif name == "declare_namespace":
        reader.elsewhere = True


def _delete(reader: Reader, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name) and reader.scope is reader.top and not reader.flags and not reader.handler:
            reader.names.pop(target.id, None)
        elif not isinstance(target, ast.Name):
            reader.walk(target)


def _outer(reader: Reader, node: ast.Global) -> None:
    reader.scope.outer.update(node.names)


_STATEMENTS: dict[Any, Callable[[Any, Any], bool | None]] = {
    ast.Import: _import, ast.ImportFrom: _import_from, ast.FunctionDef: _function, ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class, ast.If: _if, ast.Try: _try, ast.With: _with, ast.AsyncWith: _with, ast.For: _loop,
    ast.AsyncFor: _loop, ast.While: _while, ast.Assign: _assign, ast.AnnAssign: _annotated_assign,
    ast.AugAssign: _augmented, ast.Expr: _expression, ast.Delete: _delete, ast.Global: _outer,
}  # fmt: skip
for _name, _read in (("Match", _match), ("TryStar", _try)):  # newer than the oldest Python that runs this
    if hasattr(ast, _name):
        _STATEMENTS[getattr(ast, _name)] = _read

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def read_all(reader: Reader, statements: Sequence[ast.stmt]) -> bool:
    """Read statements in order; whether the end is surely not reached."""
    for node in statements:
        read = _STATEMENTS.get(type(node))
        if read is None:
            for child in ast.iter_child_nodes(node):
                reader.walk(child)
            if isinstance(node, _ENDS):
                return True
        elif read(reader, node):
            return True
    return False
