"""What is known of a target: a table by kind of fact and key, which never changes and reads nothing. On the plain path.

The standard ``dataclasses`` and ``typing`` cost a third of a start of Python, so :class:`Record` stands in for a
frozen, keyword-only dataclass; type checkers see one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Generic, Protocol, TypeVar, Union

    from typing_extensions import dataclass_transform

    K = TypeVar("K")
    V = TypeVar("V")
    Key_contra = TypeVar("Key_contra", contravariant=True)
    Value_co = TypeVar("Value_co", covariant=True)
    #: What is asked, by kind: the keys.
    Questions = Mapping["Kind[Any, Any]", Iterable[Any]]
    #: What is answered, by kind and key; a value may be :class:`Unknown`.
    Answers = Mapping["Kind[Any, Any]", Mapping[Any, Any]]
    Scalar = Union[str, bool, int, None]

    class Probes(Protocol):
        """Reads what is asked of a target; what is not in the answers it cannot tell."""

        def answers(self, questions: Questions) -> Answers: ...  # noqa: D102 - as the class says
else:
    Key_contra = Value_co = None

    class Generic:
        """Stand in for the type checker's base at run time."""

        __slots__ = ()

        def __class_getitem__(cls, _types: object) -> type:
            return cls

    def dataclass_transform(**_options: bool) -> Callable[[type], type]:
        """Stand in for the type checker's decorator at run time."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """An immutable value with named fields, given by keyword; class attributes are the defaults."""

    _fields: tuple[str, ...] = ()
    _known: frozenset[str] = frozenset()
    _needed: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(name for name in cls.__annotations__ if name[0] != "_")
        cls._known = frozenset(cls._fields)
        cls._needed = frozenset(name for name in cls._fields if name not in cls.__dict__)

    def __init__(self, **values: Any) -> None:
        if not self._needed <= values.keys() <= self._known:
            missing = ", ".join(sorted(self._needed - values.keys())) or "none"
            strange = ", ".join(sorted(values.keys() - self._known)) or "none"
            raise TypeError(f"{type(self).__name__}: missing fields: {missing}; fields it does not have: {strange}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({fields})"

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, in the order of their declaration."""
        return {name: getattr(self, name) for name in self._fields}

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields changed."""
        return type(self)(**{**self.as_dict(), **changes})


def implementation(name: str) -> Any:
    """What a row of a registry names as ``module:name``, imported where it is first used."""
    module, _, attribute = name.partition(":")
    return getattr(__import__(module, fromlist=[attribute]), attribute)


class Unknown(Record):
    """A fact that is not known, with the reason: neither true nor false.

    ``asked`` is false where nobody wanted it looked at, such as a project that was not named: that is no gap to report.
    """

    reason: str
    asked: bool = True

    def __bool__(self) -> bool:
        raise TypeError("an unknown fact is neither true nor false")


class Metadata(Record):
    """What one release of a distribution says of itself, or why that is not known.

    ``requires`` are requirement lines without those of extras, ``requires_python`` a specifier, and ``tags`` those of
    its wheel, ``None`` for one that fits everywhere.
    """

    requires: Sequence[str] | Unknown = ()
    requires_python: str | Unknown | None = None
    tags: Sequence[str] | Unknown | None = None


class Answer(Record):
    """What a search of a project's files found, and what of them it could not look at."""

    found: Sequence[Any] = ()
    gaps: Sequence[str] = ()


class Kind(Generic[Key_contra, Value_co]):
    """A kind of fact, with the types of its keys and of its values.

    ``name`` is what findings call it, and ``section`` the part of a saved snapshot, and of a collector's answer, that
    records it by key. What is ``dear`` is only read once cheaper facts leave open whether it matters.
    """

    __slots__ = ("dear", "name", "section")

    def __init__(self, name: str, section: str = "", *, dear: bool = False) -> None:
        self.name = name
        self.section = section
        self.dear = dear

    def __repr__(self) -> str:
        return self.name


#: By normalised name and version.
METADATA: Kind[tuple[str, str | None], Metadata] = Kind("metadata")
#: A variable of the environment that markers are evaluated in (PEP 508).
MARKER: Kind[str, str] = Kind("marker", "marker")
#: An environment variable; ``None`` where it is not set.
ENV: Kind[str, str | None] = Kind("env", "env")
SYSTEM: Kind[str, Scalar] = Kind("system", "system")
PROCESS: Kind[str, Scalar] = Kind("process", "process")
#: Whether a shared library is ``present`` or ``missing``.
LIBRARY: Kind[str, str] = Kind("library", "libraries")
#: What ``import`` resolves a name to: ``kind`` and perhaps ``origin``.
MODULE: Kind[str, Mapping[str, Any]] = Kind("module", "modules", dear=True)
#: Whether a name can be imported from what is installed.
IMPORTABLE: Kind[str, bool] = Kind("importable")
#: What the scan of the directories stumbled over: ``leftover``, ``unreadable``, ``drift``.
INSTALLED: Kind[str, Sequence[Sequence[Any]]] = Kind("installed", "installed")
#: What installed a distribution, by its name.
INSTALLER: Kind[str, str | None] = Kind("installer", "installer")
#: What besides an installer has a say in the environment, by its prefix (see ``targets.manager``).
MANAGER: Kind[str, Mapping[str, Any]] = Kind("manager")
#: Of a project beside the target: whether it was ``named``, and whether it, or an artefact, is ``there`` at all.
PROJECT: Kind[str, bool] = Kind("project")
#: The project itself, for who reads on in it; the key is empty.
FILES: Kind[str, Any] = Kind("files")
#: Entries of configuration, by the glob of their file and their key.
CONFIG: Kind[tuple[str, str], Answer] = Kind("config", dear=True)
#: Uses of a dotted glob in a project's source.
SOURCE: Kind[str, Answer] = Kind("source", dear=True)
SHADOWS: Kind[str, Answer] = Kind("shadows", dear=True)
#: Every artefact of a project, and those that were named; the key is empty.
ARTIFACT: Kind[str, Answer] = Kind("artifact", dear=True)
#: What a script at the top of a project would import by a name: its ``file``, and whether it is a ``namespace``.
LOCAL_MODULE: Kind[str, Mapping[str, Any] | None] = Kind("local_module", dear=True)

#: What a saved snapshot records by key, in the order of its sections.
RECORDED: tuple[Kind[str, Any], ...] = (ENV, MODULE, SYSTEM, LIBRARY, PROCESS, MARKER, INSTALLER, INSTALLED)
#: Why a fact is not known that nothing was said about.
NOT_RECORDED = "not recorded in this snapshot"


def unrecorded(questions: Questions) -> dict[Kind[Any, Any], dict[Any, Any]]:
    """The answers of a target that was not there to be asked."""
    return {kind: dict.fromkeys(keys, Unknown(reason=NOT_RECORDED)) for kind, keys in questions.items()}


#: What a target does not answer, it cannot tell.
UNTOLD = Unknown(reason="this target cannot tell")


class Facts:
    """A table of answers by kind and key. What is not in it is unknown."""

    __slots__ = ("_tables",)

    def __init__(self, tables: Answers | None = None) -> None:
        self._tables: Answers = tables or {}

    def ask(self, kind: Kind[K, V], key: K) -> V | Unknown:
        """The value of one fact, or :class:`Unknown`."""
        table = self._tables.get(kind)
        if table is None or key not in table:
            return Unknown(reason=NOT_RECORDED)
        value: V | Unknown = table[key]
        return value

    def has(self, kind: Kind[K, Any], key: K) -> bool:
        """Whether this was asked, and answered with a value or with the reason why there is none."""
        return key in self._tables.get(kind, ())

    def metadata(self, name: str, version: str | None) -> Metadata:
        """What a release says of itself, each part of it :class:`Unknown` where it is not known."""
        found = self._tables.get(METADATA, {}).get((name, version))
        if type(found) is Metadata:
            return found
        reason = Unknown(reason=NOT_RECORDED) if found is None else found
        return Metadata(requires=reason, requires_python=reason, tags=reason)

    def open(self, questions: Questions) -> dict[Kind[Any, Any], list[Any]]:
        """The questions that nothing has answered yet: those that cost little first, the others when these are."""
        left = {}
        for kind, keys in questions.items():
            table = self._tables.get(kind, {})
            unanswered = [key for key in keys if key not in table]
            if unanswered:
                left[kind] = unanswered
        return {kind: keys for kind, keys in left.items() if not kind.dear} or left

    def having(self, more: Answers) -> Facts:
        """These facts and some more, which take the place of what was known."""
        return Facts({**self._tables, **{kind: {**self._tables.get(kind, {}), **more[kind]} for kind in more}})

    def changed(self, effect: Callable[[Kind[Any, Any], Any, Any], Any]) -> Facts:
        """The facts with each value as ``effect(kind, key, value)`` gives it."""
        tables = self._tables.items()
        return Facts({kind: {key: effect(kind, key, one) for key, one in table.items()} for kind, table in tables})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facts) and self._tables == other._tables

    def __hash__(self) -> int:
        return hash(tuple(sorted(kind.name for kind in self._tables)))
