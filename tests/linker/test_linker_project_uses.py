"""What a project's source, its notebooks and what was saved take of installed distributions."""

import json
import os
import pickle
import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.artifacts import of_files
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project

B = {"b/__init__.py": "here = 1\ndef f(x, *, y=1): pass\nclass K:\n    def m(self, one): pass\n", "b/sub.py": "x = 1\n"}


KNOWN = {
    "dotted": {
        "entries": [
            {"file": "**/*.yaml", "key": "_target_", "apart": []},
            {"file": "**/*.yaml", "key": "handlers.*.class", "apart": ["class", "level"]},
        ],
        "called": [{"files": ["**/*.py"], "within": "handlers", "keys": ["class", "()"], "apart": ["level"]}],
        "assigned": [{"files": ["**/settings.py"], "names": ["APPS", "BACKEND"]}],
        "keyed": [
            {"files": ["**/settings.py"], "keys": ["ENGINE", "class"]},
            {"files": ["**/*.py"], "keys": ["STORE"], "within": "b.sub"},
        ],
    }
}


def found(tmp_path, files, artifacts=(), known=KNOWN):
    """The findings beside an environment with ``b``: severity, file and line as shown, what is asked."""
    site = str(tmp_path / "site") if (tmp_path / "site").exists() else env.write(tmp_path / "site", b=B)
    beside = Beside(Project.of(files), of_files(artifacts)["found"])
    target = Target(sys.version_info[:2], sys.platform)
    missing = link(scan([site]).packages.values(), target, lambda _doing: None, beside, known).missing
    return [
        (one.severity, f"{one.file}:{one.line}" if one.line else one.file, one.asked)
        for one in missing
        if one.severity != "info"
    ]


CASES = {
    "a plain import": ({"run.py": "from b import here\nfrom b import gone"}, ("error", "run.py:2", "b.gone")),
    "an attribute": ({"run.py": "import b\nprint(b.gone(1))"}, ("error", "run.py:2", "b.gone")),
    "a submodule": ({"run.py": "import b.lost.more"}, ("error", "run.py:1", "b.lost.more")),
    "in a function": ({"run.py": "import b\ndef f():\n    b.gone"}, ("warning", "run.py:3", "b.gone")),
    "in a class": ({"run.py": "import b\nclass X(b.Gone): pass"}, ("error", "run.py:2", "b.Gone")),
    "where it is the program": (
        {"run.py": "import b\nif __name__ == '__main__':\n    b.gone"}, ("warning", "run.py:3", "b.gone")
    ),
    "with an option": ({"run.py": "import b, sys\nif sys.argv[1:]:\n    b.gone"}, ("warning", "run.py:3", "b.gone")),
    "for some releases": ({"run.py": "import b\nif b.VERSION > 2:\n    b.gone"}, ("error", "run.py:2", "b.VERSION")),
    "guarded": ({"run.py": "try:\n    from b import gone\nexcept ImportError:\n    gone = None"}, None),
    "in tests": ({"tests/test_it.py": "from b import gone"}, ("warning", "tests/test_it.py:1", "b.gone")),
    "a keyword": ({"run.py": "import b\nb.f(1, z=2)"}, ("warning", "run.py:2", "b.f")),
    "by position and by name": ({"run.py": "import b\nb.f(1, x=2)"}, ("warning", "run.py:2", "b.f")),
    "each once": ({"run.py": "import b\nb.f(1, y=2)\nb.K().m(one=1)"}, None),
    "a method": ({"run.py": "import b\nk = b.K()\nk.lost()"}, ("error", "run.py:3", "b.K().lost")),
    "a name that is bound again": ({"run.py": "import b\nk = b.K()\nk = 1\nk.lost"}, None),
    "by way of its own module": (
        {"app/__init__.py": "import b", "app/run.py": "from app import b\nb.gone"}, ("error", "app/run.py:2", "app.b.gone")
    ),
    "a relative import": ({"app/__init__.py": "", "app/run.py": "from . import lost\nfrom .other import x"}, None),
    "its own module that is lost": ({"run.py": "import helper\nhelper.gone", "helper.py": ""}, None),
    "from the directory above": (
        {"app/run.py": "from app.tool import x\nimport b\nb.gone", "app/tool.py": ""}, ("error", "app/run.py:3", "b.gone")
    ),
    "for elsewhere": ({"run.py": "import nowhere\nimport b\nb.gone"}, ("warning", "run.py:3", "b.gone")),
    "its own package of that name": ({"b/__init__.py": "", "run.py": "from b import mine\nimport b.thing"}, None),
    "a folder of that name": ({"b/data.py": "", "run.py": "from b import gone"}, ("error", "run.py:1", "b.gone")),
    "two files of a name": (
        {"x/run.py": "", "y/run.py": "import b\nb.gone"}, ("error", "y/run.py:2", "b.gone")
    ),
    "what Python cannot read": ({"run.py": "print 'b'\nimport b\nb.gone"}, None),
    "a script with the name of what it imports": (
        {"b.py": "import b\nb.here"}, ("error", "b.py:2", "b.here")
    ),
    "a script that takes of itself what it takes": (
        {"b.py": "from b import here"}, ("error", "b.py:1", "b.here")
    ),
    "beside a script of that name": (
        {"b.py": "x = 1", "run.py": "from b import x\ndef f():\n    from b import here"}, ("warning", "run.py:3", "b.here")
    ),
    "a name that nobody has beside a script of that name": ({"b.py": "import b\nb.nowhere"}, None),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=list(CASES))
def test_what_a_project_takes(tmp_path, files, expected):
    assert found(tmp_path, files) == ([expected] if expected else [])


@pytest.mark.parametrize("name", [one for one in CASES if CASES[one][1] and CASES[one][1][0] == "error"])
def test_an_error_is_a_script_that_fails(tmp_path, name):
    files, (_, place, _) = CASES[name]
    env.write(tmp_path / "site", b=B)
    for file, text in files.items():
        os.makedirs(tmp_path / os.path.dirname(file), exist_ok=True)
        (tmp_path / file).write_text(text)
    done = subprocess.run(
        [sys.executable, place.partition(":")[0]],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{tmp_path}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, name


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4})


def test_a_notebook_is_shown_by_cell_and_line(tmp_path):
    book = notebook("%matplotlib inline\nimport b", "!ls\nx = 1\nb.gone(x)", "b.K")
    assert found(tmp_path, {"nb.ipynb": book}) == [("error", "nb.ipynb cell 2 line 3", "b.gone")]


def test_a_notebook_that_installs_what_it_needs_is_not_sure(tmp_path):
    book = notebook("!pip install b==0.1", "import b\nb.gone")
    assert found(tmp_path, {"nb.ipynb": book}) == [("warning", "nb.ipynb cell 2 line 2", "b.gone")]


def saved(tmp_path, module, name):
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04c" + f"{module}\n{name}\n".encode() + b".")
    return str(path)


@pytest.mark.parametrize(
    ("module", "name", "severity"),
    [
        ("b", "K", None),
        ("b", "Lost", "error"),
        ("b.lost", "K", "error"),
        ("b.sub", "Yonder", "error"),
        ("nowhere", "K", None),
    ],
)
def test_a_pickle_names_what_it_would_import(tmp_path, module, name, severity):
    path = saved(tmp_path, module, name)
    assert found(tmp_path, {}, [path]) == ([(severity, path, f"{module}.{name}")] if severity else [])
    with open(path, "rb") as file:
        code = f"import pickle, sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); pickle.load(open({path!r}, 'rb'))"
        assert pickle.PROTO[0] == file.read(1)[0]
    failed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode != 0
    assert failed is bool(severity or module == "nowhere")


def test_a_provider_that_knows_where_a_module_went_may_load_it(tmp_path):
    env.write(tmp_path / "site", b={**B, "b/compat.py": "MOVED = {'b.lost': 'b.sub'}\n"})
    beside = Beside(None, of_files([saved(tmp_path, "b.lost", "K")])["found"])
    target = Target(sys.version_info[:2], sys.platform)
    (one,) = link(scan([str(tmp_path / "site")]).packages.values(), target, lambda _doing: None, beside).missing
    assert one.severity == "warning"


def test_what_did_not_change_is_not_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {"run.py": "from b import gone"}
    assert len(found(tmp_path, files)) == 1
    monkeypatch.setattr("envdoctor.linker.store.Store.get", None)
    assert len(found(tmp_path, files)) == 1
    with pytest.raises(TypeError):
        found(tmp_path, {"run.py": "from b import here"})


SETTINGS = {
    "a list": ("settings.py", "APPS = [\n    'b.sub',\n    'b.lost',\n]", ("error", "settings.py:3", "b.lost")),
    "a text": ("settings.py", "BACKEND = 'b.sub.Backend'", ("error", "settings.py:1", "b.sub.Backend")),
    "keys of a dictionary": ("settings.py", "APPS = {'b.sub': 1, 'b.lost': 2}", ("error", "settings.py:1", "b.lost")),
    "a key that is switched off": ("settings.py", "APPS = {'b.sub': 1, 'b.lost': None}", None),
    "what is there": ("settings.py", "APPS = ['b.K', 'b.sub.x']", None),
    "another name": ("settings.py", "OTHER = ['b.lost']", None),
    "under a condition": ("settings.py", "import os\nif os.sep:\n    APPS = ['b.lost']", None),
    "no dotted name": ("settings.py", "APPS = ['b', 'b-lost', 'see b.lost']", None),
    "what nobody has": ("settings.py", "APPS = ['nowhere.lost']", None),
    "for tests": ("tests/settings.py", "APPS = ['b.lost']", ("warning", "tests/settings.py:1", "b.lost")),
    "in a dictionary": ("settings.py", "DB = {'x': {'ENGINE': 'b.lost.E'}}", ("warning", "settings.py:1", "b.lost.E")),
    "in a dictionary, and there": ("settings.py", "DB = {'x': {'ENGINE': 'b.K'}}", None),
    "an item": ("app.py", "conf = {}\nconf['STORE'] = 'lost'", ("warning", "app.py:2", "b.sub.lost")),
    "in a class": ("app.py", "class C:\n    STORE = 'lost'", ("warning", "app.py:2", "b.sub.lost")),
    "an argument": ("app.py", "dict(STORE='lost')", ("warning", "app.py:1", "b.sub.lost")),
    "a name that is there": ("app.py", "STORE = 'x'", None),
    "an entry": ("conf/model.yaml", "net:\n  _target_: b.lost.Net\n", ("warning", "conf/model.yaml:2", "b.lost.Net")),
    "an entry that is there": ("conf/model.yaml", "net:\n  _target_: b.K\n", None),
}


@pytest.mark.parametrize(("file", "text", "expected"), SETTINGS.values(), ids=list(SETTINGS))
def test_dotted_names_in_configuration(tmp_path, file, text, expected):
    assert found(tmp_path, {file: text}) == ([expected] if expected else [])


REMOVED = {
    "a setting that is gone": ("5.0", {}, "USE_L10N = True\nUSE_TZ = True", ["USE_L10N"]),
    "a release that reads it": ("4.2", {}, "USE_L10N = True", []),
    "one that another distribution reads": ("5.0", {"more/__init__.py": "x.USE_L10N"}, "USE_L10N = True", []),
    "a name that was never a setting": ("5.0", {}, "OWN_OPTION = True", []),
    "under a condition": ("5.0", {}, "import os\nif os.sep:\n    USE_L10N = True", []),
}


@pytest.mark.parametrize(("version", "others", "text", "expected"), REMOVED.values(), ids=list(REMOVED))
def test_settings_that_nobody_reads_any_more(tmp_path, version, others, text, expected):
    module = {"django/__init__.py": "", "django/conf/__init__.py": "", "django/conf/global_settings.py": "USE_TZ = 1\n"}
    env.write(tmp_path / "site", version, django={**module, **others})
    known = {"dotted": {"settings": [{"files": ["**/settings.py"], "module": "django.conf.global_settings"}]}}
    assert [told[2] for told in found(tmp_path, {"app/settings.py": text}, known=known)] == expected


TAKING = {
    "c/__init__.py": "import logging\n"
    "class Takes:\n    def __init__(self, size, *, deep=False): pass\n"
    "class Open:\n    def __init__(self, **kwargs): pass\n"
    "class Hands(logging.Handler):\n    def __init__(self, group, *args, **kwargs): super().__init__(*args, **kwargs)\n"
    "def make(one): return one\n",
    "c/sub.py": "",
}

GIVEN = {
    "fits": ("net:\n  _target_: c.Takes\n  size: 1\n  _partial_: true\n", None),
    "less than all": ("net:\n  _target_: c.Takes\n", None),
    "of Python's library": ("handlers:\n  h: {class: logging.handlers.RotatingFileHandler, filename: x, colour: 1}\n", None),
    "a module of Python's library": ("_target_: os.path\nx: 1\n", None),
    "a module": ("_target_: c.sub\nx: 1\n", None),
    "anything": ("_target_: c.Open\nwhatever: {deep: 1}\n", None),
    "no such argument": ("net:\n  _target_: c.Takes\n  width: 1\n", ("warning", "conf.yaml:2", "c.Takes")),
    "no such argument of a function": ("_target_: c.make\ntwo:\n  deep: 1\n", ("warning", "conf.yaml:1", "c.make")),
    "a handler's own": ("handlers:\n  h: {class: c.Hands, level: INFO, group: x}\n", None),
    "a handler's base does not take it": (
        "handlers:\n  h:\n    class: c.Hands\n    group: x\n    client: 1\n", ("warning", "conf.yaml:3", "c.Hands")
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), GIVEN.values(), ids=GIVEN)
def test_the_keys_beside_a_dotted_name_are_arguments_of_what_it_names(tmp_path, text, expected):
    env.write(tmp_path / "site", c=TAKING)
    assert found(tmp_path, {"conf.yaml": text, "run.py": ""}) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ('{"class": "c.Hands", "level": 1, "group": 2}', None),
        ('{"class": "c.Hands", "group": 2, "client": object()}', ("warning", "log.py:1", "c.Hands")),
        ('{"()": "c.make", "one": 1}', None),
        ('{"()": "c.make", "two": 1}', ("warning", "log.py:1", "c.make")),
    ],
)
def test_the_items_of_a_handler_in_source_are_arguments_of_its_class(tmp_path, handler, expected):
    env.write(tmp_path / "site", c=TAKING)
    files = {"log.py": f'LOGGING = {{"handlers": {{"x": {handler}}}}}'}
    assert found(tmp_path, files) == ([expected] if expected else [])


def test_a_handler_is_told_once(tmp_path):
    source = 'LOGGING = {"handlers": {"x": {\n    "class": "b.Gone",\n    "group": 1}}}\n'
    assert found(tmp_path, {"app/settings.py": source}) == [("warning", "app/settings.py:2", "b.Gone")]
