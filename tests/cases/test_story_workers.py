"""What a worker sees: the judgement of each program, before it runs, is held to what running it showed.

The heavy test runs them all again, each under each start method.
"""

import os
import pathlib

import interpreters
import pytest
import worker_programs
from conftest import run, untraced
from golden.samples import same

from envdoctor import doctor

ANEW = ("spawn", "forkserver")
#: What is known to be missed: a lock that nobody but the call holds is gone before the child looks for it; nor is it
#: known which functions call themselves deeply; the server that forks workers for Python 3.14 has the name of a main
#: process; a process that was started cannot be sent, one that was not can; what ``type=`` makes of an argument of the
#: program is not followed; of iterators only what every Python refuses is known; and no fork is held against random
#: numbers or locks that it copies.
MISSED = {
    "process-own-lock-of-nobody-else": ANEW,
    "pool-recursion-limit-in-main": ANEW,
    "process-guard-by-process-name": ("forkserver",),
    "guard-by-process-name-around-pool": ("forkserver",),
    "process-object-holds-started-process": ANEW,
    "process-parsed-file-argument": ANEW,
    "process-counter-of-itertools": ANEW,
    "process-lock-held-by-a-thread": ("fork",),
    "state-numpy-draws-in-each": ("fork",),
}


def judged(folder, record):
    """The findings above info by case and method; the programs of one file that set no method are one project."""
    cases = worker_programs.cases(worker_programs.RECORDS[record])
    cases = {name: cases[name] for name in worker_programs.truth(record)["outcomes"]}
    answer = {name: {} for name in cases}
    for names in _projects(cases):
        for method, findings in _judged(names, cases, folder / names[0], worker_programs.truth(record)):
            for name in [one for one in names if method in cases[one]["methods"]]:
                answer[name][method] = _in_folder(findings, name) if len(names) > 1 else findings
    return answer


def _projects(cases):
    """The names of the cases of each project: all together, but for those that would change what others do."""
    own = [name for name, one in cases.items() if len(one["files"]) > 1 or "set_start_method" in str(one["files"])]
    return [[name for name in cases if name not in own], *([name] for name in own)]


def _in_folder(findings, name):
    return [one for one in findings if any(str(each.source).startswith(name + "/") for each in one.evidence)]


def _judged(names, cases, project, truth):
    for name in names:
        for file, text in cases[name]["files"].items():
            path = project / (name if len(names) > 1 else "") / file
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text, encoding="utf-8")
    pins = project / "requirements.txt"
    pins.write_text("".join(f"{name}=={release.partition('+')[0]}\n" for name, release in truth["packages"].items()))
    version = truth["python"].rpartition(".")[0]
    seen = doctor.examine("requirements", str(pins), project=str(project), python_version=version)
    for method in worker_programs.METHODS:
        report = doctor.check(seen.replace(start_method={"default": method}))
        yield method, [finding for finding in report.findings if finding.severity != "info"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What is said of the programs of the first record."""
    return judged(tmp_path_factory.getbasetemp() / "truth", "truth")


class Judgements(dict):
    """What is said of the programs of each record, judged when it is asked for."""

    def __init__(self, root, first):
        super().__init__(truth=first)
        self.root = root

    def __missing__(self, record):
        with untraced():  # the others go the same ways
            self[record] = judged(self.root / record, record)
        return self[record]


@pytest.fixture(scope="module")
def judgements(tmp_path_factory, found):
    return Judgements(tmp_path_factory.getbasetemp(), found)


RECORDS = [pytest.param(one, marks=() if one == "truth" else pytest.mark.trials) for one in worker_programs.RECORDS]


def test_what_is_said_of_each_program(found):
    lines = []
    for name, answers in found.items():
        for method, finding in ((each, one) for each in ("fork", "spawn") for one in answers.get(each, ())):
            shown = "; ".join(f"{one.value} ({os.path.basename(str(one.source))})" for one in finding.evidence)
            lines.append(f"{name}, {method}\n  {finding.title}\n  {shown}\n  {finding.remedies[0].text}\n")
    same("workers.txt", "".join(lines))


@pytest.mark.parametrize("record", RECORDS)
def test_each_program_is_judged_as_it_runs(judgements, record):
    outcomes = worker_programs.truth(record)["outcomes"]
    told = {(name, method): one != "works" for name, row in outcomes.items() for method, one in row.items()}
    wrong = {key for key, broken in told.items() if broken is not bool(judgements[record][key[0]][key[1]])}
    missed = {(name, method) for name, methods in MISSED.items() for method in methods}
    assert wrong == {key for key in missed if told.get(key)}


@pytest.mark.parametrize("record", RECORDS)
def test_the_record_is_of_these_programs_and_large_enough(judgements, record):
    outcomes = worker_programs.truth(record)["outcomes"]
    known = worker_programs.cases(worker_programs.RECORDS[record])
    assert list(outcomes) == [name for name in known if name in outcomes]
    figures = worker_programs.counts(outcomes, judgements[record])
    assert len(outcomes) >= 60
    assert figures["working"] >= 0.5 * figures["runs"]
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


@pytest.mark.trials
def test_the_places_of_a_notebook_are_its_cells(judgements):
    (finding,) = judgements["second-3.11"]["notebook-executor"]["spawn"]
    shown = {str(one.source) for one in finding.evidence if ".ipynb" in str(one.source)}
    assert {one.partition("main.ipynb")[2] for one in shown} == {" cell 2 line 2", " cell 1 line 3"}
    assert "main.ipynb, line 2 of cell 2," in finding.remedies[0].text


def test_all_that_a_worker_lacks_is_shown(tmp_path):
    program = """import logging, multiprocessing
scale = 1
results = multiprocessing.Queue()
def work(n):
    logging.info("at %s", n)
    results.put(n * scale)
if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    scale = 10
    multiprocessing.Process(target=work, args=(1,)).start()
"""
    (tmp_path / "main.py").write_text(program)
    (tmp_path / "pins.txt").touch()
    seen = doctor.examine("requirements", str(tmp_path / "pins.txt"), project=str(tmp_path), python_version="3.14")
    (finding,) = doctor.check(seen.replace(start_method={"default": "forkserver"})).findings
    assert finding.title.endswith(
        "reads scale and results and logging.basicConfig, which it does not share with the program"
    )
    shown = [str(one.source).rpartition("/")[2] for one in finding.evidence]
    assert shown[:4] == ["main.py:10", "main.py:9", "main.py:3", "main.py:8"]


@pytest.mark.trials
def test_the_page_says_what_was_run(judgements):
    judgements = {one: judgements[one] for one in worker_programs.RECORDS}
    page = worker_programs.DOCS / "start-methods.md"
    for record in [
        name for name in judgements if name.startswith("third") and os.environ.get("ENVDOCTOR_UPDATE_GOLDEN")
    ]:
        worker_programs.keep_first(record, judgements[record])
    text = worker_programs.page(judgements)
    if os.environ.get("ENVDOCTOR_UPDATE_GOLDEN"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="there is no fork")
@pytest.mark.parametrize("record", RECORDS)
def test_programs_do_what_the_record_says(record):
    """Those that need nothing but Python: the others take the packages of the record."""
    table = worker_programs.RECORDS[record]
    plain = [name for name, case in worker_programs.cases(table).items() if not case["packages"]]
    python = interpreters.need(".".join(worker_programs.truth(record)["python"].split(".")[:2]))
    recorded = worker_programs.truth(record)["outcomes"]
    again = worker_programs.measured(python, plain, table)
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
