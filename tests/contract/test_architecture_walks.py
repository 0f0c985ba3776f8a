"""The walks of docs/architecture.md name modules, and what is in them, that are there."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest
from conftest import CHECKOUT

WALKS = (
    (Path(CHECKOUT) / "docs" / "architecture.md").read_text(encoding="utf-8").partition("<!-- end of the picture")[2]
)
ROOMS = {path.stem for path in (Path(CHECKOUT) / "envdoctor").iterdir()}
NAMES = sorted({one for one in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", WALKS) if one.partition(".")[0] in ROOMS})


@pytest.mark.parametrize("name", NAMES)
def test_what_a_walk_names_is_there(name):
    home, _, last = f"envdoctor.{name}".rpartition(".")
    assert hasattr(importlib.import_module(home), last) or importlib.util.find_spec(f"{home}.{last}"), name


def test_the_walks_name_many():
    assert len(NAMES) > 20
