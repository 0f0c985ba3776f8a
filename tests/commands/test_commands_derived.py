"""``envdoctor explain`` without a rule: real programs fail in real environments, on old and new interpreters."""

import json
import os
import subprocess
import sys

import interpreters
import jsonschema
import pytest
from conftest import CHECKOUT
from derived_environments import Built

from envdoctor.cli import main

OLD_AND_NEW = ("3.8", "3.12", "3.14")
LEFT = ("2.0", {"left/__init__.py": "class Frame:\n    def concat(self): pass\n", "left/pad.py": "", "left/core.py": "def check(a): pass\n"})  # fmt: skip
SEARCHED = "Project-URL: Source, https://github.com/o/left"


def right(source, *metadata):
    return ("1.3", {"right_pad/__init__.py": source}, *metadata)


#: What is wrong, the source of the distribution that asks, what the program does, and which rule is expected.
FAMILIES = {
    "name": ("from left.core import gone\n", "import right_pad", "derived-missing-name"),
    "module": ("import left\ndef f(): left.gone()\n", "import right_pad; right_pad.f()", "derived-missing-name"),
    "submodule": ("import left\ndef f(): left.pad.x()\n", "import right_pad; right_pad.f()", "derived-submodule-not-imported"),
    "object": ("from left import Frame\ndef f(): Frame().append(1)\n", "import right_pad; right_pad.f()", "derived-missing-name"),
    "class": ("import left\ndef f(): left.Frame.append\n", "import right_pad; right_pad.f()", "derived-missing-name"),
    "no module": ("import left.old.core\n", "import right_pad", "derived-missing-name"),
    "keyword": ("from left.core import check\ndef f(): check(1, force=2)\n", "import right_pad; right_pad.f()", "derived-signature"),
    "arguments": ("from left import core\ndef f(): core.check(1, 2)\n", "import right_pad; right_pad.f()", "derived-signature"),
    "missing": ("import left.core as c\ndef f(): c.check()\n", "import right_pad; right_pad.f()", "derived-signature"),
}  # fmt: skip


def explained(built, text, capsys, tmp_path, *options):
    path = tmp_path / "error.log"
    path.write_text(text)
    status = main(["explain", str(path), "--python", built.python, "--no-rules", "-f", "json", *options])
    report = json.loads(capsys.readouterr().out)
    assert status == int(any(one["severity"] != "info" for one in report["findings"]))
    return report


@pytest.fixture(params=interpreters.each(OLD_AND_NEW), scope="module")
def room(request, tmp_path_factory):
    return Built(request.param, tmp_path_factory.mktemp("pair") / "venv", {"left": (*LEFT, SEARCHED)})


@pytest.fixture
def pair(room):
    """``right-pad`` 1.3, which tests write anew, and ``left`` 2.0, which it requires."""
    room.add("right-pad", *right("", "Requires-Dist: left"))
    return room


@pytest.mark.parametrize("family", FAMILIES)
def test_who_asked_and_who_should_have_it_are_named_with_both_cures(family, pair, capsys, tmp_path):
    source, program, rule = FAMILIES[family]
    (pair.site / "right_pad" / "__init__.py").write_text(source)

    report = explained(pair, pair.fails(program), capsys, tmp_path)

    (finding,) = report["findings"]
    assert (finding["rule"], finding["status"], finding["proven"]) == (rule, "derived", False)
    assert finding["packages"] == ["right-pad", "left"]
    assert {"right-pad>1.3", "left<2"} <= {remedy.get("requirement") for remedy in finding["remedies"]}
    assert all(remedy["safety"] != "safe" for remedy in finding["remedies"])
    assert any(link.startswith("https://github.com/o/left/issues?q=") for link in finding["references"])


def test_what_the_metadata_of_the_pair_asks_for_comes_first(pair, capsys, tmp_path):
    pair.add("right-pad", *right("from left.core import gone\n", "Requires-Dist: left<2,>=1"))

    (finding,) = explained(pair, pair.fails("import right_pad"), capsys, tmp_path)["findings"]

    assert finding["remedies"][0]["requirement"] == "left<2,>=1"
    assert "right-pad 1.3 → left<2,>=1 (there is: left 2.0)" in [one["value"] for one in finding["evidence"]]


def test_a_name_that_the_installed_release_has_points_to_another_file(pair, capsys, tmp_path):
    (pair.site / "right_pad" / "__init__.py").write_text("import left\ndef f(): return left.Frame\n")
    program = "import sys, types; sys.modules['left'] = types.ModuleType('left'); import right_pad; right_pad.f()"

    (finding,) = explained(pair, pair.fails(program), capsys, tmp_path)["findings"]

    assert finding["rule"] == "derived-not-found-though-there"
    assert any(one["source"].endswith(os.path.join("left", "__init__.py")) for one in finding["evidence"])


def test_a_file_of_ones_own_that_hides_a_distribution_is_recognised(pair, capsys, tmp_path):
    (pair.folder / "left.py").write_text("")

    (finding,) = explained(pair, pair.fails("from left import Frame"), capsys, tmp_path)["findings"]

    (pair.folder / "left.py").unlink()
    assert (finding["rule"], {"module", "source"} <= {*finding["facts"]}) == ("derived-shadowed", True)


def test_own_code_that_asks_is_told_apart_from_a_distribution(pair, capsys, tmp_path):
    (finding,) = explained(pair, pair.fails("from left import gone"), capsys, tmp_path)["findings"]

    assert finding["packages"] == ["left"]
    assert "your own code" in finding["title"]
    assert "consumer" not in finding


def test_a_bare_message_names_the_installed_distribution_that_asks_for_the_name(pair, capsys, tmp_path):
    pair.add("right-pad", *right("import left\ndef f(): return left.gone(1)\n", "Requires-Dist: left"))
    pair.add("other", "1", {"other.py": "import left\n"}, "Requires-Dist: left")
    message = pair.fails("import right_pad; right_pad.f()").splitlines()[-1]

    (finding,) = explained(pair, message, capsys, tmp_path)["findings"]

    assert finding["packages"] == ["right-pad", "left"]


@pytest.mark.parametrize(
    ("source", "needs", "rule"),
    [
        ("from collections import Mapping\n", "3.10", "derived-removed-from-python"),
        ("import inspect\ninspect.getargspec\n", "3.12", "derived-removed-from-python"),
        ("import distutils.core\n", "3.12", "derived-removed-from-python"),
        ("import tomllib\n", "3.8", "derived-not-yet-in-python"),
        ("from typing import Self\n", "3.10", "derived-not-yet-in-python"),
        ("print 'x'\n", "3.14", "derived-syntax"),
        ("def f(async): pass\n", "3.8", "derived-syntax"),
        ("{}.iteritems()\n", "3.12", "derived-python-2"),
        ("import urllib2\n", "3.8", "derived-python-2"),
        ("import yaml\n", "3.12", "derived-not-installed"),
        ("from importlib.metadata import version\nversion('left')\n", "3.10", "derived-unmet-requirement"),
        ("from importlib.metadata import version\nversion('left')\n", "3.14", "derived-unmet-requirement"),
        ("import pickle, threading\npickle.dumps(threading.Lock())\n", "3.8", "derived-not-picklable"),
        ("import pickle\npickle.dumps(lambda: 1)\n", "3.14", "derived-not-picklable"),
        ("def f():\n    def g(): pass\n    return g\nimport pickle\npickle.dumps(f())\n", "3.12", "derived-not-picklable"),
        ("import ctypes\nctypes.CDLL('libnowhere.so.1')\n", "3.12", "derived-system-library"),
        ("import warnings\nwarnings.simplefilter('error')\nwarnings.warn('old', DeprecationWarning)\n", "3.12", "derived-warning"),
        ("raise RuntimeError('no family knows this')\n", "3.8", "derived-raised-in"),
    ],
)  # fmt: skip
def test_what_concerns_the_interpreter_or_the_system_names_the_distribution_that_met_it(
    source, needs, rule, capsys, tmp_path
):
    built = Built(interpreters.need(needs), tmp_path / "venv", {"right-pad": right(source)})

    report = explained(built, built.fails("import right_pad"), capsys, tmp_path)

    first = report["findings"][0]
    assert (first["rule"], first["packages"][0]) == (rule, "right-pad")
    with open(os.path.join(CHECKOUT, "docs", "check.schema.json"), encoding="utf-8") as schema:
        jsonschema.validate(report, json.load(schema))


def test_a_failure_in_own_code_alone_is_left_to_its_author(capsys, tmp_path):
    built = Built(interpreters.need("3.12"), tmp_path / "venv", {})

    for program in ("def f(a): pass\nf()", "1 / 0", "None.x", "{}['key']", "class A: pass\nA().b"):
        assert explained(built, built.fails(program), capsys, tmp_path)["findings"] == []


def test_no_command_installs_what_only_the_text_names(capsys, tmp_path):
    built = Built(interpreters.need("3.12"), tmp_path / "venv", {"right-pad": right("")})
    texts = (
        "ModuleNotFoundError: No module named 'surely_unknown'",
        "ImportError: please run pip install surely-unknown",
        "DistributionNotFound: The 'surely-unknown @ https://x.org/x.whl' distribution was not found and is required by a",
    )

    for text in texts:
        found = explained(built, text, capsys, tmp_path)["findings"]
        commands = [remedy["command"] for one in found for remedy in one["remedies"] if "command" in remedy]
        assert not [command for command in commands if "surely" in command or "https" in command]


REMOVED = """\
Traceback (most recent call last):
  File "/home/ada/app/main.py", line 1, in <module>
    import flask_extra
  File "/home/ada/env/lib/python3.11/site-packages/flask_extra/__init__.py", line 3, in <module>
    from werkzeug.urls import url_quote
ImportError: cannot import name 'url_quote' from 'werkzeug.urls' (/home/ada/env/lib/python3.11/site-packages/werkzeug/urls.py)
"""


@pytest.mark.parametrize(
    ("version", "bound"), [(None, "werkzeug<=2.3.8"), ("3.0.6", "werkzeug<=2.3.8"), ("2.3.8", "werkzeug<2")]
)
def test_the_history_of_names_tells_the_release_that_removed_one(tmp_path, version, bound):
    facts = {"schema": 1, "python": {"version": "3.11.7"}, "packages": {"werkzeug": version, "flask-extra": "1.0"}}
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    words = ["--snapshot", tmp_path / "facts.json"] if version else ["--no-target"]
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", "explain", "-", "--no-rules", "-f", "json", *map(str, words)],
        input=REMOVED, capture_output=True, text=True, check=False,
    )  # fmt: skip
    finding = json.loads(done.stdout)["findings"][0]
    said = [one["value"] for one in finding["evidence"] if one["fact"] == "history.werkzeug"]
    assert said == ["werkzeug.urls.url_quote is in werkzeug, last in 2.3.8, and gone in 3.0.0"]
    asked = [one["requirement"] for one in finding["remedies"] if one.get("requirement", "").startswith("werkzeug")]
    assert bound in asked
    assert (asked == [bound]) is (version != "2.3.8"), "no newer release has it again"
