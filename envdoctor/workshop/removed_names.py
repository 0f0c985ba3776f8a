"""Public names that a release removed and no rule asks a project's source for, read from the wheels on both sides."""

from __future__ import annotations

from typing import Any

from packaging.utils import canonicalize_name

from envdoctor import globs_of_names
from envdoctor.engine.versions import within
from envdoctor.linker.index_files import wheels
from envdoctor.model import Record
from envdoctor.rulebase.project_conditions import USES
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop.name_history import chosen, names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.index_files import File
    from envdoctor.rulebase.rule import Rule

#: Types that stand for others in annotations are named like this; nobody imports them.
_TYPE_VARIABLES = ("T_", "TV_")


class Edge(Record):
    """Two releases of a distribution that are neighbours on the index, and what of the first the second lacks.

    ``names`` are ``module``, ``module.name``, ``module.Class.attribute``, or ``....name:parameter``; what is inside of
    another one that went is left out. ``newest`` is the newest release of a rule's range.
    """

    distribution: str
    last: str
    gone: str
    names: Sequence[str]
    newest: str = ""


def of_rule(rule: Rule, *, run: bool = False) -> Iterator[Edge]:
    """An edge for each range of ``when`` that begins at some release, where the rule asks source for names.

    With ``run`` no wheel is read, and ``names`` is empty. Raises :class:`TargetError` where no index answers, or a
    wheel cannot be read.
    """
    every = list(leaves(rule.when, ("when",)))
    if not any(leaf.fact == "source" for leaf in every):
        return
    for leaf in every:
        if leaf.fact == "packages" and not leaf.negated and leaf.value not in {"present", "absent"}:
            known = wheels(leaf.key)
            first = next((at for at, file in enumerate(known) if within(file.version, leaf.value)), 0)
            if first and run:
                newest = [file.version for file in known if within(file.version, leaf.value)][-1]
                ends = {"last": known[first - 1].version, "gone": known[first].version, "newest": newest}
                yield Edge(distribution=leaf.key, names=(), **ends)
            elif first:
                yield between(leaf.key, known[first - 1], known[first])


def of_distribution(name: str, most: int) -> Iterator[Edge]:
    """The edges between the first and the last releases of the minor versions of a distribution, oldest first.

    Raises :class:`TargetError` where no index answers, or a wheel cannot be read.
    """
    known = chosen(wheels(name), most)
    for last, gone in zip(known, known[1:]):
        yield between(canonicalize_name(name), last, gone)


def between(name: str, last: File, gone: File) -> Edge:
    """What the second of two releases lacks of the first. Raises :class:`TargetError` where one cannot be read."""
    before, after = names_in(last), names_in(gone)
    lost = {one for one in before - after if not one.endswith("*") and f"{_scope(one)}*" not in after}
    outer = {one for one in lost if not lost & set(_scopes(one)) and _is_for_users(one)}
    stored = {one.replace(".__init__:", ".") for one in outer if ".__init__:" in one}
    kept = sorted(outer - stored - _repeated(outer))
    return Edge(distribution=name, last=last.version, gone=gone.version, names=kept)


def _repeated(names: Iterable[str]) -> set[str]:
    """What modules have alike, but for the one with the shortest path: they import it of each other."""
    shortest: dict[str, str] = {}
    again: set[str] = set()
    for name in sorted(names, key=lambda one: (len(one), one)):
        is_of_module = ":" not in name and not _last(_scope(name)[:-1])[:1].isupper()
        if is_of_module and shortest.setdefault(_last(name), name) != name:
            again.add(name)
    return again


def _scope(name: str) -> str:
    """What a name is in, with the sign that parts them."""
    sign = ":" if ":" in name else "."
    return name.rpartition(sign)[0] + sign


def _scopes(name: str) -> Iterator[str]:
    """Everything that a name is in, innermost first."""
    while "." in name or ":" in name:
        name = _scope(name)[:-1]
        yield name


def _is_for_users(name: str) -> bool:
    return not name.rpartition(".")[2].startswith(_TYPE_VARIABLES)


class Asked:
    """What rules ask a project's source for: names, whole modules and classes, and arguments of calls."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._globs: dict[str, list[str]] = {}
        self._whole: dict[str, list[re.Pattern[str]]] = {}
        self._arguments: dict[str, set[str]] = {}
        for rule in rules:
            for leaf in leaves(rule.when, ("when",)):
                if leaf.fact == "source":
                    self._add(leaf.value)

    def _add(self, value: Mapping[str, Any]) -> None:
        tests = (*value.get("arguments", ()), *value.get("without", ()))
        arguments = {one["name"].partition(".")[0] for one in tests if "name" in one}
        for verb in USES:
            for glob in value.get(verb, ()):
                self._globs.setdefault(_last(glob), []).append(glob)
                self._arguments.setdefault(_last(glob), set()).update(arguments)
                if verb != "calls":
                    self._whole.setdefault(_root(glob), []).append(globs_of_names.expression(glob))

    def covers(self, name: str) -> bool:
        """Whether some rule asks for a name, under this path or one that its class or module is also known by."""
        path, _, parameter = name.replace(".__init__:", ":").partition(":")
        if parameter:
            return parameter in self._arguments.get(_last(path), ())
        near = (*self._globs.get(_last(path), ()), *self._globs.get("*", ()), *self._globs.get("**", ()))
        return any(_matches(glob, path) for glob in near) or any(map(self._is_whole, _scopes(path)))

    def _is_whole(self, scope: str) -> bool:
        near = (*self._whole.get(_root(scope), ()), *self._whole.get("*", ()))
        return any(expression.fullmatch(scope) for expression in near)


def _root(glob: str) -> str:
    """The first segment of a glob, or ``*`` where that is no plain name."""
    root = glob.partition(".")[0]
    return root if root.isidentifier() else "*"


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _matches(glob: str, path: str) -> bool:
    """Whether a glob means a name, or the same name of a class or module that is listed under another path."""
    if globs_of_names.expression(glob).fullmatch(path):
        return True
    (*above, last), (*parts, name) = glob.split("."), path.split(".")
    if last != name or not above or not parts:
        return False
    are_modules = above[-1][:1].islower() and parts[-1][:1].islower()
    return above[-1] == parts[-1] or (are_modules and (_begins(above, parts) or _begins(parts, above)))


def _begins(long: Sequence[str], short: Sequence[str]) -> bool:
    return list(long[: len(short)]) == list(short)


def unasked(edge: Edge, asked: Asked) -> dict[str, list[str]]:
    """The names of an edge that no rule asks for, by what they are in; ``""`` for whole modules at the top."""
    found: dict[str, list[str]] = {}
    for name in edge.names:
        if not asked.covers(name):
            scope = _scope(name) if "." in name or ":" in name else ""
            found.setdefault(scope.rstrip("."), []).append(name[len(scope) :])
    return found
