"""Bytecode that one trial compiled serves the next, and never another release."""

import os
import subprocess
import sys

import pytest

from envdoctor.workshop.proof import bytecode_cache

pytestmark = pytest.mark.skipif(os.name == "nt", reason="environments are laid out otherwise")
SITE = os.path.join("lib", f"python3.{sys.version_info[1]}", "site-packages")


def run(base, version, files):
    """What a release prints when it is imported in the environment of a trial, and whether it was compiled before."""
    with bytecode_cache.directory(str(base)) as top:
        site = os.path.join(top, "place", SITE)
        files = {f"lib-{version}.dist-info/RECORD": "".join(f"{name},,\n" for name in files), **files}
        for name, text in files.items():
            path = os.path.join(site, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
            os.utime(path, (1_000_000_000, 1_000_000_000))
        own = bytecode_cache.variables(os.path.join(top, "place", "bin", "python"))
        command = [sys.executable, "-v", "-c", "import lib"]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **own, "PYTHONPATH": site}, check=True
        )
        return done.stdout, f" matches {site}" in done.stderr


@pytest.mark.parametrize("name", ["lib.py", "lib/__init__.py"])
def test_a_release_is_compiled_once_and_another_of_the_same_size_and_second_anew(tmp_path, name):
    base = tmp_path / "lab"
    assert run(base, "1", {name: "print(1)"}) == ("1\n", False)
    assert run(base, "1", {name: "print(1)"}) == ("1\n", True)
    assert run(base, "2", {name: "print(2)"}) == ("2\n", False)
    assert run(base, "1", {name: "print(1)"}) == ("1\n", False)


def test_trials_at_the_same_time_stand_apart(tmp_path):
    with bytecode_cache.directory(str(tmp_path)) as one, bytecode_cache.directory(str(tmp_path)) as other:
        assert one != other
    with bytecode_cache.directory(str(tmp_path)) as again:
        assert again == one
