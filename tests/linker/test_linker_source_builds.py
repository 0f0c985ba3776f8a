"""What has no wheel is judged by its source: read from an index on this machine, and never run."""

import io
import tarfile

import pytest
from wheel_index import serving, wheel

from envdoctor import doctor
from envdoctor.model import Report

CHECKS = "[distutils.setup_keywords]\nuse_old = setuptools.dist:invalid_unless_false\nzip_safe = setuptools.dist:assert_bool\n"
DIST = "def invalid_unless_false(dist, attr, value):\n    if not value:\n        return\n    raise SetupError(f'{attr} is invalid.')\n"
DIST += "def assert_bool(dist, attr, value):\n    if bool(value) != value:\n        raise SetupError(attr)\n"


def tool(version, extra):
    files = {"setuptools/__init__.py": "def setup(**attrs): pass\n", "setuptools/dist.py": DIST, **extra}
    info = f"setuptools-{version}.dist-info"
    record = "".join(f"{path},,\n" for path in files)
    return wheel({**files, f"{info}/entry_points.txt": CHECKS, f"{info}/RECORD": record}, "setuptools", version)


def source(**files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for path, text in {"setup.py": "", **{name.replace("__", "."): text for name, text in files.items()}}.items():
            member = tarfile.TarInfo(f"a-1.0/{path}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


SETUP = "from setuptools import setup\nsetup(name='a')\n"
CASES = {
    "gone from Python": ({"setup__py": "import ast\nast.Str\n" + SETUP}, ["takes ast.Str, which Python 3.14"]),
    "in a module beside it": (
        {"setup__py": "import versions\n" + SETUP, "versions__py": "import configparser\nconfigparser.SafeConfigParser\n"},
        ["takes configparser.SafeConfigParser, which Python 3.14"],
    ),
    "gone from the tool": (
        {"setup__py": "import setuptools.command.test\n" + SETUP}, ["takes setuptools.command.test, which setuptools 80.0"],
    ),
    "an argument that the tool refuses": (
        {"setup__py": "from setuptools import setup\nsetup(name='a', use_old=True, zip_safe=True)\n"},
        ["hands use_old to setup(), which setuptools 80.0 refuses"],
    ),
    "an argument that it takes": ({"setup__py": "from setuptools import setup\nsetup(name='a', use_old=False)\n"}, []),
    "for an older tool": (
        {"setup__py": "import setuptools.command.test\n" + SETUP, "pyproject__toml": "[build-system]\nrequires = ['setuptools<70']\n"},
        [],
    ),
    "what the tool puts in the place of Python's": ({"setup__py": "from distutils.core import Extension\n" + SETUP}, []),
    "nothing": ({"setup__py": SETUP, "a__py": "import ast\nast.Str\n"}, []),
    "an empty script, and another tool": ({"pyproject__toml": "[build-system]\nrequires = ['b']\n"}, []),
}  # fmt: skip


@pytest.mark.parametrize(("files", "said"), CASES.values(), ids=list(CASES))
def test_what_a_source_asks_of_python_and_of_the_tool(tmp_path, monkeypatch, files, said):
    served = {
        "setuptools-80.0-py3-none-any.whl": tool("80.0", {}),
        "setuptools-69.0-py3-none-any.whl": tool("69.0", {"setuptools/command/__init__.py": "", "setuptools/command/test.py": ""}),
        "a-1.0.tar.gz": source(**files),
    }  # fmt: skip
    (tmp_path / "pins.txt").write_text("a==1.0\n")
    with serving(monkeypatch, tmp_path / "cache", served):
        snapshot = doctor.examine("requirements", str(tmp_path / "pins.txt"), python_version="3.14", platform="linux")
        report = doctor.linked(Report(snapshot=snapshot, findings=[]), lambda _doing: None, fetch=True)
    found = [one for one in report.findings if one.rule == "linked-source-build"]
    assert len(found) == len(said)
    assert all(part in one.title and one.title.startswith("the source of a 1.0") for one, part in zip(found, said))
    assert all(one.packages[0] == one.consumer == "a" and one.impact == "install-failure" for one in found)
    assert any("no index has a wheel" in one.reason for one in report.unknown)
