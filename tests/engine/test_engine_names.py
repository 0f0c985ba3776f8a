"""Whose a name is: by what is installed, by families, and by names that are alike."""

import pytest

from envdoctor.engine.names import Names
from envdoctor.linker.standard_library import Standard

WORDS = {"imports": {"rightmod": "right-pad"}, "families": {"left": ["left-cpu", "left-gpu"]}}
STANDARD = Standard((3, 12))


@pytest.mark.parametrize(
    ("name", "installed", "expected"),
    [
        ("left", ["left", "left-gpu"], "left"),
        ("left", ["left-gpu"], "left-gpu"),
        ("left", ["other"], None),
        ("other", ["other"], "other"),
    ],
)
def test_a_member_of_the_family_is_the_distribution(name, installed, expected):
    assert Names(WORDS, installed, None, STANDARD).present(name) == expected


@pytest.mark.parametrize(
    ("module", "installed", "expected"),
    [
        ("widget.core", ["widget"], "widget"),
        ("widget.core", ["python-widget", "gadget"], "python-widget"),
        ("widget.core", ["gadget"], "widget"),
        ("rightmod.core", ["gadget"], "right-pad"),
    ],
)
def test_a_module_is_of_the_distribution_that_is_called_like_it(module, installed, expected):
    assert Names(WORDS, installed, None, STANDARD).distribution(module) == expected
