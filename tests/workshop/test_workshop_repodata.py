"""Repodata patches to candidates: a small tree of our own in that format, and an index of our own that answers for it."""

import functools
import http.server
import json
import subprocess
import threading
from pathlib import Path

import pytest
import yaml
from conftest import new_cache

from envdoctor.cli import main
from envdoctor.errors import UsageError
from envdoctor.probes import releases
from envdoctor.workshop.lint import lint
from envdoctor.workshop.repodata import Dropped, Lead, leads, patches_below

PATCHES = {
    "left.yaml": """\
# left breaks with the new right, https://github.com/owner/left/issues/7
if: {name: left, version_lt: 1.4.0, timestamp_lt: 1700000000000}
then:
  - tighten_depends: {name: Right_Pad, upper_bound: "2.0"}
---
if: {name: left, version: 1.5.0, has_depends: "right-pad >=1"}
then:
  - replace_depends: {old: "right-pad >=1", new: "right-pad >=1,<3.0a0"}
  - add_constrains: ["third !=4.1", "python <3.13"]
---
if: {name: left, version_ge: 1.6, version_le: 1.8}
then: [{add_depends: third}]
---
if: {name: left, version: 1.4.*}
then: [{replace_depends: {old: "third", new: "third >=2"}}, {loosen_depends: {name: right-pad, upper_bound: "9"}}]
""",
    "dropped.yaml": """\
if: {name: left, version: 1.0.0}
then: [{loosen_depends: {name: right-pad, upper_bound: "9"}}, {remove_depends: third}]
---
if: {name: "lib*", version: 1.0.0}
then: [{add_depends: "third <2"}]
---
if: {has_depends: "third *", timestamp_lt: 1}
then: [{tighten_depends: {name: third, max_pin: x.x}}]
---
if: {name: left, subdir_in: osx-64}
then: [{add_depends: "third <2"}]
---
if: {name: left, version: 1.0.0}
then: [{add_depends: "third 1.2.*"}, {add_depends: "nodist <3"}]
---
if: {name: left, not_version_in: [1.0.0]}
then: [{add_depends: "third <2"}]
---
if: {name: left}
then: [{add_depends: "third <2"}]
""",
    "broken.yaml": "if: [\n",
    "other.yaml": "- a list\n",
}
NAMES = {"nodist": None}


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "patches" / "recipe" / "patch_yaml"
    folder.mkdir(parents=True)
    for name, text in PATCHES.items():
        (folder / name).write_text(text)
    return tmp_path / "patches"


def found(checkout):
    patches, _ = patches_below(str(checkout))
    return [one for patch in patches for one in leads(patch, NAMES)]


def said(capsys, *words):
    status = main([str(word) for word in words])
    return (status, *capsys.readouterr())


def test_what_narrows_a_dependency_is_a_lead(checkout):
    told = [(one.name, one.releases, one.other, one.bad) for one in found(checkout) if isinstance(one, Lead)]
    assert told == [
        ("left", "", "third", ">=2"),
        ("left", "<1.4.0", "right-pad", ">=2.0"),
        ("left", "==1.5.0", "right-pad", ">=3.0"),
        ("left", "==1.5.0", "third", "==4.1"),
        ("left", "==1.5.0", "python", ">=3.13"),
        ("left", ">=1.6,<=1.8", "third", "absent"),
        ("left", "==1.4.*", "third", "<2"),
    ]
    first = next(one for one in found(checkout) if isinstance(one, Lead) and one.releases == "<1.4.0")
    assert (first.patch.urls, first.built) == (("https://github.com/owner/left/issues/7",), 1700000000000)
    assert first.id() == "left-before-1-4-0-from-right-pad-2-0"


def test_what_is_no_lead_is_dropped_with_its_reason(checkout):
    reasons = [one.reason for one in found(checkout) if isinstance(one, Dropped)]
    assert reasons == [
        "it narrows no dependency",
        "it names no package, or a pattern of names",
        "it names no package, or a pattern of names",
        "it is about the builds for some platforms",
        "its bound is no range of versions",
        "one of the two is no Python distribution",
        "a condition of it is not about versions",
    ]


MORE = """\
if: {name: left, version: "2*"}
then: [{tighten_depends: {name: third, upper_bound: "5"}}]
---
if: {name: left, version_lt: "2", has_depends: third}
then: [{replace_depends: {old: "python", new: "python <=3.9"}}]
---
if: {name: left, version_gt: "2.1", timestamp_lt: 1700000000000}
then: [{tighten_depends: {name: right-pad, upper_bound: "2.0"}}]
---
if: {name: left, version_ge: "1", version_lt: "2"}
then: [{tighten_depends: {name: third, upper_bound: "5"}}]
---
if: {name: left, version: "2.0"}
then: [{tighten_depends: {name: __cuda, upper_bound: "5"}}]
"""


def test_what_channels_write_in_their_own_way_is_a_range_of_ours(checkout, tmp_path, capsys):
    folder = checkout / "recipe" / "patch_yaml"
    for path in folder.iterdir():
        path.unlink()
    (folder / "more.yaml").write_text(MORE)
    patches, _ = patches_below(str(checkout))
    told = [one for patch in patches for one in leads(patch, {"__*": None})]
    assert [(one.releases, one.other, one.bad, one.id()) for one in told if isinstance(one, Lead)] == [
        ("==2.*", "third", ">=5", "left-2-from-third-5"),
        ("<2", "python", ">=3.10", "left-before-2-from-python-3-10"),
        (">2.1", "right-pad", ">=2.0", "left-after-2-1-from-right-pad-2-0"),
        (">=1,<2", "third", ">=5", "left-from-1-before-2-from-third-5"),
    ]
    assert [one.reason for one in told if isinstance(one, Dropped)] == ["one of the two is no Python distribution"]
    out = tmp_path / "out"
    _, said_, _ = said(capsys, "rules", "import", "conda-forge", checkout, "-o", out, "--offline")
    assert "1 dropped: it is about all releases up to a day" in said_  # where those after 2.1 end
    assert (
        "# It is stated under a further condition, has_depends: "
        in (out / "left-before-2-from-python-3-10.yaml").read_text()
    )
    assert [str(one) for one in lint([str(out)])] == []
    _, said_, _ = said(capsys, "rules", "import", "conda-forge", checkout, "-o", out, "--only", "nobody", "--offline")
    assert "No patch is about nobody." in said_


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_read(checkout):
    patches, unread = patches_below(str(checkout))
    assert len(patches) == 11
    assert [line.partition(":")[0] for line in unread] == ["broken.yaml", "other.yaml"]
    with pytest.raises(UsageError, match="it has no directory"):
        patches_below(str(checkout / "recipe"))


def test_candidates_are_written_once_with_where_they_are_from(checkout, tmp_path, capsys):
    subprocess.run(["git", "init", "-q", checkout], check=True)
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", checkout, *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    commit = subprocess.check_output(["git", "-C", checkout, "rev-parse", "HEAD"], text=True).strip()
    out = tmp_path / "candidates"
    words = ["rules", "import", "conda-forge", checkout, "-o", out, "--offline"]

    status, told, err = said(capsys, *words)

    assert status == 0
    assert told.startswith(f"11 patches read, 2 files could not be; 7 candidates written to {out}\n")
    assert "1 dropped: it narrows no dependency" in told
    assert "1 dropped: it is about all releases up to a day, which only the index knows" in told
    assert "The index was not asked" in told
    assert "broken.yaml: " in err
    text = (out / "left-before-1-4-0-from-right-pad-2-0.yaml").read_text()
    assert f"recipe/patch_yaml/left.yaml, document 1, commit {commit}.\n# Its licence is BSD-3-Clause." in text
    rule = yaml.safe_load(text)
    assert rule["when"] == {"packages": {"left": "<1.4.0", "right-pad": ">=2.0"}}
    assert rule["remedies"] == [{"downgrade": "right-pad<2.0"}]
    assert (rule["status"], rule["severity"]) == ("candidate", "warning")
    assert [str(one) for one in lint([str(out)])] == []

    (out / "left-before-1-4-0-from-right-pad-2-0.yaml").write_text("mine\n")
    status, told, _ = said(capsys, *words)
    assert (status, "; 0 candidates written" in told, "7 dropped: its file is there already" in told) == (0, True, True)
    assert (out / "left-before-1-4-0-from-right-pad-2-0.yaml").read_text() == "mine\n"


def test_what_cannot_be_imported_is_said_in_a_line(tmp_path, capsys):
    status, _, err = said(capsys, "rules", "import", "conda-forge", tmp_path)
    assert (status, "give a checkout of the patches" in err) == (2, True)
    status, _, err = said(capsys, "rules", "import", "elsewhere", tmp_path)
    assert (status, "conda-forge" in err) == (2, True)


class _Index(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *words, html=False, **more):
        self.kind = "text/html" if html else "application/vnd.pypi.simple.v1+json"
        super().__init__(*words, **more)

    def guess_type(self, path):
        return self.kind if str(path).endswith("index.html") else "text/plain"

    def log_message(self, *words):
        pass


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index whose wheels of ``left`` 1.3 say nothing of ``right-pad``, and those of 1.5 that it must be below 3."""
    top = tmp_path / "index"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Index, directory=str(top)))
    address = f"http://127.0.0.1:{server.server_port}"
    for name, versions in {
        "left": {"1.2": "right-pad", "1.3": "right-pad", "1.5.0": "right-pad<3"},
        "right-pad": {"1.0": "", "2.0": "", "2.1": "", "3.0": ""},
    }.items():
        (top / name).mkdir(parents=True)
        files = []
        for version, requires in versions.items():
            wheel = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
            url = f"{address}/files/{wheel}"
            more = {"upload-time": "2023-01-01T00:00:00Z", "requires-python": ">=3.8", "core-metadata": True}
            files.append({"filename": wheel, "url": url, **more})
            (top / "files").mkdir(exist_ok=True)
            stated = f"Requires-Dist: {requires}\n" if requires else ""
            (top / "files" / f"{wheel}.metadata").write_text(f"Metadata-Version: 2.1\nName: {name}\n{stated}")
        (top / name / "index.html").write_text(json.dumps({"meta": {"api-version": "1.1"}, "files": files}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("XDG_CACHE_HOME", new_cache(tmp_path / "cache"))
    releases.configuration.cache_clear()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    releases.configuration.cache_clear()


def test_the_index_drops_what_wheels_say_themselves_and_gives_the_cells(checkout, tmp_path, capsys, index):
    out = tmp_path / "candidates"
    words = ["rules", "import", "conda-forge", checkout, "-o", out]
    status, told, err = said(capsys, *words)

    assert status == 0, err
    names = sorted(path.name for path in Path(out).iterdir())
    assert names == ["left-1-5-0-from-python-3-13.yaml", "left-before-1-4-0-from-right-pad-2-0.yaml"]
    assert "1 dropped: the wheel's own metadata says so already" in told
    assert "dropped: one of the two is not on the index, or has no wheel" in told  # third
    proof = yaml.safe_load((out / "left-before-1-4-0-from-right-pad-2-0.yaml").read_text())["proof"]
    assert proof["bad"] == [{"python": "3.10", "packages": {"left": "1.3", "right-pad": "2.0"}}]
    assert proof["good"] == [{"python": "3.10", "packages": {"left": "1.3", "right-pad": "1.0"}}]
    assert [str(one) for one in lint([str(out)])] == []


def test_an_index_that_answers_in_html_tells_as_much(checkout, tmp_path, capsys, index):
    for page in (tmp_path / "index").glob("*/index.html"):
        anchors = [
            '<a href="{url}#sha256=0" data-requires-python="&gt;=3.8" data-core-metadata="true">x</a>'.format(**file)
            for file in json.loads(page.read_text())["files"]
        ]
        page.write_text("<!DOCTYPE html><html><body>" + "\n".join(anchors))
    index.RequestHandlerClass.keywords["html"] = True
    out = tmp_path / "candidates"
    status, told, err = said(capsys, "rules", "import", "conda-forge", checkout, "-o", out)

    assert status == 0, err
    assert "1 dropped: the wheel's own metadata says so already" in told
    assert "left-before-1-4-0-from-right-pad-2-0.yaml" in {path.name for path in Path(out).iterdir()}


def test_an_index_that_is_silent_is_said(checkout, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("XDG_CACHE_HOME", new_cache(tmp_path / "cache"))
    releases.configuration.cache_clear()
    status, _, err = said(capsys, "rules", "import", "conda-forge", checkout, "-o", tmp_path / "out")
    releases.configuration.cache_clear()
    assert (status, "ask again with the network, or --offline" in err) == (2, True)
