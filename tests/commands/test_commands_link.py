"""``envdoctor check --link``: findings like any other, in text and as JSON, and what it says where there is nothing."""

import json
import sys

import interpreters
import linker_environment as env
import pytest
from conftest import environment, run, run_envdoctor


def check(folder, *words):
    command = [sys.executable, "-m", "envdoctor", "check", *words]
    return run(*command, env=environment(), cwd=folder)


@pytest.fixture
def broken(make_environment, tmp_path):
    folder = make_environment(sys.executable)
    (site,) = folder.glob("lib/python3*/site-packages")
    env.write(
        site,
        a={"a/__init__.py": "import b\nb.gone\n"},
        c={"c.py": "def f():\n    from b import gone\n"},
        b={"b.py": ""},
    )
    return folder


def test_a_missing_name_is_a_finding(broken, tmp_path):
    done = check(tmp_path, "--python", broken, "--link", "-f", "json")
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["rule"] == "linked-name-missing"
    assert finding["severity"] == "error"
    assert finding["packages"] == ["a", "c", "b"]
    assert finding["consumer"] == "a"
    assert finding["title"] == "a 1.0 and 1 more take b.gone, which b 1.0 does not have"
    places = [one["source"].rpartition("site-packages/")[2] for one in finding["evidence"][:2]]
    assert places == ["a/__init__.py:2", "c.py:2"]


def test_without_the_option_nothing_is_read(broken, tmp_path):
    assert json.loads(check(tmp_path, "--python", broken, "-f", "json").stdout)["findings"] == []


def test_the_text_names_both_sides(broken, tmp_path):
    text = check(tmp_path, "--python", broken, "--link").stdout
    assert "b.gone" in text
    assert "use a release of b that still has it" in text


def test_the_cure_of_what_older_releases_have_is_a_command_and_each_provider_is_told_apart(make_environment, tmp_path):
    folder = make_environment(sys.executable)
    (site,) = folder.glob("lib/python3*/site-packages")
    sources = {
        "networkx/__init__.py": "from networkx.classes.graph import Graph\n",
        "networkx/classes/__init__.py": "",
        "networkx/classes/graph.py": "class Graph:\n    def __init__(self): ...\n",
    }
    env.write(site, b={"b.py": ""})
    env.write(site, "3.0", networkx=sources)
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text(
        "import b\nimport networkx\nG = networkx.Graph()\nG.add_path\nG.add_cycle\nb.gone\n"
    )
    done = check(project, "--python", folder, "--project", ".", "--link", "--all")
    text = " ".join(done.stdout.split())
    assert "the project takes 2 things that networkx 3.0 does not have" in text
    assert "networkx.Graph().add_path main.py:4" in text
    assert "Graph.add_path is in networkx, last in 1.11, and gone in 2.4." in text
    assert "'networkx<=1.11'" in text
    assert "the project takes b.gone, which b 1.0 does not have" in text
    assert "use a release of b that still has it" in text


def test_a_root_file_system_for_another_python(tmp_path):
    prefix = tmp_path / "root" / "usr" / "local"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python3.12").write_bytes(b"")
    (prefix / "lib" / "python3.12").mkdir(parents=True)
    (prefix / "lib" / "python3.12" / "os.py").write_text("")
    env.write(
        prefix / "lib" / "python3.12" / "site-packages", a={"a.py": "import distutils\nfrom typing import List\n"}
    )
    done = check(tmp_path, "--root", tmp_path / "root", "--link", "-f", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["title"] == "a 1.0 takes distutils, which Python 3.12 does not have"
    assert [one.get("requirement") for one in finding["remedies"]] == [None, "python<3.12"]


def test_a_target_without_files_is_told_apart(tmp_path):
    (tmp_path / "requirements.txt").write_text("a==1.0\n")
    done = check(tmp_path, "-r", "requirements.txt", "--python-version", "3.12", "--link")
    assert done.returncode == 3
    assert "--link reads the files" in done.stderr


def test_a_rule_about_the_same_cause_gains_the_evidence(make_environment, tmp_path):
    folder = make_environment(sys.executable)
    (site,) = folder.glob("lib/python3*/site-packages")
    taking = "from b import gone\n"
    env.write(site, a={"a.py": taking}, b={"b.py": ""}, c={"c.py": taking + "from b import lost\n"})
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "a-needs-old-b.yaml").write_text(RULE)
    done = check(tmp_path, "--python", folder, "--link", "-f", "json", "--rules", rules)
    assert done.returncode == 1, done.stderr
    finding, *others = json.loads(done.stdout)["findings"]
    assert finding["rule"] == "a-needs-old-b"
    assert any(one["source"].endswith("a.py:1") for one in finding["evidence"])
    assert [one["title"].partition(",")[0] for one in others] == ["c 1.0 takes b.gone", "c 1.0 takes b.lost"]


RULE = """\
id: a-needs-old-b
title: b 1.0 removed gone, which a imports
severity: error
impact: crash
when:
  packages: {a: ">=1.0", b: ">=1.0"}
why: b 1.0 removed it.
symptoms:
  - {raises: ImportError, message: "cannot import name 'gone'"}
remedies:
  - downgrade: b<1.0
references:
  - https://example.org/1
proof:
  script: import a
  bad:
    - {python: "3.11", packages: {a: "1.0", b: "1.0"}}
  good:
    - {python: "3.11", packages: {a: "1.0", b: "0.9"}}
"""


def test_a_program_without_a_suffix_is_linked(broken, tmp_path):
    program = tmp_path / "project" / "bin" / "run"
    program.parent.mkdir(parents=True)
    program.write_text("#!/usr/bin/env python3\nfrom b import gone\n")
    program.chmod(0o755)
    done = check(tmp_path, "--python", broken, "--project", tmp_path / "project", "--link", "-f", "json")
    found = [one["source"] for finding in json.loads(done.stdout)["findings"] for one in finding["evidence"]]
    assert "bin/run:2" in found


def test_a_project_is_linked_beside_an_environment_with_nothing_in_it(tmp_path):
    """The environment is in the directory of a name that is also a command; what a rule finds too is said once."""
    python = interpreters.need("3.12")
    assert run("uv", "venv", "--quiet", "--python", python, tmp_path / "env").returncode == 0
    (tmp_path / "a.py").write_text("from configparser import SafeConfigParser\nfrom typing.re import Pattern\n")
    words = ("check", "--python", "env", "--link", "--project", ".", "-f", "json")

    found = json.loads(run_envdoctor(*words, cwd=tmp_path, env=environment()).stdout)

    assert found["target"]["path"] == str(tmp_path / "env")
    assert [(one["rule"], one["severity"]) for one in found["findings"]] == [("python312-names-in-code", "error")]
    (tmp_path / "a.py").unlink()
    empty = run_envdoctor(*words, cwd=tmp_path, env=environment())
    assert empty.returncode == 0
    assert json.loads(empty.stdout)["findings"] == []
