"""How much of an environment breaks with one distribution: what is imported and started to tell."""

import ast
import subprocess
import sysconfig
import venv

import interpreters
import pytest

from envdoctor.rulebase import shipped_files
from envdoctor.rulebase.syntax import load_vocabulary
from envdoctor.workshop.proof import severity

FIRST_USES = load_vocabulary(shipped_files.vocabulary())["first_use"]


@pytest.mark.parametrize(
    ("points", "starts"),
    [
        ("[checker.extension]\nplug = plug_in\n", False),
        ("[checker11]\nplug = plug_in\n", False),
        ("\n    [checker.extension]\n    plug=plug_in\n    ", False),  # as setup.py may have it
        ("\n    [console_scripts]\n    checker=plug_in:main\n    ", False),
        ("[console_scripts]\nplug = plug_in\n", True),
        ("[other.extension]\nplug = plug_in\n", True),
    ],
)
def test_a_plugin_breaks_the_command_that_it_is_a_plugin_of(tmp_path, points, starts):
    venv.create(tmp_path, with_pip=False)
    paths = sysconfig.get_paths("venv", {"base": str(tmp_path), "platbase": str(tmp_path)})
    info = tmp_path / paths["purelib"] / "plug_in-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(points)
    (info / "RECORD").write_text("plug_in.py,,\n")
    (info.parent / "plug_in.py").write_text("")
    command = tmp_path / "bin" / "checker"
    command.write_text("#!/bin/sh\necho broken by a plugin\nexit 3\n")
    command.chmod(0o755)

    text = severity.script(["plug-in"], {}, FIRST_USES)
    done = subprocess.run([tmp_path / "bin" / "python", "-c", text], capture_output=True, text=True, check=False)

    assert (done.returncode == 0) is starts, done.stderr
    assert done.stderr.endswith("" if starts else f"{severity.COMMAND}checker does not start\n")


@pytest.mark.parametrize(
    ("pin", "breaks"),
    [
        ("cloudpickle==1.6.0", "first use"),
        ("cloudpickle==2.1.0", None),
        ("dill==0.3.5.1", "first use"),
        ("dill==0.3.6", None),
    ],
)
def test_a_package_that_is_there_for_one_call_breaks_with_it(make_environment, pin, breaks):
    folder = make_environment(interpreters.need("3.11"), pin)
    text = severity.script([pin.partition("=")[0]], {}, FIRST_USES)

    done = subprocess.run([folder / "bin" / "python", "-c", text], capture_output=True, text=True, check=False)

    assert (severity.breaks({"output": done.stdout + done.stderr}) if done.returncode else None) == breaks


def test_only_the_vocabulary_says_what_the_first_use_of_a_package_is():
    alone = severity.script(["cloudpickle"], {}, {})
    assert severity.script(["dask"], {}, FIRST_USES) == alone.replace("cloudpickle", "dask")


@pytest.mark.parametrize(("name", "use"), FIRST_USES.items())
def test_a_first_use_takes_nothing_but_its_package_and_says_where_it_is(name, use):
    nodes = list(ast.walk(ast.parse(use["script"])))
    taken = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    taken |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    brings = {
        "furo": {"sphinx.cmd.build"},
        "gym-super-mario-bros": {"gym_super_mario_bros"},
        "hydra-core": {"hydra"},
        "pip-tools": {"piptools.scripts.compile"},
        "respx": {"respx", "httpx"},
        "pyinstaller": {"PyInstaller.__main__"},
    }
    assert taken - {"pickle"} == brings.get(name, {name})
    assert use["source"].startswith("https://")
