"""Work that is shared out is all done, whatever becomes of a process."""

import os
import sys

import pytest
from conftest import run

from envdoctor.probes import parallel

forks = pytest.mark.skipif(sys.platform != "linux", reason="work is shared out on Linux only")
WEIGHTS = [parallel.WORTH_SHARING, *range(40)]


def made(number):
    return f"{number} in {os.getpid()}".encode()


def numbers(answer):
    return {number: int(text.partition(b" ")[0]) for number, text in answer.items()}


def test_every_number_is_worked_on_once():
    answer = parallel.each(WEIGHTS, made)
    assert numbers(answer) == {number: number for number in range(len(WEIGHTS))}


def test_little_work_stays_here():
    assert {text.rpartition(b" ")[2] for text in parallel.each([1, 2, 3], made).values()} == {str(os.getpid()).encode()}
    assert parallel.each([], made) == {}


LOST = """
import os
from envdoctor.probes import parallel

parallel.os.sched_getaffinity = lambda _: {0, 1}  # also where there is one core
here = os.getpid()
ready, tell = os.pipe()
first = []

def work(number):
    if os.getpid() != here:
        os.write(tell, b"x")
        os._exit(9)
    if not first:
        first.append(os.read(ready, 1))  # until the other process has taken a number
    return b"%d" % number

answer = parallel.each([parallel.WORTH_SHARING, *range(40)], work)
print(answer == {number: b"%d" % number for number in range(41)}, first)
"""
WRONG = """
import os
from envdoctor.probes import parallel

def work(number):
    raise ZeroDivisionError

try:
    parallel.each([parallel.WORTH_SHARING, *range(40)], work)
except ZeroDivisionError:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("no process is left")
"""


ALONE = """
import os, tempfile
from envdoctor.probes import parallel

tempfile.tempdir = "/nowhere/at/all"
answer = parallel.each([parallel.WORTH_SHARING, *range(40)], lambda number: b"%d" % os.getpid())
print(len(answer), set(answer.values()) == {b"%d" % os.getpid()})
"""


@forks
@pytest.mark.parametrize(
    ("program", "said"), [(LOST, "True [b'x']\n"), (WRONG, "no process is left\n"), (ALONE, "41 True\n")]
)
def test_what_goes_wrong_in_a_process(program, said):
    """A share that is lost, or that no other process can take, is done here; what goes wrong here is raised."""
    done = run(sys.executable, "-c", program)
    assert (done.stdout, done.stderr) == (said, "")


@forks
def test_more_than_a_pipe_holds():
    answer = parallel.each([parallel.WORTH_SHARING, *([1] * 20_000)], lambda number: str(number).encode() + b" ")
    assert len(answer) == 20_001


def test_works_that_are_done_apart_leave_nothing_but_what_they_return():
    here, seen = os.getpid(), []

    def one():
        seen.append(1)
        return os.getpid(), {"kept": (1, "a")}

    def other():
        if os.getpid() != here:
            os._exit(9)
        return "done here"

    (number, kept), *rest = parallel.apart([one, other], parallel.WORTH_SHARING)

    assert (kept, rest) == ({"kept": (1, "a")}, ["done here"])
    assert (number == here) is bool(seen)


@forks
def test_works_are_done_apart_where_there_are_two_cores(monkeypatch):
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda _: {0, 1})
    numbers = parallel.apart([os.getpid, os.getpid], parallel.WORTH_SHARING)
    assert len({os.getpid(), *numbers}) == 3
    assert parallel.apart([os.getpid, os.getpid], parallel.WORTH_SHARING - 1) == [os.getpid()] * 2


def test_what_goes_wrong_apart_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        parallel.apart([lambda: 1 // 0, lambda: 1], parallel.WORTH_SHARING)
