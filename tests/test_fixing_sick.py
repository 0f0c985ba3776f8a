"""Thirty sick environments, built, planned for, cured, and as they were again; for those who have the time.

``ENVDOCTOR_ALTERNATIVES`` is how many other sets of releases each plan is held against.
"""

import json
import os

import pytest
from conftest import environment, run, run_envdoctor
from interpreters import need
from random_alternatives import costs, searched
from sick_environments import SICK

from envdoctor.remedies.planner import DOWN
from envdoctor.searching import CALLS

pytestmark = pytest.mark.heavy

ALTERNATIVES = int(os.environ.get("ENVDOCTOR_ALTERNATIVES", "200"))


@pytest.fixture
def sick(make_environment):
    """Builds one of the environments."""

    def make(name):
        python, pins, over = SICK[name]
        venv = make_environment(need(python), *pins)
        if over:
            done = run("uv", "pip", "install", "--quiet", "--no-deps", "--python", venv, *over)
            assert done.returncode == 0, done.stderr
        return venv

    return make


def fixed(venv, *words):
    done = run_envdoctor("fix", "--python", venv, "-f", "json", *words, cwd=venv, env=environment())
    assert done.returncode in {0, 1}, done.stderr
    return json.loads(done.stdout)


def found(venv, *severities):
    done = run_envdoctor("check", "--python", venv, "-f", "json", cwd=venv, env=environment())
    return [one["rule"] for one in json.loads(done.stdout)["findings"] if one["severity"] in severities]


def releases(venv):
    return run("uv", "pip", "freeze", "--python", venv).stdout


def cured(venv):
    """Whether no error is left, every requirement holds, and a second plan has nothing to do."""
    return (
        found(venv, "error") == []
        and run("uv", "pip", "check", "--python", venv).returncode == 0
        and fixed(venv)["plan"]["moves"] == []
    )


@pytest.mark.parametrize("name", SICK)
def test_a_plan_cures_once_and_for_all_and_can_be_undone(name, sick):
    venv = sick(name)
    assert len(found(venv, "error", "warning")) > 1
    before = releases(venv)

    document = fixed(venv, "--try", "--apply")

    assert not [one for one in document["plan"]["left"] if one["severity"] == "error"]
    assert {name: one for name, one in document["trial"]["modules"].items() if one["after"]} == {}
    assert cured(venv)
    after = releases(venv)
    done = run_envdoctor("undo", "--python", venv, cwd=venv, env=environment())
    assert (done.returncode, releases(venv)) == (0, before), done.stderr
    done = run("sh", "-c", document["plan"]["command"])
    assert (done.returncode, releases(venv)) == (0, after), done.stderr


@pytest.mark.parametrize("name", SICK)
def test_no_other_releases_that_cure_are_fewer_or_smaller_steps_away(name, sick):
    search, best = searched(sick(name))

    assert search.calls <= CALLS
    assert best.cost[:DOWN] <= min((one[:DOWN] for one in costs(search, ALTERNATIVES)), default=best.cost[:DOWN])
