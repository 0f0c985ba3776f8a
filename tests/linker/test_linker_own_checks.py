"""What a module checks when it is imported, and refuses: each case is imported, too."""

import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.binaries import Binaries
from envdoctor.linker.branches import Target
from envdoctor.linker.environment_names import Environment
from envdoctor.linker.findings import findings
from envdoctor.linker.link import link
from envdoctor.linker.loader import Machine
from envdoctor.linker.standard_library import Standard
from envdoctor.probes.distributions import scan

B = {
    "b/__init__.py": "from b.told import __version__\nversion_info = (1, 26, 4)\n",
    "b/told.py": "__version__ = '1.26.4'\n",
}
VERSION = {"p/__init__.py": "", "p/version.py": "class Version:\n    def __init__(self, text):\n        self.row = [int(one) for one in text.split('.')]\n"
           "    def __lt__(self, other):\n        return self.row < other.row\n"}  # fmt: skip
DIGITS = """
def digits(text):
    row = []
    for part in text.split('.'):
        if part.isdigit():
            row.append(int(part))
        elif part.find('rc') != -1:
            row.append(int(part.split('rc')[0]) - 1)
    return row
"""
HEAD = "def head(module):\n    return tuple(map(int, module.__version__.split('.')[:2]))\n"
#: What ``a`` does when it is imported, and the requirement that it makes; nothing where it imports.
CASES = {
    "too new, as a tuple": (f"import b\n{HEAD}if head(b) > (1, 24):\n    raise ImportError('at most 1.24')", "b<1.25"),
    "in a function that is called": (
        (f"{HEAD}def check_all():\n    import b\n    got = head(b)\n    if got < (1, 21):\n        raise ImportError\n"
        "    elif got > (1, 24):\n        raise ImportError('no')\ncheck_all()"),
        "b<1.25",
    ),
    "an assertion": (
        f"import b\n{DIGITS}assert digits(b.__version__) >= digits('2.0rc1'), f'too old: {{b.__version__}}'", "b>=2",
    ),
    "between two": (
        (f"import b\n{DIGITS}low, high, own = digits('1.0'), digits('1.20'), digits(b.__version__)\n"
        "assert (own >= low and own <= high), 'other'"),
        "b<1.21",
    ),
    "a class of versions": (
        "import b\nfrom p.version import Version\nif Version(b.__version__) < Version('2.0'):\n    raise RuntimeError('old')",
        "b>=2.0",
    ),
    "by name of the distribution": (
        ("from importlib.metadata import version\nfrom p.version import Version\n"
        "if Version(version('b')) < Version('2.0'):\n    raise RuntimeError('old')"),
        "b>=2.0",
    ),
    "in a loop": (
        (f"import importlib\n{DIGITS}for name, least in [('sys', '0'), ('b', '1.30')]:\n    if name == 'sys':\n        continue\n"
        "    if digits(importlib.import_module(name).__version__) < digits(least):\n        raise ImportError(name)"),
        "b>=1.30",
    ),
    "where a try has imported it": (
        f"{HEAD}try:\n    import b\nexcept ImportError:\n    pass\nelse:\n    if head(b) < (2, 0):\n        raise ImportError('old')",
        "b>=2.0",
    ),
    "a constant of the other": ("import b\nif b.version_info < (1, 30):\n    raise ImportError('old')", "b>=1.30"),
    "Python": ("import sys\nPY = sys.version_info[:2]\nif PY >= (3, 6):\n    raise RuntimeError('not for this')", "python<3.6"),
    "kept under a name": (
        ("import b, sys\nfrom p.version import Version\nif sys.version_info < (3, 6):\n    raise RuntimeError\n"
        "got = Version(b.__version__)\nlow = Version('1.0')\nfine = low < got < Version('1.20')\nif not fine:\n    raise RuntimeError"),
        "b<1.20",
    ),
    "where something else may be missing": (
        (f"import b\n{HEAD}try:\n    import nowhere\nexcept ImportError:\n    raise ImportError('install more')\n"
        "if head(b) > (1, 2):\n    raise ImportError('no')"),
        "not asked",
    ),
    "it fits": (f"import b\n{HEAD}if head(b) > (1, 26):\n    raise ImportError", None),
    "it is caught": (f"import b\n{HEAD}try:\n    if head(b) > (1, 2):\n        raise ImportError\nexcept ImportError:\n    b = None", None),
    "raised again": (
        f"import b\n{HEAD}try:\n    if head(b) > (1, 2):\n        raise ImportError('no')\nexcept ImportError:\n    raise", "b<1.3",
    ),
    "only where something else is so": (f"import b, os\n{HEAD}if not os.sep and head(b) > (1, 2):\n    raise ImportError", None),
    "a function that nobody calls": (f"import b\n{HEAD}def check():\n    if head(b) > (1, 2):\n        raise ImportError", None),
    "not installed": (f"{HEAD}try:\n    import nowhere\nexcept ImportError:\n    pass\nelse:\n    if head(nowhere) < (9,):\n        raise ImportError", None),
    "what has no version": ("import b, os\nif os.environ.get('A_MODE') == 'none':\n    raise ImportError('mode')", None),
    "suppressed": (f"import b, contextlib\n{HEAD}with contextlib.suppress(ImportError):\n    if head(b) > (1, 2):\n        raise ImportError", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "asked"), CASES.values(), ids=list(CASES))
def test_what_a_module_refuses(tmp_path, source, asked):
    env.write(tmp_path, "1.26.4", a={"a.py": source + "\n"}, b=B, p=VERSION)
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    wanted = [("error", "check", asked)] if asked and asked != "not asked" else []
    assert [(one.severity, one.kind, one.asked) for one in found if one.kind == "check"] == wanted
    done = subprocess.run([sys.executable, "-c", "import a"], cwd=tmp_path, check=False, capture_output=True)
    assert (done.returncode != 0) is bool(asked), done.stderr


def test_a_release_that_only_metadata_tells(tmp_path):
    dynamic = {"b/__init__.py": "from importlib.metadata import version\n__version__ = version(__name__)\n"}
    env.write(
        tmp_path, "1.26.4", a={"a.py": f"import b\n{HEAD}if head(b) < (2, 0):\n    raise ImportError\n"}, b=dynamic
    )
    assert env.missing(tmp_path) == [("error", "a", 5, "b>=2.0")]


LIBRARY = """
import sys as _sys
from ctypes.util import find_library as _find
try:
    for _name in ('NAME', 'NAME-2.dll'):
        _name = _find(_name)
        if _name is not None:
            break
    else:
        raise OSError('library not found')
except OSError:
    if _sys.platform == 'win32':
        _name = 'NAME.dll'
    else:
        raise
"""


def with_libraries(folder):
    natives = Binaries(Machine(sys.executable, sys.base_prefix), {}, {}, {})
    target = Target(sys.version_info[:2], sys.platform)
    return link(scan([str(folder)]).packages.values(), target, lambda _doing: None, natives=natives).missing


@pytest.mark.skipif(sys.platform != "linux", reason="shared libraries of Linux")
def test_a_submodule_for_another_system_lacks_no_library(tmp_path):
    source = (
        "from ctypes.util import find_library\nif not find_library('Surely'):\n    raise ImportError('no Surely')\n"
    )
    env.write(tmp_path, a={"a/__init__.py": "", "a/mac.py": source})
    assert [(one.severity, one.kind) for one in with_libraries(tmp_path)] == []


@pytest.mark.skipif(sys.platform != "linux", reason="shared libraries of Linux")
@pytest.mark.parametrize(("name", "asked"), [("surely-nowhere", ["libsurely-nowhere.so"]), ("c", [])])
def test_a_library_that_a_module_looks_for_by_name(tmp_path, name, asked):
    env.write(tmp_path, a={"a.py": LIBRARY.replace("NAME", name)})
    found = with_libraries(tmp_path)
    assert [(one.severity, one.kind, one.asked) for one in found] == [("error", "library", one) for one in asked]
    done = subprocess.run([sys.executable, "-c", "import a"], cwd=tmp_path, check=False, capture_output=True)
    assert (done.returncode != 0) is bool(asked)


def test_what_is_said_of_it(tmp_path):
    source, _ = CASES["too new, as a tuple"]
    env.write(tmp_path, "1.26.4", a={"a.py": source + "\n"}, b=B)
    versions = {"a": "1.26.4", "b": "1.26.4"}
    linked = env.linked(tmp_path).missing
    (told,) = findings(linked, Environment(versions, "3.12", Standard((3, 12))))
    assert (told.rule, told.packages) == ("linked-version-refused", ["a", "b"])
    assert told.title == "a 1.26.4 refuses to be imported with b 1.26.4"
    assert "ImportError: at most 1.24" in told.why
    assert [one.requirement for one in told.remedies] == [None, "b<1.25"]
