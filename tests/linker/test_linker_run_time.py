"""Modules that a loader makes when they are imported."""

import subprocess

import linker_environment as env
import pytest
from interpreters import need

LOADER = """
import sys, types
class Importer:
    def {method}(self, name, path=None, target=None):
        return self if name == __name__ + ".moves" else None
    def load_module(self, name):
        return sys.modules.setdefault(name, types.ModuleType(name))
moves = 1
__path__ = []
sys.meta_path.append(Importer())
"""


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_a_loader_without_find_spec_loads_nothing_from_python_3_12_on(tmp_path, python):
    files = {"a/__init__.py": "", "a/six.py": LOADER.format(method="find_module"), "a/b.py": "import a.six.moves\n"}
    folder = env.write(tmp_path, a=files)
    wanted = [("warning", "a", 1, "a.six.moves")] if python == "3.12" else []
    assert env.missing(folder, tuple(map(int, python.split(".")))) == wanted
    done = subprocess.run([need(python), "-c", "import a.b"], cwd=folder, capture_output=True, check=False)
    assert (b"ModuleNotFoundError" in done.stderr) is bool(wanted), done.stderr


def test_a_loader_with_find_spec_may_load_it(tmp_path):
    files = {"a/__init__.py": "", "a/six.py": LOADER.format(method="find_spec"), "a/b.py": "import a.six.moves\n"}
    assert env.missing(env.write(tmp_path, a=files)) == []


@pytest.mark.parametrize(("own", "stub", "is_known"), [
    ("", True, False), ("", False, True), ("def other(): ...\n", True, True),
])  # fmt: skip
def test_a_module_with_nothing_in_it_is_filled_as_the_stub_beside_it_says(tmp_path, own, stub, is_known):
    b = {"b/__init__.py": own, **({"b/__init__.pyi": "from absent import *\n"} if stub else {})}
    folder = env.write(tmp_path, a={"a.py": "import b\nb.Dialog.Mode\n"}, b=b)
    assert env.missing(folder) == ([("error", "a", 2, "b.Dialog.Mode")] if is_known else [])
