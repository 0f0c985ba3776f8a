"""One module's source, read once: what it binds, what it uses from others, and what leaves that open."""

from __future__ import annotations

import ast
import marshal
import re
import warnings

from envdoctor.linker.module_reading import ModuleReading
from envdoctor.linker.statements import read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.linker.branches import Target
    from envdoctor.linker.summary import Summary

#: What follows where names may be bound to modules or to what is in them.
_IMPORTS = re.compile(rb"import(?:[ \t\\\r\n]*\([^)]*|[^\n\\]*(?:\\\r?\n[^\n\\]*)*)")
_WORD = re.compile(rb"[\w\x80-\xff]+")


class ModuleReader(ModuleReading):
    """Reads one module for a target."""

    def body(self, statements: Sequence[ast.stmt]) -> bool:
        """Read statements in order; whether the end is surely not reached."""
        return read_all(self, statements)

    def summary(self) -> Summary:
        """All that was found."""
        self.filled()
        types = self.objects.finish()
        definitions: Summary = {
            "names": self.names,
            "classes": [[[*map(self.base, bases)], sorted(names), *rest] for bases, names, *rest in self.classes],
            "functions": self.functions,
        }
        if types:
            definitions["types"] = types
        if "__all__" in self.names:
            definitions["all"] = None if isinstance(self.names["__all__"], list) else self.exported
        found: Summary = {
            "definitions": marshal.dumps(definitions),
            "stars": self.stars,
            "dynamic": sorted(self.dynamic),
            "path": self.elsewhere,
            "loader": self.loader,
            "fills": self.fills,
            "fills_given": self.fills_given,
            "paths": self.paths,
            "checks": self.checks,
            "stores": sorted(self.stores),
            "provides": sorted(self.provided),
            "hints": sorted(self.hints),
            "sets": sorted(self.sets),
            "around": self.around,
            "refs": list(self.refs.values()),
            "objects": list(self.objects.uses.values()),
            "raises": self.raised,
            "stand_ins": self.stand_ins,
            "forms": self.forms.kept(self.names),
        }
        return {key: value for key, value in found.items() if value}


def _importing(source: bytes) -> Iterator[str]:
    """The words of lines that import something, and of their continuations."""
    for found in _IMPORTS.finditer(source):
        start = source.rfind(b"\n", 0, found.start()) + 1
        yield from (word.decode("utf-8", "replace") for word in _WORD.findall(source, start, found.end()))


def asked_of_anything(
    source: bytes, module: str, target: Target, words: frozenset[str], *, package: bool
) -> list[tuple[str, int, int, int]]:
    """The uses of some words as attributes of what no import binds: word, line, flags and handler of each."""
    reader = ModuleReader(module, target, lambda *_: False, package=package)
    reader.wanted = words
    return [] if "error" in summary_of(source, reader) else reader.of_anything


def summary_of(source: bytes, reader: ModuleReader) -> Summary:
    """The summary of a module's source; one with an ``error`` where it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        return {"error": ["syntax", error.lineno or 0, error.msg]}
    except (ValueError, RecursionError, MemoryError) as error:
        return {"error": ["unreadable", 0, str(error)]}
    try:
        reader.roots.update(_importing(source))
        reader.body(tree.body)
        reader.close(reader.top)
        return reader.summary()
    except RecursionError:
        return {"error": ["unreadable", 0, "it is nested too deeply"]}
    finally:
        # which refer to the reader: nobody collects such circles meanwhile
        del reader.walk, reader.expressions, reader.objects, reader.forms
