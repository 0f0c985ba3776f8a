"""Real environments of a few tiny distributions, and the real tracebacks that programs end with in them.

``build(python, folder, {name: (version, {file: text}, metadata)})`` makes a virtual environment without an installer.
"""

import os
import subprocess

from conftest import environment, run


class Built:
    """A virtual environment whose distributions were written as an installer writes them."""

    def __init__(self, python, folder, distributions):
        done = run("uv", "venv", "--quiet", "--no-project", "--python", python, folder)
        assert done.returncode == 0, done.stderr
        self.folder = folder
        self.python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
        (site,) = [*folder.glob("lib/python*/site-packages"), *folder.glob("Lib/site-packages")]
        self.site = site
        for name, (version, files, *metadata) in distributions.items():
            self.add(name, version, files, *metadata)

    def add(self, name, version, files, *metadata):
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata]
        written = {**files, f"{info}/METADATA": "\n".join(header) + "\n\n", f"{info}/INSTALLER": "uv\n"}
        written[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*written, f"{info}/RECORD"])
        for file, text in written.items():
            path = self.site / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def fails(self, program, *options, name="app.py"):
        """What a program writes to standard error when it fails."""
        path = self.folder / name
        path.write_text(program)
        done = subprocess.run(
            [self.python, *options, str(path)],
            capture_output=True, text=True, check=False, cwd=self.folder, timeout=300,
            env=environment(PYTHONDONTWRITEBYTECODE="1"),  # a source that is written anew within a second counts
        )  # fmt: skip
        assert done.returncode, "the program was meant to fail"
        return done.stderr
