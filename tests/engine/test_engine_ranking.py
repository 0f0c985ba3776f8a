"""All that is said of an error text, in order: what rules explain, what is derived, what holds of the same packages."""

import pytest
from engine.rule_bases import base, diagnose, rule, snapshot
from engine.test_engine_derived import STANDARD, WORDS
from engine.test_engine_derived_case import spelled
from engine.test_engine_explanation import GONE, removed, traceback
from golden.samples import same

from envdoctor.engine.derived import derive
from envdoctor.engine.explanation import explain, recognised, stated_environment
from envdoctor.engine.families import clues
from envdoctor.engine.names import Names
from envdoctor.engine.ranking import together
from envdoctor.probes.error_text import read

RULES = base(
    removed(), removed("left-pad-removed-by-name", symptoms=[{**GONE, "in": "{module}"}]),
    rule(symptoms=[GONE]), rule("left-holds", title="left holds"), rule("left-hint", severity="info"),
    rule("left-on-new-python", symptoms=[GONE], when={"packages": {"left": ">=2"}, "python": ">=3.12"}),
    rule("left-is-not-built", symptoms=[{"message": "Failed building wheel for left"}], impact="install-failure"),
    rule("other-pickles", symptoms=[{"message": "cannot pickle"}], when={"packages": {"other": ">=1"}}),
)  # fmt: skip
OWN = '  File "/home/me/train.py", line 7, in main\n    left.pad(1)\n'
TEXTS = {
    "right": traceback("right.app", "left.core"),
    "wrong": traceback("wrong.deep", "third.plugin", "left.core"),
    "stranger": traceback("stranger.app", "left.core"),
    "own code": traceback("left.core").replace("app.py", "/home/me/app.py"),
    "deep own code": "Traceback (most recent call last):\n" + OWN + "ImportError: cannot import name 'pad' from 'left'",
    "versions": "left==2.0\nright==1.3\nPython 3.11.4\nImportError: cannot import name 'pad' from 'left'",
    "contradicted": "left==1.0\nImportError: cannot import name 'pad' from 'left'",
    "named": "ImportError: cannot import name 'pad' from 'left', says third",
    "build": "  ERROR: Failed building wheel for left",
    "pickle": traceback("right.app", error="TypeError: cannot pickle '_thread.lock' object"),
    "unknown": traceback("right.app", "left.core", error="ValueError: strange"),
}
PROJECT = {("project", "there"): True, ("importable", "stranger"): True, ("importable", "wrong"): False}
HERE = {
    "nowhere": None,
    "affected": snapshot({"left": "2.0", "right": "1.3", "third": "8", "wrong-way": "1"}, lookups=PROJECT),
    "newer": snapshot({"left": "2.0", "right": "2.0"}),
    "older": snapshot({"left": "1.0", "right": "1.3"}, lookups=PROJECT),
}


def told(name, here):
    said = read(TEXTS[name])
    report = explain(recognised(said, [RULES]), here)
    there = here or stated_environment(said)
    known = Names(WORDS, there.packages, None, STANDARD)
    derived = derive(clues(said, WORDS["voices"]), known, there, {})
    holding = diagnose(here, [RULES])[0] if here else []
    yield f"{name}: {report.understood} {report.rules}"
    for finding in report.findings:
        yield f"  {finding.confirmed}"
        yield from spelled(finding)
    yield f"  ruled out: {[(one.rule, one.title, [each.value for each in one.evidence]) for one in report.ruled_out]}"
    yield f"  order: {[(one.rule, one.matched, one.confirmed) for one in together(report.findings, derived, holding, said, known)]}"


@pytest.mark.parametrize("name", HERE)
def test_what_is_said_of_each_text(name):
    same(f"explained-{name}.txt", "\n".join(line for text in TEXTS for line in told(text, HERE[name])) + "\n")
