"""Whose code the frames of a traceback are in. Pure."""

from __future__ import annotations

from typing import Any

from envdoctor.engine.installed_requirements import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.model import Snapshot


def last_own_place(error_text: Any) -> dict[str, str]:
    """The file and line of the user's own code that a traceback was in last."""
    return next(({"file": one.file, "line": str(one.line)} for one in own_frames(error_text)), {})


def own_frames(error_text: Any) -> Iterator[Any]:
    """The frames in the user's own code, the last one first."""
    for frame in (one for failure in reversed(error_text.failures) for one in reversed(failure.frames)):
        name = getattr(frame, "file", "")
        if name and name[0] != "<" and not (frame.installed or frame.standard_library) and frame.line is not None:
            yield frame


def packages_in(error_text: Any) -> set[str]:
    """The import names of the installed packages that a traceback runs through."""
    frames = [frame for failure in error_text.failures for frame in failure.frames]
    return {frame.package for frame in frames if getattr(frame, "installed", False) and frame.package}


def not_named(error_text: Any, snapshot: Snapshot) -> set[str]:
    """Those of them that are not the name of a distribution."""
    return {name for name in packages_in(error_text) if normalise(name) not in snapshot.packages}


def failed_in(error_text: Any, compiled: Mapping[str, Any]) -> str | None:
    """The import name of the installed package whose code did what a rule says of the project's own code.

    ``None`` where a failure ends in the project's code, or in that of a package that the rule's names belong to, which
    the project may have called; and for a rule that asks for nothing in source. Where a rule names a package of its own
    distributions, others that it names are no such package.
    """
    roots = {name.partition(".")[0] for name in _needed_in_source(compiled["when"])}
    about = {name.replace("-", "_") for name in _distributions(compiled["when"])}
    named = {root for root in roots if root.lower() in about} or roots
    last = [failure.frames[-1] for failure in error_text.failures if failure.frames] if named else []
    packages = [frame.package if getattr(frame, "installed", False) else None for frame in last]
    return packages[-1] if packages and all(one and one not in named for one in packages) else None


def _distributions(condition: Sequence[Any]) -> set[str]:
    """The distributions that a compiled condition names."""
    operator, *parts = condition
    if operator in {"packages", "present"}:
        return set(parts[0])
    return set().union(*map(_distributions, parts)) if operator in {"all", "any"} else set()


def _needed_in_source(condition: Sequence[Any]) -> set[str]:
    """The dotted names one of which source has to use for a compiled condition to hold; none where it can without."""
    operator, *parts = condition
    if operator == "source":
        return set(parts[1])
    needed = [_needed_in_source(part) for part in parts] if operator in {"all", "any"} else []
    return set().union(*needed) if operator == "all" or all(needed) else set()
