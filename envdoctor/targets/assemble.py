"""From facts and path entries to a snapshot; what costs something is only read when a rule asks. On the plain path."""

from __future__ import annotations

import os

from envdoctor import facts as kinds
from envdoctor.model import Snapshot, Unknown, UnknownFact
from envdoctor.probes import distributions
from envdoctor.probes.metadata import read_all
from envdoctor.targets import readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from envdoctor.facts import Answers, Kind, Metadata, Questions

    Ask = Callable[[Any], Any]


class Installed:
    """Answers from a scan of directories and from one function for each further kind of fact.

    ``asks`` maps a kind to a function from a key to its value or :class:`Unknown`.
    """

    def __init__(
        self, found: distributions.Scan, asks: Mapping[Kind[Any, Any], Ask], paths: Sequence[str], root: str | None
    ) -> None:
        self._found = found
        self._paths = paths
        self._root = root
        self._metadata: dict[tuple[str, str | None], Metadata | Unknown] | None = None
        self._asks: Mapping[Kind[Any, Any], Ask] = {
            kinds.INSTALLER: lambda name: distributions.installer(found.packages[name]),
            kinds.INSTALLED: self._installed,
            kinds.IMPORTABLE: self._importable,
            kinds.MANAGER: self._manager,
            kinds.FILE: self._file,
            **asks,
        }

    def answers(self, questions: Questions) -> Answers:
        """The values of facts; of other kinds this target knows none."""
        asked = {kind: (ask, questions[kind]) for kind, ask in self._asks.items() if kind in questions}
        answers: dict[Any, Any] = {kind: {key: ask(key) for key in keys} for kind, (ask, keys) in asked.items()}
        return {**answers, kinds.METADATA: self._read()} if kinds.METADATA in questions else answers

    def _read(self) -> dict[tuple[str, str | None], Metadata | Unknown]:
        """All metadata at once, when the first of it is asked for."""
        if self._metadata is None:
            packages = self._found.packages
            read = read_all(list(packages.values()))
            self._metadata = {(name, one.version): read[name] for name, one in packages.items()}
        return self._metadata

    def _importable(self, name: str) -> bool:
        """Whether a site directory has a module or package of a name."""
        places = dict.fromkeys(one.location for one in self._found.packages.values() if one.location)
        return any(distributions.has_module(place, name) for place in places)

    def _manager(self, prefix: str) -> Any:
        from envdoctor.targets.manager import of_environment

        return of_environment(prefix, self._paths)

    def _file(self, key: str) -> Any:
        from envdoctor.probes.file_texts import said

        return said(key, self._paths, self._root)

    def _installed(self, kind: str) -> Any:
        if kind == "drift":
            return Unknown(reason="no project is known whose lock file would say what belongs here", asked=False)
        if kind == "leftover":
            return [(path, "left behind by an interrupted install or uninstall") for path in self._found.leftovers]
        each = ((self._found.packages[name], found) for (name, _), found in self._read().items())
        unread = [(one.path or one.name, found.reason) for one, found in each if isinstance(found, Unknown)]
        return [*self._found.unreadable, *unread]


def snapshot(
    facts: Mapping[str, Any], target: Mapping[str, Any], asks: Mapping[Kind[Any, Any], Ask], source: str
) -> Snapshot:
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
        probes=Installed(found, asks, facts["paths"], facts.get("root")),
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
    """Whether a fact's absence weakens every diagnosis; of other facts the rules that ask report it."""
    return fact.partition(".")[0] in {"python", "platform", "paths", "interpreters"}


def recorded(facts: Mapping[str, Any]) -> dict[Kind[Any, Any], Ask]:
    """Answers from the facts that a collector has already gathered."""
    reasons = {note["fact"]: note["reason"] for note in facts.get("unknown", ())}

    def unknown(fact: str) -> Unknown:
        return Unknown(reason=reasons.get(fact, "it was not read from this target"))

    def from_table(kind: Kind[Any, Any], table: Mapping[str, Any]) -> Ask:
        return lambda key: table[key] if key in table else unknown(f"{kind.name}.{key}")

    asks: dict[Kind[Any, Any], Ask] = {
        kind: from_table(kind, facts[kind.section]) for kind in kinds.RECORDED if kind.section in facts
    }
    if "env" in facts:
        asks[kinds.ENV] = facts["env"].get
    return asks
