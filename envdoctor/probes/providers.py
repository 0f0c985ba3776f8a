"""Import names in the files of installed distributions: which distribution has them, and what they offer. Reads only.

Nothing that a text names is opened by its path: every file is looked for below the directories that the examined
distributions are in.
"""

from __future__ import annotations

import ast
import os
import re

from envdoctor.probes.distributions import field, fields, metadata_file, read_bytes, read_header
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.model import Distribution

#: Bytes that are read of one list of files, of one source file, and of all files that are searched for a class.
_LIST_LIMIT, _SOURCE_LIMIT, _SEARCH_LIMIT = 16 << 20, 4 << 20, 48 << 20
_LISTS = ("RECORD", "installed-files.txt", "SOURCES.txt", "top_level.txt")
_COMPILED = (".so", ".pyd")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def provided(packages: Mapping[str, Distribution], modules: Iterable[str]) -> dict[str, list[str]]:
    """The distributions that have files of each dotted name, or of a name above it."""
    wanted = {name for module in modules if _IDENTIFIER.fullmatch(module) for name in _above(module)}
    found: dict[str, list[str]] = {}
    if not wanted:
        return found
    forms = "|".join(sorted((re.escape(name.replace(".", "/")) for name in wanted), key=len, reverse=True))
    line = re.compile(rf"^(?:\.\./)?(?P<name>{forms})(?=[/.]|\s*$)".encode(), re.MULTILINE)
    for distribution in packages.values():
        seen = {match["name"].decode() for match in line.finditer(_listed(distribution))}
        seen |= {above for name in seen for above in _parents(name)}
        for name in seen:
            found.setdefault(name.replace("/", "."), []).append(distribution.name)
    return {name: sorted(owners, key=lambda one: _unlike(one, name)) for name, owners in found.items()}


def answers(packages: Mapping[str, Distribution], questions: Mapping[str, Sequence[Any]]) -> dict[str, dict[Any, Any]]:
    """The answers of files to questions, by kind and by key; without those that they do not have.

    ``offers`` are asked by distribution, module and name; ``imports`` by distribution and module; ``classes`` by name
    and distributions; ``askers`` by module, name and distributions; ``trackers`` by distribution.
    """

    def those(names: Iterable[str]) -> list[Distribution]:
        return [packages[name] for name in names if name in packages]

    found: dict[str, dict[Any, Any]] = {
        "offers": {(module, name): offer(those([owner]), module, name) for owner, module, name in questions["offers"]},
        "imports": {module: imports(those([owner]), module) for owner, module in questions["imports"]},
        "classes": {name: defining(those(owners), name) for name, owners in questions["classes"]},
        "askers": {
            (module, name): mentioning(those(owners), name, module) for module, name, owners in questions["askers"]
        },
        "trackers": {name: tracker(packages[name]) for name in questions["trackers"] if name in packages},
    }
    return {kind: {key: value for key, value in table.items() if value} for kind, table in found.items()}


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _unlike(owner: str, module: str) -> tuple[bool, str]:
    """Of several that share a name, the one that is called so comes first."""
    return re.sub(r"[-_.]", "", owner) != re.sub(r"[-_.]", "", module).lower(), owner


def _above(module: str) -> Iterator[str]:
    while module:
        yield module
        module = module.rpartition(".")[0]


def _listed(distribution: Distribution) -> bytes:
    """The list of a distribution's files, or of its top-level names."""
    for name in _LISTS if distribution.path else ():
        data = read_bytes(os.path.join(distribution.path or "", name), _LIST_LIMIT)
        if data:
            return data
    return b""


def offer(distributions: Sequence[Distribution], module: str, name: str) -> tuple[str, str] | None:
    """Whether a module has a name, as far as its file shows, and the file.

    ``there``: the word is in it; ``submodule``: it is a module itself; ``gone``: the word is nowhere in it;
    ``no-module``: there is no file of the module. ``None`` where its file leaves it open.
    """
    places = list(dict.fromkeys(one.location for one in distributions if one.location))
    if not places or not _IDENTIFIER.fullmatch(module) or not re.fullmatch(r"\w*", name):
        return None
    bases = [os.path.join(place, *module.split(".")) for place in places]
    base = next((base for base in bases if _file_of(base) or os.path.isdir(base)), None)
    return _offered(base, name) if base else ("no-module", bases[0])


def _offered(base: str, name: str) -> tuple[str, str] | None:
    """Whether the module at a path without an ending has a name, or is there itself where the name is empty."""
    file = _file_of(base)
    inner = os.path.join(base, name)
    if name and (_file_of(inner) or os.path.isdir(inner)):
        verdict = "there" if file and _mentions(file, name) else "submodule"
        return verdict, _file_of(inner) or inner
    return _in_file(file, name) if file else None


def _file_of(base: str) -> str | None:
    """The file that a module is loaded from, given its path without an ending."""
    for path in (os.path.join(base, "__init__.py"), f"{base}.py"):
        if os.path.isfile(path):
            return path
    folder, stem = os.path.split(base)
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    return next(
        (os.path.join(folder, one) for one in names if one.startswith(f"{stem}.") and one.endswith(_COMPILED)), None
    )


def _in_file(path: str, name: str) -> tuple[str, str] | None:
    if not name:
        return "there", path
    if _mentions(path, name):
        # a word in a source may be a comment, or the very message that says it is gone
        return ("there", path) if _binds(path, name) else None
    data = read_bytes(path, _SOURCE_LIMIT) or b""
    open_ended = re.search(rb"^\s*from \S+ import \*|__getattr__|\bglobals\(\)|lazy", data, re.MULTILINE)
    return None if open_ended or path.endswith(_COMPILED) else ("gone", path)


def _mentions(path: str, name: str) -> bool:
    data = read_bytes(path, _SOURCE_LIMIT) or b""
    return re.search(rb"\b" + name.encode() + rb"\b", data) is not None


def _binds(path: str, name: str) -> bool:
    """Whether a source file binds a name at the top: by ``def``, ``class``, an assignment or an import."""
    tree = _parsed(path)
    return tree is not None and any(name in _bound(node) for node in tree.body)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _parsed(path: str) -> ast.Module | None:
    data = read_bytes(path, _SOURCE_LIMIT)
    return None if data is None or path.endswith(_COMPILED) else parsed(data)


def imports(distributions: Collection[Distribution], module: str) -> dict[str, str]:
    """The names that a module's file imports: local name -> dotted name of the module that it is or comes from."""
    found: dict[str, str] = {}
    places = dict.fromkeys(one.location for one in distributions if one.location)
    for place in places if _IDENTIFIER.fullmatch(module) else ():
        path = _file_of(os.path.join(place, *module.split(".")))
        tree = _parsed(path) if path else None
        package = module if path and os.path.basename(path).startswith("__init__.") else module.rpartition(".")[0]
        for node in ast.walk(tree) if tree is not None else ():
            found.update(_meanings(node, package))
        if path:
            break
    return found


def _meanings(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (
                alias.asname or alias.name.partition(".")[0],
                alias.name if alias.asname else alias.name.partition(".")[0],
            )
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")
        base = ".".join([*above[: len(above) - node.level + 1], *([node.module] if node.module else [])])
        source = base if node.level else node.module or ""
        for alias in node.names:
            yield alias.asname or alias.name, source


def defining(distributions: Iterable[Distribution], name: str) -> str | None:
    """The first distribution with a source file that defines a class or a function of this name."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    form = re.compile(rb"^[ \t]*(?:class|def|async def) " + name.encode() + rb"\b", re.MULTILINE)
    left = _SEARCH_LIMIT
    for distribution in distributions:
        for path in _sources(distribution):
            data = read_bytes(path, min(_SOURCE_LIMIT, left)) or b""
            left -= len(data)
            if form.search(data):
                return distribution.name
            if left <= 0:
                return None
    return None


def mentioning(distributions: Iterable[Distribution], name: str, module: str) -> list[str]:
    """The distributions whose sources hold both a name and the module, or the last part of it, that it was asked of."""
    last = module.rpartition(".")[2]
    form = re.compile(rb"\b" + re.escape(last).encode() + rb"\b[^\n]{0,200}\b" + re.escape(name).encode() + rb"\b")
    left, found = _SEARCH_LIMIT, []
    for distribution in distributions:
        for path in _sources(distribution):
            data = read_bytes(path, min(_SOURCE_LIMIT, left)) or b""
            left -= len(data)
            if form.search(data):
                found.append(distribution.name)
                break
        if left <= 0:
            break
    return found


def _sources(distribution: Distribution) -> Iterator[str]:
    """The Python files of a distribution, as its list says; none that leads out of its directory."""
    for raw in _listed(distribution).splitlines() if distribution.location else ():
        line = raw.decode("utf-8", "replace").partition(",")[0].strip('"')
        if line.endswith(".py") and not line.startswith(("/", "..")) and "/../" not in line:
            yield os.path.join(distribution.location or "", *line.split("/"))


def tracker(distribution: Distribution) -> str | None:
    """The address at which a distribution's known defects can be searched, as its metadata gives it."""
    header = read_header(metadata_file(distribution.path)) if distribution.path else None
    if not header:
        return None
    links = [*fields(header, "Project-URL"), f"home, {field(header, 'Home-page') or ''}"]
    forge = next(filter(None, map(_FORGE.search, links)), None)
    if forge:
        middle = "/-" if forge["host"].startswith("gitlab") else ""
        return f"https://{forge['host']}/{forge['path'].removesuffix('.git')}{middle}/issues"
    stated = next(filter(None, map(_STATED.match, links)), None)
    return stated["link"] if stated else None


_STATED = re.compile(r"(?i)[^,]*(?:track|issue|bug)[^,]*,\s*(?P<link>https?://\S+)$")
_FORGE = re.compile(r",\s*https://(?:www\.)?(?P<host>github\.com|gitlab\.com)/(?P<path>[\w.-]+/[\w.-]+)")
