"""The linker holds few modules at a time, and answers as if it held all."""

import linker_environment as env
import pytest

from envdoctor.linker import module_getattr, store, syntax_trees

PROVIDERS = 12
B = """
class Gone(Exception): pass

def removed(path):
    raise Gone("removed in 2.0")

def takes(one, two=2): return one

class Base:
    def used(self, one): return one
"""
#: Each line asks two modules for what they have, and for what they have not.
A = "import b{0}\nb{0}.takes(1, 2)\nb{0}.lost\nb{0}.removed('x')\nb{0}.takes(1, three=3)\nb{1}.Base().used(1)\n"


@pytest.fixture
def folder(tmp_path):
    env.write(tmp_path, b={f"b{at}.py": B for at in range(PROVIDERS)})
    text = "".join(A.format(at, (at + 5) % PROVIDERS) for at in range(PROVIDERS))
    imports = "".join(f"import b{at}\n" for at in range(PROVIDERS))
    return env.write(tmp_path, a={"a.py": imports + text, "more.py": imports + text})


def test_modules_that_are_not_held(folder, monkeypatch, tmp_path_factory):
    plain = env.linked(folder)
    for module, name, few in (
        (store, "MOST_OPEN", 2),
        (module_getattr, "_MOST_MODULES", 1),
        (syntax_trees, "_MOST_HELD", 1),
    ):
        monkeypatch.setattr(module, name, few)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))

    few = env.linked(folder)

    assert few == plain
    assert {one.kind for one in few.missing} == {"name", "unknown", "refuses"}


def test_findings_are_in_the_order_of_the_source(folder):
    found = env.linked(folder).missing

    for name in ("a.py", "more.py"):
        lines = [one.line for one in found if one.file.endswith(name)]
        assert len(lines) == 3 * PROVIDERS
        assert lines == sorted(lines)


def test_a_module_that_is_only_asked_is_read(tmp_path):
    env.write(tmp_path, b={"b/__init__.py": "", "b/tests/__init__.py": "", "b/tests/deep.py": "kept = 1\n"})
    env.write(tmp_path, a={"a.py": "def f():\n    from b.tests.deep import kept, lost\n"})

    assert env.missing(tmp_path) == [("warning", "a", 2, "b.tests.deep.lost")]


def test_a_module_that_nothing_imports_is_read_for_what_python_removed(tmp_path):
    env.write(tmp_path, a={"a/__init__.py": "", "a/more.py": "import inspect\ninspect.getargspec(len)\n"})

    assert env.missing(tmp_path) == [("warning", "a", 2, "inspect.getargspec")]
