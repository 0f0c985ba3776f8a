"""Side by side on six environments that are built here: envdoctor and the tools that people ask today.

    python benchmarks/compared.py [--advisories DIR] [--write docs/compared.md]

Three environments are healthy and three are not, of different kinds; what is true is found by running a statement in
each. Every tool examines each environment from outside where it can, and is installed in it where it must be. What it
says of vulnerabilities is no complaint here: that is another question, and a right answer to it. pip-audit asks its
service, or DIR, a checkout of PyPA's advisory database, over the same protocol. A conda on PATH is asked too.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import NamedTuple

import tool
import yaml

sys.path.insert(0, os.path.join(tool.CHECKOUT, "tests"))
from gpu import ABSENT
from interpreters import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PAGE = """\
# Compared with other tools

Six environments, built and run by `python benchmarks/compared.py --write docs/compared.md` with {versions}.
What is true is what running says. A tool is right where it complains of what fails, and silent where nothing does.
The six were chosen by the authors of envdoctor, from the kinds of trouble that it is made for.

| environment | running says | {heads} |
|---|---|{rule}
{rows}
| **right** | | {right} |

- `pip check` and `uv pip check` compare what is installed with what the metadata of each package asks for: of what
  metadata does not say they cannot know. They are the quickest there are, and where they complain, somebody declared it.
- `pip-audit` looks for releases with a published vulnerability, which is no question of envdoctor's; it says nothing of
  what works together. Its advisories are counted, not judged; they are {advisories}.
- `env-doctor` compares PyTorch, TensorFlow and JAX with driver and CUDA: [side by side on ten machines with
  GPUs](compared-gpu.md).
- `conda doctor` looks for files of conda packages that are missing or were altered: in environments that conda did not
  make, as these, it has nothing to look at.
"""
#: Further words for pip-audit.
SERVICE: list[str] = []
OTHERS = ("pip==26.0", "pip-audit==2.10.1", "env-doctor==0.3.5")


class Built(NamedTuple):
    """An environment: its Python, what is installed, what then goes over it without requirements, and a program."""

    name: str
    python: str
    whole: Sequence[str]
    over: Sequence[str]
    script: str


ENVIRONMENTS = (
    Built(
        "cloudpickle 1.6 on Python 3.11", "3.11", ["cloudpickle==1.6.0", "psutil"], [],
        "import cloudpickle, pickle; pickle.loads(cloudpickle.dumps(lambda: 1))()",
    ),
    Built("Flask 1.1 with what the index has now", "3.11", ["flask==1.1.4"], [], "import flask"),
    Built(
        "a requirement that is not met", "3.12", ["fastapi==0.110.0", "httpx"], ["starlette==0.20.0"], "import fastapi.testclient"
    ),
    Built(
        "a web service of today", "3.13", ["fastapi", "uvicorn", "sqlalchemy", "alembic", "httpx", "celery", "redis"], [],
        "import fastapi, uvicorn, sqlalchemy, alembic, httpx, celery, redis",
    ),
    Built(
        "data science of 2022, on its Python", "3.9", ["pandas==1.4.2", "numpy==1.22.4", "scikit-learn==1.1.1"], [],
        "import pandas, sklearn.linear_model; pandas.DataFrame({'a': [1]}).describe()",
    ),
    Built(
        "notebooks of today", "3.13", ["jupyterlab", "ipywidgets", "nbconvert", "matplotlib", "cloudpickle"], [],
        "import jupyterlab, ipywidgets, nbconvert, matplotlib.pyplot, cloudpickle",
    ),
)  # fmt: skip


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """A finished command with its output, no colour and no failure."""
    return subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})


def built(folder: str, environment: Built) -> str:
    """Build an environment; its interpreter."""
    python = os.path.join(folder, "bin", "python")
    subprocess.run(
        [tool.uv(), "venv", "-q", "--python", find(environment.python) or environment.python, folder], check=True
    )
    install = [tool.uv(), "pip", "install", "-q", "--python", python]
    subprocess.run([*install, *environment.whole], check=True)
    if environment.over:
        subprocess.run([*install, "--no-deps", *environment.over], check=True)
    return python


def envdoctor(python: str, _others: str) -> list[str]:
    """The rules that hold, those for information aside."""
    said = json.loads(run(sys.executable, "-m", "envdoctor", "--python", python, "-f", "json").stdout)
    return [f"`{one['rule']}`" for one in said["findings"] if one["severity"] != "info"]


def pip(python: str, others: str) -> list[str]:
    """The lines of ``pip check``."""
    done = run(f"{others}/bin/python", "-m", "pip", "--python", python, "check")
    return done.stdout.splitlines() if done.returncode else []


def uv(python: str, _others: str) -> list[str]:
    """The complaints of ``uv pip check``."""
    done = run(tool.uv(), "pip", "check", "--python", python)
    return [line for line in done.stderr.splitlines() if line.startswith("The package")] if done.returncode else []


def audit(python: str, others: str) -> list[str] | None:
    """How many advisories ``pip-audit`` knows, in brackets as these are another question; ``None`` without its service."""
    sites = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    words = ["--path", sites, "-f", "json", "--progress-spinner", "off", *SERVICE]
    done = run(f"{others}/bin/pip-audit", *words)
    asked = [one for one in json.loads(done.stdout or "{}").get("dependencies", ()) if "vulns" in one]
    found = sum(len(one["vulns"]) for one in asked)
    return ([f"({found} advisories)"] if found else []) if asked else None


@contextlib.contextmanager
def advisories(folder: str | None) -> Iterator[str]:
    """Have ``pip-audit`` ask for the advisories of a folder, where there is one; what they are is given in words."""
    if folder is None:
        yield "those that its service had that day, *not run* where it could not be reached"
        return

    class Service(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            files = glob.glob(os.path.join(glob.escape(folder), "vulns", asked["package"]["name"], "*.yaml"))
            every = [yaml.load(open(path, encoding="utf-8"), yaml.BaseLoader) for path in sorted(files)]  # noqa: SIM115
            found = [one for one in every if any(asked["version"] in each["versions"] for each in one["affected"])]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"vulns": found} if found else {}).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    SERVICE[:] = ["-s", "osv", "--osv-url", f"http://127.0.0.1:{server.server_port}/v1/query"]
    day = run("git", "-C", folder, "log", "-1", "--format=%cs").stdout.strip()
    yield f"those of PyPA's advisory database of {day}"
    server.shutdown()


def conda(python: str, _others: str) -> list[str] | None:
    """The complaints of ``conda doctor``, where there is a conda."""
    if shutil.which("conda") is None:
        return None
    done = run("conda", "doctor", "--prefix", os.path.dirname(os.path.dirname(python)))
    said = done.stdout + done.stderr
    if "NotACondaEnvironment" in said:
        return ["(refused: no conda environment)"]
    return [line.strip() for line in said.splitlines() if line.startswith("❌")]


def env_doctor(python: str, others: str) -> list[str] | None:
    """The complaints of ``env-doctor check``, which runs in the environment's interpreter; ``None`` where it cannot."""
    version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
    place = f"{others}-env-doctor-{version}"
    if run(tool.uv(), "pip", "install", "-q", "--python", python, "--target", place, OTHERS[2]).returncode:
        return None
    script = f"import sys; sys.path.append({place!r}); from env_doctor.cli import check_command; check_command()"
    lines = (line.strip() for line in run(python, "-c", script).stdout.splitlines())
    said = [line.lstrip("❌⚠️ ") for line in lines if "❌" in line or "⚠️" in line]
    return [line for line in said if not any(word in line for word in ABSENT)]


TOOLS: dict[str, Callable[[str, str], list[str] | None]] = {
    "envdoctor": envdoctor, "pip check": pip, "uv pip check": uv, "pip-audit": audit, "env-doctor": env_doctor,
    "conda doctor": conda,
}  # fmt: skip


def row(environment: Built, scratch: str, others: str) -> tuple[str, list[bool | None]]:
    """A line of the table, and which of the tools are right; ``None`` of one that could not be run."""
    python = built(os.path.join(scratch, str(len(os.listdir(scratch)))), environment)
    done = run(python, "-c", environment.script)
    truth = done.stderr.strip().splitlines()[-1].partition(" (/")[0] if done.returncode else "it works"
    cells, right = [], []
    for said in (function(python, others) for function in TOOLS.values()):
        complains = bool([one for one in said or () if not one.startswith("(")])
        right.append(None if said is None else complains is bool(done.returncode))
        cells.append("not run" if said is None else f"{'✓' if right[-1] else '✗'} {'<br>'.join(said[:3]) or 'nothing'}")
    return f"| {environment.name} | `{truth}` | {' | '.join(cells)} |", right


def main(path: str | None, folder: str | None) -> None:
    """Build, ask and write."""
    with tempfile.TemporaryDirectory() as scratch, advisories(folder) as known:
        others = os.path.join(scratch, "others")
        subprocess.run([tool.uv(), "venv", "-q", "--python", sys.executable, others], check=True)
        subprocess.run([tool.uv(), "pip", "install", "-q", "--python", others, *OTHERS[:2]], check=True)
        rows = [row(one, scratch, others) for one in ENVIRONMENTS]
    told = [[one for one in right if one is not None] for right in zip(*(right for _, right in rows))]
    counts = [f"{sum(right)} of {len(right)}" if right else "not run" for right in told]
    versions = ", ".join(
        [*(one.replace("==", " ") for one in OTHERS), run(tool.uv(), "--version").stdout.strip().split(" (")[0]]
    )
    page = PAGE.format(
        versions=versions, heads=" | ".join(TOOLS), rule="---|" * len(TOOLS), advisories=known,
        rows="\n".join(line for line, _ in rows), right=" | ".join(counts),
    )  # fmt: skip
    tool.put(page, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", help="the page to write the comparison to")
    parser.add_argument("--advisories", metavar="DIR", help="a checkout of PyPA's advisory database, for pip-audit")
    given = parser.parse_args()
    main(given.write, given.advisories)
