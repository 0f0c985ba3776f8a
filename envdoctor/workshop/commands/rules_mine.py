"""``envdoctor rules mine``: candidates from the releases at both sides of what a provider removed."""

from __future__ import annotations

import os

from envdoctor.commands.options import Parser
from envdoctor.commands.output import say, write
from envdoctor.commands.progress import talk
from envdoctor.errors import TargetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.engine.index import Index
    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.mining import Mine, Mined
    from envdoctor.workshop.mining_standard import MineStandard


def parser() -> Parser:
    """The options of ``envdoctor rules mine``."""
    made = Parser(
        prog="envdoctor rules mine",
        description="Write candidates: what each named distribution removed between two releases, and which releases "
        "of others still import it. The history of names says where names went; those that rules or the history name "
        "and that require the distribution (or anything, of python) are linked against the releases at both sides, "
        "from their wheels, then more of both sides until the edges are known. Nothing is installed or executed; what "
        "was read is kept, so that an interrupted run goes on where it was. One cause is one file, with a line for "
        "each consumer; where a rule knows the cause already, DIR/consumers.txt says which lines it lacks. A candidate "
        "is linked, not run.",
        epilog="examples:\n  envdoctor rules mine DISTRIBUTION --write mined\n"
        "  envdoctor rules mine DISTRIBUTION --consumer OTHER    and show what would be written\n"
        "  envdoctor rules verify mined                           prove what was written\n"
        "then replace each TODO, move what came out stable to rules/, and: envdoctor rules lint rules\n",
    )
    made.add_argument("name", nargs="+", metavar="NAME", help="distributions that removed something")
    made.add_argument("--consumer", metavar="NAME", action="append", default=[],
                      help="look at this one alone, whether rules name it or not")  # fmt: skip
    made.add_argument("--write", metavar="DIR", help="write rule files there; none is overwritten")
    made.add_argument("--most", metavar="N", type=int, default=300, help="of how many consumers each (default: 300)")
    made.add_argument("--requests", metavar="N", type=int, default=3000,
                      help="stop after so many requests to the index (default: 3000)")  # fmt: skip
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules mine``; 1 where a distribution could not be mined, or not to the end."""
    from envdoctor.engine.installed_requirements import normalise
    from envdoctor.probes import visit
    from envdoctor.workshop.commands.chosen import rules_of

    rules = rules_of((), None)[0]
    failed = 0
    with visit.bounded(options.requests) as sent, talk() as tell:
        for name in map(normalise, options.name):
            try:
                _mine(name, options, rules, tell)
            except TargetError as error:
                say(f"envdoctor: {error}")
                failed += 1
            if sent.over:
                break
        write(f"{sent.sent} requests\n")
    if sent.over:
        say(f"envdoctor: stopped after {sent.sent} requests: the same command goes on from there")
    return int(bool(failed) or sent.over)


def _mine(name: str, options: argparse.Namespace, rules: Sequence[Rule], tell: Callable[[str], None]) -> None:
    """Mine one provider, and write what was found after each consumer."""
    from envdoctor import doctor
    from envdoctor.engine.installed_requirements import normalise
    from envdoctor.linker.history import imports
    from envdoctor.rulebase.status import RETIRED
    from envdoctor.workshop.lint import distributions
    from envdoctor.workshop.mining import Mine
    from envdoctor.workshop.mining_standard import MineStandard
    from envdoctor.workshop.repodata import PYTHON

    named = {one for rule in rules if rule.status != RETIRED for one in distributions(rule)}
    names = sorted(named.union(*imports().values()))
    mine = MineStandard(tell, names) if name == PYTHON else Mine(name, tell, names)
    indexes = doctor.rule_bases()
    given = [normalise(one) for one in options.consumer]
    found: list[Mined] = []
    lacking: dict[str, list[Mined]] = {}
    looked_at = 0
    for consumer in given or mine.consumers():
        looked_at += 1
        for one, rule in _new(mine, consumer, indexes, rules):
            lacking.setdefault(rule, []).append(one) if rule else found.append(one)
        if looked_at == options.most:
            break
    files = _written(found, options.write)
    lines = _lines(lacking, options.write)
    edges = f"{len(mine.edges)} edges, {looked_at} consumers linked"
    write(f"{name}: {edges}; {files} causes with {len(found)} consumers, {lines} consumers for rules that are there\n")


def _new(
    mine: Mine | MineStandard, consumer: str, indexes: Sequence[Index], rules: Sequence[Rule]
) -> Iterator[tuple[Mined, str]]:
    """What no rule finds, each with the rule that knows the cause, if any."""
    from envdoctor.workshop.mined_rule import about, known

    for one in mine.of(consumer):
        rule = known(one, indexes)
        first = one.lost[0]
        what = f"{first.inside} of {consumer} {one.free} takes {first.module}.{first.name}"
        say(f"envdoctor: {what}, gone in {mine.provider} {one.gone}{f': known by {rule}' if rule else ''}")
        if not rule:
            yield one, about(one, rules)


def _written(found: Sequence[Mined], directory: str | None) -> int:
    """Write, or show, a rule for each cause; returns their number."""
    from envdoctor.workshop.mined_rule import identifier, text

    causes: dict[tuple[str, ...], list[Mined]] = {}
    for one in found:
        causes.setdefault(one.cause(), []).append(one)
    for some in causes.values():
        path = os.path.join(directory, f"{identifier(some)}.yaml") if directory else None
        if path and os.path.exists(path):
            say(f"envdoctor: {path} is there already")
            continue
        os.makedirs(directory or ".", exist_ok=True)
        write(text(some), path)
    return len(causes)


def _lines(lacking: dict[str, list[Mined]], directory: str | None) -> int:
    """Write, or show, what rules lack that know the cause: lines and cells; returns the number of consumers."""
    from envdoctor.workshop.mined_rule import bad_cells, good_cells, line

    shown = "".join(
        f"{rule}: {one.provider} {one.gone}\n{line(one, 'error')}\n"
        + "".join(f"{cell}\n" for cell in ("  bad:", *bad_cells(one), "  good:", *good_cells(one)))
        for rule, some in lacking.items()
        for one in some
    )
    if directory and shown:
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "consumers.txt"), "a", encoding="utf-8") as file:
            file.write(shown)
    elif shown:
        write(shown)
    return sum(map(len, lacking.values()))
