"""The question to releases that follows from an error about something missing, and the answer. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.metadata_conflicts import required_by
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.engine.derived_case import Case

#: Gaps between the words of a message that tell it from others.
_FEWEST_GAPS = 2
#: Of so few installed distributions each may be meant.
_FEW = 8
#: Kinds that an import statement, or a chain of attributes of a module, states completely.
NAMED = frozenset({"module", "name", "part"})
#: Kinds of what the failing release of the provider has, and earlier ones have not.
NEW = frozenset({"words", "super", "made"})
#: Families whose message names a module and what it lacks.
_OF_MODULE = frozenset({"missing-name", "shadowed", "circular", "announced"})
#: How many arguments a call gives a function that takes fewer.
_GIVEN = re.compile(r"but (\d+) (?:positional arguments? )?(?:was|were) given")


class Ask(Record):
    """Who asked whom for what.

    ``kind`` is ``module``, ``name`` (to import), ``part`` (of a module that is there), ``attribute`` (of the class
    ``owner``), ``keyword`` (``argument`` of the function ``name``), ``required`` (an ``argument`` that ``name`` wants),
    ``count`` (``given`` arguments are too many), ``word`` (a ``name`` that some file of the provider contains),
    ``lacking`` (the ``module`` of the consumer lacks the ``name``), or one of :data:`NEW`: ``words`` that the provider
    says, an attribute ``name`` that it reads from ``super()``, or the ``module`` that its objects come from. An empty
    ``provider`` is the standard library, and ``None`` not known: one of ``others``, or of what the consumer requires; a
    consumer that is not known is one of ``others`` too.
    ``inside`` is the module, and ``code`` the statement, that asked; ``versions`` are those installed; ``brings`` is a
    distribution that brings a module of the standard library back.
    """

    kind: str
    consumer: str | None = None
    provider: str | None = None
    others: Sequence[str] = ()
    module: str = ""
    name: str = ""
    owner: str = ""
    words: str = ""
    argument: str = ""
    given: int = 0
    inside: str = ""
    code: str = ""
    brings: str = ""
    versions: Mapping[str, str] = {}
    python: str = ""
    system: str = "linux"

    def dotted(self) -> str:
        """What is asked for, in one word."""
        return ".".join(filter(None, (self.module, self.owner, self.name)))

    def said(self) -> str:
        """What is asked for, in words."""
        if self.kind == "keyword":
            return f"the argument {self.argument} of {self.name}()"
        if self.kind in NEW:
            said = {"super": f"super().{self.name}", "made": f"the use of {self.module}"}
            return said.get(self.kind, f"“{self.words}”")
        return f"{self.name}() as it is called here" if self.kind in {"required", "count"} else self.dotted()


class Asking(Record):
    """How long a consumer asks.

    ``until`` is the last release, from the installed one on, that asks, ``since`` the first one that no longer does
    (``None`` where the newest still asks); ``before`` is the last older release that does not ask yet. ``caps`` is the
    first release whose metadata keeps the failing release of the provider out, ``cap`` how it says so, and ``free`` the
    last one before it that asks. ``works`` is the first release from ``since`` on that takes nothing else that the
    provider has lost, and ``python`` the Pythons that it is for. ``module`` is where the installed release asks.
    ``again`` is the first release from there on that asks once more, though it is older by its day than those that do
    not. ``verb`` is what it does else than to ask. ``tells`` is the patch release of Python from which on ``teller``, a
    newer release, asks in another way.
    """

    distribution: str
    until: str = ""
    since: str | None = None
    works: str | None = None
    before: str | None = None
    caps: str | None = None
    cap: str = ""
    free: str = ""
    python: str = ""
    again: str = ""
    module: str = ""
    verb: str = "asks"
    tells: str = ""
    teller: str = ""

    def said(self) -> str:
        """A sentence about the releases that were read."""
        name = self.distribution
        said = f"{name} {self.verb} until {self.until}"
        said += f", from {self.since} on no longer" if self.since else ", its newest release"
        said += f", and for nothing else that is gone from {self.works} on" if self.works != self.since else ""
        said += f", and again in {self.again}" if self.again else ""
        said += f"; {name} {self.before} does not ask yet" if self.before else ""
        said += f"; {name} {self.teller} does so in another way from Python {self.tells} on" if self.tells else ""
        return said + (f"; {name} {self.caps} requires {self.cap}" if self.caps else "")


class Edges(Record):
    """The answer of both sides' releases: the life of the name, how long it is asked for, and how many were read.

    ``provider`` is the one that was found to define what is called, or ``made`` to give the object that is asked, and
    ``consumer`` the one that was found to ask, where the ask did not know it.
    """

    provider: str | None = None
    consumer: str | None = None
    life: Any = None
    made: bool = False
    asking: Asking | None = None
    read: Mapping[str, int] = {}


def ask(case: Case) -> Ask | None:
    """The question that a case puts to releases; ``None`` where they cannot answer it."""
    who = case.who
    asked = _hook(case) if who.inside else _asked(case)
    if asked is None or not _is_answerable(case, asked.kind):
        return None
    others = _others(case, asked.kind)
    made: Ask = asked.replace(
        consumer=who.consumer,
        provider="" if who.inside or (who.python and not who.provider) else who.provider,
        others=others,
        module=asked.module or _module(case),
        brings=case.names.stands_in.get(case.said.get("module", ""), ""),
        versions=_versions(case, others),
        python=case.python,
        system=str(case.snapshot.platform.get("system") or "linux"),
        **_place(case),
    )
    return made


def _is_answerable(case: Case, kind: str) -> bool:
    """Whether it is known who was asked, or who may have asked in a way that tells whom."""
    who = case.who
    return bool(who.provider or who.python) or (kind not in NAMED and bool(who.consumer or who.left))


def _versions(case: Case, others: Sequence[str]) -> dict[str, str]:
    """The installed versions of all who are concerned, where they are known."""
    names = (case.who.provider, case.who.consumer, *others)
    return {name: have for name in names if name and (have := case.version(name))}


def _hook(case: Case) -> Ask | None:
    """The question about the name by which the consumer's own import hook should have made the module."""
    module = case.said.get("module", "")
    wanted = next((word for end, word in case.names.loaders.items() if module.endswith(f".{end}")), None)
    return Ask(kind="lacking", module=module.rpartition(".")[0], name=wanted) if wanted else None


def _place(case: Case) -> dict[str, str]:
    """The module and the statement of the one that asked, or asks the classes beside its own, innermost."""
    consumer = case.who.provider if case.clue.family == "super" else case.who.consumer
    place = next((one for one in case.who.seen if consumer and one.distribution == consumer), None)
    return {"inside": place.module, "code": place.frame.code or ""} if place else {}


def _others(case: Case, kind: str) -> list[str]:
    """Who else may be meant: what the message names, what is installed where that is little, and what is required."""
    who = case.who
    both = who.consumer and (who.provider or who.python)
    if who.own or (both and kind != "attribute"):
        return []
    packages, consumer = case.snapshot.packages, case.snapshot.packages.get(who.consumer or "")
    lines = required_by(consumer, case.snapshot) if consumer else ()
    required = [one[0] for one in map(parse, lines) if one and one[0] in packages]
    few = packages if len(packages) <= _FEW else ()
    return list(dict.fromkeys([*who.left, *who.others, *few, *required]))


def _module(case: Case) -> str:
    """The module of what is asked for; where a message announces a change, the package whose exception it is."""
    exception = (case.clue.failure.exception or "") if case.clue.failure is not None else ""
    raiser = exception.partition(".")[0] if "." in exception and case.clue.family == "announced" else ""
    return case.said.get("module", raiser)


def _asked(case: Case) -> Ask | None:
    """The question without its sides, by the family of the message."""
    said, name = case.said, case.said.get("name", "")
    family = case.clue.family
    if family == "missing-module":
        return Ask(kind="module")
    if family == "super":
        return Ask(kind="super", name=name)
    if family == "signature":
        return _called(case, said["function"]) if said.get("function") else None
    return _by_name(case, name) if name else None


def _by_name(case: Case, name: str) -> Ask | None:
    """An attribute, a name of a module, or a name that a sentence announces to be changed."""
    family = case.clue.family
    if family == "missing-attribute":
        module, _, owner = case.said["owner"].rpartition(".")
        return Ask(kind="attribute", module=module, owner=owner, name=name)
    if _module(case):
        return _of_module(case, name) if family in _OF_MODULE else None
    words = _constant(case.clue.said) if family == "announced" else ""
    return Ask(kind="words", name=name, words=words) if words else None


def _of_module(case: Case, name: str) -> Ask:
    """A name that is imported, or read from a module that is there."""
    part = "part" if "has no attribute" in case.clue.said else "name"
    return Ask(kind=part if case.who.provider or case.who.python else "word", name=name)


def _constant(message: str) -> str:
    """The longest piece of a message that its author wrote as it is; empty where none is long enough to be found."""
    pieces = (piece.strip() for piece in re.split(r"""[`'"][^`'"]*[`'"]|\S*\d\S*|\n""", message))
    longest = max(pieces, key=len)
    return longest if longest.count(" ") >= _FEWEST_GAPS else ""


def _called(case: Case, function: str) -> Ask | None:
    """Where a call and a function differ: an argument that is not known, one that is missing, or their number."""
    said, text = case.said, case.clue.said
    if "keyword argument" in text and "missing" not in text:
        return Ask(kind="keyword", name=function, argument=said.get("name") or said.get("named", ""))
    if " missing " in text:
        return Ask(kind="required", name=function, argument=said.get("name", ""))
    given = _GIVEN.search(case.clue.failure.message if case.clue.failure is not None else text)
    return Ask(kind="count", name=function, given=int(given[1])) if given else None
