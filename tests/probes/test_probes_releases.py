"""Releases come from the index that pip is configured with: here one that answers on this machine."""

import base64
import http.server
import json
import threading

import pytest

from envdoctor.probes import releases as module
from envdoctor.probes.releases import Configuration, known_releases, releases

JSON_PAGE = json.dumps(
    {
        "files": [
            {"filename": "left-1.0.tar.gz"},
            {"filename": "left-1.10-cp27-cp27m-win32.whl"},
            {"filename": "left-1.9-py3-none-any.whl"},
            {"filename": "left-2.0rc1.zip"},
            {"filename": "left-0.9.tar.bz2"},
            {"filename": "left-0.8.win32.exe"},
            {"filename": "left-of-the-road.whl"},
        ]
    }
)
HTML_PAGE = (
    '<a href="../right-1.0%2Blocal-py3-none-any.whl#sha256=0">x</a><a>no link</a><a href="right-0.1.tar.gz">y</a>'
)


class Index(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        pages = {
            "/simple/left/": ("application/vnd.pypi.simple.v1+json", JSON_PAGE),
            "/simple/right/": ("text/html", HTML_PAGE),
        }
        pages["/simple/torn/"] = ("application/json", "{")
        kind, page = pages.get(self.path, ("text/plain", ""))
        self.send_response(200 if page else 503 if "busy" in self.path else 404)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def index(monkeypatch, tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    url = f"http://user:pa%40ss@127.0.0.1:{server.server_port}/simple/"
    monkeypatch.setattr(module, "configuration", lambda: Configuration(urls=[url]))
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_releases_for_every_python_are_listed_in_order(index):
    assert releases("left") == ["0.9", "1.0", "1.9", "1.10", "2.0rc1"]
    assert index.asked == [("/simple/left/", "Basic " + base64.b64encode(b"user:pa@ss").decode())]


@pytest.mark.usefixtures("index")
def test_pages_in_html_are_read_too():
    assert releases("Right") == ["0.1", "1.0+local"]


@pytest.mark.usefixtures("index")
def test_an_unknown_distribution_has_no_releases():
    assert releases("nowhere") == []


def test_answers_are_kept(index):
    assert known_releases(["left", "right", "left"]) == known_releases(["right", "left"])
    assert len(index.asked) == 2


@pytest.mark.parametrize("name", ["busy", "torn"])
@pytest.mark.usefixtures("index")
def test_an_index_that_fails_is_not_an_index_that_says_no(name):
    assert releases(name) is None


@pytest.mark.usefixtures("index")
def test_without_an_index_old_answers_serve(monkeypatch):
    before = releases("left")
    monkeypatch.setattr(module, "FRESH", -1)
    monkeypatch.setattr(module, "_fetch", lambda *_: (_ for _ in ()).throw(module._Unreachable))
    assert known_releases(["left", "right"]) == {"left": before, "right": None}


def test_without_any_configuration_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "configuration", lambda: Configuration(urls=[]))
    assert releases("left") is None


def test_a_directory_serves_as_an_index(monkeypatch, tmp_path):
    (tmp_path / "simple" / "left").mkdir(parents=True)
    (tmp_path / "simple" / "left" / "index.html").write_text('<a href="left-1.0.tar.gz">')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "configuration", lambda: Configuration(urls=[(tmp_path / "simple").as_uri()]))
    assert known_releases(["left", "right"]) == {"left": ["1.0"], "right": []}


def test_the_configuration_is_that_of_pip(monkeypatch, tmp_path):
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = http://127.0.0.1:1/simple\nextra-index-url = http://127.0.0.1:2/a\n  http://127.0.0.1:3/b\n"
    )
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    module.configuration.cache_clear()
    try:
        if not module._pip("--version"):
            pytest.skip("there is no pip to ask")
        assert module.configuration().urls == [
            "http://127.0.0.1:1/simple",
            "http://127.0.0.1:2/a",
            "http://127.0.0.1:3/b",
        ]
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:4/simple")
        module.configuration.cache_clear()
        assert module.configuration().urls[0] == "http://127.0.0.1:4/simple"
    finally:
        module.configuration.cache_clear()


def test_the_default_index_is_the_one_that_pip_names(monkeypatch):
    monkeypatch.setattr(
        module, "_pip", lambda *_: "  --index-url <url>  Base URL (default\n  http://127.0.0.1:1/simple). This\n"
    )
    assert module._default_index() == "http://127.0.0.1:1/simple"
