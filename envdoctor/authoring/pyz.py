"""Build ``envdoctor.pyz``, one file that runs on any Python >= 3.9 and installs nothing.

    python -m envdoctor.authoring.pyz [-o envdoctor.pyz]

Run in a checkout. It builds the wheel, adds the pure-Python parts of what envdoctor needs, and zips them up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipapp

#: What goes in besides envdoctor itself. psutil is compiled for one platform and is left out: what needs it says so.
REQUIREMENTS = ["packaging>=22", "PyYAML>=6", "rich>=12"]
#: For Pythons that lack it in the standard library; the wheel without compiled parts is taken.
BACKPORTS = ["tomli>=2"]
_COMPILED = (".so", ".pyd", ".dll", ".dylib")
_MAIN = "import sys\nfrom envdoctor.cli import main\nsys.exit(main())\n"


def build(checkout: str, output: str) -> None:
    """Write the archive. Raises :class:`subprocess.CalledProcessError` where pip cannot fetch a requirement."""
    with tempfile.TemporaryDirectory() as staging:
        _install(staging, [checkout, *REQUIREMENTS])
        _install(staging, ["--no-deps", "--platform=any", "--only-binary=:all:", "--python-version=3.9", *BACKPORTS])
        _keep_pure(staging)
        with open(os.path.join(staging, "__main__.py"), "w", encoding="utf-8") as file:
            file.write(_MAIN)
        zipapp.create_archive(staging, output, interpreter="/usr/bin/env python3", compressed=True)


def _install(directory: str, words: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", directory]
    if words[0] != "--no-deps":
        command.append("--no-warn-conflicts")
    subprocess.run([*command, *words], check=True)  # noqa: S603 - our own interpreter, our own words


def _keep_pure(directory: str) -> None:
    """Leave out compiled modules, scripts, and distributions that only some platforms can run."""
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith("psutil") and name not in {"bin", "__pycache__"}]
        for name in names:
            if name.endswith(_COMPILED):
                os.unlink(os.path.join(folder, name))
    for name in os.listdir(directory):
        if name.startswith("psutil") or name == "bin":
            shutil.rmtree(os.path.join(directory, name))


def main() -> None:
    """Build the archive from the checkout that this file stands in."""
    parser = argparse.ArgumentParser(description="Build envdoctor.pyz, one file that runs on any Python >= 3.9.")
    parser.add_argument("-o", "--output", default="envdoctor.pyz", help="default: envdoctor.pyz")
    options = parser.parse_args()
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    build(checkout, options.output)
    print(f"wrote {options.output} ({os.path.getsize(options.output) // 1024} KiB)")


if __name__ == "__main__":
    main()
