"""What looking at a project costs: a whole diagnosis with it, against a peer.

    python benchmarks/project.py [DIRECTORY ...] [--write docs/project.md] [--rounds 5]

A project is made of 2,000 source files, 40 files of YAML and a long ``.gitignore``. Of the source files seven in eight
are of this interpreter's standard library; the others use what the rules ask about. Directories that are named are
measured as well. Every round is a separate process, and all take turns. The peer is a process that reads and parses
all the files with ``ast.parse`` and does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

import tool

FILES = 2_000
NONE, COLD, WARM, PEER = "without a project", "cold", "warm", "ast.parse"
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
        cwd=tempfile.gettempdir(),
        env={**os.environ, **variables},
    )
    wall = time.perf_counter() - start
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, wall


def whole(envdoctor: str, directory: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Medians of a diagnosis without what was remembered, of one with it, of one without a project, and of the peer."""
    snapshot = {
        "python": {"version": "3.12"},
        "platform": {"system": "linux", "machine": "x86_64"},
        "packages": PACKAGES,
        "start_method": {"default": "fork"},
    }
    diagnose = [envdoctor, "check", "--snapshot", "-", "-f", "json", "--fail-on", "never", "--project"]
    seen: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="envdoctor-cache-") as cache, tempfile.TemporaryDirectory() as empty:
            for name, project in ((NONE, empty), (COLD, directory), (WARM, directory)):
                took = run([*diagnose, project], json.dumps(snapshot), XDG_CACHE_HOME=cache)
                seen.setdefault(name, []).append(took)
        seen.setdefault(PEER, []).append(run([sys.executable, "-c", PARSE, directory]))
    return {name: tuple(map(statistics.median, zip(*values))) for name, values in seen.items()}


def size(directory: str) -> tuple[int, float]:
    """How many source files a project has, and of how many megabytes."""
    sizes = [
        os.path.getsize(os.path.join(above, name))
        for above, _, names in os.walk(directory)
        for name in names
        if name.endswith(".py")
    ]
    return len(sizes), sum(sizes) / 1e6


def page(seen: dict[str, tuple[int, float, dict[str, tuple[float, float]]]]) -> str:
    """The figures as a page of the documentation."""
    where = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = [
        "# What looking at a project costs", "",
        "Made by `python benchmarks/project.py --write docs/project.md [DIRECTORY ...]`; do not edit. Whole commands of the installed",
        "wheel in an environment of which many rules ask about source, medians, in seconds of the wall and, behind them, of the",
        "processor. A project that is not made was given as a directory: the packages that it is called after, as their wheels unpack.",
        f"{where}. Trust the ratios, not the seconds.", "",
        "| project | files | MB | `ast.parse` of all | " + " | ".join(f"{name} | ÷ `ast.parse`" for name in (COLD, WARM)) + f" | {NONE} |",
        "|---|--:|--:|--:|" + "--:|" * 5,
    ]  # fmt: skip
    for name, (files, megabytes, took) in seen.items():
        cells = [f"{took[PEER][1]:.2f} ({took[PEER][0]:.2f})"]
        for kind in (COLD, WARM):
            processor, wall = took[kind]
            cells += [f"{wall:.2f} ({processor:.2f})", f"{wall / took[PEER][1]:.2f}"]
        cells.append(f"{took[NONE][1]:.2f} ({took[NONE][0]:.2f})")
        lines.append(f"| {name} | {files:,} | {megabytes:.1f} | " + " | ".join(cells) + " |")
    lines += ["", "Cold: nothing is remembered. Warm: nothing changed since the last run. An environment is examined without a",
              "project where no rule that asks about one concerns what is installed."]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and perhaps write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", metavar="DIRECTORY")
    parser.add_argument("--write", metavar="FILE", help="write the page here as well")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="envdoctor-project-") as scratch:
        envdoctor = tool.install(os.path.join(scratch, "tool"))
        made = os.path.join(scratch, "project")
        make(made)
        projects = {"made of the standard library": made}
        projects.update((os.path.basename(os.path.abspath(one)), one) for one in options.directories)
        seen = {name: (*size(one), whole(envdoctor, one, options.rounds)) for name, one in projects.items()}
    tool.put(page(seen), options.write)


if __name__ == "__main__":
    main()
