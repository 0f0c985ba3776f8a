"""Thirty sick environments, built, planned for, and cured by the line that is shown; for those who have the time."""

import json
import os

import pytest
from conftest import environment, run, run_envdoctor
from interpreters import need
from sick_environments import SICK

pytestmark = pytest.mark.heavy


def fixed(venv, *words):
    done = run_envdoctor("fix", "--python", venv, "-f", "json", *words, cwd=venv, env=environment())
    assert done.returncode in {0, 1}, done.stderr
    return json.loads(done.stdout)["plan"]


def found(venv, *severities):
    done = run_envdoctor("check", "--python", venv, "-f", "json", cwd=venv, env=environment())
    return [one["rule"] for one in json.loads(done.stdout)["findings"] if one["severity"] in severities]


@pytest.mark.parametrize("name", SICK)
def test_the_line_leaves_no_error_and_a_second_plan_has_nothing_to_do(name, make_environment):
    python, pins, over = SICK[name]
    venv = make_environment(need(python), *pins)
    if over:
        done = run("uv", "pip", "install", "--quiet", "--no-deps", "--python", venv, *over)
        assert done.returncode == 0, done.stderr
    assert len(found(venv, "error", "warning")) > 1

    plan = fixed(venv)
    assert not [one for one in plan["left"] if one["severity"] == "error"]
    done = run("sh", "-c", plan["command"], env={**os.environ})
    assert done.returncode == 0, done.stderr

    assert found(venv, "error") == []
    assert run("uv", "pip", "check", "--python", venv).returncode == 0
    assert fixed(venv)["moves"] == []
