"""Distributions as the files of an environment say them: ``*.dist-info``, ``*.egg-info``, what an uninstall left.

On the plain path: names and versions come from directory names, a metadata file is only opened when it is asked for,
and only its header is read. Everything is bounded, and nothing blocks on a FIFO.
"""

from __future__ import annotations

import os

from envdoctor.model import Distribution, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_CHUNK = 1 << 16
#: A metadata header longer than this is not believed; the largest seen in 500 popular distributions is 60 kB.
HEADER_LIMIT = 1 << 20


class Scan(Record):
    """What stands in a list of path entries, first on the path first.

    ``packages`` maps a normalised name to the distribution that would be imported, ``duplicates`` are the further
    ones of a name, ``leftovers`` the paths that an interrupted uninstall or upgrade left (``~umpy``), ``unreadable``
    pairs of a path and the reason.
    """

    packages: dict[str, Distribution]
    duplicates: list[Distribution]
    leftovers: list[str]
    unreadable: list[tuple[str, str]]


class Metadata(Record):
    """The part of a metadata header that matters here. ``error`` says why it could not be read."""

    requires: list[str] = []
    requires_python: str | None = None
    error: str | None = None


def scan(paths: Iterable[str]) -> Scan:
    """List the distributions in path entries. Entries that do not exist, and zip files, hold none."""
    found = Scan(packages={}, duplicates=[], leftovers=[], unreadable=[])
    seen = set()
    for entry in paths:
        real = os.path.normcase(entry.rstrip("/\\")) or entry
        if real in seen:
            continue
        seen.add(real)
        try:
            names = os.listdir(entry)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            found.unreadable.append((entry, error.strerror or str(error)))
            continue
        _scan_entry(entry, names, found)
    return found


def _scan_entry(entry: str, names: list[str], found: Scan) -> None:
    packages = found.packages
    for name in sorted(names):
        ending = name[-9:]
        if ending != "dist-info" and ending[1:] != "egg-info" and name != "EGG-INFO":
            if name[:1] == "~":
                found.leftovers.append(os.path.join(entry, name))
            continue
        if name[:1] == "~":
            found.leftovers.append(os.path.join(entry, name))
            continue
        distribution = _distribution(entry, name)
        if distribution is None:
            found.unreadable.append((os.path.join(entry, name), "its metadata names no distribution"))
        elif distribution.name in packages:
            found.duplicates.append(_second(packages, distribution))
        else:
            packages[distribution.name] = distribution


def _second(packages: dict[str, Distribution], other: Distribution) -> Distribution:
    """Keep the one that counts, and return the other: earlier on the path, or later written in the same directory."""
    first = packages[other.name]
    if first.location != other.location or _written(other) <= _written(first):
        return other
    packages[other.name] = other
    return first


def _written(distribution: Distribution) -> float:
    try:
        return os.stat(distribution.path or "").st_mtime
    except OSError:
        return 0.0


def _distribution(entry: str, name: str) -> Distribution | None:
    path = entry + os.sep + name
    if name[-10:] == ".dist-info":
        project, dash, version = name[:-10].rpartition("-")
        if dash and version[:1].isdigit():
            return Distribution(name=_normalise(project), version=version, path=path, location=entry)
    return _from_header(entry, name, path)


def _from_header(entry: str, name: str, path: str) -> Distribution | None:
    """Name and version as the metadata file says them, else as the file name does."""
    header = read_header(metadata_file(path)) or ""
    project = field(header, "Name")
    version = field(header, "Version")
    if project is None and name != "EGG-INFO":
        project, _, rest = name.rpartition(".")[0].partition("-")
        version = version or rest.partition("-py")[0] or None
        if not header and not version:
            return None
    if not project:
        return None
    return Distribution(name=_normalise(project), version=version, path=path, location=entry)


def _normalise(name: str) -> str:
    name = name.lower().replace("_", "-").replace(".", "-")
    while "--" in name:
        name = name.replace("--", "-")
    return name


def metadata_file(path: str) -> str:
    """The file of a metadata directory (or the single-file ``.egg-info``) that holds the header."""
    if path.endswith(".dist-info"):
        return path + os.sep + "METADATA"
    return path + os.sep + "PKG-INFO" if os.path.isdir(path) else path


def read_header(path: str) -> str | None:
    """The header of a metadata file, up to the first empty line, or ``None`` where it cannot be read.

    At most :data:`HEADER_LIMIT` bytes are read, whatever the size of the file; a FIFO or a device reads as empty.
    """
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    try:
        data = os.read(descriptor, _CHUNK)
        while b"\n\n" not in data and b"\r\n\r\n" not in data and len(data) < HEADER_LIMIT:
            more = os.read(descriptor, _CHUNK)
            if not more:
                break
            data += more
    except OSError:
        return None
    finally:
        os.close(descriptor)
    head = data.partition(b"\n\n")[0] if b"\r\n" not in data else data.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return head.decode("utf-8", "replace")


def field(header: str, name: str) -> str | None:
    """The first value of a header field, or ``None``."""
    values = fields(header, name)
    return values[0] if values else None


def fields(header: str, name: str) -> list[str]:
    """The values of a header field, in order. Folded and oddly cased fields are left to the ``email`` package."""
    pieces = ("\n" + header).split("\n" + name + ": ")
    values = []
    for piece in pieces[1:]:
        value, _, after = piece.partition("\n")
        if after[:1] in {" ", "\t"}:
            return _email_fields(header, name)
        values.append(value.strip())
    if not values and "\n" + name.lower() + ":" in "\n" + header.lower():
        return _email_fields(header, name)
    return values


def _email_fields(header: str, name: str) -> list[str]:
    from email.parser import HeaderParser

    values = HeaderParser().parsestr(header).get_all(name, [])
    return [" ".join(str(value).split()) for value in values]


def read_metadata(distribution: Distribution) -> Metadata:
    """What a distribution requires. An ``.egg-info`` without it in the header is read from ``requires.txt``."""
    if distribution.path is None:
        return Metadata(error="its metadata was not recorded")
    path = metadata_file(distribution.path)
    header = read_header(path)
    if not header:
        return Metadata(error=f"{path} is missing, empty or not readable")
    requires = fields(header, "Requires-Dist") if "Requires-Dist" in header else []
    if not requires and not distribution.path.endswith(".dist-info"):
        requires = list(_requires_txt(distribution.path))
    requires_python = field(header, "Requires-Python") if "Requires-Python" in header else None
    return Metadata(requires=requires, requires_python=requires_python)


def _requires_txt(path: str) -> Iterator[str]:
    """The requirements of an ``.egg-info`` that hold without an extra, with their section's marker."""
    text = read_text(path + os.sep + "requires.txt") or ""
    marker = ""
    skipped = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            extra, _, marker = line[1:-1].partition(":")
            skipped = bool(extra)
        elif line and not line.startswith("#") and not skipped:
            yield f"{line} ; {marker}" if marker else line


def read_text(path: str, limit: int = HEADER_LIMIT) -> str | None:
    """A small text file, cut at ``limit`` bytes, or ``None`` where it cannot be read."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    try:
        return os.read(descriptor, limit).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def wheel_tags(distribution: Distribution) -> list[str] | None:
    """The platform tags that the wheel was built for, or ``None`` where no ``WHEEL`` file says them."""
    if distribution.path is None or not distribution.path.endswith(".dist-info"):
        return None
    text = read_text(distribution.path + os.sep + "WHEEL", _CHUNK)
    if text is None:
        return None
    return [line[5:].strip() for line in text.splitlines() if line.startswith("Tag: ")] or None


def installer(distribution: Distribution) -> str | None:
    """What installed a distribution (``pip``, ``uv``, ``conda``, ``poetry 1.8``), as its ``INSTALLER`` file says."""
    if distribution.path is None:
        return None
    text = read_text(distribution.path + os.sep + "INSTALLER", 200)
    return text.strip() or None if text else None
