"""Two environments side by side, for a person, and as JSON whose shape ``docs/diff.schema.json`` promises."""

from __future__ import annotations

from typing import Any

from envdoctor._version import __version__
from envdoctor.renderers import layout, line
from envdoctor.renderers.json import dump, of_finding, of_target
from envdoctor.renderers.redaction import Redactor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.model import Comparison, Difference, Finding

_NOT_THERE = "-"


def text(made: Comparison) -> str:
    """The comparison in words, ending in a newline."""
    return Redactor(personal=False).text("\n".join(_lines(made)) + "\n")


def _lines(made: Comparison) -> Iterator[str]:
    yield f"A  {line.subject(made.before.snapshot)}"
    yield f"B  {line.subject(made.after.snapshot)}"
    yield ""
    known = sum(one.known for one in made.differences)
    aside = f", of which rules know {known:,}" if made.differences else ""
    yield line.count(len(made.differences), "difference") + aside
    yield from _table(made.differences)
    yield ""
    yield f"B has {line.count(len(made.new), 'finding')} that A has not"
    for finding, why in made.new:
        yield from _new(finding, [" ".join(_cells(one)) for one in why])
    are = "is" if len(made.gone) == 1 else "are"
    yield f"{line.count(len(made.gone), 'finding').capitalize()} of A {are} gone in B"
    for finding in made.gone:
        yield f"  {finding.severity}: {line.one_line(finding.title)} ({finding.rule})"
    yield f"{line.count(made.both, 'finding').capitalize()} in both"


def _cells(one: Difference) -> tuple[str, str]:
    return line.one_line(name_of(one)), line.one_line(change(one))


def _table(differences: Sequence[Difference]) -> Iterator[str]:
    rows = [_cells(one) for one in differences]
    widths = [max(map(len, cells)) for cells in zip(*rows)]
    for one, (name, changed) in zip(differences, rows):
        remark = ", ".join(one.rules) or ("known to rules" if one.known else "")
        yield f"  {name:{widths[0]}}  {changed:{widths[1]}}  {remark}".rstrip()


def _new(finding: Finding, why: list[str]) -> Iterator[str]:
    yield f"  {finding.severity}: {line.one_line(finding.title)} ({finding.rule})"
    yield f"    because: {'; '.join(why) or 'of nothing that both of them tell'}"
    if finding.remedies:
        yield f"    fix: {layout.way(finding.remedies[0]).text}"


def name_of(one: Difference) -> str:
    """What differs, as people call it: a distribution by its name alone."""
    name = one.fact.removeprefix("packages.").removeprefix("env.")
    return f"{name} in {one.environment}" if one.environment else name


def change(one: Difference) -> str:
    """``1.26.4 -> 2.0.0``; a hyphen where it is not there."""
    return f"{_NOT_THERE if one.before is None else one.before} -> {_NOT_THERE if one.after is None else one.after}"


def of_difference(one: Difference) -> dict[str, Any]:
    """A difference, without the environment where there is but one."""
    return {key: value for key, value in one.as_dict().items() if key != "environment" or value is not None}


def document(made: Comparison) -> str:
    """The comparison as one JSON document, without secrets."""
    new = [{**of_finding(finding), "because": [one.fact for one in why]} for finding, why in made.new]
    whole = {
        "envdoctor": __version__,
        "before": of_target(made.before),
        "after": of_target(made.after),
        "differences": [of_difference(one) for one in made.differences],
        "new": new,
        "gone": [of_finding(one) for one in made.gone],
        "both": made.both,
    }
    return dump(Redactor(personal=False).data(whole))
