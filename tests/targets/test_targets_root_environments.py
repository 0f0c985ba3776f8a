"""An image has several environments: each is found wherever it is, judged by itself, or left out with a reason."""

import functools
import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import CHECKOUT, run
from images import Image, elf
from known_facts import fact

from envdoctor import diagnose, examine, targets
from envdoctor.cli import main
from envdoctor.errors import TargetError
from envdoctor.targets import root_environments, root_walk
from envdoctor.targets.root import open_root

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the file systems have symbolic links")

SYSTEM = "/usr/lib/python3/dist-packages"
ANYWHERE = (
    "/app/.venv", "/opt/service/venv", "/srv/www/site/env", "/home/ada/work/project/.venv", "/root/.venv",
    "/data/a/b/c/d/e/f/environment", "/home/ada/.cache/pypoetry/virtualenvs/thing-py3.11",
)  # fmt: skip
TOOLS = {
    "/root/.local/share/pipx/venvs/black": "pipx_metadata.json",
    "/root/.local/share/uv/tools/ruff": "uv-receipt.toml",
    "/home/ada/.local/share/pypoetry/venv": None,
}


@functools.cache
def schema():
    return jsonschema.Draft202012Validator(json.loads(Path(CHECKOUT, "docs/check.schema.json").read_text("utf-8")))


@pytest.fixture
def image(tmp_path):
    """A system Python as Debian has it, with one distribution."""
    made = Image(tmp_path / "image").python("/usr", "3.11.2").folder(SYSTEM)
    return made.distribution(SYSTEM, "six", "1.16.0")


def add(image, prefix, *distributions, minor="3.11"):
    """A virtual environment with some distributions, given as ``name==version``."""
    image.venv(prefix, "/usr/bin", minor, f"include-system-site-packages = false\nversion = {minor}.2\n")
    for one in distributions:
        image.distribution(f"{prefix}/lib/python{minor}/site-packages", *one.split("=="))
    return image


def judged(snapshot):
    return [one.target["environment"] for one in (snapshot, *snapshot.siblings)]


def left_out(snapshot):
    return {one["path"]: one["reason"] for one in snapshot.target.get("left_out", ())}


def checked(capsys, *words):
    """Exit status and document of ``check -f json``, held against its schema."""
    status = main(["check", *map(str, words), "-f", "json"])
    document = json.loads(capsys.readouterr().out)
    schema().validate(document)
    return status, document


# --- which there are ------------------------------------------------------------------------------------------------


def test_environments_are_found_wherever_they_are(image):
    for prefix in ANYWHERE:
        add(image, prefix, "idna==3.7")
    for prefix in ("/opt/conda", "/opt/conda/envs/train", "/home/ada/miniforge3"):
        image.python(prefix, "3.12.4").folder(f"{prefix}/conda-meta")
        image.distribution(f"{prefix}/lib/python3.12/site-packages", "idna", "3.7")
    image.python("/opt/conda/pkgs/python-3.12.4-0", "3.12.4")  # what conda unpacks, not what anybody runs
    for prefix in (
        "/root/.pyenv/versions/3.10.2",
        "/opt/python/cp312",
        "/home/ada/.local/share/uv/python/cpython-3.13",
    ):
        minor = {"2": "3.10.2", "12": "3.12.1", "13": "3.13.1"}[prefix.rpartition("p3")[2].rpartition(".")[2]]
        image.python(prefix, minor)
        image.distribution(f"{prefix}/lib/python{minor[:4]}/site-packages", "idna", "3.7")

    snapshot = targets.examine("root", str(image))

    assert set(judged(snapshot)) == {
        *ANYWHERE, "/usr", "/opt/conda", "/opt/conda/envs/train", "/home/ada/miniforge3",
        "/root/.pyenv/versions/3.10.2", "/opt/python/cp312", "/home/ada/.local/share/uv/python/cpython-3.13",
    }  # fmt: skip
    assert len(judged(snapshot)) == len(set(judged(snapshot)))
    assert judged(snapshot)[0] == "/app/.venv"
    assert left_out(snapshot) == {}


def test_what_nobody_means_is_left_out_and_the_reason_said(image):
    add(image, "/app/.venv", "idna==3.7")
    add(image, "/opt/empty")
    for prefix, receipt in TOOLS.items():
        add(image, prefix, "idna==3.7")
        if receipt:
            image.file(f"{prefix}/{receipt}", "")
    image.python("/usr/local", "3.12.1")
    image.file("/srv/broken/pyvenv.cfg", "home = /usr/bin\n").folder("/srv/plain/conda-meta")
    image.distribution("/home/ada/.local/lib/python3.11/site-packages", "idna", "3.7")

    snapshot = targets.examine("root", str(image))

    assert judged(snapshot) == ["/app/.venv", "/usr"]
    reasons = left_out(snapshot)
    assert reasons.pop("/usr/local/bin/python3.12") == "no distribution is installed for it"
    assert reasons.pop("/opt/empty/bin/python") == "no distribution is installed for it"
    for prefix, receipt in TOOLS.items():
        said = reasons.pop(f"{prefix}/bin/python")
        assert said.startswith("a tool's own environment")
        assert receipt is None or receipt in said
    assert reasons.pop("/srv/broken") == "pyvenv.cfg is there, but no Python 3 interpreter"
    assert reasons.pop("/srv/plain") == "conda-meta is there, but no Python 3 interpreter"
    assert "user" in reasons.pop("/home/ada/.local/lib/python3.11/site-packages")
    assert reasons == {}


def test_where_only_a_tool_is_installed_it_is_what_the_image_is_for(tmp_path):
    image = Image(tmp_path / "image").python("/usr", "3.11.2")
    add(image, "/opt/pipx/venvs/service", "idna==3.7").file("/opt/pipx/venvs/service/pipx_metadata.json", "{}")

    snapshot = targets.examine("root", str(image))

    assert judged(snapshot) == ["/opt/pipx/venvs/service"]
    assert list(left_out(snapshot)) == ["/usr/bin/python3.11"]


def test_an_image_without_any_distribution_is_still_examined(tmp_path):
    image = Image(tmp_path / "image").python("/usr", "3.11.2").python("/usr/local", "3.12.1")

    snapshot = targets.examine("root", str(image))

    assert judged(snapshot) == ["/usr/local"]
    assert list(left_out(snapshot)) == ["/usr/bin/python3.11"]
    assert snapshot.packages == {}


def test_an_environment_is_named_once_whatever_links_lead_to_it(image):
    add(image, "/opt/real/env", "idna==3.7").link("/app/.venv", "/opt/real/env").link("/venv", "../opt/real/env")
    image.link("/opt/loop", "/opt").link("/opt/real/self", ".")

    assert len(judged(targets.examine("root", str(image)))) == 2


def test_no_link_leads_out_of_the_root(image, tmp_path):
    outside = add(Image(tmp_path / "outside").python("/usr", "3.11.2"), "/venv", "cloudpickle==1.6.0")
    site = "/app/.venv/lib/python3.11/site-packages"
    add(image, "/app/.venv", "idna==3.7").link("/opt/env", outside.host("/venv"))
    image.link(
        f"{site}/outer-1.0.dist-info", outside.host("/venv/lib/python3.11/site-packages/cloudpickle-1.6.0.dist-info")
    )
    (tmp_path / "secret").write_text("Metadata-Version: 2.1\nName: secret\nVersion: 9\nRequires-Dist: stolen\n\n")
    image.folder(f"{site}/linked-1.0.dist-info", f"{site}/odd.dist-info")
    image.link(f"{site}/linked-1.0.dist-info/METADATA", str(tmp_path / "secret"))
    image.link(f"{site}/odd.dist-info/METADATA", str(tmp_path / "secret"))

    snapshot = examine("root", str(image))

    assert judged(snapshot) == ["/app/.venv", "/usr"]
    assert sorted(snapshot.packages) == ["idna", "linked", "outer"]
    assert fact(snapshot, "requirements", "linked").reason == "its metadata file is missing, empty or not readable"
    assert fact(snapshot, "requirements", "outer").reason == "its metadata file is missing, empty or not readable"


def test_an_absolute_link_to_a_cache_is_followed_inside_the_root(image):
    site = "/app/.venv/lib/python3.11/site-packages"
    add(image, "/app/.venv").distribution("/root/.cache/uv/archive", "idna", "3.7", ["stolen>=1"])
    image.folder(f"{site}/idna-3.7.dist-info")
    image.link(f"{site}/idna-3.7.dist-info/METADATA", "/root/.cache/uv/archive/idna-3.7.dist-info/METADATA")

    snapshot = examine("root", str(image), python="/app/.venv")

    assert fact(snapshot, "requirements", "idna") == ["stolen>=1"]


def test_a_walk_that_ends_early_says_so(image, monkeypatch):
    add(image, "/a/b/c/d/env", "idna==3.7")
    monkeypatch.setattr(root_walk, "DIRECTORIES", 5)
    monkeypatch.setattr(root_environments, "DIRECTORIES", 5)

    snapshot = targets.examine("root", str(image))

    assert "/a/b/c/d/env" not in judged(snapshot)
    (reason,) = [note.reason for note in snapshot.notes if note.fact == "interpreters"]
    assert reason.startswith("there are more than 5 directories")
    assert judged(targets.examine("root", str(image), python="/a/b/c/d/env/bin/python")) == ["/a/b/c/d/env"]


def test_an_environment_that_goes_while_a_root_in_use_is_walked_is_passed_over(image):
    root = open_root(str(image.folder("/left/conda-meta")))
    seen = root_walk.Walk(marked=["/gone", "/left"], installed=[], denied=[], bound=False)

    assert list(root_environments._nameless(root, seen, [])) == [
        ("/left", "conda-meta is there, but no Python 3 interpreter")
    ]


def test_a_real_virtual_environment_is_read_and_not_run(tmp_path):
    image = Image(tmp_path / "image")
    prefix = image.path / "srv" / "app" / "env"
    done = run(sys.executable, "-m", "venv", "--copies", "--without-pip", prefix)
    assert done.returncode == 0, done.stderr
    for program in (prefix / "bin").glob("python*"):
        program.unlink()
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
        program.chmod(0o755)
    minor = "{}.{}".format(*sys.version_info[:2])
    image.distribution(f"/srv/app/env/lib/python{minor}/site-packages", "idna", "3.7")

    snapshot = examine("root", str(image))

    assert judged(snapshot) == ["/srv/app/env"]
    assert snapshot.python["version"].startswith(minor)
    assert snapshot.packages["idna"].version == "3.7"
    assert not (tmp_path / "was-run").exists()


# --- what is said of them -------------------------------------------------------------------------------------------


@pytest.fixture
def two(image):
    """A broken environment, a healthy one, and one that is left out."""
    add(image, "/app/.venv", "idna==3.7")
    add(image, "/opt/service/venv", "cloudpickle==1.6.0")
    return add(image, "/opt/empty")


def test_each_finding_names_its_environment_and_the_worst_decides(two, capsys):
    status, document = checked(capsys, "--root", two)

    assert status == 1
    target = document["target"]
    assert [(one["path"], one["distributions"]) for one in target["environments"]] == [
        ("/app/.venv", 1), ("/opt/service/venv", 1), ("/usr", 1),
    ]  # fmt: skip
    assert target["environments"][1]["interpreter"] == "/opt/service/venv/bin/python"
    assert target["environments"][1]["python"]["version"] == "3.11.2"
    assert target["distributions"] == 3
    assert [one["path"] for one in target["left_out"]] == ["/opt/empty/bin/python"]
    rules = {one["rule"]: one["environment"] for one in document["findings"]}
    assert rules["cloudpickle-bytecode-py311"] == "/opt/service/venv"
    assert {one["environment"] for one in document["unknown"]} <= {one["path"] for one in target["environments"]}


def test_the_library_gives_the_findings_of_all(two):
    found = {(one.rule, one.environment) for one in diagnose(examine("root", str(two)))}

    assert ("cloudpickle-bytecode-py311", "/opt/service/venv") in found


@pytest.mark.parametrize(
    ("named", "environment", "status"),
    [
        ("/opt/service/venv/bin/python", "/opt/service/venv", 1),
        ("/app/.venv", "/app/.venv", 0),
        ("/usr/bin/python3", "/usr", 0),
        ("/opt/empty/bin/python", "/opt/empty", 0),
    ],
)
def test_one_that_is_named_is_judged_alone(named, environment, status, two, capsys):
    found, document = checked(capsys, "--root", two, "--python", named)

    assert found == status
    assert [one["path"] for one in document["target"]["environments"]] == [environment]
    assert "left_out" not in document["target"]


def test_one_that_is_not_there_is_status_3(two, capsys):
    assert main(["--root", str(two), "--python", "/nowhere/bin/python"]) == 3
    err = capsys.readouterr().err
    assert "There is no interpreter /nowhere/bin/python" in err
    assert "/opt/service/venv/bin/python" in err
    with pytest.raises(TargetError):
        examine("root", str(two), python=os.path.join(str(two), "../outside/bin/python"))


def test_text_and_markdown_have_a_section_for_each(two, tmp_path, capsys):
    assert main(["--root", str(two)]) == 1
    text = capsys.readouterr().out
    assert text.splitlines()[0].startswith(f"3 environments in {two}: 1 error")
    headings = [line for line in text.splitlines() if line in {"/app/.venv", "/opt/service/venv", "/usr"}]
    assert headings == ["/app/.venv", "/opt/service/venv", "/usr"]
    assert text.index("cloudpickle-bytecode-py311") > text.index("\n/opt/service/venv\n")
    assert text.endswith("left out:\n- /opt/empty/bin/python: no distribution is installed for it\n")

    assert main(["report", "--root", str(two), "-o", str(tmp_path / "report.md")]) == 0
    report = (tmp_path / "report.md").read_text()
    assert [line for line in report.splitlines() if line.startswith("## ")][1:] == [
        "## /app/.venv", "## /opt/service/venv", "## /usr",
    ]  # fmt: skip
    assert report.count("### envdoctor report") == 3


def test_a_healthy_one_says_what_was_left_out_too(image, capsys):
    add(image, "/opt/empty")

    assert main(["--root", str(image)]) == 0
    text = capsys.readouterr().out
    assert "nothing known to be wrong" in text.splitlines()[0]
    assert text.endswith("- /opt/empty/bin/python: no distribution is installed for it\n")


def test_a_snapshot_is_of_the_first_and_says_so(two, capsys):
    assert main(["snapshot", "--root", str(two)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["packages"] == {"idna": "3.7"}
    assert err == "envdoctor: this is /app/.venv; --python names another one: /opt/service/venv, /usr\n"


def test_names_of_directories_are_spelled_out(image, capsys):
    add(image, "/opt/\x1b[31mred", "idna==3.7").file("/opt/\x1b[31mred/bin/python3.11", elf())

    main(["--root", str(image)])

    assert "\x1b" not in capsys.readouterr().out


TRACEBACK = """Traceback (most recent call last):
  File "{prefix}/lib/python3.11/site-packages/cloudpickle/cloudpickle_fast.py", line 73, in dumps
    cp.dump(obj)
IndexError: tuple index out of range
"""


@pytest.mark.parametrize(
    ("prefix", "status", "said"),
    [
        ("/opt/service/venv", 1, "of 3 environments this is /opt/service/venv, where the traceback's files lie"),
        ("/elsewhere", 1, "this is /app/.venv, the first, as the traceback's files lie in none of them"),
    ],
)
def test_explain_takes_the_environment_of_the_traceback_and_says_which(two, tmp_path, capsys, prefix, status, said):
    (tmp_path / "error.log").write_text(TRACEBACK.format(prefix=prefix))

    assert main(["explain", str(tmp_path / "error.log"), "--root", str(two), "-f", "json"]) == status
    document = json.loads(capsys.readouterr().out)
    assert said in next(one["reason"] for one in document["unknown"] if one["fact"] == "interpreters")
    confirmed = {one["rule"]: one["confirmed"] for one in document["findings"]}
    assert confirmed.get("cloudpickle-bytecode-py311") is (True if prefix == "/opt/service/venv" else None)
