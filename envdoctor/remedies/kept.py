"""The line of the last plan for an environment, which ``check`` ends with while all is as it was planned for.

Neither the index nor a resolver is asked: one small file of the user's cache is opened. On the path of findings.
"""

from __future__ import annotations

import os

from envdoctor._version import __version__
from envdoctor.probes import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Report

#: So many plans are kept, of so many bytes together.
_MOST, _BYTES = 100, 1 << 22


def keep(line: str, headline: str, report: Report) -> None:
    """Keep the ``line`` of a plan for what was examined, and how many steps and what else it has."""
    import time

    path = _path(report)
    said = f"{headline}; as envdoctor fix planned it on {time.strftime('%Y-%m-%d')}"
    cache.keep(path, "\n".join([line, said, *_facts(report)]).encode())
    cache.prune(os.path.dirname(path), _MOST, _BYTES)


def known(report: Report) -> list[str]:
    """The line that :func:`keep` kept for these very facts, and what to know of it; empty where there is none."""
    kept = cache.kept(_path(report))
    line, said, *facts = kept.decode("utf-8", "replace").split("\n") if kept else ("", "")
    return [line, said] if facts == _facts(report) else []


def _path(report: Report) -> str:
    from binascii import crc32

    return os.path.join(cache.directory(), "plans", f"{crc32(_place(report).encode('utf-8', 'replace')):x}")


def _place(report: Report) -> str:
    """What was examined; the words of a line depend on what is active, and on the directory as well."""
    python, target = report.snapshot.python, report.snapshot.target
    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    return repr((python.get("prefix"), target.get("kind"), target.get("path"), active, os.path.abspath(os.curdir)))


def _facts(report: Report) -> list[str]:
    """What a plan is for: an environment's releases and Python, the errors found in it, and who judges that."""
    snapshot = report.snapshot
    found = [one for one in report.findings if one.severity == "error"]
    errors = [f"{one.rule} {one.consumer} {' '.join(one.packages)}" for one in found]
    releases = [f"{name}=={one.version}" for name, one in snapshot.packages.items()]
    judge = f"{__version__} {report.rules} {snapshot.python.get('version')}"
    return [*map(ascii, (judge, _place(report))), *map(ascii, sorted(errors)), *map(ascii, sorted(releases))]
