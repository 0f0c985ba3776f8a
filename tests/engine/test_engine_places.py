"""Whose code a frame or a file is: of a distribution, of Python, of the user."""

import pytest
from engine.rule_bases import snapshot

from envdoctor.engine.names import Names
from envdoctor.engine.places import of_path, places
from envdoctor.linker.standard_library import Standard
from envdoctor.probes.error_text import read

WORDS = {"imports": {"rightmod": "right-pad", "ns.cloud": "ns-cloud"}, "stands_in": {"distutils": "stand-in"}}
NAMES = Names(WORDS, snapshot({"left": "1.0", "stand-in": "1.0"}).packages, None, Standard((3, 12)))
SITE = "/venv/lib/python3.11/site-packages"


def owner(path, names=NAMES, module=None):
    text = (
        f'Traceback (most recent call last):\n  File "{path}", line 1, in {module or "<module>"}\n    x\nValueError: y'
    )
    (failure,) = read(text).failures
    return [(one.distribution, one.standard, one.own) for one in places(failure, names)]


@pytest.mark.parametrize(
    ("path", "distribution", "standard"),
    [
        (f"{SITE}/left/core.py", "left", False),
        (f"{SITE}/rightmod/core.py", "right-pad", False),
        (f"{SITE}/stranger.py", "stranger", False),
        ("/usr/lib/python3.11/json/decoder.py", None, True),
        ("/home/u/project/train.py", None, False),
        ("/home/u/left/train.py", None, False),
        (".../rightmod/core.py", "right-pad", False),
        (".../project/core.py", None, False),
        (".../json/decoder.py", None, True),
        ("left/core.py", "left", False),
        ("stranger/core.py", None, False),
        (".../stranger/core.py", "stranger", False),
        ("C:\\x\\train.py", None, False),
        ("~/stranger/core.py", None, False),
        ("../left/core.py", "left", False),
        (".../stranger.py", None, False),
        (".../stranger/__init__.py", "stranger", False),
        (".../Models/core.py", None, False),
        ("/usr/lib/python3.11/distutils/core.py", None, True),
        ("/tmp/pip-install-x1/odd_Name_0123456789abcdef0123456789abcdef/setup.py", "odd-name", False),
        ("/tmp/pip-install-x1/odd/setup.py", "odd", False),
        ("/tmp/pip-req-build-x1/setup.py", None, False),
        ("/home/u/json/decoder.py", None, False),
    ],
)
def test_a_frame_is_of_a_distribution_of_python_or_of_the_user(path, distribution, standard):
    assert owner(path) == [(distribution, standard, distribution is None and not standard)]


def test_frames_come_innermost_first_and_those_without_a_file_not_at_all():
    text = (
        "Traceback (most recent call last):\n"
        f'  File "{SITE}/left/a.py", line 1, in f\n  File "<string>", line 1, in g\n'
        f'  File "{SITE}/rightmod/b.py", line 1, in h\nValueError: y'
    )
    (failure,) = read(text).failures

    assert [one.distribution for one in places(failure, NAMES)] == ["right-pad", "left"]
    assert places(None, NAMES) == []


@pytest.mark.parametrize(
    ("path", "distribution"),
    [
        (f"{SITE}/left/_core.cpython-311-x86_64-linux-gnu.so", "left"),
        (f"{SITE}/rightmod.libs/libx-1234.so.1", "right-pad"),
        (f"{SITE}/ns.cloud/x.so", "ns-cloud"),
        (f"{SITE}\\left\\x.pyd", "left"),
        ("/opt/left/libx.so", "left"),
        ("/opt/rightmod.abi3.so", "right-pad"),
        ("/opt/stranger/libx.so", None),
        (".../stranger/libx.so", "stranger"),
        ("~/stranger/libx.so", None),
        (".../libx.so", None),
        (".../1x/libx.so", None),
    ],
)
def test_a_shared_library_is_of_the_directory_that_holds_it(path, distribution):
    assert of_path(path, NAMES) == distribution
