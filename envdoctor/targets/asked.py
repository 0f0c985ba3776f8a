"""What the user has asked for: the direct requirements of an environment and of the project beside it."""

from __future__ import annotations

import json
import os
import re

from envdoctor.engine.installed_requirements import name_of, parse
from envdoctor.engine.metadata_conflicts import required_by
from envdoctor.errors import ProbeError
from envdoctor.targets.locks.contents import load
from envdoctor.targets.locks.direct_requirements import roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from envdoctor.model import Snapshot


def asked(snapshot: Snapshot, directory: str | None, direct: Collection[str] | None) -> dict[str, str | None]:
    """The range of each distribution that was asked for by name; ``None`` where no range is stated.

    A project's ``pyproject.toml`` and ``requirements*.txt`` say it, and the tool of a project, which knows what is
    ``direct``, else what an installer notes in ``REQUESTED``. Where that is beside everything, or nothing, it is
    what nothing else requires.
    """
    found: dict[str, str | None] = dict.fromkeys(_noted(snapshot) if direct is None else direct)
    for name, stated in _of_project(directory) if directory else ():
        found[name] = stated or None
    return found


def _noted(snapshot: Snapshot) -> Collection[str]:
    paths = {name: one.path for name, one in snapshot.packages.items() if one.path}
    noted = [name for name, path in paths.items() if os.path.exists(os.path.join(path, "REQUESTED"))]
    if len(noted) not in {0, len(paths)}:
        return noted
    lines = (line for one in snapshot.packages.values() for line in required_by(one, snapshot))
    return snapshot.packages.keys() - set(map(name_of, lines))


def from_elsewhere(snapshot: Snapshot) -> dict[str, list[str]]:
    """What was installed from a directory, a repository or a file, and the words for uv that install it from there.

    An index may have something else of that name. There are no words where the note (PEP 610) cannot be read.
    """
    paths = {name: os.path.join(one.path, "direct_url.json") for name, one in snapshot.packages.items() if one.path}
    return {name: address(name, path) for name, path in paths.items() if os.path.exists(path)}


def address(name: str, path: str) -> list[str]:
    """The words by which uv installs a distribution from where a note says; none where that cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            stated = json.load(file)
        url, commit = stated["url"], stated.get("vcs_info")
        inside = f"#subdirectory={stated['subdirectory']}" if "subdirectory" in stated else ""
        whole = f"{commit['vcs']}+{url}@{commit['commit_id']}{inside}" if commit else url + inside
        is_editable = stated.get("dir_info", {}).get("editable")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    if not re.fullmatch(r"[a-z+]+://\S+", whole):
        return []
    return ["-e", whole] if is_editable else [f"{name} @ {whole}"]


def _of_project(directory: str) -> Iterator[tuple[str, str]]:
    for path in requirements_files(directory):
        if os.path.basename(path).startswith("constraints"):
            continue
        try:
            lines = load(path).text.splitlines()
        except ProbeError:
            continue
        for line in lines:
            parsed = parse(line.partition(" #")[0].strip())
            if parsed and not line.startswith("-"):
                yield parsed[0], parsed[1].replace(" ", "")
    try:
        source = load(os.path.join(directory, "pyproject.toml"))
    except ProbeError:
        return
    for edge in roots(source) or ():
        yield edge.name, ",".join(edge.specifiers)


def requirements_files(directory: str) -> list[str]:
    """The requirements and constraints files at the top of a project, in alphabetical order."""
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    wanted = [one for one in names if one.endswith((".txt", ".in")) and one.startswith(("requirements", "constraints"))]
    return [os.path.join(directory, name) for name in wanted]
