"""Which start method will be used: what the interpreter does by default, what the project sets, what a library does.

The three are separate facts, and a finding shows each that decided. Pure.
"""

from __future__ import annotations

from envdoctor.facts import SOURCE
from envdoctor.model import Location, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Union

    from envdoctor.facts import Kind
    from envdoctor.model import Snapshot

    Seen = tuple[str, object, str]
    #: How a library chooses: ``"default"`` follows the program; else the methods it takes, best first.
    Chooses = Union[str, Sequence[str], None]

_SETTERS = "**.set_start_method"
_FOLLOWS = "default"
_DEFAULT = "the default of that Python on that platform"


def asked(
    snapshot: Snapshot, library: str | None = None, chooses: Chooses = None
) -> Iterator[tuple[Kind[Any, Any], str]]:
    """The uses of a project's source that decide it, where nothing else does."""
    if not (_chosen(library, chooses) or any(map(snapshot.start_method.get, ("children", "stated")))):
        yield SOURCE, _SETTERS


def _chosen(library: str | None, chooses: Chooses) -> bool:
    return library is not None and chooses is not None and chooses != _FOLLOWS


def in_use(snapshot: Snapshot, library: str | None = None, chooses: Chooses = None) -> tuple[str | None, list[Seen]]:
    """The start method that a program, or a library in it, will use, and the evidence for it; ``None`` for unknown."""
    if library and chooses and _chosen(library, chooses):
        methods = [chooses] if isinstance(chooses, str) else list(chooses)
        method: str | None = "spawn" if snapshot.platform.get("system") == "win32" else methods[0]
        return method, [("start_method." + library, method, f"{library} chooses it, whatever the program sets")]
    for name, source in (("children", "the children of the process"), ("stated", "--start-method")):
        method = snapshot.start_method.get(name)
        if method:
            return method, [("start_method", method, source)]
    default = snapshot.start_method.get("default")
    seen: list[Seen] = [("start_method.default", default, _DEFAULT)]
    found = _set_by_project(snapshot)
    if found:
        return found[0], [*(seen if default else []), ("start_method.set", *found)]
    return default, [("start_method", default, _DEFAULT)] if default else []


def _set_by_project(snapshot: Snapshot) -> tuple[str, str] | None:
    """The method that the project's source sets, and where, if it sets one and no other."""
    answer = snapshot.facts.ask(SOURCE, _SETTERS)
    if isinstance(answer, Unknown):
        return None
    places: dict[str, str] = {}
    for use in answer.found:
        given = [
            *use.get("arguments", ())[:1],
            *([use["keywords"]["method"]] if "method" in use.get("keywords", {}) else []),
        ]
        for argument in given:
            if use["kind"] == "call" and isinstance(argument.get("value"), str):
                places.setdefault(
                    argument["value"], Location(use["file"], use.get("row", use["line"]), use.get("cell"))
                )
    return next(iter(places.items())) if len(places) == 1 else None
