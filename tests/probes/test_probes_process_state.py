"""A process is read within a limit of time, and its facts are as they were set up."""

import threading

import pytest

from envdoctor.errors import ProbeError
from envdoctor.model import Unknown
from envdoctor.probes import process_state
from envdoctor.probes.process_state import Mapped


def test_reading_that_does_not_end_is_given_up():
    over = threading.Event()
    with pytest.raises(ProbeError, match=r"Process 4711 could not be read within 0\.05 seconds: it hangs .*--python"):
        process_state.within(0.05, 4711, over.wait)
    over.set()


def test_what_reading_gives_or_raises_comes_through():
    assert process_state.within(10.0, 1, lambda: "answer") == "answer"
    with pytest.raises(ZeroDivisionError):
        process_state.within(10.0, 1, lambda: 1 / 0)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("libgomp.so.1", True),
        ("libgomp-a34b3233.so.1.0.0", True),
        ("libomp.so.5", True),
        ("libomp.dylib", True),
        ("libiomp5.so", True),
        ("libiomp5md.dll", True),
        ("libomp140.x86_64.dll", True),
        ("vcomp140.dll", True),
        ("VCOMP140.DLL", True),
        ("libgomp-plugin-nvptx.so.1", False),
        ("libomptarget.so", False),
        ("libompi.so", False),
        ("libompd.so", False),
        ("libomp.txt", False),
        ("mylibgomp.so", False),
    ],
)
def test_names_of_runtimes_of_openmp(name, counts):
    for folder in ("/opt/lib/", "C:\\lib\\"):
        assert bool(process_state.openmp_runtimes([Mapped(path=folder + name, identity="1")])) is counts


@pytest.mark.parametrize(
    ("methods", "common"),
    [
        ([], None),
        ([None, None], None),
        ([None, "fork", "fork"], "fork"),
        (["spawn", "fork"], Unknown(reason="its children were started in several ways: fork, spawn")),
    ],
)
def test_what_children_have_in_common(methods, common):
    assert process_state._common(methods) == common


@pytest.mark.parametrize(
    ("own", "others", "method"),
    [
        (([b"1"], "python", ["python", "job"]), ([b"1"], "python", ["a title"]), "fork"),
        (([b"1"], "python", ["python", "job"]), ([b"2"], "python", ["python", "job"]), None),
        (([], "", ["python", "job"]), ([], "", ["python", "job"]), "fork"),
        (([], "", ["python", "job"]), ([], "", ["python", "other"]), None),
        (([], "", []), ([], "", []), None),
        (
            ([b"1"], "python", ["job"]),
            ([b"2"], "python", ["python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()"]),
            "spawn",
        ),
        (([b"1"], "python", ["job"]), ([b"2"], "python", ["job.exe", "--multiprocessing-fork", "fd=4"]), "spawn"),
        (
            ([b"1"], "p", ["job"]),
            ([b"2"], "p", ["p", "-c", "from multiprocessing.forkserver import main"]),
            "forkserver",
        ),
        (([b"1"], "p", ["job"]), ([b"2"], "p", ["p", "-c", "from multiprocessing.resource_tracker import main"]), ""),
        (([b"1"], "p", ["job"]), ([b"2"], "p", ["p", "-c", "from multiprocessing.semaphore_tracker import main"]), ""),
    ],
)
def test_how_a_child_was_started(monkeypatch, own, others, method):
    monkeypatch.setattr(process_state.sys, "platform", "linux")
    monkeypatch.setattr(process_state, "_is_random", lambda: True)

    assert process_state._method(own, others) == method


def test_without_random_addresses_the_words_decide(monkeypatch):
    monkeypatch.setattr(process_state.sys, "platform", "linux")
    monkeypatch.setattr(process_state, "_is_random", lambda: False)

    assert process_state._method(([b"1"], "p", ["p", "a"]), ([b"1"], "p", ["p", "b"])) is None
    assert process_state._method(([b"1"], "p", ["p", "a"]), ([b"1"], "p", ["p", "a"])) == "fork"
