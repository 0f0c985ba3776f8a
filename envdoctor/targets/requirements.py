"""Pinned requirements and lock files: what would be installed, read without installing anything."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from importlib import import_module

from envdoctor.engine.installed_requirements import is_version
from envdoctor.engine.markers import VARIABLES
from envdoctor.errors import ProbeError, UsageError
from envdoctor.facts import INSTALLER, MANAGER, MARKER, Facts
from envdoctor.model import Snapshot
from envdoctor.probes import unrecorded
from envdoctor.targets import marker_environment
from envdoctor.targets.locks.choose import choose
from envdoctor.targets.locks.contents import Stated, load, note
from envdoctor.targets.readable import NO_VERSION
from envdoctor.tools import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.facts import Answers, Questions
    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Contents, Entry, TextFile

#: Files that people give by mistake, and what to give instead.
_OTHERS = (
    ("pyproject.toml", "give the lock file beside it, such as uv.lock, poetry.lock or pdm.lock, or add --resolve"),
    ("pipfile", "give the Pipfile.lock beside it"),
    ("pixi.lock", "export it to an environment.yml"),
    ("pixi.toml", "export it to an environment.yml"),
    ("setup.py", "give a requirements or lock file, or add --resolve"),
    ("setup.cfg", "give a requirements or lock file, or add --resolve"),
)
_RESOLVABLE = ("pyproject.toml", "setup.py", "setup.cfg")


def snapshot_of(
    path: str,
    python_version: str | None = None,
    platform: str | None = None,
    machine: str | None = None,
    *,
    resolve: bool = False,
) -> Snapshot:
    """The snapshot of what a file says would be installed; with ``resolve``, of what uv would install for it.

    Raises :class:`ProbeError` for a file that cannot be read, :class:`UsageError` for a version or platform that is
    not understood.
    """
    stated = Stated(python_version=python_version, platform=platform, machine=machine)
    stated.markers()
    source = load(path)
    name = _resolvable(source) if resolve else _format(source)
    known = FORMATS["requirements.txt" if resolve else name]
    if resolve:
        from envdoctor.targets.unpinned import resolve as ask_uv

        source, stated = ask_uv(source, stated)
    contents: Contents = import_module("envdoctor.targets.locks." + known.reader).read(source, stated)
    packages, notes = choose(contents.entries if known.of_conda else map(_readable, contents.entries))
    python = {"version": version} if (version := _python(stated, contents)) else {}
    target = {"kind": "requirements", "path": path, "format": name, **({"resolved": "uv"} if resolve else {})}
    return Snapshot(
        target={**target, **{key: value for key, value in contents.target.items() if value is not None}},
        python=python,
        platform=_platform(stated, contents),
        packages=packages,
        complete=contents.complete,
        source=source.path,
        facts=_facts(stated, contents),
        probes=_Around(source),
        notes=[*contents.notes, *_range_notes(source, stated, contents), *notes],
    )


def _readable(entry: Entry) -> Entry:
    """The entry, without a version that is none."""
    if entry.version is None or is_version(entry.version):
        return entry
    return entry.replace(version=None, reason=f"{entry.where}: {NO_VERSION}")  # type: ignore[no-any-return]


def _resolvable(source: TextFile) -> str:
    """The name of the format of a file that is to be resolved, which may be a project's file too."""
    name = source.name.lower()
    known = name if name in _RESOLVABLE else _format(source)
    if known not in {"requirements.txt", *_RESOLVABLE}:
        raise UsageError(f"{source.path} is no file that uv resolves, but of the format {known}: omit --resolve")
    return known


def _format(source: TextFile) -> str:
    """The name of a file's format."""
    name = source.name.lower()
    for other, instead in _OTHERS:
        if name == other:
            raise ProbeError(f"{source.path} does not say which versions would be installed: {instead}")
    for known, row in FORMATS.items():
        if any(fnmatchcase(name, pattern) for pattern in row.names):
            return known
    if name.endswith((".yml", ".yaml")) and not re.search(r"^package:[ ]*$", source.text, re.MULTILINE):
        return "environment.yml"
    first = source.text[:200_000] + source.text[-2_000:]
    return next(known for known, row in FORMATS.items() if re.search(row.contains, first, re.MULTILINE))


def _python(stated: Stated, contents: Contents) -> str | None:
    return marker_environment.version(stated.python_version) if stated.python_version else contents.python


def _platform(stated: Stated, contents: Contents) -> dict[str, str]:
    system = marker_environment.system(stated.platform) or contents.platform
    own = contents.machine if system == contents.platform else None
    machine = marker_environment.machine_of(system, stated.machine) or own
    return {key: value for key, value in (("system", system), ("machine", machine)) if value}


def _facts(stated: Stated, contents: Contents) -> Facts:
    known = stated.replace(
        python_version=stated.python_version or contents.python,
        platform=stated.platform or contents.platform,
        machine=stated.machine or _platform(stated, contents).get("machine"),
    ).markers()
    variables = {name: known.ask(name) for name in VARIABLES}
    return Facts({MARKER: variables, INSTALLER: dict.fromkeys(contents.of_pip, "pip")})


class _Around:
    """Answers which tool manages a file's packages, by its directory; the rest is in the file, or not known."""

    def __init__(self, source: TextFile) -> None:
        self._directory = os.path.dirname(source.path) or os.curdir

    def answers(self, questions: Questions) -> Answers:
        """The values of facts."""
        answers = unrecorded(questions)
        if MANAGER in questions:
            from envdoctor.targets.manager import of_project

            answers[MANAGER] = dict.fromkeys(questions[MANAGER], of_project(self._directory))
        return answers


def _range_notes(source: TextFile, stated: Stated, contents: Contents) -> Iterator[UnknownFact]:
    """Say that a version names no Python, or one that the file was not made for."""
    if stated.python_version and marker_environment.version(stated.python_version) is None:
        reason = f"--python-version {stated.python_version} names no minor version; give one such as 3.11"
        yield note(reason).replace(fact="python.version")
    specifier = contents.target.get("requires_python")
    if isinstance(specifier, str) and stated.markers().python_within(specifier).holds is False:
        yield note(
            f"{source.path} was made for Python {specifier}, not {stated.python_version}: its choices may not hold"
        )
