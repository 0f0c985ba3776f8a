"""Modules that are created when others are imported: put into ``sys.modules``, or loaded by their own loader."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.summary import Summary
    from envdoctor.linker.word_search import Words


_PLAIN = re.compile(r"[a-z_]{4,}")
#: From this version on Python asks what is in ``sys.meta_path`` for ``find_spec`` alone.
_SPECS_ALONE = (3, 12)
#: How the names of objects are listed.
#: How the names of modules are listed, or made from those of other modules.
_LISTING = re.compile(
    rb"pkgutil|listdir|glob\b|walk|scandir|iterdir|\.replace\(|\.r?split\(|\.join\(|for .* in .*modules\b"
)
_ENUMERATING = (b"__dict__", b"dir(", b"vars(", b"getmembers", b".__name__", b"exec(", b"getattr(")


class RunTime:
    """The modules that those which were read put into ``sys.modules``; ``provided`` are the names that are known."""

    def __init__(
        self,
        layout: Layout,
        summary: Callable[[str], Summary],
        text: Callable[[str], bytes],
        words: Words,
        minor: tuple[int, int],
    ) -> None:
        self._layout = layout
        self._minor = minor
        self._text = text
        self._summary = summary
        self._words = words
        self._loaders: set[str] = set()
        #: By distribution, its modules that put others into ``sys.modules`` whose names are not known.
        self._filling: dict[str, list[str]] = {}
        self._fillers: set[str] = set()
        #: The modules with a function that fills a module which it is given.
        self._givers: set[str] = set()
        self._pathers: set[str] = set()
        self._on_paths: set[str] = set()
        self._loading: dict[str, list[str]] = {}
        self.provided: set[str] = set()
        #: The modules that check something when they are imported.
        self.checking: list[str] = []

    def take_note(self, summary: Summary, name: str) -> None:
        """Take note of what a module does."""
        place = self._layout.modules[name]
        owner = place.owner
        self.provided.update(summary.get("provides", ()))
        self.checking += [name] if summary.get("checks") else []
        if "*" in summary.get("provides", ()):
            self._filling.setdefault(owner, []).append(name)
        if summary.get("loader"):
            self._loaders.add(owner)
            is_package = os.path.basename(place.path).startswith("__init__.")
            self._loading.setdefault(name if is_package else name.rpartition(".")[0], []).append(place.path)
        if summary.get("fills"):
            self._fillers.add(owner)
        if summary.get("fills_given"):
            self._givers.add(name)
        if summary.get("paths") and owner not in self._pathers:
            self._pathers.add(owner)
            for one in self._layout.names.get(owner, ()):
                self._on_paths.update(one[at + 1 :] for at, letter in enumerate(one) if letter == ".")

    def is_provided(self, name: str) -> bool:
        """Whether a module may be created at run time: one in a folder of who changes ``sys.path`` may."""
        if name in self.provided or name.partition(".")[0] in self.provided or name in self._on_paths:
            return True
        modules = (self._layout.modules.get(outer) for outer in _outer(name))
        owners = {module.owner for module in modules if module is not None}
        return bool(owners & self._loaders) or any(self._may_be_key(name, one) for one in owners)

    def unasked(self, name: str) -> str:
        """The module that has a loader for what is below it which Python no longer asks; empty where none is."""
        outer = next((one for one in _outer(name)[1:] if one in self._layout.modules), "")
        is_old = self._minor >= _SPECS_ALONE and outer and self._layout.modules[outer].kind == "py"
        if not is_old or not self._summary(outer).get("loader"):
            return ""
        source = self._text(outer)
        return outer if b"def find_module" in source and b"find_spec" not in source else ""

    def is_filled(self, name: str) -> bool:
        """Whether the distribution of a module puts modules into ``sys.modules`` whose names are not known."""
        return self._layout.modules[name].owner in self._filling

    def _may_be_key(self, name: str, owner: str) -> bool:
        """Whether a distribution may put a module into ``sys.modules``: it lists names, or contains the last one."""
        filling = self._filling.get(owner, ())
        listed = any(_LISTING.search(self._text(one)) for one in filling)
        return bool(filling) and (listed or self._words.quoted(owner, name.rpartition(".")[2], "."))

    def second_name(self, name: str) -> str:
        """The module that is meant where one that fills ``sys.modules`` repeats modules behind its own name."""
        for outer in _outer(name)[1:]:
            inner = name[len(outer) + 1 :]
            place = self._layout.modules.get(outer)
            if place is not None and place.kind != "native" and inner in self._layout.modules:
                fills = "*" in self._summary(outer).get("provides", ())
                if fills and self._words.in_file(place.path, inner.partition(".")[0]):
                    return inner
        return ""

    def may_fill(self, name: str) -> bool:
        """Whether a module, or a package around it, adds to ``sys.meta_path``, or its distribution fills any module.

        So does one that is beside it and names it: it may load it once more.
        """
        modules = [outer for outer in _outer(name) if outer in self._layout.modules]
        is_filled = self._layout.modules[name].owner in self._fillers
        if is_filled or any(self._summary(one).get("loader") for one in modules):
            return True
        if self._givers and any(self._is_giver(*ref[:2]) for ref in self._summary(name).get("refs", ())):
            return True
        return any(self._is_quoted(name, path) for outer in modules for path in self._loading.get(outer, ()))

    def _is_quoted(self, name: str, path: str) -> bool:
        """Whether a file may contain a name in quotation marks."""
        return any(self._words.in_file(path, f"{mark}{name}{mark}") is not False for mark in "'\"")

    def _is_giver(self, module: str, path: str) -> bool:
        """Whether what a module takes from another is, or is in, one that fills modules which it is given."""
        return module in self._givers or f"{module}.{path.partition('.')[0]}" in self._givers

    def is_set_by_native(self, module: str, name: str) -> bool:
        """Whether a native module of the distribution contains both the module's name and that of the attribute."""
        return "." in module and self.may_be_set_by(self._layout.modules[module].owner, module, name)

    def may_be_set_by(self, owner: str, module: str, name: str) -> bool:
        """Whether a native module of a distribution contains the name of a module and that of an attribute of it."""
        own = self._layout.natives(owner)
        return any(self._words.ends_in_binary(path, module) and self._words.in_file(path, name) for path in own)

    def is_no_key(self, source: bytes, module: str, name: str) -> bool:
        """Whether a module that writes names into ``globals()`` writes none like this: it is no text, nor its parts.

        Names with digits and capitals may be put together in too many ways, and those of objects are anywhere.
        """
        if not _PLAIN.fullmatch(name) or any(word in source for word in _ENUMERATING):
            return False
        owner, imported = self._layout.modules[module].owner, [ref[0] for ref in self._summary(module).get("refs", ())]
        own = [self._layout.modules[one].path for one in {module, *imported} if self._is_of(one, owner)]
        return not self._has_parts(own, name) and not self._words.quoted(owner, name)

    def _has_parts(self, paths: Sequence[str], name: str) -> bool:
        """Whether files have texts for both sides of an underscore of a name."""
        sides = ((name[:at], name[at + 1 :]) for at, letter in enumerate(name) if letter == "_")
        return any(all(any(self._has(path, part) for path in paths) for part in parts) for parts in sides)

    def _is_of(self, name: str, owner: str) -> bool:
        return name in self._layout.modules and self._layout.modules[name].owner == owner

    def _has(self, path: str, part: str) -> bool:
        """Whether a file has a text that begins or ends a name."""
        texts = (f"{mark}{text}{mark}" for mark in "'\"" for text in (part, f"{part}_", f"_{part}"))
        return any(self._words.in_file(path, text) is not False for text in texts)


def _outer(name: str) -> list[str]:
    """A dotted name and those of the packages around it, innermost first."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
