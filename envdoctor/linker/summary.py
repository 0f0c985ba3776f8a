"""The summary of one module, as plain values that :mod:`marshal` carries.

A summary is a mapping with these keys, each left out where it is empty:

``stars``      modules whose names it imports with ``import *``
``dynamic``    reasons for which names may appear that are written nowhere
``path``       true where its submodules may be elsewhere
``loader``     true where it adds to ``sys.meta_path``
``paths``      true where it changes ``sys.path``
``checks``     true where code at its top raises an exception, or calls what checks something
``fills``      true where it sets attributes on modules that it looks up in ``sys.modules``
``fills_given``  true where a function sets attributes of any name on a module that it is given
``stores``     ``[module, path]`` of attributes that it sets on others; ``*`` for any
``provides``   modules that it puts into ``sys.modules``
``hints``      names that it asks for with ``hasattr`` or ``getattr``
``refs``       what it uses from others: ``[module, path, line, flags, try, handler, own, call]``
``objects``    what it asks of objects: ``[makings, "", line, flags, try, handler, 0, call]``, a making as in ``types``
``sets``       names of attributes that it sets on what is not ``self``
``raises``     ``[line, exception, what it says]`` where importing it surely raises
``stand_ins``  modules that it imports because of the version of Python, each with its line
``forms``      what Python refuses: ``[form, requirement for Python, line, flags, try, handler, 0, exception, wanted]``,
               if ``wanted``, a ``module:path`` or nothing, is a class without a hash
``around``     the handler that contains a ``try``
``error``      ``[kind, line, reason]`` where it could not be read
``definitions``  packed by itself, unpacked where somebody asks:
    ``names``      what the module binds: ``name -> value``, a value being one of those below
    ``all``        the names of ``__all__``, or ``None`` where it is not a plain list
    ``classes``    ``[bases, attributes, open, method -> signature, decorated]``
    ``functions``  signatures
    ``types``      what functions, fields and names are made of: ``f1()``, ``c1.name()``, ``c1.name`` or ``v.name`` ->
                   makings ``module:path``, with an empty module for this one, ``self.path``, or ``?`` for anything

A value is ``0`` (something), ``["i", module, path]`` (imported; an empty module is this one), ``["c", number]`` (a
class), or ``["f", number]`` (a function). A path is dotted; the step ``()`` means an instance of a class. ``try``
and ``handler`` number the statement around a reference; a negative handler is its ``else``. ``own`` is how many steps
of the path are in the import statement already. A signature is
``[positional-only, names, defaults, *args, keyword-only, required of those, **kwargs]`` and a call
``[positional, keywords, exact]``, where ``exact`` is false if stars hide further arguments; a fourth item says that it
is one of an own class, so that it is known only where the base that has its constructor is a class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

Summary = dict[str, Any]


class Reference(NamedTuple):
    """A row of ``refs``, read: what a module uses from another."""

    module: str
    path: str
    line: int
    flags: int
    attempt: int
    handler: int
    own: int
    call: Sequence[Any] | None


class ObjectUse(NamedTuple):
    """A row of ``objects``, read: what a module asks of an object that one of some makings makes."""

    makings: Sequence[str]
    path: str
    line: int
    flags: int
    attempt: int
    handler: int
    own: int
    call: Sequence[Any] | None


class Form(NamedTuple):
    """A row of ``forms``, read: what Python refuses, the requirement for it, and what is raised.

    ``wanted`` is what has to be a class without a hash; empty for nothing.
    """

    form: str
    requirement: str
    line: int
    flags: int
    attempt: int
    handler: int
    own: int
    exception: str
    wanted: str


class ClassRecord(NamedTuple):
    """A row of ``classes``, read: what a module's class is derived from and has, and what else may give it more."""

    bases: Sequence[Any]
    attributes: Container[str]
    open: Any
    methods: Mapping[str, Any]
    decorated: Any


#: Which exceptions around a reference are caught.
CATCHES_IMPORT, CATCHES_MODULE, CATCHES_ATTRIBUTE, CATCHES_TYPE, CATCHES_SYNTAX = 1, 2, 4, 8, 16
CATCHES_ALL = 31
#: The reference is only reached under a condition that could not be decided, or when a function is called.
CONDITIONAL, LATER = 32, 64
#: The reference is only reached where a script is the program that runs, or under a condition that it decides itself.
PROGRAM = 512
#: What it is: an import statement; a name of one.
IMPORTS, FROM = 128, 256
#: A reason for which a module may have any name.
WRITES_GLOBALS = "it writes names into globals()"
#: The step of a path that makes an instance.
INSTANCE = "()"
#: The step from an object of a base class to what ``super()`` answers there.
INHERITED = "(super)"

_CAUGHT = {
    "ImportError": CATCHES_IMPORT | CATCHES_MODULE,
    "ModuleNotFoundError": CATCHES_MODULE,
    "AttributeError": CATCHES_ATTRIBUTE,
    "TypeError": CATCHES_TYPE,
    "SyntaxError": CATCHES_SYNTAX,
    "Exception": CATCHES_ALL,
    "BaseException": CATCHES_ALL,
}


def caught(name: str) -> int:
    """The flags of what a handler for an exception catches."""
    return _CAUGHT.get(name, 0)
