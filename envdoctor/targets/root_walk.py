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

#: So many directories are listed, those nearest to the root first.
DIRECTORIES = 100_000
#: What the kernel makes, and the images that lie on the disk of a machine.
_SKIPPED = frozenset(("/proc", "/sys", "/dev", "/var/lib/docker", "/var/lib/containers", "/var/lib/containerd"))
#: Directories that hold packages, not environments.
_NAMES = frozenset(("site-packages", "dist-packages", "node_modules", "__pycache__", ".git", ".hg"))
#: An entry that makes its directory the prefix of an environment.
MARKS = ("pyvenv.cfg", "conda-meta")
_LIBRARY = re.compile(r"/lib(?:64)?/python3\.\d+t?\Z")


class Walk(Record):
    """The prefixes that were found, those nearest to the root first, and what was not listed.

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
        names = _names(root, path)
        if names is None:
            denied.append(path)
        elif not names.keys().isdisjoint(MARKS):
            marked.append(path)
            names.pop("pkgs", None)  # where conda unpacks what it links into environments
        below = [f"{path}/{name}" for name, is_directory in (names or {}).items() if is_directory]
        installed += [os.path.dirname(path) for library in below if _is_library(root, library)]
        pending += [one for one in below if not _is_passed_over(one)]
    return Walk(marked=marked, installed=list(dict.fromkeys(installed)), denied=denied, bound=bool(pending))


def _names(root: Root, path: str) -> dict[str, bool] | None:
    """The entries of a directory, and whether each is a directory; ``None`` where this user may not read it."""
    try:
        with os.scandir(root.directory + path) as entries:
            return {one.name: one.is_dir(follow_symlinks=False) for one in sorted(entries, key=lambda one: one.name)}
    except FileNotFoundError:  # removed in the meantime
        return {}
    except OSError:
        return None


def _is_passed_over(path: str) -> bool:
    return path in _SKIPPED or os.path.basename(path) in _NAMES or _LIBRARY.search(path) is not None


def _is_library(root: Root, path: str) -> bool:
    """Whether a directory is the standard library of an installation."""
    return _LIBRARY.search(path) is not None and root.is_file(path + "/os.py")
