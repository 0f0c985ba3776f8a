"""Several remedies as one: one command where they agree, none where they do not."""

import pytest
from remedies.actions import PATH, examined, remedy

from envdoctor.model import Action, Remedy
from envdoctor.remedies.commands import joined


@pytest.fixture(autouse=True)
def _nothing_active(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def test_remedies_that_agree_become_one():
    here = examined(["left", "right", "pip"], "pip")
    some = [
        remedy("upgrade", "left>=2", effect="slower"),
        remedy("upgrade", ["Left[x] <4", "right"], effect="slower"),
        remedy("upgrade", "left>=2"),
    ]

    made = joined(some, here)

    assert made.command == f"{PATH} -m pip install 'left[x]>=2,<4' right"
    assert (made.kind, made.requirement, made.effect) == ("upgrade", "left[x]>=2,<4 right", "slower")
    assert made.action == Action(verb="install", requirements=("left[x]>=2,<4", "right"))
    assert joined([remedy("pin", "left==1"), remedy("upgrade", "right>2")], here).kind == "install"
    removal = joined([remedy("uninstall", package="left"), remedy("uninstall", package=["left", "right"])], here)
    assert removal.command == f"{PATH} -m pip uninstall -y left right"


def test_a_distribution_of_which_no_release_suits_all_is_left_out_and_said():
    some = [remedy("install", text) for text in ("left>=2", "other<2", "right", "left<2", "left>=1", "other<1")]

    made = joined(some, examined(["pip"], "pip"))

    assert made.command == f"{PATH} -m pip install 'other<2,<1' right"
    assert made.text == "without left: no release meets all that is required of it"


@pytest.mark.parametrize(
    "some",
    [
        [],
        [remedy("upgrade", "left>=2"), remedy("downgrade", "left<2")],
        [remedy("upgrade", "left>=2"), remedy("pin", "left===2.1"), remedy("downgrade", "left<2")],
        [remedy("upgrade", "left>=2"), remedy("uninstall", package="right")],
        [remedy("upgrade", "left>=2"), remedy("upgrade", "right>=2", at="build")],
        [remedy("upgrade", "left>=2"), remedy("upgrade", "right>=2", safety="workaround")],
        [remedy("upgrade", "left>=2"), remedy("upgrade", "python>=3.9")],
        [remedy("upgrade", "left>=2"), remedy("upgrade", "brought>=2")],
        [remedy("upgrade", "left>=2"), remedy("upgrade", "left @ https://example.org/left-1.0.zip")],
        [remedy("upgrade", "left>=2"), remedy("upgrade", "-r x")],
        [remedy("upgrade", "left>=2"), Remedy(kind="change", text="something else")],
        [remedy("setenv", name="X", to="1"), remedy("setenv", name="X", to="2")],
    ],
)
def test_remedies_that_do_not_agree_stay_apart(some):
    assert joined(some, examined(["left", "brought", "pip"], {"left": "pip", "brought": "conda"})) is None
