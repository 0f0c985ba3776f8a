"""Every environment in a root file system, judged each by itself; those that nobody means are left out, and said."""

from __future__ import annotations

from typing import Any

from envdoctor.model import UnknownFact
from envdoctor.targets.assemble import snapshot
from envdoctor.targets.root import asks_of_root, facts_of, open_root
from envdoctor.targets.root_interpreters import choose, interpreters
from envdoctor.targets.root_walk import DIRECTORIES, MARKS, Walk, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.model import Snapshot
    from envdoctor.probes.file_system import Root
    from envdoctor.targets.root_interpreters import Interpreter

#: The file that a tool which gives each program its own environment leaves in it, and where one keeps itself.
_RECEIPTS = ("pipx_metadata.json", "uv-receipt.toml")
_OF_TOOLS = ("/pypoetry/venv",)
#: Packages that a user has installed for himself are outside every prefix.
_USER_SITES = "/home/*/.local/lib/*/site-packages"


def examine(directory: str, wanted: Mapping[str, Sequence[str]] | None = None, python: str | None = None) -> Snapshot:
    """The environment that ``python`` names within the root, by a path or a name; without it all of them.

    The first is the one that the image most likely runs; its ``siblings`` are the others, and its target says which
    were ``left_out``. Nothing is executed; ``wanted`` is of no use here, as files say what they say.
    """
    del wanted
    root = open_root(directory)
    seen = Walk(marked=[], installed=[], denied=[], bound=False) if python and "/" in python else walk(root)
    found = list(interpreters(root, python, [*seen.marked, *seen.installed]))
    chosen = choose(root, found, python)
    if python is not None:
        return _examined(root, directory, chosen)
    judged, left_out = _divided(root, [(one, _examined(root, directory, one)) for one in found])
    left_out += [{"path": path, "reason": reason} for path, reason in _nameless(root, seen, found)]
    first, *others = judged
    target = {**first.target, **({"left_out": left_out} if left_out else {})}
    whole: Snapshot = first.replace(target=target, siblings=others, notes=[*first.notes, *_notes(seen)])
    return whole


def _examined(root: Root, directory: str, interpreter: Interpreter) -> Snapshot:
    facts = facts_of(root, interpreter)
    target: dict[str, Any] = {
        "kind": "root",
        "path": directory,
        "environment": interpreter.prefix,
        "interpreter": interpreter.executable,
    }
    return snapshot(facts, target, asks_of_root(facts), directory)


def _divided(root: Root, found: list[tuple[Interpreter, Snapshot]]) -> tuple[list[Snapshot], list[dict[str, str]]]:
    """The environments to judge, and the others with the reason; the first of all where no other is left."""
    reasons = [_reason(root, interpreter, made) for interpreter, made in found]
    kept = [made for (_, made), reason in zip(found, reasons) if reason is None] or [
        next((made for _, made in found if made.packages), found[0][1])
    ]
    left_out = [
        {"path": interpreter.executable, "reason": reason}
        for (interpreter, made), reason in zip(found, reasons)
        if reason is not None and made is not kept[0]
    ]
    return kept, left_out


def _reason(root: Root, interpreter: Interpreter, made: Snapshot) -> str | None:
    """Why an environment is not judged, if so."""
    if not made.packages:
        return "no distribution is installed for it"
    receipt = next((name for name in _RECEIPTS if root.is_file(f"{interpreter.prefix}/{name}")), None)
    if receipt or interpreter.prefix.endswith(_OF_TOOLS):
        return "a tool's own environment" + (f", as {receipt} says" if receipt else "")
    return None


def _nameless(root: Root, seen: Walk, found: Sequence[Interpreter]) -> Iterator[tuple[str, str]]:
    """Directories that look like an environment without an interpreter, and site directories outside every one."""
    known = {root.real(interpreter.prefix) for interpreter in found}
    for prefix in seen.marked:
        if root.real(prefix) not in known:
            marks = [one for one in MARKS if one in root.names(prefix)]  # a root in use may have lost them since
            if marks:
                yield prefix, f"{marks[0]} is there, but no Python 3 interpreter"
    for site in root.glob(_USER_SITES):
        if any(name.endswith(".dist-info") for name in root.names(site)):
            yield site, "what a user has installed for himself is not held against any interpreter"


def _notes(seen: Walk) -> Iterator[UnknownFact]:
    if seen.bound:
        reason = (
            f"there are more than {DIRECTORIES:,} directories; those below were not searched: name one with --python"
        )
        yield UnknownFact(rule=None, fact="interpreters", reason=reason)
    if seen.denied:
        more = f" and {len(seen.denied) - 1} more are" if len(seen.denied) > 1 else " is"
        reason = f"{seen.denied[0]}{more} not readable by this user, so environments there were not found"
        yield UnknownFact(rule=None, fact="interpreters", reason=reason)
