"""All steps in order: from installed distributions to what they miss of each other."""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from typing import Any

from envdoctor.errors import TargetError
from envdoctor.linker import binaries, remembered
from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.conditions import Conditions
from envdoctor.linker.environment_names import Environment
from envdoctor.linker.findings import absorbed
from envdoctor.linker.forwarded_keywords import ForwardedKeywords
from envdoctor.linker.generated import Generated
from envdoctor.linker.hooks import Hooks
from envdoctor.linker.instances import Instances
from envdoctor.linker.lost_words import LostWords
from envdoctor.linker.made_words import MadeWords
from envdoctor.linker.missing import ReferenceSearch
from envdoctor.linker.module_files import Layout
from envdoctor.linker.overrides import Overrides
from envdoctor.linker.own_checks import OwnChecks
from envdoctor.linker.reach import Reach
from envdoctor.linker.refused_calls import RefusedCalls
from envdoctor.linker.standard_library import Standard
from envdoctor.linker.stub_numbers import StubNumbers
from envdoctor.linker.verdicts import Linked, Missing
from envdoctor.linker.world import World
from envdoctor.model import UnknownFact
from envdoctor.probes import parallel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from envdoctor.linker.binaries import Binaries
    from envdoctor.model import Distribution, Report

#: About how much source a module has that is reached, in characters.
_OF_A_MODULE = 1_500


def link(
    distributions: Iterable[Distribution],
    target: Target,
    tell: Callable[[str], None],
    beside: Beside | None = None,
    vocabulary: Mapping[str, Any] = {},
    natives: Binaries | None = None,
) -> Linked:
    """Resolve what distributions use from each other, and what is beside them uses; ``tell`` reports progress.

    ``vocabulary`` says what is known of hooks and of dotted names; with ``natives`` compiled modules are looked at too.
    What has not changed is not looked at again.
    """
    layout = Layout(distributions)
    known = {key: vocabulary.get(key, {}) for key in ("hooks", "dotted", "makes")}
    words = json.dumps(known)
    file = remembered.path(layout, target, [words, *(natives.state() if natives else ())])
    found = _kept(file, lambda: _resolved(layout, target, known, natives, tell))
    if beside is None:
        return found
    generated = (natives.generated, natives.variables) if natives else ({}, {})
    file = remembered.path(layout, target, [words, json.dumps(generated), *beside.state(known["dotted"])])
    world = functools.partial(World, layout, target, known["makes"])
    return _together(found, _kept(file, lambda: beside.linked(world(), known, generated, tell)))


def _kept(file: str, make: Callable[[], Linked]) -> Linked:
    recalled = remembered.recall(file)
    if recalled is not None:
        return Linked(**{**recalled, "missing": [Missing(*one) for one in recalled["missing"]]})
    with parallel.uncollected():
        found = make()
    remembered.keep(file, found._asdict())
    return found


def _together(one: Linked, other: Linked) -> Linked:
    unknown = Counter(one.unknown)
    unknown.update(other.unknown)
    return Linked([*one.missing, *other.missing], one.modules + other.modules, one.asked + other.asked, unknown)


def _resolved(
    layout: Layout, target: Target, known: Mapping[str, Any], natives: Binaries | None, tell: Callable[[str], None]
) -> Linked:
    world = World(layout, target, known["makes"])
    reach = Reach(layout, world.store, world.resolver, tell)
    reach.follow()
    tell("resolving")
    forwarded = ForwardedKeywords(world.resolver, world.store, world.makes)
    refused = RefusedCalls(forwarded, OwnChecks(world, reach, natives), world.store)
    search = ReferenceSearch(layout, world.resolver, reach, world.standard, (forwarded.misfit, refused.misfit))
    missing = _missing(world, reach, search, refused, known["hooks"])
    checks = OwnChecks(world, reach, natives)
    missing = [*Conditions(world, reach, checks).decided(missing)]
    at_import = [*checks.all(reach.ways, missing)]
    missing = [one for one in missing if one.line <= checks.ends.get(one.file, one.line)] + at_import
    if natives is not None:
        missing += Generated(layout, reach, world.store, natives.generated, natives.variables).all()
        tell("reading compiled modules")
        missing += binaries.BinarySearch(layout, reach, target, natives, search.unknown).all()
    world.store.keep()
    unknown = dict(+search.unknown)
    undecided = sum(one.severity == "info" for one in missing)
    if undecided:
        unknown["missing names under a condition that could not be decided"] = undecided
    if layout.blind:
        unknown["distributions whose modules are not listed"] = len(layout.blind)
    if reach.skipped:
        unknown["submodules that were not read, in distributions with many"] = sum(reach.skipped.values())
    return Linked(missing, len(reach.ways), search.asked, unknown)


def _missing(
    world: World, reach: Reach, search: ReferenceSearch, refused: RefusedCalls, hooks: Mapping[str, Any]
) -> list[Missing]:
    """What the reached modules miss; what does not need each other is looked for at the same time."""

    def referred() -> tuple[Any, ...]:
        return list(search.rows(sys.version_info[:2], world.target.minor)), search.unknown, search.asked

    def lost() -> list[Missing]:
        return [*LostWords(world, reach, MadeWords(world, reach)).all(reach.ways, ())]

    def called() -> list[Missing]:
        return [*search.decided(rows), *Hooks(world.layout, hooks).installed()]

    def inherited() -> list[Missing]:
        found = [*Instances(world, reach, MadeWords(world, reach), refused).all(reach.ways)]
        found += Overrides(world, hooks.get("dispatch", ())).all(reach.ways)
        return [*found, *StubNumbers(world).all(reach.ways)]

    weight = len(reach.ways) * _OF_A_MODULE
    (rows, search.unknown, search.asked), words = parallel.apart([referred, lost], weight)
    missing: list[Missing] = [one for some in parallel.apart([called, inherited], weight) for one in some]
    known = {(one.file, one.line) for one in missing}
    return [*missing, *(one for one in words if (one.file, one.line) not in known)]


def add_to(report: Report, tell: Callable[[str], None], vocabulary: Mapping[str, Any]) -> Report:
    """The report with what distributions miss of each other; what a rule has found already gains the evidence.

    Raises :class:`~envdoctor.errors.TargetError` where the target has no installed files, or its Python is not known.
    """
    snapshot = report.snapshot
    installed = [one for one in snapshot.packages.values() if one.path and one.location]
    beside = Beside.of(snapshot)
    if not installed and snapshot.packages:
        raise TargetError(
            "--link reads the files of installed distributions, and this target has none: give it an environment with "
            "--python, a file system with --root, or add --fetch, which reads source and metadata of the wheels that "
            "would be installed from the index"
        )
    python = str(snapshot.python.get("version", ""))
    numbers = python.split(".")
    if len(numbers) < len(("major", "minor")) or not numbers[1].isdigit():
        raise TargetError(
            "--link needs to know the version of Python, and this target does not tell it: a requirements or lock file "
            "takes it from --python-version"
        )
    target = Target(
        (int(numbers[0]), int(numbers[1])),
        str(snapshot.platform.get("system", "linux")),
        str(snapshot.python.get("implementation", "cpython")).lower(),
    )
    linked = link(installed, target, tell, beside, vocabulary, binaries.Binaries.of(snapshot, vocabulary))
    versions = {one.name: one.version for one in installed}
    environment = Environment(versions, python, Standard(target.minor), vocabulary["libraries"])
    reasons = [
        UnknownFact(rule=None, fact="linked", reason=f"{number} references: {reason}")
        for reason, number in sorted(linked.unknown.items(), key=lambda item: -item[1])
    ]
    linked_report: Report = report.replace(
        findings=absorbed(report.findings, linked.missing, environment), unknown=[*report.unknown, *reasons]
    )
    return linked_report
