"""The state of a running process and of its children, read without stopping, tracing or signalling it.

Source of facts: psutil, and on Linux the files of proc(5) where they tell more. A process that hangs inside the kernel
can make even reading those wait, so the reading has a time limit.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading

from envdoctor import collector
from envdoctor.errors import ProbeError
from envdoctor.model import Record, Unknown
from envdoctor.probes.process_threads import MOST_NAMED, started_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    import psutil

    T = TypeVar("T")
    _Looks = tuple[list[bytes], str, list[str]]

TIME_LIMIT = 10.0
FULL = 0.99
#: How a runtime of OpenMP is called, by GCC, LLVM, Intel and Microsoft; wheels add a hash to the name.
_OPENMP = re.compile(
    r"(?:lib(?:g|i)?omp\d*(?:md)?|vcomp\d*)(?:(?!-plugin)[-_.].*)?\.(?:so|dylib|dll)(?:[.\d]*)", re.IGNORECASE
)
#: What the command line contains of a process that ``multiprocessing`` started: the start method, or nothing for help.
_STARTED_BY = (
    ("multiprocessing.resource_tracker", ""),
    ("multiprocessing.semaphore_tracker", ""),
    ("multiprocessing.forkserver", "forkserver"),
    ("multiprocessing.spawn", "spawn"),
    ("--multiprocessing-fork", "spawn"),
)
_DELETED = " (deleted)"
_GONE = "There is no process {}: it has ended, or it runs elsewhere. List the running ones with their numbers: {}."
#: What lists all processes with their numbers.
LIST = "tasklist" if sys.platform == "win32" else "ps -eo pid,args"


class Mapped(Record):
    """A file in the memory of a process: where it was, which one it is, and whether it was removed since."""

    path: str
    identity: str
    deleted: bool = False


class Running(Record):
    """A process as it was read. What could not be read is :class:`Unknown`, with the reason.

    ``root`` is where its file system is seen from here, if it has another one than this process; paths are as the
    process sees them. ``forked`` says of a fork of a process with threads what it is. ``method`` is the start
    method that its children show, or ``None``. ``user`` has what
    ``subprocess`` takes to run something as the same user, where that is another one and may be done.
    """

    pid: int
    executable: str
    command: Sequence[str]
    directory: str | Unknown
    variables: Mapping[str, str] | Unknown
    mapped: Sequence[Mapped] | Unknown
    facts: Mapping[str, Any]
    forked: str
    method: str | Unknown | None
    root: str | None
    user: Mapping[str, Any]


def read_process(pid: int) -> Running:
    """Read a process.

    Raises :class:`~envdoctor.errors.ProbeError` where there is none, it has ended, this user may not read it, or
    reading it takes longer than :data:`TIME_LIMIT` seconds.
    """
    import psutil

    try:
        return within(TIME_LIMIT, pid, lambda: _read(psutil.Process(_leader(pid))))
    except (psutil.ZombieProcess, psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError) as error:
        if isinstance(error, psutil.ZombieProcess):
            raise ProbeError(_ended(pid, None)) from error
        raise ProbeError(_GONE.format(pid, LIST)) from error
    except (psutil.AccessDenied, PermissionError) as error:
        raise ProbeError(
            f"Process {pid} may not be read by this user{_owner(pid)}. Run envdoctor as that user, or as root."
        ) from error


def within(seconds: float, pid: int, work: Callable[[], T]) -> T:
    """The result of reading a process. Raises :class:`~envdoctor.errors.ProbeError` after so many seconds."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append((work(), None))
        except Exception as error:  # noqa: BLE001 -- raised again where it was asked for
            results.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not results:
        raise ProbeError(
            f"Process {pid} could not be read within {seconds:g} seconds: it hangs inside the kernel, as on a device "
            "or a network file system that does not answer. Examine its interpreter instead: --python PATH."
        )
    result, error = results[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _leader(pid: int) -> int:
    """The process that a thread belongs to; other tools list threads by their own numbers."""
    if sys.platform == "linux" and pid > 0:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            return int(_status(pid).get("Tgid", pid))
    return pid


def _status(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as stream:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in stream)}


def _owner(pid: int) -> str:
    import psutil

    try:
        return f" (it belongs to {psutil.Process(pid).username()})"
    except psutil.Error:
        return ""


def _ended(pid: int, parent: psutil.Process | None) -> str:
    of = f"its parent, process {parent.pid} ({parent.name()})," if parent else "its parent"
    return f"Process {pid} has ended; only {of} has not taken note of that. Nothing is left of it to be read."


def _read(process: psutil.Process) -> Running:
    import psutil

    if process.status() == psutil.STATUS_ZOMBIE:
        raise ProbeError(_ended(process.pid, process.parent()))
    executable = _executable(process)
    if not executable:
        raise ProbeError(f"Process {process.pid} is a part of the kernel; {LIST} lists all. Give that of a Python.")
    root = _other_root(process.pid)
    mapped = _or_unknown("mapped files", lambda: _mapped(process))
    children = _or_unknown("children", lambda: _children(process))
    own = children if isinstance(children, Unknown) else _forked_beside(process, children)
    known = (one for one in (_or_unknown("parent", lambda: _fork_of(process)), own) if not isinstance(one, Unknown))
    forked = next(filter(None, known), "")
    return Running(
        pid=process.pid,
        executable=executable,
        command=tuple(process.cmdline()),
        directory=_or_unknown("working directory", lambda: _as_seen_by(process.pid, process.cwd())),
        variables=_or_unknown("environment variables", lambda: _variables(process)),
        mapped=mapped,
        facts=_facts(process, mapped, children, root or "", forked=bool(forked) or (isinstance(own, Unknown) and own)),
        forked=forked,
        method=children if isinstance(children, Unknown) else _common([method for _, method in children]),
        root=root,
        user=_other_user(process),
    )


def _or_unknown(what: str, read_it: Callable[[], T]) -> T | Unknown:
    import psutil

    try:
        return read_it()
    except (psutil.AccessDenied, PermissionError):
        return Unknown(reason=f"the {what} of this process may not be read by this user")
    except (NotImplementedError, AttributeError):
        return Unknown(reason=f"this system does not tell the {what} of a process")


def _variables(process: psutil.Process) -> dict[str, str] | Unknown:
    """The variables that a process was started with, unless it has written a long title over them."""
    found = process.environ()
    if not found and sys.platform == "linux":
        with open(f"/proc/{process.pid}/environ", "rb") as stream:
            if stream.read(1):
                return Unknown(reason="the process has written a title over its environment variables")
    return found


def _executable(process: psutil.Process) -> str:
    if sys.platform != "linux":
        return process.exe()
    try:
        return _as_seen_by(process.pid, os.readlink(f"/proc/{process.pid}/exe").removesuffix(_DELETED))
    except FileNotFoundError:
        if not process.is_running():
            raise
        return ""  # a thread of the kernel


def _other_root(pid: int) -> str | None:
    """Where the file system of a process is seen from here: ``None`` where it is the one of this process."""
    if sys.platform != "linux":
        return None
    own, other = os.stat("/"), os.stat(f"/proc/{pid}/root/")
    return None if (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino) else f"/proc/{pid}/root"


def _as_seen_by(pid: int, path: str) -> str:
    """A path that the kernel gives this process, as another one sees it: without the root of that one in front."""
    top = os.readlink(f"/proc/{pid}/root").rstrip("/") if sys.platform == "linux" else ""
    return path[len(top) :] or "/" if top and (path + "/").startswith(top + "/") else path


def _other_user(process: psutil.Process) -> dict[str, Any]:
    if sys.platform == "win32" or os.geteuid() != 0 or process.uids().effective == 0:
        return {}
    groups = _status(process.pid).get("Groups", "").split() if sys.platform == "linux" else []
    user, group = process.uids().effective, process.gids().effective
    return {"user": user, "group": group, "extra_groups": [int(number) for number in groups]}


# --- what it has loaded ---------------------------------------------------------------------------------------------


def _mapped(process: psutil.Process) -> list[Mapped]:
    """Every file in the memory of a process, once."""
    if sys.platform != "linux":
        regions = process.memory_maps(grouped=True)
        return [Mapped(path=one.path, identity=os.path.normcase(os.path.realpath(one.path))) for one in regions]
    found = {}
    for fields in _regions(process.pid):
        path = os.fsdecode(fields[5])
        if path.startswith("/"):
            path = _as_seen_by(process.pid, path)
            deleted = path.endswith(_DELETED)
            identity = b" ".join(fields[3:5]).decode()
            found[identity, path] = Mapped(path=path.removesuffix(_DELETED), identity=identity, deleted=deleted)
    return list(found.values())


def _regions(pid: int) -> list[list[bytes]]:
    """Address, permissions, offset, device, inode and path of each region that has a name: ``/proc/PID/maps``."""
    with open(f"/proc/{pid}/maps", "rb") as stream:
        rows = [line.rstrip(b"\n").split(None, 5) for line in stream]
    return [row for row in rows if len(row) > 5]  # noqa: PLR2004 -- one without a name is shorter


def openmp_runtimes(mapped: Sequence[Mapped]) -> list[Mapped]:
    """The runtimes of OpenMP among some files, each file once."""
    named = [one for one in mapped if _OPENMP.fullmatch(re.split(r"[\\/]", one.path)[-1])]
    return list({one.identity: one for one in named}.values())


# --- its children ---------------------------------------------------------------------------------------------------


def _children(process: psutil.Process) -> list[tuple[psutil.Process | None, str | None]]:
    """The processes that it started, each with the start method that it shows.

    The helpers of ``multiprocessing`` are none of them. In place of a server that forks on its behalf are those that it
    has forked, and without any it is ``(None, METHOD)``.
    """
    import psutil

    found: list[tuple[psutil.Process | None, str | None]] = []
    own = _looks(process)
    for child in process.children():
        method = None
        try:
            method = _method(own, _looks(child))
            if method == "forkserver":
                found += [(one, method) for one in child.children()] or [(None, method)]
            elif method != "" and child.status() != psutil.STATUS_ZOMBIE:
                found.append((child, method))
        except (psutil.AccessDenied, PermissionError):
            found.append((child, method))
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            continue
    return found


def _method(own: _Looks, others: _Looks) -> str | None:
    """The start method of a child, empty for a helper, ``None`` for another program."""
    if _is_copy(own, others):
        return "fork"
    for mark, method in _STARTED_BY:
        if any(mark in word for word in others[2][1:]):
            return method
    return None


def _is_copy(own: _Looks, others: _Looks) -> bool:
    """Whether a child is still the copy that fork(2) made of its parent.

    A program that is started anew finds its stack and the code of the kernel at other, random addresses, even where
    it repeats the command line as servers do that reload themselves; and a copy may give itself another title. Where
    addresses are not given, or not random, the command line has to do.
    """
    if sys.platform == "win32" or own[:2] != others[:2]:
        return False
    return bool(own[0] and _is_random()) or bool(own[2] and own[2] == others[2])


def _looks(process: psutil.Process) -> _Looks:
    """The addresses of a process that are its own, its program, and its command line."""
    command = process.cmdline()
    if sys.platform != "linux":
        return [], "", command
    return _anchors(process.pid), _executable(process), command


def _anchors(pid: int) -> list[bytes]:
    """The end of the stack, which grows downwards, and the place of the kernel's code."""
    places = {row[5]: row[0].split(b"-") for row in _regions(pid) if row[5] in (b"[stack]", b"[vdso]")}
    return [place[name == b"[stack]"] for name, place in sorted(places.items())]


def _is_random() -> bool:
    try:
        with open("/proc/sys/kernel/randomize_va_space", encoding="ascii") as stream:
            return stream.read().strip() != "0"
    except OSError:
        return False


def _common(methods: Sequence[str | None]) -> str | Unknown | None:
    shown = sorted({method for method in methods if method})
    if len(shown) > 1:
        return Unknown(reason=f"its children were started in several ways: {', '.join(shown)}")
    return shown[0] if shown else None


# --- facts that rules ask for ---------------------------------------------------------------------------------------


def _facts(process: psutil.Process, mapped: Any, children: Any, root: str, *, forked: bool | Unknown) -> dict[str, Any]:
    """The facts of kind ``process`` by name; each a plain value or :class:`Unknown`."""
    threads = _or_unknown("threads", process.num_threads)
    known = not isinstance(children, Unknown)
    return {
        "openmp-runtimes": mapped if isinstance(mapped, Unknown) else len(openmp_runtimes(mapped)),
        "threads": threads,
        "children": len([child for child, _ in children if child]) if known else children,
        "forked-with-threads": forked,
        "shared-memory-full": _is_full(root + "/dev/shm"),  # noqa: S108 -- it is only measured
    }


def _forked_beside(process: psutil.Process, children: Any) -> str | Unknown:
    """What is said of a process with a child that was forked after a thread was started that still runs."""
    forked = [child.pid for child, method in children if child and method == "fork"]
    if not forked or process.num_threads() < 2:  # noqa: PLR2004
        return ""
    if sys.platform != "linux":
        return Unknown(reason="this system does not tell whether its threads or its children were started first")
    before = started_before(process.pid, forked)
    return f"it forked process {', '.join(map(str, forked[:MOST_NAMED]))} while {before} ran" if before else ""


def _fork_of(process: psutil.Process) -> str:
    """What is said of a fork of a process with threads, with those that were started before it and still run."""
    parent = process.parent() if sys.platform == "linux" else None
    before = started_before(parent.pid, [process.pid]) if parent and _is_copy(_looks(parent), _looks(process)) else ""
    return f"it is a fork of process {parent.pid} ({parent.name()}), where {before} ran" if parent and before else ""


def _is_full(path: str) -> bool | None:
    """Whether shared memory is used up, ``None`` where there is none or it has no limit."""
    if sys.platform != "linux" or not os.path.isdir(path):
        return None
    size = os.statvfs(path)
    return size.f_bfree <= size.f_blocks * (1 - FULL) if size.f_blocks else None


def libstdcxx(seen: Running) -> str | None:
    """The version of the C++ library that a process has loaded, ``None`` where it has loaded none."""
    for one in () if isinstance(seen.mapped, Unknown) else seen.mapped:
        if os.path.basename(one.path).startswith("libstdc++.so.6") and not one.deleted:
            return collector.libstdcxx_in((seen.root or "") + one.path)
    return None
