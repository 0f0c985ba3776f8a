"""The releases of a distribution on the index, and the files of each, read without installing or executing anything."""

from __future__ import annotations

import io
import posixpath
import tarfile
import zipfile
from typing import Any

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from envdoctor.engine.versions import within
from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.probes import releases, wheel_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Bytes up to which an archive is fetched at once, up to which it is searched through, and read of a source archive.
AT_ONCE, SEARCHED, MOST_SOURCE = 1 << 20, 24 << 20, 8 << 20
#: Bytes up to which the compressed sources in a larger wheel are searched through.
SOURCES = 4 << 20
#: Bytes that are read of one member.
_MEMBER = 4 << 20


#: What is said of a release that has to be built.
NO_WHEEL = "no index has a wheel of it for this Python and platform"


class File(Record):
    """The file of a release that is easiest to read. ``size`` is in bytes, or unknown; ``python`` what it is for."""

    version: str
    address: str
    size: int | None
    python: str = ""
    uploaded: str = ""


def published(name: str, *, sources: bool = True, early: bool = False) -> list[File]:
    """The final releases of a distribution, the yanked ones too, oldest first; a wheel wherever there is one.

    Without ``sources`` only those that have a wheel; with ``early`` pre-releases too. Raises :class:`TargetError`
    where no index answers.
    """
    found: dict[Version, tuple[tuple[bool, ...], File]] = {}
    for file in _files(name):
        ranked = _ranked(file, sources=sources)
        if (
            ranked is not None
            and (early or not ranked[0].is_prerelease)
            and (ranked[0] not in found or found[ranked[0]][0] < ranked[1])
        ):
            found[ranked[0]] = ranked[1:]
    return [found[version][1] for version in sorted(found)]


def source_of(name: str, version: str) -> File:
    """The source archive of a release. Raises :class:`TargetError` where no index has one, or one does not answer."""
    for file in _files(name):
        is_source = file["filename"].endswith((".tar.gz", ".zip"))
        if is_source and str(releases.version_of(file["filename"])) == str(Version(version)):
            return File(version=version, address=file["url"], size=int(file.get("size") or 0) or None)
    raise TargetError(f"no index has the source of {name} {version}")


def _files(name: str) -> list[dict[str, Any]]:
    """What the indexes say of the files of a distribution. Raises :class:`TargetError` where one does not answer."""
    found = releases.files_of(name)
    if found is None:
        raise TargetError(f"no index answers for {name}: try again later")
    return found


def newest(name: str, python: str, wanted: str) -> str:
    """The newest final release with a wheel for a Python and within a specifier. Raises :class:`TargetError`."""
    allowed = [one.version for one in wheels(name) if is_for(one, python) and within(one.version, wanted) is not False]
    if not allowed:
        raise TargetError(f"no release of {name} {wanted} has a wheel for Python {python}")
    return allowed[-1]


def wheels(name: str) -> list[File]:
    """The final releases that have a wheel, oldest first. Raises :class:`TargetError` where no index answers."""
    return published(name, sources=False)


def _ranked(file: Mapping[str, Any], *, sources: bool) -> tuple[Version, tuple[bool, ...], File] | None:
    """The version of a file, how easy it is to read, and the file; ``None`` for one that is not read."""
    name = file["filename"]
    is_wheel = name.endswith(".whl")
    is_read = is_wheel or (sources and name.endswith((".tar.gz", ".zip")))
    if not is_read or not str(file.get("url", "")).startswith("http"):
        return None
    try:
        version, rank = _rank_of_wheel(name) if is_wheel else (parse_sdist_filename(name)[1], (False,))
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    size = int(file.get("size") or 0) or None
    python = str(file.get("requires-python") or "")
    uploaded = str(file.get("upload-time") or "")
    return version, rank, File(version=str(version), address=file["url"], size=size, python=python, uploaded=uploaded)


def _rank_of_wheel(name: str) -> tuple[Version, tuple[bool, ...]]:
    """The version of a wheel, and how easy it is to read here."""
    _, version, _, tags = parse_wheel_filename(name)
    rank = (
        True,
        any(tag.platform == "any" for tag in tags),
        any(tag.interpreter == "cp311" and "x86_64" in tag.platform for tag in tags),
        any("manylinux" in tag.platform and "x86_64" in tag.platform for tag in tags),
    )
    return version, rank


def is_for(file: File, python: str) -> bool:
    """Whether a release is for a version of Python by what the index says; where that says nothing, it is."""
    return not python or within(python, file.python) is not False


class Archive:
    """The members of one release: of a large wheel only the parts that are read, of a source archive everything.

    Everything raises :class:`TargetError` where the file cannot be read.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._wheel = file.address.endswith(".whl")
        self.light = file.size is not None and file.size <= SEARCHED
        self._at_once = file.size is not None and file.size <= AT_ONCE
        self._texts: dict[str, bytes] = {}
        if self._wheel:
            self._zip = wheel_files.opened(file.address, file.size, whole=self._at_once)
            self.names: Sequence[str] = [_without_data(one) for one in self._zip.namelist()]
            self._members = dict(zip(self.names, self._zip.namelist()))
            sources = sum(one.compress_size for one in self._zip.infolist() if one.filename.endswith(".py"))
            self.searchable = self.light or sources <= SOURCES
        else:
            self._texts = _source(file)
            self.searchable = True
            self.names = list(self._texts)

    def read(self, name: str) -> bytes:
        """The bytes of a member, none where there is no such member."""
        if name not in self._texts:
            member = self._members.get(name) if self._wheel else None
            try:
                data = b"" if member is None else self._zip.open(member).read(_MEMBER)
            except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
                raise TargetError(f"{self._file.address} could not be read: {error}") from error
            self._texts[name] = data
        return self._texts[name]

    def whole(self) -> None:
        """Fetch everything at once where that is little, since much of it will be read."""
        if self._wheel and self.light and not self._at_once:
            self._zip = wheel_files.opened(self._file.address, self._file.size, whole=True)
            self._at_once = True

    def metadata(self) -> bytes:
        """The metadata of the release; empty where it has none."""
        ends = (".dist-info/METADATA",) if self._wheel else ("PKG-INFO", ".egg-info/requires.txt")
        return b"\n".join(self.read(one) for one in self.names if one.endswith(ends))


def _without_data(name: str) -> str:
    """Where a member is installed, for those in the folder of a scheme."""
    head, _, rest = name.partition("/")
    return rest.partition("/")[2] if head.endswith(".data") and rest.startswith(("purelib/", "platlib/")) else name


def _source(file: File) -> dict[str, bytes]:
    """The Python files and the metadata of a source archive, at the paths where they would be installed."""
    if file.size is None or file.size > MOST_SOURCE:
        raise TargetError(f"{file.address} is a source archive of {file.size or 'unknown'} bytes, which is not read")
    data = wheel_files.fetch(file.address)
    found: dict[str, bytes] = {}
    try:
        if file.address.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    if _kept(name):
                        found[_installed(name)] = archive.open(name).read(_MEMBER)
        else:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as tar:
                for member in tar:
                    inner = tar.extractfile(member) if member.isfile() and _kept(member.name) else None
                    if inner is not None:
                        found[_installed(member.name)] = inner.read(_MEMBER)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, NotImplementedError) as error:
        raise TargetError(f"{file.address} is no archive that can be read: {error}") from error
    return found


def _kept(name: str) -> bool:
    return name.endswith((".py", "PKG-INFO", "/requires.txt", "/pyproject.toml"))


def _installed(name: str) -> str:
    """The path of a member without the folder of the release, and without the one of its sources."""
    rest = posixpath.normpath(name).partition("/")[2]
    head, _, inner = rest.partition("/")
    return inner if head in {"src", "lib"} and inner else rest
