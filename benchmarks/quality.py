"""What the tests would notice: mutants of the modules that judge, and branches that are run; docs/quality.md.

    pip install -e '.[test,mutation]'
    bash .ci/test                                             leaves .coverage, from which the table of rooms is made
    python benchmarks/quality.py --write docs/quality.md      [--sample N] [--jobs N] [ROW ...]

mutmut changes one thing at a time in a copy of the checkout, and for each change runs, in a fork of one process, the
tests that call the function in question until one fails. Of each module a random sample is taken, with a fixed seed.
"""

from __future__ import annotations

import argparse
import collections
import glob
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from typing import Any

import tool

#: What is mutated, by row of the table, and the tests that are to notice. No test that builds environments by the dozen.
ROWS = {
    "engine": (
        ["engine/*.py"],
        [
            "engine",
            "targets/test_targets_marker_environment.py",
            "cases/test_story_workers.py::test_what_is_said_of_each_program",
            "cases/test_story_workers.py::test_all_that_a_worker_lacks_is_shown",
        ],
    ),
    "targets/locks": (
        ["targets/locks/*.py"],
        ["targets/test_targets_locks.py", "targets/test_targets_requirements.py", "targets/test_targets_conda.py"],
    ),
    "redaction": (
        ["renderers/redaction.py", "renderers/secret*.py"],
        ["renderers/test_renderers_redaction.py", "renderers/test_renderers_secrets.py"],
    ),
    "planner": (
        [
            "fixing.py",
            "searching.py",
            "remedies/planner.py",
            "remedies/steps.py",
            "remedies/resolver.py",
            "remedies/offers.py",
        ],
        [
            "test_searching.py",
            "remedies/test_remedies_steps.py",
            "test_fixing.py",
            "remedies/test_remedies_planner.py",
            "remedies/test_remedies_joined.py",
        ],
    ),
    "judge": (["workshop/proof/judge.py"], ["workshop/test_workshop_proof_judge.py"]),
}
BEGIN, END = "<!-- {0}: made by benchmarks/quality.py -->\n", "<!-- end of {0} -->\n"
SEED = 17
#: What mutmut's exit statuses say of a mutant; with any other, a test failed.
OUTCOMES = {0: "survived", 5: "untested", 33: "untested", **dict.fromkeys((24, 36, 152, 255, -24, -9), "endless")}
SETTINGS = """
[tool.mutmut]
source_paths = ["envdoctor"]
also_copy = ["rules", "tests", "docs"]
only_mutate = {modules}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:xdist", "-o", "filterwarnings=default"]
pytest_add_cli_args_test_selection = {tests}
timeout_multiplier = 5.0
timeout_constant = 8.0
track_dependencies = false
use_git_change_detection = false
"""


def prepared(folder: str, row: str) -> None:
    """Copy the checkout into a folder, with what mutmut is to do there."""
    patterns, tests = ROWS[row]
    for name in ("envdoctor", "rules", "tests", "docs"):
        shutil.copytree(
            os.path.join(tool.CHECKOUT, name), os.path.join(folder, name),
            ignore=shutil.ignore_patterns("first_sight", "__pycache__"),
        )  # fmt: skip
    with open(os.path.join(tool.CHECKOUT, "pyproject.toml"), encoding="utf-8") as file:
        project = file.read()
    modules = json.dumps([f"envdoctor/{pattern}" for pattern in patterns])
    with open(os.path.join(folder, "pyproject.toml"), "w", encoding="utf-8") as file:
        file.write(project + SETTINGS.format(modules=modules, tests=json.dumps([f"tests/{test}" for test in tests])))


def made(folder: str, row: str) -> dict[str, list[str]]:
    """The names of all mutants, by module; the current directory must be the folder, whose settings mutmut reads."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    found = {}
    for pattern in ROWS[row][0]:
        for path in sorted(glob.glob(os.path.join("envdoctor", pattern))):
            with open(path, encoding="utf-8") as file:
                names = mutate_file_contents(path, file.read()).mutant_names
            if names:
                found[path] = [get_mutant_name(pathlib.Path(path), name) for name in names]
    return found


def measured(row: str, size: int, jobs: int) -> list[tuple[str, int, collections.Counter[str]]]:
    """Of each module of a row: its name, how many mutants there are, and how many of a sample ended how."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    before, rows = os.getcwd(), []
    with tempfile.TemporaryDirectory() as folder:
        prepared(folder, row)
        os.chdir(folder)
        try:
            every = made(folder, row)
            chosen = {
                path: random.Random(f"{SEED} {path}").sample(sorted(names), min(size, len(names)))
                for path, names in every.items()
            }
            command = [os.path.join(os.path.dirname(sys.executable), "mutmut"), "run", "--max-children", str(jobs)]
            os.mkdir("tmp")  # each mutant's tests leave a folder of theirs
            variables = {**os.environ, "TMPDIR": os.path.join(folder, "tmp")}
            subprocess.run([*command, *itertools.chain(*chosen.values())], check=True, stdout=sys.stderr, env=variables)
            for path, names in chosen.items():
                with open(os.path.join("mutants", path + ".meta"), encoding="utf-8") as file:
                    status = json.load(file)["exit_code_by_key"]
                ended = collections.Counter(OUTCOMES.get(status[name], "killed") for name in names)
                rows.append((path, len(every[path]), ended))
                for name in (name for name in names if status[name] in OUTCOMES):
                    print(f"{OUTCOMES[status[name]]}: {name}\n{get_diff_for_mutant(name, path=path)}", flush=True)
        finally:
            os.chdir(before)
    return rows


def mutants(row: str, modules: list[tuple[str, int, collections.Counter[str]]], size: int) -> str:
    """The table of a row: a line for each module, and one for all of them."""
    lines = [
        f"At most {size} of each module, drawn with seed {SEED} from all that mutmut {version('mutmut')} makes.",
        "",
        "| module | mutants | drawn | killed | endless | survived | untested | killed or endless, % |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    total: collections.Counter[str] = collections.Counter()
    for path, number, ended in modules:
        total += ended
        lines.append(_line(f"`{path[len('envdoctor/') :]}`", number, ended))
    return "\n".join([*lines, _line(f"**{row}**", sum(number for _, number, _ in modules), total), ""])


def _line(name: str, number: int, ended: collections.Counter[str]) -> str:
    drawn = sum(ended.values())
    counts = " | ".join(str(ended[one]) for one in ("killed", "endless", "survived", "untested"))
    return f"| {name} | {number:,} | {drawn} | {counts} | {100 * (ended['killed'] + ended['endless']) / drawn:.0f} |"


def rooms() -> str:
    """The table of branch coverage, from the data that the last whole run of the tests left."""
    import coverage

    measure = coverage.Coverage(data_file=os.path.join(tool.CHECKOUT, ".coverage"))
    measure.load()
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "coverage.json")
        measure.json_report(outfile=target)
        with open(target, encoding="utf-8") as file:
            files: dict[str, Any] = json.load(file)["files"]
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for path, figures in files.items():
        inside = os.path.relpath(os.path.abspath(path), os.path.join(tool.CHECKOUT, "envdoctor"))
        room = inside.replace(os.sep, "/").partition("/")[0].replace(".py", "")
        for name in (room, "**all**"):
            counts[name].update({key: figures["summary"][key] for key in KEYS})
    lines = ["| room | statements | branches | covered, % |", "|---|---:|---:|---:|"]
    for room, one in sorted(counts.items(), key=lambda pair: (pair[0].startswith("*"), pair[0])):
        all_of_it = one["num_statements"] + one["num_branches"]
        share = 100 * (one["covered_lines"] + one["covered_branches"]) / all_of_it if all_of_it else 100
        lines.append(f"| {room} | {one['num_statements']:,} | {one['num_branches']:,} | {share:.1f} |")
    return "\n".join([*lines, ""])


KEYS = ("num_statements", "num_branches", "covered_lines", "covered_branches")


def written(page: str, block: str, text: str) -> str:
    """A page with one of its blocks made anew."""
    begin, end = BEGIN.format(block), END.format(block)
    before, _, rest = page.partition(begin)
    return before + begin + "\n" + text + "\n" + end + rest.partition(end)[2]


def main() -> None:
    """Measure, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join([*ROWS, 'coverage'])}; default all")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each module; default 60")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", metavar="PAGE", help="put the tables into this page")
    options = parser.parse_args()
    for row in options.rows or [*ROWS, "coverage"]:
        table = (
            rooms() if row == "coverage" else mutants(row, measured(row, options.sample, options.jobs), options.sample)
        )
        show(row, table, options.write)


def show(block: str, text: str, page: str | None) -> None:
    """Print a table, and put it into a page if there is one."""
    print(text)
    if page is not None:
        with open(page, encoding="utf-8") as file:
            new = written(file.read(), block, text)
        with open(page, "w", encoding="utf-8", newline="\n") as file:
            file.write(new)


if __name__ == "__main__":
    main()
