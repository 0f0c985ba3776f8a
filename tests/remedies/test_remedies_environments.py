"""Environments as people have them: every command that is printed for one is taken by its tool, and is the right one."""

import json
import os
import sys

import pytest
import tools_of_remedies as tools

from envdoctor import doctor

pytestmark = pytest.mark.skipif(os.name == "nt", reason="builds environments in the layout of POSIX")

MISSING = {"right": ("1.0", "Requires-Dist: left (>=3.0)\n")}
OLD = {"right": ("1.0", "Requires-Dist: left (<2,>=1)\n"), "left": ("2.0", "")}
UV = '[project]\nname = "mine"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["right"]\n'
LOCK = 'version = 1\nrequires-python = ">=3.9"\n[[package]]\nname = "mine"\nversion = "1"\nsource = { virtual = "." }\n'
HERE = "{}.{}".format(*sys.version_info)


def environment(folder, distributions, installer="pip", files=()):
    """A virtual environment with the metadata of distributions, and files beside it; its prefix."""
    site = folder / "lib" / f"python{HERE}" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    home = os.path.dirname(os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion = {HERE}.{sys.version_info[2]}\n")
    metadata(site, {"pip": ("99", ""), **distributions} if installer == "pip" else distributions, installer)
    for name, text in dict(files).items():
        (folder / name).write_text(text)
    return folder


def metadata(site, distributions, installer):
    site.mkdir(parents=True, exist_ok=True)
    for name, (version, lines) in distributions.items():
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}\n")
        (info / "INSTALLER").write_text(installer)


def requires(line, **others):
    return {"right": ("1.0", f"Requires-Dist: {line}\n"), **others}


#: By name: the folder of the environment, what is installed, by what, files beside it, and the end of a command of it.
ENVIRONMENTS = {
    "parentheses": ("env", MISSING, "pip", {}, "-m pip install 'left>=3.0'"),
    "two bounds": ("env", OLD, "pip", {}, "-m pip install 'left<2,>=1'"),
    "spaces": ("env", requires("left >= 1, < 2", left=("2.0", "")), "pip", {}, "-m pip install 'left>=1,<2'"),
    "extras": ("env", requires("left[ a , b ] (>=1)"), "pip", {}, "-m pip install 'left[a,b]>=1'"),
    "an address": (
        "env", requires("left @ https://example.org/left-1.0.zip"), "pip", {},
        "-m pip install 'left @ https://example.org/left-1.0.zip'",
    ),
    "a marker": ("env", requires("left>=1 ; python_version >= '3'"), "pip", {}, "-m pip install 'left>=1'"),
    "an odd name": ("env", requires("Left_Pad.js (>1)"), "pip", {}, "-m pip install 'Left_Pad.js>1'"),
    "a post-release": ("env", requires("left (<2.post1)"), "pip", {}, "-m pip install 'left<2.post1'"),
    "uv": ("env", MISSING, "uv", {}, "uv pip install --python {prefix}/bin/python 'left>=3.0'"),
    "uv and extras": ("env", requires("left[x](~=1.0)"), "uv", {}, "uv pip install --python {prefix}/bin/python 'left[x]~=1.0'"),
    "a path with spaces": ("my env", OLD, "pip", {}, "'{prefix}/bin/python' -m pip install 'left<2,>=1'"),
    "uv and a path with spaces": ("my env", OLD, "uv", {}, "--python '{prefix}/bin/python' 'left<2,>=1'"),
    "a path with a dollar": ("$HOME env", OLD, "pip", {}, "'{prefix}/bin/python' -m pip install 'left<2,>=1'"),
    "a project of uv, a new requirement": (
        ".venv", MISSING, "uv", {"uv.lock": LOCK, "pyproject.toml": UV},
        "uv add --directory {project} 'left>=3.0'",
    ),
    "a project of uv, what another requires": (
        ".venv", OLD, "uv", {"uv.lock": LOCK, "pyproject.toml": UV},
        "uv lock --directory {project} --upgrade-package 'left<2,>=1' && uv sync --directory {project} --inexact",
    ),
    "a project of uv, its own requirement": (
        ".venv", OLD, "uv", {"uv.lock": LOCK, "pyproject.toml": UV.replace("right", "left")},
        "uv add --directory {project} 'left<2,>=1'",
    ),
    "a project of uv, a group": (
        ".venv", OLD, "pip",
        {"uv.lock": LOCK, "pyproject.toml": UV + '[dependency-groups]\ntest = ["left"]\n'},
        "uv add --directory {project} --group test 'left<2,>=1'",
    ),
    "no project of uv, though near one": ("other", MISSING, "uv", {"uv.lock": "version = 1\n"}, "--python {prefix}/bin/python 'left>=3.0'"),
    "a member of a family": (
        "env", {"tensorflow-cpu": ("2.19.0", ""), "protobuf": ("6.30.0", ""), "tf-keras": ("2.19.0", "")}, "pip", {},
        # nothing of it is for Python 3.14
        "-m pip install 'tensorflow-cpu>=2.20' 'tf-keras>=2.20'" if sys.version_info < (3, 14) else "-m pip install 'protobuf<6'",
    ),
    "hostile names": (
        "env", requires("-r http://example.org/evil\nRequires-Dist: $(touch evil)\nRequires-Dist: left (>=1)"), "pip", {},
        "-m pip install 'left>=1'",
    ),
}  # fmt: skip
OF_OTHERS = {
    "a project of Poetry": (
        ".venv", OLD, "poetry 1.8", {"poetry.lock": "", "pyproject.toml": '[tool.poetry.group.test.dependencies]\nleft = "*"\n'},
        "poetry add --directory {project} --group test 'left<2,>=1'",
    ),
    "a project of PDM": (
        ".venv", OLD, "pdm", {"pdm.lock": "", "pyproject.toml": '[dependency-groups]\ntest = ["left"]\n'},
        "pdm add --project {project} --dev --group test 'left<2,>=1'",
    ),
    "a project of Pipenv": (
        ".venv", OLD, "pip", {"Pipfile.lock": "{}", "Pipfile": '[dev-packages]\nleft = "*"\n'},
        "cd {project} && pipenv install --dev 'left<2,>=1'",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_active(monkeypatch):
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return tools.Shell(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="module")
def pip(tmp_path_factory):
    with tools.parser("pip", tmp_path_factory.mktemp("pip") / "env") as found:
        yield found


def printed(monkeypatch, prefix):
    """The commands for an environment, as it is examined where it is the active one, from elsewhere."""
    monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
    snapshot = doctor.examine()
    monkeypatch.delenv("VIRTUAL_ENV")
    return commands(snapshot)


def commands(snapshot):
    found = doctor.prescribed(doctor.check(snapshot)).findings
    return list(dict.fromkeys(one.command for finding in found for one in finding.remedies if one.command))


def build(tmp_path, name, installed, installer, files):
    prefix = environment(tmp_path / name, installed, installer)
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    return prefix


@pytest.mark.parametrize("case", ENVIRONMENTS)
def test_every_command_is_taken_by_its_tool(case, tmp_path, monkeypatch, shell, pip):
    *built, expected = ENVIRONMENTS[case]
    prefix = build(tmp_path, *built)
    lines = printed(monkeypatch, prefix)

    assert [line for line in lines if line.endswith(expected.format(prefix=prefix, project=tmp_path))], lines
    with shell.standing_in_for(prefix / "bin" / "python"):
        called = shell.calls(*lines)
    for line, calls in zip(lines, called):
        for call in calls:
            refused = pip.refused(call[3:]) if call[0] == "python" else tools.refused_by_uv(call[1:], tmp_path)
            assert refused is None, line
    assert not [line for line in lines if "evil" in line or " -r" in line or "sudo" in line]
    assert not (shell.folder / "evil").exists()


@pytest.mark.parametrize("case", OF_OTHERS)
def test_each_tool_is_spoken_to_in_its_own_words(case, tmp_path, monkeypatch):
    *built, expected = OF_OTHERS[case]
    lines = printed(monkeypatch, build(tmp_path, *built))

    assert [line for line in lines if line == expected.format(project=tmp_path)], lines


def test_in_the_current_project_it_need_not_be_named(tmp_path, monkeypatch):
    *built, _ = ENVIRONMENTS["a project of uv, a new requirement"]
    prefix = build(tmp_path, *built)
    monkeypatch.chdir(tmp_path)

    assert "uv add 'left>=3.0'" in printed(monkeypatch, prefix)


@pytest.mark.parametrize("debian", [True, False])
def test_nobody_is_told_to_install_into_the_python_of_the_operating_system(tmp_path, debian):
    library = tmp_path / "usr/lib/python3.11"
    metadata(tmp_path / "usr/lib/python3/dist-packages" if debian else library / "site-packages", MISSING, "debian")
    library.mkdir(exist_ok=True)
    for path in ("os.py", "EXTERNALLY-MANAGED"):
        (library / path).write_text("")
    (tmp_path / "usr/bin").mkdir()
    (tmp_path / "usr/bin/python3.11").write_text("")
    (tmp_path / "usr/bin/python3.11").chmod(0o755)
    if debian:
        (tmp_path / "etc").mkdir()
        (tmp_path / "etc/debian_version").write_text("12.0\n")

    found = doctor.prescribed(doctor.check(doctor.examine("root", str(tmp_path)))).findings

    (remedy, *others) = next(one for one in found if one.rule == "requirement-missing").remedies
    assert remedy.command == "/usr/bin/python3.11 -m venv .venv && .venv/bin/python -m pip install 'left>=3.0'"
    assert "the operating system manages this Python" in remedy.text
    assert ("apt install python3-left" in remedy.text) is debian
    assert [one.command for one in others] == [None]


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (
            "environment.yml",
            "dependencies:\n- python=3.11\n- protobuf=6.30.0\n- pip:\n  - tensorflow==2.19.0\n",
            "python -m pip install ",
        ),
        (
            "environment.yml",
            "dependencies:\n- python=3.11\n- pip\n- protobuf=6.30.0\n- tensorflow=2.19.0\n",
            "conda install ",
        ),
    ],
)
def test_the_part_of_pip_in_an_environment_of_conda_is_for_pip(file, text, expected, tmp_path):
    (tmp_path / file).write_text(text)

    found = doctor.prescribed(doctor.check(doctor.examine("requirements", str(tmp_path / file)))).findings

    lines = [
        one.command for finding in found for one in finding.remedies if one.command and "tensorflow" in one.command
    ]
    assert lines
    assert all(line.startswith(expected) for line in lines), lines


def test_a_new_environment_is_said_to_be_empty(tmp_path, monkeypatch):
    prefix = build(tmp_path, "env", {"joblib": ("1.1.0", "")}, "uv", {})
    monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
    snapshot = doctor.examine()
    monkeypatch.delenv("VIRTUAL_ENV")
    snapshot = snapshot.replace(python={**snapshot.python, "version": "3.11.4"})

    (remedy,) = [
        one
        for finding in doctor.prescribed(doctor.check(snapshot)).findings
        for one in finding.remedies
        if (one.requirement or "").startswith("python<")
    ]

    assert remedy.command == "uv venv --python '<3.11'"
    assert "the new environment is empty" in remedy.text
    assert f"uv pip freeze --python {prefix}/bin/python > freeze.txt" in remedy.text


def test_a_snapshot_of_somebody_else_names_no_program(tmp_path):
    facts = {
        "python": {"version": "3.11.4", "executable": "$(id)", "prefix": "-x"},
        "packages": {"right": "1.0", "left": '1"&calc', "-r evil": "1.0"},
        "requirements": {"right": ["left>=3", "-r evil", "up (>=1)"], "-r evil": ["left"]},
        "installer": {"right": "conda --evil"},
    }
    (tmp_path / "facts.json").write_text(json.dumps(facts))

    lines = commands(doctor.examine("snapshot", str(tmp_path / "facts.json")))

    assert "conda install 'up>=1'" in lines
    assert not [line for line in lines if "evil" in line or "$" in line or "&" in line]
