"""How findings, evidence and remedies are put into words, whatever they are then printed as."""

from __future__ import annotations

from envdoctor.facts import KINDS as KINDS_OF_FACT
from envdoctor.model import IMPACTS, SEVERITIES, Group, Record
from envdoctor.remedy_kinds import KINDS, scalar
from envdoctor.renderers.line import chosen, count, few, one_line, python, short, where
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Evidence, Finding, Remedy, Report

_FLAGS = {"present", "absent", "missing", "set", "unset", "installed", "not installed", "not set"}


#: How the names begin under which the linker's findings are shown.
LINKED = "linked-"
#: What is written above findings that no rule made, and above rules that come after those.
DERIVED = "Derived from the text, proven by nobody:"
BEHIND = "Rules that fit less well:"


def together(report: Report) -> tuple[str, str] | None:
    """Where several groups have ways out, which may fight: who plans one set of changes, and what that ends.

    What the linker finds is not planned for.
    """
    linked = [group for group in report.groups if group.findings[0].rule.startswith(LINKED)]
    cured = [group for group in report.groups if any(one.action for one in group.remedies)]
    found = [group.findings[0] for group in cured if group not in linked]
    if explains(report) or len(found) < 2:  # noqa: PLR2004 - one is alone
        return None
    of_rules = " of rules" if linked else ""
    if any(one.severity == "error" for one in found):
        return "envdoctor fix", f"plans one set of changes that ends every error{of_rules}"
    return (
        "envdoctor fix --all",
        f"plans one set of changes that ends {'all findings of rules' if of_rules else 'them all'}",
    )


def derived(finding: Finding) -> bool:
    """Whether there is no rule behind a finding."""
    return finding.status == "derived"


def known(report: Report) -> bool:
    """Whether some rule has a finding."""
    return not all(map(derived, report.findings))


def headed(report: Report) -> list[tuple[str, Group]]:
    """The groups in their order, each with the heading that begins at it, or with an empty text."""
    made = groups(report)
    kinds = [derived(group.findings[0]) for group in made]
    begins = [kind != before for kind, before in zip(kinds, [False, *kinds])]
    return [((DERIVED if kind else BEHIND) if begin else "", group) for group, kind, begin in zip(made, kinds, begins)]


def credit(finding: Finding) -> str:
    """The credit of a finding's rule: whether it is proven and, where it is not stable, its status."""
    return finding.proof if finding.status == "stable" else f"{finding.status}, {finding.proof}"


#: How evidence is put into words: that of facts, and that of what else findings rest on.
_FACTS = {
    **{kind.name: kind.said for kind in KINDS_OF_FACT if kind.said},
    "platform": "{key} {value}",
    "history": "{value}",
    "lock": "{key} {value} in the lock file",
    "requirements": "{value}",
    "requires_python": "{value}",
    "tags": "{value}",
    "text": "{value}",
    "frames": "{value}",
    "offers": "{value}",
    "environment": "{value}",
    "configuration": "{value}",
}
_WHOLE = {"python", "start_method", "text", "environment", "source"}


class Way(Record):
    """One remedy in words: what to type or to do, whether it is typed literally, how far to trust it, its cost."""

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


def groups(report: Report) -> list[Group]:
    """The findings as people are shown them: those of a rule together, the worst and the most frequent first.

    Where a text is explained, the best come first.
    """
    made = list(report.groups) or [
        Group(title=one.title, findings=[one], remedies=one.remedies) for one in report.findings
    ]
    return made if explains(report) else sorted(made, key=_badness)


def _badness(group: Group) -> tuple[int, int, int]:
    first = group.findings[0]
    return SEVERITIES.index(first.severity), IMPACTS.index(first.impact), -len(group.findings)


def headline(report: Report) -> str:
    """``2 errors, 1 warning``; of a text that is explained ``1 confirmed, 1 ruled out``."""
    return confirmations(report) if explains(report) else tally(report.findings)


def subject(report: Report) -> str:
    """`` in Python 3.11.7 at .venv of this project — 460 rules``."""
    snapshot = report.snapshot
    place = chosen(snapshot)
    whole = f"{python(snapshot)}{f' at {place}' if place else ''}"
    return f" in {whole if examined(report) else 'the text alone'} — {count(report.rules, 'rule')}"


def whys(group: Group) -> list[str]:
    """The reasons that the findings of a group give, each once."""
    return list(dict.fromkeys(finding.why for finding in group.findings if finding.why))


def references(group: Group) -> list[str]:
    """Where to read more about the findings of a group, each address once."""
    return list(dict.fromkeys(reference for finding in group.findings for reference in finding.references))


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


def confirmations(report: Report) -> str:
    """``1 confirmed, 2 not confirmed, 1 ruled out``: what the environment says to the rules that explain a text."""
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


def rows(group: Group, report: Report, most: int | None = None) -> tuple[list[tuple[str, str]], int]:
    """The evidence of a group of findings: what was found, and where; and how many more there are of these.

    Of several findings, what all of them rest on comes first; then each cause, with what trips over it in the place of
    where, the most frequent first. At most so many are said; ``None`` asks for all, with every name and place.
    """
    shared, causes = _causes(group.findings)
    said = [(found(item), near(item.source, report)) for item in shared[:most]]
    room = None if most is None else max(most - len(said), 0)
    for cause, others in causes[:room]:
        if not others:
            said.append((found(cause), near(cause.source, report)))
        elif most is None:
            places = [f"{found(other)}, {near(other.source, report)}" for other in others]
            said += zip([found(cause), *("" for _ in places[1:])], places)
        else:
            more = f" and {len(others) - 1:,} more" if others[1:] else ""
            said.append((found(cause), found(others[0]) + more))
    return said, len(shared[len(said) :]) + len(causes[room:] if room is not None else ())


def _causes(findings: Sequence[Finding]) -> tuple[list[Evidence], list[tuple[Evidence, list[Evidence]]]]:
    """The evidence that all findings share; and each last piece that only one finding has, with its other evidence.

    Several findings may share such a piece. What is matched in a text is said elsewhere.
    """
    shared = _shared(findings)
    causes: dict[tuple[str, ...], tuple[Evidence, list[Evidence]]] = {}
    for finding in findings if len(findings) > 1 else ():
        own = [item for item in finding.evidence if _key(item) not in shared]
        if own:
            causes.setdefault(_key(own[-1]), (own[-1], []))[1].extend(own[:-1])
    return list(shared.values()), sorted(causes.values(), key=lambda cause: -len(cause[1]))


def _shared(findings: Sequence[Finding]) -> dict[tuple[str, ...], Evidence]:
    """The evidence that all findings share, by its key."""
    first, *others = findings
    shared = {_key(item): item for item in first.evidence if not (item.fact == "text" and first.matched)}
    for other in others:
        keys = {_key(item) for item in other.evidence} if shared else set()
        shared = {key: item for key, item in shared.items() if key in keys}
    return shared


def _key(evidence: Evidence) -> tuple[str, ...]:
    """What makes two pieces of evidence one: of a release it does not matter where it was read."""
    return evidence.fact, evidence.value, "" if evidence.fact.startswith("packages.") else evidence.source


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
    kind = KINDS.get(remedy.kind) or KINDS["change"]
    text = safe(remedy.command) if remedy.command else one_line(kind.function("said")(remedy))
    remarks = []
    if remedy.command and remedy.text:
        remarks.append(one_line(remedy.text))
    if remedy.at == "build":
        remarks.append("in the build environment only: needed while installing, not at run time")
    tag = {"workaround": "workaround", "manual": "by hand"}.get(remedy.safety, "")
    return Way(text=text, typed=bool(remedy.command), tag=tag, cost=one_line(remedy.effect or ""), remarks=remarks)


def required(remedy: Remedy) -> str:
    """A requirement to end up with, of a distribution or of Python itself."""
    requirement = (remedy.requirement or "").strip()
    if requirement[:6].lower() != "python" or requirement[6:7] not in " <>=!~":
        return f"{remedy.kind} {requirement}"
    others = " ".join(remedy.action.requirements[1:]) if remedy.action else ""
    return f"use Python {requirement[6 : len(requirement) - len(others)].strip()}{others and f', with {others}'}"


def entry(remedy: Remedy) -> str:
    """A configuration entry to write; in the form of its file, and with the line where that is known."""
    file, key = remedy.file or "", remedy.key or ""
    sign = ": " if file.endswith((".yaml", ".yml", ".json")) else " = "
    if remedy.line is None:
        return f"in {file} write {key}{sign}{scalar(remedy.to)}"
    instead = f" in place of {remedy.replaces}" if remedy.replaces else ""
    write = remedy.write or key.rpartition(".")[2] + sign + scalar(remedy.to)
    return f"in {file}, line {remedy.line}, write {write}{instead}"


def replaced(remedy: Remedy) -> str:
    """What is removed, and what is installed instead."""
    return f"replace {remedy.package} with {remedy.requirement}"


def variable(remedy: Remedy) -> str:
    """An environment variable to set."""
    return f"set the environment variable {remedy.name}={remedy.to}"


def by_hand(remedy: Remedy) -> str:
    """A remedy that is done by hand: its text, or the verb and what it is about."""
    return remedy.text or " ".join(filter(None, (remedy.kind, remedy.package or remedy.requirement)))


def understood(report: Report) -> list[tuple[str, str]]:
    """The facts that ``explain`` read from a text, by label: the exception, its frame, the versions that matter."""
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
    import re

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
