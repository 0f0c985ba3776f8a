"""Plans on an index of tiny wheels, by the real uv: what moves, what is edited, and what cannot be cured together."""

import json
import os
import sys

import jsonschema
import pytest
from conftest import CHECKOUT, run, run_envdoctor
from interpreters import need
from renderers.test_renderers_html import Outline
from wheel_index import serving, wheel

from envdoctor import doctor, fixing
from envdoctor.errors import ProbeError
from envdoctor.model import Report
from envdoctor.plans import Move, Plan
from envdoctor.probes import uv_program
from envdoctor.renderers import plan as renderer

with open(os.path.join(CHECKOUT, "docs", "plan.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)

WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
#: Each release, and what it requires.
RELEASES = {
    "core": {"1.0": [], "1.9": [], "2.0": [], "2.1": [], "3.0": []},
    "shop": {"1.0": ["core"], "1.1": ["core"], "2.0": ["core>=2"]},
    "site": {"1.0": ["core"], "2.0": ["core>=2", "extra-part"]},
    "blog": {"1.0": ["core"], "1.1": ["core>=3"]},
    "extra-part": {"0.5": []},
    "tied": {"1.0": ["core<2"], "2.0": ["core<2"]},
    "lost": {"1.0": ["nowhere"]},
}


def rule(name, when, *remedies, consumers=None):
    """A rule that an error follows from."""
    return {
        "id": name, "title": f"{name} holds", "severity": "error", "impact": "crash", "when": {"packages": when},
        **({"consumers": consumers} if consumers else {}),
        "why": "They do not go together.", "symptoms": [{"raises": "ImportError", "message": f"cannot import {name}"}],
        "remedies": [dict([one]) for one in remedies], "references": ["https://example.org/1"],
        "proof": {"script": "import core", "bad": [], "good": []},
    }  # fmt: skip


SHOP = rule("shop-core2", {"core": ">=2", "shop": "<1.1"}, ("upgrade", "shop>=1.1"), ("downgrade", "core<2"))
SITE = rule("site-core2", {"core": ">=2", "site": "<2"}, ("upgrade", "site>=2"), ("downgrade", "core<2"))
BLOG = rule("blog-core3", {"core": ">=3", "blog": "<1.1"}, ("upgrade", "blog>=1.1"), ("downgrade", "core<3"))
OLD = rule("site2-shop1", {"site": ">=2", "shop": "<2"}, ("upgrade", "shop>=2"))
TIED = rule("tied-core1", {"core": "<2", "tied": ">=1"}, ("upgrade", "core>=2"))


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The index, with uv asking nobody else."""
    files = {}
    for name, releases in RELEASES.items():
        for version, requires in releases.items():
            stem = f"{name.replace('-', '_')}-{version}"
            sources = {
                f"{name.replace('-', '_')}.py": f"version = {version!r}\n",
                f"{stem}.dist-info/WHEEL": WHEEL,
                f"{stem}.dist-info/RECORD": "",
            }
            files[f"{stem}-py3-none-any.whl"] = wheel(sources, name, version, requires)
    with serving(monkeypatch, tmp_path / "cache", files) as server:
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/simple/")
        yield server


@pytest.fixture
def planned(index, tmp_path):
    """The plan for pins and rules: ``planned([rules], core="2.0")``; the file of the pins is edited."""

    def make(rules, *, project=None, **pins):
        folder = tmp_path / "rules" / "area"
        folder.mkdir(parents=True, exist_ok=True)
        for one in rules:
            (folder / f"{one['id']}.yaml").write_text(json.dumps(one))
        lines = [f"{name.replace('_', '-')}=={version}  # mine\n" for name, version in pins.items()]
        (tmp_path / "requirements.txt").write_text("".join(lines))
        file = str(tmp_path / "requirements.txt")
        snapshot = doctor.examine("requirements", file, python_version="3.11", platform="linux", rules=[str(folder)])
        return as_promised(fixing.plan(snapshot, [str(folder)], project=project))

    return make


def as_promised(found):
    """A plan whose document is as its schema says."""
    plan, snapshot = found
    jsonschema.validate(json.loads(renderer.document(plan, Report(snapshot=snapshot, findings=plan.left))), SCHEMA)
    return plan


def steps(plan):
    return {one.package: one.after for one in plan.moves}


def test_one_step_that_ends_several_findings_is_taken(planned):
    plan = planned([SHOP, SITE], core="2.0", shop="1.0", site="1.0")

    assert steps(plan) == {"core": "1.9"}
    assert sorted(plan.moves[0].why) == ["shop-core2", "site-core2"]
    assert (plan.moves[0].step, plan.moves[0].down, plan.left, plan.conflicts) == ("major", True, [], [])


def test_what_nobody_asked_for_moves_before_what_somebody_did(planned):
    """Nothing but shop requires core, so the larger step is the cheaper one."""
    assert steps(planned([SHOP], core="2.0", shop="1.0")) == {"core": "1.9"}


def test_a_way_that_raises_another_finding_is_not_taken(planned):
    """To upgrade site alone would raise the second rule, and to lower core would break what tied requires not to be."""
    low = rule("core1", {"core": "<2"}, ("upgrade", "core>=2"))

    plan = planned([SITE, OLD, low], core="2.0", shop="1.0", site="1.0")

    assert steps(plan) == {"site": "2.0", "shop": "2.0"}, "nothing but pins moves in a file of pins"
    assert plan.left == []


def test_requirements_of_what_stays_hold(planned):
    """The newest core needs no rule's leave, but blog below 1.1 does not run on it."""
    old = rule("core20", {"core": "==2.0"}, ("upgrade", "core>2.0"))

    assert steps(planned([old, BLOG], core="2.0", blog="1.0")) == {"core": "2.1"}


def test_what_cannot_be_cured_together_is_said_and_the_rest_is_cured(planned):
    plan = planned([TIED, SHOP], core="1.9", tied="1.0", shop="1.0")

    assert [one.rule for one in plan.left] == ["tied-core1"]
    assert plan.conflicts == [["tied-core1 core tied"]]


def test_of_two_that_were_asked_for_the_smaller_step_is_taken(planned, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\ndependencies = ["shop<1.1"]\n')

    plan = planned([SHOP], core="2.0", shop="1.0", project=str(tmp_path))

    assert steps(plan) == {"shop": "1.1"}  # core is pinned by requirements.txt


def test_what_no_release_ends_is_edited_at_each_place_or_said_with_its_file_and_line(planned, tmp_path):
    held = {"config": {"file": "**/run.yaml", "key": "run.fast", "equals": True}}
    entry = {"set": {"file": "**/run.yaml", "key": "run.fast", "to": False}, "when": held}
    fast = rule("fast", {"core": ">=1"})
    fast.update(
        when={"packages": {"core": ">=1"}, **held}, remedies=[{**entry, "safety": "workaround", "effect": "Slow."}]
    )
    call = rule("call", {"core": ">=1"}, ("change", "write core.new for core.old"))
    call["when"]["source"] = {"calls": "core.old"}
    texts = {
        "one": ("run:\n  fast: True  # c\n  x: 1\n", "run:\n  fast: false  # c\n  x: 1\n"),
        "two": ("base: &x true\nrun: {fast: *x, x: 1}\n", "base: &x true\nrun: {fast: false, x: 1}\n"),
        "three": ("run: &r\n  fast: true\nother: *r\n", "run: &r\n  fast: false\nother: *r\n"),
    }
    for name, (text, _) in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.yaml").write_text(text)
    (tmp_path / "main.py").write_text("import core\n\ncore.old(1)\n")

    planned([fast, call], core="2.0")
    words = ("fix", "-r", "requirements.txt", "--python-version", "3.11", "--rules", "rules", "-f", "json")
    plan = json.loads(run_envdoctor(*words, cwd=tmp_path).stdout)["plan"]

    assert {one["path"]: (one["before"], one["after"]) for one in plan["edits"]} == {
        str(tmp_path / name / "run.yaml"): both for name, both in texts.items()
    }
    (advice,) = plan["advice"]
    assert (advice["text"], advice["file"], advice["line"]) == ("write core.new for core.old", "main.py", 3)
    assert (plan["moves"], plan["left"]) == ([], [])


def test_what_could_be_done_instead_of_a_step_is_shown_beside_it(planned, tmp_path):
    held = {"config": {"file": "**/run.yaml", "key": "run.fast", "equals": True}}
    either = rule("either", {"core": ">=2"}, ("downgrade", "core<2"), ("change", "write core.new for core.old"))
    either["when"].update(held, source={"calls": "core.old"})
    either["remedies"].append({"set": {"file": "**/run.yaml", "key": "run.fast", "to": False}, "when": held})
    (tmp_path / "run.yaml").write_text("run:\n  fast: true\n")
    (tmp_path / "main.py").write_text("import core\n\ncore.old(1)\n")

    planned([either], core="2.0")
    words = ("fix", "-r", "requirements.txt", "--python-version", "3.11", "--rules", "rules")
    plan = json.loads(run_envdoctor(*words, "-f", "json", cwd=tmp_path).stdout)["plan"]

    assert [(one["package"], one["after"]) for one in plan["moves"]] == [("core", "1.9")]
    assert (plan["advice"], [os.path.basename(one["path"]) for one in plan["edits"]]) == ([], ["requirements.txt"])
    assert [(one["kind"], one["file"], one["line"]) for one in plan["instead"]["either"]] == [
        ("change", "main.py", 3)
    ]  # fmt: skip
    (edit,) = plan["instead_edits"]["either"]
    assert (edit["path"], edit["after"]) == (str(tmp_path / "run.yaml"), "run:\n  fast: false\n")
    text = run_envdoctor(*words, cwd=tmp_path).stdout
    assert "or        write core.new for core.old  main.py:3\n" in text
    diff = f"--- {tmp_path}/run.yaml\n+++ {tmp_path}/run.yaml\n@@ -1,2 +1,2 @@\n run:\n-  fast: true\n+  fast: false\n"
    said = "in place of the steps for either; run.fast: as the rule says"
    assert f"or        {tmp_path}/run.yaml  {said}\n{diff}" in text
    assert "in place of the steps for either" in text


def test_the_page_of_a_report_has_the_plan_in_it(planned, tmp_path):
    planned([SHOP, SITE], core="2.0", shop="1.0", site="1.0")
    words = (
        "fix",
        "-r",
        "requirements.txt",
        "--python-version",
        "3.11",
        "--rules",
        "rules",
        "-f",
        "html",
        "-o",
        "p.html",
    )
    assert run_envdoctor(*words, cwd=tmp_path).returncode == 1

    page = Outline((tmp_path / "p.html").read_text(encoding="utf-8"))

    texts = [text.strip() for text in page.texts if text.strip()]
    at = texts.index("Plan: 1 step, 1 file to edit")
    assert texts[at + 1 : at + 11] == [
        "package", "from", "to", "step", "why", "core", "2.0", "1.9", "major down, asked for", "shop-core2; site-core2"
    ]  # fmt: skip
    assert {"-core==2.0  # mine", "+core==1.9  # mine"} < set(texts)
    assert texts.index("shop-core2 holds") > at, "what was found is below"


@pytest.mark.trials
def test_where_only_python_helps_the_recipe_of_a_new_environment_is_carried_out_literally(
    planned, tmp_path, monkeypatch
):
    young = rule("young", {"core": ">=1"}, ("downgrade", "python<3.11"))
    young["when"]["python"] = ">=3.11"
    planned([young], core="2.0")
    words = ("fix", "-r", "requirements.txt", "--python-version", "3.11", "--rules", "rules")
    done = run_envdoctor(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("a new environment with Python 3.10, no steps: ")
    assert "\ndo        uv venv --python 3.10 .venv-3.10 && uv pip install" in done.stdout

    plan = planned([young, SHOP], core="2.0", shop="1.0")

    assert (plan.python, steps(plan), plan.left) == ("3.10", {"core": "1.9"}, [])
    monkeypatch.setenv("PATH", os.path.dirname(need("3.10")), prepend=os.pathsep)
    done = run("sh", "-c", plan.line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = tmp_path / ".venv-3.10"
    assert run("uv", "pip", "freeze", "--python", made).stdout == "core==1.9\nshop==1.0\n"
    found = run_envdoctor("check", "--python", made, "--rules", tmp_path / "rules", "-f", "json", cwd=tmp_path)
    assert json.loads(found.stdout)["findings"] == []


def test_a_plan_for_the_python_of_an_operating_system_makes_an_environment_and_names_its_own_package(planned, tmp_path):
    for name, version in (("core", "2.0"), ("shop", "1.0")):
        info = tmp_path / f"root/usr/lib/python3/dist-packages/{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "INSTALLER").write_text("debian")
    for path in (
        "usr/lib/python3.11/os.py",
        "usr/lib/python3.11/EXTERNALLY-MANAGED",
        "usr/bin/python3.11",
        "etc/debian_version",
    ):
        (tmp_path / "root" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / path).write_text("12.0\n")
    (tmp_path / "root/usr/bin/python3.11").chmod(0o755)
    planned([SHOP], core="2.0", shop="1.0")

    found = fixing.plan(doctor.examine("root", str(tmp_path / "root")), [str(tmp_path / "rules" / "area")])

    plan = as_promised(found)
    assert plan.line == "/usr/bin/python3.11 -m venv .venv && .venv/bin/python -m pip install shop==1.1"
    assert "apt install python3-shop" in plan.advice[0].text


def test_the_file_keeps_its_comments_and_order(planned, tmp_path):
    plan = planned([SHOP, SITE], site="1.0", core="2.0", shop="1.0")

    (edit,) = plan.edits
    assert edit.path == str(tmp_path / "requirements.txt")
    assert edit.after == edit.before.replace("core==2.0", "core==1.9")


def test_a_file_of_ranges_is_told_what_to_take_and_resolves_to_that(planned, tmp_path):
    """What only comes along is written there too: nothing else keeps a resolver from taking the newest again."""
    planned([rule("core2", {"core": ">=2"}, ("downgrade", "core<2")), SITE])
    file = tmp_path / "requirements.in"
    file.write_text("shop  # mine\nsite")

    def made():
        snapshot = doctor.examine("requirements", str(file), python_version="3.11", resolve=True)
        return as_promised(fixing.plan(snapshot, [str(tmp_path / "rules" / "area")]))

    (edit,) = made().edits
    file.write_text(edit.after)

    assert edit.after.startswith("shop<2  # mine\nsite<2\ncore<2  # core2\n")
    assert made() == Plan()


@pytest.mark.trials
def test_the_command_literally_ends_the_findings(index, tmp_path, monkeypatch):
    """In a real environment: the line is run, and the second plan has nothing to do."""
    rules = tmp_path / "rules" / "area"
    rules.mkdir(parents=True)
    for one in (SITE, OLD, rule("core1", {"core": "<2"}, ("upgrade", "core>=2"))):
        (rules / f"{one['id']}.yaml").write_text(json.dumps(one))
    venv = tmp_path / "venv"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, venv).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--python", venv, "core==2.0", "shop==1.0", "site==1.0")
    assert done.returncode == 0, done.stderr
    words = ("fix", "--python", venv, "--rules", rules, "-f", "json")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{index.server_port}/simple/")

    first = run_envdoctor(*words, "--try", "--", "python", "-c", "import extra_part", cwd=tmp_path)
    document = json.loads(first.stdout)
    jsonschema.validate(document, SCHEMA)
    assert document["trial"]["modules"]["extra_part"] == {"before": None, "after": None}
    assert (document["trial"]["command"]["before"], document["trial"]["command"]["after"]) == (1, 0)
    plan = document["plan"]
    assert (first.returncode, plan["left"]) == (1, [])
    new = next(one for one in plan["moves"] if one["package"] == "extra-part")
    assert (new["before"], new["after"], new["why"]) == (None, "0.5", ["site 2.0 requires extra-part"])
    assert run("sh", "-c", plan["command"]).returncode == 0

    again = run_envdoctor(*words, cwd=tmp_path)
    assert (again.returncode, json.loads(again.stdout)["plan"]["moves"]) == (0, [])

    text = run_envdoctor("fix", "--python", venv, "--rules", rules, cwd=tmp_path)
    assert "there is nothing to fix" in text.stdout

    monkeypatch.setattr(uv_program, "program", _no_uv)
    run("uv", "pip", "install", "--quiet", "--python", venv, "core==2.0", "shop==1.0", "site==1.0")
    by_pip = json.loads(run_envdoctor(*words, cwd=tmp_path).stdout)["plan"]
    assert by_pip["moves"] == [one for one in plan["moves"] if one["before"]], "what was new is there already"


def test_what_is_installed_from_elsewhere_is_not_what_the_index_has_of_that_name(index, tmp_path):
    """A project of one's own is called as a release on the index, which requires what nobody here has asked for."""
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "core20.yaml").write_text(json.dumps(rule("core20", {"core": "==2.0"}, ("upgrade", "core>2.0"))))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tied-1.0-py3-none-any.whl").write_bytes(
        wheel({"tied.py": "", "tied-1.0.dist-info/WHEEL": WHEEL, "tied-1.0.dist-info/RECORD": ""}, "tied", "1.0")
    )
    venv = tmp_path / "venv"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, venv).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--python", venv, "core==2.0", *(tmp_path / "mine").iterdir())
    assert done.returncode == 0, done.stderr

    plan, _ = fixing.plan(doctor.examine("python", str(venv), rules=[str(rules)]), [str(rules)])

    assert steps(plan) == {"core": "2.1"}


def test_what_nothing_on_the_index_cures_is_left_and_never_called_well(index, tmp_path):
    """uv refuses whatever it is asked, for what is there excludes itself."""
    venv = tmp_path / "venv"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, venv).returncode == 0
    assert run("uv", "pip", "install", "--quiet", "--no-deps", "--python", venv, "lost==1.0").returncode == 0

    plan, _ = fixing.plan(doctor.examine("python", str(venv)))

    assert [one.title for one in plan.left] == ["lost requires nowhere, which is not installed"]
    assert (plan.moves, plan.line) == ([], None)


def _no_uv(why, instead=""):
    raise ProbeError(why + instead)


def test_the_text_shows_the_steps_the_edit_and_what_stays(planned, tmp_path):
    plan = planned([TIED, SHOP, SITE], core="1.9", tied="1.0", shop="1.0", site="1.0")
    moved = planned([SHOP, SITE], core="2.0", shop="1.0", site="1.0")
    snapshot = doctor.examine("requirements", str(tmp_path / "requirements.txt"), python_version="3.11")

    texts = [
        renderer.text(one, Report(snapshot=snapshot, findings=one.left), width=100, color=False, unicode=True)
        for one in (plan, moved)
    ]

    assert "tied-core1" in texts[0]
    assert "core     2.0   1.9" in texts[1]
    assert "shop-core2" in texts[1]
    assert "-core==2.0  # mine" in texts[1].splitlines()
    assert "+core==1.9  # mine" in texts[1].splitlines()


def test_what_a_plan_of_pins_would_break_is_read_from_wheels(index, tmp_path):
    index.wheels["asker-1.0-py3-none-any.whl"] = wheel(
        {
            "asker.py": "from core import version\n",
            "asker-1.0.dist-info/WHEEL": WHEEL,
            "asker-1.0.dist-info/RECORD": "asker.py,,\n",
        },
        "asker",
    )
    index.wheels["core-4.0-py3-none-any.whl"] = wheel(
        {"core.py": "release = 4\n", "core-4.0.dist-info/WHEEL": WHEEL, "core-4.0.dist-info/RECORD": "core.py,,\n"},
        "core",
        "4.0",
    )
    index.wheels["core-3.9-py3-none-any.whl"] = wheel(
        {"core.py": "version = 3\n", "core-3.9.dist-info/WHEEL": WHEEL, "core-3.9.dist-info/RECORD": "core.py,,\n"},
        "core",
        "3.9",
    )
    (tmp_path / "pins.txt").write_text("core==3.9\nasker==1.0\n")
    snapshot = doctor.examine("requirements", str(tmp_path / "pins.txt"), python_version="3.11", platform="linux")

    def broken(after):
        plan = Plan(moves=[Move(package="core", before="3.9", after=after)])
        found, closed = fixing.broken_by(plan, snapshot, lambda _: None)
        return [one.title for one in found], [one.fact for one in closed]

    assert broken("4.0") == (["asker 1.0 takes core.version, which core 4.0 does not have"], [])
    assert broken("9.9") == ([], ["packages.core"])
