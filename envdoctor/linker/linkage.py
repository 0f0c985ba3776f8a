"""What compiled modules are linked with and is missing: a library, a version of a symbol, a symbol."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Mapping

    from envdoctor.linker.binary_facts import Facts
    from envdoctor.linker.loader import LoadedFiles, Loader

_WAITING = "compiled modules whose libraries others have to load first"
_ELSEWHERE = "compiled modules with symbols that only libraries have with which they are not linked"


class Fault(NamedTuple):
    """Something that a file is linked with and that is missing.

    ``kind`` is ``library``, ``version`` or ``symbol``, or ``compiled`` or ``generated`` for other releases; ``asked``
    is its name; ``provider`` the distribution that should have it, empty for the system; ``detail`` the file that asks,
    or the newest version that is there.
    """

    kind: str
    asked: str
    provider: str
    detail: str


def brought(facts: Facts) -> dict[str, list[str]]:
    """The shared libraries of an environment by the names that others may need them under."""
    found: dict[str, list[str]] = {}
    for path in facts.owners:
        header = facts.elf(path)
        for name in {header["soname"], os.path.basename(path)} if header else ():
            found.setdefault(name, []).append(path)
    return found


class Linkage:
    """Searches for what modules of an environment are linked with and miss, and counts what is not known.

    ``seen`` are the files of the environment that were found to be loaded.
    """

    def __init__(self, facts: Facts, loader: Loader, unknown: Counter[str]) -> None:
        self._facts = facts
        self._loader = loader
        self._unknown = unknown
        self.seen: set[str] = set()
        self._always = {name for held in loader.always.values() for name in held["defined"]}
        self._defined: dict[str, frozenset[str]] = {}
        self._anywhere: set[str] | None = None

    def loaded(self, path: str) -> list[str]:
        """The files of the environment that are loaded with a module, itself among them."""
        header = self._facts.elf(path)
        files = self._loader.scope(path, header).files if header else (path,)
        own = [one for one in files if one in self._facts.owners]
        self.seen.update(own)
        return own

    def libraries(self, path: str) -> list[Fault]:
        """The missing libraries of one that is loaded by itself."""
        header = self._facts.elf(path)
        if header is None or header["machine"] != self._loader.kind:
            return []
        missing = self._loader.scope(path, header).missing
        return [Fault("library", name, "", os.path.basename(asker)) for name, asker in missing]

    def faults(self, path: str) -> Iterator[Fault]:
        """What one module and the libraries that are loaded with it miss."""
        header = self._facts.elf(path)
        if header is None or header["machine"] != self._loader.kind:
            self._unknown[
                "compiled modules that cannot be read, or where the interpreter cannot, or is for another machine"
            ] += 1
            return
        scope = self._loader.scope(path, header)
        yield from (Fault("library", name, "", os.path.basename(asker)) for name, asker in scope.missing)
        yield from self._versions({**self._loader.always, **scope.files})
        self._unknown[_WAITING] += bool(scope.brought)
        if not scope.missing:
            yield from self._symbols(scope)

    def _versions(self, files: Mapping[str, dict[str, Any]]) -> Iterator[Fault]:
        """The newest version that is asked of each library that is there and does not have it."""
        by_name = {held["soname"] or os.path.basename(path): held for path, held in files.items()}
        for path, held in files.items():
            for library, versions in held["asks"].items() if path in self._facts.owners else ():
                has = by_name.get(library, {}).get("has", ())
                lacking = sorted((one for one in versions if has and one not in has), key=_numbers)
                if lacking:
                    family = lacking[-1].partition("_")[0] + "_"
                    newest = max((one for one in has if one.startswith(family)), key=_numbers, default="none")
                    yield Fault("version", f"{lacking[-1]} of {library}", "", newest)

    def _symbols(self, scope: LoadedFiles) -> Iterator[Fault]:
        """Symbols that nothing has which is loaded together, nor anything else in the environment."""
        others = [path for paths in scope.brought.values() for path in paths]
        loaded = {*scope.files, *self._loaded_with(others)}
        for path, held in scope.files.items():
            left = set(held["undefined"]) - self._always if path in self._facts.owners else set()
            left = left.difference(*map(self._defines, loaded)) if left else left
            if left and left & self._everything():
                self._unknown[_ELSEWHERE] += 1
                left -= self._everything()
            if left:
                providers = [self._facts.owners.get(one, "") for one in [*scope.files, *others]]
                own = self._facts.owners[path]
                yield Fault("symbol", min(left), next((one for one in providers if one not in ("", own)), ""), path)

    def _loaded_with(self, paths: Iterable[str]) -> Iterator[str]:
        """The files that are loaded with others."""
        for path in paths:
            header = self._facts.elf(path)
            yield from self._loader.scope(path, header).files if header else ()

    def _defines(self, path: str) -> frozenset[str]:
        if path not in self._defined:
            self._defined[path] = frozenset((self._facts.elf(path) or {}).get("defined", ()))
        return self._defined[path]

    def _everything(self) -> set[str]:
        """What any library of the environment defines: it may be loaded for everybody to see."""
        if self._anywhere is None:
            self._anywhere = set().union(*map(self._defines, self._facts.owners))
        return self._anywhere


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
