"""What an error says is missing, as a question that releases can answer; and their answer as a sentence."""

import pytest
from engine.rule_bases import snapshot
from engine.test_engine_derived import STANDARD, WORDS
from engine.test_engine_explanation import traceback

from envdoctor.engine.asks import Ask, Asking
from envdoctor.engine.derived import asks
from envdoctor.engine.families import clues
from envdoctor.engine.names import Names
from envdoctor.probes.error_text import read

#: ``right-pad`` requires ``left``; nobody requires ``odd``.
PAIR = {("requirements", "right-pad"): ["left>=1", "absent"]}


def here(**packages):
    installed = packages or {"left": "2.0", "right-pad": "1.0"}
    return snapshot(installed, "3.12.1", lookups=PAIR if "right-pad" in installed else None)


def asked(error, *modules, installed=None, **words):
    place = here() if installed is None else installed
    said = read(traceback(*(modules or ("rightmod.core",)), error=error))
    names = Names({**WORDS, **words}, place.packages, None, STANDARD)
    return list(asks(clues(said, WORDS["voices"]), names, place, {}).values())


def fields(ask, *names):
    return tuple(getattr(ask, name) for name in names)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("ImportError: cannot import name 'pad' from 'left'", ("name", "left", "left", "pad", "")),
        ("ModuleNotFoundError: No module named 'left.pads'", ("module", "left", "left.pads", "", "")),
        ("AttributeError: module 'left' has no attribute 'pad'", ("part", "left", "left", "pad", "")),
        ("AttributeError: 'Frame' object has no attribute 'pad'", ("attribute", "left", "", "pad", "")),
        ("TypeError: pad() got an unexpected keyword argument 'wide'", ("keyword", None, "", "pad", "wide")),
        ("TypeError: pad() missing 1 required positional argument: 'wide'", ("required", None, "", "pad", "wide")),
        ("TypeError: pad() takes 1 positional argument but 3 were given", ("count", None, "", "pad", "")),
    ],
)
def test_each_family_of_messages_asks_in_its_own_way(error, expected):
    (ask,) = asked(error)

    assert fields(ask, "kind", "provider", "module", "name", "argument") == expected
    assert fields(ask, "consumer", "python", "system") == ("right-pad", "3.12.1", "linux")
    assert ask.given == (3 if ask.kind == "count" else 0)
    assert ask.owner == ("Frame" if ask.kind == "attribute" else "")


def test_the_innermost_frame_of_the_consumer_is_where_it_is_asked():
    (ask,) = asked("ImportError: cannot import name 'pad' from 'left'", "rightmod.core", "rightmod.deep")

    assert fields(ask, "inside", "code") == ("rightmod.deep", "import it")
    assert ask.versions == {"left": "2.0", "right-pad": "1.0"}


def test_the_standard_library_is_asked_as_a_provider_without_a_name():
    (ask,) = asked("ModuleNotFoundError: No module named 'distutils'")

    assert fields(ask, "kind", "provider", "module", "brings") == ("module", "", "distutils", "stand-in")
    assert ask.others == []


def test_where_the_provider_is_open_all_that_is_installed_and_required_may_be_meant():
    (ask,) = asked("TypeError: pad() got an unexpected keyword argument 'wide'")
    assert {*ask.others} == {"left", "right-pad"}

    many = here(**{"right-pad": "1.0", "left": "2.0", **{f"other{number}": "1" for number in range(9)}})
    (ask,) = asked("TypeError: pad() got an unexpected keyword argument 'wide'", installed=many)
    assert [*ask.others] == ["left"], "of many only what the consumer requires"


def test_where_both_sides_are_known_nobody_else_is_meant_but_for_an_attribute():
    (ask,) = asked("ImportError: cannot import name 'pad' from 'left'")
    assert ask.others == []

    (ask,) = asked("AttributeError: 'Frame' object has no attribute 'pad'")
    assert {*ask.others} == {"left", "right-pad"}


def test_an_import_that_nobody_is_known_to_offer_is_not_asked():
    assert asked("ImportError: cannot import name 'pad' from '.'", "odd.core", installed=here(odd="1")) == []


def test_a_loader_that_makes_a_module_lacks_what_would_have_made_it():
    said = "ModuleNotFoundError: No module named 'rightmod.moves'"

    (ask,) = asked(said, loaders={"moves": "find_spec"})
    assert fields(ask, "kind", "consumer", "module", "name") == ("lacking", "right-pad", "rightmod", "find_spec")
    assert asked(said) == []


@pytest.mark.parametrize(
    ("ask", "dotted", "words"),
    [
        (Ask(kind="attribute", module="left", owner="Frame", name="pad"), "left.Frame.pad", "left.Frame.pad"),
        (Ask(kind="keyword", name="pad", argument="wide"), "pad", "the argument wide of pad()"),
        (Ask(kind="required", name="pad", argument="wide"), "pad", "pad() as it is called here"),
        (Ask(kind="count", name="pad", given=3), "pad", "pad() as it is called here"),
        (Ask(kind="super", name="pad"), "pad", "super().pad"),
        (Ask(kind="made", module="left"), "left", "the use of left"),
        (Ask(kind="words", words="is no pad"), "", "“is no pad”"),
    ],
)
def test_what_is_asked_for_in_words(ask, dotted, words):
    assert (ask.dotted(), ask.said()) == (dotted, words)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "right asks until 1.9, its newest release"),
        ({"since": "2.0", "works": "2.0"}, "right asks until 1.9, from 2.0 on no longer"),
        (
            {"since": "2.0", "works": "2.2"},
            "right asks until 1.9, from 2.0 on no longer, and for nothing else that is gone from 2.2 on",
        ),
        ({"before": "1.1"}, "right asks until 1.9, its newest release; right 1.1 does not ask yet"),
        ({"caps": "1.7", "cap": "left<2"}, "right asks until 1.9, its newest release; right 1.7 requires left<2"),
        (
            {"tells": "3.12.2", "teller": "1.9"},
            "right asks until 1.9, its newest release; right 1.9 does so in another way from Python 3.12.2 on",
        ),
        ({"verb": "says so"}, "right says so until 1.9, its newest release"),
    ],
)
def test_how_long_a_consumer_asks_as_a_sentence(known, said):
    assert Asking(distribution="right", until="1.9", **known).said() == said
