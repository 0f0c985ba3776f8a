"""Whatever a rule file contains, reading it gives a rule or complaints, never an exception; so does lint."""

import os

import pytest
import yaml
from conftest import untraced
from hypothesis import example, given
from hypothesis import strategies as st
from workshop.rule_texts import CONSUMERS, LINTED, LINTED_CONSUMERS, NASTY, RULE

from envdoctor.rulebase.compile import compile_rule, pack
from envdoctor.rulebase.patterns import danger, literals
from envdoctor.rulebase.shipped_files import checkout
from envdoctor.rulebase.syntax import load_vocabulary, parse
from envdoctor.workshop.lint import lint

pytestmark = pytest.mark.trials

VOCABULARY = load_vocabulary(os.path.join(checkout(), "vocabulary.yaml"))
PATH = "rules/left-breaks-right.yaml"
TREES = [yaml.safe_load(text) for text in (RULE, CONSUMERS, LINTED, LINTED_CONSUMERS)]
WORDS = sorted(
    {"python", "packages", "all", "any", "not", "installed", "config", "{consumer}", "present", "absent", "null", "~", "on"}
    | {"3.10", ">=3.11", "<2", "==1.*", ">=1,,<2", "===1", "left-pad", "a b", "*", "&a", "!x", "- ", ": ", "#", "(a+)+", "((", "[["}
    | {"https://x.y/z", "https://[", "a @ https://x.y", "a[b]>=1", "python<3.11", "0x10", "1:30", "2001-01-01", "\ud800", "\x85"}
)  # fmt: skip
scalars = st.one_of(
    st.sampled_from(WORDS), st.text(max_size=12), st.integers(), st.floats(), st.booleans(), st.none(),
)  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
)


def read(text):
    rule, complaints = parse(text, PATH, VOCABULARY)
    assert (rule is None) is bool(complaints)
    assert all(1 <= one.line <= text.count("\n") + text.count("\r") + text.count("\x85") + 2 for one in complaints)
    assert all("\n" not in one.message and len(one.message) < 600 for one in complaints)
    if rule is not None:
        pack([compile_rule(rule, VOCABULARY)], "digest")
    return rule


@given(st.text())
@example(RULE)
@example(CONSUMERS)
@example('id: "\\ud800"')
def test_any_text(text):
    read(text)


@given(
    st.lists(
        st.sampled_from([*RULE.split(), "\n", "\n  ", "\n    ", "\t", "{", "}", "[", "]", "- ", "'", '"', *WORDS]),
        max_size=40,
    )
)
def test_any_words(words):
    read(" ".join(words))


@given(st.integers(0, len(RULE)), st.integers(0, 30), st.text(max_size=5))
def test_a_rule_with_any_part_overwritten(at, length, text):
    read(RULE[:at] + text + RULE[at + length :])


def spots(tree, where=()):
    yield where
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield from spots(value, (*where, key))


def changed(tree, where, value):
    if not where:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[where[0]] = changed(tree[where[0]], where[1:], value)
    return copy


@st.composite
def mutated(draw):
    tree = draw(st.sampled_from(TREES))
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from(list(spots(tree))))
        tree = changed(tree, where, draw(values))
    return tree


def as_text(tree):
    """A tree as YAML, texts in quotes, so that each value arrives as it is."""
    return yaml.dump(tree, default_style=None, allow_unicode=True, sort_keys=False)


@given(mutated())
def test_a_rule_with_any_value_replaced(tree):
    try:
        text = as_text(tree)
    except UnicodeEncodeError:
        return
    read(text)


@given(tree=mutated())
def test_lint_of_a_rule_with_any_value_replaced(tree, tmp_path):
    path = tmp_path / "left-breaks-right.yaml"
    try:
        path.write_bytes(as_text(tree).encode())
    except UnicodeEncodeError:
        return
    for releases in (None, dict.fromkeys, lambda names: {name: ["1.0", "2.0"] for name in names}):
        with untraced():
            lint([str(path)], releases)


def test_lint_of_nasty_files(tmp_path):
    for number, text in enumerate(NASTY.values()):
        (tmp_path / f"nasty-{number}.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert {one.path for one in lint([str(tmp_path)])} == {str(path) for path in tmp_path.iterdir()}


@given(st.text(alphabet="ab.*+?|()[]{}^$\\wds123,-:=!<>P'", max_size=20))
def test_any_expression_that_compiles(pattern):
    import re
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning):
        return
    danger(pattern)
    assert literals(pattern) >= 0


@pytest.mark.parametrize("name", sorted(NASTY))
def test_nasty_files_stay_quick(name):
    assert read(NASTY[name]) is None
