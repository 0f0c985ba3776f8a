"""Targets on this machine that are read through facts: another interpreter, a root file system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdoctor.collector import NotKnownError
from envdoctor.model import Unknown
from envdoctor.targets.assemble import recorded, snapshot
from envdoctor.targets.interpreter import ask
from envdoctor.targets.root import facts_of_root, module_in_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.model import Snapshot

_NOTHING: dict[str, list[str]] = {"env": [], "module": [], "system": []}


def examine_interpreter(executable: str, wanted: Mapping[str, Sequence[str]] | None = None) -> Snapshot:
    """Another interpreter, asked by running the collector in it.

    ``wanted`` lists the keys that rules ask of it, by kind of fact; others are unknown afterwards.
    """
    facts = ask(executable, wanted or _NOTHING)
    python = facts["python"]
    target = {"kind": "interpreter", "path": python["prefix"], "executable": python["executable"]}
    asked = set((wanted or _NOTHING).get("env", ()))
    asks = recorded(facts)
    variables = facts.get("env", {})
    asks["env"] = lambda name: variables.get(name) if name in asked else Unknown(reason="it was not asked for")
    return snapshot(facts, target, asks, python["prefix"])


def examine_root(directory: str, wanted: Mapping[str, Sequence[str]] | None = None) -> Snapshot:
    """A root file system, of which nothing is executed. ``wanted`` is of no use here: files say what they say."""
    del wanted
    facts = facts_of_root(directory)
    python = facts["python"]
    target: dict[str, Any] = {"kind": "root", "path": directory, "interpreter": python.get("executable")}
    others = facts.get("other_interpreters")
    if others:
        target["other_interpreters"] = others

    def module(name: str) -> Any:
        try:
            return module_in_root(facts, name)
        except NotKnownError as error:
            return Unknown(reason=str(error))

    asks = {**recorded(facts), "module": module}
    return snapshot(facts, target, asks, directory)
