"""How well envdoctor diagnoses real incidents, and whether it leaves healthy environments alone.

    python benchmarks/accuracy.py --score PROGRAM --cases DIR --healthy DIR [--write docs/accuracy.md]

PROGRAM is run as `PROGRAM --envdoctor COMMAND --cases DIR --healthy DIR --show`. It calls the public commands on every incident and every environment, prints
`missed FIGURE: INCIDENT` and `healthy but LEVEL: ENVIRONMENT: RULE, ...`, and as its last line the sums as JSON. --cases and --healthy may be given several
times, in pairs, such as for incidents that nobody saw while writing rules. envdoctor is this checkout's wheel in a separate environment, or --envdoctor COMMAND.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from typing import Any

import first_sight
import tool

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(HERE)
HEALTHY = os.path.join(CHECKOUT, "docs", "healthy.md")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What is counted, what it means, and the least (or most) share that is good enough.
FIGURES = (
    ("sensitivity", "a warning or an error names every distribution that is to blame", 0.95),
    ("boundary", "its rule is silent once the incident is cured", 0.97),
    ("remedy", "one of its remedies acts on what the incident's own cure acted on", 0.92),
    ("project", "the same with the project's files, where it took those to see it", 0.85),
    ("explain", "from the text of the error, and the environment: the cause is among the first three", 0.95),
    ("explain-blind", "from the text of the error alone", 0.90),
)
HARM = (
    ("healthy-with-error", "healthy environments with an error", 0.0),
    (
        "healthy-with-warning",
        "healthy environments with a warning, true or false: each is judged below; the bar is for false ones",
        0.03,
    ),
)


def score(program: str, envdoctor: str, cases: str, healthy: str) -> tuple[dict[str, Any], list[str]]:
    """The sums that the program prints, and its lines about each miss and each healthy environment that is flagged."""
    words = ["--envdoctor", envdoctor, "--cases", cases, "--healthy", healthy, "--show"]
    done = subprocess.run([*shlex.split(program), *words], stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    try:
        return json.loads(lines[-1]), lines[:-1]
    except (IndexError, ValueError):
        sys.exit(f"accuracy: {program} printed no sums as its last line (exit status {done.returncode})")


def rule_base(envdoctor: str) -> dict[str, int]:
    """How many rules there are, by status."""
    done = subprocess.run([*shlex.split(envdoctor), "rules", "list", "-f", "json"], stdout=subprocess.PIPE, check=True)
    statuses = [rule["status"] for rule in json.loads(done.stdout)]
    return {name: statuses.count(name) for name in ("stable", "reported", "candidate", "retired")}


def page(base: Mapping[str, int], sets: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> str:
    """The page of figures."""
    with open(HEALTHY, encoding="utf-8") as file:
        judged = file.read()
    return "\n".join(
        [
            *_head(base),
            *(line for number, one in enumerate(sets, 1) for line in _set(number, len(sets), *one, judged)),
            *_at_first_sight(),
            "",
        ]
    )


def _head(base: Mapping[str, int]) -> Iterator[str]:
    yield "# Accuracy"
    yield ""
    yield "Made by `python benchmarks/accuracy.py`; do not edit. Every incident is one that a person reported in public, given to the"
    yield "installed command as a snapshot and as the text of the error; every healthy environment is a published lock file."
    yield ""
    yield f"{base['stable'] + base['reported']} rules: {base['stable']} stable (proven here), {base['reported']} reported (cited, and warnings at most)."
    yield f"Besides, {base['candidate']} candidates, which are silent, and {base['retired']} retired."


def _set(number: int, of: int, sums: Mapping[str, Any], lines: Sequence[str], judged: str) -> Iterator[str]:
    yield ""
    yield f"## {sums['cases']} incidents, {sums['healthy']} healthy environments" + (
        f" (set {number})" if of > 1 else ""
    )
    yield ""
    yield "| figure | measured | share | bar | what is counted |"
    yield "|---|--:|--:|--:|---|"
    yield from (_figure(*figure, "≥", sums) for figure in FIGURES)
    yield from (_figure(*figure, "≤", sums) for figure in HARM)
    yield f"| crashes | {sums['crashes']} | | 0 | |"
    missed = [line for line in lines if line.startswith("missed ")]
    if missed:
        yield from ("", "Missed:", "", *(f"- {line.removeprefix('missed ')}" for line in missed))
    yield from _flagged(lines, judged)


def _figure(name: str, meaning: str, bar: float, sign: str, sums: Mapping[str, Any]) -> str:
    """The row of one figure; ``sign`` says on which side of the bar it has to be."""
    count, _, total = str(sums[name]).partition("/")
    share = f"{int(count) / int(total):.1%}" if int(total) else ""
    return f"| {name} | {count} of {total} | {share} | {sign} {bar:.0%} | {meaning} |"


def _flagged(lines: Sequence[str], judged: str) -> Iterator[str]:
    """The healthy environments that are flagged, each with whether somebody has judged it."""
    flagged = list(filter(None, (re.fullmatch(r"healthy but (\w+): (.*): (.*)", line) for line in lines)))
    if flagged:
        yield from ("", "Healthy environments that are flagged; [each is judged](healthy.md):", "")
        for found in flagged:
            known = found[2] in judged
            yield f"- {found[2]}: {found[3]} ({found[1]}{'' if known else ', **not judged yet**'})"


def _at_first_sight() -> Iterator[str]:
    """What each draw of incidents that nobody had seen showed when it was first looked at."""
    with open(first_sight.RUNS, encoding="utf-8") as file:
        runs = [run for run in map(json.loads, file) if run["draw"] != "healthy"]
    firsts: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        firsts.setdefault(run["draw"], run)
    yield from ("", "## At first sight", "")
    yield "Incidents that were drawn by area, frozen, and scored once before anything was changed, with their environments built:"
    yield "[each of them, and what came of it later](first-sight.md)."
    yield from ("", "| draw | date | versions | with project files | explain | by the text alone | false errors |")
    yield "|---|---|--:|--:|--:|--:|--:|"
    for run in firsts.values():
        draw, date, _, _, _, *found = first_sight.figures(run)
        yield f"| {' | '.join([draw, date, *found])} |"


def main() -> None:
    """Measure, and print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--score", required=True, metavar="PROGRAM")
    parser.add_argument("--cases", required=True, action="append", metavar="DIR", help="incidents")
    parser.add_argument("--healthy", required=True, action="append", metavar="DIR", help="healthy environments")
    parser.add_argument(
        "--envdoctor", metavar="COMMAND", help="measure this command in place of a wheel of this checkout"
    )
    parser.add_argument("--write", metavar="FILE", help="write the page here as well")
    options = parser.parse_args()
    if len(options.cases) != len(options.healthy):
        parser.error("give --cases and --healthy in pairs")
    with tempfile.TemporaryDirectory() as directory:
        envdoctor = options.envdoctor or tool.install(os.path.join(directory, "tool"))
        pairs = zip(options.cases, options.healthy)
        text = page(rule_base(envdoctor), [score(options.score, envdoctor, *pair) for pair in pairs])
    tool.put(text, options.write)


if __name__ == "__main__":
    main()
