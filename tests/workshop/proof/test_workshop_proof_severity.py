"""How much of an environment breaks with one distribution: what is imported and started to tell."""

import subprocess
import sysconfig
import venv

import pytest

from envdoctor.workshop.proof import severity


@pytest.mark.parametrize(
    ("group", "starts"),
    [("checker.extension", False), ("checker11", False), ("console_scripts", True), ("other.extension", True)],
)
def test_a_plugin_breaks_the_command_that_it_is_a_plugin_of(tmp_path, group, starts):
    venv.create(tmp_path, with_pip=False)
    paths = sysconfig.get_paths("venv", {"base": str(tmp_path), "platbase": str(tmp_path)})
    info = tmp_path / paths["purelib"] / "plug_in-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(f"[{group}]\nplug = plug_in\n")
    (info / "RECORD").write_text("plug_in.py,,\n")
    (info.parent / "plug_in.py").write_text("")
    command = tmp_path / "bin" / "checker"
    command.write_text("#!/bin/sh\necho broken by a plugin\nexit 3\n")
    command.chmod(0o755)

    text = severity.script(["plug-in"], {})
    done = subprocess.run([tmp_path / "bin" / "python", "-c", text], capture_output=True, text=True, check=False)

    assert (done.returncode == 0) is starts, done.stderr
    assert done.stderr.endswith("" if starts else f"{severity.COMMAND}checker does not start\n")
