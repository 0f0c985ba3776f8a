"""Methods that take the place of a base class's in another distribution, and cannot take what that one is called with.

Many overrides differ from what they override and nobody notices. So one counts only where the distribution of the base
calls a method of this name where it names the class, and none of these calls fits the override. A call of an object
that is made there, or of the class itself, reaches no override, nor does one in a method that is overridden too.
"""

from __future__ import annotations

import ast
import functools
import re
from itertools import starmap
from typing import Any, NamedTuple

from envdoctor.linker import signatures
from envdoctor.linker.branches import LEAVES, children
from envdoctor.linker.classes import Classes, ClassRef
from envdoctor.linker.makings import last
from envdoctor.linker.module_files import is_aside
from envdoctor.linker.signatures import Signature
from envdoctor.linker.summary import LATER, ClassRecord
from envdoctor.linker.syntax_trees import walked
from envdoctor.linker.verdicts import Missing
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.world import World

#: A name that is called in more files than this is one of many things.
_MOST_FILES = 12
#: Of so many files the calls are held.
_MOST_HELD = 64
_CALLED = re.compile(rb"\.(\w+)\(")
#: A method that nobody calls.
_NEVER: tuple[str, str, str, list[list[Any]]] = ("", "", "", [])


class _Call(NamedTuple):
    """A call of a method: its first argument, where that is a constant, and its arguments.

    ``caller`` is the method that calls on ``self`` or ``cls``; ``made`` says that the object is of the class itself.
    """

    first: Any
    given: list[Any]
    caller: str
    made: bool


class Overrides:
    """Looks for overrides in some modules of a world.

    ``dispatch`` are the frameworks that call methods by a name in a text, as ``call("serve", ...)`` calls
    ``on_serve(...)`` of each class that is derived from ``base``; ``prefix`` is what the text leaves out.
    """

    def __init__(self, world: World, dispatch: Sequence[Mapping[str, str]] = ()) -> None:
        self._world = world
        self._dispatch = dispatch
        self._classes = Classes(world)
        self._prefixes = tuple(one["prefix"] for one in dispatch)
        self._calls: dict[tuple[str, str, str, str], list[_Call]] = {}
        self._called_in: dict[str, dict[bytes, list[str]]] = {}

    def all(self, names: Iterable[str]) -> Iterator[Missing]:
        """The overrides that do not fit, by module."""
        for name in names:
            place = self._world.layout.modules[name]
            if place.kind == "native" or is_aside(name):
                continue
            definitions = self._world.store.definitions(name)
            bound = [one[1] for one in definitions.get("names", {}).values() if one and one[0] == "c"]
            for number, record in enumerate(starmap(ClassRecord, definitions.get("classes", ()))):
                if number not in bound:  # one of two, for two releases of another distribution
                    continue
                for base in filter(None, (self._base(name, one) for one in record.bases)):
                    if self._between(base, {place.owner, ""}):
                        yield from self._of_class(name, number, record.methods, base)

    def _base(self, name: str, base: Any) -> Sequence[Any] | None:
        """The class that a base of a module's class is; ``None`` where it is not known."""
        if isinstance(base, int):
            return "class", name, base
        found = self._world.resolver.offers(*base) if base is not None and base[0] != "builtins" else None
        is_class = found is not None and found.verdict is True and found.value and found.value[0] == "class"
        return found.value if is_class and found is not None else None

    def _of_class(self, name: str, number: int, methods: Mapping[str, Any], base: Sequence[Any]) -> Iterator[Missing]:
        place, text = self._world.layout.modules[name], self._world.store.text(name)
        replaced = {one for one in methods if f"super().{one}(".encode() not in text}
        for method, own in methods.items():
            asked = bool(own) and method[:2] != "__"
            owner, module, kind, calls = self._called(base, method, own, place.owner, replaced) if asked else _NEVER
            wrong = [signatures.misfit(own, call, bound=True) for call in calls]
            if wrong and all(wrong) and owner not in {place.owner, ""}:
                line = _line(text, self._world.store.class_name(name, number), method)
                times = "once" if len(calls) == 1 else f"{len(calls)} times"
                yield Missing(
                    place.owner, place.path, line, f"{module}.{kind}.{method}()", owner, "override", "warning", LATER,
                    module, f"{kind}.{method}", times,
                )  # fmt: skip

    def _called(
        self, base: Sequence[Any], method: str, own: list[Any], consumer: str, replaced: Collection[str]
    ) -> tuple[str, str, str, list[list[Any]]]:
        """Who calls a method that an override takes the place of, the class that has it, and the calls.

        ``replaced`` are the methods whose place the same class takes, and which are not run any more.
        Nobody does where the consumer itself calls it with more than the base takes: that is another method.
        """
        layout = self._world.layout
        if dispatched := self._dispatched(base, method):
            return dispatched
        there = self._world.resolver.method(base[1], base[2], method)
        if not isinstance(there, tuple) or not _narrower(own, there[2]):
            return _NEVER
        owner = layout.owner(there[0])
        kind = self._world.store.class_name(there[0], there[1])
        found = self._calls_of(owner, method, around=kind)
        calls = [one.given for one in found if not one.made and one.caller not in replaced]
        if found_between := self._called_between(base, method, own, {owner, consumer, ""}, replaced):
            return found_between
        again = [one.given for one in self._calls_of(consumer, method)] if calls else []
        is_another = _all_misfit(own, calls) and self._is_another(own, there[2], again)
        return _NEVER if is_another else (owner, there[0], kind, calls)

    def _called_between(
        self, base: Sequence[Any], method: str, own: list[Any], others: Collection[str], replaced: Collection[str]
    ) -> tuple[str, str, str, list[list[Any]]] | None:
        """The same for a class of a third distribution that calls the method of itself; ``None`` where all fits."""
        for module, number in self._between(base, others):
            owner, kind = self._world.layout.owner(module), self._world.store.class_name(module, number)
            given = self._own_calls(owner, method, kind, replaced)
            if given and _all_misfit(own, given):
                return owner, module, kind, given
        return None

    def _dispatched(self, base: Sequence[Any], method: str) -> tuple[str, str, str, list[list[Any]]] | None:
        """The same for a method that a framework calls by a name in a text; ``None`` for any other."""
        kind, owner = self._world.store.class_name(base[1], base[2]), self._world.layout.owner(base[1])
        for row in self._dispatch if method.startswith(self._prefixes) else ():
            if f"{base[1]}.{kind}" == row["base"]:
                event = self._calls_of(owner, row["call"], method[len(row["prefix"]) :])
                return owner, base[1], kind, [one.given for one in event]
        return None

    def _own_calls(self, owner: str, method: str, around: str, replaced: Collection[str]) -> list[list[Any]]:
        """The calls of a method by a distribution's objects of themselves."""
        calls = (one for one in self._calls_of(owner, method, around=around) if one.caller and not one.made)
        return [one.given for one in calls if one.caller not in replaced]

    def _between(self, base: Sequence[Any], others: Collection[str]) -> list[tuple[str, Any]]:
        """The classes from a base on that are of other distributions than some."""
        chain = self._classes.chain(ClassRef(base[1], base[2]))
        return [one for one in chain if self._world.layout.owner(one[0]) not in others]

    def _is_another(self, own: list[Any], base: list[Any], calls: Iterable[list[Any]]) -> bool:
        """Whether one of the consumer's calls has more than the base takes, and fits the override."""
        for call in calls:
            more = (signatures.misfit(base, call, bound=True) or ("",))[0] in {"many", "unknown"}
            if more and not signatures.misfit(own, call, bound=True):
                return True
        return False

    def _calls_of(self, owner: str, method: str, event: str = "", around: str = "") -> list[_Call]:
        """The calls of a method of this name in the modules of a distribution that contain a word.

        With an event, those for it, without its name.
        """
        key = (owner, method, event, around)
        if key not in self._calls:
            names = self._callers(owner).get(method.encode(), ())
            texts = map(self._world.store.text, names if len(names) <= _MOST_FILES else ())
            calls = (one for text in texts if around.encode() in text for one in _calls_in(text).get(method, ()))
            self._calls[key] = [
                one._replace(given=[one.given[0] - bool(event), *one.given[1:]])
                for one in calls
                if not event or one.first == event
            ]
        return self._calls[key]

    def _callers(self, owner: str) -> dict[bytes, list[str]]:
        """The modules of a distribution by the attributes that they call; of each, no more than one too many."""
        found = self._called_in.get(owner)
        if found is None:
            found = self._called_in[owner] = {}
            for name in self._world.layout.names.get(owner, ()):
                module = self._world.layout.modules.get(name)
                if module is not None and module.kind != "native" and not is_aside(name):
                    for word in set(_CALLED.findall(self._world.store.text(name))):
                        names = found.setdefault(word, [])
                        names += [name] if len(names) <= _MOST_FILES else []
        return found


@functools.lru_cache(_MOST_HELD)
def _calls_in(text: bytes) -> dict[str, list[_Call]]:
    """The calls in some source by attribute, but for those of a class to its own base."""
    found, tree = dict[str, list[_Call]](), parsed(text)
    if not tree:
        return found
    made = _made_in(tree)
    nodes: list[tuple[Any, str]] = [(tree, "")]
    while nodes:
        node, caller = nodes.pop()
        if type(node) is ast.Call and type(node.func) is ast.Attribute and not _is_of_base(node.func.value):
            found.setdefault(node.func.attr, []).append(_method_call(node, node.func.value, caller, made))
        inner = caller or (node.name if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else "")
        nodes += [(one, inner) for one in children(node) if type(one) not in LEAVES]
    return found


def _made_in(tree: ast.Module) -> set[str]:
    """The names that some source binds to objects of classes."""
    return {getattr(one, "id", "") for node in walked(tree) if _is_making(node) for one in node.targets}


def _method_call(node: ast.Call, receiver: ast.expr, caller: str, made: Collection[str]) -> _Call:
    """A call of a method; ``made`` are names of objects whose class the same source has."""
    name = getattr(receiver, "id", "")
    first = getattr(node.args[0], "value", None) if node.args else None
    itself = name in made or _is_of_class(receiver, node.args)
    return _Call(first, signatures.of_call(node), caller if name in {"self", "cls"} else "", itself)


def _is_of_base(receiver: ast.expr) -> bool:
    return isinstance(receiver, ast.Call) and last(receiver.func) == "super"


def _all_misfit(signature: list[Any], calls: Iterable[list[Any]]) -> bool:
    """Whether a method takes none of some calls."""
    return all(signatures.misfit(signature, call, bound=True) for call in calls)


def _is_making(node: ast.AST) -> bool:
    """Whether a statement binds names to an object of a class."""
    return type(node) is ast.Assign and type(node.value) is ast.Call and _is_class(node.value.func)


def _is_of_class(receiver: ast.expr, arguments: Sequence[ast.expr]) -> bool:
    """Whether a method is called of a class, or of an object that is made for the call."""
    if isinstance(receiver, ast.Call):
        return True
    return _is_class(receiver) and bool(arguments) and getattr(arguments[0], "id", "") == "self"


def _is_class(node: ast.expr) -> bool:
    """Whether something is a class, by its spelling."""
    return (last(node) or "")[:1].isupper()


def _narrower(override: list[Any], overridden: list[Any] | None) -> bool:
    """Whether a signature takes less than the one it takes the place of, or requires more; not where that is open."""
    if overridden is None:
        return False
    own, base = Signature(*override), Signature(*overridden)
    names, others = own.names[1:], base.names[1:]
    fewer = len(names) < len(others) and not own.variable
    unknown = not own.keywords and any(one not in names and one not in own.only for one in base.only)
    demands = max(len(names) - own.defaults, 0) > len(others) and not base.variable
    return bool(fewer or unknown or demands)


def _line(source: bytes, kind: str, method: str) -> int:
    tree = parsed(source)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == kind:
            for one in node.body:
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == method:
                    return one.lineno
    return 0
