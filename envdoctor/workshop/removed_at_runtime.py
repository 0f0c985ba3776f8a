"""What a release removed, as two environments show it: the last release before a rule's range, and the first one in it.

Reading wheels tells less: what a module makes while it is imported is not seen there, nor what a class inherits.
"""

from __future__ import annotations

import json
from typing import Any

from packaging.utils import canonicalize_name

from envdoctor.model import Record
from envdoctor.rulebase.project_conditions import USES
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop.proof import build, public_names
from envdoctor.workshop.proof.trials import TrialEnvironment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.removed_names import Asked, Edge

#: Wider than this, a line of globs is parted.
_WIDTH = 110
#: What of it is left for the members of classes.
_MEMBERS = 40


class Removed(Record):
    """What went between two releases and no rule asks for, as globs with alternatives in braces.

    ``uses`` are globs of names, ``keywords`` the globs of calls by the keyword that they no longer take. ``still`` are
    names that the rule asks for and that the newer release has, ``never`` those of modules that neither has, ``back``
    those that the newest release of the range has again. ``newest`` is empty where that was not built.
    """

    python: str
    last: str
    gone: str
    newest: str
    uses: Sequence[str]
    keywords: Mapping[str, Sequence[str]]
    still: Sequence[str]
    never: Sequence[str]
    back: Sequence[str]


def of_rule(rule: Rule, edge: Edge, asked: Asked, first: str = "") -> Removed:
    """Compare the two releases of an edge in environments like a bad cell of the rule, where ``first`` is run first.

    Raises :class:`UnbuiltError` where one of them cannot be built.
    """
    names = sorted(_plain_names(rule))
    files = {public_names.ASKED: json.dumps(names)}
    name, last, gone = edge.distribution, edge.last, edge.gone
    place = _place(rule, name)
    with open(public_names.__file__, encoding="utf-8") as file:
        program = file.read()
    for version in (last, gone):
        files.update(_left(place, (name, version), program, (name, first), files))
    had, lost = (json.loads(files[name]) for name in (public_names.HAD, public_names.GONE))
    before, after, later = had["asked"], lost["asked"], lost
    newest = edge.newest if edge.newest != gone else ""
    if newest:
        try:
            files.update(_left(place, (name, newest), program, (name, first), files))
            later = json.loads(files[public_names.GONE])
        except build.UnbuiltError:
            newest = ""
    found = _Lost(had, _for_good(lost, later), asked)
    return Removed(
        python=place.python,
        last=last,
        gone=gone,
        newest=newest,
        uses=list(found.uses()),
        keywords=found.keywords(),
        still=[one for one in names if after[one]],
        never=[one for one in names if before[one] is False and after[one] is False],
        back=[one for one in names if later["asked"][one] and not after[one]],
    )


def _for_good(lost: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """What went and is not there in a later release, either."""

    def is_gone(path: str) -> bool:
        module, _, name = path.rpartition(".")
        is_lost = any(path == one or path.startswith(f"{one}.") for one in later["modules"])
        return is_lost or name in later["names"].get(module, ())

    def left(kind: str, path: str, names: Iterable[str]) -> list[str]:
        around, _, method = path.rpartition(".")
        home = path if path in lost["paths"] else around
        if all(map(is_gone, lost["paths"].get(home, [home]))) or method in later["members"].get(around, ()):
            return list(names)
        return [name for name in names if name in later[kind].get(path, ())]

    return {
        "modules": list(filter(is_gone, lost["modules"])),
        "names": {path: [one for one in names if is_gone(f"{path}.{one}")] for path, names in lost["names"].items()},
        "members": {path: left("members", path, names) for path, names in lost["members"].items()},
        "keywords": {path: left("keywords", path, names) for path, names in lost["keywords"].items()},
        "paths": lost["paths"],
    }


def _left(
    place: TrialEnvironment, release: tuple[str, str], program: str, words: Sequence[str], files: Mapping[str, str]
) -> dict[str, str]:
    """The files of the program in an environment with a release; where they cannot be together, without the others."""
    others = [text for text in place.install if canonicalize_name(text.partition("==")[0]) != release[0]]
    wanted = "==".join(release)
    try:
        return build.left_by(place.replace(install=[wanted, *others]), program, words, files)
    except build.UnbuiltError:
        if not others:
            raise
        return build.left_by(place.replace(install=[wanted]), program, words, files)


def _place(rule: Rule, name: str) -> TrialEnvironment:
    """What the first bad cell of a rule that has a distribution states."""
    cells = [*rule.proof["bad"], *rule.proof["good"]]
    cell = next((one for one in cells if name in one.get("packages", {})), cells[0])
    install = [f"{other}=={version}" for other, version in sorted(cell.get("packages", {}).items())]
    return TrialEnvironment(python=cell.get("python", ""), install=install, needs=list(rule.proof.get("needs", ())))


def _plain_names(rule: Rule) -> Iterator[str]:
    """The names that a rule asks source for whatever a call is given."""
    for leaf in leaves(rule.when, ("when",)):
        if leaf.fact == "source" and not leaf.negated and not {"arguments", "without"} & leaf.value.keys():
            for verb in USES:
                yield from (one for one in leaf.value.get(verb, ()) if "*" not in one and "?" not in one)


class _Lost:
    """What went, as the program writes it, and which globs mean that and nothing else."""

    def __init__(self, had: Mapping[str, Any], lost: Mapping[str, Any], asked: Asked) -> None:
        self._had = had
        self._lost = lost
        self._asked = asked
        self._stems: dict[str, set[str]] = {}
        for home in lost["paths"]:
            for path in self._paths(home):
                self._stems.setdefault(path.rpartition(".")[2], set()).add(home)

    def _paths(self, home: str) -> set[str]:
        """The paths of a class or function that it is imported by, and the one that it was made under."""
        return {home, *self._lost["paths"].get(home, ())}

    def uses(self) -> Iterator[str]:
        """Globs of the modules, names and attributes that went and no rule asks for."""
        modules = self._lost["modules"]
        outer = [one for one in modules if not any(one.startswith(f"{other}.") for other in modules)]
        yield from (f"{one}.**" for one in outer if not self._asked.covers(one))
        for module, names in sorted(self._lost["names"].items()):
            left = [one for one in names if f"{module}.{one}" not in modules]
            yield from _globs(module, [one for one in left if not self._asked.covers(f"{module}.{one}")])
        yield from self._attributes()

    def _attributes(self) -> Iterator[str]:
        """Globs of the attributes that went, of classes that lack the same ones together."""
        lacking: dict[str, list[str]] = {}
        for home, names in self._lost["members"].items():
            for name in (one for one in names if not self._is_asked(home, f".{one}")):
                lacking.setdefault(name, []).append(home)
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, homes in sorted(lacking.items()):
            alike.setdefault(tuple(homes), []).append(name)
        for group, members in sorted(alike.items()):
            for scope in self._scopes(group, [f".{name}" for name in members]):
                yield from _globs(scope, members)

    def keywords(self) -> dict[str, list[str]]:
        """The globs of calls by each keyword that they no longer take and that no rule asks for."""
        calls: dict[tuple[str, str], list[str]] = {}
        for call, names in sorted(self._lost["keywords"].items()):
            home = call if call in self._lost["paths"] else call.rpartition(".")[0]
            method = call[len(home) :]
            for name in (one for one in names if not self._is_asked(home, f"{method}:{one}")):
                calls.setdefault((name, method), []).append(home)
        found: dict[str, list[str]] = {}
        for (name, method), homes in sorted(calls.items()):
            scopes = self._scopes(homes, [f"{method}:{name}"])
            found.setdefault(name, []).extend(f"{scope}{method}" for scope in scopes)
        return found

    def _is_asked(self, home: str, rest: str) -> bool:
        return any(self._asked.covers(path + rest) for path in self._paths(home))

    def _scopes(self, homes: Sequence[str], rests: Sequence[str]) -> Iterator[str]:
        """Globs of some classes or functions, in any module below the top where no other of that name is to be spared.

        ``rests`` are what went of each, ``.attribute`` or ``.method:keyword``.
        """
        named: dict[str, set[str]] = {}
        for home in homes:
            for path in sorted(self._paths(home)):
                stem = path.rpartition(".")[2]
                if any(self._had_any(other, rests) for other in self._stems[stem] - {*homes}):
                    yield path
                else:
                    named.setdefault(path.partition(".")[0], set()).add(stem)
        for root, stems in sorted(named.items()):
            yield from _globs(f"{root}.**", sorted(stems), _WIDTH - _MEMBERS)

    def _had_any(self, home: str, rests: Iterable[str]) -> bool:
        """Whether something had one of some attributes or keywords."""
        for rest in rests:
            path, _, keyword = f"{home}{rest}".partition(":")
            members = self._had["calls"].get(path, ()) if keyword else self._had["classes"].get(home, ())
            if (keyword or rest[1:]) in members:
                return True
        return False


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{','.join(names)}}}"


def _globs(scope: str, names: Iterable[str], width: int = _WIDTH) -> Iterator[str]:
    """Globs for some names in a scope, each of them no wider than a line."""
    line: list[str] = []
    for name in names:
        if line and len(scope) + len(",".join([*line, name])) > width:
            yield f"{scope}.{_either(line)}"
            line = []
        line.append(name)
    if line:
        yield f"{scope}.{_either(line)}"


def written(found: Removed) -> str:
    """What is found, as it may be taken into the rule."""
    lines = ["  uses: [", *(f"    {json.dumps(one)}," for one in found.uses), "  ]"] if found.uses else []
    for name, calls in found.keywords.items():
        lines.append(f"  - source: {{calls: {json.dumps(calls)}, argument: {{name: {name}}}}}")
    lines += [f"  asked for, and there in {found.gone}: {one}" for one in found.still]
    lines += [f"  asked for, and in neither: {one}" for one in found.never]
    lines += [f"  asked for, and there again in {found.newest}: {one}" for one in found.back]
    return "".join(f"{line}\n" for line in lines)
