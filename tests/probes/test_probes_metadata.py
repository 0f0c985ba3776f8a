"""What is remembered is what would be read: after any change of a file, and whatever became of the cache."""

import json
import os

import pytest

from envdoctor.model import Unknown
from envdoctor.probes import cache as files
from envdoctor.probes.distributions import read_metadata, scan
from envdoctor.probes.metadata import WORTH_REMEMBERING, read_all


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "envdoctor"


def site_with(tmp_path, number):
    site = tmp_path / "site"
    for index in range(number):
        path = site / f"d{index}-1.0.dist-info"
        path.mkdir(parents=True)
        (path / "METADATA").write_text(
            f"Name: d{index}\nVersion: 1.0\nRequires-Dist: r{index}\nRequires-Python: >=3\n\n"
        )
        (path / "WHEEL").write_text("Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n")
    return site


def read(site):
    return read_all(list(scan([str(site)]).packages.values()))


def fresh(site):
    return facts({name: read_metadata(one) for name, one in scan([str(site)]).packages.items()})


def facts(answers):
    return {name: one.reason if isinstance(one, Unknown) else plain(one) for name, one in answers.items()}


def plain(one):
    return list(one.requires), one.requires_python, one.tags


@pytest.mark.skipif(os.name == "nt", reason="the cache directory is set through XDG_CACHE_HOME")
class TestRemembering:
    def test_the_second_time_nothing_but_the_cache_is_read(self, tmp_path, cache):
        site = site_with(tmp_path, WORTH_REMEMBERING)
        expected = fresh(site)
        assert facts(read(site)) == expected
        (kept,) = cache.iterdir()
        document = json.loads(files.kept(str(kept)))
        next(iter(document["entries"].values()))[3] = ["only-in-the-cache"]
        files.keep(str(kept), json.dumps(document).encode())

        assert ["only-in-the-cache"] in [one.requires for one in read(site).values()]

    def test_a_changed_file_a_new_one_and_one_that_is_gone(self, tmp_path, cache):
        site = site_with(tmp_path, WORTH_REMEMBERING + 2)
        read(site)
        (site / "d0-1.0.dist-info" / "METADATA").write_text("Name: d0\nVersion: 1.0\nRequires-Dist: other-thing\n\n")
        (site / "d1-1.0.dist-info" / "METADATA").unlink()
        new = site / "new-2.0.dist-info"
        new.mkdir()
        (new / "METADATA").write_text("Name: new\nVersion: 2.0\n\n")
        replaced = site / "d2-1.0.dist-info" / "METADATA"
        same = os.stat(replaced)
        (site / "replacement").write_text(replaced.read_text().replace("r2", "x2"))
        os.utime(site / "replacement", ns=(same.st_atime_ns, same.st_mtime_ns))
        os.replace(site / "replacement", replaced)

        answers = facts(read(site))

        assert answers == fresh(site)
        assert answers["d0"][0] == ["other-thing"]
        assert answers["d1"][3]
        assert answers["d2"][0] == ["x2"]

    @pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"format":1}', '{"format":1,"entries":{"x":[1]}}',
                                        '{"format":99,"entries":{}}', '{"format":1,"entries":[]}', "\x00\xff"])  # fmt: skip
    def test_a_damaged_cache_is_made_anew(self, tmp_path, cache, damage):
        site = site_with(tmp_path, WORTH_REMEMBERING)
        read(site)
        (kept,) = cache.iterdir()
        files.keep(str(kept), damage.encode())

        assert facts(read(site)) == fresh(site)
        assert json.loads(files.kept(str(kept)))["entries"]

    def test_a_cache_that_cannot_be_written_costs_time_only(self, tmp_path, cache):
        cache.parent.mkdir()
        cache.write_text("a file where the directory should be")
        site = site_with(tmp_path, WORTH_REMEMBERING)

        assert facts(read(site)) == fresh(site)

    def test_a_small_environment_leaves_no_trace(self, tmp_path, cache):
        site = site_with(tmp_path, 3)

        assert facts(read(site)) == fresh(site)
        assert not cache.exists()
