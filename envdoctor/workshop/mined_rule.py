"""Rules of what was mined: one cause is one rule, with a line for each consumer; what rules know is set apart."""

from __future__ import annotations

import re

from envdoctor import doctor
from envdoctor.engine.versions import within
from envdoctor.workshop.mining import snapshot_of
from envdoctor.workshop.repodata import PYTHON
from envdoctor.workshop.skeleton import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.engine.index import Index
    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.mining import Lost, Mined

#: A title has at most so many names.
MOST_NAMES = 3
_RULE = """\
# Mined from releases on the index, and linked, not run. Replace every TODO, then: envdoctor rules verify {id}.yaml
id: {id}
title: {title}
severity: {severity}
impact: crash
when: {when}
consumers:
{consumers}
why: >
  {why}
symptoms:
{symptoms}
remedies:
{remedies}
references:
  - https://TODO.example/where-it-is-told
proof:
  each: consumer
  script: import {{module}}
  bad:
{bad}
  good:
{good}
"""


def known(mined: Mined, indexes: Sequence[Index]) -> str:
    """The rule that finds the pair already, or what else breaks the consumer in its failing cell; empty for none."""
    sides = {mined.consumer: mined.free, mined.provider: mined.gone}
    pins = {**mined.beside.get((mined.free, mined.gone), {}), **sides}
    pins.pop(PYTHON, None)
    there_is = snapshot_of(mined.python, pins).replace(complete=mined.provider == PYTHON)
    found = doctor.diagnosed(there_is, indexes).findings
    there = (one.rule for one in found if one.consumer == mined.consumer or set(sides) <= set(one.packages))
    return next(there, "")


def about(mined: Mined, rules: Sequence[Rule]) -> str:
    """The rule that knows the cause, of other consumers; empty where there is none."""
    names = {one.name.rpartition(".")[2] or one.module for one in mined.lost}
    for rule in rules:
        sides = {**rule.when.get("packages", {}), PYTHON: rule.when.get(PYTHON)}
        stated = sides.get(mined.provider) if rule.consumers else None
        words = set(re.findall(r"\w+", f"{rule.title} {rule.why} {[one.get('message') for one in rule.symptoms]}"))
        if isinstance(stated, str) and _is_edge(stated, mined) and (names & words or mined.lost[0].module in rule.why):
            return rule.id
    return ""


def _when(one: Mined) -> str:
    stated = f'{one.provider}: ">={one.gone}"'
    return f"{{{stated}}}" if one.provider == PYTHON else f"{{packages: {{{stated}}}}}"


def _is_edge(stated: str, mined: Mined) -> bool:
    return within(mined.gone, stated) is True and within(mined.last, stated) is False


def identifier(some: Sequence[Mined]) -> str:
    """The id of a rule: who changed, in which release, and what."""
    first = some[0]
    release = re.sub(r"(?:\.0)+$", "", first.gone).replace(".", "")
    what = first.lost[0].name if len({one.name for one in _lost(some)}) == 1 else first.lost[0].module
    end = "-submodule" if first.lost[0].severity == "warning" else ""
    words = f"{first.provider}{release}-{what.rpartition('.')[2] or first.lost[0].module}-removed{end}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def text(some: Sequence[Mined]) -> str:
    """The rule file of what was mined of one cause."""
    first, lost = some[0], _lost(some)
    names = [".".join(filter(None, (one.module, one.name))) for one in lost]
    shown = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
    where = "imports" if lost[0].severity == "error" else "imports in {module}"
    said = f"{first.provider} {first.gone} no longer has {shown}"
    return _RULE.format(
        id=identifier(some),
        title=quoted(f"{said}, which {{consumer}} {where}"),
        severity=lost[0].severity,
        when=_when(first),
        consumers="\n".join(map(line, some)),
        why=f"{said}; {first.last} still has. Releases of its consumers from before import "
        f"{'it' if len(names) == 1 else 'them'} at the top of a module. TODO: what to use instead.",
        symptoms="\n".join(dict.fromkeys(map(_symptom, lost))),
        remedies="\n".join(_remedies(some)),
        bad="\n".join(cell for one in some for cell in bad_cells(one)),
        good="\n".join(cell for one in some for cell in good_cells(one)),
    )


def _lost(some: Sequence[Mined]) -> list[Lost]:
    """What all of them miss, each name once."""
    found = {(each.module, each.name, each.kind): each for one in some for each in one.lost}
    return [found[key] for key in sorted(found)]


def line(one: Mined, severity: str = "") -> str:
    """The line of a consumer in a rule of a severity."""
    parts = [f">={one.first}" if one.first else "", f"<{one.since}" if one.since else ""]
    bad = ",".join(filter(None, parts)) or f"<={one.until}"
    works = quoted(one.works) if one.works else "null"
    inside = one.lost[0].inside
    module = f", module: {inside}" if inside != one.consumer.replace("-", "_") else ""
    own = f", severity: {one.lost[0].severity}" if one.lost[0].severity != (severity or one.lost[0].severity) else ""
    return f"  {one.consumer}: {{bad: {quoted(bad)}, works: {works}{module}{own}}}"


def _symptom(one: Lost) -> str:
    module, name = re.escape(one.module), re.escape(one.name)
    if one.kind == "module":
        dotted = ".".join(filter(None, (module, name)))
        return f"  - {{raises: ModuleNotFoundError, message: {quoted(f'No module named .{dotted}')}}}"
    if one.kind == "name":
        return f"  - {{raises: ImportError, message: {quoted(f'cannot import name .{name}. from .{module}')}}}"
    return f"  - {{raises: AttributeError, message: {quoted(f'module .{module}. has no attribute .{name}')}}}"


def _remedies(some: Sequence[Mined]) -> Iterator[str]:
    if any(one.works for one in some):
        yield '  - upgrade: "{consumer}>={works}"'
    yield f"  - downgrade: {some[0].provider}<{some[0].gone}"


def bad_cells(one: Mined) -> Iterator[str]:
    """The failing release beside the last one that asks; where only an override puts these together, besides."""
    yield _cell(one, one.free, one.gone)
    if one.until != one.free:
        yield _cell(one, one.until, one.gone, ", together: true")


def good_cells(one: Mined) -> Iterator[str]:
    """The releases past each edge."""
    yield _cell(one, one.free, one.last)
    if one.works:
        yield _cell(one, one.works, one.gone)


def _cell(one: Mined, consumer: str, provider: str, further: str = "") -> str:
    pins = {one.consumer: consumer, one.provider: provider}
    pins = {**pins, **one.beside.get((consumer, provider), {}), **pins}
    python = pins.pop(PYTHON, one.python)
    packages = ", ".join(f"{name}: {quoted(version)}" for name, version in pins.items())
    return f"    - {{python: {quoted(python)}, packages: {{{packages}}}{further}}}"
