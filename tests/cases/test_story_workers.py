"""What a worker sees: the judgement of each program, before it runs, is held to what running it showed.

The heavy test runs them all again, each under each start method.
"""

import os
import pathlib

import interpreters
import pytest
import worker_programs
from conftest import run, untraced

from envdoctor import doctor

#: What is known to be missed: a lock that nobody but the call holds is gone before the child looks for it, and what the
#: program changes in another of its modules is not followed.
MISSED = {
    (name, method)
    for name in ("process-own-lock-of-nobody-else", "pool-settings-module-changed-in-main")
    for method in ("spawn", "forkserver")
}


def judged(folder):
    """The findings above info by case and method; the programs of one file that set no method are one project."""
    cases = worker_programs.cases()
    own = [name for name, one in cases.items() if len(one["files"]) > 1 or "set_start_method" in str(one["files"])]
    answer = {name: {} for name in cases}
    for names in ([name for name in cases if name not in own], *([name] for name in own)):
        project = folder / names[0]
        for method, findings in _judged(names, cases, project):
            for name in names:
                if method in cases[name]["methods"]:
                    answer[name][method] = [one for one in findings if len(names) == 1 or _is_in(one, name)]
    return answer


def _is_in(finding, name):
    return any(str(one.source).startswith(name + "/") for one in finding.evidence)


def _judged(names, cases, project):
    for name in names:
        for file, text in cases[name]["files"].items():
            path = project / (name if len(names) > 1 else "") / file
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text, encoding="utf-8")
    pins = project / "requirements.txt"
    releases = worker_programs.truth()["packages"]
    pins.write_text("".join(f"{name}=={release.partition('+')[0]}\n" for name, release in releases.items()))
    seen = doctor.examine("requirements", str(pins), project=str(project), python_version="3.11")
    for method in worker_programs.METHODS:
        report = doctor.check(seen.replace(start_method={"default": method}))
        yield method, [finding for finding in report.findings if finding.severity != "info"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with untraced():
        return judged(tmp_path_factory.getbasetemp() / "workers")


def test_each_program_is_judged_as_it_runs(found):
    outcomes = worker_programs.truth()["outcomes"]
    told = {(name, method): one != "works" for name, row in outcomes.items() for method, one in row.items()}
    wrong = {key for key, broken in told.items() if broken is not bool(found[key[0]][key[1]])}
    assert wrong == MISSED


def test_the_record_is_of_these_programs_and_large_enough(found):
    outcomes = worker_programs.truth()["outcomes"]
    assert list(outcomes) == list(worker_programs.cases())
    figures = worker_programs.counts(outcomes, found)
    working = [name for name, row in outcomes.items() if set(row.values()) == {"works"}]
    assert len(outcomes) >= 60
    assert len(working) >= 0.4 * len(outcomes)
    assert figures["found"] >= 0.9 * figures["broken"]
    assert figures["false"] == 0


@pytest.mark.parametrize(
    ("name", "method", "places"),
    [
        ("process-object-of-another-module", "spawn", {"main.py:10", "shared.py:3"}),
        ("process-made-by-another-module", "spawn", {"main.py:9", "shared.py:4"}),
        ("pool-global-set-by-function", "forkserver", {"main.py:7", "main.py:15"}),
        ("library-starts-process-without-guard", "spawn", {"main.py:3", "helper.py:8"}),
        ("process-subclass-sqlite-inherited-class", "spawn", {"main.py:5", "main.py:17"}),
    ],
)
def test_both_ends_are_shown(found, name, method, places):
    (finding,) = found[name][method]
    shown = {str(one.source).rpartition("/")[2] for one in finding.evidence if ".py" in str(one.source)}
    assert shown == places


def test_the_page_says_what_was_run(found):
    page = worker_programs.DOCS / "start-methods.md"
    text = worker_programs.page(found)
    if os.environ.get("ENVDOCTOR_UPDATE_GOLDEN"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="there is no fork")
def test_programs_do_what_the_record_says(tmp_path_factory):
    """Those that need nothing but Python: the others take the packages of the record."""
    plain = [name for name, case in worker_programs.cases().items() if not case["packages"]]
    python = interpreters.need(".".join(worker_programs.truth()["python"].split(".")[:2]))
    recorded = worker_programs.truth()["outcomes"]
    again = worker_programs.measured(python, plain)
    kinds = {name: {method: one == "works" for method, one in row.items()} for name, row in again.items()}
    assert kinds == {name: {method: one == "works" for method, one in recorded[name].items()} for name in plain}


def test_the_words_of_the_rules_are_what_was_measured(tmp_path):
    """The vocabulary says what ``docs/pickling.json`` says: nothing in it is from memory."""
    script = worker_programs.DOCS / "pickling-kinds.py"
    program = (
        "import json, pathlib, runpy, sys; names = runpy.run_path(sys.argv[1]);"
        "told = json.loads(pathlib.Path(sys.argv[2]).read_text());"
        "names['write_words'](pathlib.Path(sys.argv[3]), names['words'](told['refused']))"
    )
    vocabulary = worker_programs.DOCS.parent / "rules" / "vocabulary.yaml"
    copy = tmp_path / "vocabulary.yaml"
    copy.write_bytes(vocabulary.read_bytes())
    done = run(interpreters.find("3.11"), "-c", program, script, worker_programs.DOCS / "pickling.json", copy)
    assert done.returncode == 0, done.stderr
    assert copy.read_bytes() == pathlib.Path(vocabulary).read_bytes()
