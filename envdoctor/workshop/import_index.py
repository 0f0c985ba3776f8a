"""Write the index of import names, from what others recorded of the whole package index.

python -m envdoctor.workshop.import_index DATABASE DOWNLOADS --write rules/import-names.gz

DATABASE is the one that pigar (https://pypi.org/project/pigar, BSD-3-Clause) has inside its wheel as
``pigar/.db.sqlite3``: the top-level modules of each distribution. DOWNLOADS is ``top-pypi-packages.csv`` of
https://github.com/hugovk/top-pypi-packages (CC0): the 15,000 distributions that are downloaded most.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import re
import sqlite3
import sys
from collections import defaultdict

from envdoctor.engine.installed_requirements import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

#: An import name that this many distributions bring is one that anybody takes, such as ``tests`` or ``utils``.
_COMMON = 60
#: Of a name that so many popular distributions bring, none is the one: a namespace, as ``google``.
_SHARED = 4
#: Among this many is who is popular enough to be meant where several bring a name, however it is called.
_FAMOUS = 3000
#: So few distributions do not make a name common.
_FEW = 3
#: What the name of a distribution has before or behind that of its module.
_AFFIXES = ("py", "python", "lib", "api", "sdk", "client", "cli", "core", "framework", "package", "tools", "toolkit")


def index(
    modules: Mapping[str, Collection[str]], ranks: Mapping[str, int], known: Collection[str] = ()
) -> dict[str, list[str]]:
    """The distributions of each import name that may be of one that is not called like it, the likeliest first.

    ``modules`` has the normalised distributions that bring each import name, ``ranks`` the place of a distribution
    among those that are downloaded most, ``known`` all distributions. Without the names of which nothing says which of
    several is meant.
    """
    found = {one: owners(one, names, ranks, known) for one, names in modules.items() if one.isidentifier()}
    return {module: names for module, names in sorted(found.items()) if names and names != [normalise(module)]}


def owners(module: str, names: Collection[str], ranks: Mapping[str, int], known: Collection[str]) -> list[str]:
    """The distribution that is meant by an import name, with those that may be as well; none where it is not clear.

    These are the one that is called like the module, and of few those that are called after it.
    """
    best, same = owner(module, names, ranks), normalise(module)
    if best and best in ranks:
        return [best, same] if same in ranks and same != best else [best]
    few = sorted(names) if len(names) <= _FEW else []
    if best:
        return [same, best] if same in known and same != best else [best, *(one for one in few if one != best)]
    return _called_like(module, few) if same in names else []


def _called_like(module: str, few: Sequence[str]) -> list[str]:
    """The distribution that is called like a module, and then the others; none where no other is called after it."""
    same = normalise(module)
    return [same, *(one for one in few if one != same)] if any(_is_near(module, few)) else []


def _is_near(module: str, names: Collection[str]) -> Iterator[bool]:
    """Whether distributions, but for one that is called like the module, are called after it."""
    word = _bare(module)
    forms = {word, *(form for affix in _AFFIXES for form in (affix + word, word + affix))}
    return (_bare(name) in forms for name in names if name != normalise(module))


def shared(modules: Mapping[str, Collection[str]], ranks: Mapping[str, int]) -> list[str]:
    """The popular distributions that may be called like a module inside another: none of their own is known."""
    brings = {name for names in modules.values() for name in names}
    return sorted(name for name in ranks if "-" in name and name not in brings)


def owner(module: str, names: Collection[str], ranks: Mapping[str, int]) -> str | None:
    """The distribution that is meant by an import name, of those that bring it; ``None`` where that is not clear.

    One that is downloaded much, where few such bring it; else the only one; else of a few the only one that begins
    like the module.
    """
    popular = [name for name in names if name in ranks]
    if not popular:
        return _only_one(module, names)
    if len(popular) > _SHARED:
        return None
    best = min(popular, key=lambda name: ranks[name])
    akin = len(names) <= _COMMON and (ranks[best] < _FAMOUS or _is_akin(best, module))
    return best if len(names) <= _FEW or akin or _is_called_after(best, module) else None


def _only_one(module: str, names: Collection[str]) -> str | None:
    """The only distribution that brings an import name, or else of a few the only one that begins like it."""
    if normalise(module) in names or len(names) > _FEW:
        return None
    near = [name for name in names if len(names) == 1 or _bare(name).startswith(_bare(module))]
    return near[0] if len(near) == 1 else None


def _is_called_after(name: str, module: str) -> bool:
    """Whether a distribution is called like a module, but for "py" or "python" at one end."""
    word = _bare(module)
    return _bare(name) in {word, f"py{word}", f"{word}py", f"python{word}", f"{word}python"}


def _is_akin(name: str, module: str) -> bool:
    """Whether the name of a distribution contains that of a module, or is contained in it."""
    bare, word = _bare(name), _bare(module)
    return word in bare or bare in word


def _bare(name: str) -> str:
    return re.sub(r"[-_.]", "", name).lower()


def _modules(database: str) -> tuple[dict[str, set[str]], set[str]]:
    """The distributions that bring each import name, and all distributions."""
    found: dict[str, set[str]] = defaultdict(set)
    query = "SELECT m.name, d.name FROM top_level_module_names m JOIN distributions d ON d.id = m.distribution_id"
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for module, name in connection.execute(query):
            found[module].add(normalise(name))
        known = {normalise(name) for (name,) in connection.execute("SELECT name FROM distributions")}
    return found, known


def _ranks(downloads: str) -> dict[str, int]:
    with open(downloads, encoding="utf-8", newline="") as file:
        return {normalise(row["project"]): at for at, row in enumerate(csv.DictReader(file))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the index, and say how many names it has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", metavar="DATABASE", help="pigar/.db.sqlite3")
    parser.add_argument("downloads", metavar="DOWNLOADS", help="top-pypi-packages.csv")
    parser.add_argument("--write", metavar="FILE", default="rules/import-names.gz")
    options = parser.parse_args(arguments)
    (modules, known), ranks = _modules(options.database), _ranks(options.downloads)
    found = index(modules, ranks, known)
    text = "".join(f"{module} {' '.join(names)}\n" for module, names in found.items())
    text += "".join(f"{name}\n" for name in shared(modules, ranks))
    with open(options.write, "wb") as file:
        file.write(gzip.compress(text.encode(), mtime=0))
    sys.stdout.write(f"{len(found)} import names written to {options.write}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
