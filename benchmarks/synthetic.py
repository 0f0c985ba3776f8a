"""Environments of any size: a virtual environment with the metadata of distributions that have no other files."""

from __future__ import annotations

import os
import subprocess
import sys

import tool

#: So many of the distributions before it are what each requires.
REQUIRED = 4


def environment(directory: str, distributions: int, unmet: int) -> None:
    """Make an environment of so many distributions, unless it is there; so many requirements more are not met.

    Every other one of those is of a distribution that is missing; the others want a later release of one that is there.
    """
    if os.path.exists(directory):
        return
    subprocess.run([tool.uv(), "venv", "--quiet", "--python", sys.executable, directory], check=True)
    packages = "Lib" if os.name == "nt" else "lib/python{}.{}".format(*sys.version_info)
    for number in range(distributions):
        met = [f"part-{one}>=1.0,<{3 + one % 5}" for one in range(max(number - REQUIRED, 0), number)]
        wrong = [_unmet(one, distributions) for one in range(number, unmet, distributions)]
        name = f"part_{number}-1.{number % 10}.{number % 7}.dist-info"
        _write(os.path.join(directory, packages, "site-packages", name), [*met, *wrong])


def _unmet(number: int, distributions: int) -> str:
    return f"absent-{number}>=2.{number}" if number % 2 else f"part-{number % distributions}>=9.{number}"


def _write(directory: str, requires: list[str]) -> None:
    os.makedirs(directory)
    name, version = os.path.basename(directory).rpartition(".")[0].split("-")
    header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Requires-Python: >=3.8"]
    files = {
        "METADATA": "\n".join([*header, *(f"Requires-Dist: {line}" for line in requires), "", "A part.\n"]),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: generated\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "INSTALLER": "pip\n",
    }
    for file, text in files.items():
        with open(os.path.join(directory, file), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
