"""What proving a large rule base would take, from what real trials have cost.

    python benchmarks/cost.py [--until TIME] [--write docs/trials-on-ray.md]

Reads the results that `envdoctor rules verify` remembers for a week in the user's cache: each holds the seconds from the first call of uv to the end of the
script. --until leaves out later ones (such as 2026-11-21T09:00), where the machine then had other work.
"""

from __future__ import annotations

import argparse
import glob
import json
import math
import os
import statistics
import sys
from typing import Any

import tool

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from envdoctor.probes import cache  # noqa: E402 - from this checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

RULES, CELLS = 10_000, 6
PROCESSORS = (2, 8, 64, 512)
HOUR = 3600
#: The least and the most distributions of an environment, by what it is called.
SIZES = {
    "nothing installed": (0, 0),
    "1 to 5 distributions": (1, 5),
    "6 to 30": (6, 30),
    "more": (31, math.inf),
    "all": (0, math.inf),
}


def remembered(until: str) -> list[dict[str, Any]]:
    """The results that were run to an end."""
    found = []
    for path in glob.glob(os.path.join(cache.directory(), "trials", "*.json")):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        if "seconds" in record and (not until or record["at"] < until):
            found.append(record)
    return found


def page(trials: Sequence[dict[str, Any]]) -> str:
    """The page of figures."""
    kinds = {name: _seconds(trials, least, most) for name, (least, most) in SIZES.items()}
    mean = statistics.mean(kinds["all"])
    total = RULES * CELLS * mean
    lines = [
        "# Trials on a cluster",
        "",
        "Made by `python benchmarks/cost.py`; do not edit. `envdoctor rules verify --ray ADDRESS` runs the trials of rules on an",
        "existing Ray cluster, one task each; without it they run on this machine, `--jobs` at a time. The results and the proof",
        "files are the same. Each node needs `pip install 'pyenvdoctor[ray]'` of the same version, the platform of the machine",
        "that asks, and the interpreters; a trial on a node that lacks one is unproven and says so. Each node keeps its own uv",
        "cache, so a release is downloaded once for each node.",
        "",
        "## What a trial costs",
        "",
        f"{len(trials):,} trials of this rule base, several at a time on a machine with {os.cpu_count()} processors that did other work",
        "besides: seconds of wall time from the first call of uv to the end of the script.",
        "",
        "| environment | trials | lower quartile | median | mean |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += [_row(name, seconds) for name, seconds in kinds.items() if len(seconds) > 1]
    lines += [
        "",
        f"## {RULES:,} rules of {CELLS} cells",
        "",
        f"At the mean of {mean:.1f} s, {RULES * CELLS:,} trials are {total / HOUR:,.0f} hours of one processor. Trials do not wait for each other, so",
        "they divide by the processors. What Ray adds to each trial is left out.",
        "",
        "| processors | hours |",
        "|--:|--:|",
        *(f"| {number} | {total / HOUR / number:,.1f} |" for number in PROCESSORS),
        "",
        "The safe remedies of bad cells are trials too: this rule base has about as many of them as of bad cells.",
        "",
    ]
    return "\n".join(lines)


def _seconds(trials: Sequence[dict[str, Any]], least: int, most: float) -> list[float]:
    """What the trials took in whose environments were so many distributions."""
    return [one["seconds"] for one in trials if least <= len(one.get("installed") or ()) <= most]


def _row(name: str, seconds: Sequence[float]) -> str:
    """The row of the table for some trials."""
    low, middle, _ = statistics.quantiles(seconds, n=4)
    return f"| {name} | {len(seconds):,} | {low:.1f} | {middle:.1f} | {statistics.mean(seconds):.1f} |"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--until", metavar="TIME", default="", help="leave out what was run later")
    parser.add_argument("--write", metavar="FILE", help="write the page here as well")
    options = parser.parse_args()
    trials = remembered(options.until)
    if len(trials) < 2:
        sys.exit("cost: no trial is remembered; run `envdoctor rules verify` first")
    tool.put(page(trials), options.write)


if __name__ == "__main__":
    main()
