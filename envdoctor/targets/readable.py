"""Names that are not PEP 508 and versions that are not PEP 440 are unreadable in all files. On the plain path.

What they were is never said: it may be an option, a command or a terminal's escape. Where it was read is.
"""

from __future__ import annotations

from envdoctor.engine.installed_requirements import is_name, is_version
from envdoctor.model import Distribution, UnknownFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.distributions import Scan

NO_NAME = "the name in its metadata is not that of a distribution (PEP 508)"
NO_VERSION = "its version is not a PEP 440 version"


def of_scan(found: Scan) -> list[UnknownFact]:
    """Take what has no readable name out of a scan, and unreadable versions; returns a note for each of the latter."""
    notes = []
    for name, one in list(found.packages.items()):
        if not is_name(name):
            del found.packages[name]
            found.unreadable.append((one.path or one.location or "", NO_NAME))
        elif one.version is not None and not is_version(one.version):
            found.packages[name] = without_version(one)
            notes.append(note(name))
    found.duplicates[:] = [
        one if one.version is None or is_version(one.version) else without_version(one)
        for one in found.duplicates
        if is_name(one.name)
    ]
    return notes


def without_version(one: Distribution) -> Distribution:
    """The distribution, of which no version is known."""
    return Distribution(name=one.name, version=None, path=one.path, location=one.location)


def note(name: str) -> UnknownFact:
    """That the version of a distribution cannot be read."""
    return UnknownFact(rule=None, fact="packages." + name, reason=NO_VERSION)
