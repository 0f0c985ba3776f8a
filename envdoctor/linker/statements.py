"""How a reader reads each kind of statement.

A function returns true where the statements behind it are dead, and else the flags under which they are reached.
"""

from __future__ import annotations

import ast
from typing import Any

from envdoctor.linker import signatures, tables
from envdoctor.linker.assignments import annotated_assign, assign, assign_to, augmented, expression
from envdoctor.linker.branches import children, holds, is_one_version
from envdoctor.linker.makings import decorators, last
from envdoctor.linker.scopes import Scope
from envdoctor.linker.standard_library import modules, standard_for
from envdoctor.linker.summary import CATCHES_ALL, CATCHES_IMPORT, CONDITIONAL, FROM, IMPORTS, LATER, caught
from envdoctor.linker.syntax_trees import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.module_reading import ModuleReading

#: What may be at the top of a class statement without leaving open what the class has.
_PLAIN_META = {"ABCMeta", "EnumMeta", "type"}
#: The methods that say how objects of a class are made.
_MAKING = {"__init__", "__new__", "*"}
_PLAIN_DECORATORS = {"dataclass", "dataclasses", "total_ordering", "final", "runtime_checkable", "runtime", "unique"}
#: Names that only Python 2 has without an import.
_PYTHON_2 = {"basestring", "long", "raw_input", "unichr", "unicode", "xrange"}


def _import(reader: ModuleReading, node: ast.Import) -> None:
    for alias in node.names:
        top, _, inner = alias.name.partition(".")
        reader.reference(alias.name, "", node.lineno, IMPORTS, top if inner and not alias.asname else "")
        if alias.asname:  # an attribute of the package comes before its submodule
            module, _, name = alias.name.rpartition(".")
            reader.bind_import(alias.asname, *((module, name) if module else (alias.name, "")))
        else:
            reader.bind_import(top, top, "")


def _import_from(reader: ModuleReading, node: ast.ImportFrom) -> None:
    module = reader.imported(node)
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


def _function(reader: ModuleReading, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    given = node.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    arguments += [one for one in (given.vararg, given.kwarg) if one is not None]
    _put_elsewhere(reader, node)
    for part in (*node.decorator_list, *given.defaults, *given.kw_defaults):
        reader.walk(part)
    if not reader.lazy_annotations:
        for annotation in (*(one.annotation for one in arguments), node.returns):
            reader.forms.annotation(annotation)
            reader.walk(annotation)
    if any(last(one) == "overload" for one in node.decorator_list):
        reader.objects.overloaded(node)
        return
    _define(reader, node)
    outside, before = reader.scope, (reader.flags, reader.attempt, reader.handler, reader.branches)
    reader.scope = inner = Scope("function", outside)
    reader.flags = reader.flags & (CONDITIONAL | CATCHES_ALL) | LATER  # who defines it in a try is prepared
    reader.attempt, reader.handler, reader.branches = 0, -reader.attempt or reader.handler, 0
    for one in arguments:
        inner.bind(one.arg)
    reader.objects.function(node, inner, outside)
    reader.body(node.body)
    if outside is reader.top:
        reader.setting[node.name] = inner.sets
    reader.scope = outside
    reader.flags, reader.attempt, reader.handler, reader.branches = before
    reader.close(inner)


def _put_elsewhere(reader: ModuleReading, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    """Take note of modules that decorators are given by name: they may put what is defined there."""
    for decorator in node.decorator_list:
        for given in decorator.args if isinstance(decorator, ast.Call) else ():
            text = getattr(given, "value", None)
            if isinstance(text, str) and all(map(str.isidentifier, text.split("."))):
                reader.stores.add((text, node.name))


def _define(reader: ModuleReading, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Bind the name of a function, with its signature where that is kept."""
    scope = reader.scope
    value: Any = 0
    if scope.kind == "class":
        methods = scope.record[3]
        static = any(getattr(one, "id", "") == "staticmethod" for one in node.decorator_list)
        methods[node.name] = None if node.name in methods or static else signatures.of_function(node)
        if node.name in {"__getattr__", "__getattribute__"}:
            scope.record[2] = _opened(node, scope.record[2])
    elif scope is reader.top:
        reader.functions.append(signatures.of_function(node))
        reader.top_functions[node.name] = node
        value = ["f", len(reader.functions) - 1]
    reader.bind_name(node.name, value)


def _opened(node: ast.FunctionDef | ast.AsyncFunctionDef, before: Any) -> Any:
    """How open a class is that has a ``__getattr__``, or a ``__getattribute__``."""
    if before is True or tables.delegates(node):
        return True
    return "columns" if node.name == "__getattr__" and not before and tables.is_of_data(node) else "answers"


def _class(reader: ModuleReading, node: ast.ClassDef) -> None:
    _put_elsewhere(reader, node)
    for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
        reader.walk(part)
    record = [[_base(base) for base in node.bases], set(), _changed(node), {}, int(bool(node.decorator_list))]
    value: Any = 0
    if reader.scope is reader.top:
        value = ["c", len(reader.classes)]
        reader.class_numbers[node.name] = len(reader.classes)
        reader.objects.kind(record, len(reader.classes))
        reader.classes.append(record)
    reader.bind_name(node.name, value)
    outside = reader.scope
    reader.scope = inner = Scope("class", outside)
    inner.record = record
    reader.body(node.body)
    reader.scope = outside
    reader.close(inner)
    reader.forms.kind(node, record)
    outside.made_as[node.name] = _made_as(reader, node, record)


def _made_as(reader: ModuleReading, node: ast.ClassDef, record: Sequence[Any]) -> tuple[str, tuple[str, ...]] | None:
    """The only base of a class whose objects are made as those of the base are, as a name and attributes.

    What the library of Python derives classes from may be no class, or make others.
    """
    base: tuple[str, tuple[str, ...]] | None = record[0][0] if len(node.bases) == 1 else None
    if base is None or node.keywords or node.decorator_list or record[2] or record[1] & _MAKING:
        return None
    origins = reader.top.imports.get(base[0], ())
    return None if any(module.partition(".")[0] in modules() for module, _ in origins) else base


def _changed(node: ast.ClassDef) -> Any:
    """Whether a metaclass may give a class anything, or a decorator something: ``open``."""
    if any(one.arg != "metaclass" or last(one.value) not in _PLAIN_META for one in node.keywords):
        return True
    return "open" if set(decorators(node)) - _PLAIN_DECORATORS else False


def _base(base: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    return chain(base.value if isinstance(base, ast.Subscript) else base)


# --- branches -------------------------------------------------------------------------------------------------------


def _if(reader: ModuleReading, node: ast.If) -> int:
    reader.walk(node.test)
    decided = holds(node.test, reader.target, reader.known)
    if decided is not None:
        for one in node.body if not decided else ():
            reader.objects.hint(one)
        taken = node.body if decided else node.orelse
        reader.stands_in(taken, node.test)
        return reader.body(taken)
    flags = reader.conditional(node.test)
    ended = [reader.within(node.body, flags), reader.within(node.orelse, flags)]
    if any(ended) and not all(ended) and reader.scope.kind == "function" and is_one_version(node.test):
        return flags  # what follows is the other branch
    return all(ended)


def _try(reader: ModuleReading, node: ast.Try) -> None:
    taken = _taken(reader, node)
    if taken is not None:
        reader.body([*taken, *node.finalbody])
        return
    flags = 0
    for handler in node.handlers:
        if not any(isinstance(one, ast.Raise) for one in handler.body[-1:]):
            flags |= handled(handler.type)
    reader.attempts += 1
    number, before = reader.attempts, (reader.attempt, reader.handler)
    if reader.handler:
        reader.around[number] = reader.handler
    reader.attempt = number
    end = _ends_in_python_2(node)
    reader.within(node.body[:end], flags)
    reader.within(node.body[end:], flags | CATCHES_ALL)
    reader.attempt = before[0]
    for handler in node.handlers:
        if handler.name:
            reader.scope.shadowed.add(handler.name)
        reader.handler = number
        reader.body(handler.body)
        reader.handler = before[1]
    reader.handler = -number
    reader.body(node.orelse)
    reader.handler = before[1]
    reader.body(node.finalbody)


def _taken(reader: ModuleReading, node: ast.Try) -> Sequence[ast.stmt] | None:
    """The statements that run of a ``try`` that imports what this Python surely has, or lacks; else ``None``."""
    catching = [one for one in node.handlers if handled(one.type) & CATCHES_IMPORT]
    if not catching or not all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body):
        return None
    standard = standard_for(reader.target.minor)
    there = [standard.decides(name) for one in node.body for name in _imported_by(reader, one)]
    if there and all(there):
        return [*node.body, *node.orelse]
    return catching[0].body if there[:1] == [False] else None


def _imported_by(reader: ModuleReading, node: Any) -> list[str]:
    """The full names that an import statement imports."""
    names = [one.name for one in node.names]
    return [f"{reader.imported(node)}.{name}" for name in names] if isinstance(node, ast.ImportFrom) else names


def _ends_in_python_2(node: ast.Try) -> int:
    """How many statements run before one has taken a name of Python 2 alone, and ``except NameError`` is next."""
    if any(one.type is not None and "NameError" in ast.dump(one.type) for one in node.handlers):
        for at, one in enumerate(node.body):
            names = (each.id for each in ast.walk(one) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
            if isinstance(one, (ast.Assign, ast.Expr)) and not _PYTHON_2.isdisjoint(names):
                return at + 1
    return len(node.body)


def handled(kind: ast.expr | None) -> int:
    """The flags of what ``except KIND`` catches."""
    if kind is None:
        return CATCHES_ALL
    flags = 0
    for one in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
        flags |= caught(last(one) or "")
    return flags


def _with(reader: ModuleReading, node: ast.With | ast.AsyncWith) -> None:
    flags = 0
    for item in node.items:
        reader.walk(item.context_expr)
        if item.optional_vars is not None:
            reader.objects.entered(item.optional_vars, item.context_expr)
            assign_to(reader, item.optional_vars, None)
        call = item.context_expr
        if isinstance(call, ast.Call) and last(call.func) == "suppress":
            for one in call.args:
                flags |= handled(one)
    reader.within(node.body, flags)


def _loop(reader: ModuleReading, node: ast.For | ast.AsyncFor) -> None:
    reader.walk(node.iter)
    assign_to(reader, node.target, None)
    before, reader.rounds = reader.rounds, {**reader.rounds, **_rounds(reader, node)}
    reader.loops += 1
    reader.body(node.body)
    reader.loops -= 1
    reader.rounds = before
    reader.body(node.orelse)


def _rounds(reader: ModuleReading, node: ast.For | ast.AsyncFor) -> dict[str, list[str]]:
    """The texts that the name of a loop at the top goes through, where they are literal and nothing else binds it."""
    name = getattr(node.target, "id", "")
    if not name or reader.scope is not reader.top:
        return {}
    given = tables.strings(node.iter)
    if given is None and isinstance(node.iter, ast.Name) and reader.scope.bound.get(node.iter.id) == 1:
        given = tables.strings(node.iter, reader.tables)
    return {} if given is None or _gives_a_value(node.body, name) else {name: given}


def _gives_a_value(statements: Sequence[ast.stmt], name: str) -> bool:
    """Whether one of some statements gives a name a value."""
    named = (one for part in statements for one in ast.walk(part) if isinstance(one, ast.Name) and one.id == name)
    return any(isinstance(one.ctx, ast.Store) for one in named)


def _while(reader: ModuleReading, node: ast.While) -> None:
    reader.walk(node.test)
    reader.loops += 1
    reader.within(node.body, 0 if isinstance(node.test, ast.Constant) else reader.conditional(node.test))
    reader.loops -= 1
    reader.body(node.orelse)


def _match(reader: ModuleReading, node: Any) -> None:
    reader.walk(node.subject)
    reader.objects.narrow(node.subject)
    for case in node.cases:
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                reader.bind_name(name)
        reader.walk(case.guard)
        reader.within(case.body, CONDITIONAL)


def _delete(reader: ModuleReading, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name) and reader.scope is reader.top and not reader.flags and not reader.handler:
            reader.names.pop(target.id, None)
        elif not isinstance(target, ast.Name):
            reader.walk(target)


def _outer(reader: ModuleReading, node: ast.Global) -> None:
    reader.scope.outer.update(node.names)


def _outer_function(reader: ModuleReading, node: ast.Nonlocal) -> None:
    scope: Scope | None = reader.scope
    while scope is not None:
        scope.narrowed.update(node.names)
        scope = scope.parent


def _return(reader: ModuleReading, node: ast.Return) -> bool:
    reader.objects.returned(node.value)
    reader.walk(node.value)
    return True


_STATEMENTS: dict[Any, Callable[[Any, Any], int | None]] = {
    ast.Import: _import, ast.ImportFrom: _import_from, ast.FunctionDef: _function, ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class, ast.If: _if, ast.Try: _try, ast.With: _with, ast.AsyncWith: _with, ast.For: _loop,
    ast.AsyncFor: _loop, ast.While: _while, ast.Assign: assign, ast.AnnAssign: annotated_assign,
    ast.AugAssign: augmented, ast.Expr: expression, ast.Delete: _delete, ast.Global: _outer,
    ast.Nonlocal: _outer_function, ast.Return: _return,
}  # fmt: skip
for _name, _read in (("Match", _match), ("TryStar", _try)):  # newer than the oldest Python that runs this
    if hasattr(ast, _name):
        _STATEMENTS[getattr(ast, _name)] = _read

_ENDS = (ast.Raise, ast.Continue, ast.Break)


def read_all(reader: ModuleReading, statements: Sequence[ast.stmt]) -> bool:
    """Read statements in order; whether the end is surely not reached."""
    for at, node in enumerate(statements):
        read = _STATEMENTS.get(type(node))
        if read is None:
            for child in children(node):
                reader.walk(child)
            if type(node) is ast.Assert and reader.scope is reader.top:
                reader.checks = True
            elif isinstance(node, _ENDS):
                reader.refuses(node)
                return True
        elif flags := read(reader, node):
            return flags is True or reader.within(statements[at + 1 :], flags)
    return False
