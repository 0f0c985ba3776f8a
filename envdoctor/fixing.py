"""The story of a plan: search, on another Python where nothing less helps; then say the steps, edits and the line."""

from __future__ import annotations

import os
from functools import partial

from envdoctor import doctor
from envdoctor.engine.effects import after
from envdoctor.engine.groups import united
from envdoctor.engine.markers import VARIABLES
from envdoctor.engine.versions import key, within
from envdoctor.facts import MARKER
from envdoctor.model import SEVERITIES, Action, Distribution, Remedy, Report
from envdoctor.plans import Plan
from envdoctor.remedies import edits, project_files, shell, steps
from envdoctor.remedies.commands import installer, manager, system_of
from envdoctor.remedies.ranges import narrowed
from envdoctor.remedy_kinds import KINDS
from envdoctor.rulebase import load
from envdoctor.searching import PlanSearch, name_of
from envdoctor.targets.asked import from_elsewhere, requirements_files
from envdoctor.targets.locks.contents import Stated
from envdoctor.targets.locks.poetry_constraints import specifiers
from envdoctor.tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from envdoctor.model import Finding, Ignore, Snapshot, UnknownFact
    from envdoctor.plans import Move
    from envdoctor.remedies.project_files import Narrow
    from envdoctor.searching import Candidate, Refused

#: The minor releases of Python 3 that a new environment may have, the newest first.
PYTHONS = range(14, 7, -1)


def plan(  # noqa: PLR0913 - each is a separate option
    snapshot: Snapshot,
    rules: Sequence[str] = (),
    *,
    candidates: bool = False,
    ignore: Sequence[Ignore] = (),
    everything: bool = False,
    project: str | None = None,
    refused: Collection[Refused] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Plan, Snapshot]:
    """One plan for all errors of an environment, with ``everything`` for its warnings too, and what was examined.

    ``project`` is the directory whose files say what was asked for, and are edited. ``refused`` are releases, by name
    and version, that a plan must not have, with ``None`` what it must not move. ``tell`` is given what is being done.
    Raises :class:`~envdoctor.errors.ProbeError` where no resolver can be called.
    """
    indexes = load.indexes(load.further(rules), candidates=candidates)

    def searched(one: Snapshot) -> tuple[PlanSearch, Candidate | None]:
        search = PlanSearch(one, indexes, ignore, everything=everything, project=project, tell=tell)
        return search, search.run(refused)

    search, best = searched(snapshot)
    snapshot = doctor.commandable(doctor.diagnosed(search.snapshot, indexes)).snapshot
    if best is None:
        return Plan(), snapshot
    version = _other_python(search, best)
    if version is not None:
        elsewhere, found = searched(_on(snapshot, version))
        if found is not None and found.cost < best.cost:
            return _recipe(planned(elsewhere, found, snapshot, project), found, version, snapshot), snapshot
    return planned(search, best, snapshot, project), snapshot


def broken_by(
    plan: Plan, snapshot: Snapshot, tell: Callable[[str], None], rules: Sequence[str] = ()
) -> tuple[list[Finding], list[UnknownFact]]:
    """The errors about names and modules that a plan would bring, and the releases that could not be looked into.

    What the plan moves, and what is not installed, is read from wheels of the index; nothing is executed.
    """
    from envdoctor.linker.fetch import fetched

    bases = load.further(rules)
    if not any(one.location for one in snapshot.packages.values()):
        snapshot = fetched(snapshot, tell)[0]
    moved = {one.package: Distribution(name=one.package, version=one.after) for one in plan.moves if one.after}
    brought, closed = fetched(snapshot.replace(packages=moved), tell)
    gone = {one.package for one in plan.moves}
    kept = {name: one for name, one in snapshot.packages.items() if name not in gone}
    parts = [
        doctor.linked(Report(snapshot=one, findings=[]), tell, bases=bases)
        for one in (snapshot, snapshot.replace(packages={**kept, **brought.packages}))
    ]
    before, after = ({(one.rule, one.title): one for one in part.findings if one.severity == "error"} for part in parts)
    return [one for name, one in after.items() if name not in before], closed


def planned(search: PlanSearch, best: Candidate, snapshot: Snapshot, project: str | None) -> Plan:
    """The plan that a candidate is."""

    def narrow(stated: str, move: Move) -> str:
        return narrowed(stated, move, search.market.releases(move.package))

    moves = _steps(search, best, snapshot)
    changed, besides = edits.of_remedies(_placed(best), project or os.curdir)
    stated = [one for one in moves if not steps.is_brought(one)] if "resolved" in snapshot.target else moves
    files = edits.of_requirements(stated, _files(snapshot, project), partial(_change, snapshot, narrow))
    edited = [name for one in files for name in one.why]
    whole = steps.at_once(moves, snapshot, search.market.asked, edited, narrow)
    if whole and installer(snapshot) == "system":  # which lets nobody in
        besides.append(Remedy(kind="change", safety="manual", text=whole.text))
    plan = Plan(
        moves=moves,
        edits=[*changed, *files],
        advice=doctor.commanded(besides, snapshot),
        left=_left(search, best),
        conflicts=search.conflicts,
        line=whole.command if whole else None,
    )
    return _with_alternatives(plan, _instead(search, best), snapshot, project)


def _with_alternatives(
    plan: Plan, instead: Mapping[str, Sequence[Remedy]], snapshot: Snapshot, project: str | None
) -> Plan:
    """A plan with what a person could do instead, as edits and as advice, by the id of a rule."""
    others = {rule: edits.of_remedies(some, project or os.curdir) for rule, some in instead.items()}
    whole: Plan = plan.replace(
        instead={rule: doctor.commanded(some, snapshot) for rule, (_, some) in others.items() if some},
        instead_edits={rule: made for rule, (made, _) in others.items() if made},
    )
    return whole


def _steps(search: PlanSearch, best: Candidate, snapshot: Snapshot) -> list[Move]:
    """The releases that move; where not all is known that is installed, without what only comes along."""
    moves = steps.moves(best.versions, best.choice, search.market, search.together)
    return [one for one in moves if snapshot.complete or one.before is not None]


def _instead(search: PlanSearch, best: Candidate) -> dict[str, list[Remedy]]:
    """What a person could do instead of moving releases: by the id of a rule, at each place that its finding names."""
    found: dict[str, list[Remedy]] = {}
    held = {name_of(one): one.finding for one in search.found}
    for clause, way in best.choice.picks:
        for other in clause.alternatives if way.wants and clause.name in held else ():
            if other.remedy and not KINDS[other.remedy.kind].moves and not KINDS[other.remedy.kind].renews:
                finding = held[clause.name]
                found.setdefault(finding.rule, []).extend(edits.placed(other.remedy, finding))
    return found


def _placed(best: Candidate) -> list[Remedy]:
    """The remedies that a candidate picks besides releases, each at the places of its finding."""
    held = {name_of(one): one.finding for one in best.held}
    picked = [(way.remedy, held.get(clause.name)) for clause, way in best.choice.picks]
    return [one for remedy, finding in picked if remedy and finding for one in edits.placed(remedy, finding)]


def _left(search: PlanSearch, best: Candidate) -> list[Finding]:
    """What stays, without what is only worth knowing."""
    found = [one.finding for one in best.held if not search.is_beside(one, best.choice)]
    found.sort(key=lambda finding: (SEVERITIES.index(finding.severity), finding.rule))
    return [one for one in united(found) if one.severity != SEVERITIES[-1]]


def _change(snapshot: Snapshot, narrow: Narrow, path: str) -> Callable[..., str]:
    """What edits a file of requirements: all that moves is written where a tool has no option for it."""
    if not path.endswith(("pyproject.toml", "Pipfile")):
        return partial(project_files.requirements, narrow=narrow, steers="resolved" in snapshot.target)
    tool = installer(snapshot) or ""
    steers = TOOLS.get(tool, TOOLS["pip"]).of_project and tool != "uv-project"
    return partial(project_files.declared, narrow=narrow, read=specifiers, steers=steers)


def _files(snapshot: Snapshot, project: str | None) -> list[str]:
    """The files that say what is required."""
    tool, directory = installer(snapshot) or "", manager(snapshot).get("directory")
    if directory is not None and TOOLS[tool].of_project:
        return [os.path.join(directory, "Pipfile" if tool == "pipenv" else "pyproject.toml")]
    if snapshot.target.get("kind") == "requirements":
        path = str(snapshot.target.get("path"))
        return [path] if snapshot.target.get("format") == "requirements.txt" else []
    if project is None:
        return []
    return [*requirements_files(project), os.path.join(project, "pyproject.toml")]


def _other_python(search: PlanSearch, best: Candidate) -> str | None:
    """The Python nearest to the examined one that may cure what a candidate leaves; ``None`` where none is said to."""
    wanted = [way.python for one in best.left for way in one.ways if way.python]
    here = key(str(search.snapshot.python.get("version"))) or []
    fitting = [number for number in PYTHONS if all(within(f"3.{number}.99", one) for one in wanted)]
    if not (wanted and fitting and here):
        return None
    return f"3.{min(fitting, key=lambda number: abs(number - here[1][1]))}"


def _on(snapshot: Snapshot, version: str) -> Snapshot:
    """The snapshot as it would be on another Python, which nobody has started."""
    system, machine = (snapshot.platform.get(key) for key in ("system", "machine"))
    markers = Stated(python_version=version, platform=system, machine=machine).markers()
    changed = after(snapshot, Action(verb="install", requirements=(f"python=={version}",)))
    facts = changed.facts.having({MARKER: {name: markers.ask(name) for name in VARIABLES}})
    python = {key: value for key, value in snapshot.python.items() if key in {"implementation", "free_threaded"}}
    return changed.replace(facts=facts, python={**python, "version": version})  # type: ignore[no-any-return]


def _recipe(plan: Plan, found: Candidate, version: str, snapshot: Snapshot) -> Plan:
    """The plan of a new environment: all of its packages, beside the one there is."""
    others = from_elsewhere(snapshot)
    pins = [word for name, one in sorted(found.versions.items()) for word in others.get(name) or [f"{name}=={one}"]]
    place = f".venv-{version}"
    calls = [["uv", "venv", "--python", version, place], ["uv", "pip", "install", "--python", place, *pins]]
    return plan.replace(line=shell.line(calls, system_of(snapshot)), python=version)  # type: ignore[no-any-return]
