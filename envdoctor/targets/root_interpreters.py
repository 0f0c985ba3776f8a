"""The interpreters in a file system that is not running: in the usual places, and anywhere else.

Nothing in it is executed, and every path is resolved inside the root.
"""

from __future__ import annotations

import os
import re

from envdoctor.errors import TargetError
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.probes.file_system import Root

#: Directories that often are virtual environments, the likelier ones first.
ENVIRONMENTS = (
    *("/venv", "/.venv", "/opt/venv", "/opt/.venv", "/app/.venv", "/app/venv", "/usr/src/app/.venv"),
    *("/usr/src/app/venv", "/code/.venv", "/workspace/.venv", "/src/.venv", "/opt/*", "/opt/*/.venv", "/opt/*/venv"),
    *("/srv/*/.venv", "/root/.venv", "/root/venv", "/root/.virtualenvs/*"),
    *("/home/*/.venv", "/home/*/venv", "/home/*/.virtualenvs/*"),
)
#: Directories that interpreters are installed to, in the order in which an image's PATH usually has them.
PREFIXES = (
    *("/usr/local", "/opt/conda", "/opt/*", "/opt/conda/envs/*", "/root/miniconda3", "/root/.pyenv/versions/*"),
    *("/home/*/.pyenv/versions/*", "/opt/pyenv/versions/*", "/usr/local/pyenv/versions/*"),
    *("/root/.local/share/uv/python/*", "/home/*/.local/share/uv/python/*", "/usr"),
)
_PROGRAM = re.compile(r"python(?:3(?:\.\d+)?t?)?$")
_MINOR = re.compile(r"python(3\.\d+)(t?)")


class Interpreter(Record):
    """One interpreter found: its paths inside the root, ``X.Y``, and the settings of its virtual environment."""

    executable: str
    prefix: str
    minor: str
    suffix: str
    settings: dict[str, str]

    @property
    def name(self) -> str:
        """The name that its directories have."""
        return f"python{self.minor}{self.suffix}"

    @property
    def rank(self) -> tuple[int, ...]:
        """Sorts interpreters of one kind of place: the newest first, an ordinary build before a free-threaded one."""
        return (*(-int(number) for number in self.minor.split(".")), len(self.suffix))


def interpreters(root: Root, wanted: str | None = None, further: Sequence[str] = ()) -> Iterator[Interpreter]:
    """The interpreters in the usual places and below ``further`` prefixes, the one to be chosen first."""
    places = [*_usual(root, wanted), *([prefix] for prefix in further)]
    seen = set()
    for prefixes in places:
        group = [interpreter for prefix in prefixes for interpreter in _in_prefix(root, prefix)]
        for interpreter in sorted(group, key=lambda interpreter: interpreter.rank):
            identity = (root.real(interpreter.prefix), interpreter.minor, interpreter.suffix)
            if identity not in seen:
                seen.add(identity)
                yield interpreter


def _usual(root: Root, wanted: str | None) -> list[list[str]]:
    """The prefixes in the usual places, those of one kind of place together."""
    own = [_prefix_of(root, wanted)] if wanted and "/" in wanted else []
    places = [[place] for place in [*own, *_named_by_settings(root)]]
    places += [[place] for pattern in ENVIRONMENTS for place in root.glob(pattern) if _settings(root, place)]
    for pattern in PREFIXES:
        places += [_pyenv_default(root, root.glob(pattern)), root.glob(pattern)]
    return places


def _pyenv_default(root: Root, prefixes: list[str]) -> list[str]:
    """Those of several installations that the file ``version`` beside their directory names."""
    tops = {prefix: os.path.dirname(os.path.dirname(prefix)) for prefix in prefixes if "/versions/" in prefix}
    return [prefix for prefix, top in tops.items() if os.path.basename(prefix) in root.text(top + "/version").split()]


def _prefix_of(root: Root, path: str) -> str:
    inside = _inside(root, path)
    programs = os.path.dirname(inside)
    return inside if root.is_dir(inside) else os.path.dirname(root.real(programs) or programs)


def _inside(root: Root, path: str) -> str:
    """A path as the root sees it; one of this machine that leads into the root is understood too."""
    if path.startswith(root.directory + os.sep):
        path = path[len(root.directory) :]
    return "/" + path.strip("/")


def _named_by_settings(root: Root) -> list[str]:
    """The virtual environments that ``/etc/environment`` names in ``VIRTUAL_ENV`` or puts on ``PATH``."""
    lines = root.text("/etc/environment").splitlines()
    values = {name.strip(): value.strip().strip("\"'") for name, _, value in (line.partition("=") for line in lines)}
    named = [values.get("VIRTUAL_ENV", ""), *(os.path.dirname(place) for place in values.get("PATH", "").split(":"))]
    return [prefix for prefix in named if prefix.startswith("/") and _settings(root, prefix)]


def _settings(root: Root, prefix: str) -> dict[str, str]:
    """The settings in the ``pyvenv.cfg`` of a virtual environment."""
    lines = root.text(prefix + "/pyvenv.cfg").splitlines()
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


def _in_prefix(root: Root, prefix: str) -> Iterator[Interpreter]:
    settings = _settings(root, prefix)
    seen = set()
    programs = [name for name in root.names(prefix + "/bin") if _PROGRAM.match(name)]
    for name in sorted(programs, key=len, reverse=True):
        path = f"{prefix}/bin/{name}"
        version = _minor(root, path, prefix, settings)
        if version and version not in seen:
            seen.add(version)
            yield Interpreter(executable=path, prefix=prefix, minor=version[0], suffix=version[1], settings=settings)


def _minor(root: Root, path: str, prefix: str, settings: dict[str, str]) -> tuple[str, str] | None:
    """``X.Y`` and the suffix of the build, by the program's real name, the environment's settings, or the library."""
    named = _MINOR.match(os.path.basename(root.real(path) or path)) or _MINOR.match(os.path.basename(path))
    if named:
        return named.group(1), named.group(2)
    stated = re.match(r"3\.\d+", settings.get("version_info") or settings.get("version") or "")
    libraries = [_MINOR.fullmatch(name) for name in root.names(prefix + "/lib")]
    known = {(match.group(1), match.group(2)) for match in libraries if match}
    if stated:
        return stated.group(0), "t" if (stated.group(0), "t") in known else ""
    return known.pop() if len(known) == 1 else None


def choose(root: Root, found: Sequence[Interpreter], wanted: str | None = None) -> Interpreter:
    """The interpreter that is meant, by default the first. Raises :class:`TargetError` where there is none."""
    if not found:
        raise TargetError(
            f"There is no Python 3 interpreter in {root.directory}: looked for bin/python3 in usr, usr/local, opt and "
            "the usual virtual environments. Say where it is with --python PATH, as seen from inside."
        )
    for interpreter in found:
        if wanted is None or _is_meant(root, interpreter, wanted):
            return interpreter
    raise TargetError(
        f"There is no interpreter {wanted} in {root.directory}. Choose one of "
        f"{', '.join(interpreter.executable for interpreter in found)}."
    )


def _is_meant(root: Root, interpreter: Interpreter, wanted: str) -> bool:
    if "/" not in wanted:
        version = interpreter.minor + interpreter.suffix
        return wanted in (version, "python" + version, os.path.basename(interpreter.executable))
    inside = _inside(root, wanted)
    if root.real(inside) == root.real(interpreter.prefix):
        return True
    is_beside = root.real(os.path.dirname(inside)) == root.real(interpreter.prefix + "/bin")
    return is_beside and root.real(inside) == root.real(interpreter.executable)


def base_of(root: Root, interpreter: Interpreter) -> str:
    """The prefix of the installation that its standard library comes from."""
    home = interpreter.settings.get("home")
    return os.path.dirname(root.real(home) or home) if home else interpreter.prefix
