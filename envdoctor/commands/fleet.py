"""``envdoctor fleet``: many environments at once, equal ones together, each kind judged once."""

from __future__ import annotations

import hashlib
import os

from envdoctor import doctor
from envdoctor.commands import clusters
from envdoctor.commands.configuration import parse
from envdoctor.commands.diff import apart
from envdoctor.commands.options import add_format, add_output, parser_for
from envdoctor.commands.output import status, write
from envdoctor.engine import differences as engine
from envdoctor.errors import TargetError, UsageError
from envdoctor.model import Fleet, Kin
from envdoctor.probes import answered
from envdoctor.renderers import members as renderer
from envdoctor.targets import snapshot_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.commands.clusters import Reported
    from envdoctor.model import Snapshot

_EXAMPLES = """\
examples:
  envdoctor fleet snapshots/                   what `envdoctor snapshot` wrote on each machine
  envdoctor fleet a.json b.json c.json -f json
  envdoctor fleet --ray auto                   every node of the cluster, its workers, and the driver: this environment
  envdoctor fleet --ray 10.0.0.1:6379 --python venv/bin/python
  envdoctor fleet --dask tcp://10.0.0.1:8786

Nothing is changed anywhere. Exit status: 1 where an environment has a finding at or above --fail-on, where Python or a
release that rules know differs, or where somebody did not answer; else 0.
"""
_DRIVER = "driver"


def run(words: Sequence[str]) -> int:
    """``envdoctor fleet``."""
    parser = parser_for(
        "fleet",
        "Examine many environments: equal ones are one group, each group is judged once, the odd ones out are named.",
        _EXAMPLES,
    )
    parser.add_argument(
        "snapshots", nargs="*", metavar="SNAPSHOT", help="snapshots and reports, or directories of them"
    )
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="the nodes and workers of a Ray cluster; auto for that at hand"
    )
    parser.add_argument("--dask", metavar="ADDRESS", help="the scheduler and workers of a Dask cluster")
    parser.add_argument("--python", metavar="PATH", help="the driver's interpreter, with --ray or --dask")
    parser.add_argument(
        "--wait", type=float, default=60, metavar="SECONDS", help="for the answer of a node or worker (default: 60)"
    )
    add_format(parser, ("text", "json"))
    add_output(parser, formats=False)
    parser.add_argument("--fail-on", choices=["error", "warning", "info", "never"], default="error")
    options = parse(parser, words)
    if sum(map(bool, (options.snapshots, options.ray, options.dask))) != 1:
        raise UsageError("give snapshots, or --ray ADDRESS, or --dask ADDRESS (envdoctor fleet --help says more)")
    wanted = doctor.wanted(options.rules)
    fleet = gathered(_reported(options, wanted), wanted, options.rules)
    write((renderer.document if options.format == "json" else renderer.text)(fleet), options.output)
    return _status(fleet, options.fail_on)


def _reported(options: argparse.Namespace, wanted: Mapping[str, Sequence[str]]) -> Iterator[Reported]:
    """What everybody tells, the driver first."""
    if options.snapshots:
        yield from _files(options.snapshots)
        return
    kind = "python" if options.python else None
    driver = doctor.examine(kind, options.python, rules=options.rules)
    yield clusters.Reported(_DRIVER, snapshot=answered(driver, lambda _: engine.asked(wanted)))
    ask, address = (clusters.ray, options.ray) if options.ray else (clusters.dask, options.dask)
    yield from ask(address, wanted, options.wait)


def _files(paths: Sequence[str]) -> Iterator[Reported]:
    for path in paths:
        names = [path]
        if os.path.isdir(path):
            names = sorted(os.path.join(path, one) for one in os.listdir(path) if one.endswith((".json", ".md")))
            if not names:
                raise TargetError(f"{path} holds no snapshots: write them there with envdoctor snapshot -o FILE.json")
        for name in names:
            try:
                with open(name, "rb") as file:
                    yield clusters.Reported(name, file=name, digest=hashlib.sha256(file.read()).digest())
            except OSError as error:
                yield clusters.Reported(name, reason=str(error.strerror or error))


def gathered(answers: Iterator[Reported], wanted: Mapping[str, Sequence[str]], rules: Sequence[str] = ()) -> Fleet:
    """The groups of those that tell the same, the driver's or else the largest first, and who did not answer.

    One snapshot of each group is kept; a file with the same bytes as another is not read again.
    """
    keys: dict[bytes, object] = {}
    seen: dict[object, list[Mapping[str, str | None]]] = {}
    names: dict[object, list[str]] = {}
    kept: dict[object, Snapshot] = {}
    silent: list[tuple[str, str]] = []
    for one in answers:
        key = keys.get(one.digest)
        if key is None:
            try:
                snapshot = one.snapshot or (snapshot_file.snapshot_of(one.file) if one.file else None)
            except TargetError as error:
                silent.append((one.name, str(error)))
                continue
            if snapshot is None:
                silent.append((one.name, one.reason))
                continue
            key = _key(engine.facts_of(snapshot, wanted), seen)
            kept.setdefault(key, snapshot)
            if one.digest:
                keys[one.digest] = key
        names.setdefault(key, []).append(one.name)
    order = sorted(names, key=lambda key: (_DRIVER not in names[key], -len(names[key])))
    groups: list[Kin] = []
    for key in order:
        report = doctor.prescribed(doctor.check(kept.pop(key), rules))
        differences = apart(groups[0].report.snapshot, report.snapshot, wanted, rules) if groups else []
        groups.append(Kin(names=names[key], report=report, differences=differences))
    return Fleet(groups=groups, silent=silent)


def _key(table: Mapping[str, str | None], seen: dict[object, list[Mapping[str, str | None]]]) -> object:
    """What equal environments share; one that tells less than another, and nothing else, is equal to that."""
    releases = frozenset(one for one in table.items() if one[0] == "python" or one[0].startswith("packages."))
    rest = {fact: value for fact, value in table.items() if (fact, value) not in releases}
    alike = seen.setdefault(releases, [])
    for place, known in enumerate(alike):
        if all(known.get(fact, value) == value for fact, value in rest.items()):
            return releases, place
    alike.append(rest)
    return releases, len(alike) - 1


def _status(fleet: Fleet, fail_on: str) -> int:
    if fail_on == "never":
        return 0
    known = (one for group in fleet.groups for one in group.differences if one.known)
    differ = any(one.fact == "python" or one.fact.startswith("packages.") for one in known)
    return int(bool(fleet.silent) or differ or any(status(group.report, fail_on) for group in fleet.groups))
