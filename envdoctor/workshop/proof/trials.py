"""From a rule's proof to the trials that have to be run here."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.collector import library_fact, program_fact
from envdoctor.engine.installed_requirements import name_of, requirement_of
from envdoctor.engine.kin import fitted
from envdoctor.engine.versions import within
from envdoctor.engine.wording import fill
from envdoctor.model import Action, Record
from envdoctor.remedy_kinds import KINDS, verb_of
from envdoctor.rulebase.compile import compile_rule
from envdoctor.workshop.cells import matched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.specifiers import SpecifierSet

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.cells import Cell


class TrialEnvironment(Record):
    """An environment to build: an interpreter ``X.Y`` or ``X.Y.Z``, requirements, and what is removed afterwards.

    ``together`` installs exactly these although their metadata refuses each other; ``needs`` is installed besides.
    ``brief`` is for one that may well be impossible: not for long, with ``wheels`` without building what has any, and
    without what is ``loose`` where that is in its way. ``locked`` says that these are all there is. ``until`` is a day
    (``YYYY-MM-DD``): of what is not named, nothing is taken that was published later.
    """

    python: str
    install: Sequence[str] = ()
    absent: Sequence[str] = ()
    together: bool = False
    needs: Sequence[str] = ()
    brief: bool = False
    wheels: bool = False
    loose: Sequence[str] = ()
    locked: bool = False
    until: str = ""


class Trial(Record):
    """One run: build ``place``, type the command for what a remedy ``applies``, write ``files``, run ``script``.

    ``kind`` is ``bad``, ``good``, ``remedy`` or ``severity``; ``measured`` is one that no cell states. ``writer`` is
    another environment, in which ``write`` is run first, in the same directory. ``prepare`` is run in the place before
    anything else is done there. ``installs`` names what of the place the trial itself installs, with ``constraints``
    where it is built. ``machine`` has what the trial needs of the machine. ``examines`` is the kind of defect that
    envdoctor looks for, and ``finding`` what it finds.

    ``raises`` is the failure that is stated, ``recorded`` where a trial that cannot be built was seen instead, and
    ``unbuildable`` why it is not even tried.
    """

    rule: str
    name: str
    kind: str
    place: TrialEnvironment
    script: str
    consumer: str | None = None
    applies: Action | None = None
    files: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    write: str | None = None
    writer: TrialEnvironment | None = None
    prepare: str | None = None
    installs: Sequence[str] = ()
    constraints: Sequence[str] = ()
    machine: Mapping[str, str] = {}
    examines: str | None = None
    finding: Mapping[str, str] | None = None
    raises: str | None = None
    recorded: str | None = None
    unbuildable: str | None = None
    measured: bool = False

    def key(self) -> str:
        """A name for what is run, whatever is expected of it."""
        stated = {name: value for name, value in self.as_dict().items() if name not in _NOT_RUN}
        stated["place"] = self.place.replace(loose=()).as_dict()
        stated["writer"] = self.writer and self.writer.as_dict()
        stated["applies"] = self.applies and self.applies.as_dict()
        return hashlib.sha256(json.dumps(_said(stated), sort_keys=True, default=list).encode()).hexdigest()


class StatedTrial(Record):
    """A cell of the proof, and the trial of one consumer in it."""

    cell: Cell
    trial: Trial
    number: int


_NOT_RUN = {"rule", "name", "kind", "raises", "recorded", "unbuildable", "consumer", "finding", "measured"}
#: What most trials do not have; where it is not said, a trial keeps the name that it had before there was such a thing.
_SELDOM = {
    "together", "needs", "prepare", "installs", "constraints", "examines", "applies", "brief", "wheels", "loose",
    "locked", "until", "machine",
}  # fmt: skip


def _said(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a trial, or of a place within it, without what it does not have."""
    found = {name: value for name, value in stated.items() if value or name not in _SELDOM}
    return {name: _said(value) if name in {"place", "writer"} and value else value for name, value in found.items()}


def plan(rule: Rule, vocabulary: Mapping[str, Any], pythons: Sequence[str]) -> list[Trial]:
    """The trials of a rule: one for each cell and consumer, and one for each safe remedy of each bad cell.

    ``pythons`` are the versions of the interpreters at hand, which remedies about Python choose from.
    """
    compiled = compile_rule(rule, vocabulary)
    found: list[Trial] = []
    for kind in ("bad", "good"):
        for number, cell in enumerate(rule.proof[kind], 1):
            for trial in of_cell(rule, kind, f"{kind} {number}", cell):
                found.append(trial)
                if kind == "bad" and not (trial.recorded or trial.unbuildable):
                    found += remedied(rule, compiled, vocabulary, cell, trial, pythons)
    return found


def of_cell(rule: Rule, kind: str, name: str, cell: Cell) -> Iterator[Trial]:
    """The trials of one cell: one, or one for each consumer in it."""
    consumers = _consumers(rule, kind, cell)
    writer = cell.get("writer")
    for consumer in consumers:
        names = {"consumer": consumer, "module": rule.consumers[consumer]["module"]} if consumer else {}
        yield Trial(
            rule=rule.id,
            name=f"{name}: {consumer}" if consumer and len(consumers) > 1 else name,
            kind=kind,
            consumer=consumer,
            place=_place(cell, rule.proof.get("needs", ())),
            script=_hiding(cell) + fill(_script(rule, cell), names),
            files=cell.get("files", {}),
            env=cell.get("env", {}),
            write=rule.proof["write"] if writer is not None else None,
            writer=_place({"python": cell.get("python", ""), **writer}) if writer is not None else None,
            prepare=cell.get("prepare"),
            installs=[fill(name, names) for name in rule.proof.get("installs", ())],
            machine=_of_machine(cell),
            examines=rule.when.get("installed"),
            finding=cell.get("finding"),
            raises=cell.get("raises"),
            recorded=cell.get("recorded"),
            unbuildable=_unbuildable(rule, cell),
        )


def _consumers(rule: Rule, kind: str, cell: Cell) -> Sequence[str | None]:
    """The consumers that a cell is tried with, each by itself; ``None`` is one try with whatever it has."""
    if not rule.proof["each"]:
        return [None]
    packages = cell.get("packages", {})
    present = [one for one in rule.consumers if one in packages]
    if kind == "bad":  # another one may be beside it that works
        present = [one for one in present if within(packages[one], rule.consumers[one]["bad"])]
    return present or list(rule.consumers)


def _place(cell: Cell, needs: Sequence[str] = ()) -> TrialEnvironment:
    return TrialEnvironment(
        python=cell.get("python", ""),
        install=[f"{name}=={version}" for name, version in sorted(cell.get("packages", {}).items())],
        absent=sorted(cell.get("absent", ())),
        together=cell.get("together", False),
        needs=list(needs),
    )


_BY_PYTEST = """\
import sys
import pytest
sys.exit(pytest.main(["-q", "--tb=native", "-p", "no:cacheprovider", "--pyargs", *{tests}]))
"""
_BY_UNITTEST = """\
import unittest
unittest.main(module=None, argv=["unittest", *{tests}])
"""


def _script(rule: Rule, cell: Cell) -> str:
    """The script of a proof, or the one that runs the tests which a distribution ships: by pytest where it is there."""
    if "tests" not in rule.proof:
        return str(rule.proof["script"])
    present = {*map(name_of, rule.proof.get("needs", ())), *cell.get("packages", {})}
    return (_BY_PYTEST if "pytest" in present else _BY_UNITTEST).replace("{tests}", json.dumps(rule.proof["tests"]))


def _unbuildable(rule: Rule, cell: Cell) -> str | None:
    """Why no throw-away environment on this machine can be what a cell states; ``None`` where one can."""
    if not (rule.proof["script"] or {"installs", "tests"} & rule.proof.keys()):
        return "it has no script"
    stated = _stated_of_machine(cell)
    return f"it states {' and '.join(stated)}, which the laboratory cannot set" if stated else None


def _of_machine(cell: Cell) -> dict[str, str]:
    """What a cell states of its machine that no environment brings: libraries, and programs that are there."""
    present = {name: state for name, state in cell.get("programs", {}).items() if state == "present"}
    return {**cell.get("libraries", {}), **present}


def _stated_of_machine(cell: Cell) -> list[str]:
    """What a cell states that is otherwise on this machine."""
    stated = ["system"] if cell.get("system") else []  # a `process` is what the script itself is
    stated += [f"{name} {state}" for name, state in cell.get("libraries", {}).items() if library_fact(name) != state]
    programs = [name for name, state in cell.get("programs", {}).items() if state == "present"]
    stated += [f"{name} present" for name in programs if program_fact(name) != "present"]
    stated += ["another build of Python"] if _is_other_build(cell) else []
    here = {"platform": sys.platform, "machine": platform.machine()}
    stated += [word for word, value in here.items() if cell.get(word, value) != value]
    return stated


def _is_other_build(cell: Cell) -> bool:
    return bool(cell.get("free-threaded") or cell.get("debug") or cell.get("implementation", "cpython") != "cpython")


def _hiding(cell: Cell) -> str:
    """The lines by which a script finds no program, where a cell states that one is missing."""
    is_hiding = "missing" in cell.get("programs", {}).values()
    return 'import os\nos.environ["PATH"] = ""\n' if is_hiding else ""


# --- remedies -------------------------------------------------------------------------------------------------------


def remedied(
    rule: Rule,
    compiled: Mapping[str, Any],
    vocabulary: Mapping[str, Any],
    cell: Cell,
    trial: Trial,
    pythons: Sequence[str],
) -> Iterator[Trial]:
    """The bad cell after each safe remedy that is offered in it."""
    matches = matched(compiled["match"], cell, vocabulary)
    names = [one.names for one in matches if trial.consumer in {None, one.consumer}]
    names += [trial.finding] if trial.finding else []
    for remedy in rule.remedies if names else ():
        if _is_tried(rule, remedy, vocabulary, cell, trial):
            applied = _apply(remedy, names[0], trial, compiled.get("kin"), pythons)
            if applied is not None:
                yield applied


def _is_tried(rule: Rule, remedy: Mapping[str, Any], vocabulary: Mapping[str, Any], cell: Cell, trial: Trial) -> bool:
    """Whether a remedy is a safe one, can be typed, and is offered in a cell."""
    if remedy["safety"] != "safe" or not KINDS[remedy["kind"]].typed:
        return False
    if remedy["at"] == "build" and not trial.installs:
        return False
    if "when" not in remedy:
        return True
    only = compile_rule(rule.replace(when=remedy["when"], consumers={}, remedies=[]), vocabulary)
    return bool(matched(only["match"], cell, vocabulary))


def _apply(
    remedy: Mapping[str, Any], names: Mapping[str, str], trial: Trial, kin: Any, pythons: Sequence[str]
) -> Trial | None:
    """The trial with a remedy applied; ``None`` where it asks for a release that works and none is known."""
    texts = remedy.get("requirements") or list(filter(None, [remedy.get("requirement")]))
    if any("{works}" in text for text in texts) and not names.get("works"):
        return None
    wanted = [fill(text, names) for text in texts]
    removed = [fill(text, names) for text in remedy.get("package", "").split()]
    if kin is not None:
        stated = {"requirements": wanted, "packages": removed}
        wanted, removed = fitted(stated, kin, map(name_of, trial.place.install)).values()
    changed: Trial = trial.replace(name=_named(trial, remedy, [*removed, *wanted]), kind="remedy", raises=None)
    if "env" in KINDS[remedy["kind"]].changes:
        changed = changed.replace(env={**trial.env, remedy["name"]: fill(str(remedy["to"]), names)})
    others = [text for text in wanted if not _is_python(text)]
    return _installed(_on_python(changed, wanted, pythons), remedy, others, removed)


def _named(trial: Trial, remedy: Mapping[str, Any], words: Sequence[str]) -> str:
    where = " where it is built" if remedy["at"] == "build" else ""
    return f"{trial.name}, then {remedy['kind']} {' '.join(words) or remedy.get('name', '')}{where}"


def _installed(trial: Trial, remedy: Mapping[str, Any], wanted: Sequence[str], removed: Sequence[str]) -> Trial:
    """The trial with what a remedy wants and removes: where it is built, in what it installs, or by a command."""
    if remedy["at"] == "build":
        return trial.replace(constraints=wanted)  # type: ignore[no-any-return]
    if trial.installs:
        return _installed_instead(trial, wanted, removed)
    if not (wanted or removed):
        return trial
    action = Action(verb=verb_of(remedy["kind"]), requirements=tuple(wanted), packages=tuple(removed))
    return trial.replace(applies=action)  # type: ignore[no-any-return]


def _installed_instead(trial: Trial, wanted: Sequence[str], removed: Sequence[str]) -> Trial:
    """The trial with other requirements, of which a name that is new takes the place of one that is removed."""
    gone = {name_of(text) for text in [*removed, *wanted]}
    kept = [text for text in trial.place.install if name_of(text) not in gone]
    left = [name for name in trial.installs if name not in map(name_of, removed)]
    place = trial.place.replace(install=sorted([*kept, *wanted]))
    instead: Trial = trial.replace(place=place, installs=left or sorted(map(name_of, wanted)))
    return instead


def _is_python(text: str) -> bool:
    wanted = requirement_of(text)
    return wanted is not None and str(canonicalize_name(wanted.name)) == "python"


def _on_python(trial: Trial, wanted: Sequence[str], pythons: Sequence[str]) -> Trial:
    """The trial on the nearest interpreter that a remedy asks for; unbuildable where there is none."""
    asked = next(filter(_is_python, wanted), None)
    if asked is None:
        return trial
    nearest = nearest_python(Requirement(asked).specifier, trial.place.python, pythons)
    if nearest is None:
        return trial.replace(unbuildable=f"no interpreter here satisfies {' '.join(wanted)}")  # type: ignore[no-any-return]
    return trial.replace(place=trial.place.replace(python=nearest))  # type: ignore[no-any-return]


def nearest_python(specifier: SpecifierSet, present: str, pythons: Sequence[str]) -> str | None:
    """The interpreter that a person would move to: the newest older one that satisfies, else the oldest newer one."""
    inside = sorted((one for one in pythons if specifier.contains(one)), key=Version)
    older = [one for one in inside if Version(one) <= Version(present)]
    return older[-1] if older else inside[0] if inside else None
