"""Attributes of objects of no known class, by words that a release of the provider has lost: each case is run."""

import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project

#: The shipped history says that pillow lost ``FreeTypeFont.getsize`` after 9.5.0.
PILLOW = {"PIL/__init__.py": "", "PIL/ImageFont.py": "class FreeTypeFont:\n    def getbbox(self, text): return 1\n"}
OLD = {**PILLOW, "PIL/ImageFont.py": PILLOW["PIL/ImageFont.py"] + "    def getsize(self, text): return 1\n"}
REFUSING = {**PILLOW, "PIL/ImageFont.py": PILLOW["PIL/ImageFont.py"]
            + "    def getsize(self, text):\n        '''Gone.'''\n        raise AttributeError('it is gone')\n"}  # fmt: skip
COMPILED = {"PIL/_core.abi3.so": b"\x7fELF\0getsize\0", "PIL/ImageFont.py": "from PIL._core import FreeTypeFont\n"}
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
    "its own field": (
        "class Own: pass\ndef size(font):\n    own = Own(); own.getsize = len\n    return own.getsize('a')", PILLOW, []
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "provider", "expected"), CASES.values(), ids=list(CASES))
def test_what_nothing_else_can_have(tmp_path, source, provider, expected):
    folder = env.write(tmp_path, "10.0.0", pillow=provider)
    env.write(tmp_path, user={"user.py": f"from PIL import ImageFont\n{source}\n"})
    assert [one for one in env.missing(folder) if one[0] != "info"] == expected
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


def test_what_the_provider_has_compiled_or_takes_from_another_is_not_lost(tmp_path):
    """Certificates of cryptography moved into its compiled module, the mappings of aiohttp into multidict."""
    source = "from PIL import ImageFont\ndef size(font):\n    return font.getsize('a')\n"
    env.write(tmp_path, user={"user.py": source})
    env.write(tmp_path, "10.0.0", pillow=PILLOW)
    assert env.missing(tmp_path) == FOUND
    fonts = f"{PILLOW['PIL/ImageFont.py']}class ImageFont: pass\nclass TransposedFont: pass\n"
    env.write(tmp_path, "10.0.0", pillow={**PILLOW, **COMPILED, "PIL/ImageFont.py": fonts})
    assert env.missing(tmp_path) == FOUND  # the class is one in source, which has it no more
    env.write(tmp_path, "10.0.0", pillow={**COMPILED, "PIL/__init__.py": ""})
    assert [one for one in env.missing(tmp_path) if one[3] == ".getsize"] == []

    moved = {"PIL/__init__.py": "", "PIL/ImageFont.py": "from fonts import Font\n"}
    env.write(tmp_path / "moved", "10.0.0", pillow=moved)
    env.write(tmp_path / "moved", user={"user.py": source})
    env.write(tmp_path / "moved", fonts={"fonts.py": "class Font:\n    def getsize(self, text): return 1\n"})
    assert env.missing(tmp_path / "moved") == []


WEB = "import os\nfrom selenium import webdriver\n\ndef driver():\n    return webdriver.Remote(os.environ['URL'])\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"main.py": WEB, "pages.py": "def login(page):\n    page.find_element_by_id('a')\n"}, ["pages.py:2"]),
        ({"main.py": WEB, "pages.py": "def login(page):\n    page.find_element('id', 'a')\n"}, []),
        ({"main.py": "", "pages.py": "def login(page):\n    page.find_element_by_id('a')\n"}, []),
        ({"main.py": WEB, "pages.py": "class P:\n    def find_element_by_id(self, x): pass\nP().find_element_by_id('')\n"}, []),
        ({"main.py": WEB, "pages.py": "def login(page):\n    page.application_cache\n"}, []),
        ({"main.py": WEB + "def login(page):\n    page.application_cache\n"}, ["main.py:7"]),
    ],
)  # fmt: skip
def test_a_file_of_a_project_may_leave_the_import_to_another(tmp_path, files, expected):
    """The history of selenium was read at 3.141.0 and 4.27.1: of 4.4.3, between them, its own source says what it lost."""
    drivers = {
        "selenium/__init__.py": "",
        "selenium/webdriver/__init__.py": "class WebDriver:\n    def get(self, url): pass\nRemote = WebDriver\n",
    }
    env.write(tmp_path, "4.4.3", selenium=drivers)
    beside = Beside(Project.of({name: text.encode() for name, text in files.items()}))
    found = link(scan([str(tmp_path)]).packages.values(), Target((3, 12), "linux"), lambda _doing: None, beside).missing
    assert [f"{one.file}:{one.line}" for one in found if one.kind == "lost"] == expected


def test_a_release_between_two_that_were_read_that_still_has_the_name_is_not_blamed(tmp_path):
    kept = "class WebDriver:\n    def find_element_by_id(self, name): pass\nRemote = WebDriver\n"
    env.write(tmp_path, "4.2.0", selenium={"selenium/__init__.py": "", "selenium/webdriver.py": kept})
    beside = Beside(Project.of({"main.py": f"{WEB}def login(page):\n    page.find_element_by_id('a')\n".encode()}))
    found = link(scan([str(tmp_path)]).packages.values(), Target((3, 12), "linux"), lambda _doing: None, beside).missing
    assert [one for one in found if one.kind == "lost"] == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", FOUND),
        ("import typing\nif typing.TYPE_CHECKING: import fonts\n", []),
        ("def use():\n    from nobody.has import it\n", []),
    ],
)
def test_an_import_for_a_type_checker_or_of_what_is_not_here_says_whose_the_object_may_be(tmp_path, more, expected):
    source = f"from PIL import ImageFont\ndef size(font):\n    return font.getsize('a')\n{more}"
    env.write(tmp_path, "10.0.0", pillow=PILLOW)
    env.write(
        tmp_path, user={"user.py": source}, fonts={"fonts.py": "class Font:\n    def getsize(self, text): pass\n"}
    )
    assert [one for one in env.missing(tmp_path) if one[3] == ".getsize"] == expected


def test_a_long_name_means_no_other_whatever_a_file_imports(tmp_path):
    source = f"{WEB}def login(page):\n    from nobody.has import it\n    page.find_element_by_id('a')\n"
    now = "class WebDriver:\n    def find_element(self, by, name): pass\nRemote = WebDriver\n"
    env.write(tmp_path, "4.3.0", selenium={"selenium/__init__.py": "", "selenium/webdriver.py": now})
    env.write(tmp_path, user={"user.py": source})
    assert [one[1:] for one in env.missing(tmp_path) if one[3][:1] == "."] == [("user", 8, ".find_element_by_id")]


def test_accessors_that_are_made_at_run_time_of_a_field_that_is_there_are_not_lost(tmp_path):
    """matplotlib makes ``get_edgecolors`` by a decorator that has the name of the field."""
    made = (
        "def aliases(kind): return kind\n@aliases\nclass PolyCollection:\n    names = {'edgecolor': ['edgecolors']}\n"
    )
    source = "import matplotlib\ndef colors(one):\n    return one.get_edgecolors()\n"
    env.write(tmp_path, "3.9.0", matplotlib={"matplotlib/__init__.py": "", "matplotlib/collections.py": made})
    env.write(tmp_path, user={"user.py": source})
    assert env.missing(tmp_path) == []
    env.write(tmp_path, "3.9.0", matplotlib={"matplotlib/collections.py": "class PolyCollection: pass\n"})
    assert env.missing(tmp_path) == [("warning", "user", 3, ".get_edgecolors")]


def test_who_requires_releases_without_the_word_means_something_else(tmp_path):
    """ipykernel asks its shell for ``input_splitter``, and requires releases of ipython that have lost another one."""
    source = "from PIL import ImageFont\ndef size(font):\n    return font.getsize('a')\n"
    env.write(tmp_path, "10.0.0", pillow=PILLOW)
    for line, expected in ("pillow>=9", FOUND), ("pillow>=9.6", []):
        env.write(tmp_path, user={"user.py": source})
        metadata = f"Metadata-Version: 2.1\nName: user\nVersion: 1.0\nRequires-Dist: {line}\n\n"
        (tmp_path / "user-1.0.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
        assert env.missing(tmp_path) == expected
