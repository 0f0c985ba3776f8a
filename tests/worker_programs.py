"""What happens when each program of a table in ``data/start_methods`` runs under each start method, and its record.

``python tests/worker_programs.py PYTHON RECORD`` runs all of a record's table on an interpreter, those whose packages it
lacks left out, and writes ``RECORD.json``: of each case by start method ``works``, or ``wrong`` (it ends well and prints
something else), ``hangs``, or the last line of its error. The method is made the default of that interpreter, as another
Python or platform does: what a program sets, or gives to a call, still comes before it.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import yaml

DOCS = pathlib.Path(__file__).parent.parent / "docs"
FOLDER = pathlib.Path(__file__).parent / "data" / "start_methods"
METHODS = ("fork", "spawn", "forkserver")
#: The table of programs that each record is of.
RECORDS = {
    "truth": "cases", "second-3.11": "second", "second-3.14": "second", "third-3.11": "third", "third-3.14": "third",
}  # fmt: skip
#: Seconds after which a program hangs: those that work need a tenth of it.
PATIENCE = 90
#: Read by every interpreter before the program: only the default is changed, and only in the first process.
DEFAULT = """
import multiprocessing, os
multiprocessing.context._default_context._default_context = multiprocessing.get_context(os.environ["DEFAULT_METHOD"])
"""

#: Runs a notebook in a kernel and prints what its cells print.
NOTEBOOK = """
import nbclient, nbformat
notebook = nbformat.read("main.ipynb", 4)
nbclient.NotebookClient(notebook, timeout=60).execute()
print(*(made.text for cell in notebook.cells for made in cell.outputs if made.get("name") == "stdout"), sep="", end="")
"""


def cases(table="cases"):
    """The programs by name: ``files``, ``packages``, ``prints`` and the ``methods`` to run them under."""
    told = yaml.safe_load((FOLDER / f"{table}.yaml").read_text(encoding="utf-8"))
    words = ("packages", "prints", "methods")
    return {
        name: {
            "packages": one.get("packages", []),
            "prints": one["prints"],
            "methods": one.get("methods", list(METHODS)),
            "files": {file: _written(file, text) for file, text in one.items() if file not in words},
        }
        for name, one in told.items()
    }


def _written(file, text):
    """The content of a file; that of a notebook is given by its cells."""
    if not file.endswith(".ipynb"):
        return text
    cells = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "execution_count": None, "outputs": [], "source": one}
        for number, one in enumerate(text.split("# %%\n"))
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def truth(record="truth"):
    """A record: ``python``, ``packages`` with their releases, and ``outcomes`` by case and method."""
    return json.loads((FOLDER / f"{record}.json").read_text(encoding="utf-8"))


def outcome(python, case, method, folder):
    """What one program does under one start method."""
    for name, text in case["files"].items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    pathlib.Path(folder, "sitecustomize.py").write_text(DEFAULT, encoding="utf-8")
    environment = {**os.environ, "DEFAULT_METHOD": method, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
    environment.pop("VIRTUAL_ENV", None)
    child = subprocess.Popen(
        [python, *(["main.py"] if "main.py" in case["files"] else ["-c", NOTEBOOK])], cwd=folder, env=environment, start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return "hangs"
    return judged(child.returncode, out, err, case["prints"])


def judged(status, out, err, prints):
    """``works``, ``wrong``, or the last line of an error."""
    if status:
        errors = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception|BrokenProcessPool|Interrupt)\b.*", err, re.MULTILINE)
        return re.sub(r" at 0x\w+", "", (errors or ["it ends with an error"])[-1])[:120]
    return "works" if out.rstrip().rpartition("\n")[2] == prints else "wrong"


def measured(python, names=(), table="cases"):
    """Run the named cases, or all; the outcomes by case and method."""
    found = {}
    for name, case in cases(table).items():
        if not names or name in names:
            found[name] = {}
            for method in case["methods"]:
                with tempfile.TemporaryDirectory() as folder:
                    found[name][method] = outcome(python, case, method, os.path.realpath(folder))
            print(name, found[name], file=sys.stderr, flush=True)
    return found


def page(judgements):
    """The page about all this, with the findings by record, case and method."""
    lines = []
    for record, judged in judgements.items():
        told = truth(record)
        words = {"python": told["python"], **counts(told["outcomes"], judged), "first": _first(told)}
        lines.append((SECOND if lines else PAGE).format(table=RECORDS[record], **words))
        for name, outcomes in told["outcomes"].items():
            said = " | ".join(_cell(outcomes.get(method), judged[name].get(method)) for method in METHODS)
            lines.append(f"| {name} | {said} |")
    return "\n".join([*lines, "", *_pickling()]) + "\n"


def _pickling():
    """The part of the page about what cannot be pickled: what it is, by where that is so."""
    refused = json.loads((DOCS / "pickling.json").read_text(encoding="utf-8"))["refused"]
    told = {name: {one: row[one] and row[one].replace("d", "") for one in row} for name, row in refused.items()}
    yield PICKLING.format(count=len(told), pythons=", ".join(_pythons(told)))
    for said, letters in (("everywhere", "pcst"), ("but not by cloudpickle", "pst"), ("except when it starts", "pct")):
        names = [f"`{name}`" for name, row in told.items() if {one for one in row.values() if one} == {letters}]
        yield f"| {said} | {', '.join(names)} |"
    yield f"| only in some Pythons | {', '.join(_changing(told))} |"


def counts(outcomes, judged):
    """The figures: what breaks and of that what was found, what works and of that what was found wrongly."""
    told = [(one, judged[name][method]) for name, row in outcomes.items() for method, one in row.items()]
    broken = [found for one, found in told if one != "works"]
    working = [found for one, found in told if one == "works"]
    return {
        "programs": len(outcomes), "runs": len(told), "broken": len(broken), "found": sum(map(bool, broken)),
        "share": f"{sum(map(bool, broken)) / len(broken):.0%}", "working": len(working), "false": sum(map(bool, working)),
    }  # fmt: skip


def keep_first(record, judged):
    """Keep in a record what is found before anything is mended for it; only once."""
    told = truth(record)
    kept = {"first": counts(told["outcomes"], judged), **told}
    (FOLDER / f"{record}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _first(told):
    words = (
        " At first sight, before anything was mended for it, {found} were found ({share}), and {false} complained of."
    )
    return words.format(**told["first"]) if "first" in told else ""


def _cell(outcome, found):
    if outcome is None:
        return ""
    short = outcome.partition(":")[0].rpartition(".")[2]
    return short if bool(found) is (short != "works") else f"**{short}**"


def _pythons(told):
    return sorted({python for row in told.values() for python in row}, key=lambda one: int(one.partition(".")[2]))


def _changing(told):
    for name, row in told.items():
        refusing = [python for python in _pythons(told) if row.get(python)]
        if 0 < len(refusing) < len([one for one in row.values() if one is not None]):
            yield f"`{name}` ({', '.join(refusing)})"


PAGE = """# What a worker sees

{programs} programs that start workers, each run under each start method on Python {python} ({runs} runs), and what
`envdoctor check --project` says of them beforehand. Of {broken} runs that fail, hang or print something wrong it finds
{found} ({share}); of {working} that work it complains of {false}. Bold is what it misses, or is wrong about. Made by
`tests/cases/test_story_workers.py` from the record that `tests/worker_programs.py` makes; the programs are in
`tests/data/start_methods/cases.yaml`. Where a method has no entry, the library starts its workers in its own way.

Which method holds for a call: the one it is given (`get_context`, `mp_context=`, `multiprocessing_context=`,
`start_method=`), else the library's own, else what the program sets, else the default: fork on Linux before Python 3.14,
forkserver from then on, spawn on macOS (from 3.8) and Windows. `--python-version 3.14` and `--platform darwin` judge a
project as it would be started there.

| program | fork | spawn | forkserver |
|---|---|---|---|"""
SECOND = """
## Another table, on Python {python}

{programs} programs of `tests/data/start_methods/{table}.yaml` ({runs} runs), written and run before it was known what is
found of them. Of {broken} runs that fail, hang or print something wrong {found} ({share}) are found; of {working} that
work {false} are complained of.{first}

| program | fork | spawn | forkserver |
|---|---|---|---|"""
PICKLING = """## What cannot be sent

{count} objects that calls of the standard library and of well-known packages make, as Python {pythons} were asked by
`docs/pickling-kinds.py`: pickled by pickle and by cloudpickle, given to a process that starts, and sent with a task to one
that runs. The words `unpicklable`, `bound-to-process` and `shared-by-inheritance` of the rules are what all of them refuse.

| refused | what these calls make |
|---|---|"""


def main(python, record="truth", *names):
    """Measure, and write the record; with names only these are measured anew."""
    asked = (
        "import importlib.metadata as m, json, sys; there = {one.name.lower(): one.version for one in m.distributions()};"
        "print(json.dumps([sys.version.split()[0], {one: there[one] for one in sys.argv[1:] if one in there}]))"
    )
    known = cases(RECORDS[record])
    packages = sorted({package for case in known.values() for package in case["packages"]})
    version, releases = json.loads(subprocess.check_output([python, "-c", asked, *packages]))
    able = [name for name, case in known.items() if releases.keys() >= set(case["packages"])]
    found = measured(python, names or able, RECORDS[record])
    outcomes = {**(truth(record)["outcomes"] if names else {}), **found}
    kept = (
        {"first": truth(record)["first"]} if (FOLDER / f"{record}.json").exists() and "first" in truth(record) else {}
    )
    text = json.dumps({**kept, "python": version, "packages": releases, "outcomes": outcomes}, indent=1)
    (FOLDER / f"{record}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
