"""What the image of a project's Dockerfile lacks, where its base and all that it installs are known. Pure."""

from __future__ import annotations

import fnmatch
import re

from envdoctor.facts import CONFIG, PROJECT
from envdoctor.model import Location, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.engine.evaluate import Condition, Verdict
    from envdoctor.engine.trace import Trace
    from envdoctor.facts import Kind
    from envdoctor.found import Setting
    from envdoctor.model import Snapshot

#: The entries of a Dockerfile that tell what its image holds.
_IMAGE = tuple((file, key) for file in ("Dockerfile", "Containerfile") for key in ("FROM", "RUN.*", "COPY.*"))
_COMMANDS = re.compile(r"&&|\|\||;|\n")
_INSTALLS = re.compile(r"\s*(?:sudo\s+)?(?:[A-Z_]+=\S+\s+)*(?:apt-get|apt|aptitude)\b.*?\sinstall\s(.*)", re.DOTALL)
#: What of a command tells nothing of what is on the system afterwards.
_HARMLESS = re.compile(
    r"\s*(?:sudo\s+)?(?:[A-Z_]+=\S+\s+)*(?:"
    r"(?:apt-get|apt|aptitude)\b.*\s(?:update|upgrade|dist-upgrade|clean|autoclean|autoremove|purge|remove)\b"
    r"|(?:python\S*\s+-m\s+)?(?:pip\S*|uv|poetry|pdm|pipenv|rm|mkdir|chmod|chown|echo|cd|ln|cp|mv|ls|touch|cat|set|true"
    r"|export|useradd|adduser|groupadd|addgroup|usermod|find|sed)\b|python\S*\s+manage\.py\b|$)"
)
_PYTHON = re.compile(r"\b(?:pip\d?|uv|poetry|pdm|pipenv)\b")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def asked(_: Condition, snapshot: Snapshot) -> Iterator[tuple[Kind[Any, Any], Any]]:
    """What the Dockerfiles of a project say that is named."""
    yield PROJECT, "named"
    if snapshot.facts.ask(PROJECT, "named") is True:
        yield from ((CONFIG, place) for place in _IMAGE)


def image(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether the image of some Dockerfile that installs Python packages lacks something.

    It does where its base is known to, and where each package that is installed is known not to bring it.
    """
    _, name, known = condition
    files: dict[str, dict[str, list[Setting]]] = {}
    for place in _IMAGE if snapshot.facts.ask(PROJECT, "named") is True else ():
        answer = snapshot.facts.ask(CONFIG, place)
        for entry in () if isinstance(answer, Unknown) else answer.found:
            files.setdefault(entry["file"], {}).setdefault(place[1], []).append(entry)
    for file, said in files.items():
        base = next(iter(said.get("FROM", ())), None)
        if base is not None and _lacks(str(base["value"]), said, known):
            trace.saw(f"image.{name}", f"missing in {base['value']}", Location(file, base.get("line")))
            trace.say(file=file)
            return True
    return False


def _lacks(base: str, said: Mapping[str, Sequence[Setting]], known: Mapping[str, Any]) -> bool:
    """Whether what is known to lack it is all that an image is made of, and Python packages are installed there."""
    commands = [one for entry in said.get("RUN.*", ()) for one in _COMMANDS.split(str(entry["value"]))]
    copied = [str(entry["value"]) for entry in said.get("COPY.*", ())]
    is_bare = any(fnmatch.fnmatchcase(base, glob) for glob in known["bare"])
    is_open = any("--from" in one and not _PYTHON.search(one) for one in copied)
    installs = any(map(_PYTHON.search, commands))
    return is_bare and installs and not is_open and all(_brings_nothing(one, known["others"]) for one in commands)


def _brings_nothing(command: str, others: Collection[str]) -> bool:
    """Whether a command installs nothing on the system but what is among ``others``."""
    installs = _INSTALLS.match(command)
    if installs is None:
        return _HARMLESS.match(command) is not None
    words = [word.partition("=")[0] for word in installs[1].split() if not word.startswith("-")]
    return all(_PACKAGE.fullmatch(word) and word in others for word in words)
