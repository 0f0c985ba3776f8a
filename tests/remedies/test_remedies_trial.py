"""A plan is tried in a copy of the environment, and nothing else changes by that."""

import os
import sys
import time

import pytest
import small_environments as small
from conftest import run

from envdoctor import doctor
from envdoctor.remedies import guard
from envdoctor.remedies.clone import clone, variables
from envdoctor.remedies.trial import tried

pytestmark = pytest.mark.skipif(os.name == "nt", reason="builds environments in the layout of POSIX")


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    return small.Patient(folder, small.index(folder / "index"))


def trial(patient, version, monkeypatch, command=()):
    """What comes out where a plan is carried out in a copy; the environment has to stay what it is."""
    monkeypatch.setenv("UV_FIND_LINKS", str(patient.wheels))
    monkeypatch.setenv("UV_OFFLINE", "1")
    place, before = guard.place_of(patient.snapshot()), patient.files()
    with clone(place) as copy:
        outcome = tried(copy, place, command, patient.plan(version), "uv", lambda _: None)
    assert patient.files() == before
    assert not [name for name in os.listdir(patient.folder / ".envdoctor") if name.startswith("try-")]
    return outcome


def test_a_copy_has_commands_and_editable_projects_of_its_own(patient):
    program = "import json, left, mine, sys; print(json.dumps([sys.prefix, left.__file__, mine.__file__]))"
    with clone(guard.place_of(patient.snapshot())) as copy:
        assert run(os.path.join(copy.scripts, "left")).stdout == "1.0\n"
        told = run("python", "-c", program, env=variables(copy)).stdout
        assert os.stat(os.path.join(copy.packages[0], "left", "old.py")).st_nlink > 1
        with open(os.path.join(copy.scripts, "left")) as file:
            text = file.read()

    assert str(patient.folder) + "/bin" not in text
    assert told.count(copy.prefix) == 2
    assert str(patient.folder.parent / "project" / "mine") in told


def test_what_is_mended_is_the_proof(patient, monkeypatch):
    outcome = trial(patient, "2.0", monkeypatch, command=["python", "-c", "import left.new"])

    assert outcome.command == (1, 0)
    assert outcome.refused is None
    assert outcome.after.keys() >= {"left", "right", "mine", "added"}


def test_what_breaks_refuses_the_plan(patient, monkeypatch):
    passed = [str(patient.python), "-c", "import left"]
    outcome = trial(patient, "3.0", monkeypatch, command=passed)

    assert outcome.command == (0, 1)
    assert set(outcome.broken) == {"left", "right", "mine"}
    assert outcome.broken["mine"] == "ImportError: no left"
    assert "passed before the plan, and ends with status 1 after it:" in outcome.refused
    assert outcome.refused.endswith("ImportError: no left")


def test_a_python_that_is_no_environment_can_be_copied(patient):
    place = guard.place_of(patient.snapshot()).replace(own=False)
    with clone(place) as copy:
        done = run("python", "-c", "import left, sys; print(left.__file__, sys.prefix)", env=variables(copy))

    assert done.stdout.count(copy.prefix) == 2, done.stderr


#: Distributions that lead to more than 150 of them.
MANY = "jupyter scikit-learn pandas matplotlib fastapi[standard] sphinx pytest-cov black boto3 celery dask[complete] django"


@pytest.mark.heavy
def test_a_copy_of_150_distributions_is_the_same_environment(make_environment):
    folder = make_environment(sys.executable, *MANY.split())
    place = guard.place_of(doctor.examine("python", str(folder)))
    start, used = time.monotonic(), time.process_time()
    with clone(place) as copy:
        seconds, used = time.monotonic() - start, time.process_time() - used
        freeze = [run("uv", "pip", "freeze", "--python", one.executable).stdout for one in (place, copy)]
        other = [path for path in small.contents(folder) if not same(folder / path, copy.prefix, place.prefix)]

    print(f"{len(freeze[0].splitlines())} distributions copied in {seconds:.1f} s, of which {used:.1f} s are work")
    assert len(freeze[0].splitlines()) >= 150
    assert freeze[0] == freeze[1]
    assert other == []


def same(path, prefix, original):
    """Whether a file of a copy is that of the original, but for the path of the environment in it."""
    there = os.path.join(prefix, os.path.relpath(path, original))
    if path.is_symlink() or path.is_dir():
        return os.path.islink(there) == path.is_symlink() and os.path.isdir(there) == path.is_dir()
    with open(path, "rb") as one, open(there, "rb") as two:
        return (
            os.path.samefile(path, there)
            or one.read().replace(os.fsencode(original), os.fsencode(prefix)) == two.read()
        )
