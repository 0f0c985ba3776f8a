"""Findings that no rule made: under a separate heading, after the rules, with private data taken out."""

import re

from golden.samples import FLASK, PICKLE, SNAPSHOT

from envdoctor.model import Evidence, Finding, Remedy, Report
from envdoctor.renderers import markdown, terminal
from envdoctor.renderers.redaction import Redactor

DERIVED = Finding(
    rule="derived-missing-name", severity="warning", impact="crash",
    title="werkzeug 3.0.1 has no `werkzeug.gone`, which flask 2.2.3 asks for", why="The text names it.",
    packages=["flask", "werkzeug"], facts=["packages"], status="derived", matched=["cannot import name 'gone'"],
    evidence=[Evidence(fact="frames.flask", value="/home/ada/work/app.py, line 3: token=hf_" + "a1" * 17, source="the text")],
    remedies=[Remedy(kind="upgrade", requirement="flask>2.2.3", safety="workaround", effect="if a newer one does not")],
)  # fmt: skip
RULED = PICKLE.replace(matched=["IndexError"], confirmed=True)
FAR = FLASK.replace(matched=["a message"], confirmed=None)
UNDERSTOOD = {"exception": "ImportError", "message": "cannot import name 'gone'", "versions": {}, "python": None}


def report(*findings):
    return Report(snapshot=SNAPSHOT, findings=findings, rules=400, understood=UNDERSTOOD)


def lines_of(text):
    return [line for line in text.splitlines() if re.match(r"\S", line)]


def test_the_heading_stands_between_rules_and_what_was_derived():
    shown = lines_of(terminal.render(report(RULED, DERIVED, FAR), width=100, color=False, unicode=False))

    assert [line.partition(" ")[0] for line in shown] == ["1", "error", "Derived", "warning", "Rules", "error"]
    assert shown[2] == "Derived from the text, proven by nobody:"
    assert shown[0].startswith("1 confirmed, 1 not confirmed, 1 derived in Python 3.11.7")


def test_rules_alone_have_no_heading():
    shown = terminal.render(report(RULED, FAR), width=100, color=False, unicode=False)

    assert "Derived" not in shown
    assert "Rules that fit" not in shown


def test_where_no_rule_explains_it_that_is_still_said_with_the_way_to_one():
    shown = terminal.render(report(DERIVED), width=100, color=False, unicode=False)

    assert "derived: no rule knows this" in shown
    assert "None of 400 rules explains this." in shown
    assert "envdoctor rules new" in shown


def test_markdown_redacts_what_a_frame_shows():
    shown = markdown.render(report(DERIVED), redactor=Redactor(home="/home/ada", user="ada", host="box"))

    assert "#### No rule explains the text" in shown
    assert "Derived from the text, proven by nobody:" in shown
    assert "/home/ada" not in shown
    assert "hf_a1" not in shown
    assert "~/work/app.py, line 3" in shown
