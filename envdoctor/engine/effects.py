"""The snapshot after an action, computed without carrying it out. Pure.

What the action settles is known; what it leaves open, such as what a release requires that nobody has read, is unknown
afterwards. What it does not touch stays as it was, and may still be asked.
"""

from __future__ import annotations

from envdoctor import facts as kinds
from envdoctor.engine.installed_requirements import normalise, parts
from envdoctor.engine.versions import within
from envdoctor.model import Distribution, Record, Unknown
from envdoctor.remedy_kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Optional

    from envdoctor.facts import Kind, Metadata
    from envdoctor.model import Action, Snapshot

    #: What releases say of themselves, by normalised name and version.
    Releases = Mapping[tuple[str, Optional[str]], Metadata]


def after(snapshot: Snapshot, action: Action, releases: Releases | None = None) -> Snapshot:
    """The snapshot as it would be examined after an action.

    Of a requirement that is not met, the release is known where it is pinned (``==X``), and only that one is
    installed; ``releases`` are those of which it is known what they say.
    """
    if action.at != "run":
        return snapshot
    wanted = [found for found in map(parts, action.requirements) if found]
    python = next((_pinned(found[2]) for found in wanted if found[0] == "python"), "")
    packages = _packages(snapshot, action)
    effect = Effect(action=action, before=snapshot.packages, packages=packages, other_python=python != "")
    stated = _stated(snapshot, effect, releases or {})
    changed: Snapshot = snapshot.replace(
        packages=packages,
        duplicates=[one for one in snapshot.duplicates if one not in packages.values()],
        facts=snapshot.facts.changed(effect.of).having({kinds.METADATA: stated}),
        effects=(*snapshot.effects, effect),
    )
    return _with_python(changed, python) if effect.other_python else changed


def _with_python(snapshot: Snapshot, version: str | None) -> Snapshot:
    """The snapshot with another Python, of which at most the version is known."""
    methods = {key: value for key, value in snapshot.start_method.items() if key == "stated"}
    changed: Snapshot = snapshot.replace(python={"version": version} if version else {}, start_method=methods)
    return changed


def _stated(snapshot: Snapshot, effect: Effect, releases: Releases) -> dict[Any, Any]:
    """The metadata of the new releases that the snapshot does not know."""
    new = [(one.name, one.version) for one in effect.packages.values() if effect.is_new(one.name)]
    unread = [one for one in new if isinstance(snapshot.facts.ask(kinds.METADATA, one), Unknown)]
    return {one: releases.get(one) or _unknown(f"what {one[0]} says of itself", effect.action) for one in unread}


def _pinned(specifier: str) -> str | None:
    version = specifier[2:]
    return version if specifier[:2] == "==" and "," not in version and version[-1:] != "*" else None


def _packages(snapshot: Snapshot, action: Action) -> dict[str, Distribution]:
    """The distributions after an action."""
    packages = _kept(snapshot, action)
    for found in map(parts, action.requirements):
        name = normalise(found[0]) if found else ""
        if found is None or name == "python":
            continue
        have, specifier, address = packages.get(name), *found[2:]
        version = have.version if have else None
        if address or not version or not within(version, specifier):
            place = have.location if have else None
            packages[name] = Distribution(name=name, version=_pinned(specifier), location=place)
    return packages


def _kept(snapshot: Snapshot, action: Action) -> dict[str, Distribution]:
    """The distributions that an action does not remove; one that a removed copy has hidden is found then."""
    packages = dict(snapshot.packages)
    for name in map(normalise, action.packages if KINDS[action.verb].removes else ()):
        packages.pop(name, None)
        packages.update((one.name, one) for one in reversed(snapshot.duplicates) if one.name == name)
    return packages


class Effect(Record):
    """The facts after an action, from those that were or will be asked of the snapshot before it."""

    action: Action
    before: Mapping[str, Distribution]
    packages: Mapping[str, Distribution]
    other_python: bool

    def of(self, kind: Kind[Any, Any], key: Any, value: Any) -> Any:
        """The value of a fact afterwards: as its kind says, and then as the kind of remedy does."""
        remedy = KINDS[self.action.verb]
        for row, column, name in ((kind, "after", kind.after), (remedy, "changes", remedy.changes.get(kind.name))):
            if name and not isinstance(value, Unknown):
                value = row.function(column, name)(self, key, value)
        return value

    def is_new(self, name: str) -> bool:
        """Whether a distribution is installed, exchanged, removed or written anew."""
        again = KINDS[self.action.verb].renews and name in map(normalise, self.action.packages)
        return again or self.packages.get(name) is not self.before.get(name)

    def touches(self) -> bool:
        """Whether anything is installed or removed."""
        return self.other_python or any(map(self.is_new, {*self.before, *self.packages}))


def _unknown(what: str, action: Action) -> Unknown:
    return Unknown(reason=f"{what} is not known after {action.verb}")


def metadata(effect: Effect, _: Any, value: Any) -> Any:
    """Another Python has other wheels of the same releases."""
    return value.replace(tags=_unknown("which wheel is installed", effect.action)) if effect.other_python else value


def marker(effect: Effect, name: str, value: Any) -> Any:
    """A marker's variable, of which another Python has other values."""
    stays = not effect.other_python or not ("version" in name or "implementation" in name)
    return value if stays else _unknown(name, effect.action)


def module(effect: Effect, name: str, value: Any) -> Any:
    """Where an import finds a module, which may be another place after any installation."""
    stays = value["kind"] == "local" or (value["kind"] == "standard-library" and not effect.other_python)
    return value if stays or not effect.touches() else _unknown(f"what import {name} finds", effect.action)


def file(effect: Effect, glob: str, value: Any) -> Any:
    """What files say: those of the environment may be others after any installation."""
    stays = glob.startswith("/") or not effect.touches()
    return value if stays else _unknown(f"what {glob.partition(': ')[0]} says", effect.action)


def importable(effect: Effect, name: str, value: Any) -> Any:
    """Whether a name can be imported, which any installation may change."""
    return _unknown(f"whether {name} can be imported", effect.action) if effect.touches() else value


def installer(effect: Effect, name: str, value: Any) -> Any:
    """What installed a distribution, unless it is exchanged."""
    return _unknown(f"what installed {name}", effect.action) if effect.is_new(name) else value


def installed(effect: Effect, defect: str, value: Any) -> Any:
    """Defects of what is gone are gone; whether something new is what a lock file says is not known."""
    new = {name for name in {*effect.before, *effect.packages} if effect.is_new(name)}
    if defect == "drift":
        return _drift(effect, new, value)
    gone = {effect.before[name].path for name in new if name in effect.before}
    return [row for row in value if row[0] not in gone]


def _drift(effect: Effect, new: set[str], rows: Any) -> Any:
    """The differences from a lock file that remain, where all that is new is as the file says."""
    locked = {name: version for name, version, _ in rows}
    there = new & locked.keys() & effect.packages.keys()
    cured = {name for name in there if effect.packages[name].version == locked[name]}
    left = [row for row in rows if row[0] not in cured]
    return left if new <= cured else _unknown("what differs from the lock file", effect.action)


def entry(effect: Effect, key: tuple[str, str], value: Any) -> Any:
    """The entries of configuration after one of them is set."""
    action = effect.action
    if not str(action.key).endswith(key[1].rpartition(".")[2]):
        return value
    same = [(one["file"], one["key"]) == (action.file, action.key) for one in value.found]
    if not any(same):
        return _unknown(f"{key[1]} in {key[0]}", action)
    return value.replace(found=[{**one, "value": action.to} if hit else one for one, hit in zip(value.found, same)])


def variable(effect: Effect, name: str, value: Any) -> Any:
    """An environment variable after one is set."""
    return str(effect.action.to) if effect.action.name == name else value


def source(effect: Effect, _: str, value: Any) -> Any:
    """Whatever is changed by hand may be in the source."""
    return _unknown("the source", effect.action)
