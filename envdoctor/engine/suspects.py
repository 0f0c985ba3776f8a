"""From the frames of a failure to who asked, who was asked, and in what. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from envdoctor.engine.requirements import normalise
from envdoctor.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from envdoctor.engine.families import Clue
    from envdoctor.engine.names import Names

#: How many further distributions a finding names, and how many may be left for elimination to tell anything.
MOST_OTHERS, MOST_LEFT = 2, 3
#: Directories of people's own programs, which a shortened path does not tell from a distribution's.
_OWN = frozenset(
    (  # noqa: SIM905 - words
        "app apps bin code core examples lib main model models notebooks project python scripts source src test tests "
        "tmp tools train user users utilities utils workspace home root mnt data opt content kaggle"
    ).split()
)
#: Families whose `distribution` is the one that asked, as the one that was being built.
_OF_ASKER = frozenset({"setup", "build"})
#: Families whose message is of Python itself.
_OF_PYTHON = frozenset({"descriptor", "syntax", "python2", "newer-python"})
#: Families whose `path` is a file of the one that asked.
_OF_FILE = frozenset({"symbol", "libc", "library", "architecture"})
#: Families whose message is about an import.
_IMPORTS = frozenset({"missing-module", "missing-name"})
#: Frames of these only carry a call on.
_CARRIERS = frozenset(
    {"importlib", "runpy", "threading", "contextlib", "functools", "_bootstrap", "_bootstrap_external"}
)
_LOADS = re.compile(
    r"\b(?:load|loads|unpickle|load_checkpoint|restore|from_pretrained|load_state|read_pickle)\w*\(|Unpickler|find_class"
)
_BUILDING = re.compile(r"pip-build-env|[/\\]overlay[/\\]|builds-v\d")
_IN_SITE = re.compile(r"(?:site|dist)-packages[/\\]+(?P<part>[\w.-]+)(?:[/\\]+(?P<next>\w+))?")
_ELIDED = (".../", "…/", "...\\", "…\\", "../", "~/")


class Place(Record):
    """Whose code a frame is in: a distribution's, the standard library's, or (neither) the user's own."""

    frame: Any
    module: str = ""
    distribution: str | None = None
    standard: bool = False
    building: bool = False

    @property
    def own(self) -> bool:
        """Whether it is neither of a distribution nor Python's own."""
        return self.distribution is None and not self.standard


def places(failure: Any, names: Names) -> list[Place]:
    """Whose code each frame of a failure is in, the innermost first."""
    found = [_place(frame, names) for frame in reversed(failure.frames)] if failure is not None else []
    return [place for place in found if place is not None]


def _place(frame: Any, names: Names) -> Place | None:
    module = frame.module or ""
    building = _BUILDING.search(frame.file) is not None
    if frame.file.startswith("<") and not frame.standard_library:
        return None
    backport = next((one for one in (module, names.stands_in.get(module)) if one in names.installed), None)
    if frame.installed:
        name = names.distribution(module)
    elif backport and names.standard(module) and not frame.standard_library:
        name = backport
    elif frame.standard_library or (names.standard(module) and _shortened(frame.file, module)):
        return Place(frame=frame, module=module, standard=True, building=building)
    else:
        name = _guessed(frame, module, names)
    return Place(
        frame=frame, module=module, distribution=name, standard=frame.installed and name is None, building=building
    )


def _guessed(frame: Any, module: str, names: Names) -> str | None:
    """The distribution of a frame whose path does not show it, as of those that somebody shortened."""
    top = module.partition(".")[0]
    if not module or not _shortened(frame.file, module):
        return None
    name = names.distribution(module)
    if names.known(top) or name in names.installed:
        return name
    inside = "." in module or "__init__" in frame.file
    return name if inside and frame.file.startswith(_ELIDED[:4]) and top.lower() not in _OWN else None


def _shortened(path: str, module: str) -> bool:
    """Whether a path may be one of a library that somebody shortened, rather than a file of the user's own."""
    return path.startswith(_ELIDED) or ("." in module and not path.startswith(("/", "~")) and path[1:2] != ":")


def of_path(path: str, names: Names) -> str | None:
    """The distribution that a file, such as a shared library, is in, by the name of its directory."""
    found = _IN_SITE.search(path)
    if found:
        part = found["part"]
        module = part.partition(".cpython")[0].partition(".abi3")[0].partition(".so")[0].removesuffix(".libs")
        return names.distribution(f"{module}.{found['next']}" if found["next"] and "." not in part else module)
    parts = [part for part in re.split(r"[/\\]", path) if part not in {"", "...", "…", "lib", "~"}]
    for part in parts:
        module = re.sub(r"\.libs$|\.(?:cpython|abi3|so|pyd|cp\d).*$", "", part)
        if module and (found_name := names.known(module)):
            return found_name
    module = parts[0].removesuffix(".libs") if len(parts) > 1 and path.startswith(_ELIDED[:4]) else ""
    return normalise(module) if re.fullmatch(r"[A-Za-z_]\w*", module) else None


class Parties(Record):
    """Who asked (``consumer``), who was asked (``provider``), and what else the failure shows.

    ``python`` says that the provider is the interpreter or its standard library; ``own`` is the frame of the user's
    own code that asked; ``inside`` says that a distribution asked itself; ``loading`` that a saved file was read;
    ``others`` are further distributions that the message names, or that bring the same module; ``left`` those that
    remain where an environment of few holds nothing else.
    """

    consumer: str | None = None
    provider: str | None = None
    python: bool = False
    own: Any = None
    inside: bool = False
    loading: bool = False
    building: bool = False
    seen: Sequence[Place] = ()
    others: Sequence[str] = ()
    left: Sequence[str] = ()


def parties(clue: Clue, names: Names, seen: Mapping[str, Any], *, complete: bool = False) -> Parties:
    """Who is concerned by a clue.

    ``seen`` has what was found in files: ``imports`` by module, ``classes``, ``askers``. ``complete`` says that
    nothing is installed but what ``names`` has as installed.
    """
    around = places(clue.failure, names)
    asked, python = _asked(clue, names, around, seen)
    consumer, own, inside = _asking(clue, names, around, asked)
    askers = seen.get("askers", {}).get((clue.groups.get("module"), clue.groups.get("name")), [])
    if consumer is None and own is None:
        consumer = clue.built or next(iter(askers), None)
    raiser = _raiser(clue, names)
    if asked is None and not python:
        asked, python = _beside(around, consumer)
    others = [name for name in (raiser, *askers, *_named(clue, names)) if name and name not in {consumer, asked}]
    if asked is None and others:
        asked, others = others[0], others[1:]
    others += [name for name in names.rivals(clue.groups.get("module") or "") if name not in {asked, *others}]
    sure = {name for name in (consumer, asked, *others) if name in names.installed}
    open_ended = complete and len(sure) <= 1 and not (own is not None and asked)
    rest = [name for name in names.installed if name not in sure] if open_ended else []
    return Parties(
        consumer=consumer,
        provider=asked,
        python=python,
        own=own,
        inside=inside or (consumer is not None and consumer == asked),
        loading=any(_LOADS.search(place.frame.code or "") for place in around),
        building=bool(clue.built) or any(place.building for place in around),
        seen=around,
        others=others[:MOST_OTHERS],
        left=rest if len(rest) <= MOST_LEFT else (),
    )


def _raiser(clue: Clue, names: Names) -> str | None:
    """Whose exception it is, or whose words."""
    exception = (clue.failure.exception or "") if clue.failure is not None else ""
    module = exception.rpartition(".")[0]
    text = f"{exception}: {clue.failure.message[:2000]}" if clue.failure is not None else clue.said
    return names.distribution(module) if module and not module.startswith("__") else names.speaker(text)


def _asked(clue: Clue, names: Names, around: Sequence[Place], seen: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The distribution that should have what is missing, and whether it is the interpreter instead."""
    said = clue.groups
    given = said.get("requirement") or (said.get("distribution") if clue.family not in _OF_ASKER else None)
    module = said.get("module") or _module_of(said, around, seen)
    found: str | None = None
    python = clue.family in _OF_PYTHON
    if python:
        pass
    elif given:
        name = re.match(r"[\w.-]+", given)
        found = _meant(name[0], clue, names) if name else None
    elif module:
        found, python = names.distribution(module), names.standard(module)
    elif "symbol" in said:
        owner = names.symbol(said["symbol"])
        found, python = (None if owner in {"python", "system"} else owner), owner == "python"
    elif "object" in said:
        found = _of_object(said["object"], names)
    elif names.method(said.get("owner", ""), said.get("name", "")):
        python = True
    elif "owner" in said:
        owner = said["owner"].rpartition(".")[2]
        owner = seen.get("classes", {}).get(owner) or names.classes.get(owner)
        found = names.present(owner) or owner if owner else None
    return found, python


def _meant(word: str, clue: Clue, names: Names) -> str | None:
    """The distribution that a word means; a sentence that anybody may write must name one that is known."""
    return names.known(word) or (None if clue.family in {"stated", "announced"} else normalise(word))


def _imported_itself(around: Sequence[Place], asked: str) -> bool:
    """Whether the innermost frame is an import in the distribution that should have the name.

    A function that answers for missing names, or an exception that is raised by hand, speaks for whoever called it.
    """
    place = next((one for one in around if not one.standard), None)
    if place is None or place.distribution != asked:
        return False
    frame = place.frame
    return "getattr" not in (frame.function or "") and not (frame.code or "").startswith("raise")


def _of_object(text: str, names: Names) -> str | None:
    """The distribution of what could not be pickled, by the dotted name of its type or its bare name."""
    word = re.search(r"(?:class |function )?'?([A-Za-z_][\w.]*)", text)
    name = word[1] if word else ""
    if "." in name.strip("."):
        module = name.rpartition(".")[0]
        return None if module.startswith(("_", "builtins")) or "<locals>" in text else names.distribution(module)
    return names.known(name)


def _module_of(said: Mapping[str, str], around: Sequence[Place], seen: Mapping[str, Any]) -> str | None:
    """The module that a class, a function or a name in the failing line was imported from, as the file tells."""
    owner = said.get("owner", "")
    if "." in owner:
        return owner.rpartition(".")[0]
    place = next((one for one in around if not one.standard), None)
    if place is None:
        return None
    imported: Mapping[str, str] = seen.get("imports", {}).get(place.module, {})
    function = said.get("function", "").partition(".")[0]
    for word in (owner, function):
        if word and word in imported:
            return imported[word]
    if function:
        called = re.search(
            rf"\b(\w+)(?:\.\w+)*\.{re.escape(said['function'].rpartition('.')[2])}\(", place.frame.code or ""
        )
        if called and called[1] in imported:
            return imported[called[1]]
    return None


def _asking(clue: Clue, names: Names, around: Sequence[Place], asked: str | None) -> tuple[str | None, Any, bool]:
    """The distribution, or the frame of own code, that asked; and whether nobody but the asked one did."""
    said = clue.groups
    given = said.get("consumer") or (said.get("distribution") if clue.family in _OF_ASKER else None)
    meant = _meant(given, clue, names) if given else None
    if said.get("path") and clue.family in _OF_FILE:
        meant = meant or of_path(said["path"], names)
    if meant:
        return meant, None, False
    inside = False
    if clue.family in _IMPORTS and asked and _imported_itself(around, asked):
        return asked, None, True
    for place in around:
        if place.distribution and place.distribution == asked:
            inside = True
        elif place.distribution:
            return place.distribution, None, False
        elif place.own:
            return None, place.frame, False
    module = said.get("module") if clue.family == "descriptor" else None
    found = asked if inside else names.distribution(module) if module else None
    return found, None, inside


def _beside(around: Iterable[Place], consumer: str | None) -> tuple[str | None, bool]:
    """Without a name in the message: the next distribution in the frames, or the library of Python beside it."""
    beside_library = False
    for place in around:
        if place.distribution and place.distribution != consumer:
            return place.distribution, False
        beside_library |= place.standard and place.module.partition(".")[0] not in _CARRIERS
    return None, beside_library


_QUOTED = re.compile(
    r"`(?P<ticked>[A-Za-z][\w-]*)[.`]|\b(?P<dotted>[A-Za-z_]\w*)\.[A-Za-z_]"
    r"|['\"](?P<quoted>[A-Za-z][\w-]*)['\"] "
    r"(?:package|module|library|distribution|extension|plugin|version|is|was|requires|needs)"
    r"|\b(?P<versioned>[A-Za-z][\w-]+)(?:==| v?| version )\d+[.\d]*"
)


def _named(clue: Clue, names: Names) -> list[str]:
    """The distributions that the message of a clue names."""
    return named_in(clue.failure.message if clue.failure is not None else clue.said, names)


def named_in(message: str, names: Names) -> list[str]:
    """The distributions that a message names: in quotes, in a dotted name, or with a version."""
    words = [match[match.lastgroup or 0] for match in _QUOTED.finditer(message[:2000])]
    found = [names.known(word) for word in words if not names.standard(word)]
    return list(dict.fromkeys(name for name in found if name))
