"""What the benchmarks share: this checkout as an installed command, and how a page is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def uv() -> str:
    """The path of uv itself: a shim on PATH would be measured too."""
    try:
        from uv import find_uv_bin
    except ImportError:
        return shutil.which("uv") or "uv"
    return os.fspath(find_uv_bin())


def install(directory: str) -> str:
    """Build this checkout's wheel into a separate environment; the command in it."""
    if not os.path.exists(directory):
        subprocess.run([uv(), "venv", "--quiet", "--python", sys.executable, directory], check=True)
    words = ["--reinstall-package", "pyenvdoctor", "--compile-bytecode", "--python", directory, CHECKOUT]
    subprocess.run([uv(), "pip", "install", "--quiet", *words], check=True)
    return os.path.join(directory, "Scripts" if os.name == "nt" else "bin", "envdoctor")


def put(text: str, path: str | None) -> None:
    """Print a page, and write it to a file as well where one is named."""
    sys.stdout.write(text)
    if path:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
