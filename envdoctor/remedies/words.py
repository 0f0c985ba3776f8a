"""From an action to the words of a tool: a list for each call. No word begins with ``-`` but the options here."""

from __future__ import annotations

from envdoctor.engine.installed_requirements import canonical, is_name, is_version, normalise, parts
from envdoctor.model import Record
from envdoctor.remedy_kinds import KINDS
from envdoctor.tools import DIRECTORY, PREFIX, PYTHON, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from envdoctor.engine.installed_requirements import Parts
    from envdoctor.model import Action

    Calls = list[list[str]]


class CommandContext(Record):
    """Where words are for: the tool, the interpreter and the prefix of the environment, and what is installed.

    ``python`` and ``prefix`` are ``None`` where the environment is the active one. ``versions`` are those of what an
    action is about, and of pip, as far as they are there; nobody has ``installed`` them yet where only a lock file was
    read. Of a project ``directory`` is ``None`` where that is the current one, and ``direct`` what the project requires
    itself, with the options of its groups, ``None`` where that is not known; what its file, once edited, asks for as it
    is to be is ``admitted``. ``apt`` says that the operating system is a Debian, ``old`` that a Poetry before 2 has
    installed things, which locks everything anew unless an option forbids it.
    """

    tool: str
    python: str | None = None
    prefix: str | None = None
    versions: Mapping[str, str | None] = {}
    installed: bool = True
    directory: str | None = None
    direct: Mapping[str, Sequence[str]] | None = None
    admitted: Collection[str] = ()
    apt: bool = False
    old: bool = False


def readable(action: Action) -> Action | None:
    """The action with its requirements in canonical form; ``None`` where a name or a version is not one."""
    found = [parts(text) for text in action.requirements]
    known = [one for one in found if one]
    if len(known) < len(found) or not all(map(is_name, action.packages)):
        return None
    return action.replace(requirements=tuple(map(canonical, known)))  # type: ignore[no-any-return]


def names(action: Action) -> list[str]:
    """The distributions that an action is about, normalised."""
    return [
        *(normalise(found[0]) for found in map(parts, action.requirements) if found),
        *map(normalise, action.packages),
    ]


def words(action: Action, place: CommandContext) -> Calls:
    """The calls of the tool, in order; empty where no tool carries the action out."""
    kind = KINDS[action.verb]
    calls: Calls = kind.function("words")(action, place) if kind.words and action.at == "run" else []
    if calls and place.tool == "pipenv" and place.directory is not None:
        return [["cd", place.directory], *calls]  # it has no option for that
    return calls


def remark(action: Action, place: CommandContext) -> str | None:
    """What else to know of the words for an action, or why there are none."""
    if action.at != "run" or not KINDS[action.verb].words:
        return None
    python = next((found for found in map(parts, action.requirements) if found and is_python(found)), None)
    if place.tool == "system" and python is None:
        name = next(iter(names(action)), "NAME")
        return _MANAGED + (_APT.format(name=name) if place.apt else "")
    if python is not None and place.tool == "uv":
        environment = f" --python {place.python}" if place.python else ""
        return _EMPTY.format(python=environment) + _besides(action)
    return None


def _besides(action: Action) -> str:
    others = [text for text in action.requirements if not is_python(parts(text) or ("",) * 4)]  # type: ignore[arg-type]
    return f", with {' '.join(others)}" if others else ""


_MANAGED = (
    "the operating system manages this Python and lets no installer into it (PEP 668): "
    "use an environment of your own, which begins empty"
)
_APT = "; or the system's own package, where there is one and its release will do: apt install python3-{name}"
_EMPTY = (
    "the new environment is empty: keep a list first, uv pip freeze{python} > freeze.txt, "
    "and install it there, uv pip install -r freeze.txt"
)


def _filled(words: Sequence[str], place: CommandContext) -> list[str]:
    """The words of a tool for a place, which is named where that is needed."""
    values = {PYTHON: place.python, PREFIX: place.prefix, DIRECTORY: place.directory}
    said: list[str] = []
    for word in words:
        if values.get(word, word) is not None:
            said.append(values.get(word) or word)
        elif said:
            said.pop()  # the option that names it
        else:
            said.append("python")
    return said


def install(action: Action, place: CommandContext) -> Calls:
    """The calls that end in installed requirements."""
    wanted = [found for found in map(parts, action.requirements) if found]
    python = next(filter(is_python, wanted), None)
    if python is not None:
        return _other_python(python, place)
    tool = TOOLS[place.tool]
    if tool.of_project:
        return _added(wanted, place)
    if place.tool == "system":
        return [[place.python or "python3", "-m", "venv", ".venv"], [*tool.install, *map(canonical, wanted)]]
    if place.tool == "conda":
        if any(url for *_, url in wanted):
            tool = TOOLS["pip"]
        else:
            wanted = [(name, (), specifier, url) for name, _, specifier, url in wanted]  # it has no extras
    return [[*_filled(tool.install, place), *map(canonical, wanted)]] if wanted else []


def _added(wanted: Sequence[Parts], place: CommandContext) -> Calls:
    """What a project requires is written down by its tool, unless its file says it; uv moves things within its lock."""
    added: dict[tuple[str, ...], list[str]] = {}
    moved: list[str] = []
    tool, direct = TOOLS[place.tool], place.direct or {}
    of_uv = place.tool == "uv-project"
    for found in wanted:
        name = normalise(found[0])
        locked = of_uv and place.direct is not None and name in place.versions and name not in direct
        if name in place.admitted or (locked and not found[3]):
            moved += ["--upgrade-package", canonical(found)]
        else:
            added.setdefault(tuple(direct.get(name, ())), []).append(canonical(found))
    calls = [[*_filled(tool.install, place), *options, *texts] for options, texts in added.items()]
    return _relocked(calls, moved, place) if moved else calls


def _relocked(calls: Calls, moved: Sequence[str], place: CommandContext) -> Calls:
    """Calls that add requirements, with those that lock what the files of a project admit already, and install it."""
    tool, direct = TOOLS[place.tool], place.direct or {}
    groups = dict.fromkeys(tuple(direct.get(name, ())) for name in sorted(place.admitted))
    chosen = [tool.synced.get(word, word) for options in groups for word in options]
    lock, sync = [*_filled(tool.lock, place), *["--no-update"] * place.old], [*_filled(tool.sync, place), *chosen]
    if place.tool == "pipenv":
        lock += chosen  # which leaves alone what is for development, unless an option asks for it
    if place.tool == "uv-project":
        return [*calls, [*lock, *moved], sync]
    return [lock, *calls, *([sync] if chosen or not calls else [])]  # what adds something installs as well


def is_python(found: Parts) -> bool:
    """Whether a requirement is about the interpreter."""
    return normalise(found[0]) == "python"


def _other_python(python: Parts, place: CommandContext) -> Calls:
    """An environment's Python cannot be exchanged, except by conda: the call makes a new environment."""
    if place.tool == "conda":
        return [[*_filled(TOOLS["conda"].install, place), canonical(python)]]
    if place.tool == "uv" and python[2]:
        return [["uv", "venv", "--python", python[2]]]
    if place.tool == "uv-project" and python[2]:
        return [[*_filled(("uv", "sync", "--directory", DIRECTORY), place), "--python", python[2]]]
    return []


def uninstall(action: Action, place: CommandContext) -> Calls:
    """A project's tool removes what the project requires itself; the rest goes with what requires it."""
    removal = TOOLS[place.tool].uninstall
    if not removal or not action.packages:
        return []
    if not TOOLS[place.tool].of_project or place.direct is None:
        return [[*_filled(removal, place), *action.packages]]
    if not place.direct.keys() >= {normalise(name) for name in action.packages}:
        return []
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in action.packages:
        groups.setdefault(tuple(place.direct[normalise(name)]), []).append(name)
    return [[*_filled(removal, place), *options, *names] for options, names in groups.items()]


def reinstall(action: Action, place: CommandContext) -> Calls:
    """Only what is installed can be installed again; where the tool cannot, any installer will do."""
    if not place.installed or not action.packages or place.tool == "system":
        return []
    if place.tool == "uv-project":
        chosen = [word for name in action.packages for word in ("--reinstall-package", name)]
        return [[*_filled(("uv", "sync", "--directory", DIRECTORY), place), *chosen]]
    again = TOOLS[place.tool].reinstall or TOOLS["pip" if "pip" in place.versions else "uv"].reinstall
    return [[*_filled(again, place), *(_at_its_version(name, place) for name in dict.fromkeys(action.packages))]]


def _at_its_version(name: str, place: CommandContext) -> str:
    version = place.versions.get(name) or ""
    return f"{name}=={version}" if is_version(version) else name


def replace(action: Action, place: CommandContext) -> Calls:
    """The calls that remove, and then install."""
    removal, installation = uninstall(action, place), install(action, place)
    return [*removal, *installation] if removal and installation else []
