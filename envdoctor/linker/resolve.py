"""Answers what a module offers: yes, no, or unknown, each with its reason."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from envdoctor.linker.decorated import Decorated
from envdoctor.linker.filled_names import FilledNames
from envdoctor.linker.hinted import Hinted
from envdoctor.linker.module_getattr import Evaluator
from envdoctor.linker.run_time import RunTime
from envdoctor.linker.summary import FROM, IMPORTS, INSTANCE, ClassRecord
from envdoctor.linker.verdicts import DOUBTS, Answer, no, own_doubts, unknown, yes
from envdoctor.linker.word_search import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.standard_library import Standard
    from envdoctor.linker.store import Store
    from envdoctor.linker.summary import Summary

#: Imports that lead from module to module more often than this lead nowhere.
_CIRCLE = unknown("imports that lead in a circle")
_DEEPEST = 30
#: By the first parameter of a method that is asked of its class: whether Python fills it in.
_CALLED = {"cls": "method", "self": "unbound"}
#: So far a module that cannot be imported is followed.
_DEEPEST_BREAK = 12
#: Bases of the standard library that add nothing that others ask for.
_EMPTY_BASES = {"builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC",
                "typing_extensions.Protocol", "typing_extensions.Generic"}  # fmt: skip


class Resolver:
    """Resolves names in a layout; summaries are read where they are needed."""

    def __init__(self, layout: Layout, store: Store, standard: Standard) -> None:
        self._layout = layout
        self._store = store
        self._standard = standard
        self._known: dict[tuple[str, str], Answer] = {}
        self._listed: dict[str, Answer] = {}
        self._seen: set[str] = set()
        self._broken: dict[str, Answer | None] = {}
        #: Modules of distributions with very much source that no import is followed into.
        self.left: set[str] = set()
        self.words = Words(layout)
        self._evaluator = Evaluator(layout, store, self)
        self.decorated, self._hinted = Decorated(store, self.offers), Hinted(layout, store, self.offers)
        self.set_from_outside: set[tuple[str, str]] = set()
        self.set_somewhere: set[str] = set()
        self.run_time = RunTime(layout, self.take_note, store.text, self.words, standard.minor)
        self._filled = FilledNames(layout, store, self.run_time, self.words)
        self.starting: list[str] = []

    def forget(self) -> None:
        """Forget what was answered while not everything was read."""
        self._known.clear()
        self._listed.clear()
        self._broken.clear()

    def take_note(self, name: str) -> Summary:
        """The summary of a module; what it sets on others counts from now on."""
        summary = self._store.get(name)
        if name not in self._seen:
            self._seen.add(name)
            for module, path in summary.get("stores", ()):
                parts = path.split(".")  # of which the first ones may be submodules
                for at in range(len(parts)):
                    self.set_from_outside.add((".".join([module, *parts[:at]]), ".".join(parts[at:])))
            self.set_somewhere.update(summary.get("sets", ()))
            self.run_time.take_note(summary, name)
        return summary

    # --- modules ----------------------------------------------------------------------------------------------------

    def module(self, name: str) -> Answer:  # noqa: PLR0911 - one for each reason
        """Whether a module can be imported, as far as its own file goes."""
        top = name.partition(".")[0]
        if name in self._listed or self._standard.has(name) or self._layout.has(name):
            return self._listed.setdefault(name, yes(("module", name)))
        if self._standard.has(name) is False and not self._layout.has(top):
            return self._missing_standard(name)
        if self._standard.has(top):
            lost = self._standard.has_lost_submodule(name)
            return no("standard", name) if lost else unknown("standard module without a file")
        other = self.run_time.second_name(name)
        if other:
            return yes(("module", other))
        unasked = self.run_time.unasked(name)
        if unasked:
            return no("loader", unasked, name[len(unasked) + 1 :])
        if self.run_time.is_provided(name):
            return unknown("put into sys.modules or loaded by a loader")
        if self._layout.on_disk(name):
            return unknown("files that no distribution lists")
        if not self._layout.has(top):
            return no("absent", name)
        return self._missing_submodule(name)

    def broken(self, name: str, depth: int = 0) -> Answer | None:
        """The answer about what a module must import and nobody has, so that importing it fails; ``None`` for nothing.

        The path of an absent module is the distribution that asks for it.
        """
        place = self._layout.modules.get(name)
        is_read = place is not None and place.kind != "native" and name not in self.left
        if not is_read or self._standard.has(name) or depth > _DEEPEST_BREAK:
            return None
        if name not in self._broken:
            self._broken[name] = None  # a module that imports itself
            refs = self.take_note(name).get("refs", ())
            found = (self._absent(name, ref[0], depth) for ref in refs if ref[3] & ~FROM == IMPORTS and not ref[5])
            self._broken[name] = next(filter(None, found), None)
        return self._broken[name]

    def _absent(self, name: str, imported: str, depth: int) -> Answer | None:
        """The answer about what a module, or one that it imports, imports and nobody has; ``None`` for nothing."""
        found = self.module(imported)
        if found.verdict is True:
            return self.broken(imported, depth + 1)
        if found.why == "absent":
            found = found._replace(path=self._layout.modules[name].owner)
        return found if found.verdict is False else None

    def _missing_standard(self, name: str) -> Answer:
        top = name.partition(".")[0]
        if not self._standard.known or any(self.words.in_file(path, top) for path in self.starting):
            return unknown("added when Python starts")
        if self.run_time.is_provided(name) or self._layout.on_disk(top):
            return unknown("put into sys.modules or loaded by a loader")
        return no("standard", name)

    def _missing_submodule(self, name: str) -> Answer:
        parent = name.rpartition(".")[0]
        while not self._layout.has(parent):
            parent = parent.rpartition(".")[0]
        module = self._layout.modules.get(parent)
        if module is None:
            return no("absent", name)
        if module.kind == "native":
            return unknown("native module")
        summary = self.take_note(parent)
        if summary.get("path") or summary.get("error"):
            return unknown("a package whose modules may be elsewhere")
        rest = name[len(parent) + 1 :].partition(".")[0]
        is_bound = rest in self._store.definitions(parent).get("names", {})
        if is_bound or self.attribute(parent, rest).verdict is not False:
            return unknown("an attribute that may be a module")
        return no("module", parent, rest, weak=self.run_time.is_filled(parent))

    # --- names ------------------------------------------------------------------------------------------------------

    def offers(self, module: str, path: str) -> Answer:
        """The answer whether a dotted path resolves in a module; an empty path asks for the module."""
        found = self.module(module)
        if found.verdict is not True or not path:
            return found
        return self._walk(found.value, path.split("."), 0)

    def _walk(self, value: Any, steps: list[str], depth: int) -> Answer:
        answer = yes(value)
        weak = False
        for step in steps:
            answer = self._step(answer.value, step, depth)
            weak = weak or answer.weak
            if answer.verdict is not True or answer.value is None:
                break
        return answer._replace(weak=True) if weak else answer

    def _step(self, value: Any, step: str, depth: int) -> Answer:
        if depth > _DEEPEST:
            return _CIRCLE
        kind = value[0]
        if step == INSTANCE:
            return yes(("instance", *value[1:]) if kind == "class" else None)
        if kind == "module":
            return self.attribute(value[1], step, depth)
        if kind == "standard":
            path = f"{value[2]}.{step}"
            offered = self._standard.offers(value[1], path)
            return no("standard", value[1], path) if offered is False else yes()
        if kind in {"class", "instance"}:
            return self._member(value, step, depth)
        return yes()

    def attribute(self, module: str, name: str, depth: int = 0) -> Answer:
        """Whether a module has a name, and what that is."""
        key = (module, name)
        answer = self._known.get(key)
        if answer is None:
            self._known[key] = _CIRCLE
            answer = self._known[key] = self._attribute(module, name, depth)
        return answer

    def _attribute(self, module: str, name: str, depth: int) -> Answer:
        if self._standard.has(module):
            return self._of_standard(module, name)
        place = self._layout.modules.get(module)
        if place is None or place.kind == "native":
            return self._of_native(module, name, f"{module}.{name}")
        return self._of_source(module, name, f"{module}.{name}", depth)

    def _of_source(self, module: str, name: str, inner: str, depth: int) -> Answer:
        """Whether a module with source has a name."""
        summary = self.take_note(module)
        if "error" in summary:
            return unknown("source that could not be read")
        names = self._store.definitions(module).get("names", {})
        is_source_file = self._layout.modules[module].kind == "py"
        itself = names.get(name) == ["i", module, name] and (is_source_file or self._layout.has(inner))
        if name in names and not itself:
            return self._value(names[name], module, depth)
        other = inner if self._layout.has(inner) else self.run_time.second_name(inner)
        if other:
            return yes(("module", other))
        if {inner, module} & self.run_time.provided or {(module, name), (module, "*")} & self.set_from_outside:
            return unknown("set from outside")
        if name[:2] == "__":
            return unknown("a special name")
        return self._not_bound(summary, module, name, depth)

    def _of_standard(self, module: str, name: str) -> Answer:
        inner = f"{module}.{name}"
        if self._standard.has(inner):
            return yes(("module", inner))
        if self._standard.offers(module, name) is False and not {(module, name), (module, "*")} & self.set_from_outside:
            return no("standard", module, name)
        return yes(("standard", module, name))

    def _of_native(self, module: str, name: str, inner: str) -> Answer:
        if self._layout.has(inner):
            return yes(("module", inner))
        if module in self._layout.namespaces:
            return self._of_namespace(module, name, inner)
        path = self._layout.modules[module].path
        parts = [part for part in name.split("_") if part]  # an enumeration puts names together
        if name[:2] == "__" or all(self.words.in_file(path, part) is not False for part in parts):
            return unknown("native module")
        return no("name", module, name, weak=True)

    def _of_namespace(self, module: str, name: str, inner: str) -> Answer:
        """A folder without an ``__init__`` file has modules only: other distributions may add some, but no class."""
        in_doubt = {inner, module} & self.run_time.provided or {(module, name), (module, "*")} & self.set_from_outside
        elsewhere = self._layout.on_disk(inner) or self._layout.on_disk(f"{module}.__init__")
        if in_doubt or elsewhere or not name[:1].isupper() or not self._layout.owner(module):
            return unknown("namespace package")
        return no("name", module, name)

    def _not_bound(self, summary: Summary, module: str, name: str, depth: int) -> Answer:
        answers = "__getattr__" in self._store.definitions(module).get("names", {})
        answer = self._evaluator.answer(module, name) if answers else None
        if answer is not None and answer.why == "gone":
            return answer
        found = self._by_stars(summary, name, depth)
        if answer is not None and answer.verdict and not found.verdict:
            return answer
        if found.verdict is not False and found != _CIRCLE:
            return found
        may_make = answers and answer is None
        return self._not_by_stars(summary, module, name, found, may_make=may_make)

    def _not_by_stars(self, summary: Summary, module: str, name: str, found: Answer, *, may_make: bool) -> Answer:
        """Whether a module has a name that it does not bind, and that no star is known to bring."""
        reason = self._filled.doubt(summary, module, name, may_make=may_make)
        if reason:
            return self._hinted.answer(module, name) or self._filled.unless_written_nowhere(module, name, reason)
        filled = self._filled.answer(summary, module, name, weak=found.weak)
        return _CIRCLE if found == _CIRCLE and filled.verdict is False else filled

    def _by_stars(self, summary: Summary, name: str, depth: int) -> Answer:
        """Whether any ``import *`` of a module brings a name: rather one that surely does than one that may."""
        best = no("name", "", name)
        for star in summary.get("stars", ()):
            found = self._by_star(star, name, depth + 1)
            if found.verdict:
                return found
            in_doubt = best.verdict is False or (best == _CIRCLE and found.verdict is None)
            best = found if in_doubt and (found.verdict is None or found.weak) else best
        return no("name", "", name) if best == _CIRCLE and not depth else best  # nobody in the circle has it

    def _by_star(self, star: str, name: str, depth: int) -> Answer:
        """Whether ``from STAR import *`` brings a name."""
        if self._standard.has(star):
            return unknown("names of the standard library taken with a star")
        if depth > _DEEPEST or not self._layout.has(star):
            return unknown("names of a missing module taken with a star")
        if name[:1] == "_" and self._layout.modules[star].kind == "native":
            return no("name", star, name)
        place = self._layout.modules.get(star)
        if place is not None and place.kind != "native":
            definitions = self._store.definitions(star)
            exported = definitions.get("all")
            if exported is not None and name not in exported:
                return no("name", star, name)
            if "all" not in definitions and name[:1] == "_":
                return no("name", star, name)
        return self.attribute(star, name, depth)

    def _value(self, value: Any, module: str, depth: int) -> Answer:
        """The answer with the value that a module's name is bound to."""
        if not value:
            return yes()
        if value[0] == "c":
            return yes(("class", module, value[1]))
        if value[0] == "f":
            return yes(("function", module, value[1]))
        found = self.module(value[1])
        if found.verdict is True and value[2]:
            found = self._walk(found.value, value[2].split("."), depth + 1)
        return found if found.verdict is True else yes()  # what the import itself misses is reported there

    # --- classes ----------------------------------------------------------------------------------------------------

    def _member(self, value: Any, name: str, depth: int) -> Answer:
        """Whether a class, or an instance of it, has an attribute."""
        kind, module, number = value
        method = self.method(module, number, name, depth)
        if method in DOUBTS[1:]:
            return unknown("a class that is not known completely")
        if method == "none" and (name in self.set_somewhere if kind == "instance" else hasattr(ABCMeta, name)):
            return unknown("set from outside, or of the class of classes")
        if method == "none":
            return no("attribute", module, f"{self._store.class_name(module, number)}.{name}")
        first = "cls" if kind == "instance" else "".join(method[2][1][:1] if method[2] else ())
        return yes((_CALLED[first], *method) if first in _CALLED else None)

    def method(self, module: str, number: int, name: str, depth: int = 0) -> Any:
        """The module and class that define a method, with its signature; ``None`` for another attribute.

        Else one of :data:`DOUBTS`.
        """
        if depth > _DEEPEST or (name[:2] == "__" and name != "__init__"):
            return "unknown"
        bases, names, is_open, methods, is_decorated = self._store.definitions(module)["classes"][number]
        own = self._store.class_name(module, number)
        if {(module, f"{own}.{name}"), (module, f"{own}.*")} & self.set_from_outside:
            return "unknown"
        if name in names or (name == "__init__" and is_decorated):  # with one that the decorator makes
            return (module, number, methods.get(name)) if name in names else "unknown"
        doubts = own_doubts(is_open, names)
        for base in bases:
            found = self.inherited(base, module, name, depth + 1)
            if not isinstance(found, str):
                return found
            doubts.add(found)
        return max(doubts, key=DOUBTS.index)

    def inherited(self, base: Any, module: str, name: str, depth: int = 0) -> Any:
        """The same for one base of a class, as its record has it."""
        if base is None or isinstance(base, int):
            return "unknown" if base is None else self.method(module, base, name, depth)
        if ".".join(base) in _EMPTY_BASES:
            return "none"
        if base[0] == "builtins" or self._standard.has(base[0]):
            is_given = (base[0], f"{base[1]}.{name}") in self.set_from_outside
            return "none" if self._standard.lacks(base[0], base[1], name) and not is_given else "unknown"
        value = self.offers(base[0], base[1]).value
        return self.method(value[1], value[2], name, depth) if value and value[0] == "class" else "unknown"

    # --- calls ------------------------------------------------------------------------------------------------------

    def signature(self, value: Any) -> tuple[list[Any], bool] | None:
        """The signature of the value of a path, and whether Python fills in the first parameter."""
        kind = value[0] if value else ""
        if kind == "function":
            signature = self.decorated.function(value[1], value[2])
            return None if signature is None else (signature, False)
        if kind in {"method", "unbound"}:
            return None if value[3] is None else (value[3], kind == "method")
        return self._constructor(value[1], value[2]) if kind == "class" else None

    def _constructor(self, module: str, number: int) -> tuple[list[Any], bool] | None:
        found = self.method(module, number, "__init__") if self.decorated.is_made_plainly(module, number) else None
        signature = self.decorated.method(found, "__init__")
        if signature is None or not isinstance(found, tuple) or self._is_made_elsewhere(module, number):
            return None
        return (signature, True) if self.decorated.is_made_plainly(found[0], found[1]) else None

    def _is_made_elsewhere(self, module: str, number: int, depth: int = 0) -> bool:
        """Whether a class, or one that it is derived from, has a ``__new__``, which need not call ``__init__``."""
        record = ClassRecord(*self._store.definitions(module)["classes"][number])
        if "__new__" in record.attributes or depth > _DEEPEST:
            return True
        for base in record.bases:
            value = ("class", module, base) if isinstance(base, int) else self.offers(*base).value if base else None
            if value and value[0] == "class" and self._is_made_elsewhere(value[1], value[2], depth + 1):
                return True
        return False
