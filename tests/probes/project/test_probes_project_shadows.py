"""Which modules of a project hide others: checked by what an interpreter imports when a script is run there."""

import importlib.util
import os
import subprocess
import sys

import pytest

from envdoctor.facts import LOCAL_MODULE, SHADOWS, Answer
from envdoctor.probes.project import Project

SCRIPT = "def main(): pass\nif __name__ == '__main__':\n    main()\n"


def shadows(**files):
    """By name, where ``__`` means a slash and ``_I_`` for ``__init__``."""
    named = {
        name.replace("_I_", "\0").replace("__", "/").replace("\0", "__init__") + ".py": text
        for name, text in files.items()
    }
    return [one["file"] for one in Project.of(named).ask(SHADOWS, "standard-library").found]


@pytest.mark.parametrize("name", ["logging.py", "random/__init__.py", "types.py", "queue.py", "email/__init__.py"])
def test_what_stands_beside_a_script_is_imported_instead(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mark = 1\n")
    module = name.partition("/")[0].partition(".")[0]
    (tmp_path / "run.py").write_text(f"import {module}; print({module}.__file__)\n")
    done = subprocess.run(
        [sys.executable, "-S", "-E", str(tmp_path / "run.py")], capture_output=True, text=True, check=False
    )
    assert str(tmp_path) in done.stdout + done.stderr
    (found,) = Project.at(str(tmp_path)).ask(SHADOWS, "standard-library").found
    assert found == {"module": module, "file": name.removesuffix("/__init__.py")}


@pytest.mark.parametrize("name", ["time.py", "sys.py", "io.py", "os.py", "codecs.py", "logging/part.py"])
def test_what_is_loaded_before_or_gives_way_is_not_named(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("raise SystemExit('hidden')\n")
    module = name.partition("/")[0].partition(".")[0]
    (tmp_path / "run.py").write_text(f"import {module}\n")
    subprocess.run([sys.executable, "-s", "-E", str(tmp_path / "run.py")], check=True)
    assert Project.at(str(tmp_path)).ask(SHADOWS, "standard-library").found == []


def test_a_module_in_a_package_hides_nothing():
    assert shadows(pkg___I_="", pkg__logging="", pkg__sub__random="", pkg__sub__tool=SCRIPT) == []


def test_the_top_of_a_package_hides_nothing():
    assert shadows(_I_="", logging="", main=SCRIPT) == []


def test_a_directory_counts_where_a_script_is():
    assert shadows(tools__queue="") == []
    assert shadows(tools__queue="", tools__helper="def f(): pass\n") == []
    assert shadows(tools__queue="", tools__run=SCRIPT) == ["tools/queue.py"]
    assert shadows(tools__queue="", tools__train="import model\nmodel.learn(3)\n") == ["tools/queue.py"]
    assert shadows(tools__queue___I_="", tools__run=SCRIPT) == ["tools/queue"]


def test_in_doubt_nothing_is_said():
    assert shadows(ns__types="", ns__register="from . import types\ntypes.register('x')\n") == []
    assert shadows(docs__code="", docs__conf="print(1)\n") == []
    assert shadows(tests__random="", tests__test_it=SCRIPT) == []
    assert shadows(tools__queue=SCRIPT) == []
    assert shadows(tools__queue="", tools__broken="f(\n") == []
    assert shadows(distutils="", parser="", test="") == []


def hidden(**files):
    return Project.of({f"{name}.py": text for name, text in files.items()}).ask(SHADOWS, "standard-library").found


def test_what_some_interpreters_have_built_in_varies():
    assert hidden(math="", tomllib="", run=SCRIPT) == [
        {"module": "math", "file": "math.py", "varies": True}, {"module": "tomllib", "file": "tomllib.py", "varies": True},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("own", "script", "lacks"),
    [
        ("KEY = 1\n", "from secrets import KEY\n", None),
        ("KEY = 1\n", "from secrets import KEY, token_hex\n", ["token_hex"]),
        ("KEY = 1\n", "import secrets as s\ns.token_hex(), s.KEY\n", ["token_hex"]),
        ("KEY = 1\n", "def f(secrets):\n  import secrets\n  return secrets.token_hex()\n", None),
        ("KEY = 1\n", "try:\n  from secrets import token_hex\nexcept ImportError:\n  pass\n", None),
        ("KEY = 1\n", "import secrets\nif hasattr(secrets, 'token_hex'):\n  secrets.token_hex()\n", None),
        ("import secrets\nclass Key(secrets.SystemRandom): ...\n", "from secrets import Key\n", ["SystemRandom"]),
        ("from tokens import *\n", "from secrets import token_hex\n", None),
        ("def __getattr__(name): ...\n", "from secrets import token_hex\n", None),
        ("", "print(1)\n", None),
        ("def f(\n", "from secrets import token_hex\n", None),
    ],
)
def test_names_that_the_project_takes_and_the_file_lacks(own, script, lacks):
    (found,) = hidden(secrets=own, run=script)
    assert found.get("lacks") == lacks


def test_the_packages_beside_a_script_import_what_it_hides_others_do_not():
    files = {
        "tools/queue.py": "",
        "tools/run.py": SCRIPT,
        "tools/pkg/__init__.py": "",
        "lib/a.py": "from queue import Queue",
    }
    inside = {**files, "tools/pkg/a.py": "from queue import Queue"}
    for given, lacks in ((files, None), (inside, ["Queue"])):
        (found,) = Project.of(given).ask(SHADOWS, "standard-library").found
        assert found.get("lacks") == lacks


def test_the_modules_of_a_package_are_its_names():
    given = {"platform/__init__.py": "", "platform/base.py": "", "run.py": "from platform import base, node\n"}
    (found,) = Project.of(given).ask(SHADOWS, "standard-library").found
    assert found == {"module": "platform", "file": "platform", "lacks": ["node"]}


def test_a_source_tree_as_packages_have_it_is_silent():
    assert shadows(setup=SCRIPT, src__pkg___I_="", src__pkg__logging="", src__pkg__types="", tests__conftest="") == []


def test_local_module_as_a_script_at_the_top_imports_it(tmp_path):
    project = Project.of({"wandb.py": "", "gym/__init__.py": "", "gym.py": "", "data/x.txt": ""})
    assert project.local_module("wandb") == {"file": "wandb.py", "namespace": False}
    assert project.local_module("gym") == {"file": "gym", "namespace": False}
    assert project.local_module("data") == {"file": "data", "namespace": True}
    assert project.local_module("numpy") is None
    assert project.local_module("../wandb") is None


def test_local_module_minds_what_git_ignores(tmp_path):
    (tmp_path / "wandb").mkdir()
    (tmp_path / ".gitignore").write_text("wandb/\nlocal.py\n")
    (tmp_path / "local.py").touch()
    project = Project.at(str(tmp_path))
    assert project.ask(LOCAL_MODULE, "wandb") == {"file": "wandb", "namespace": True}
    assert project.ask(LOCAL_MODULE, "local") == {"file": "local.py", "namespace": False}


@pytest.mark.parametrize("package", ["hypothesis", "pytest", "yaml", "packaging", "rich", "psutil", "jsonschema"])
def test_an_installed_package_is_silent(package):
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    project = Project.at(os.path.dirname(spec.origin))
    assert project.ask(SHADOWS, "standard-library") == Answer(found=[], gaps=[])
