"""``envdoctor diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor import doctor
from envdoctor.commands.configuration import parse
from envdoctor.commands.given import add_described, examined
from envdoctor.commands.options import add_format, add_output, parser_for
from envdoctor.commands.output import status, write
from envdoctor.engine import differences as engine
from envdoctor.model import Comparison
from envdoctor.probes import answered
from envdoctor.renderers import differences as renderer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Difference, Report

_EXAMPLES = """\
examples:
  envdoctor diff works/.venv broken/.venv
  envdoctor diff main/uv.lock uv.lock --python-version 3.12
  envdoctor diff laptop.json cluster.json      what `envdoctor snapshot` wrote on both
  envdoctor diff /mnt/image-1.4 /mnt/image-1.5

Each of A and B is an environment's directory, an interpreter, a requirements or lock file, an image's root directory or
a snapshot. Exit status: 1 where B has a finding at or above --fail-on that A has not, else 0, however much differs.
"""


def run(words: Sequence[str]) -> int:
    """``envdoctor diff``."""
    parser = parser_for(
        "diff",
        "Compare two environments: what differs, which differences rules know, and what B has that A has not.",
        _EXAMPLES,
    )
    parser.add_argument("before", metavar="A")
    parser.add_argument("after", metavar="B")
    add_described(parser)
    add_format(parser, ("text", "json"))
    add_output(parser, formats=False)
    parser.add_argument(
        "--fail-on",
        choices=["error", "warning", "info", "never"],
        default="error",
        help="the least severity of a new finding that makes the exit status 1 (default: error)",
    )
    options = parse(parser, words)
    sides = [doctor.check(examined(word, options), options.rules) for word in (options.before, options.after)]
    before, after = map(doctor.prescribed, sides)
    made = compared(before, after, options.rules)
    write((renderer.document if options.format == "json" else renderer.text)(made), options.output)
    return status(made.after.replace(findings=[finding for finding, _ in made.new]), options.fail_on)


def compared(before: Report, after: Report, rules: Sequence[str] = ()) -> Comparison:
    """Two reports side by side, each finding that only the second has with the differences that explain it."""
    wanted = doctor.wanted(rules)
    snapshots = [answered(one.snapshot, lambda _: engine.asked(wanted)) for one in (before, after)]
    found = engine.between(snapshots[0], snapshots[1], wanted)
    known = [{engine.identity(finding) for finding in one.findings} for one in (before, after)]
    new = [one for one in after.findings if engine.identity(one) not in known[0]]
    gone = [one for one in before.findings if engine.identity(one) not in known[1]]
    indexes = doctor.rule_bases(rules)
    resting: dict[int, list[str]] = {id(one): [] for one in found}
    for finding in (*before.findings, *after.findings):
        for one in engine.about(finding, found):
            resting[id(one)].append(finding.rule)

    def judged(one: Difference) -> Difference:
        kind, _, name = one.fact.partition(".")
        is_known = kind != "packages" or any(index.about(name) for index in indexes)
        marked: Difference = one.replace(rules=list(dict.fromkeys(resting[id(one)])), known=is_known)
        return marked

    found = sorted(map(judged, found), key=lambda one: (not one.rules, not one.known))
    explained = [(one, engine.about(one, found)) for one in new]
    both = len(after.findings) - len(new)
    return Comparison(before=before, after=after, differences=found, new=explained, gone=gone, both=both)
