"""Failures as people paste them, against the rules of this checkout: by the text alone, then with the environment."""

import functools
import os
import textwrap

import pytest
from conftest import CHECKOUT
from engine.rule_bases import snapshot

from envdoctor.engine.explanation import explain, recognised
from envdoctor.engine.index import from_bytes
from envdoctor.probes.error_text import read
from envdoctor.rulebase.compile import compile_rule, pack
from envdoctor.rulebase.syntax import load_vocabulary, read_rules

RULES = os.path.join(CHECKOUT, "rules")
SITE = "/home/me/venv/lib/python3.11/site-packages"

NOTEBOOK = """\
---------------------------------------------------------------------------
ImportError                               Traceback (most recent call last)
Cell In[1], line 1
----> 1 import flask_login

File {site}/flask_login/__init__.py:12
     10 from .login_manager import LoginManager
---> 12 from .utils import login_url

File {site}/flask_login/utils.py:14
     12 from flask import url_for
---> 14 from werkzeug.urls import url_decode

ImportError: cannot import name 'url_decode' from 'werkzeug.urls' ({site}/werkzeug/urls.py)
"""

RAY = """\
(train pid=4123, ip=10.0.0.3) Traceback (most recent call last):
(train pid=4123, ip=10.0.0.3)   File "{site}/ray/cloudpickle/x.py", line 62, in run
(train pid=4123, ip=10.0.0.3)     loads(data)
(train pid=4123, ip=10.0.0.3)   File "{site}/cloudpickle/cloudpickle.py", line 563, in subimport
(train pid=4123, ip=10.0.0.3)     return types.CodeType(*args)
(train pid=4123, ip=10.0.0.3) IndexError: tuple index out of range
"""

BUILD = """\
  error: subprocess-exited-with-error
  │ exit code: 1
  ╰─> [21 lines of output]
      building 'frozenlist._frozenlist' extension
      frozenlist/_frozenlist.c:198:12: fatal error: longintrepr.h: No such file or directory
        198 |   #include "longintrepr.h"
      compilation terminated.
      error: command '/usr/bin/gcc' failed with exit code 1
      [end of output]

  ERROR: Failed building wheel for frozenlist
"""

LOCKED = """\
      error in suds-jurko setup command: use_2to3 is invalid.
      [end of output]
"""

SERVICE = """\
web-1  | Traceback (most recent call last):
web-1  |   File "/app/main.py", line 1, in <module>
web-1  |     import streamlit
web-1  |   File "{site}/streamlit/elements/arrow_altair.py", line 36, in <module>
web-1  |     from altair.vegalite.v4.api import Chart
web-1  | ModuleNotFoundError: No module named 'altair.vegalite.v4'
"""

CUT = """\
  File "{site}/aioredis/exceptions.py", line 14, in <module>
    class TimeoutError(asyncio.TimeoutError, builtins.TimeoutError, RedisError):
TypeError: duplicate base class TimeoutError
"""

BINARY = """\
  File "{site}/sklearn/__init__.py", line 84, in <module>
    from .base import clone
  File "sklearn/utils/murmurhash.pyx", line 1, in init sklearn.utils.murmurhash
ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject
"""

QUOTED = """\
> I upgraded Flask and now get
> > AttributeError: 'Flask' object has no attribute 'json_encoder'
"""

#: By name: the text, the rule and the consumer it leads to, an environment that has the cause, and one that has not.
CASES = {
    "notebook": (
        NOTEBOOK, "werkzeug3-url-helpers-removed", "flask-login",
        {"werkzeug": "3.0.1", "flask-login": "0.6.2"}, {"werkzeug": "2.3.8", "flask-login": "0.6.2"},
    ),
    "worker in a cluster": (
        RAY, "cloudpickle-bytecode-py311", None, {"cloudpickle": "1.6.0"}, {"cloudpickle": "2.2.1"},
    ),
    "build of a wheel": (
        BUILD, "cython-longintrepr-py311", "frozenlist", {"frozenlist": "1.3.0"}, {"frozenlist": "1.3.1"},
    ),
    "last lines of a build": (
        LOCKED, "setuptools58-use-2to3-removed", "suds-jurko",
        {"setuptools": "65.0.0", "suds-jurko": "0.6"}, {"setuptools": "57.5.0", "suds-jurko": "0.6"},
    ),
    "container": (
        SERVICE, "altair-vegalite-v4-removed", "streamlit",
        {"altair": "5.0.0", "streamlit": "1.18.0"}, {"altair": "4.2.2", "streamlit": "1.18.0"},
    ),
    "half of a traceback": (
        CUT, "timeouterror-duplicate-base-py311", "aioredis", {"aioredis": "2.0.1"}, {"aioredis": "1.3.1"},
    ),
    "compiled module": (
        BINARY, "numpy2-binary-interface", "scikit-learn",
        {"numpy": "2.0.0", "scikit-learn": "1.4.1"}, {"numpy": "1.26.4", "scikit-learn": "1.4.1"},
    ),
    "quoted in a mail": (
        QUOTED, "flask23-json-encoder-removed", None,
        {"flask": "2.3.2", "flask-mongoengine": "1.0.0"}, {"flask": "2.2.5", "flask-mongoengine": "1.0.0"},
    ),
}  # fmt: skip


@functools.cache
def shipped():
    """The rules of this checkout; a file that is not well formed fails in the tests of the rules themselves."""
    words = load_vocabulary(os.path.join(RULES, "vocabulary.yaml"))
    return from_bytes(pack([compile_rule(rule, words) for rule in read_rules(RULES, words)[0]], ""), RULES)


def explained(text, here=None):
    return explain(recognised(read(text.replace("{site}", SITE)), [shipped()]), here)


@pytest.mark.parametrize(("text", "rule", "consumer", "bad", "good"), CASES.values(), ids=CASES)
class TestPasted:
    def test_the_text_alone_leads_to_the_rule(self, text, rule, consumer, bad, good):
        first = explained(text).findings[0]

        assert (first.rule, first.consumer, first.confirmed) == (rule, consumer, None)
        assert set(bad) <= set(first.packages), "a text names the cause and everything that may trip over it"
        assert first.matched

    def test_the_environment_confirms_it(self, text, rule, consumer, bad, good):
        first = explained(text, snapshot(bad)).findings[0]

        assert (first.rule, first.confirmed) == (rule, True)
        assert set(first.packages) == set(bad)
        assert first.remedies

    def test_a_sound_environment_rules_it_out(self, text, rule, consumer, bad, good):
        report = explained(text, snapshot(good))

        assert rule not in [one.rule for one in report.findings]
        assert rule in [one.rule for one in report.ruled_out]

    def test_a_time_in_front_of_the_lines_does_not_matter(self, text, rule, consumer, bad, good):
        prefixed = textwrap.indent(text, "2024-03-05T10:11:12.1234567Z ", lambda _line: True)

        assert [one.rule for one in explained(prefixed).findings][:1] == [rule]


@pytest.mark.parametrize("prefix", ["2024-03-05 10:11:12,123 ERROR app: ", "E       ", "    ", "> ", "\x1b[31m"])
def test_what_is_in_front_of_the_lines_does_not_matter(prefix):
    prefixed = textwrap.indent(SERVICE, prefix, lambda _line: True)

    assert [one.rule for one in explained(prefixed).findings] == ["altair-vegalite-v4-removed"]


@pytest.mark.trials
def test_a_text_of_a_megabyte_is_explained():
    noise = "".join(f"INFO step {number}: numpy.dtype of jax and flask in C header\n" for number in range(8_000))

    report = explained(noise + SERVICE + noise)

    assert [one.rule for one in report.findings] == ["altair-vegalite-v4-removed"]
    assert report.unknown == []


@pytest.mark.parametrize(
    "text", ["", "all is well\n", "KeyError: 'x'", "Traceback (most recent call last):", "Killed\n"]
)
def test_what_no_rule_knows_is_not_explained(text):
    assert explained(text).findings == []
