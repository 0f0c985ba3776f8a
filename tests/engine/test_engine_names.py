"""Whose a name is: by what is installed, by families, and by names that are alike."""

import pytest

from envdoctor.engine.names import Names
from envdoctor.linker.standard_library import Standard

WORDS = {"imports": {"rightmod": "right-pad"}, "families": {"left": ["left-cpu", "left-gpu"]}}
STANDARD = Standard((3, 12))


@pytest.mark.parametrize(
    ("name", "installed", "expected"),
    [
        ("left", ["left", "left-gpu"], "left"),
        ("left", ["left-gpu"], "left-gpu"),
        ("left", ["other"], None),
        ("other", ["other"], "other"),
    ],
)
def test_a_member_of_the_family_is_the_distribution(name, installed, expected):
    assert Names(WORDS, installed, None, STANDARD).present(name) == expected


@pytest.mark.parametrize(
    ("module", "installed", "expected"),
    [
        ("widget.core", ["widget"], "widget"),
        ("widget.core", ["python-widget", "gadget"], "python-widget"),
        ("widget.core", ["gadget"], "widget"),
        ("rightmod.core", ["gadget"], "right-pad"),
    ],
)
def test_a_module_is_of_the_distribution_that_is_called_like_it(module, installed, expected):
    assert Names(WORDS, installed, None, STANDARD).distribution(module) == expected


MORE = {
    "imports": {"rightmod": "right-pad", "none": None, "ns.cloud.*": "ns-cloud-*", "ns.exact": "ns-exact", "left": "left"},
    "families": {"left": ["left-cpu", "left-gpu"]}, "plugins": {"left": "left-*", "core": "*-for-core"},
    "symbols": {"_ZN4left": "left", "_ZN4left5inner": "inner", "Py": "python", "GLIBC": "system"},
    "voices": {"^stanza \\w+ refused": "left", "refused": "other"},
}  # fmt: skip


def known(*installed, provided=None, roots=None, library=STANDARD):
    return Names(MORE, installed, provided, library, roots)


@pytest.mark.parametrize(
    ("module", "names", "expected"),
    [
        ("", known(), None), ("json.decoder", known(), None), ("json", known("json"), None), ("none", known("none"), None),
        ("none.core", known(), "none"), ("json", known(provided={"json": ["other"]}), "other"), ("left.core", known("left-gpu"), "left-gpu"),
        ("left.core", known("left-cpu", "left-gpu"), "left-cpu"), ("ns.cloud.big_store", known(), "ns-cloud-big-store"),
        ("ns.cloud.store_v1", known(), "ns-cloud-store"), ("ns.exact.deep.er", known(), "ns-exact"), ("ns.other", known(), "ns"),
        ("Some_Mod.x", known(), "some-mod"), ("top.sub", known(provided={"top": ["a", "b"]}), "top"), ("top.sub", known(provided={"top": ["a", "top"]}), "top"),
        ("top.sub", known(provided={"top": ["To.p", "a"]}), "To.p"), ("top.sub", known(provided={"top": ["a", "b"], "top.sub": ["b"]}), "b"),
        ("top.sub", known(roots={"top": ["wheel"]}), "wheel"), ("wid", known("python-wid"), "wid"), ("widg", known("python-widg"), "python-widg"),
        ("widg", known("python-widg", "widg-extra"), "widg"), ("py_widget", known("pywidget"), "pywidget"), ("a.b", known("a-b"), "a-b"),
        ("top", known("other", roots={"top": ["wheel", "other"]}), "other"), ("top", known(roots={"top": ["wheel", "other"]}), "wheel"),
        ("widget", known("widg"), "widg"), ("widget", known("wid"), "widget"), ("widg", known("python-widg", provided={"x": ["y"]}), "widg"),
    ],
)  # fmt: skip
def test_the_distribution_of_a_module(module, names, expected):
    assert names.distribution(module) == expected


@pytest.mark.parametrize(
    ("word", "names", "expected"),
    [
        ("rightmod", known(), "right-pad"), ("Right_Pad", known(), "right-pad"), ("left", known("left-gpu"), "left-gpu"), ("left", known(), "left"),
        ("strange", known(), None), ("Strange", known("strange"), "strange"), ("left-cpu", known(), None), ("root", known(roots={"root": ["wheel"]}), "wheel"),
        ("wheel", known(roots={"root": ["wheel"]}), "wheel"), ("top", known(provided={"top": ["a", "b"]}), "a"), ("none", known(), None),
    ],
)  # fmt: skip
def test_what_a_word_means(word, names, expected):
    assert names.known(word) == expected


@pytest.mark.parametrize(
    ("symbol", "names", "owner"),
    [
        ("_ZN4left3padEv", known(), "left"), ("__ZN4left3padEv", known(), "left"), ("_ZN4left5inner3padEv", known(), "inner"),
        ("_ZNK5outerN4left3padE", known(), "left"), ("PyFoo", known(), "python"), ("GLIBC_2.34", known(), "system"), ("_ZN5other", known(), None),
        ("_ZN4left3padEv", known("left-cpu"), "left-cpu"), ("xPy", known(), None), ("_PyFoo", known(), None), ("__Py", known(), None),
    ],
)  # fmt: skip
def test_whose_symbol_it_is(symbol, names, owner):
    assert names.symbol(symbol) == owner


@pytest.mark.parametrize(
    ("consumer", "provider", "names", "expected"),
    [
        ("third", "left", known(), ["left-third"]), ("third", "core", known(), ["third-for-core"]), ("third", "other", known(), []),
        (None, "left", known(), []), ("third", None, known(), []), ("third", "left", known("x"), []), ("left-third", "left", known(), []),
        ("rightmod", "left", known(), []),
    ],
)  # fmt: skip
def test_how_what_extends_another_may_be_called(consumer, provider, names, expected):
    assert names.called(consumer, provider) == expected


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("left-third", known(), "left"), ("left-", known(), None), ("left", known(), None), ("x-for-core", known(), "core"),
        ("left-third", known("other"), None), ("left-third", known("left-gpu"), "left-gpu"), ("x-left-third", known(), None),
    ],
)  # fmt: skip
def test_what_a_distribution_extends_by_its_name(name, names, expected):
    assert names.extended(name) == expected


@pytest.mark.parametrize(
    ("module", "names", "expected"),
    [
        ("top.x", known("top", provided={"top": ["top", "b"]}), ["top", "b"]), ("top", known(provided={"top": ["top"]}), []),
        ("top", known(provided={"top": ["a", "b"]}), []), ("left", known("left", "left-gpu"), ["left", "left-gpu"]), ("left", known("left"), []),
        ("rightmod", known("rightmod", "right-pad"), ["rightmod", "right-pad"]), ("strange", known(), []),
    ],
)  # fmt: skip
def test_several_that_bring_the_same_module(module, names, expected):
    assert names.rivals(module) == expected


def test_whose_words_and_whose_names_they_are():
    names = known()
    assert [names.speaker(text) for text in ("stanza x refused", "it refused", "fine")] == ["left", "other", None]
    assert [names.standard(one) for one in ("json", "json.decoder", "left", "", "distutils")] == [
        True,
        True,
        False,
        False,
        True,
    ]
    assert known(provided={"json": ["other"]}).standard("json.decoder") is False
    without = known(library=None)
    assert (without.standard("json"), without.method("str", "x"), without.moved("distutils")) == (False, None, None)
    assert names.moved("distutils") == ("removed", "3.12")
    assert names.moved("nowhere") is names.method("", "x") is names.method("Nobody", "x") is None
