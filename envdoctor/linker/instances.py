"""Attributes and calls that objects do not have or accept, by the classes that are known from how they are made."""

from __future__ import annotations

import re
from itertools import starmap
from typing import Any, NamedTuple

from envdoctor.linker import signatures
from envdoctor.linker.classes import Classes, ClassRef, Lack
from envdoctor.linker.history import shipped
from envdoctor.linker.makings import ANY
from envdoctor.linker.module_files import PROJECT
from envdoctor.linker.reach import severity_of
from envdoctor.linker.summary import CATCHES_ATTRIBUTE, CATCHES_TYPE, INHERITED, ObjectUse
from envdoctor.linker.verdicts import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.linker.forwarded_keywords import ForwardedKeywords
    from envdoctor.linker.history import Life
    from envdoctor.linker.made_words import MadeWords
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.refused_calls import RefusedCalls
    from envdoctor.linker.world import World

_SPECIAL = re.compile(r"\.\((await|with|super|\d+)\)")
#: What Python makes of a name with two underscores in a class.
_OF_A_CLASS = re.compile(r"_[^_]\w*__\w")
_FOR_CHECKERS = re.compile(rb"#\s*(type|pyright|ty|pyre):?\s*-?\s*(ignore|fixme)")


class _Use(NamedTuple):
    """A use in a module: what it is reached under, and the words that the module asks for before it uses them."""

    name: str
    ref: ObjectUse
    flags: int
    ways: list[int]


class Instances:
    """Looks for what objects lack in some modules of a world."""

    def __init__(
        self,
        world: World,
        reach: Reach,
        made: MadeWords,
        refused: RefusedCalls,
        *,
        forwarded: ForwardedKeywords | None = None,
    ) -> None:
        self._world = world
        self._made = made
        self._refused, self._forwarded = refused, forwarded
        self._reach = reach
        self._classes = Classes(world)
        self._history = shipped()
        self._derived: dict[tuple[ClassRef, str], bool] = {}

    def all(self, names: Iterable[str]) -> Iterator[Missing]:
        """The uses that fail, by module."""
        for name in names:
            place = self._world.layout.modules[name]
            if place.kind == "native" or (place.owner != PROJECT and self._world.layout.is_aside(name)):
                continue
            if b"objects" not in self._world.store.packed(name):  # it asks nothing of objects, and need not be unpacked
                continue
            for ref in starmap(ObjectUse, self._world.resolver.take_note(name).get("objects", ())):
                found = self._found(name, ref)
                flags = self._reach.flags(name, ref) if found else None
                if found and flags is not None:
                    yield from self._missing(_Use(name, ref, flags, self._reach.ways[name]), found)

    def _found(self, name: str, ref: ObjectUse) -> list[Any]:
        """For each making of an object what it lacks, or the call that does not fit; nothing where one has it.

        ``None`` is a making that may be anything, beside others of classes that have lost what is asked for: so is what
        a caller gives for a parameter, whatever its annotation says.
        """
        found: list[Any] = []
        for making in ref.makings:
            lacks = self._lacks(name, making, ref)
            if not lacks:
                return []
            found += lacks
        known = [one for one in found if one is not None]
        lost = all(isinstance(one, Lack) and self._had(one.kind, one.name) for one in known)
        return found if len(known) == len(found) or (lost and known) else []

    def _lacks(self, name: str, making: str, ref: ObjectUse) -> list[Any]:
        """The same for one making of the object."""
        if making == ANY:
            return [None]
        kinds = self._classes.of(making, name)
        if kinds and all(one is None or isinstance(one, Lack) for one in kinds):
            return kinds
        receiver, _, method = making.rpartition(".")
        kinds = self._classes.behind(self._classes.of(receiver, name)) if ref.call is not None else None
        if not kinds:
            return [None] if ANY in ref.makings else []
        misfits = [self._misfit(one, method, ref) for one in kinds]
        return [] if None in misfits else misfits

    def _misfit(self, kind: Any, method: str, ref: ObjectUse) -> Any:
        """Where a call does not fit a method: the kind, the method, the mistake and the argument."""
        call = ref.call or ()
        if not isinstance(kind, ClassRef) or not kind.made or isinstance(kind.number, str):
            return None
        there = self._world.resolver.method(kind.module, kind.number, method)
        signature = self._world.resolver.decorated.method(there, method)
        wrong = (
            signatures.misfit(signature, call, bound=True)
            if signature and signature[1][:1] in (["self"], ["cls"])
            else None
        )
        if signature and not wrong and self._forwarded is not None and isinstance(there, tuple):
            refused = self._forwarded.refused(("method", *there), call, (kind.module, kind.number), method)
            wrong = ("forwarded", refused) if refused else None
        if not wrong and not ref.attempt:
            wrong = self._refused.of_method(there, method, call)
        return (kind, method, *wrong) if wrong else None

    def _missing(self, use: _Use, found: Sequence[Any]) -> Iterator[Missing]:
        known = [one for one in found if one is not None]
        lacks, word = isinstance(known[0], Lack), known[0][1]
        severity, way = self._severity(use, lacks=lacks, sure=len(known) == len(found))
        mixed = any(isinstance(one, Lack) is not lacks for one in known)
        if severity == "silent" or mixed or self._is_asked_for(use, word):
            return
        first, place = next(one for one in use.ref.makings if one != ANY), self._world.layout.modules[use.name]
        cause = self._cause(use, known, first)
        if cause is None or cause[0] == place.owner:
            return
        module, _, steps = first.partition(":")
        asked = _SPECIAL.sub("", f"{module or use.name}.{steps}").replace(".()", "()")
        provider, why, home, path, detail = cause
        yield Missing(
            place.owner, place.path, use.ref.line, asked, provider, why, severity, way, home, f"{path}.{word}", detail
        )  # fmt: skip

    def _severity(self, use: _Use, *, lacks: bool, sure: bool) -> tuple[str, int]:
        """How bad it is that a use fails, and the way to it."""
        severity, way = severity_of(use.ways, use.flags, CATCHES_ATTRIBUTE if lacks else CATCHES_TYPE)
        return ("warning" if severity == "error" and not (lacks and sure) else severity), way

    def _is_asked_for(self, use: _Use, word: str) -> bool:
        """Whether a module asks for a word before it uses it, or a comment says that it is there, or it is special."""
        hints = self._world.resolver.take_note(use.name).get("hints", ())
        special = (word[:2] == "__" and word != "__init__") or _OF_A_CLASS.match(word)
        return word in hints or bool(special) or self._is_ignored(use)

    def _standard_cause(self, kind: ClassRef, making: str) -> tuple[str, str, str, str, str] | None:
        """The provider of an object of the standard library that lacks something, the reason, and the class."""
        if kind.module == "typing":
            return None
        if kind.module != "builtins":
            return "", "standard", kind.module, kind.number, ""
        provider = self._world.layout.owner(making.partition(":")[0])
        return (provider, "result", kind.module, kind.number, "") if provider not in {"", PROJECT} else None

    def _cause(self, use: _Use, found: Sequence[Any], making: str) -> tuple[str, str, str, str, str] | None:
        """The same for the first class of a chain that is another distribution's, with what is known of its past."""
        kind, word = found[0][:2]
        if isinstance(kind.number, str):
            return self._standard_cause(kind, making)
        base = self._classes.lost_by(kind, word) if isinstance(found[0], Lack) else None
        if base is not None:
            return ("", "standard", *base, "") if all(self._is_lost(one) for one in found) else None
        home = self._home(use, found[0])
        if home is None or not all(self._is_sure(use, one) for one in found):
            return None
        name = self._world.store.class_name(*home[1:])
        if not isinstance(found[0], Lack):
            return home[0], found[0][2], home[1], name, found[0][3]
        life = self._life(kind, word)
        return home[0], "attribute", home[1], name, life.said() if life else ""

    def _home(self, use: _Use, one: Any) -> tuple[str, str, int] | None:
        """The first class of another distribution that lacks or defines something: its owner, module and number."""
        (kind, word), layout = one[:2], self._world.layout
        chain = self._classes.chain(kind)
        if not isinstance(one, Lack):
            defined = self._world.resolver.method(kind.module, kind.number, word)
            chain = [defined[:2]] if isinstance(defined, tuple) else []
        own = {layout.modules[use.name].owner, "", PROJECT}
        classes = ((layout.owner(module), module, number) for module, number in chain)
        return next((one for one in classes if one[0] not in own), None)

    def _is_ignored(self, use: _Use) -> bool:
        """Whether the line has a comment for which type checkers ignore it."""
        lines = self._world.store.text(use.name).splitlines()
        line = lines[use.ref.line - 1] if 0 < use.ref.line <= len(lines) else b""
        return _FOR_CHECKERS.search(line) is not None

    def _is_sure(self, use: _Use, one: Any) -> bool:
        """Whether nothing gives a class what it lacks from elsewhere."""
        kind, word = one[:2]
        if any(INHERITED in making for making in use.ref.makings):
            return not isinstance(one, Lack)  # which a class beside it may have
        if not isinstance(one, Lack):
            return not self._is_derived(kind, word)
        if self._is_derived(kind, word):
            return False
        if self._life(kind, word) is not None:
            return (not one.columns or use.ref.call is not None) and not self._is_given(one)
        if one.answers or one.columns > one.open or self._may_be_given(kind, word):
            return False
        return not one.open or not self._is_made(use, one)

    def _is_made(self, use: _Use, lack: Lack) -> bool:
        """Whether a distribution that has to do with a use may make anything of the name that an open class lacks."""
        layout, modules = self._world.layout, [module for module, _ in self._classes.chain(lack.kind)]
        if any("" in self._made.tops_of(one) for one in modules):
            return True
        owners = {layout.modules[use.name].owner, *map(layout.owner, modules)}
        return self._made.is_made(owners.union(*map(self._made.imported_by, owners)) - {""}, lack.name)

    def _is_lost(self, one: Any) -> bool:
        """Whether a class lacks what a base of the standard library has lost, and nobody else gives it."""
        if not isinstance(one, Lack) or one.open or one.columns or one.name in self._world.resolver.set_somewhere:
            return False
        return self._classes.lost_by(one.kind, one.name) is not None and not self._is_derived(one.kind, one.name)

    def _is_given(self, lack: Lack) -> bool:
        """Whether a class that answers attributes by code, or is open, names one that it has lost."""
        by_name = lack.answers and self._is_quoted(lack.kind, lack.name)
        return by_name or (lack.open and self._is_aliased(lack.kind, lack.name))

    def _may_be_given(self, kind: ClassRef, word: str) -> bool:
        """Whether somebody may give the objects of a class an attribute that no class says."""
        resolver, classes = self._world.resolver, self._classes
        if word in resolver.set_somewhere or classes.is_descriptor(kind) or not self._has_attributes(kind):
            return True
        if classes.is_of_classes(kind):
            return True
        owners = {self._world.layout.owner(module) for module, _ in classes.chain(kind)}
        quoted = any(resolver.words.anywhere(one, f"{mark}{word}{mark}") for one in owners for mark in "'\"")
        return quoted or self._is_open(kind)

    def _is_quoted(self, kind: ClassRef, word: str) -> bool:
        """Whether a module with a class of a chain has a word as a text, by which it may be given."""
        sources = (self._world.store.text(module) for module, _ in self._classes.chain(kind))
        return any(mark + word.encode() + mark in source for source in sources for mark in (b"'", b'"'))

    def _is_aliased(self, kind: ClassRef, word: str) -> bool:
        """Whether a decorator of a class may give it a method of another name: ``get_size`` where it names ``size``."""
        return word[:4] in {"get_", "set_"} and self._is_quoted(kind, word[4:])

    def _has_attributes(self, kind: ClassRef) -> bool:
        """Whether a class has attributes itself: an empty one is filled by others."""
        records = (
            self._world.store.definitions(module)["classes"][number] for module, number in self._classes.chain(kind)
        )
        return any(name[:1] != "_" for record in records for name in record[1])

    def _is_derived(self, kind: ClassRef, word: str) -> bool:
        """Whether a class that is derived from one has an attribute, among the modules that anybody imports."""
        key = (kind, word)
        if key not in self._derived:
            lost = self._life(kind, word) is not None
            self._derived[key] = self._classes.derived(kind, word, self._reach.ways, lost=lost)
        return self._derived[key]

    def _is_open(self, kind: ClassRef) -> bool:
        """Whether a class makes other objects than its own, or says what others have."""
        definitions = self._world.store.definitions
        for module, number in self._classes.chain(kind):
            bases, names = definitions(module)["classes"][number][:2]
            protocols = [base for base in bases if isinstance(base, list) and base[-1].rpartition(".")[2] == "Protocol"]
            if protocols or "__new__" in names:
                return True
        return False

    def _had(self, kind: ClassRef, word: str) -> bool:
        """Whether a class is known to have had an attribute in another release, or in another version of Python."""
        if isinstance(kind.number, str):
            return self._world.standard.lost(kind.module, kind.number, word)
        return self._life(kind, word) is not None or self._classes.lost_by(kind, word) is not None

    def _life(self, kind: ClassRef, word: str) -> Life | None:
        """The history's record of an attribute that a class of a chain has lost."""
        if self._history is None or isinstance(kind.number, str):
            return None
        versions = self._world.layout.versions
        for module, number in self._classes.chain(kind):
            name = self._world.store.class_name(module, number)
            owner = self._world.layout.owner(module)
            lives = self._history.gone(owner, versions.get(owner, ""), name, word)
            if lives and not self._is_set_on(owner, name, word):
                return lives[0]
        return None

    def _is_set_on(self, owner: str, name: str, word: str) -> bool:
        """Whether a distribution has a call such as ``setattr(Class, "word", ...)`` for its own class."""
        words = self._world.resolver.words
        return any(words.in_source(owner, f"{name}, {mark}{word}{mark}") for mark in "'\"")
