"""Targets on this machine that are read through facts: another interpreter; and the answers from a root file system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdoctor.collector import NotKnownError, find_library, libstdcxx_in
from envdoctor.facts import ENV, LIBRARY, MODULE, SYSTEM
from envdoctor.model import Unknown
from envdoctor.probes.file_system import Root
from envdoctor.targets.assemble import recorded, snapshot
from envdoctor.targets.at_hand import project_of
from envdoctor.targets.environment import beside_lock, of_machine
from envdoctor.targets.interpreter import interpreter_facts
from envdoctor.targets.root import module_in_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.facts import Kind
    from envdoctor.model import Snapshot
    from envdoctor.targets.assemble import Ask

_NOTHING: dict[str, list[str]] = {"env": [], "module": [], "system": [], "library": []}


def examine_interpreter(executable: str, wanted: Mapping[str, Sequence[str]] | None = None) -> Snapshot:
    """Another interpreter, asked by running the collector in it.

    ``wanted`` lists the keys that rules ask of it, by kind of fact; others are unknown afterwards.
    """
    facts = interpreter_facts(executable, wanted or _NOTHING)
    python = facts["python"]
    target = {"kind": "interpreter", "path": python["prefix"], "executable": python["executable"]}
    asked = set((wanted or _NOTHING).get("env", ()))
    asks = {**of_machine(), **recorded(facts)}
    variables = facts.get("env", {})
    asks[ENV] = lambda name: variables.get(name) if name in asked else Unknown(reason="it was not asked for")
    found = snapshot(facts, target, asks, python["prefix"])
    project = project_of(python["prefix"])
    return beside_lock(found, project) if project else found


def asks_of_root(facts: dict[str, Any], variables: Mapping[str, str] | None = None) -> dict[Kind[Any, Any], Ask]:
    """Answers from the facts of a root file system and from its files.

    ``variables`` are environment variables that something runs there with.
    """
    root, python = Root(facts["root"]), facts["python"]
    search = (variables or {}).get("LD_LIBRARY_PATH", "")
    known = recorded(facts)

    def module(name: str) -> Any:
        try:
            return module_in_root(facts, name)
        except NotKnownError as error:
            return Unknown(reason=str(error))

    def found(name: str) -> str | None:
        return find_library(name, search, python["base_prefix"], python["executable"], root.host)

    def system(key: str) -> Any:
        if key != "libstdcxx":
            return known[SYSTEM](key)
        library = found("libstdc++.so.6")
        try:
            return libstdcxx_in(root.host(library)) if library else None
        except NotKnownError as error:
            return Unknown(reason=str(error))

    def library(name: str) -> str:
        return "present" if found(name) else "missing"

    return {**known, MODULE: module, SYSTEM: system, LIBRARY: library}
