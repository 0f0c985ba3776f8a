"""What to type: for each installer and shell, and, in real environments, what typing it does."""

import json
import os
import shutil
import sys
import zipfile

import pytest
from conftest import environment, run
from interpreters import each
from remedies.actions import PATH, command, examined, remedy

from envdoctor.facts import MANAGER
from envdoctor.model import Action, Distribution
from envdoctor.probes import answered
from envdoctor.remedies.commands import asked, installer, with_command


@pytest.fixture(autouse=True)
def _nothing_active(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


VERBS = {
    "upgrade": {"requirement": "left>=2"},
    "install": {"requirement": ["left[x]>=2,<3", "right!=1"]},
    "uninstall": {"package": ["left", "right"]},
    "reinstall": {"package": ["left", "other"]},
    "replace": {"package": "left", "requirement": "right<2"},
}


@pytest.mark.parametrize(
    ("tool", "commands"),
    [
        ("pip", [
            "/opt/env/bin/python -m pip install 'left>=2'",
            "/opt/env/bin/python -m pip install 'left[x]>=2,<3' 'right!=1'",
            "/opt/env/bin/python -m pip uninstall -y left right",
            "/opt/env/bin/python -m pip install --force-reinstall --no-deps left==1.0 other",
            "/opt/env/bin/python -m pip uninstall -y left && /opt/env/bin/python -m pip install 'right<2'",
        ]),
        ("uv", [
            "uv pip install --python /opt/env/bin/python 'left>=2'",
            "uv pip install --python /opt/env/bin/python 'left[x]>=2,<3' 'right!=1'",
            "uv pip uninstall --python /opt/env/bin/python left right",
            "uv pip install --python /opt/env/bin/python --reinstall --no-deps left==1.0 other",
            "uv pip uninstall --python /opt/env/bin/python left && uv pip install --python /opt/env/bin/python 'right<2'",
        ]),
        ("conda", [
            "conda install --prefix /opt/env 'left>=2'",
            "conda install --prefix /opt/env 'left>=2,<3' 'right!=1'",
            "conda remove --prefix /opt/env left right",
            "conda install --prefix /opt/env --force-reinstall left==1.0 other",
            "conda remove --prefix /opt/env left && conda install --prefix /opt/env 'right<2'",
        ]),
        ("Poetry 1.8.2", [
            "poetry add 'left>=2'", "poetry add 'left[x]>=2,<3' 'right!=1'", "poetry remove left right",
            "/opt/env/bin/python -m pip install --force-reinstall --no-deps left==1.0 other",
            "poetry remove left && poetry add 'right<2'",
        ]),
        ("pdm", [
            "pdm add 'left>=2'", "pdm add 'left[x]>=2,<3' 'right!=1'", "pdm remove left right",
            "/opt/env/bin/python -m pip install --force-reinstall --no-deps left==1.0 other",
            "pdm remove left && pdm add 'right<2'",
        ]),
    ],
)  # fmt: skip
def test_each_verb_in_the_words_of_each_installer(tool, commands):
    here = examined(["left", "right", "pip"], tool)

    assert [command(kind, here, **fields) for kind, fields in VERBS.items()] == commands


@pytest.mark.parametrize(
    ("tool", "installed_by", "line"),
    [
        ("poetry", "Poetry 1.8.2", "poetry lock --no-update && poetry install"),
        ("poetry", "Poetry 2.1.0", "poetry lock && poetry install"),
        ("pdm", "pdm", "pdm lock --update-reuse && pdm install"),
        ("pipenv", "pip", "pipenv upgrade && pipenv sync"),
        ("uv-project", "uv", "uv lock --upgrade-package left==2 && uv sync --inexact"),
    ],
)
def test_what_a_projects_file_says_is_locked_and_nothing_else_moves(tool, installed_by, line):
    manager = {"tool": tool, "direct": {"left": [], "right": ["--group", "test"]}, "admitted": {"left"}}
    here = examined(["left", "right", "pip"], installed_by)
    here = here.replace(facts=here.facts.having({MANAGER: {here.python["prefix"]: manager}}))

    assert command("install", here, requirement="left==2") == line
    both = command("install", here, requirement=["left==2", "right<2"])
    lock = line.partition(" && ")[0]
    assert lock in both
    assert " --group test 'right<2'" in both


@pytest.mark.parametrize(
    ("tool", "options", "line"),
    [
        ("poetry", ["--group", "test"], "poetry lock && poetry install --with test"),
        ("poetry", ["--optional", "net"], "poetry lock && poetry install --extras net"),
        ("pdm", ["--dev", "--group", "test"], "pdm lock --update-reuse && pdm install --dev --group test"),
        ("pipenv", ["--dev"], "pipenv upgrade --dev && pipenv sync --dev"),
        ("uv-project", ["--optional", "net"], "uv lock --upgrade-package left==2 && uv sync --inexact --extra net"),
    ],
)
def test_the_group_of_what_has_moved_is_installed_too(tool, options, line):
    here = examined(["left"])
    manager = {"tool": tool, "direct": {"left": options}, "admitted": {"left"}}
    here = here.replace(facts=here.facts.having({MANAGER: {here.python["prefix"]: manager}}))

    assert command("install", here, requirement="left==2") == line


@pytest.mark.parametrize("kind", ["downgrade", "pin", "upgrade", "install"])
def test_the_verbs_about_a_requirement_install_it(kind):
    assert command(kind, examined(["pip"]), requirement="left<2") == f"{PATH} -m pip install 'left<2'"


@pytest.mark.parametrize(
    ("written_by", "upgrade", "uninstall"),
    [
        ("uv.lock", "uv add 'left>=2'", "uv remove left"),
        ("poetry.lock", "poetry add 'left>=2'", "poetry remove left"),
        ("pdm.lock", "pdm add 'left>=2'", "pdm remove left"),
        ("Pipfile.lock", "pipenv install 'left>=2'", "pipenv uninstall left"),
        ("environment.yml", "conda install 'left>=2'", "conda remove left"),
        ("conda-lock.yml", "conda install 'left>=2'", "conda remove left"),
        ("requirements.txt", None, None),
        ("pylock.toml", None, None),
    ],
)
def test_a_lock_file_is_changed_by_what_wrote_it(written_by, upgrade, uninstall):
    here = examined(["left"], target={"kind": "requirements", "format": written_by}, python={"version": "3.11"})

    assert command("upgrade", here, requirement="left>=2") == upgrade
    assert command("uninstall", here, package="left") == uninstall
    assert command("reinstall", here, package="left") is None, "nothing is installed yet"


@pytest.mark.parametrize(
    ("here", "tool"),
    [
        (examined(["left", "pip"], "uv"), "uv"),
        (examined(["left", "pip"], "pip"), "pip"),
        (examined(["left"], "pip"), "uv"),
        (examined(["left", "pip"], "conda"), "conda"),
        (examined(["left", "pip"], "something new"), "pip"),
        (examined(["left"], None), "uv"),
        (examined(["other", "pip"], "uv"), "uv"),
        (examined(["left", "right", "pip"], {"left": "conda", "right": "pip"}), "conda"),
        (examined([], target={"kind": "snapshot"}, python={"version": "3.11"}), "pip"),
        (examined([], target={"kind": "text"}, python={}), "pip"),
        (examined([], target={"kind": "root"}, python={"version": "3.11"}), "pip"),
    ],
)
def test_the_installer_is_the_one_that_brought_the_distribution(here, tool):
    assert installer(here, Action(verb="install", requirements=("left>=2",))) == tool


def test_an_active_environment_needs_no_path(monkeypatch, tmp_path):
    link = tmp_path / "link"
    (tmp_path / "env").mkdir()
    link.symlink_to(tmp_path / "env")
    python = {
        "version": "3.11",
        "executable": str(tmp_path / "env" / "bin" / "python"),
        "prefix": str(tmp_path / "env"),
    }
    monkeypatch.setenv("VIRTUAL_ENV", str(link))

    def upgrade(tool):
        return command("upgrade", examined(["left", "pip"], tool, python=python), requirement="left>=2")

    assert upgrade("pip") == "python -m pip install 'left>=2'"
    assert upgrade("uv") == "uv pip install 'left>=2'"
    assert upgrade("conda") == "conda install 'left>=2'"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert upgrade("pip").startswith(python["executable"])


def test_another_python_is_a_new_environment_or_only_said():
    def downgrade(tool, **fields):
        return command("downgrade", examined(["left", "pip"], tool, **fields), requirement="python<3.11")

    assert downgrade("uv") == "uv venv --python '<3.11'"
    assert downgrade("conda") == "conda install --prefix /opt/env 'python<3.11'"
    assert downgrade("pip") is None
    assert downgrade("poetry") is None
    several = remedy("downgrade", ["left<2", "python<3.11"])
    assert with_command(several, examined(["left"], "uv")).command == "uv venv --python '<3.11'"


def test_nothing_can_be_typed_for_the_build_environment_or_for_words():
    assert command("pin", examined(["pip"]), requirement="left<2", at="build") is None
    assert command("change", examined(["pip"]), text="call the other name") is None
    assert command("set", examined(["pip"]), file="*.ini", key="a", to="b") is None


def test_quoting_for_posix_shells():
    python = {"version": "3.11", "executable": "/my env/bin/python", "prefix": "/my env"}
    here = examined(["left", "pip"], "pip", python=python)

    assert command("upgrade", here, requirement="left>=2") == "'/my env/bin/python' -m pip install 'left>=2'"
    assert command("setenv", here, name="X", to="a b$c") == "export X='a b$c'"
    assert command("setenv", here, name="X", to=0) == "export X=0"


def test_quoting_for_windows():
    python = {"version": "3.11", "executable": "C:\\Python 3\\python.exe", "prefix": "C:\\Python 3"}
    here = examined(["left", "pip"], "uv", python=python, platform={"system": "win32"})

    start = 'uv pip install --python "C:\\Python 3\\python.exe" '
    assert command("upgrade", here, requirement="left>=2") == start + '"left>=2"'
    assert command("upgrade", here, requirement="left[x]==2") == start + '"left[x]==2"'
    assert command("upgrade", here, requirement="left!=1,!=2") == start + '"left!=1,!=2"'
    assert command("upgrade", here, requirement="left==2") == start + "left==2"
    assert with_command(remedy("upgrade", "left==2"), here).text is None, "both shells take it"


def test_what_only_powershell_takes_says_so():
    python = {"version": "3.11", "executable": "C:\\it's $5\\python.exe", "prefix": "C:\\it's $5"}
    here = examined(["left", "pip"], "pip", python=python, platform={"system": "win32"})
    lines = {
        kind: with_command(remedy(kind, **fields), here)
        for kind, fields in {
            "upgrade": {"requirement": "left==2"},
            "replace": {"package": "left", "requirement": "right"},
            "setenv": {"name": "X", "to": 'a "$b"'},
        }.items()
    }

    python = "& 'C:\\it''s $5\\python.exe' -m pip"
    assert [one.command for one in lines.values()] == [
        f"{python} install left==2",
        f"{python} uninstall -y left; if ($?) {{ {python} install right }}",
        "$env:X = 'a \"$b\"'",
    ]
    assert {one.text for one in lines.values()} == {"for PowerShell"}


def test_requirements_of_old_metadata_become_words_that_installers_take():
    here = examined(["pip"])
    written = {
        "Jinja2 (>=3.0)": "'Jinja2>=3.0'",
        "left >= 1, < 2": "'left>=1,<2'",
        "left[ b , a ] (~=1.4)": "'left[a,b]~=1.4'",
        "left @ https://example.org/left-1.0.zip": "'left @ https://example.org/left-1.0.zip'",
        "left>=1 ; python_version < '3'": "'left>=1'",
        "left<2.post1": "'left<2.post1'",
    }

    assert {text: command("pin", here, requirement=text) for text in written} == {
        text: f"{PATH} -m pip install {word}" for text, word in written.items()
    }


@pytest.mark.parametrize(
    "hostile",
    [
        "-r http://example.org/x", "-r", "--index-url=http://example.org", "left --pre", "left==$(id)", "left===`id`",
        "left;rm -rf ~", "left\nright @ -e .", "left @ http://example.org/x\ny", 'left==1"&calc', "", "./left", "léft",
    ],
)  # fmt: skip
def test_what_is_no_requirement_is_never_typed_nor_shown(hostile):
    here = examined(["left", "pip"])
    typed = [
        with_command(remedy("install", ["left>=1", hostile]), here),
        with_command(remedy("reinstall", package=hostile), here),
        with_command(remedy("replace", package=hostile, requirement="left"), here),
    ]

    if hostile.startswith("left;"):  # its marker is left out, as every marker is
        assert typed.pop(0).command == f"{PATH} -m pip install 'left>=1' left"
    assert typed == [None] * len(typed)


def test_a_version_that_is_none_is_not_asked_for():
    here = examined(["left", "pip"], "pip")
    odd = here.replace(packages={**here.packages, "left": Distribution(name="left", version='1" & calc')})

    assert command("reinstall", odd, package="left") == f"{PATH} -m pip install --force-reinstall --no-deps left"


def test_a_path_that_cannot_be_typed_is_left_out():
    python = {"version": "3.11", "executable": "~/env/bin/python", "prefix": "~/env"}

    assert (
        command("upgrade", examined(["pip"], python=python), requirement="left==2") == "python -m pip install left==2"
    )


# -- effects: the printed command, run literally ---


def wheel(folder, name, version):
    """A wheel of one module that says which release it is."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Variables that let both installers see two distributions of our own, and no index."""
    folder = tmp_path_factory.mktemp("wheels")
    for name, version in (("envdoctorleft", "1.0"), ("envdoctorleft", "2.0"), ("envdoctorright", "1.0")):
        wheel(folder, name, version)
    quiet = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    quiet |= {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "UV_CACHE_DIR": str(folder / "cache")}
    return {**quiet, "UV_NO_INDEX": "1", "UV_FIND_LINKS": str(folder)}


class Sandbox:
    """A throw-away environment, the commands for it, and what it then holds."""

    def __init__(self, folder, variables):
        self.folder, self.variables = folder, environment(**variables)
        self.python = str(folder / "bin" / "python")

    def look(self):
        from envdoctor import examine

        return examine("python", self.python)

    def apply(self, **fields):
        """Print the command for a remedy, run it in a shell as it is, and give it back."""
        made = remedy(**fields)
        line = with_command(made, answered(self.look(), lambda now: asked([made], now))).command
        done = run("sh", "-c", line, env=self.variables)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return line

    def holds(self):
        packages = self.look().packages
        return {name: one.version for name, one in packages.items() if name.startswith("envdoctor")}

    def imports(self, name):
        return run(self.python, "-c", f"import {name}; print({name}.version)").stdout.strip()


@pytest.fixture(scope="session")
def pips(shared):
    """An environment as ``venv`` makes it, with pip: to be copied, for to make one takes seconds."""

    pytest.importorskip("ensurepip", reason="this Python makes no environment with pip")

    def build(folder):
        done = run(sys.executable, "-m", "venv", folder)
        assert done.returncode == 0, done.stderr

    return lambda folder: shutil.copytree(shared("with-pip", build), folder, symlinks=True)


def uvs(folder, python=sys.executable):
    """An environment as uv makes it, without pip."""
    done = run("uv", "venv", "--quiet", "--python", python, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(params=[pytest.param("pip", marks=pytest.mark.trials), "uv"])
def sandbox(request, tmp_path, index):
    if os.name == "nt" or not shutil.which("sh"):
        pytest.skip("the commands are run by a POSIX shell")
    if request.param == "uv" and not shutil.which("uv"):
        pytest.skip("uv is not on PATH")
    make = uvs if request.param == "uv" else request.getfixturevalue("pips")
    return Sandbox(make(tmp_path / "an env"), index)


def test_the_commands_do_what_they_say(sandbox):
    sandbox.apply(kind="install", requirement="envdoctorleft<2")
    assert sandbox.holds() == {"envdoctorleft": "1.0"}

    line = sandbox.apply(kind="upgrade", requirement="envdoctorleft>=2")
    assert sandbox.holds() == {"envdoctorleft": "2.0"}
    assert "an env" in line
    assert sandbox.imports("envdoctorleft") == "2.0"

    sandbox.apply(kind="downgrade", requirement="envdoctorleft<2")
    assert sandbox.holds() == {"envdoctorleft": "1.0"}

    sandbox.apply(kind="replace", package="envdoctorleft", requirement="envdoctorright>=1")
    assert sandbox.holds() == {"envdoctorright": "1.0"}

    sandbox.apply(kind="uninstall", package="envdoctorright")
    assert sandbox.holds() == {}


def test_a_reinstallation_brings_back_what_was_overwritten(sandbox):
    sandbox.apply(kind="install", requirement="envdoctorleft<2")
    where = run(sandbox.python, "-c", "import envdoctorleft; print(envdoctorleft.__file__)").stdout.strip()
    os.unlink(where)  # installers put files in place anew; what is there may be linked to a cache
    with open(where, "w", encoding="utf-8") as file:
        file.write("version = 'of another distribution'\n")
    assert sandbox.imports("envdoctorleft") == "of another distribution"

    line = sandbox.apply(kind="reinstall", package="envdoctorleft")

    assert sandbox.imports("envdoctorleft") == "1.0", line
    assert sandbox.holds() == {"envdoctorleft": "1.0"}, "the same release, although there is a newer one"


def test_a_variable_is_set_for_what_runs_next(sandbox):
    line = with_command(remedy("setenv", name="ENVDOCTOR_X", to="it's; 1"), sandbox.look()).command

    done = run(
        "sh", "-c", f"{line}\n{sandbox.python!r} -c 'import os, json; print(json.dumps(os.environ[\"ENVDOCTOR_X\"]))'"
    )

    assert json.loads(done.stdout) == "it's; 1"


@pytest.mark.parametrize("python", each(["3.9", "3.13"]))
def test_another_python_is_told_from_the_one_that_envdoctor_runs_in(python, tmp_path, index):
    here = Sandbox(uvs(tmp_path / "env", python), index)

    line = here.apply(kind="install", requirement="envdoctorright")

    assert str(tmp_path / "env") in line
    assert here.holds() == {"envdoctorright": "1.0"}
