"""Trials on an existing Ray cluster: the same trials as on this machine, the same results, the same files.

Each trial is one task, on whichever node has a processor free: its interpreter, uv and cache are that node's. A node
needs envdoctor of the same version, uv, and the platform of the machine that asks, since a proof names one; a trial on
a node that lacks something is unproven, and says what.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from envdoctor._version import __version__
from envdoctor.commands.clusters import connected
from envdoctor.errors import EnvdoctorError
from envdoctor.workshop.proof import build, runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.workshop.proof.trials import Trial

#: How many trials wait at each processor: the next is there when one is done, and few are lost when a run ends.
WAITING = 4


class RayPool:
    """Runs trials on the cluster at an address, ``auto`` or ``ray://...``; ``nodes`` are those that have run some."""

    def __init__(self, address: str, *, offline: bool, begin: Callable[[Trial], None] | None = None) -> None:
        self.address = address
        self.offline = offline
        self.begin = begin
        self.nodes: set[str] = set()

    def __call__(self, planned: Sequence[Trial]) -> Iterator[tuple[Trial, dict[str, Any]]]:
        """Give each trial with its result as it comes. What did not end is cancelled when the run is interrupted."""
        if not planned:
            return
        ray = connected(self.address)
        try:
            task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD", max_retries=1)(run_on_node)
            told = (__version__, runner.tools()["platform"])
            limit = WAITING * max(int(ray.cluster_resources().get("CPU", 1)), 1)
            ahead = iter(planned)
            waiting: dict[Any, Trial] = {}
            while True:
                for trial in _some(ahead, limit - len(waiting)):
                    waiting[task.remote(trial, offline=self.offline, wanted=told)] = trial
                    if self.begin is not None:
                        self.begin(trial)
                if not waiting:
                    return
                try:
                    (done, *_), _ = ray.wait(list(waiting), num_returns=1)
                    result = _result(ray, done)
                except BaseException:
                    for one in waiting:
                        ray.cancel(one)
                    raise
                self.nodes.update([result.pop("node")] if "node" in result else [])
                yield waiting.pop(done), result
        finally:
            ray.shutdown()


def _some(ahead: Iterator[Trial], number: int) -> list[Trial]:
    return [trial for _, trial in zip(range(number), ahead)]


def _result(ray: Any, done: Any) -> dict[str, Any]:
    try:
        told: dict[str, Any] = ray.get(done)
    except ray.exceptions.RayError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return {"outcome": "unbuilt", "reason": f"its node could not run it: {(lines or [type(error).__name__])[-1]}"}
    return told


def run_on_node(trial: Trial, *, offline: bool, wanted: tuple[str, str]) -> dict[str, Any]:
    """Run a trial on the node that this is called on; ``wanted`` are the version of envdoctor and the platform."""
    node = import_module("ray").get_runtime_context().get_node_id()
    try:
        here = (__version__, runner.tools()["platform"])
        if here != wanted:
            return {"outcome": "unbuilt", "reason": f"its node has envdoctor {here[0]} on {here[1]}", "node": node}
        return {**build.run_trial(trial, offline=offline), "node": node}
    except EnvdoctorError as error:
        return {"outcome": "unbuilt", "reason": f"on its node: {error}", "node": node}
