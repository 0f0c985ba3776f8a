"""The interpreters of this machine that trials can run on."""

from __future__ import annotations

import functools
import glob
import os
import re
import shutil
import subprocess

VERSIONS = tuple(f"3.{minor}" for minor in range(6, 16))
#: Paths of further interpreters, separated as in ``PATH``.
VARIABLE = "ENVDOCTOR_PYTHONS"
_TELL = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
_SECONDS = 20


@functools.cache
def found() -> dict[str, str]:
    """The path of an interpreter by its whole version, such as ``3.11.7``.

    They are looked for in :data:`VARIABLE`, among the versions of pyenv and uv, and as ``pythonX.Y`` on ``PATH``, but
    for pyenv's shims: they lead to its versions, and each takes a shell to say so.
    """
    paths: dict[str, None] = dict.fromkeys(filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))
    name = "python.exe" if os.name == "nt" else os.path.join("bin", "python")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    managed = os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.expanduser("~/.local/share/uv/python")
    for pattern in (os.path.join(pyenv, "versions", "3.*", name), os.path.join(managed, "cpython-3.*", name)):
        paths.update(dict.fromkeys(sorted(glob.glob(pattern))))
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    others = os.pathsep.join(entry for entry in entries if os.path.normpath(entry) != os.path.join(pyenv, "shims"))
    paths.update(dict.fromkeys(filter(None, (shutil.which(f"python{version}", path=others) for version in VERSIONS))))
    versions: dict[str, str] = {}
    for path in paths:
        version = _version_of(path)
        if version is not None:
            versions.setdefault(version, path)
    return versions


def find(version: str) -> tuple[str, str] | None:
    """Version and path of an interpreter: this very release, or the newest of a series ``X.Y``; ``None`` for none."""
    inside = [one for one in found() if one == version or one.startswith(version + ".")]
    newest = max(inside, key=lambda one: [int(part) for part in one.split(".")], default=None)
    return None if newest is None else (newest, found()[newest])


def _version_of(path: str) -> str | None:
    told = re.search(r"(?:versions[/\\]|cpython-)(3\.\d+\.\d+)[/\\-]", path)
    if told and os.path.isfile(path):
        return told[1]
    try:
        done = subprocess.run(  # noqa: S603 - uv, an interpreter, or a trial in its sandbox
            [path, "-E", "-S", "-c", _TELL], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = done.stdout.strip()
    return version if done.returncode == 0 and re.fullmatch(r"3\.\d+\.\d+", version) else None
