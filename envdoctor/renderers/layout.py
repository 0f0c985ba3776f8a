"""How findings, evidence and remedies are put into words, whatever they are then printed as."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from envdoctor.model import SEVERITIES
from envdoctor.renderers.line import count, few, one_line, safe, short, where

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.model import Evidence, Finding, Remedy, Report

_FLAGS = {"present", "absent", "missing", "set", "unset", "installed", "not installed", "not set"}


#: What is written above findings that no rule made, and above rules that come after those.
DERIVED = "Derived from the text, proven by nobody:"
BEHIND = "Rules that fit less well:"


def derived(finding: Finding) -> bool:
    """Whether there is no rule behind a finding."""
    return finding.status == "derived"


def known(report: Report) -> bool:
    """Whether some rule has a finding."""
    return not all(map(derived, report.findings))


def headed(report: Report) -> list[tuple[str, Finding]]:
    """The findings in their order, each with the heading that begins at it, or with an empty text."""
    findings = ordered(report)
    kinds = [derived(finding) for finding in findings]
    begins = [kind != before for kind, before in zip(kinds, [False, *kinds])]
    return [
        ((DERIVED if kind else BEHIND) if begin else "", finding)
        for finding, kind, begin in zip(findings, kinds, begins)
    ]


def credit(finding: Finding) -> str:
    """What a finding's rule may claim: whether it is proven and, where it is not stable, its status."""
    return finding.proof if finding.status == "stable" else f"{finding.status}, {finding.proof}"


_FACTS = {
    "packages": "{key} {value}",
    "env": "{key}={value}",
    "module": "import {key}: {value}",
    "system": "{key} {value}",
    "marker": "{key} {value}",
    "platform": "{key} {value}",
    "python": "Python {key} {value}",
    "start_method": "{key} start method {value}",
    "config": "{key}: {value}",
    "source": "{value}",
    "artifact": "{value}",
    "library": "{key} {value}",
    "process": "{key} {value}",
    "installed": "{value}",
    "requirements": "{value}",
    "requires_python": "{value}",
    "tags": "{value}",
    "text": "{value}",
    "frames": "{value}",
    "offers": "{value}",
    "environment": "{value}",
}
_WHOLE = {"python", "start_method", "text", "environment"}


class Way(NamedTuple):
    """One remedy in words: what to type or to do, whether it is typed as it stands, how far to trust it, its cost."""

    text: str
    typed: bool
    tag: str
    cost: str
    remarks: list[str]


def ordered(report: Report) -> list[Finding]:
    """The findings as they are shown: most severe first, but the best first where a text is explained."""
    findings = list(report.findings)
    if explains(report):
        return findings
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def explains(report: Report) -> bool:
    """Whether the report is about a traceback or a log."""
    return bool(report.understood or report.ruled_out or any(finding.matched for finding in report.findings))


def examined(report: Report) -> bool:
    """Whether there was an environment to examine, or only a text."""
    return bool(report.snapshot.python or report.snapshot.packages)


def tally(findings: Sequence[Finding]) -> str:
    """``2 errors, 1 warning, 3 info``."""
    numbers = {name: sum(finding.severity == name for finding in findings) for name in SEVERITIES}
    said = [f"{n} info" if name == "info" else count(n, name) for name, n in numbers.items() if n]
    return ", ".join(said) or "no findings"


def standing(report: Report) -> str:
    """``1 confirmed, 2 not confirmed, 1 ruled out``: how the rules that explain a text stand to the environment."""
    ruled = [finding for finding in report.findings if not derived(finding)]
    confirmed = sum(finding.confirmed is True for finding in ruled)
    numbers = {
        "confirmed": confirmed,
        "not confirmed": len(ruled) - confirmed,
        "derived": len(report.findings) - len(ruled),
        "ruled out": len(report.ruled_out),
    }
    return ", ".join(f"{number} {noun}" for noun, number in numbers.items() if number) or "no explanation"


def confirmation(finding: Finding, report: Report) -> str:
    """What the environment says to a rule that the text suggests."""
    if derived(finding):
        return "derived: no rule knows this"
    if finding.confirmed:
        return "confirmed by the environment"
    if not examined(report):
        return "not confirmed: no environment was examined"
    if finding.confirmed is None:
        return "not confirmed: the environment does not tell"
    return "not confirmed by the environment"


def near(source: str, report: Report) -> str:
    """Where a fact was read, with the examined environment called by its last name."""
    place = where(report.snapshot)
    return one_line(source).replace(place + "/", short(place) + "/") if place else one_line(source)


def found(evidence: Evidence) -> str:
    """One piece of evidence as a person would say it: ``thing 1.6.0``, ``Python 3.11.7``, ``USE_TF=0``."""
    kind, _, key = evidence.fact.partition(".")
    key, value = safe(key), one_line(evidence.value)
    if kind == "env" and value in _FLAGS:
        return f"{key} is {value}"
    if kind == "python" and key == "version":
        key = ""
    words = _FACTS.get(kind) if key or kind in _WHOLE else None
    return " ".join(words.format(key=key, value=value).split()) if words else f"{safe(evidence.fact)}: {value}"


def way(remedy: Remedy) -> Way:
    """Put a remedy into words. A command is given exactly as it is to be typed."""
    text = safe(remedy.command) if remedy.command else one_line(_VERBS.get(remedy.kind, _other)(remedy))
    remarks = []
    if remedy.command and remedy.text:
        remarks.append(one_line(remedy.text))
    if remedy.at == "build":
        remarks.append("in the build environment only: needed while installing, not at run time")
    tag = {"workaround": "workaround", "manual": "by hand"}.get(remedy.safety, "")
    return Way(text, bool(remedy.command), tag, one_line(remedy.effect or ""), remarks)


def _require(remedy: Remedy) -> str:
    requirement = remedy.requirement or ""
    name, rest = re.fullmatch(r"\s*([\w.-]*)(.*)", requirement, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"use Python {rest.strip()}" if name.lower() == "python" else f"{remedy.kind} {requirement}"


def _set(remedy: Remedy) -> str:
    """A configuration entry to write; in the form of its file, and with the line where that is known."""
    file, key = remedy.file or "", remedy.key or ""
    sign = ": " if file.endswith((".yaml", ".yml", ".json")) else " = "
    if remedy.line is None:
        return f"in {file} write {key}{sign}{_value(remedy.to)}"
    return f"in {file}, line {remedy.line}, write {key.rpartition('.')[2]}{sign}{_value(remedy.to)}"


def _setenv(remedy: Remedy) -> str:
    return f"set the environment variable {remedy.name}={remedy.to}"


def _value(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w./-]*", value) else json.dumps(value)


def _other(remedy: Remedy) -> str:
    return remedy.text or " ".join(filter(None, (remedy.kind, remedy.package or remedy.requirement)))


_VERBS: Mapping[str, Callable[[Remedy], str]] = {
    "upgrade": _require,
    "downgrade": _require,
    "pin": _require,
    "install": _require,
    "replace": lambda remedy: f"replace {remedy.package} with {remedy.requirement}",
    "set": _set,
    "setenv": _setenv,
}


def understood(report: Report) -> list[tuple[str, str]]:
    """What ``explain`` made of a text, by label: the exception, the frame it came from, the versions that matter."""
    facts = report.understood
    exception, message = str(facts.get("exception") or ""), facts.get("message")
    exception = exception.removeprefix("builtins.")
    said = ": ".join(one_line(str(part)) for part in (exception, message) if part)
    versions = [f"{name} {version}" for name, version in dict(facts.get("versions") or {}).items()]
    if facts.get("python"):
        versions.insert(0, f"Python {facts['python']}")
    rows = [("error", said), ("from", near(frame(facts.get("frame")), report)), ("with", few(versions, most=8))]
    return [(label, text) for label, text in rows if text]


def frame(value: object) -> str:
    """A frame of a traceback: given in words, or as ``file``, ``line`` and ``function``."""
    if not value:
        return ""
    if not isinstance(value, dict):
        return one_line(str(value))
    line = f", line {value['line']}" if value.get("line") else ""
    function = f", in {value['function']}" if value.get("function") else ""
    return one_line(f"{value.get('file') or value.get('package') or 'unknown file'}{line}{function}")


def new_rule(report: Report) -> str:
    """The command that begins a rule for what was understood, with a fitting name."""
    facts = report.understood
    value = facts.get("frame")
    package = value.get("package") if isinstance(value, dict) else None
    if not package:
        place = re.search(r"(?:(?:site|dist)-packages[\\/]|^)([A-Za-z_][\w-]*)", str(value or ""))
        package = place[1] if place else next(iter(facts.get("versions") or ()), "")
    exception = str(facts.get("exception") or "failure").rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", exception)
    name = re.sub(r"[^a-z0-9]+", "-", f"{package}-{words}".lower()).strip("-")
    return f"envdoctor rules new {name or 'my-rule'}"
