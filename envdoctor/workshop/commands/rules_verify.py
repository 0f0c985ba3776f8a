"""``envdoctor rules verify``: run the proofs of rules."""

from __future__ import annotations

import os
import random
from typing import Any

from envdoctor.commands.output import say, write
from envdoctor.rulebase.reader import vocabulary_files
from envdoctor.rulebase.status import RETIRED
from envdoctor.workshop.commands.chosen import days, files_of, home_of, parser_for_trials, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from envdoctor.commands.options import Parser
    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.current import Ledger
    from envdoctor.workshop.proof.runner import Verified


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
        "  envdoctor rules verify --stale 90          run again what was proven more than 90 days ago\n"
        "  envdoctor rules verify --sample 5          hold a twentieth of the proofs against what they record\n",
    )
    made.add_argument("rule", nargs="*", help="ids, files or directories (default: every rule of rules/)")
    made.add_argument("--changed", action="store_true", help="only rules that changed since they were proven")
    made.add_argument(
        "--stale", type=days, metavar="DAYS", help="only rules whose proof is older than so many days, all of it again"
    )
    made.add_argument(
        "--ray", metavar="ADDRESS", help="run trials on this Ray cluster, such as auto or ray://host:10001"
    )
    made.add_argument(
        "--again", action="store_true", help="run what is proven or remembered as well, in the releases on record"
    )
    made.add_argument(
        "--sample", type=days, metavar="PERCENT", help="run so many of a hundred rules again, drawn at random"
    )
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules verify``; 1 where a trial contradicts its rule, 130 or 143 where a signal ended it."""
    rules, vocabulary = _to_prove(options)
    rules = [one for one in rules if one.status != RETIRED]
    if not rules:
        say("every proof is up to date")
        return _sum_up([])

    from envdoctor.workshop.commands.trial_progress import Progress
    from envdoctor.workshop.proof import build, pools, processes, runner

    build.sweep()
    locked = options.again or options.sample is not None
    again = locked or options.stale is not None
    work = runner.Run(rules, vocabulary, versions=options.python, again=again, locked=locked)
    trials = sum(map(len, work.plans.values()))
    say(f"{trials} trials of {len(rules)} rules, {len(work.todo)} to run")
    progress = Progress(len(work.todo))
    done = []
    where = ("ray", options.ray) if options.ray else ("local", options.jobs)
    with processes.stoppable() as interruption:
        pool = pools.pool(*where, offline=options.offline, begin=progress.begin)
        try:
            for verified in work.verify(pool, progress.end, progress.more):
                progress.clear()
                _tell(verified)
                done.append(verified)
        finally:
            progress.clear()
    if options.ray:
        say(f"on {len(getattr(pool, 'nodes', ()))} nodes of the cluster")
    _up_to_date(options, [one.rule for one in done], vocabulary)
    if interruption.number:
        return _interrupted(progress.done, progress.total, interruption.number, again=again)
    return _sum_up(done)


def _to_prove(options: argparse.Namespace) -> tuple[Sequence[Rule], Mapping[str, Any]]:
    """The rules to be proven: those that are named, else those whose proof is missing or not up to date."""
    if options.stale is not None:
        from envdoctor.workshop.proof import runner

        rules, vocabulary = rules_of(options.rule, options.rules)
        return runner.aged(rules, options.stale), vocabulary
    if options.sample is not None:
        return _drawn(options)
    if (options.rule or options.again) and not options.changed:
        return rules_of(options.rule, options.rules)
    return _outdated(options)


def _outdated(options: argparse.Namespace) -> tuple[Sequence[Rule], Mapping[str, Any]]:
    """The rules whose proof is missing or not up to date; with ``--changed`` only those that have one."""
    from envdoctor.rulebase.sources import proof_of

    paths = files_of(options.rule, options.rules)
    if options.changed:
        paths = [path for path in paths if os.path.exists(proof_of(path))]
    paths = _ledger(options).unknown(paths)
    if not paths:
        return [], {}
    rules, vocabulary = rules_of(paths, options.rules)
    current = _up_to_date(options, rules, vocabulary)
    return [rule for rule in rules if rule.path not in current], vocabulary


def _drawn(options: argparse.Namespace) -> tuple[Sequence[Rule], Mapping[str, Any]]:
    """A random share of the rules whose proofs record what they were run with."""
    from envdoctor.rulebase import record
    from envdoctor.rulebase.sources import proof_of

    rules, vocabulary = rules_of(options.rule, options.rules)
    known = [rule for rule in rules if (record.read(proof_of(rule.path)) or {}).get("meaning") == record.MEANING]
    number = min(len(known), -(-len(known) * options.sample // 100))
    return random.sample(known, number), vocabulary


def _ledger(options: argparse.Namespace) -> Ledger:
    from envdoctor.workshop.proof.current import Ledger

    home = home_of(options.rules)
    return Ledger(home, vocabulary_files(home))


def _up_to_date(options: argparse.Namespace, rules: Sequence[Rule], vocabulary: Mapping[str, Any]) -> set[str]:
    """The files of the rules whose proof is up to date, which are remembered."""
    from envdoctor.workshop.proof import runner

    outdated = {rule.path for rule in runner.outdated(rules, vocabulary)}
    current = {rule.path for rule in rules} - outdated
    _ledger(options).keep(current, files_of((), options.rules))
    return current


def _tell(verified: Verified) -> None:
    """Print one rule, and each of its trials that does not agree."""
    agree = sum(trial["verdict"] == "agrees" for trial in verified.trials)
    write(f"{verified.status:<9} {verified.rule.id}  ({agree} of {len(verified.trials)} trials agree)\n")
    for trial in verified.trials:
        if trial["verdict"] == "contradicts":
            write(f"  {trial['trial']} (Python {trial.get('python')}): {trial['reason']}\n")
        elif trial["verdict"] == "unproven" and verified.status != "proven":
            write(f"  {trial['trial']}: unproven, because {trial['reason']}\n")
        elif trial.get("moved"):
            moved = f"the installer moved {', '.join(trial['moved'])}"
            write(f"  {trial['trial']}: {moved}; `together: true` tells whether they work together\n")
    for gap in verified.missing:
        if gap["kind"] == "begins":
            write(f"  {gap['what']}, as {gap['why']}\n")


def _interrupted(done: int, total: int, number: int, *, again: bool) -> int:
    """Say how to go on; the status is what shells give to a program that a signal ended."""
    same = "the same command without --again" if again else "the same command"
    kept = f"{done} of {total} trials were run and are remembered"
    say(f"envdoctor: interrupted; {kept}, and {same} goes on with the rest")
    return 128 + number


def _sum_up(done: Sequence[Verified]) -> int:
    refuted = sum(one.status == "refuted" for one in done)
    ran = sum(one.ran for one in done)
    proven = sum(one.status == "proven" for one in done)
    say(f"{ran} trials run; of {len(done)} rules {proven} proven, {refuted} refuted")
    return int(bool(refuted))
