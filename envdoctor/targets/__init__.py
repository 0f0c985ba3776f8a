"""Where to look. Each kind of target turns its options into a :class:`~envdoctor.model.Snapshot`.

To add a target, write one file with an ``examine`` function and add a row to :data:`TARGETS`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from envdoctor.model import Snapshot

    #: The keys that rules ask of an interpreter, by kind of fact.
    Wanted = Callable[[], Mapping[str, Sequence[str]]]

#: The option that selects a target, and the function ``(value, **options) -> Snapshot`` that examines it.
TARGETS = {
    "python": "envdoctor.targets.environment:named",
    "requirements": "envdoctor.targets.requirements:snapshot_of",
    "root": "envdoctor.targets.root_environments:examine",
    "pid": "envdoctor.targets.process:examine",
    "snapshot": "envdoctor.targets.snapshot_file:snapshot_of",
}


def examine(kind: str | None = None, value: str | None = None, **options: Any) -> Snapshot:
    """The snapshot of one target; without a kind, of the active environment or the running interpreter.

    Raises :class:`~envdoctor.errors.TargetError` where it cannot be examined.
    """
    if kind is None:
        return environment_at_hand(**options)
    from importlib import import_module

    from envdoctor.errors import ProbeError, TargetError

    module, _, function = TARGETS[kind].partition(":")
    if options.get("resolve") and options.get("python_version") is None:
        options["python_version"] = _python_at_hand()
    try:
        snapshot: Snapshot = getattr(import_module(module), function)(value, **options)
    except ProbeError as error:
        raise TargetError(str(error)) from error
    return snapshot


def environment_at_hand(wanted: Wanted = dict, frames: Sequence[str] = ()) -> Snapshot:
    """The snapshot of the environment that is meant where none is named; without one, of the project's lock file.

    ``wanted`` is called where an interpreter has to run.
    ``frames`` are the files of a traceback: where they exist, it is their environment.
    Raises :class:`~envdoctor.errors.TargetError` where there is nothing to examine.
    """
    from envdoctor.targets.at_hand import meant
    from envdoctor.targets.environment import of_choice

    choice = None
    if frames:
        from envdoctor.targets.traced import traced

        choice = traced(frames)
    choice = choice or meant()
    if choice is not None:
        return of_choice(choice, wanted)
    from envdoctor.targets.unnamed import examine as examine_rest

    return examine_rest(wanted)


def _python_at_hand() -> str | None:
    """The version of the environment that is meant where none is named, if there is one."""
    from envdoctor.errors import TargetError
    from envdoctor.talk import say

    try:
        python = environment_at_hand().python
    except TargetError:
        return None
    if "version" not in python:
        return None
    say(f"for Python {python['version']}, which {python.get('prefix')} has: --python-version names another")
    return str(python["version"])
