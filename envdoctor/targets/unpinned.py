"""What would be installed for requirements that are not pinned: asked of ``uv pip compile``, which installs nothing."""

from __future__ import annotations

import os
import subprocess
import sys

from envdoctor.errors import ProbeError, UsageError
from envdoctor.probes import uv_program
from envdoctor.talk import say
from envdoctor.targets import marker_environment
from envdoctor.targets.locks.contents import TextFile

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
_WHICH = "--resolve has to know for which Python: name it, as in --python-version 3.12"
_WHY, _INSTEAD = "--resolve asks uv", ", or lock the requirements elsewhere and give the lock file"


def resolve(source: TextFile, stated: Stated) -> tuple[TextFile, Stated]:
    """All pins that a file's requirements resolve to, and the target: what was not named is this machine's.

    Raises :class:`UsageError` where nobody says for which Python, and :class:`ProbeError` where uv is not there or
    finds no solution.
    """
    python = marker_environment.version(stated.python_version)
    if python is None:
        raise UsageError(_WHICH)
    system, machine = _platform(stated)
    words = [
        *(*uv_program.program(_WHY, _INSTEAD), "pip", "compile", "--quiet", "--color", "never", "--no-annotate"),
        *("--python-version", python, "--python-platform", _PLATFORMS[system, machine], "--", source.path),
    ]
    text = _run(words, f"resolving {source.path} for Python {python} on {system} {machine}", source.path)
    pins = TextFile(path=f"{source.path}, resolved by uv", text=text, numbered=False)
    return pins, stated.replace(python_version=python, platform=system, machine=machine)


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
        reason = uv_program.shortened(said.decode("utf-8", "replace")) or f"it ended with status {process.returncode}"
        raise ProbeError(f"{path} could not be resolved by uv: {reason}")
    return str(out.decode("utf-8", "replace"))


def _wait(process: subprocess.Popen[bytes], path: str) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise ProbeError(f"{path} was not resolved by uv within {_SECONDS // 60} minutes") from None
