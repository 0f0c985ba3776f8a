"""What a provider removed is mined from the wheels of an index on this machine: linked in pairs, and never run."""

import zipfile

import pytest
import yaml
from wheel_index import serving, wheel

from envdoctor.cli import main
from envdoctor.linker.history import History
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.syntax import parse
from envdoctor.workshop import mining
from envdoctor.workshop.mined_rule import about
from envdoctor.workshop.name_history import history, store

LEFT = {
    "1.0": "def kept(): ...\ndef old(): ...\n",
    "1.1": "def kept(): ...\ndef old(): ...\n",
    "1.2": "def kept(): ...\n",
    "2.0": "def kept(): ...\n",
}
RIGHT = {
    "0.1": ("import left\n", "left"),
    "0.2": ("from left import old\n", "left"),
    "0.3": ("from left import old\n", "left"),
    "0.4": ("from left import old\n", "left<1.2"),
    "0.5": ("from left import kept\n", "left"),
}
MIDDLE = {"3.0": ("def run():\n    from left import old\n", "left"), "3.1": ("import left\n", "left")}
PARTS = {"5.0": ("", "left")}


def contents(name, version, text, requires, **more):
    info, files = f"{name}-{version}.dist-info", {f"{name}/__init__.py": text, **more}
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: {requires}\n"
    record = "".join(f"{path},sha256={version},1\n" for path in [*files, f"{info}/METADATA", f"{info}/RECORD"])
    return wheel({**files, f"{info}/METADATA": metadata, f"{info}/RECORD": record})


def file_of(name, version):
    return f"{name}-{version}-py3-none-any.whl"


def published():
    found = {file_of("left", version): contents("left", version, text, "other") for version, text in LEFT.items()}
    for name, releases in (("right", RIGHT), ("middle", MIDDLE)):
        found |= {file_of(name, version): contents(name, version, *stated) for version, stated in releases.items()}
    more = {"parts/inner.py": "import left\nleft.old\n"}
    return {**found, file_of("parts", "5.0"): contents("parts", "5.0", "", "left", **more)}


#: Before left 1.2 came everything but what was made for it.
LATE = {
    file_of("left", "1.2"): "2021-01-01",
    file_of("left", "2.0"): "2022-01-01",
    file_of("right", "0.5"): "2023-01-01",
}


@pytest.fixture
def index(monkeypatch, tmp_path):
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    wheels = published()
    days = {**dict.fromkeys(wheels, "2020-01-01"), file_of("right", "0.4"): "2021-06-01", **LATE}
    with serving(monkeypatch, tmp_path / "cache", wheels, days) as server:
        store(str(tmp_path / "history.zip"), {"left": history("left", lambda _: None)})
        monkeypatch.setattr(mining, "shipped", lambda: History(zipfile.ZipFile(tmp_path / "history.zip")))
        yield server


@pytest.mark.usefixtures("index")
def test_both_edges_of_a_removed_name_are_found_by_linking():
    (found,) = mining.Mine("left", lambda _: None).of("right")
    assert (found.last, found.gone) == ("1.1", "1.2")
    assert (found.first, found.until, found.free, found.since, found.works) == ("0.2", "0.4", "0.3", "0.5", "0.5")
    assert [(one.module, one.name, one.severity, one.inside) for one in found.lost] == [
        ("left", "old", "error", "right")
    ]


@pytest.mark.usefixtures("index")
def test_what_only_a_call_takes_makes_no_candidate_and_what_a_submodule_takes_a_warning():
    mine = mining.Mine("left", lambda _: None)
    assert mine.of("middle") == []
    (found,) = mine.of("parts")
    assert [(one.severity, one.inside, one.kind) for one in found.lost] == [("warning", "parts.inner", "part")]
    assert (found.since, found.works) == (None, None)


@pytest.mark.usefixtures("index")
def test_consumers_require_the_provider_or_something_that_does():
    names = ["left", "middle", "other", "parts", "right"]
    assert list(mining.Mine("left", lambda _: None, names).consumers()) == ["middle", "parts", "right"]
    with pytest.raises(mining.TargetError, match="envdoctor rules history other"):
        mining.Mine("other", lambda _: None)


def mined(tmp_path, *words):
    return main(["rules", "mine", "left", "--consumer", "right", "--consumer", "parts", *words])


@pytest.mark.usefixtures("index")
def test_the_command_writes_one_rule_for_each_cause_and_overwrites_none(tmp_path, capsys):
    assert mined(tmp_path, "--write", str(tmp_path / "mined")) == 0
    assert "2 causes with 2 consumers" in capsys.readouterr().out
    assert sorted(path.stem for path in (tmp_path / "mined").iterdir()) == [
        "left12-old-removed",
        "left12-old-removed-submodule",
    ]
    path = tmp_path / "mined" / "left12-old-removed.yaml"
    rule, complaints = parse(path.read_text(), str(path), vocabulary_of(str(tmp_path)))
    assert complaints == []
    assert rule.when == {"packages": {"left": ">=1.2"}}
    assert rule.consumers["right"] == {"bad": ">=0.2,<0.5", "works": "0.5", "module": "right"}
    cells = yaml.safe_load(path.read_text())["proof"]
    assert [one["packages"] for one in cells["bad"]] == [
        {"right": "0.3", "left": "1.2"},
        {"right": "0.4", "left": "1.2"},
    ]
    assert cells["bad"][1]["together"] is True
    assert [one["packages"] for one in cells["good"]] == [
        {"right": "0.3", "left": "1.1"},
        {"right": "0.5", "left": "1.2"},
    ]
    path.write_text("mine\n")
    assert mined(tmp_path, "--write", str(tmp_path / "mined")) == 0
    assert path.read_text() == "mine\n"


def test_a_run_stops_after_so_many_requests_and_goes_on_with_what_it_has_read(index, tmp_path, capsys):
    index.asked.clear()
    assert mined(tmp_path, "--requests", "6") == 1
    assert "stopped after 6 requests" in capsys.readouterr().err
    assert len(index.asked) == 6
    assert mined(tmp_path, "--requests", "60") == 0
    index.asked.clear()
    assert mined(tmp_path, "--requests", "60") == 0
    assert [name for name, _ in index.asked if name.endswith(".whl")] == []


@pytest.mark.usefixtures("index")
def test_a_cause_that_rules_know_gets_consumers(tmp_path):
    (found,) = mining.Mine("left", lambda _: None).of("right")
    assert mined(tmp_path, "--write", str(tmp_path)) == 0
    path = tmp_path / "left12-old-removed.yaml"
    rule, _ = parse(path.read_text(), str(path), vocabulary_of(str(tmp_path)))
    assert about(found, [rule]) == rule.id
    assert about(found.replace(gone="2.0", last="1.2"), [rule]) == ""


def test_what_is_imported_is_the_outermost_package_that_is_no_namespace(tmp_path):
    (tmp_path / "shared" / "own").mkdir(parents=True)
    (tmp_path / "shared" / "own" / "__init__.py").write_text("")
    assert mining._top("shared.own.deep", str(tmp_path)) == "shared.own"
    assert mining._top("shared.alone", str(tmp_path)) == "shared.alone"
