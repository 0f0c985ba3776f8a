"""The names of the standard library in each version, where versions differ: data that ``workshop.standard`` writes."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import sys
import zlib
from importlib import resources
from typing import Any

from envdoctor.linker import signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: Modules that do something when they are imported.
_ACTING = {"antigravity", "this"}
#: Modules of which the objects had attributes that their classes gained later, as defaults.
_GROWN = {"ast"}
#: Attributes that a class does not lose all together.
_MANY = 4


@functools.cache
def _data() -> dict[str, Any]:
    packed = resources.files("envdoctor.linker").joinpath("standard.dat").read_bytes()
    data: dict[str, Any] = json.loads(zlib.decompress(packed))
    return data


@functools.cache
def _lacks(module: str, kind: str, name: str) -> bool:
    """The same for the Python that runs this; what ``__init__`` sets is in the source only."""
    found = _found(module, kind)
    if not isinstance(found, type):
        return False
    files = {getattr(sys.modules.get(one.__module__), "__file__", None) for one in found.__mro__}
    return not hasattr(found, name) and not any(name in _source(file) for file in files if file)


@functools.cache
def _is_set(module: str, kind: str, name: str) -> bool:
    """Whether the Python that runs this sets an attribute on the objects of a class that does not have it itself."""
    found = _found(module, kind)
    if not isinstance(found, type) or hasattr(found, name):
        return False
    files = {getattr(sys.modules.get(one.__module__), "__file__", None) for one in found.__mro__}
    return any(f"self.{name} = " in _source(file) for file in files if file)


@functools.cache
def _found(module: str, path: str) -> Any:
    try:
        return functools.reduce(getattr, path.split("."), importlib.import_module(module))
    except (ImportError, AttributeError):
        return None


def class_of(module: str, kind: str) -> type | None:
    """A class in the library of the Python that runs this; ``None`` for what is none, or acts when it is imported."""
    found = _found(module, kind) if module in _data()["modules"] and module not in _ACTING else None
    return found if isinstance(found, type) else None


def parameters_of(module: str, path: str) -> set[str] | None:
    """The parameters of a function in the library of the Python that runs this; ``None`` where it takes any keyword."""
    found = _found(module, path) if module in _data()["modules"] and module not in _ACTING else None
    try:
        parameters = inspect.signature(found).parameters if callable(found) else {}
    except (TypeError, ValueError):
        return None
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    return None if takes_any or not parameters else {*parameters}


def source_of(kind: type) -> str:
    """The source of the module of a class; empty where that is compiled."""
    return _source(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")


@functools.lru_cache(64)
def _source(path: str) -> str:
    if not path.endswith(".py"):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Standard:
    """The standard library of one Python, ``X.Y`` as two numbers."""

    def __init__(self, minor: tuple[int, int]) -> None:
        data = _data()
        self._versions = [tuple(int(part) for part in version.split(".")) for version in data["versions"]]
        self.minor = minor
        nearest = min(range(len(self._versions)), key=lambda at: abs(self._versions[at][1] - minor[1]))
        self.known = self._versions[nearest] == minor
        self._bit = 1 << nearest
        self._modules: dict[str, Any] = data["modules"]
        self._names: dict[str, dict[str, tuple[int, int]]] = {}

    def has(self, module: str) -> bool | None:
        """Whether this version has a module; ``None`` where no version had it."""
        entry = self._modules.get(module)
        return None if entry is None else bool(entry[0] & self._bit)

    def has_lost_submodule(self, module: str) -> bool:
        """Whether this version lacks a module without a file, which others have as an attribute of its package."""
        parent, _, name = module.rpartition(".")
        return bool(self.has(parent)) and self.offers(parent, name) is False

    def offers(self, module: str, path: str) -> bool | None:
        """Whether a module has a name, or a class an attribute; ``None`` where the data does not say."""
        changes = self._changes(module)
        entry = changes.get(path)
        if changes.get("*", (0, 0))[1] & self._bit:  # it could not be imported where it was asked
            return None
        if entry is None or not self.known or path.rpartition(".")[2][:2] == "__":
            return None
        yes, maybe = entry
        if module in _GROWN and "." in path and yes > self._bit:  # its classes were asked, and their objects had it
            return None
        if yes & self._bit or maybe & self._bit:
            return True if yes & self._bit else None
        return None if self._is_answered_for(module, path) else False

    def _is_answered_for(self, module: str, path: str) -> bool:
        """Whether an attribute is of a class that lost many at once, and nothing else ever: it is there, unlisted."""
        kind, dot, _ = path.partition(".")
        versions = [having for one, having in self._changes(module).items() if dot and one.startswith(f"{kind}.")]
        return len(versions) >= _MANY and len(set(versions)) == 1

    def is_class(self, module: str, name: str) -> bool:
        """Whether a name of the library is a class in the Python that runs this."""
        return isinstance(_found(module, name), type)

    def lacks(self, module: str, kind: str, name: str) -> bool:
        """Whether a class of the library has no such attribute; if no version has, nor is it in the source around."""
        known = f"{kind}.{name}" in self._changes(module)
        return self.lost(module, kind, name) if known else _lacks(module, kind, name)

    def lost(self, module: str, kind: str, name: str) -> bool:
        """Whether a class that this version has lacks an attribute of other versions, also in its objects.

        Of what ``typing`` has, versions differ in whether it is a class at all.
        """
        if module == "typing" or self.offers(module, f"{kind}.{name}") is not False:
            return False
        return not _is_set(module, kind, name)

    def _changes(self, module: str) -> dict[str, tuple[int, int]]:
        held = self._names.get(module)
        if held is None:
            held = {}
            for masks, names in self._modules.get(module, (0, {}))[1].items():
                yes, maybe = (int(mask, 16) for mask in masks.split())
                held.update(dict.fromkeys(names.split(), (yes, maybe)))
            self._names[module] = held
        return held

    def signature(self, module: str, path: str) -> list[Any] | None:
        """The signature of a callable whose signature has changed from version to version."""
        for text, mask in self._signatures(module).get(path, {}).items():
            if mask & self._bit:
                return signatures.of_text(text)
        return None

    def _signatures(self, module: str) -> dict[str, dict[str, int]]:
        entry = self._modules.get(module)
        return {} if entry is None else entry[2]

    def others(self, module: str, path: str) -> Iterable[str]:
        """The texts of a callable's signatures in other versions."""
        return (text for text, mask in self._signatures(module).get(path, {}).items() if not mask & self._bit)

    def matters(self, module: str, path: str, call: object) -> bool:
        """Whether an answer about a name of the standard library could be anything but yes."""
        if module not in self._modules:
            return True
        changes = self._changes(module)
        steps = path.split(".")
        asked = (".".join(steps[:end]) for end in range(1, len(steps) + 1))
        if any(one in changes and self.offers(module, one) is not True for one in asked):
            return True
        inner = f"{module}.{steps[0]}"
        if inner in self._modules:
            return self.matters(inner, ".".join(steps[1:]), call) or not self.has(inner)
        return call is not None and path in self._signatures(module)

    @property
    def tops(self) -> set[str]:
        """The top-level modules of all versions."""
        return {module.partition(".")[0] for module in self._modules}

    def moved(self, dotted: str) -> tuple[str, str] | None:
        """``removed`` or ``added`` with the first version without, or with, a module or name; ``None`` for neither."""
        module = dotted
        while module not in self._modules:
            module = module.rpartition(".")[0]
            if not module:
                return None
        path = dotted[len(module) + 1 :]
        span = self.span(module, path) if not path or path in self._changes(module) else None
        if span is None:
            return None
        since, last = span
        known = [".".join(map(str, version)) for version in self._versions]
        if last:
            return "removed", known[known.index(last) + 1]
        return ("added", since) if since != known[0] else None

    def decides(self, dotted: str) -> bool | None:
        """Whether this version has a module, or a name of one, that not all versions have; ``None`` for any other."""
        if not self.known or self.moved(dotted) is None:
            return None
        module, _, name = dotted.rpartition(".")
        return self.has(dotted) if dotted in self._modules else self.offers(module, name)

    def always(self, dotted: str) -> bool:
        """Whether all versions have a module or name, and the Python that runs this too."""
        module, name = dotted, ""
        while module and module not in self._modules:
            module, _, name = module.rpartition(".")
        everywhere = (1 << len(self._versions)) - 1
        if not module or name in self._changes(module) or self._modules[module][0] & everywhere != everywhere:
            return False
        return dotted == module or (dotted == f"{module}.{name}" and _found(module, name) is not None)

    def removed(self) -> Iterator[tuple[str, str]]:
        """The modules, with an empty name, and the names of modules that some version had and the newest has not."""
        for module, (mask, *_) in self._modules.items():
            if mask and not mask >> (len(self._versions) - 1) & 1:
                yield module, ""
            else:
                paths = (path for path in self._changes(module) if path != "*" and self.offers(module, path) is False)
                yield from ((module, path) for path in paths if (self.span(module, path) or ("", ""))[1])

    def method(self, owner: str, name: str) -> str | None:
        """The full name of an attribute that a class of this name lost or gained."""
        path = f"{owner.rpartition('.')[2]}.{name}"
        modules = (module for module in sorted(self._modules) if owner and path in self._changes(module))
        return next((f"{module}.{path}" for module in modules if self.moved(f"{module}.{path}")), None)

    def span(self, module: str, path: str = "") -> tuple[str, str] | None:
        """The first and the last version that has a module or name; the last is empty where the newest has it."""
        if not path and module not in self._modules:
            module, _, path = module.rpartition(".")
        mask = self._changes(module).get(path, (0, 0))[0] if path else self._modules[module][0]
        there = [".".join(map(str, version)) for at, version in enumerate(self._versions) if mask >> at & 1]
        if not there:
            return None
        return there[0], "" if mask >> (len(self._versions) - 1) & 1 else there[-1]


@functools.cache
def modules() -> frozenset[str]:
    """The top-level modules of the library of the Python that runs this; of all versions where that is 3.9."""
    return frozenset(getattr(sys, "stdlib_module_names", ())) or frozenset(
        module.partition(".")[0] for module in _data()["modules"]
    )


@functools.lru_cache(4)
def standard_for(minor: tuple[int, int]) -> Standard:
    """The standard library of a version, which each module that is read asks."""
    return Standard(minor)


def standard_of(python: str) -> Standard:
    """The standard library of a version that is written as text; of the newest that is known for any other text."""
    parts = python.split(".")
    known = len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit()
    return Standard((int(parts[0]), int(parts[1])) if known else (3, len(_data()["versions"]) + 5))
