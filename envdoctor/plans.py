"""A plan as a value: what becomes of an environment and its project's files, before anybody carries it out."""

from __future__ import annotations

from envdoctor.facts import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.model import Finding, Remedy


#: The kinds of step from one release to another.
STEPS = ("major", "minor", "patch", "new", "removed")


class Move(Record):
    """One distribution, from one release to another.

    ``before`` is ``None`` where it was not installed, ``after`` where it is removed. ``step`` is one of :data:`STEPS`,
    with the sign of a downgrade in ``down``; ``why`` are the ids of rules, or the requirement that another move brings;
    ``asked`` says that the user's own requirements name it. What is removed may have an ``heir``, the requirement of
    what the same rule puts in its place.
    """

    package: str
    before: str | None
    after: str | None
    why: Sequence[str] = ()
    step: str = ""
    down: bool = False
    asked: bool = False
    heir: str | None = None


class Edit(Record):
    """One file as it is and as it will be, as texts; ``before`` is ``None`` where there is none yet."""

    path: str
    before: str | None
    after: str
    why: Sequence[str] = ()


class Plan(Record):
    """What to do about all findings of one environment.

    ``moves`` and ``edits`` are carried out by ``apply``; ``line`` is the one command that does the moves, in the words
    of the tool that manages the environment (``None`` where there is none). ``advice`` are remedies that only a person
    can carry out; ``instead`` are such, by the id of a rule, that would end what moves end here, and ``instead_edits``
    are edits that would. ``left`` are findings that stay, ``conflicts`` are sets of rules' ids that no plan cures
    together.
    ``python`` is the version that a new environment needs where nothing less helps.
    """

    moves: Sequence[Move] = ()
    edits: Sequence[Edit] = ()
    advice: Sequence[Remedy] = ()
    instead: Mapping[str, Sequence[Remedy]] = {}
    instead_edits: Mapping[str, Sequence[Edit]] = {}
    left: Sequence[Finding] = ()
    conflicts: Sequence[Sequence[str]] = ()
    line: str | None = None
    python: str | None = None
