"""Assignments, and calls for their effect: what a module binds, sets on others, or hides."""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.linker import tables
from envdoctor.linker.branches import holds
from envdoctor.linker.makings import last, parts
from envdoctor.linker.summary import IMPORTS, WRITES_GLOBALS
from envdoctor.linker.syntax_trees import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from envdoctor.linker.module_reading import ModuleReading

_NAMESPACES = {"globals", "vars", "locals"}
#: What may be given ``__name__`` without changing the module.
_HARMLESS = {"getLogger", "get_logger", "print", "warn", "import_module", "__import__", "main"}


def assign(reader: ModuleReading, node: ast.Assign) -> None:
    """Read ``a = b = value``."""
    reader.walk(node.value)
    reader.forms.assigned(node)
    reader.given_away(node.value)
    for target in node.targets:
        assign_to(reader, target, node.value)


def annotated_assign(reader: ModuleReading, node: ast.AnnAssign) -> None:
    """Read ``a: kind = value``; an annotation alone binds only in a class."""
    if reader.scope.kind != "function" and not reader.lazy_annotations:
        reader.forms.annotation(node.annotation)
        reader.walk(node.annotation)
    if node.value is not None or reader.scope.kind == "class":
        reader.walk(node.value)
        assign_to(reader, node.target, node.value, node.annotation)


def augmented(reader: ModuleReading, node: ast.AugAssign) -> None:
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


def _export(reader: ModuleReading, names: list[str] | None) -> None:
    reader.exported = None if names is None or reader.exported is None else reader.exported + names


def assign_to(reader: ModuleReading, target: ast.expr, value: ast.expr | None, kind: ast.expr | None = None) -> None:
    """Give a target a value, with its annotation if there is one; ``None`` for a value that is not known."""
    if isinstance(target, ast.Name):
        reader.objects.named(target.id, value, kind)
        _assign_name(reader, target.id, value)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(reader, target, value, kind)
    elif isinstance(target, ast.Subscript):
        reader.walk(target.slice)
        _assign_entry(reader, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one, part in zip(target.elts, parts(target.elts, value)):
            if isinstance(one, ast.Name):
                reader.objects.named(one.id, part)
                _assign_name(reader, one.id, None)
            else:
                assign_to(reader, one, part if isinstance(one, ast.Attribute) else None)
    elif isinstance(target, ast.Starred):
        assign_to(reader, target.value, None)


def _assign_name(reader: ModuleReading, name: str, value: ast.expr | None) -> None:
    reader.scope.keys[name] = [] if reader.branches else _keys(value)
    imported = _imported(value)
    if imported is not None:
        reader.reference(imported, "", value.lineno, IMPORTS)  # type: ignore[union-attr]
        reader.bind_import(name, imported, "")
        return
    is_top = reader.scope is reader.top
    if is_top and isinstance(value, ast.Constant) and value.value is None:
        reader.names.setdefault(name, 0)  # a stand-in for what is imported later
        return
    if isinstance(value, ast.Subscript) and reader.is_itself(value):
        reader.itself.add(name)
    if is_top and value is not None:
        _top_level(reader, name, value)
        reader.bind_name(name, _renamed(reader, value))
    else:
        reader.bind_name(name)


def _renamed(reader: ModuleReading, value: ast.expr) -> Any:
    """The record of a name that is another one for an import or class of the module; else zero."""
    root, path = chain(value) or ("", ())
    origins = reader.top.imports.get(root, ())
    if len(origins) == 1 and root not in reader.top.bound:
        module, inner = origins[0]
        return ["i", module, ".".join(filter(None, (inner, *path)))]
    return ["c", reader.class_numbers[root]] if not path and root in reader.class_numbers else 0


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


def _top_level(reader: ModuleReading, name: str, value: ast.expr) -> None:
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
    reader: ModuleReading, target: ast.Attribute, value: ast.expr | None, kind: ast.expr | None = None
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


def _assign_entry(reader: ModuleReading, target: ast.Subscript) -> None:
    """``globals()[...] = ``, ``sys.modules[...] = `` and ``vars()[...] = ``."""
    whole = target.value
    key = target.slice.value if isinstance(target.slice, ast.Constant) else None
    if isinstance(whole, ast.Call) and getattr(whole.func, "id", "") in _NAMESPACES:
        for one in reader.rounds.get(getattr(target.slice, "id", ""), [key]):
            _dynamic_names(reader, one)
    elif reader.of_sys(whole) == ("modules",):
        if isinstance(target.slice, ast.Name) and target.slice.id == "__name__":
            reader.dynamic.add("it replaces itself in sys.modules")
        else:
            reader.provided.add(key if isinstance(key, str) else "*")
    elif isinstance(whole, ast.Attribute) and whole.attr == "__dict__":
        reader.stored(whole.value, key if isinstance(key, str) else None)
    reader.gains(whole, key)
    reader.walk(whole)


def _dynamic_names(reader: ModuleReading, key: object) -> None:
    if reader.scope.kind == "class":
        reader.scope.record[2] = True
    else:
        reader.own(key if isinstance(key, str) else None, WRITES_GLOBALS)


def expression(reader: ModuleReading, node: ast.Expr) -> None:
    """Read an expression statement: a call may change what the module has."""
    reader.walk(node.value)
    call = node.value
    if not isinstance(call, ast.Call):
        return
    if last(call.func) == "exec" and _may_bind(reader, call.args):
        reader.dynamic.add("it executes text")
    if isinstance(call.func, ast.Attribute):
        _method(reader, call, call.func)
    if reader.scope is reader.top and _CHECKING.search(last(call.func) or ""):
        reader.checks = True
    if reader.scope.kind == "module" and last(call.func) not in _HARMLESS and _is_given_name(call, reader.module):
        reader.dynamic.add("it gives its name to a function that may fill it")


def _may_bind(reader: ModuleReading, executed: list[ast.expr]) -> bool:
    """Whether text that is executed, with a namespace if one is given, may bind names of the module."""
    if len(executed) > 1:
        return not _is_of_other(reader, executed[1])
    return reader.scope.kind == "module"


def _is_of_other(reader: ModuleReading, namespace: ast.expr) -> bool:
    """Whether names that are executed into a namespace are not the module's: it is a new one, or another module's."""
    if isinstance(namespace, ast.Attribute) and namespace.attr == "__dict__":
        return isinstance(namespace.value, ast.Name) and namespace.value.id not in reader.itself
    return isinstance(namespace, ast.Dict)


def _is_given_name(call: ast.Call, module: str) -> bool:
    """Whether a call is given the name of its module, or ``__name__``, as an argument or as a key of one."""
    given = [*call.args, *(one.value for one in call.keywords)]
    given += [key for one in given if isinstance(one, ast.Dict) for key in one.keys if key is not None]
    return any(getattr(one, "id", "") == "__name__" or getattr(one, "value", None) == module for one in given)


#: What functions are called that check something.
_CHECKING = re.compile(r"check|requir|version|verif|ensure|validat|compat|assert|depend", re.IGNORECASE)
#: Where Python looks for modules, and what a reader notes of who changes that.
_FINDING: dict[tuple[str, ...], str] = {("meta_path",): "loader", ("path",): "paths"}


def _method(reader: ModuleReading, call: ast.Call, function: ast.Attribute) -> None:
    """A call for its effect: on ``globals()``, ``__all__``, ``__path__`` or the lists and tables of ``sys``."""
    finding = _FINDING.get(reader.of_sys(function.value))
    if finding is not None:
        setattr(reader, finding, True)
    elif function.attr == "declare_namespace":
        reader.elsewhere = True
    elif function.attr in _EFFECTS:
        reader.tables.pop(getattr(function.value, "id", ""), None)
        _EFFECTS[function.attr](reader, call, function.value)


def _updated(reader: ModuleReading, call: ast.Call, owner: ast.expr) -> None:
    if isinstance(owner, ast.Call) and last(owner.func) in _NAMESPACES:
        _dynamic_names(reader, None)
    elif isinstance(owner, ast.Attribute) and owner.attr == "__dict__":
        reader.stored(owner.value, None)
    elif reader.of_sys(owner) == ("modules",):
        reader.provided.add("*")


def _set_default(reader: ModuleReading, call: ast.Call, owner: ast.expr) -> None:
    _updated(reader, call, owner)
    if call.args and isinstance(call.args[0], ast.Constant):
        reader.gains(owner, call.args[0].value)


def _listed(reader: ModuleReading, call: ast.Call, owner: ast.expr) -> None:
    name = getattr(owner, "id", "")
    if name == "__path__":
        reader.elsewhere = True
    elif name == "__all__" and call.args:
        given = call.args[-1]
        whole = given if last(call.func) == "extend" else ast.List([given], ast.Load())
        _export(reader, tables.strings(whole, reader.tables))


def _attribute_set(reader: ModuleReading, call: ast.Call, owner: ast.expr) -> None:
    if call.args:
        key = getattr(call.args[0], "value", None)
        reader.stored(owner, key if isinstance(key, str) else None)


_EFFECTS: dict[str, Callable[[ModuleReading, ast.Call, ast.expr], None]] = {
    "update": _updated,
    "setdefault": _set_default,
    "append": _listed,
    "insert": _listed,
    "extend": _listed,
    "__setattr__": _attribute_set,
}
