"""Who asked, who was asked and who else is concerned, by the words of a failure and whose code its frames are."""

import pytest
from engine.test_engine_derived import STANDARD, WORDS

from envdoctor.engine.families import clues
from envdoctor.engine.names import Names
from envdoctor.engine.suspects import parties
from envdoctor.probes.error_text import read

SITE = "/venv/lib/python3.11/site-packages"
OWN = "/home/me/app.py"
MISS = "ImportError: cannot import name 'pad' from 'left.core'"
KEYWORD = "TypeError: Pad.fill() got an unexpected keyword argument 'width'"
FUNCTION = "TypeError: fill() got an unexpected keyword argument 'width'"
INIT = "TypeError: __init__() got an unexpected keyword argument 'width'"
UNPICKLED = "TypeError: cannot pickle 'zmq.Context' object"
GONE = "ModuleNotFoundError: No module named 'left'"
SUPER = "AttributeError: 'super' object has no attribute 'tags'"
FRAME = "AttributeError: 'Frame' object has no attribute 'append'"


def who(error, frames, *, installed=(), complete=False, **seen):
    """What is there of the parties: frames are modules, of Python with `py.`, or files, each with its line of source."""
    lines = []
    for one in frames:
        module, _, code = one.partition(": ")
        path = f"{SITE}/{module.replace('.', '/')}.py"
        if module.startswith(("/", "py.")):
            path = module if module[0] == "/" else f"/usr/lib/python3.11/{module[3:].replace('.', '/')}.py"
        lines.append(f'  File "{path}", line 3, in run\n    {code or "work()"}\n')
    text = ("Traceback (most recent call last):\n" if lines else "") + "".join(lines) + error
    found = parties(
        clues(read(text), WORDS["voices"])[0], Names(WORDS, installed, None, STANDARD), seen, complete=complete
    )
    told = {**found.as_dict(), "own": found.own and found.own.file, "seen": None}
    return {name: value for name, value in told.items() if value}


@pytest.mark.parametrize(
    ("error", "frames", "more", "expected"),
    [
        (MISS, ["rightmod.core"], {}, {"consumer": "right-pad", "provider": "left"}),
        (MISS, [OWN], {}, {"provider": "left", "own": "/home/me/app.py"}),
        (MISS, [OWN, "left.core"], {}, {"consumer": "left", "provider": "left", "inside": True}),
        (MISS, [OWN, "rightmod.core", "left.core"], {}, {"consumer": "left", "provider": "left", "inside": True}),
        (MISS, [OWN, "rightmod.core", "left.core: raise ImportError(x)"], {}, {"consumer": "right-pad", "provider": "left"}),
        ("AttributeError: module 'left' has no attribute 'pad'", ["rightmod.core", "py.importlib.__init__"], {}, {"consumer": "right-pad", "provider": "left"}),
        ("AttributeError: module 'left' has no attribute 'pad'", ["rightmod.core", "/home/me/x.py"], {}, {"provider": "left", "own": "/home/me/x.py"}),
        ("ImportError: cannot import name 'pad' from 'third.packages.left.core'", ["rightmod.core"], {"installed": ["left", "right-pad"]}, {"consumer": "right-pad", "provider": "left"}),
        ("ImportError: cannot import name 'pad' from 'third.packages.left.core'", ["rightmod.core"], {"installed": ["right-pad"]}, {"consumer": "right-pad", "provider": "third", "others": ["left"]}),
        ("ImportError: cannot import name 'pad' from 'asyncio'", ["rightmod.core"], {}, {"consumer": "right-pad", "python": True}),
        (MISS, ["rightmod.core: torch.load(path)"], {}, {"consumer": "right-pad", "provider": "left", "loading": True}),
        (MISS, ["rightmod.core: reload(path)"], {}, {"consumer": "right-pad", "provider": "left"}),
    ],
)  # fmt: skip
def test_who_asked_and_who_was_asked_for_a_name(error, frames, more, expected):
    assert who(error, frames, **more) == expected


@pytest.mark.parametrize(
    ("error", "frames", "more", "expected"),
    [
        (MISS, [], {"askers": {("left.core", "pad"): ["right-pad", "third", "fourth"]}}, {"consumer": "right-pad", "provider": "left", "others": ["third", "fourth"]}),
        (MISS, [OWN], {"askers": {("left.core", "pad"): ["right-pad", "third", "fourth"]}}, {"provider": "left", "own": "/home/me/app.py", "others": ["right-pad", "third"]}),
        (MISS, ["rightmod.core"], {"askers": {("left.core", "pad"): ["right-pad", "third", "fourth", "fifth"]}}, {"consumer": "right-pad", "provider": "left", "others": ["third", "fourth"]}),
    ],
)  # fmt: skip
def test_who_asks_elsewhere_comes_after_the_frames(error, frames, more, expected):
    assert who(error, frames, **more) == expected


@pytest.mark.parametrize(
    ("error", "frames", "more", "expected"),
    [
        (KEYWORD, ["rightmod.core: left.fill(**kwargs)"], {"classes": {"Pad": "left"}}, {"consumer": "right-pad", "provider": "left"}),
        (KEYWORD, ["rightmod.core: call(x, **kwargs)"], {"classes": {"Pad": "left"}}, {"consumer": "right-pad", "provider": "left"}),
        (FUNCTION, ["third.a", "rightmod.core: fill(x, **kwargs)"], {"imports": {"rightmod.core": {"fill": "left.core"}}}, {"consumer": "right-pad", "provider": "left"}),
        (FUNCTION, ["third.a", "rightmod.core: other(x, **kwargs)"], {"imports": {"rightmod.core": {"fill": "left.core"}}}, {"consumer": "right-pad", "provider": "third"}),
        (FUNCTION, ["third.a", "rightmod.core: other(x, **kwargs)"], {}, {"consumer": "right-pad", "provider": "third"}),
        (INIT, ["third.a", "rightmod.core: other(x, **kwargs)"], {}, {"consumer": "third", "provider": "right-pad"}),
        (INIT, ["third.a", "rightmod.core: left.Pad(width=1)"], {"imports": {"rightmod.core": {"left": "left"}}}, {"consumer": "right-pad", "provider": "left"}),
        (FUNCTION, ["third.a", "rightmod.core: left.fill(width=1)"], {"imports": {"rightmod.core": {"left": "left"}}}, {"consumer": "right-pad", "provider": "left"}),
        (FUNCTION, ["third.a", "rightmod.core: left.sub.fill(width=1)"], {"installed": ["left", "right-pad"]}, {"consumer": "right-pad", "provider": "left"}),
        (FUNCTION, ["third.a", "rightmod.core: gone.fill(width=1)"], {"installed": ["left", "right-pad"]}, {"consumer": "right-pad", "provider": "third"}),
        (FUNCTION, ["third.a", "rightmod.core: left.fill(width=1)"], {}, {"consumer": "right-pad", "provider": "left"}),
        (FUNCTION, ["third.a", "rightmod.core: gone.fill(width=1)"], {}, {"consumer": "right-pad", "provider": "third"}),
        ("TypeError: Pad.__init__() got an unexpected keyword argument 'width'", ["third.a", "rightmod.core: gone.Pad(width=1)"], {}, {"consumer": "right-pad", "provider": "gone"}),
        ("TypeError: Pad.__init__() got an unexpected keyword argument 'width'", ["third.a", "rightmod.core: np.Pad(width=1)"], {}, {"consumer": "right-pad", "provider": "third"}),
    ],
)  # fmt: skip
def test_whose_function_takes_no_such_argument(error, frames, more, expected):
    assert who(error, frames, **more) == expected


@pytest.mark.parametrize(
    ("error", "frames", "more", "expected"),
    [
        (SUPER, ["third.a", "rightmod.core", "py.abc"], {}, {"consumer": "third", "provider": "right-pad"}),
        (SUPER, [], {}, {}),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/x/site-packages/left/data/pad.json'", ["rightmod.core"], {}, {"consumer": "right-pad", "provider": "left"}),
        (UNPICKLED, ["third.a", "py.pickle"], {}, {"consumer": "third", "provider": "zmq"}),
        (UNPICKLED, [OWN], {"installed": ["left"], "complete": True}, {"provider": "zmq", "own": "/home/me/app.py"}),
        ("TypeError: cannot pickle '_thread.lock' object", ["third.a", "py.multiprocessing.x"], {}, {"consumer": "third", "python": True}),
        (FRAME, ["rightmod.core"], {}, {"consumer": "right-pad", "provider": "left"}),
        (FRAME, ["rightmod.core"], {"installed": ["left-cpu", "right-pad"]}, {"consumer": "right-pad", "provider": "left-cpu"}),
        (FRAME, [OWN], {}, {"provider": "left", "own": "/home/me/app.py"}),
        ("AttributeError: 'a.b.Frame' object has no attribute 'append'", ["rightmod.core"], {}, {"consumer": "right-pad", "provider": "a"}),
        ("AttributeError: Can't get attribute 'Net' on <module 'left.core' from 'x'>", ["rightmod.core: pickle.load(file)"], {}, {"consumer": "right-pad", "provider": "left", "loading": True}),
    ],
)  # fmt: skip
def test_whose_class_object_or_file_it_is(error, frames, more, expected):
    assert who(error, frames, **more) == expected


@pytest.mark.parametrize(
    ("error", "frames", "more", "expected"),
    [
        ("left.errors.Gone: pad was removed in 2.0", ["third.a", "rightmod.core: raise Gone(x)"], {}, {"consumer": "right-pad", "provider": "third", "others": ["left"]}),
        ("ValueError: x", ["third.a", "rightmod.core", "py.threading"], {}, {"consumer": "right-pad", "provider": "third"}),
        ("ImportError: /x/site-packages/left/_c.so: undefined symbol: PyFoo", ["rightmod.core"], {}, {"consumer": "left", "python": True}),
        ("ImportError: /x/site-packages/third/_c.so: undefined symbol: _ZN4left3padEv", ["rightmod.core"], {}, {"consumer": "third", "provider": "left", "others": ["left-third"]}),
        ("error in left setup command: use_2to3 is invalid.", [], {}, {"consumer": "left", "provider": "builder"}),
        ("pkg_resources.DistributionNotFound: The 'left>=1' distribution was not found and is required by right", [], {}, {"consumer": "right", "provider": "left", "others": ["pkg-resources", "left-right"]}),
        ("left.errors.PadDeprecated: left.pad has been removed in 2.0, use left.pod", ["rightmod.core"], {}, {"consumer": "right-pad", "provider": "left"}),
    ],
)  # fmt: skip
def test_who_is_concerned_by_what_tools_loaders_and_libraries_say(error, frames, more, expected):
    assert who(error, frames, **more) == expected


@pytest.mark.parametrize(
    ("error", "frames", "more", "expected"),
    [
        ("TypeError: cannot pickle '_thread.lock' object", ["third.a", "py.multiprocessing.x"], {"installed": ["third", "left", "other"], "complete": True}, {"consumer": "third", "python": True, "left": ["left", "other"]}),
        (GONE, [], {"installed": ["left-extra", "other", "third", "fourth", "fifth"], "complete": True}, {"provider": "left-extra"}),
        (GONE, [], {"installed": ["right-pad", "other"], "complete": True}, {"provider": "left", "left": ["right-pad", "other"]}),
        (GONE, [], {"installed": ["a", "b", "c"], "complete": True}, {"provider": "left", "left": ["a", "b", "c"]}),
        (GONE, [], {"installed": ["a", "b", "c", "d"], "complete": True}, {"provider": "left"}),
        (GONE, [OWN], {"installed": ["a", "b", "c"], "complete": True}, {"provider": "left", "own": "/home/me/app.py"}),
        (GONE, [], {"installed": ["a", "b", "c"]}, {"provider": "left"}),
    ],
)  # fmt: skip
def test_who_is_left_where_few_are_installed(error, frames, more, expected):
    assert who(error, frames, **more) == expected


SITE_ROW = "AttributeError: 'Row' object has no attribute 'is_flat'"
LESS_ROW = "'Row' object has no attribute 'is_flat'"


@pytest.mark.parametrize(
    ("frames", "more", "expected"),
    [
        (["left_third.core"], {}, {"consumer": "left-third", "provider": "left"}),
        (["right_pad_x.core"], {"holders": {LESS_ROW: ["right-pad", "far"]}}, {"consumer": "right-pad-x", "provider": "right-pad"}),
        (["right_pad_x.core"], {"holders": {LESS_ROW: ["far"]}}, {"consumer": "right-pad-x", "provider": "far", "others": ["right-pad"]}),
        (["rightmod.core"], {"holders": {LESS_ROW: ["far", "near"]}, "words": {LESS_ROW: ["near"]}}, {"consumer": "right-pad", "provider": "near"}),
        (["rightmod.core"], {"words": {LESS_ROW: ["near"]}}, {"consumer": "right-pad", "provider": "near"}),
        (["rightmod.core"], {"words": {LESS_ROW: ["near", "far"]}}, {"consumer": "right-pad"}),
        ([OWN], {"words": {LESS_ROW: ["near"]}}, {"own": OWN}),
    ],
)  # fmt: skip
def test_whose_a_class_is_say_its_word_and_what_the_consumer_is_called_after(frames, more, expected):
    found = who(SITE_ROW, frames, **more)

    assert {name: value for name, value in found.items() if name != "inside"} == expected


def test_the_failing_line_and_its_imports_say_who_may_be_the_other_side():
    error, line = (
        "TypeError: unsupported operand type(s) for +: 'frozenset' and 'list'",
        "rightmod.core: return PADS + [x]",
    )
    imports = {"rightmod.core": {"PADS": "left.words", "os": "os", "third": "third"}}
    more = {"installed": ["right-pad", "left", "third", "a", "b", "c"], "complete": True, "imports": imports}

    assert who(error, [line], **more) == {"consumer": "right-pad", "provider": "left"}
    assert who(error, [line.replace("PADS", "x")], **more) == {"consumer": "right-pad", "left": ["left", "third"]}


def test_a_file_of_one_s_own_is_of_no_distribution_unless_it_has_the_name_of_one():
    own = "ImportError: cannot import name 'pad' from 'helpers' (/home/me/helpers.py)"

    assert who(own, [OWN]) == {"own": OWN}
    assert who(own.replace("helpers", "rightmod"), [OWN])["provider"] == "right-pad"
    assert who(own.replace("/home/me", "/venv/lib/site-packages"), [OWN])["provider"] == "helpers"


def test_an_import_name_of_several_distributions_names_them_all_where_it_is_not_known_what_is_installed():
    roots = {"left": ["left", "left-api"]}
    (clue, *_) = clues(read(MISS), {})

    assert parties(clue, Names(WORDS, (), None, STANDARD, roots), {}).alike == ["left-api"]
    assert parties(clue, Names(WORDS, ["left-api"], None, STANDARD, roots), {}).provider == "left-api"
