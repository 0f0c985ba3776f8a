"""Where to look. Each kind of target turns its options into a :class:`~envdoctor.model.Snapshot`.

To add a target, write one file with an ``examine`` function and add a row to :data:`TARGETS`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.model import Snapshot

#: The option that selects a target, and the function ``(value, **options) -> Snapshot`` that examines it.
TARGETS = {
    "python": "envdoctor.targets.environment:named",
    "requirements": "envdoctor.targets.requirements:read",
    "root": "envdoctor.targets.root_environments:examine",
    "pid": "envdoctor.targets.process:examine",
    "snapshot": "envdoctor.targets.snapshot_file:read",
}


def examine(kind: str | None = None, value: str | None = None, **options: Any) -> Snapshot:
    """The snapshot of one target; without a kind, of the active environment or the running interpreter.

    Raises :class:`~envdoctor.errors.TargetError` where it cannot be examined.
    """
    if kind is None:
        from envdoctor.targets.environment import examine as examine_environment

        return examine_environment(**options)
    from importlib import import_module

    from envdoctor.errors import ProbeError, TargetError

    module, _, function = TARGETS[kind].partition(":")
    try:
        snapshot: Snapshot = getattr(import_module(module), function)(value, **options)
    except ProbeError as error:
        raise TargetError(str(error)) from error
    return snapshot
