"""What is missing behind conditions that ask for installed releases: each case is run."""

import subprocess
import sys

import linker_environment as env
import pytest

PROVIDER = "__version__ = '2.1.0'\ndef made(one, limit=0): return lambda _: one\n"
WARNED = [("warning", "user", "b.old")]
CASES = {
    "a newer release": ("if version >= Version('2.0'):\n    x = b.old", WARNED),
    "an older release": ("if version < Version('2.0'):\n    x = b.old", []),
    "the other branch": ("if version < Version('2.0'):\n    x = 1\nelse:\n    x = b.old", WARNED),
    "a decorator under an older release": ("if version < Version('2.0'):\n    @b.old\n    def g(): pass", []),
    "a decorator under a newer release": ("if version >= Version('2.0'):\n    @b.old\n    def g(): pass", WARNED),
    "a decorator in the other branch": (
        "if version < Version('2.0'):\n    pass\nelse:\n    @b.made(1)\n    @b.old\n    class G: pass", WARNED
    ),
    "a part of a version in a function": (
        "def f():\n    b_major = int(b.__version__.split('.')[0])\n    if b_major < 2: return b.old\nf()", []
    ),
    "what follows a way out": (
        "def f():\n    if version < Version('2.0'): return 1\n    return b.old\nf()", WARNED
    ),
    "what follows no way out": (
        "def f():\n    if version < Version('2.0'): print()\n    return b.old\nf()", WARNED
    ),
    "a condition that nobody knows": ("import os\nif os.environ.get('B_VERSION'):\n    x = b.old", []),
    "two, of which one is not known": (
        "import os\nif version >= Version('2.0'):\n    if os.environ.get('B_VERSION'):\n        x = b.old", []
    ),
    "a function that nobody can follow": (
        "import os\ndef wanted():\n    if os.environ.get('B_NEW'): return 1\nif wanted():\n    x = b.old", []
    ),
    "a name of the function": (
        "def f(version):\n    if version >= Version('2.0'): return b.old\nf(Version('1.0'))", []
    ),
    "an expression that decides too": ("if version >= Version('2.0'):\n    x = b.old if b.no_version else 1", []),
    "asked for first": ("if version >= Version('2.0'):\n    x = hasattr(b, 'old') and b.old", []),
    "what a build script alone makes true": (
        "try: _B_SETUP_\nexcept NameError: import builtins; builtins._B_SETUP_ = False\nif not _B_SETUP_:\n    x = b.old",
        [("error", "user", "b.old")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=list(CASES))
def test_what_is_behind_a_condition(tmp_path, source, expected):
    env.write(tmp_path, "2.1.0", b={"b.py": PROVIDER + "no_version = ''\n"})
    head = "import b\nfrom packaging.version import Version\nversion = Version(b.__version__)\n"
    env.write(tmp_path, "24.0", packaging={"packaging/__init__.py": "", "packaging/version.py": VERSIONS})
    env.write(tmp_path, user={"user.py": f"{head}{source}\n"})

    told = [(one.severity, one.consumer, one.asked) for one in env.linked(tmp_path).missing if one.severity != "info"]

    done = subprocess.run(
        [sys.executable, "-c", "import user"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told == expected
    assert ("AttributeError" in done.stderr) is bool(expected), done.stderr


VERSIONS = """
class Version:
    def __init__(self, text): self.parts = tuple(map(int, text.split(".")))
    def __ge__(self, other): return self.parts >= other.parts
    def __lt__(self, other): return self.parts < other.parts
"""


#: How a module comes by a name, and who is asked for what it does not have with Python 3.7 and with 3.12.
ALTERNATIVES = {
    "what is there": ("import b as it", "import nowhere as it", "b", "b"),
    "what is not": ("import nowhere as it", "import b as it", "b", "b"),
    "what a newer Python has": ("import importlib.metadata as it", "import b as it", "b", ""),
    "what an older Python had": ("import asynchat as it", "import b as it", "", "b"),
    "a name that a newer Python has": ("from typing import Protocol as it", "from b import one as it", "b.one", ""),
}


@pytest.mark.parametrize(("first", "other", "old", "new"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_a_name_is_what_the_import_that_succeeds_binds(tmp_path, first, other, old, new):
    env.write(tmp_path, b={"b.py": "class one:\n    pass\n"})
    source = f"try:\n    {first}\nexcept ImportError:\n    {other}\nit.vanished()\n"
    env.write(tmp_path, user={"user.py": source})
    for minor, expected in (((3, 7), old), ((3, 12), new)):
        asked = [one for severity, _, _, one in env.missing(tmp_path, minor) if severity != "info"]
        assert asked == ([f"{expected}.vanished"] if expected else []), minor
