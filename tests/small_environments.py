"""Real virtual environments of tiny wheels, with all that an installer leaves in one, and what is in every file of it."""

import contextlib
import hashlib
import json
import os
import stat
import sys
import zipfile

from conftest import run

from envdoctor import doctor
from envdoctor.plans import Move, Plan


def wheel(folder, name, version, files, *metadata):
    """A wheel with these members, its metadata lines, and a command ``NAME`` that prints the version."""
    info = f"{name}-{version}.dist-info"
    header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata]
    contents = {
        **{path.format(data=f"{name}-{version}.data"): text for path, text in files.items()},
        f"{name}/__init__.py": files.get(f"{name}/__init__.py", f"def main():\n    print({version!r})\n"),
        f"{info}/METADATA": "\n".join(header) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*contents, f"{info}/RECORD"]))


def index(folder):
    """A directory of wheels: ``left`` 1.0 and 2.0, which differ in their files, and ``right``, which needs it."""
    folder.mkdir()
    shared = {"{data}/data/share/left/old.txt": "old", "left/old.py": "", "left/data/both.txt": "1.0"}
    wheel(folder, "left", "1.0", shared)
    more = {"{data}/data/share/left/new.txt": "new", "left/new.py": "", "left/data/both.txt": "2.0"}
    wheel(folder, "left", "2.0", more, "Requires-Dist: added")
    wheel(folder, "left", "3.0", {"left/__init__.py": "raise ImportError('no left')\n"})
    wheel(folder, "added", "1.0", {})
    wheel(
        folder,
        "right",
        "1.0",
        {"right/__init__.py": "import left\ndef main(): print('right')\n"},
        "Requires-Dist: left",
    )
    return folder


class Patient:
    """An environment with ``left`` 1.0, ``right``, an editable project, and compiled byte code."""

    def __init__(self, folder, wheels, python=sys.executable, installer="uv"):
        self.folder, self.wheels, self.installer = folder / "env", wheels, installer
        seed = ["--seed"] if installer == "pip" else []
        assert run("uv", "venv", "--quiet", *seed, "--python", python, self.folder).returncode == 0
        scripts = self.folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = scripts / ("python.exe" if os.name == "nt" else "python")
        (self.site,) = [*self.folder.glob("lib/python*/site-packages"), *self.folder.glob("Lib/site-packages")]
        self.install("left==1.0", "right==1.0")
        self._edit(folder / "project")

    def install(self, *requirements):
        done = run("/bin/sh", "-c", self.line(*requirements))
        assert done.returncode == 0, done.stderr

    def line(self, *requirements):
        """The command that installs some requirements from the wheels."""
        tool = f"uv pip install --python {self.python} --compile-bytecode"
        if self.installer == "pip":
            tool = f"{self.python} -m pip install --disable-pip-version-check"
        return f"{tool} --quiet --no-index --find-links {self.wheels} {' '.join(requirements)}"

    def _edit(self, project):
        (project / "mine").mkdir(parents=True)
        (project / "mine" / "__init__.py").write_text("import right\n")
        info = self.site / "mine-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\nRequires-Dist: left\n\n")
        direct = {"url": f"file://{project}", "dir_info": {"editable": True}}
        (info / "direct_url.json").write_text(json.dumps(direct))
        (info / "RECORD").write_text("mine.pth,,\nmine-1.0.dist-info/RECORD,,\n")
        (self.site / "mine.pth").write_text(f"{project}\n")

    def files(self):
        """What is in each file, link and directory; not what envdoctor keeps there, nor uv's lock."""
        return contents(self.folder)

    def plan(self, version="2.0", line=None, edits=()):
        moves = [Move(package="left", before="1.0", after=version), Move(package="added", before=None, after="1.0")]
        return Plan(moves=moves, line=line or self.line(f"left=={version}"), edits=edits)

    def snapshot(self):
        return doctor.examine("python", str(self.python))


def contents(top):
    """What is in each file, link and directory; an installer may still be at work."""
    found = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != ".envdoctor"]
        for path in (os.path.join(folder, name) for name in (*folders, *names) if name != ".lock"):
            with contextlib.suppress(FileNotFoundError):
                found[os.path.relpath(path, top)] = _said(path)
    return found


def _said(path):
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    if stat.S_ISDIR(mode):
        return stat.S_IMODE(mode)
    with open(path, "rb") as file:
        return stat.S_IMODE(mode), hashlib.sha256(file.read()).hexdigest()
