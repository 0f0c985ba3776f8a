"""What files of a project say of the machine that it runs on: variables that they set. Pure."""

from __future__ import annotations

from envdoctor.engine.evaluate import holds
from envdoctor.engine.trace import Trace
from envdoctor.facts import CONFIG, ENV, PROJECT
from envdoctor.model import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.engine.evaluate import Condition
    from envdoctor.engine.questions import Question
    from envdoctor.found import Setting
    from envdoctor.model import Snapshot

#: Where a variable is set: the files, and the key of its value, or of texts such as ``NAME=value``.
PLACES = (
    (".env", "{}"),
    (".envrc", "{}"),
    ("Dockerfile", "ENV.{}"),
    ("Containerfile", "ENV.{}"),
    ("*compose.y*ml", "environment.{}"),
    ("*compose.y*ml", "environment.*"),
    ("*.service", "Service.Environment"),
)


def asked(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The variable of a target; where that does not decide it, what the project's files set."""
    _, name, test, wanted = condition
    yield ENV, name
    if not snapshot.facts.has(ENV, name) or (test, wanted) == ("is", "unset") or holds(condition, snapshot, Trace()):
        return
    yield PROJECT, "there"
    if snapshot.facts.ask(PROJECT, "there") is True:
        yield from ((CONFIG, (file, key.format(name))) for file, key in PLACES)


def variables(name: str, snapshot: Snapshot) -> Iterator[tuple[str, Setting]]:
    """The values that a project's files give a variable, each with the entry that does."""
    for file, key in PLACES if snapshot.facts.ask(PROJECT, "there") is True else ():
        answer = snapshot.facts.ask(CONFIG, (file, key.format(name)))
        for entry in () if isinstance(answer, Unknown) else answer.found:
            if "{}" in key:
                values = [] if entry["value"] is None else [str(entry["value"])]
            else:
                pairs = (word.strip("\"'").partition("=") for word in str(entry["value"]).split())
                values = [value for known, equals, value in pairs if known == name and equals]
            yield from ((value, entry) for value in values)
