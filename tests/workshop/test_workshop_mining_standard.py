"""What Python removed is mined from the wheels of an index on this machine: linked one at a time, and never run."""

import zipfile

import pytest
import yaml
from wheel_index import serving, wheel

from envdoctor.cli import main
from envdoctor.linker.history import History
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.syntax import parse
from envdoctor.workshop import mining_standard
from envdoctor.workshop.name_history import history, store

ASKS = "import os\nfrom lib2to3 import (\n    pytree,\n)\n"
RELEASES = {
    "0.1": "import os\n",
    "0.2": ASKS,
    "0.3": ASKS,
    "0.4": ASKS,
    "0.5": "from fractions import gcd\n",
    "0.6": "import os\n",
}
GUARDED = "try:\n    from distutils import util\nexcept ImportError:\n    util = None\n"
LATER = "def run():\n    import distutils.util\n"


def contents(name, version, text, **stated):
    info = f"{name}-{version}.dist-info"
    lines = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in stated.items())
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}"
    record = "".join(f"{path},sha256={version},1\n" for path in (f"{name}/__init__.py", f"{info}/METADATA"))
    return wheel({f"{name}/__init__.py": text, f"{info}/METADATA": metadata, f"{info}/RECORD": record})


@pytest.fixture
def index(monkeypatch, tmp_path):
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    wheels = {f"asker-{one}-py3-none-any.whl": contents("asker", one, text) for one, text in RELEASES.items()}
    wheels["guarded-1.0-py3-none-any.whl"] = contents("guarded", "1.0", GUARDED)
    wheels["later-1.0-py3-none-any.whl"] = contents("later", "1.0", LATER)
    wheels["compiled-1.0-cp39-cp39-linux_x86_64.whl"] = contents("compiled", "1.0", ASKS)
    wheels["held-1.0-py3-none-any.whl"] = contents("held", "1.0", "import cgi\n", Requires_Dist="backport (>dev)")
    for version in ("1.0", "2.0"):
        text = "def parse(): ...\n" if version == "1.0" else ""
        files = {"cgi.py": text, f"backport-{version}.dist-info/METADATA": f"Name: backport\nVersion: {version}\n"}
        wheels[f"backport-{version}-py3-none-any.whl"] = wheel(files)
    days = {**dict.fromkeys(wheels, "2018-01-01"), "asker-0.5-py3-none-any.whl": "2021-01-01"}
    days["asker-0.6-py3-none-any.whl"] = "2024-01-01"
    with serving(monkeypatch, tmp_path / "cache", wheels, days) as server:
        store(str(tmp_path / "history.zip"), {"backport": history("backport", lambda _: None)})
        monkeypatch.setattr(mining_standard, "shipped", lambda: History(zipfile.ZipFile(tmp_path / "history.zip")))
        yield server


def found(name):
    return mining_standard.MineStandard(lambda _: None).of(name)


@pytest.mark.usefixtures("index")
def test_both_edges_of_what_asks_python_for_what_it_removed_are_found():
    early, late = found("asker")
    assert (early.last, early.gone, early.first, early.until, early.works) == ("3.8", "3.9", "0.5", "0.5", "0.6")
    assert [(one.module, one.name, one.severity, one.inside) for one in early.lost] == [
        ("fractions", "gcd", "error", "asker")
    ]
    assert (late.last, late.gone) == ("3.12", "3.13")
    assert (late.first, late.until, late.free, late.since) == ("0.2", "0.4", "0.4", "0.5")
    assert late.works == "0.6"  # 0.5 misses something else of that Python


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("name", ["guarded", "later", "compiled", "held", "unknown"])
def test_no_candidate_is_made_of(name):
    """What catches the failure, takes it in a call, is for one Python alone, or requires who brings the module back."""
    assert found(name) == []


@pytest.mark.usefixtures("index")
def test_the_command_writes_a_rule_about_python(tmp_path):
    assert main(["rules", "mine", "python", "--consumer", "asker", "--write", str(tmp_path / "mined")]) == 0
    path = tmp_path / "mined" / "python313-lib2to3-removed.yaml"
    rule, complaints = parse(path.read_text(), str(path), vocabulary_of(str(tmp_path)))
    assert complaints == []
    assert rule.when == {"python": ">=3.13"}
    cells = yaml.safe_load(path.read_text())["proof"]
    assert cells["bad"] == [{"python": "3.13", "packages": {"asker": "0.4"}}]
    assert cells["good"] == [
        {"python": "3.12", "packages": {"asker": "0.4"}},
        {"python": "3.13", "packages": {"asker": "0.6"}},
    ]
    assert "  - downgrade: python<3.13" in path.read_text().splitlines()
