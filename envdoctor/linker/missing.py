"""References of modules that nothing resolves: one entry for each, with how sure it is."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from envdoctor.engine.installed_requirements import name_of, parse
from envdoctor.linker import signatures
from envdoctor.linker.forms import NO_HASH
from envdoctor.linker.module_files import PROJECT
from envdoctor.linker.reach import ENTRY, SUBMODULE, is_plain, severity_of
from envdoctor.linker.summary import (
    CATCHES_ATTRIBUTE,
    CATCHES_IMPORT,
    CATCHES_MODULE,
    CATCHES_SYNTAX,
    CATCHES_TYPE,
    FROM,
    IMPORTS,
    LATER,
    Form,
    Reference,
    caught,
)
from envdoctor.linker.verdicts import Missing
from envdoctor.model import Distribution
from envdoctor.probes.distributions import required_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.resolve import Resolver
    from envdoctor.linker.standard_library import Standard
    from envdoctor.linker.verdicts import Answer

#: From this version on every module that it can parse is one that an older Python, back to this one, can parse too.
_STABLE_GRAMMAR = (3, 7)

#: Why nothing is said of a module that nobody has, nor of what a module that is not always imported takes instead.
OPTIONAL = "modules that nothing installed has: optional, as a rule"

#: A module that is kept only to say that it has moved uses no more than this from others.
_MOST_OF_STUB = 4


class Waiting(NamedTuple):
    """A call that fits the signature of what the answer is about: where, and how sure something wrong with it is."""

    name: str
    ref: Reference
    answer: Answer
    way: tuple[str, int]


class ReferenceSearch:
    """Looks for what the reached modules miss, and counts by reason what could not be decided.

    ``further`` say of a call that fits the signature, in no ``try``, what is wrong with it: a kind and a detail.
    """

    def __init__(
        self,
        layout: Layout,
        resolver: Resolver,
        reach: Reach,
        standard: Standard,
        further: Sequence[Callable[[Any, Sequence[Any]], tuple[str, str] | None]] = (),
    ) -> None:
        self._layout = layout
        self._further = further
        self._raising: dict[str, Sequence[Any]] = {}
        self._resolver = resolver
        self._reach = reach
        self._standard = standard
        self.unknown: Counter[str] = Counter()
        self.asked = 0
        self._lacking: dict[str, bool] = {}
        self._cores: dict[str, set[str]] = {}

    def all(self, host: tuple[int, int], target: tuple[int, int]) -> Iterator[Missing]:
        """Every reference that finds nothing, most certain first within a module.

        The calls that are followed further wait until those of one function's module can be followed together.
        """
        return self.decided([*self.rows(host, target)])

    def decided(self, rows: Sequence[Missing | Waiting]) -> Iterator[Missing]:
        """Rows with what is wrong with the calls that wait, and without those that wait in vain."""
        waiting = [(at, one) for at, one in enumerate(rows) if isinstance(one, Waiting)]
        waiting.sort(key=lambda pair: str(pair[1].answer.value[1]))
        refused = {at: next(self._refused_call(one), None) for at, one in waiting}
        known = (refused[at] if isinstance(one, Waiting) else one for at, one in enumerate(rows))
        return filter(None, known)

    def rows(self, host: tuple[int, int], target: tuple[int, int]) -> Iterator[Missing | Waiting]:
        """Every reference that finds nothing, and each call that may be refused further on."""
        for name, ways in self._reach.ways.items():
            place = self._layout.modules[name]
            summary = self._resolver.take_note(name)
            if summary.get("error", ("",))[0] == "syntax":
                yield from self._syntax(name, summary["error"], ways, sure=host >= target >= _STABLE_GRAMMAR)
            yield from self._stand_ins(name, summary.get("stand_ins", ()), ways)
            yield from self._unusable(name, summary.get("refs", ()))
            broken = self._resolver.broken(name)
            alone = broken is not None and broken.why == "absent" and broken.path == place.owner
            if alone and place.owner != PROJECT and not self._lacks_requirements(place.owner):
                self.unknown["modules that import what is not installed, and cannot be used"] += 1
                continue
            hints = set(summary.get("hints", ()))
            yield from self._refused_forms(name, summary.get("forms", ()), ways)
            for ref in summary.get("refs", ()):
                other = self._layout.modules.get(ref[0])
                if other is not None and other.owner == place.owner != PROJECT:
                    continue
                flags = self._reach.flags(name, ref)
                if flags is not None:
                    yield from self._one(name, Reference(*ref), flags, ways, hints)

    def _syntax(self, name: str, error: list[Any], ways: list[int], *, sure: bool) -> Iterator[Missing]:
        place = self._layout.modules[name]
        severity, way = severity_of(ways, 0, CATCHES_SYNTAX)
        if not sure:
            self.unknown["source in a syntax that this Python cannot read"] += 1
        elif severity != "silent":
            yield Missing(place.owner, place.path, error[1], name, "", "syntax", severity, way, name, "", error[2])

    def _unusable(self, name: str, refs: Iterable[list[Any]]) -> Iterator[Missing]:
        """An import of what nobody has or requires, on which a plain import of a distribution's own module ends."""
        if name in self._core(self._layout.modules[name].owner):
            for ref in refs:
                if is_plain(ref) and self._resolver.module(ref[0]).why == "absent":
                    yield from self._undeclared(name, ref[0], ref[2], 0)

    def _core(self, owner: str) -> set[str]:
        """The modules that a plain import of a distribution's own module executes.

        Of one with many modules that is the one that is called like it: others need what else is installed.
        """
        if owner not in self._cores:
            own = {one for one in self._layout.tops.get(owner, ()) if one in self._reach.ways and one[:1] != "_"}
            self._cores[owner] = self._reach.executed(own if len(own) == 1 else own & {owner.replace("-", "_")}, owner)
        return self._cores[owner]

    def _stand_ins(self, name: str, imported: Iterable[list[Any]], ways: list[int]) -> Iterator[Missing]:
        """What a module imports because this version of Python lacks something, and nobody has."""
        severity, way = severity_of(ways, 0, CATCHES_MODULE)
        for module, line in imported if severity in {"error", "warning"} and not way & LATER else ():
            if self._resolver.module(module).why == "absent":
                yield from self._undeclared(name, module, line, way)

    def _undeclared(self, name: str, module: str, line: int, way: int) -> Iterator[Missing]:
        place, top = self._layout.modules[name], module.partition(".")[0]
        if place.owner == PROJECT or self._lacks_requirements(place.owner) or self._brings(place.owner, top):
            return
        binaries = [one for one in self._layout.others[place.owner] if one.endswith(".so")]
        if any(one.startswith(place.path[: -len("py")]) for one in binaries):  # it may import the compiler's own
            return
        if not self._resolver.run_time.is_provided(top):
            yield Missing(
                place.owner, place.path, line, module, "", "undeclared", "warning", way, top, ""
            )  # fmt: skip

    def _brings(self, owner: str, top: str) -> bool:
        """Whether a distribution has a module of this name, changes where modules are sought, names it, or adds to it.

        What adds to another distribution is named after it, as ``host-more``; what makes a module when it is imported
        gives its name as a text, as to a loader of interface files.
        """
        word = top.replace("_", "-").lower()
        lines = required_by(Distribution(name=owner, version=None, path=self._layout.metadata[owner]))
        if f"-{word}-" in f"-{owner}-" or any(name_of(line) == word for line in lines):
            return True
        below = any(top in name.split(".")[1:] for name in self._layout.names.get(owner, ()))
        if below or any(self._resolver.take_note(one).get("paths") for one in self._core(owner)):
            return True
        return self._resolver.words.quoted(owner, top)

    def _refused_forms(self, name: str, forms: Iterable[list[Any]], ways: list[int]) -> Iterator[Missing]:
        """What Python refuses when it runs a module; in a ``try``, only TypeErrors are known to be uncaught."""
        place = self._layout.modules[name]
        for row in forms:
            form = Form(*row)
            flags = self._reach.flags(name, row)
            is_type = form.exception == "TypeError"
            if flags is None or (form.attempt and not is_type) or not self._has_no_hash(form.wanted):
                continue
            severity, way = severity_of(ways, flags, CATCHES_TYPE if is_type else CATCHES_SYNTAX)
            if severity != "silent":
                yield Missing(
                    place.owner, place.path, form.line, form.form, "", "form", severity, way, name, form.requirement,
                    form.exception,
                )  # fmt: skip

    def _has_no_hash(self, wanted: str) -> bool:
        """Whether something is a class whose objects cannot be hashed, or nothing has to be."""
        value = self._resolver.offers(*wanted.split(":")).value if wanted else None
        if value and value[0] == "class":
            return isinstance(self._resolver.method(value[1], value[2], NO_HASH), tuple)
        return not wanted

    def _one(
        self, name: str, ref: Reference, flags: int, ways: list[int], hints: set[str]
    ) -> Iterator[Missing | Waiting]:
        self.asked += 1
        if not flags & IMPORTS:
            taken = self._resolver.offers(ref.module, ".".join(ref.path.split(".")[: ref.own]))
            if taken.verdict is False:  # reported where it is imported
                return
        answer = self._resolver.offers(ref.module, ref.path)
        if answer.verdict is None:
            self.unknown[answer.why] += 1
        elif answer.verdict is False:
            yield from self._not_there(name, ref, flags, ways, hints, answer)
        elif flags & IMPORTS:
            yield from self._refused(name, ref, flags, ways)
            yield from self._broken(name, ref, flags, ways)
        elif ref.call is not None:
            yield from self._not_taken(name, ref, flags, ways, hints, answer)

    def _not_taken(
        self, name: str, ref: Reference, flags: int, ways: list[int], hints: set[str], answer: Answer
    ) -> Iterator[Missing | Waiting]:
        """A call with arguments that its function does not accept."""
        call, value = ref.call or (), answer.value
        severity, way = severity_of(ways, flags, CATCHES_TYPE)
        is_for_versions = bool(value) and value[0] == "standard" and "version_info" in hints
        if severity == "silent" or is_for_versions or (call[_OF_CLASS:] and not (value and value[0] == "class")):
            return
        misfit = self._not_in_signature(answer, ref.module, ref.path, call)
        if misfit is not None:
            yield from self._unfit(name, ref, answer, (severity, way), misfit)
        elif value and not ref.attempt and self._further:
            yield Waiting(name, ref, answer, (severity, way))

    def _refused_call(self, one: Waiting) -> Iterator[Missing]:
        """A call that fits the signature, and is refused further on."""
        misfit = self._rejects(one.answer, one.ref.call)
        if misfit[1]:
            yield from self._unfit(one.name, one.ref, one.answer, one.way, misfit)

    def misfit(self, answer: Answer, module: str, path: str, call: Sequence[Any]) -> tuple[str, str]:
        """What is wrong with a call of what was found at a path of a module: a kind and a detail; empty for nothing."""
        return self._not_in_signature(answer, module, path, call) or self._rejects(answer, call)

    def _rejects(self, answer: Answer, call: Sequence[Any] | None) -> tuple[str, str]:
        """What is wrong with a call that fits the signature: a kind and a detail; empty for nothing."""
        found = (further(answer.value, call) for further in self._further if answer.value and call)
        return next(filter(None, found), ("", ""))

    def _unfit(
        self, name: str, ref: Reference, answer: Answer, sure: tuple[str, int], misfit: tuple[str, str]
    ) -> Iterator[Missing]:
        (severity, way), (kind, argument) = sure, misfit
        place, owner = self._layout.modules[name], self._owner(ref.module, answer.value)
        if owner != place.owner:
            severity = "warning" if severity == "error" else severity
            asked = f"{ref.module}.{ref.path}".replace(".()", "()")
            yield Missing(
                place.owner, place.path, ref.line, asked, owner, kind, severity, way, ref.module, ref.path, argument
            )  # fmt: skip

    def _refused(self, name: str, ref: Reference, flags: int, ways: list[int]) -> Iterator[Missing]:
        """A module of another distribution that raises when it is imported: it has moved, or is not for this Python."""
        inner, modules = f"{ref.module}.{ref.path}", self._layout.modules
        parts = (inner if flags & FROM and inner in modules else ref.module).split(".")
        run = (".".join(parts[: at + 1]) for at in range(len(parts)))
        notes = ((one, self._raises(one)) for one in run if one in modules)
        wanted, raises = next((pair for pair in notes if pair[1]), ("", ()))
        if raises:
            place, owner = self._layout.modules[name], modules[wanted].owner
            severity, way = severity_of(ways, flags, caught(raises[1]) or CATCHES_SYNTAX)
            if severity != "silent":
                yield Missing(
                    place.owner, place.path, ref.line, wanted, owner, "refused", severity, way, wanted, "", raises[2]
                )  # fmt: skip

    def _raises(self, module: str) -> Sequence[Any]:
        """The line, the exception and its text where importing a module surely raises; empty where it does not.

        A module that is kept only to say that it has moved may call a function that raises.
        """
        if module not in self._raising:
            summary = self._resolver.take_note(module)
            refs = [Reference(*row) for row in summary.get("refs", ())]
            sure = (one for one in refs if not (one.flags or one.attempt or one.handler))
            said = ((one.line, self._rejects(self._resolver.offers(one.module, one.path), one.call)[1]) for one in sure)
            calls = ((line, text.partition(":")[0], text) for line, text in said if text)
            self._raising[module] = summary.get("raises") or (len(refs) <= _MOST_OF_STUB and next(calls, ())) or ()
        return self._raising[module]

    def _broken(self, name: str, ref: Reference, flags: int, ways: list[int]) -> Iterator[Missing]:
        """A submodule of another distribution that cannot be imported, because nothing has what it imports itself."""
        inner = f"{ref.module}.{ref.path}"
        wanted = inner if flags & FROM and inner in self._layout.modules else ref.module
        top = wanted.partition(".")[0]
        found = None if wanted == top or self._resolver.broken(top) else self._resolver.broken(wanted)
        severity, way = severity_of(ways, flags, CATCHES_MODULE)
        if (
            found is not None
            and severity == "error"  # elsewhere it is a choice not to install that
            and found.why == "absent"
            and found.path != self._layout.modules[name].owner
            and not self._lacks_requirements(found.path)
        ):
            place, owner = self._layout.modules[name], self._layout.modules[wanted].owner
            root = found.module.partition(".")[0]
            absent = found.module if self._layout.has(root) else root
            yield Missing(
                place.owner, place.path, ref.line, wanted, owner, "broken", severity, way, wanted, "", absent
            )  # fmt: skip

    def _lacks_requirements(self, owner: str) -> bool:
        """Whether something is not installed that a distribution requires, so that what it misses is no choice."""
        if owner not in self._lacking and owner != PROJECT:
            lines = required_by(Distribution(name=owner, version=None, path=self._layout.metadata[owner]))
            parsed = [parse(line) for line in lines]
            names = [one[0] for one in parsed if one is not None and one[2] is None]
            self._lacking[owner] = any(name not in self._layout.versions for name in names)
        return self._lacking.get(owner, False)

    def _owner(self, module: str, value: Any) -> str:
        """The distribution that a value belongs to; empty for Python."""
        where = value[1] if value and value[0] in {"function", "method", "unbound", "class"} else module
        place = self._layout.modules.get(where)
        return place.owner if place is not None else ""

    def _not_in_signature(self, answer: Answer, module: str, path: str, call: Sequence[Any]) -> tuple[str, str] | None:
        """The argument of a call that the signature of its function excludes, with the kind of misfit."""
        found = self._resolver.signature(answer.value)
        if found is not None:
            return signatures.misfit(found[0], call, bound=found[1])
        if answer.value and answer.value[0] == "standard":
            signature = self._standard.signature(module, path)
            misfit = None if signature is None else signatures.misfit(signature, call, bound=False)
            others = (signatures.of_text(text) for text in self._standard.others(module, path))
            if misfit and any(signatures.misfit(other, call, bound=False) is None for other in others):
                return misfit
        return None

    def _not_there(
        self, name: str, ref: Reference, flags: int, ways: list[int], hints: set[str], answer: Answer
    ) -> Iterator[Missing]:
        """A reference that finds nothing in the module of its distribution, where that matters."""
        place = self._layout.modules[name]
        severity, way = severity_of(ways, flags, _raised(flags, answer))
        if answer.why == "absent" or (way & SUBMODULE and not way & ENTRY and self._reach.stands_in(name, ref)):
            self.unknown[OPTIONAL] += 1
            return
        provider = "" if answer.why in {"standard", "loader"} else self._layout.owner(answer.module)
        if severity == "silent" or provider == place.owner:
            return
        if answer.why == "name" and self._resolver.run_time.may_be_set_by(place.owner, answer.module, answer.path):
            self.unknown["set from outside"] += 1
            return
        severity = self._softened(severity, flags, hints, answer)
        asked = ".".join(filter(None, (ref.module, ref.path))).replace(".()", "()")
        yield Missing(
            place.owner, place.path, ref.line, asked, provider, answer.why, severity, way, answer.module, answer.path
        )  # fmt: skip

    def _softened(self, severity: str, flags: int, hints: set[str], answer: Answer) -> str:
        """The severity of what finds nothing: lower where the source says that it may, or the answer is in doubt."""
        is_hinted = answer.path.rpartition(".")[2] in hints
        if is_hinted or (answer.why == "standard" and flags & LATER and self._is_for_newer(answer, hints)):
            return "info"
        return "warning" if answer.weak and severity == "error" else severity

    def _is_for_newer(self, answer: Answer, hints: set[str]) -> bool:
        """Whether a function says itself that it is for some versions of Python, or takes what a newer one has."""
        span = self._standard.span(answer.module, answer.path)
        return "version_info" in hints or (span is not None and not span[1])


def _raised(flags: int, answer: Answer) -> int:
    """The flag of handlers that catch the exception which a missing name raises."""
    if answer.why in {"module", "absent", "loader"} or not answer.path:
        return CATCHES_MODULE
    return CATCHES_IMPORT if flags & IMPORTS and flags & FROM else CATCHES_ATTRIBUTE


#: The place in a call that says whether it has to be of a class.
_OF_CLASS = 3
