"""Attributes that saved objects lack, and that the installed release of their class reads.

An object that is loaded gets the attributes that it was saved with: ``__init__`` does not run. What a later release
sets there is missing in files that an older one wrote, which shows when a method reads it.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from typing import Any, NamedTuple

from envdoctor.linker.classes import Classes, ClassRef
from envdoctor.linker.module_files import is_aside
from envdoctor.linker.summary import LATER
from envdoctor.linker.syntax_trees import SyntaxTrees, walked
from envdoctor.linker.verdicts import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.world import World

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: A class that has one of these decides itself what an object has.
_DECIDING = {"__getattr__", "__getattribute__", "__reduce__", "__reduce_ex__", "__new__", "__slots__", "__getnewargs__"}
_FILLING = {"__setstate__", "__getstate__"}
#: What makes an object, saves it or ends it.
_MAKING = {"__init__", "__del__", *_FILLING}
#: What an object may be given to without being changed.
_ASKING = {"getattr", "hasattr", "isinstance", "super", "type", "vars"}
#: The bases of the standard library that have no say in what an object has.
_PLAIN = {("builtins", "object"), ("abc", "ABC"), ("typing", "Generic"), ("typing", "Protocol")}
#: Exceptions that an attribute that is missing ends in.
_CAUGHT = {"AttributeError", "Exception", "BaseException"}


class _Class(NamedTuple):
    """A class of a chain: its module, its statement, and its methods by name."""

    module: str
    node: ast.ClassDef
    methods: Mapping[str, Any]


class SavedStates:
    """Holds the objects of artefacts against the classes of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._classes = Classes(world)
        self._trees = SyntaxTrees(world.store.text)

    def all(self, records: Iterable[Mapping[str, Any]]) -> Iterator[Missing]:
        """What the objects of artefacts lack, by file and class."""
        for record in records:
            aside = not os.path.isabs(record["file"]) and is_aside(record["file"].replace("/", "."))
            for name, kept in () if aside else record.get("states", {}).items():
                yield from self._of_class(record["file"], name, set(kept))

    def _of_class(self, file: str, name: str, kept: set[str]) -> Iterator[Missing]:
        module, _, path = name.rpartition(".")
        found = self._world.resolver.offers(module, path) if self._world.layout.has(module) else None
        if found is None or found.verdict is not True or not found.value or found.value[0] != "class":
            return
        chain = self._chain(ClassRef(found.value[1], found.value[2]))
        given = _given(chain, kept) if chain else {}
        used = _used(chain, kept) if given.keys() - kept else []
        for attribute in sorted(given.keys() - kept):
            read = _reading(used, attribute) if not _elsewhere(chain, attribute) else ""
            if read:
                owner = self._world.layout.owner(given[attribute])
                place = (file, file, 0, f"{name}.{attribute}", owner)
                yield Missing(*place, "state", "warning", LATER, module, attribute, read)

    def _chain(self, kind: ClassRef) -> list[_Class]:
        """A class and its bases in the order in which attributes are looked up; empty where one is not known."""
        found = []
        for module, number in self._classes.chain(kind):
            node = self._statement(module, number)
            bases = self._world.store.definitions(module)["classes"][number][0]
            if node is None or node.decorator_list or not all(self._is_known(base) for base in bases):
                return []
            methods = {one.name: one for one in node.body if isinstance(one, _FUNCTIONS)}
            found.append(_Class(module, node, methods))
        return found

    def _is_known(self, base: Any) -> bool:
        if isinstance(base, int):
            return True
        if not base:
            return False
        if tuple(base[:2]) in _PLAIN:
            return True
        answer = self._world.resolver.offers(base[0], base[1])
        return bool(answer.verdict is True and answer.value and answer.value[0] == "class")

    def _statement(self, module: str, number: int) -> ast.ClassDef | None:
        """The statement of a class at the top of its module, where there is one alone of that name."""
        name, tree = self._world.store.class_name(module, number), self._trees.get(module)
        found = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name] if tree else []
        return found[0] if len(found) == 1 else None


def _given(chain: Sequence[_Class], kept: set[str]) -> dict[str, str]:
    """The attributes that an object of the installed release has, with the modules that set them.

    Those that ``__init__`` sets in any case, and those that a method always sets before one that the object has and
    nothing else sets. Nothing where a class decides itself.
    """
    named = {name for one in chain for name in (*one.methods, *_bound(one.node))}
    if named & _DECIDING or any(_is_deciding(keyword) for one in chain for keyword in one.node.keywords):
        return {}
    if any(_decides(one.methods[name]) for one in chain for name in _FILLING & one.methods.keys()):
        return {}
    makers = _makers(chain)
    settings = Counter(name for one in chain for function in one.methods.values() for name in set(_stored(function)))
    found: dict[str, str] = {}
    for one in chain:
        for function in one.methods.values():
            given = _always(function.body)
            if function.name != "__init__":
                shown = [at for at, name in enumerate(given) if name in kept and settings[name] == 1]
                given = given[: max(shown, default=0)]
            elif function not in makers:
                continue
            found.update((name, one.module) for name in given if name not in named)
    return found


def _makers(chain: Sequence[_Class]) -> list[Any]:
    """The ``__init__`` that makes an object, and those of bases that it surely calls."""
    found = []
    for one in chain:
        function = one.methods.get("__init__")
        if function is not None:
            found.append(function)
            if not any(_is_init_of_base(node) for node in function.body):
                break
    return found


def _is_deciding(keyword: ast.keyword) -> bool:
    """Whether what a class is derived with may give its objects more: any metaclass but that of abstract classes."""
    return keyword.arg != "metaclass" or "ABCMeta" not in {
        getattr(keyword.value, field, "") for field in ("id", "attr")
    }


def _bound(node: ast.ClassDef) -> Iterator[str]:
    """The names that the body of a class binds, but for its methods."""
    for one in node.body:
        only_said = isinstance(one, ast.AnnAssign) and one.value is None
        for inner in walked(one) if not isinstance(one, _FUNCTIONS) and not only_said else ():
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def _always(body: Sequence[ast.stmt]) -> list[str]:
    """The attributes of ``self`` that statements set on every way through them, up to the first that may leave."""
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.If):
            found += [name for name in _always(node.body) if name in _always(node.orelse)]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            found += _always(node.body)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            found += _stored(node)
        if any(isinstance(inner, ast.Return) for inner in walked(node)):
            break
    return found


def _stored(node: ast.AST) -> Iterator[str]:
    """The attributes of ``self`` that something sets."""
    return (one.attr for one in walked(node) if _is_of_self(one) and isinstance(one.ctx, ast.Store))


def _is_of_self(node: Any) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_init_of_base(node: ast.stmt) -> bool:
    """Whether a statement calls ``__init__`` of a base."""
    call = getattr(node, "value", None)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"


def _decides(function: Any) -> bool:
    """Whether a method that saves or fills an object leaves something out, or has another function do so."""
    for node in walked(function):
        if isinstance(node, ast.Delete) or (isinstance(node, ast.comprehension) and node.ifs):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            takes = name == "pop" and not all(isinstance(one, ast.Constant) for one in node.args[:1])
            given = any(isinstance(one, ast.Name) and one.id == "self" for one in node.args) and name not in _ASKING
            if takes or given or _is_of_self(node.func):
                return True
    return False


def _elsewhere(chain: Sequence[_Class], attribute: str) -> bool:
    """Whether a class asks whether an attribute is there, takes it away, or sets it when an object is loaded."""
    for one in chain:
        for node in walked(one.node):
            if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Del):
                return True
            if isinstance(node, ast.Call) and any(getattr(word, "value", None) == attribute for word in node.args):
                return True
        for name in _FILLING & one.methods.keys():
            if any(attribute in _words(node) for node in walked(one.methods[name])):
                return True
    return False


def _words(node: ast.AST) -> set[Any]:
    """The names of an attribute or of an argument, and the texts directly below."""
    texts = {one.value for one in ast.iter_child_nodes(node) if isinstance(one, ast.Constant)}
    return texts | {getattr(node, "attr", None), getattr(node, "arg", None)}


def _reading(functions: Iterable[tuple[Any, str]], attribute: str) -> str:
    """The first line at which one of some functions reads an attribute that it does not set; empty for none."""
    for function, module in functions:
        uses = [node for node in walked(function) if _is_of_self(node) and node.attr == attribute]
        if uses and all(isinstance(node.ctx, ast.Load) for node in uses) and not _catches(function):
            return f"line {min(node.lineno for node in uses)} of {module}"
    return ""


def _used(chain: Sequence[_Class], kept: set[str]) -> list[tuple[Any, str]]:
    """The methods that run when a loaded object is used, with their modules.

    Those that set anew what it was saved with make it anew, and so do what they call of it.
    """
    methods = {name: function for one in reversed(chain) for name, function in one.methods.items()}
    modules = {id(function): one.module for one in chain for function in one.methods.values()}
    found: dict[int, tuple[Any, str]] = {}
    for name, function in methods.items():
        if (name[:1] != "_" or name[:2] == "__") and name not in _MAKING and not function.decorator_list:
            called = _called(function, methods)
            if not any(kept.intersection(_always(one.body)) for one in called):
                found.update((id(one), (one, modules[id(one)])) for one in called)
    return list(found.values())


def _called(function: Any, methods: Mapping[str, Any]) -> list[Any]:
    """A method, and those that it calls of its own object, directly or through others."""
    found, todo = [], [function]
    while todo:
        one = todo.pop()
        if one not in found:
            found.append(one)
            names = {node.attr for node in walked(one) if _is_of_self(node)}
            todo += [methods[name] for name in sorted(names & methods.keys())]
    return found


def _catches(function: ast.AST) -> bool:
    """Whether a function catches that an attribute is missing."""
    handlers = (node.type for node in walked(function) if isinstance(node, ast.ExceptHandler))
    return any(one is None or {getattr(inner, "id", "") for inner in ast.walk(one)} & _CAUGHT for one in handlers)
