"""The formats for other programs: SARIF, the annotations of GitHub Actions, JUnit XML."""

import json
import os
import pathlib
import re
import urllib.request
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from conftest import run_envdoctor

from envdoctor import renderers
from envdoctor.model import Evidence, Finding, Ignore, Location, Report, Snapshot

SICK = "flask==1.1.2\nwerkzeug==3.0.1\njinja2==2.11.3\nmarkupsafe==1.1.1\nitsdangerous==2.0.1\nclick==8.1.7\n"
#: A workflow command: its name, its properties and its text.
COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def checked(form, folder, text=SICK, *more):
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text(text)
    return run_envdoctor(
        "check", "-r", "requirements.txt", "--python-version", "3.9", "-f", form, *more, cwd=folder
    ).stdout


def results(text):
    return json.loads(text)["runs"][0]["results"]


def rendered(form, finding):
    snapshot = Snapshot(target={}, python={"version": "3.11.7"}, packages={})
    return renderers.load(form)(Report(snapshot=snapshot, findings=[finding], rules=1))


def finding(text="a", place="a.py", line=3):
    evidence = [Evidence(fact="source.calls", value=text, source=Location(place, line))]
    return Finding(
        rule="a-rule", severity="warning", impact="crash", title=text, why=text, packages=["a"], facts=["source"],
        evidence=evidence,
    )  # fmt: skip


def test_sarif_names_the_line_of_the_lock_file_and_the_rule(tmp_path):
    document = json.loads(checked("sarif", tmp_path))
    (run,) = document["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "requirements.txt", "uriBaseId": "%SRCROOT%"}
    assert SICK.splitlines()[place["region"]["startLine"] - 1].startswith(("flask", "werkzeug"))
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "werkzeug21-helpers-removed"
    assert rule["helpUri"] in rule["help"]["text"]
    assert "werkzeug<2.1" in result["message"]["text"]


def test_a_fingerprint_stays_while_releases_and_lines_change(tmp_path):
    (first,) = results(checked("sarif", tmp_path))
    (second,) = results(checked("sarif", tmp_path, "# pinned\n" + SICK.replace("3.0.1", "3.0.2")))
    assert first["locations"] != second["locations"]
    assert first["partialFingerprints"] == second["partialFingerprints"]
    (other,) = results(checked("sarif", tmp_path / "service"))
    assert other["partialFingerprints"] == first["partialFingerprints"]  # the checkout is wherever it is


def test_two_findings_of_a_rule_differ_in_their_fingerprints():
    texts = [rendered("sarif", finding(place=place)) for place in ("a.py", "b.py")]
    assert len({json.dumps(results(text)[0]["partialFingerprints"]) for text in texts}) == 2


def test_what_is_ignored_is_suppressed(tmp_path):
    (result,) = results(checked("sarif", tmp_path, SICK, "--ignore", "werkzeug21-helpers-removed"))
    assert result["suppressions"][0]["kind"] == "external"
    wish = Ignore(rule="a-rule", source="pyproject.toml", reason="known")
    snapshot = Snapshot(target={}, python={}, packages={})
    report = Report(snapshot=snapshot, findings=[], ignored=[(finding(), wish)])
    assert results(renderers.load("sarif")(report))[0]["suppressions"][0]["justification"] == "known"


def test_an_odd_path_becomes_a_uri(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what is below it is said relative to it
    (result,) = results(rendered("sarif", finding(place="my model/é#1.py")))
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20model/%C3%A9%231.py"
    (result,) = results(rendered("sarif", finding(place="/opt/app/a b.py")))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///opt/app/a%20b.py"}


@pytest.mark.heavy
def test_sarif_is_valid_by_the_published_schema(tmp_path):
    document = json.loads(checked("sarif", tmp_path))
    copy = os.environ.get("ENVDOCTOR_SARIF_SCHEMA")  # of the schema, where its host cannot be reached
    try:
        with urllib.request.urlopen(pathlib.Path(copy).as_uri() if copy else document["$schema"], timeout=60) as answer:
            schema = json.load(answer)
    except OSError as error:
        pytest.skip(f"the schema could not be fetched: {error}")
    jsonschema.validators.validator_for(schema)(schema).validate(document)


def test_an_annotation_names_file_line_and_cure(tmp_path):
    (text,) = checked("github", tmp_path).splitlines()
    command, properties, data = COMMAND.fullmatch(text).groups()
    values = dict(pair.split("=") for pair in properties.split(","))
    assert command == "error"
    assert values["file"] == "requirements.txt"
    assert SICK.splitlines()[int(values["line"]) - 1].startswith(("flask", "werkzeug"))
    assert "%0AFix: " in data


def test_an_annotation_cannot_begin_another():
    text = rendered("github", finding("a: b, c\n::error::100%", place="a,b:c.py"))
    assert len(text.splitlines()) == 1
    command, properties, _ = COMMAND.fullmatch(text.rstrip("\n")).groups()
    assert command == "warning"
    assert "file=a%2Cb%3Ac.py,line=3,title=a%3A b%2C c%0A%3A%3Aerror%3A%3A100%25" in properties


@pytest.mark.parametrize("form", ["github", "junit"])
def test_a_healthy_environment_is_said_to_be_one(form, tmp_path):
    text = checked(form, tmp_path, "packaging==24.0\n")
    assert "nothing known to be wrong" in text
    assert "::" not in text
    if form == "junit":
        (case,) = ET.fromstring(text)
        assert list(case) == []


def test_junit_counts_errors_as_failures(tmp_path):
    suite = ET.fromstring(checked("junit", tmp_path))
    assert suite.get("failures") == "1"
    (case,) = suite
    assert case.get("file") == "requirements.txt"
    assert "Fix: " in case.find("failure").text


def test_junit_holds_whatever_a_report_says():
    suite = ET.fromstring(rendered("junit", finding("<a>\x00\x1b[31m\ud800 & ]]>")))
    assert suite.get("skipped") == "1"
    assert suite[0].find("skipped").get("message") == "<a>\\x00\\x1b[31m\\ud800 & ]]>"
