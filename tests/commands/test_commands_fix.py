"""``envdoctor fix --try --apply`` and ``undo``, on a real environment and an index of this machine."""

import json
import os
import time

import pytest
import small_environments as small
from conftest import environment, run, run_here
from wheel_index import serving

pytestmark = pytest.mark.skipif(os.name == "nt", reason="builds environments in the layout of POSIX")

RULE = {
    "id": "left-too-old",
    "title": "left before 2 is broken",
    "severity": "error",
    "impact": "crash",
    "when": {"packages": {"left": "<2"}},
    "why": "left 1 is broken.",
    "remedies": [{"upgrade": "left>=2"}],
    "references": ["https://example.org/1"],
    "proof": {"script": "import left", "bad": [{"python": "3.10", "packages": {"left": "1.0"}}]},
}


@pytest.fixture
def patient(tmp_path, monkeypatch):
    """An environment that a rule finds something in, and ``fix``, which takes releases from its own index."""
    made = small.Patient(tmp_path, small.index(tmp_path / "index"))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "left-too-old.yaml").write_text(json.dumps(RULE))
    small.wheel(
        made.wheels, "lost", "1.0", {}, "Requires-Dist: nowhere>=5", "Requires-Dist: right<1", "Requires-Dist: left>=1"
    )
    small.wheel(made.wheels, "right", "2.0", {}, "Requires-Dist: left")
    wheels = {path.name: path.read_bytes() for path in made.wheels.iterdir()}
    with serving(monkeypatch, tmp_path / "cache", wheels) as server:
        made.index = f"http://127.0.0.1:{server.server_port}/simple/"
        around = environment(UV_DEFAULT_INDEX=made.index, UV_LINK_MODE="copy")
        for name in os.environ.keys() | around.keys():
            monkeypatch.setenv(name, around[name]) if name in around else monkeypatch.delenv(name)

        def fix(*words):
            return run_here("fix", "--python", made.python, "--rules", tmp_path / "rules", *words, cwd=tmp_path)

        def check():
            words = ("check", "--python", made.python, "--rules", tmp_path / "rules")
            return run_here(*words, cwd=tmp_path).stdout.rstrip().rpartition("\n\n")[2]

        made.check = check
        made.fix, made.undo = fix, lambda: run_here("undo", "--python", made.python, cwd=tmp_path)
        yield made


def version(patient):
    return run(patient.folder / "bin" / "left").stdout.strip()


def test_a_plan_is_tried_applied_and_undone(patient):
    before = patient.files()

    done = patient.fix("--try", "--apply", "--", "python", "-c", "import left.new")

    assert done.returncode == 0, done.stderr
    assert "left==2.0" in done.stdout
    assert "tried: the command failed, and passes now" in done.stderr
    assert "envdoctor undo brings back what was" in done.stderr
    assert version(patient) == "2.0"
    assert patient.fix("--apply").stdout.endswith("there is nothing to fix\n")
    assert patient.undo().stdout == "All is as it was before\n"
    assert patient.files() == before


def test_the_line_that_is_shown_makes_the_same_environment(patient):
    plan = json.loads(patient.fix("-f", "json").stdout)["plan"]
    assert patient.fix("--apply").returncode == 0
    applied = patient.files()
    patient.undo()

    done = run("/bin/sh", "-c", plan["command"], env=environment(UV_DEFAULT_INDEX=patient.index, UV_LINK_MODE="copy"))

    assert done.returncode == 0, done.stderr
    assert without_times(patient.files()) == without_times(applied)


def test_a_plan_that_breaks_something_is_refused_and_the_next_one_tried(patient):
    before = patient.files()

    command = "import importlib.util as u; assert not u.find_spec('left.new')"
    done = patient.fix("--try", "--apply", "--", "python", "-c", command)

    assert done.returncode == 3, done.stderr
    assert "refused: added==1.0 left==2.0: the command passed before" in done.stderr
    assert patient.files() == before


def test_the_next_plan_leaves_alone_what_the_refused_one_moved(patient, tmp_path):
    both = {"id": "both-old", "when": {"packages": {"left": "<2", "right": "<2"}}}
    both["remedies"] = [{"upgrade": "left>=2"}, {"upgrade": "right>=2"}]
    (tmp_path / "rules" / "left-too-old.yaml").unlink()
    (tmp_path / "rules" / "both-old.yaml").write_text(json.dumps({**RULE, **both}))
    (first,) = {"left", "right"} & {
        one["package"] for one in json.loads(patient.fix("-f", "json").stdout)["plan"]["moves"]
    }

    command = f"import importlib.metadata as m; assert m.version({first!r}) == '1.0'"
    done = patient.fix("--try", "-f", "json", "--", "python", "-c", command)

    (other,) = {"left", "right"} - {first}
    assert f"refused: {first}==2.0: the command passed before" in done.stderr.replace("added==1.0 ", "")
    assert [one["package"] for one in json.loads(done.stdout)["plan"]["moves"] if one["before"]] == [other]


def test_a_plan_that_takes_a_name_from_others_is_refused_before_anything_is_built(patient, tmp_path):
    both = {"id": "both-old", "when": {"packages": {"left": "<2", "right": "<2"}}}
    both["remedies"] = [{"upgrade": "left>=2"}, {"upgrade": "right>=2"}]
    (tmp_path / "rules" / "left-too-old.yaml").unlink()
    (tmp_path / "rules" / "both-old.yaml").write_text(json.dumps({**RULE, **both}))
    plan = json.loads(patient.fix("--link", "-f", "json").stdout)["plan"]
    (first,) = {"left", "right"} & {one["package"] for one in plan["moves"]}
    taken = {"left": "import left.old\n", "right": "from right import left\n"}[first]
    small.wheel(patient.wheels, "asker", "1.0", {"asker/__init__.py": taken}, f"Requires-Dist: {first}")
    patient.install("asker==1.0")
    before = patient.files()

    done = patient.fix("--link", "-f", "json")

    (other,) = {"left", "right"} - {first}
    assert f"{first}==2.0: asker 1.0" in done.stderr
    assert [one["package"] for one in json.loads(done.stdout)["plan"]["moves"] if one["before"]] == [other]
    assert patient.files() == before


def test_where_every_plan_takes_a_name_from_others_none_is_left(patient):
    small.wheel(patient.wheels, "asker", "1.0", {"asker/__init__.py": "import left.old\n"}, "Requires-Dist: left")
    patient.install("asker==1.0")

    done = patient.fix("--link")

    assert done.returncode == 3
    assert "every plan would break something" in done.stderr
    assert "left==2.0" in patient.fix().stdout


def test_check_ends_with_the_line_of_a_plan_while_all_is_as_it_was_planned_for(patient):
    patient.fix("--try", "--", "python", "-c", "import importlib.util as u; assert not u.find_spec('left.new')")
    assert "plan " not in patient.check(), "a plan that its trial refuses is none"
    plan = json.loads(patient.fix("-f", "json").stdout)["plan"]
    day = time.strftime("%Y-%m-%d")

    said = f"plan      {plan['command']}\n          2 steps; as envdoctor fix planned it on {day}"
    assert patient.check() == said
    patient.install("added==1.0")
    assert "plan " not in patient.check()
    assert run("uv", "pip", "uninstall", "--python", patient.python, "added").returncode == 0
    assert patient.check() == said
    patient.fix("--apply")
    assert "nothing known to be wrong" in patient.check()


def without_times(files):
    """Without what holds the moment of its making: byte code, and uv's note about it."""
    return {name: said for name, said in files.items() if not name.endswith((".pyc", "uv_cache.json"))}


def test_what_nobody_can_meet_does_not_keep_the_rest_from_being_cured(patient):
    patient.install("--no-deps", "lost==1.0")

    done = patient.fix("-f", "json")

    plan = json.loads(done.stdout)["plan"]
    assert [(one["package"], one["after"]) for one in plan["moves"]] == [("added", "1.0"), ("left", "2.0")]
    assert {name for one in plan["left"] for name in one["packages"]} == {"lost"}
