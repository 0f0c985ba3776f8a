"""The tools that install, and the formats of the files that say what to install: a row for each."""

from __future__ import annotations

from envdoctor.facts import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The words that are replaced by the interpreter, its environment and the project, left out with the option before them
#: where that is the active or the current one.
PYTHON, PREFIX, DIRECTORY = "{python}", "{prefix}", "{directory}"


class Tool(Record):
    """How a tool installs, removes and installs again what is there; nothing where it cannot.

    ``signs`` says that its name is in the metadata of what it has installed. One of a project writes down what the
    project requires: ``group`` and ``extra`` are the options by which it names a group of requirements, and an extra;
    ``lock`` is the call that locks anew what its file says, with all else as it is, and ``sync`` installs that, with
    the groups and extras of what has changed, whose options are ``synced`` under other names.
    """

    install: Sequence[str]
    uninstall: Sequence[str]
    reinstall: Sequence[str] = ()
    signs: bool = True
    of_project: bool = False
    group: Sequence[str] = ()
    extra: Sequence[str] = ()
    lock: Sequence[str] = ()
    sync: Sequence[str] = ()
    synced: Mapping[str, str] = {}


# fmt: off
#: By name; of the tools of a project, the first whose lock file is there manages it.
TOOLS: Mapping[str, Tool] = {
    "pip": Tool(
        install=(PYTHON, "-m", "pip", "install"), uninstall=(PYTHON, "-m", "pip", "uninstall", "-y"),
        reinstall=(PYTHON, "-m", "pip", "install", "--force-reinstall", "--no-deps"),
    ),
    "uv": Tool(
        install=("uv", "pip", "install", "--python", PYTHON), uninstall=("uv", "pip", "uninstall", "--python", PYTHON),
        reinstall=("uv", "pip", "install", "--python", PYTHON, "--reinstall", "--no-deps"),
    ),
    "uv-project": Tool(
        install=("uv", "add", "--directory", DIRECTORY), uninstall=("uv", "remove", "--directory", DIRECTORY),
        signs=False, of_project=True, group=("--group",), extra=("--optional",),
        lock=("uv", "lock", "--directory", DIRECTORY), sync=("uv", "sync", "--directory", DIRECTORY, "--inexact"),
        synced={"--optional": "--extra"},
    ),
    "conda": Tool(
        install=("conda", "install", "--prefix", PREFIX), uninstall=("conda", "remove", "--prefix", PREFIX),
        reinstall=("conda", "install", "--prefix", PREFIX, "--force-reinstall"),
    ),
    "poetry": Tool(
        install=("poetry", "add", "--directory", DIRECTORY), uninstall=("poetry", "remove", "--directory", DIRECTORY),
        of_project=True, group=("--group",), extra=("--optional",),
        lock=("poetry", "lock", "--directory", DIRECTORY), sync=("poetry", "install", "--directory", DIRECTORY),
        synced={"--optional": "--extras", "--group": "--with"},
    ),
    "pdm": Tool(
        install=("pdm", "add", "--project", DIRECTORY), uninstall=("pdm", "remove", "--project", DIRECTORY),
        of_project=True, group=("--dev", "--group"), extra=("--group",),
        lock=("pdm", "lock", "--project", DIRECTORY, "--update-reuse"), sync=("pdm", "install", "--project", DIRECTORY),
    ),
    "pipenv": Tool(
        install=("pipenv", "install"), uninstall=("pipenv", "uninstall"), of_project=True,
        lock=("pipenv", "upgrade"), sync=("pipenv", "sync"),  # pipenv lock would renew what the file leaves open
    ),
    "system": Tool(install=(".venv/bin/python", "-m", "pip", "install"), uninstall=(), signs=False),
}
# fmt: on


class Format(Record):
    """A format of lock or requirements files.

    ``reader`` is the module of ``targets.locks`` whose ``read(source, stated)`` gives the contents. A file is of the
    format of whose ``names``, globs in lower case, one fits its name; otherwise of the first whose expression
    ``contains`` is found in it. ``tool`` installs what it says; ``sync`` is the command that makes an environment what
    such a file beside it says. The versions of a format that is ``of_conda`` are not all PEP 440.
    """

    reader: str
    contains: str
    names: Sequence[str] = ()
    tool: str | None = None
    sync: str = ""
    of_conda: bool = False


# fmt: off
#: By name, in the order in which the contents of a file of another name are compared.
FORMATS: Mapping[str, Format] = {
    "poetry.lock": Format(
        reader="poetry", contains=r"^(?:content-hash|python-versions)[ ]?=", names=("poetry.lock",), tool="poetry",
        sync="poetry sync",
    ),
    "pylock.toml": Format(
        reader="pylock", contains=r"^(?:lock-version|\[\[packages\]\])", names=("pylock.toml", "pylock.*.toml"),
        sync="uv pip sync pylock.toml",
    ),
    "pdm.lock": Format(
        reader="pdm", contains=r"^(?:content_hash|lock_version)[ ]?=", names=("pdm.lock",), tool="pdm",
        sync="pdm sync",
    ),
    "uv.lock": Format(
        reader="uv", contains=r"^\[\[package\]\]", names=("uv.lock", "*.py.lock"), tool="uv-project", sync="uv sync",
    ),
    "Pipfile.lock": Format(
        reader="pipenv", contains=r"\A\s*\{", names=("pipfile.lock",), tool="pipenv", sync="pipenv sync",
    ),
    "conda-lock.yml": Format(
        reader="conda_lock", contains=r"^package:[ ]*$", names=("*conda-lock*.y*ml",), tool="conda", of_conda=True,
    ),
    "environment.yml": Format(
        reader="conda_environment", contains=r"^[\"']?dependencies[\"']?:", tool="conda", of_conda=True,
    ),
    "requirements.txt": Format(reader="requirement_lines", contains=""),
}
# fmt: on

_MANAGERS = [name for name, one in TOOLS.items() if one.of_project]
#: The lock files that a project has beside its environment; where there are several, the first of them counts.
LOCKS = sorted(
    (name for name, one in FORMATS.items() if one.sync),
    key=lambda name: _MANAGERS.index(tool) if (tool := FORMATS[name].tool) in _MANAGERS else len(_MANAGERS),
)
