"""Which interpreters trials can run on, and that finding them out starts nothing that need not start."""

import os
import sys

import pytest

from envdoctor.workshop.proof import pythons


@pytest.mark.skipif(os.name == "nt", reason="a script stands for an interpreter")
def test_a_shim_of_pyenv_is_not_started_and_any_other_interpreter_on_the_path_is(tmp_path, monkeypatch):
    for folder in ("pyenv/shims", "pyenv/versions", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    for path, version in (("pyenv/shims/python3.7", "3.7.1"), ("bin/python3.8", "3.8.2")):
        (tmp_path / path).write_text(f"#!/bin/sh\ntouch {tmp_path}/started-{version}\necho {version}\n")
        (tmp_path / path).chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/pyenv/shims/:{tmp_path}/bin:{os.defpath}")
    monkeypatch.setenv(pythons.VARIABLE, sys.executable)

    found = pythons.found.__wrapped__()

    assert found["3.8.2"] == str(tmp_path / "bin" / "python3.8")
    assert found["{}.{}.{}".format(*sys.version_info)] == sys.executable
    assert "3.7.1" not in found
    assert {path.name for path in tmp_path.glob("started-*")} == {"started-3.8.2"}
