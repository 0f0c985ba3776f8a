"""Build ``envdoctor.pyz``, one file that runs on any Python >= 3.9 and installs nothing.

    python -m envdoctor.workshop.pyz [-o envdoctor.pyz]

Run in a checkout. It builds the wheel, adds the pure-Python parts of what envdoctor needs, and zips them up. It needs
pip, or uv, and the index.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipapp

from envdoctor.errors import EnvdoctorError, UsageError

#: What goes in besides envdoctor itself. psutil is compiled for one platform and is left out: what needs it says so.
REQUIREMENTS = ["packaging>=22", "PyYAML>=6", "rich>=12", "tomli>=2"]
#: Whichever Python builds it, it has to run on the oldest; the compiled parts of these wheels are left out afterwards.
OLDEST = "3.9"
PLATFORM = "x86_64-manylinux2014"
_COMPILED = (".so", ".pyd", ".dll", ".dylib")
#: It says what it needs before anything is imported that an older Python cannot read; it runs on any, even Python 2.
_MAIN = """\
import sys
if sys.version_info < ({numbers}):
    sys.stderr.write(
        "envdoctor: this needs Python {oldest} or later to run, and %s is Python %d.%d: run it with a newer one, and "
        "give --python %s to examine this one\\n" % ((sys.executable,) + sys.version_info[:2] + (sys.executable,))
    )
    sys.exit(2)
from envdoctor.cli import main
sys.exit(main())
""".format(oldest=OLDEST, numbers=OLDEST.replace(".", ", "))


def build(checkout: str, output: str) -> None:
    """Write the archive.

    Raises :class:`UsageError` where this is no checkout, nothing can install, or the archive cannot be written, and
    :class:`EnvdoctorError` where an installation fails.
    """
    if not os.path.isfile(os.path.join(checkout, "pyproject.toml")):
        raise UsageError(f"{checkout} is no checkout of envdoctor: run this in one, with its envdoctor importable")
    with tempfile.TemporaryDirectory() as staging:
        _install(staging, [checkout], ["--no-deps"])
        _install(staging, REQUIREMENTS, _for_the_oldest())
        _keep_pure(staging)
        with open(os.path.join(staging, "__main__.py"), "w", encoding="utf-8") as file:
            file.write(_MAIN)
        try:
            zipapp.create_archive(staging, output, interpreter="/usr/bin/env python3", compressed=True)
        except OSError as error:
            raise UsageError(f"{output} could not be written: {error.strerror}; give another -o FILE") from error


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None


def _for_the_oldest() -> list[str]:
    if not _has_pip():
        return ["--python-version", OLDEST, "--python-platform", PLATFORM, "--only-binary=:all:"]
    machine, _, system = PLATFORM.partition("-")
    platforms = [f"--platform={system}_{machine}", "--platform=any"]
    return ["--python-version", OLDEST, "--implementation=cp", "--only-binary=:all:", *platforms]


def _install(directory: str, requirements: list[str], options: list[str]) -> None:
    uv = shutil.which("uv")
    if _has_pip():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    elif uv:
        command = [uv, "pip", "install", "--quiet", "--python", sys.executable]
    else:
        raise UsageError(f"{sys.executable} has no pip, and there is no uv on PATH: use a Python that has pip")
    words = [*command, "--target", directory, *options, *requirements]
    done = subprocess.run(words, check=False)  # noqa: S603 - the command is our own
    if done.returncode:
        raise EnvdoctorError(f"{' '.join(requirements)} could not be installed, for the reason given above")
    shutil.rmtree(os.path.join(directory, "bin"), ignore_errors=True)


def _keep_pure(directory: str) -> None:
    """Leave out compiled modules."""
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith((*_COMPILED, ".lock")):
                os.unlink(os.path.join(folder, name))


def main() -> None:
    """Build the archive from the checkout that this file is in."""
    parser = argparse.ArgumentParser(description="Build envdoctor.pyz, one file that runs on any Python >= 3.9.")
    parser.add_argument("-o", "--output", metavar="FILE", default="envdoctor.pyz", help="default: envdoctor.pyz")
    options = parser.parse_args()
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        build(checkout, options.output)
    except EnvdoctorError as error:
        sys.exit(f"envdoctor.workshop.pyz: {error}")
    print(f"wrote {options.output} ({os.path.getsize(options.output) // 1024} KiB)")


if __name__ == "__main__":
    main()
