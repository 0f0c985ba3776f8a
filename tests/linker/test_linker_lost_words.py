"""Attributes of objects of no known class, by words that a release of the provider has lost: each case is run."""

import subprocess
import sys

import linker_environment as env
import pytest

#: The shipped history says that pillow lost ``FreeTypeFont.getsize`` after 9.5.0.
PILLOW = {"PIL/__init__.py": "", "PIL/ImageFont.py": "class FreeTypeFont:\n    def getbbox(self, text): return 1\n"}
OLD = {**PILLOW, "PIL/ImageFont.py": PILLOW["PIL/ImageFont.py"] + "    def getsize(self, text): return 1\n"}
REFUSING = {**PILLOW, "PIL/ImageFont.py": PILLOW["PIL/ImageFont.py"]
            + "    def getsize(self, text):\n        '''Gone.'''\n        raise AttributeError('it is gone')\n"}  # fmt: skip
RUN = "import sys; sys.path.insert(0, sys.argv[1])\nfrom PIL import ImageFont; import user\nuser.size(ImageFont.FreeTypeFont())"
FOUND = [("warning", "user", 3, ".getsize")]

CASES = {
    "of an argument": ("def size(font):\n    return font.getsize('a')", PILLOW, FOUND),
    "without a call": ("def size(font):\n    return font.getsize", PILLOW, FOUND),
    "of what is held": ("def size(font):\n    return [font][0].getsize('a')", PILLOW, FOUND),
    "of a provider whose method only raises": ("def size(font):\n    return font.getsize('a')", REFUSING, FOUND),
    "of a provider that has it": ("def size(font):\n    return font.getsize('a')", OLD, []),
    "of the other method": ("def size(font):\n    return font.getbbox('a')", PILLOW, []),
    "asked for before": ("def size(font):\n    return hasattr(font, 'getsize') and font.getsize('a')", PILLOW, []),
    "caught": ("def size(font):\n    try: return font.getsize('a')\n    except AttributeError: return 1", PILLOW, []),
    "in place of the new one": (
        "def size(font):\n    try: return font.getbbox('a')\n    except AttributeError: return font.getsize('a')",
        PILLOW, [],
    ),
    "by the version": (
        "import PIL\ndef size(font):\n    if getattr(PIL, '__version__', '10') < '10': return font.getsize('a')", PILLOW, []
    ),
    "of a module": ("import os.path\ndef size(font):\n    return os.path.getsize(__file__)", PILLOW, []),
    "of its own class": (
        "class Own:\n    def getsize(self, text): return 1\ndef size(font):\n    return Own().getsize('a')", PILLOW, []
    ),
    "a field of its own": (
        "class Own: pass\ndef size(font):\n    own = Own(); own.getsize = len\n    return own.getsize('a')", PILLOW, []
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "provider", "expected"), CASES.values(), ids=list(CASES))
def test_what_nothing_else_can_have(tmp_path, source, provider, expected):
    folder = env.write(tmp_path, "10.0.0", pillow=provider)
    env.write(tmp_path, user={"user.py": f"from PIL import ImageFont\n{source}\n"})
    assert env.missing(folder) == expected
    done = subprocess.run([sys.executable, "-c", RUN, folder], capture_output=True, text=True, check=False)
    assert ("AttributeError" in done.stderr) is bool(expected), done.stderr


def test_another_distribution_that_is_imported_may_have_made_the_object(tmp_path):
    source = "from PIL import ImageFont\nimport other\ndef size(font):\n    return font.getsize('a')\n"
    env.write(tmp_path, "10.0.0", pillow=PILLOW)
    env.write(tmp_path, user={"user.py": source}, other={"other.py": "def getsize(text): pass\n"})
    assert env.missing(tmp_path) == []


def test_who_does_not_import_the_provider_uses_something_else(tmp_path):
    env.write(tmp_path, "10.0.0", pillow=PILLOW)
    env.write(tmp_path, user={"user.py": "def size(font):\n    return font.getsize('a')\n"})
    assert env.missing(tmp_path) == []


def test_a_release_that_had_the_name_still_is_not_blamed(tmp_path):
    env.write(tmp_path, "9.5.0", pillow=PILLOW)
    env.write(tmp_path, user={"user.py": "from PIL import ImageFont\ndef size(font):\n    return font.getsize('a')\n"})
    assert env.missing(tmp_path) == []


def test_an_object_of_the_standard_library_has_the_word_too(tmp_path):
    """anyio moved ``SocketStream.setsockopt``, but what is asked for may be of a socket, which nobody has to import."""
    env.write(tmp_path, "3.7.0", anyio={"anyio/__init__.py": ""})
    source = "import anyio\ndef keep(one):\n    one.setsockopt(1, 2, 3)\n    one.getsockname()\n"
    env.write(tmp_path, user={"user.py": source})
    assert env.missing(tmp_path) == []
