"""Runs programs, several at a time, and tells how each ended."""

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path

SECONDS = 90


def write(files, folder):
    """Write the files of a program below a folder."""
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def ended(python, files, *words, seconds=SECONDS):
    """How a program ended: ``works``, or the last line of its error; one that hangs is ended with its children."""
    with tempfile.TemporaryDirectory() as folder:
        write(files, folder)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": folder}
        with open(Path(folder, "stderr.txt"), "wb") as errors:
            program = subprocess.Popen(
                [python, *(words or ["main.py"])],
                cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            )  # fmt: skip
            try:
                status = program.wait(seconds)
            except subprocess.TimeoutExpired:
                status = "hangs"
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(program.pid, signal.SIGKILL)
                program.wait()
        lines = Path(folder, "stderr.txt").read_text(errors="replace").strip().splitlines()
    return "works" if status == 0 else f"{said(lines)} [{status}]"


def said(lines):
    """The line of an error text that says what it is."""
    errors = [line for line in lines if line[:1].isalpha() and ("Error" in line.partition(":")[0] or "Fatal" in line)]
    return (errors or lines or [""])[-1][:160]
