"""What installed distributions give the workers that they start, where the start method in use cannot pickle it.

The rule about the functions that a project's own workers are given is asked of the source of each distribution that
starts some, as if it were the project; what it finds under ``fork`` too is no matter of the start method, and left out.
Objects are not asked for: a library often makes them in one of two ways, for threads or for processes.
"""

from __future__ import annotations

from typing import Any

from envdoctor.engine import diagnose as engine
from envdoctor.engine.start_method import in_use
from envdoctor.facts import OF_PROJECT, PROJECT, SOURCE, Facts
from envdoctor.linker.module_files import Layout
from envdoctor.model import Evidence, Finding, Location, Remedy
from envdoctor.probes import answered, unrecorded
from envdoctor.probes.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.engine.diagnose import Candidates
    from envdoctor.engine.index import Index
    from envdoctor.facts import Answers, Questions
    from envdoctor.model import Report, Snapshot

_ANEW = ("spawn", "forkserver")
_ABOUT = ["worker", "given-function"]
_WORDS = (b"multiprocessing", b"ProcessPoolExecutor")
#: So many places are shown of one distribution.
_PLACES = 6


def add_to(report: Report, indexes: Sequence[Index], tell: Callable[[str], None]) -> Report:
    """The report with a warning for each distribution and rule, where workers are started anew."""
    snapshot = report.snapshot
    method = in_use(snapshot)[0]
    if method not in _ANEW:
        return report
    tell("reading what starts workers")
    rules = [(index, [one for one in index.candidates([OF_PROJECT]) if _is_asked(one[2])]) for index in indexes]
    layout = Layout(snapshot.packages.values())
    layout.list_modules()
    found: list[Finding] = []
    for owner, version in layout.versions.items():
        files = dict(_starting(layout, owner))
        paths = {name: path for name, (path, _) in files.items()}
        found += [_finding(one, owner, version, method, paths) for one in _found(snapshot, files, rules, method)]
    added: Report = report.replace(findings=[*report.findings, *found])
    return added


def _is_asked(compiled: Mapping[str, Any]) -> bool:
    return list(compiled.get("when") or ())[:2] == _ABOUT


def _starting(layout: Layout, owner: str) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """By name, the path and text of each source file of a distribution, if some of them may start workers."""
    files: dict[str, tuple[str, bytes]] = {}
    for name in layout.names.get(owner, ()):
        module = layout.modules[name]
        if module.owner == owner and module.kind != "native" and not layout.is_aside(name):
            end = "/__init__.py" if module.kind == "package" else ".py"
            try:
                with open(module.path, "rb") as file:
                    files[name.replace(".", "/") + end] = (module.path, file.read())
            except OSError:
                continue
    if any(word in text for _, text in files.values() for word in _WORDS):
        yield from files.items()


class _Files:
    """Answers for the source of one distribution."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def answers(self, questions: Questions) -> Answers:
        """The uses of names; nothing else is known here."""
        found: dict[Any, Any] = unrecorded({kind: questions[kind] for kind in questions if kind is not SOURCE})
        if SOURCE in questions:
            self._project.expect(questions[SOURCE])
            found[SOURCE] = {key: self._project.ask(SOURCE, key) for key in questions[SOURCE]}
        return found


def _found(
    snapshot: Snapshot, files: Mapping[str, tuple[str, bytes]], rules: Candidates, method: str
) -> Iterator[list[Finding]]:
    """What the rules find in some files by a start method and not by ``fork``, by rule."""
    if not files:
        return
    probes = _Files(Project.of({name: text for name, (_, text) in files.items()}))
    facts = Facts({PROJECT: {"named": True, "there": True}})
    bare = snapshot.replace(facts=facts, probes=probes, packages={}, siblings=())
    seen: dict[str, list[Finding]] = {}
    anew, plain = (_diagnosed(bare, rules, default) for default in (method, "fork"))
    places = {(one.rule, one.evidence[0].source) for one in plain}
    for one in anew:
        if (one.rule, one.evidence[0].source) not in places:
            seen.setdefault(one.rule, []).append(one)
    yield from seen.values()


def _diagnosed(bare: Snapshot, rules: Candidates, default: str) -> list[Finding]:
    snapshot = bare.replace(start_method={"default": default})
    return engine.diagnose(answered(snapshot, lambda now: engine.asked(rules, now)), rules)[0]


def _finding(found: Sequence[Finding], owner: str, version: str, method: str, paths: Mapping[str, str]) -> Finding:
    """One finding for a distribution: it is reached only where somebody calls what starts the workers."""
    first = found[0]
    shown = [each for one in found[:_PLACES] for each in one.evidence if _place(each.source, paths)]
    evidence = [each.replace(fact=f"source.{owner}", source=_place(each.source, paths)) for each in shown]
    made: Finding = first.replace(
        severity="warning",
        title=f"in {owner} {version}, {first.title}",
        why=f"{first.why} It happens when what starts the worker is called.",
        packages=[owner],
        facts=["source", "packages", "start_method"],
        evidence=[
            *evidence,
            Evidence(fact=f"packages.{owner}", value=version, source="its metadata"),
            Evidence(fact="start_method", value=method, source="the start method in use"),
        ],
        remedies=[
            Remedy(kind="change", text=f"use a release of {owner} that works with {method}", safety="manual"),
            Remedy(
                kind="change",
                text="call multiprocessing.set_start_method('fork') where the program starts",
                safety="workaround",
                effect="fork is there on Linux and macOS only, and unsafe where threads run already",
            ),
        ],
        consumer=owner,
    )
    return made


def _place(source: object, paths: Mapping[str, str]) -> Location | None:
    """A place in a file of a distribution, by its path; ``None`` for evidence of another kind."""
    if not isinstance(source, Location) or source.line is None or source.path not in paths:
        return None
    return Location(paths[source.path], source.line)
