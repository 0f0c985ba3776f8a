"""The start method that a Python and a platform imply, where others are asked for than the target's own."""

import pytest

from envdoctor import doctor
from envdoctor.model import Snapshot
from envdoctor.renderers import layout
from envdoctor.targets.started import as_asked


@pytest.mark.parametrize(
    ("own", "system", "version", "platform", "expected"),
    [
        ("3.13", "linux", None, None, None),
        ("3.13", "linux", "3.14", None, "forkserver"),
        ("3.13", "linux", None, "darwin", "spawn"),
        ("3.14", "linux", "3.13", None, "fork"),
        ("3.13", "linux", "3.7", "darwin", "fork"),
        ("3.13", "linux", None, "win32", "spawn"),
        ("3.13", None, "3.13", None, None),
        ("3.13", None, "3.14", None, "forkserver"),
        ("3.13", "linux", "3.²", None, None),
        ("3.13", "linux", "3." + "9" * 5000, None, None),
        (None, "linux", None, "darwin", None),
    ],
)
def test_what_is_asked_for_decides(own, system, version, platform, expected):
    platform_facts = {"system": system} if system else {}
    snapshot = Snapshot(
        target={}, packages={}, python={"version": own} if own else {}, platform=platform_facts, source="a test"
    )
    assert as_asked(snapshot, version, platform).start_method.get("default") == expected


@pytest.mark.parametrize(
    ("version", "platform", "said"),
    [
        (None, None, "Python 3.13 at env"),
        ("3.13", "linux", "Python 3.13 at env"),
        ("3.14", None, "Python 3.13 at env, with processes started as by Python 3.14"),
        (None, "darwin", "Python 3.13 at env, with processes started as by Python 3.13 on macOS"),
        ("3.14.1", "win32", "Python 3.13 at env, with processes started as by Python 3.14 on Windows"),
    ],
)
def test_the_first_line_says_what_is_judged(version, platform, said):
    snapshot = Snapshot(
        target={"path": "env"}, packages={}, python={"version": "3.13"}, platform={"system": "linux"}, source="a test"
    )
    report = doctor.check(as_asked(snapshot, version, platform))
    assert layout.subject(report).startswith(f" in {said} — ")
