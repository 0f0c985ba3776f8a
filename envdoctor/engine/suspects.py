"""From what a message says and its frames to who asked, who was asked, and who else is concerned. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.installed_requirements import normalise
from envdoctor.engine.message_names import named_in
from envdoctor.engine.owner_of_name import guessed, in_code
from envdoctor.engine.places import code_of, innermost, of_path, other_than, places
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from envdoctor.engine.families import Clue
    from envdoctor.engine.names import Names
    from envdoctor.engine.places import Owner

#: How many further distributions a finding names, and how many may be left for elimination to tell anything.
MOST_OTHERS, MOST_LEFT = 2, 3
#: Families whose `distribution` is the one that asked, as the one that was being built.
_OF_ASKER = frozenset({"setup", "build"})
#: Families whose message is of Python itself.
_OF_PYTHON = frozenset({"descriptor", "syntax", "python2", "newer-python"})
#: Families whose `path` is a file of the one that asked.
_OF_FILE = frozenset({"symbol", "libc", "library", "architecture", "display"})
#: A keyword that nobody takes, and a statement that passes on whatever it was given.
_KEYWORD, _PASSED_ON = re.compile(r"keyword argument"), re.compile(r"[(,]\s*\*\*\w+")
#: Names of modules this short are those that a file gave them, such as ``np``.
_ALIAS = 3
#: Families whose message names the class of an object, which anybody may have made.
_OF_OBJECT = frozenset({"missing-attribute", "read-only"})
#: Families whose message is about an import.
_IMPORTS = frozenset({"missing-module", "missing-name"})
#: The path of a file that is of no library.
_OWN_FILE = re.compile(r"(?:/|[A-Za-z]:[\\/])(?!.*(?:-packages|[\\/]lib(?:64)?[\\/]))")
#: Frames of these only carry a call on.
_CARRIERS = frozenset(
    {"importlib", "runpy", "threading", "contextlib", "functools", "_bootstrap", "_bootstrap_external"}
)
_CARRYING = frozenset({"pluggy", "wrapt", "decorator"})
#: Frames of these build something else.
_HOOKS = re.compile(r"pyproject_hooks|pep517|_in_process|pip-build-env|build_meta\.py")
_LOADS = re.compile(
    r"\b(?:load|loads|unpickle|load_checkpoint|restore|load_state|read_pickle)\w*\(|Unpickler|find_class"
)


class Parties(Record):
    """Who asked (``consumer``), who was asked (``provider``), and what else the failure shows.

    ``python`` says that the provider is the interpreter or its standard library; ``own`` is the frame of the user's
    own code that asked; ``inside`` says that a distribution asked itself; ``loading`` that a saved file was read;
    ``others`` are further distributions that the message names, or that bring the same module; ``left`` those that
    remain where an environment of few holds nothing else; ``alike`` those that have an import name of the two as well,
    where it is not known what is installed.
    """

    consumer: str | None = None
    provider: str | None = None
    python: bool = False
    own: Any = None
    inside: bool = False
    loading: bool = False
    seen: Sequence[Owner] = ()
    others: Sequence[str] = ()
    left: Sequence[str] = ()
    alike: Sequence[str] = ()


def parties(clue: Clue, names: Names, seen: Mapping[str, Any], *, complete: bool = False) -> Parties:
    """Who is concerned by a clue.

    ``seen`` has what was found in files: ``imports`` by module, ``classes``, ``askers``. ``complete`` says that
    nothing is installed but what ``names`` has as installed.
    """
    around = _frames(clue, names)
    asked, python = _asked(clue, names, around, seen)
    callee = _called(clue, names, around, asked)
    asked, python = callee, python and callee == asked
    consumer, own, inside = _asking(clue, names, around, asked)
    askers = seen.get("askers", {}).get((clue.groups.get("module", ""), clue.groups.get("name")), [])
    consumer = consumer or _supposed(clue, askers, own)
    line, used = in_code(names, around, seen) if _is_of_line(clue, around, asked, python=python) else (None, [])
    if asked is None and not python:
        asked, python = (line, False) if line else _beside(around, consumer, names)
    named = _without([*_raiser(clue, names), *askers, *named_in(_message(clue), names), line or ""], consumer, "")
    asked = asked or next(iter(named), None)
    open_still = complete and _is_open(clue, names, consumer, asked, own)
    named += [*_supposed_plugin(clue, names), *names.called(consumer, asked)]
    rivals = names.rivals(clue.groups.get("module", ""))
    others = _without([*_others(clue, names, around, seen, asked), *named, *rivals], consumer, asked)
    others = others[:MOST_OTHERS]
    return Parties(
        consumer=consumer,
        provider=asked,
        python=python,
        own=own,
        inside=inside or consumer == (asked or ""),
        loading=_LOADS.search("\n".join(map(code_of, around))) is not None,
        seen=around,
        others=others,
        left=_left(names, {consumer, asked, *others}, used) if open_still else (),
        alike=_without([*names.alike(consumer), *names.alike(asked)], consumer, asked, *others),
    )


def _is_of_line(clue: Clue, around: Sequence[Owner], asked: str | None, *, python: bool) -> bool:
    """Whether the failing line may say who was asked: nobody else is known but the one that failed."""
    is_open = asked in {None, around[0].distribution if around else None}
    return is_open and (not python or clue.family in _OF_OBJECT)


def _others(
    clue: Clue, names: Names, around: Sequence[Owner], seen: Mapping[str, Any], asked: str | None
) -> Sequence[str]:
    """Whose the name may be besides, where the one that was asked is one of them."""
    owners = guessed(clue, names, around, seen) if asked else []
    return owners if asked in owners else ()


def _frames(clue: Clue, names: Names) -> list[Owner]:
    """Whose code each frame is in, without the frames of what builds a distribution."""
    return [one for one in places(clue.failure, names) if not (clue.built and _HOOKS.search(one.frame.file))]


def _supposed(clue: Clue, askers: Sequence[str], own: Any) -> str | None:
    """Who asked, where no frame shows it: what was being built, or the first whose files ask for the name."""
    return clue.built or next(iter(askers), None) if own is None else None


def _supposed_plugin(clue: Clue, names: Names) -> list[str]:
    """The distribution that a plugin's name may mean besides, where it is not known what is installed."""
    called = _called_after(clue, names)
    plain = names.known(clue.groups.get("plugin", "")) in {None, normalise(clue.groups.get("plugin", ""))}
    return [called] if called and plain and not names.installed else []


def _is_open(clue: Clue, names: Names, consumer: str | None, asked: str | None, own: Any) -> bool:
    """Whether a side is not known that can be among what is installed."""
    if own is not None:
        return asked is None and clue.family != "pickle"
    return consumer is None or consumer in names.installed


def _without(names: Iterable[str], *known: str | None) -> list[str]:
    """The names in their order, each once, but for those that are known already."""
    return [name for name in dict.fromkeys(names) if name not in known]


def _message(clue: Clue) -> str:
    """The exception with its message, or the line that said it."""
    if clue.failure is None:
        return clue.said
    return f"{clue.failure.exception or ''}: {clue.failure.message[:2000]}"


def _left(names: Names, sure: Iterable[str | None], used: Sequence[str]) -> list[str]:
    """The other installed distributions, where at most one side is sure and so few are left that they have the other.

    Of many, the only one that is called after the one that is sure, or the few that the failing file uses.
    """
    installed = set(names.installed)
    rest = [name for name in used or names.installed if name not in sure]
    known = [name for name in sure if name]
    after = [one for one in rest if any(one.startswith(f"{name}-") or one.endswith(f"-{name}") for name in known)]
    if len(after) == len(known) == 1:
        return after  # a plugin is called after what it extends
    return rest if len(installed & {*sure}) <= 1 and len(rest) <= MOST_LEFT else []


def _raiser(clue: Clue, names: Names) -> list[str]:
    """Whose exception it is, or whose words."""
    exception = (clue.failure.exception or "") if clue.failure is not None else ""
    module = exception.rpartition(".")[0] if clue.family != "hook" else ""
    name = names.distribution(module) if module and module[0] != "_" else names.speaker(_message(clue))
    return [name] if name else []


# -- who was asked --------------------------------------------------------------------------------------------------


def _asked(clue: Clue, names: Names, around: Sequence[Owner], seen: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The distribution that should have what is missing, and whether it is the interpreter instead."""
    said = clue.groups
    if clue.family in {"super", "missing-file"}:
        return _having(clue, names, around), False
    if clue.family in _OF_PYTHON or names.method(said.get("owner", ""), said.get("name", "")):
        return None, True
    named = _named(clue)
    if named:
        return _meant(named[0], clue, names), False
    module = said.get("module") or _module_of(said, around, seen, names)
    raising = _announcing(clue, names, around, module)
    if raising:
        return raising, False
    if module:
        return (None, False) if _is_own(clue, module, around, names) else _of_module(module, names)
    owner = _speaking(clue, names) or next(iter(guessed(clue, names, around, seen)), None)
    return (None, True) if owner == "python" else (owner, False)


def _having(clue: Clue, names: Names, around: Iterable[Owner]) -> str | None:
    """The distribution of the method that calls ``super()``, or of the file that is missing."""
    place = innermost(around) if clue.family == "super" else None
    return place.distribution if place else of_path(clue.groups.get("path", ""), names)


def _called(clue: Clue, names: Names, around: Sequence[Owner], asked: str | None) -> str | None:
    """The distribution of a function whose caller only passes on the keywords that somebody further out gave.

    That of the innermost frame, where nobody is known to have the function; nobody, where it is only known by a name
    that the failing statement does not say.
    """
    place = around[0] if around else None
    code = code_of(place)
    if place is None or not _passes_on(clue, code):
        return asked
    function = clue.groups.get("function", "")
    said = "." in function or re.search(rf"\b{re.escape(function)}\b", code) is not None
    if asked is None:
        return place.distribution if said or function == "__init__" else None
    near = asked in names.installed or asked in {one.distribution for one in around}
    return asked if said or near else None


def _passes_on(clue: Clue, code: str) -> bool:
    """Whether a statement fails for a keyword, and passes on keywords that it was given itself."""
    is_keyword = clue.family == "signature" and _KEYWORD.search(clue.said) is not None
    return is_keyword and _PASSED_ON.search(code) is not None


def _named(clue: Clue) -> re.Match[str] | None:
    """The name of the requirement or distribution that the text says is missing."""
    said = clue.groups
    given = said.get("requirement") or ("" if clue.family in _OF_ASKER else said.get("distribution", ""))
    return re.match(r"[\w.-]+", given)


def _announcing(clue: Clue, names: Names, around: Iterable[Owner], module: str | None) -> str | None:
    """Whose code raises what announces its own change, or that of a module that nobody knows by this name: an alias."""
    place = innermost(around) if clue.family == "announced" else None
    raises = code_of(place).startswith("raise ")
    known = module and names.known(module.partition(".")[0])
    named = module or "name" in clue.groups
    return place.distribution if place is not None and raises and named and not known else None


def _is_own(clue: Clue, module: str, around: Sequence[Owner], names: Names) -> bool:
    """Whether a module that the user's own code imports is a file of the user's own, and hides no other one."""
    if clue.family not in _IMPORTS or names.standard(module) or names.known(module.partition(".")[0]):
        return False
    return all(one.own or one.standard for one in around) and _OWN_FILE.match(clue.groups.get("path", "")) is not None


def _of_module(module: str, names: Names) -> tuple[str | None, bool]:
    """The distribution of a module, or of the one that it is an alias or a copy of; and whether it is Python's own."""
    inner = module.partition(".packages.")[2]
    module = inner if names.distribution(inner) in names.installed else module
    return names.distribution(module), names.standard(module)


def _speaking(clue: Clue, names: Names) -> str | None:
    """Who announces its own change, or whose hook it is: the first word of a hook's name is its owner's."""
    if clue.family == "hook":
        return names.distribution(clue.groups["name"].partition("_")[0])
    return next(iter(_raiser(clue, names)), None) if clue.family == "announced" else None


def _meant(word: str, clue: Clue, names: Names) -> str | None:
    """The distribution that a word means; a sentence that anybody may write must name one that is known."""
    return names.known(word) or (None if clue.family in {"stated", "announced", "voice"} else normalise(word))


def _module_of(said: Mapping[str, str], around: Sequence[Owner], seen: Mapping[str, Any], names: Names) -> str | None:
    """The module that a class, a function or a name in the failing line was imported from, as the file says."""
    owner, function = said.get("owner", ""), said.get("function", "")
    if "." in owner:
        return owner.rpartition(".")[0]
    place = innermost(around)
    if place is None:
        return None
    imported: Mapping[str, str] = seen.get("imports", {}).get(place.module, {})
    called = _called_on(function or said.get("name", ""), place.frame.code or "")
    words = (owner, function.partition(".")[0], called)
    known = names.known(called)
    if names.installed:
        is_module = known in names.installed
    elif re.search(r"[A-Z]\w*(?:\.__init__)?$", function):  # a class, which hardly anything else has
        is_module = known is not None or len(called) > _ALIAS
    else:
        is_module = known is not None and "." not in function  # a method is called on a variable
    return next((imported[word] for word in words if word in imported), called if is_module else None)


def _called_on(name: str, code: str) -> str:
    """The first name of the chain that a function or attribute is read from in a statement; empty if there is none."""
    head, _, last = name.rpartition(".")
    if last == "__init__":
        last = head.rpartition(".")[2] or r"[A-Z]\w*"
    found = re.search(rf"(?<![\w.])(\w+)(?:\.\w+)*\.{last}\b", code) if last.isidentifier() or "[" in last else None
    return found[1] if found else ""


# -- who asked --------------------------------------------------------------------------------------------------------


def _asking(clue: Clue, names: Names, around: Sequence[Owner], asked: str | None) -> tuple[str | None, Any, bool]:
    """The distribution, or the frame of own code, that asked; and whether nobody but the asked one did."""
    said = _stated(clue, names)
    if said:
        return said, None, False
    if clue.family in _IMPORTS and _imported_itself(around, asked):
        return asked, None, True
    if clue.family == "super":  # the class may be of anybody, but it is not the caller's
        return other_than(asked, around), None, False
    carried = _CARRYING if clue.family == "hook" else ()
    outside = _outside((one for one in around if one.distribution not in carried), asked)
    if outside is not None:
        return outside.distribution, outside.frame if outside.own else None, False
    inside = any(place.distribution for place in around)
    return (asked if inside else _described(clue, names)), None, inside


def _outside(around: Iterable[Owner], asked: str | None) -> Owner | None:
    """The innermost frame in own code, or in a distribution other than the one that was asked."""
    return next((one for one in around if not one.standard and (one.own or one.distribution != asked)), None)


def _stated(clue: Clue, names: Names) -> str | None:
    """Who asked, where the message states it: by name, or by one of its files."""
    said = clue.groups
    for key in ("importer", "plugin", "maker"):
        if said.get(key):
            called = _called_after(clue, names)
            return called if called in names.installed else names.known(said[key]) or names.distribution(said[key])
    given = said.get("consumer") or (said.get("distribution") if clue.family in _OF_ASKER else None)
    found = _meant(given, clue, names) if given else None
    return found or (of_path(said["path"], names) if "path" in said and clue.family in _OF_FILE else None)


def _called_after(clue: Clue, names: Names) -> str | None:
    """The name that a plugin's distribution may have besides: that of the one it extends, and its own."""
    plugin, owner = clue.groups.get("plugin", ""), clue.groups.get("name", "").partition("_")[0]
    if clue.family != "hook" or "." in plugin or not plugin or plugin.startswith(owner):
        return None
    return normalise(f"{owner}-{plugin}")


def _described(clue: Clue, names: Names) -> str | None:
    """Whose class a message of Python's own machinery describes."""
    module = clue.groups.get("module") if clue.family == "descriptor" else None
    return names.distribution(module) if module else None


def _imported_itself(around: Sequence[Owner], asked: str | None) -> bool:
    """Whether the innermost frame is an import in the distribution that should have the name.

    A function that answers for missing names, or an exception that is raised by hand, speaks for whoever called it.
    """
    place = innermost(around)
    if place is None or asked is None or place.distribution != asked:
        return False
    frame = place.frame
    return "getattr" not in (frame.function or "") and not (frame.code or "").startswith("raise")


def _beside(around: Iterable[Owner], consumer: str | None, names: Names) -> tuple[str | None, bool]:
    """Without a name in the message: the next distribution in the frames, or the library of Python beside it.

    Where no frame is of another one, that which the consumer extends.
    """
    beside_library = False
    for place in around:
        if place.distribution and place.distribution not in {consumer, *_CARRYING}:
            return place.distribution, False
        beside_library |= place.standard and place.module.partition(".")[0] not in _CARRIERS
    return names.extended(consumer or ""), beside_library
