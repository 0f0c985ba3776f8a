"""Reads repodata patches: what packagers of another channel corrected in the metadata of packages already published.

A patch is a YAML document: under ``if`` which packages it is about, under ``then`` what is changed in their
dependencies. One that narrows a dependency, or adds one, says that releases outside it do not work together. That is a
lead, not a fact: some such bounds were set by date, for a warning, or one release off. Pure, but for reading files.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import Any

import yaml
from packaging.version import InvalidVersion, Version

from envdoctor.engine.installed_requirements import normalise
from envdoctor.errors import UsageError
from envdoctor.model import Record
from envdoctor.rulebase.document import SIZE_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Where a checkout has its patches.
FOLDER = os.path.join("recipe", "patch_yaml")
PYTHON = "python"
ABSENT = "absent"

#: The reasons why a patch is no lead, in the order in which they are looked for.
NARROWS_NOTHING = "it narrows no dependency"
NOT_ONE_PACKAGE = "it names no package, or a pattern of names"
SOME_PLATFORMS = "it is about the builds for some platforms"
ANOTHER_CONDITION = "a condition of it is not about versions"
NO_DISTRIBUTION = "one of the two is no Python distribution"
ANOTHER_SHAPE = "its bound is no range of versions"

_CLAUSE = re.compile(r"(>=|<=|==|!=|<|>)\s*v?([0-9][0-9A-Za-z.+!_]*?)((?:\.?\*)?)")
_BEYOND = {"<": ">=", "<=": ">", ">=": "<", ">": "<=", "!=": "=="}
_COMPARED = {"version_ge": ">=", "version_gt": ">", "version_lt": "<", "version_le": "<=", "version_ne": "!="}
#: How a specifier is spelt in a name.
_WORDS = {">=": "from", ">": "after", "<": "before", "<=": "to", "==": "", "!=": "not"}
#: What is said of Python without the patch release: all of 3.9 is below 3.10.
_MINOR = re.compile(r"(>|<=)3\.([0-9]+)")
_NARROWING = ("tighten_depends", "replace_depends", "replace_constrains", "add_depends", "add_constrains")


class Patch(Record):
    """One document of a file, counted from 1; ``urls`` are the addresses in its comments."""

    file: str
    number: int
    condition: Mapping[str, Any]
    actions: tuple[Mapping[str, Any], ...]
    urls: tuple[str, ...] = ()


class Lead(Record):
    """Two distributions that may not work together, or one and Python, which ``other`` is then.

    ``releases`` of ``name`` are a specifier, empty for all, or for all before ``built``, in milliseconds, where that is
    known. ``bad`` is a specifier of ``other``, or :data:`ABSENT`.
    """

    patch: Patch
    name: str
    releases: str
    other: str
    bad: str
    built: int | None = None

    def id(self) -> str:
        """The id of the lead, which is the rule's."""
        how = {"<": "below", ">": "above", "=": "at", "a": "without"}[self.bad[0]]
        how = "from" if self.bad.startswith(">=") else how
        edge = re.sub(r"[^0-9a-z]+", "-", self.bad.lower()).strip("-") if self.bad != ABSENT else ""
        first = re.sub(r"[<>=!]=?", lambda sign: f"-{_WORDS[sign[0]]}-", self.releases.lower()).strip("-")
        words = [self.name, first, how, self.other, edge]
        return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, words)))


class Dropped(Record):
    """A patch, or a part of one, that is no lead, and why."""

    patch: Patch
    reason: str


def patches_below(directory: str) -> tuple[list[Patch], list[str]]:
    """Every patch of a checkout, and a line for each file that cannot be read.

    Raises :class:`UsageError` where the directory holds no patches.
    """
    folder = os.path.join(directory, FOLDER)
    if not os.path.isdir(folder):
        raise UsageError(f"no patches in {directory}: it has no directory {FOLDER}; give a checkout of the patches")
    patches: list[Patch] = []
    unread: list[str] = []
    for name in sorted(os.listdir(folder)):
        if name.endswith((".yaml", ".yml")):
            try:
                patches += _documents(os.path.join(folder, name), name)
            except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
                unread.append(f"{name}: {' '.join(str(error).split()) or type(error).__name__}")
    return patches, unread


def _documents(path: str, name: str) -> list[Patch]:
    with open(path, "rb") as file:
        content = file.read(SIZE_LIMIT * 16 + 1)
    if len(content) > SIZE_LIMIT * 16:
        raise ValueError("it is too large for a file of patches")
    text = content.decode("utf-8-sig")
    parts = re.split(r"(?m)^---[ \t]*$", text)
    found = []
    for number, data in enumerate(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), 1):
        if data is None:
            continue
        if not isinstance(data, dict) or not isinstance(data.get("if"), dict) or not isinstance(data.get("then"), list):
            message = f"document {number} is no patch: it needs `if` and `then`"
            raise ValueError(message)  # noqa: TRY004 - of a file, not of an argument
        actions = tuple(one for one in data["then"] if isinstance(one, dict))
        said = parts[number - 1] if len(parts) >= number else ""
        urls = tuple(dict.fromkeys(re.findall(r"#.*?(https://github\.com/[\w./-]+/(?:issues|pull)/\d+)", said)))
        found.append(Patch(file=name, number=number, condition=data["if"], actions=actions, urls=urls))
    return found


def leads(patch: Patch, names: Mapping[str, str | None]) -> Iterator[Lead | Dropped]:
    """The leads of a patch about two distributions, or one and Python; ``names`` maps the channel's that differ.

    A name that is no distribution's maps to ``None``; one that is not in the table is taken as it is.
    """
    narrowed = [one for action in patch.actions for one in _narrowed(action)]
    reason = _unfit(patch, narrowed)
    if reason is not None:
        yield Dropped(patch=patch, reason=reason)
        return
    for name in named(patch):
        for other, bounds in narrowed:
            pair = mapped(name, names), mapped(other, names)
            if None in pair or pair[0] == pair[1] or pair[0] == PYTHON:
                yield Dropped(patch=patch, reason=NO_DISTRIBUTION)
                continue
            yield from _of_pair(patch, str(pair[0]), str(pair[1]), bounds)


def _of_pair(patch: Patch, name: str, other: str, bounds: list[str | None]) -> Iterator[Lead | Dropped]:
    releases = _releases(patch.condition)
    built = next((patch.condition[key] for key in ("timestamp_lt", "timestamp_le") if key in patch.condition), None)
    for bound in bounds:
        if bound is None or (other == PYTHON and bound == ABSENT):
            yield Dropped(patch=patch, reason=ANOTHER_SHAPE)
        else:
            time = built if isinstance(built, int) else None
            bad = _whole(bound) if other == PYTHON else bound
            yield Lead(patch=patch, name=name, releases=releases, other=other, bad=bad, built=time)


def _whole(bad: str) -> str:
    """Versions of Python by whole minor releases, where no patch release is named."""
    found = _MINOR.fullmatch(bad)
    return bad if found is None else f"{'>=' if found[1] == '>' else '<'}3.{int(found[2]) + 1}"


def _unfit(patch: Patch, narrowed: list[Any]) -> str | None:
    """Why nothing can be learnt from a whole patch, if that is so."""
    condition = patch.condition
    names = named(patch)
    if not narrowed:
        return NARROWS_NOTHING
    if not names or any(re.search(r"[*?\[]", name) for name in names):
        return NOT_ONE_PACKAGE
    if _is_of_some_platforms(condition):
        return SOME_PLATFORMS
    if any(key.startswith("not_version") for key in condition) or _releases(condition) == "?":
        return ANOTHER_CONDITION
    return None


def _is_of_some_platforms(condition: Mapping[str, Any]) -> bool:
    stated = [one for key in ("subdir", "subdir_in", "subdir_eq") for one in _listed(condition.get(key))]
    return any(one != "noarch" for one in stated) or any(key.startswith("not_subdir") for key in condition)


def named(patch: Patch) -> list[str]:
    """The channel's names of the packages that a patch is about."""
    return _listed(patch.condition.get("name", patch.condition.get("name_in")))


def _listed(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list) else [value]) if one is not None]


def mapped(name: str, names: Mapping[str, str | None]) -> str | None:
    """The distribution of a name of the channel; ``None`` where it is none."""
    for one in (name, *(pattern for pattern in names if "*" in pattern and fnmatchcase(name, pattern))):
        if one in names:
            return names[one]
    return normalise(name)


def _releases(condition: Mapping[str, Any]) -> str:
    """The specifier of the releases that a condition is about; empty for all, ``?`` where it is none."""
    clauses = [f"{sign}{condition[key]}" for key, sign in _COMPARED.items() if key in condition]
    exact = [one for key in ("version", "version_eq", "version_in") for one in _listed(condition.get(key))]
    try:
        if len(exact) == 1:
            clauses.append("==" + re.sub(r"(?<=[0-9])\*$", ".*", exact[0]))
        elif exact:
            ordered = sorted(exact, key=lambda one: Version(one.removesuffix(".*").removesuffix("*")))
            clauses += [f">={ordered[0].removesuffix('.*')}", f"<={ordered[-1].removesuffix('.*')}"]
    except InvalidVersion:
        return "?"
    return ",".join(clauses) if all(_CLAUSE.fullmatch(clause) for clause in clauses) else "?"


def _narrowed(action: Mapping[str, Any]) -> Iterator[tuple[str, list[str | None]]]:
    """The dependencies that an action narrows or adds, each with what is bad of them; ``None`` for what is no range."""
    for verb in _NARROWING:
        value = action.get(verb)
        if verb.startswith("add"):
            yield from _added(_listed(value), is_needed=verb == "add_depends")
        elif not isinstance(value, dict):
            continue
        elif verb == "tighten_depends" and "name" in value:
            upper = value.get("upper_bound")
            yield str(value["name"]), [_beyond(f"<{upper}") if upper else None]
        elif verb.startswith("replace") and {"old", "new"} <= value.keys():
            yield from _replaced(str(value["old"]), str(value["new"]))


def _added(texts: list[str], *, is_needed: bool) -> Iterator[tuple[str, list[str | None]]]:
    """Dependencies that are new; without one that ``is_needed`` and names no versions, its absence is bad."""
    for text in texts:
        name, clauses = _parsed(text)
        wanted = [_beyond(one) for one in clauses]
        yield name, wanted or [ABSENT if is_needed and " " not in text.strip() else None]


def _replaced(old: str, new: str) -> Iterator[tuple[str, list[str | None]]]:
    (_, before), (name, after) = _parsed(old), _parsed(new)
    more = [one for one in after if one not in before]
    if more and re.match(rf"{re.escape(name)}(?![\w.-])", old):
        yield name, [_beyond(one) for one in more]


def _parsed(text: str) -> tuple[str, list[str]]:
    """The name and the clauses of a dependency as the channel writes it, such as ``name >=1,<3``."""
    found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9_.-]*)\s*(.*?)\s*$", text)
    if not found:
        return text.strip(), []
    return found[1], [one.strip() for one in found[2].split(",") if one.strip() not in {"", "*"}]


def _beyond(clause: str) -> str | None:
    """The versions that a clause leaves out: of ``<3`` those from 3 on."""
    found = _CLAUSE.fullmatch(clause.strip())
    if not found or found[1] == "==" or (found[3] and found[1] != "!="):
        return None
    version = re.sub(r"(?:\.?(?:dev|rc|a|b)0)$", "", found[2])
    try:
        Version(version)
    except InvalidVersion:
        return None
    return None if re.fullmatch(r"[0.]+", version) else f"{_BEYOND[found[1]]}{version}{found[3]}"
