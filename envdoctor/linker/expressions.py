"""What an expression reads from names that are bound elsewhere."""

from __future__ import annotations

import ast
from typing import Any

from envdoctor.linker import signatures
from envdoctor.linker.branches import LEAVES, children, holds
from envdoctor.linker.makings import making
from envdoctor.linker.module_record import OWN
from envdoctor.linker.scopes import Use
from envdoctor.linker.summary import CATCHES_ALL, CONDITIONAL, LATER
from envdoctor.linker.syntax_trees import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.forms import Forms
    from envdoctor.linker.module_record import ModuleRecord
    from envdoctor.linker.objects import Objects
    from envdoctor.linker.scopes import Scope

_ASKING = {"hasattr", "getattr"}
_NARROWING = {"isinstance", "issubclass", "hasattr", "type", "callable"}
_QUESTIONS = _ASKING | _NARROWING | {"setattr"}
#: What takes keys from a dictionary, or adds others.
_CHANGING = {("pop",), ("update",), ("clear",)}
#: What may be given ``globals()`` without changing it.
_READING = {"eval", "exec", "len", "dict", "sorted", "list"}
_BEHIND_NAME = 2
#: So many classes of a module are followed to the base that another has.
_BASES = 3
#: What a method calls its object or class.
_OWN = {"self", "cls"}
_STORING = 3


class Expressions:
    """Walks expressions for a reader, which knows the scope and what is caught around them."""

    def __init__(self, reader: ModuleRecord, objects: Objects, forms: Forms) -> None:
        self._reader, self._objects, self._forms = reader, objects, forms

    def walk(self, first: ast.AST | None) -> None:
        """Give every use of a name with attributes, and every call, to the reader's scope."""
        if first is None:
            return
        stack: list[Any] = [first]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                if type(node.ctx) is not ast.Load:
                    self._reader.scope.shadowed.add(node.id)
                continue
            special = _SPECIAL.get(kind)
            if special is not None:
                special(self, node, stack)
            elif kind not in LEAVES:
                stack += children(node)

    def _attribute(self, node: ast.Attribute, stack: list[ast.AST]) -> None:
        attributes = []
        inner: ast.expr = node
        while type(inner) is ast.Attribute:
            attributes.append(inner.attr)
            inner = inner.value
        if attributes[-1] == "version_info":
            self._reader.hints.add("version_info")
        self._of_anything(inner, attributes, node.lineno)
        if type(inner) is not ast.Name:
            stack.append(inner)
            self._made(node)
        elif inner.id in self._reader.roots:
            self.use(inner.id, tuple(reversed(attributes)), node.lineno)

    def _of_anything(self, inner: ast.expr, attributes: Sequence[str], line: int, root: str = "") -> None:
        """Take note of wanted words among attributes, the last one first, of what no import binds."""
        reader, root = self._reader, inner.id if type(inner) is ast.Name else root
        if not reader.wanted or not attributes or root in reader.scope.imports or root in reader.top.imports:
            return
        own = attributes[-1] if root in _OWN else ""
        for word in reader.wanted.intersection(attributes) - {own}:
            reader.of_anything.append((word, line, reader.flags, reader.handler))

    def use(self, root: str, path: tuple[str, ...], line: int, call: object = None) -> None:
        """Take note of one use."""
        reader = self._reader
        reader.scope.pending.append(Use(root, path, line, reader.flags, reader.attempt, reader.handler, call))

    def _call(self, node: ast.Call, stack: list[ast.AST]) -> None:
        stack.extend(node.args)
        stack.extend(keyword.value for keyword in node.keywords)
        found = chain(node.func)
        self._forms.call(node, found)
        if found is None:
            self._call_of_value(node, stack)
        else:
            self._call_by_name(node, *found)

    def _call_of_value(self, node: ast.Call, stack: list[ast.AST]) -> None:
        """A call of what another expression than a name with attributes results in."""
        attributes, inner = [], node.func
        while type(inner) is ast.Attribute:
            attributes.append(inner.attr)
            inner = inner.value
        self._of_anything(inner, attributes, node.lineno)
        stack.append(inner)
        self._made(node.func, signatures.of_call(node))

    def _call_by_name(self, node: ast.Call, root: str, path: tuple[str, ...]) -> None:
        self._of_anything(node.func, path[::-1], node.lineno, root)
        if path in _CHANGING:
            self._reader.scope.keys.pop(root, None)
        elif not path and root in _QUESTIONS:
            self._note_question(root, node)
        self._note_given(node, root, path)
        call = signatures.of_call(node, self._reader.scope.keys)
        base = None if path else self._base_of(root)
        if base is not None:
            self.use(*base, node.lineno, [*call, True])
        elif root in self._reader.roots:
            self.use(root, path, node.lineno, call)

    def _note_given(self, node: ast.Call, root: str, path: tuple[str, ...]) -> None:
        """Take note of namespaces that a call is given, and of a function that gets the object of the class around."""
        for one in node.args if root not in _READING else ():
            if type(one) is ast.Call:
                self._reader.given_away(one, "" if path else root)
        if not path and self._reader.scope.record and any(chain(one) in OWN for one in node.args):
            self._reader.set_by.append((root, self._reader.scope.record))

    def _base_of(self, name: str) -> tuple[str, tuple[str, ...]] | None:
        """The base of others that an own class is made as, by a name that is bound once where it is seen from."""
        found = None
        for _ in range(_BASES):
            base = self._made_as(name)
            if base is None:
                break
            found, name = base, "" if base[1] else base[0]
        return found if found is not None and found[0] in self._reader.roots else None

    def _made_as(self, name: str) -> tuple[str, tuple[str, ...]] | None:
        """The base that an own class is made as, by its name; ``None`` where that may be bound to something else."""
        scope: Scope | None = self._reader.scope
        while scope is not None and name not in scope.bound and name not in scope.shadowed:
            scope = scope.outside
        if scope is None or scope.bound.get(name) != 1 or name in scope.shadowed:
            return None
        return scope.made_as.get(name)

    def _note_question(self, function: str, node: ast.Call) -> None:
        """Take note of what ``hasattr``, ``isinstance`` or ``setattr`` shows about an object."""
        if function in _ASKING or function == "setattr":
            self._asked(function, node)
        if function in _NARROWING and node.args:
            self._objects.narrow(node.args[0])

    def _made(self, node: ast.expr, call: object = None) -> None:
        """Take note of an attribute of what a call makes."""
        made = making(node) if type(node) is ast.Attribute else None
        if made is not None:
            reader = self._reader
            use = Use(*made, node.lineno, reader.flags, reader.attempt, reader.handler, call)
            if made[0] == "super" and isinstance(node, ast.Attribute):
                self._objects.super_calls.add(node.value, use)
            else:
                reader.scope.objects.append(([made], use))

    def _yield(self, node: ast.Yield | ast.YieldFrom, stack: list[ast.AST]) -> None:
        self._objects.returned(node.value if isinstance(node, ast.Yield) else None, yields=True)
        self.walk(node.value)

    def _asked(self, function: str, node: ast.Call) -> None:
        """A name that ``hasattr``, ``getattr`` or ``setattr`` is given."""
        word = node.args[1] if len(node.args) >= _BEHIND_NAME else None
        constant = word.value if isinstance(word, ast.Constant) and isinstance(word.value, str) else None
        if function in _ASKING:
            if constant is not None and not (function == "getattr" and len(node.args) == _BEHIND_NAME):
                self._reader.hints.add(constant)
        elif len(node.args) == _STORING:
            self._reader.stored(node.args[0], constant)
            self._reader.sets.update(() if constant is None else (constant,))

    def _subscript(self, node: ast.Subscript, stack: list[ast.AST]) -> None:
        self._forms.subscript(node)
        stack += (node.value, node.slice)

    def _operation(self, node: ast.BinOp, stack: list[ast.AST]) -> None:
        self._forms.united(node)
        stack += (node.left, node.right)

    def _choice(self, node: ast.IfExp, stack: list[ast.AST]) -> None:
        self.walk(node.test)
        decided = holds(node.test, self._reader.target, self._reader.known)
        for branch, alive in ((node.body, decided is not False), (node.orelse, decided is not True)):
            if alive:
                self._with(branch, self._reader.conditional(node.test) if decided is None else 0)

    def _junction(self, node: ast.BoolOp, stack: list[ast.AST]) -> None:
        stop = isinstance(node.op, ast.Or)
        flags = 0
        for value in node.values:
            self._with(value, flags)
            decided = holds(value, self._reader.target, self._reader.known)
            if decided is stop:
                return
            if decided is None:
                flags |= self._reader.conditional(value)

    def _function(self, node: ast.Lambda, stack: list[ast.AST]) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            self.walk(default)
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
        self._reader.scope.shadowed.update(one.arg for one in given if one is not None)
        self._with(node.body, LATER)

    def _comparison(self, node: ast.Compare, stack: list[ast.AST]) -> None:
        if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            self._reader.hints.add(node.left.value)
        for one in (node.left, *node.comparators):
            self.walk(one)

    def _named(self, node: ast.NamedExpr, stack: list[ast.AST]) -> None:
        self._reader.bind_name(node.target.id)
        self.walk(node.value)

    def _comprehension(self, node: ast.GeneratorExp, stack: list[ast.AST]) -> None:
        filtered = any(one.ifs for one in node.generators)
        for one in node.generators:
            self.walk(one.iter)
            self.walk(one.target)
            for test in one.ifs:
                self.walk(test)
        for name in ("elt", "key", "value"):
            self._with(getattr(node, name, None), CONDITIONAL if filtered else 0)

    def _with(self, node: ast.AST | None, flags: int) -> None:
        """Walk what is only reached under further circumstances; nothing around a lambda catches what it raises."""
        before = self._reader.flags
        self._reader.flags = (before & ~CATCHES_ALL if flags == LATER else before) | flags
        self.walk(node)
        self._reader.flags = before


# the table of this very class
_SPECIAL: dict[type[ast.AST], Callable[[Expressions, Any, list[ast.AST]], None]] = {
    ast.Yield: Expressions._yield,  # noqa: SLF001
    ast.YieldFrom: Expressions._yield,  # noqa: SLF001
    ast.Attribute: Expressions._attribute,  # noqa: SLF001
    ast.Call: Expressions._call,  # noqa: SLF001
    ast.Subscript: Expressions._subscript,  # noqa: SLF001
    ast.BinOp: Expressions._operation,  # noqa: SLF001
    ast.IfExp: Expressions._choice,  # noqa: SLF001
    ast.BoolOp: Expressions._junction,  # noqa: SLF001
    ast.Lambda: Expressions._function,  # noqa: SLF001
    ast.Compare: Expressions._comparison,  # noqa: SLF001
    ast.NamedExpr: Expressions._named,  # noqa: SLF001
    ast.GeneratorExp: Expressions._comprehension,  # noqa: SLF001
    ast.ListComp: Expressions._comprehension,  # noqa: SLF001
    ast.SetComp: Expressions._comprehension,  # noqa: SLF001
    ast.DictComp: Expressions._comprehension,  # noqa: SLF001
}
