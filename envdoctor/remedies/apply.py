"""Carries a plan out, or leaves everything as it was: the only code that changes an environment, or a user's files."""

from __future__ import annotations

import os
import subprocess
import sys

from envdoctor.errors import TargetError
from envdoctor.remedies import guard, journal
from envdoctor.remedies.commands import manager
from envdoctor.tools import LOCKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.model import Snapshot
    from envdoctor.plans import Plan

    Say = Callable[[str], None]

#: What project tools write besides their lock files.
_DECLARED = ("pyproject.toml", "Pipfile")


def apply(
    plan: Plan, snapshot: Snapshot, wrong: Callable[[], Sequence[str]], say: Say, *, consent: bool = False
) -> None:
    """Edit files, run the plan's line, and keep what was for :func:`undo`.

    ``wrong`` examines the environment anew and says what is not as planned; then, as after any other failure, all is
    put back. Raises :class:`TargetError`, which says that, or why nothing was begun.
    """
    place = guard.place_of(snapshot)
    with journal.locked(place.prefix, say) as lock:
        before = journal.last(place.prefix)
        if before and before.after is None:
            raise TargetError(f"a run in {place.prefix} was interrupted: envdoctor undo brings back what was")
        guard.refuse(place, plan, snapshot, consent=consent)
        say(f"keeping {place.prefix} as it is")
        try:
            kept = journal.begin(place.prefix, place.roots, _edited(plan, snapshot), plan.line)
        except OSError as error:
            raise TargetError(f"nothing was changed: {place.prefix} could not be kept as it is: {error}") from error
        try:
            _carry_out(plan, lock, say)
            reasons = wrong()
            if reasons:
                raise TargetError("afterwards " + "; ".join(reasons))  # noqa: TRY301 - as any other failure
        except BaseException as error:
            raise TargetError(f"the plan failed: {_said(error)}. {_restored(kept)}") from error
        journal.finish(kept)


def undo(prefix: str, say: Say, *, consent: bool = False) -> str:
    """Bring back what was before the last plan was applied, finished or not; a sentence that says so.

    Raises :class:`TargetError` where there is nothing to undo, or where more than the plan would be taken back.
    """
    prefix = os.path.realpath(prefix)
    with journal.locked(prefix, say):
        kept = journal.last(prefix)
        if kept is None:
            raise TargetError(f"nothing was applied in {prefix}, so that nothing can be undone")
        since = journal.since(kept)
        if since and not consent:
            raise TargetError(
                f"since the plan was applied to {prefix}, other things changed there ({', '.join(since[:4])}), which "
                "undo would take back as well; --yes-really does it nevertheless"
            )
        return _restored(kept)


def _edited(plan: Plan, snapshot: Snapshot) -> list[str]:
    """The files beside the environment that are written: those that the plan edits, and what a project's tool keeps."""
    files = dict.fromkeys(os.path.realpath(edit.path) for edit in plan.edits)
    directory = manager(snapshot).get("directory")
    for folder in {*map(os.path.dirname, files), *([os.path.realpath(directory)] if directory else [])}:
        files.update(dict.fromkeys(os.path.join(folder, name) for name in (*LOCKS, *_DECLARED)))
    return list(files)


def _carry_out(plan: Plan, lock: int, say: Say) -> None:
    for edit in plan.edits:
        say(f"writing {edit.path}")
        journal.write(edit.path, edit.after.encode())
    if plan.line:
        say(plan.line)
        windows = os.name == "nt"
        shell = ["powershell", "-NoProfile", "-Command"] if windows else ["/bin/sh", "-c"]
        run = subprocess.run(  # noqa: S603 - quoted by ``shell.line``
            [*shell, plan.line], stdin=subprocess.DEVNULL, stdout=_stderr(), check=False,
            pass_fds=() if windows else (lock,),
        )  # fmt: skip
        if run.returncode:
            raise TargetError(f"it ended with status {run.returncode}: {plan.line}")


def _stderr() -> int:
    """Where an installer prints: stdout is for what was asked for."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return subprocess.DEVNULL


def _said(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__


def _restored(kept: journal.Journal) -> str:
    """Put back what was kept, and say so. Raises :class:`TargetError` where that fails, and can be tried again."""
    try:
        lost = journal.restore(kept)
    except OSError as error:
        raise TargetError(f"{kept.prefix} could not be put back as a whole: {error}; envdoctor undo goes on") from error
    if not lost:
        return "All is as it was before"
    return f"All is as it was before, but {', '.join(lost)}, which was written into in place"
