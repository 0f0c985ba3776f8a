"""What planning costs besides the resolver: `envdoctor fix` of sick environments, in seconds of the processor.

    python benchmarks/plans.py [--write docs/plans.md] [--keep DIR] [--sizes medium,large]

Needs uv and an index. Each environment of benchmarks/environments gets a dozen distributions over it that do not go
together with the rest. Every figure is of a second run: the first has read the metadata of the releases.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from typing import Any

import tool

HERE = os.path.dirname(os.path.abspath(__file__))
#: What is installed over an environment without its requirements.
OVER = [
    "flask-mongoengine==1.0.0", "mongoengine==0.29.1", "flask==2.3.1", "flask-wtf", "wtforms==3.0.1", "blinker",
    "imbalanced-learn==0.14.0", "scikit-learn==1.8.0", "sklearn-compat", "cloudpickle==1.6.0", "acme==2.11.0",
    "josepy==2.0.0", "pyopenssl==24.3.0", "cryptography==43.0.3", "pyrfc3339", "respx==0.21.1", "statsmodels==0.14.5",
    "patsy", "sshtunnel==0.4.0", "paramiko==4.0.0", "bcrypt", "pynacl",
]  # fmt: skip
#: Plans, and says on stderr the seconds of this process and of its children, and how often it called the resolver.
PROGRAM = """
import json, resource, sys
from envdoctor import cli, searching
calls, resolve = [], searching.resolve
searching.resolve = lambda task: calls.append(task) or resolve(task)
sys.argv[0] = "envdoctor"
cli.main()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([*(one.ru_utime + one.ru_stime for one in used), len(calls)]), file=sys.stderr)
"""


def sick(directory: str, size: str) -> str:
    """An environment in which much is wrong."""
    environment = os.path.join(directory, size)
    listed = os.path.join(HERE, "environments", size + ".txt")
    if not os.path.exists(environment):
        into = [tool.uv(), "pip", "install", "--quiet", "--no-deps", "--python", environment]
        calls = [
            [tool.uv(), "venv", "--quiet", "--python", sys.executable, environment],
            [*into, "-r", listed],
            [*into, *OVER],
        ]
        for words in calls:
            subprocess.run(words, check=True)
    return environment


def planned(environment: str) -> dict[str, Any]:
    """What one plan took, and what is in it."""
    words = [sys.executable, "-c", PROGRAM, "fix", "--python", environment, "-f", "json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=environment, check=False)
    document = json.loads(done.stdout)
    own, others, calls = json.loads(done.stderr.strip().splitlines()[-1])
    found = subprocess.run(
        [sys.executable, "-m", "envdoctor", "--python", environment, "-f", "json"],
        capture_output=True, text=True, cwd=environment, check=False,
    ).stdout  # fmt: skip
    return {
        "own": own, "others": others, "calls": calls,
        "moves": len(document["plan"]["moves"]), "left": len(document["plan"]["left"]),
        "errors": sum(one["severity"] == "error" for one in json.loads(found)["findings"]),
        "distributions": len([one for one in os.listdir(_packages(environment)) if one.endswith(".dist-info")]),
    }  # fmt: skip


def _packages(environment: str) -> str:
    version = "python" + ".".join(map(str, sys.version_info[:2]))
    return os.path.join(environment, "lib", version, "site-packages")


def page(rows: list[dict[str, Any]]) -> str:
    """The page of figures."""
    version = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    lines = [
        "# What planning costs", "",
        "Made by `python benchmarks/plans.py --write docs/plans.md`; do not edit. Seconds of the processor, in the second of",
        f"two runs, of the whole command and of the resolver that it calls. {version}, {machine}.", "",
        "| distributions | errors | steps | left | calls of uv | uv | envdoctor besides |",
        "|--:|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {one['distributions']} | {one['errors']} | {one['moves']} | {one['left']} | {one['calls']} "
            f"| {one['others']:.2f} | {one['own']:.2f} |"
            for one in rows
        ),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Build, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--keep", metavar="DIR", help="keep the environments in this directory")
    parser.add_argument("--sizes", default="medium,large")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environments = [sick(options.keep or folder, size) for size in options.sizes.split(",")]
        rows = [[planned(one) for _ in range(2)][-1] for one in environments]
    tool.put(page(rows), options.write)


if __name__ == "__main__":
    main()
