"""Forty kills at random moments of a run, on ten real environments: undo brings back every byte. Takes some minutes."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from conftest import environment, run
from small_environments import contents

from envdoctor.remedies.apply import undo

pytestmark = pytest.mark.heavy

KILLS = 4
PROJECT = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "mine"\nversion = "{}"\n'
#: By name: the tool, what is installed first, and what the plan installs; words in braces are made by the test.
ENVIRONMENTS = {
    "web": ("uv", "flask==1.1.2 werkzeug==1.0.1 jinja2==2.11.3 markupsafe==2.0.1", "flask==2.2.5 werkzeug==2.2.3"),
    "compiled": ("uv", "numpy==1.26.4 pandas==2.0.3", "numpy==2.0.2 pandas==2.2.3"),
    "models": ("uv", "pydantic==1.10.15 fastapi==0.100.0", "pydantic==2.7.4 fastapi==0.110.0"),
    "pip": ("pip", "requests==2.27.1 urllib3==1.26.9 click==7.1.2", "requests==2.32.3 urllib3==2.2.1 click==8.1.7"),
    "editable": ("uv", "--editable {project} click==7.1.2", "click==8.1.7 {project}"),
    "local wheel": ("uv", "{wheel1}", "{wheel2} six==1.16.0"),
    "from source": ("uv", "--no-binary markupsafe markupsafe==2.0.1", "markupsafe==2.1.5"),
    "version control": ("pip", "git+file://{repository}@one click==7.1.2", "git+file://{repository}@two"),
    "extras": ("uv", "uvicorn[standard]==0.20.0 requests[socks]==2.28.0", "uvicorn==0.29.0 requests==2.31.0 websockets==12.0"),
    "data": ("pip", "ipykernel==6.20.0 jupyter-client==7.4.9", "ipykernel==6.29.0 jupyter-client==8.6.0"),
}  # fmt: skip
PROGRAM = """
import sys
from envdoctor import doctor
from envdoctor.plans import Plan
from envdoctor.remedies.apply import apply
plan, snapshot = Plan(line=sys.argv[2]), doctor.examine("python", sys.argv[1])
print("begins", flush=True)
apply(plan, snapshot, list, print)
"""


def made(folder):
    """The words that the environments above have in braces."""
    for name, version in (("project", "1.0"), ("wheel1", "1.0"), ("wheel2", "2.0"), ("repository", "1.0")):
        (folder / name / "mine").mkdir(parents=True)
        (folder / name / "mine" / "__init__.py").write_text(f"version = {version!r}\n")
        (folder / name / "pyproject.toml").write_text(PROJECT.format(version))
    words = {name: folder / name for name in ("project", "repository")}
    for name in ("wheel1", "wheel2"):
        done = run("uv", "build", "--quiet", "--wheel", "--python", sys.executable, folder / name)
        assert done.returncode == 0, done.stderr
        (words[name],) = (folder / name / "dist").glob("*.whl")
    git = ["git", "-C", folder / "repository", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for tag, version in (("one", "1.0"), ("two", "2.0")):
        (folder / "repository" / "pyproject.toml").write_text(PROJECT.format(version))
        for call in (["init", "-q"], ["add", "."], ["commit", "-qm", tag], ["tag", tag]):
            assert run(*git, *call).returncode == 0
    return words


def installs(tool, python, requirements):
    call = (
        f"uv pip install --quiet --compile-bytecode --python {python}"
        if tool == "uv"
        else f"{python} -m pip install -q"
    )
    return f"{call} {requirements}"


def started(python, line):
    words = [sys.executable, "-c", PROGRAM, python, line]
    process = subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment()
    )
    assert process.stdout.readline() == "begins\n"
    return process


def kill(python, line, after, *, group):
    """Kill a run, with or without the installer that it has started, and say whether it was still at work."""
    with started(python, line) as process:
        time.sleep(after)
        over = process.poll() is not None
        try:
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            over = True
    return not over


def taken_back(folder):
    from envdoctor.errors import TargetError

    try:
        return undo(str(folder), lambda _: None, consent=True)
    except TargetError as error:
        return str(error)


def installed(folder, tool, requirements):
    """A new environment with some requirements; its interpreter."""
    seed = ["--seed"] if tool == "pip" else []
    assert run("uv", "venv", "--quiet", *seed, "--python", sys.executable, folder).returncode == 0
    python = folder / "bin" / "python"
    done = run("/bin/sh", "-c", installs(tool, python, requirements), env=environment())
    assert done.returncode == 0, done.stderr
    return python


def seconds_of(python, line):
    """The seconds that a run takes which nobody kills."""
    start = time.monotonic()
    with started(python, line) as process:
        assert process.wait() == 0
    return time.monotonic() - start


def kills(python, line, seconds, chance):
    """Kill a run at random moments, and say when, each time while it was still at work."""
    number = 0
    while number < KILLS:
        moment = chance.uniform(0, seconds)
        if kill(python, line, moment, group=number % 2):
            number += 1
            yield f"killed{'' if number % 2 else ' with its installer'} after {moment:.2f} of {seconds:.2f} s"
        else:
            seconds = moment  # everything is in caches by now
            taken_back(python.parent.parent)


def test_forty_kills(tmp_path):
    words, chance, rows = made(tmp_path), random.Random(16), []
    for name, (tool, before, after) in ENVIRONMENTS.items():
        folder = tmp_path / name.replace(" ", "-")
        python = installed(folder, tool, before.format(**words))
        was, line = contents(folder), installs(tool, python, after.format(**words))
        seconds = seconds_of(python, line)
        assert contents(folder) != was
        rows.append((name, "done", taken_back(folder), contents(folder) == was))
        for state in kills(python, line, seconds, chance):
            now = contents(folder)
            changed = sum(now.get(path) != said for path, said in was.items())
            rows.append((name, f"{state}, {changed} files changed", taken_back(folder), contents(folder) == was))
    for row in rows:
        print(*row, sep=" | ")
    assert len(rows) == len(ENVIRONMENTS) * (KILLS + 1)
    assert all(row[-1] for row in rows), [row for row in rows if not row[-1]]
