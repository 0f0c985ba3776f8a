"""The skeleton parses, is refused for what is unfinished, and becomes a rule without fault once it is filled in."""

import os

import pytest

from envdoctor.authoring.lint import lint
from envdoctor.authoring.rulebase import checkout
from envdoctor.authoring.skeleton import skeleton
from envdoctor.authoring.syntax import load_vocabulary, parse
from envdoctor.errors import RuleError

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
