"""Source distributions that have to be built, and whose ``setup.py`` the target's Python or setuptools refuses.

Where no wheel fits, an installer builds the release with the newest build tools that it allows. What its ``setup.py``
takes of Python and of these is resolved like any source, and what it passes to ``setup()`` is compared with their
checks. Nothing is executed.
"""

from __future__ import annotations

import ast
import re

from envdoctor.errors import TargetError
from envdoctor.linker import index_files
from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.environment_names import Environment
from envdoctor.linker.fetch import fetched
from envdoctor.linker.findings import findings
from envdoctor.linker.link import link
from envdoctor.linker.makings import last
from envdoctor.linker.module_files import PROJECT, Layout
from envdoctor.linker.own_checks import OwnChecks
from envdoctor.linker.reach import Reach, keywords_of_setup
from envdoctor.linker.standard_library import Standard
from envdoctor.linker.syntax_trees import walked
from envdoctor.linker.verdicts import Missing
from envdoctor.linker.world import World
from envdoctor.model import Distribution
from envdoctor.probes.project import Project
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from envdoctor.model import Finding, Snapshot, UnknownFact

#: What builds where a release names nothing else, and the script that it runs.
TOOL, SCRIPT = "setuptools", "setup.py"
#: So many releases of one target are looked at.
_MOST = 40
_IMPORTED = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+(\w+)")
_REQUIRED = re.compile(r"[\"']setuptools\s*([<>=!~][^\"';\[]*)[\"']")
_WHY = "No wheel of it fits, so an installer builds it, with {tool}."


def failing(snapshot: Snapshot, notes: Iterable[UnknownFact], say: Callable[[str], None]) -> list[Finding]:
    """What is found in the releases without a wheel that fits, as notes of :func:`fetched` name them."""
    names = [one.fact.partition(".")[2] for one in notes if one.reason.endswith(index_files.NO_WHEEL)]
    found: list[Finding] = []
    for name in [one for one in names if one in snapshot.packages][:_MOST]:
        one = snapshot.packages[name]
        say(f"reading the source of {name} {one.version}")
        try:
            found += _judged(snapshot, one)
        except TargetError:
            continue  # the note says that it was not read
    return found


def _judged(snapshot: Snapshot, one: Distribution) -> list[Finding]:
    """The findings about one release. Raises :class:`TargetError` where the index has no source that can be read."""
    texts = _source(one)
    python = str(snapshot.python.get("version", ""))
    minor = tuple(int(part) for part in python.split(".")[:2])
    target = Target((minor[0], minor[1]), str(snapshot.platform.get("system", "linux")))
    tool = _tool(snapshot, texts.get("pyproject.toml", b"").decode("utf-8", "replace"), python)
    project = {name: text.decode("utf-8", "replace") for name, text in texts.items() if name.endswith(".py")}
    linked = link([tool], target, lambda _doing: None, Beside(Project.of(project)))
    missing = [found for found in linked.missing if found.consumer == PROJECT and not _is_provided(found)]
    missing += _refused(World(Layout([tool]), target), texts[SCRIPT])
    versions = {tool.name: tool.version, one.name: one.version}
    found = findings(missing, Environment(versions, python, Standard(target.minor)))
    return [_of_source_build(finding, one, tool) for finding in found]


def _is_provided(missing: Missing) -> bool:
    """Whether the build tool brings what Python lacks: it puts its own ``distutils`` in the place of Python's."""
    return missing.module.partition(".")[0] == "distutils"


def _of_source_build(finding: Finding, one: Distribution, tool: Distribution) -> Finding:
    changed: Finding = finding.replace(
        rule="linked-source-build",
        impact="install-failure",
        title=finding.title.replace(PROJECT, f"the source of {one.name} {one.version}"),
        why=f"{_WHY.format(tool=f'{tool.name} {tool.version}')} {finding.why}",
        packages=list(dict.fromkeys((one.name, *finding.packages))),
        consumer=one.name,
    )
    return changed


def _source(one: Distribution) -> Mapping[str, bytes]:
    """The script of a release and the modules beside it that it imports, with its build requirements."""
    files = index_files.source_of(one.name, one.version or "")
    archive = index_files.Archive(files)
    names, todo = {"pyproject.toml"}, [SCRIPT]
    while todo:
        name = todo.pop()
        if name in archive.names and name not in names:
            names.add(name)
            todo += [f"{word.decode()}.py" for word in _IMPORTED.findall(archive.read(name))]
    if SCRIPT not in names:
        raise TargetError(f"{one.name} {one.version} has no {SCRIPT}")
    return {name: archive.read(name) for name in names if name in archive.names}


def _tool(snapshot: Snapshot, project: str, python: str) -> Distribution:
    """The newest release of the build tool that a project allows, with its files."""
    wanted = ",".join(one.strip() for one in _REQUIRED.findall(project))
    version = index_files.newest(TOOL, python, wanted)
    alone = snapshot.replace(packages={TOOL: Distribution(name=TOOL, version=version)})
    return fetched(alone, lambda _doing: None)[0].packages[TOOL]


def _refused(world: World, script: bytes) -> Iterator[Missing]:
    """Constants that ``setup()`` is given and that the build tool's own check of this argument refuses."""
    checks = OwnChecks(world, Reach(world.layout, world.store, world.resolver, lambda _doing: None))
    known, tree = keywords_of_setup(world.layout.metadata[TOOL]), parsed(script)
    calls = [one for one in walked(tree) if isinstance(one, ast.Call)] if tree else []
    for one in (one for call in calls if last(call.func) == "setup" for one in call.keywords):
        name = one.arg or ""
        if name not in known or not isinstance(one.value, ast.Constant):
            continue
        module, function = known[name]
        error = checks.refuses(module, function, name, one.value.value)
        if error is not None:
            where = (one.value.lineno, f"{module}.{name}", TOOL, "argument", "error", 0, module, name, error.name)
            yield Missing(PROJECT, SCRIPT, *where)
