"""Whose code the frames of a failure, and the files that a message names, are. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.installed_requirements import normalise
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from envdoctor.engine.names import Names

#: Directories of people's own programs, which a shortened path does not tell from a distribution's.
_OWN = frozenset(
    (  # noqa: SIM905 - words
        "app apps bin code core examples lib main model models notebooks project python scripts source src test tests "
        "tmp tools train user users utilities utils workspace home root mnt data opt content kaggle"
    ).split()
)
_IN_SITE = re.compile(r"(?:site|dist)-packages[/\\]+(?P<part>[\w.-]+)(?:[/\\]+(?P<next>\w+))?")
#: How paths begin that somebody shortened; the last two may be a user's own as well.
_ELIDED = (".../", "…/", "...\\", "…\\", "../", "~/")
#: Where installers unpack what they build, below the name of a distribution.
_BUILD = re.compile(r"[/\\]pip-(?:install|wheel|build)-\w+[/\\](?P<name>[A-Za-z][\w.-]*?)(?:_[0-9a-f]{32})?[/\\]")
_ENDING = re.compile(r"\.libs$|\.(?:cpython|abi3|so|pyd|cp\d).*$")


class Owner(Record):
    """Whose code a frame is in: a distribution's, the standard library's, or (neither) the user's own."""

    frame: Any
    module: str = ""
    distribution: str | None = None
    standard: bool = False

    @property
    def own(self) -> bool:
        """Whether it is neither of a distribution nor Python's own."""
        return self.distribution is None and not self.standard


def innermost(around: Iterable[Owner]) -> Owner | None:
    """The innermost frame that is not Python's own."""
    return next((one for one in around if not one.standard), None)


def other_than(name: str | None, around: Iterable[Owner]) -> str | None:
    """The innermost distribution among the frames that is not the one so called."""
    return next((one.distribution for one in around if one.distribution not in {name, None}), None)


def code_of(place: Owner | None) -> str:
    """The line of source that a frame shows; empty where it shows none."""
    return (place.frame.code or "") if place is not None else ""


def places(failure: Any, names: Names) -> list[Owner]:
    """Whose code each frame of a failure is in, the innermost first."""
    frames = reversed(failure.frames) if failure is not None else ()
    return [_place(frame, names) for frame in frames if frame.standard_library or not frame.file.startswith("<")]


def _place(frame: Any, names: Names) -> Owner:
    module = frame.module or ""
    built = None if frame.installed or frame.standard_library else _BUILD.search(frame.file)
    if built:
        return Owner(frame=frame, module=module, distribution=normalise(built["name"]))
    if frame.installed:
        name = names.distribution(module)
        return Owner(frame=frame, module=module, distribution=name, standard=name is None)
    if backport := _backport(frame, module, names):
        return Owner(frame=frame, module=module, distribution=backport)
    if frame.standard_library or (names.standard(module) and _shortened(frame.file, module)):
        return Owner(frame=frame, module=module, standard=True)
    return Owner(frame=frame, module=module, distribution=_guessed(frame, module, names))


def _backport(frame: Any, module: str, names: Names) -> str | None:
    """The installed distribution that has a module of the standard library too, where a frame may be of that."""
    if not names.standard(module) or frame.standard_library:
        return None
    return next((one for one in (module, names.stands_in.get(module)) if one in names.installed), None)


def _guessed(frame: Any, module: str, names: Names) -> str | None:
    """The distribution of a frame whose path does not show it, as of those that somebody shortened."""
    top = module.partition(".")[0]
    if not module or not _shortened(frame.file, module):
        return None
    name = names.distribution(module)
    if names.known(top) or name in names.installed or frame.file.endswith(".pyx"):
        return name
    inside = "." in module or "__init__" in frame.file
    return name if inside and frame.file.startswith(_ELIDED[:4]) and top.lower() not in _OWN else None


def _shortened(path: str, module: str) -> bool:
    """Whether a path may be one of a library that somebody shortened, rather than a file of the user's own."""
    return path.startswith(_ELIDED) or ("." in module and not path.startswith(("/", "~")) and path[1:2] != ":")


def of_path(path: str, names: Names) -> str | None:
    """The distribution that a file, such as a shared library, is in, by the name of its directory or its own."""
    found = _IN_SITE.search(path)
    if found:
        below = found["next"] and "." not in found["part"]
        return names.distribution(f"{found['part']}.{found['next']}" if below else _ENDING.sub("", found["part"]))
    parts = [_ENDING.sub("", part) for part in re.split(r"[/\\]", path)]
    known = next((name for part in parts if part and (name := names.known(part))), None)
    if known or not path.startswith(_ELIDED[:4]):
        return known
    return normalise(parts[1]) if re.fullmatch(r"[A-Za-z_]\w*", parts[1]) and len(parts) > 2 else None  # noqa: PLR2004
