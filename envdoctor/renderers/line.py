"""The one calm line for a report without findings, and the few words every renderer shares.

On the plain path: this module imports nothing.
"""

from __future__ import annotations

from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import IO

    from envdoctor.model import Report, Snapshot

#: How many names of a list are said before "and n more".
FEW = 3


def verdict(report: Report, color: bool, unicode: bool) -> str:  # noqa: FBT001 - both are always given
    """Say that nothing was found, in what, and against how many rules; without a newline at the end.

    A few words follow where something could not be examined.
    """
    is_partial = partial(report.snapshot) is not None
    mark = ("?" if unicode else "partly:") if is_partial else "✓" if unicode else "ok:"
    if color:
        mark = f"\x1b[{33 if is_partial else 32}m{mark}\x1b[0m"
    ignoring = f", {ignored(report)}" if report.ignored else ""
    rules = f"({count(report.rules, 'rule')}{ignoring})"
    said = f"{mark} {subject(report.snapshot)}: {healthy(report.snapshot)} {rules}"
    rest = "\n    ".join(reasons(report))
    return f"{said}\n  could not be examined:\n    {rest}" if rest else said


def healthy(snapshot: Snapshot) -> str:
    """Say that nothing was found, and in what: in all of it, or in the part that is known."""
    return "nothing known to be wrong" + ("" if partial(snapshot) is None else " with what is pinned")


def partial(snapshot: Snapshot) -> str | None:
    """What a requirements file leaves open, or ``None`` where it says all that would be installed."""
    stated = snapshot.target.get("requirements")
    if not isinstance(stated, int):
        return None
    pinned = snapshot.target.get("pinned")
    said = f"{pinned} of {stated} {'requirement is' if stated == 1 else 'requirements are'} pinned"
    nameless = [name for name, one in snapshot.packages.items() if one.version is None]
    if nameless:
        said += f", no version is stated of {few(nameless)}"
    if snapshot.target.get("resolved"):
        return said
    hint = "; --resolve asks uv for all of it" if snapshot.target.get("format") == "requirements.txt" else ""
    return f"{said}, and what they require in turn is not in the file{hint}"


def subject(snapshot: Snapshot) -> str:
    """Say what was examined, and why: ``Python 3.11.7, 149 distributions in .venv of this project``."""
    place = chosen(snapshot)
    distributions = count(len(snapshot.packages), "distribution")
    return f"{python(snapshot)}, {distributions}" + (f" in {place}" if place else "")


def chosen(snapshot: Snapshot) -> str:
    """What was examined and why: ``/opt/env, python on PATH``, ``.venv of this project``."""
    place, reason = where(snapshot), safe(str(snapshot.target.get("chosen") or ""))
    if not reason or reason.startswith(short(place) + " "):
        place, reason = reason or short(place), ""
    started = safe(str(snapshot.target.get("started") or ""))
    return ", ".join(filter(None, (place, reason, started and f"with processes started as by {started}")))


def ignored(report: Report) -> str:
    """Say what the user does not want to see: ``2 findings ignored``."""
    return f"{count(len(report.ignored), 'finding')} ignored"


def python(snapshot: Snapshot) -> str:
    """Name the interpreter: ``Python 3.11.7``, ``PyPy 3.10.13``, ``Python 3.13.0 (free-threaded)``."""
    facts = snapshot.python
    version = facts.get("version")
    if not version:
        return "an unknown Python"
    name = {"pypy": "PyPy", "graalpy": "GraalPy"}.get(str(facts.get("implementation")).lower(), "Python")
    traits = [word for key, word in (("free_threaded", "free-threaded"), ("debug", "debug")) if facts.get(key) is True]
    return safe(f"{name} {version}") + (f" ({', '.join(traits)})" if traits else "")


def where(snapshot: Snapshot) -> str:
    """The path, or the name, of what was examined; empty where nobody recorded it."""
    for value in (snapshot.target.get("path"), snapshot.python.get("prefix"), snapshot.target.get("name")):
        if value and isinstance(value, str):
            return safe(value)
    return ""


def short(path: str) -> str:
    """A virtual environment by its last name, anything else as it is."""
    last = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last if last.startswith(".") or last.endswith("env") else path


def reasons(report: Report, most: int = FEW) -> list[str]:
    """What could not be examined, grouped by reason, the reason that leaves most rules undecided first."""
    groups: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    gap = partial(report.snapshot)
    notes = [note for note in report.snapshot.notes if gap is None or not note.fact.startswith("packages.")]
    for unknown in [*notes, *report.unknown]:
        facts, rules = groups.setdefault(unknown.reason, ({}, {}))
        facts[unknown.fact] = None
        if unknown.rule:
            rules[unknown.rule] = None
    ordered = sorted(groups.items(), key=lambda item: -len(item[1][1]))
    said = [] if gap is None else [gap]
    said += [_reason(reason, *names) for reason, names in ordered[:most]]
    if len(ordered) > most:
        said.append(f"and {count(len(ordered) - most, 'more reason')}, listed by -f json")
    return said


def _reason(reason: str, facts: Mapping[str, None], rules: Mapping[str, None]) -> str:
    undecided = f", so {count(len(rules), 'rule')} cannot be decided" if rules else ""
    return f"{few(facts)} ({one_line(reason).rstrip('.')}{undecided})"


def few(names: Iterable[str], most: int = FEW) -> str:
    """Some names and how many more there are."""
    listed = [safe(name) for name in names]
    if len(listed) <= most + 1:
        return ", ".join(listed)
    return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"


def count(number: int, noun: str) -> str:
    """``1 rule``, ``1,000 rules``, ``no rules``."""
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"


def one_line(text: str) -> str:
    """Prose on one line: runs of white space become a space, control characters are spelled out."""
    return safe(" ".join(text.split()))


def colorful(stream: IO[str] | None, environ: Mapping[str, str]) -> bool:
    """Whether colours are wanted there: a terminal that is not dumb, unless ``NO_COLOR`` or ``FORCE_COLOR`` say."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream is not None and stream.isatty() and environ.get("TERM") != "dumb"


def carries_unicode(stream: IO[str] | None) -> bool:
    """Whether the encoding of a stream can carry the marks that are printed."""
    try:
        "✓—·".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
