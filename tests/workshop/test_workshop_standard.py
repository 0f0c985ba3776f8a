"""What is kept of the standard library: what real Pythons say, and what stubs tell of other systems."""

import json
import zlib

import interpreters
import pytest

from envdoctor.errors import EnvdoctorError
from envdoctor.workshop import standard

STUB = """\
import sys
from os import sep
from os import path as path
if sys.version_info >= (3, 11):
    new: int
    def f(): ...
if sys.platform == "win32":
    windows = 1
else:
    class C:
        a: int
        if sys.version_info < (3, 12):
            def old(self): ...
"""


@pytest.fixture
def stubs(tmp_path):
    (tmp_path / "VERSIONS").write_text("# comment\nm: 3.0-\ngone: 3.0-3.10  # until\ntyping_extensions: 3.0-\n")
    for name in ("m", "gone", "typing_extensions"):
        (tmp_path / f"{name}.pyi").write_text(STUB)
    return standard.Stubs(str(tmp_path))


def test_names_of_a_stub_by_version_on_any_system(stubs, tmp_path):
    names = stubs.names(str(tmp_path / "m.pyi"), (3, 12))
    assert names == {"path", "new", "f", "windows", "C", "C.a"}
    assert stubs.names(str(tmp_path / "m.pyi"), (3, 10)) == {"path", "windows", "C", "C.a", "C.old"}


def test_modules_of_a_stub_live_as_long_as_it_says(stubs):
    assert dict(stubs.modules((3, 10))).keys() == {"gone", "m"}
    assert [name for name, _ in stubs.modules((3, 11))] == ["m"]


def test_only_what_changed_is_kept(stubs):
    always, until = {"same": None, "f": [None, "a,b="]}, {"same": None, "f": [None, "a"], "lost": None}
    first = standard.VERSIONS[0]
    libraries = {version: {"m": dict(until if version == first else always)} for version in standard.VERSIONS}
    found = standard.changes(libraries, stubs)["modules"]
    mask, names, signatures = found["m"]
    assert mask == (1 << len(standard.VERSIONS)) - 1
    assert all("same" not in told.split() for told in names.values())
    (key,) = [key for key, told in names.items() if "lost" in told.split()]
    assert int(key.split()[0], 16) == 1
    assert signatures["f"].keys() == {"a,b=", "a"}


def test_a_name_that_a_module_answers_for_without_listing_it():
    interpreters.need("3.9")
    found = standard.ask("3.9", {"collections": ["Mapping", "NoSuchName"], "no_such_module": ["x"]})
    assert found == {"collections": {"Mapping": None}}


def test_a_python_that_is_not_here():
    with pytest.raises(EnvdoctorError, match=r"no Python 3\.99 was found"):
        standard.ask("3.99")


def test_the_file_is_what_the_linker_reads():
    data = {"versions": ["3.6"], "modules": {"m": [1, {}, {}]}}
    assert json.loads(zlib.decompress(standard.packed(data))) == data
