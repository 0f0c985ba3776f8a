"""Writes what changed in Python's standard library from version to version: the linker's data.

    python -m envdoctor.workshop.standard [--write envdoctor/linker/standard.dat]

Every Python is asked for what its library has on this machine; typeshed's stubs (Apache-2.0, as mypy ships them) tell
which names exist on other systems or in other patch releases. Only what is not the same in every version is kept.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import subprocess
import sys
import zlib
from typing import Any

from envdoctor.errors import EnvdoctorError
from envdoctor.workshop.proof import pythons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

VERSIONS = tuple(f"3.{minor}" for minor in range(6, 15))
#: typeshed no longer tells of versions before this one.
STUBBED_SINCE = (3, 9)
SYSTEMS = ("linux", "darwin", "win32")
#: Stubs of what is no part of the library.
OTHERS = {"typing_extensions", "_typeshed"}

Library = dict[str, Any]


def ask(version: str, names: Mapping[str, list[str]] | None = None) -> Library:
    """The names in the library of a Python: ``module -> name -> [attributes, signature] | None``.

    With ``names``, which of these its modules have although they do not list them. Raises
    :class:`~envdoctor.errors.EnvdoctorError` where that Python is not here.
    """
    known = pythons.find(version)
    if known is None:
        raise EnvdoctorError(f"no Python {version} was found: install it, or name it in {pythons.VARIABLE}")
    program = os.path.join(os.path.dirname(__file__), "standard_names.py")
    words = [known[1], "-I", "-S", "-B", program, *(["names"] if names else [])]
    done = subprocess.run(  # noqa: S603 - an interpreter of this machine, asked about itself
        words, capture_output=True, check=True, input=json.dumps(names).encode(), cwd=os.sep
    )
    library: Library = json.loads(done.stdout)
    return library


def unlisted(library: Library, others: Iterable[Library]) -> dict[str, list[str]]:
    """Names that modules have in another version and do not list in this one."""
    found: dict[str, set[str]] = {}
    for other in others:
        for module, names in other.items():
            if library.get(module) and names:
                found.setdefault(module, set()).update(names.keys() - library[module].keys())
    return {module: sorted(names) for module, names in found.items() if names}


class Stubs:
    """Which modules and names typeshed's stubs declare, for a version and for any system."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._trees: dict[str, ast.Module] = {}
        self._lifetimes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        with open(os.path.join(folder, "VERSIONS"), encoding="utf-8") as file:
            for line in file:
                name, _, span = line.partition("#")[0].strip().partition(":")
                if name:
                    first, _, last = span.strip().partition("-")
                    self._lifetimes[name] = (_numbers(first), _numbers(last) or (99,))

    def modules(self, version: tuple[int, ...]) -> Iterator[tuple[str, str]]:
        """Each module of a version, with the path of its stub."""
        for place, _, files in os.walk(self._folder):
            package = os.path.relpath(place, self._folder).replace(os.sep, ".").lstrip(".")
            for name in files:
                stem, ending = os.path.splitext(name)
                dotted = package if stem == "__init__" else f"{package}.{stem}".lstrip(".")
                known = ending == ".pyi" and dotted and dotted.partition(".")[0] not in OTHERS
                if known and self._lives(dotted, version):
                    yield dotted, os.path.join(place, name)

    def _lives(self, dotted: str, version: tuple[int, ...]) -> bool:
        while dotted not in self._lifetimes:
            dotted, dot, _ = dotted.rpartition(".")
            if not dot:
                return False
        first, last = self._lifetimes[dotted]
        return first <= version <= last

    def names(self, path: str, version: tuple[int, ...]) -> set[str]:
        """The names that a stub declares in a version, on one system or another; ``Class.attribute`` too."""
        if path not in self._trees:
            with open(path, encoding="utf-8") as file:
                self._trees[path] = ast.parse(file.read())
        return {name for system in SYSTEMS for name in declared(self._trees[path].body, version, system)}


def declared(body: Iterable[ast.stmt], version: tuple[int, ...], system: str, prefix: str = "") -> Iterator[str]:
    """The names that statements of a stub declare."""
    for node in body:
        if isinstance(node, ast.If):
            chosen = node.body if _holds(node.test, version, system) else node.orelse
            yield from declared(chosen, version, system, prefix)
            continue
        yield from (prefix + name for name in _bound(node))
        if isinstance(node, ast.ClassDef) and not prefix:
            yield from declared(node.body, version, system, node.name + ".")


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that one statement of a stub binds; an import declares what it gives a name alone."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname for alias in node.names if alias.asname)
    elif isinstance(node, (ast.AnnAssign, ast.Assign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (one.id for one in targets if isinstance(one, ast.Name))


def _holds(test: ast.expr, version: tuple[int, ...], system: str) -> bool:
    """Whether a condition of a stub holds; stubs only ask for version and platform."""
    names = {"sys": _System(version, system), "TYPE_CHECKING": True}
    try:
        code = compile(ast.Expression(test), "stub", "eval")
        return bool(eval(code, {"__builtins__": {}}, names))  # noqa: S307 - the stubs of an installed type checker
    except (NameError, AttributeError):
        return True


class _System:
    """Replaces ``sys`` in the conditions of stubs."""

    def __init__(self, version: tuple[int, ...], system: str) -> None:
        self.version_info = version
        self.platform = system


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part)


def changes(libraries: Mapping[str, Library], stubs: Stubs) -> dict[str, Any]:
    """Modules, names, attributes of classes and signatures that some version has and another has not."""
    modules: dict[str, int] = {}
    names: dict[str, dict[str, list[int]]] = {}
    signatures: dict[str, dict[str, dict[str, int]]] = {}
    for at, version in enumerate(VERSIONS):
        _add(libraries[version], 1 << at, modules, names, signatures)
        _add_stubs(stubs, _numbers(version), 1 << at, modules, names)
    return {
        "versions": VERSIONS,
        "modules": {
            name: [mask, _changed(name, mask, names), _differing(signatures.get(name, {}))]
            for name, mask in sorted(modules.items())
        },
    }


def _add(library: Library, bit: int, modules: dict[str, int], names: Any, signatures: Any) -> None:
    for module, found in library.items():
        modules[module] = modules.get(module, 0) | bit
        held = names.setdefault(module, {})
        if found is None:
            held.setdefault("*", [0, 0])[1] |= bit
        for name, record in (found or {}).items():
            held.setdefault(name, [0, 0])[0] |= bit
            attributes, signature = record or (None, None)
            for attribute in attributes or ():
                held.setdefault(f"{name}.{attribute}", [0, 0])[0] |= bit
            if signature is not None:
                per = signatures.setdefault(module, {}).setdefault(name, {})
                per[signature] = per.get(signature, 0) | bit


def _add_stubs(stubs: Stubs, version: tuple[int, ...], bit: int, modules: dict[str, int], names: Any) -> None:
    for module, path in stubs.modules(version):
        if not modules.get(module, 0) & bit:  # another system has it
            modules[module] = modules.get(module, 0) | bit
            names.setdefault(module, {}).setdefault("*", [0, 0])[1] |= bit
            continue
        for name in stubs.names(path, version) if version >= STUBBED_SINCE else ():
            entry = names[module].setdefault(name, [0, 0])
            if not entry[0] & bit:
                entry[1] |= bit


def _changed(module: str, mask: int, names: Mapping[str, Mapping[str, list[int]]]) -> dict[str, str]:
    """Names by the versions that have them, and those that may: ``{"yes maybe": "a b C.c"}``, in hexadecimal."""
    grouped: dict[str, list[str]] = {}
    held = names.get(module, {})
    for name, (yes, maybe) in sorted(held.items()):
        whole = held[name.partition(".")[0]][0] if "." in name else mask
        if name == "*" or (yes and whole & ~yes & ~maybe):
            grouped.setdefault(f"{yes:x} {maybe:x}", []).append(name)
    return {key: " ".join(found) for key, found in grouped.items()}


def _differing(signatures: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {name: dict(each) for name, each in sorted(signatures.items()) if len(each) > 1}


def packed(found: Mapping[str, Any]) -> bytes:
    """The data as the linker reads it."""
    return zlib.compress(json.dumps(found, separators=(",", ":")).encode(), 9)


def typeshed() -> str:
    """The directory of the stubs that mypy ships."""
    spec = importlib.util.find_spec("mypy")
    if spec is None or not spec.submodule_search_locations:
        raise EnvdoctorError("mypy is not installed, and its stubs are needed: pip install mypy")
    return os.path.join(spec.submodule_search_locations[0], "typeshed", "stdlib")


def main(words: list[str]) -> None:
    """Ask every Python, and write the file, or say how large it would be."""
    parser = argparse.ArgumentParser(description="Ask every Python for its standard library.")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_args(words)
    libraries = {version: ask(version) for version in VERSIONS}
    for version, library in libraries.items():
        for module, names in ask(version, unlisted(library, libraries.values())).items():
            library[module].update(names)
    data = packed(changes(libraries, Stubs(typeshed())))
    print(f"{len(data)} bytes")
    if options.write:
        with open(options.write, "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main(sys.argv[1:])
