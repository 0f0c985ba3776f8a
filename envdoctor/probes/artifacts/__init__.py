"""Files that a program saved to load them again: what wrote them, what they name, and the bytecode that they carry.

Pickles and what is made of them, arrays, tensors, saved models of networks and agents. Nothing in them is ever
unpickled, imported or run: they are read within bounds of size, nesting, number and time.
"""

from __future__ import annotations

import os
import time

from envdoctor.errors import ProbeError
from envdoctor.probes.artifacts import files, marks
from envdoctor.probes.artifacts.streams import BrokenError, Budget, StrangeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from envdoctor.found import Artifact
    from envdoctor.probes.project.tree import Files

#: What looking for artefacts in a project may cost: files, seconds, and bytes of one that is not on disk.
PROJECT_FILES, PROJECT_SECONDS, MEMORY_LIMIT = 200, 15.0, 64 << 20
_SECONDS_EACH = 5.0


def artifact_at(path: str) -> Artifact:
    """The facts of one artefact.

    ``file`` (the path as given), ``kind``, ``protocol``, ``names`` (classes and functions that would be imported),
    ``written_by`` (``python``, ``os`` where the file tells, and ``packages``), ``code`` (bytecode: ``where``, ``name``,
    ``python`` as a specifier, ``constant``), ``paths`` (absolute ones), ``functions`` (of a saved agent: each top-level
    key that holds one, with the constant it returns or ``None``), ``states`` (by class, the attributes that each object
    which no call makes is given), ``gaps`` (what of it could not be read).
    Raises ``ProbeError`` for what cannot be read.
    """
    try:
        return files.examine_path(path)
    except (BrokenError, StrangeError) as error:
        raise ProbeError(f"{path} {error}.") from error


def of_files(paths: Iterable[str]) -> dict[str, list[Any]]:
    """The facts of artefacts that the user names: ``{"found": [...], "gaps": [reason, ...]}``."""
    answer: dict[str, list[Any]] = {"found": [], "gaps": []}
    for path in paths:
        try:
            record = artifact_at(path)
        except ProbeError as error:
            answer["gaps"].append(str(error))
            continue
        answer["found"].append(record)
        answer["gaps"] += record["gaps"]
    return answer


def in_project(project: Files) -> dict[str, list[Any]]:
    """The facts of the artefacts among a project's files, in the same shape; what is no artefact is passed over."""
    answer: dict[str, list[Any]] = {"found": [], "gaps": []}
    names = [name for name in project.files() if name.lower().endswith(marks.SUFFIXES)]
    deadline = time.process_time() + PROJECT_SECONDS
    for number, name in enumerate(names):
        left = deadline - time.process_time()
        if number >= PROJECT_FILES or left <= 0:
            answer["gaps"].append(
                f"{name} and {len(names) - number - 1} more artefacts are not read: there are too many"
            )
            break
        try:
            record = _of_project(project, name, Budget(min(left, _SECONDS_EACH)))
        except StrangeError as error:
            if not name.lower().endswith(marks.UNSPECIFIC):
                answer["gaps"].append(f"{name} {error}")
        except BrokenError as error:
            answer["gaps"].append(f"{name} {error}")
        else:
            if record is not None:
                answer["found"].append(record)
                answer["gaps"] += record["gaps"]
    return answer


def _of_project(project: Files, name: str, budget: Budget) -> Artifact | None:
    """The record of one file; ``None`` where the project itself says why it cannot be read."""
    root = getattr(project, "root", None)
    if isinstance(root, str):
        return files.examine_path(os.path.join(root, name), name, budget)
    data = project.read(name, MEMORY_LIMIT)
    return files.in_memory(data, name, budget) if data else None
