"""The places where trials run. To add one, write one file with a pool and add a row to :data:`POOLS`."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.workshop.proof.trials import Trial


class Pool(Protocol):
    """Runs many trials."""

    def __call__(self, planned: Sequence[Trial], /) -> Iterator[tuple[Trial, dict[str, Any]]]:
        """Give each trial with its result as it comes."""


POOLS = {
    "local": "envdoctor.workshop.proof.runner:local_pool",
    "ray": "envdoctor.workshop.proof.cluster:RayPool",
}


def pool(kind: str, where: Any, **options: Any) -> Pool:
    """The pool of a kind: ``local`` with a number of processes, ``ray`` with the address of a cluster."""
    module, _, name = POOLS[kind].partition(":")
    made: Pool = getattr(import_module(module), name)(where, **options)
    return made
