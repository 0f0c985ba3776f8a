"""Every kind of target through the command line, and the documents that come out of it."""

import functools
import json
import os
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import CHECKOUT, environment, run, run_envdoctor

from envdoctor.cli import main

LOCKS = Path(CHECKOUT, "tests", "data", "locks")
FILES = sorted(
    path.relative_to(LOCKS).as_posix()
    for path in LOCKS.glob("*/*")
    if path.suffix != ".in" and path.name != "pyproject.toml"
)


@functools.cache
def validator(name):
    schema = json.loads(Path(CHECKOUT, "docs", name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def document(capsys, *words, statuses=(0, 1)):
    """The JSON document of a command line, held against its schema."""
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert status in statuses, err
    parsed = json.loads(out)
    validator("snapshot.schema.json" if words[0] == "snapshot" else "check.schema.json").validate(parsed)
    return parsed


def site_of(folder):
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages")
    return site


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A real environment in which three things are wrong."""
    path = tmp_path_factory.mktemp("target") / "env"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, path).returncode == 0
    python = path / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = run("uv", "pip", "install", "--quiet", "--python", python, "jinja2", "requests<2.33", "python-dateutil<3")
    assert done.returncode == 0, done.stderr
    (idna,) = site_of(path).glob("idna-*.dist-info")
    shutil.rmtree(idna)
    (site_of(path) / "~arkupsafe").mkdir()
    shutil.copytree(next(site_of(path).glob("jinja2-*.dist-info")), site_of(path) / "jinja2-1.0.dist-info")
    return path


def without_places(findings):
    return [{key: value for key, value in one.items() if key not in {"evidence", "remedies"}} for one in findings]


# --- requirements and lock files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_every_lock_file_is_read_and_diagnosed(name, capsys):
    words = ["-r", LOCKS / name, "--python-version", "3.11", "--platform", "linux", "--machine", "x86_64"]

    found = document(capsys, "check", *words, "-f", "json")

    assert found["target"]["kind"] == "requirements"
    assert found["target"]["python"]["version"].startswith("3.11")
    assert found["target"]["platform"] == {"system": "linux", "machine": "x86_64"}
    assert found["target"]["distributions"] > 0
    for form in ("text", "markdown"):
        assert main(["-r", str(LOCKS / name), "--python-version", "3.11", "-f", form]) in {0, 1}
        assert capsys.readouterr().err == ""


def test_markers_choose_by_platform_and_version(tmp_path, capsys):
    path = tmp_path / "requirements.txt"
    path.write_text("one==1 ; sys_platform == 'win32'\ntwo==2 ; python_version < '3.10'\nthree==3\n")

    def count(*words):
        return document(capsys, "check", "-r", path, "-f", "json", *words)["target"]["distributions"]

    assert count("--platform", "win32", "--python-version", "3.9") == 3
    assert count("--platform", "linux", "--python-version", "3.9") == 2
    assert count("--platform", "darwin", "--python-version", "3.12", "--machine", "arm64") == 1


@pytest.mark.parametrize(("table", "severity"), [("default", "error"), ("develop", "warning")])
def test_what_only_a_group_asks_for_says_so_and_is_one_level_less(table, severity, tmp_path, capsys):
    lock = tmp_path / "Pipfile.lock"
    lock.write_text(
        json.dumps(
            {"default": {"markupsafe": {"version": "==2.1.0"}}, "develop": {}, "_meta": {}}
            | {table: {"jinja2": {"version": "==2.11.3"}, "markupsafe": {"version": "==2.1.0"}}}
        )
    )
    parsed = document(capsys, "check", "-r", lock, "--python-version", "3.9", "-f", "json")
    (found,) = [one for one in parsed["findings"] if one["rule"] == "markupsafe21-soft-unicode-removed"]
    assert found["severity"] == severity
    assert ("Only an extra or a group of the project asks for jinja2." in found["why"]) is (severity == "warning")


def test_an_unpinned_line_is_unknown_and_that_is_said(tmp_path, capsys):
    path = tmp_path / "requirements.txt"
    path.write_text("cloudpickle\n")

    found = document(capsys, "-r", path, "--python-version", "3.11", "-f", "json")
    main(["-r", str(path), "--python-version", "3.11"])

    assert found["findings"] == []
    assert any("cloudpickle" in one["fact"] for one in found["unknown"])
    assert "could not be examined" in capsys.readouterr().out.replace("\n", " ") or found["unknown"]


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path, capsys):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    path = tmp_path / "environment.yml"
    path.write_text("\n".join([*lines, "dependencies: *a11", ""]))

    status = main(["-r", str(path), "--python-version", "3.11"])
    out, err = capsys.readouterr()

    assert status == 3
    assert out == ""
    assert "environment.yml" in err
    assert err.count("\n") == 1


# --- snapshots ------------------------------------------------------------------------------------------------------


def test_a_snapshot_gives_the_findings_of_the_environment(folder, tmp_path, capsys):
    path = tmp_path / "facts.json"
    there = document(capsys, "check", "--python", folder, "-f", "json")
    facts = document(capsys, "snapshot", "--python", folder)
    path.write_text(json.dumps(facts))
    here = document(capsys, "check", "--snapshot", path, "-f", "json")

    rules = {one["rule"] for one in there["findings"]}
    assert rules >= {"requirement-missing", "duplicate-metadata", "install-leftover"}
    assert without_places(here["findings"]) == without_places(there["findings"])
    assert [one["rule"] for one in here["unknown"]] == [one["rule"] for one in there["unknown"]]
    assert facts == document(capsys, "snapshot", "--python", folder)


def test_a_snapshot_is_read_from_standard_input_and_written_again_unchanged(folder, tmp_path):
    command = [sys.executable, "-m", "envdoctor"]
    first = run(*command, "snapshot", "--python", folder, "-o", tmp_path / "facts.json", env=environment())
    assert (first.returncode, first.stdout) == (0, "")
    text = (tmp_path / "facts.json").read_text(encoding="utf-8")

    done = run(*command, "--snapshot", "-", "-f", "json", input=text, env=environment())
    assert done.returncode == 1
    found = json.loads(done.stdout)
    validator("check.schema.json").validate(found)
    again = run(*command, "snapshot", "--snapshot", "-", input=text, env=environment())
    for section in ("packages", "requirements", "tags", "installed", "python", "marker"):
        assert json.loads(again.stdout)[section] == json.loads(text)[section], section


def test_the_smallest_snapshot_is_enough(tmp_path, capsys):
    path = tmp_path / "facts.json"
    path.write_text('{"python": {"version": "3.11.7"}, "packages": {"cloudpickle": "1.6.0"}}')

    found = document(capsys, "--snapshot", path, "-f", "json")

    assert "cloudpickle-bytecode-py311" in [one["rule"] for one in found["findings"]]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        "1",
        '{"packages": 3}',
        '{"packages": {"a": 1}}',
        "\x00",
        '{"schema": 9, "packages": {}}',
        "[" * 99999,
    ],
)
def test_a_spoilt_snapshot_is_a_line(text, tmp_path, capsys):
    path = tmp_path / "facts.json"
    path.write_text(text)

    status = main(["--snapshot", str(path)])
    out, err = capsys.readouterr()

    assert (status, out) == (3, "")
    assert err.startswith("envdoctor: ")
    assert err.count("\n") == 1
    assert len(err) < 500


# --- a file system, another interpreter -----------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="an image of Linux")
def test_a_root_file_system_shows_what_its_interpreter_would(folder, tmp_path, capsys):
    root = tmp_path / "image"
    name = site_of(folder).parent.name
    place = root / "usr" / "local" / "lib" / name
    place.mkdir(parents=True)
    shutil.copytree(site_of(folder), place / "site-packages")
    (place / "os.py").touch()
    (root / "usr/local/bin").mkdir()
    (root / "usr/local/bin" / name).write_text("#!/bin/false\n")
    (root / "usr/local/bin" / name).chmod(0o755)

    there = document(capsys, "check", "--python", folder, "-f", "json")
    found = document(capsys, "check", "--root", root, "-f", "json")

    assert found["target"]["kind"] == "root"
    assert found["target"]["distributions"] == there["target"]["distributions"]
    mine = {"requirement-missing", "duplicate-metadata", "install-leftover"}
    assert mine <= {one["rule"] for one in found["findings"]}


def test_what_a_program_will_use_can_be_stated(folder, capsys):
    facts = document(capsys, "snapshot", "--python", folder, "--start-method", "spawn")

    assert facts["start_method"]["stated"] == "spawn"


def test_rules_of_a_directory_are_added_and_may_ask_an_interpreter_for_more(folder, tmp_path, capsys, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "own-cause.yaml").write_text(OWN)
    monkeypatch.setenv("OWN_SETTING", "on")
    words = ["--rules", tmp_path / "own", "-f", "json"]

    asked = document(capsys, "check", "--python", folder, *words)
    without = document(capsys, "check", "--python", folder, "-f", "json")

    assert asked["rules"] == without["rules"] + 1
    (finding,) = [one for one in asked["findings"] if one["rule"] == "own-cause"]
    assert {"env.OWN_SETTING", "packages.requests"} <= {one["fact"] for one in finding["evidence"]}
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    active = document(capsys, "check", *words)
    assert "own-cause" in [one["rule"] for one in active["findings"]]


OWN = """\
id: own-cause
title: a cause of our own
severity: warning
impact: slow
when:
  packages: {requests: ">=1"}
  env: {OWN_SETTING: {equals: "on"}}
why: It is said here.
remedies:
  - change: do something else
references:
  - https://example.org/own
proof:
  script: import requests
  bad:
    - {python: "3.11", packages: {requests: "2.31.0"}, env: {OWN_SETTING: "on"}}
  good:
    - {python: "3.11", packages: {requests: "2.31.0"}}
"""


# --- report ---------------------------------------------------------------------------------------------------------

SECRETS = {
    "PIP_INDEX_URL": "https://ada:hunter2hunter2@index.example.org/simple",
    "SOME_API_TOKEN": "t0ps3cr3tt0ps3cr3t",
    "HOME": "/home/adalovelace",
    "USER": "adalovelace",
    "LOGNAME": "adalovelace",
}


@pytest.fixture
def private(folder, tmp_path):
    """The environment in somebody's home directory, with an address that carries a password."""
    home = tmp_path / "home" / "adalovelace"
    copy = home / "project" / ".venv"
    shutil.copytree(folder, copy, symlinks=True)
    (info,) = site_of(copy).glob("requests-*.dist-info")
    url = "https://ada:hunter2hunter2@git.example.org/requests.git"
    (info / "direct_url.json").write_text(json.dumps({"url": url, "vcs_info": {"vcs": "git", "commit_id": "0" * 40}}))
    (site_of(copy) / "leaky-1.0.dist-info").mkdir()
    metadata = (
        f"Metadata-Version: 2.1\nName: leaky\nVersion: 1.0\nRequires-Dist: gone @ {url}?token=t0ps3cr3tt0ps3cr3t\n\n"
    )
    (site_of(copy) / "leaky-1.0.dist-info" / "METADATA").write_text(metadata)
    return home, {**SECRETS, "HOME": str(home), "USERPROFILE": str(home), "VIRTUAL_ENV": str(copy)}


@pytest.mark.parametrize("command", ["report", "snapshot"])
def test_what_is_sent_to_a_maintainer_holds_no_secret_and_counts_them(command, private, tmp_path):
    home, variables = private

    done = run_envdoctor(command, env=environment(**variables), cwd=home)

    assert done.returncode == 0, done.stderr
    for secret in ("hunter2", "t0ps3cr3t", "adalovelace", str(home)):
        assert secret not in done.stdout, secret
    if command == "snapshot":
        facts = json.loads(done.stdout)
        assert facts["redactions"] > 5
        assert facts["packages"]["leaky"] == "1.0"
        (tmp_path / "facts.json").write_text(done.stdout)
        read = run_envdoctor("report", "--snapshot", tmp_path / "facts.json", env=environment())
        assert read.returncode == 0
        assert "requirement-missing" in read.stdout
    else:
        assert "values redacted." in done.stdout


def test_a_report_opens_with_the_environment_and_folds_the_rest(folder, capsys):
    assert main(["report", "--python", str(folder)]) == 0
    text = capsys.readouterr().out

    order = [
        "| Python |",
        "| envdoctor |",
        "requirement-missing",
        "#### Distributions that rules know about",
        "<details>",
    ]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert text.count("<details>") == text.count("</details>") >= 2
    assert "redacted" in text.splitlines()[-1]


def test_a_report_goes_to_a_file(folder, tmp_path, capsys):
    assert main(["report", "--python", str(folder), "-o", str(tmp_path / "report.md")]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("### envdoctor report\n")
