"""``forked.py [working] < PROGRAMS``: run each in a fork of one process that has TorchRL, up to the start of a worker.

PROGRAMS are files by program, as JSON; written is how each ended, by program. What a worker is given has been pickled by
the time it would be started by spawn. With ``working`` it starts, and does what a worker does from there on, in a fork of
the program that has forgotten the program's own modules: importing TorchRL once more for each would take too long.
"""

import contextlib
import json
import multiprocessing.spawn
import multiprocessing.util
import os
import re
import runpy
import signal
import sys
import tempfile
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

SECONDS = 120
_start = multiprocessing.util.spawnv_passfds


class Sent(BaseException):
    """A worker has everything that it is given."""


def started(path, words, files):
    """Start the tracker of resources, and no worker."""
    if any("spawn_main" in str(word) for word in words):
        raise Sent
    return _start(path, words, files)


def working(path, words, files):
    """Start the tracker of resources, and workers as forks that read what they are given as a new process does."""
    pipe = re.search(r"spawn_main\(.*pipe_handle=(\d+)", " ".join(map(str, words)))
    if pipe is None:
        return _start(path, words, files)
    child = os.fork()
    if child:
        return child
    here = os.getcwd()
    for name, one in list(sys.modules.items()):
        if name != "__main__" and (getattr(one, "__file__", "") or "").startswith(here):
            del sys.modules[name]
    try:
        os._exit(multiprocessing.spawn._main(int(pipe[1]), os.dup(int(pipe[1]))))
    finally:
        os._exit(1)


def main():
    """Run the programs."""
    import torch.multiprocessing.reductions

    torch.multiprocessing.reductions.ForkingPickler = (
        ForkingPickler  # releases of TorchRL before 0.7 take it from there
    )
    import torchrl.collectors
    import torchrl.envs  # noqa: F401 - for the forks

    torch.set_num_threads(1)
    multiprocessing.util.spawnv_passfds = working if "working" in sys.argv else started
    run()


def run():
    """Run the given programs, each in a fork, and say how they end."""
    print(json.dumps({name: _forked(files) for name, files in json.load(sys.stdin).items()}))


def _forked(files):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        with tempfile.TemporaryDirectory() as folder:
            os.write(write, _ended(files, folder).encode())
        os._exit(0)
    os.close(write)
    text = os.read(read, 1 << 16).decode()
    os.close(read)
    os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # the workers that it left
    return text or "ends without a word"


def _ended(files, folder):
    signal.alarm(SECONDS)
    for name, text in files.items():
        Path(folder, name).write_text(text, encoding="utf-8")
    os.chdir(folder)
    multiprocessing.process.ORIGINAL_DIR = folder
    sys.path.insert(0, folder)
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    try:
        runpy.run_path(f"{folder}/main.py", run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - however it ends, that is what is recorded
        return "works" if _was_sent(error) else f"{type(error).__name__}: {error}".splitlines()[0][:120]
    return "works"


def _was_sent(error):
    """Whether an error is, or came while the program was left with, that a worker has everything."""
    return isinstance(error, Sent) or (error.__context__ is not None and _was_sent(error.__context__))


if __name__ == "__main__":
    main()
