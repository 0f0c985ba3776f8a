"""Methods that take the place of a base class's in another distribution, and cannot take what that one is called with.

Many overrides differ from what they override and nobody notices. So one counts only where the distribution of the base
calls a method of this name where it names the class, and none of these calls fits the override.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Any

from envdoctor.linker import signatures
from envdoctor.linker.hooks import parsed, walked
from envdoctor.linker.missing import Missing
from envdoctor.linker.module_files import is_aside
from envdoctor.linker.summary import LATER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.world import World

#: A name that is called in more files than this is one of many things.
_MOST_FILES = 12
#: Of so many files the calls are held.
_MOST_HELD = 64
_CALLED = re.compile(rb"\.(\w+)\(")
#: A method that nobody calls.
_NEVER: tuple[str, str, str, list[list[Any]]] = ("", "", "", [])


class Overrides:
    """Looks for overrides in some modules of a world.

    ``dispatch`` are the frameworks that call methods by a name in a text, as ``call("serve", ...)`` calls
    ``on_serve(...)`` of each class that is derived from ``base``; ``prefix`` is what the text leaves out.
    """

    def __init__(self, world: World, dispatch: Sequence[Mapping[str, str]] = ()) -> None:
        self._world = world
        self._dispatch = dispatch
        self._prefixes = tuple(one["prefix"] for one in dispatch)
        self._calls: dict[tuple[str, str, str, str], list[list[Any]]] = {}
        self._called_in: dict[str, dict[bytes, list[str]]] = {}

    def all(self, names: Iterable[str]) -> Iterator[Missing]:
        """The overrides that do not fit, by module."""
        for name in names:
            place = self._world.layout.modules[name]
            if place.kind == "native" or is_aside(name):
                continue
            for number, record in enumerate(self._world.store.definitions(name).get("classes", ())):
                for base in record[0]:
                    if isinstance(base, list) and base[0] != "builtins":
                        found = self._world.resolver.offers(base[0], base[1])
                        if found.verdict is True and found.value and found.value[0] == "class":
                            yield from self._of_class(name, number, record[3], found.value)

    def _of_class(self, name: str, number: int, methods: dict[str, Any], base: Sequence[Any]) -> Iterator[Missing]:
        place = self._world.layout.modules[name]
        for method, own in methods.items():
            asked = bool(own) and method[:2] != "__"
            owner, module, kind, calls = self._called(base, method, own, place.owner) if asked else _NEVER
            wrong = [signatures.misfit(own, call, bound=True) for call in calls]
            if wrong and all(wrong) and owner not in {place.owner, ""}:
                line = _line(self._world.store.text(name), self._world.store.class_name(name, number), method)
                times = "once" if len(calls) == 1 else f"{len(calls)} times"
                yield Missing(
                    place.owner, place.path, line, f"{module}.{kind}.{method}()", owner, "override", "warning", LATER,
                    module, f"{kind}.{method}", times,
                )  # fmt: skip

    def _called(
        self, base: Sequence[Any], method: str, own: list[Any], consumer: str
    ) -> tuple[str, str, str, list[list[Any]]]:
        """Who calls a method that an override takes the place of, the class that has it, and the calls.

        Nobody does where the consumer itself calls it with more than the base takes: that is another method.
        """
        resolver, layout = self._world.resolver, self._world.layout
        for told in self._dispatch if method.startswith(self._prefixes) else ():
            kind = self._world.store.class_name(base[1], base[2])
            if f"{base[1]}.{kind}" == told["base"]:
                owner = layout.owner(base[1])
                return owner, base[1], kind, self._calls_of(owner, told["call"], method[len(told["prefix"]) :])
        there = resolver.method(base[1], base[2], method)
        if not isinstance(there, tuple) or there[2] is None or not _narrower(own, there[2]):
            return _NEVER
        owner = layout.owner(there[0])
        kind = self._world.store.class_name(there[0], there[1])
        calls = self._calls_of(owner, method, around=kind)
        if all(signatures.misfit(own, call, bound=True) for call in calls) and self._is_another(
            own, there[2], self._calls_of(consumer, method) if calls else []
        ):
            return _NEVER
        return owner, there[0], kind, calls

    def _is_another(self, own: list[Any], base: list[Any], calls: Iterable[list[Any]]) -> bool:
        """Whether one of the consumer's calls has more than the base takes, and fits the override."""
        for call in calls:
            more = (signatures.misfit(base, call, bound=True) or ("",))[0] in {"many", "unknown"}
            if more and not signatures.misfit(own, call, bound=True):
                return True
        return False

    def _calls_of(self, owner: str, method: str, event: str = "", around: str = "") -> list[list[Any]]:
        """The calls of a method of this name in the modules of a distribution that contain a word.

        With an event, those for it, without its name.
        """
        key = (owner, method, event, around)
        if key not in self._calls:
            names = self._callers(owner).get(method.encode(), ())
            texts = map(self._world.store.text, names if len(names) <= _MOST_FILES else ())
            calls = (one for text in texts if around.encode() in text for one in _calls_in(text).get(method, ()))
            self._calls[key] = [
                [given - bool(event), keywords, exact]
                for first, (given, keywords, exact) in calls
                if not event or first == event
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
def _calls_in(text: bytes) -> dict[str, list[tuple[Any, list[Any]]]]:
    """The calls in some source by attribute, each with its first argument, but for those of a class to its own base."""
    tree, found = parsed(text), dict[str, list[tuple[Any, list[Any]]]]()
    for node in walked(tree) if tree else ():
        if type(node) is ast.Call and type(node.func) is ast.Attribute:
            inner = node.func.value
            if not (isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "super"):
                first = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                found.setdefault(node.func.attr, []).append((first, signatures.of_call(node)))
    return found


def _narrower(own: list[Any], base: list[Any]) -> bool:
    """Whether a signature takes less than the one it takes the place of, or demands more."""
    names, others = own[1][1:], base[1][1:]
    fewer = len(names) < len(others) and not own[3]
    unknown = not own[6] and any(one not in names and one not in own[4] for one in base[4])
    demands = max(len(names) - own[2], 0) > len(others) and not base[3]
    return bool(fewer or unknown or demands)


def _line(source: bytes, kind: str, method: str) -> int:
    tree = parsed(source)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == kind:
            for one in node.body:
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == method:
                    return one.lineno
    return 0
