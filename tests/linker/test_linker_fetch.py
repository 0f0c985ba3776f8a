"""What a lock would install is linked by reading wheels: of an index on this machine, in part, once, and never run."""

import pytest
from wheel_index import BALLAST, BLOCK, serving, wheel

from envdoctor import doctor
from envdoctor.cli import main
from envdoctor.model import Report
from envdoctor.probes import releases

LINUX = "cp311-cp311-manylinux_2_17_x86_64"


def contents(name, version, **files):
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    paths = [*files, f"{name}/ballast.bin", f"{info}/METADATA", f"{info}/RECORD"]
    record = "".join(f"{path},sha256={version},1\n" for path in paths)
    return wheel({**files, f"{info}/METADATA": metadata, f"{info}/RECORD": record}, ballast=f"{name}/ballast.bin")


def source(path, text):
    return {path: text}


WHEELS = {
    f"a-1.0-{LINUX}.whl": contents("a", "1.0", **source("a/__init__.py", "from b import gone\n")),
    f"a-1.1-{LINUX}.whl": contents("a", "1.1", **source("a/__init__.py", "from b import there\n")),
    f"b-2.0-{LINUX}.whl": contents("b", "2.0", **source("b-2.0.data/purelib/b.py", "there = 1\n")),
    "b-2.0-cp311-cp311-win_amd64.whl": contents("b", "2.0", **source("b.py", "there = gone = 1\n")),
    "b-2.0-cp310-cp310-manylinux_2_17_x86_64.whl": contents("b", "2.0", **source("b.py", "there = gone = 1\n")),
}


@pytest.fixture
def index(monkeypatch, tmp_path):
    with serving(monkeypatch, tmp_path / "cache", dict(WHEELS)) as server:
        yield server


@pytest.fixture
def linked(tmp_path):
    """Linked findings and unknown facts of pins."""

    def run(*pins, platform="linux"):
        (tmp_path / "pins.txt").write_text("".join(f"{pin}\n" for pin in pins))
        snapshot = doctor.examine("requirements", str(tmp_path / "pins.txt"), python_version="3.11", platform=platform)
        report = doctor.linked(Report(snapshot=snapshot, findings=[]), lambda _doing: None, fetch=True)
        assert report.snapshot == snapshot
        return [(one.severity, one.title) for one in report.findings], {one.fact: one.reason for one in report.unknown}

    return run


BROKEN = ("error", "a 1.0 takes b.gone, which b 2.0 does not have")


@pytest.mark.usefixtures("index")
def test_a_lock_is_judged_before_anything_is_installed(linked):
    assert linked("a==1.0", "b==2.0")[0] == [BROKEN]
    assert linked("a==1.1", "b==2.0")[0] == []


@pytest.mark.usefixtures("index")
def test_the_wheel_is_that_of_the_named_platform(linked):
    assert linked("a==1.0", "b==2.0", platform="win32")[0] == []


def test_of_a_wheel_only_parts_are_fetched_and_those_once(index, linked):
    linked("a==1.0", "b==2.0")
    for name in (f"a-1.0-{LINUX}.whl", f"b-2.0-{LINUX}.whl"):
        assert 0 < sum(size for asked, size in index.asked if asked == name) <= 3 * BLOCK < len(BALLAST)
    index.asked.clear()
    assert linked("a==1.0", "b==2.0")[0] == [BROKEN]
    assert index.asked == []


@pytest.mark.parametrize("html", [False, True])
def test_a_server_without_ranges_and_an_index_without_sizes_serve_too(index, linked, html):
    index.ranges, index.html = False, html
    assert linked("a==1.0", "b==2.0")[0] == [BROKEN]
    assert [name for name, _ in index.asked].count(f"a-1.0-{LINUX}.whl") == 1


def test_an_index_without_sizes_is_asked_for_ranges(index, linked):
    index.html = True
    assert linked("a==1.0", "b==2.0")[0] == [BROKEN]
    assert all(size <= BLOCK for _, size in index.asked)


def test_an_index_of_files_serves_too(monkeypatch, tmp_path, linked):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for project in "ab":
        folder = tmp_path / "simple" / project
        folder.mkdir(parents=True)
        names = [name for name in WHEELS if name[0] == project]
        (folder / "index.html").write_text("".join(f'<a href="{name}">{name}</a>' for name in names))
        for name in names:
            (folder / name).write_bytes(WHEELS[name])
    monkeypatch.setattr(
        releases, "configuration", lambda: releases.Configuration(urls=[(tmp_path / "simple").as_uri()])
    )
    assert linked("a==1.0", "b==2.0")[0] == [BROKEN]


def test_what_has_no_wheel_or_a_broken_one_is_unknown_and_said(index, linked):
    index.wheels[f"a-1.0-{LINUX}.whl"] = b"no archive" * BLOCK
    found, reasons = linked("a==1.0", "b==2.0", "c==3.0")
    assert found == []
    assert "no index has a wheel of it" in reasons["packages.c"]
    assert "no wheel that can be read" in reasons["packages.a"]


def test_nothing_leaves_the_directory_of_the_cache(index, linked, tmp_path):
    index.wheels[f"a-1.0-{LINUX}.whl"] = contents("a", "1.0", **source("../../../../../escaped.py", "x = 1\n"))
    linked("a==1.0", "b==2.0")
    assert not list(tmp_path.rglob("escaped.py"))


@pytest.mark.usefixtures("index")
def test_the_command_fetches_where_it_is_asked_to_and_says_so_where_not(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pins.txt").write_text("a==1.0\nb==2.0\n")
    words = ["check", "-r", str(tmp_path / "pins.txt"), "--python-version", "3.11"]
    assert main([*words, "--link"]) == 3
    assert "--fetch" in capsys.readouterr().err
    assert main([*words, "--fetch"]) == 2
    assert "--link" in capsys.readouterr().err
    assert main([*words, "--link", "--fetch"]) == 1
    assert "b.gone" in capsys.readouterr().out


@pytest.mark.heavy
def test_releases_of_the_real_index_are_linked(linked, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found, unknown = linked("flask==2.2.3", "werkzeug==3.0.0", "jinja2==3.1.2", "click==8.1.7", "markupsafe==2.1.5")
    assert ("error", "flask 2.2.3 takes werkzeug.urls.url_quote, which werkzeug 3.0.0 does not have") in found
    assert not [fact for fact in unknown if fact.startswith("packages.")]
