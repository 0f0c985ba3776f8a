"""``--baseline``: only what is new since."""

import json

import pytest
from conftest import run_here

OLD = "flask==1.1.2\nwerkzeug==3.0.1\njinja2==2.11.3\nmarkupsafe==1.1.1\nitsdangerous==2.0.1\nclick==8.1.7\n"


def check(folder, text, *words):
    (folder / "requirements.txt").write_text(text)
    return run_here("check", "-r", "requirements.txt", "--python-version", "3.9", *words, cwd=folder)


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_only_what_is_new_is_shown_and_fails(form, tmp_path):
    assert check(tmp_path, OLD, "-f", form, "-o", "known").returncode == 1
    same = check(tmp_path, "# moved\n" + OLD.replace("3.0.1", "3.0.2"), "--baseline", "known")
    assert same.returncode == 0
    assert "1 finding ignored" in same.stdout
    worse = check(tmp_path, OLD.replace("itsdangerous==2.0.1", "itsdangerous==2.1.0"), "--baseline", "known")
    assert worse.returncode == 1
    assert "itsdangerous21-json-removed" in worse.stdout
    assert "werkzeug21-helpers-removed" not in worse.stdout


def test_what_a_baseline_leaves_out_stays_in_the_next_one(tmp_path):
    check(tmp_path, OLD, "-f", "json", "-o", "first")
    check(tmp_path, OLD, "--baseline", "first", "-f", "json", "-o", "second")
    document = json.loads((tmp_path / "second").read_text())
    assert document["findings"] == []
    assert document["ignored"][0]["ignored"]["source"] == "first"
    assert check(tmp_path, OLD, "--baseline", "second").returncode == 0


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"findings": [{}], "ignored": []}', '{"runs": [{"results": [1]}]}', None]
)
def test_a_file_that_is_no_baseline_is_refused(text, tmp_path):
    if text is not None:
        (tmp_path / "known").write_text(text)
    done = check(tmp_path, OLD, "--baseline", "known")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--baseline known" in done.stderr
