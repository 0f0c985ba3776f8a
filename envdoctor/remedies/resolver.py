"""Which releases go together: asked of uv, over everything that is installed, with as little change as it can.

Where there is no uv, pip is asked. Nothing is installed, and nothing is built: releases without a wheel are not on
offer. What is installed is written to uv's output file, whose versions it keeps where it can.
"""

from __future__ import annotations

import os
import re
import tempfile

from envdoctor.engine.installed_requirements import normalise
from envdoctor.engine.versions import key
from envdoctor.errors import ProbeError
from envdoctor.probes import releases, uv_program
from envdoctor.remedies import pip_resolver
from envdoctor.remedies.task import Refusal, called, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from envdoctor.remedies.task import Task

_SECONDS = 60
_FINAL = 3
_WHY = "envdoctor fix asks uv which releases go together"
_NEVER = "python_version < '0'"
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==([^\s;]+)", re.MULTILINE)
_UNKNOWN = re.compile(r"Because ([a-z0-9._-]+) was not found in the (?:package registry|provided package locations)")


def resolve(task: Task) -> dict[str, str] | Refusal:
    """The version of every distribution, by normalised name, or why there is no solution.

    Raises :class:`ProbeError` where uv cannot be called or fails in another way.
    """
    try:
        uv = uv_program.program(_WHY)
    except ProbeError:
        if task.python[0] != "--python":
            raise
        return pip_resolver.resolve(task, task.python[1])
    with tempfile.TemporaryDirectory(prefix="envdoctor-") as folder:
        files = {
            "in.txt": [*task.names, *task.lines],
            "out.txt": [f"{name}=={version}" for name, version in task.preferred.items()],
            "bounds.txt": [f"{name}{bound}" for name, bound in task.bounds.items()],
            "apart.txt": [f"{name} ; {_NEVER}" for name in task.apart],
        }
        paths = {name: _written(os.path.join(folder, name), lines) for name, lines in files.items()}
        words = [
            *(*uv, "pip", "compile", "--quiet", "--color", "never", "--no-annotate", "--no-header", *task.python),
            *("--no-build", "--prerelease", _prerelease(task), "--constraints", paths["bounds.txt"]),
            *("--overrides", paths["apart.txt"], "--output-file", paths["out.txt"], "--", paths["in.txt"]),
        ]
        variables = {"UV_PYTHON_DOWNLOADS": "never", **_index(), **os.environ}
        variables.pop("VIRTUAL_ENV", None)
        status, _, said = called(words, _SECONDS, "No solution found", variables)
        if status:
            return _refusal(said, task)
        with open(paths["out.txt"], encoding="utf-8") as file:
            return {normalise(name): version for name, version in _PIN.findall(file.read())}


def _prerelease(task: Task) -> str:
    """Whether uv may take releases that are not final: where one of those to keep is such."""
    kept = [key(version) for version in task.preferred.values()]
    return "if-necessary-or-explicit" if any(at and at[2] < _FINAL for at in kept) else "disallow"


def _written(path: str, lines: Iterable[str]) -> str:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def _index() -> dict[str, str]:
    """The index that the user's pip is configured with, unless that is the one that uv takes by itself."""
    urls = releases.configuration().urls
    return {"UV_DEFAULT_INDEX": urls[0]} if urls and "//pypi.org/" not in urls[0] else {}


def _refusal(said: str, task: Task) -> Refusal:
    text = " ".join(said.split())
    if "No solution found" not in text and "unsatisfiable" not in text:
        raise ProbeError(
            f"uv could not say which releases go together: {uv_program.shortened(said) or 'it gives no reason'}"
        )
    unknown = _UNKNOWN.search(text)
    return Refusal(names=named(text, task), unknown=normalise(unknown[1]) if unknown else None)
