"""From a missing name to both edges: wheels on an index of this machine, read and never installed."""

import pytest
from wheel_index import serving, wheel

from envdoctor.engine.asks import Ask
from envdoctor.linker.edges import edges

NEW, OLD = "def kept(): ...\n", "def kept(): ...\ndef gone(): ...\n"
LEFT = {version: OLD if version < "3" else NEW for version in ("1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "3.2")}
ASKS = "from left.core import gone\n"
GUARDED = "try:\n    from left.core import gone\nexcept ImportError:\n    gone = None\n"
BY_VERSION = "import left, left.core\nif left.__version__ < '3':\n    left.core.gone()\n"
ASK = Ask(kind="name", provider="left", consumer="right-pad", module="left.core", name="gone", inside="right_pad",
          versions={"left": "3.1", "right-pad": "1.1"}, python="3.11.4")  # fmt: skip


def wheels(left, right):
    """Files by name: ``left`` by version is the source of ``left/core.py``, ``right`` source and requirements."""
    found = {}
    for version, source in left.items():
        files = {"left/__init__.py": f"__version__ = '{version}'\n", "left/core.py": source}
        found[f"left-{version}-py3-none-any.whl"] = wheel(files, "left", version)
    for version, (source, *requires) in right.items():
        found[f"right_pad-{version}-py3-none-any.whl"] = wheel({"right_pad/__init__.py": source}, "right-pad", version, requires)  # fmt: skip
    return found


@pytest.fixture
def told(monkeypatch, tmp_path):
    """The edges of an ask, for sources of both sides; the names of the wheels that were fetched are in ``asked``."""

    def tell(right, ask=ASK, left=LEFT, days=None):
        named = {f"right_pad-{version}-py3-none-any.whl": day for version, day in (days or {}).items()}
        with serving(monkeypatch, tmp_path / "cache", wheels(left, right), named) as server:
            found = edges(ask, lambda _: None)
            tell.asked = [name for name, _ in server.asked if name.endswith(".whl")]
        return found

    return tell


@pytest.mark.parametrize("cure", ["", GUARDED, BY_VERSION, "from left.core import kept\n"])
def test_both_edges_are_found_and_a_guard_counts_as_a_cure(cure, told):
    found = told({"1.0": [ASKS], "1.1": [ASKS], "1.2": [ASKS], "1.3": [cure], "2.0": [cure]})

    assert (found.life.last, found.life.gone) == ("2.1", "3.0")
    assert (found.asking.until, found.asking.since, found.asking.works) == ("1.2", "1.3", "1.3")
    assert found.asking.said() == "right-pad asks until 1.2, from 1.3 on no longer"


def test_a_release_that_takes_something_else_that_is_gone_is_no_cure(told):
    left = {version: source + ("" if version >= "3" else "def other(): ...\n") for version, source in LEFT.items()}
    other = "from left import core\ndef f(): core.other()\n"

    found = told({"1.1": [ASKS], "1.2": [other], "1.3": [other], "1.4": [""]}, left=left)

    assert (found.asking.since, found.asking.works) == ("1.2", "1.4")


def test_a_consumer_that_never_stops_may_have_begun_or_caps_the_provider(told):
    found = told({"0.9": [""], "1.0": [ASKS], "1.1": [ASKS], "1.2": [ASKS, "left>=1,<3"], "1.3": [ASKS, "left<3"]})

    asking = found.asking
    assert (asking.until, asking.since, asking.before, asking.caps, asking.cap) == (
        "1.3",
        None,
        "0.9",
        "1.2",
        "left>=1,<3",
    )


@pytest.mark.parametrize("day", ["2020-01-01", "2026-01-01", None], ids=["by mistake", "on purpose", "untold"])
def test_a_higher_version_that_is_older_by_its_day_is_not_the_newest(day, told):
    days = {"1.1": "2019-01-01", "1.2": "2024-01-01", "1.3": "2025-01-01", "9.0": day}

    found = told({"1.1": [ASKS], "1.2": [""], "1.3": [""], "9.0": [ASKS]}, days=days if day else {})

    told = found.asking.until, found.asking.since, found.asking.again
    assert told == (("1.1", "1.2", "9.0") if day == "2020-01-01" else ("9.0", None, ""))


def test_a_condition_about_the_name_of_what_is_there_guards(told):
    named = "import left.core\ndef f(x):\n    if type(x).__name__ == 'Left': return 1\n    return x.gone\n"
    ask = ASK.replace(kind="attribute", owner="Left", code="return x.gone")
    left = {"2.1": "class Left:\n    gone = 1\n", "3.0": "class Left: ...\n", "3.1": "class Left: ...\n"}

    found = told({"1.1": ["def f(x):\n    return x.gone\n"], "1.2": [named]}, ask, left)

    assert (found.asking.until, found.asking.since) == ("1.1", "1.2")


def test_a_name_that_came_later(told):
    left = dict(zip(LEFT, [NEW] * 5 + [OLD] * 2))
    ask = ASK.replace(versions={"left": "2.0", "right-pad": "1.1"})

    found = told({"0.8": [""], "0.9": [""], "1.1": [ASKS], "1.2": [ASKS]}, ask, left)

    assert (found.life.since, found.life.gone) == ("3.1", None)
    assert (found.asking.since, found.asking.before) == (None, "0.9")


def test_of_many_releases_a_dozen_are_read_and_none_twice(told):
    left = {f"{major}.{minor}": OLD if major < 4 else NEW for major in range(6) for minor in range(30)}
    ask = ASK.replace(versions={"left": "5.17", "right-pad": "1.1"})

    found = told({"1.1": [ASKS], "1.2": [""]}, ask, left)

    assert (found.life.last, found.life.gone) == ("3.29", "4.0")
    assert len(told.asked) == len(set(told.asked)) <= 14
    assert found.read == {"left": len(told.asked) - 2, "right-pad": 2}


CALLED = "from left.core import run\ndef f(): run(1, force=2)\n"


@pytest.mark.parametrize(
    ("ask", "old", "new", "calls", "cured"),
    [
        (Ask(kind="keyword", name="run", argument="force"), "def run(a, force=1): ...", "def run(a): ...", CALLED, "run(1)"),
        (Ask(kind="required", name="run", argument="b", code="    run(1)"), "def run(a): ...", "def run(a, b): ...", "run(1)", "run(1, 2)"),
        (Ask(kind="count", name="Job.run", given=3, code="job.run(1, 2)"), "class Job:\n    def run(self, a, b): ...", "class Job:\n    def run(self, a): ...", "job.run(1, 2)", "job.run(1)"),
        (Ask(kind="attribute", owner="Job", name="stop", code="if job.stop():"), "class Job:\n    def stop(self): ...", "class Job: ...", "job.stop()", "job.end(), other.stop()"),
    ],
)  # fmt: skip
def test_the_edges_of_calls_and_attributes_whose_owner_nobody_names(ask, old, new, calls, cured, told):
    left = {version: old if version < "3" else new for version in LEFT}
    given = {one: getattr(ASK, one) for one in ("consumer", "inside", "versions", "python")}

    found = told({"1.1": [calls, "left"], "1.2": [calls, "left"], "1.3": [cured, "left"]}, ask.replace(**given), left)

    assert (found.provider, found.life.last, found.life.gone) == ("left", "2.1", "3.0")
    assert (found.asking.until, found.asking.since) == ("1.2", "1.3")


def test_who_asks_is_found_among_what_is_installed(told):
    ask = ASK.replace(consumer=None, inside="", others=["left", "right-pad"])

    found = told({"1.1": [ASKS, "left"], "1.2": ["", "left"]}, ask)

    assert (found.consumer, found.asking.since) == ("right-pad", "1.2")


def test_what_the_standard_library_lost_is_asked_for_until_a_release_brings_it_back(told):
    ask = Ask(kind="module", provider="", consumer="right-pad", module="cgi", inside="right_pad", brings="legacy-cgi",
              versions={"right-pad": "1.1"}, python="3.13")  # fmt: skip

    found = told(
        {"1.1": ["import cgi\n"], "1.2": ["import cgi\n", "legacy-cgi; python_version>='3.13'"], "1.3": [""]}, ask
    )

    assert (found.asking.since, found.asking.caps) == ("1.3", "1.2")


@pytest.mark.parametrize(
    "left", [dict.fromkeys(LEFT, OLD), dict.fromkeys(LEFT, "def __getattr__(name): return gone\n")]
)
def test_nothing_is_said_of_a_release_that_cannot_be_told_to_lack_the_name(left, told):
    assert told({"1.1": [ASKS]}, left=left).life is None


def test_a_word_that_stands_only_in_compiled_code_has_an_edge_and_an_asker(told):
    left = {version: 'WORDS = b"LEFT_FLAG"\n' if version < "3" else "WORDS = b''\n" for version in LEFT}
    ask = ASK.replace(kind="word", provider=None, others=("left",), module="lib", name="LEFT_FLAG", code="")

    found = told({"1.1": ["FLAG = _lib.LEFT_FLAG\n"], "1.2": ["FLAG = None\n"]}, ask, left)

    assert (found.provider, found.life.last, found.life.gone) == ("left", "2.1", "3.0")
    assert found.asking.works == "1.2"


def test_an_import_hook_that_newer_pythons_do_not_ask_is_its_own_distributions(told):
    hook = "class Loader:\n    def find_module(self): ...\n"
    ask = ASK.replace(kind="lacking", provider="", module="right_pad", name="find_spec")

    found = told({"1.1": [hook], "1.2": [hook], "1.3": [hook + "    def find_spec(self): ...\n"]}, ask)

    assert (found.life, found.asking.until, found.asking.works) == (None, "1.2", "1.3")


@pytest.mark.parametrize(("python", "since"), [("3.12.4", "1.2"), ("3.8.1", None)])
def test_of_a_condition_about_python_the_branch_that_is_taken_counts(python, since, told):
    call = "import sys\nif sys.version_info < (3, 9):\n    pass\nelse:\n    def f(x): x.evaluate(1, 2)\n"
    ask = ASK.replace(kind="required", provider="", name="Ref.evaluate", argument="guard", python=python, module="",
                      code="return x.evaluate(1, 2)")  # fmt: skip

    found = told({"1.1": [call], "1.2": [call.replace("2)", "guard=2)")]}, ask)

    assert (found.asking and found.asking.works) == since


def test_a_module_that_is_there_though_no_file_of_the_release_has_it_tells_nothing(told):
    ask = ASK.replace(module="left.made")

    assert told({"1.1": [ASKS]}, ask).life is None


def test_the_release_whose_words_a_message_has_is_found_among_what_is_installed(told):
    warns = "def warn(name): print(f'{name} will be removed, use another')\ndef fail(name): raise OSError(f'{name} was removed, use another')\n"
    left = {version: warns + f"def gone(): {'fail' if version >= '3' else 'warn'}('gone')\n" for version in LEFT}
    ask = ASK.replace(kind="words", provider=None, consumer=None, words="was removed, use another", module="", inside="",
                      others=("left", "right-pad"))  # fmt: skip

    found = told({"1.1": ["import left.core\nleft.core.gone()\n"], "1.2": [""]}, ask, left)

    assert (found.provider, found.consumer, found.asking.since) == ("left", "right-pad", "1.2")
    assert found.life.said() == "“was removed, use another” came with left 3.0; 2.1 is without it"


def test_a_base_class_that_asks_what_is_behind_it_and_a_class_that_does_not_bring_it(told):
    left = {version: "class Base:\n" + ("    def tags(self): super().tags()\n" if version >= "3" else "    x = 1\n") for version in LEFT}  # fmt: skip
    ask = ASK.replace(kind="super", consumer=None, name="tags", module="", inside="left.core", others=("right-pad",))
    uses = "import left.core\nclass Own(left.core.Base): ...\n"

    found = told({"1.1": [uses, "left"], "1.2": [uses + "    tags = 1\n", "left"]}, ask, left)

    assert (found.life.last, found.life.gone) == ("2.1", "3.0")
    assert found.asking.said() == "right-pad does without tags until 1.1, from 1.2 on no longer"


@pytest.mark.parametrize(("defined", "provider"), [("", "left"), ("    def normal(self): ...\n", None)])
def test_who_gives_objects_of_a_class_that_never_had_the_attribute(defined, provider, told, monkeypatch, tmp_path):
    left = {version: "from zones import Zone\n" if version >= "3" else "" for version in LEFT}
    files = wheels(left, {"1.1": ["def f(x): x.normal(1)\n"], "1.2": [""]})
    files["zones-1.0-py3-none-any.whl"] = wheel({"zones/__init__.py": f"class Zone(Some):\n    def a(self): ...\n{defined}"}, "zones", "1.0")  # fmt: skip
    ask = ASK.replace(
        kind="attribute", provider="zones", module="zones", owner="Zone", name="normal", code="x.normal(1)"
    )

    with serving(monkeypatch, tmp_path / "cache", files):
        found = edges(ask, lambda _: None)

    assert (found.provider, found.made) == (provider, provider is not None)
    assert found.asking.since == "1.2"
    assert not provider or (found.life.last, found.life.gone) == ("2.1", "3.0")


def test_an_attribute_that_is_set_where_it_is_not_there_is_not_asked_for(told):
    ask = ASK.replace(kind="attribute", provider=None, owner="Space", name="flags", code="x.flags.append(1)")
    sets = "def f(x):\n    if not hasattr(x, 'flags'):\n        x.flags = []\n    x.flags.append(1)\n"

    found = told({"1.1": ["def f(x): x.flags.append(1)\n"], "1.2": [sets]}, ask)

    assert (found.provider, found.asking.since) == (None, "1.2")


def test_a_release_that_tells_patch_releases_of_python_apart_tells_the_edge(told):
    old = "def f(x): x.evaluate(1, 2)\n"
    new = "import sys\nif sys.version_info < (3, 12, 4):\n    def f(x): x.evaluate(1, guard=2)\nelse:\n    def f(x): x.evaluate(1, 0, guard=2)\n"
    ask = ASK.replace(kind="required", provider="", name="Ref.evaluate", argument="guard", python="3.12.7", module="",
                      code="return x.evaluate(1, 2)")  # fmt: skip

    found = told({"1.1": [old], "1.2": [old.replace("2)", "guard=2)")], "1.3": [new]}, ask)

    assert (found.asking.since, found.asking.tells, found.asking.teller) == ("1.2", "3.12.4", "1.3")
