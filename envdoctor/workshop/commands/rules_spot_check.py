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
    from envdoctor.workshop.proof.trials import Trial


def parser() -> Parser:
    """The options of ``envdoctor rules spot-check``."""
    made = parser_for_trials(
        "spot-check",
        "Run the scripts of rules with releases that neither a cell nor the measurement of an edge names: of other "
        "branches, pre-releases beside an edge, and all that a rule names at once, drawn with a seed; old ones "
        "also with what else was published in their time. Print where a "
        "release that the rule calls bad works, or fails in a way that no symptom says, where the cure that is printed "
        "first does not cure, and where one fails that no rule says anything about. This executes the scripts of the "
        "rules.",
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
    failed = [one for one in checks if spot_checks.is_as_stated(one, results[one.trial.key()], survey.compiled)]
    quiet = [one for one in checks if spot_checks.shown(one, results[one.trial.key()], survey.compiled) is None]
    results.update(results_of([trial for one in quiet for trial in one.earlier], options))
    for check in checks:
        trial, shown = _against(check, results, survey.compiled)
        result = results[trial.key()]
        if shown is not None and not _is_said_by_another(rule, shown, check, result, others, vocabulary):
            yield ": ".join(filter(None, (rule.id, _place(trial), shown, symptom(result))))
    cures = [(one, one.cure) for one in failed if one.cure is not None]
    results.update(results_of([cure for _, cure in cures], options))
    for check, cure in cures:
        why = spot_checks.uncured(cure, results[cure.key()], survey.compiled)
        if why is not None:
            yield f"{rule.id}: {_place(check.trial)}: {why}"


def _against(
    check: SpotCheck, results: Mapping[str, Mapping[str, Any]], texts: Mapping[str, Any]
) -> tuple[Trial, str | None]:
    """The first trial of a check that says something against the rule, and what; else its own and nothing."""
    from envdoctor.workshop.proof.spot_checks import shown

    ran = [one for one in (check.trial, *check.earlier) if one.key() in results]
    told = ((one, shown(check, results[one.key()], texts)) for one in ran)
    return next((one for one in told if one[1] is not None), (check.trial, None))


def _known(rule: Rule) -> list[str]:
    """The names of the trials that the proof of a rule records."""
    from envdoctor.rulebase import record
    from envdoctor.rulebase.sources import proof_of

    proof = record.read(proof_of(rule.path)) or {}
    return [str(one["trial"]) for one in proof.get("trials", ())]


def _is_said_by_another(
    rule: Rule,
    shown: str,
    check: SpotCheck,
    result: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    vocabulary: Mapping[str, Any],
) -> bool:
    """Whether another rule matches a cell that this one misses, or knows a failure that none of its symptoms is."""
    from envdoctor.workshop.cells import matched
    from envdoctor.workshop.proof import judge, spot_checks

    rest = (one for name, one in others.items() if name != rule.id and matched(one["match"], check.cell, vocabulary))
    if shown == spot_checks.OTHERWISE:
        return any(one["symptoms"] and judge.known(result, one) for one in rest)
    return shown == spot_checks.MISSED and any(True for _ in rest)


def _place(trial: Trial) -> str:
    """The environment of a trial, in one line."""
    place = trial.place
    words = [f"Python {place.python}"] if place.python else []
    time = [f"with what was published until {place.until}"] if place.until else []
    return ", ".join([*words, *(text.replace("==", " ") for text in place.install), *time])
