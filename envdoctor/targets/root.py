"""Read the facts of a Python from a file system that is not running: a container's root or an unpacked image.

Nothing in it is executed. Every path is resolved inside the root: an absolute link there means the root of that file
system, not of this machine. Where interpreters are, how a version becomes a directory name, and in which order
``site`` adds directories: the documentation of ``site`` and ``venv``, and the ``site.py`` of CPython and of Debian.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys

from envdoctor import collector
from envdoctor.collector import NotKnownError, find_library, find_program, libstdcxx_in
from envdoctor.errors import TargetError
from envdoctor.facts import LIBRARY, MODULE, PROGRAM, SYSTEM
from envdoctor.model import Unknown
from envdoctor.probes.file_system import Root, glibc_version, machine_and_loader, musl_version
from envdoctor.targets.assemble import recorded
from envdoctor.targets.marker_environment import environment
from envdoctor.targets.root_interpreters import base_of, choose, interpreters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from envdoctor.facts import Kind
    from envdoctor.targets.assemble import Ask
    from envdoctor.targets.root_interpreters import Interpreter

#: Where the user that a container runs as by default installs for itself.
USER_BASE = "/root/.local"
#: Where programs are looked for, if nothing tells.
_PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_RUN = "a file system does not tell how it will be run"
#: Facts of the system that files rarely or never show, and why.
_NOT_IN_FILES = (
    *((key, "no file of the C library tells its version") for key in ("glibc", "musl")),
    *((key, _RUN) for key in ("container", "shm", "open-files", "memory", "nvidia-driver", "cuda", "gpu")),
    ("openssl", "only a running interpreter tells which one it uses"),
)


def facts_of_root(directory: str, python: str | None = None) -> dict[str, Any]:
    """Return the facts of one interpreter, as :func:`facts_of` does.

    ``python`` chooses among several interpreters in the usual places by a path inside the root or by a name;
    ``other_interpreters`` lists those that were not chosen. Raises :class:`~envdoctor.errors.TargetError` where there
    is no directory or no interpreter.
    """
    root = open_root(directory)
    found = list(interpreters(root, python))
    chosen = choose(root, found, python)
    others = [{"executable": other.executable, "version": other.minor} for other in found if other is not chosen]
    return {**facts_of(root, chosen), "other_interpreters": others}


def facts_of(root: Root, chosen: Interpreter) -> dict[str, Any]:
    """Return facts in the shape of :func:`envdoctor.collector.collect`, as far as files show them.

    ``paths`` and ``stdlib`` can be opened from here, while ``python`` speaks of paths inside the root; ``root`` joins
    the two.
    """
    standard, sites = _library(root, chosen), _sites(root, chosen)
    paths, coded = _search_path(root, standard, sites)
    machine, loader = _binary(root, chosen)
    numbers = [int(number) for number in chosen.minor.split(".")]
    user = [root.host(site) for site in sites if site.startswith(USER_BASE) and root.is_dir(site)]
    facts: dict[str, Any] = {
        "collector": collector.COLLECTOR,
        "root": root.directory,
        "python": _python(root, chosen),
        "platform": {"system": "linux", **({"machine": machine} if machine else {})},
        "paths": paths,
        "stdlib": root.host(standard) if standard else None,
        "user_site": user[0] if user else None,
        "start_method": {"default": collector.default_start_method(numbers, "linux")},
        "modules": {},
        "system": _system(root, machine, loader),
    }
    # without what only a kernel tells
    facts["marker"] = environment(facts["python"]["version"], "linux", machine)
    facts["unknown"] = [{"fact": fact, "reason": reason} for fact, reason in _unknown(root, facts, coded)]
    return facts


def module_in_root(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """What ``import NAME`` would find first there, in the shape of :func:`envdoctor.collector.module_fact`.

    ``facts`` are those of :func:`facts_of_root`. Raises :class:`~envdoctor.collector.NotKnownError` where files do
    not show it: for a dotted name, and for one that start-up code may provide.
    """
    if "." in name or facts["stdlib"] is None:
        raise collector.NotKnownError(f"files alone do not tell where {name} comes from")
    abi = os.path.basename(facts["stdlib"])[len("python") :].replace(".", "")
    abi += "m" if abi in ("36", "37") else ""
    native = [f".cpython-{abi}-{facts['platform'].get('machine')}-linux-{libc}.so" for libc in ("gnu", "musl")]
    suffixes = [*native, ".abi3.so", ".so", ".py", ".pyc"]
    if name in sys.builtin_module_names:  # nearly the same in all versions
        return {"kind": "standard-library", "origin": None}
    found = collector.module_on_paths(name, facts["paths"], facts["stdlib"], suffixes)
    if found is None and any(note["fact"] == "paths" for note in facts["unknown"]):
        raise collector.NotKnownError(f"no file provides {name}, but code that was not executed may")
    return found or {"kind": "missing", "origin": None}


def open_root(directory: str) -> Root:
    """The file system below a directory. Raises :class:`~envdoctor.errors.TargetError` where there is none."""
    if not os.path.isdir(directory):
        what = "is not a directory" if os.path.exists(directory) else "does not exist"
        raise TargetError(f"{directory} {what}. Give --root the directory that holds usr, opt and the like.")
    inner = os.path.join(directory, "rootfs")  # an unpacked bundle has its file system there
    return Root(inner if os.path.isdir(inner) else directory)


# --- what is known of it --------------------------------------------------------------------------------------------


def _library(root: Root, interpreter: Interpreter) -> str | None:
    base = base_of(root, interpreter)
    places = [f"{base}/{lib}/{interpreter.name}" for lib in ("lib", "lib64")]
    complete = [place for place in places if root.is_file(place + "/os.py")]
    return next(iter(complete + [place for place in places if root.is_dir(place)]), None)


def _sites(root: Root, interpreter: Interpreter) -> list[str]:
    """The site directories in the order of ``site.main``: the environment's, the user's, the installation's."""
    own = []
    if interpreter.settings:
        own = [f"{interpreter.prefix}/{lib}/{interpreter.name}/site-packages" for lib in ("lib64", "lib")]
        if interpreter.settings.get("include-system-site-packages", "true").lower() != "true":
            return own
    base, name = base_of(root, interpreter), interpreter.name
    user = f"{USER_BASE}/lib/{name}/site-packages"
    if base == "/usr" and root.is_dir("/usr/lib/python3/dist-packages"):  # Debian and what derives from it
        debian = ("local/lib/" + name, "lib/python3", "lib/" + name)
        return [*own, user, *(f"/usr/{place}/dist-packages" for place in debian)]
    places = ["lib64/" + name, "lib/" + name]
    if base == "/usr" and root.is_dir("/usr/lib64/" + name):  # Fedora and openSUSE
        places = ["local/lib64/" + name, "local/lib/" + name, *places]
    return [*own, user, *(f"{base}/{place}/site-packages" for place in places)]


def _search_path(root: Root, standard: str | None, sites: list[str]) -> tuple[list[str], list[str]]:
    """The entries of ``sys.path`` as this machine sees them, and the ``.pth`` files with lines that would be run."""
    paths: list[str] = []
    coded: list[str] = []
    for entry in [standard, standard + "/lib-dynload"] if standard else []:
        _add(root, paths, entry)
    for site in sites:
        if _add(root, paths, site):
            for name in root.names(site):
                if name.endswith(".pth") and not name.startswith("."):
                    _add_listed(root, paths, coded, f"{site}/{name}")
    return paths, coded


def _add(root: Root, paths: list[str], path: str) -> bool:
    is_new = (root.is_dir(path) or root.is_file(path)) and root.host(path) not in paths
    if is_new:
        paths.append(root.host(path))
    return is_new


def _add_listed(root: Root, paths: list[str], coded: list[str], path: str) -> None:
    """Add what the lines of a ``.pth`` file name; take note of it where it has lines to run."""
    for line in root.text(path).splitlines():
        entry = line.rstrip()
        if entry.startswith(("import ", "import\t")):
            coded += [path] if path not in coded else []
        elif entry and not entry.startswith("#"):
            _add(root, paths, entry if entry.startswith("/") else f"{os.path.dirname(path)}/{entry}")


def _python(root: Root, interpreter: Interpreter) -> dict[str, Any]:
    return {
        "version": _version(root, interpreter) or interpreter.minor,
        "implementation": "cpython",
        "free_threaded": interpreter.suffix == "t",
        "executable": interpreter.executable,
        "prefix": interpreter.prefix,
        "base_prefix": base_of(root, interpreter),
    }


def _version(root: Root, interpreter: Interpreter) -> str | None:
    """The full version: by the headers, by the text in the program or its library, by the environment's settings."""
    base, minor = base_of(root, interpreter), re.escape(interpreter.minor)
    full = minor + r"\.\d+(?:(?:a|b|rc)\d+)?"
    stated = set[str]()
    for name in root.names(base + "/include"):
        if name.startswith(interpreter.name):
            stated |= root.search(f"{base}/include/{name}/patchlevel.h", rf'PY_VERSION\s+"({full})\+?"'.encode())
    for program in (interpreter.executable, *_libraries(root, base, interpreter.name)):
        if not stated:
            stated = root.search(program, rf"(?<![\d.])({full})\+?\0".encode())
    if len(stated) == 1:
        return stated.pop()
    setting = interpreter.settings.get("version_info") or interpreter.settings.get("version") or ""
    match = re.fullmatch(rf"({full})(?:\.final\.0)?\+?", setting)
    return match.group(1) if match else None


def _libraries(root: Root, base: str, name: str) -> Iterator[str]:
    """The files that may be the library of an interpreter."""
    for place in [base + "/lib", *(f"/usr/lib/{name}" for name in root.names("/usr/lib") if "-linux-" in name)]:
        yield from (f"{place}/{file}" for file in root.names(place) if file.startswith("lib" + name))


def _binary(root: Root, interpreter: Interpreter) -> tuple[str | None, str]:
    """The machine that the interpreter is built for, and the loader that it names, from its ELF header."""
    for program in (interpreter.executable, f"{base_of(root, interpreter)}/bin/{interpreter.name}", "/bin/sh"):
        head = root.read(program)
        if head.startswith(b"\x7fELF") and len(head) > 64:  # noqa: PLR2004 -- the size of the header
            return machine_and_loader(head)
    return None, ""


def _system(root: Root, machine: str | None, loader: str) -> dict[str, Any]:
    """The facts of the C library, and whether a running container has left its mark."""
    facts: dict[str, Any] = {}
    if "/ld-musl-" in loader:
        musl = musl_version(root, loader)
        facts = {"glibc": None, "musl": musl} if musl else {"glibc": None}
    elif loader:
        glibc = glibc_version(root, loader, machine)
        facts = {"glibc": glibc, "musl": None} if glibc else {"musl": None}
    if root.is_file("/.dockerenv") or root.is_file("/run/.containerenv"):
        facts["container"] = True
    for key, probe in (("nvidia-driver", collector.nvidia_driver), ("gpu", collector.gpu_models)):
        with contextlib.suppress(collector.NotKnownError, OSError):
            found = probe(root.host)
            facts.update({key: found} if found else {})  # without one it may be put there when it is run
    return facts


def _unknown(root: Root, facts: dict[str, Any], coded: list[str]) -> Iterator[tuple[str, str]]:
    """What files do not show, as fact and reason."""
    if facts["python"]["version"].count(".") == 1:
        yield "python.version", "no file tells the third number of the version"
    if "machine" not in facts["platform"]:
        yield "platform.machine", "the interpreter is not a program for a machine that is known here"
    if facts["stdlib"] is None:
        yield "stdlib", "the installation that the environment was made from is not in this file system"
    if coded:
        yield "paths", f"these run code at start-up, which was not executed: {', '.join(coded)}"
    for path in sorted(set(root.denied)):
        yield "paths" if "-packages" in path else "interpreters", f"{path} is not readable by this user"
    yield "env", "environment variables are not part of a file system"
    for marker in ("platform_release", "platform_version"):
        yield f"marker.{marker}", "a file system has no kernel"
    for key, reason in _NOT_IN_FILES:
        if key not in facts["system"]:
            yield f"system.{key}", reason


def asks_of_root(facts: dict[str, Any], variables: Mapping[str, str] | None = None) -> dict[Kind[Any, Any], Ask]:
    """Answers from the facts of a root file system and from its files.

    ``variables`` are environment variables that something runs there with.
    """
    root, python = Root(facts["root"]), facts["python"]
    search = (variables or {}).get("LD_LIBRARY_PATH", "")
    known = recorded(facts)

    def module(name: str) -> Any:
        try:
            return module_in_root(facts, name)
        except NotKnownError as error:
            return Unknown(reason=str(error))

    def found(name: str) -> str | None:
        return find_library(name, search, python["base_prefix"], python["executable"], root.host)

    def system(key: str) -> Any:
        if key != "libstdcxx":
            return known[SYSTEM](key)
        library = found("libstdc++.so.6")
        try:
            return libstdcxx_in(root.host(library)) if library else None
        except NotKnownError as error:
            return Unknown(reason=str(error))

    def library(name: str) -> str:
        return "present" if found(name) else "missing"

    def program(name: str) -> str:
        folders = (variables or {}).get("PATH", _PROGRAMS).split(":")
        return find_program(name, [os.path.dirname(python["executable"]), *folders], root.host)

    return {**known, MODULE: module, SYSTEM: system, LIBRARY: library, PROGRAM: program}
