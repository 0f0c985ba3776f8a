"""What an action makes of a snapshot, before anybody carries it out. Pure.

What the action settles is known; what it leaves open, such as what a release requires that nobody has read, is unknown
afterwards. What it does not touch stays as it was, and may still be asked.
"""

from __future__ import annotations

from envdoctor import facts as kinds
from envdoctor.engine.installed_requirements import normalise, parts
from envdoctor.engine.versions import within
from envdoctor.model import Distribution, Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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
    unread = [(one.name, one.version) for one in packages.values() if effect.is_new(one.name)]
    unread = [one for one in unread if isinstance(snapshot.facts.ask(kinds.METADATA, one), Unknown)]
    stated = {one: (releases or {}).get(one) or _unknown(f"what {one[0]} says of itself", action) for one in unread}
    changed = snapshot.replace(
        packages=packages,
        duplicates=[one for one in snapshot.duplicates if one not in packages.values()],
        facts=snapshot.facts.changed(effect.of).having({kinds.METADATA: stated}),
        effects=(*snapshot.effects, effect),
    )
    if effect.other_python:
        version = {"version": python} if python else {}
        methods = {key: value for key, value in snapshot.start_method.items() if key == "stated"}
        changed = changed.replace(python=version, start_method=methods)
    return changed  # type: ignore[no-any-return]


def _pinned(specifier: str) -> str | None:
    version = specifier[2:]
    return version if specifier[:2] == "==" and "," not in version and version[-1:] != "*" else None


def _packages(snapshot: Snapshot, action: Action) -> dict[str, Distribution]:
    """The distributions after an action; what one that is removed has hidden comes to light."""
    packages = dict(snapshot.packages)
    for name in map(normalise, action.packages if action.verb in {"uninstall", "replace"} else ()):
        packages.pop(name, None)
        packages.update((one.name, one) for one in reversed(snapshot.duplicates) if one.name == name)
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


class Effect(Record):
    """What an action makes of facts, which were asked before or will be asked of what it was before."""

    action: Action
    before: Mapping[str, Distribution]
    packages: Mapping[str, Distribution]
    other_python: bool

    def of(self, kind: Kind[Any, Any], key: Any, value: Any) -> Any:
        """The value of a fact afterwards."""
        row = _ROWS.get(kind)
        return value if row is None or isinstance(value, Unknown) else row(self, key, value)

    def is_new(self, name: str) -> bool:
        """Whether a distribution is installed, exchanged, removed or written anew."""
        again = self.action.verb == "reinstall" and name in map(normalise, self.action.packages)
        return again or self.packages.get(name) is not self.before.get(name)

    def touches(self) -> bool:
        """Whether anything is installed or removed."""
        return self.other_python or any(map(self.is_new, {*self.before, *self.packages}))


def _unknown(what: str, action: Action) -> Unknown:
    return Unknown(reason=f"{what} is not known after {action.verb}")


def _metadata(effect: Effect, _: Any, value: Any) -> Any:
    """Another Python has other wheels of the same releases."""
    return value.replace(tags=_unknown("which wheel is installed", effect.action)) if effect.other_python else value


def _marker(effect: Effect, name: str, value: Any) -> Any:
    stays = not effect.other_python or not ("version" in name or "implementation" in name)
    return value if stays else _unknown(name, effect.action)


def _module(effect: Effect, name: str, value: Any) -> Any:
    stays = value["kind"] == "local" or (value["kind"] == "standard-library" and not effect.other_python)
    return value if stays or not effect.touches() else _unknown(f"what import {name} finds", effect.action)


def _importable(effect: Effect, name: str, value: Any) -> Any:
    return _unknown(f"whether {name} can be imported", effect.action) if effect.touches() else value


def _installer(effect: Effect, name: str, value: Any) -> Any:
    return _unknown(f"what installed {name}", effect.action) if effect.is_new(name) else value


def _installed(effect: Effect, defect: str, value: Any) -> Any:
    """Defects of what is gone are gone; whether something new is what a lock file says is not known."""
    new = {name for name in {*effect.before, *effect.packages} if effect.is_new(name)}
    if defect != "drift":
        gone = {effect.before[name].path for name in new if name in effect.before}
        return [row for row in value if row[0] not in gone]
    locked = {name: version for name, version, _ in value}
    cured = {
        name for name in new & locked.keys() & effect.packages.keys() if effect.packages[name].version == locked[name]
    }
    left = [row for row in value if row[0] not in cured]
    return left if new <= cured else _unknown("what differs from the lock file", effect.action)


def _config(effect: Effect, key: tuple[str, str], value: Any) -> Any:
    action = effect.action
    if action.verb != "set" or not str(action.key).endswith(key[1].rpartition(".")[2]):
        return value
    same = [(one["file"], one["key"]) == (action.file, action.key) for one in value.found]
    if not any(same):
        return _unknown(f"{key[1]} in {key[0]}", action)
    return value.replace(found=[{**one, "value": action.to} if hit else one for one, hit in zip(value.found, same)])


def _env(effect: Effect, name: str, value: Any) -> Any:
    return str(effect.action.to) if (effect.action.verb, effect.action.name) == ("setenv", name) else value


def _source(effect: Effect, _: str, value: Any) -> Any:
    return _unknown("the source", effect.action) if effect.action.verb == "change" else value


#: What an action may change, by kind of fact; the others it leaves as they are.
_ROWS: Mapping[Kind[Any, Any], Callable[[Effect, Any, Any], Any]] = {
    kinds.METADATA: _metadata,
    kinds.MARKER: _marker,
    kinds.MODULE: _module,
    kinds.IMPORTABLE: _importable,
    kinds.INSTALLER: _installer,
    kinds.INSTALLED: _installed,
    kinds.CONFIG: _config,
    kinds.ENV: _env,
    kinds.SOURCE: _source,
}
