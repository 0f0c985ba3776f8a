"""What files say that a glob names: below an import path, on the machine, and within a root that nothing leads out of."""

import os

import pytest

from envdoctor.probes import file_texts
from envdoctor.probes.file_texts import said

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of Linux")


@pytest.fixture
def sites(tmp_path):
    for name, text in (("first/one/version.py", "cuda = '1.1'\n"), ("second/one/version.py", "cuda = '2.2'\n")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return [str(tmp_path / "none"), str(tmp_path / "first"), str(tmp_path / "second")]


def test_the_first_entry_of_the_path_that_has_such_files_answers(sites):
    assert said("one/version.py: cuda = '([\\d.]+)'", sites) == ["1.1"]
    assert said("*/version.py: ^(cuda) = '(\\d)", sites) == ["cuda.1"]
    assert said("one/version.py", sites) == ["/one/version.py"]
    assert said("one/*.so", sites) == said("one: .", sites) == []


def test_an_absolute_glob_is_about_the_machine_or_about_the_root(tmp_path, sites):
    assert said(f"{tmp_path}/*/one/version.py: '([\\d.]+)", sites) == ["1.1", "2.2"]
    assert said("/first/*/version.py", [], str(tmp_path)) == ["/first/one/version.py"]


def test_nothing_leads_out_of_a_root(tmp_path, sites):
    root = tmp_path / "root"
    (root / "lib" / "site").mkdir(parents=True)
    (root / "secret").write_text("cuda = 'inside'\n")
    (tmp_path / "secret").write_text("cuda = 'outside'\n")
    (root / "lib" / "site" / "absolute.py").symlink_to("/secret")
    (root / "lib" / "site" / "relative.py").symlink_to("../../../secret")
    os.mkfifo(root / "lib" / "site" / "pipe.py")

    paths = [str(root / "lib" / "site")]
    assert said("*.py: cuda = '(\\w+)'", paths, str(root)) == ["inside"]
    assert said("pipe.py", paths, str(root)) == []


def test_of_a_large_file_the_beginning_and_the_end_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(file_texts, "_PART", 64)
    content = b"\0first\0" + bytes(200) + b"\0middle\0" + bytes(200) + b"\0last\0"
    (tmp_path / "large.so").write_bytes(content)
    (tmp_path / "small.so").write_bytes(b"\0first\0" + bytes(40) + b"\0middle\0" + bytes(40) + b"\0last\0")

    assert said("large.so: \\0([a-z]+)\\0", [str(tmp_path)]) == ["first", "last"]
    assert said("small.so: \\0([a-z]+)\\0", [str(tmp_path)]) == ["first", "middle", "last"]
