"""What installed distributions give the workers that they start, by start method."""

import linker_environment as env
import pytest

from envdoctor import doctor
from envdoctor.facts import Facts
from envdoctor.linker import given_to_workers
from envdoctor.model import Report, Snapshot
from envdoctor.probes.distributions import scan

LOCAL = "import multiprocessing\n\ndef run():\n    def work():\n        pass\n    multiprocessing.Process(target=work).start()\n"
LAMBDA = "from concurrent.futures import ProcessPoolExecutor\n\ndef run():\n    ProcessPoolExecutor(2, initializer=lambda: None)\n"
HANDED_ON = {
    "b/__init__.py": "from b.pool import each\n\ndef run():\n    each(lambda n: n)\n",
    "b/pool.py": "from multiprocessing import Process\n\ndef each(work):\n    Process(target=work).start()\n",
}


def found(tmp_path, files, **method):
    """The warnings for an environment with one distribution: rule, packages and the first place, below its folder."""
    site = env.write(tmp_path / "site", b=files)
    snapshot = Snapshot(
        target={"kind": "python"},
        python={"version": "3.14.0"},
        packages=scan([site]).packages,
        start_method=method,
        facts=Facts(),
    )
    report = Report(snapshot=snapshot, findings=[], unknown=[], rules=0)
    report = given_to_workers.add_to(report, doctor.rule_bases(), lambda _doing: None)
    assert all(one.severity == "warning" for one in report.findings)
    return [(one.rule, one.packages, one.evidence[0].source.replace(f"{site}/", "")) for one in report.findings]


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"b/__init__.py": LOCAL}, "b/__init__.py:6"),
        ({"b.py": LAMBDA}, "b.py:4"),
        (HANDED_ON, "b/pool.py:4"),
        ({"b.py": "try:\n    import multiprocessing\nexcept ImportError:\n    pass\n" + LOCAL[23:]}, "b.py:9"),
    ],
)
def test_a_function_that_cannot_be_pickled(tmp_path, files, place):
    for method in ("spawn", "forkserver"):
        assert found(tmp_path / method, files, default=method) == [("worker-given-function-without-name", ["b"], place)]


@pytest.mark.parametrize(
    "files",
    [
        {"b.py": LOCAL.replace("multiprocessing.Process", "multiprocessing.get_context('fork').Process")},
        {"b.py": "import threading\n\ndef run():\n    threading.Thread(target=lambda: None).start()\n"},
        {"b/__init__.py": "", "b/tests/test_it.py": LOCAL},
        {"b.py": "import multiprocessing\n\ndef run():\n    multiprocessing.Pool(2).map(lambda n: n, [1])\n"},
    ],
)
def test_what_the_start_method_does_not_decide(tmp_path, files):
    assert found(tmp_path, files, default="spawn") == []


def test_the_method_that_the_program_states(tmp_path):
    assert found(tmp_path, {"b.py": LOCAL}, default="forkserver", stated="fork") == []
    assert found(tmp_path / "other", {"b.py": LOCAL}, default="fork", stated="spawn")
