"""The ways out of a derived diagnosis, as requirements: by what releases of either side are known to do."""

import pytest
from engine.rule_bases import snapshot
from engine.test_engine_derived import derived
from engine.test_engine_explanation import traceback

from envdoctor.engine.asks import Asking, Edges
from envdoctor.linker.history import Life

SAID = "cannot import name 'pad' from 'left'"
HERE = snapshot({"left": "2.1.0", "right-pad": "1.3"})
GONE = Life(distribution="left", name="left.pad", since="0.9", last="1.9", gone="2.0")
CAME = Life(distribution="left", name="left.pad", since="3.0")


def cures(error=f"ImportError: {SAID}", *, here=HERE, frames=("rightmod.core",), **seen):
    """Of the first finding each remedy: its kind, and the requirement, the distribution or the words."""
    finding = derived(traceback(*frames, error=error), here, seen)[0]
    return [(one.kind, one.requirement or one.package or one.text) for one in finding.remedies]


def asking(life=GONE, **fields):
    return {
        "edges": {
            SAID: Edges(life=life, asking=Asking(distribution="right-pad", until="1.4", **fields), read={"left": 3})
        }
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"works": "1.6"}, [("upgrade", "right-pad>=1.6")]), ({"works": "1.6", "again": "2.0"}, [("upgrade", "right-pad>=1.6,<2.0")]),
        ({"caps": "1.7", "cap": "left<2"}, [("upgrade", "right-pad>=1.7")]),
        ({"works": "1.6", "caps": "1.7", "cap": "left<2"}, [("upgrade", "right-pad>=1.6")]),
        ({"before": "1.0"}, [("downgrade", "right-pad<=1.0")]),
        ({"works": "1.6", "before": "1.0"}, [("upgrade", "right-pad>=1.6"), ("downgrade", "right-pad<=1.0")]), ({}, []),
    ],
)  # fmt: skip
def test_the_releases_of_the_one_that_asks(fields, expected):
    found = cures(**asking(**fields))
    assert [one for one in found if one[1].startswith("right-pad")] == expected
    assert [one for one in found if one[1].startswith("left")] == [("pin", "left<2.0")]


@pytest.mark.parametrize(
    ("fields", "effect"),
    [
        ({"works": "1.6"}, "right-pad asks until 1.4"), ({"works": "1.6", "python": ">=3.8"}, "right-pad asks until 1.4; for Python >=3.8"),
        ({"works": "1.6", "verb": "passes it"}, "right-pad passes it until 1.4"), ({"caps": "1.7", "cap": "left<2"}, "it asks too, and requires left<2"),
        ({"before": "1.0"}, "without what newer releases of right-pad bring: up to 1.0 it does not ask"),
    ],
)  # fmt: skip
def test_what_is_said_of_the_one_that_asks(fields, effect):
    (finding,) = derived(traceback("rightmod.core", error=f"ImportError: {SAID}"), HERE, asking(**fields))
    (one,) = [one for one in finding.remedies if (one.requirement or "").startswith("right-pad")]
    assert (one.effect, one.safety, one.at) == (effect, "workaround", "run")
    assert (one.action.requirements, one.action.packages) == ((one.requirement,), ())


@pytest.mark.parametrize(
    ("life", "version", "expected"),
    [
        (GONE, "2.1.0", [("pin", "left<=1.9")]), (GONE, "2.0", [("pin", "left<=1.9")]), (CAME, "2.1.0", [("upgrade", "left>=3.0")]),
        (CAME, "2.9", [("upgrade", "left>=3.0")]), (None, "2.1.0", [("upgrade", "left>2.1.0"), ("pin", "left<2")]),
        (None, "0.21.3", [("upgrade", "left>0.21.3"), ("pin", "left<0.21")]),
        (None, "0.0.3", [("upgrade", "left>0.0.3"), ("pin", "left<0.0.3")]),
        (None, "0.0", [("upgrade", "left>0.0")]),
        (None, "3", [("upgrade", "left>3"), ("pin", "left<3")]),
        (GONE, "1.8", [("upgrade", "left>1.8"), ("pin", "left<1")]), (CAME, "3.0", [("upgrade", "left>3.0"), ("pin", "left<3")]),
    ],
)  # fmt: skip
def test_the_releases_of_the_one_that_is_asked(life, version, expected):
    here = snapshot({"left": version, "right-pad": "1.3"})
    found = cures(here=here, history={("left", "pad"): life} if life else {})
    assert sorted(one for one in found if one[1].startswith("left") and one[0] != "reinstall") == sorted(expected)


def test_of_what_is_not_installed_no_release_is_left_behind():
    assert cures(here=None) == [
        ("change", "right-pad"), ("change", "left"),
    ]  # fmt: skip


def test_another_release_of_what_is_asked_is_for_the_run_and_not_for_a_build():
    (finding,) = derived(traceback("rightmod.core", error=f"ImportError: {SAID}"), HERE)
    assert {(one.at, one.action.at) for one in finding.remedies} == {("run", "run")}
