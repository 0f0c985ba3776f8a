"""The types of facts that are found in files: for type checkers, and for what is read back of a saved snapshot.

At run time they are mappings, which processes send each other and caches keep as they are.
"""

from __future__ import annotations

from typing import Any, Optional, TypedDict, Union


class Module(TypedDict, total=False):
    """What ``import`` resolves a name to; ``kind`` is always there."""

    kind: str
    origin: Optional[str]
    distribution: str


class LocalModule(TypedDict):
    """What a script at the top of a project would import by a name."""

    file: str
    namespace: bool


class Hiding(TypedDict):
    """A file of a project, and the module that it hides."""

    module: str
    file: str


class Shadow(Hiding, total=False):
    """Of it, ``lacks`` are names that the project takes of the module and the file does not have.

    Where the module ``varies``, some interpreters have it built in, or do not have it.
    """

    lacks: list[str]
    varies: bool


class Manager(TypedDict, total=False):
    """What besides an installer manages an environment (see ``targets.manager``)."""

    tool: str
    apt: bool
    directory: str
    direct: Optional[dict[str, list[str]]]
    admitted: set[str]


class _Entry(TypedDict):
    file: str
    key: str


class Setting(_Entry, total=False):
    """An entry of configuration, by its dotted key.

    ``written`` is what of its line states it: up to the value, the value, and whether that is the whole line; it is
    there for formats that are edited so, and ``None`` where no edit of one line changes this entry alone.
    """

    line: Optional[int]
    value: Any
    written: Optional[tuple[str, str, bool]]


class Carried(TypedDict, total=False):
    """Something that an argument carries; ``name`` is always there.

    ``file`` is where the ``line`` is (of a notebook the ``cell`` and the ``row`` in it), if it is another, and what is
    ``by_value`` travels only with who pickles a program's own functions and classes by value. ``kept_by`` are calls of
    elsewhere that it was given to: it travels if what they made keeps it.
    """

    name: str
    via: str
    line: Optional[int]
    cell: int
    row: int
    file: str
    by_value: bool
    kept_by: list[str]


class Lack(TypedDict, total=False):
    """A name that a function reads and only the program sets, and where; ``made_by`` of one that its file makes.

    ``by`` is the last segment of what sets it; ``copied`` says that it is a method of an object, of which workers get a
    copy, ``lost`` that the function itself changes it there, for nobody else.
    """

    name: str
    by: str
    copied: bool
    lost: bool
    made_by: str
    file: str
    line: Optional[int]
    cell: int
    row: int


#: What an argument is: its kinds, its form as it is written, what made it, the names it resolves to, and, where they
#: are known, its value, or the ``values`` in a sequence, or the text that it ``begins`` with, or the entries of a
#: dictionary, which is ``open`` where it may have others. ``maker`` is the call that made it, with its constants,
#: ``itself`` what made it where that is no list, ``lacks`` and ``results`` are of a function. ``parameter`` says ``of``
#: which function of a module it is one, ``at`` which place and by which ``name``. ``provided`` says that the code
#: chooses it by the release that there is.
Argument = TypedDict(
    "Argument",
    {
        "is": list[str],
        "form": list[str],
        "made_by": list[str],
        "names": list[str],
        "carries": list[Carried],
        "text": str,
        "value": Union[str, bool, int, float, None],
        "values": list[Union[str, bool, int, float, None]],
        "begins": list[str],
        "entries": dict[str, Any],
        "open": bool,
        "maker": dict[str, Any],
        "itself": list[str],
        "provided": bool,
        "lacks": list[Lack],
        "runs": list[str],
        "results": list[Carried],
        "parameter": dict[str, Any],
    },
    total=False,
)


class _Name(TypedDict):
    kind: str
    name: str
    file: str


class Use(_Name, total=False):
    """A use of a name in source: an ``import``, a ``name`` or a ``call``, which alone has the last six fields.

    ``own`` says that the name is that of a module of the project, and not of what is installed under it. ``catches``
    names the exceptions that are caught around it, ``on`` is what a method is called on, and ``within`` the function or
    method around the call.
    """

    line: Optional[int]
    cell: int
    row: int
    guarded: bool
    excused: bool
    own: bool
    systems: list[tuple[str, bool]]
    text: str
    literals: list[Any]
    arguments: list[Argument]
    keywords: dict[str, Argument]
    open: bool
    on: Argument
    within: str
    catches: list[str]


class Code(TypedDict):
    """A function in an artefact: where, and the Pythons that its bytecode is for."""

    where: Optional[str]
    name: Optional[str]
    python: Optional[str]
    constant: Optional[float]


class Writer(TypedDict, total=False):
    """The environment that wrote an artefact, as far as that shows it."""

    python: str
    os: str
    packages: dict[str, str]


class _File(TypedDict):
    file: str
    kind: str


class Artifact(_File, total=False):
    """A file that a program loads: ``file`` and ``kind``, and its own metadata."""

    protocol: Optional[int]
    names: list[str]
    written_by: Writer
    code: list[Code]
    paths: list[str]
    functions: dict[str, Optional[float]]
    states: dict[str, list[str]]
    gaps: list[str]
