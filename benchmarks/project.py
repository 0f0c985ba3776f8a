"""What looking at a project costs, without what the rules then do: the walk, its source, a word, configuration, shadows.

    python benchmarks/project.py [DIRECTORY] [--rounds 5]

Without a directory, one is made of 2,000 source files of this interpreter's standard library, 40 files of YAML and a
long ``.gitignore``. Every round is a process of its own. Cold means that the system was told to forget the files, which
only Linux heeds; the directories themselves stay remembered.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = 2_000
ROUND = """
import json, sys, time
marks = [("", time.perf_counter())]
mark = lambda name: marks.append((name, time.perf_counter()))
from envdoctor.probes.project import Project
mark("import")
project = Project.at(sys.argv[1])
project.files()
mark("walk")
project.mentioning(b"import torch")
mark("read")
project.mentioning(b"multiprocessing")
mark("one more word")
project.lookup("config", "**/configs.yaml\\nrun.driver_parallel")
mark("configuration")
project.lookup("shadows", "standard-library")
mark("shadows")
print(json.dumps({name: 1000 * (at - before) for (_, before), (name, at) in zip(marks, marks[1:])}))
"""
IGNORED = (
    "__pycache__/ *.py[cod] *$py.class *.so build/ develop-eggs/ dist/ lib64/ share/python-wheels/ *.egg-info/ *.manifest "
    "*.spec pip-log.txt htmlcov/ .coverage .coverage.* *.py,cover *.mo *.log /site docs/_build/ .env .venv env/ venv/ "
    "cython_debug/ outputs/**/*.ckpt !keep.ckpt"
)


def make(directory: str) -> None:
    """Write the project that is measured."""
    names = []
    for above, below, files in os.walk(sysconfig.get_path("stdlib")):
        below[:] = sorted(set(below) - {"site-packages", "__pycache__"})
        names += [os.path.join(above, name) for name in sorted(files) if name.endswith(".py")]
    for number in range(FILES):
        path = os.path.join(directory, "src", str(number // 50), f"module_{number}.py")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(names[number % len(names)], path)
    for number in range(40):
        path = os.path.join(directory, "conf", str(number), "configs.yaml")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"defaults:\n  run: {{driver_parallel: true, steps: {number}}}\n")
    with open(os.path.join(directory, ".gitignore"), "w", encoding="utf-8") as file:
        file.write("\n".join(IGNORED.split()))


def forget(directory: str) -> None:
    """Ask the system to drop the contents of the files from its memory."""
    for above, _, files in os.walk(directory):
        for name in files:
            descriptor = os.open(os.path.join(above, name), os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def measure(directory: str, rounds: int, *, cold: bool) -> dict[str, float]:
    """Lower quartiles of the parts, in milliseconds."""
    seen: dict[str, list[float]] = {}
    for _ in range(rounds + 1):
        if cold:
            forget(directory)
        words = [sys.executable, "-c", ROUND, directory]
        output = subprocess.run(words, check=True, capture_output=True, text=True, cwd=CHECKOUT).stdout
        for name, value in json.loads(output).items():
            seen.setdefault(name, []).append(value)
    return {name: statistics.quantiles(values[1:], n=4)[0] for name, values in seen.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="envdoctor-project-") as scratch:
        if options.directory is None:
            make(scratch)
        directory = options.directory or scratch
        for cold in [False, True] if hasattr(os, "posix_fadvise") else [False]:
            parts = measure(directory, options.rounds, cold=cold)
            said = ", ".join(f"{name} {value:.0f}" for name, value in parts.items())
            print(f"{'cold' if cold else 'warm'}: {said}; all {sum(parts.values()):.0f} ms")


if __name__ == "__main__":
    main()
