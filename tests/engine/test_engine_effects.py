"""What an action makes of a snapshot in memory is what it makes of the environment; what nobody knows is unknown."""

import os
import random
import shutil
import sys
import zipfile

import pytest
from conftest import environment, run
from engine.rule_bases import base, rule, snapshot

from envdoctor import examine
from envdoctor.engine import diagnose as engine
from envdoctor.engine.effects import after
from envdoctor.engine.metadata_conflicts import Requirements
from envdoctor.facts import CONFIG, ENV, INSTALLED, MARKER, METADATA, MODULE, Answer, Facts, Metadata, Unknown
from envdoctor.model import Action, Distribution
from envdoctor.probes import answered

#: What each release of our own requires.
RELEASES = {
    ("left", "1.0"): [],
    ("left", "2.0"): ["right>=2", "other; python_version < '3'"],
    ("left", "3.0"): ["gone"],
    ("right", "1.0"): ["other<2"],
    ("right", "2.0"): ["left", "other>=1"],
    ("other", "1.0"): [],
    ("other", "2.0"): ["left<3", "right!=2.0"],
}
KNOWN = {release: Metadata(requires=lines) for release, lines in RELEASES.items()}
RULES = [
    rule("metadata-missing", when={"installed": "missing"}, title="{distribution} needs [{requirement}|more]"),
    rule("metadata-incompatible", when={"installed": "incompatible"}, title="[{required} is {found}|it is another]"),
    rule("left-and-right", when={"packages": {"left": ">=2", "right": "<2"}}),
    rule("left-without-other", when={"packages": {"left": "present", "other": "absent"}}),
    rule("other-breaks", when={"packages": {"other": ">=2"}}, consumers={"right": {"bad": "<2", "works": "2.0"}}),
    rule("right-shadowed", when={"packages": {"right": ">=1"}, "module": {"json": "standard-library"}}),
]


def found(here):
    """What rules find in a snapshot, what is required and not there, and what could not be decided."""
    candidates = engine.candidates(here, [base(*RULES)])
    here = answered(here, lambda now: engine.asked(candidates, now))
    findings, unknown = engine.diagnose(here, candidates)
    said = [(one.rule, one.title, [(fact.fact, fact.value) for fact in one.evidence]) for one in findings]
    return sorted(said), unmet(here), [(one.rule, one.fact, one.reason) for one in unknown]


def unmet(here):
    return sorted((owner.name, owner.version, line) for owner, _, line, _ in Requirements(here).unmet())


def fewest(packages):
    """The distributions with their versions, without what an installer of environments brings along."""
    return {name: one.version for name, one in packages.items() if name in {"left", "right", "other"}}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for (name, version), lines in RELEASES.items():
        info = f"{name}-{version}.dist-info"
        required = "".join(f"Requires-Dist: {line}\n" for line in lines)
        files = {
            f"{name}.py": "",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
    return folder


def actions(chance):
    """Some action on some release."""
    name, version = chance.choice(list(RELEASES))
    gone = chance.choice(["left", "right", "other"])
    return chance.choice([
        Action(verb="install", requirements=(f"{name}=={version}",)),
        Action(verb="install", requirements=(f"{name}=={version}", *(["right==2.0"] if name != "right" else []))),
        Action(verb="uninstall", packages=(gone,)),
        Action(verb="replace", packages=(gone,), requirements=(f"{name}=={version}",)),
        Action(verb="reinstall", packages=(gone,)),
    ])  # fmt: skip


@pytest.mark.skipif(not shutil.which("uv"), reason="uv is not on PATH")
@pytest.mark.parametrize("seed", range(4))
def test_a_change_in_memory_is_diagnosed_as_the_environment_that_it_builds(wheels, tmp_path, seed):
    chance, variables = random.Random(seed), environment(UV_CACHE_DIR=str(wheels / "cache"), UV_NO_CONFIG="1")
    folder = tmp_path / "env"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))

    def uv(verb, *words):
        options = ("--no-deps", "--offline", "--no-index", "--find-links", wheels) if verb == "install" else ()
        done = run("uv", "pip", verb, "--quiet", "--python", python, *options, *words, env=variables)
        assert done.returncode == 0, done.stderr

    uv("install", "left==2.0", "right==1.0")
    here = examine("python", python)
    for _ in range(5):
        action = actions(chance)
        here = after(here, action, KNOWN)
        if action.verb in {"uninstall", "replace"}:
            uv("uninstall", *action.packages)
        if action.requirements:
            uv("install", *action.requirements)
        built = examine("python", python)
        assert fewest(here.packages) == fewest(built.packages), action
        assert found(here) == found(built), action


REQUIRED = {("requirements", "left"): ["right>=2"], ("requirements", "right"): []}


def test_a_release_that_nobody_has_read_accuses_nobody_and_is_no_stale_one():
    here = snapshot({"left": "2.0", "right": "1.0"}, lookups=REQUIRED)
    changed = after(here, Action(verb="install", requirements=("left==3.0",)))

    assert unmet(here) == [("left", "2.0", "right>=2")]
    assert unmet(changed) == []
    assert isinstance(changed.facts.ask(METADATA, ("left", "3.0")), Unknown)
    back = after(changed, Action(verb="install", requirements=("left==2.0",)))
    assert found(back) == found(here)


@pytest.mark.parametrize(("requirement", "version"), [
    ("left>=1", "2.0"), ("left", "2.0"), ("left==2", "2.0"), ("left>=3", None), ("left==1.*", None),
    ("left @ https://example.org/left.zip", None), ("left==3", "3"),
])  # fmt: skip
def test_what_is_met_stays_and_what_is_not_pinned_has_no_known_version(requirement, version):
    here = snapshot({"left": "2.0"})

    changed = after(here, Action(verb="install", requirements=(requirement,)))

    assert changed.packages["left"].version == version
    assert here.packages["left"].version == "2.0"


def test_what_is_for_the_build_changes_no_environment():
    here = snapshot({"left": "2.0"})

    assert after(here, Action(verb="install", requirements=("left==1",), at="build")) == here


def test_what_a_removed_distribution_hid_comes_to_light():
    behind = Distribution(name="left", version="1.0", location="/system")
    here = snapshot({"left": "2.0"}, duplicates=[behind])

    changed = after(here, Action(verb="uninstall", packages=("Left",)))

    assert (changed.packages["left"], list(changed.duplicates)) == (behind, [])


def test_facts_that_a_change_may_touch_are_unknown_and_the_others_stay():
    modules = {"left": {"kind": "site-packages"}, "json": {"kind": "standard-library"}, "mine": {"kind": "local"}}
    facts = Facts({MODULE: modules, ENV: {"A": "1"}, MARKER: {"python_version": "3.11", "os_name": "posix"}})
    here = snapshot({"left": "2.0"}).replace(facts=facts)

    changed = after(here, Action(verb="install", requirements=("left==1.0",))).facts
    moved = after(here, Action(verb="install", requirements=("python<3.11",)))
    exported = after(here, Action(verb="setenv", name="A", to="2")).facts

    assert [isinstance(changed.ask(MODULE, name), Unknown) for name in modules] == [True, False, False]
    assert (changed.ask(ENV, "A"), changed.ask(MARKER, "python_version")) == ("1", "3.11")
    assert isinstance(moved.facts.ask(MODULE, "json"), Unknown)
    assert isinstance(moved.facts.ask(MARKER, "python_version"), Unknown)
    assert (moved.facts.ask(MARKER, "os_name"), moved.python) == ("posix", {})
    assert (exported.ask(ENV, "A"), here.facts.ask(ENV, "A")) == ("2", "1")


def test_an_entry_that_is_set_has_its_new_value_and_one_that_is_not_there_is_unknown():
    entry = {"file": "a/configs.yaml", "line": 3, "key": "defaults.run.fast", "value": True}
    asked = {("**/configs.yaml", "run.fast"): Answer(found=[entry]), ("*.ini", "fast"): Answer()}
    here = snapshot().replace(facts=Facts({CONFIG: asked}))

    action = Action(verb="set", file="a/configs.yaml", key="defaults.run.fast", to=False)
    yaml, ini = (after(here, action).facts.ask(CONFIG, key) for key in asked)

    assert (yaml.found[0]["value"], yaml.found[0]["line"]) == (False, 3)
    assert isinstance(ini, Unknown)


def test_defects_of_what_is_gone_are_gone_and_a_lock_file_is_only_met_where_that_is_known():
    gone = Distribution(name="left", version="2.0", path="/s/left.dist-info")
    here = snapshot().replace(
        packages={"left": gone},
        facts=Facts({INSTALLED: {"unreadable": [(gone.path, "empty")], "drift": [("left", "1.0", "uv.lock")]}}),
    )

    cured = after(here, Action(verb="install", requirements=("left==1.0",))).facts
    other = after(here, Action(verb="install", requirements=("right==1.0",))).facts

    assert (cured.ask(INSTALLED, "unreadable"), cured.ask(INSTALLED, "drift")) == ([], [])
    assert len(other.ask(INSTALLED, "unreadable")) == 1
    assert isinstance(other.ask(INSTALLED, "drift"), Unknown)
