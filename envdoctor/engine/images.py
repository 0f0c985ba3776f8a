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
_KEYS = ("FROM", "RUN.*", "COPY.*", "ADD.*", "ENV.PATH")
_IMAGE = tuple((file, key) for file in ("Dockerfile", "Containerfile") for key in _KEYS)
_LONGEST = 20_000
_COMMANDS = re.compile(r"&&|\|\|?|;|\n")
_QUOTED = re.compile(r"'[^']{0,2000}'|\"(?:[^\"\\]|\\.){0,2000}\"", re.DOTALL)
_SHELL = re.compile(
    r"\s*(?:\S*/)?(?:ba|da)?sh\s+(?:-\w+\s+(?:pipefail\s+)?)*-\w*c\s+(?:'([^']*)'|\"([^\"]*)\")\s*", re.DOTALL
)
#: What is put before a command, and what of one is no package.
_BEFORE = re.compile(
    r"\s*(?:(?:sudo|exec|command|(?:uv|poetry|pdm|pipenv)\s+run)\s+|[A-Za-z_]+=\S*\s+)*(?:/\S*/(?=\w))?"
)
_ASIDE = re.compile(
    r"\s(?:-[otcX]|--(?:option|target-release|default-release|virtual|repository))\s+\S+|\s&?\d?>+&?\s*\S+"
)
_INSTALLS = re.compile(r"(?:(?:apt-get|apt|aptitude)\b.*?\sinstall|apk\b.*?\sadd)\s(.*)", re.DOTALL)
#: What of a command tells nothing of what is on the system afterwards.
_HARMLESS = re.compile(
    r"(?:apt-get|apt|aptitude|apk)\b.*\s(?:update|upgrade|dist-upgrade|clean|autoclean|autoremove|purge|remove|del)\b"
    r"|(?:pip\S*|uv|poetry|pdm|pipenv|rm|mkdir|chmod|chown|echo|printf|cd|ls|touch|cat|set|true|exit|export|useradd"
    r"|adduser|groupadd|addgroup|usermod|groupmod|chpasswd|find|git|sed|grep|head|tail|sort|tee|which|test|\[|install\s+-d"
    r"|locale-gen|update-ca-certificates|ldconfig|:)(?!\S)|(?:\.|source)\s+\S*activate\b|python\S*\s+(?:\S*manage\.py"
    r"|-c|-m\s+(?:pip|venv|virtualenv|ensurepip|compileall|uv|poetry|pdm|pipenv)(?!\S)|-\s*$)|$"
)
#: What fetches an installer of Python packages alone, and runs it.
_FETCHES = re.compile(r"(?:curl|wget)\b[^|;&\n]{0,200}(?:install\.python-poetry|astral\.sh/uv|bootstrap\.pypa)[^;&\n]*")
_PYTHON = re.compile(r"\b(?:pip\d?|uvx?|poetry|pdm|pipenv)\b")
#: Where packages of Python are taken from another stage.
_PACKAGES = re.compile(r"\bvenv\b|env/bin\b|/site-packages\b|/\.local\b|(?<!\S)/install\b")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")
#: Where programs and libraries are found, but for what is in a directory of its own.
_SYSTEM = re.compile(r"(?:/usr(?:/local)?)?(?:/s?bin|/lib\w*(?!/python)(?:/\S*)?)?/?")
_OUTSIDE = re.compile(r"/(?:usr|opt|root|s?bin|lib)\b|/$")
_FILE = re.compile(r"\.(?:sh|py|conf|cnf|cfg|ini|toml|ya?ml|json|txt|list|crt|pem|key|env|sql|ttf|xml)$")


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
        if base is not None and _lacks(str(base["value"]), said, name, known):
            trace.saw(f"image.{name}", f"missing in {base['value']}", Location(file, base.get("line")))
            trace.say(file=file)
            return True
    return False


def _lacks(base: str, said: Mapping[str, Sequence[Setting]], name: str, known: Mapping[str, Any]) -> bool:
    """Whether what is known to lack it is all that an image is made of, and Python packages are installed there."""
    if any(len(str(entry["value"])) > _LONGEST for entries in said.values() for entry in entries):
        return False
    commands = [one for entry in said.get("RUN.*", ()) for one in _commands(str(entry["value"]))]
    copied = [str(entry["value"]) for key in ("COPY.*", "ADD.*") for entry in said.get(key, ())]
    paths = [str(entry["value"]) for entry in said.get("ENV.PATH", ())]
    taken = [one for one in copied if "--from" in one]
    installs = any(map(_PYTHON.search, commands)) or (taken and any(map(_PACKAGES.search, [*taken, *paths])))
    return (
        bool(installs)
        and _base_lacks(base, known)
        and not any(_copies(one.split(), name) for one in copied)
        and all(_brings_nothing(one, name, known["others"]) for one in commands)
    )


def _base_lacks(base: str, known: Mapping[str, Any]) -> bool:
    """Whether an image is one of those that hold nothing, or stands for a package that does not bring it."""
    for package, globs in known["bases"].items():
        if any(fnmatch.fnmatchcase(base, glob) for glob in globs):
            return package in known["others"]
    return any(fnmatch.fnmatchcase(base, glob) for glob in known["bare"])


def _commands(text: str) -> Iterator[str]:
    """The commands of a line, each without what is before it; what a shell is given in quotes is a line of its own."""
    text = _FETCHES.sub("", text)
    for one in _COMMANDS.split(_QUOTED.sub(_quoted, text)):
        command = one[_begins(one) :].strip()
        given = _SHELL.fullmatch(command.replace("\0", ";").replace("\1", "|").replace("\2", "&"))
        if given:
            yield from _commands(given[1] or given[2] or "")
        else:
            yield command


def _begins(command: str) -> int:
    before = _BEFORE.match(command)
    return before.end() if before else 0


def _quoted(found: re.Match[str]) -> str:
    """A quoted text whose marks separate no commands."""
    return found[0].translate({ord(";"): "\0", ord("|"): "\1", ord("&"): "\2", ord("\n"): ";"})


def _brings_nothing(command: str, name: str, others: Collection[str]) -> bool:
    """Whether a command installs nothing on the system but what is among ``others``."""
    installs = _INSTALLS.match(_ASIDE.sub(" ", command))
    if installs is None:
        words = command.split()
        moves = words[:1] in (["cp"], ["mv"], ["ln"], ["curl"], ["wget"])
        return not _copies(words[1:], name) if moves else _HARMLESS.match(command) is not None
    words = [word.strip("'\"").partition("=")[0] for word in installs[1].split() if not word.startswith("-")]
    return all(_PACKAGE.fullmatch(word) and word in others for word in words)


def _copies(words: Sequence[str], name: str) -> bool:
    """Whether what is copied may be a program or a library where one is found."""
    paths = [path for path in (word.strip("[]\",'") for word in words if not word.startswith("--")) if path]
    own = re.compile(rf"(?<![\w.-]){re.escape(name.partition('.so')[0])}(?![a-z])")
    if any(map(own.search, paths)) and any(map(_OUTSIDE.match, paths[1:])):
        return True
    safe = (_PYTHON, _PACKAGES) if any(word.startswith("--from") for word in words) else (_FILE,)
    known = len(paths) > 1 and all(any(one.search(path) for one in safe) for path in paths[:-1])
    return not known and any(map(_SYSTEM.fullmatch, paths[1:]))
