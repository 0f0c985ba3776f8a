"""A saved snapshot (``docs/snapshot.schema.json``): written by ``envdoctor snapshot``, or by hand.

Only ``packages`` must be there; whatever else is missing is unknown. The file may come from anybody, so its size,
its nesting and the type of every value are bounded before they are believed.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from typing import Any, NamedTuple

from envdoctor import facts as kinds
from envdoctor.engine.installed_requirements import is_name, is_version, normalise
from envdoctor.errors import TargetError, UsageError
from envdoctor.model import Distribution, Snapshot, Unknown, UnknownFact
from envdoctor.targets import embedded, project_facts, readable
from envdoctor.targets.marker_environment import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The longest document that is read, in bytes.
LIMIT = 64 * 1024 * 1024
_SCHEMA = 1
_NO_NAME = "of the names are not those of distributions (PEP 508), and were left out"
_DIGITS = 40
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*[A-Za-z0-9._+!-]*")


class JsonType(NamedTuple):
    """The type that a value must have: a test, its name in messages, and its part of a JSON Schema."""

    holds: Callable[[Any], bool]
    said: str
    schema: Mapping[str, Any] = {}


_TEXT = JsonType(lambda value: isinstance(value, str), "a text in quotes")
_TEXT_OR_NULL = JsonType(lambda value: value is None or isinstance(value, str), "a text in quotes, or null")
_FLAG = JsonType(lambda value: value is None or isinstance(value, bool), "true, false or null")
_MAPPING = JsonType(lambda value: isinstance(value, dict), "an object")
_LIST = JsonType(lambda value: isinstance(value, list), "a list")
_TABLES = JsonType(
    lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value), "a list of objects"
)
_TEXTS = JsonType(
    lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value), "a list of texts"
)
_TEXTS_OR_NULL = JsonType(lambda value: value is None or _TEXTS.holds(value), "a list of texts, or null")
_STRING, _STRING_OR_NULL = {"type": "string"}, {"type": ["string", "null"]}
#: What the values of a section are, by the name of their type (see :class:`~envdoctor.facts.Kind`).
VALUES: Mapping[str, JsonType] = {
    "text": _TEXT_OR_NULL._replace(schema=_STRING_OR_NULL),
    "texts": _TEXTS._replace(schema={"type": "array", "items": _STRING}),
    "tags": _TEXTS_OR_NULL._replace(schema={"type": ["array", "null"], "items": _STRING}),
    "scalar": JsonType(
        lambda value: not isinstance(value, (dict, list)),
        "a text, a number, true, false or null",
        {"type": ["string", "number", "boolean", "null"]},
    ),
    "module": JsonType(
        lambda value: isinstance(value, dict) and isinstance(value.get("kind"), str),
        "an object with a 'kind' in quotes",
        {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": _STRING, "origin": _STRING_OR_NULL},
        },
    ),
    "pairs": JsonType(
        lambda value: isinstance(value, list) and all(_TEXTS.holds(item) and len(item) == 2 for item in value),  # noqa: PLR2004
        "a list of pairs: a path and a reason",
        {"type": "array", "items": {"type": "array", "items": _STRING, "minItems": 2, "maxItems": 2}},
    ),
}
_FACTS = {
    "python": {"version": _TEXT_OR_NULL, "free_threaded": _FLAG, "debug": _FLAG, "implementation": _TEXT_OR_NULL},
    "platform": {"system": _TEXT_OR_NULL, "machine": _TEXT_OR_NULL},
    "start_method": {"default": _TEXT_OR_NULL, "stated": _TEXT_OR_NULL, "children": _TEXT_OR_NULL},
}


def snapshot_of(path: str) -> Snapshot:
    """Read a snapshot from a file, or from standard input for ``-``.

    Raises :class:`TargetError` that names the key and what was expected there.
    """
    name = "standard input" if path == "-" else path
    return parsed(_parse(embedded.out_of(_decode(_bytes(path, name), name), LIMIT, name), name), name)


def parsed(values: Mapping[str, Any], name: str) -> Snapshot:
    """The snapshot of a document's values. Raises :class:`TargetError` as :func:`snapshot_of` does."""
    return _Document(name, values).snapshot()


def _bytes(path: str, name: str) -> bytes:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LIMIT + 1) if sys.stdin else b""
        else:
            with open(path, "rb") as file:
                data = file.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TargetError(f"the snapshot {name} cannot be read: {reason}") from error
    if len(data) > LIMIT:
        raise TargetError(f"the snapshot {name} is longer than {LIMIT >> 20} MiB; no environment needs that")
    if not data.strip():
        raise TargetError(f"the snapshot {name} is empty; write one with: envdoctor snapshot -o FILE")
    return data


def _decode(data: bytes, name: str) -> str:
    """UTF-8, with or without a mark; UTF-16 with one, as some shells on Windows redirect it."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise TargetError(f"the snapshot {name} is not UTF-8 (byte {error.start}: {error.reason})") from error


class _Object(dict):  # type: ignore[type-arg]
    """A JSON object that remembers the keys it was given twice."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        made.repeated = tuple(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return made


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not a number in JSON")


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number of {len(text):,} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:_DIGITS]} is out of range")
    return number


def _parse(text: str, name: str) -> Mapping[str, Any]:
    try:
        document = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        open_end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        cut = "; it seems to be cut off" if open_end else ""
        raise TargetError(f"the snapshot {name} is not JSON: {error.msg} ({place}){cut}") from error
    except ValueError as error:
        raise TargetError(f"the snapshot {name} is not JSON: {error}") from error
    except RecursionError as error:
        raise TargetError(f"the snapshot {name} is nested too deeply; that is no snapshot") from error
    if not isinstance(document, dict):
        raise TargetError(
            f"the snapshot {name} is {_type(document)}, not an object with 'packages'; "
            "write one with: envdoctor snapshot -o FILE"
        )
    return document


def _type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return next((said for kind, said in names.items() if isinstance(value, kind)), "a number")


class _Document:
    """The parsed document, asked for one part after the other."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self.values = values
        self.notes: list[UnknownFact] = []

    def snapshot(self) -> Snapshot:
        """Everything that the document says."""
        schema = self.values.get("schema", _SCHEMA)
        if schema != _SCHEMA or isinstance(schema, bool):
            raise TargetError(
                f"the snapshot {self.name} has schema {_shown(schema)}; this envdoctor reads schema {_SCHEMA}. "
                "Upgrade envdoctor, or write the snapshot again"
            )
        packages = self.packages()
        facts: dict[str, Any] = {section: self.facts(section) for section in _FACTS}
        table = self.table(packages)
        complete = self.value(
            self.values, "complete", "complete", JsonType(lambda v: isinstance(v, bool), "true or false")
        )
        return Snapshot(
            target=self.target(),
            packages=packages,
            complete=True if complete is None else complete,
            duplicates=self.duplicates(),
            source=self.name,
            facts=table,
            notes=(*self.recorded_notes(), *self.notes),
            **facts,
        )

    def value(self, mapping: Mapping[str, Any], key: str, label: str, kind: JsonType) -> Any:
        """One value of the type it must have, or ``None`` where it is missing."""
        if key not in mapping:
            return None
        value = mapping[key]
        if not kind.holds(value):
            raise TargetError(
                f"the snapshot {self.name}: {one_line(label)} is {_shown(value)} ({_type(value)}); expected {kind.said}"
            )
        return value

    def section(self, name: str) -> Mapping[str, Any]:
        return self.value(self.values, name, name, _MAPPING) or {}

    def packages(self) -> dict[str, Distribution]:
        """The distributions by normalised name; of a name given twice the last one counts, and a note says so."""
        if "packages" not in self.values:
            raise TargetError(f"the snapshot {self.name} has no 'packages': an object of names and versions is needed")
        versions = self.section("packages")
        places = {normalise(name.strip()): name for name in self.section("distributions")}
        packages: dict[str, Distribution] = {}
        written: dict[str, list[str]] = {}
        nameless: set[str] = set()
        for name in [*getattr(versions, "repeated", ()), *versions]:
            version = self.value(versions, name, f"packages.{name}", _TEXT_OR_NULL)
            normal = self.normal(name, "packages")
            if not is_name(normal):
                nameless.add(name)
                continue
            if version is not None and not is_version(version):
                version = None
                self.notes.append(readable.note(normal))
            written.setdefault(normal, []).append(name)
            place = self.place("distributions", places.get(normal, ""))
            several = () if version else self.candidates(normal, places.get(normal, ""))
            packages[normal] = Distribution(name=normal, version=version, candidates=several, **place)
        if nameless:
            reason = f"{len(nameless)} {_NO_NAME}"
            self.notes.append(UnknownFact(rule=None, fact="packages", reason=reason))
        for normal, names in written.items():
            if len(names) > 1:
                reason = f"listed more than once in the snapshot ({', '.join(names)}); the last one is used"
                self.notes.append(UnknownFact(rule=None, fact=f"packages.{normal}", reason=reason))
        return packages

    def normal(self, name: str, section: str) -> str:
        normal = normalise(name.strip())
        if not normal:
            raise TargetError(f"the snapshot {self.name}: {section} has an empty name")
        return normal

    def place(self, section: str, name: str) -> dict[str, Any]:
        label = f"{section}.{name}"
        entry = self.value(self.section(section), name, label, _MAPPING) or {}
        return {key: self.value(entry, key, f"{label}.{key}", _TEXT_OR_NULL) for key in ("path", "location")}

    def candidates(self, normal: str, name: str) -> list[Distribution]:
        """The versions of which a lock file installs one."""
        label = f"distributions.{name}.candidates"
        entry = self.value(self.section("distributions"), name, label, _MAPPING) or {}
        found = []
        for one in self.value(entry, "candidates", label, _TABLES) or ():
            keys = ("version", "path", "location")
            stated = {key: self.value(one, key, f"{label}.{key}", _TEXT_OR_NULL) for key in keys}
            stated["version"] = stated["version"] if is_version(stated["version"] or "") else None
            found.append(Distribution(name=normal, **stated))
        return found

    def facts(self, section: str) -> dict[str, Any]:
        values = dict(self.section(section))
        for key, kind in _FACTS[section].items():
            self.value(values, key, f"{section}.{key}", kind)
        version = values.get("version") if section == "python" else None
        if version is not None and not _VERSION.fullmatch(version):
            raise TargetError(
                f"the snapshot {self.name}: python.version is {_shown(version)}; expected one like 3.11.7"
            )
        return {key: value for key, value in values.items() if value is not None}

    def duplicates(self) -> list[Distribution]:
        found = []
        for number, entry in enumerate(self.value(self.values, "duplicates", "duplicates", _LIST) or ()):
            label = f"duplicates[{number}]"
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
                raise TargetError(f"the snapshot {self.name}: {label} is {_shown(entry)}; expected one with a name")
            keys = ("version", "path", "location")
            rest = {key: self.value(entry, key, f"{label}.{key}", _TEXT_OR_NULL) for key in keys}
            rest["version"] = rest["version"] if is_version(rest["version"] or "") else None
            if is_name(name := self.normal(entry["name"], label)):
                found.append(Distribution(name=name, **rest))
        return found

    def target(self) -> dict[str, Any]:
        """The file as a target; the target that it was recorded of is under ``recorded``."""
        recorded = self.section("target")
        if recorded.get("kind") == "snapshot" and isinstance(recorded.get("recorded"), dict):
            recorded = recorded["recorded"]
        target: dict[str, Any] = {"kind": "snapshot", "path": self.name}
        if isinstance(recorded.get("installer"), str) and is_name(recorded["installer"]):
            target["installer"] = recorded["installer"]
        if isinstance(recorded.get("requires_python"), str):
            target["requires_python"] = recorded["requires_python"]
        return {**target, "recorded": dict(recorded)} if recorded else target

    def reasons(self, section: str) -> list[tuple[str, str]]:
        """The facts of ``unknown`` or ``notes``, each with its reason."""
        rows = []
        for number, entry in enumerate(self.value(self.values, section, section, _LIST) or ()):
            label = f"{section}[{number}]"
            if not isinstance(entry, dict):
                raise TargetError(f"the snapshot {self.name}: {label} is {_shown(entry)}; expected an object")
            fact, reason = (self.value(entry, key, f"{label}.{key}", _TEXT) or "" for key in ("fact", "reason"))
            rows.append((fact, reason))
        return rows

    def recorded_notes(self) -> list[UnknownFact]:
        return [UnknownFact(rule=None, fact=fact, reason=reason) for fact, reason in self.reasons("notes")]

    def markers(self) -> dict[str, str]:
        """The marker variables that follow from the version of Python and the platform."""
        python, platform = self.section("python"), self.section("platform")
        if python.get("implementation", "cpython") != "cpython":
            return {}
        try:
            version = str(python.get("version") or "").rstrip("+") or None
            return environment(version, platform.get("system"), platform.get("machine"))
        except UsageError:  # a platform or a version that markers have no words for
            return {}

    def table(self, packages: Mapping[str, Distribution]) -> kinds.Facts:
        """The facts of the document: each value, or why it is unknown."""
        unread: dict[str, dict[str, Any]] = {}
        for fact, reason in self.reasons("unknown"):
            kind, _, key = fact.partition(".")
            unread.setdefault(kind, {})[key] = Unknown(reason=reason)
        tables = {
            kind: {**unread.get(kind.name, {}), **self.answers(kind.section, VALUES[kind.value])}
            for kind in kinds.RECORDED
        }
        tables[kinds.MARKER] = {**self.markers(), **tables[kinds.MARKER]}
        tables[kinds.INSTALLER] = {normalise(name.strip()): value for name, value in tables[kinds.INSTALLER].items()}
        stated = {
            field: {
                normalise(name.strip()): value
                for name, value in {**unread.get(section, {}), **self.answers(section, VALUES[expected])}.items()
            }
            for section, (field, expected, _) in kinds.OF_METADATA.items()
        }
        absent = Unknown(reason=kinds.NOT_RECORDED)
        metadata = {
            (name, one.version): kinds.Metadata(**{field: stated[field].get(name, absent) for field in stated})
            for name, one in packages.items()
        }
        importable = unread.get(kinds.IMPORTABLE.name, {})
        project = project_facts.recorded(self.section("project"), self.name)
        return kinds.Facts({**tables, kinds.METADATA: metadata, kinds.IMPORTABLE: importable, **project})

    def answers(self, section: str, expected: JsonType) -> dict[str, Any]:
        """The values of a section, each of the type that it must have."""
        values = self.section(section)
        return {key: self.value(values, key, f"{section}.{key}", expected) for key in values}


def one_line(text: str) -> str:
    """A key as it may be shown: short, without control characters."""
    return text[:80] if text.isprintable() else ascii(text[:80])


def _shown(value: Any) -> str:
    text = json.dumps(value) if not isinstance(value, (dict, list)) else f"{_type(value)} of {len(value)}"
    return text if len(text) <= _DIGITS else text[:_DIGITS] + "..."
