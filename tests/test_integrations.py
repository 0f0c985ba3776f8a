"""The integrations of docs/integrations.md against what they are for: git hooks, a workflow's step, a build."""

import os
import re
import shutil
import subprocess
import sys

import interpreters
import pytest
import yaml
from conftest import CHECKOUT, environment, run, run_envdoctor
from images import Image

SICK = "flask==1.1.2\nwerkzeug==3.0.1\njinja2==2.11.3\nmarkupsafe==1.1.1\nitsdangerous==2.0.1\nclick==8.1.7\n"
PAGE = os.path.join(CHECKOUT, "docs", "integrations.md")


def snippets(language):
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(rf"```{language}\n(.*?)```", file.read(), re.DOTALL)


def load(name):
    with open(os.path.join(CHECKOUT, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


@pytest.mark.parametrize(
    ("path", "is_judged"),
    [
        ("requirements.txt", True), ("docs/requirements-dev.txt", True), ("uv.lock", True), ("a/poetry.lock", True),
        ("pylock.dev.toml", True), ("conda-lock.yml", True), ("environment.yaml", True), ("Pipfile.lock", True),
        ("pyproject.toml", False), ("notes.txt", False), ("yarn.lock", False), ("requirements.txt.j2", False),
    ],
)  # fmt: skip
def test_the_hook_takes_files_that_check_can_read(path, is_judged, tmp_path):
    (hook,) = load(".pre-commit-hooks.yaml")
    assert bool(re.search(hook["files"], path)) is is_judged
    name = tmp_path / os.path.basename(path)
    name.write_text("")
    program, *words = hook["entry"].split()
    done = run_envdoctor(*words, name)
    assert program == "envdoctor"
    assert ("one word too many" not in done.stderr) is is_judged


def test_several_files_are_judged_each_by_itself(tmp_path):
    for name, text in (("requirements.txt", SICK), ("requirements-docs.txt", "werkzeug==3.0.1\n")):
        (tmp_path / name).write_text(text)
    words = ("check", "requirements.txt", "requirements-docs.txt", "--python-version", "3.9")
    done = run_envdoctor(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("2 environments in requirements.txt, requirements-docs.txt: 1 error\n")
    assert done.stdout.count("werkzeug21-helpers-removed") == 1


@pytest.mark.heavy
def test_the_hook_runs_from_a_clone(tmp_path):
    clone, project = tmp_path / "clone", tmp_path / "project"
    run("git", "clone", "--quiet", CHECKOUT, clone)
    revision = run("git", "rev-parse", "HEAD", cwd=clone).stdout.strip()
    (text,) = [one for one in snippets("yaml") if one.startswith("repos:")]
    text = text.replace("https://github.com/OWNER/envdoctor", str(clone)).replace("REVISION", revision)
    project.mkdir()
    run("git", "init", "--quiet", cwd=project)
    (project / ".pre-commit-config.yaml").write_text(text.replace("3.12", "3.9"))
    (project / "requirements.txt").write_text(SICK)
    run("git", "add", "-A", cwd=project)
    words = ("uv", "tool", "run", "--python", sys.executable, "pre-commit", "run", "--all-files")
    done = run(*words, cwd=project, env=environment(PRE_COMMIT_HOME=str(tmp_path / "home")))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "werkzeug21-helpers-removed" in done.stdout


def annotated(tmp_path, script, programs, **values):
    """Run a script with the variables of the action's step, as GitHub calls bash, on sick pins."""
    action = load("action.yml")
    inputs = {name: value["default"] for name, value in action["inputs"].items()}
    inputs["arguments"] = "-r requirements.txt --python-version 3.9"
    variables = {
        name: CHECKOUT if "action_path" in value else inputs[re.search(r"inputs\.([\w-]+)", value)[1]]
        for name, value in action["runs"]["steps"][0]["env"].items()
    }
    (tmp_path / "requirements.txt").write_text(SICK)
    variables["PATH"] = os.pathsep.join([str(programs), os.environ["PATH"]])
    words = (shutil.which("bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
    done = run(*words, cwd=tmp_path, env=environment(**variables, **values))
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=requirements.txt,line=")


def test_the_step_of_the_action_annotates(installed, tmp_path):
    *_, last = load("action.yml")["runs"]["steps"][0]["run"].splitlines()
    annotated(tmp_path, last, tmp_path, tool=str(installed.parent.parent))


@pytest.mark.heavy
def test_the_step_of_the_action_installs_and_annotates(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(interpreters.need("3.11"))
    annotated(tmp_path, load("action.yml")["runs"]["steps"][0]["run"], tmp_path / "bin")


def test_the_build_step_judges_the_python_of_the_image(installed, tmp_path):
    (step, _) = (line for text in snippets("dockerfile") for line in text.splitlines() if line.startswith("RUN"))
    command = step.removeprefix("RUN ").partition(" && ")[2]
    folder = os.path.dirname(str(installed))
    path = os.pathsep.join([folder, os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        env=environment(PATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing known to be wrong" in done.stdout


def test_another_image_is_judged_by_its_files(installed, tmp_path):
    (_, step) = (line for text in snippets("dockerfile") for line in text.splitlines() if line.startswith("RUN"))
    image = Image(tmp_path / "image")
    image.python("/usr/local", "3.9.18")
    for name, version in (line.split("==") for line in SICK.splitlines()):
        image.distribution("/usr/local/lib/python3.9/site-packages", name, version)
    command = step.removeprefix("RUN ").partition(" && ")[2].replace("/image", str(image))
    done = run("/bin/sh", "-c", command.replace("envdoctor", str(installed), 1), cwd=tmp_path, env=environment())
    assert done.returncode == 1, done.stdout + done.stderr
    assert "werkzeug21-helpers-removed" in done.stdout
