"""Which environment is examined when none is named, with envdoctor installed as a tool, as most people do."""

import json
import os
import shlex
import shutil
import sys

import pytest
from conftest import environment, run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="builds environments in the layout of POSIX")

#: What a shell has besides; the Pythons among it are distinguished by their directories.
SYSTEM = "/usr/bin:/bin"
RULE = "werkzeug3-url-helpers-removed"
LOCK = """\
version = 1
requires-python = ">=3.9"

[[package]]
name = "demo"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "flask" }]

[[package]]
name = "flask"
version = "2.2.2"
source = { registry = "https://index.example.org/simple" }
dependencies = [{ name = "werkzeug" }]

[[package]]
name = "werkzeug"
version = "3.0.0"
source = { registry = "https://index.example.org/simple" }
"""


@pytest.fixture(scope="session")
def tool(wheel, tmp_path_factory):
    """The ``envdoctor`` that ``uv tool install`` makes, in a separate directory of commands."""
    top = tmp_path_factory.mktemp("tool")
    variables = environment(UV_TOOL_DIR=str(top / "tools"), UV_TOOL_BIN_DIR=str(top / "bin"))
    done = run("uv", "tool", "install", "--quiet", "--python", sys.executable, wheel, env=variables)
    assert done.returncode == 0, done.stderr
    return top / "bin" / "envdoctor"


@pytest.fixture(scope="session")
def pipx_tool(wheel, tmp_path_factory):
    """An environment as pipx makes it, with what it leaves there, and a command that leads into it."""
    top = tmp_path_factory.mktemp("pipx")
    folder = top / "venvs" / "pyenvdoctor"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--python", folder, wheel, "iniconfig")
    assert done.returncode == 0, done.stderr
    (folder / "pipx_metadata.json").write_text("{}")
    (top / "bin").mkdir()
    (top / "bin" / "envdoctor").symlink_to(folder / "bin" / "envdoctor")
    return top / "bin" / "envdoctor"


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare") / "env"
    assert run(sys.executable, "-m", "venv", "--without-pip", folder).returncode == 0
    return folder


@pytest.fixture
def make(bare):
    """Make an environment that holds nothing but these distributions: ``make(folder, name="1.0")``."""

    def make(folder, **versions):
        shutil.copytree(bare, folder, symlinks=True)
        for name, version in versions.items():
            add(folder, name, version)
        return folder

    return make


def site(folder):
    (found,) = folder.glob("lib/python*/site-packages")
    return found


def add(folder, name, version, metadata=""):
    info = site(folder) / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}\n")


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def broken(project, make):
    """A project with an environment in which ``import flask`` fails, and a program that imports it."""
    folder = make(project / ".venv", flask="2.2.2", werkzeug="3.0.0")
    (site(folder) / "flask").mkdir()
    (site(folder) / "flask" / "__init__.py").write_text("from werkzeug.urls import url_quote\n")
    (site(folder) / "werkzeug").mkdir()
    (site(folder) / "werkzeug" / "__init__.py").touch()
    (site(folder) / "werkzeug" / "urls.py").touch()
    (project / "train.py").write_text("import flask\n")
    return project


@pytest.fixture
def shell(tmp_path, tool):
    """The variables of a shell in which nothing is active; ``PATH`` has the tool and the system."""

    def shell(path=(), **changes):
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        names = {name: str(value) for name, value in changes.items()}
        kept = {
            name: value for name, value in environment().items() if not name.startswith(("XDG_", "POETRY", "HATCH"))
        }
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        return {**kept, **own, "PATH": ":".join([*map(str, path), str(tool.parent), SYSTEM]), **names}

    return shell


@pytest.fixture
def examined(tool, project, shell):
    """What ``envdoctor -f json`` says in the project, as ``(document, target)``."""

    def examined(*words, cwd=project, command=tool, path=(), **variables):
        done = run(command, *words, "-f", "json", cwd=cwd, env=shell(path, **variables))
        assert done.returncode in {0, 1}, done.stderr
        document = json.loads(done.stdout)
        return document, document["target"]

    return examined


def rules(document):
    return [one["rule"] for one in document["findings"] if "python" not in one["facts"]]


# --- the README's command lines -------------------------------------------------------------------------------------


def test_a_tool_examines_the_environment_of_the_project_and_says_so(broken, tool, shell):
    done = run(tool, cwd=broken, env=shell())

    assert done.returncode == 1
    assert "2.2.2" in done.stdout
    assert RULE in done.stdout
    assert "at .venv of this project" in done.stdout


def test_a_tool_reads_a_lock_file_that_is_named(project, examined):
    (project / "uv.lock").write_text(LOCK)

    document, target = examined("-r", "uv.lock", "--python-version", "3.12")

    assert rules(document) == [RULE]
    assert (target["format"], target["chosen"]) == ("uv.lock", "named by --requirements")


@pytest.mark.parametrize("place", [".", "/"])
def test_a_traceback_is_held_against_the_environment_that_it_comes_from(broken, tool, shell, place):
    program = f"{broken}/.venv/bin/python {broken}/train.py 2>&1 | {shlex.quote(str(tool))} explain -"

    done = run("sh", "-c", f"{program}; {program} -f json", cwd=broken if place == "." else place, env=shell())

    said, _, document = done.stdout.partition("\n{\n")
    assert "confirmed by the environment" in said
    assert f"at {broken}/.venv, the environment of the traceback" in said
    document = json.loads("{" + document)
    assert [(one["rule"], one["confirmed"]) for one in document["findings"]][:1] == [(RULE, True)]


def test_of_several_environments_in_a_traceback_most_frames_decide_then_the_innermost(broken, make, tmp_path):
    from envdoctor.targets.traced import traced

    other = make(tmp_path / "other")
    files = [site(broken / ".venv") / "flask" / "__init__.py", site(broken / ".venv") / "werkzeug" / "urls.py"]
    (site(other) / "deep.py").touch()

    def place(*files):
        found = traced([str(file) for file in files])
        return found and found.place

    assert place(*files, site(other) / "deep.py") == str(broken / ".venv")
    assert place(files[0], site(other) / "deep.py") == str(other)
    assert place(site(other) / "gone.py", broken / "train.py") is None


def test_an_environment_without_the_packages_of_a_traceback_rules_nothing_out(broken, project, make, examined):
    text = run(broken / ".venv" / "bin" / "python", "train.py", cwd=broken).stderr.replace(str(broken), "/elsewhere")
    (broken / "error.log").write_text(text)
    explained = [*("explain", "error.log"), "--python"]

    other, _ = examined(*explained, make(project / "other", unrelated="1.0"))
    same, _ = examined(*explained, make(project / "same", flask="2.3.0", werkzeug="2.3.0"))

    assert (other["findings"][0]["rule"], other["findings"][0]["confirmed"]) == (RULE, None)
    assert RULE not in [one["rule"] for one in other["ruled_out"]]
    assert RULE in [one["rule"] for one in same["ruled_out"]]


# --- where nothing is named ------------------------------------------------------------------------------------------


def test_the_active_environment_comes_first(broken, make, examined, tmp_path):
    active, conda = make(tmp_path / "active", one="1.0"), make(tmp_path / "conda")

    for variables, place in (
        ({"VIRTUAL_ENV": active, "CONDA_PREFIX": conda}, active),
        ({"CONDA_PREFIX": conda}, conda),
        ({"CONDA_PREFIX": conda, "CONDA_DEFAULT_ENV": "base"}, broken / ".venv"),
    ):
        _, target = examined(**variables)
        assert target["path"] == str(place)
    assert examined(CONDA_PREFIX=conda)[1]["chosen"] == "the active environment (CONDA_PREFIX)"


def test_a_variable_that_names_no_environment_is_passed_over_and_said(broken, tool, shell):
    done = run(tool, cwd=broken, env=shell(VIRTUAL_ENV=broken / "gone"))

    assert ".venv of this project" in done.stdout
    assert f"VIRTUAL_ENV (it names {broken}/gone, where there is no environment)" in " ".join(done.stdout.split())


def test_the_environment_of_the_nearest_directory_counts(broken, make, examined):
    below = broken / "src" / "package"
    below.mkdir(parents=True)
    assert examined(cwd=below)[1]["path"] == str(broken / ".venv")

    nearer = make(broken / "src" / "venv")

    _, target = examined(cwd=below)
    assert (target["path"], target["chosen"]) == (str(nearer), "venv of this project")
    shutil.rmtree(broken / ".venv")
    nearer.rename(broken.parent / "venv")  # in the home directory: it is not of any project
    assert examined(cwd=below)[1]["path"] != str(broken.parent / "venv")


def test_the_environment_of_another_user_is_not_taken(broken, examined):
    if os.geteuid():
        pytest.skip("only root can give a directory away")
    below = broken / "below"
    below.mkdir()
    os.chown(broken / ".venv", 12345, 12345)

    assert examined(cwd=below)[1]["path"] != str(broken / ".venv")
    (broken / "error.log").write_text(run(broken / ".venv" / "bin" / "python", "train.py", cwd=broken).stderr)
    assert "site-packages" in (broken / "error.log").read_text()
    assert examined("explain", "../error.log", cwd=below)[1]["path"] != str(broken / ".venv")


def test_uv_says_where_it_keeps_the_environment(broken, make, examined):
    make(broken / "elsewhere", two="2.0")

    assert examined(UV_PROJECT_ENVIRONMENT="elsewhere")[1]["path"] == str(broken / "elsewhere")


def test_an_environment_on_path_is_what_a_docker_file_means(project, make, examined, tmp_path):
    (project / "uv.lock").write_text(LOCK)
    folder = make(project.parent / "image", one="1.0")

    for path in (folder / "bin", "../image/bin"):
        document, target = examined(path=[path])
        assert (target["path"], target["chosen"]) == (str(folder), "python on PATH")
        assert rules(document) == []


@pytest.mark.parametrize("kind", ["tool", "pipx_tool", "installed"])
def test_an_environment_made_for_envdoctor_is_examined_by_name_alone(kind, request, project, shell, examined):
    command = request.getfixturevalue(kind)
    prefix = command.resolve().parent.parent
    assert (prefix / "pyvenv.cfg").exists()

    done = run(command, cwd=project, env={**shell(), "PATH": str(prefix / "bin")})

    assert (done.returncode, done.stdout) == (3, "")
    assert "there is no environment to examine" in done.stderr
    assert "--python PATH" in done.stderr
    _, target = examined("--python", prefix)
    assert (target["path"], target["chosen"]) == (str(prefix), "named by --python")
    _, target = examined(VIRTUAL_ENV=prefix, command=command)
    assert target["path"] == str(prefix)


def test_a_library_examines_the_environment_that_it_is_in(wheel, make_environment, examined, shell, project, make):
    folder = make_environment(sys.executable, wheel, "iniconfig", name="mine")
    script, python = folder / "bin" / "envdoctor", folder / "bin" / "python"

    assert examined(command=script, PATH="/nowhere")[1]["chosen"] == "the interpreter that runs envdoctor"
    assert examined(command=script, path=[folder / "bin"])[1]["chosen"] == "python on PATH"
    make(project / ".venv")
    assert examined(command=script)[1]["path"] == str(project / ".venv")
    done = run(python, "-m", "envdoctor", cwd=project, env=shell())
    assert "the interpreter that runs envdoctor" in done.stdout.splitlines()[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="the ancestors of a process are read from /proc")
def test_in_a_notebook_the_kernel_counts(broken, make, tool, shell, tmp_path):
    """The test is the server, which starts the kernel, which starts a shell for ``!envdoctor``."""
    kernel = make(tmp_path / "kernel", one="1.0")
    program = f"import subprocess; subprocess.run({str(tool)!r} + ' -f json; true', shell=True)"
    variables = shell(JPY_PARENT_PID=os.getpid(), VIRTUAL_ENV=broken / ".venv")

    done = run(kernel / "bin" / "python", "-c", program, cwd=broken, env=variables)

    target = json.loads(done.stdout)["target"]
    assert (target["path"], target["chosen"]) == (str(kernel), "the kernel of this notebook")


# --- what tools keep elsewhere -----------------------------------------------------------------------------------------


def test_the_name_that_poetry_pipenv_and_hatch_give_an_environment():
    from envdoctor.targets.manager_environments import _digest

    assert _digest("/tmp/t/Pro jects/My_App") == "ojBWlgz-"  # poetry 2 made my-app-x-ojBWlgz--py3.12
    assert _digest("/tmp/t/Pro jects/h_at") == "hew9wJ9w"  # hatch 1 made h-at-x/hew9wJ9w/h-at-x
    assert _digest("/tmp/t/Pro jects/pip env/Pipfile") == "O1IMpoNo"  # pipenv made pip_env-O1IMpoNo


@pytest.mark.parametrize("kept", [False, True])
def test_poetry_keeps_environments_in_its_cache_or_where_its_settings_say(project, make, examined, tmp_path, kept):
    from envdoctor.targets.manager_environments import _digest

    (project / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    folder = tmp_path / "kept" if kept else tmp_path / "cache" / "pypoetry" / "virtualenvs"
    if kept:
        (project / "poetry.toml").write_text(f'[virtualenvs]\npath = "{folder}"\n')
    name = f"demo-{_digest(str(project))}"
    old, new = make(folder / f"{name}-py3.9", one="1.0"), make(folder / f"{name}-py3.10", two="2.0")
    make(folder / "demo-AAAAAAAA-py3.11")
    os.utime(old, (1, 1))

    _, target = examined(PATH="/nowhere")
    assert (target["path"], target["chosen"]) == (str(new), "what poetry keeps for this project")
    (folder / "envs.toml").write_text(f'[{name}]\nminor = "3.9"\npatch = "3.9.1"\n')
    assert examined(PATH="/nowhere")[1]["path"] == str(old)


def test_pdm_names_an_interpreter(project, make, examined, tmp_path):
    folder = make(tmp_path / "kept")
    (project / ".pdm-python").write_text(f"{folder}/bin/python")

    _, target = examined()

    assert (target["path"], target["chosen"]) == (str(folder), "what pdm keeps for this project")


def test_pipenv_and_hatch_keep_environments_under_a_digest(project, make, examined, tmp_path):
    from envdoctor.targets.manager_environments import _digest

    (project / "pyproject.toml").write_text('[project]\nname = "My_demo"\n')
    hatch = make(tmp_path / "home/.local/share/hatch/env/virtual/my-demo" / _digest(str(project)) / "my-demo")
    assert examined()[1]["path"] == str(hatch)
    (project / "Pipfile").touch()
    pipenv = make(tmp_path / "work" / f"project-{_digest(str(project / 'Pipfile'))}")
    assert examined(WORKON_HOME=tmp_path / "work")[1]["path"] == str(pipenv)


# --- a lock file -------------------------------------------------------------------------------------------------------


def test_a_lock_file_is_examined_where_nothing_is_installed(project, tool, shell):
    (project / "uv.lock").write_text(LOCK)
    (project / ".python-version").write_text("3.12\n")
    (project / "src").mkdir()

    for place, path in ((project, "uv.lock"), (project / "src", f"{project}/uv.lock")):
        done = run(tool, cwd=place, env=shell())
        assert RULE in done.stdout
        said = f"at {path}, the lock file of this project, for the Python of .python-version; nothing is installed"
        assert said in done.stdout


def test_drift_between_environment_and_lock_file_is_one_remark(project, make, examined, tool, shell):
    text = LOCK.replace('version = "2.2.2"', 'version = "2.3.3"')
    (project / "uv.lock").write_text(text + '[[package]]\nname = "gunicorn"\nversion = "1.0"\n')
    make(project / ".venv", flask="2.3.2", werkzeug="3.0.0", demo="0.2.0")  # the last is the project itself

    document, target = examined()

    assert rules(document) == ["lock-drift"]
    finding = document["findings"][-1]
    assert (finding["severity"], finding["packages"]) == ("info", ["flask"])
    assert [(one["fact"], one["value"]) for one in finding["evidence"]] == [
        ("packages.flask", "2.3.2"), ("lock.flask", "2.3.3"),
    ]  # fmt: skip
    assert finding["evidence"][1]["source"].startswith(f"{project}/uv.lock")
    assert "uv sync" in finding["remedies"][0]["text"]
    assert target["chosen"] == ".venv of this project"
    worst = {one["severity"] for one in document["findings"]}  # a newer Python does not run these releases
    assert run(tool, cwd=project, env=shell()).returncode == ("error" in worst)


@pytest.mark.parametrize(
    "installed", [{"flask": "2.3.3"}, {"flask": "2.2.2"}, {"flask": "2.2.2+local"}, {"other": "1"}, {}]
)
def test_what_markers_extras_and_builds_explain_is_no_drift(project, make, examined, installed):
    fork = '[[package]]\nname = "flask"\nversion = "2.3.3"\nresolution-markers = ["python_full_version < \'4\'"]\n'
    (project / "uv.lock").write_text(LOCK.replace('"3.0.0"', '"2.3.0"') + fork)
    make(project / ".venv", **installed)

    assert "lock-drift" not in rules(examined()[0])


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("poetry.lock", '[[package]]\nname = "Six"\nversion = "1.17.0"\n[metadata]\nlock-version = "2.1"\n', "poetry sync"),
        ("pdm.lock", '[metadata]\nlock_version = "4.5"\n[[package]]\nname = "six"\nversion = "1.17.0"\n', "pdm sync"),
        ("pylock.toml", 'lock-version = "1.0"\n[[packages]]\nname = "six"\nversion = "1.17.0"\n', "uv pip sync pylock.toml"),
        ("Pipfile.lock", '{"_meta": {}, "default": {"six": {"version": "==1.17.0"}}}\n', "pipenv sync"),
    ],
)  # fmt: skip
def test_each_kind_of_lock_file_shows_drift(project, make, examined, name, text, command):
    (project / name).write_text(text)
    folder = make(project / ".venv", six="1.16.0")

    for words in ([], ["--python", folder]):
        (finding,) = examined(*words)[0]["findings"]
        assert finding["title"] == f"what is installed is not what {name} says: six"
        assert command in finding["remedies"][0]["text"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", '[[package]]\nname = "six"\nversion = "1.17.0"\nhere it = breaks\n'),
        ("uv.lock", "\x00 nothing of a lock"),
        ("Pipfile.lock", '{"default": {"six": {"version": "==1.17.0"}'),
    ],
)
def test_a_lock_file_that_cannot_be_read_says_so(project, make, examined, name, text):
    (project / name).write_text(text)
    make(project / ".venv", six="1.16.0")

    document, _ = examined()

    assert document["findings"] == []
    (unknown,) = document["unknown"]
    assert unknown["fact"] == "installed.drift"
    assert f"{project}/{name}" in unknown["reason"]


def test_a_python_that_holds_what_is_locked_is_the_installation(make, project, examined, tmp_path):
    """As in an image, where everything is installed into the system's Python: it comes before the lock file."""
    prefix = tmp_path / "system"
    (prefix / "bin").mkdir(parents=True)
    folder = make(tmp_path / "real", flask="2.2.2", werkzeug="2.3.0", click="8.0", six="1.17.0")
    (prefix / "bin" / "python").write_text(f'#!/bin/sh\nexec {folder}/bin/python "$@"\n')
    (prefix / "bin" / "python").chmod(0o755)
    more = '[[package]]\nname = "{}"\nversion = "{}"\n'
    (project / "uv.lock").write_text(LOCK + more.format("click", "8.0") + more.format("six", "1.17.0"))

    document, target = examined(path=[prefix / "bin"])

    assert (target["kind"], target["chosen"]) == ("interpreter", "python on PATH")
    assert rules(document) == ["lock-drift"]
    for name in ("click-8.0", "flask-2.2.2"):  # what remains is there by chance, in one version or another
        shutil.rmtree(site(folder) / f"{name}.dist-info")
    assert examined(path=[prefix / "bin"])[1]["kind"] == "requirements"
