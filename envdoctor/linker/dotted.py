"""Names that files hold as text: what a saved artefact would import, what settings name, and those of settings."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections import defaultdict
from typing import Any, NamedTuple

from envdoctor.linker.history import shipped
from envdoctor.linker.module_files import PROJECT, is_aside
from envdoctor.linker.reach import ENTRY
from envdoctor.linker.summary import LATER
from envdoctor.linker.verdicts import Missing
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.history import History, Life
    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.resolve import Resolver
    from envdoctor.linker.verdicts import Answer
    from envdoctor.probes.project import Project

    Misfit = Callable[[Answer, str, str, Sequence[Any]], tuple[str, str]]

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_GONE = {"name", "attribute", "module", "gone"}
#: The kinds of artefact whose names are imported when they are loaded.
_IMPORTING = {"pickle", "joblib", "torch", "stable-baselines3"}


def answer(layout: Layout, resolver: Resolver, name: str) -> Answer:
    """Whether there is a module of this dotted name, or something in one."""
    parts = name.split(".")
    end = next((end for end in range(len(parts), 0, -1) if layout.has(".".join(parts[:end]))), 0)
    if not end:
        return resolver.module(name)
    found = resolver.offers(".".join(parts[:end]), ".".join(parts[end:]))
    missing = ".".join(parts[: end + 1])
    if found.verdict is False and end < len(parts) - 1 and not parts[end][:1].isupper():
        whole = resolver.module(missing)  # rather a module that is gone than a name in the one around it
        return found if whole.verdict else whole
    return found


def saved(records: Sequence[Mapping[str, Any]], layout: Layout, resolver: Resolver) -> Iterator[Missing]:
    """Names that loading an artefact imports, and that nothing installed has.

    A provider that has the lost name as a text may have its own loader, which knows where it went: a warning.
    """
    for record in records:
        for name in record["names"] if record["kind"] in _IMPORTING else ():
            found = answer(layout, resolver, name)
            if found.verdict is False and found.why in _GONE:
                owner = layout.owner(found.module)
                aside = not os.path.isabs(record["file"]) and is_aside(record["file"].replace("/", "."))
                doubtful = aside or found.weak or _is_known(name, found, owner, resolver)
                severity = "warning" if doubtful else "error"
                yield Missing(
                    record["file"], record["file"], 0, name, owner, found.why, severity, ENTRY, found.module, found.path
                )


def _is_known(name: str, found: Answer, owner: str, resolver: Resolver) -> bool:
    lost = name.rpartition(".")[0] if found.why == "module" else found.path.rpartition(".")[2]
    return any(resolver.words.anywhere(owner, f"{quote}{lost}{quote}") for quote in "'\"")


class Setting(NamedTuple):
    """A dotted name that configuration holds: ``sure`` where it is used whenever the program starts.

    With a ``module``, ``name`` is that of a setting, and ``module`` has the defaults of all settings. ``keywords`` are
    the arguments that the configuration gives what it names, of which there may be more.
    """

    name: str
    file: str
    line: int
    sure: bool
    module: str = ""
    keywords: Sequence[str] = ()


def settings(project: Project, known: Mapping[str, Any]) -> Iterator[Setting]:
    """The dotted names of a project's configuration, by the files and keys that the vocabulary knows."""
    yield from _in_configuration(project, known.get("entries", ()))
    yield from _in_assignments(project, (*known.get("assigned", ()), *known.get("settings", ())))
    called = list(_called(project, known.get("called", ())))
    yield from called
    places = {one[:3] for one in called}
    yield from (one for one in _under_keys(project, known.get("keyed", ())) if one[:3] not in places)


def _in_configuration(project: Project, entries: Iterable[Mapping[str, Any]]) -> Iterator[Setting]:
    """Those that are values of keys of configuration files."""
    beside = functools.cache(lambda file: _keys_below(project, file))
    for entry in entries:
        for one in project.configuration((entry["file"], entry["key"])).found:
            if isinstance(one["value"], str) and _DOTTED.fullmatch(one["value"]):
                keywords = beside(one["file"])[one["key"].rpartition(".")[0]] if "apart" in entry else set()
                given = sorted(name for name in keywords if name not in entry["apart"])
                yield Setting(one["value"], one["file"], one["line"] or 0, sure=False, keywords=given)


def _keys_below(project: Project, file: str) -> dict[str, set[str]]:
    """The keys of a file by the key that they are below, without those that begin with an underscore."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in project.configuration((file, "**")).found:
        parts = one["key"].split(".")
        for level, name in enumerate(parts):
            if name.isidentifier() and name[0] != "_":
                found[".".join(parts[:level])].add(name)
    return found


def _in_assignments(project: Project, entries: Iterable[Mapping[str, Any]]) -> Iterator[Setting]:
    """Those that source assigns to names, and the names of settings themselves."""
    for entry in entries:
        module = entry.get("module", "")
        for file in _files(project, entry):
            sure = not is_aside(file.rpartition(".")[0].replace("/", "."))
            values = _names(project.read(file)) if module else _assigned(project.read(file), set(entry["names"]))
            for name, line in values:
                yield Setting(name, file, line, sure, module)


def _under_keys(project: Project, entries: Iterable[Mapping[str, Any]]) -> Iterator[Setting]:
    """Those that source gives keys of dictionaries, and what else has a name."""
    for entry in entries:
        for file in _files(project, entry):
            for name, line in _keyed(project.read(file), set(entry["keys"]), entry.get("within", "")):
                yield Setting(name, file, line, sure=False)


def _called(project: Project, entries: Iterable[Mapping[str, Any]]) -> Iterator[Setting]:
    """Those that source gives a key of the dictionaries in another one, with the other keys as arguments."""
    for entry in entries:
        for file in _files(project, entry):
            source = project.read(file)
            tree = parsed(source) if entry["within"].encode() in source else None
            for node in ast.walk(tree) if tree else ():
                for one in _dictionaries(node, entry["within"]):
                    given = {getattr(key, "value", None): value for key, value in zip(one.keys, one.values)}
                    value = next((given[key] for key in entry["keys"] if key in given), None)
                    name = getattr(value, "value", "")
                    left = {*entry["keys"], *entry["apart"]}
                    words = [key for key in given if isinstance(key, str) and key.isidentifier() and key not in left]
                    if value is not None and isinstance(name, str) and _DOTTED.fullmatch(name):
                        yield Setting(name, file, value.lineno, sure=False, keywords=words)


def _dictionaries(node: ast.AST, key: str) -> list[ast.Dict]:
    """The dictionaries that are values in one that a dictionary gives a key."""
    found = [value for value in _given(node, {key}) if isinstance(value, ast.Dict)]
    return [one for value in found for one in value.values if isinstance(one, ast.Dict)]


def _files(project: Project, entry: Mapping[str, Any]) -> Iterable[str]:
    return dict.fromkeys(name for pattern in entry["files"] for name in project.matching(pattern))


def _keyed(source: bytes, keys: set[str], within: str) -> Iterator[tuple[str, int]]:
    """The dotted texts that a file gives such keys: of dictionaries, of items, of names, and of arguments.

    With ``within``, a text without a dot is a name in that module.
    """
    tree = parsed(source) if any(key.encode() in source for key in keys) else None
    for node in ast.walk(tree) if tree else ():
        for value in _given(node, keys):
            for text, line in _texts(value):
                if _DOTTED.fullmatch(text):
                    yield text, line
                elif within and text.isidentifier():
                    yield f"{within}.{text}", line


def _given(node: ast.AST, keys: set[str]) -> Iterator[ast.expr]:
    """The values that an expression or a statement gives some keys."""
    if isinstance(node, ast.Dict):
        yield from (value for key, value in zip(node.keys, node.values) if getattr(key, "value", None) in keys)
    elif isinstance(node, ast.keyword) and node.arg in keys:
        yield node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            item = getattr(target.slice, "value", None) if isinstance(target, ast.Subscript) else None
            if {item, getattr(target, "id", None)} & keys:
                yield node.value


def _texts(value: ast.AST | None) -> Iterator[tuple[str, int]]:
    """The text that an expression is, or those of a list or a tuple, or the keys of a dictionary, with their lines."""
    for one in _members(value):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value, one.lineno


def _members(value: ast.AST | None) -> Iterable[ast.AST | None]:
    """What a list or a tuple holds, or a dictionary as keys of more than ``None``, which switches one off."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return value.elts
    if isinstance(value, ast.Dict):
        return [key for key, given in zip(value.keys, value.values) if getattr(given, "value", 0) is not None]
    return [value]


def _names(source: bytes) -> Iterator[tuple[str, int]]:
    """The constants that a file assigns under no condition."""
    tree = parsed(source)
    for node in tree.body if tree else ():
        for target in _targets(node):
            if isinstance(target, ast.Name) and target.id.isupper():
                yield target.id, target.lineno


def _assigned(source: bytes, names: set[str]) -> Iterator[tuple[str, int]]:
    """The dotted texts in what a file assigns to some names under no condition."""
    tree = parsed(source)
    for node in tree.body if tree else ():
        if any(getattr(one, "id", None) in names for one in _targets(node)):
            texts = _texts(getattr(node, "value", None))
            yield from ((text, line) for text, line in texts if _DOTTED.fullmatch(text))


def _targets(node: ast.stmt) -> list[Any]:
    """The targets of an assignment, annotated or not; ``[None]`` for another statement."""
    return node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]


def configured(found: Iterable[Setting], layout: Layout, resolver: Resolver, misfit: Misfit) -> Iterator[Missing]:
    """Settings that name what nothing installed has, or give it an argument that it does not take."""
    for one in (one for one in found if not one.module):
        place = answer(layout, resolver, one.name)
        owner = layout.owner(place.module) if place.verdict is False else ""
        if place.verdict is False and place.why in _GONE and owner != PROJECT:
            severity = "error" if one.sure and not place.weak else "warning"
            yield Missing(
                PROJECT, one.file, one.line, one.name, owner, place.why, severity, ENTRY, place.module, place.path
            )  # fmt: skip
        elif place.verdict and one.keywords:
            yield from _refused(one, place, layout, misfit)


def _refused(setting: Setting, place: Answer, layout: Layout, misfit: Misfit) -> Iterator[Missing]:
    """The argument of a setting that what it names does not take, where that is of an installed distribution."""
    end = next((end for end in _ends(setting.name) if layout.has(setting.name[:end])), 0)
    if not end:
        return
    module, path = setting.name[:end], setting.name[end + 1 :]
    kind, argument = misfit(place, module, path, [0, [*setting.keywords], 0])
    owner = layout.owner(place.value[1]) if place.value and place.value[0] in {"function", "class"} else ""
    if kind and owner != PROJECT:
        place_of = (PROJECT, setting.file, setting.line, setting.name, owner)
        yield Missing(*place_of, kind, "warning", LATER, module, path, argument)


def _ends(name: str) -> Iterator[int]:
    """Where the parts of a dotted name end, from the last on."""
    end = len(name)
    while end > 0:
        yield end
        end = name.rfind(".", 0, end)


def removed(found: Iterable[Setting], layout: Layout, resolver: Resolver) -> Iterator[Missing]:
    """Settings that older releases of their owner have a default for, and that nothing installed mentions."""
    named = [one for one in found if one.module]
    history = shipped() if named else None
    others = [name for name in layout.names if name != PROJECT]
    if history is None:
        return
    for one in named:
        owner = layout.owner(one.module)
        life = _lost(one, history, owner, layout.versions.get(owner) or "")
        if life and not any(resolver.words.anywhere(other, one.name) for other in others):
            where = (PROJECT, one.file, one.line, one.name, owner)
            yield Missing(*where, "setting", "warning", ENTRY, one.module, one.name, life.said())


def _lost(setting: Setting, history: History, owner: str, version: str) -> Life | None:
    """Until when a distribution had a default for a setting that the installed release has none for."""
    lives = history.gone(owner, version, setting.module.rpartition(".")[2], setting.name)
    return next((life for life in lives if life.name == f"{setting.module}.{setting.name}"), None)
