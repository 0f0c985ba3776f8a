"""What Python says of a name that is gone, against the names that rules ask a project's source for."""

import pytest
from engine.rule_bases import base, explained, rule

from envdoctor.probes.error_text import read

NAMES = ["lib.old", "lib.gone.**", "lib.Frame.append", "lib.**.Pipe.**.push", "lib.**.beta_rows", "lib.Kind.{ONE,TWO}"]
TEXT = {"raises": "AttributeError", "message": "module 'lib' has no attribute 'something_else'"}
KEYWORD = {"raises": "TypeError", "message": "read\\(\\) got an unexpected keyword argument 'other'"}


def about_names(**fields):
    asked = {"packages": {"lib": ">=2"}, "source": {"uses": NAMES}}
    return rule(**{"when": asked, "symptoms": [TEXT], **fields})


def about_arguments(**fields):
    asked = {"calls": ["lib.read", "lib.Frame.write", "lib.Model"], "argument": fields.pop("argument", {"name": "sep"})}
    return rule(when={"packages": {"lib": ">=2"}, "source": asked}, **{"symptoms": [KEYWORD], **fields})


def found(text, *rules):
    return [one.rule for one in explained(read(text), None, [base(*rules)]).findings]


@pytest.mark.parametrize(
    "text",
    [
        "ImportError: cannot import name 'old' from 'lib' (/v/lib/__init__.py)",
        "AttributeError: module 'lib' has no attribute 'old'",
        "ModuleNotFoundError: No module named 'lib.gone'",
        "ModuleNotFoundError: No module named 'lib.gone.deep.er'",
        "AttributeError: module 'lib' has no attribute 'gone'",
        "AttributeError: 'Frame' object has no attribute 'append'",
        "AttributeError: type object 'Frame' has no attribute 'append'. Did you mean: 'extend'?",
        "AttributeError: 'Pipe' object has no attribute 'push'",
        "  File \"app.py\", line 3, in <module>\n    lib.beta_rows()\nAttributeError: 'Maker' object has no attribute 'beta_rows'",
        "AttributeError: type object 'Kind' has no attribute 'TWO'",
    ],
)
def test_a_name_that_a_rule_asks_for_needs_no_symptom(text):
    assert found(text, about_names()) == ["left-breaks-right"]


@pytest.mark.parametrize(
    "text",
    [
        "ImportError: cannot import name 'new' from 'lib' (/v/lib/__init__.py)",
        "ImportError: cannot import name 'old' from 'other' (/v/other/__init__.py)",
        "ModuleNotFoundError: No module named 'lib'",
        "AttributeError: 'Frame' object has no attribute 'push'",
        "AttributeError: 'Other' object has no attribute 'append'",
        "AttributeError: 'Pipe' object has no attribute 'append'",
        "AttributeError: 'Generator' object has no attribute 'beta_rows'",
        "AttributeError: 'dict' object has no attribute 'append'",
    ],
)
def test_other_names_are_not_its_own(text):
    assert found(text, about_names()) == []


def test_names_of_a_rule_whose_symptoms_tell_of_none_that_is_gone_are_no_symptoms():
    other = {"raises": "ValueError", "message": "the truth of a lib is not known"}

    assert found("AttributeError: module 'lib' has no attribute 'old'", about_names(symptoms=[other])) == []


def test_all_of_a_distribution_says_nothing_of_one_name():
    asked = {"packages": {"lib": ">=2"}, "source": {"uses": ["lib.**"]}}

    assert found("AttributeError: module 'lib' has no attribute 'old'", about_names(when=asked)) == []


def test_what_failed_in_another_package_is_not_the_projects_name():
    frame = '  File "/v/lib/python3.11/site-packages/other/core.py", line 3, in <module>\n    from lib import old\n'
    text = f"Traceback (most recent call last):\n{frame}ImportError: cannot import name 'old' from 'lib'"

    assert found(text, about_names()) == []


def test_names_that_must_not_be_used_are_no_symptoms():
    asked = {"all": [{"packages": {"lib": ">=2"}}, {"not": {"source": {"uses": ["lib.old"]}}}]}

    assert found("AttributeError: module 'lib' has no attribute 'old'", about_names(when=asked)) == []


@pytest.mark.parametrize(
    ("function", "argument", "rules"),
    [
        ("read", "sep", ["left-breaks-right"]),
        ("Frame.write", "sep", ["left-breaks-right"]),
        ("Model.__init__", "sep", ["left-breaks-right"]),
        ("__init__", "sep", []),
        ("read", "by", []),
        ("Other.__init__", "sep", []),
        ("parse", "sep", []),
    ],
)
def test_an_argument_is_known_by_its_function(function, argument, rules):
    text = f"TypeError: {function}() got an unexpected keyword argument '{argument}'"

    assert found(text, about_arguments()) == rules


@pytest.mark.parametrize(
    ("asked", "said", "rules"),
    [
        ({"argument": {"at": 1}}, "takes 1 positional argument but 2 were given", ["left-breaks-right"]),
        ({"argument": {"at": 1, "name": "sep"}}, "takes from 1 to 2 positional arguments but 3 were given", ["left-breaks-right"]),
        ({"argument": {"name": "sep"}}, "takes 1 positional argument but 2 were given", []),
        ({"argument": {"at": 1, "is": "list"}}, "takes 1 positional argument but 2 were given", []),
        ({"without": ["sep"]}, "missing 1 required positional argument: 'sep'", ["left-breaks-right"]),
        ({"without": [{"name": "sep", "at": 2}]}, "missing 1 required keyword-only argument: 'sep'", ["left-breaks-right"]),
        ({"without": ["by"]}, "missing 1 required positional argument: 'sep'", []),
        ({"argument": {"name": "sep"}}, "missing 1 required positional argument: 'sep'", []),
    ],
)  # fmt: skip
def test_an_argument_may_be_one_too_many_or_missing(asked, said, rules):
    written = rule(when={"packages": {"lib": ">=2"}, "source": {"calls": ["lib.read"], **asked}}, symptoms=[KEYWORD])

    assert found(f"TypeError: read() {said}", written) == rules


def test_a_constructor_without_its_class_is_known_where_the_text_names_the_package():
    text = "  File \"app.py\", line 3, in f\n    lib.Model(sep=1)\nTypeError: __init__() got an unexpected keyword argument 'sep'"

    assert found(text, about_arguments()) == ["left-breaks-right"]


def test_an_argument_whose_value_matters_is_not_gone():
    text = "TypeError: read() got an unexpected keyword argument 'sep'"

    assert found(text, about_arguments(argument={"name": "sep", "equals": "x"})) == []


def test_its_own_symptom_and_a_name_are_one_match_and_the_better_one_counts():
    symptom = {"raises": "AttributeError", "message": "module 'lib' has no attribute 'old'"}
    text = "AttributeError: module 'lib' has no attribute 'old'"

    (finding,) = explained(read(text), None, [base(about_names(symptoms=[symptom]))]).findings

    assert finding.matched == ("raises AttributeError", "message \"module 'lib' has no attribute 'old'\"")
