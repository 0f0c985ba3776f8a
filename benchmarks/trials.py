"""What the trials of `envdoctor rules verify` cost, as ratios to the bare commands in the same session.

    python benchmarks/trials.py [--write docs/trials.md] [--rounds 5]

Needs uv, and the network once: pure-Python cells are built from a warm cache of real releases. The peer is a loop of
`uv venv`, `uv pip install` and the script, without limits, without a record of what was installed, and without tidying up.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import tool

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(HERE)
sys.path.insert(0, CHECKOUT)

from envdoctor.rulebase import record  # noqa: E402 - from this checkout
from envdoctor.rulebase.sources import proof_of  # noqa: E402
from envdoctor.rulebase.syntax import load_vocabulary, read_rules  # noqa: E402
from envdoctor.workshop.proof.build import uv, uv_version  # noqa: E402

CELLS = 12
RULES = 500
PACKAGES = {"requests": "2.31.0", "flask": "3.0.0", "rich": "13.7.0", "attrs": "23.2.0"}
SCRIPT = "import attr, flask, requests, rich"
PYTHON = "{}.{}".format(*sys.version_info[:2])
RULE = """\
id: measured
title: nothing is wrong
severity: error
impact: crash
when: {{packages: {{attrs: "<1"}}}}
why: It is measured.
symptoms: [{{raises: KeyError, message: "nothing of the kind"}}]
remedies: [change: "nothing"]
references: ["https://github.com/owner/name/issues/1"]
proof:
  script: {script}
  bad: [{{python: "{python}", packages: {{attrs: "0.1"}}, recorded: "https://github.com/owner/name/issues/1"}}]
  good:
{cells}
"""


class Laboratory:
    """A directory with the rule that is measured, and the ways to run its cells."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "ENVDOCTOR_PYTHONS": sys.executable,
            "XDG_CACHE_HOME": os.path.join(top, "cache"),
            "UV_CACHE_DIR": subprocess.run(
                [uv(), "cache", "dir"], check=True, capture_output=True, text=True
            ).stdout.strip(),
            "PYTHONPATH": CHECKOUT,
        }
        os.makedirs(os.path.join(top, "rules"))
        shutil.copy(os.path.join(CHECKOUT, "rules", "vocabulary.yaml"), os.path.join(top, "rules"))
        stated = ", ".join(f'{name}: "{version}"' for name, version in PACKAGES.items())
        cells = [
            f'    - {{python: "{PYTHON}", packages: {{{stated}}}, env: {{CELL: "{number}"}}}}'
            for number in range(CELLS)
        ]
        with open(os.path.join(top, "rules", "measured.yaml"), "w", encoding="utf-8") as file:
            file.write(RULE.format(script=SCRIPT, python=PYTHON, cells="\n".join(cells)))

    def bare(self) -> None:
        """What a shell script would do."""
        places = os.path.join(self.top, "bare")
        for number in range(CELLS):
            place = os.path.join(places, str(number))
            pins = [f"{name}=={version}" for name, version in PACKAGES.items()]
            python = os.path.join(place, "bin", "python")
            for words in (
                [uv(), "venv", "--quiet", "--no-project", "--python", sys.executable, place],
                [uv(), "pip", "install", "--quiet", "--offline", "--python", python, *pins],
                [python, "-c", SCRIPT],
            ):
                # in a separate session, as the runner's are: schedulers share out by session
                subprocess.run(words, check=True, env={**self.environment, "CELL": str(number)}, start_new_session=True)

    def tidy(self) -> None:
        """Remove what the bare loop made; that is not measured."""
        shutil.rmtree(os.path.join(self.top, "bare"), ignore_errors=True)

    def verify(self, jobs: int) -> None:
        """The same by the runner."""
        words = ["verify", "--again", "--offline", "--jobs", str(jobs)]
        done = self.envdoctor(self.top, words)
        if f"{CELLS} of {CELLS + 1} trials agree" not in done.stdout:
            raise SystemExit(f"the trials did not pass:\n{done.stdout}{done.stderr}")

    def envdoctor(self, directory: str, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run ``envdoctor rules``."""
        command = [sys.executable, "-m", "envdoctor", "rules", *words]
        return subprocess.run(command, cwd=directory, env=self.environment, capture_output=True, text=True, check=False)


def unchanged(top: str) -> str:
    """A base of many rules, made of those of this checkout, each with a proof that is up to date."""
    base = os.path.join(top, "base")
    os.makedirs(os.path.join(base, "rules", "copies"))
    vocabulary = os.path.join(base, "rules", "vocabulary.yaml")
    shutil.copy(os.path.join(CHECKOUT, "rules", "vocabulary.yaml"), vocabulary)
    words = load_vocabulary(vocabulary)
    rules, _ = read_rules(os.path.join(CHECKOUT, "rules"), words)
    for number in range(RULES):
        rule = rules[number % len(rules)]
        with open(rule.path, encoding="utf-8") as file:
            text = file.read().replace(f"id: {rule.id}\n", f"id: {rule.id}-{number}\n", 1)
        with open(os.path.join(base, "rules", "copies", f"{rule.id}-{number}.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
    rows = [{"trial": "bad 1", "kind": "bad", "verdict": "agrees", "installed": ["name==1.0"] * 30}] * 6
    for rule in read_rules(os.path.join(base, "rules"), words)[0]:
        with open(proof_of(rule.path), "w", encoding="utf-8") as file:
            file.write(record.dump(record.document(rule, words, rows, {"date": "2026-01-01"})))
    return base


def timed(work: Any, *arguments: Any) -> tuple[float, float]:
    """Give the seconds of the wall and of the processor that something takes."""
    before, start = os.times(), time.perf_counter()
    work(*arguments)
    wall, after = time.perf_counter() - start, os.times()
    used = [after[number] - before[number] for number in range(4)]
    return wall, sum(used)


def measure(top: str, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Everything in turn, round by round, so that what else the machine does falls on all alike."""
    laboratory = Laboratory(top)
    pins = [f"{name}=={version}" for name, version in PACKAGES.items()]
    warm = os.path.join(top, "warm")
    subprocess.run([uv(), "venv", "--quiet", "--no-project", "--python", sys.executable, warm], check=True)
    subprocess.run(
        [uv(), "pip", "install", "--quiet", "--python", os.path.join(warm, "bin", "python"), *pins], check=True
    )
    base = unchanged(top)
    laboratory.verify(2)
    laboratory.envdoctor(base, ["verify"])
    seen: dict[str, list[tuple[float, float]]] = {"bare": [], "one": [], "two": [], "second": []}
    for _ in range(rounds):
        seen["bare"].append(timed(laboratory.bare))
        laboratory.tidy()
        seen["one"].append(timed(laboratory.verify, 1))
        seen["two"].append(timed(laboratory.verify, 2))
        seen["second"].append(timed(laboratory.envdoctor, base, ["verify"]))
    return seen


def page(seen: dict[str, list[tuple[float, float]]]) -> str:
    """The page for the documentation."""
    wall = {name: statistics.median(took for took, _ in values) for name, values in seen.items()}
    used = {name: statistics.median(took for _, took in values) for name, values in seen.items()}
    dearer = statistics.median(one[0] / bare[0] for one, bare in zip(seen["one"], seen["bare"]))
    work = statistics.median(one[1] / bare[1] for one, bare in zip(seen["one"], seen["bare"]))
    faster = statistics.median(one[0] / two[0] for one, two in zip(seen["one"], seen["two"]))
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, uv {uv_version()}"
    night = 10_000 * 6 * used["one"] / CELLS / 3600
    return f"""\
# What trials cost

Made by `python benchmarks/trials.py --write docs/trials.md`; do not edit. Whole commands, warm cache of uv, medians of
rounds in which everything is measured in turn ({len(seen["bare"])}). CPython {platform.python_version()}, {machine}. Trust the ratios, not the seconds.

{CELLS} cells of {", ".join(PACKAGES)} and what they require. The bare loop is `uv venv`, `uv pip install` and the script, and
leaves its environments behind; `rules verify` isolates and limits the script, records what was installed, and tidies up.

| | seconds | of the processor | |
|---|--:|--:|--:|
| the bare loop | {wall["bare"]:.2f} | {used["bare"]:.2f} | |
| `rules verify --jobs 1` | {wall["one"]:.2f} | {used["one"]:.2f} | {dearer:.2f} times the bare loop ({work:.2f} of the processor) |
| `rules verify --jobs 2` | {wall["two"]:.2f} | {used["two"]:.2f} | {faster:.2f} times as fast as one worker |
| a second `rules verify`, {RULES} rules unchanged | {wall["second"]:.2f} | {used["second"]:.2f} | no trial is run |

Ten thousand rules of six such cells would take one core {night:.0f} hours, and sixteen cores {night / 16:.1f}. Cells with large
compiled wheels take what unpacking and importing those takes; the first run downloads them besides.
"""


def main() -> None:
    """Measure, print, and perhaps write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="FILE", help="write the page here as well")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="envdoctor-trials-") as top:
        text = page(measure(top, options.rounds))
    tool.put(text, options.write)


if __name__ == "__main__":
    main()
