"""The distributions that a message names."""

import pytest
from engine.test_engine_derived import names

from envdoctor.engine.message_names import named_in


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("pip install -U right-pad and try again", ["right-pad"]),
        ("poetry add 'right-pad[all]'", ["right-pad"]),
        ("open a feature request on right-pad to enable it", ["right-pad"]),
        ("rightmod (1.26.9) is not supported", ["right-pad"]),
        ("there is an issue with that", []),
    ],
)
def test_what_a_message_names(message, expected):
    assert named_in(message, names()) == expected
