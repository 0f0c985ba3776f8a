"""Environments of any size: a virtual environment with the metadata of distributions that have no files besides."""

from __future__ import annotations

import os
import subprocess
import sys

import tool

#: What each distribution requires of the ones before it.
REQUIRED = 4


def environment(directory: str, distributions: int, unmet: int = 0) -> str:
    """Make an environment of so many distributions, unless it is there; ``unmet`` of their requirements are not met.

    Of those every other one is of a distribution that is missing, the others want a later release.
    """
    if not os.path.exists(directory):
        subprocess.run([tool.uv(), "venv", "--quiet", "--python", sys.executable, directory], check=True)
        for number in range(distributions):
            before = [f"part-{one}>=1.0,<{3 + one % 5}" for one in range(max(number - REQUIRED, 0), number)]
            wrong = [f"absent-{number}>=2.0" if number % 2 else f"part-{number // 2}>=9.0"] if number < unmet else []
            _write(directory, f"part-{number}", f"1.{number % 10}.{number % 7}", [*before, *wrong])
    return directory


def one_of_many(directory: str, lines: int) -> str:
    """Make an environment of a single distribution with so many requirements, of which none is met."""
    if not os.path.exists(directory):
        subprocess.run([tool.uv(), "venv", "--quiet", "--python", sys.executable, directory], check=True)
        _write(directory, "many", "1.0", [f"absent-{number}>=1.{number}" for number in range(lines)])
    return directory


def _write(directory: str, name: str, version: str, requires: list[str]) -> None:
    packages = "Lib" if os.name == "nt" else "lib/python{}.{}".format(*sys.version_info)
    stem = f"{name.replace('-', '_')}-{version}.dist-info"
    place = os.path.join(directory, packages, "site-packages", stem)
    os.makedirs(place)
    header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Requires-Python: >=3.8"]
    files = {
        "METADATA": "\n".join([*header, *(f"Requires-Dist: {line}" for line in requires), "", "A part.\n"]),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: synthetic\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "INSTALLER": "pip\n",
    }
    for file, text in files.items():
        with open(os.path.join(place, file), "w", encoding="utf-8") as stream:
            stream.write(text)
