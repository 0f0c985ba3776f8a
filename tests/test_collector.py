"""The collector tells the truth about the interpreter it runs in, cheaply, and in the grammar of Python 3.6."""

import ast
import importlib
import json
import multiprocessing
import os
import platform
import shutil
import ssl
import subprocess
import sys
import types
import zipfile
from importlib.machinery import PathFinder

import pytest
from images import Image
from interpreters import each
from packaging.markers import default_environment
from packaging.version import Version

from envdoctor import collector

SOURCE = collector.__file__
PACKAGE = os.path.dirname(os.path.dirname(SOURCE))


def run(python, program, *options):
    done = subprocess.run([python, *options, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loading(program):
    return f"import sys\nsys.path.insert(0, {os.path.dirname(SOURCE)!r})\nimport collector\n{program}"


# --- the contract of the file ---------------------------------------------------------------------------------------


def test_the_grammar_is_that_of_python_3_6():
    with open(SOURCE, encoding="utf-8") as stream:
        ast.parse(stream.read(), feature_version=(3, 6))


def test_it_is_one_file_of_bounded_size():
    with open(SOURCE, encoding="utf-8") as stream:
        text = stream.read()

    assert "\f" not in text  # separates it from what precedes it on standard input
    assert text.count("\n") <= 720


def test_importing_it_and_the_cheap_facts_load_nothing():
    program = f"""
import os, sys
before = set(sys.modules)
sys.path.insert(0, {PACKAGE!r})
from envdoctor import collector
collector.python_facts(), collector.default_start_method(), collector.import_paths(), collector.env_fact("HOME")
collector.module_fact("re", collector.import_paths()), collector.user_site(), collector.stdlib_path()
if os.name == "posix":
    collector.platform_facts(), collector.marker_facts(), collector.system_fact("glibc")
loaded = sorted(set(sys.modules) - before)
import json
print(json.dumps(loaded))
"""

    assert run(sys.executable, program, "-I", "-S") == ["__future__", "envdoctor", "envdoctor.collector"]


@pytest.mark.parametrize("python", each())
def test_every_version_agrees_with_its_own_library(python):
    program = loading("""
import json, multiprocessing, platform, sys
cheap = collector.default_start_method()
try:
    from pip._vendor.packaging.markers import default_environment
    markers = default_environment()
except ImportError:
    markers = None
print(json.dumps({
    "python": collector.python_facts(), "platform": collector.platform_facts(), "marker": collector.marker_facts(),
    "theirs": markers, "cheap": cheap, "asked": collector.start_method_facts(),
    "start_method": multiprocessing.get_start_method(), "machine": platform.machine(),
    "version": platform.python_version(), "sys_platform": sys.platform,
    "openssl": collector.system_fact("openssl"), "ssl": __import__("ssl").OPENSSL_VERSION,
    "paths": collector.import_paths(), "path": sys.path,
}))
""")

    told = run(python, program, "-B")

    assert told["python"]["version"] == told["version"].rstrip("+")
    assert told["python"]["implementation"] == "cpython"
    assert told["python"]["debug"] is told["python"]["free_threaded"] is False
    assert told["platform"] == {"system": told["sys_platform"], "machine": told["machine"]}
    assert told["cheap"] == told["asked"]["default"] == told["start_method"]
    assert told["theirs"] is None or told["marker"].items() >= told["theirs"].items() - {("extra", "")}
    assert told["ssl"].startswith("OpenSSL " + told["openssl"])
    assert [*told["path"][:1], *told["paths"][1:]] == [path for path in told["path"] if path]


# --- the interpreter ------------------------------------------------------------------------------------------------


def test_markers_are_those_of_packaging():
    assert collector.marker_facts() == default_environment()


@pytest.mark.parametrize(
    ("info", "version"),
    [
        ((3, 14, 0, "alpha", 3), "3.14.0a3"),
        ((3, 14, 0, "beta", 1), "3.14.0b1"),
        ((3, 14, 0, "candidate", 2), "3.14.0rc2"),
        ((3, 11, 7, "final", 0), "3.11.7"),
    ],
)
def test_a_version_before_the_release_says_so(monkeypatch, info, version):
    class Info(tuple):
        __slots__ = ()
        releaselevel, serial = info[3:]

    monkeypatch.setattr(sys, "version_info", Info(info))

    assert collector.python_facts()["version"] == version
    assert str(Version(version)) == version


@pytest.mark.parametrize(
    ("version", "system", "method"),
    [
        ((3, 6), "linux", "fork"),
        ((3, 13), "linux", "fork"),
        ((3, 14), "linux", "forkserver"),
        ((3, 7), "darwin", "fork"),
        ((3, 8), "darwin", "spawn"),
        ((3, 14), "darwin", "spawn"),
        ((3, 6), "win32", "spawn"),
        ((3, 14), "win32", "spawn"),
    ],
)
def test_the_start_method_of_each_platform(version, system, method):
    assert collector.default_start_method(version, system) == method


def test_asking_for_the_start_method_leaves_it_open():
    collector.start_method_facts()

    assert multiprocessing.get_start_method(allow_none=True) is None


# --- import paths ---------------------------------------------------------------------------------------------------

TELL_PATHS = "import json, sys\nsys.path.append({!r})\nimport collector\nprint(json.dumps([sys.path[0], collector.import_paths()]))"


def test_the_entry_of_a_running_program_is_not_the_environments(tmp_path):
    text = TELL_PATHS.format(os.path.dirname(SOURCE))
    (tmp_path / "package").mkdir()
    (tmp_path / "program.py").write_text(text)
    (tmp_path / "package" / "__main__.py").write_text(text)
    with zipfile.ZipFile(tmp_path / "program.pyz", "w") as archive:
        archive.writestr("__main__.py", "import sys\nsys.path.insert(1, sys.path[0] + '/bundled')\n" + text)

    for how in (["program.py"], ["-m", "package"], ["program.pyz"], ["package"], ["-c", text]):
        done = subprocess.run(
            [sys.executable, "-B", *how], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
        )
        first, paths = json.loads(done.stdout)
        assert not [path for path in paths if path.startswith(str(tmp_path))], (how, first)
        assert collector.stdlib_path() in paths


def test_entries_are_absolute_and_stand_once(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", "lib", str(tmp_path / "lib"), b"bytes", str(tmp_path / "other")])

    assert collector.import_paths() == [str(tmp_path / "lib"), str(tmp_path / "other")]


# --- what a name resolves to ----------------------------------------------------------------------------------------


def fill(directory, *names):
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("raise SystemExit('imported')")
    return str(directory)


@pytest.fixture
def standard_finders(monkeypatch):
    """Without the import hooks of the test runner."""
    finders = [finder for finder in sys.meta_path if collector._is_standard_finder(finder)]
    monkeypatch.setattr(sys, "meta_path", finders)
    return finders


@pytest.mark.usefixtures("standard_finders")
class TestModule:
    def test_the_first_entry_wins(self, tmp_path):
        site = fill(tmp_path / "site-packages", "dataclasses.py", "thing.py")
        local = fill(tmp_path / "src", "dataclasses.py", "thing/__init__.py")
        library = collector.stdlib_path()

        def kinds(*paths):
            return [collector.module_fact(name, paths)["kind"] for name in ("dataclasses", "thing")]

        assert kinds(library, site) == ["standard-library", "site-packages"]
        assert kinds(site, library) == ["site-packages", "site-packages"]
        assert kinds(local, library, site) == ["local", "local"]
        assert kinds(library) == ["standard-library", "missing"]

    def test_a_package_comes_before_a_module_and_a_module_before_a_namespace(self, tmp_path):
        path = fill(tmp_path, "one/__init__.py", "one.py", "two/inner.py", "two.py", "three/inner.py")

        assert collector.module_fact("one", [path])["origin"] == os.path.join(path, "one", "__init__.py")
        assert collector.module_fact("two", [path])["origin"] == os.path.join(path, "two.py")
        assert collector.module_fact("three", [path]) == {"kind": "local", "origin": os.path.join(path, "three")}

    def test_a_namespace_yields_to_a_module_further_down(self, tmp_path):
        first = fill(tmp_path / "a", "name/inner.py")
        second = fill(tmp_path / "b", "name.py")

        assert collector.module_fact("name", [first, second])["origin"] == os.path.join(second, "name.py")

    def test_extension_modules_and_byte_code_count(self, tmp_path):
        import _imp

        suffix = _imp.extension_suffixes()[0]
        path = fill(tmp_path, "native" + suffix, "native.py", "compiled.pyc")

        assert collector.module_fact("native", [path])["origin"] == os.path.join(path, "native" + suffix)
        assert collector.module_fact("compiled", [path])["origin"] == os.path.join(path, "compiled.pyc")

    def test_zip_files_are_looked_into(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "library.zip", "w") as archive:
            archive.writestr("zipped.py", "raise SystemExit")
        (tmp_path / "broken.zip").write_text("no zip file")

        paths = [str(tmp_path / "broken.zip"), str(tmp_path / "missing"), str(tmp_path / "library.zip")]
        assert collector.module_fact("zipped", paths)["origin"] == os.path.join(paths[2], "zipped.py")
        assert collector.module_fact("other", paths)["kind"] == "missing"

    @pytest.mark.parametrize("name", ["sys", "builtins", "_imp", "_frozen_importlib"])
    def test_what_is_compiled_in_cannot_be_shadowed(self, tmp_path, name):
        path = fill(tmp_path, name + ".py")

        assert collector.module_fact(name, [path]) == {"kind": "standard-library", "origin": None}

    def test_a_dotted_name_would_import_its_parent(self):
        with pytest.raises(collector.NotKnownError, match=r"would import xml\.dom"):
            collector.module_fact("xml.dom.minidom", [])

    @pytest.mark.parametrize("name", ["json", "ssl", "xml", "asyncio", "nowhere", "packaging", "pytest", "zlib"])
    def test_it_agrees_with_the_import_system(self, name):
        spec = PathFinder.find_spec(name)
        fact = collector.module_fact(name)

        assert fact["origin"] == (spec and spec.origin) or name in sys.builtin_module_names
        assert (fact["kind"] == "missing") is (spec is None and name not in sys.builtin_module_names)


def test_a_name_that_an_import_hook_may_provide_is_not_known(monkeypatch, standard_finders, tmp_path):
    (tmp_path / "hook_of_edited.py").write_text(
        "class Finder:\n    def find_spec(self, name, *_more):\n        raise SystemExit('asked')\n"
        "MAPPING = {'edited': '/elsewhere'}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    finder = importlib.import_module("hook_of_edited").Finder()
    monkeypatch.setattr(sys, "meta_path", [finder, *standard_finders])

    with pytest.raises(collector.NotKnownError, match=r"hook_of_edited\.py, which Python runs when it starts, may"):
        collector.module_fact("edited", [])
    assert collector.module_fact("nowhere", [])["kind"] == "missing"


def test_importing_from_the_library_passes_over_what_shadows_it(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [fill(tmp_path, "this.py", "antigravity.py", "wave.py"), *sys.path])
    monkeypatch.delitem(sys.modules, "this", raising=False)
    path, finders = sys.path[:], sys.meta_path[:]

    assert collector._import_standard("colorsys").__file__.startswith(collector.stdlib_path())
    assert (sys.path, sys.meta_path) == (path, finders)
    with pytest.raises(ImportError):
        collector._import_standard("packaging_that_is_not_there")


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("/lib/python3.11", "standard-library"),
        ("/lib/python3.11/lib-dynload", "standard-library"),
        ("/lib64/python3.11/lib-dynload", "standard-library"),
        ("/lib/python3.11/site-packages", "site-packages"),
        ("/lib/python3.11/site-packages/some.egg", "site-packages"),
        ("/usr/lib/python3/dist-packages", "site-packages"),
        ("/home/someone/project", "local"),
        ("/lib/python3.110", "local"),
    ],
)
def test_what_stands_in_an_entry(entry, kind):
    assert collector.kind_of_entry(entry, "/lib/python3.11") == kind


# --- the system -----------------------------------------------------------------------------------------------------


def test_the_c_library_is_named():
    name, version = platform.libc_ver()
    if name != "glibc":
        pytest.skip("this is not the GNU C library")

    assert collector.system_fact("glibc") == version
    assert collector.system_fact("musl") is None


def test_musl_states_its_version_between_other_texts():
    assert collector.musl_version_in(b"\x7fELF\x001.2.x\x00musl libc\x001.2.4\x00%d.%d.%d\x00") == "1.2.4"
    assert collector.musl_version_in(b"\x7fELF\x00no version\x00") is None


@pytest.mark.parametrize(
    ("stated", "version"),
    [
        ("OpenSSL 3.0.11 19 Sep 2023", "3.0.11"),
        ("OpenSSL 1.1.1w  11 Sep 2023", "1.1.1"),
        ("OpenSSL 1.0.2k-fips  26 Jan 2017", "1.0.2"),
        ("LibreSSL 2.8.3", None),
    ],
)
def test_openssl_is_named_as_a_version_that_compares(monkeypatch, stated, version):
    monkeypatch.setitem(sys.modules, "_ssl", types.SimpleNamespace(OPENSSL_VERSION=stated))

    assert collector.system_fact("openssl") == version


def test_openssl_is_that_of_the_ssl_module():
    assert ssl.OPENSSL_VERSION.split()[1].startswith(collector.system_fact("openssl"))


def test_openssl_does_not_apply_to_a_python_without_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "_ssl", None)

    assert collector.system_fact("openssl") is None


def test_a_container_says_so_in_the_environment(monkeypatch):
    if sys.platform != "linux":
        assert collector.system_fact("container") is None
        return
    monkeypatch.setenv("container", "podman")

    assert collector.system_fact("container") is True


# --- shared libraries and the machine, as files tell ----------------------------------------------------------------

linux = pytest.mark.skipif(sys.platform != "linux", reason="the loader and the kernel of Linux")


class Tree(Image):
    """A file system in which shared libraries are looked for."""

    def find(self, name, search="", base="", program=""):
        return collector.find_library(name, search, base, program, self.host)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "root")


def library(machine=62, content=b""):
    return b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00" + machine.to_bytes(2, "little") + content


def cache(*entries):
    """What ``ldconfig`` writes, with the older form before it as it was written for long."""
    texts, rows = b"", b""
    start = 48 + 24 * len(entries)
    for name, path in entries:
        places = [start + len(texts), start + len(texts) + len(name) + 1]
        texts += name.encode() + b"\0" + path.encode() + b"\0"
        rows += b"".join(number.to_bytes(4, sys.byteorder) for number in (0x303, *places, 0, 0, 0))
    head = b"glibc-ld.so.cache1.1" + len(entries).to_bytes(4, sys.byteorder) + len(texts).to_bytes(4, sys.byteorder)
    return b"ld.so-1.7.0\0" + bytes(4) + head + bytes(20) + rows + texts


@linux
class TestLibraries:
    def test_what_ldconfig_lists_is_found(self):
        ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
        if not os.path.exists(ldconfig):
            pytest.skip("there is no ldconfig")
        listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
        with open("/etc/ld.so.cache", "rb") as stream:
            content = stream.read()
        for line in listed:
            name, _, path = line.strip().partition(" => ")
            name = name.partition(" (")[0]
            assert not path or path in collector.cached_libraries(content, name)

    def test_the_c_library_is_present_and_another_is_not(self):
        name = "libc.so.6" if collector.glibc_version() else f"ld-musl-{platform.machine()}.so.1"

        assert collector.library_fact(name) == "present"
        assert collector.library_fact("libnowhere.so.9") == "missing"

    @pytest.mark.parametrize("name", ["", "/lib/libc.so.6", "lib/libc.so.6"])
    def test_a_path_is_not_a_name(self, name):
        with pytest.raises(collector.NotKnownError, match="is not the name of a file"):
            collector.library_fact(name)

    def test_the_variable_counts_and_what_is_built_for_another_machine_does_not(self, monkeypatch, tmp_path):
        for folder in ("own", "other"):
            (tmp_path / folder).mkdir()
        with open(sys.executable, "rb") as stream:
            head = stream.read(64)
        (tmp_path / "own" / "libmine.so.1").write_bytes(head)
        (tmp_path / "other" / "libmine.so.1").write_bytes(head[:18] + b"\xff\xfe" + head[20:])

        for search, answer in (("", "missing"), ("other", "missing"), ("own", "present"), ("other:own", "present")):
            places = ["relative", *(str(tmp_path / name) for name in search.split(":") if name)]
            monkeypatch.setenv("LD_LIBRARY_PATH", ";".join(places))
            assert collector.library_fact("libmine.so.1") == answer

    def test_each_place_in_its_order(self, tree):
        tree.file("/usr/bin/python3", library())
        places = [
            "/usr/lib", "/lib", "/lib64", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/opt/cached",
            "/opt/told", "/opt/conda/lib",
        ]  # fmt: skip
        tree.file("/etc/ld.so.cache", cache(("libx.so", "/opt/wrong"), ("libx.so.1", "/opt/cached/libx.so.1")))
        tree.file("/opt/conda/conda-meta/history")
        assert tree.find("libx.so.1", "/opt/told", "/opt/conda", "/usr/bin/python3") is None

        for place in places:
            tree.file(place + "/libx.so.1", library())
            found = tree.find("libx.so.1", "/opt/told", "/opt/conda", "/usr/bin/python3")
            assert found == place + "/libx.so.1"
        assert tree.find("libx.so.1") == "/opt/cached/libx.so.1"

    def test_what_the_cache_lists_has_to_be_there_and_to_be_a_library(self, tree):
        tree.file("/etc/ld.so.cache", cache(("liby.so", "/opt/gone/liby.so"), ("liby.so", "/opt/script/liby.so")))
        tree.file("/opt/script/liby.so", "GROUP ( libother.so )")
        os.makedirs(tree.host("/usr/lib/liby.so"))
        os.makedirs(tree.host("/lib64"))
        os.mkfifo(tree.host("/lib64/liby.so"))

        assert tree.find("liby.so") is None

    def test_musl_has_further_places(self, tree):
        tree.file("/lib/ld-musl-x86_64.so.1", library()).file("/usr/local/lib/libz.so", library())
        assert tree.find("libz.so") == "/usr/local/lib/libz.so"

        tree.file("/etc/ld-musl-x86_64.path", "/lib:/opt/one\n/opt/two\n")
        assert tree.find("libz.so") is None
        assert tree.file("/opt/two/libz.so", library()).find("libz.so") == "/opt/two/libz.so"

    def test_a_damaged_cache_is_survived(self):
        whole = cache(("liba.so", "/lib/liba.so"), ("libb.so", "/lib/libb.so"))
        for end in range(len(whole)):
            assert set(collector.cached_libraries(whole[:end], "libb.so")) <= {"/lib/libb.so"[:n] for n in range(13)}
            changed = whole[:end] + b"\xff" * 4 + whole[end + 4 :]
            assert all(isinstance(path, str) for path in collector.cached_libraries(changed, "libb.so"))
        assert collector.cached_libraries(whole, "libb.so") == ["/lib/libb.so"]

    def test_the_cpp_library_names_its_newest_symbols(self, tree):
        text = b"\0GLIBCXX_3.4\0GLIBCXX_3.4.9\0GLIBCXX_3.4.30\0GLIBCXX_DEBUG_MESSAGE_LENGTH\0CXXABI_1.3.13\0"
        tree.file("/libstdc++.so.6", library(content=text)).file("/empty", library())

        assert collector.libstdcxx_in(tree.host("/libstdc++.so.6")) == "3.4.30"
        with pytest.raises(collector.NotKnownError, match="names no version"):
            collector.libstdcxx_in(tree.host("/empty"))

    def test_the_cpp_library_that_is_loaded_comes_first(self, tree):
        tree.file("/libstdc++.so.6", library(content=b"\0GLIBCXX_3.4.77\0"))
        program = loading(f"""
import json, mmap
with open({tree.host("/libstdc++.so.6")!r}, "rb") as stream:
    held = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
print(json.dumps(collector.system_fact("libstdcxx")))
""")

        assert run(sys.executable, program, "-B") == "3.4.77"


@linux
class TestMachine:
    @pytest.mark.parametrize("python", each())
    def test_every_version_tells_the_same(self, python):
        keys = [name for name, _ in collector.SYSTEM_FACTS if name not in ("glibc", "musl", "openssl", "libstdcxx")]
        program = loading(f"import json\nprint(json.dumps([collector.system_fact(key) for key in {keys!r}]))")

        assert run(python, program, "-B") == [collector.system_fact(key) for key in keys]

    def test_shared_memory_is_measured_in_mebibytes(self, tree):
        assert collector.shared_memory(tree.host) is None
        if os.path.isdir("/dev/shm"):
            size = shutil.disk_usage("/dev/shm").total
            assert collector.system_fact("shm") == (str(size >> 20) if size else None)

    def test_the_limit_of_open_files_is_the_soft_one(self):
        program = loading(
            "import json, resource\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (77, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
            "print(json.dumps(collector.system_fact('open-files')))"
        )

        assert run(sys.executable, program, "-B") == "77"

    @pytest.mark.parametrize(
        ("files", "mebibytes"),
        [
            ({}, "2000"),
            ({"self/cgroup": "0::/\n", "/memory.max": "1073741824\n"}, "1024"),
            ({"self/cgroup": "0::/a/b\n", "/a/memory.max": "536870912\n", "/a/b/memory.max": "max\n"}, "512"),
            ({"self/cgroup": "0::/../../else\n", "/memory.max": "1048576\n"}, "1"),
            ({"self/cgroup": "0::/\n", "/memory.max": "9999999999999\n"}, "2000"),
            (
                {"self/cgroup": "5:cpu,memory:/job\n0::/\n", "/memory/job/memory.limit_in_bytes": "104857600"},
                "100",
            ),
            ({"self/cgroup": "5:memory:/docker/id\n", "/memory/memory.limit_in_bytes": "209715200"}, "200"),
            ({"self/cgroup": "5:memory:/\n", "/memory/memory.limit_in_bytes": "9223372036854771712"}, "2000"),
        ],
    )
    def test_memory_is_that_of_the_group_or_of_the_machine(self, tree, files, mebibytes):
        tree.file("/proc/meminfo", "MemTotal:        2048000 kB\nMemFree:  1 kB\n")
        for name, content in files.items():
            tree.file(("/sys/fs/cgroup" if name.startswith("/") else "/proc/") + name, content)

        assert collector.memory_limit(host=tree.host) == mebibytes

    def test_memory_that_nothing_tells_is_unknown(self, tree):
        with pytest.raises(collector.NotKnownError, match="neither a control group"):
            collector.memory_limit(host=tree.host)

    @pytest.mark.parametrize(
        ("place", "content"),
        [
            (
                "/proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 2023\nGCC version:  gcc 12.2.0\n",
            ),
            (
                "/proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.104.05  Release Build  (root@host)\n",
            ),
            ("/sys/module/nvidia/version", "535.104.05\n"),
            ("/usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05", library()),
        ],
    )
    def test_the_driver_of_nvidia(self, tree, place, content):
        tree.file(place, content)
        if "libcuda" in place:
            tree.link("/usr/lib/x86_64-linux-gnu/libcuda.so.1", os.path.basename(place))

        assert collector.nvidia_driver(tree.host) == "535.104.05"
        with pytest.raises(collector.NotKnownError, match="not which CUDA it supports"):
            collector.cuda_version(tree.host)
        with pytest.raises(collector.NotKnownError, match="does not list its GPUs"):
            collector.gpu_models(tree.host)

    def test_the_models_of_gpus(self, tree):
        tree.file("/sys/module/nvidia/version", "550.54.14\n")
        for number, model in enumerate(["NVIDIA H100 80GB HBM3", "NVIDIA L4", "NVIDIA H100 80GB HBM3"]):
            text = f"Model: \t\t {model}\nIRQ:   \t\t 130\nGPU UUID: \t GPU-0\n"
            tree.file(f"/proc/driver/nvidia/gpus/0000:0{number}:00.0/information", text)

        assert collector.gpu_models(tree.host) == "NVIDIA H100 80GB HBM3, NVIDIA L4"

    def test_without_a_driver_nothing_of_it_applies(self, tree):
        probes = (collector.nvidia_driver, collector.cuda_version, collector.gpu_models)

        assert [probe(tree.host) for probe in probes] == [None, None, None]

    def test_a_driver_of_windows_or_without_a_version_is_unknown(self, tree):
        tree.file("/usr/lib/libcuda.so.1", library())
        with pytest.raises(collector.NotKnownError, match="do not state its version"):
            collector.nvidia_driver(tree.host)

        tree.file("/usr/lib/wsl/lib/libcuda.so.1", library())
        with pytest.raises(collector.NotKnownError, match="that of Windows"):
            collector.gpu_models(tree.host)


# --- all of it at once ----------------------------------------------------------------------------------------------


def test_everything_wanted_is_told_or_unknown(monkeypatch):
    monkeypatch.setenv("ENVDOCTOR_TEST_VALUE", "some value")
    monkeypatch.delenv("ENVDOCTOR_TEST_UNSET", raising=False)

    facts = collector.collect(
        {
            "env": ["ENVDOCTOR_TEST_VALUE", "ENVDOCTOR_TEST_UNSET"],
            "module": ["json", "xml.dom"],
            "system": ["glibc", "weather"],
            "library": ["libnowhere.so.9", "a/b"],
        }
    )

    assert json.loads(json.dumps(facts)) == facts
    assert facts["collector"] == collector.COLLECTOR
    assert facts["env"] == {"ENVDOCTOR_TEST_VALUE": "some value"}
    assert set(facts["modules"]) == {"json"}
    assert set(facts["system"]) == {"glibc"}
    assert facts["libraries"] == {"libnowhere.so.9": "missing"}
    assert [note["fact"] for note in facts["unknown"]] == ["module.xml.dom", "system.weather", "library.a/b"]
    assert {name for name, _ in collector.FACTS} <= set(facts)


def test_a_probe_that_fails_leaves_the_others_alone(monkeypatch):
    def fail(*_key):
        raise OSError("the disk is on fire")

    monkeypatch.setattr(collector, "FACTS", (("python", fail), *collector.FACTS[1:]))
    monkeypatch.setattr(collector, "SYSTEM_FACTS", (("openssl", fail), *collector.SYSTEM_FACTS[:1]))

    facts = collector.collect({"system": ["openssl", "glibc"]})

    assert facts["unknown"] == [
        {"fact": "python", "reason": "OSError: the disk is on fire"},
        {"fact": "system.openssl", "reason": "OSError: the disk is on fire"},
    ]
    assert "python" not in facts
    assert set(facts["system"]) == {"glibc"}
    assert facts["paths"]
