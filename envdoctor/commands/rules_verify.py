"""``envdoctor rules verify``: run the proofs of rules."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from envdoctor.authoring import rulebase
from envdoctor.commands.options import Parser
from envdoctor.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from envdoctor.authoring.proof.runner import Verified
    from envdoctor.authoring.proof.trials import Trial
    from envdoctor.authoring.syntax import Rule


def parser() -> Parser:
    """The options of ``envdoctor rules verify``."""
    made = Parser(
        prog="envdoctor rules verify",
        description="Run the proofs of rules: build each cell in a throw-away environment, run its script there, and "
        "write what came out beside the rule. This executes the scripts of the rules, without network and with limits.",
        epilog="examples:\n  envdoctor rules verify my-cause            one rule of rules/\n"
        "  envdoctor rules verify rules/web           those of a directory\n"
        "  envdoctor rules verify --jobs 8            every rule without a proof that is up to date\n"
        "  envdoctor rules verify my-cause --python 3.11 --again\n",
    )
    made.add_argument("rule", nargs="*", help="ids, files or directories (default: every rule of rules/)")
    made.add_argument("--python", action="append", default=[], metavar="X.Y", help="only trials on this Python")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="trials at a time")
    made.add_argument("--offline", action="store_true", help="install from uv's cache alone")
    made.add_argument("--changed", action="store_true", help="only rules that changed since they were proven")
    made.add_argument("--again", action="store_true", help="run what is proven or remembered as well")
    made.add_argument("--rules", default=None, metavar="DIR", help="the directory of rules (default: rules)")
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules verify``; 1 where a trial contradicts its rule."""
    from envdoctor.authoring.proof import build, runner
    from envdoctor.authoring.syntax import load_vocabulary

    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs} runs nothing: give 1 or more")
    directory = options.rules or ("rules" if os.path.isdir("rules") else rulebase.checkout())
    vocabulary = load_vocabulary(rulebase.vocabulary(directory))
    rules = _chosen(options.rule, directory, vocabulary)
    chosen = rules if options.again or options.rule else runner.outdated(rules, vocabulary)
    if options.changed:
        chosen = [rule for rule in runner.outdated(rules, vocabulary) if os.path.exists(_proof(rule))]
    build.sweep()
    work = runner.Run(chosen, vocabulary, versions=options.python, again=options.again)
    board = _Board(len(chosen), sum(map(len, work.plans.values())), len(work.todo))
    done = []
    for verified in work.verify(runner.local_pool(options.jobs, offline=options.offline), board.watch):
        board.tell(verified)
        done.append(verified)
    return _sum_up(done)


def _proof(rule: Rule) -> str:
    from envdoctor.authoring.proof.record import path_of

    return path_of(rule.path)


def _chosen(words: Sequence[str], directory: str, vocabulary: Mapping[str, Any]) -> list[Rule]:
    """The rules that ids, files and directories name.

    Raises :class:`UsageError` for what names none, and for rules that are not well formed.
    """
    from envdoctor.authoring.syntax import read_files, rule_files

    paths = [path for word in words if os.path.exists(word) for path in _files(word)]
    ids = [word for word in words if not os.path.exists(word)]
    if not words or ids:
        paths += rule_files(directory)
    rules, complaints = read_files(list(dict.fromkeys(paths)), vocabulary)
    if complaints:
        raise UsageError("the rules are not well formed:\n  " + "\n  ".join(map(str, complaints)))
    known = {rule.id: rule for rule in rules}
    strange = [name for name in ids if name not in known]
    if strange:
        raise UsageError(f"there is no rule {strange[0]} in {directory}; envdoctor rules list names them all")
    wanted = {*ids, *(rule.id for rule in rules if rule.path in paths and not ids)}
    return [rule for rule in rules if rule.id in wanted] if words else rules


def _files(path: str) -> list[str]:
    from envdoctor.authoring.syntax import rule_files

    return rule_files(path) if os.path.isdir(path) else [path]


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
