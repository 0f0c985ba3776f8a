"""What is known of a target: a table by kind of fact and key, which never changes and reads nothing. On the plain path.

Each kind is one row that says all of it: how it is read, compiled, decided, said and recorded.
"""

from __future__ import annotations

from envdoctor.immutable import Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Generic, Protocol, TypeVar, Union

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


_implementations: dict[str, Any] = {}


def implementation(name: str) -> Any:
    """What a row names as ``module:name``, imported where it is first used."""
    found = _implementations.get(name)
    if found is None:
        module, _, attribute = name.partition(":")
        found = _implementations[name] = getattr(__import__(module, fromlist=[attribute]), attribute)
    return found


class Word(Record):
    """How rules speak of a kind of fact. Functions are named as ``module:function`` (see :func:`implementation`).

    ``reads`` gives the value in a rule's ``when`` (``(node) -> value``), ``compiles`` the conditions that it stands for
    (``(fact, value, words) -> conditions``), and ``states`` what a cell of a proof says of it. Of the operators in
    these conditions ``decides`` has the functions (``(condition, snapshot, trace) -> verdict``), the dearer the later;
    ``asks`` says what each asks of a target (``(condition, snapshot) -> kinds and keys``).

    ``called`` is the word, where that is not the name of the kind, and ``of`` the fact that findings name in its place.
    What costs less is decided first. ``names`` are words that texts may have in braces. A ``whole`` value is one
    statement; of others each key is one. A rule about nothing that is installed is filed ``under`` something else, and
    ``repaired`` is the entry of a cell that ends such a condition. A snapshot records the keys that rules want.
    """

    reads: str = ""
    compiles: str = ""
    decides: Mapping[str, str] = {}
    asks: str = ""
    states: str = ""
    called: str = ""
    of: str = ""
    cost: int = 0
    names: Sequence[str] = ()
    whole: bool = False
    wanted: bool = False
    under: str = ""
    repaired: str = ""


#: Of a kind of fact that rules do not name.
_UNSAID = Word()


class Kind(Generic[Key_contra, Value_co]):
    """A kind of fact, with the types of its keys and of its values.

    ``name`` is what findings call it, and ``section`` the part of a saved snapshot, and of a collector's answer, that
    records it by key: ``value`` is the type of what stands there (see ``targets.snapshot_file``), ``about`` says what
    that is. What is ``dear`` is only read once cheaper facts leave open whether it matters.

    ``said`` is how evidence is put into words. What is ``public`` holds a secret in an address at most. ``probe`` reads
    it on this machine (``(key) -> value``); most targets know better ways. ``after`` is its value after an action
    (``(effect, key, value) -> value``), and ``word`` how rules speak of it.
    """

    __slots__ = ("about", "after", "dear", "name", "probe", "public", "said", "section", "value", "word")

    def __init__(  # noqa: PLR0913 - a row
        self, name: str, section: str = "", *, dear: bool = False, value: str = "text", about: str = "",
        said: str = "", public: bool = False, probe: str = "", after: str = "", word: Word = _UNSAID,
    ) -> None:  # fmt: skip
        self.name, self.section, self.dear, self.value, self.about = name, section, dear, value, about
        self.said, self.public, self.probe, self.after, self.word = said, public, probe, after, word

    def __repr__(self) -> str:
        return self.name


#: What rules are filed under that no distribution stands for, and that ask for a project's files, or for a process.
OF_PROJECT, OF_PROCESS = "?project", "?process"
#: Where the functions of most rows are.
_READ, _PROJECT_READ = "envdoctor.rulebase.when_tree:", "envdoctor.rulebase.project_conditions:"
_CELL, _COMPILE = "envdoctor.rulebase.syntax:", "envdoctor.rulebase.compile_condition:"
_DECIDE, _PROJECT, _ASK = (
    "envdoctor.engine.evaluate:",
    "envdoctor.engine.project_operators:",
    "envdoctor.engine.questions:",
)
_AFTER, _HERE = "envdoctor.engine.effects:", "envdoctor.collector:"
_BY_NAME, _NAMED = _ASK + "by_name", _COMPILE + "by_name"

# --- what rules alone speak of: conditions of conditions, and what a snapshot has besides facts -----------------------

ALL: Kind[str, Any] = Kind(
    "all", word=Word(reads=_READ + "several", compiles=_COMPILE + "every", decides={"all": _DECIDE + "every"})
)
ANY: Kind[str, Any] = Kind(
    "any", word=Word(reads=_READ + "several", compiles=_COMPILE + "some", decides={"any": _DECIDE + "some"})
)
NOT: Kind[str, Any] = Kind(
    "not",
    word=Word(reads=_READ + "read_condition", compiles=_COMPILE + "negated", decides={"not": _DECIDE + "negated"}),
)
PYTHON: Kind[str, Any] = Kind(
    "python", said="Python {key} {value}", public=True,
    word=Word(reads=_READ + "python", compiles=_COMPILE + "python", decides={"python": _DECIDE + "python"}, cost=1),
)  # fmt: skip
PACKAGES: Kind[str, Any] = Kind(
    "packages", said="{key} {value}", public=True,
    word=Word(
        reads=_READ + "packages", compiles=_COMPILE + "packages", cost=2,
        decides={"packages": _DECIDE + "packages", "present": _DECIDE + "present", "absent": _DECIDE + "absent"},
    ),
)  # fmt: skip
#: What else rules ask of Python.
TRAIT: Kind[str, Any] = Kind("trait", word=Word(decides={"trait": _DECIDE + "trait"}, of="python", cost=3))
START_METHOD: Kind[str, Any] = Kind(
    "start_method", said="{key} start method {value}", public=True,
    word=Word(
        reads=_PROJECT_READ + "read_start_method", compiles=_COMPILE + "start_method", cost=10, whole=True,
        decides={"start_method": _DECIDE + "start_method"}, asks=_ASK + "start_method", names=("start_method",),
    ),
)  # fmt: skip

# --- facts, those that a saved snapshot records in the order of its sections ------------------------------------------

#: By normalised name and version.
METADATA: Kind[tuple[str, str | None], Metadata] = Kind("metadata", after=_AFTER + "metadata")
#: The sections of a saved snapshot that are parts of it: the field, the type of its values, and what they are.
OF_METADATA: Mapping[str, tuple[str, str, str]] = {
    "requirements": ("requires", "texts", "Requires-Dist lines by distribution."),
    "requires_python": ("requires_python", "text", "Requires-Python by distribution."),
    "tags": ("tags", "tags", "Wheel tags by distribution."),
}
#: An environment variable; ``None`` where it is not set.
ENV: Kind[str, str | None] = Kind(
    "env", "env", about="Environment variables that rules name; null where unset.", said="{key}={value}",
    probe=_HERE + "env_fact",
    word=Word(
        reads=_READ + "env", compiles=_COMPILE + "env", decides={"env": _DECIDE + "env"}, asks=_BY_NAME, cost=5,
        states=_CELL + "texts", wanted=True,
    ),
)  # fmt: skip
#: What ``import`` resolves a name to: ``kind`` and perhaps ``origin``.
MODULE: Kind[str, Mapping[str, Any]] = Kind(
    "module", "modules", dear=True, value="module", about="What `import NAME` finds first.",
    said="import {key}: {value}", public=True, after=_AFTER + "module",
    word=Word(
        reads=_READ + "module", compiles=_NAMED, decides={"module": _DECIDE + "module"}, asks=_ASK + "module", cost=9,
        states=_CELL + "texts", wanted=True, names=("file",),
    ),
)  # fmt: skip
SYSTEM: Kind[str, Scalar] = Kind(
    "system", "system", value="scalar", about="Versions and properties of the system, such as glibc.",
    said="{key} {value}", public=True, probe=_HERE + "system_fact",
    word=Word(
        reads=_PROJECT_READ + "read_table", compiles=_COMPILE + "table", decides={"system": _DECIDE + "table"},
        asks=_BY_NAME, cost=6, states=_CELL + "table", wanted=True,
    ),
)  # fmt: skip
#: Whether a shared library is ``present`` or ``missing``.
LIBRARY: Kind[str, str] = Kind(
    "library", "libraries", about="Whether the dynamic loader finds a shared library: present or missing.",
    said="{key} {value}", public=True, probe=_HERE + "library_fact",
    word=Word(
        reads=_PROJECT_READ + "read_library", compiles=_NAMED, decides={"library": _DECIDE + "same"}, asks=_BY_NAME,
        cost=8, states=_PROJECT_READ + "read_library", wanted=True,
    ),
)  # fmt: skip
PROCESS: Kind[str, Scalar] = Kind(
    "process", "process", value="scalar", said="{key} {value}",
    about="Properties of the running process that was examined, such as threads.",
    word=Word(
        reads=_PROJECT_READ + "read_table", compiles=_COMPILE + "table", decides={"process": _DECIDE + "table"},
        asks=_BY_NAME, cost=7, states=_CELL + "table", under=OF_PROCESS,
    ),
)  # fmt: skip
#: A variable of the environment that markers are evaluated in (PEP 508).
MARKER: Kind[str, str] = Kind(
    "marker", "marker", about="Variables of PEP 508 markers.", said="{key} {value}", public=True,
    after=_AFTER + "marker",
    word=Word(
        reads=_READ + "marker", compiles=_COMPILE + "whole", decides={"marker": _DECIDE + "marker"},
        asks=_ASK + "marker", cost=4,
    ),
)  # fmt: skip
#: What installed a distribution, by its name.
INSTALLER: Kind[str, str | None] = Kind(
    "installer", "installer", about="What installed each distribution.", after=_AFTER + "installer"
)
#: What the scan of the directories stumbled over: ``leftover``, ``unreadable``, ``drift``.
INSTALLED: Kind[str, Sequence[Sequence[Any]]] = Kind(
    "installed", "installed", value="pairs", said="{value}", public=True, after=_AFTER + "installed",
    about="Defects of the installation by kind (leftover, unreadable): pairs of a path and a reason.",
    word=Word(reads=_READ + "installed"),
)  # fmt: skip
#: Whether a name can be imported from what is installed.
IMPORTABLE: Kind[str, bool] = Kind("importable", after=_AFTER + "importable")
#: What besides an installer has a say in the environment, by its prefix (see ``targets.manager``).
MANAGER: Kind[str, Mapping[str, Any]] = Kind("manager")
#: Of a project beside the target: whether it was ``named``, and whether it, or an artefact, is ``there`` at all.
PROJECT: Kind[str, bool] = Kind("project")
#: The project itself, for who reads on in it; the key is empty.
FILES: Kind[str, Any] = Kind("files")
#: What a script at the top of a project would import by a name: its ``file``, and whether it is a ``namespace``.
LOCAL_MODULE: Kind[str, Mapping[str, Any] | None] = Kind("local_module", dear=True)
#: Entries of configuration, by the glob of their file and their key.
CONFIG: Kind[tuple[str, str], Answer] = Kind(
    "config", dear=True, said="{key}: {value}",
    word=Word(
        reads=_PROJECT_READ + "read_config", compiles=_COMPILE + "config", decides={"config": _PROJECT + "config"},
        asks=_ASK + "config", cost=11, whole=True, under=OF_PROJECT, repaired="files", names=("file", "line", "key"),
    ),
)  # fmt: skip
SHADOWS: Kind[str, Answer] = Kind(
    "shadows", dear=True,
    word=Word(
        called="shadowed", of="module", reads=_PROJECT_READ + "read_shadowed", compiles=_COMPILE + "whole",
        decides={"shadowed": _PROJECT + "shadowed"}, asks=_BY_NAME, cost=12, under=OF_PROJECT, repaired="files",
        names=("file", "module"),
    ),
)  # fmt: skip
#: Every artefact of a project, and those that were named; the key is empty.
ARTIFACT: Kind[str, Answer] = Kind(
    "artifact", dear=True, said="{value}",
    word=Word(
        reads=_PROJECT_READ + "read_artifact", compiles=_COMPILE + "artifact", cost=13, whole=True, under=OF_PROJECT,
        decides={"artifact": _PROJECT + "artifact"}, asks=_ASK + "artifact", repaired="artifact",
        names=("file", "artifact", "functions", "writer", "python", "name"),
    ),
)  # fmt: skip
#: Uses of a dotted glob in a project's source.
SOURCE: Kind[str, Answer] = Kind(
    "source", dear=True, said="{value}",
    word=Word(
        reads=_PROJECT_READ + "read_source", compiles=_COMPILE + "source", decides={"source": _PROJECT + "source"},
        asks=_ASK + "source", cost=14, whole=True, under=OF_PROJECT, repaired="files",
        names=("file", "line", "call", "name"),
    ),
)  # fmt: skip

#: Every row of this file.
KINDS: tuple[Kind[Any, Any], ...] = tuple(one for one in vars().values() if type(one) is Kind)
#: What a saved snapshot records by key, in the order of its sections.
RECORDED = tuple(kind for kind in KINDS if kind.section)
#: The words of rules.
WORDS: Mapping[str, Kind[Any, Any]] = {one.word.called or one.name: one for one in KINDS if one.word.reads}
#: The operators of compiled conditions, the cheapest first.
OPERATORS: Mapping[str, Kind[Any, Any]] = {
    name: one for one in sorted(KINDS, key=lambda one: one.word.cost) for name in one.word.decides
}
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
