"""From facts and path entries to a snapshot; what costs something is only read when a rule asks. On the plain path."""

from __future__ import annotations

import os

from envdoctor.model import Snapshot, Unknown, UnknownFact
from envdoctor.probes import distributions
from envdoctor.probes.metadata import read_all
from envdoctor.targets import readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Ask = Callable[[str], Any]


#: The kinds of fact that are columns of a distribution's metadata.
_COLUMNS = {"requirements": "requires", "requires_python": "requires_python", "tags": "tags"}
#: The kinds of fact that a collector records by key, and the section that holds them.
_RECORDED = (
    ("marker", "marker"),
    ("module", "modules"),
    ("system", "system"),
    ("library", "libraries"),
    ("process", "process"),
)


class Facts:
    """Answers a snapshot's ``lookup`` from a scan of directories and from one function for each kind of fact.

    ``asks`` maps a kind (``marker``, ``env``, ``module``, ``system``, ``library``, ``process``) to a function from a
    key to its value or :class:`Unknown`.
    """

    def __init__(self, found: distributions.Scan, asks: Mapping[str, Ask], paths: Sequence[str] = ()) -> None:
        self._found = found
        self._paths = paths
        self._managers: dict[str, Any] = {}
        self._asks = asks
        self._metadata: dict[str, distributions.Metadata] | None = None
        self._installers: list[str] | None = None

    def lookup(self, kind: str, key: str) -> Any:
        """The value of a fact, or :class:`Unknown`."""
        column = _COLUMNS.get(kind)
        if column is not None:
            metadata = (self._metadata or self._read())[key]
            return Unknown(reason=metadata.error) if metadata.error else getattr(metadata, column)
        ask = self._asks.get(kind)
        if ask is not None:
            return ask(key)
        own = {
            "installer": self._installer,
            "installers": self._first_installers,
            "installed": self._installed,
            "importable": self._importable,
            "manager": self._manager,
        }.get(kind)
        return Unknown(reason="this target cannot tell") if own is None else own(key)

    def _read(self) -> dict[str, distributions.Metadata]:
        """All metadata at once, when the first rule asks for some."""
        if self._metadata is None:
            self._metadata = read_all(list(self._found.packages.values()))
        return self._metadata

    def _installer(self, name: str) -> Any:
        return distributions.installer(self._found.packages[name])

    def _first_installers(self, most: str) -> list[str]:
        """What installed the first so many distributions, each once."""
        if self._installers is None:
            asked = list(self._found.packages.values())[: int(most)]
            self._installers = list(dict.fromkeys(filter(None, map(distributions.installer, asked))))
        return self._installers

    def _importable(self, name: str) -> bool:
        """Whether a site directory has a module or package of a name."""
        places = dict.fromkeys(one.location for one in self._found.packages.values() if one.location)
        return any(distributions.has_module(place, name) for place in places)

    def _manager(self, prefix: str) -> Any:
        if prefix not in self._managers:
            from envdoctor.targets.manager import of_environment

            self._managers[prefix] = of_environment(prefix, self._paths)
        return self._managers[prefix]

    def _installed(self, kind: str) -> Any:
        if kind == "drift":  # no project is known whose lock file would say what belongs here
            return []
        if kind == "leftover":
            return [(path, "left behind by an interrupted install or uninstall") for path in self._found.leftovers]
        metadata = self._read()
        errors = [(one.path or one.name, metadata[one.name].error) for one in self._found.packages.values()]
        return [*self._found.unreadable, *((path, error) for path, error in errors if error)]


def snapshot(facts: Mapping[str, Any], target: Mapping[str, Any], asks: Mapping[str, Ask], source: str) -> Snapshot:
    """A snapshot of what ``facts['paths']`` hold.

    ``facts`` has the shape that the collector gives: ``python``, ``platform``, ``start_method`` and ``paths``, and
    perhaps ``unknown``, a list of ``{"fact", "reason"}``.
    """
    found = distributions.scan(facts["paths"], _within(facts["root"]) if "root" in facts else None)
    unreadable = readable.of_scan(found)
    return Snapshot(
        target=target,
        python=facts.get("python", {}),
        platform=facts.get("platform", {}),
        start_method=facts.get("start_method", {}),
        packages=found.packages,
        duplicates=found.duplicates,
        source=source,
        lookup=Facts(found, asks, facts["paths"]).lookup,
        notes=[
            *(UnknownFact(rule=None, **note) for note in facts.get("unknown", ()) if _matters(note["fact"])),
            *unreadable,
        ],
    )


def _within(directory: str) -> Callable[[str], str]:
    """Where the metadata of a root file system is on this machine: no link in it leads out of the root."""
    from envdoctor.probes.file_system import Root

    root = Root(directory)

    def place(path: str) -> str:
        inside = path[len(root.directory) :]
        real = root.host(inside)
        is_linked = any(os.path.islink(real + os.sep + name) for name in distributions.METADATA_FILES)
        return root.host(distributions.metadata_file(inside)) if is_linked else real

    return place


def _matters(fact: str) -> bool:
    """Whether every diagnosis suffers from a fact's absence; the others are told by the rules that ask."""
    return fact.partition(".")[0] in {"python", "platform", "paths", "interpreters"}


def recorded(facts: Mapping[str, Any]) -> dict[str, Ask]:
    """Answers from the facts that a collector has already gathered."""
    reasons = {note["fact"]: note["reason"] for note in facts.get("unknown", ())}

    def unknown(fact: str) -> Unknown:
        return Unknown(reason=reasons.get(fact, "it was not read from this target"))

    def from_table(kind: str, table: Mapping[str, Any]) -> Ask:
        return lambda key: table[key] if key in table else unknown(f"{kind}.{key}")

    asks = {kind: from_table(kind, facts[plural]) for kind, plural in _RECORDED if plural in facts}
    if "env" in facts:
        asks["env"] = facts["env"].get
    return asks
