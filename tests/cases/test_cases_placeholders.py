"""No rule shows a reader its placeholders, whatever is known: with a traceback, a log, or nothing but the rule."""

import functools
import re

import pytest
from conftest import untraced

from envdoctor import doctor
from envdoctor.engine.explanation import NOWHERE, _Case, last_own_place
from envdoctor.engine.symptoms import SymptomMatch
from envdoctor.model import Report
from envdoctor.probes.error_text import read
from envdoctor.renderers import FORMATS, load

#: A placeholder, or a clause that was left as it is written.
_OPEN = re.compile(r"\{[a-z_]+\}|\[[^\[\]]*\|[^\[\]]*\]|\[ ?[Ii]n a file")
TRACEBACK = """\
Traceback (most recent call last):
  File "/home/me/app/train.py", line 41, in <module>
    main()
  File "/home/me/env/lib/python3.11/site-packages/left/core.py", line 7, in main
    raise ValueError("it broke")
ValueError: it broke
"""


def rules():
    for index in doctor.rule_bases(candidates=True):
        seen = {entry[0]: entry for entry in index.all()}
        for entry in seen.values():
            texts = index.texts(entry)
            yield texts, {**entry[2], **({"consumers": texts["consumers"]} if texts["consumers"] else {})}


@functools.cache
def every():
    return {texts["id"]: (texts, compiled) for texts, compiled in rules()}


def explained(rules, text, snapshot=None):
    """The report of a text that shows a symptom of each of some rules, whatever the text says."""
    error_text = read(text)
    found = []
    for rule in rules:
        texts, compiled = every()[rule]
        consumers = list(texts["consumers"]) or [None]
        shown = [SymptomMatch(rule=rule, consumer=one, score=1.0, matched=("it broke",)) for one in consumers[:2]]
        for several in (shown, shown[:1]):
            found += [
                one
                for _, one in _Case(texts, compiled, several, error_text, last_own_place(error_text)).findings(snapshot)
            ]
    place = snapshot or NOWHERE
    return Report(
        snapshot=place,
        findings=[
            one.replace(remedies=doctor.commanded(one.remedies, place)) for one in found if one.confirmed is not False
        ],
        ruled_out=[one for one in found if one.confirmed is False],
        understood={"exception": "ValueError"},
    )


@pytest.mark.trials
@pytest.mark.parametrize("text", [TRACEBACK, "it broke\n"], ids=["a traceback", "a log"])
@pytest.mark.parametrize("python", [None, "3.11.4"])
def test_no_format_shows_a_placeholder_of_any_rule(text, python):
    assert len(every()) > 400
    snapshot = python and NOWHERE.replace(python={"version": python}, complete=True)

    with untraced():
        report = explained(every(), text, snapshot)
        made = {name: load(name)(report, width=400, color=False).splitlines() for name in FORMATS}

    for name, lines in made.items():
        assert [line for line in lines if _OPEN.search(line)] == [], name


def test_the_file_and_line_of_the_users_own_code_are_named():
    report = explained(["torchrl013-data-collector-names-removed"], TRACEBACK)

    (advice,) = {one.text for one in report.findings[0].remedies if one.kind == "change"}
    assert advice.startswith("Write the new name in /home/me/app/train.py, line 41: Collector for")


def test_what_a_text_does_not_tell_is_left_out():
    report = explained(["torchrl013-data-collector-names-removed"], "it broke\n")

    (advice,) = {one.text for one in report.findings[0].remedies if one.kind == "change"}
    assert advice.startswith("Write the new name: Collector for")


def test_the_file_of_a_traceback_is_not_taken_for_a_saved_model():
    report = explained(["keras2-reads-keras3-model"], TRACEBACK)

    assert report.findings[0].title == "a file was saved with Keras 3 and cannot be loaded with Keras 2"


def test_a_command_is_only_shown_where_all_of_it_is_known():
    report = explained(["requirement-missing"], TRACEBACK)

    assert report.findings[0].remedies == []
    assert report.findings[0].title == "a distribution requires something, which is not installed"
