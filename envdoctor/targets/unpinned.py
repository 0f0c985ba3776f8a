"""What would be installed for requirements that are not pinned: asked of ``uv pip compile``, which installs nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from envdoctor.errors import ProbeError, UsageError
from envdoctor.talk import say
from envdoctor.targets import marker_environment
from envdoctor.targets.locks.contents import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.targets.locks.contents import Stated

#: uv's names of platforms; the first of each system is what uv takes where no processor is named. Source: uv's help.
_PLATFORMS = {
    ("linux", "x86_64"): "x86_64-unknown-linux-gnu",
    ("linux", "aarch64"): "aarch64-unknown-linux-gnu",
    ("linux", "riscv64"): "riscv64-unknown-linux",
    ("darwin", "arm64"): "aarch64-apple-darwin",
    ("darwin", "x86_64"): "x86_64-apple-darwin",
    ("win32", "AMD64"): "x86_64-pc-windows-msvc",
    ("win32", "ARM64"): "aarch64-pc-windows-msvc",
    ("win32", "x86"): "i686-pc-windows-msvc",
}
_QUIET_SECONDS, _SECONDS = 1, 900
_SHOWN = 400
#: What begins a line of an error: the frame that uv draws, and words that say that it is one.
_ORNAMENT = re.compile(r"^[\s\u00d7\u2500-\u257f\u25b6]*(?:(?:error|cause|Caused by):)?")


def resolve(source: Source, stated: Stated) -> tuple[Source, Stated]:
    """All pins that a file's requirements resolve to, and the target: a platform that was not named is this machine's.

    Raises :class:`UsageError` where it is not said for which Python, and :class:`ProbeError` where uv is not there or
    finds no solution.
    """
    python = marker_environment.version(stated.python_version)
    if python is None:
        raise UsageError("--resolve has to know for which Python: name it, as in --python-version 3.12")
    system, machine = _platform(stated)
    words = [
        *(*_uv(), "pip", "compile", "--quiet", "--color", "never", "--no-annotate"),
        *("--python-version", python, "--python-platform", _PLATFORMS[system, machine], "--", source.path),
    ]
    text = _run(words, f"resolving {source.path} for Python {python} on {system} {machine}", source.path)
    pins = Source(path=f"{source.path}, resolved by uv", text=text, numbered=False)
    return pins, stated.replace(platform=system, machine=machine)


def _platform(stated: Stated) -> tuple[str, str]:
    """The system and the processor that are meant."""
    import platform

    here = marker_environment.system(sys.platform)
    system = marker_environment.system(stated.platform) or here or "linux"
    machine = marker_environment.machine_of(system, stated.machine or (platform.machine() if system == here else None))
    known = [name for of, name in _PLATFORMS if of == system]
    if stated.machine is None and machine not in known:
        machine = known[0]
    if machine not in known:
        raise UsageError(f"uv does not resolve for {system} on {stated.machine!a}: give --machine {' or '.join(known)}")
    return system, str(machine)


def _uv() -> list[str]:
    """How to call uv: the one on ``PATH``, or the Python package."""
    path = shutil.which("uv")
    if path:
        return [path]
    import importlib.util

    if importlib.util.find_spec("uv") is None:
        raise ProbeError(
            "--resolve asks uv, which is not installed here: install it (https://docs.astral.sh/uv), or lock the "
            "requirements elsewhere and give the lock file"
        )
    return [sys.executable, "-m", "uv"]


def _run(words: list[str], doing: str, path: str) -> str:
    """The output of uv; that it takes long is said on stderr."""
    pipe, variables = subprocess.PIPE, {"UV_PYTHON_DOWNLOADS": "never", **os.environ}
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=variables)  # noqa: S603
    except OSError as error:
        raise ProbeError(f"{words[0]} could not be run to resolve {path}: {error.strerror}") from error
    with process:
        try:
            out, said = process.communicate(timeout=_QUIET_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"{doing} ...")
            out, said = _wait(process, path)
    if process.returncode:
        reason = _short(said.decode("utf-8", "replace")) or f"it ended with status {process.returncode}"
        raise ProbeError(f"{path} could not be resolved by uv: {reason}")
    return str(out.decode("utf-8", "replace"))


def _wait(process: subprocess.Popen[bytes], path: str) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise ProbeError(f"{path} was not resolved by uv within {_SECONDS // 60} minutes") from None


def _short(said: str) -> str:
    """An error of uv's on one line, without its ornaments and without the password that an address may carry."""
    lines = [_ORNAMENT.sub("", line).strip() for line in re.sub(r"//[^/\s@]*@", "//", said).splitlines()]
    first, *rest = [line for line in lines if line] or [""]
    text = f"{first}: {' '.join(rest)}" if rest else first
    return text if len(text) <= _SHOWN else text[:_SHOWN].rpartition(" ")[0] + " ..."
