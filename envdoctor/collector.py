"""Facts about a Python interpreter, collected by that interpreter itself.

One file with two lives. ``envdoctor.targets.interpreter`` sends its source to another interpreter, which may be any
Python from 3.6 on; and the plain path imports it into envdoctor's own process, where every import costs. Hence: the
standard library only, the grammar of Python 3.6, and nothing but ``os`` and ``sys`` at the top.

The guest is polite: it imports no inspected package, writes nothing, and a probe that fails becomes an unknown fact
with its reason and leaves the others alone. A new fact is one function and one row in a table at the end.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Facts = dict[str, Any]
    Host = Callable[[str], str]

#: The shape of what :func:`collect` returns.
COLLECTOR = 1


class NotKnownError(ValueError):
    """A fact that cannot be known here; the text is the reason."""


# --- the interpreter ------------------------------------------------------------------------------------------------


def python_facts() -> "Facts":
    """``version`` (PEP 440, in full), ``implementation``, ``free_threaded``, ``debug``, ``executable`` and prefixes."""
    info = sys.version_info
    version = ".".join(map(str, info[:3]))
    if info.releaselevel != "final":
        version += {"alpha": "a", "beta": "b"}.get(info.releaselevel, "rc") + str(info.serial)
    flags = getattr(sys, "abiflags", "")  # not everywhere on Windows, so the banner is read too
    return {
        "version": version,
        "implementation": sys.implementation.name,
        "free_threaded": "t" in flags or "free-threading" in sys.version,
        "debug": hasattr(sys, "gettotalrefcount"),
        "executable": sys.executable or None,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
    }


def platform_facts() -> "Facts":
    """``system``, spelled as ``sys.platform``, and ``machine``, spelled as ``platform.machine()``."""
    return {"system": sys.platform, "machine": _uname()[3]}


def marker_facts() -> "Facts":
    """Every environment marker of PEP 508, as ``packaging.markers.default_environment`` computes them."""
    system, release, version, machine = _uname()
    info = sys.implementation.version
    implementation_version = "{0.major}.{0.minor}.{0.micro}".format(info)
    if info.releaselevel != "final":
        implementation_version += info.releaselevel[0] + str(info.serial)
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": implementation_version,
        "os_name": os.name,
        "platform_machine": machine,
        "platform_release": release,
        "platform_system": system,
        "platform_version": version,
        "python_full_version": sys.version.split()[0],
        "platform_python_implementation": _implementation(),
        "python_version": ".".join(map(str, sys.version_info[:2])),
        "sys_platform": sys.platform,
    }


def _uname() -> "tuple[str, ...]":
    """System, release, version and machine, as the ``platform`` module words them; it costs too much to ask it."""
    if sys.platform in ("linux", "darwin"):
        names = os.uname()
        answer = names.sysname, names.release, names.version, names.machine
        return tuple("" if name == "unknown" else name for name in answer)
    platform = _import_standard("platform")
    return platform.system(), platform.release(), platform.version(), platform.machine()


def _implementation() -> str:
    if sys.implementation.name == "cpython":
        return "CPython"
    return str(_import_standard("platform").python_implementation())


def default_start_method(version: "Sequence[int] | None" = None, system: "str | None" = None) -> str:
    """How ``multiprocessing`` starts a process by default, by ``(major, minor)`` and platform.

    Source: the "Contexts and start methods" part of the documentation of ``multiprocessing``, versions 3.6 to 3.14.
    """
    system = sys.platform if system is None else system
    version = sys.version_info[:2] if version is None else tuple(version[:2])
    if system == "win32":
        return "spawn"
    if system == "darwin":
        return "spawn" if version >= (3, 8) else "fork"
    return "forkserver" if version >= (3, 14) else "fork"


def start_method_facts() -> "Facts":
    """``default``: how this interpreter starts the processes of ``multiprocessing`` unless a program says otherwise."""
    return {"default": default_start_method()}


# --- where it imports from ------------------------------------------------------------------------------------------


def import_paths(search: "Sequence[str] | None" = None) -> "list[str]":
    """The entries of ``sys.path``, absolute and in order, without the one that belongs to the running script."""
    entries = [entry for entry in (sys.path if search is None else search) if isinstance(entry, str)]
    if entries and _is_of_script(entries[0]):
        script = os.path.abspath(entries.pop(0))
        if os.path.isfile(script):  # a program in a zip file brings entries from inside itself
            entries = [entry for entry in entries if not os.path.abspath(entry).startswith(script + os.sep)]
    paths = []
    for path in map(os.path.abspath, filter(None, entries)):
        if path not in paths:
            paths.append(path)
    return paths


def _is_of_script(entry: str) -> bool:
    """Whether the first entry of ``sys.path`` was put there for the program that runs, not for the environment."""
    if not entry:
        return True
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        return False
    program = sys.argv[0] if getattr(sys, "argv", None) else ""
    if program in ("", "-c"):
        return False
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None and spec.name != "__main__" and os.path.abspath(entry) == os.getcwd():
        return True  # python -m name
    owners = (program, program + ".exe", os.path.dirname(program), os.path.dirname(os.path.realpath(program)))
    return os.path.abspath(entry) in [os.path.abspath(owner) for owner in owners]


def stdlib_path() -> str:
    """The directory (or zip file) that the standard library is imported from."""
    if not getattr(os, "__file__", None):
        raise NotKnownError("this interpreter does not say where its standard library is")
    return os.path.dirname(os.path.abspath(os.__file__))


def user_site() -> "str | None":
    """The user's own site directory, or ``None`` where this interpreter does not look there."""
    site = sys.modules.get("site")
    return getattr(site, "USER_SITE", None) if getattr(site, "ENABLE_USER_SITE", False) else None


def kind_of_entry(entry: str, stdlib: str) -> str:
    """What an entry of ``sys.path`` contains: ``standard-library``, ``site-packages`` or ``local``."""
    parts = entry.replace("\\", "/").split("/")
    if "site-packages" in parts or "dist-packages" in parts:
        return "site-packages"
    zipped = "python{}{}.zip".format(*sys.version_info[:2])
    entry, stdlib = os.path.normcase(entry), os.path.normcase(stdlib)
    if entry == stdlib or entry.startswith(stdlib + os.sep) or parts[-1] in ("lib-dynload", zipped):
        return "standard-library"
    if entry == os.path.normcase(os.path.join(sys.base_prefix, "DLLs")):
        return "standard-library"
    return "local"


# --- what a name resolves to ----------------------------------------------------------------------------------------


def module_fact(name: str, paths: "Sequence[str] | None" = None) -> "Facts":
    """What ``import NAME`` would find first: ``kind`` and ``origin``. Nothing is imported.

    ``kind`` is ``standard-library`` (``origin`` is ``None`` for what is compiled in), ``site-packages``, ``local``
    (any other entry of ``sys.path``) or ``missing``. Raises :class:`NotKnownError` for a dotted name, whose parent
    would have to be imported.
    """
    if "." in name:
        raise NotKnownError("telling where {} comes from would import {}".format(name, name.rpartition(".")[0]))
    paths = import_paths() if paths is None else paths
    import _imp  # built in, and always loaded

    if name in sys.builtin_module_names or _imp.is_frozen(name):
        return {"kind": "standard-library", "origin": None}
    found = module_on_paths(name, paths, stdlib_path(), _suffixes())
    for place, text in [] if found else start_up(paths):
        if name in text:
            raise NotKnownError("no file provides it, but {}, which Python runs when it starts, may".format(place))
    return found or {"kind": "missing", "origin": None}


def _suffixes() -> "list[str]":
    import _imp

    return [*_imp.extension_suffixes(), ".py", ".pyc"]


def module_on_paths(name: str, paths: "Sequence[str]", stdlib: str, suffixes: "Sequence[str]") -> "Facts | None":
    """The first module, package or namespace of that name, in the shape of :func:`module_fact`, or ``None``.

    ``suffixes`` are the endings of a module's file in the order in which the interpreter tries them.
    """
    namespace = None
    for entry in paths:
        origin = None
        if os.path.isfile(entry):
            origin = _in_zip(entry, name)
        elif os.path.isdir(entry):
            origin, portion = _in_directory(entry, name, suffixes)
            if portion and namespace is None:
                namespace = {"kind": kind_of_entry(entry, stdlib), "origin": portion}
        if origin:
            return {"kind": kind_of_entry(entry, stdlib), "origin": origin}
    return namespace


def _in_directory(directory: str, name: str, suffixes: "Sequence[str]") -> "tuple[str | None, str | None]":
    """The file that makes the name a module there, and else the directory that makes it part of a namespace."""
    package = os.path.join(directory, name)
    is_directory = os.path.isdir(package)
    if is_directory:
        for suffix in suffixes:
            origin = os.path.join(package, "__init__" + suffix)
            if os.path.isfile(origin) and _is_spelled(directory, name):
                return origin, None
    for suffix in suffixes:
        if os.path.isfile(package + suffix) and _is_spelled(directory, name + suffix):
            return package + suffix, None
    return None, package if is_directory and _is_spelled(directory, name) else None


def _is_spelled(directory: str, name: str) -> bool:
    """Whether a file that is there has exactly this name: imports mind the case where the file system does not."""
    if sys.platform not in ("win32", "cygwin", "darwin"):
        return True
    return name in os.listdir(directory)


def _in_zip(path: str, name: str) -> "str | None":
    zipimport = _import_standard("zipimport")
    try:
        return str(zipimport.zipimporter(path).get_filename(name))
    except zipimport.ZipImportError:
        return None


def _home(finder: "Any") -> str:
    return getattr(finder if isinstance(finder, type) else type(finder), "__module__", None) or ""


def _is_standard_finder(finder: "Any") -> bool:
    return _home(finder).startswith(("_frozen_importlib", "importlib."))


def _import_standard(name: str) -> "Any":
    """Import a module of the standard library, whatever comes before it on ``sys.path``."""
    path, finders, stdlib = sys.path[:], sys.meta_path[:], stdlib_path()
    sys.path[:] = [one for one in path if one and kind_of_entry(one, stdlib) == "standard-library"]
    sys.meta_path[:] = [finder for finder in finders if _is_standard_finder(finder)]
    try:
        return __import__(name)
    finally:
        sys.path[:], sys.meta_path[:] = path, finders


# --- what Python runs when it starts, which is read instead -----------------------------------------------------------

#: The lines of code in ``.pth`` files that :func:`take_site` has not run, each with its file.
_LINES: "list[tuple[str, str]]" = []
#: The modules that it has not imported.
_CUSTOM = ("sitecustomize", "usercustomize")


def take_site() -> None:
    """Extend ``sys.path`` of an interpreter that was started with ``-S`` as its own ``site`` does, running no code.

    ``site`` calls ``exec`` for lines of ``.pth`` files that are code, and imports ``sitecustomize`` and
    ``usercustomize``: it finds other functions in their place. The directories that ``.pth`` files name are added.
    """
    site = _import_standard("site")

    def remember(line: str, *_more: object) -> None:
        _LINES.append((sys._getframe(1).f_locals.get("fullname") or "a .pth file", line))  # noqa: SLF001 -- its caller

    site.exec = remember
    site.execsitecustomize = site.execusercustomize = lambda: None
    site.main()


def start_up(paths: "Sequence[str]") -> "list[tuple[str, str]]":
    """The code that may change what can be imported, as file and text: that of hooks, and what was not run."""
    homes = [sys.modules.get(_home(finder)) for finder in sys.meta_path if not _is_standard_finder(finder)]
    files = [getattr(module, "__file__", None) or "" for module in homes] + (
        _not_run(paths) if sys.flags.no_site else []
    )
    return _LINES + [(path, _read_some(path).decode("utf-8", "replace")) for path in dict.fromkeys(files)]


def _not_run(paths: "Sequence[str]") -> "list[str]":
    """The files of installed modules that the lines of ``.pth`` files name, and of those for the whole site."""
    text = "".join(letter if letter.isalnum() or letter == "_" else " " for _, line in _LINES for letter in line + " ")
    known = [(name, module_on_paths(name, paths, "", _suffixes())) for name in [*text.split(), *_CUSTOM]]
    return [one["origin"] for name, one in known if one and (name in _CUSTOM or one["kind"] == "site-packages")]


def path_changes() -> "list[Facts]":
    """A note with ``fact`` and ``reason`` if code that names the import path was not run, else none."""
    names = tuple(name + ".py" for name in _CUSTOM)
    own = _LINES + [one for one in start_up(import_paths()) if one[0].endswith(names)] if sys.flags.no_site else []
    places = [place for place, text in own if "sys.path" in text or "sitedir" in text]
    reason = "this may change where Python imports from when it starts, and was read, not run: "
    return [{"fact": "paths", "reason": reason + ", ".join(dict.fromkeys(places))}] if places else []


# --- the system below it --------------------------------------------------------------------------------------------


def env_fact(name: str) -> "str | None":
    """The value of an environment variable, or ``None`` where it is not set."""
    return os.environ.get(name)


def system_fact(key: str) -> "Any":
    """The value of one row of :data:`SYSTEM_FACTS`; ``None`` where it does not apply to this system."""
    probe = dict(SYSTEM_FACTS).get(key)
    if probe is None:
        raise NotKnownError("there is no probe for it")
    return probe()


def glibc_version() -> "str | None":
    """The GNU C library that this process runs on."""
    if sys.platform != "linux" or "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()):
        return None
    try:
        answer = os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        return None
    name, _, version = (answer or "").partition(" ")
    return version if name == "glibc" and version else None


def musl_version() -> "str | None":
    """The musl C library that this process runs on: its loader is mapped, and states its version."""
    if sys.platform != "linux" or glibc_version():
        return None
    loaders = _mapped("ld-musl-", "libc.musl-", "libc.so")
    if not loaders:
        raise NotKnownError("neither the GNU C library nor musl is loaded")
    version = musl_version_in(_read_some(loaders[0], 1 << 24))
    if version is None:
        raise NotKnownError(loaders[0] + " does not state its version")
    return version


def musl_version_in(binary: bytes) -> "str | None":
    """The version in the bytes of a musl loader: the one text that is a version and nothing else."""
    for text in binary.split(b"\0"):
        parts = text.split(b".")
        if 5 <= len(text) <= 8 and len(parts) == 3 and all(part.isdigit() for part in parts):  # noqa: PLR2004
            return text.decode("ascii")
    return None


def openssl_version() -> "str | None":
    """The OpenSSL that the ``ssl`` module of this interpreter is linked with, without the letters of 1.x releases."""
    try:
        ssl = _import_standard("_ssl")
    except ModuleNotFoundError:
        return None  # built without it
    name, version = ssl.OPENSSL_VERSION.split()[:2]
    if name != "OpenSSL":
        return None
    digits = 0
    while digits < len(version) and version[digits] in "0123456789.":
        digits += 1
    return str(version[:digits].rstrip("."))


def in_container() -> "bool | None":
    """Whether this is a container, by the marks that Docker, Podman, LXC, systemd-nspawn and Kubernetes leave."""
    if sys.platform != "linux":
        return None
    if os.environ.get("container") or "KUBERNETES_SERVICE_HOST" in os.environ:  # noqa: SIM112 -- its real name
        return True
    if any(os.path.exists(mark) for mark in ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")):
        return True
    groups = _read_some("/proc/1/cgroup")
    return any(runtime in groups for runtime in (b"docker", b"kubepods", b"containerd", b"libpod", b"/lxc/"))


# --- the machine, and its shared libraries, as files tell -----------------------------------------------------------
# ``host`` says where a path is to be read: as it is, or below the directory that holds another file system.


def library_fact(name: str, base: "str | None" = None) -> str:
    """Whether the dynamic loader finds a shared library of that file name: ``present`` or ``missing``.

    Nothing is loaded. ``base`` is the installation of the interpreter. Raises :class:`NotKnownError` for a path.
    """
    if not name or os.path.basename(name) != name:
        raise NotKnownError("{!r} is not the name of a file".format(name))
    base, variables = sys.base_prefix if base is None else base, os.environ.get
    if sys.platform == "linux":
        found = find_library(name, variables("LD_LIBRARY_PATH", ""), base, "/proc/self/exe")
        return "present" if found else "missing"
    if sys.platform == "win32":
        places = [base, os.path.dirname(sys.executable), os.path.join(variables("SYSTEMROOT", ""), "System32")]
    else:
        fallback = variables("DYLD_FALLBACK_LIBRARY_PATH") or "/usr/local/lib:/usr/lib"
        places = [*variables("DYLD_LIBRARY_PATH", "").split(":"), *_of_conda(base, str), *fallback.split(":")]
    if any(os.path.isfile(os.path.join(place, name)) for place in places if place):
        return "present"
    if sys.platform == "darwin":
        raise NotKnownError("it is in no directory of the loader, but macOS keeps its own libraries in no file")
    return "missing"


def program_fact(name: str, beside: "str | None" = None) -> str:
    """Whether a program is on ``PATH`` or in the directory of the interpreter: ``present`` or ``missing``.

    Nothing is run. ``beside`` is the path of the interpreter. Raises :class:`NotKnownError` for a path.
    """
    if not name or os.path.basename(name) != name:
        raise NotKnownError("{!r} is not the name of a program".format(name))
    folders = [os.path.dirname(sys.executable if beside is None else beside)]
    return find_program(name, folders + os.environ.get("PATH", os.defpath).split(os.pathsep))


def find_program(name: str, folders: "Iterable[str]", host: "Host" = str) -> str:
    """Whether a program is in one of some directories: ``present`` or ``missing``."""
    endings = ["", *os.environ.get("PATHEXT", "").split(os.pathsep)] if sys.platform == "win32" else [""]
    files = [host(os.path.join(folder, name + end)) for folder in folders if folder for end in endings]
    return "present" if any(os.path.isfile(one) and os.access(one, os.X_OK) for one in files) else "missing"


def find_library(name: str, search: str = "", base: str = "", program: str = "", host: "Host" = str) -> "str | None":
    """The file that the loader of Linux takes for a name; ``search`` is the value of ``LD_LIBRARY_PATH``.

    Only one that is built for the same machine as ``program`` counts. Source: ld.so(8); it reads what ``ldconfig``
    made of ``/etc/ld.so.conf``, never that file itself.
    """
    wanted = _built_for(host(program)) if program else b""
    places = [place for place in search.replace(";", ":").split(":") if place.startswith("/")]
    own = [place + "/" + name for place in [*_of_conda(base, host), *places]]
    cached = cached_libraries(_read_some(host("/etc/ld.so.cache"), 1 << 24), name)
    for path in [*own, *cached, *(place + "/" + name for place in _default_places(host))]:
        built = _built_for(host(path))
        if built and wanted in (b"", built):
            return path
    return None


def _of_conda(base: str, host: "Host") -> "list[str]":
    """The directory that the programs of a conda environment name in their headers: the loader takes it first."""
    return [base + "/lib"] if base and os.path.isdir(host(base + "/conda-meta")) else []


def _default_places(host: "Host") -> "list[str]":
    """The directories that the loaders of Debian, of others, and of musl search; a file may name those of musl."""
    places = [top + name for name in _names(host("/usr/lib")) if "-linux-" in name for top in ("/lib/", "/usr/lib/")]
    places += ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    for loader in _names(host("/lib")):
        if loader.startswith("ld-musl-"):
            listed = _read_some(host("/etc/" + loader.rpartition(".so")[0] + ".path")).decode("utf-8", "replace")
            places += listed.replace(":", "\n").split() or ["/usr/local/lib"]
    return places


def cached_libraries(cache: bytes, name: str) -> "list[str]":
    """The paths that ``ldconfig`` noted for a name, from the bytes of ``/etc/ld.so.cache``: ``dl-cache.h`` of glibc."""
    cache = b"".join(cache.partition(b"glibc-ld.so.cache1.1")[1:])
    wanted, paths = name.encode("utf-8") + b"\0", []
    # a header of 48 bytes with the number of entries at 20, then entries with the places of name and path at 4 and 8
    for entry in range(48, min(48 + 24 * int.from_bytes(cache[20:24], sys.byteorder), len(cache)), 24):
        key, value = (int.from_bytes(cache[at : at + 4], sys.byteorder) for at in (entry + 4, entry + 8))
        if cache.startswith(wanted, key):
            paths.append(cache[value : value + 4096].partition(b"\0")[0].decode("utf-8", "replace"))
    return paths


def _built_for(path: str) -> bytes:
    """Class, byte order and machine in the header of a program or a library; empty for anything else: elf(5)."""
    head = _read_some(path, 20)
    return head[4:6] + head[18:20] if head.startswith(b"\x7fELF") else b""


def _read_some(path: str, limit: int = 1 << 16) -> bytes:
    """The beginning of a regular file, empty where there is none that can be read."""
    try:
        with open(path if os.path.isfile(path) else os.devnull, "rb") as stream:
            return stream.read(limit)
    except (OSError, ValueError):
        return b""


def _names(path: str) -> "list[str]":
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _mapped(*names: str) -> "list[str]":
    """The files mapped into this process whose names begin so: ``/proc/PID/maps`` of proc(5)."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = ["".join(line.rstrip("\n").partition("/")[1:]) for line in maps]
    return [path for path in paths if os.path.basename(path).startswith(names)]


def libstdcxx_version() -> "str | None":
    """The newest symbol version of the C++ library of GCC: the one that is loaded, else the one that would be."""
    if sys.platform != "linux":
        return None
    name, search = "libstdc++.so.6", os.environ.get("LD_LIBRARY_PATH", "")
    loaded = _mapped(name)
    path = loaded[0] if loaded else find_library(name, search, sys.base_prefix, "/proc/self/exe")
    return libstdcxx_in(path) if path else None


def libstdcxx_in(path: str) -> str:
    """The newest ``GLIBCXX_x.y.z`` among the version names that a C++ library defines."""
    texts = [text[:20].partition(b"\0")[0].split(b".") for text in _read_some(path, 1 << 25).split(b"GLIBCXX_")[1:]]
    numbers = [[int(part) for part in parts] for parts in texts if all(part.isdigit() for part in parts)]
    if not numbers:
        raise NotKnownError(path + " names no version of its symbols")
    return ".".join(map(str, max(numbers)))


def shared_memory(host: "Host" = str) -> "str | None":
    """The size of ``/dev/shm`` in MiB: statvfs(3), shm_overview(7). None where there is none, or no limit."""
    place = host("/dev/shm")  # noqa: S108 -- it is only measured
    size = os.statvfs(place) if os.path.isdir(place) else None
    return str(size.f_blocks * size.f_frsize >> 20) if size and size.f_blocks else None


def open_files(pid: str = "self") -> "str | None":
    """How many files a process may have open, the soft limit: ``/proc/PID/limits`` of proc(5), getrlimit(2)."""
    if sys.platform == "linux":
        with open("/proc/{}/limits".format(pid), encoding="ascii", errors="replace") as limits:
            soft = next(line.split()[3] for line in limits if line.startswith("Max open files"))
        return None if soft == "unlimited" else soft
    if sys.platform == "win32":
        return None
    resource = _import_standard("resource")
    number = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if number == resource.RLIM_INFINITY else str(number)


def memory_limit(pid: str = "self", host: "Host" = str) -> str:
    """How many MiB a process may use: the lowest limit of its control groups, else what the machine has.

    Source: cgroups(7); ``memory.max`` of version 2, ``memory.limit_in_bytes`` of version 1; ``MemTotal`` of proc(5).
    """
    if sys.platform != "linux":
        if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", ()):
            raise NotKnownError("no file of this system tells it")
        return str(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20)
    limits = [int(size) << 10 for size in _read_some(host("/proc/meminfo")).partition(b"MemTotal:")[2].split()[:1]]
    for line in _read_some(host("/proc/{}/cgroup".format(pid))).decode("utf-8", "replace").splitlines():
        limits += _group_limits(line, host)
    if not limits:
        raise NotKnownError("neither a control group nor /proc/meminfo tells it")
    return str(min(limits) >> 20)


def _group_limits(line: str, host: "Host") -> "Iterator[int]":
    """The limits of memory, in bytes, of the control group that a line names, and of the groups around it."""
    _, controllers, group = line.split(":", 2)
    if controllers and "memory" not in controllers.split(","):
        return
    kind = ("/memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
    names = [name for name in group.split("/") if name not in ("", "..")]
    for depth in range(len(names) + 1):
        said = _read_some(host("/".join(["/sys/fs/cgroup" + kind[0], *names[:depth], kind[1]]))).strip()
        if said.isdigit():
            yield int(said)


def nvidia_driver(host: "Host" = str) -> "str | None":
    """The version of the NVIDIA driver, None where there is none: by its kernel module, else by its ``libcuda``.

    Source: ``/proc/driver/nvidia/version``, ``/sys/module/nvidia/version``, the file ``libcuda.so.1`` leads to.
    """
    if sys.platform == "win32" or os.path.isfile(host("/usr/lib/wsl/lib/libcuda.so.1")):
        raise NotKnownError("the driver is that of Windows, whose files do not state it: nvidia-smi tells")
    stated = _read_some(host("/proc/driver/nvidia/version")) or _read_some(host("/sys/module/nvidia/version"))
    library = find_library("libcuda.so.1", host=host)
    named = os.path.basename(os.path.realpath(host(library)))[len("libcuda.so.") :] if library else ""
    for word in [*stated.decode("utf-8", "replace").partition("\n")[0].split(), named]:
        if "." in word and word.replace(".", "").isdigit():
            return word
    if stated or library:
        raise NotKnownError("the files of the driver do not state its version")
    return None


def cuda_version(host: "Host" = str) -> None:
    """None without an NVIDIA driver. With one it is unknown: a program has to ask the driver what it supports."""
    if nvidia_driver(host) is not None:
        raise NotKnownError("the files of the driver state its own version (nvidia-driver), not which CUDA it supports")


def gpu_models(host: "Host" = str) -> "str | None":
    """The models of the NVIDIA GPUs, each once: ``/proc/driver/nvidia/gpus/*/information``. None without a driver."""
    if nvidia_driver(host) is None:
        return None
    folder = host("/proc/driver/nvidia/gpus")
    said = [_read_some(os.path.join(folder, name, "information")).decode("utf-8", "replace") for name in _names(folder)]
    models = [text.partition("Model:")[2].partition("\n")[0].strip() for text in said]
    if not any(models):
        raise NotKnownError("the driver does not list its GPUs here")
    return ", ".join(sorted(set(models) - {""}, key=models.index))


# --- the tables, and all of it at once ------------------------------------------------------------------------------

#: Facts that are always collected: name and probe.
FACTS: "tuple[tuple[str, Callable[[], Any]], ...]" = (
    ("python", python_facts),
    ("platform", platform_facts),
    ("marker", marker_facts),
    ("paths", import_paths),
    ("stdlib", stdlib_path),
    ("user_site", user_site),
    ("start_method", start_method_facts),
)
#: Facts that are collected by name when asked for: what is asked for, the key of the answers, and the probe.
ASKED: "tuple[tuple[str, str, Callable[[str], Any]], ...]" = (
    ("env", "env", env_fact),
    ("module", "modules", module_fact),
    ("system", "system", system_fact),
    ("library", "libraries", library_fact),
    ("program", "programs", program_fact),
)
#: The rows of :func:`system_fact`.
SYSTEM_FACTS: "tuple[tuple[str, Callable[[], Any]], ...]" = (
    ("glibc", glibc_version),
    ("musl", musl_version),
    ("openssl", openssl_version),
    ("container", in_container),
    ("libstdcxx", libstdcxx_version),
    ("shm", shared_memory),
    ("open-files", open_files),
    ("memory", memory_limit),
    ("nvidia-driver", nvidia_driver),
    ("cuda", cuda_version),
    ("gpu", gpu_models),
)


def collect(wanted: "Mapping[str, Sequence[str]]") -> "Facts":
    """All facts as one dict of plain values: the rows of :data:`FACTS`, and the wanted ones of :data:`ASKED`.

    ``wanted`` has the lists ``env``, ``module``, ``system``, ``library`` and ``program``. What a probe could not read
    is not in the answer; it is listed under ``unknown`` with ``fact`` and ``reason``.
    """
    facts: "Facts" = {"collector": COLLECTOR}
    unknown = []
    for name, probe in FACTS:
        try:
            facts[name] = probe()
        except Exception as error:
            unknown.append({"fact": name, "reason": _reason(error)})
    for kind, section, ask in ASKED:
        facts[section] = {}
        for name in wanted.get(kind, ()):
            try:
                facts[section][name] = ask(name)
            except Exception as error:
                unknown.append({"fact": kind + "." + name, "reason": _reason(error)})
    facts["env"] = {name: value for name, value in facts["env"].items() if value is not None}
    facts["unknown"] = unknown + path_changes()
    return facts


def _reason(error: Exception) -> str:
    text = str(error) or "it failed without saying why"
    return text if isinstance(error, NotKnownError) else "{}: {}".format(type(error).__name__, text)


def answer(token: str, wanted: "Mapping[str, Sequence[str]]", search: "Sequence[str]") -> None:
    """Write the facts to standard output between the token reversed and the token; the guest's ``main``.

    ``search`` has the absolute entries of ``PYTHONPATH``, which is kept from an interpreter while it starts.
    """
    is_fixed = os.name == "nt" and sys.flags.isolated  # a ``._pth`` file says all of the path
    if sys.flags.no_site and not is_fixed:
        take_site()
    sys.path[:0] = [] if sys.flags.ignore_environment else search
    text = _import_standard("json").dumps(collect(wanted))
    frame = (token[::-1] + text + token).encode("ascii")
    while frame:
        frame = frame[os.write(1, frame) :]
