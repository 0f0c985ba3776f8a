"""What is known of a target: a table by kind of fact and key, which never changes and reads nothing. On the plain path.

Each kind is one row that says all of it: how it is read, compiled, decided, said and recorded. The standard
``dataclasses`` and ``typing`` cost a third of a start of Python, so :class:`Record` replaces a frozen,
keyword-only dataclass; type checkers see one.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Generic, Protocol, TypeVar, Union

    from typing_extensions import dataclass_transform

    from envdoctor import found

    K = TypeVar("K")
    V = TypeVar("V")
    Key_contra = TypeVar("Key_contra", contravariant=True)
    Value_co = TypeVar("Value_co", covariant=True)
    Found_co = TypeVar("Found_co", covariant=True)
    #: What is asked, by kind: the keys.
    Questions = Mapping["Kind[Any, Any]", Iterable[Any]]
    #: What is answered, by kind and key; a value may be :class:`Unknown`.
    Answers = Mapping["Kind[Any, Any]", Mapping[Any, Any]]
    Scalar = Union[str, bool, int, None]

    class Probes(Protocol):
        """Reads what is asked of a target; what is not in the answers is not known."""

        def answers(self, questions: Questions) -> Answers: ...  # noqa: D102 - as the class says
else:
    Key_contra = Value_co = Found_co = None

    class Generic:
        """Replace the type checker's base at run time."""

        __slots__ = ()

        def __class_getitem__(cls, _types: object) -> type:
            return cls

    def dataclass_transform(**_options: bool) -> Callable[[type], type]:
        """Replace the type checker's decorator at run time."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """An immutable value with named fields, given by keyword; class attributes are the defaults."""

    _fields: tuple[str, ...] = ()
    _known: frozenset[str] = frozenset()
    _needed: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple([name for name in cls.__annotations__ if name[0] != "_"])
        cls._known = frozenset(cls._fields)
        cls._needed = cls._known.difference(cls.__dict__)

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


class Unknown(Record):
    """A fact that is not known, with the reason: neither true nor false.

    ``asked`` is false where nobody wanted it looked at, such as a project that was not named: that is no gap to report.
    """

    reason: str
    asked: bool = True

    def __bool__(self) -> bool:
        raise TypeError("an unknown fact is neither true nor false")


_functions: dict[tuple[type, str, str], Any] = {}


class Row(Record):
    """A row of a registry. A function is named ``module:function``, and alone where it is at home in its column."""

    _homes: Mapping[str, str] = {}

    def function(self, column: str, name: str = "") -> Any:
        """The function that a column, or ``name``, names, imported where it is first used."""
        known = type(self), column, name or getattr(self, column)
        if known not in _functions:
            module, _, attribute = known[2].rpartition(":")
            home = "envdoctor." + (module or self._homes[column])
            _functions[known] = getattr(sys.modules.get(home) or __import__(home, fromlist=[attribute]), attribute)
        return _functions[known]


class Metadata(Record):
    """The metadata of one release of a distribution, or why that is not known.

    ``requires`` are requirement lines without those of extras, ``requires_python`` a specifier, and ``tags`` those of
    its wheel, ``None`` for one that fits everywhere.
    """

    requires: Sequence[str] | Unknown = ()
    requires_python: str | Unknown | None = None
    tags: Sequence[str] | Unknown | None = None


class Answer(Record, Generic[Found_co]):
    """The results of a search of a project's files, and the files that it could not read."""

    found: Sequence[Found_co] = ()
    gaps: Sequence[str] = ()


class Kind(Row, Generic[Key_contra, Value_co]):
    """A kind of fact, with the types of its keys and of its values.

    ``name`` is what findings call it, and ``section`` the part of a saved snapshot, and of a collector's answer, that
    records it by key: ``value`` is the type of the values there (see ``targets.snapshot_file``), ``about`` says what
    that is. What is ``dear`` is only read once cheaper facts leave open whether it matters. ``said`` is how evidence is
    put into words; what is ``public`` holds a secret in an address at most. ``probe`` reads it on this machine
    (``(key) -> value``), where a target knows no better way, and ``after`` is its value after an action
    (``(effect, key, value) -> value``).

    Rules name it by the word ``called``. ``reads`` gives the value in a rule's ``when`` (``(node) -> value``), and
    ``states`` what a cell of a proof says of it; ``compiles`` makes conditions of it (``(fact, value, words)``).
    ``decides`` is the function of the operator in these (``(condition, snapshot, trace) -> verdict``), or those of
    several ``operators``; ``asks`` says what it asks of a target (``(condition, snapshot) -> kinds and keys``). What
    has a lower ``cost`` is decided first. Findings name the fact ``shown`` instead. ``names`` are words that texts may
    have in braces. A ``whole`` value is one statement; of others each key is one, and a snapshot records those that are
    ``wanted``. A rule about nothing that is installed is filed ``under`` something else, and ``repaired`` is the entry
    of a cell that ends such a condition.
    """

    name: str
    section: str = ""
    value: str = "text"
    about: str = ""
    dear: bool = False
    said: str = ""
    public: bool = False
    probe: str = ""
    after: str = ""
    called: str = ""
    reads: str = ""
    states: str = ""
    compiles: str = ""
    decides: str = ""
    operators: Mapping[str, str] = {}
    asks: str = ""
    cost: int = 0
    shown: str = ""
    names: Sequence[str] = ()
    whole: bool = False
    wanted: bool = False
    under: str = ""
    repaired: str = ""
    _homes: Mapping[str, str] = {
        "reads": "rulebase.when_tree",
        "states": "rulebase.syntax",
        "compiles": "rulebase.compile_condition",
        "decides": "engine.evaluate",
        "asks": "engine.questions",
        "after": "engine.effects",
        "probe": "collector",
    }
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.name


#: The keys of rules that are filed under no distribution, and ask for a project's files, or for a process.
OF_PROJECT, OF_PROCESS = "?project", "?process"
_READ, _DECIDE = "rulebase.project_conditions:", "engine.project_operators:"

# fmt: off
# --- what rules alone speak of: conditions of conditions, and what a snapshot has besides facts -----------------------

ALL: Kind[str, Any] = Kind(name="all", reads="several", compiles="every", decides="every")
ANY: Kind[str, Any] = Kind(name="any", reads="several", compiles="some", decides="some")
NOT: Kind[str, Any] = Kind(name="not", reads="read_condition", compiles="negated", decides="negated")
PYTHON: Kind[str, Any] = Kind(
    name="python", said="Python {key} {value}", public=True, reads="python", compiles="python", decides="python",
    cost=1,
)
PACKAGES: Kind[str, Any] = Kind(
    name="packages", said="{key} {value}", public=True, reads="packages", compiles="packages", cost=2,
    operators={"packages": "packages", "present": "present", "absent": "absent"},
)
#: What else rules ask of Python.
TRAIT: Kind[str, Any] = Kind(name="trait", decides="trait", cost=3, shown="python")
START_METHOD: Kind[str, Any] = Kind(
    name="start_method", said="{key} start method {value}", public=True, reads=_READ + "read_start_method",
    compiles="start_method", decides="start_method", asks="start_method", cost=10, whole=True, names=("start_method",),
)

# --- facts, those that a saved snapshot records in the order of its sections ------------------------------------------

#: By normalised name and version.
METADATA: Kind[tuple[str, str | None], Metadata] = Kind(name="metadata", after="metadata")
#: The sections of a saved snapshot that are parts of it: the field, the type of its values, and what they are.
OF_METADATA: Mapping[str, tuple[str, str, str]] = {
    "requirements": ("requires", "texts", "Requires-Dist lines by distribution."),
    "requires_python": ("requires_python", "text", "Requires-Python by distribution."),
    "tags": ("tags", "tags", "Wheel tags by distribution."),
}
ENV: Kind[str, str | None] = Kind(
    name="env", section="env", about="Environment variables that rules name; null where unset.", said="{key}={value}",
    probe="env_fact", reads="env", states="texts", compiles="env", decides="engine.declared:env", cost=5,
    asks="engine.declared:asked", wanted=True,
)
MODULE: Kind[str, found.Module] = Kind(
    name="module", section="modules", value="module", about="What `import NAME` finds first.", dear=True,
    said="import {key}: {value}", public=True, after="module", reads="module", states="texts", compiles="by_name",
    decides="module", asks="module", cost=9, names=("file",), wanted=True,
)
SYSTEM: Kind[str, Scalar] = Kind(
    name="system", section="system", value="scalar", about="Versions and properties of the system, such as glibc.",
    said="{key} {value}", public=True, probe="system_fact", reads=_READ + "read_table", states="table",
    compiles="table", decides="table", asks="by_name", cost=6, wanted=True,
)
LIBRARY: Kind[str, str] = Kind(
    name="library", section="libraries", public=True, said="{key} {value}", probe="library_fact",
    about="Whether the dynamic loader finds a shared library: present or missing.", reads=_READ + "read_library",
    states=_READ + "read_library", compiles="on_machine", decides="same", asks="by_name", cost=8, wanted=True,
)
PROGRAM: Kind[str, str] = Kind(
    name="program", section="programs", public=True, said="{key} {value}", probe="program_fact",
    about="Whether a program is on PATH, or beside the interpreter: present or missing.", reads=_READ + "read_program",
    states=_READ + "read_program", compiles="on_machine", decides="same", asks="by_name", cost=8, wanted=True,
)
FILE: Kind[str, Sequence[str]] = Kind(
    name="file", section="written", value="texts", dear=True, said="{value}", after="file", cost=8,
    about="What files of the environment and the machine say, by `GLOB: EXPRESSION`; by `GLOB` alone their paths.",
    reads=_READ + "read_file", states=_READ + "read_written", compiles="by_name", asks="by_name",
    decides="engine.builds:file",
)
BUILD: Kind[str, Any] = Kind(
    name="build", said="{value}", public=True, reads=_READ + "read_build", compiles="build", cost=9, whole=True,
    decides="engine.builds:build", asks="engine.builds:asked",
    about="What an installed distribution was built for, against the machine and what is beside it.",
    names=("distribution", "release", "cuda", "needed", "driver", "gpu", "kernels", "partner", "theirs", "own", "file"),
)
PROCESS: Kind[str, Scalar] = Kind(
    name="process", section="process", value="scalar", said="{key} {value}", under=OF_PROCESS,
    about="Properties of the running process that was examined, such as threads.", reads=_READ + "read_table",
    states="table", compiles="table", decides="table", asks="by_name", cost=7,
)
MARKER: Kind[str, str] = Kind(
    name="marker", section="marker", about="Variables of PEP 508 markers.", said="{key} {value}", public=True,
    after="marker", reads="marker", compiles="whole", decides="marker", asks="marker", cost=4,
)
INSTALLER: Kind[str, str | None] = Kind(
    name="installer", section="installer", about="What installed each distribution.", after="installer",
)
#: What the scan of the directories stumbled over: ``leftover``, ``unreadable``, ``drift``.
INSTALLED: Kind[str, Sequence[Sequence[Any]]] = Kind(
    name="installed", section="installed", value="pairs", said="{value}", public=True, after="installed",
    about="Defects of the installation by kind (leftover, unreadable): pairs of a path and a reason.",
    reads="installed",
)
#: Whether a name can be imported from what is installed.
IMPORTABLE: Kind[str, bool] = Kind(name="importable", after="importable")
#: What besides an installer has a say in the environment, by its prefix (see ``targets.manager``).
MANAGER: Kind[str, found.Manager | None] = Kind(name="manager")
#: Of a project beside the target: whether it was ``named``, and whether it, or an artefact, is ``there`` at all.
PROJECT: Kind[str, bool] = Kind(name="project")
#: The project itself, for who reads on in it; the key is empty.
FILES: Kind[str, Any] = Kind(name="files")
#: What a script at the top of a project would import by a name: its ``file``, and whether it is a ``namespace``.
LOCAL_MODULE: Kind[str, found.LocalModule | None] = Kind(name="local_module", dear=True)
#: Entries of configuration, by the glob of their file and their key.
CONFIG: Kind[tuple[str, str], Answer[found.Setting]] = Kind(
    name="config", dear=True, said="{key}: {value}", reads=_READ + "read_config", compiles="config", asks="config",
    decides=_DECIDE + "config", cost=11, names=("file", "line", "key"), whole=True, under=OF_PROJECT, repaired="files",
)
SHADOWS: Kind[str, Answer[found.Shadow]] = Kind(
    name="shadows", dear=True, called="shadowed", shown="module", reads=_READ + "read_shadowed", compiles="whole",
    decides=_DECIDE + "shadowed", asks="shadows", cost=12, names=("file", "module"), under=OF_PROJECT, repaired="files",
)
#: Every artefact of a project, and those that were named; the key is empty.
ARTIFACT: Kind[str, Answer[found.Artifact]] = Kind(
    name="artifact", dear=True, said="{value}", reads=_READ + "read_artifact", compiles="artifact", asks="artifact",
    decides=_DECIDE + "artifact", cost=13, names=("file", "artifact", "functions", "writer", "python", "name"),
    whole=True, under=OF_PROJECT, repaired="artifact",
)
#: Uses of a dotted glob in a project's source; the forms of keys are those of ``file_keys``.
SOURCE: Kind[str, Answer[found.Use]] = Kind(
    name="source", dear=True, said="{value}", reads=_READ + "read_source", compiles="source", asks="source", cost=14,
    decides=_DECIDE + "source", names=("file", "line", "call", "name"), whole=True, under=OF_PROJECT, repaired="files",
)
IMAGE: Kind[str, Any] = Kind(
    name="image", about="What the image of a project's Dockerfile lacks, where that is known.", said="{value}", cost=11,
    public=True, shown="system", reads=_READ + "read_image", compiles="image", decides="engine.images:image",
    asks="engine.images:asked", names=("file",), whole=True, under=OF_PROJECT, repaired="files",
)
#: What the workers are given, or lack, that source starts.
WORKER: Kind[str, Any] = Kind(
    name="worker", said="{value}", shown="source", reads=_READ + "read_worker", compiles="worker", asks="worker",
    decides="engine.workers:worker", cost=15, whole=True, under=OF_PROJECT, repaired="files",
    names=("file", "line", "call", "name", "given", "object", "where", "start_method"),
)
# fmt: on

KINDS: tuple[Kind[Any, Any], ...] = tuple(one for one in vars().values() if type(one) is Kind)
#: What a saved snapshot records by key, in the order of its sections.
RECORDED = tuple(kind for kind in KINDS if kind.section)
#: The words of rules.
WORDS: Mapping[str, Kind[Any, Any]] = {one.called or one.name: one for one in KINDS if one.reads}
#: The operators of compiled conditions, the cheapest first.
OPERATORS: Mapping[str, Kind[Any, Any]] = {
    name: one
    for one in sorted(KINDS, key=lambda one: one.cost)
    for name in (one.operators or ([one.called or one.name] if one.decides else ()))
}
#: Why a fact is not known that nothing was said about.
NOT_RECORDED = "not recorded in this snapshot"


_VIEW: Any = type(Record.__dict__)  # of a mapping, to read it: ``types`` has its name


class Facts:
    """A table of answers by kind and key, which cannot be changed. What is not in it is unknown."""

    __slots__ = ("_tables",)
    _tables: Answers

    def __init__(self, tables: Answers | None = None) -> None:
        views = {kind: table if type(table) is _VIEW else _VIEW(table) for kind, table in (tables or {}).items()}
        object.__setattr__(self, "_tables", _VIEW(views))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("facts are immutable; use having(...)")

    def ask(self, kind: Kind[K, V], key: K) -> V | Unknown:
        """The value of one fact, or :class:`Unknown`."""
        table = self._tables.get(kind)
        return Unknown(reason=NOT_RECORDED) if table is None or key not in table else table[key]

    def has(self, kind: Kind[K, Any], key: K) -> bool:
        """Whether this was asked, and answered with a value or with the reason why there is none."""
        return key in self._tables.get(kind, ())

    def metadata(self, name: str, version: str | None) -> Metadata:
        """The metadata of a release, each part of it :class:`Unknown` where it is not known."""
        found = self.ask(METADATA, (name, version))
        return Metadata(requires=found, requires_python=found, tags=found) if isinstance(found, Unknown) else found

    def open(self, questions: Questions) -> dict[Kind[Any, Any], list[Any]]:
        """The questions that nothing has answered yet: those that cost little first, the others when these are."""
        left = {kind: [key for key in keys if not self.has(kind, key)] for kind, keys in questions.items()}
        left = {kind: keys for kind, keys in left.items() if keys}
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
