"""The variables of the environment, those that a project's files set for its machine included. Pure."""

from __future__ import annotations

from envdoctor.engine.evaluate import LONGEST_VALUE, answer_of
from envdoctor.facts import CONFIG, ENV, PROJECT
from envdoctor.model import Location, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.engine.evaluate import Condition, Verdict
    from envdoctor.engine.trace import Trace
    from envdoctor.facts import Kind
    from envdoctor.found import Setting
    from envdoctor.model import Snapshot

#: Where a variable is set: the files, and the key of its value, or of texts such as ``NAME=value``.
PLACES = (
    (".env", "{}"),
    (".envrc", "{}"),
    ("Dockerfile", "ENV.{}"),
    ("Containerfile", "ENV.{}"),
    ("*compose*.y*ml", "environment.{}"),
    ("*compose*.y*ml", "environment.*"),
    ("*.service", "Service.Environment"),
)
#: A variable with what stands for it where it is not set.
_DEFAULT = r"(?a)\$\{\w+:?-([^${}]*)\}"


def asked(condition: Condition, snapshot: Snapshot) -> Iterator[tuple[Kind[Any, Any], Any]]:
    """The variable of a target, and what the files of a project set that is named: a plain run reads none for it."""
    _, name, test, wanted = condition
    yield ENV, name
    if (test, wanted) == ("is", "unset"):
        return
    yield PROJECT, "named"
    if snapshot.facts.ask(PROJECT, "named") is True:
        yield from ((CONFIG, (file, key.format(name))) for file, key in PLACES)


def variables(name: str, snapshot: Snapshot) -> Iterator[tuple[str, Setting]]:
    """The values that a project's files give a variable, each with the entry that does."""
    for file, key in PLACES if snapshot.facts.ask(PROJECT, "named") is True else ():
        answer = snapshot.facts.ask(CONFIG, (file, key.format(name)))
        for entry in () if isinstance(answer, Unknown) else answer.found:
            if "{}" in key:
                values = [] if entry["value"] is None else [str(entry["value"])]
            else:
                pairs = (word.strip("\"'").partition("=") for word in str(entry["value"]).split())
                values = [value for known, equals, value in pairs if known == name and equals]
            yield from ((_with_default(value), entry) for value in values)


def _with_default(value: str) -> str:
    """A value with what stands for variables in it that have a default."""
    if "${" not in value:
        return value
    import re

    return re.sub(_DEFAULT, r"\1", value)


def env(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether an environment variable has a value, matches, or is set: in the target, or by a file of the project."""
    _, name, test, wanted = condition
    value = answer_of(ENV, name, snapshot, trace)
    if (test, wanted) == ("is", "unset"):
        if value is None:
            trace.saw("env." + name, wanted, "the environment")
        return None if isinstance(value, Unknown) else value is None
    verdict: Verdict = None if isinstance(value, Unknown) else False
    if isinstance(value, str):
        verdict = _tested("env." + name, value, test, wanted, "the environment", trace)
    if verdict:
        return True
    stated = ((text, Location(entry["file"], entry.get("line"))) for text, entry in variables(name, snapshot))
    return any(_tested("env." + name, text, test, wanted, place, trace) for text, place in stated) or verdict


def _tested(fact: str, value: str, test: str, wanted: str, place: str | Location, trace: Trace) -> Verdict:
    """Whether the value of a variable passes a test; where it does, the trace says so."""
    if test == "matches" and len(value) > LONGEST_VALUE:
        trace.missed(fact, "its value is too long to be searched")
        return None
    shown = wanted
    if test == "matches":
        import re

        match = re.search(wanted, value)
        verdict, shown = match is not None, match[0] or "matches" if match else ""
    else:
        verdict = test == "is" or value == wanted
    if verdict:
        trace.saw(fact, shown, place)
    return verdict
