"""The plugin in real sessions of pytest."""

import sys

import pytest
from conftest import environment, run

FAILING = """\
import pytest as lib

def test_one():
    lib.gone(1)

def test_two():
    lib.gone(2)

def test_three():
    assert lib.__name__ == "other"
"""
BROKEN = "from collections import Mapping\n"


def session(folder, *words, **texts):
    for name, text in texts.items():
        (folder / f"test_{name}.py").write_text(text)
    options = ("-p", "no:cacheprovider", "--basetemp", str(folder / "base"), "-q", *words)
    return run(sys.executable, "-m", "pytest", *options, cwd=folder, env=environment())


def section(done):
    """The lines below the plugin's heading."""
    lines = done.stdout.splitlines()
    start = next(number for number, text in enumerate(lines) if text.startswith("====") and " envdoctor " in text)
    return lines[start + 1 : next(n for n in range(start + 1, len(lines)) if lines[n].startswith("===="))]


@pytest.mark.parametrize("words", [["--envdoctor"], ["--envdoctor", "-n", "1"], ["-o", "envdoctor=true"]])
def test_each_cause_is_explained_once_with_its_tests(words, tmp_path):
    done = session(tmp_path, *words, "--continue-on-collection-errors", failing=FAILING, broken=BROKEN)
    said = section(done)
    titles = [text for text in said if text[:1].strip()]
    assert done.returncode == 1
    assert len(titles) == 2
    assert sum(text.endswith("[python310-names-in-code]") for text in titles) == 1
    assert sum("has no `pytest.gone`" in text for text in titles) == 1
    assert {text.strip() for text in said if text.startswith("  in ")} == {
        "in  test_broken.py",
        "in  test_failing.py::test_one, test_failing.py::test_two",
    }
    assert any(text.startswith("  fix ") for text in said)


def test_the_header_counts_the_findings(tmp_path):
    done = session(tmp_path, "--envdoctor", "-v", "-v", right="def test_right(): pass\n")
    assert done.returncode == 0
    assert "\nenvdoctor: nothing known to be wrong\n" in done.stdout
    assert " envdoctor =" not in done.stdout


def test_it_is_off_until_it_is_asked_for(tmp_path):
    texts = {
        "off": "import sys\n\ndef test_off():\n    assert 'envdoctor.doctor' not in sys.modules\n",
        "broken": BROKEN,
    }
    done = session(tmp_path, "-v", "--continue-on-collection-errors", **texts)
    assert "1 passed, 1 error" in done.stdout
    assert "envdoctor:" not in done.stdout
    assert " envdoctor =" not in done.stdout
