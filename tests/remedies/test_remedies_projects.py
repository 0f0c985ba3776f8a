"""Projects of each tool, by the tool itself: a sick lock, the line of a plan, and a lock in which nothing is wrong."""

import json
import os
import re
import sys

import pytest
from conftest import environment, run, run_envdoctor
from interpreters import need
from wheel_index import serving, wheel

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(os.name == "nt", reason="runs the lines of a POSIX shell")]

RELEASES = {
    "core": {"1.9": [], "2.0": []},
    "shop": {"1.0": ["core"], "1.1": ["core"]},
    "lone": {"1.0": [], "1.1": []},
    "free": {"1.0": [], "1.1": []},
    "apart": {"1.0": []},
}
#: The first wants less of what only comes along, the second more of what is asked for.
RULES = {
    "shop-core2": ({"core": ">=2", "shop": "<1.1"}, [{"upgrade": "shop>=1.1"}, {"downgrade": "core<2"}]),
    "lone-old": ({"lone": "<1.1"}, [{"upgrade": "lone>=1.1"}]),
    "free-new": ({"free": ">=1.1"}, [{"downgrade": "free<1.1"}]),
}
ENVIRONMENT = ("--python", ".venv", "--project", ".")
HERE = "{}.{}".format(*sys.version_info)
PROJECT = """\
# mine
[project]
name = "mine"
version = "1"
requires-python = "=={here}.*"
dependencies = [
  "shop<1.1",  # the first
  "free",
  "apart",
]
[dependency-groups]
dev = ["lone<1.1"]
"""
PIPFILE = """\
# mine
[[source]]
url = "{index}"
verify_ssl = false
name = "here"

[packages]
shop = "<1.1"
free = "*"
apart = "*"

[dev-packages]
lone = "<1.1"
"""
SOURCE = '[tool.poetry]\npackage-mode = false\n[[tool.poetry.source]]\nname = "here"\nurl = "{index}"\npriority = "primary"\n'
OLD_PROJECT = """\
[tool.poetry]
package-mode = false

[tool.poetry.dependencies]
python = "{here}.*"
shop = "<1.1"  # the first
free = "*"
apart = "*"

[tool.poetry.group.dev.dependencies]
lone = "<1.1"
"""
#: By name: what has to be installed of it, the file of a project and its text, the lock, and what makes both.
TOOLS = {
    "uv": (None, "pyproject.toml", PROJECT, "uv.lock", ["uv sync --python {python}"]),
    "poetry": (
        "poetry", "pyproject.toml", PROJECT + SOURCE, "poetry.lock", ["poetry env use {python}", "poetry install"]
    ),
    "poetry-1": (
        "poetry==1.8.*", "pyproject.toml", OLD_PROJECT + SOURCE.partition("false\n")[2], "poetry.lock",
        ["poetry env use {python}", "poetry install"],
    ),
    "pdm": (
        "pdm[locked]", "pyproject.toml", PROJECT + "[tool.pdm]\ndistribution = false\n", "pdm.lock",
        ["uv venv --python {python}", "pdm use -f .venv/bin/python", "pdm install"],
    ),
    "pipenv": ("pipenv", "Pipfile", PIPFILE, "Pipfile.lock", ["pipenv --python {python} install --dev"]),
}  # fmt: skip


def tiny(name, version, requires):
    info = f"{name}-{version}.dist-info"
    sources = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    return f"{name}-{version}-py3-none-any.whl", wheel(sources, name, version, requires)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index of tiny wheels, the only one that anybody here asks, with the rules about them."""
    (tmp_path / "rules").mkdir()
    for name, (when, remedies) in RULES.items():
        rule = {
            "id": name, "title": name, "severity": "error", "impact": "crash", "when": {"packages": when}, "why": "So.",
            "remedies": remedies, "references": ["https://example.org/1"],
            "proof": {"script": "import core", "bad": [], "good": []},
        }  # fmt: skip
        (tmp_path / "rules" / f"{name}.yaml").write_text(json.dumps(rule))
    files = {}
    for name, releases in RELEASES.items():
        for version, requires in releases.items():
            files.update([tiny(name, version, requires)])
    with serving(monkeypatch, tmp_path / "cache", files) as server:
        yield server


@pytest.fixture
def around(index, tmp_path):
    """The environment variables under which each tool asks the index, and keeps an environment beside its project."""
    (tmp_path / "bin").mkdir()
    index = f"http://127.0.0.1:{index.server_port}/simple/"
    return environment(
        PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", XDG_CACHE_HOME=str(tmp_path / "cache"),
        UV_DEFAULT_INDEX=index, UV_CACHE_DIR=str(tmp_path / "uv"), PIP_INDEX_URL=index,
        POETRY_CACHE_DIR=str(tmp_path / "poetry"), POETRY_VIRTUALENVS_IN_PROJECT="true", PDM_PYPI_URL=index,
        PDM_CHECK_UPDATE="false", PDM_LOG_DIR=str(tmp_path / "log"), PIPENV_VENV_IN_PROJECT="1",
        PIPENV_CACHE_DIR=str(tmp_path / "pipenv"), PIPENV_PYPI_MIRROR=index,
    )  # fmt: skip


@pytest.fixture
def patient(tmp_path, around, index):
    """The project of a tool as that has made it: ``patient(tool)``; then a shell there, and envdoctor.

    Since it was made there is a newer release of what nothing is wrong with.
    """

    class Patient:
        folder = tmp_path / "project"

        def sh(self, line):
            done = run("sh", "-c", line, cwd=self.folder, env=around)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"

        def asks(self, command, *target):
            words = [command, *target, "--rules", tmp_path / "rules", "-f", "json"]
            return json.loads(run_envdoctor(*words, cwd=self.folder, env=around).stdout)

        def looks(self):
            """What is installed, and the files of the project."""
            freeze = run("uv", "pip", "freeze", "--python", ".venv", cwd=self.folder, env=around).stdout
            return freeze, {one.name: one.read_bytes() for one in self.folder.iterdir() if one.is_file()}

        def found(self, *target):
            return {one["rule"] for one in self.asks("check", *target)["findings"]}

    def make(tool):
        requirement, file, text, _, calls = TOOLS[tool]
        made = Patient()
        made.folder.mkdir()
        (made.folder / file).write_text(text.replace("{here}", HERE).replace("{index}", around["UV_DEFAULT_INDEX"]))
        if requirement:
            assert run("uv", "venv", "--quiet", "--python", need(HERE), tmp_path / "tool").returncode == 0
            done = run("uv", "pip", "install", "--quiet", "--python", tmp_path / "tool", requirement)
            assert done.returncode == 0, done.stderr
            program = re.match("[a-z]+", requirement)[0]
            (tmp_path / "bin" / program).symlink_to(tmp_path / "tool" / "bin" / program)
        index.html = tool == "poetry-1"  # which reads no JSON of an index of one's own
        for call in calls:
            made.sh(call.format(python=need(HERE)))
        index.wheels.update([tiny("apart", "1.5", [])])
        return made

    return make


@pytest.mark.parametrize("tool", TOOLS)
def test_a_plan_edits_and_locks_a_project_and_undo_brings_it_back(tool, patient):
    _, file, _, lock, _ = TOOLS[tool]
    sick, of_lock = patient(tool), ("-r", lock, "--python-version", HERE)
    assert sick.found(*of_lock) == sick.found(*ENVIRONMENT) == set(RULES)
    before = {name: (sick.folder / name).read_bytes() for name in (file, lock)}

    plan = sick.asks("fix", *ENVIRONMENT, "--apply")["plan"]
    assert {one["package"]: one["after"] for one in plan["moves"]} == {"core": "1.9", "lone": "1.1", "free": "1.0"}
    assert sick.found(*of_lock) == sick.found(*ENVIRONMENT) == set()
    assert sick.asks("fix", *ENVIRONMENT)["plan"]["moves"] == []
    applied = sick.looks()
    assert {"core==1.9", "apart==1.0"} < set(applied[0].splitlines())
    sick.sh(f"{sys.executable} -m envdoctor undo --python .venv")
    assert {name: (sick.folder / name).read_bytes() for name in (file, lock)} == before
    assert sick.found(*of_lock) == sick.found(*ENVIRONMENT) == set(RULES)

    assert sick.asks("fix", *of_lock, "--all")["plan"] == plan  # where what is for development is a warning
    (edit,) = plan["edits"]
    text = before[file].decode()
    wanted = text.replace("lone<1.1", "lone>=1.1,<2").replace('lone = "<1.1"', 'lone = ">=1.1,<2"')
    if tool != "uv":  # which moves within its lock what the project leaves open
        wanted = wanted.replace('"free"', '"free<1.1"').replace('free = "*"', 'free = "<1.1"')
    assert edit["after"] == wanted
    (sick.folder / file).write_text(edit["after"])
    sick.sh(plan["command"])
    assert sick.looks() == applied
    if tool != "pipenv":  # which sorts the table that it adds something to
        assert (sick.folder / file).read_text().startswith(wanted[: wanted.index("\n", wanted.index("apart"))])


def test_the_edits_of_a_plan_are_what_another_environment_is_made_from(patient):
    sick = patient("uv")
    for path in ("pyproject.toml", "uv.lock"):
        (sick.folder / path).unlink()
    (sick.folder / "requirements.txt").write_text(
        "# mine\nshop==1.0  # the first\n\nlone<1.1 ; python_version > '3'\n-c constraints.txt\nfree\n"
    )
    (sick.folder / "constraints.txt").write_text("core>=2  # of others\nfree==1.1\n")
    sick.sh(f"uv venv --clear --python {need(HERE)} && uv pip install --python .venv -r requirements.txt")

    plan = sick.asks("fix", *ENVIRONMENT, "--apply")["plan"]

    assert {os.path.basename(one["path"]) for one in plan["edits"]} == {"requirements.txt", "constraints.txt"}
    text = (sick.folder / "requirements.txt").read_text()
    assert text == "# mine\nshop==1.0  # the first\n\nlone>=1.1,<2 ; python_version > '3'\n-c constraints.txt\nfree\n"
    assert (sick.folder / "constraints.txt").read_text() == "core>=1.9,<2  # of others\nfree==1.0\n"
    sick.sh(f"uv venv --clear --python {need(HERE)} && uv pip install --python .venv -r requirements.txt")
    assert sick.found(*ENVIRONMENT) == set()
