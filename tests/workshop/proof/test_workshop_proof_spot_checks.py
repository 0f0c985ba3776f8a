"""``rules spot-check`` finds what the neighbours of an edge do not show, and says nothing of a rule that is right."""

import os

import pytest
import wheel_index
from conftest import run_envdoctor
from workshop.laboratory import PYTHON, laboratory, wheel

pytestmark = pytest.mark.trials

ASKS, WORKS = "import lib\nlib.name()\n", "import lib\n"
#: 0.8 and the preview of 1.0 fail like 1.0 and 1.1, and the two before them do not; 1.2 works, 1.3 fails alike with
#: another name, and 1.4 for another reason; each cure but 1.5 is none.
USER = {
    "0.7": WORKS, "0.8": ASKS, "0.9": WORKS, "1.0a1": ASKS, "1.0": ASKS, "1.1": ASKS, "1.2": WORKS,
    "1.3": "import lib\nlib.other()\n", "1.4": "import nothing_else\n", "1.5": WORKS,
}  # fmt: skip

RULE = """\
id: lib-name-removed
title: lib 2 lacks a name that {{consumer}} takes
severity: error
impact: crash
when: {{packages: {{lib: ">=2"}}}}
consumers:
  user: {{bad: "{bad}", works: "1.5"}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}}]
remedies: [{{upgrade: "{{consumer}}>={{works}}"}}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  each: consumer
  script: import {{module}}
  bad: [{{python: "{python}", packages: {{lib: "2.0", user: "1.0"}}}}]
  good: [{{python: "{python}", packages: {{lib: "2.0", user: "1.5"}}}}]
"""


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    wheel(folder, "lib", "1.0", "def name(): return 1\n")
    wheel(folder, "lib", "2.0", "")
    for version, text in USER.items():
        wheel(folder, "user", version, text, "lib")
    return folder


@pytest.fixture
def lab(tmp_path, links, shared):
    made = laboratory(tmp_path, links, "lib-name-removed", shared("spot-checks", os.mkdir))

    def checked(bad, works="1.5"):
        made.rule.write_text(RULE.format(bad=bad, python=PYTHON).replace('works: "1.5"', f'works: "{works}"'))
        return made("spot-check", "--most", "30")

    return checked


def test_releases_that_the_edges_do_not_show_are_found_on_both_sides(lab):
    done = lab(">=1.0,<1.5")

    missed = (
        "it fails in the rule's way, and the rule does not say so: AttributeError: module 'lib' has no attribute 'name'"
    )
    unsaid = "it fails with an exception of the rule, or in a module of what it names, and no symptom says how"
    found = [line.partition(", user ")[2] for line in done.stdout.splitlines()[:-1]]
    assert sorted(found) == [
        f"0.8: {missed}",
        f"1.0a1: {missed}",
        "1.2: it works, and the rule calls it bad",
        f"1.3: {unsaid}: AttributeError: module 'lib' has no attribute 'other'",
        f"1.4: {unsaid}: ModuleNotFoundError: No module named 'nothing_else'",
    ]
    assert done.stdout.endswith("1 rule checked, 5 releases against them\n")
    assert done.returncode == 1


def test_a_rule_that_is_right_about_each_release_has_nothing_to_check(lab):
    done = lab(">=0.8,<1.4,!=0.9,!=1.2,!=1.3")

    assert (done.stdout, done.returncode) == ("1 rule checked, 0 releases against them\n", 0)


def test_the_cure_that_is_printed_first_is_tried_from_releases_off_the_grid(lab):
    done = lab(">=0.8,<1.4,!=0.9,!=1.2,!=1.3", works="0.7")

    *found, _ = done.stdout.splitlines()
    assert found
    assert all(": upgrade" in line and "the remedy does not cure it" in line for line in found), found
    assert done.returncode == 1


def test_an_old_release_is_run_with_what_else_was_there_in_its_time(tmp_path, monkeypatch):
    """With the newest ``part``, ``user`` 0.8 fails for another reason than the rule's, and alone would show nothing."""
    released = {
        ("lib", "1.0", "def name(): return 1\n"): "2019-01-01", ("lib", "2.0", ""): "2023-05-01",
        ("part", "1.0", "old = 1\n"): "2019-06-01", ("part", "2.0", ""): "2022-01-01",
        ("user", "0.8", "import part\npart.old\n" + ASKS): "2020-02-01",
        ("user", "1.0", ASKS): "2024-01-01", ("user", "1.5", WORKS): "2024-06-01",
    }  # fmt: skip
    days, links = {}, tmp_path / "links"
    links.mkdir()
    for (name, version, text), day in released.items():
        wheel(links, name, version, text, *(["lib", "part"] if name == "user" else []))
        days[f"{name}-{version}-py3-none-any.whl"] = f"{day}T00:00:00Z"
    wheels = {name: (links / name).read_bytes() for name in days}
    lab = laboratory(tmp_path, links, "lib-name-removed")
    lab.rule.write_text(RULE.format(bad=">=1.0,<1.5", python=PYTHON))
    here = {name: value for name, value in lab.variables.items() if name not in {"UV_OFFLINE", "UV_FIND_LINKS"}}
    with wheel_index.serving(monkeypatch, tmp_path / "index", wheels, days) as server:
        here["UV_DEFAULT_INDEX"] = f"http://127.0.0.1:{server.server_port}/simple/"
        done = run_envdoctor("rules", "spot-check", "--most", "9", cwd=tmp_path, env=here)

    found = [line for line in done.stdout.splitlines() if "user 0.8" in line]
    assert len(found) == 1, done.stdout + done.stderr
    assert "with what was published until 2020-04-01: it fails in the rule's way" in found[0]
