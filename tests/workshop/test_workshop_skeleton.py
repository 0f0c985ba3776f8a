"""The skeleton parses, is refused for what is unfinished, and becomes a rule without fault once it is filled in."""

import os
import re

import pytest

from envdoctor.errors import RuleError
from envdoctor.probes.error_text import read
from envdoctor.rulebase.shipped_files import checkout
from envdoctor.rulebase.syntax import load_vocabulary, parse
from envdoctor.workshop.lint import lint
from envdoctor.workshop.skeleton import from_traceback, skeleton

VOCABULARY = load_vocabulary(os.path.join(checkout(), "vocabulary.yaml"))


def test_it_parses():
    rule, complaints = parse(skeleton("some-cause"), "rules/some-cause.yaml", VOCABULARY)
    assert complaints == []
    assert rule.id == "some-cause"


def test_its_unfinished_parts_are_named_one_by_one(tmp_path):
    path = tmp_path / "some-cause.yaml"
    path.write_text(skeleton("some-cause"))
    lines = path.read_text().split("\n")
    found = lint([str(path)])
    assert {one.message.split("`")[1] for one in found} == {
        "title", "when", "why", "symptoms", "remedies", "references", "proof",
    }  # fmt: skip
    assert all("is unfinished; write" in one.message for one in found)
    assert len({one.line for one in found}) == len(found)
    for one in found:
        if "`why`" not in one.message:
            assert "todo" in lines[one.line - 1].lower()


def test_filled_in_it_is_a_rule(tmp_path):
    text = (
        skeleton("some-cause")
        .replace("https://TODO.example", "https://example.org")
        .replace("todo-distribution", "left")
    )
    text = text.replace("todo_distribution", "left").replace("TODO: the words", "the words").replace("TODO", "text")
    path = tmp_path / "some-cause.yaml"
    path.write_text(text)
    assert [str(one) for one in lint([str(path)])] == []


@pytest.mark.parametrize(
    ("name", "better"), [("Some Cause", "some-cause"), ("../x", "try x"), ("", "name-of-the-cause")]
)
def test_another_name_is_refused(name, better):
    with pytest.raises(RuleError, match=better):
        skeleton(name)


TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import streamlit
  File "/srv/.venv/lib/python3.10/site-packages/streamlit/elements/arrow_altair.py", line 36, in <module>
    from altair.vegalite.v4.api import Chart
ModuleNotFoundError: No module named 'altair.vegalite.v4'
"""


def test_a_traceback_fills_in_what_it_tells():
    seen = from_traceback(
        read(TRACEBACK), {"streamlit": "1.22.0", "altair": "5.0.0", "numpy": "1.26.4", "broken": None}
    )
    rule, complaints = parse(skeleton("some-cause", seen), "rules/some-cause.yaml", VOCABULARY)

    assert complaints == []
    assert rule.when == {"python": ">=3.10", "packages": {"streamlit": "<=1.22.0", "altair": "<=5.0.0"}}
    assert rule.symptoms == [
        {"raises": "ModuleNotFoundError", "message": r"No module named 'altair\.vegalite\.v4'", "in": "streamlit"}
    ]
    assert rule.proof["bad"] == [
        {
            "python": "3.10",
            "packages": {"streamlit": "1.22.0", "altair": "5.0.0"},
            "raises": "ModuleNotFoundError: No module named 'altair.vegalite.v4'",
        }
    ]


def test_a_message_full_of_signs_stays_a_message():
    text = TRACEBACK.replace("No module named 'altair.vegalite.v4'", 'a "b" \\d {consumer} [x] (y)+ # z: 1')
    rule, complaints = parse(
        skeleton("some-cause", from_traceback(read(text), {})), "rules/some-cause.yaml", VOCABULARY
    )
    assert complaints == []
    assert re.search(rule.symptoms[0]["message"], 'a "b" \\d {consumer} [x] (y)+ # z: 1')


def test_a_text_without_failure_is_refused():
    with pytest.raises(RuleError, match="shows no exception"):
        from_traceback(read("all is well"), {})
