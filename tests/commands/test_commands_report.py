"""``envdoctor report``: what it says of the machine and the error, and the facts in it, judged again elsewhere."""

import json
import os
import pathlib
import random
import re
import sys

import pytest
import yaml
from conftest import environment, run_envdoctor, run_here
from derived_environments import Built
from sick_environments import SICK

OLD = {"flask": "1.1.2", "werkzeug": "3.0.1", "jinja2": "2.11.3", "markupsafe": "1.1.1", "itsdangerous": "2.0.1"}
FAILED = """\
Traceback (most recent call last):
  File "/home/ada/app.py", line 1, in <module>
    import flask
  File "/x/site-packages/flask/__init__.py", line 14, in <module>
    from jinja2 import escape
ImportError: cannot import name 'escape' from 'jinja2' (/x/site-packages/jinja2/__init__.py)
"""


def findings(folder, *target):
    done = run_here("check", *target, "-f", "json", "--fail-on", "never", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    return [(one["rule"], one["packages"], [fact["value"] for fact in one["evidence"]]) for one in found]


def rejudged(folder, *target):
    """The findings of a target, and those of the report of it, which went through an issue's text."""
    done = run_here("report", *target, "-o", "report.md", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "report.md").read_bytes()
    assert len(page) <= 60_000
    (folder / "issue.md").write_bytes(b"It fails.\r\n\r\n" + page.replace(b"\n", b"\r\n") + b"\r\nThanks!")
    return findings(folder, *target), findings(folder, "--snapshot", "issue.md")


@pytest.mark.parametrize("name", list(SICK)[4::8])
def test_the_facts_in_a_report_give_the_same_findings(name, tmp_path):
    python, pins, over = SICK[name]
    versions = {one.partition("==")[0]: one.partition("==")[2] or "1.0" for one in (*pins, *over)}
    (tmp_path / "facts.json").write_text(json.dumps({"python": {"version": python + ".4"}, "packages": versions}))

    here, there = rejudged(tmp_path, "--snapshot", "facts.json")

    assert here
    assert there == here


INCIDENTS = sorted((pathlib.Path(__file__).parents[1] / "first_sight").glob("2*/*.yaml"))


@pytest.mark.trials
@pytest.mark.parametrize(
    "incident",
    [
        pytest.param(path, marks=() if number % 12 == 0 else pytest.mark.heavy, id=path.stem)
        for number, path in enumerate(INCIDENTS)
    ],
)
def test_the_report_of_an_incident_gives_the_same_findings(incident, tmp_path):
    case = yaml.safe_load(incident.read_text())
    facts, target = {"packages": {name: str(version) for name, version in case["environment"]["packages"].items()}}, []
    if python := case["environment"].get("python"):
        facts["python"] = {"version": str(python)}
    for name, text in case.get("files", {}).items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        target = ["--project", "project"]
    (tmp_path / "facts.json").write_text(json.dumps(facts))

    here, there = rejudged(tmp_path, "--snapshot", "facts.json", *target)

    assert there == here


ROW = {"kind": "import", "name": "numpy", "file": "app.py", "line": 1, "guarded": False}


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("source", {}),
        ("source", [["numpy", [ROW]]]),
        ("source", [[["numpy"], [ROW], []]]),
        ("source", [["numpy", [{**ROW, "line": "1"}], []]]),
        ("source", [["numpy", [{**ROW, "arguments": [{"carries": [{"name": None}]}]}], []]]),
        ("source", [["numpy", [{**ROW, "keywords": {"out": []}}], []]]),
        ("config", [[["*.toml", "key"], [{"file": "a.toml", "written": ["", ""]}], []]]),
        ("shadows", [["types", [{"module": "types"}], []]]),
        ("artifact", [["", [{"written_by": {"packages": {"numpy": 2}}}], []]]),
    ],
)
def test_a_damaged_row_of_a_project_is_refused_with_its_place(kind, rows, tmp_path):
    (tmp_path / "facts.json").write_text(json.dumps({"packages": {}, "project": {kind: rows}}))

    done = run_here("check", "--snapshot", "facts.json", cwd=tmp_path)

    assert done.returncode == 3
    assert f"the snapshot facts.json: project.{kind} is damaged" in done.stderr


def test_the_project_of_who_reads_a_report_has_no_say(tmp_path):
    source = "import numpy\nnumpy.float(1)\n"
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "app.py").write_text(source)
    (tmp_path / "own.py").write_text(source)
    (tmp_path / "facts.json").write_text('{"python": {"version": "3.11"}, "packages": {"numpy": "1.26.4"}}')
    run_here("report", "--snapshot", "facts.json", "--project", "theirs", "-o", "report.md", cwd=tmp_path)

    done = run_here("check", "--snapshot", "report.md", cwd=tmp_path)

    assert "app.py:2" in done.stdout
    assert "own.py" not in done.stdout


def test_a_real_environment_is_judged_again_elsewhere(tmp_path):
    built = Built(sys.executable, tmp_path / "venv", {name: (version, {}) for name, version in OLD.items()})
    built.add("left", "1.0", {}, "Requires-Dist: right>=2")

    here, there = rejudged(tmp_path, "--python", built.python)

    assert {"jinja31-names-removed", "requirement-missing"} & {rule for rule, *_ in here}
    assert there == here


@pytest.mark.trials
def test_facts_that_are_too_long_are_packed_or_said_to_be_missing(tmp_path):
    names = [f"distribution-number-{number}" for number in range(400)]
    lot = random.Random(7)
    for name, times in (("packed", 1), ("missing", 6)):
        requires = {one: [f"x{lot.getrandbits(256):x}" for _ in range(times)] for one in names}
        packages = {**OLD, **dict.fromkeys(names, "1.0")}
        facts = {"python": {"version": "3.9.1"}, "packages": packages, "requirements": requires, "complete": False}
        (tmp_path / f"{name}.json").write_text(json.dumps(facts))
    here, there = rejudged(tmp_path, "--snapshot", "packed.json")
    assert there == here
    assert "zlib, base64:" in (tmp_path / "report.md").read_text()

    assert run_here("report", "--snapshot", "missing.json", "-o", "long.md", cwd=tmp_path).returncode == 0
    page = (tmp_path / "long.md").read_text()
    assert len(page) <= 60_000
    assert "attach what `envdoctor snapshot -o facts.json` writes" in page


def test_the_machine_the_error_and_what_reproduces_it_are_there(tmp_path):
    openblas = {"numpy.libs/libscipy_openblas64_-1.so": "", "torch/lib/libgomp-a1.so.1": ""}
    flask = {name: (version, {}) for name, version in OLD.items()}
    built = Built(sys.executable, tmp_path / "venv", {**flask, "numpy": ("2.0", openblas)})
    (tmp_path / "error.log").write_text(FAILED)
    around = environment(
        OMP_NUM_THREADS="3", LD_LIBRARY_PATH=os.path.expanduser("~/secret/lib"), GITHUB_TOKEN="hunter2"
    )
    words = ("report", "--python", built.python, "--traceback", "error.log", "--", "flask", "run", "--port", "80 00")

    done = run_envdoctor(*words, cwd=tmp_path, env=around)

    assert done.returncode == 0, done.stderr
    rows = dict(
        row[2:].split(" | ", 1) for row in done.stdout.splitlines() if row.startswith("| ") and " | " in row[2:]
    )
    assert "`OpenBLAS, threads 3: numpy.libs/libscipy_openblas64_-1.so`" in rows["BLAS and OpenMP"]
    assert "`OpenMP of GCC, threads 3: lib/libgomp-a1.so.1`" in rows["BLAS and OpenMP"]
    assert "processors`" in rows["Processor"]
    assert rows["GPU"].startswith("`")
    assert "`LD_LIBRARY_PATH=~/secret/lib` `OMP_NUM_THREADS=3`" in rows["Variables"]
    assert "hunter2" not in done.stdout
    assert rows["Reproduced by"] == "`flask run --port '80 00'` |"
    assert "Compiler" not in rows
    assert "ImportError: cannot import name 'escape' from 'jinja2'" in done.stdout
    assert re.search(r"^#### Explained by \d confirmed", done.stdout, re.MULTILINE)  # on 3.14 Flask has two troubles
    assert "/home/ada" not in done.stdout


def test_the_compiler_is_named_where_a_build_failed(tmp_path):
    (tmp_path / "error.log").write_text("src/left.c:1:10: fatal error: right.h: No such file or directory\n")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cc").write_text("#!/bin/sh\necho 'a C compiler 12.2'\n")
    (folder / "cc").chmod(0o755)
    words = ("report", "--python", sys.executable, "--traceback", "error.log")
    done = run_envdoctor(*words, cwd=tmp_path, env=environment(PATH=str(folder), CXX="no-such-compiler"))
    assert "| Compiler | `cc: a C compiler 12.2` `no-such-compiler: not found` |" in done.stdout


@pytest.mark.parametrize("text", ["zlib, base64:\nAAAA", "zlib, base64:\neJw=", "{"])
def test_a_damaged_page_is_refused(text, tmp_path):
    page = f"<details><summary>Snapshot: facts</summary>\n\n```text\n{text}\n```\n"
    (tmp_path / "report.md").write_text(page)
    done = run_envdoctor("check", "--snapshot", "report.md", cwd=tmp_path)
    assert done.returncode == 3
    assert "report.md" in done.stderr
