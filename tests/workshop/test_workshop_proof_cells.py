"""What a proof's cells can state besides releases: pairs that refuse each other, installations, broken environments."""

import compileall
import io
import json
import os
import py_compile
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.proof.trials import plan

pytestmark = pytest.mark.trials

#: ``left`` before 1.2 calls what ``right`` 2.0 lacks; 1.1 only refuses ``right`` 2.0 in its metadata.
OLD, NEW = "import right\ndef go(): right.old()", "import right\ndef go(): right.new()"


def trials(lab):
    return {trial["trial"]: trial for trial in json.loads(lab.proof.read_text())["trials"]}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    wheel(folder, "left", "0.9", OLD, "right")
    wheel(folder, "left", "1.0", OLD, "right<2")
    wheel(folder, "left", "1.1", OLD, "right<2")
    wheel(folder, "left", "1.2", NEW, "right>=2")
    wheel(folder, "right", "1.0", "def old(): pass")
    wheel(folder, "right", "2.0", "def new(): pass")
    return folder


TOGETHER = """\
id: right-old-removed
title: right 2 lacks old
severity: error
impact: crash
when: {packages: {left: "<1.2", right: ">=2"}}
why: It was removed.
symptoms: [{raises: AttributeError, message: "module 'right' has no attribute 'old'"}]
remedies: [REMEDY]
references: ["https://github.com/owner/right/issues/1"]
proof:
  script: |
    import left
    left.go()
  bad: [{python: "PYTHON", packages: {left: "1.0", right: "2.0"}TOGETHER}]
  good:
    - {python: "PYTHON", packages: {left: "1.2", right: "2.0"}}
    - {python: "PYTHON", packages: {left: "1.0", right: "1.0"}}
"""


def state_pair(lab, remedy, together):
    said = {"REMEDY": remedy, "PYTHON": PYTHON, "TOGETHER": ", together: true" if together else ""}
    text = TOGETHER
    for word, value in said.items():
        text = text.replace(word, value)
    lab.rule.write_text(text)


def test_a_pair_that_refuses_each_other_is_put_together_where_the_cell_says_so(tmp_path, pair, shared):
    lab = laboratory(tmp_path, pair, "right-old-removed", shared("trials-of-pair", os.mkdir))
    state_pair(lab, "{upgrade: left>=1.2}, {downgrade: right<2}", together=False)
    done = lab("verify")
    assert done.stdout.startswith("unproven")
    assert "your requirements are unsatisfiable" in trials(lab)["bad 1"]["reason"]

    state_pair(lab, "{upgrade: left>=1.2}, {downgrade: right<2}", together=True)
    done = lab("verify")
    assert done.stdout == "proven    right-old-removed  (10 of 10 trials agree)\n", done.stdout + done.stderr
    assert trials(lab)["bad 1"]["installed"] == ["left==1.0", "right==2.0"]
    assert trials(lab)["bad 1, then downgrade right<2"]["installed"] == ["left==1.0", "right==1.0"]


def test_it_is_said_where_a_remedy_cures_because_the_resolver_avoids_the_pair(tmp_path, pair, shared):
    lab = laboratory(tmp_path, pair, "right-old-removed", shared("trials-of-pair", os.mkdir))
    state_pair(lab, "{downgrade: left==1.0}", together=False)
    lab.rule.write_text(lab.rule.read_text().replace('{left: "1.0", right: "2.0"}', '{left: "0.9", right: "2.0"}', 1))
    done = lab("verify")
    assert done.returncode == 0
    assert "the installer moved right 2.0 to 1.0; `together: true` tells whether they work together" in done.stdout
    assert trials(lab)["bad 1, then downgrade left==1.0"]["moved"] == ["right 2.0 to 1.0"]


def test_an_upgrade_that_only_makes_the_resolver_avoid_the_pair_does_not_cure(tmp_path, pair, shared):
    lab = laboratory(tmp_path, pair, "right-old-removed", shared("trials-of-pair", os.mkdir))
    state_pair(lab, "{upgrade: left==1.1}", together=True)
    done = lab("verify")
    assert done.returncode == 1
    cured = trials(lab)["bad 1, then upgrade left==1.1"]
    assert cured["installed"] == ["left==1.1", "right==2.0"]
    assert cured["reason"] == "the remedy does not cure it: AttributeError: module 'right' has no attribute 'old'"


EACH = """\
id: right-old-removed
title: right 2 lacks old, which {consumer} calls
severity: error
impact: crash
when: {packages: {right: ">=2"}}
consumers:
  left: {bad: "<1.2", works: "1.2"}
  link: {bad: "<1.1", works: "1.1"}
why: It was removed.
symptoms: [{raises: AttributeError, message: "module 'right' has no attribute 'old'"}]
remedies: [upgrade: "{consumer}>={works}"]
references: ["https://github.com/owner/right/issues/1"]
proof:
  each: consumer
  script: |
    try: import {consumer}
    except ImportError: raise SystemExit
    {consumer}.go()
  bad: [{python: "PYTHON", packages: {left: "1.0", link: "1.0", right: "2.0"}, together: true}]
  good: [{python: "PYTHON", packages: {right: "2.0"}}]
"""


def test_each_consumer_has_a_trial_in_a_cell_that_has_none_of_them(tmp_path, pair, shared):
    links = shutil.copytree(pair, tmp_path / "links")
    wheel(links, "link", "1.0", OLD, "right")
    wheel(links, "link", "1.1", NEW, "right>=2")
    lab = laboratory(tmp_path, links, "right-old-removed", shared("trials-of-pair", os.mkdir))
    lab.rule.write_text(EACH.replace("PYTHON", PYTHON))
    done = lab("verify")
    assert done.stdout == "proven    right-old-removed  (15 of 15 trials agree)\n", done.stdout + done.stderr
    assert {"good 1: left", "good 1: link"} < trials(lab).keys()


def test_a_cell_of_this_platform_is_run_and_one_of_another_is_not(tmp_path, pair, shared):
    lab = laboratory(tmp_path, pair, "right-old-removed", shared("trials-of-pair", os.mkdir))
    state_pair(lab, "{upgrade: left>=1.2}", together=True)
    rule = lab.rule.read_text().replace("when: {", f"when: {{marker: sys_platform == '{sys.platform}', ")
    other = "win32" if sys.platform != "win32" else "linux"
    cell = f'    - {{python: "{PYTHON}", packages: {{left: "1.0", right: "2.0"}}, platform: '
    lab.rule.write_text(
        rule.replace(", together: true}", f", together: true, platform: {sys.platform}}}") + f"{cell}{other}}}\n"
    )
    done = lab("verify")
    assert done.stdout.startswith("proven    right-old-removed  (9 of 10 trials agree)"), done.stdout + done.stderr
    assert trials(lab)["bad 1"]["installed"] == ["left==1.0", "right==2.0"]
    assert trials(lab)["good 3"]["reason"] == "it states platform, which the laboratory cannot set"


# --- installations --------------------------------------------------------------------------------------------------

#: A source distribution that brings its own way of building, which calls what ``tool`` 2.0 lacks.
BACKEND = """\
import pathlib, zipfile
import tool

def build_wheel(directory, settings=None, metadata=None):
    tool.old()
    info = "made-{version}.dist-info"
    with zipfile.ZipFile(pathlib.Path(directory, "made-{version}-py3-none-any.whl"), "w") as archive:
        archive.writestr("made.py", "import sys")
        archive.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: made\\nVersion: {version}\\n")
        archive.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "/RECORD", "")
    return "made-{version}-py3-none-any.whl"
"""
PYPROJECT = '[build-system]\nrequires = ["tool"]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
INSTALLS = f"""\
id: tool-old-removed
title: tool 2 cannot build made 1.0
severity: error
impact: install-failure
when: {{packages: {{tool: ">=2", made: "<1.1"}}}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'tool' has no attribute 'old'"}}]
remedies:
  - upgrade: made>=1.1
  - {{pin: tool<2, at: build}}
references: ["https://github.com/owner/tool/issues/1"]
proof:
  installs: made
  bad: [{{python: "{PYTHON}", packages: {{made: "1.0", tool: "2.0"}}}}]
  good:
    - {{python: "{PYTHON}", packages: {{made: "1.1", tool: "2.0"}}}}
    - {{python: "{PYTHON}", packages: {{made: "1.0", tool: "1.0"}}}}
"""


def source_distribution(folder, version, backend):
    files = {
        "pyproject.toml": PYPROJECT,
        "backend.py": backend.replace("{version}", version),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: made\nVersion: {version}\n",
    }
    with tarfile.open(folder / f"made-{version}.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"made-{version}/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


def _compiled(path, folder):
    """The wheel of pip with its byte code: each trial would compile it anew."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "pip")
    compileall.compile_dir(folder / "pip", quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    with zipfile.ZipFile(folder / path.name, "w") as archive:
        for file in sorted(one for one in (folder / "pip").rglob("*") if one.is_file()):
            archive.write(file, file.relative_to(folder / "pip"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    ensurepip = pytest.importorskip("ensurepip")
    bundled = sorted(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
    if not bundled:
        pytest.skip("this interpreter brings no wheel of pip")
    _compiled(bundled[0], folder)
    wheel(folder, "tool", "1.0", "def old(): pass")
    wheel(folder, "tool", "2.0", "")
    source_distribution(folder, "1.0", BACKEND)
    source_distribution(folder, "1.1", BACKEND.replace("    tool.old()\n", ""))
    return folder


@pytest.fixture
def installer(tmp_path, sources):
    return laboratory(tmp_path, sources, "tool-old-removed", PIP_FIND_LINKS=str(sources), PIP_NO_INDEX="1")


def test_an_installation_fails_with_the_message_of_pip_and_a_bound_where_it_is_built_cures_it(installer):
    installer.rule.write_text(INSTALLS)
    done = installer("verify")
    assert done.stdout == "proven    tool-old-removed  (5 of 5 trials agree)\n", done.stdout + done.stderr
    found = trials(installer)
    assert found["bad 1"]["symptom"] == "AttributeError: module 'tool' has no attribute 'old'"
    assert "made==1.0" not in found["bad 1"]["installed"]
    cured = found["bad 1, then pin tool<2 where it is built"]
    assert {"made==1.0", "tool==2.0"} <= {*cured["installed"]}
    assert "made==1.1" in found["bad 1, then upgrade made>=1.1"]["installed"]
    assert cured["isolated"] is False  # whatever is built may fetch what it needs


def test_what_is_not_there_to_install_is_unproven_and_a_wrong_bound_does_not_cure_nor_a_script_pass(installer):
    """The script is run after the installation, where that passed."""
    rule = INSTALLS.replace('made: "1.1", tool', 'made: "1.7", tool').replace("tool<2", "tool>=2")
    installer.rule.write_text(rule.replace("installs: made\n", "installs: made\n  script: import made; made.nothing\n"))
    done = installer("verify")
    assert done.returncode == 1
    found = trials(installer)
    assert found["good 1"]["verdict"] == "unproven"
    assert found["good 1"]["reason"].startswith("nothing was there to install: ")
    assert "does not cure it: AttributeError" in found["bad 1, then pin tool>=2 where it is built"]["reason"]
    assert "no attribute 'nothing'" in found["good 2"]["reason"]


def test_what_is_installed_needs_its_release_in_each_cell(installer):
    installer.rule.write_text(INSTALLS.replace("installs: made", "installs: maid"))
    assert (
        "`installs` names maid, so each cell needs its release in `packages`" in installer("lint", "--offline").stdout
    )


# --- tests that a distribution ships --------------------------------------------------------------------------------

SHIPS = """\
import unittest

class Tests(unittest.TestCase):
    def test_it(self):
        BODY
"""


def test_the_tests_that_a_distribution_ships_are_run(tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, "tool", "1.0", SHIPS.replace("BODY", "pass"))
    wheel(links, "tool", "2.0", SHIPS.replace("BODY", "raise AttributeError(\"module 'tool' has no attribute 'old'\")"))
    lab = laboratory(tmp_path, links, "tool-old-removed")
    text = INSTALLS[: INSTALLS.index("proof:")].replace(', made: "<1.1"', "").replace("made>=1.1", "tool==1.0")
    text += f'proof:\n  tests: tool\n  bad: [{{python: "{PYTHON}", packages: {{tool: "2.0"}}}}]\n'
    lab.rule.write_text(text + f'  good: [{{python: "{PYTHON}", packages: {{tool: "1.0"}}}}]\n')
    done = lab("verify")
    assert done.stdout == "proven    tool-old-removed  (4 of 4 trials agree)\n", done.stdout + done.stderr
    assert trials(lab)["bad 1"]["symptom"] == "AttributeError: module 'tool' has no attribute 'old'"

    lab.rule.write_text(lab.rule.read_text().replace("tests: tool", "tests: tool.not_shipped"))
    assert lab("verify").returncode == 1
    assert "it should pass, and it fails" in trials(lab)["good 1"]["reason"]


def test_pytest_runs_them_where_a_proof_needs_it():
    rule, complaints = parse(
        INSTALLS.replace("  installs: made\n", "  tests: [made.tests]\n  needs: [pytest<9]\n"),
        "tool-old-removed.yaml",
        {},
    )
    assert complaints == []
    bad, *_ = plan(rule, {}, [])
    assert bad.place.needs == ["pytest<9"]
    assert bad.script.endswith(
        'sys.exit(pytest.main(["-q", "--tb=native", "-p", "no:cacheprovider", "--pyargs", *["made.tests"]]))\n'
    )


# --- environments whose metadata contradicts itself -----------------------------------------------------------------

BROKEN = f"""\
id: requirement-gone
title: "{{distribution}} requires [{{requirement}}|something]"
severity: error
impact: crash
when: {{installed: missing}}
why: It was removed.
symptoms: [{{raises: ModuleNotFoundError, message: "No module named 'right'"}}]
remedies: [install: "{{requirement}}"]
references: ["https://github.com/owner/right/issues/1"]
proof:
  script: import left
  bad: [{{python: "{PYTHON}", packages: {{left: "1.0"}}, absent: [right], finding: {{distribution: left, requirement: "right<2"}}}}]
  good: [{{python: "{PYTHON}", packages: {{left: "1.0"}}}}]
"""


def test_envdoctor_itself_examines_an_environment_whose_metadata_contradicts_it(tmp_path, pair):
    lab = laboratory(tmp_path, pair, "requirement-gone")
    lab.rule.write_text(BROKEN)
    done = lab("verify")
    assert done.stdout == "proven    requirement-gone  (3 of 3 trials agree)\n", done.stdout + done.stderr
    assert trials(lab)["bad 1"]["findings"] == [
        {"distribution": "left", "requirement": "right<2", "required": "right", "found": "not installed"}
    ]
    assert trials(lab)["bad 1, then install right<2"]["installed"] == ["left==1.0", "right==1.0"]

    lab.rule.write_text(BROKEN.replace('requirement: "right<2"', "requirement: other"))
    done = lab("verify")
    assert done.returncode == 1
    assert "envdoctor finds nothing there that is missing: distribution left, requirement other" in done.stdout

    lab.rule.write_text(
        BROKEN.replace('packages: {left: "1.0"}}]\n', 'packages: {left: "1.0"}, absent: [right]}]\n', 1)
    )
    lab.rule.write_text(lab.rule.read_text().replace("script: import left", "script: pass"))
    done = lab("verify")
    assert "envdoctor finds that left is missing" in trials(lab)["good 1"]["reason"]


def test_an_environment_is_brought_into_its_state_and_nobody_else_sees_it(tmp_path, pair):
    lab = laboratory(tmp_path, pair, "requirement-gone")
    prepare = "import right; open(right.__file__, 'w').write('broken = 1')"
    lab.rule.write_text(
        BROKEN.replace("when: {installed: missing}", 'when: {packages: {right: ">=2"}}')
        .replace('packages: {left: "1.0"}, absent: [right], finding: {distribution: left, requirement: "right<2"}',
                 f'packages: {{right: "2.0"}}, prepare: "{prepare}"')
        .replace('packages: {left: "1.0"}', 'packages: {right: "2.0"}')
        .replace("import left", "import right; right.new()")
        .replace("ModuleNotFoundError, message: \"No module named 'right'\"", "AttributeError, message: \"has no attribute 'new'\"")
        .replace('install: "{requirement}"', "reinstall: right")
        .replace('"{distribution} requires [{requirement}|something]"', "broken")
    )  # fmt: skip
    done = lab("verify", "--jobs", "1")
    assert done.stdout == "proven    requirement-gone  (3 of 3 trials agree)\n", done.stdout + done.stderr
