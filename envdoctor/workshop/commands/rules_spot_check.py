"""``envdoctor rules spot-check``: run releases that no proof names, and say where a rule is wrong about them."""

from __future__ import annotations

from typing import Any

from envdoctor.commands.output import write
from envdoctor.errors import UsageError
from envdoctor.workshop.commands.chosen import parser_for_trials, positive, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from envdoctor.commands.options import Parser
    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.spot_checks import SpotCheck


def parser() -> Parser:
    """The options of ``envdoctor rules spot-check``."""
    made = parser_for_trials(
        "spot-check",
        "Run the scripts of rules with releases that neither a cell nor the measurement of an edge names: of other "
        "branches, and pre-releases beside an edge, drawn with a seed. Print where a release that the rule calls bad "
        "works, or fails with an exception of the rule in a way that no symptom says, and where one fails that the "
        "rule says nothing about. This executes the scripts of the rules.",
        "examples:\n  envdoctor rules spot-check my-cause\n"
        "  envdoctor rules spot-check --most 4 --seed 2    four releases for every rule, other ones\n",
    )
    made.add_argument("rule", nargs="*", help="ids, files or directories (default: every rule of rules/)")
    made.add_argument("--most", type=positive, default=10, metavar="N", help="releases for each rule (default: 10)")
    made.add_argument("--seed", type=int, default=1, metavar="N", help="draw other releases (default: 1)")
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules spot-check``; 1 where a rule is wrong about a release."""
    rules, vocabulary = rules_of(options.rule, options.rules)
    if not rules:
        raise UsageError("there are no rules to check")
    others = _compiled(options.rules)
    wrong = 0
    for rule in rules:
        for line in _checked(rule, vocabulary, others, options):
            write(line + "\n")
            wrong += 1
    write(f"{len(rules)} rule{'s' * (len(rules) > 1)} checked, {wrong} release{'s' * (wrong != 1)} against them\n")
    return int(wrong > 0)


def _compiled(directory: str | None) -> dict[str, Mapping[str, Any]]:
    """Every rule that there is, compiled, by its id: another one may say what a rule does not."""
    from envdoctor.rulebase.compile import compile_rule

    rules, vocabulary = rules_of([], directory)
    return {rule.id: compile_rule(rule, vocabulary) for rule in rules}


def _checked(
    rule: Rule, vocabulary: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]], options: argparse.Namespace
) -> Iterator[str]:
    """A line for each release that a rule is wrong about."""
    from envdoctor.workshop.commands.rules_measure import minors, results_of
    from envdoctor.workshop.every_release import everything
    from envdoctor.workshop.proof import spot_checks
    from envdoctor.workshop.proof.judge import symptom
    from envdoctor.workshop.proof.measure import Survey

    survey = Survey(rule, vocabulary, minors(options), everything)
    checks = spot_checks.plan(survey, _known(rule), options.most, options.seed)
    results = results_of([one.trial for one in checks], options)
    for check in checks:
        result = results[check.trial.key()]
        shown = spot_checks.shown(check, result, survey.compiled)
        said = shown == spot_checks.MISSED and _said_by(check, others, vocabulary)
        if shown is not None and not said:
            yield f"{rule.id}: {_place(check)}: {shown}" + (f": {symptom(result)}" if symptom(result) else "")


def _known(rule: Rule) -> list[str]:
    """The names of the trials that the proof of a rule records."""
    from envdoctor.rulebase import record
    from envdoctor.rulebase.sources import proof_of

    proof = record.read(proof_of(rule.path)) or {}
    return [str(one["trial"]) for one in proof.get("trials", ())]


def _said_by(check: SpotCheck, others: Mapping[str, Mapping[str, Any]], vocabulary: Mapping[str, Any]) -> list[str]:
    """The rules that match a cell."""
    from envdoctor.workshop.cells import matched

    return [name for name, one in others.items() if matched(one["match"], check.cell, vocabulary)]


def _place(check: SpotCheck) -> str:
    """The environment of a check, in one line."""
    words = [f"Python {check.trial.place.python}"] if check.trial.place.python else []
    return ", ".join([*words, *(text.replace("==", " ") for text in check.trial.place.install)])
