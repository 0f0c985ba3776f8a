"""What compiled and generated modules miss, on real extension modules with one name in them changed.

Each is imported, too: what the linker says must be what the loader does.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.binaries import Binaries
from envdoctor.linker.branches import Target
from envdoctor.linker.environment_names import Environment
from envdoctor.linker.findings import absorbed, findings
from envdoctor.linker.link import link
from envdoctor.linker.loader import Loader, Machine
from envdoctor.linker.standard_library import Standard
from envdoctor.linker.verdicts import Missing
from envdoctor.model import Evidence, Finding
from envdoctor.probes import shared_objects
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project
from envdoctor.rulebase import shipped_files
from envdoctor.rulebase.syntax import load_vocabulary

pytest.importorskip("elftools")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared libraries of Linux")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
VOCABULARY = load_vocabulary(shipped_files.vocabulary())


def extension(*needs):
    """The name and the bytes of an extension module of the standard library that asks for something."""
    for name in ("_ctypes", "_ssl", "_sqlite3", "_lzma", "_bz2", "zlib", "_struct", "math"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin and spec.origin.endswith(".so"):
            with open(spec.origin, "rb") as file:
                data = file.read()
            if all(need in data for need in needs):
                return name, data
    pytest.skip("this Python has no such extension module")
    raise AssertionError


def missing(folder, variables=None, machine=None, **more):
    """``(severity, consumer, kind, asked)`` of what compiled and generated modules miss."""
    machine = machine or Machine(sys.executable, sys.base_prefix, **more)
    natives = Binaries(machine, VOCABULARY["compiled"], VOCABULARY["generated"], variables or {})
    found = link(
        scan([str(folder)]).packages.values(), Target(sys.version_info[:2]), lambda _doing: None, natives=natives
    )
    return [(one.severity, one.consumer, one.kind, one.asked) for one in found.missing]


def imported(folder, name):
    """What importing a module prints as its error; empty where that works."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); import {name}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr


def test_an_extension_module_as_it_is_misses_nothing(tmp_path):
    name, data = extension()
    env.write(tmp_path, a={f"{name}{SUFFIX}": data})
    assert missing(tmp_path) == []
    assert imported(tmp_path, name) == ""


@pytest.mark.parametrize(
    ("pattern", "at", "kind"),
    [
        (rb"\0lib\w+\.so\.\d(?=\0)", 4, "library"),
        (rb"\0PyModule_\w+(?=\0)", 3, "symbol"),
        (rb"\0GLIBC_2\.[\d.]+(?=\0)", 7, "version"),
    ],
)
def test_what_is_changed_is_missing_and_the_import_fails(tmp_path, pattern, at, kind):
    name, data = extension()
    found = [one for one in re.findall(pattern, data) if b"libc.so" not in one and b"libpthread" not in one]
    if not found:
        pytest.skip(f"{name} asks for nothing of this kind")
    new = found[0][:at] + b"9" + found[0][at + 1 :]
    env.write(tmp_path, a={"a.py": f"import {name}\n", f"{name}{SUFFIX}": data.replace(found[0] + b"\0", new + b"\0")})
    assert "ImportError" in imported(tmp_path, name)
    ((severity, consumer, said, asked),) = missing(tmp_path)
    assert (severity, consumer, said) == ("error", "a", kind)
    assert asked.startswith(new[1:].decode())


def test_a_guarded_import_is_silent_and_one_in_a_function_a_warning(tmp_path):
    _, data = extension(b"PyModule_")
    broken = data.replace(b"\0PyModule_", b"\0PyMissin_")
    guard = "try:\n    import p._x\nexcept ImportError:\n    pass\n"
    env.write(tmp_path, a={"p/__init__.py": guard, f"p/_x{SUFFIX}": broken})
    assert missing(tmp_path) == []
    later = tmp_path / "later"
    env.write(later, a={"p/__init__.py": "def f():\n    import p._x\n", f"p/_x{SUFFIX}": broken})
    assert [one[:3] for one in missing(later)] == [("warning", "a", "symbol")]


def test_a_library_beside_the_module_or_of_another_distribution_is_not_missing(tmp_path):
    name, data = extension()
    libraries = [one for one in re.findall(rb"\0(lib\w+\.so\.\d)(?=\0)", data) if b"libc.so" not in one]
    if not libraries:
        pytest.skip(f"{name} needs no library")
    changed = b"lib9" + libraries[0][4:]
    env.write(
        tmp_path,
        a={"a.py": f"import {name}\n", f"{name}{SUFFIX}": data.replace(libraries[0] + b"\0", changed + b"\0")},
        b={f"b.libs/{changed.decode()}": data},
    )
    assert [one for one in missing(tmp_path) if one[2] == "library"] == []
    assert missing(tmp_path, search=f"{tmp_path}/b.libs") == []


def test_a_library_that_source_names_is_looked_at_too(tmp_path):
    _, data = extension()
    libraries = [one for one in re.findall(rb"\0(lib\w+\.so\.\d)(?=\0)", data) if b"libc.so" not in one]
    if not libraries:
        pytest.skip("no extension module needs a library")
    broken = data.replace(libraries[0] + b"\0", b"lib9" + libraries[0][4:] + b"\0").replace(b"PyInit_", b"Start__")
    source = "import ctypes\n\ndef f():\n    ctypes.CDLL('lib_core.so')\n"
    env.write(tmp_path, a={"p/__init__.py": source, "p/lib/lib_core.so": broken, "p/lib/lib_plugin.so": broken})
    assert missing(tmp_path) == [("warning", "a", "library", (b"lib9" + libraries[0][4:]).decode())]


def test_without_the_extra_it_is_said_and_what_a_module_was_compiled_for_is_told_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "elftools", None)
    name, data = extension()
    broken = data.replace(b"\0PyModule_", b"\0PyMissin_") + NUMPY_1
    files = {"a.py": f"import {name}\n", f"{name}{SUFFIX}": broken, f"gone{SUFFIX}": broken}
    env.write(tmp_path, a=files, numpy={"numpy.py": ""})
    (tmp_path / f"gone{SUFFIX}").unlink()  # listed, and not there
    (tmp_path / "numpy-1.0.dist-info").rename(tmp_path / "numpy-2.0.2.dist-info")
    natives = Binaries(Machine(sys.executable, sys.base_prefix), VOCABULARY["compiled"], {}, {})
    found = link(
        scan([str(tmp_path)]).packages.values(), Target(sys.version_info[:2]), lambda _doing: None, natives=natives
    )
    assert [(one.kind, one.asked) for one in found.missing] == [("compiled", "numpy<2")]
    assert any("pyenvdoctor[link]" in reason for reason in found.unknown)


def test_a_module_for_another_python_is_nothing_to_load(tmp_path):
    name, data = extension()
    env.write(tmp_path, a={f"{name}.cpython-36m-x86_64-linux-gnu.so": data.replace(b"\0PyModule_", b"\0PyMissin_")})
    assert missing(tmp_path) == []


NUMPY_1 = b"numpy\0numpy.core._multiarray_umath\0module compiled against API version 0x%x but this version is 0x%x\0"
NUMPY_2 = b"numpy._core\0module was compiled against NumPy C-API version 0x%x (NumPy 1.25) but the running NumPy\0"
OLD_BINDING = b"\0numpy.core.multiarray\0_ARRAY_API\0"


@pytest.mark.parametrize(
    ("words", "version", "expected"),
    [
        (NUMPY_1, "2.0.2", [("error", "a", "compiled", "numpy<2")]),
        (NUMPY_1, "2.0.0rc1", [("error", "a", "compiled", "numpy<2")]),
        (NUMPY_1, "1.26.4", []),
        (NUMPY_2, "2.0.2", []),
        (NUMPY_2, "1.25.0", []),
        (NUMPY_2, "1.24.4", [("error", "a", "compiled", "numpy>=1.25")]),
        (OLD_BINDING, "2.0.2", [("warning", "a", "compiled", "numpy<2")]),
        (OLD_BINDING, "1.26.4", []),
        (OLD_BINDING + b"numpy._core\0", "2.0.2", []),
    ],
)
def test_a_module_says_for_which_numpy_it_was_compiled(tmp_path, words, version, expected):
    name, data = extension()
    env.write(tmp_path, a={"a.py": f"import {name}\n", f"{name}{SUFFIX}": data + words}, numpy={"numpy.py": ""})
    (tmp_path / "numpy-1.0.dist-info").rename(tmp_path / f"numpy-{version}.dist-info")
    assert missing(tmp_path) == expected


NEW = "_runtime_version.ValidateProtobufRuntimeVersion(\n    _runtime_version.Domain.PUBLIC,\n    5,\n    29,\n    3,\n    '',\n    'm.proto'\n)\n"
OLD = "_M = _descriptor.Descriptor(\n  name='M', fields=[_descriptor.FieldDescriptor(name='n')])\n"
BUILT = "DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile(b'')\n"


@pytest.mark.parametrize(
    ("source", "version", "expected"),
    [
        (NEW, "5.29.2", [("error", "a", "generated", "protobuf>=5.29.3")]),
        (NEW, "5.29.3", []),
        (NEW, "6.30.0", []),
        (OLD, "4.21.0", [("error", "a", "generated", "protobuf<4.21")]),
        (OLD, "3.20.3", []),
        (BUILT, "4.21.0", []),
    ],
)
def test_generated_code_says_for_which_runtime_it_is(tmp_path, source, version, expected):
    env.write(tmp_path, a={"a.py": "import m_pb2\n", "m_pb2.py": source}, protobuf={"google/protobuf/__init__.py": ""})
    (tmp_path / "protobuf-1.0.dist-info").rename(tmp_path / f"protobuf-{version}.dist-info")
    assert missing(tmp_path) == expected
    assert missing(tmp_path, {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}) == [
        one for one in expected if "<" not in one[3]
    ]


@pytest.mark.parametrize(("version", "expected"), [("5.29.2", ["protobuf>=5.29.3"]), ("5.29.3", [])])
def test_generated_code_of_a_project(tmp_path, version, expected):
    env.write(tmp_path, version, protobuf={"google/protobuf/__init__.py": ""})
    natives = Binaries(Machine(sys.executable, sys.base_prefix), {}, VOCABULARY["generated"], {})
    beside = Beside(Project.of({"api/m_pb2.py": NEW, "run.py": "from api import m_pb2\n"}))
    installed = scan([str(tmp_path)]).packages.values()
    found = link(installed, Target(sys.version_info[:2]), lambda _doing: None, beside, natives=natives).missing
    assert [one.asked for one in found] == expected
    told = findings(found, Environment({"protobuf": version}, "3.12", Standard((3, 12))))
    assert [(one.packages, one.severity, one.evidence[0].source) for one in told] == [
        (["protobuf"], "error", "api/m_pb2.py") for _ in expected
    ]


def test_generated_code_for_several_runtimes_is_chosen_by_the_package(tmp_path):
    env.write(
        tmp_path,
        a={
            "p/__init__.py": "",
            "p/new/m_pb2.py": NEW,
            "p/old/m_pb2.py": NEW.replace("5,", "1,").replace("29,", "0,").replace("3,", "0,"),
        },
        protobuf={"google/protobuf/__init__.py": ""},
    )
    assert missing(tmp_path) == []


def test_the_libraries_of_a_root_file_system_are_those_in_it(tmp_path):
    name, data = extension()
    path = importlib.util.find_spec(name).origin
    loader = Loader(Machine(sys.executable, sys.base_prefix), shared_objects.read_facts, {})
    scope = loader.scope(path, shared_objects.read_facts(path))
    others = [one for one in scope.files if one != path]
    if not others:
        pytest.skip(f"{name} needs no library")
    root = tmp_path / "root"

    def copy(files):
        for one in files:
            (root / one[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, root / one[1:])

    copy([os.path.realpath(sys.executable), *loader.always])
    for place in {os.path.dirname(one) for one in loader.always if one.startswith(("/lib/", "/usr/lib/"))}:
        os.makedirs(
            f"{root}/usr/lib/{os.path.basename(place)}", exist_ok=True
        )  # by these the loader's places are known
    site = env.write(root / "site", a={"a.py": f"import {name}\n", f"{name}{SUFFIX}": data})
    machine = Machine(os.path.realpath(sys.executable), sys.base_prefix, root=str(root))
    assert {one[2] for one in missing(site, machine=machine)} == {"library"}
    copy(others)
    os.utime(root / "usr", (1, 1)) if (root / "usr").exists() else None
    (root / "site" / "b.pth").write_text("")
    assert missing(site, machine=machine) == []


def test_where_the_interpreter_cannot_be_read_nothing_is_said(tmp_path):
    name, data = extension()
    (tmp_path / "root").mkdir()
    site = env.write(tmp_path / "root" / "site", a={"a.py": f"import {name}\n", f"{name}{SUFFIX}": data})
    assert missing(site, machine=Machine("/usr/bin/python3", "/usr", root=str(tmp_path / "root"))) == []


def test_only_a_rule_about_both_sides_takes_the_finding_and_is_as_severe_then():
    fault = Missing("a", "/site/a.so", 0, "numpy<2", "numpy", "compiled", "error", 0, "a", "")
    versions = {"a": "1.0", "b": "1.0", "numpy": "2.0.2"}
    environment = Environment(versions, "3.12", Standard((3, 12)))
    other = Finding(
        rule="requirement-incompatible",
        severity="warning",
        impact="crash",
        title="b requires numpy<2.0, but numpy 2.0.2 is installed",
        why="",
        packages=["b", "numpy"],
        facts=["packages"],
        evidence=[Evidence(fact="packages.numpy", value="2.0.2", source="METADATA")],
    )
    assert [one.rule for one in absorbed([other], [fault], environment)] == [
        "linked-compiled",
        "requirement-incompatible",
    ]
    (own,) = absorbed([other.replace(packages=["a", "numpy"])], [fault], environment)
    assert (own.rule, own.severity, len(own.evidence)) == ("requirement-incompatible", "error", 2)
