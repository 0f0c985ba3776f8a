"""What looking at a project costs: its parts without the rules, and a whole diagnosis with them, against a peer.

    python benchmarks/project.py [DIRECTORY] [--rounds 5]

Without a directory, one is made of 2,000 source files, 40 files of YAML and a long ``.gitignore``. Of the source files
seven in eight are of this interpreter's standard library; the others use what the rules ask about. Every round is a
process of its own. For the parts, cold means that the system was told to forget the files, which only Linux heeds; for
the whole, that envdoctor's cache is empty. The peer is a process that reads and parses all the files with ``ast.parse``
and does nothing else. Seconds are of the processor, with those of the wall behind them.
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
import time

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
PARSE = """
import ast, os, sys, warnings
warnings.simplefilter("ignore")
for above, _, files in os.walk(sys.argv[1]):
    for name in files:
        if name.endswith(".py"):
            with open(os.path.join(above, name), "rb") as file:
                try:
                    ast.parse(file.read())
                except (SyntaxError, ValueError):
                    pass
"""
#: The environment in which the rules are asked.
PACKAGES = {
    "numpy": "2.2.0",
    "pandas": "2.2.3",
    "torch": "2.5.1",
    "torchrl": "0.6.0",
    "scikit-learn": "1.6.0",
    "scipy": "1.14.1",
    "matplotlib": "3.10.0",
    "networkx": "3.4.2",
    "stable-baselines3": "2.4.0",
    "openai": "1.57.0",
    "flask": "3.1.0",
    "pydantic": "2.10.0",
    "pyyaml": "6.0.2",
}
USER = """
import argparse
import multiprocessing as mp
import os

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, frame):
        self.frame = frame
        self.weights = np.ones(len(frame), dtype=np.float64)

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        row = self.frame.iloc[index]
        return torch.as_tensor(row.to_numpy(dtype=np.float32)), float(self.weights[index])


def load(directory):
    frames = []
    for name in sorted(os.listdir(directory)):
        frames.append(pd.read_csv(os.path.join(directory, name)))
    frame = pd.concat(frames)
    frame["ratio_{number}"] = np.where(frame["b"] != 0, frame["a"] / frame["b"], np.nan)
    return frame.groupby("key").agg({{"ratio_{number}": "mean"}}).reset_index()


def train(directory, epochs):
    loader = DataLoader(Rows(load(directory)), batch_size=32, num_workers=4, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, {number} + 1), torch.nn.ReLU(), torch.nn.Linear({number} + 1, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(epochs):
        for rows, weights in loader:
            loss = (model(rows).squeeze() * weights).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    options = parser.parse_args()
    with mp.Pool(4) as pool:
        pool.starmap(train, [(options.directory, epochs) for epochs in range(4)])
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
        if number % 8:
            shutil.copyfile(names[number % len(names)], path)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(USER.format(number=number))
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


def run(words: list[str], given: str = "", **variables: str) -> tuple[float, float]:
    """Give the seconds of the processor and of the wall that a command takes."""
    before = os.times()
    start = time.perf_counter()
    subprocess.run(
        words,
        check=True,
        input=given,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=CHECKOUT,
        env={**os.environ, **variables},
    )
    wall = time.perf_counter() - start
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, wall


def whole(directory: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Medians of a diagnosis without what was remembered, of one with it, of one without a project, and of the peer."""
    snapshot = {
        "python": {"version": "3.12"},
        "platform": {"system": "linux", "machine": "x86_64"},
        "packages": PACKAGES,
        "start_method": {"default": "fork"},
    }
    diagnose = [sys.executable, "-m", "envdoctor", "check", "--snapshot", "-", "-f", "json", "--fail-on", "never"]
    seen: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="envdoctor-cache-") as cache, tempfile.TemporaryDirectory() as empty:
            once = ("rules compiled", empty)  # by the first run in a checkout
            for name, project in (once, ("environment only", empty), ("cold", directory), ("warm", directory)):
                took = run([*diagnose, "--project", project], json.dumps(snapshot), XDG_CACHE_HOME=cache)
                seen.setdefault(name, []).append(took)
        seen.setdefault("ast.parse of all files", []).append(run([sys.executable, "-c", PARSE, directory]))
    return {name: tuple(map(statistics.median, zip(*values))) for name, values in seen.items()}


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
            print(f"parts, {'cold' if cold else 'warm'}: {said}; all {sum(parts.values()):.0f} ms")
        took = whole(directory, options.rounds)
        peer = took["ast.parse of all files"][0]
        for name, (processor, wall) in took.items():
            print(f"{name}: {processor:.2f} s ({wall:.2f} s), {processor / peer:.2f} times ast.parse of all files")


if __name__ == "__main__":
    main()
