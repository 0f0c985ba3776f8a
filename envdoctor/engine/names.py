"""Import names -> the distributions that provide them, by what is installed, else by the vocabulary. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.installed_requirements import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

#: Words this short are too common to be taken for a part of a distribution's name.
_SHORT = 4
#: How generated clients call the version of an interface behind their name.
_VERSIONED = re.compile(r"_v\d+\w*$")


class Names:
    """Maps import names, classes and symbols to distributions.

    ``vocabulary`` has ``imports``, ``families``, ``classes``, ``aliases``, ``symbols``, ``voices`` and ``stands_in``;
    ``installed`` are normalised names; ``provided`` maps an import name to the distributions whose files it is among;
    ``library`` knows the standard library, as ``linker.standard.Standard`` does; ``roots`` are import names that were
    read from wheels, with the distributions that each may be of, the likeliest first.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, Any],
        installed: Collection[str] = (),
        provided: Mapping[str, Sequence[str]] | None = None,
        library: Any = None,
        roots: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._imports: Mapping[str, str | None] = vocabulary.get("imports", {})
        self._members: Mapping[str, Sequence[str]] = vocabulary.get("families", {})
        self.classes: Mapping[str, str] = vocabulary.get("classes", {})
        self.aliases: Mapping[str, Sequence[str]] = vocabulary.get("aliases", {})
        self.symbols: Mapping[str, str] = vocabulary.get("symbols", {})
        self.voices: Mapping[str, str] = vocabulary.get("voices", {})
        self.loaders: Mapping[str, str] = vocabulary.get("loaders", {})
        self._plugins: Mapping[str, str] = vocabulary.get("plugins", {})
        self.stands_in: Mapping[str, str] = vocabulary.get("stands_in", {})
        self._roots = roots or {}
        self._distributions = {*self._imports.values(), *(one for some in self._roots.values() for one in some)}
        self._distributions |= {*vocabulary.get("voices", {}).values()}
        self._library = library
        self.installed = installed
        self._provided = provided or {}
        self._standard: Collection[str] = library.tops if library else ()

    def standard(self, module: str) -> bool:
        """Whether a module is, or was, of the standard library, and no installed distribution brings it."""
        return module.partition(".")[0] in self._standard and not self._provided.get(module.partition(".")[0])

    def distribution(self, module: str) -> str | None:
        """The distribution that provides an import name: an installed one, else the one that the vocabulary knows.

        Otherwise the name itself in the form of a distribution's; ``None`` for the standard library's.
        """
        if not module or self.standard(module):
            return None
        if self._imports.get(module, "") is None:
            return None
        for name in _prefixes(module):
            owners = self._provided.get(name, ())
            declared = self._declared(name)
            if len(owners) == 1 or (owners and _bare(owners[0]) == _bare(name)):
                return owners[0]  # of several, only one that is called so
            if declared:
                return next(filter(None, map(self.present, declared)), None) or self._similar(module) or declared[0]
        return self._similar(module) or normalise(module.partition(".")[0])

    def present(self, name: str) -> str | None:
        """The name under which a distribution, or another of its family, is installed."""
        return next((one for one in (name, *self._members.get(name, ())) if one in self.installed), None)

    def known(self, name: str) -> str | None:
        """The distribution that a word means, where it is installed or in the vocabulary: by either of its names."""
        for one in (normalise(name), self._imports.get(name), *self._roots.get(name, ())):
            if one and (self.present(one) or one in self._members or one in self._distributions):
                return self.present(one) or one
        return next(iter(self._provided.get(name, ())), None)

    def alike(self, name: str | None) -> list[str]:
        """The distributions that its import name may be of as well, where it is not known what is installed."""
        rows = () if self.installed else [some for some in self._roots.values() if some[:1] == [name]]
        return [one for some in rows for one in some[1:]]

    def called(self, consumer: str | None, provider: str | None) -> list[str]:
        """Further names of a distribution of which only the import name is known, as one that extends another."""
        form = self._plugins.get(provider or "")
        needless = not form or not consumer or self.installed or (provider or "") in consumer or self.known(consumer)
        return [] if needless or not form or not consumer else [form.replace("*", consumer)]

    def extended(self, name: str) -> str | None:
        """The distribution that another is called after, as those that extend it are."""
        after = (one for one, form in self._plugins.items() if re.fullmatch(re.escape(form).replace(r"\*", ".+"), name))
        found = (self.present(one) or (None if self.installed else one) for one in after)
        return next((one for one in found if one), None) or next(iter(self.bases(name)), None)

    def bases(self, name: str) -> list[str]:
        """The known distributions that the name of another begins or ends with, the longest first."""
        known = self.installed or self._distributions
        words = name.strip("-").split("-")
        parts = ("-".join(part) for end in range(len(words) - 1, 0, -1) for part in (words[:end], words[-end:]))
        alike = self.alike(name)
        return [one for one in dict.fromkeys(parts) if one in known and len(one) >= _SHORT and one not in alike]

    def method(self, owner: str, name: str) -> str | None:
        """The full name of a method or attribute that a class of the standard library lost or gained."""
        found: str | None = self._library.method(owner, name) if self._library and owner and name else None
        return found

    def moved(self, dotted: str) -> tuple[str, str] | None:
        """Whether the standard library ``removed`` or ``added`` a module or name, and in which version."""
        found: tuple[str, str] | None = self._library.moved(dotted) if self._library else None
        return found

    def always(self, dotted: str) -> bool:
        """Whether all versions of the standard library have a module or name."""
        return bool(self._library and self._library.always(dotted))

    def rivals(self, module: str) -> list[str]:
        """The installed distributions that bring the same import name, where they are several."""
        top = module.partition(".")[0]
        declared = self._imports.get(top) or ""
        named = [
            name for name in (normalise(top), declared, *self._members.get(declared, ())) if name in self.installed
        ]
        found = list(dict.fromkeys(self._provided.get(top) or named))
        return found if len(found) > 1 and self.distribution(module) in found else []

    def speaker(self, text: str) -> str | None:
        """The tool whose words a text has."""
        return next((name for form, name in self.voices.items() if re.search(form, text)), None)

    def symbol(self, name: str) -> str | None:
        """Whose symbol this is: a distribution, ``python`` or ``system``."""
        name = name[1:] if name.startswith("__Z") else name
        owners = [(len(start), owner) for start, owner in self.symbols.items() if name.startswith(start)]
        inner = [(len(part), owner) for part, owner in self.symbols.items() if _nested(part) in name]
        owner = max(owners or inner)[1] if owners or inner else None
        return (self.present(owner) or owner) if owner else None

    def _declared(self, name: str) -> list[str]:
        """The distributions that the vocabulary or the wheels declare for exactly this dotted name."""
        head, _, last = name.rpartition(".")
        part = normalise(_VERSIONED.sub("", last))
        declared = self._imports.get(name) or (self._imports.get(f"{head}.*") or "").replace("*", part)
        return [declared] if declared else [*self._roots.get(name, ())]

    def _similar(self, module: str) -> str | None:
        """The one installed distribution whose name is that of the module, but for a prefix or suffix."""
        for name in _prefixes(module):
            if normalise(name) in self.installed:
                return normalise(name)
        top = _bare(module.partition(".")[0])
        if self._provided:
            return None  # what is not among the files of any distribution is of none that is installed
        same = [name for name in self.installed if _bare(name) == top]
        around = [name for name in self.installed if len(top) >= _SHORT and _overlap(_bare(name), top)]
        return next((found[0] for found in (same, around) if len(set(found)) == 1), None)


def _prefixes(module: str) -> Iterator[str]:
    """A dotted name and all of its parents, the longest first."""
    while module:
        yield module
        module = module.rpartition(".")[0]


def _nested(symbol: str) -> str:
    """A mangled namespace as it is written inside another symbol; never found where it is none."""
    found = re.match(r"_ZNK?(\d\w+)", symbol)
    return f"N{found[1]}" if found else "\n"


def _overlap(name: str, module: str) -> bool:
    """Whether one of the two begins or ends with the other, and the shorter is long enough to be no accident."""
    return name.startswith(module) or name.endswith(module) or (len(name) >= _SHORT and module.startswith(name))


def _bare(name: str) -> str:
    return re.sub(r"[-_.]", "", name).lower()
