"""``envdoctor diff``."""

from __future__ import annotations

from envdoctor import doctor
from envdoctor.commands.configuration import parse
from envdoctor.commands.given import add_described, examined
from envdoctor.commands.options import add_format, add_output, parser_for
from envdoctor.commands.output import status, write
from envdoctor.engine import differences as engine
from envdoctor.model import Comparison
from envdoctor.probes import answered
from envdoctor.renderers import comparison as renderer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.model import Difference, Finding, Report, Snapshot

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
    parser.add_argument("before", metavar="A", help="an interpreter, environment, lock, image or snapshot")
    parser.add_argument("after", metavar="B", help="what is compared with it: the one that fails")
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
    left, right = (answered(one.snapshot, lambda _: engine.asked(wanted)) for one in (before, after))
    found = _with_rules(apart(left, right, wanted, rules), [*before.findings, *after.findings])
    new = _only_in(after, before)
    return Comparison(
        before=before,
        after=after,
        differences=sorted(found, key=lambda one: not one.rules),
        new=[(one, engine.about(one, found)) for one in new],
        gone=_only_in(before, after),
        both=len(after.findings) - len(new),
    )


def _with_rules(differences: Sequence[Difference], findings: Sequence[Finding]) -> list[Difference]:
    """The differences, each with the rules of the findings that are about it."""
    about = [(one.rule, engine.about(one, differences)) for one in findings]
    return [
        one.replace(rules=list(dict.fromkeys(rule for rule, explaining in about if one in explaining)))
        for one in differences
    ]


def _only_in(report: Report, other: Report) -> list[Finding]:
    """The findings of a report that another one lacks."""
    known = {engine.identity(finding) for finding in other.findings}
    return [one for one in report.findings if engine.identity(one) not in known]


def apart(
    before: Snapshot, after: Snapshot, wanted: Mapping[str, Sequence[str]], rules: Sequence[str] = ()
) -> list[Difference]:
    """Where two snapshots differ, what rules know first."""
    indexes = doctor.rule_bases(rules)
    made = [
        one.replace(known=not name or any(index.about(name) for index in indexes))
        for one in engine.between(before, after, wanted)
        for name in [one.fact.partition("packages.")[2]]
    ]
    return sorted(made, key=lambda one: not one.known)
