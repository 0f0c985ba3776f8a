"""What is beside the target: the project, artefacts and a process, through the command line."""

import io
import json
import os
import pickletools
import sys
from pathlib import Path

import pytest
from conftest import environment, run

APPEND = "import pandas as pd\n\ndata = pd.DataFrame()\ndata = data.append(data)\n"
REPAIRED = "import pandas as pd\n\ndata = pd.concat([pd.DataFrame()])\n"
PANDAS2 = {"python": {"version": "3.11"}, "packages": {"pandas": "2.0.1"}, "platform": {"system": "linux"}}
NUMPY1 = {"python": {"version": "3.11"}, "packages": {"numpy": "1.26.4"}, "platform": {"system": "linux"}}
#: A pickle of protocol 4 that names what only numpy 2 has.
NUMPY2_PICKLE = b"\x80\x04\x8c\x13numpy._core.numeric\x94\x8c\x0b_frombuffer\x94\x93\x94."


def envdoctor(*words, cwd, snapshot=None, **changes):
    text = {"input": json.dumps(snapshot)} if snapshot else {}
    more = ["--snapshot", "-"] if snapshot else []
    words = [sys.executable, "-m", "envdoctor", *words, *more]
    return run(*words, cwd=cwd, env=environment(PYTHONSAFEPATH="1", **changes), **text)


def findings(*words, cwd, snapshot):
    done = envdoctor("check", *words, "-f", "json", "--fail-on", "never", cwd=cwd, snapshot=snapshot)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {one["rule"]: one for one in document["findings"]}, document


def test_the_use_is_named_by_file_and_line_and_a_repaired_project_is_quiet(tmp_path):
    (tmp_path / "main.py").write_text(APPEND)
    found, _ = findings("--project", ".", cwd=tmp_path, snapshot=PANDAS2)
    sources = [one["source"] for one in found["pandas2-names-in-code"]["evidence"]]
    assert "main.py:4" in sources

    (tmp_path / "main.py").write_text(REPAIRED)
    found, _ = findings("--project", ".", cwd=tmp_path, snapshot=PANDAS2)
    assert "pandas2-names-in-code" not in found


def test_each_use_in_a_notebook_is_named_by_cell_and_line(tmp_path):
    cells = [
        "import pandas as pd\n",
        "data = pd.DataFrame()\n\ndata = data.append(data)\nmore = pd.DataFrame().append(data)",
    ]
    book = {
        "cells": [{"cell_type": "markdown", "source": "#"}, *({"cell_type": "code", "source": one} for one in cells)]
    }
    (tmp_path / "train.ipynb").write_text(json.dumps(book))
    found, _ = findings("--project", ".", cwd=tmp_path, snapshot=PANDAS2)
    sources = [one["source"] for one in found["pandas2-names-in-code"]["evidence"]]
    assert sources[1:] == ["train.ipynb cell 2 line 3", "train.ipynb cell 2 line 4"]
    document = json.loads(envdoctor("check", "--project", ".", "-f", "sarif", cwd=tmp_path, snapshot=PANDAS2).stdout)
    (place,) = next(one for one in document["runs"][0]["results"] if one["ruleId"] == "pandas2-names-in-code")[
        "locations"
    ]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "train.ipynb", "uriBaseId": "%SRCROOT%"}}


def test_a_snapshot_from_elsewhere_has_no_project_until_one_is_named(tmp_path):
    (tmp_path / "main.py").write_text(APPEND)
    found, document = findings(cwd=tmp_path, snapshot=PANDAS2)
    assert "pandas2-names-in-code" not in found
    assert "pandas2-names-in-code" not in {one["rule"] for one in document["unknown"]}


def test_requirements_are_held_against_the_project_around_them_unless_that_is_the_home(tmp_path):
    (tmp_path / "main.py").write_text(APPEND)
    (tmp_path / "requirements.txt").write_text("pandas==2.0.1\n")
    words = ("-r", "requirements.txt", "--python-version", "3.11")
    assert "pandas2-names-in-code" in envdoctor(*words, cwd=tmp_path).stdout
    assert "pandas2-names-in-code" not in envdoctor(*words, cwd=tmp_path, HOME=str(tmp_path)).stdout


def test_a_project_that_is_no_directory_is_said(tmp_path):
    done = envdoctor("--project", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "envdoctor: --project nowhere is not a directory: give the one that holds the project\n",
    )  # fmt: skip


def test_an_artefact_is_held_against_the_environment_that_will_load_it(tmp_path):
    (tmp_path / "data.pkl").write_bytes(NUMPY2_PICKLE)
    found, _ = findings("--artifact", "data.pkl", cwd=tmp_path, snapshot=NUMPY1)
    assert [one["source"] for one in found["numpy1-reads-numpy2-pickle"]["evidence"]][-1] == "data.pkl"
    newer = {**NUMPY1, "packages": {"numpy": "2.1.0"}}
    assert "numpy1-reads-numpy2-pickle" not in findings("--artifact", "data.pkl", cwd=tmp_path, snapshot=newer)[0]


def test_an_artefact_is_found_in_the_project(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "data.pkl").write_bytes(NUMPY2_PICKLE)
    found, _ = findings("--project", ".", cwd=tmp_path, snapshot=NUMPY1)
    assert found["numpy1-reads-numpy2-pickle"]["evidence"][-1]["source"] == "models/data.pkl"


class Command:
    def __reduce__(self):
        return os.system, ("touch executed",)


@pytest.mark.parametrize(("name", "content"), [
    ("evil.pkl", None), ("cut.pkl", NUMPY2_PICKLE[:20]), ("empty.pkl", b""), ("model.zip", b"PK\x03\x04 not a zip"),
    ("not.npy", b"\x93NUMPY\x01\x00\xff\xff{"),
])  # fmt: skip
def test_a_bad_artefact_is_a_line_and_the_rest_of_the_diagnosis_is_given(tmp_path, name, content):
    import pickle

    (tmp_path / name).write_bytes(pickle.dumps(Command()) if content is None else content)
    (tmp_path / "main.py").write_text(APPEND)

    found, document = findings("--artifact", name, "--project", ".", cwd=tmp_path, snapshot=PANDAS2)

    assert "pandas2-names-in-code" in found
    assert not (tmp_path / "executed").exists()
    if content is not None:
        (reason,) = [one["reason"] for one in document["unknown"] if (one["rule"], one["fact"]) == (None, "artifact")]
        assert name in reason
        assert "\n" not in reason


def test_the_pickle_of_these_tests_is_one():
    out = io.StringIO()
    pickletools.dis(NUMPY2_PICKLE, out=out)
    assert "STACK_GLOBAL" in out.getvalue()


@pytest.mark.skipif(os.name == "nt", reason="there are no FIFOs")
def test_hostile_files_around_leave_the_diagnosis_whole(tmp_path):
    (tmp_path / "main.py").write_text(APPEND)
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "pipe.pkl")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "bomb.yaml").write_text(
        "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))])
    )
    with open(tmp_path / "sparse.pkl", "wb") as file:
        file.truncate(10 << 30)
    found, _ = findings("--project", ".", cwd=tmp_path, snapshot=PANDAS2)
    assert "pandas2-names-in-code" in found


def test_explain_names_the_line_and_does_not_rule_out_what_it_cannot_see(tmp_path):
    error = "AttributeError: 'DataFrame' object has no attribute 'append'"
    (tmp_path / "error.log").write_text(error)
    (tmp_path / "facts.json").write_text(json.dumps(PANDAS2))
    words = ("explain", "error.log", "--snapshot", "facts.json", "--project", ".", "-f", "json")
    for text, confirmed in ((APPEND, True), (REPAIRED, None)):
        (tmp_path / "main.py").write_text(text)
        done = envdoctor(*words, cwd=tmp_path)
        (found,) = [one for one in json.loads(done.stdout)["findings"] if one["rule"] == "pandas2-names-in-code"]
        assert found["confirmed"] is confirmed


def test_nothing_of_the_surroundings_is_read_where_no_installed_distribution_asks(tmp_path):
    (tmp_path / "main.py").write_text("import imp\n")
    (tmp_path / "requirements.txt").write_text("iniconfig==2.0.0\n")
    words = (
        "-m",
        "envdoctor",
        "-r",
        "requirements.txt",
        "--python-version",
        "3.12.1",
        "--platform",
        "linux",
        "-f",
        "json",
    )
    there = {"cwd": tmp_path, "env": environment(PYTHONSAFEPATH="1")}
    done = run(sys.executable, "-X", "importtime", *words, **there)
    assert "envdoctor.targets.project" in done.stderr
    assert "envdoctor.probes.project" not in done.stderr
    assert json.loads(done.stdout)["findings"] == []
    named = json.loads(run(sys.executable, *words, "--project", ".", **there).stdout)
    assert {one["rule"] for one in named["findings"]} == {"python312-names-in-code"}


def test_a_process_is_examined_with_the_project_it_runs_in(tmp_path, make_environment):
    python = make_environment(sys.executable) / "bin" / "python"
    site = next(Path(python).parent.parent.glob("lib/*/site-packages"))
    (site / "pandas-2.0.1.dist-info").mkdir()
    (site / "pandas-2.0.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: pandas\nVersion: 2.0.1\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text(APPEND)
    import subprocess

    with subprocess.Popen([python, "-c", "print(flush=True); input()"], cwd=project, stdin=-1, stdout=-1) as job:
        job.stdout.readline()
        done = envdoctor("--pid", str(job.pid), "-f", "json", cwd=tmp_path)
        job.communicate(b"\n")
    document = json.loads(done.stdout)
    assert document["target"]["kind"] == "process"
    assert "pandas2-names-in-code" in {one["rule"] for one in document["findings"]}
