"""Distributions as the files of an environment describe them: ``*.dist-info``, ``*.egg-info``, what an uninstall left.

On the plain path: names and versions come from directory names, a metadata file is only opened when it is asked for,
and only its header is read. Everything is bounded, and nothing blocks on a FIFO.
"""

from __future__ import annotations

import os

from envdoctor.facts import Metadata
from envdoctor.model import Distribution, Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
#: The files that are read of a distribution's metadata directory.
METADATA_FILES = ("METADATA", "PKG-INFO", "WHEEL", "INSTALLER", "requires.txt")
#: Most headers fit in one read of this size.
_CHUNK = 1 << 14
_ENDINGS = {"-info", "-INFO"}
#: The first line of a header, ``Metadata-Version``, ends within so many bytes, and tells which line ends are used.
_FIRST_LINE = 80
#: A metadata header longer than this is not believed; the largest seen in 500 popular distributions is 60 kB.
HEADER_LIMIT = 1 << 20


class Scan(Record):
    """The contents of a list of path entries, first on the path first.

    ``packages`` maps a normalised name to the distribution that would be imported, ``duplicates`` are the further
    ones of a name, ``leftovers`` the paths that an interrupted uninstall or upgrade left (``~umpy``), ``unreadable``
    pairs of a path and the reason.
    """

    packages: dict[str, Distribution]
    duplicates: list[Distribution]
    leftovers: list[str]
    unreadable: list[tuple[str, str]]


def scan(paths: Iterable[str], place: Callable[[str], str] | None = None) -> Scan:
    """List the distributions in path entries. Entries that do not exist, and zip files, hold none.

    ``place`` gives the location of the metadata at a path, where links mean something else than to this machine.
    """
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
        _scan_entry(entry, names, found, place)
    return found


def _scan_entry(entry: str, names: list[str], found: Scan, place: Callable[[str], str] | None) -> None:
    for name in sorted([name for name in names if name[-5:] in _ENDINGS or name[:1] == "~"]):
        path = entry + os.sep + name
        if name[0] == "~":
            found.leftovers.append(path)
        else:
            _scan_metadata(entry, name, path if place is None else place(path), found)


def _scan_metadata(entry: str, name: str, path: str, found: Scan) -> None:
    project, dash, version = name[:-10].rpartition("-")
    if name[-10:] == ".dist-info" and dash and version[:1].isdigit():
        _add(found, Distribution(name=_normalise(project), version=version, path=path, location=entry))
    elif name.endswith((".dist-info", ".egg-info")) or name == "EGG-INFO":
        unusual = _from_header(entry, name, path)
        if unusual is None:
            found.unreadable.append((path, "its metadata names no distribution"))
        else:
            _add(found, unusual)


def _add(found: Scan, distribution: Distribution) -> None:
    """Add a distribution; of two with one name, the one that does not count is a duplicate."""
    if found.packages.setdefault(distribution.name, distribution) is not distribution:
        found.duplicates.append(_second(found.packages, distribution))


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
    if name.isalnum() and name.islower():
        return name
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
        end = data.find(b"\n\n")
        if end < 0 or data.find(b"\r\n", 0, _FIRST_LINE) >= 0:
            data, end = _rest_of_header(descriptor, data)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data[:end].decode("utf-8", "replace")


def _rest_of_header(descriptor: int, data: bytes) -> tuple[bytes, int]:
    """Read on to the empty line, the end of the file or the limit; line ends may be those of Windows."""
    while data.find(b"\n\n") < 0 and data.find(b"\r\n\r\n") < 0 and len(data) < HEADER_LIMIT:
        more = os.read(descriptor, _CHUNK)
        if not more:
            break
        data += more
    data = data.replace(b"\r\n", b"\n")
    end = data.find(b"\n\n")
    return data, end if end >= 0 else len(data)


def field(header: str, name: str) -> str | None:
    """The first value of a header field, or ``None``."""
    values = fields(header, name)
    return values[0] if values else None


def fields(header: str, name: str) -> list[str]:
    """The values of a header field, in order. Folded ones are left to the ``email`` package.

    Names in an odd case count where none is written in the usual one, as no writer of metadata mixes the two.
    """
    pieces = ("\n" + header).split("\n" + name + ": ")[1:]
    values = [piece.partition("\n")[0] for piece in pieces]
    if "\n " in header or "\n\t" in header:
        for value, piece in zip(values, pieces):
            if piece[len(value) + 1 : len(value) + 2] in {" ", "\t"}:
                return _email_fields(header, name)
    if not values and "\n" + name.lower() + ":" in "\n" + header.lower():
        return _email_fields(header, name)
    return values


def _email_fields(header: str, name: str) -> list[str]:
    from email.parser import HeaderParser

    values = HeaderParser().parsestr(header).get_all(name, [])
    return [" ".join(str(value).split()) for value in values]


def read_metadata(distribution: Distribution) -> Metadata | Unknown:
    """The metadata of a distribution. An ``.egg-info`` may say in ``requires.txt`` what it requires."""
    if distribution.path is None:
        return Unknown(reason="its metadata was not recorded")
    header = read_header(metadata_file(distribution.path))
    if not header:
        return Unknown(reason="its metadata file is missing, empty or not readable")
    requires, requires_python = _plain(header) or _unusual(header)
    if not requires and distribution.path[-10:] != ".dist-info":
        requires = list(_requires_txt(distribution.path))
    return Metadata(requires=requires, requires_python=requires_python, tags=wheel_tags(distribution))


def required_by(distribution: Distribution) -> Sequence[str]:
    """What a distribution requires without its extras; nothing where that cannot be read."""
    found = read_metadata(distribution)
    return () if isinstance(found, Unknown) or isinstance(found.requires, Unknown) else found.requires


def _plain(header: str) -> tuple[list[str], str | None] | None:
    """Requirements and ``Requires-Python`` of a header in its plain form, ``None`` where it has another."""
    pieces = header.split("\nRequires-Dist: ")
    requires_python = _requires_python(pieces)
    del pieces[0]
    names = header.lower()
    stated = 0 if requires_python is None else 1
    if names.count("\nrequires-dist:") != len(pieces) or names.count("\nrequires-python:") != stated:
        return None
    kept = []
    for piece in [piece for piece in pieces if "extra ==" not in piece or " or " in piece]:
        line, _, after = piece.partition("\n")
        if after[:1] == " " or after[:1] == "\t":
            return None
        if not of_extra(line):
            kept.append(line)
    return kept, requires_python


def _requires_python(pieces: list[str]) -> str | None:
    """``Requires-Python`` from a header split at its requirements, before or behind which it comes."""
    for piece in (pieces[0], pieces[-1]):
        _, found, rest = piece.partition("\nRequires-Python: ")
        if found:
            return rest.partition("\n")[0]
    return None


def _unusual(header: str) -> tuple[list[str], str | None]:
    """The same as the ``email`` package reads it: folded lines, names in another case."""
    requires = _email_fields(header, "Requires-Dist")
    requires_python = _email_fields(header, "Requires-Python")
    return [line for line in requires if not of_extra(line)], requires_python[0] if requires_python else None


def of_extra(line: str) -> bool:
    """Whether a requirement plainly belongs to an extra: ``... ; (...) and extra == "x"``."""
    return "extra" in line and ("extra ==" in line or "extra==" in line) and " or " not in line


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
    data = read_bytes(path, limit)
    return None if data is None else data.decode("utf-8", "replace")


def read_bytes(path: str, limit: int) -> bytes | None:
    """The beginning of a file, or ``None`` where it cannot be read. A FIFO or a device reads as empty."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    try:
        return os.read(descriptor, limit)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def has_module(directory: str, name: str) -> bool:
    """Whether a directory has a module or package of a name, in whatever form."""
    try:
        return any(one.partition(".")[0] == name and not one.endswith("-info") for one in os.listdir(directory))
    except OSError:
        return False


def wheel_tags(distribution: Distribution) -> list[str] | None:
    """The platform tags that the wheel was built for; ``None`` where they fit everywhere, or no ``WHEEL`` says them.

    One without an extension module fits every Python 3, whatever its tags say: some projects build a wheel with one
    Python, rename it to ``py3-none-...``, and leave the tags in it as they are.
    """
    if distribution.path is None or distribution.path[-10:] != ".dist-info":
        return None
    data = read_bytes(distribution.path + os.sep + "WHEEL", _CHUNK)
    if data is None:
        return None
    if data.find(b"\nTag: py3-none-any") >= 0:
        return None
    lines = data.decode("utf-8", "replace").splitlines()
    tags = [line[5:].strip() for line in lines if line.startswith("Tag: ")]
    if tags and _is_of_other_python(tags[0], distribution.path) and not _has_extensions(distribution.path):
        tags = ["py3-none-" + one.rpartition("-")[2] for one in tags]
    return tags or None


def _is_of_other_python(tag: str, path: str) -> bool:
    """Whether a tag names a CPython, and the path no directory of just that one, as it does in most environments."""
    digits = tag.partition("-")[0][2:]
    return tag[:2] == "cp" and f"python{digits[:1]}.{digits[1:]}{os.sep}" not in path


def _has_extensions(path: str) -> bool:
    """Whether the ``RECORD`` lists a compiled module that is no plain library; true where it cannot be read whole."""
    text = read_text(path + os.sep + "RECORD")
    if not text or len(text) >= HEADER_LIMIT:
        return True
    files = [line.partition(",")[0].rpartition("/")[2] for line in text.splitlines()]
    plain = [file.startswith("lib") and ".cpython-" not in file and ".abi3." not in file for file in files]
    return any(file.endswith((".so", ".pyd")) and not one for file, one in zip(files, plain))


def installer(distribution: Distribution) -> str | None:
    """What installed a distribution (``pip``, ``uv``, ``conda``, ``poetry 1.8``), as its ``INSTALLER`` file says."""
    if distribution.path is None:
        return None
    text = read_text(distribution.path + os.sep + "INSTALLER", 200)
    return text.strip() or None if text else None
