"""What a release removed and no rule asks for, printed from the wheels of an index on this machine."""

import pytest
from wheel_index import serving, wheel

from envdoctor.cli import main

BEFORE = """
from inspect import signature
T_pad = 1
def pad(text, width, fill=" "): ...
def trim(text): ...
class Box:
    def __init__(self, size, old=None):
        self.size = size
        self.old = old
    def open(self): ...
    def close(self): ...
class Gone:
    def open(self): ...
"""
AFTER = """
def pad(text, width): ...
class Box:
    def __init__(self, size):
        self.size = size
    def close(self): ...
"""
RULE = """\
id: left2-{number}-in-code
title: the project's code uses what left 2 removed
severity: warning
impact: crash
when:
  packages: {{left: "{range}"}}
  {asked}
why: left 2.0 removed it.
remedies:
  - downgrade: left<2
references: ["https://example.org/left/1"]
proof: {{script: import left, bad: [{{python: "3.11", packages: {{left: "2.0"}}}}]}}
"""


@pytest.fixture
def said(monkeypatch, tmp_path, capsys):
    """Runs the command on rules that ask for some things, and returns its status and what it prints."""
    wheels = {
        f"left-{version}-py3-none-any.whl": wheel(sources, version=version)
        for version, sources in {
            "1.0": {"left/__init__.py": BEFORE},
            "1.9": {
                "left/__init__.py": BEFORE,
                "left/old.py": "def help(): ...",
                "left/more.py": "def trim(text): ...",
            },
            "2.0": {"left/__init__.py": AFTER},
            "2.1": {"left/__init__.py": AFTER},
        }.items()
    }

    def run(*words, asked=(), span=">=2"):
        directory = tmp_path / "rules"
        directory.mkdir()
        for number, one in enumerate(asked):
            (directory / f"left2-{number}-in-code.yaml").write_text(RULE.format(number=number, range=span, asked=one))
        status = main(["rules", "gaps", *words, "--rules", str(directory)])
        out, err = capsys.readouterr()
        return status, out if status < 2 else err

    with serving(monkeypatch, tmp_path / "cache", wheels):
        yield run


def test_names_modules_members_and_parameters_that_went_are_printed_by_what_they_were_in(said):
    status, text = said(asked=["source: {uses: left.other}"])
    assert status == 1
    assert text.splitlines() == [
        "left2-0-in-code: left 1.9 has 7 that 2.0 lacks",
        "  left.Box.__init__: old",
        "  left.Box. open",
        "  left. Gone, more, old, trim",
        "  left.pad: fill",
    ]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("source: {uses: left.trim}", "trim"),
        ("source: {imports: left.more}", "more"),
        ('source: {calls: "left.**.Box.open"}', "open"),
        ("source: {calls: left.pad, argument: {name: fill}}", "fill"),
        ("source: {calls: left.pad, without: [fill.colour]}", "fill"),
        ("any: [{source: {calls: left.trim}}, {not: {source: {uses: left.Gone}}}]", "Gone"),
    ],
)
def test_what_any_rule_asks_for_is_left_out(said, asked, name):
    _, text = said("left2-0-in-code", asked=["source: {uses: left.other}", asked])
    assert "left 1.9 has" in text
    assert name not in text.replace(",", " ").split()


def test_what_is_in_a_module_that_a_rule_asks_for_whole_is_left_out_but_for_parameters(said):
    _, text = said(asked=['source: {uses: "left.**"}'])
    assert text.splitlines()[1:] == ["  left.Box.__init__: old", "  left.pad: fill"]


def test_a_range_without_a_beginning_has_no_edge(said):
    assert said(asked=["source: {uses: left.other}"], span="<2") == (0, "")


def test_every_edge_of_a_distribution_is_printed_for_its_name(said):
    status, text = said("--of", "Left", asked=["source: {uses: left.trim}"])
    assert status == 1
    assert [line for line in text.splitlines() if line[0] != " "] == ["left 1.9 has 6 that 2.0 lacks"]


def test_rules_and_a_distribution_at_once_are_refused(said):
    status, text = said("left2-0-in-code", "--of", "left", asked=["source: {uses: left.trim}"])
    assert status == 2
    assert "a rule has edges of its own" in text


INHERITING = """
import logging
from os import path
class Base:
    def __init__(self, size, old=None):
        self.size = size
        self.old = old
    def open(self): ...
class Box(Base): ...
class Jar(Base): ...
class Bag(Base):
    def __getattr__(self, name): return self.size
Crate = Box
def pad(text, width, fill=" "): ...
def fill(text, **other): ...
globals().update({name: name.upper() for name in ("north", "south", "east")})
limit: int = 3
"""
WITHOUT = """
class Base:
    def __init__(self, size):
        self.size = size
class Box(Base): ...
class Jar(Base): ...
class Bag(Base):
    def __getattr__(self, name): return self.size
Crate = Box
def pad(text, width): ...
def ask(): ...
def fill(text): ...
def __getattr__(name):
    if name == "south":
        return "still"
    raise AttributeError(name)
"""
BROKEN = "import nothing_like_it\ndef help(): ...\n"


@pytest.fixture(params=[False])
def ran(said, monkeypatch, tmp_path, request):
    """Runs the command with ``--run`` on rules that ask for some things, and returns its status and what it prints."""
    folder, back = tmp_path / "wheels", request.param
    folder.mkdir()
    releases = {
        "1.9": {
            "left/__init__.py": INHERITING,
            "left/ask.py": "def get(): ...",
            "left/old/__init__.py": "",
            "left/old/deep.py": "",
            "left/lazy.py": "x = 1",
        },
        "2.0": {"left/__init__.py": WITHOUT, "left/lazy.py": BROKEN},
    }
    if back:
        releases["2.1"] = {**releases["2.0"], "left/__init__.py": f"{WITHOUT}\neast = 'EAST'\nBase.open = None\n"}
    for version, sources in releases.items():
        (folder / f"left-{version}-py3-none-any.whl").write_bytes(wheel(installable(sources, version), version=version))
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_OFFLINE", "1")
    return lambda *words, **more: said("--run", *words, **more)


def installable(sources, version):
    """The members of a wheel that an installer takes."""
    info = f"left-{version}.dist-info"
    named = {
        **sources,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: left\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    return {**named, f"{info}/RECORD": "".join(f"{path},,\n" for path in [*named, f"{info}/RECORD"])}


def test_what_went_while_both_releases_run_is_printed_as_a_rule_asks_for_it(ran):
    status, text = ran(asked=["source: {uses: left.other}"])
    assert status == 1
    assert text.splitlines() == [
        "left2-0-in-code: left 1.9 and 2.0 on Python 3.11",
        "  uses: [",
        '    "left.old.**",',
        '    "left.{east,limit,north}",',
        '    "left.ask.get",',
        '    "left.**.{Base,Box,Crate,Jar}.{old,open}",',
        "  ]",
        '  - source: {calls: ["left.**.pad"], argument: {name: fill}}',
        '  - source: {calls: ["left.**.{Bag,Base,Box,Crate,Jar}"], argument: {name: old}}',
        "  asked for, and in neither: left.other",
    ]


def test_what_a_rule_asks_for_and_what_never_went_is_told_from_each_other(ran):
    asked = 'source: {uses: ["left.{east,limit,north,south}", "left.old.**", left.Box.open]}'
    _, text = ran(asked=[asked])
    assert "  asked for, and there in 2.0: left.south" in text.splitlines()
    assert "east" not in text
    assert '    "left.**.{Base,Box,Crate,Jar}.old",' in text


@pytest.mark.parametrize("ran", [True], indirect=True)
def test_what_a_later_release_of_the_range_has_again_is_not_gone(ran):
    status, text = ran(asked=["source: {uses: left.east}"])
    assert status == 1
    assert text.splitlines()[0] == "left2-0-in-code: left 1.9 and 2.0, 2.1 too, on Python 3.11"
    assert '    "left.{limit,north}",' in text.splitlines()
    assert '    "left.**.{Base,Box,Crate,Jar}.old",' in text.splitlines()
    assert text.splitlines()[-1] == "  asked for, and there again in 2.1: left.east"


def test_releases_that_cannot_be_installed_are_said_and_are_no_failure(ran, tmp_path):
    (tmp_path / "wheels" / "left-1.9-py3-none-any.whl").unlink()
    status, text = ran(asked=["source: {uses: left.other}"])
    assert status == 0
    assert text.startswith("left2-0-in-code: left 1.9 and 2.0 were not compared: ")


def test_where_nothing_else_went_that_is_said(ran):
    calls = 'source: {calls: ["left.pad", "left.{Bag,Base,Box,Crate,Jar}"], arguments: [{name: fill}, {name: old}]}'
    names = 'source: {uses: ["left.{ask.get,east,limit,north}", "left.old.**", "left.{Base,Box,Crate,Jar}.{old,open}"]}'
    status, text = ran("left2-0-in-code", asked=[names, calls])
    assert status == 0
    assert text.splitlines()[1:] == ["  nothing went that no rule asks for"]


def test_what_has_to_be_run_before_modules_can_be_imported_is_run(ran):
    _, text = ran("--first", "import left; left.Box.open = None", asked=["source: {uses: left.other}"])
    assert '"left.**.{Base,Crate,Jar}.{old,open}",' not in text
    assert '    "left.**.{Base,Box,Crate,Jar}.old",' in text.splitlines()


def test_a_distribution_is_not_run_without_a_rule(said):
    status, text = said("--run", "--of", "left", asked=["source: {uses: left.trim}"])
    assert status == 2
    assert "--run builds what a rule's proof states" in text
