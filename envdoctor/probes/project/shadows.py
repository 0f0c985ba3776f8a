"""Modules of a project that would be imported instead of others of their name.

A script's own directory comes first on ``sys.path``, so a file beside it hides every module of its name but those that
are built in, frozen, or loaded before the script begins; what not every interpreter has as a file varies. A module
inside a package hides nothing. A directory counts only where it plainly contains a script: the top of the project, and
those with a file with a ``__main__`` guard or one that does something when it is run. In doubt nothing is said.
"""

from __future__ import annotations

import ast
import os
import re
import sys

from envdoctor.probes.project.shadow_names import lacking
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.found import LocalModule, Shadow
    from envdoctor.probes.project.tree import Files

_GUARD = re.compile(rb"^if\b[^\n]{0,40}\b__name__\b[^\n]{0,40}['\"]__main__['\"]", re.MULTILINE)
#: Frozen into the interpreter, or loaded before a script begins.
_LOADED = """
    __future__ __main__ abc codecs encodings genericpath io ntpath os posixpath runpy site stat sysconfig zipimport
"""
#: Compiled into every interpreter.
_BUILT_IN = "atexit builtins errno faulthandler gc itertools marshal msvcrt nt posix symtable sys time winreg"
#: Compiled into some interpreters, a file of others, or of newer ones alone: the interpreter tells.
_VARY = """
    annotationlib array binascii cmath fcntl grp math mmap pwd pyexpat readline select spwd syslog tomllib unicodedata
    zlib
"""
VARYING = frozenset(_VARY.split())
#: Not in the standard library of every supported Python, or rather programs than libraries.
_NOT_EVERYWHERE = """
    aifc annotationlib antigravity asynchat asyncore audioop binhex cgi cgitb chunk compression crypt distutils
    formatter idlelib imghdr imp lib2to3 macpath mailcap msilib nis nntplib ossaudiodev parser pipes smtpd sndhdr sunau
    symbol telnetlib test this tomllib turtledemo uu xdrlib
"""
_NOT_HIDDEN = frozenset((_LOADED + _BUILT_IN + _NOT_EVERYWHERE).split())
#: Directories whose files are read or collected by another program rather than run.
_NOT_SCRIPTS = frozenset(("doc", "docs", "test", "tests", "testing", "testdata", "test_data", "fixtures", "data"))
_RUN_BY_OTHERS = frozenset(("conf.py", "setup.py", "conftest.py", "noxfile.py", "tasks.py", "__init__.py"))
#: Files beside a module that are scanned for a script.
_MOST_BESIDE = 200


def shadows(project: Files) -> list[Shadow]:
    """The modules of the standard library that files of the project hide from its scripts."""
    by_directory: dict[str, list[str]] = {"": []}
    for name in project.files():
        if name.endswith(".py"):
            by_directory.setdefault(name.rpartition("/")[0], []).append(name)
    names = _standard()
    found: list[Shadow] = []
    for directory in sorted(by_directory):
        hiding = sorted(_hiding(directory, by_directory, names))
        if hiding and _holds_scripts(project, directory, by_directory, {file for _, file in hiding}):
            for module, file in hiding:
                lacks = lacking(project, module, file, _readers(directory, by_directory))
                found.append({"module": module, "file": file})
                if lacks:
                    found[-1]["lacks"] = lacks
                if module in VARYING:
                    found[-1]["varies"] = True
    return found


def _readers(directory: str, by_directory: dict[str, list[str]]) -> list[str]:
    """The files of a directory and of the packages in it, which import what it holds."""
    found, pending = [], [directory]
    while pending:
        at = pending.pop()
        found += by_directory[at]
        inside = (one for one in by_directory if one and one.rpartition("/")[0] == at and one != at)
        pending += [one for one in inside if f"{one}/__init__.py" in by_directory[one]]
    return found


def local_module(project: Files, name: str) -> LocalModule | None:
    """The file that a script at the top of a project would import by this name, ahead of what is installed.

    A directory without ``__init__.py`` is a namespace, and comes behind
    everything that is installed.
    """
    if not name.isidentifier():
        return None
    for file, at in ((f"{name}/__init__.py", name), (f"{name}.py", f"{name}.py")):
        if project.is_file(file):
            return {"file": at, "namespace": False}
    return {"file": name, "namespace": True} if project.is_directory(name) else None


def _hiding(directory: str, by_directory: dict[str, list[str]], names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Modules and packages of a directory that have the name of a standard one."""
    prefix = f"{directory}/" if directory else ""
    own = set(by_directory[directory])
    for module in names:
        package = f"{prefix}{module}"
        if f"{package}/__init__.py" in by_directory.get(package, ()):
            yield module, package
        elif f"{package}.py" in own:
            yield module, f"{package}.py"


def _holds_scripts(project: Files, directory: str, by_directory: dict[str, list[str]], hiding: set[str]) -> bool:
    """Whether a directory contains scripts beside the modules in question."""
    if _is_in_package(directory, by_directory):
        return False
    if not directory:
        return True
    if _NOT_SCRIPTS & {part.lower() for part in directory.split("/")}:
        return False
    beside = [name for name in by_directory[directory] if name not in hiding]
    texts = [project.read(name) for name in beside[:_MOST_BESIDE] if name.rpartition("/")[2] not in _RUN_BY_OTHERS]
    return any(_GUARD.search(text) for text in texts) or any(_does_something(text) for text in texts)


def _is_in_package(directory: str, by_directory: dict[str, list[str]]) -> bool:
    """Whether a directory, or one above it in the project, is a package."""
    names = directory.split("/") if directory else []
    above = ["/".join(names[:number]) for number in range(len(names) + 1)]
    return any((f"{one}/__init__.py" if one else "__init__.py") in by_directory.get(one, ()) for one in above)


def _does_something(text: bytes) -> bool:
    """Whether a file calls something for its effect when it is run, and imports nothing as a part of a package does."""
    tree = parsed(text)
    body = tree.body if tree else []
    if any(isinstance(one, ast.ImportFrom) and one.level for one in body):
        return False
    return any(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in body)


def _standard() -> frozenset[str]:
    """The names of standard modules that a file can hide."""
    names: frozenset[str] = getattr(sys, "stdlib_module_names", None) or _listed()
    names -= _NOT_HIDDEN | frozenset(sys.builtin_module_names)
    return frozenset(name for name in names if name[0] != "_") | VARYING


def _listed() -> frozenset[str]:
    """The names of standard modules as their directories list them, for Python 3.9."""
    directory = os.path.dirname(os.__file__)
    found = set()
    for at in (directory, os.path.join(directory, "lib-dynload")):
        for name in os.listdir(at) if os.path.isdir(at) else ():
            module, _, suffix = name.partition(".")
            if module.isidentifier() and (
                suffix.endswith(("py", "so", "pyd")) or os.path.isfile(f"{at}/{name}/__init__.py")
            ):
                found.add(module)
    return frozenset(found)
