"""How far a rule may speak: stable, reported, candidate, retired."""

import json
from pathlib import Path

import pytest
from conftest import CHECKOUT, untraced
from engine.rule_bases import diagnose

from envdoctor.cli import main
from envdoctor.engine.index import from_bytes
from envdoctor.model import Distribution, Snapshot
from envdoctor.rulebase.reader import compile_directory
from envdoctor.workshop import catalogue
from envdoctor.workshop.lint import lint

RULE = """\
id: {id}
title: left 2 breaks
severity: error
impact: crash
when: {{packages: {{left: ">=2"}}}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'left' has no attribute 'name'"}}]
remedies: [{{downgrade: left<2}}]
references: ["https://example.org/left/1"]
"""
PROOF = 'proof: {script: import left, bad: [{python: "3.11", packages: {left: "2"}}]}\n'
RETIRED = "id: left-was-wrong\ntitle: left 2 was thought to break\nstatus: retired\nreplaced-by: left-reported\n"
SNAPSHOT = Snapshot(
    target={}, python={"version": "3.11.4"}, packages={"left": Distribution(name="left", version="2.0")}
)


@pytest.fixture
def rules(tmp_path):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "vocabulary.yaml").write_text("families: {}\n")
    (folder / "left-reported.yaml").write_text(RULE.format(id="left-reported") + PROOF)
    (folder / "left-lead.yaml").write_text(RULE.format(id="left-lead") + "status: candidate\n")
    (folder / "left-was-wrong.yaml").write_text(RETIRED)
    return folder


def found(rules, *, silent=False, own=False):
    findings, _ = diagnose(SNAPSHOT, [from_bytes(compile_directory(str(rules), own=own)[silent], "rules")])
    return [(one.rule, one.severity, one.status, one.proof) for one in findings]


def said(capsys, *words):
    status = main([str(word) for word in words])
    return (status, *capsys.readouterr())


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"schema": 1, "python": {"version": "3.11"}, "packages": {"left": "2.0"}}))
    return path


def test_what_is_not_proven_is_a_warning_at_most(rules):
    assert found(rules) == [("left-reported", "warning", "reported", "unproven")]


def test_a_user_answers_for_rules_of_their_own(rules):
    assert found(rules, own=True) == [("left-reported", "error", "reported", "unproven")]


def test_candidates_stand_in_a_base_of_their_own_and_retired_rules_never_hold(rules):
    assert found(rules, silent=True) == [("left-lead", "warning", "candidate", "unproven")]
    assert found(rules, silent=True, own=True) == [("left-lead", "warning", "candidate", "unproven")]
    index = from_bytes(compile_directory(str(rules))[1], "rules")
    assert (index.rules, {index.texts(one)["id"] for one in index.all()}) == (1, {"left-lead", "left-was-wrong"})


def test_candidates_speak_when_they_are_asked_for(rules, facts, capsys):
    def asked(*words):
        told = json.loads(said(capsys, *words, "--rules", rules, "-f", "json")[1])
        return {one["rule"]: (one["severity"], one["status"], one["proven"]) for one in told["findings"]}

    error = facts.with_name("error.log")
    error.write_text("AttributeError: module 'left' has no attribute 'name'\n")
    own, lead = {"left-reported": ("error", "reported", False)}, {"left-lead": ("warning", "candidate", False)}
    for command in (["check"], ["explain", error]):
        assert asked(*command, "--snapshot", facts) == own
        assert asked(*command, "--snapshot", facts, "--candidates") == own | lead
    assert "left-lead" not in said(capsys, "report", "--snapshot", facts, "--rules", rules)[1]
    assert "candidate, unproven" in said(capsys, "report", "--snapshot", facts, "--rules", rules, "--candidates")[1]


def test_a_finding_shows_its_status_and_fails_no_build_by_a_lead(rules, facts, capsys):
    (rules / "left-reported.yaml").unlink()
    (rules / "left-was-wrong.yaml").write_text(RETIRED.replace("left-reported", "nothing; it was a mistake"))
    status, out, _ = said(capsys, "check", "--snapshot", facts, "--rules", rules, "--candidates")
    assert status == 0
    assert "warning" in out
    assert "left-lead · crash · candidate, unproven" in out


def test_the_list_and_one_rule_show_statuses(rules, capsys):
    out = said(capsys, "rules", "list", "--rules", rules)[1]
    lines = {line.split()[0]: line.split()[1:4] for line in out.splitlines()}
    assert lines["left-reported"] == ["error", "reported", "unproven"]
    assert lines["left-lead"] == ["warning", "candidate", "unproven"]
    assert lines["left-was-wrong"][0] == "retired"
    only = said(capsys, "rules", "list", "--rules", rules, "--status", "retired", "-f", "json")[1]
    retired = {one["id"]: one for one in json.loads(only)}["left-was-wrong"]
    assert (retired["status"], retired["replaced_by"]) == ("retired", "left-reported")
    shown = said(capsys, "rules", "show", "left-was-wrong", "--rules", rules)[1]
    assert "status: retired" in shown
    assert "replaced-by: left-reported" in shown
    assert "severity" not in shown


def test_a_demoted_rule_shows_what_it_states(tmp_path, capsys, rules):
    told = from_bytes(compile_directory(str(rules))[0], "rules")
    (texts,) = (told.texts(one) for one in told.all())
    assert (texts["severity"], texts["stated"]) == ("warning", "error")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (RULE.format(id="left-x") + PROOF + "status: stable\n", "follows from the proof; leave the line out"),
        (RULE.format(id="left-x") + PROOF + "status: reported\n", "follows from the proof; leave the line out"),
        (RULE.format(id="left-x") + PROOF + "status: sure\n", "candidate, retired"),
        (RULE.format(id="left-x") + PROOF + "status: [retired]\n", "must be text"),
        (RULE.format(id="left-x"), "lacks `proof`"),
        (RULE.format(id="left-x") + PROOF + "replaced-by: left-lead\n", "only a retired rule is replaced"),
        ("id: left-x\ntitle: t\nstatus: retired\n", "lacks `replaced-by`"),
        ("id: left-x\ntitle: t\nstatus: retired\nreplaced-by: no-such-rule\n", "no rule `no-such-rule` can replace it"),
        ("id: left-x\ntitle: t\nstatus: retired\nreplaced-by: left-was-wrong\n", "write the id of a rule that is not"),
    ],
)
def test_a_status_that_cannot_be_is_refused(rules, text, complaint):
    (rules / "left-x.yaml").write_text(text)
    messages = [one.message for one in lint([str(rules / "left-x.yaml")])]
    assert any(complaint in one for one in messages), messages


def test_a_lead_need_not_be_proven_at_its_edges_to_be_well_formed(rules):
    assert [str(one) for one in lint([str(rules / "left-lead.yaml"), str(rules / "left-was-wrong.yaml")])] == []
    (rules / "left-y.yaml").write_text(RULE.format(id="left-y") + PROOF)
    assert any("good" in one.message for one in lint([str(rules / "left-y.yaml")]))


def test_a_retired_rule_keeps_its_id_from_being_used_again(rules):
    (rules / "again").mkdir()
    (rules / "again" / "left-was-wrong.yaml").write_text(RULE.format(id="left-was-wrong") + PROOF)
    assert any("is taken by" in one.message for one in lint([str(rules)]))


def test_the_catalogue_tells_them_apart(rules):
    pages = catalogue.pages(str(rules))
    assert "| Status | reported |\n| Severity | warning (error, once it is proven) |" in pages["left-reported.md"]
    assert "| Status | retired: see [left-reported](left-reported.md) |" in pages["left-was-wrong.md"]
    index = pages["README.md"]
    assert index.index("## left\n") < index.index("## Candidates\n") < index.index("## Retired\n")
    assert "(warning, reported, unproven)" in index
    assert "(warning, candidate, unproven)" in index
    assert index.endswith("thought to break (retired)\n")


def test_the_wheel_carries_what_is_silent_in_a_file_of_its_own(wheel):
    import zipfile

    names = zipfile.ZipFile(wheel).namelist()
    assert {"envdoctor/rules.idx", "envdoctor/silent.idx"} <= {*names}


def test_an_ordinary_run_does_not_open_what_is_silent(installed):
    from conftest import environment, run

    (silent,) = Path(installed).parent.parent.rglob("silent.idx")
    kept = silent.read_bytes()
    silent.unlink()
    try:
        assert run(installed, "check", "--fail-on", "never", env=environment()).returncode == 0
    finally:
        silent.write_bytes(kept)
    assert run(installed, "check", "--candidates", "--fail-on", "never", env=environment()).returncode == 0


@pytest.mark.trials
def test_no_shipped_rule_is_louder_than_its_proof():
    with untraced():
        index = from_bytes(compile_directory(str(Path(CHECKOUT, "rules")))[0], "rules")
    shipped = [index.texts(entry) for entry in index.all()]
    assert {one["status"] for one in shipped} <= {"stable", "reported"}
    assert {one["proof"] for one in shipped if one["severity"] == "error" and "installed" not in one["facts"]} == {
        "proven"
    }
