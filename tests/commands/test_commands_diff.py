"""``envdoctor diff``: what differs between two targets of any kind, and which difference explains a new finding."""

import json
import os
import sys

import jsonschema
import pytest
from conftest import CHECKOUT, run_here
from derived_environments import Built
from images import Image

OLD = "flask==1.1.2\nwerkzeug==2.0.3\njinja2==2.11.3\nmarkupsafe==1.1.1\nitsdangerous==2.0.1\nclick==8.1.7\n"
NEW = OLD.replace("2.0.3", "3.0.1").replace("click==8.1.7\n", "")
with open(os.path.join(CHECKOUT, "docs", "diff.schema.json"), encoding="utf-8") as schema:
    SCHEMA = jsonschema.Draft202012Validator(json.load(schema))


def diff(*words, cwd=None):
    return run_here("diff", *words, cwd=cwd)


def document(*words, cwd=None):
    done = diff(*words, "-f", "json", cwd=cwd)
    told = json.loads(done.stdout)
    SCHEMA.validate(told)
    return done.returncode, told


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.txt").write_text(OLD)
    (tmp_path / "new.txt").write_text(NEW)
    return tmp_path


def test_a_new_finding_comes_with_the_difference_that_explains_it(files):
    status, told = document("old.txt", "new.txt", "--python-version", "3.9", cwd=files)

    assert status == 1
    (new,) = told["new"]
    assert (new["rule"], new["because"]) == ("werkzeug21-helpers-removed", ["packages.werkzeug"])
    assert new["remedies"][0]["requirement"] == "flask>=2.0.0"
    assert told["gone"] == []
    assert told["differences"] == [
        {
            "fact": "packages.werkzeug", "before": "2.0.3", "after": "3.0.1", "known": True,
            "rules": ["werkzeug21-helpers-removed"],
        }
    ]  # fmt: skip  # what a requirements file does not name may be there all the same


def test_the_way_back_has_nothing_new(files):
    done = diff("new.txt", "old.txt", "--python-version", "3.9", cwd=files)

    assert done.returncode == 0
    assert "B has no findings that A has not\n1 finding of A is gone in B\n  error: Werkzeug 2.1" in done.stdout
    assert "werkzeug  3.0.1 -> 2.0.3  werkzeug21-helpers-removed" in done.stdout


def test_fail_on_counts_only_what_is_new(files):
    words = ("--python-version", "3.9")
    assert diff("old.txt", "new.txt", *words, "--fail-on", "never", cwd=files).returncode == 0
    assert diff("new.txt", "new.txt", *words, cwd=files).returncode == 0
    assert "1 finding in both" in diff("new.txt", "new.txt", *words, cwd=files).stdout


def test_environments_interpreters_and_snapshots_are_told_apart(tmp_path):
    first = Built(sys.executable, tmp_path / "first", {"left": ("1.0", {}), "both": ("1", {}), "gone": ("3", {})})
    second = Built(sys.executable, tmp_path / "second", {"left": ("2.0", {}), "both": ("1", {})})
    run_here("snapshot", "--python", second.python, "-o", tmp_path / "second.json")

    wanted = {"packages.left": ("1.0", "2.0"), "packages.gone": ("3", None)}
    for other in (second.folder, second.python, tmp_path / "second.json"):
        status, told = document(str(first.folder), str(other))
        assert status == 0
        seen = {one["fact"]: (one["before"], one["after"]) for one in told["differences"]}
        assert {fact: values for fact, values in seen.items() if fact.startswith("packages.")} == wanted


def test_pythons_and_start_methods_differ(tmp_path):
    for name, version in (("a.json", "3.13.1"), ("b.json", "3.14.0")):
        method = {"default": "fork" if name == "a.json" else "forkserver"}
        facts = {
            "python": {"version": version},
            "packages": {},
            "start_method": method,
            "env": {"MUJOCO_GL": None},
        }
        (tmp_path / name).write_text(json.dumps(facts))
    (tmp_path / "b.json").write_text((tmp_path / "b.json").read_text().replace("null", '"egl"'))

    _, told = document("a.json", "b.json", cwd=tmp_path)

    seen = {one["fact"]: (one["before"], one["after"]) for one in told["differences"]}
    assert seen == {
        "python": ("3.13.1", "3.14.0"), "start_method": ("fork", "forkserver"), "env.MUJOCO_GL": (None, "egl"),
    }  # fmt: skip


def test_each_environment_of_an_image_is_compared_with_its_own(tmp_path):
    for tag, version in (("one", "2.0.3"), ("two", "3.0.1")):
        image = Image(tmp_path / tag)
        for prefix, name, release in (("/usr/local", "werkzeug", version), ("/opt/app", "flask", "1.1.2")):
            image.python(prefix, "3.11.7")
            place = f"{prefix}/lib/python3.11/site-packages/{name}-{release}.dist-info/METADATA"
            image.file(place, f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
        image.folder("/usr/bin")

    _, told = document(str(tmp_path / "one"), str(tmp_path / "two"))

    assert [(one["fact"], one["environment"], one["after"]) for one in told["differences"]] == [
        ("packages.werkzeug", "/usr/local", "3.0.1")
    ]


def test_what_is_no_target_is_said(tmp_path):
    done = diff("missing", "missing", cwd=tmp_path)
    assert done.returncode == 3
    assert "missing is not there: give an interpreter" in done.stderr
