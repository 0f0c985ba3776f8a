"""A rule from a traceback and the edges that releases show: all but the reference and, at times, the script."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.errors import RuleError
from envdoctor.workshop.skeleton import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.engine.asks import Ask, Asking, Edges
    from envdoctor.engine.families import Clue

_RULE = """\
# Drafted from a traceback and from releases on the index. Replace every TODO, then: envdoctor rules lint {id}.yaml
id: {id}
title: {title}
severity: {severity}
impact: crash
when: {when}
consumers:
  {consumer}: {{bad: {bad}, works: {works}{module}}}
why: >
  {why}
symptoms:
  - {symptom}
remedies:
{remedies}
references:
  - https://TODO.example/where-it-is-told
proof:
{needs}  script: |
    {script}
  bad:
{fails}
  good:
{passes}
"""
#: What is tried where neither the text nor the environment says which Python it was.
_PYTHON = "3.11"


def draft(clue: Clue, ask: Ask, edges: Edges, needs: Sequence[str] = ()) -> tuple[str, str]:
    """The id and the text of a rule, each cell of which ``needs`` further distributions.

    Raises :class:`RuleError` where too little was found for one.
    """
    asking, life = edges.asking, edges.life
    if asking is None or (life is None and not _gone(ask)):
        raise RuleError("the releases on the index do not tell the edges of both sides: envdoctor rules new begins one")
    sides = _Sides(ask, life, asking, edges.provider or ask.provider or "python")
    fields = {
        "id": sides.id(),
        "title": quoted(f"{sides.cause()}, which {{consumer}} asks for"),
        "severity": "error" if sides.on_import(clue) else "warning",
        "when": sides.when(),
        "consumer": asking.distribution,
        "bad": quoted(sides.bad()),
        "works": sides.works(),
        "module": sides.module(),
        "why": sides.why(),
        "symptom": _symptom(clue, asking),
        "remedies": _rows("  - ", sides.remedies()),
        "needs": f"  needs: [{', '.join(needs)}]\n" if needs else "",
        "script": sides.script(clue),
        "fails": _rows("    - ", sides.fails(_raised(clue))),
        "passes": _rows("    - ", sides.passes()),
    }
    return fields["id"], _RULE.format(**fields)


def _rows(sign: str, texts: Iterable[str]) -> str:
    return "\n".join(sign + one for one in texts)


class _Sides:
    """The two sides of a rule and the releases at their edges."""

    def __init__(self, ask: Ask, life: Any, asking: Asking, provider: str) -> None:
        self.ask, self.life, self.asking, self.provider = ask, life, asking, provider
        self.python = ".".join(ask.python.split(".")[:2]) or _PYTHON
        self.bad_provider, self.good_provider, self.range = self._edge()

    def _edge(self) -> tuple[str, str, str]:
        """The failing version next to the edge, the working one, and the specifier of those that fail."""
        gone = _gone(self.ask)
        if self.provider == "python" and gone:
            first, last = gone
            return (first, last, f">={first}") if _number(first) > _number(last) else (first, last, f"<{last}")
        life = self.life
        if life.gone:
            return life.gone, life.last or "", f">={life.gone}"
        return self.ask.versions.get(self.provider, ""), life.since or "", f"<{life.since}"

    def id(self) -> str:
        """The file's name: who changed, in which release, and what."""
        release = re.sub(r"(?:\.0)+$", "", (self.good_provider if self.range[0] == "<" else self.bad_provider))
        what = self.ask.argument or self.ask.name or self.ask.module.rpartition(".")[2]
        words = f"{self.provider}{release.replace('.', '')}-{what.rpartition('.')[2]}-{self.asking.distribution}"
        return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")

    def cause(self) -> str:
        """The change, in words."""
        if self.range[0] == "<":
            return f"{self.ask.said()} came with {self.provider} {self.good_provider}"
        return f"{self.provider} {self.bad_provider} no longer has {self.ask.said()}"

    def why(self) -> str:
        """The reason, as the releases show it."""
        reasons = [one.said() for one in (self.life, self.asking) if one]
        return f"{self.cause()}. Read from the releases: {'; '.join(reasons)}."

    def when(self) -> str:
        """The condition on the side that changed."""
        side = f"python: {quoted(self.range)}" if self.provider == "python" else ""
        return f"{{{side or f'packages: {{{self.provider}: {quoted(self.range)}}}'}}}"

    def bad(self) -> str:
        """Which releases of the consumer ask."""
        parts = [
            f">{self.asking.before}" if self.asking.before else "",
            f"<{self.asking.since}" if self.asking.since else "",
        ]
        return ",".join(filter(None, parts)) or ">=0"

    def works(self) -> str:
        """The release of the consumer that works with what changed, or ``null``."""
        release = self.asking.works or self.asking.before
        return quoted(release) if release else "null"

    def module(self) -> str:
        """The import name of the consumer, where it is not that of the distribution."""
        top = self.asking.module.partition(".")[0]
        return f", module: {top}" if top and top != self.asking.distribution.replace("-", "_") else ""

    def on_import(self, clue: Clue) -> bool:
        """Whether it fails when the consumer's module is imported."""
        frames = [one for one in (clue.failure.frames if clue.failure else ()) if one.installed]
        return not frames or all(one.function == "<module>" for one in frames)

    def script(self, clue: Clue) -> str:
        """The script: the import that failed; what was called only a person knows."""
        made = f"import {self.asking.module or self.asking.distribution}"
        return (
            made if self.on_import(clue) else f"{made}\n    # TODO: call what fails: {' '.join(self.ask.code.split())}"
        )

    def remedies(self) -> Iterator[str]:
        """Both ways out, as far as there are any."""
        if self.asking.works:
            yield 'upgrade: "{consumer}>={works}"'
        elif self.asking.before:
            yield f"downgrade: {self.asking.distribution}<={self.asking.before}"
        if self.range[0] == "<":
            yield f"upgrade: {self.provider}>={self.good_provider}"
        else:
            yield f"downgrade: {self.provider}<{self.bad_provider}"

    def fails(self, raises: str) -> Iterator[str]:
        """The cells next to both edges; a last release that keeps the other side out is put together all the same."""
        asking = self.asking
        yield self._cell(self.bad_provider, asking.free or asking.until, f", raises: {raises}")
        have = self.ask.versions.get(asking.distribution)
        if have and have not in {asking.free, asking.until}:
            yield self._cell(self.bad_provider, have)
        if asking.caps and asking.until != asking.free:
            yield self._cell(self.bad_provider, asking.until, ", together: true")

    def passes(self) -> Iterator[str]:
        """The cells just past each edge."""
        asking = self.asking
        yield self._cell(self.good_provider, asking.free or asking.until)
        for version in dict.fromkeys(filter(None, (asking.since, asking.works, asking.before))):
            yield self._cell(self.bad_provider, version)

    def _cell(self, provider: str, consumer: str, further: str = "") -> str:
        python = provider if self.provider == "python" else self.python
        pins = {self.asking.distribution: consumer}
        if self.provider != "python":
            pins[self.provider] = provider
        packages = ", ".join(f"{name}: {quoted(version)}" for name, version in pins.items())
        return f"{{python: {quoted(python)}, packages: {{{packages}}}{further}}}"


def _gone(ask: Ask) -> tuple[str, str] | None:
    """Of the standard library, the first Python that fails and the one beside it that does not."""
    if ask.provider != "":
        return None
    from envdoctor.linker.standard_library import Standard

    numbers = [int(part) for part in (ask.python or _PYTHON).split(".")[:2]]
    span = Standard((numbers[0], numbers[1])).span(ask.module, ask.name)
    if span is None:
        return None
    since, last = span
    if last and _number(last) < (numbers[0], numbers[1]):
        return f"3.{_number(last)[1] + 1}", last
    return (f"3.{_number(since)[1] - 1}", since) if _number(since) > (numbers[0], numbers[1]) else None


def _number(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _raised(clue: Clue) -> str:
    name = ((clue.failure.exception or "") if clue.failure else "").rpartition(".")[2]
    return quoted(f"{name}: {_plain(clue)}" if name else _plain(clue))


def _plain(clue: Clue) -> str:
    """The words of a message without the path of a file."""
    return re.sub(r" \([^()]*[/\\][^()]*\)$", "", clue.said)


def _symptom(clue: Clue, asking: Asking) -> str:
    """The exception and the words that only this error has."""
    name = ((clue.failure.exception or "") if clue.failure else "").rpartition(".")[2]
    pattern = re.sub(r"\\([ '\"\-`,:<>=#&@])", r"\1", re.escape(_plain(clue)))
    raises = f"raises: {name}, " if name else ""
    frames = clue.failure is not None and any(one.installed for one in clue.failure.frames)
    inside = f", in: {asking.module.partition('.')[0]}" if frames and asking.module else ""
    return f"{{{raises}message: {quoted(pattern)}{inside}}}"
