"""Counts what is proven, and under which meaning, from the proof files, and what a sample of rules showed.

python -m envdoctor.workshop.proof_page [RULES] [--samples docs/proof-sample*.yaml] [--write docs/proof.md]
"""

from __future__ import annotations

import argparse
import glob
import pathlib
import sys
from collections import Counter
from typing import Any

import yaml

from envdoctor.rulebase import record
from envdoctor.rulebase import status as statuses
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.sources import proof_of
from envdoctor.rulebase.syntax import read_rules
from envdoctor.workshop.proof.ends import PYTHON
from envdoctor.workshop.proof.gaps import KINDS
from envdoctor.workshop.proof.judge import OTHERWISE, UNPROVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Proof = Mapping[str, Any]

_HEAD = """\
# What is proven

Made by `python -m envdoctor.workshop.proof_page --write docs/proof.md`, which counts what the proof files contain; do
not edit. A proof says which meaning of *proven* it satisfies. Under the first, a bad and a good cell agreed. Under the
second `rules verify` measures besides: the neighbours on both sides of every range, of the rule and of each consumer;
what is open at its outermost release; the oldest and the newest Python; remedies from each far end, up to the first
that cures; and what a plain import shows, a command, or the first use of a package that is there for one call
(`first_use` in `rules/vocabulary.yaml`). A rule whose proof is of the first meaning keeps the status that it had, until
its next. From 24 November 2026 on a range also has to begin where releases fail as the rule says; older proofs show
where it does not."""


def page(directory: str, samples: Sequence[Mapping[str, Any]] = ()) -> str:
    """The page, for the rules of a directory, and what ``samples`` of them showed to somebody who checked them."""
    words = vocabulary_of(directory)
    rules = statuses.of_base({rule.id: rule for rule in read_rules(directory, words)[0]})
    proofs = {name: record.read(proof_of(rule.path)) or {"edited": False, "trials": []} for name, rule in rules.items()}
    standing = {name: record.status(rule, words, proofs[name]) for name, rule in rules.items()}
    lines = [_HEAD, *_standings(standing, proofs)]
    return "\n".join([*lines, *(line for sample in samples for line in _sampled(sample))]) + "\n"


def _standings(standing: Mapping[str, str], proofs: Mapping[str, Proof]) -> Iterator[str]:
    """How many rules have which status, what was run for them, and which are verified and not stable."""
    second = {name: proof for name, proof in proofs.items() if proof.get("meaning") == record.MEANING}
    others = sorted(name for name in second if standing[name] != record.PROVEN)
    rows = {
        "in force": len(standing),
        "stable, under either meaning": list(standing.values()).count(record.PROVEN),
        "verified under the second meaning": len(second),
        "stable under the second meaning": len(second) - len(others),
        "of these, to be run again: a range takes in an old release that failed in another way": sum(
            _begins_early(second[name]) for name in second if name not in others
        ),
    }
    yield from ("", "| | rules |", *_table(rows), "", *_counted(list(second.values())))
    yield from ("", "Verified under the second meaning, and not stable:", "")
    yield from [f"- {name}: {standing[name]}, {_why(second[name])}" for name in others] or ["- none"]


def _begins_early(proof: Proof) -> bool:
    """Whether a proof from before ranges had to begin where they fail shows one that does not."""
    reasons = {row["trial"].partition(", on ")[2]: str(row.get("reason")) for row in proof["trials"]}
    ends = (one for one in proof.get("edges", ()) if (one["side"], one["kind"]) == ("lower", "bad"))
    unlike = (one for one in ends if one["axis"] != PYTHON and not one.get("unlike") and one.get("shown") != one["at"])
    return any(reasons.get(f"{one['axis']} {one['at']}", "").startswith(OTHERWISE) for one in unlike)


def _sampled(sample: Mapping[str, Any]) -> Iterator[str]:
    entries = sample["entries"]
    title = f"## A random sample of {sample['date']}, checked off the grid, with the seed {sample['seed']}"
    yield from ("", title, "", sample["about"].strip())
    yield from ("", "| meaning | rules | hold fully | |", "|---|--:|--:|--:|")
    for meaning in sorted({entry["meaning"] for entry in entries}):
        holds = [entry["holds"] for entry in entries if entry["meaning"] == meaning]
        yield f"| {meaning} | {len(holds)} | {sum(holds)} | {sum(holds) / len(holds):.0%} |"
    yield from ("", "| rule | meaning | deviation |", "|---|--:|---|")
    yield from (f"| {one['rule']} | {one['meaning']} | {one['deviation']} |" for one in entries if not one["holds"])


def _table(rows: Mapping[str, int]) -> Iterator[str]:
    yield "|---|--:|"
    yield from (f"| {said} | {number} |" for said, number in rows.items())


def _counted(proofs: Sequence[Proof]) -> Iterator[str]:
    trials = [row for proof in proofs for row in proof["trials"] if row["verdict"] != UNPROVEN]
    run = Counter((row["kind"], bool(row.get("measured"))) for row in trials)
    breaks = Counter(row.get("breaks") for row in trials if row["kind"] == "severity")
    edges = Counter(map(_reached, (edge for proof in proofs for edge in proof.get("edges", ()))))
    yield from ("Of those of the second meaning:", "", "| | |")
    yield from _table(
        {
            "cells stated and run": run["bad", False] + run["good", False],
            "cells measured besides": run["bad", True] + run["good", True],
            "remedies run from stated cells": run["remedy", False],
            "remedies run from far ends": run["remedy", True],
            "ends of ranges, and of Python, shown where they are stated": edges["there"],
            "shown at the nearest version that tells anything": edges["near"],
            "not shown": edges["nowhere"],
            "a plain import fails": breaks["import"],
            "a command fails, and the import does not": breaks["command"],
            "a first use fails, and neither import nor command does": breaks["first use"],
            "none of them fails": breaks[None],
        }
    )
    gaps = Counter((one["kind"], one["needed"]) for proof in proofs for one in proof.get("missing", ()))
    yield from ("", "| missing | needed | named only |", "|---|--:|--:|")
    yield from (f"| {said} | {gaps[kind, True]} | {gaps[kind, False]} |" for kind, said in KINDS.items())


def _reached(edge: Mapping[str, Any]) -> str:
    return "nowhere" if "shown" not in edge else "there" if edge["shown"] == edge["at"] else "near"


def _why(proof: Proof) -> str:
    wrong = [f"{row['trial']} {row.get('reason')}" for row in proof["trials"] if row["verdict"] == "contradicts"]
    gaps = [f"{one['what']}: {one['why']}" for one in proof.get("missing", ()) if one["needed"]]
    return " ".join([*wrong, *gaps, ""][0].split())[:160]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="?", default="rules")
    parser.add_argument("--samples", metavar="FILE", nargs="*", help="what was checked off the grid")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_args(arguments)
    files = sorted(glob.glob("docs/proof-sample*.yaml")) if options.samples is None else options.samples
    samples = [yaml.safe_load(pathlib.Path(file).read_text(encoding="utf-8")) for file in files]
    text = page(options.rules, samples)
    if options.write:
        with open(options.write, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
