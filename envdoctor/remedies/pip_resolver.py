"""Which releases go together, asked of pip where uv is not there: for an environment on this machine, and slower.

pip keeps what is installed where it can, and says in its report what it would install; nothing is installed or built.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile

from envdoctor.engine.installed_requirements import normalise
from envdoctor.errors import ProbeError
from envdoctor.remedies.task import Refusal, called, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.remedies.task import Task

_SECONDS = 300
_IMPOSSIBLE = ("ResolutionImpossible", "No matching distribution found", "resolution-too-deep")


def resolve(task: Task, python: str) -> dict[str, str] | Refusal:
    """The version of every distribution, by normalised name, or why there is no solution.

    Raises :class:`ProbeError` where pip cannot be called or fails in another way.
    """
    with tempfile.TemporaryDirectory(prefix="envdoctor-") as folder:
        path = os.path.join(folder, "in.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{name}{task.bounds.get(name, '')}\n" for name in task.names)
            file.writelines(f"{line}\n" for line in task.lines)
        words = [*_pip(python), "install", "--dry-run", "--quiet", "--no-input", "--disable-pip-version-check"]
        words += ["--only-binary", ":all:", "--report", "-", "-r", path]
        status, out, said = called(words, _SECONDS, "resolution-too-deep: not")
    if status and any(one in said for one in _IMPOSSIBLE):
        return Refusal(names=named(said, task))
    try:
        told = [one["metadata"] for one in json.loads(out)["install"]]
    except (ValueError, KeyError) as error:
        last = said.strip().rpartition("\n")[2] or "it gives no reason"
        raise ProbeError(
            f"pip could not say which releases go together: {last}; install uv (https://docs.astral.sh/uv)"
        ) from error
    return {**task.preferred, **{normalise(one["name"]): one["version"] for one in told}}


def _pip(python: str) -> Sequence[str]:
    """The words that call a pip for an environment: ours takes an option for which, its own may be older."""
    ours = importlib.util.find_spec("pip") is not None
    return [sys.executable, "-m", "pip", "--python", python] if ours else [python, "-m", "pip"]
