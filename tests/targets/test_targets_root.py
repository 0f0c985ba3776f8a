"""A file system that is not running tells which Python is in it; nothing in it is executed, and nothing leads out."""

import os
import sys
import sysconfig

import pytest
from images import GLIBC_LOADER, MUSL_LOADER, Image, elf
from known_facts import fact

from envdoctor import targets
from envdoctor.collector import NotKnownError
from envdoctor.errors import TargetError
from envdoctor.targets.interpreter import interpreter_facts
from envdoctor.targets.root import facts_of_root, module_in_root

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the file systems have symbolic links and pipes")


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path / "image")


def reasons(facts):
    return {note["fact"]: note["reason"] for note in facts["unknown"]}


# --- a common image -------------------------------------------------------------------------------------------------


def test_everything_that_files_tell(image):
    image.python("/usr/local", "3.11.7").link("/usr/local/bin/python", "python3.11")
    image.link("/lib64", "/usr/lib/x86_64-linux-gnu")
    image.file("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
    image.file(
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
        elf(content=b"GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"),
    )

    facts = facts_of_root(str(image))

    library = image.host("/usr/local/lib/python3.11")
    assert facts["python"] == {
        "version": "3.11.7", "implementation": "cpython", "free_threaded": False,
        "executable": "/usr/local/bin/python3.11", "prefix": "/usr/local", "base_prefix": "/usr/local",
    }  # fmt: skip
    assert facts["platform"] == {"system": "linux", "machine": "x86_64"}
    assert facts["paths"] == [library, library + "/lib-dynload", library + "/site-packages"]
    assert (facts["stdlib"], facts["user_site"]) == (library, None)
    assert facts["start_method"] == {"default": "fork"}
    assert facts["system"] == {"glibc": "2.36", "musl": None}
    assert facts["marker"] == {
        "implementation_name": "cpython", "implementation_version": "3.11.7", "os_name": "posix",
        "platform_machine": "x86_64", "platform_python_implementation": "CPython", "platform_system": "Linux",
        "python_full_version": "3.11.7", "python_version": "3.11", "sys_platform": "linux",
    }  # fmt: skip
    assert facts["other_interpreters"] == []
    assert facts["root"] == str(image)
    assert "env" not in facts
    assert reasons(facts).keys() == {
        "env", "marker.platform_release", "marker.platform_version", "system.container", "system.openssl", "system.shm",
        "system.open-files", "system.memory", "system.nvidia-driver", "system.cuda", "system.gpu",
    }  # fmt: skip


def test_an_unpacked_bundle_has_its_root_inside(tmp_path, image):
    image.python("/usr", "3.12.1")
    os.rename(image.path, tmp_path / "rootfs")

    assert facts_of_root(str(tmp_path))["root"] == str(tmp_path / "rootfs")


def test_musl(image):
    image.python("/usr", "3.12.8", elf(MUSL_LOADER))
    image.file(MUSL_LOADER, elf(content=b"musl libc\0" + b"1.2.5\0"))

    assert facts_of_root(str(image))["system"] == {"glibc": None, "musl": "1.2.5"}


@pytest.mark.parametrize(
    ("name", "machine", "version"),
    [("libc-2.31.so", 62, "2.31"), ("libc-2.31.so", 183, None), ("libc.so", 62, None)],
)
def test_the_c_library_is_that_of_the_interpreters_machine(image, name, machine, version):
    image.python("/usr", "3.9.2").file(f"/lib/x86_64-linux-gnu/{name}", elf(machine=machine))
    image.link("/lib/x86_64-linux-gnu/libc.so.6", name)
    image.link(GLIBC_LOADER, "/lib/x86_64-linux-gnu/ld-2.31.so")

    facts = facts_of_root(str(image))

    assert facts["system"] == ({"glibc": version, "musl": None} if version else {"musl": None})
    assert ("system.glibc" in reasons(facts)) is (version is None)


def test_a_running_container_has_left_its_mark(image):
    image.python("/usr", "3.12.1").file("/.dockerenv")

    assert facts_of_root(str(image))["system"]["container"] is True


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF" + b"\xff" * 200, elf(machine=4711)])
def test_a_program_that_tells_no_machine(image, content):
    image.python("/usr", "3.11.4", content)

    facts = facts_of_root(str(image))

    assert facts["platform"] == {"system": "linux"}
    assert "platform_machine" not in facts["marker"]
    assert "platform.machine" in reasons(facts)


# --- the version ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.6.15", "3.13.0rc2", "3.14.0b1"])
def test_the_headers_tell_the_full_version(image, version):
    image.python("/usr", version)

    facts = facts_of_root(str(image))

    assert facts["python"]["version"] == facts["marker"]["python_full_version"] == version


@pytest.mark.parametrize("text", [b"\0" + b"3.11.2\0", b"\0/build/Python-3.11.2\0" + b"3.2.0\0", b"\0" + b"3.11.2+\0"])
def test_the_program_tells_the_full_version(image, text):
    image.python("/usr", "3.11.2", elf(content=text), header=False)

    assert facts_of_root(str(image))["python"]["version"] == "3.11.2"


def test_the_shared_library_tells_the_full_version(image):
    image.python("/usr", "3.11.2", header=False)
    image.file("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", elf(content=b"\0" + b"3.11.2\0"))

    assert facts_of_root(str(image))["python"]["version"] == "3.11.2"


def test_a_version_without_its_third_number_is_said_to_be_so(image):
    image.python("/usr", "3.11.2", elf(content=b"\0" + b"3.11.2\0" + b"3.11.4\0"), header=False)

    facts = facts_of_root(str(image))

    assert facts["python"]["version"] == facts["marker"]["python_version"] == "3.11"
    assert "python_full_version" not in facts["marker"]
    assert "python.version" in reasons(facts)


@pytest.mark.parametrize("settings", ["version = 3.9.18", "version_info = 3.9.18.final.0", "version_info=3.9.18\n"])
def test_an_environment_whose_installation_is_elsewhere_states_its_version(image, settings):
    image.venv("/opt/venv", "/somewhere/else/bin", "3.9", settings)

    facts = facts_of_root(str(image))

    assert facts["python"]["version"] == "3.9.18"
    assert facts["stdlib"] is None
    assert facts["paths"] == [image.host("/opt/venv/lib/python3.9/site-packages")]
    assert {"stdlib", "platform.machine"} <= reasons(facts).keys()


def test_the_installation_knows_better_than_the_environment(image):
    image.python("/usr/local", "3.11.9").venv("/venv", "/usr/local/bin", "3.11", "version = 3.11.4")

    assert facts_of_root(str(image))["python"]["version"] == "3.11.9"


def test_a_free_threaded_build(image):
    image.python("/usr/local", "3.13.1", suffix="t")

    facts = facts_of_root(str(image))

    assert facts["python"]["free_threaded"] is True
    assert facts["python"]["version"] == "3.13.1"
    assert facts["stdlib"].endswith("/python3.13t")


# --- which interpreter ----------------------------------------------------------------------------------------------


def test_the_order_of_choice(image):
    image.python("/usr", "3.9.2").python("/opt/conda", "3.12.4").python("/usr/local", "3.10.1")
    image.file("/usr/local/bin/python3.9", elf()).folder("/usr/local/lib/python3.9")
    image.venv("/app/.venv", "/usr/local/bin", "3.10").venv("/opt/venv", "/usr/bin", "3.9")
    image.venv("/data/env", "/usr/bin", "3.9").file("/etc/environment", 'PATH="/usr/bin:/data/env/bin"\n')

    facts = facts_of_root(str(image))

    order = [facts["python"]["executable"], *(other["executable"] for other in facts["other_interpreters"])]
    assert order == [
        "/data/env/bin/python",
        "/opt/venv/bin/python",
        "/app/.venv/bin/python",
        "/usr/local/bin/python3.10",
        "/usr/local/bin/python3.9",
        "/opt/conda/bin/python3.12",
        "/usr/bin/python3.9",
    ]
    assert facts["other_interpreters"][-1] == {"executable": "/usr/bin/python3.9", "version": "3.9"}


def test_numbers_of_versions_are_compared_as_numbers(image):
    image.python("/root/.pyenv/versions/3.9.18", "3.9.18").python("/root/.pyenv/versions/3.10.2", "3.10.2")
    assert facts_of_root(str(image))["python"]["version"] == "3.10.2"

    image.file("/root/.pyenv/version", "3.9.18\n")
    assert facts_of_root(str(image))["python"]["version"] == "3.9.18"


@pytest.mark.parametrize(
    ("wanted", "executable"),
    [
        ("/usr/bin/python3", "/usr/bin/python3.9"),
        ("/bin/python3", "/usr/bin/python3.9"),
        ("usr/local", "/usr/local/bin/python3.11"),
        ("python3.9", "/usr/bin/python3.9"),
        ("3.9", "/usr/bin/python3.9"),
        ("/srv/tools/env", "/srv/tools/env/bin/python"),
        ("/srv/tools/env/bin/python", "/srv/tools/env/bin/python"),
    ],
)
def test_a_wanted_interpreter_is_chosen(image, wanted, executable):
    image.python("/usr", "3.9.2").python("/usr/local", "3.11.7").link("/bin", "usr/bin")
    image.venv("/srv/tools/env", "/usr/bin", "3.9")

    facts = facts_of_root(str(image), wanted)

    assert facts["python"]["executable"] == executable
    assert executable not in [other["executable"] for other in facts["other_interpreters"]]


def test_a_path_of_this_machine_into_the_root_is_understood(image):
    image.python("/usr", "3.9.2").python("/usr/local", "3.11.7")

    assert facts_of_root(str(image), image.host("/usr/bin/python3"))["python"]["version"] == "3.9.2"


def test_no_directory_no_interpreter_and_no_such_interpreter(tmp_path, image):
    with pytest.raises(TargetError, match="nowhere does not exist"):
        facts_of_root(str(tmp_path / "nowhere"))
    image.file("/usr/bin/python3-config").file("/usr/bin/python2.7")
    with pytest.raises(TargetError, match="is not a directory"):
        facts_of_root(image.host("/usr/bin/python2.7"))
    with pytest.raises(TargetError, match=r"There is no Python 3 interpreter in .*--python PATH"):
        facts_of_root(str(image))
    image.python("/usr", "3.9.2")
    with pytest.raises(
        TargetError, match=r"no interpreter /usr/bin/python3\.12 in .*Choose one of /usr/bin/python3\.9"
    ):
        facts_of_root(str(image), "/usr/bin/python3.12")


# --- where it imports from ------------------------------------------------------------------------------------------


def inside(image, facts):
    return [path[len(str(image)) :] for path in facts["paths"] if "-packages" in path or "/srv" in path]


def test_the_layout_of_debian(image):
    image.python("/usr", "3.11.2").python("/usr/local", "3.11.7")
    sites = ["/usr/local/lib/python3.11/dist-packages", "/usr/lib/python3/dist-packages"]
    image.folder(*sites, "/usr/lib/python3.11/dist-packages")

    facts = facts_of_root(str(image), "/usr/bin/python3")

    assert inside(image, facts) == [*sites, "/usr/lib/python3.11/dist-packages"]
    assert inside(image, facts_of_root(str(image))) == ["/usr/local/lib/python3.11/site-packages"]


def test_the_layout_of_fedora(image):
    image.python("/usr", "3.12.1").file("/usr/lib64/python3.12/os.py")
    sites = [f"/usr/{lib}/python3.12/site-packages" for lib in ("local/lib64", "local/lib", "lib64", "lib")]
    image.folder(*sites)

    assert inside(image, facts_of_root(str(image))) == sites


def test_an_environment_alone_and_with_what_its_system_has(image):
    image.python("/usr/local", "3.11.7").folder("/root/.local/lib/python3.11/site-packages")
    own, user = "/venv/lib/python3.11/site-packages", "/root/.local/lib/python3.11/site-packages"
    image.venv("/venv", "/usr/local/bin", "3.11", "include-system-site-packages = false\n").link("/venv/lib64", "lib")
    facts = facts_of_root(str(image))
    assert inside(image, facts) == [own]
    assert facts["user_site"] is None
    assert facts["paths"][0] == image.host("/usr/local/lib/python3.11")

    image.file("/venv/pyvenv.cfg", "home = /usr/local/bin\nInclude-System-Site-Packages = True\n")
    facts = facts_of_root(str(image))
    assert inside(image, facts) == [own, user, "/usr/local/lib/python3.11/site-packages"]
    assert facts["user_site"] == image.host(user)


def test_path_files_name_directories_inside_the_root(image, tmp_path):
    image.python("/usr/local", "3.11.7").folder("/srv/absolute", "/srv/linked", "/usr/local/lib/srv")
    (tmp_path / "outside").mkdir()
    site = "/usr/local/lib/python3.11/site-packages"
    image.link("/srv/link", "/srv/linked").file("/srv/library.zip", b"PK")
    image.file(
        f"{site}/b.pth", "\ufeff/srv/absolute\n# note\n\n../../srv\n/srv/missing\n/srv/link  \r\n/srv/library.zip\n"
    )
    image.file(
        f"{site}/a.pth", f"{tmp_path}/outside\nimport sys; sys.exit(1)\n../../../../../../../../../srv/absolute\n"
    )
    image.file(f"{site}/.hidden.pth", "/srv\n").file(f"{site}/c.pth", b"\xff\xfe\0nonsense\n/srv/absolute")

    facts = facts_of_root(str(image))

    assert inside(image, facts) == [
        site, "/srv/absolute", "/usr/local/lib/srv", "/srv/linked", "/srv/library.zip",
    ]  # fmt: skip
    assert reasons(facts)["paths"].endswith(f"was not executed: {site}/a.pth")


@pytest.mark.parametrize("version", ["3.6.15", "3.12.1"])
def test_what_a_name_resolves_to(image, version):
    image.python("/usr/local", version)
    library = f"/usr/local/lib/python{version.rpartition('.')[0]}"
    tag = "36m" if version.startswith("3.6") else "312"
    image.file(f"{library}/dataclasses.py").file(f"{library}/site-packages/dataclasses.py")
    image.file(f"{library}/site-packages/native.cpython-{tag}-x86_64-linux-gnu.so").folder("/srv/app/local")
    image.file(f"{library}/site-packages/app.pth", "/srv/app\n")
    facts = facts_of_root(str(image))

    kinds = {name: module_in_root(facts, name)["kind"] for name in ("dataclasses", "native", "local", "sys", "nowhere")}

    assert kinds == {
        "dataclasses": "standard-library", "native": "site-packages", "local": "local", "sys": "standard-library",
        "nowhere": "missing",
    }  # fmt: skip
    with pytest.raises(NotKnownError):
        module_in_root(facts, "os.path")
    image.file(f"{library}/site-packages/hook.pth", "import hook\n")
    facts = facts_of_root(str(image))
    with pytest.raises(NotKnownError, match="code that was not executed may"):
        module_in_root(facts, "nowhere")


def test_libraries_are_looked_for_below_the_root(image, monkeypatch, tmp_path):
    image.python("/usr/local", "3.11.7").link("/lib", "/usr/lib")
    image.file("/usr/lib/x86_64-linux-gnu/libgomp.so.1", elf()).file("/usr/lib/libother.so", elf(machine=183))
    image.link("/usr/lib/libabsolute.so", "/opt/real/libabsolute.so.1").file("/opt/real/libabsolute.so.1", elf())
    image.file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", elf(content=b"\0GLIBCXX_3.4.19\0"))
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "libhere.so").write_bytes(elf())
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "here"))

    snapshot = targets.examine("root", str(image))

    names = ("libgomp.so.1", "libabsolute.so", "libother.so", "libhere.so", "libc.so.6")
    assert [fact(snapshot, "library", name) for name in names] == [
        "present",
        "present",
        "missing",
        "missing",
        "missing",
    ]
    assert fact(snapshot, "system", "libstdcxx") == "3.4.19"
    assert fact(snapshot, "system", "shm").reason == "a file system does not tell how it will be run"
    image.file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", elf())
    assert "names no version" in fact(snapshot, "system", "libstdcxx").reason


# --- nothing leads out, and nothing blocks --------------------------------------------------------------------------


def test_links_are_resolved_inside_and_loops_are_survived(image, tmp_path):
    outside = Image(tmp_path / "outside").python("/usr", "3.8.1")
    image.python("/opt/real", "3.11.7").link("/usr/local", "/opt/real")
    image.link("/venv", "/venv").link("/app/.venv", "../app/loop").link("/app/loop", "/app/.venv")
    image.link("/usr/bin", outside.host("/usr/bin")).link("/srv", "../../../../..")
    image.link("/opt/real/lib/python3.11/site-packages/self", "/opt/real/lib/python3.11/site-packages")

    facts = facts_of_root(str(image))

    assert facts["python"]["version"] == "3.11.7"
    assert facts["other_interpreters"] == []
    assert facts["stdlib"] == image.host("/opt/real/lib/python3.11")


def test_pipes_are_never_opened(image):
    image.python("/usr", "3.11.2", header=False).folder("/venv", "/etc", "/usr/include/python3.11")
    for path in (
        *("/venv/pyvenv.cfg", "/etc/environment", "/usr/include/python3.11/patchlevel.h", "/usr/bin/python3.10"),
        *("/usr/lib/python3.11/site-packages/a.pth", "/usr/lib/libpython3.11.so.1.0"),
    ):
        os.mkfifo(image.host(path))

    facts = facts_of_root(str(image), "3.11")

    assert facts["python"]["version"] == "3.11"
    assert facts["paths"][-1] == image.host("/usr/lib/python3.11/site-packages")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said(image):
    image.python("/usr", "3.11.2").folder("/root/.pyenv/versions")
    os.chmod(image.host("/root/.pyenv/versions"), 0)

    assert "/root/.pyenv/versions is not readable" in reasons(facts_of_root(str(image)))["interpreters"]


@pytest.mark.skipif(sys.platform != "linux", reason="file systems of Linux are examined")
def test_files_agree_with_the_interpreter_that_runs_from_them():
    base = os.path.realpath(sys.base_prefix)
    told = interpreter_facts(
        os.path.join(base, "bin", "python{}.{}".format(*sys.version_info[:2])), {"system": ["glibc", "musl"]}
    )

    facts = facts_of_root("/", base)

    assert facts["python"]["version"] == told["python"]["version"]
    assert facts["platform"] == told["platform"]
    assert facts["stdlib"] == os.path.realpath(sysconfig.get_path("stdlib"))
    assert facts["system"].items() >= told["system"].items()
    assert facts["marker"].items() <= told["marker"].items()
    assert set(facts["paths"]) <= {os.path.realpath(path) for path in told["paths"]}
