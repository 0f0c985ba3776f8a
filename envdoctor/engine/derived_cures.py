"""The ways out that follow from a derived diagnosis, both sides, none of them tried. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.cure_words import CURES
from envdoctor.engine.derived_case import filled
from envdoctor.engine.installed_requirements import parse
from envdoctor.model import Action, Remedy
from envdoctor.remedy_kinds import verb_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from envdoctor.engine.derived_case import Case


def remedies(case: Case) -> list[Remedy]:
    """The remedies of a case, in the order of its words, each once."""
    fields = case.fields()
    offered = (remedy for cure in case.words.cures for remedy in _SPECIAL.get(cure, _stated)(case, cure, fields))
    made: dict[tuple[str | None, ...], Remedy] = {}
    for one in offered:
        made.setdefault((one.requirement, one.package, None if one.requirement else one.text), one)
    return list(made.values())


def _stated(case: Case, cure: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    """A cure as its row of the table says it."""
    kind, party, bound, effect = CURES[cure]
    if kind == "change":
        yield from _by_hand(case, effect, fields)
        return
    name = _party(case, party)
    if name is None:
        return
    effect = effect.replace("{name}", name)
    had = _releases_with_it(case, name, bound) if party == "asked" else None
    if had is not None:
        if had:
            yield _remedy(kind, requirement=f"{name}{had}", effect=effect)
    elif kind == "reinstall":
        if name in case.snapshot.packages:
            yield _remedy(kind, package=name, effect=effect)
    elif case.asking and case.asking.distribution == name:
        yield from _of_asker(case.asking, bound)
    elif party == "python":
        yield from _other_python(case, kind, bound, effect)
    else:
        yield from _moved(kind, name, _limit(bound, case.version(name)), effect, bound)


def _by_hand(case: Case, effect: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    """What to change, unless the words need a distribution that is not known."""
    if case.who.provider or "{asked}" not in effect:
        yield _remedy("change", text=filled(effect, fields))


def _party(case: Case, party: str) -> str | None:
    """The distribution that a cure is about; ``None`` where it is not known, or asked itself by mistake."""
    who = case.who
    if party == "asked" and who.provider == who.consumer and not who.inside:
        return None
    return {"asker": who.consumer, "asked": who.provider, "python": "python"}[party]


def _releases_with_it(case: Case, name: str, bound: str) -> str | None:
    """A specifier for the releases on one side that have what is asked for, empty where there are none.

    ``None`` where no release is known to have lost or gained it, or the cure is not about a side.
    """
    left, came = case.left(name), case.came(name)
    if not left and not came:
        return None
    return {"above": f">={came}" if came else "", "below-major": left}.get(bound)


def _of_asker(asking: Any, bound: str) -> Iterator[Remedy]:
    """The releases of the one that asks that are known not to, or to keep the other side out."""
    name, until = asking.distribution, asking.until
    if bound == "above" and asking.works:
        effect = f"{name} {asking.verb} until {until}" + (f"; for Python {asking.python}" if asking.python else "")
        below = f",<{asking.again}" if asking.again else ""
        yield _remedy("upgrade", requirement=f"{name}>={asking.works}{below}", effect=effect)
    elif bound == "above" and asking.caps:
        yield _remedy("upgrade", requirement=f"{name}>={asking.caps}", effect=f"it asks too, and requires {asking.cap}")
    if asking.before:
        effect = f"without what newer releases of {name} bring: up to {asking.before} it does not ask"
        yield _remedy("downgrade", requirement=f"{name}<={asking.before}", effect=effect)


def _other_python(case: Case, kind: str, bound: str, effect: str) -> Iterator[Remedy]:
    """The side of the version at which it changed, else of the one that is used."""
    limit = case.since or ".".join(case.python.split(".")[:2])
    if limit:
        yield _remedy(kind, requirement=f"python{'<' if bound == 'below' else '>='}{limit}", effect=effect)


def _moved(kind: str, name: str, limit: str | None, effect: str, bound: str) -> Iterator[Remedy]:
    """A distribution on another side of its version; in words, where the version to leave is not known."""
    if limit:
        at = "build" if bound == "tool" else "run"
        yield _remedy(kind, requirement=f"{name}{limit}", effect=effect, at=at)
    elif bound == "above":
        yield _remedy("change", requirement=name, text=f"use a newer release of {name}", effect=effect)


def _limit(bound: str, version: str) -> str | None:
    """The specifier for a side of a version: above it, below it, or below its leading number; ``None`` if not known.

    The leading number is the first that is not zero: below 2.1 is ``<2``, below 0.21.3 is ``<0.21``.
    """
    if bound in {"above", "below"} or not version:
        return f"{'>' if bound == 'above' else '<'}{version}" if version else None
    release = re.match(r"\d+(?:\.\d+)*", version)
    if release is None:
        return None
    numbers = release[0].split(".")
    leading = next((n for n, number in enumerate(numbers) if int(number)), None)
    return None if leading is None else "<" + ".".join(numbers[: leading + 1])  # nothing is below 0.0


def _required(case: Case, cure: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    """What the metadata of those concerned asks for and does not have."""
    for owner, line, _name in case.unmet():
        requirement = _plain(line.partition(";")[0])
        if requirement:
            yield _remedy("install", requirement=requirement, effect=f"the metadata of {owner.name} asks for it")


def _text_requires(case: Case, cure: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    """The requirement that the text itself states: a command only for what is known, since anybody can write a text."""
    named = case.who.provider if "distribution" in case.said else None
    stated = _plain(case.said.get("requirement", "")) or named or ""
    parsed = parse(stated) if stated else None
    if parsed is None or (parsed[0] in case.snapshot.packages and not parsed[1]):
        return
    yield from _installed(case, parsed[0], stated, "the text asks for it")


def _install(case: Case, cure: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    name = case.who.provider
    if name:
        yield from _installed(case, name, name, CURES[cure][3].replace("{name}", name))


def _installed(case: Case, name: str, requirement: str, effect: str) -> Iterator[Remedy]:
    """Install what the environment or the vocabulary knows; of anything else, say what to look at first."""
    if case.names.known(name) or any(required == name for _, _, required in case.unmet()):
        yield _remedy("install", requirement=requirement, effect=effect)
    else:
        text = f"find out which distribution is meant; by its name it may be {name}, if that is what you expect"
        yield _remedy("change", requirement=requirement, text=text)


def _plain(line: str) -> str:
    """A requirement without spaces; empty where it is none, or one with an address."""
    text = "".join(line.split()).strip(",")
    return text if text and "@" not in text and ":" not in text and parse(text) else ""


def _stand_in(case: Case, cure: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    name = next((name for name in case.dotted() if name in case.names.stands_in), None)
    if name:
        effect = f"brings {name} back, as far as it goes"
        yield _remedy("install", requirement=case.names.stands_in[name], effect=effect)


def _fitting_python(case: Case, cure: str, fields: Mapping[str, str]) -> Iterator[Remedy]:
    if case.said.get("python"):
        yield _remedy("change", text=f"use a Python that fits {case.said['python']}")


_SPECIAL: Mapping[str, Callable[[Case, str, Mapping[str, str]], Iterator[Remedy]]] = {
    "required": _required,
    "require-it": _text_requires,
    "install-asked": _install,
    "other-release-asked": _install,
    "stand-in": _stand_in,
    "fitting-python": _fitting_python,
}


def _remedy(kind: str, at: str = "run", **fields: Any) -> Remedy:
    """A remedy that nobody has tried, so that it is never called safe."""
    named: dict[str, Any] = {
        f"{key}s": (fields[key],) for key in ("requirement", "package") if kind != "change" and fields.get(key)
    }
    action = Action(verb=verb_of(kind), at=at, **named)
    return Remedy(kind=kind, at=at, action=action, safety="manual" if kind == "change" else "workaround", **fields)
