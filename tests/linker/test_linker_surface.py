"""The public names of a package are read from its source; what the source does not show is open, never absent."""

import textwrap

import pytest

from envdoctor.linker.surface import ModuleSurface, surface


def names(**sources):
    modules = {}
    for key, text in sources.items():
        package = key.endswith("__init__")
        name = key.replace("__", ".") if not package else key[: -len("__init__")].rstrip("_").replace("__", ".")
        modules[name] = ModuleSurface(name, textwrap.dedent(text), package=package)
    return surface(modules)


def test_functions_classes_and_their_parts_have_dotted_names():
    found = names(
        a="""
        LIMIT = 3
        def run(first, *, second=1): ...
        class Job:
            kind = "x"
            def __init__(self, name): self.name = name
            def stop(self, now): ...
            def _hidden(self): ...
        """
    )
    assert {"a.LIMIT", "a.run", "a.run:first", "a.run:second", "a.Job", "a.Job.kind", "a.Job.name"} <= found
    assert {"a.Job.stop", "a.Job.stop:now", "a.Job.__init__:name"} <= found
    assert not {one for one in found if "_hidden" in one or one.endswith(":self")}


@pytest.mark.parametrize(
    ("source", "bound"),
    [
        ("try:\n    import json\n    dumps = json.dumps\nexcept ImportError:\n    def dumps(x): ...", "a.dumps"),
        ("if True:\n    x = 1\nelse:\n    y = 2", "a.y"),
        ("for name in (1, 2):\n    other = name", "a.other"),
        ("with open('f') as handle:\n    content = 1", "a.handle"),
        ("first, (second, third) = 1, (2, 3)", "a.third"),
    ],
)
def test_names_are_found_in_every_block_of_a_module(source, bound):
    assert bound in names(a=source)


def test_what_a_package_takes_from_itself_is_its_own_and_what_it_takes_from_others_is_not():
    found = names(p__init__="from .core import run, _hidden\nfrom json import dumps", p__core="def run(): ...")
    assert "p.run" in found
    assert "p.dumps" not in found
    assert "p.core" in found


def test_a_star_brings_what_the_other_module_exports():
    closed = names(p__init__="from .core import *", p__core="__all__ = ['run']\ndef run(): ...\ndef stop(): ...")
    assert "p.run" in closed
    assert "p.stop" not in closed
    opened = names(p__init__="from .core import *", p__core="def run(): ...\ndef _hidden(): ...")
    assert "p.run" in opened
    assert not any("_hidden" in one for one in opened)


def test_what_a_base_class_has_its_heirs_have_wherever_it_is_defined():
    found = names(
        p__init__="",
        p__base="class Base:\n    def close(self): ...",
        p__job="from p.base import Base\nclass Job(Base):\n    def stop(self): ...",
        p__more="from . import job\nclass More(job.Job): ...",
    )
    assert {"p.job.Job.close", "p.more.More.close", "p.more.More.stop"} <= found


@pytest.mark.parametrize(
    ("source", "scope"),
    [
        ("def __getattr__(name): ...", "a.*"),
        ("globals().update(x=1)", "a.*"),
        ("import sys\nsys.modules[__name__] = object()", "a.*"),
        ("from elsewhere import *", "a.*"),
        ("import other\nclass Job(other.Base): ...", "a.Job.*"),
        ("class Job:\n    def __getattr__(self, name): return getattr(self.other, name)", "a.Job.*"),
        ("class Job(metaclass=Unknown): ...", "a.Job.*"),
        ("def run(**keywords): ...", "a.run:*"),
        ("@wrapped\ndef run(first): ...", "a.run:*"),
    ],
)
def test_a_scope_that_may_have_more_than_its_source_shows_is_open(source, scope):
    assert scope in names(a=source)


@pytest.mark.parametrize(
    "source",
    [
        "class Job:\n    def __getattr__(self, name): raise AttributeError(name)",
        "class Job(Exception): ...",
        "import abc\nclass Job(metaclass=abc.ABCMeta): ...",
        "@property\ndef run(a): ...",
    ],
)
def test_a_scope_that_the_source_shows_whole_is_closed(source):
    assert not {one for one in names(a=source) if one.endswith("*")}


def test_what_a_private_module_defines_has_the_shortest_public_name():
    inner = "class Job:\n    def start(self, when): ...\n    def _own(self): ...\ndef run(first): ...\ndef _own(): ..."
    found = surface({
        "lib": ModuleSurface("lib", "from lib._inner import *\nfrom lib._inner import run", package=True),
        "lib.api": ModuleSurface("lib.api", "from lib._inner import Job, run", package=False),
        "lib._inner": ModuleSurface("lib._inner", inner, package=False),
    })  # fmt: skip

    assert {"lib.Job.start", "lib.Job.start:when", "lib.run:first"} <= found
    assert not {one for one in found if "_" in one or one.startswith(("lib.api.Job.", "lib.api.run:"))}


@pytest.mark.parametrize("taken", ["from threading import Thread as Base", "import threading\nBase = None"])
def test_the_heirs_of_a_class_of_the_library_have_what_it_has(taken):
    base = "Base" if "from" in taken else "threading.Thread"
    found = names(a=f"{taken}\nclass Job({base}):\n    def stop(self): ...")
    assert {"a.Job.is_alive", "a.Job.daemon", "a.Job.stop"} <= found
    assert not {"a.Job.*", "a.Job.acquire"} & found


@pytest.mark.parametrize("base", ["this.Base", "threading.Nothing", "elsewhere.Thread", "threading.current_thread"])
def test_a_base_that_is_no_class_of_the_library_may_have_anything(base):
    assert "a.Job.*" in names(a=f"import {base.partition('.')[0]}\nclass Job({base}): ...")
