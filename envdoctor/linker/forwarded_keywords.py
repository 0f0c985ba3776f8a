"""Keywords that a function takes as any keyword, and passes on to functions none of which takes them."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from envdoctor.linker import signatures
from envdoctor.linker.decorated import name_of
from envdoctor.linker.rest_keywords import forwarding, keeps, looked_up, spelled, stored
from envdoctor.linker.signatures import Signature
from envdoctor.linker.standard_library import parameters_of
from envdoctor.linker.summary import ClassRecord
from envdoctor.linker.syntax_trees import bound_in, chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from envdoctor.linker.resolve import Resolver
    from envdoctor.linker.store import Store

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: So many functions are followed, one behind the other.
_DEEP = 5
_MOST_BASES = 12


class _Body(NamedTuple):
    """A function: its definition, the module that has it, the class that it is a method of, and that of its object.

    A class is known by its module and number.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: str
    kind: tuple[str, int] | None
    made: tuple[str, int] | None = None


class _Called(NamedTuple):
    """What is called: a value, and of a method the class that has it, its name, and the class of the object."""

    value: Any
    kind: tuple[str, int] | None = None
    method: str = ""
    made: tuple[str, int] | None = None


class ForwardedKeywords:
    """Follows ``**kwargs`` from function to function, as far as all that is done with it is known."""

    def __init__(self, resolver: Resolver, store: Store, makes: Mapping[str, str]) -> None:
        self._resolver, self._store, self._makes = resolver, store, makes
        #: The call that is followed, and the code of what it calls.
        self._first: tuple[Sequence[Any], _Body | None] = ((), None)

    def refused(self, value: Any, call: Sequence[Any], kind: tuple[str, int] | None = None, method: str = "") -> str:
        """The first keyword of a call that raises ``TypeError`` further on; nothing where there is none for sure.

        ``value`` is what is called, with the ``method`` where it is one of an object of a class, its ``kind``.
        """
        found = self._resolver.signature(value)
        signature = Signature(*found[0]) if found is not None else None
        if signature is None or not signature.keywords:
            return ""
        beyond = [one for one in call[1] if one not in {*signature.names, *signature.only}]
        body = self._body(_Called(value, kind, method, kind)) if beyond else None
        self._first = (call, body)
        return next((one for one in beyond if body and not self._takes(body, one, 0)), "")

    def misfit(self, value: Any, call: Sequence[Any]) -> tuple[str, str] | None:
        """The keyword that is refused, as a kind of misfit and its name."""
        refused = self.refused(value, call) if call[1] else ""
        return ("forwarded", refused) if refused else None

    def code(self, value: Any) -> _Body | None:
        """Where the code of a function or of the constructor of a class is."""
        return self._body(_Called(value))

    def method(self, found: Sequence[Any], name: str) -> _Body | None:
        """Where the code of a method is, by the module and the number of the class that has it."""
        return self._method(found, name, None)

    def _body(self, called: _Called) -> _Body | None:
        """Where the code of a function, method or constructor is."""
        value, kind, method, made = called
        if value[0] == "function":
            return self._defined(value[1], (name_of(self._store.definitions(value[1]), ["f", value[2]]),))
        if value[0] == "class":
            found = self._resolver.method(value[1], value[2], "__init__")
            return self._method(found, "__init__", (value[1], value[2])) if isinstance(found, tuple) else None
        return self._method(value[1:], method, made) if kind and method else None

    def _method(self, found: Sequence[Any], name: str, made: tuple[str, int] | None) -> _Body | None:
        body = self._defined(found[0], (self._store.class_name(found[0], found[1]), name))
        return body and body._replace(kind=(found[0], found[1]), made=made)

    def _defined(self, module: str, path: tuple[str, ...]) -> _Body | None:
        node = self._named(module, path)
        return _Body(node, module, None) if isinstance(node, _FUNCTIONS) else None

    def _named(self, module: str, path: tuple[str, ...]) -> ast.stmt | None:
        """The one definition of a name in a module, or in a class of it; with overloads there are more."""
        named: list[ast.stmt] = []
        nodes = self._resolver.decorated.body(module)
        for name in path:
            named = [one for one in nodes if getattr(one, "name", "") == name]
            if len(named) != 1:
                return None
            nodes = getattr(named[0], "body", ())
        return named[0] if named else None

    def _takes(self, body: _Body, keyword: str, depth: int) -> bool:
        """Whether a keyword without a parameter may be welcome: it is looked at, or passed to what may take it."""
        rest = body.node.args.kwarg
        uses = list(forwarding(body.node, rest.arg, keyword, _own(body))) if rest is not None else []
        if not uses or None in uses or depth >= _DEEP:
            return True
        kept = [one for one in uses if isinstance(one, str)]
        if kept:
            return len(uses) > 1 or self._kept_takes(kept[0].rpartition(".")[2], body, keyword, depth)
        return any(not isinstance(use, ast.Call) or self._may_take(use, body, keyword, depth) for use in uses)

    def _kept_takes(self, name: str, body: _Body, keyword: str, depth: int) -> bool:
        """Whether a keyword may be welcome where the methods of an object use the attribute that keeps it."""
        found: list[tuple[_Body, Any]] = []
        classes = self._classes(body.made) if body.made else []
        if sum(keeps(node, name) for _, node in classes) != 1:
            return True
        for module, node in classes:
            if re.search(rb"(?<!\bself)\.%s\b" % name.encode(), self._store.text(module)):
                return True  # which others may read
            for one in node.body:
                if isinstance(one, _FUNCTIONS):
                    inner = _Body(one, module, body.kind, body.made)
                    found += [(inner, use) for use in forwarding(one, f"{_own(inner)}.{name}", keyword)]
        takes = (not isinstance(use, ast.Call) or self._may_take(use, inner, keyword, depth) for inner, use in found)
        return not found or any(takes)

    def _classes(self, kind: tuple[str, int]) -> list[tuple[str, ast.ClassDef]]:
        """The definitions of a class and its bases, with their modules; nothing where one is not known."""
        todo, found = [kind], list[tuple[str, ast.ClassDef]]()
        while todo:
            module, number = todo.pop(0)
            node = self._named(module, (self._store.class_name(module, number),))
            if not isinstance(node, ast.ClassDef) or len(found) > _MOST_BASES:
                return []
            found.append((module, node))
            for base in self._store.definitions(module)["classes"][number][0]:
                if isinstance(base, int):
                    todo.append((module, base))
                elif base != ["builtins", "object"]:
                    answer = self._resolver.offers(*base) if base is not None else None
                    if answer is None or not answer.value or answer.value[0] != "class":
                        return []
                    todo.append(answer.value[1:3])
        return found

    def _may_take(self, call: ast.Call, body: _Body, keyword: str, depth: int) -> bool:
        found = self._called(call.func, body)
        taken = self._resolver.signature(found.value) if found else None
        if found is None or taken is None:
            return self._standard_takes(call.func, body, keyword)
        signature = Signature(*taken[0])
        if signatures.misfit(signature, [0, [keyword], 0], bound=taken[1]) is not None:
            return False
        if keyword in {*signature.names, *signature.only}:
            return True
        further = self._body(found)
        return further is None or self._takes(further, keyword, depth + 1)

    def _standard_takes(self, function: ast.expr, body: _Body, keyword: str) -> bool:
        """Whether a method of Python's library may take a keyword, of an object made there or of the only base.

        So may any other.
        """
        if isinstance(function, ast.Attribute) and _is_super(function.value) and body.kind:
            return self._base_takes(function.attr, body, keyword)
        root, path = chain(function) or ("", ())
        made = _made_by(body, root)
        if made is None or len(path) != 1:
            return True
        value = self._resolver.offers(body.module, ".".join((made[0], *made[1]))).value
        dotted = ".".join(value[1:]) if value and value[0] == "standard" else ""
        module, _, kind = self._makes.get(f"{dotted}.()", "").removesuffix(".()").partition(":")
        parameters = parameters_of(module, f"{kind}.{path[0]}") if kind else None
        return parameters is None or keyword in parameters

    def _base_takes(self, method: str, body: _Body, keyword: str) -> bool:
        """Whether a method may take a keyword where the only base of the object's own class is one of Python's."""
        module, number = body.kind or ("", 0)
        bases = self._store.definitions(module)["classes"][number][0]
        known = bases[0] if body.made in {None, body.kind} and len(bases) == 1 else None
        value = self._resolver.offers(*known).value if isinstance(known, list) else None
        if not value or value[0] != "standard":
            return True
        parameters = parameters_of(value[1], f"{value[2]}.{method}")
        return parameters is None or keyword in parameters

    def _called(self, function: ast.expr, body: _Body) -> _Called | None:
        """What an expression in a function calls."""
        if isinstance(function, ast.Attribute) and _is_super(function.value) and body.kind:
            return self._inherited(function.attr, body)
        root, path = chain(function) or ("", ())
        if body.made and len(path) == 1 and root == _own(body):
            found = self._resolver.method(*body.made, path[0])
            return self._of_object(found, path[0], body.made) or self._held(found, path[0], body.made)
        names = [root, *path] if root not in _bound(body.node) else self._default(function, body)
        return self._offered(body.module, names, {"function", "class"}) if names and names[0] else None

    def _default(self, function: ast.expr, body: _Body) -> list[str]:
        """What a name that a function binds is by default; nothing for a method, or where its call is not known."""
        call, first = self._first
        return _default(body.node, function, call) if body == first and not body.kind else []

    def _offered(self, module: str, path: Sequence[str], kinds: Container[str]) -> _Called | None:
        """What a name of a module resolves to, where that is of one of some kinds."""
        answer = self._resolver.offers(module, ".".join(path))
        value = answer.value if answer.verdict is True else None
        return _Called(value) if value and value[0] in kinds else None

    def _inherited(self, name: str, body: _Body) -> _Called | None:
        """The method of the only base; of an object of a derived class only where no class has two bases."""
        module, number = body.kind or ("", 0)
        derived = self._classes(body.made) if body.made and body.made != body.kind else []
        if body.made != body.kind and (not derived or any(len(node.bases) > 1 for _, node in derived)):
            return None
        record = ClassRecord(*self._store.definitions(module)["classes"][number])
        if module != body.module or name not in record.attributes or len(record.bases) != 1:
            return None
        found = self._resolver.inherited(record.bases[0], module, name)
        return self._of_object(found, name, body.made or (module, number))

    def _held(self, found: Any, name: str, made: tuple[str, int]) -> _Called | None:
        """The class that a class holds under a name, where no method gives its object another one."""
        classes = self._classes(made) if isinstance(found, tuple) else []
        if not classes or any(keeps(node, name) for _, node in classes):
            return None
        node = self._named(found[0], (self._store.class_name(found[0], found[1]),))
        values = _assigned(getattr(node, "body", ()), name)
        root, path = (chain(values[0]) if len(values) == 1 else None) or ("", ())
        return self._offered(found[0], (root, *path), {"class"}) if root else None

    @staticmethod
    def _of_object(found: Any, name: str, made: tuple[str, int]) -> _Called | None:
        known = isinstance(found, tuple) and found[2] is not None
        return _Called(("method", *found), (found[0], found[1]), name, made) if known else None


def _default(node: ast.FunctionDef | ast.AsyncFunctionDef, function: ast.expr, call: Sequence[Any]) -> list[str]:
    """What a name of a function is where a call does not give it: ``rest.pop("name", None) or Default``, or a default.

    A default is given by ``if name is None: name = Default``. Returned are the parts of ``Default``, if it is known.
    """
    name = getattr(function, "id", "")
    values = _assigned([one for one in ast.walk(node) if isinstance(one, ast.stmt)], name)
    if len(values) != 1 or stored(node, name) != 1 or _may_give(call, node, name):
        return []
    asked, value = _choice(values[0])
    if asked is not None and not _is_left_out(node, asked, call[1]):
        return []
    root, path = chain(value) or ("", ())
    return [] if not root or root in _bound(node) else [root, *path]


def _may_give(call: Sequence[Any], node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a call of a function gives a parameter: by its position, by its name, or with what a star hides."""
    positional, given, exact = call[:3]
    parameters = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    return not exact or name in [*given, *parameters[:positional]]


def _is_left_out(node: ast.AST, asked: ast.expr, given: Sequence[str]) -> bool:
    """Whether a function asks for a key that a call does not give, and names it nowhere else."""
    key = (looked_up(asked) or (None, None))[1]
    word = key.value if isinstance(key, ast.Constant) else None
    named = sum(isinstance(one, ast.Constant) and one.value == word for one in ast.walk(node))
    return isinstance(word, str) and word not in given and named == 1


def _choice(value: ast.expr) -> tuple[ast.expr | None, ast.expr]:
    """The parts of ``asked or value``; of anything else, nothing and all of it."""
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) and len(value.values) == len(("asked", "value")):
        return value.values[0], value.values[1]
    return None, value


def _own(body: _Body) -> str:
    """What a method calls its object."""
    return body.node.args.args[0].arg if body.kind and body.node.args.args else ""


def _made_by(body: _Body, name: str) -> tuple[str, tuple[str, ...]] | None:
    """What a function calls to make what one of its names is bound to, if it binds that once and not the callee."""
    values = _assigned([one for one in ast.walk(body.node) if isinstance(one, ast.stmt)], name)
    made = chain(values[0].func) if len(values) == 1 and isinstance(values[0], ast.Call) else None
    return made if made and stored(body.node, name) == 1 and made[0] not in _bound(body.node) else None


def _assigned(nodes: Sequence[ast.stmt], name: str) -> list[ast.expr]:
    """The values that some statements give to a name alone."""
    assignments = [one for one in nodes if isinstance(one, ast.Assign)]
    return [one.value for one in assignments if [spelled(target) for target in one.targets] == [name]]


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super" and not node.args


def _bound(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that a function rebinds."""
    imports = [one for one in ast.walk(node) if isinstance(one, (ast.Import, ast.ImportFrom))]
    imported = {(one.asname or one.name).partition(".")[0] for each in imports for one in each.names}
    return bound_in(node) | imported | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
