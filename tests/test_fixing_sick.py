"""Thirty sick environments, built, planned for, cured, and as they were again; for those who have the time.

``ENVDOCTOR_ALTERNATIVES`` is how many other sets of releases each plan is held against.
"""

import json
import os
import re

import pytest
from conftest import environment, run, run_envdoctor
from interpreters import need
from random_alternatives import cheaper, searched
from sick_environments import SICK
from small_environments import contents

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


def broken(trial):
    """What cannot be imported after a plan, but for what only wants a project's settings, or what is not there."""
    reasons = {name: one["after"] for name, one in trial["modules"].items() if one["after"]}
    return {name: why for name, why in reasons.items() if "ImproperlyConfigured" not in why and not absent(why, trial)}


def absent(why, trial):
    """Whether a module wants one that no distribution brings: one that is required would be missing, too."""
    wanted = re.search(r"No module named '([^'.]+)", why)
    return wanted is not None and wanted[1] not in trial["modules"]


def files(venv):
    """What is in each file, without what holds the moment of its making: byte code, and uv's note about it."""
    found = contents(venv)
    return {name: said for name, said in found.items() if not name.endswith((".pyc", "__pycache__", "uv_cache.json"))}


def changes(now, then):
    return sorted(name for name in {*now, *then} if now.get(name) != then.get(name))


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
    before = files(venv)

    document = fixed(venv, "--try", "--apply")

    assert not [one for one in document["plan"]["left"] if one["severity"] == "error"]
    assert broken(document["trial"]) == {}
    assert cured(venv)
    after = files(venv)
    done = run_envdoctor("undo", "--python", venv, cwd=venv, env=environment())
    assert (done.returncode, changes(files(venv), before)) == (0, []), done.stderr
    done = run("sh", "-c", document["plan"]["command"])
    assert (done.returncode, changes(files(venv), after)) == (0, []), done.stderr


@pytest.mark.parametrize("name", SICK)
def test_no_other_releases_that_cure_are_fewer_or_smaller_steps_away(name, sick):
    search, best = searched(sick(name))

    assert search.calls <= CALLS
    assert list(cheaper(search, best, ALTERNATIVES)) == []
