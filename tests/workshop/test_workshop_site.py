"""The documentation as a site: its pages, and what a browser shows and finds in it."""

import functools
import http.server
import json
import os
import re
import sys
import threading

import pytest
from browser import CONTRAST, browser  # noqa: F401 - a fixture
from conftest import CHECKOUT, run, run_envdoctor, untraced

from envdoctor.workshop import site

pytestmark = pytest.mark.trials
RULE = "cloudpickle-bytecode-py311"


@pytest.fixture(scope="module")
def sources():
    with untraced():
        return site.sources(CHECKOUT)


@pytest.fixture(scope="module")
def address(shared):
    """Where the built site is served."""

    def build(folder):
        python = folder / "venv" / "bin" / "python"
        assert run("uv", "venv", "--quiet", "--python", sys.executable, folder / "venv").returncode == 0
        done = run("uv", "pip", "install", "--quiet", "--python", python, "--editable", f"{CHECKOUT}[docs]")
        assert done.returncode == 0, done.stderr
        done = run(python, "-m", "envdoctor.workshop.site", folder / "site")
        assert done.returncode == 0, done.stderr

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    folder = shared("documentation", build) / "site"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_each_rule_has_a_page_with_what_rules_show_prints(sources):
    names = [name for folder, _, files in os.walk(os.path.join(CHECKOUT, "docs", "rules")) for name in files]
    assert {f"rules/{name}" for name in names} <= set(sources)
    page = sources[f"rules/{RULE}.md"]
    shown = run_envdoctor("rules", "show", RULE).stdout
    assert yaml_of(page) == " ".join(shown.split())
    assert "`TypeError: code() argument 13 must be str, not int`" in page


def yaml_of(page):
    return " ".join(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1].split())


def test_links_between_pages_lead_to_where_these_are(sources):
    assert "](guide.md" in sources["index.md"]
    assert "](rules/README.md)" in sources["index.md"]
    assert "](language.md)" in sources["contributing.md"]
    assert "](packs.md)" in sources["language.md"]
    for name, text in sources.items():
        if name.endswith(".md") and not name.startswith("rules/"):
            assert not re.search(r"\]\((?:\.\./|docs/)", text), name


def test_the_picture_is_what_was_measured():
    with open(os.path.join(CHECKOUT, "rules", "pickling", RULE + ".proof.json"), encoding="utf-8") as file:
        trials = json.load(file)["trials"]
    squares = site.grid(["cloudpickle"], trials)
    assert squares[(("cloudpickle", "2.0.0"),), "3.11"] == ("fails", "IndexError: tuple index out of range")
    assert squares[(("cloudpickle", "2.1.0"),), "3.11"][0] == "passes"
    assert squares[(("cloudpickle", "2.0.0"),), "3.10"][0] == "passes"
    assert ((("cloudpickle", "2.1.0"),), "3.10") not in squares


def test_what_disagrees_or_came_to_nothing_is_not_taken_for_an_answer():
    def outcome(*pairs):
        trials = [
            {"kind": kind, "verdict": verdict, "python": "3.11.7", "installed": ["a==1", "b==2"]}
            for kind, verdict in pairs
        ]
        ((place, (said, _)),) = site.grid(["a"], trials).items()
        assert place == ((("a", "1"),), "3.11")
        return said

    assert outcome(("bad", "contradicts")) == "passes"
    assert outcome(("good", "contradicts")) == "fails"
    assert outcome(("good", "unproven")) == "unknown"
    assert outcome(("good", "unproven"), ("bad", "agrees")) == "fails"
    assert outcome(("good", "agrees"), ("bad", "agrees")) == "both"


@pytest.mark.heavy
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", ["index", "guide", "rules/index", f"rules/{RULE}"])
def test_pages_fit_are_legible_and_load_nothing_from_elsewhere(page, width, browser, address):  # noqa: F811
    browser.requests.clear()
    browser.open(f"{address}{page}.html", width)
    assert browser.value("document.documentElement.scrollWidth") <= width
    contrast, text = browser.value(CONTRAST)
    assert contrast >= 4.5, text
    assert browser.messages == []
    assert all(one.startswith((address, "data:", "blob:")) for one in browser.requests)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("distutils", "distutils-removed-py312"),
        ("ImportError: cannot import name 'url_quote' from 'werkzeug.urls'", "werkzeug3-url-helpers-removed"),
        ("IndexError: tuple index out of range cloudpickle", RULE),
        ("hang fork", "forked-with-threads"),
    ],
)
def test_a_package_an_error_or_a_symptom_finds_the_rule(query, found, browser, address):  # noqa: F811
    browser.open(f"{address}index.html")
    browser.value("document.querySelector('input.md-search__input').focus()")
    browser.write(query)
    browser.until("document.querySelectorAll('.md-search-result__item').length > 0")
    links = browser.value("[...document.querySelectorAll('.md-search-result__item > a')].map(one => one.pathname)")
    assert f"/rules/{found}.html" in links[:5]
