"""What a program may import from ``envdoctor``: three functions and two nouns."""

import sys

import pytest
from conftest import environment, run

import envdoctor


def test_the_names_are_those_of_the_documentation():
    assert sorted(envdoctor.__all__) == ["Finding", "Snapshot", "__version__", "check", "diagnose", "examine"]
    for name in envdoctor.__all__:
        assert getattr(envdoctor, name)
    with pytest.raises(AttributeError, match="has no attribute 'cure'"):
        envdoctor.cure  # noqa: B018


def test_examine_and_diagnose_work_together(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text("cloudpickle==1.6.0\n")

    snapshot = envdoctor.examine("requirements", str(path), python_version="3.11")
    findings = envdoctor.diagnose(snapshot)

    assert isinstance(snapshot, envdoctor.Snapshot)
    assert snapshot.packages["cloudpickle"].version == "1.6.0"
    first = findings[0]
    assert isinstance(first, envdoctor.Finding)
    assert (first.rule, first.severity) == ("cloudpickle-bytecode-py311", "error")
    assert first.evidence[0].source
    assert first.remedies[0].requirement == "cloudpickle>=2.1"


def test_without_words_the_running_interpreter_is_examined(monkeypatch):
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)

    snapshot = envdoctor.examine()

    assert snapshot.python["executable"] == sys.executable
    assert "pytest" in snapshot.packages
    assert isinstance(envdoctor.diagnose(snapshot), list)


def test_a_snapshot_can_be_made_by_hand():
    packages = {"cloudpickle": {"name": "cloudpickle", "version": "1.6.0"}}
    from envdoctor.model import Distribution

    snapshot = envdoctor.Snapshot(
        target={"kind": "test"},
        python={"version": "3.11.7"},
        packages={name: Distribution(**fields) for name, fields in packages.items()},
    )

    assert "cloudpickle-bytecode-py311" in [finding.rule for finding in envdoctor.diagnose(snapshot)]


@pytest.mark.parametrize(
    ("kind", "value"),
    [("python", "/not/there"), ("root", "/not/there"), ("snapshot", "/not/there"), ("requirements", "/not/there")],
)
def test_what_cannot_be_examined_raises_one_kind_of_error(kind, value):
    from envdoctor.errors import TargetError

    with pytest.raises(TargetError, match="/not/there"):
        envdoctor.examine(kind, value)


def test_star_import_and_module_execution():
    done = run(sys.executable, "-c", "from envdoctor import *; print(examine, diagnose)", env=environment())
    assert done.returncode == 0, done.stderr
    done = run(sys.executable, "-m", "envdoctor", "--version", env=environment())
    assert done.stdout.startswith(f"envdoctor {envdoctor.__version__} (")
