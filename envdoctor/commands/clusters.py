"""Asks the nodes and workers of a Ray or a Dask cluster for their snapshots. Nothing stays there."""

from __future__ import annotations

import functools
import io
import json
import os
import socket
import threading
import time
import zipfile
from importlib import import_module
from typing import Any

from envdoctor.commands import on_node
from envdoctor.errors import UsageError
from envdoctor.model import Record
from envdoctor.targets.snapshot_file import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.commands.on_node import Answer
    from envdoctor.model import Snapshot

#: Seconds in which the head of a cluster has to answer.
_REACH = 20


class Reported(Record):
    """What a member of a fleet reports: a snapshot, the file of one with its digest, or why there is none."""

    name: str
    snapshot: Snapshot | None = None
    file: str = ""
    digest: bytes = b""
    reason: str = ""

    def __init__(self, name: str, **values: Any) -> None:
        super().__init__(name=name, **values)


def ray(address: str, wanted: Mapping[str, Sequence[str]], seconds: float) -> Iterator[Reported]:
    """Every node of a cluster, and each worker that runs there; raises as :func:`connected` does."""
    library = connected(address)
    try:
        import_module("ray.cloudpickle").register_pickle_by_value(on_node)
        strategy = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        archive = library.put(_archive())
        task = library.remote(num_cpus=0, max_retries=0)(on_node.ask)
        asked = {}
        for node in library.nodes():
            name = f"{'head' if 'node:__internal_head__' in node['Resources'] else 'node'} {node['NodeManagerAddress']}"
            name += f" {node['NodeID'][:8]}"
            if not node["Alive"]:
                yield Reported(name, reason="it is not alive")
                continue
            bound = task.options(scheduling_strategy=strategy(node["NodeID"], soft=False))
            asked[bound.remote(archive, wanted, seconds, beside=True)] = name
        library.wait(list(asked), num_returns=len(asked), timeout=seconds)
        for reference, name in asked.items():
            yield from _of_node(name, functools.partial(library.get, reference, timeout=0.1), seconds)
    finally:
        library.shutdown()


def dask(address: str, wanted: Mapping[str, Sequence[str]], seconds: float) -> Iterator[Reported]:
    """The scheduler of a cluster and each of its workers.

    Raises :class:`UsageError` where Dask is not installed, and where no cluster answers.
    """
    library = _library("distributed", "dask")
    try:
        client = library.Client(address, timeout=_REACH, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Dask cluster answers at {address}: {_first_line(error)}") from error
    try:
        import_module("cloudpickle").register_pickle_by_value(on_node)
        given = (_archive(), wanted, seconds)
        results: dict[str, Any] = {}

        def ask(name: str, workers: list[str]) -> None:
            try:
                if workers:
                    (results[name],) = client.run(on_node.ask, *given, beside=False, workers=workers).values()
                else:
                    results[name] = client.run_on_scheduler(on_node.ask, *given, beside=False)
            except Exception as error:  # noqa: BLE001 - whatever a worker answers with is said
                results[name] = error

        members = {
            "scheduler": [],
            **{f"worker {one}": [one] for one in client.scheduler_info(n_workers=-1)["workers"]},
        }
        threads = [threading.Thread(target=ask, args=one, daemon=True) for one in members.items()]
        for thread in threads:
            thread.start()
        late = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(late - time.monotonic(), 0))
        for name in members:
            yield from _of_node(name, functools.partial(results.get, name, TimeoutError()), seconds)
    finally:
        client.close(timeout=1)


def _of_node(name: str, get: Callable[[], Any], seconds: float) -> Iterator[Reported]:
    """The member, and the workers beside it, that a node has reported."""
    try:
        answers: Any = get()
    except Exception as error:  # noqa: BLE001 - a cluster fails in more ways than its library names
        answers = error
    if isinstance(answers, Exception):
        late = "Timeout" in type(answers).__name__
        yield Reported(name, reason=f"no answer within {seconds:g} seconds" if late else _first_line(answers))
        return
    yield from _members(name, answers)


def _members(name: str, answers: Sequence[Answer]) -> Iterator[Reported]:
    for place, (pid, document, reason) in enumerate(answers):
        member = name if place == 0 else f"worker {pid} of {name}"
        if document is None:
            yield Reported(member, reason=reason)
        else:
            yield Reported(member, snapshot=parsed(json.loads(document), member))


def _archive() -> bytes:
    """The source of envdoctor as an archive. Raises :class:`UsageError` where it runs out of one."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not os.path.isdir(package):
        raise UsageError("fleet sends envdoctor's own files to a cluster: install it, in place of a single file")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, _, names in os.walk(package):
            for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
                archive.write(path, os.path.join("envdoctor", os.path.relpath(path, package)))
    return made.getvalue()


def connected(address: str) -> Any:
    """Ray, connected to a cluster.

    Raises :class:`UsageError` where it is not installed, and where no cluster answers.
    """
    library = _library("ray", "ray")
    host, separator, port = address.rpartition(":")
    try:
        if separator and port.isdecimal() and "/" not in host:  # where nobody is, Ray itself would wait for minutes
            socket.create_connection((host, int(port)), timeout=_REACH).close()
        library.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as error:
        reason = _first_line(error)
        raise UsageError(f"no Ray cluster answers at {address}: {reason}; give the address of its head") from error
    return library


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"--{extra} needs the library {name}: pip install 'pyenvdoctor[{extra}]'") from error


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
