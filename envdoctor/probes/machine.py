"""What a bug report says of this machine and of libraries that compute in threads: from files, nothing is imported."""

from __future__ import annotations

import contextlib
import glob
import os
import platform
import re
import shlex
import shutil
import subprocess

from envdoctor.facts import ENV, SYSTEM
from envdoctor.model import Unknown
from envdoctor.probes import answered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.model import Snapshot

    Rows = list[tuple[str, Sequence[str]]]

_GPU = {"gpu": "{}", "nvidia-driver": "driver {}", "cuda": "CUDA {}"}
_NONE = "none seen"
#: Where wheels, and conda, keep shared libraries, from a directory of packages or the prefix on.
_FOLDERS = ("*.libs", "*/.libs", "*/.dylibs", "*/lib", "nvidia/*/lib")
_SECONDS = 10.0


def rows(snapshot: Snapshot, words: Mapping[str, Any]) -> Rows:
    """Labelled texts: the system, processor, GPU, libraries with threads, and the variables that are set."""
    snapshot = answered(snapshot, lambda _: {ENV: words["variables"], SYSTEM: [*_GPU]})
    values = {name: snapshot.facts.ask(ENV, name) for name in words["variables"]}
    variables = {name: value for name, value in values.items() if isinstance(value, str)}
    gpu = [(said, snapshot.facts.ask(SYSTEM, name)) for name, said in _GPU.items()]
    seen = [said.format(value) for said, value in gpu if not isinstance(value, Unknown) and value]
    processors = _processors()
    return [
        ("System", _system()),
        ("Processor", [*_models(), f"{processors} of {os.cpu_count()} processors"]),
        ("GPU", seen or [_NONE]),
        ("BLAS and OpenMP", list(_threaded(snapshot, words["threads"], variables, processors)) or [_NONE]),
        ("Variables", [f"{name}={value}" for name, value in variables.items()] or ["none set"]),
    ]


def _system() -> list[str]:
    with contextlib.suppress(OSError, AttributeError):
        return [str(platform.freedesktop_os_release()["PRETTY_NAME"]), f"{platform.system()} {platform.release()}"]
    return [platform.platform()]


def _processors() -> int:
    """How many processors this process may use."""
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _models() -> list[str]:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        return list(dict.fromkeys(re.findall(r"^model name\s*: (.+)$", file.read(), re.MULTILINE)))
    return list(filter(None, [platform.processor()]))


def _threaded(
    snapshot: Snapshot, known: Mapping[str, Any], variables: Mapping[str, str], processors: int
) -> Iterator[str]:
    """Each library that computes in threads, where it is, and how many it takes: one per processor, or as is set."""
    folders = _library_folders(snapshot)
    for label, row in known.items():
        threads = next((variables[name] for name in row["variables"] if name in variables), str(processors))
        for path in sorted(path for folder in folders for path in glob.glob(os.path.join(folder, row["files"]))):
            if os.path.isfile(path) and not os.path.islink(path):
                yield f"{label}, threads {threads}: {os.path.join(*path.split(os.sep)[-2:])}"


def _library_folders(snapshot: Snapshot) -> list[str]:
    """Patterns of the folders in which distributions and the interpreter keep shared libraries."""
    prefix = str(snapshot.python.get("prefix") or "")
    places = sorted({one.location for one in snapshot.packages.values() if one.location})
    folders = [os.path.join(glob.escape(place), name) for place in places for name in _FOLDERS]
    return folders + ([os.path.join(glob.escape(prefix), "lib")] if prefix else [])


def compiler() -> list[str]:
    """The first lines of what the C and C++ compilers that builds would use say of themselves."""
    found = []
    for variable, name in (("CC", "cc"), ("CXX", "c++")):
        words, said = [name], ""
        with contextlib.suppress(ValueError):  # a quotation that does not end
            words = shlex.split(os.environ.get(variable, name)) or words
        path = shutil.which(words[0])
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(  # noqa: S603 - the compiler that builds use
                [path or words[0], "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
            )
            said = done.stdout.partition("\n")[0].strip()
        found.append(f"{words[0]}: {said or 'not found'}")
    return found
