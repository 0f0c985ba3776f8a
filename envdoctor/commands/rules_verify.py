"""``envdoctor rules verify``: run the proofs of rules."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from envdoctor.authoring.status import RETIRED
from envdoctor.commands.chosen import days, parser_for_trials, rules_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from envdoctor.authoring.proof.runner import Verified
    from envdoctor.authoring.proof.trials import Trial
    from envdoctor.authoring.syntax import Rule
    from envdoctor.commands.options import Parser


def parser() -> Parser:
    """The options of ``envdoctor rules verify``."""
    made = parser_for_trials(
        "verify",
        "Run the proofs of rules: build each cell in a throw-away environment, run its script there, and "
        "write what came out beside the rule. This executes the scripts of the rules, without network and with limits.",
        "examples:\n  envdoctor rules verify my-cause            one rule of rules/\n"
        "  envdoctor rules verify rules/web           those of a directory\n"
        "  envdoctor rules verify --jobs 8            every rule without a proof that is up to date\n"
        "  envdoctor rules verify my-cause --python 3.11 --again\n"
        "  envdoctor rules verify --ray auto          on the Ray cluster at hand\n"
        "  envdoctor rules verify --stale 90          run again what was proven more than 90 days ago\n",
    )
    made.add_argument("rule", nargs="*", help="ids, files or directories (default: every rule of rules/)")
    made.add_argument("--changed", action="store_true", help="only rules that changed since they were proven")
    made.add_argument(
        "--stale", type=days, metavar="DAYS", help="only rules whose proof is older than so many days, all of it again"
    )
    made.add_argument(
        "--ray", metavar="ADDRESS", help="run trials on this Ray cluster, such as auto or ray://host:10001"
    )
    made.add_argument("--again", action="store_true", help="run what is proven or remembered as well")
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules verify``; 1 where a trial contradicts its rule."""
    from envdoctor.authoring.proof import build, pools, runner

    rules, vocabulary = rules_of(options.rule, options.rules)
    rules = _chosen([one for one in rules if one.status != RETIRED], vocabulary, options)
    build.sweep()
    again = options.again or options.stale is not None
    work = runner.Run(rules, vocabulary, versions=options.python, again=again)
    board = _Board(len(rules), sum(map(len, work.plans.values())), len(work.todo))
    done = []
    where = ("ray", options.ray) if options.ray else ("local", options.jobs)
    pool = pools.pool(*where, offline=options.offline)
    for verified in work.verify(pool, board.watch):
        board.tell(verified)
        done.append(verified)
    if options.ray:
        print(f"on {len(getattr(pool, 'nodes', ()))} nodes of the cluster", file=sys.stderr)
    return _sum_up(done)


def _chosen(rules: Sequence[Rule], vocabulary: Mapping[str, Any], options: argparse.Namespace) -> list[Rule]:
    """Of the rules that are named, those that the options ask to be run."""
    from envdoctor.authoring.proof import record, runner

    if options.stale is not None:
        return runner.aged(rules, options.stale)
    if options.changed:
        rules = [one for one in rules if os.path.exists(record.path_of(one.path))]
    if options.changed or not (options.rule or options.again):
        return runner.outdated(rules, vocabulary)
    return list(rules)


class _Board:
    """Says on stderr what is done, what failed, and how long is left."""

    def __init__(self, rules: int, trials: int, to_run: int) -> None:
        self.start = time.monotonic()
        self.total, self.done = to_run, 0
        self.live = sys.stderr.isatty()
        said = f"{trials} trials of {rules} rules, {to_run} to run" if rules else "every proof is up to date"
        print(said, file=sys.stderr)

    def watch(self, trial: Trial, _told: Mapping[str, Any]) -> None:
        """Take note of a trial that is done."""
        self.done += 1
        if self.live:
            left = (time.monotonic() - self.start) / self.done * max(self.total - self.done, 0)
            line = f"{self.done}/{self.total}  about {left:.0f} s left  {trial.rule}: {trial.name}"
            print(f"\r\x1b[2K{line[:100]}", end="", file=sys.stderr, flush=True)

    def tell(self, verified: Verified) -> None:
        """Print one rule, and each of its trials that does not agree."""
        if self.live:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
        agree = sum(trial["verdict"] == "agrees" for trial in verified.trials)
        print(f"{verified.status:<9} {verified.rule.id}  ({agree} of {len(verified.trials)} trials agree)", flush=True)
        for trial in verified.trials:
            if trial["verdict"] == "contradicts":
                print(f"  {trial['trial']} (Python {trial.get('python')}): {trial['reason']}", flush=True)
            elif trial["verdict"] == "unproven" and verified.status != "proven":
                print(f"  {trial['trial']}: unproven, because {trial['reason']}", flush=True)


def _sum_up(done: Sequence[Verified]) -> int:
    refuted = sum(one.status == "refuted" for one in done)
    ran = sum(one.ran for one in done)
    proven = sum(one.status == "proven" for one in done)
    print(f"{ran} trials run; of {len(done)} rules {proven} proven, {refuted} refuted", file=sys.stderr)
    return int(bool(refuted))
