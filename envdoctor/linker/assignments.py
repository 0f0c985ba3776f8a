"""Assignments, and calls for their effect: what a module binds, sets on others, or hides."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from envdoctor.linker import tables
from envdoctor.linker.branches import holds
from envdoctor.linker.expressions import chain, is_itself, last
from envdoctor.linker.summary import IMPORTS, WRITES_GLOBALS

if TYPE_CHECKING:
    from envdoctor.linker.module_reader import Reader

_CHANGING = {"update", "setdefault"}
_LISTING = {"append", "extend", "insert"}
#: What may be given ``__name__`` without changing the module.
_HARMLESS = {"getLogger", "get_logger", "print", "warn", "import_module", "__import__", "main"}


def assign(reader: Reader, node: ast.Assign) -> None:
    """Read ``a = b = value``."""
    reader.walk(node.value)
    reader.given_away(node.value)
    for target in node.targets:
        assign_to(reader, target, node.value)


def annotated_assign(reader: Reader, node: ast.AnnAssign) -> None:
    """Read ``a: kind = value``; an annotation alone binds only in a class."""
    if reader.scope.kind != "function" and not reader.lazy_annotations:
        reader.walk(node.annotation)
    if node.value is not None or reader.scope.kind == "class":
        reader.walk(node.value)
        assign_to(reader, node.target, node.value, node.annotation)


def augmented(reader: Reader, node: ast.AugAssign) -> None:
    """Read ``a += value``, which may extend ``__all__`` or ``__path__``."""
    reader.walk(node.value)
    if isinstance(node.target, ast.Name):
        name = node.target.id
        reader.bind_name(name)
        if name == "__all__":
            _export(reader, tables.strings(node.value, reader.tables))
        elif name == "__path__":
            reader.elsewhere = True
    else:
        assign_to(reader, node.target, None)


def _export(reader: Reader, names: list[str] | None) -> None:
    reader.exported = None if names is None or reader.exported is None else reader.exported + names


def assign_to(reader: Reader, target: ast.expr, value: ast.expr | None, kind: ast.expr | None = None) -> None:
    """Give a target a value, with its annotation if there is one; ``None`` for a value that is not at hand."""
    if isinstance(target, ast.Name):
        reader.objects.named(target.id, value, kind)
        _assign_name(reader, target.id, value)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(reader, target, value, kind)
    elif isinstance(target, ast.Subscript):
        reader.walk(target.slice)
        _assign_entry(reader, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            assign_to(reader, one, None)
    elif isinstance(target, ast.Starred):
        assign_to(reader, target.value, None)


def _assign_name(reader: Reader, name: str, value: ast.expr | None) -> None:
    reader.scope.keys[name] = [] if reader.branches else _keys(value)
    imported = _imported(value)
    if imported is not None:
        reader.reference(imported, "", value.lineno, IMPORTS)  # type: ignore[union-attr]
        reader.bind_import(name, imported, "")
        return
    if reader.scope is reader.top and isinstance(value, ast.Constant) and value.value is None:
        reader.names.setdefault(name, 0)  # a stand-in for what is imported later
        return
    if isinstance(value, ast.Subscript) and is_itself(value):
        reader.itself.add(name)
    bound: Any = 0
    found = chain(value) if isinstance(value, (ast.Name, ast.Attribute)) else None
    if reader.scope is reader.top and value is not None:
        _top_level(reader, name, value)
        origins = reader.top.imports.get(found[0], []) if found else []
        if found and len(origins) == 1 and found[0] not in reader.top.bound:
            bound = ["i", origins[0][0], ".".join(filter(None, (origins[0][1], *found[1])))]
        elif found and not found[1] and found[0] in reader.class_numbers:
            bound = ["c", reader.class_numbers[found[0]]]
    reader.bind_name(name, bound)


def _keys(value: ast.expr | None) -> list[str]:
    """The texts that are surely keys of a new dictionary."""
    if isinstance(value, ast.Call) and last(value.func) == "dict":
        return [one.arg for one in value.keywords if one.arg is not None]
    keys = value.keys if isinstance(value, ast.Dict) else ()
    return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]


def _imported(value: ast.expr | None) -> str | None:
    """The module of ``__import__("a")`` or ``import_module("a.b")``."""
    if not isinstance(value, ast.Call) or len(value.args) != 1 or not isinstance(value.args[0], ast.Constant):
        return None
    name, function = value.args[0].value, last(value.func)
    if not isinstance(name, str) or name[:1] == "." or not all(part.isidentifier() for part in name.split(".")):
        return None
    return name if function == "import_module" or (function == "__import__" and "." not in name) else None


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
    else:
        held = tables.strings(value, reader.tables)
        if held is not None:
            reader.tables[name] = held


def _assign_attribute(
    reader: Reader, target: ast.Attribute, value: ast.expr | None, kind: ast.expr | None = None
) -> None:
    found = chain(target)
    if found is None:
        if target.attr == "__class__" and "sys.modules" in ast.unparse(target):
            reader.dynamic.add("it gives its module another class")
        elif ast.unparse(target.value) == "sys.modules[__name__]":
            reader.own(target.attr, "")
        elif module := _imported(target.value):
            reader.stores.add((module, target.attr))
        reader.walk(target.value)
        return
    root, path = found
    if root in {"self", "cls"} and len(path) == 1 and reader.scope.record:
        reader.scope.record[1].add(path[0])
        reader.objects.given(path[0], value, kind)
    elif root not in {"self", "cls"}:
        reader.sets.add(target.attr)
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
    reader.gains(whole, key)
    reader.walk(whole)


def _dynamic_names(reader: Reader, key: object) -> None:
    if reader.scope.kind == "class":
        reader.scope.record[2] = True
    else:
        reader.own(key if isinstance(key, str) else None, WRITES_GLOBALS)


def expression(reader: Reader, node: ast.Expr) -> None:
    """Read an expression that stands alone: a call may change what the module has."""
    reader.walk(node.value)
    call = node.value
    if not isinstance(call, ast.Call):
        return
    if last(call.func) == "exec" and (reader.scope.kind == "module" or len(call.args) > 1):
        reader.dynamic.add("it executes text")
    if isinstance(call.func, ast.Attribute):
        _method(reader, call, call.func)
    if reader.scope.kind == "module" and last(call.func) not in _HARMLESS and _is_given_name(call):
        reader.dynamic.add("it gives its name to a function that may fill it")


def _is_given_name(call: ast.Call) -> bool:
    """Whether a call is given ``__name__``, as an argument or as a key of one."""
    given = [*call.args, *(one.value for one in call.keywords)]
    given += [key for one in given if isinstance(one, ast.Dict) for key in one.keys if key is not None]
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in given)


#: Where Python looks for modules, and what a reader notes of who changes that.
_FINDING: dict[Any, str] = {("sys", ("meta_path",)): "loader", ("sys", ("path",)): "paths"}


def _method(reader: Reader, call: ast.Call, function: ast.Attribute) -> None:
    """A call for its effect: on ``globals()``, ``__all__``, ``__path__`` or the lists and tables of ``sys``."""
    name, owner = function.attr, function.value
    if isinstance(owner, ast.Call) and last(owner.func) in {"globals", "vars", "locals"} and name in _CHANGING:
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
    elif chain(owner) in _FINDING:
        setattr(reader, _FINDING[chain(owner)], True)
    elif chain(owner) == ("sys", ("modules",)) and name in _CHANGING:
        reader.provided.add("*")
    elif name == "declare_namespace":
        reader.elsewhere = True
    elif name == "__setattr__" and call.args:
        key = getattr(call.args[0], "value", None)
        reader.stored(owner, key if isinstance(key, str) else None)
    elif name == "setdefault" and call.args and isinstance(call.args[0], ast.Constant):
        reader.gains(owner, call.args[0].value)
