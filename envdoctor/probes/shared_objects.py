"""What the header of a shared library or program of Linux states: what it needs, offers, and was built for. elf(5).

The structure is read by pyelftools, an extra; the table of symbols, which may have tens of thousands, is not.
"""

from __future__ import annotations

import re
import struct
from itertools import islice
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Bindings of symbols that others may take; and whose absence is allowed.
_OFFERED, _WEAK = (1, 2, 10), 2
#: More entries than any file has, and fewer than a damaged one may claim.
_MOST = 20_000
#: A needed version that may be missing.
_WEAK_VERSION = 2


def can_read() -> bool:
    """Whether the library that reads them is installed."""
    from importlib.util import find_spec

    return find_spec("elftools") is not None


def read_facts(path: str) -> dict[str, Any] | None:
    """The facts of one file; ``None`` where it is no such file, or cannot be read.

    ``machine`` is class, byte order and processor; ``soname``, ``needed``, ``rpath`` and ``runpath`` are as written;
    ``asks`` are the versions of symbols that it takes of each library, ``has`` those that it defines; ``undefined``
    are the symbols that others must have, ``defined`` those that it has.
    """
    from elftools.elf.elffile import ELFFile

    try:
        with open(path, "rb") as file:
            return _facts(ELFFile(file))
    except Exception:  # noqa: BLE001 - a damaged file fails in the reader in more ways than its own
        return None


def _facts(elf: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"machine": [elf.elfclass, elf.little_endian, elf["e_machine"]], "soname": ""}
    found.update({key: [] for key in ("needed", "rpath", "runpath", "has", "undefined", "defined")}, asks={})
    for section in elf.iter_sections():
        read_section = _SECTIONS.get(section["sh_type"])
        if read_section is not None:
            read_section(section, found)
    return found


def _dynamic(section: Any, found: dict[str, Any]) -> None:
    for tag in islice(section.iter_tags(), _MOST):
        kind = tag.entry.d_tag
        if kind == "DT_NEEDED":
            found["needed"].append(tag.needed)
        elif kind == "DT_SONAME":
            found["soname"] = tag.soname
        elif kind in {"DT_RPATH", "DT_RUNPATH"}:
            places = tag.rpath if kind == "DT_RPATH" else tag.runpath
            found[kind[3:].lower()] = [place for place in places.split(":") if place]


def _versions_asked(section: Any, found: dict[str, Any]) -> None:
    for library, versions in islice(section.iter_versions(), _MOST):
        found["asks"][library.name] = [one.name for one in versions if not one["vna_flags"] & _WEAK_VERSION]


def _versions_offered(section: Any, found: dict[str, Any]) -> None:
    found["has"] = [next(names).name for _, names in islice(section.iter_versions(), _MOST)]


def _symbol_table(section: Any, found: dict[str, Any]) -> None:
    elf = section.elffile
    texts = elf.get_section(section["sh_link"]).data()
    for name, defined in _symbols(section.data(), texts, elf.elfclass, elf.little_endian):
        found["defined" if defined else "undefined"].append(name)


#: What reads the facts of a kind of section.
_SECTIONS: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "SHT_DYNAMIC": _dynamic,
    "SHT_GNU_verneed": _versions_asked,
    "SHT_GNU_verdef": _versions_offered,
    "SHT_DYNSYM": _symbol_table,
}


def _symbols(table: bytes, texts: bytes, width: int, little: bool) -> Iterator[tuple[str, bool]]:  # noqa: FBT001
    """Name of each symbol that is needed or offered, and whether it is defined here."""
    layout = ("<" if little else ">") + ("IBBHQQ" if width == 64 else "IIIBBH")  # noqa: PLR2004 - bits
    for entry in struct.iter_unpack(layout, table[: len(table) // struct.calcsize(layout) * struct.calcsize(layout)]):
        name, info, where = (entry[0], entry[1], entry[3]) if width == 64 else (entry[0], entry[3], entry[5])  # noqa: PLR2004
        binding = info >> 4
        if name and binding in _OFFERED and (where or binding != _WEAK):
            yield texts[name : texts.find(b"\0", name)].decode("ascii", "replace"), bool(where)


def loadable(name: str, minor: Sequence[int]) -> bool:
    """Whether a CPython takes a file for an extension module: without a tag, of the stable interface, or its own."""
    tag = name.partition(".")[2]
    own = "cpython-" + "".join(map(str, minor))
    return tag in {"so", "abi3.so"} or re.match(rf"{own}[a-z]*-", tag) is not None
