"""Hook implementations against installed specifications: what is an error here is refused by the real plugin manager."""

import os
import site
import subprocess
import sys
import sysconfig

import linker_environment as env
import pluggy
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project

KNOWN = {
    "hooks": {
        "specification": ["pluggy.HookspecMarker"],
        "implementation": ["pluggy.HookimplMarker"],
        "plain": {"pytest": {"prefix": "pytest_", "entry_points": "pytest11", "files": ["conftest.py"]}},
    }
}
HOST = {
    "host/__init__.py": "import pluggy\nfrom host.specs import hookspec\nhookimpl = pluggy.HookimplMarker('host')\n",
    "host/specs.py": "from pluggy import HookspecMarker\nhookspec = HookspecMarker('host')\n"
    "@hookspec\ndef prepare(config, items): pass\n\nclass More:\n    @hookspec(firstresult=True)\n    def finish(self, status): pass\n",
    "host/run.py": "import pluggy, importlib, sys\nfrom host import specs\npm = pluggy.PluginManager('host')\n"
    "pm.add_hookspecs(specs)\npm.add_hookspecs(specs.More)\n"
    "plugin = importlib.import_module('plug')\npm.register(getattr(plugin, 'Plugin', lambda: plugin)())\n",
    "host-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: host\nVersion: 1.0\nRequires-Dist: pluggy\n\n",
}


def found(folder, *, around=None, real=("pluggy",)):
    """What is missing in a directory with some of the distributions that these tests run on."""
    here = scan([sysconfig.get_path("purelib"), *site.getsitepackages()]).packages
    packages = [*scan([str(folder)]).packages.values(), *(here[name] for name in real)]
    target = Target(sys.version_info[:2], sys.platform)
    beside = Beside(Project.of(around)) if around else None
    missing = link(packages, target, lambda _doing: None, beside, KNOWN).missing
    return [(one.severity, one.consumer, one.line, one.asked) for one in missing if one.kind == "hook"]


def install(folder, source, metadata="Requires-Dist: host\n", entry_points="[host]\nplug = plug\n"):
    plug = {
        "plug.py": source,
        "plug-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n{metadata}\n",
        "plug-1.0.dist-info/entry_points.txt": entry_points,
    }
    env.write(folder, host=HOST, plug=plug)


CASES = {
    "all": ("@hookimpl\ndef prepare(config, items): pass", None),
    "some": ("@hookimpl\ndef prepare(items): pass", None),
    "none": ("@hookimpl\ndef prepare(): pass", None),
    "one that is gone": ("@hookimpl\ndef prepare(config, session): pass", (4, "host.specs.prepare(session)")),
    "two that are gone": ("@hookimpl\ndef prepare(b, a): pass", (4, "host.specs.prepare(b,a)")),
    "with a default": ("@hookimpl\ndef prepare(config, session=None): pass", None),
    "more keywords": ("@hookimpl\ndef prepare(config, **more): pass", None),
    "a marker that is called": ("@hookimpl(tryfirst=True)\ndef prepare(x): pass", (4, "host.specs.prepare(x)")),
    "under another name": ("@hookimpl(specname='prepare')\ndef mine(x): pass", (4, "host.specs.prepare(x)")),
    "a method": ("class Plugin:\n    @hookimpl\n    def finish(self, status): pass", None),
    "a method that asks for more": (
        "class Plugin:\n    @hookimpl\n    def finish(self, status, x): pass", (5, "host.specs.finish(x)")
    ),
    "a hook that nobody specifies": ("@hookimpl\ndef unheard(x): pass", None),
    "no hook": ("def prepare(x): pass", None),
    "in each branch of a condition": (
        "import sys\nif sys.path:\n    @hookimpl\n    def prepare(x): pass\nelse:\n    @hookimpl\n    def prepare(x, y): pass",
        (6, "host.specs.prepare(x)"),
    ),
    "in a branch that fits": (
        "import sys\nif sys.path:\n    @hookimpl\n    def prepare(config): pass\nelse:\n    @hookimpl\n    def prepare(x): pass",
        None,
    ),
    "for one release": ("import sys\nif sys.path:\n    @hookimpl\n    def prepare(config): pass\nelse:\n    prepare = 1", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=list(CASES))
def test_what_an_implementation_declares(tmp_path, source, expected):
    install(tmp_path, f"import host\nfrom host import hookimpl\n{source}\n")
    assert found(tmp_path) == ([("error", "plug", *expected)] if expected else [])
    where = os.pathsep.join([str(tmp_path), os.path.dirname(os.path.dirname(pluggy.__file__))])
    done = subprocess.run(
        [sys.executable, "-c", "import host.run"],
        env={**os.environ, "PYTHONPATH": where}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ("PluginValidationError" in done.stderr) is bool(expected), done.stderr
    assert (done.returncode == 0) is not bool(expected), done.stderr


def test_a_plugin_that_no_entry_point_names_may_not_be_registered(tmp_path):
    install(tmp_path, "from host import hookimpl\n@hookimpl\ndef prepare(x): pass\n", entry_points="")
    assert found(tmp_path) == [("warning", "plug", 3, "host.specs.prepare(x)")]


def test_an_environment_without_the_framework_is_silent(tmp_path):
    install(tmp_path, "from host import hookimpl\n@hookimpl\ndef prepare(x): pass\n")
    assert found(tmp_path, real=()) == []


def test_hooks_without_a_marker(tmp_path):
    source = (
        "def pytest_collect_file(file_path, parent, nowhere): pass\ndef pytest_unheard(x): pass\ndef other(x): pass\n"
    )
    install(tmp_path, source, "", "[pytest11]\nplug = plug\n")
    project = {
        "tests/conftest.py": "import pytest\n\n@pytest.hookimpl\ndef pytest_sessionstart(session, gone): pass\n",
        "tests/other.py": "def pytest_sessionstart(gone): pass\n",
    }
    expected = ("error", "plug", 1, "_pytest.hookspec.pytest_collect_file(nowhere)")
    own = ("error", "the project", 4, "_pytest.hookspec.pytest_sessionstart(gone)")
    assert found(tmp_path, around=project, real=("pluggy", "pytest")) == [expected, own]
    where = os.pathsep.join([str(tmp_path), os.path.dirname(os.path.dirname(pytest.__file__))])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": where}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "can not be found in the hookspec" in done.stderr


@pytest.mark.parametrize(
    ("registering", "expected"),
    [
        ("config.pluginmanager.register(Plugin())", [("warning", "plug", 2, "_pytest.hookspec.pytest_collect_file(path)")]),
        ("one = Plugin(); config.pluginmanager.register(one, 'one')",
         [("warning", "plug", 2, "_pytest.hookspec.pytest_collect_file(path)")]),
        ("Plugin().pytest_collect_file(1, 2)", []),
    ],
)  # fmt: skip
def test_the_methods_of_what_a_plugin_registers_are_hooks(tmp_path, registering, expected):
    source = f"class Plugin:\n    def pytest_collect_file(self, path, parent): pass\ndef pytest_configure(config):\n    {registering}\n"
    install(tmp_path, source, "", "[pytest11]\nplug = plug\n")
    assert found(tmp_path, real=("pluggy", "pytest")) == expected
    where = os.pathsep.join([str(tmp_path), os.path.dirname(os.path.dirname(pytest.__file__))])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": where}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ("can not be found in the hookspec" in done.stderr) is bool(expected), done.stderr
