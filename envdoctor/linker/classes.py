"""Resolves the makings of objects in an environment: to instances of which classes, and what these lack."""

from __future__ import annotations

from typing import Any, NamedTuple

from envdoctor.linker.makings import ANY, AWAITED, ENTERED, is_special
from envdoctor.linker.summary import INHERITED, INSTANCE
from envdoctor.linker.verdicts import DOUBTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.world import World

_DEEPEST = 12
_MOST = 6
#: Steps in the key of a type: a call, what it is awaited for or entered, and one of its values.
_LONGEST_KEY = 3
_MANAGING = (("__enter__", INSTANCE), ("__aenter__", INSTANCE, AWAITED))


class ClassRef(NamedTuple):
    """A class by module and number, or ``made`` of it: an instance. Of the standard library, by name."""

    module: str
    number: Any
    made: bool = True


class Lack(NamedTuple):
    """An attribute that an instance of a class does not have; ``columns`` where it may be one in its data.

    ``open`` where only its past can show that it lacks it, because of a ``__getattr__`` if it ``answers``.
    """

    kind: ClassRef
    name: str
    columns: bool = False
    open: bool = False
    answers: bool = False


class Classes:
    """Follows makings through the modules of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, list[Any] | None] = {}
        self._walked: dict[tuple[Any, ...], list[Any] | None] = {}
        self._chains: dict[tuple[str, Any], list[tuple[str, Any]]] = {}
        self._heirs: dict[tuple[str, Any], list[tuple[str, Any]]] | None = None

    def of(self, making: str, home: str, depth: int = 0) -> list[Any] | None:
        """All that a making may be: kinds, and a :class:`Lack` where a step fails; ``None`` where it is not known.

        ``None`` among others means that it may be something else.
        """
        module, _, path = making.partition(":")
        key = f"{module or home}:{path}"
        if key not in self._known:
            self._known[key] = None  # a type that leads to itself
            self._known[key] = self._of(module or home, path.split("."), depth)
        return self._known[key]

    def _of(self, module: str, steps: list[str], depth: int) -> list[Any] | None:
        if depth > _DEEPEST:
            return None
        first = next((at for at, step in enumerate(steps) if is_special(step)), len(steps))
        for end in range(first, 0, -1):
            known = self._by_vocabulary(f"{module}.{'.'.join(steps[:end])}", steps[end:], depth)
            if known is not None:
                return known
            found = self._world.resolver.offers(module, ".".join(steps[:end]))
            if found.verdict is not True:
                return None
            if found.value and found.value[0] not in {"method", "unbound"}:
                return self._of_value(found.value, steps[end:], depth)
        return self._of_variable(module, steps, depth)

    def _by_vocabulary(self, name: str, steps: list[str], depth: int) -> list[Any] | None:
        """The kinds of what the vocabulary says that a function or an attribute of a class gives."""
        for count in (2, 1, 0):
            made = self._world.makes.get(".".join((name, *steps[:count]))) if count <= len(steps) else None
            if made:
                return self.of(".".join((made, *steps[count:])), "", depth + 1)
        return None

    def _of_value(self, value: Any, steps: list[str], depth: int) -> list[Any] | None:
        if value[0] == "function":
            return self._made(f"f{value[2]}", value[1], steps, [], depth)
        if value[0] == "class" or (value[0] == "standard" and self._world.standard.is_class(value[1], value[2])):
            return self.walk([ClassRef(value[1], value[2], made=False)], steps, depth)
        return None

    def _of_variable(self, module: str, steps: list[str], depth: int) -> list[Any] | None:
        """The kinds that a variable of a module resolves to, where it is bound."""
        name, *rest = steps
        if self._world.layout.has(f"{module}.{name}"):
            return self._of(f"{module}.{name}", rest, depth + 1) if rest else None
        place = self._world.layout.modules.get(module)
        definitions = self._world.store.definitions(module) if place is not None and place.kind != "native" else {}
        value = definitions.get("names", {}).get(name)
        if value and value[0] == "i":
            return self.of(f"{value[1]}:{'.'.join(filter(None, (value[2], *rest)))}", module, depth + 1)
        found: list[Any] = []
        for one in definitions.get("types", {}).get(f"v.{name}", ()):
            some = self.of(".".join((one, *rest)), module, depth + 1)
            if some is None:
                return None
            found += some
        return found or None

    def walk(self, kinds: list[Any], steps: Sequence[str], depth: int = 0) -> list[Any] | None:
        """The kinds that steps from other kinds resolve to."""
        found: list[Any] = []
        for kind in kinds:
            some = [kind] if kind is None or isinstance(kind, Lack) or not steps else self._step(kind, steps, depth)
            if some is None:
                return None
            found += [one for one in some if one not in found]
        return found if len(found) <= _MOST else None

    def _step(self, kind: ClassRef, steps: Sequence[str], depth: int) -> list[Any] | None:
        """The kinds that steps from one kind resolve to; ``None`` where these are not known."""
        step, rest = steps[0], steps[1:]
        if depth > _DEEPEST:
            return None
        if step == INHERITED or (step == INSTANCE and not kind.made):
            return self.walk([kind._replace(made=kind.made or step == INSTANCE)], rest, depth)
        if step == ENTERED and kind.made:
            return self._entered(kind, rest, depth + 1)
        return self._from_attribute(kind, steps, depth)

    def _from_attribute(self, kind: ClassRef, steps: Sequence[str], depth: int) -> list[Any] | None:
        """The kinds that steps from one kind resolve to of which the first is the name of an attribute."""
        step, rest = steps[0], steps[1:]
        there = "unknown" if is_special(step) else self._member(kind, step)
        if isinstance(there, tuple):
            return self._from_member(kind, there, steps, depth)
        if there != "unknown":
            return self._in_doubt(kind, there, steps, depth) if kind.made else None
        return self._by_vocabulary(f"{kind.module}.{kind.number}.{step}", [*rest], depth) if kind.made else None

    def _from_member(self, kind: ClassRef, member: Any, steps: Sequence[str], depth: int) -> list[Any] | None:
        """The kinds that steps resolve to of which the first is a member that is found, by its module and class."""
        (module, number), (step, *rest) = member[:2], steps
        name = f"{module}.{self._world.store.class_name(module, number)}.{step}"
        known = self._by_vocabulary(name, rest, depth) if kind.made else None
        return known or self._made(f"c{number}.{step}", module, rest, [kind], depth)

    def _in_doubt(self, kind: ClassRef, doubt: str, steps: Sequence[str], depth: int) -> list[Any] | None:
        """The kinds that further steps from what ``__getattr__`` is said to return resolve to; else a lack."""
        step, rest = steps[0], steps[1:]
        if doubt != "none" and rest and rest[0] != INSTANCE and self._given(kind, [], depth + 1):
            return self._given(kind, rest, depth + 1)
        return [Lack(kind, step, doubt != "none", doubt in {"open", "answers"}, doubt == "answers")]

    def behind(self, kinds: list[Any] | None) -> list[Any] | None:
        """Some kinds, with what ``__getattr__`` is said to return in the place of attributes that a class answers."""
        found: list[Any] = []
        for one in kinds or ():
            given = self._given(one.kind, [], 0) if isinstance(one, Lack) and one.columns else None
            found += given or [one]
        return found or None

    def _given(self, kind: ClassRef, rest: Sequence[str], depth: int) -> list[Any] | None:
        """The kinds that steps from what a class's ``__getattr__`` is said to return resolve to."""
        for module, number in self.chain(kind):
            if "__getattr__" in self._world.store.definitions(module)["classes"][number][1]:
                return self._made(f"c{number}.__getattr__", module, [INSTANCE, *rest], [kind], depth)
        return None

    def _entered(self, kind: ClassRef, rest: Sequence[str], depth: int) -> list[Any] | None:
        """The kinds that steps from the value of a context manager resolve to."""
        entered = [self._step(kind, [*some, *rest], depth) for some in _MANAGING]
        known = [one for one in entered if one]
        return known[0] if len(known) == 1 else None

    def _member(self, kind: ClassRef, name: str) -> Any:
        """The resolver's answer about an attribute; of a special method, the first class that has it."""
        world = self._world
        if isinstance(kind.number, str):
            offered = world.standard.offers(kind.module, f"{kind.number}.{name}")
            plain = kind.module == "builtins" and world.standard.lacks(kind.module, kind.number, name)
            return "none" if offered is False or plain else "unknown"
        if name[:2] != "__":
            return world.resolver.method(kind.module, kind.number, name)
        records = ((one, world.store.definitions(one[0])["classes"][one[1]]) for one in self.chain(kind))
        return next(((*one, None) for one, record in records if name in record[1]), "unknown")

    def _made(self, key: str, module: str, steps: Sequence[str], own: list[Any], depth: int) -> list[Any] | None:
        """The kinds that a function, method or field of a module resolves to; ``None`` where these are not known."""
        asked = (key, module, tuple(steps), tuple(own), depth)
        if asked not in self._walked:
            self._walked[asked] = self._typed(key, module, steps, own, depth)
        return self._walked[asked]

    def _typed(self, key: str, module: str, steps: Sequence[str], own: list[Any], depth: int) -> list[Any] | None:
        types: Mapping[str, list[str]] = self._world.store.definitions(module).get("types", {})
        for count in range(min(len(steps), _LONGEST_KEY), -1, -1):
            makings = types.get(key + "".join(steps[:count]))
            if makings is not None and all(map(is_special, steps[:count])):
                found: list[Any] = []
                for one in makings:
                    found += self._promised(one, module, own, depth + 1)
                if not any(found):
                    return None
                plain = not any(
                    isinstance(one, Lack) or (not count and one and self.is_descriptor(one)) for one in found
                )
                return self.walk(found, steps[count:], depth + 1) if plain else None
        return None

    def _promised(self, making: str, module: str, own: list[Any], depth: int) -> list[Any]:
        """The kinds that a type of a module resolves to, which may start at the object; ``None`` for anything."""
        first, *steps = making.split(".")
        if making == ANY:
            kinds = None
        elif first == "self":
            kinds = self.walk([kind._replace(made=True) for kind in own], steps, depth)
        else:
            kinds = self.of(making, module, depth)
        return [None] if kinds is None else kinds

    def is_descriptor(self, kind: ClassRef) -> bool:
        """Whether an attribute that holds an instance of a class may be something else when it is read."""
        if isinstance(kind.number, str):
            return False
        records = (self._world.store.definitions(module)["classes"][number] for module, number in self.chain(kind))
        return any("__get__" in record[1] or None in record[0] for record in records)

    def is_of_classes(self, kind: ClassRef) -> bool:
        """Whether a class is derived from ``type``, so that what is one has what its own source gives it."""
        records = (self._world.store.definitions(module)["classes"][number] for module, number in self.chain(kind))
        return any(["builtins", "type"] in record[0] for record in records)

    def chain(self, kind: ClassRef) -> list[tuple[str, Any]]:
        """A class and its bases, as far as they are known."""
        key = (kind.module, kind.number)
        if key not in self._chains:
            self._chains[key] = self._chain(kind)
        return self._chains[key]

    def _chain(self, kind: ClassRef) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        todo = [(kind.module, kind.number)]
        while todo:
            one = todo.pop(0)
            if one not in found and not isinstance(one[1], str):
                found.append(one)
                todo += self._bases(one[0], self._world.store.definitions(one[0])["classes"][one[1]][0])
        return found

    def _bases(self, module: str, bases: Iterable[Any]) -> Iterator[tuple[str, Any]]:
        """The known classes among the bases of a module's class."""
        for base in bases:
            if isinstance(base, int):
                yield module, base
            elif base is not None and base[0] != "builtins":
                answer = self._world.resolver.offers(base[0], base[1])
                if answer.verdict is True and answer.value and answer.value[0] == "class":
                    yield answer.value[1], answer.value[2]

    def lost_by(self, kind: ClassRef, word: str) -> tuple[str, str] | None:
        """The base of a class, of the standard library, that has an attribute no more, or not yet."""
        for module, number in self.chain(kind):
            for base in self._world.store.definitions(module)["classes"][number][0]:
                named = base is not None and not isinstance(base, int) and self._world.standard.has(base[0])
                if named and self._world.standard.lost(base[0], base[1], word):
                    return base[0], base[1]
        return None

    def _derived_from(self, own: tuple[str, Any], names: Iterable[str]) -> set[tuple[str, Any]]:
        """The classes in some modules, the same at each call, that are derived from one."""
        if self._heirs is None:
            self._heirs = {}
            for name in names:
                place = self._world.layout.modules[name]
                records = self._world.store.definitions(name).get("classes", ()) if place.kind != "native" else ()
                for number, record in enumerate(records):
                    for base in self._bases(name, record[0]):
                        self._heirs.setdefault(base, []).append((name, number))
        found, todo = set[tuple[str, Any]](), [own]
        while todo:
            todo += (new := set(self._heirs.get(todo.pop(), ())) - found)
            found |= new
        return found - {own}

    def derived(self, kind: ClassRef, word: str, names: Iterable[str], *, lost: bool) -> bool:
        """Whether a class that is derived from one, in some modules, has an attribute, or may for what it adds.

        What a release has lost no base gives back of which nothing is known.
        """
        world, own = self._world, (kind.module, kind.number)
        here = world.resolver.method(*own, word)
        more = DOUBTS[max(DOUBTS.index(here) + 1, 2) :] if here in DOUBTS else ()
        words = (word.encode(), world.store.class_name(*own).encode())
        for name, number in self._derived_from(own, names):
            text = world.store.packed(name)
            there = world.resolver.method(name, number, word) if any(one in text for one in words) else None
            doubted = there in more and not (
                lost and there == "unknown" and not self._is_filled(ClassRef(name, number))
            )
            if doubted or (isinstance(there, tuple) and there[:2] not in self.chain(kind)):
                return True
        return False

    def _is_filled(self, kind: ClassRef) -> bool:
        """Whether a class of a chain gets attributes by running code, or has a base that is computed."""
        records = (self._world.store.definitions(module)["classes"][number] for module, number in self.chain(kind))
        return any(record[2] is True or "__dict__" in record[1] or None in record[0] for record in records)
