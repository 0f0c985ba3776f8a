"""How sure a finding is depends on the way to it; and what is listed, kept and cached."""

import gc
import os
import weakref

import linker_environment as env
import pytest

from envdoctor.linker import reach, store
from envdoctor.linker.branches import Target
from envdoctor.linker.module_reader import ModuleReader, summary_of

B = {"b/__init__.py": "here = 1\n"}


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"a/__init__.py": "from b import gone"}, "error"),
        ({"a/__init__.py": "from a import inner", "a/inner.py": "from b import gone"}, "error"),
        ({"a/__init__.py": "", "a/inner.py": "from b import gone"}, "warning"),
        ({"a/__init__.py": "def f():\n    from b import gone"}, "warning"),
        ({"a/__init__.py": "def f():\n    import a.inner", "a/inner.py": "from b import gone"}, "warning"),
        ({"a/__init__.py": "import os\nif os.environ:\n    from b import gone"}, "info"),
        (
            {"a/__init__.py": "import os\nif os.environ:\n    import a.inner", "a/inner.py": "from b import gone"},
            "info",
        ),
        (
            {"a/__init__.py": "try:\n    import a.inner\nexcept ImportError:\n    pass", "a/inner.py": "import b.gone"},
            None,
        ),
        ({"a/__init__.py": "", "a/tests/test_it.py": "from b import gone"}, None),
        ({"a/__init__.py": "", "a/extra.py": "import not_installed\nfrom b import gone"}, None),
    ],
)
def test_severity_by_the_way(tmp_path, files, severity):
    env.write(tmp_path, a=files, b=B)
    assert [told[0] for told in env.missing(tmp_path)] == ([severity] if severity else [])


OPTIONAL = "try:\n    from not_installed import it\nexcept ImportError:\n    from {} import gone as it\n"
CHECKS = """import sys
try:
    import not_installed
except Exception as error:
    if sys.version_info >= (3, 4):
        raise Exception("needs it") from error
from b import gone
"""


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a/__init__.py": "", "a/x.py": OPTIONAL.format("b")}, []),
        ({"a/__init__.py": OPTIONAL.format("b")}, [("error", "a", 4, "b.gone")]),
        ({"a/__init__.py": "from a import x", "a/x.py": OPTIONAL.format("b")}, [("error", "a", 4, "b.gone")]),
        ({"a/__init__.py": "", "a/x.py": CHECKS}, []),
        ({"a/__init__.py": "import a.x", "a/x.py": CHECKS}, [("error", "a", 6, "python")]),
        ({"a.py": "def f():\n    import b.gone"}, [("info", "a", 2, "b.gone")]),
        ({"a.py": "def f():\n    import b.gone\n    return lambda: b.here"}, [("warning", "a", 2, "b.gone")]),
        ({"a.py": "def f():\n    global b\n    import b.gone"}, [("warning", "a", 3, "b.gone")]),
        ({"a.py": "def f():\n    import b.gone as g"}, [("warning", "a", 2, "b.gone")]),
        ({"a.py": "import c\nc.lazy"}, []),
        ({"a.py": "import d"}, [("error", "a", 1, "d")]),
        ({"a.py": "import d.looks"}, [("error", "a", 1, "d")]),
        ({"a.py": "import e"}, []),
        ({"a.py": "def f():\n    from itertools import batched"}, [("info", "a", 2, "itertools.batched")]),
        ({"a/__init__.py": "", "a/x.py": "from itertools import batched"}, [("warning", "a", 1, "itertools.batched")]),
        ({"a.py": "def f():\n    from asyncio import coroutine"}, [("warning", "a", 2, "asyncio.coroutine")]),
    ],
)
def test_what_is_optional_or_for_another_python(tmp_path, files, told):
    moved = {"d/__init__.py": "raise ImportError('moved to b')", "d/looks.py": ""}
    looks = {"e.py": "import sys\nfor one in sys.path:\n    if one:\n        continue\n    raise RuntimeError(one)"}
    lazy = {"c.py": "__all__ = ['lazy']\nfill(__name__)"}
    env.write(tmp_path, a=files, b=B, c=lazy, d=moved, e=looks)
    assert env.missing(tmp_path, (3, 11)) == told


def test_a_command_is_reached_by_its_entry_point(tmp_path):
    files = {"a/__init__.py": "", "a/_main.py": "from b import gone"}
    env.write(tmp_path, a={**files, "a-1.0.dist-info/entry_points.txt": "[console_scripts]\na = a._main:run\n"}, b=B)
    assert [told[0] for told in env.missing(tmp_path)] == ["warning"]


def test_a_submodule_that_cannot_be_imported_breaks_who_imports_it(tmp_path):
    provider = {
        **B,
        "b/split.py": "try:\n    from moved_away import x\nexcept ImportError as e:\n    raise ImportError('x')",
    }
    env.write(tmp_path, a={"a.py": "import b.split"}, b=provider)
    assert env.missing(tmp_path) == [("error", "a", 1, "b.split")]


@pytest.mark.parametrize(
    "files", [{"a.py": "def f():\n    import b.split"}, {"a/__init__.py": "", "a/x.py": "import b.split"}]
)
def test_who_asks_for_a_submodule_on_occasion_may_do_without_what_it_needs(tmp_path, files):
    env.write(tmp_path, a=files, b={**B, "b/split.py": "import an_extra"})
    assert env.missing(tmp_path) == []


@pytest.mark.parametrize(("owner", "count"), [("a_kernel_test", 1), ("a", 0)])
def test_a_module_for_tests_counts_where_its_distribution_is_called_so(tmp_path, owner, count):
    env.write(tmp_path, b=B, **{owner: {"a_kernel_test/__init__.py": "from b import gone"}})
    assert len(env.missing(tmp_path)) == count


def test_source_that_this_python_cannot_parse(tmp_path):
    env.write(tmp_path, a={"a.py": "def f(async): pass\n"})
    assert [told[0] for told in env.missing(tmp_path, (3, 7))] == ["error"]
    assert env.missing(tmp_path, (3, 6)) == []


def test_what_a_native_module_of_the_consumer_puts_into_another_module(tmp_path):
    """As a compiled extension that adds functions to the module of arrays that it works on."""
    native = "a/fast.cpython-312-x86_64-linux-gnu.so"
    files = {"a/__init__.py": "import c\nfrom a import fast\nc.added\nc.nowhere"}
    env.write(tmp_path, a={**files, native: b"\x7fELF\0added\0c\0"}, c={"c.py": "there = 1"})
    assert [one[3] for one in env.missing(tmp_path)] == ["c.nowhere"]


def test_a_word_in_a_binary_is_not_missing(tmp_path):
    native = "c.cpython-312-x86_64-linux-gnu.so"
    env.write(tmp_path, a={"a.py": "from c import present\nimport c\nc.nowhere"}, c={native: b"\x7fELF\0present\0"})
    assert env.missing(tmp_path) == [("warning", "a", 3, "c.nowhere")]


def test_a_binary_of_which_the_words_are_packed_tells_nothing(tmp_path):
    native = "c.cpython-312-x86_64-linux-gnu.so"
    env.write(tmp_path, a={"a.py": "import c\nc.nowhere"}, c={native: b"\x7fELF\0__pyx_capi__\0decompress\0"})
    assert env.missing(tmp_path) == []


@pytest.mark.parametrize(
    ("binary", "count"),
    [
        (b"\0b.errors\0Late\0", 0),
        (b"\0b.errors\0", 1),
        (b"\0Late\0", 1),
        (b"\0b.errors.more\0Late\0", 1),
        (b"\0__pyx_n_s\0b.errorsLate", 0),
    ],
)
def test_a_binary_may_set_names_of_a_module_that_it_names(tmp_path, binary, count):
    provider = {**B, "b/errors.py": "", "b/_b.cpython-312-x86_64-linux-gnu.so": binary}
    env.write(tmp_path, a={"a.py": "from b.errors import Late"}, b=provider)
    assert len(env.missing(tmp_path)) == count


@pytest.mark.parametrize(("asked", "count"), [("first_r", 0), ("absent_r", 1)])
def test_names_may_be_put_together(tmp_path, asked, count):
    provider = "globals().update({name + '_r': 1 for name in ['first']})"
    env.write(tmp_path, a={"a.py": f"import b\nb.{asked}"}, b={"b.py": provider})
    assert len(env.missing(tmp_path)) == count


def test_of_a_large_distribution_the_nearest_modules_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reach, "MOST_OF_ONE", 100)
    ask = "import b\nb.gone\n"
    files = {"a/__init__.py": f"import a.near\n{ask}", "a/near.py": f"import a.far\n{ask}", "a/far.py": ask + "#" * 100}
    env.write(tmp_path, a=files, b=B)
    found = env.linked(tmp_path)
    assert [os.path.basename(one.file) for one in found.missing] == ["__init__.py", "near.py"]
    assert found.unknown["submodules that were not read, in distributions with many"] == 1


def test_namespace_packages_are_joined(tmp_path):
    env.write(tmp_path, a={"ns/a/__init__.py": "from ns.b import here, gone"}, b={"ns/b.py": "here = 1"})
    assert env.missing(tmp_path) == [("error", "a", 1, "ns.b.gone")]


def test_summaries_are_kept_beyond_the_environment_and_follow_the_files(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = env.write(tmp_path / "one", a={"a.py": "from b import gone"}, b=B)
    assert len(env.missing(first)) == 1
    kept = os.listdir(store.directory())
    assert sorted(name.partition("-")[0] for name in kept) == ["a", "b", "found"]
    env.write(tmp_path / "one", b={"b/__init__.py": "here = 1\ngone = 2\n"})
    assert env.missing(first) == []


def test_of_a_changed_environment_only_what_changed_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = env.write(tmp_path / "one", a={"a.py": "from b import gone"}, b=B)
    assert len(env.missing(folder)) == 1
    file = tmp_path / "one" / "a.py"
    status = file.stat()
    file.write_text("from b import here")  # which RECORD, size and time do not tell
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    env.write(tmp_path / "one", b={"b/__init__.py": "other = 1\n"})
    assert env.missing(folder) == [("error", "a", 1, "b.gone")]


def test_an_environment_that_did_not_change_is_not_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = env.write(tmp_path / "one", a={"a.py": "from b import gone"}, b=B)
    first = env.linked(folder)
    monkeypatch.setattr(store.Store, "get", None)
    assert env.linked(folder) == first
    with pytest.raises(TypeError):
        env.linked(folder, (3, 9))


def test_a_damaged_cache_is_read_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = env.write(tmp_path / "one", a={"a.py": "from b import gone"}, b=B)
    before = env.missing(folder)
    for name in os.listdir(store.directory()):
        with open(os.path.join(store.directory(), name), "r+b") as file:
            file.write(b"broken")
    assert env.missing(folder) == before


def test_unknowns_are_counted_by_reason(tmp_path):
    env.write(
        tmp_path, a={"a.py": "import b\nb.anything\nimport optional"}, b={"b.py": "exec(open('x').read())\n# anything"}
    )
    unknown = env.linked(tmp_path).unknown
    assert unknown["modules that import what is not installed, and cannot be used"] == 1


def test_reading_a_module_leaves_nothing_behind_that_only_a_collector_finds():
    reader = ModuleReader("a", Target((3, 12)), lambda *_told: True)
    alive = weakref.ref(reader)
    gc.disable()
    try:
        assert summary_of(b"import b\nclass C(b.C):\n    def m(self): return self.x.y(lambda: b.c())\n", reader)["refs"]
        del reader
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a/__init__.py": "import six"}, [("warning", "a", 1, "six")]),
        ({"a/__init__.py": "from a import c", "a/c.py": "import six"}, [("warning", "a", 1, "six")]),
        ({"a/__init__.py": "try:\n    import six\nexcept ImportError:\n    pass"}, []),
        ({"a/__init__.py": "", "a/c.py": "import six"}, []),
        ({"a/__init__.py": "from a import c\nc.load('six.thrift', 'six')\nimport six", "a/c.py": "load = print"}, []),
        ({"b/__init__.py": "", "c.py": "import six"}, []),
        ({"a/__init__.py": "import six", "a-1.0.dist-info/METADATA": "Name: a\nRequires-Dist: six\n"}, []),
        (
            {"a/__init__.py": "", "a/b.py": "import sys\nif sys.version_info < (3, 13):\n    import six"},
            [("warning", "a", 3, "six")],
        ),
        ({"a/__init__.py": "", "a/b.py": "import sys\nif sys.version_info < (3, 12):\n    import six"}, []),
    ],
)
def test_an_import_that_nothing_declares(tmp_path, files, told):
    env.write(tmp_path, a=files)
    assert env.missing(tmp_path) == told


def test_a_distribution_that_adds_to_another_may_be_there_without_it(tmp_path):
    env.write(tmp_path, **{"host-more": {"host_more.py": "import host"}})
    assert env.missing(tmp_path) == []


def test_a_word_in_a_comment_is_written_nowhere(tmp_path):
    env.write(tmp_path, a={"a.py": "import b\nb.Vanished"}, b={"b.py": "# as Vanished was\nglobals().update(vars())\n"})
    assert env.missing(tmp_path) == [("warning", "a", 2, "b.Vanished")]


@pytest.mark.parametrize(
    "files",
    [
        {"a/__init__.py": "import sys\nsys.path.append('x')\nimport six"},
        {
            "a/__init__.py": "import six",
            "a-1.0.dist-info/METADATA": "Name: a\nRequires-Dist: six; python_version < '3.9'\n",
        },
        {"a/__init__.py": "import a.path\nimport six", "a/path.py": "", "a/_vendor/six.py": ""},
    ],
)
def test_an_import_of_what_a_distribution_brings_itself(tmp_path, files):
    env.write(tmp_path, a=files)
    assert env.missing(tmp_path) == []
