"""Where Python was installed in a file system, wherever that is: a bounded walk that follows no link."""

from __future__ import annotations

import os
import re
from collections import deque

from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.probes.file_system import Root

#: So many directories are looked into, those nearest to the root first.
DIRECTORIES = 100_000
#: What the kernel makes, and the images that lie on the disk of a machine.
_SKIPPED = frozenset(("/proc", "/sys", "/dev", "/var/lib/docker", "/var/lib/containers", "/var/lib/containerd"))
#: Directories that hold packages, not environments.
_NAMES = frozenset(("site-packages", "dist-packages", "node_modules", "__pycache__", ".git", ".hg"))
#: An entry that makes its directory the prefix of an environment.
MARKS = ("pyvenv.cfg", "conda-meta")
_LIBRARY = re.compile(r"python3\.\d+t?")


class Walk(Record):
    """The prefixes that were found, those nearest to the root first, and what was not looked into.

    ``marked`` are environments by their files, ``installed`` have a standard library; ``denied`` are directories that
    this user may not read, and ``bound`` says that there are more than :data:`DIRECTORIES`.
    """

    marked: Sequence[str]
    installed: Sequence[str]
    denied: Sequence[str]
    bound: bool


def walk(root: Root) -> Walk:
    """Look for environments in all of a file system."""
    marked, installed, denied = list[str](), list[str](), list[str]()
    pending, seen = deque([""]), 0
    while pending and seen < DIRECTORIES:
        path = pending.popleft()
        seen += 1
        try:
            with os.scandir(root.directory + path) as entries:
                names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except FileNotFoundError:  # removed in the meantime
            continue
        except OSError:
            denied.append(path)
            continue
        is_marked = any(mark in names for mark in MARKS)
        if is_marked:
            marked.append(path)
        for name in sorted(name for name, is_directory in names.items() if is_directory):
            below = f"{path}/{name}"
            if _LIBRARY.fullmatch(name) and path.endswith(("/lib", "/lib64")):
                if root.is_file(below + "/os.py"):
                    installed.append(os.path.dirname(path))
            elif name not in _NAMES and below not in _SKIPPED and not (is_marked and name == "pkgs"):
                pending.append(below)
    return Walk(marked=marked, installed=list(dict.fromkeys(installed)), denied=denied, bound=bool(pending))
