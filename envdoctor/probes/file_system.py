"""A file system that is not running, such as a container's, read from outside without leaving it.

An absolute link in it means the root of that file system and not of this machine, so every path is resolved here,
name by name. Pipes and devices are never opened. Also: what the headers of its programs and its C library tell.
"""

from __future__ import annotations

import mmap
import os
import re
import stat
import struct

from envdoctor.collector import musl_version_in

LINK_LIMIT = 40
TEXT_LIMIT = 1 << 20
LIBRARY_LIMIT = 1 << 24
#: ``e_machine`` of an ELF header, by class and byte order where they matter, as ``uname`` spells it.
MACHINES = {
    (62, 2, 1): "x86_64",
    (3, 1, 1): "i686",
    (183, 2, 1): "aarch64",
    (21, 2, 1): "ppc64le",
    (21, 2, 2): "ppc64",
    (22, 2, 2): "s390x",
    (243, 2, 1): "riscv64",
    (258, 2, 1): "loongarch64",
}
_HEADER_SIZE = 64
_CLASS_64, _LITTLE_ENDIAN, _PT_INTERP = 2, 1, 3


class Root:
    """A file system below a directory. Paths given and returned are absolute inside it; nothing leads out of it."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.abspath(directory)
        self.denied: list[str] = []

    def real(self, path: str) -> str | None:
        """The path with all links resolved, whether or not anything is there; ``None`` in a loop of links."""
        todo, done, links = path.split("/")[::-1], list[str](), 0
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                done = done[:-1]
                continue
            try:
                target = os.readlink(os.path.join(self.directory, *done, part))
            except (OSError, ValueError):
                done.append(part)
                continue
            links += 1
            if links > LINK_LIMIT:
                return None
            done = [] if target.startswith("/") else done
            todo += target.split("/")[::-1]
        return "/" + "/".join(done)

    def host(self, path: str) -> str:
        """Where a path of the root is on this machine."""
        return os.path.join(self.directory, *(self.real(path) or path).strip("/").split("/"))

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there."""
        real = self.real(path)
        return real is not None and os.path.isdir(self.host(real))

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there: no pipe or device, which could keep a reader for ever."""
        real = self.real(path)
        return real is not None and os.path.isfile(self.host(real))

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted; none where it is no directory."""
        try:
            return sorted(os.listdir(self.host(path))) if self.is_dir(path) else []
        except OSError:
            self.denied.append(path)
            return []

    def read(self, path: str, limit: int = TEXT_LIMIT) -> bytes:
        """The first bytes of a file; nothing where it is none."""
        if not self.is_file(path):
            return b""
        try:
            with open(self.host(path), "rb") as stream:
                return stream.read(limit) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else b""
        except OSError:
            self.denied.append(path)
            return b""

    def text(self, path: str) -> str:
        """The beginning of a text file."""
        return self.read(path).decode("utf-8-sig", "replace")

    def search(self, path: str, pattern: bytes) -> set[str]:
        """Everything that the group of a pattern matches in a file of any size."""
        if not self.read(path, 1):
            return set()
        with open(self.host(path), "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return {match.group(1).decode("ascii", "replace") for match in re.finditer(pattern, content)}

    def glob(self, pattern: str) -> list[str]:
        """The directories that match a path with ``*`` for whole names."""
        places = [""]
        for part in pattern.strip("/").split("/"):
            names = {place: self.names(place or "/") if part == "*" else [part] for place in places}
            places = [f"{place}/{name}" for place in places for name in names[place] if self.is_dir(f"{place}/{name}")]
        return places


def machine_and_loader(head: bytes) -> tuple[str | None, str]:
    """The machine that a program is built for and the loader that it names, from its first bytes. Source: elf(5)."""
    if not head.startswith(b"\x7fELF") or len(head) < _HEADER_SIZE:
        return None, ""
    is_wide, order = head[4] == _CLASS_64, "<" if head[5] == _LITTLE_ENDIAN else ">"
    machine = MACHINES.get((struct.unpack_from(order + "H", head, 18)[0], head[4], head[5]))
    return machine, _loader(head, order, is_wide=is_wide)


def _loader(head: bytes, order: str, *, is_wide: bool) -> str:
    """The path of the loader in the table of an ELF program's headers; empty where none names it."""
    (table,) = struct.unpack_from(order + ("Q" if is_wide else "I"), head, 32 if is_wide else 28)
    size, count = struct.unpack_from(order + "HH", head, 54 if is_wide else 42)
    layout = order + ("IIQQQQ" if is_wide else "IIIII")
    for start in range(table, table + size * count, size or 1):
        if start + struct.calcsize(layout) > len(head):
            break
        fields = struct.unpack_from(layout, head, start)
        if fields[0] == _PT_INTERP:
            offset, length = (fields[2], fields[5]) if is_wide else (fields[1], fields[4])
            return head[offset : offset + length].rstrip(b"\0").decode("ascii", "replace")
    return ""


def musl_version(root: Root, loader: str) -> str | None:
    """The version of musl, whose loader is the whole library."""
    return musl_version_in(root.read(loader, LIBRARY_LIMIT))


def glibc_version(root: Root, loader: str, machine: str | None) -> str | None:
    """The version of the GNU C library for a machine, by the name of its file or the text in it."""
    places = [os.path.dirname(root.real(loader) or loader), "/lib64", "/lib", "/usr/lib64", "/usr/lib"]
    places += [f"/usr/lib/{name}" for name in root.names("/usr/lib") if "-linux-gnu" in name]
    for place in places:
        library = root.real(place + "/libc.so.6")
        if not library or machine_and_loader(root.read(library))[0] != machine:
            continue
        named = re.fullmatch(r"libc-(\d+\.\d+)\.so", os.path.basename(library))
        said = root.search(library, rb"GNU C Library [^\n]*?version (\d+\.\d+)")
        return named.group(1) if named else next(iter(said), None)
    return None
