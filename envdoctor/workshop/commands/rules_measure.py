"""``envdoctor rules bisect`` and ``rules matrix``: measure where a rule begins and ends."""

from __future__ import annotations

import os
from typing import Any

from envdoctor.commands.output import write
from envdoctor.errors import UsageError
from envdoctor.workshop.commands.chosen import parser_for_trials, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.commands.options import Parser
    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.edge_search import MeasuredEdge
    from envdoctor.workshop.proof.matrix import Axis, Grid
    from envdoctor.workshop.proof.trials import Trial


def _parser(name: str, description: str, examples: str) -> Parser:
    made = parser_for_trials(name, description, examples)
    made.add_argument("rule", metavar="RULE", help="an id, or a rule's file")
    return made


def bisect_parser() -> Parser:
    """The options of ``envdoctor rules bisect``."""
    made = _parser(
        "bisect",
        "Walk the releases of each distribution, and the Pythons, between a bad and a good cell of a rule's proof; "
        "print what each showed, the specifier that was measured, and where the rule states another. "
        "This executes the rule's script.",
        "examples:\n  envdoctor rules bisect my-cause\n"
        "  envdoctor rules bisect my-cause --every    each release, not by halving\n"
        "  envdoctor rules bisect rules/web --begin   those of a directory, as `rules verify` measured them\n",
    )
    made.add_argument("--every", action="store_true", help="measure every release on the way")
    made.add_argument(
        "--begin", action="store_true", help="run nothing: write where ranges begin, as the proof has measured"
    )
    return made


def matrix_parser() -> Parser:
    """The options of ``envdoctor rules matrix``."""
    made = _parser(
        "matrix",
        "Run a rule's script with the releases of a distribution against every Python at hand, or against the releases "
        "of another distribution, and draw the results.",
        "examples:\n  envdoctor rules matrix my-cause\n  envdoctor rules matrix my-cause --across other --from 1.0\n"
        "  envdoctor rules matrix my-cause --releases all --script kinds.py -o docs/grid.svg\n",
    )
    for option, metavar, said in (
        ("--down", "NAME", "the distribution of the rows (default: the rule's first)"),
        ("--script", "FILE", "another script; one that ends in `17 of 20` is counted"),
        ("--output", "FILE", "write a picture: .svg, .html or .txt"),
    ):
        made.add_argument(option, *(["-o"] if option == "--output" else []), metavar=metavar, help=said)
    made.add_argument("--across", metavar="NAME", default="python", help="python (default), or another distribution")
    made.add_argument("--releases", choices=["all", "minor", "major"], default="minor", help="default: minor")
    made.add_argument("--from", dest="first", metavar="VERSION", help="the oldest release of the rows")
    return made


def _rule(options: argparse.Namespace) -> tuple[Rule, Mapping[str, Any]]:
    rules, vocabulary = rules_of([options.rule], options.rules)
    if len(rules) != 1:
        raise UsageError(f"{options.rule} holds {len(rules)} rules, and one is measured at a time: give its id")
    return rules[0], vocabulary


def minors(options: argparse.Namespace) -> list[str]:
    """The Pythons at hand, or those of them that are wanted."""
    from envdoctor.workshop.proof import pythons

    found = {tuple(map(int, version.split(".")[:2])) for version in pythons.found()}
    minors = [".".join(map(str, one)) for one in sorted(found)]
    return [one for one in minors if not options.python or one in options.python]


def results_of(planned: Sequence[Trial], options: argparse.Namespace) -> dict[str, Mapping[str, Any]]:
    """The result of each trial by its key, remembered or run, with progress on stderr."""
    from envdoctor.workshop.commands.trial_progress import Progress
    from envdoctor.workshop.proof import processes, runner

    found: dict[str, Mapping[str, Any]] = {}
    found.update((one.key(), result) for one in planned for result in [runner.remembered(one)] if result is not None)
    todo = list({trial.key(): trial for trial in planned if trial.key() not in found}.values())
    progress = Progress(len(todo))
    with processes.stoppable() as interruption:
        pool = runner.local_pool(options.jobs, offline=options.offline, begin=progress.begin)
        try:
            for trial, result in pool(todo):
                runner.remember(trial, result)
                found[trial.key()] = result
                progress.end(trial, seconds=result["seconds"])
        finally:
            progress.clear()
    if interruption.number:
        raise KeyboardInterrupt
    return found


def bisect(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules bisect``; 1 where an edge is not where the rule states it."""
    if options.begin:
        return _begin(options)
    from envdoctor.probes.releases import releases
    from envdoctor.workshop.proof import edge_search as measure
    from envdoctor.workshop.proof.trials import plan

    rule, vocabulary = _rule(options)
    pairs = measure.pairs(plan(rule, vocabulary, minors(options)), releases, minors(options))
    if not pairs:
        raise UsageError(f"{rule.id} has no bad and good cell that differ on one axis alone: add such a good cell")
    edges = []
    for pair in pairs:
        steps = measure.walk(pair, lambda trial: results_of([trial], options)[trial.key()], every=options.every)
        edges.append(measure.edge(pair, steps, rule))
        write("\n".join(_edge_lines(edges[-1])) + "\n\n")
    return int(any(edge.wrong for edge in edges))


def _begin(options: argparse.Namespace) -> int:
    """Write into rules where their ranges begin; 1 where a range that a proof has measured was not found."""
    from envdoctor.rulebase import record
    from envdoctor.rulebase.sources import proof_of
    from envdoctor.workshop import lower_bounds

    left = 0
    for rule in rules_of([options.rule], options.rules)[0]:
        for edge in lower_bounds.unlike(record.read(proof_of(rule.path)) or {}):
            with open(rule.path, "r+", encoding="utf-8") as file:
                changed = lower_bounds.begun(file.read(), rule, edge["axis"], edge["begins"])
                if changed is not None:
                    file.seek(0)
                    file.write(changed)
                    file.truncate()
            left += changed is None
            said = "begins at" if changed is not None else "is to begin, in a place that was not found, at"
            write(f"{rule.id}: {edge['axis']} {said} {edge['begins']}\n")
    return int(left > 0)


def _edge_lines(edge: MeasuredEdge) -> Iterator[str]:
    yield f"{'Python' if edge.axis == 'python' else edge.axis}, with {edge.place or 'nothing else'}"
    width = max(len(step.version) for step in edge.steps)
    for step in edge.steps:
        yield f"  {step.version:<{width}}  {step.outcome:<15}  {step.symptom or ''}".rstrip()
    yield f"  measured: {edge.proposed}"
    yield from (f"  stated otherwise: {said}" for said in edge.wrong)


def matrix(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules matrix``."""
    from envdoctor.workshop.proof import matrix as grids

    draw = _form(options.output)
    rule, vocabulary = _rule(options)
    base = _built(rule, vocabulary)
    if options.script:
        base = base.replace(script=_script(options.script))
    rows = _axis(options.down or _first(rule, base), options)
    columns = _axis(options.across, options)
    planned = grids.plan(base, rows, columns)
    results = results_of([one for row in planned for one in row], options)
    squares = [[grids.square(results[one.key()]) for one in row] for row in planned]
    title = f"{rule.id}: {rows.name} and {'Python' if columns.name == 'python' else columns.name}"
    grid = grids.Grid(title=title, rows=rows, columns=columns, squares=squares)
    write(draw(grid), options.output)
    return 0


def _form(output: str | None) -> Callable[[Grid], str]:
    """The function that draws a grid: by the ending of a file's name, as text where there is none."""
    from envdoctor.workshop.proof import picture

    if not output:
        return picture.text
    ending = os.path.splitext(output)[1]
    if ending not in picture.FORMS:
        raise UsageError(f"{output} is no kind of picture: give it the ending {', '.join(picture.FORMS)}")
    return picture.FORMS[ending]


def _built(rule: Rule, vocabulary: Mapping[str, Any]) -> Trial:
    """The first trial of a rule that can be built here."""
    from envdoctor.workshop.proof.trials import plan

    for trial in plan(rule, vocabulary, ()):
        if not (trial.recorded or trial.unbuildable):
            return trial
    raise UsageError(f"{rule.id} has no cell that can be built here")


def _script(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the script {path} could not be read: {error}") from error


def _first(rule: Rule, base: Trial) -> str:
    named = [text.partition("==")[0] for text in base.place.install]
    inside = [name for name in rule.when.get("packages", {}) if name in named]
    if not named:
        raise UsageError(f"{rule.id} installs nothing: say with --down which distribution to measure")
    return (inside or named)[0]


def _axis(name: str, options: argparse.Namespace) -> Axis:
    from packaging.version import Version

    from envdoctor.probes.releases import releases
    from envdoctor.workshop.proof.ends import PYTHON
    from envdoctor.workshop.proof.matrix import Axis, thinned

    if name == PYTHON:
        return Axis(name=name, versions=minors(options))
    known = [one for one in releases(name) or () if not Version(one).is_prerelease]
    if not known:
        raise UsageError(f"the index has no releases of {name}: correct the name, or ask again with the network")
    if options.first and name != options.across:
        known = [one for one in known if Version(one) >= Version(options.first)]
    return Axis(name=name, versions=thinned(known, options.releases))
