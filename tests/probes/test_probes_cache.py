"""What is kept is read back only whole, and only where nobody but this user can have written it."""

import os
import shutil

import pytest
from conftest import CHECKOUT, environment, run

from envdoctor.probes import cache, metadata
from envdoctor.probes.distributions import scan
from envdoctor.probes.source.fact_cache import load

POSIX = pytest.mark.skipif(os.name == "nt", reason="owners and modes are those of POSIX")
ROOT = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "envdoctor" / "one.json"
    cache.keep(str(path), b'{"value": 1}')
    assert cache.kept(str(path)) == b'{"value": 1}'
    return path


def test_a_file_that_is_changed_anywhere_or_cut_is_not_believed(kept):
    whole = kept.read_bytes()
    for at in range(len(whole)):
        for bit in (0x01, 0x20, 0x80):
            kept.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            assert cache.kept(str(kept)) is None
        kept.write_bytes(whole[:at])
        assert cache.kept(str(kept)) is None
    kept.write_bytes(whole)
    assert load(str(kept)) == {"value": 1}


@POSIX
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(kept, mode):
    kept.chmod(mode)
    assert cache.kept(str(kept)) is None
    cache.keep(str(kept), b"new")
    assert cache.kept(str(kept)) == b"new"


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_a_directory_that_others_may_write_is_not_believed_and_closed_when_something_is_kept(kept, mode):
    kept.parent.chmod(mode)
    assert cache.kept(str(kept)) is None
    cache.keep(str(kept), b"new")
    assert cache.kept(str(kept)) == b"new"
    assert kept.parent.stat().st_mode & 0o777 == 0o700


@ROOT
def test_what_another_user_owns_is_neither_read_nor_written(kept):
    os.chown(kept, 4711, 4711)
    assert cache.kept(str(kept)) is None
    os.chown(kept.parent, 4711, 4711)
    before = kept.read_bytes()
    cache.keep(str(kept), b"new")
    assert kept.read_bytes() == before
    assert [one.name for one in kept.parent.iterdir()] == ["one.json"]


@POSIX
def test_a_link_in_place_of_the_file_a_pipe_and_a_directory_are_not_believed(kept, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(kept.read_bytes())
    kept.unlink()
    kept.symlink_to(other)
    assert cache.kept(str(kept)) is None
    kept.unlink()
    os.mkfifo(kept)
    assert cache.kept(str(kept)) is None
    kept.unlink()
    kept.mkdir()
    assert cache.kept(str(kept)) is None
    assert cache.kept(str(kept.parent / "no\0file")) is None


def test_a_run_with_spoilt_caches_says_what_one_without_says(installed, tmp_path):
    """A large environment and a directory of rules, so that everything that is kept is kept."""
    (tmp_path / "rules").mkdir()
    shutil.copy(os.path.join(CHECKOUT, "rules", "installed", "requirement-incompatible.yaml"), tmp_path / "rules")
    site = tmp_path / "site"
    for number in range(metadata.WORTH_REMEMBERING + 5):
        folder = site / f"d{number}-1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: d{number}\nVersion: 1.0\nRequires-Dist: d0>={number % 3}\n\n"
        )
    variables = environment(
        PYTHONPATH=str(site), XDG_CACHE_HOME=str(tmp_path / "cache"), LOCALAPPDATA=str(tmp_path / "cache")
    )

    def check():
        done = run(installed, "--rules", "rules", "--fail-on", "warning", env=variables, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        return done.stdout

    first = check()
    assert "d0>=2" in first
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert {path.name.partition("-")[0] for path in files} == {"metadata", "packs", "rules"}
    for spoil in (lambda data: data[: len(data) // 2], lambda data: data.replace(b"d0>=2", b"d0>=0"), lambda _: b"{}"):
        for path in files:
            path.write_bytes(spoil(path.read_bytes()))
        assert check() == first


def test_what_an_earlier_release_kept_is_read_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(metadata, "WORTH_REMEMBERING", 1)
    folder = tmp_path / "site" / "a-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: a\nVersion: 1.0\nRequires-Dist: b\n\n")
    found = list(scan([str(tmp_path / "site")]).packages.values())
    metadata.read_all(found)
    (path,) = (tmp_path / "cache").rglob("metadata-*")
    path.write_bytes(b'{"format": 1, "entries": {"x": [1, 2, 3, 4, 5, 6, 7]}}')
    assert metadata.read_all(found)["a"].requires == ["b"]
