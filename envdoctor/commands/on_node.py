"""What runs on a node of a cluster: :func:`ask` in one of its workers, :func:`main` in a program that it starts.

The worker need not have envdoctor: the archive that it is given has it. Nothing is imported into the worker, and what
is written is removed.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    #: The number of a process, its snapshot as a document or ``None``, and why there is none.
    Answer = tuple[int, str | None, str]


def ask(archive: bytes, wanted: Mapping[str, Sequence[str]], seconds: float, *, beside: bool) -> Sequence[Answer]:
    """The snapshots of the interpreter that this runs in and, with ``beside``, of the workers beside it.

    It is sent as it is, and needs nothing of its module.
    """
    import json
    import os
    import subprocess
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(prefix="envdoctor-") as folder:
        path = os.path.join(folder, "envdoctor.zip")
        with open(path, "wb") as file:
            file.write(archive)
        program = "import sys; sys.path.insert(0, sys.argv[1]); from envdoctor.commands.on_node import main; main()"
        own = os.getpid()
        request = {"pid": own, "parent": os.getppid() if beside else None, "wanted": dict(wanted), "path": sys.path}
        try:
            done = subprocess.run(  # noqa: S603 - the worker's own interpreter
                [sys.executable, "-c", program, path],
                input=json.dumps(request), capture_output=True, text=True, timeout=seconds, check=False,
            )  # fmt: skip
            return [tuple(one) for one in json.loads(done.stdout.rpartition("\n")[2])]
        except subprocess.TimeoutExpired:
            return [(own, None, f"it took longer than {seconds:g} seconds")]
        except ValueError:
            return [(own, None, "; ".join(done.stderr.strip().splitlines()[-1:]) or "it printed nothing")]


def main() -> None:
    """Print the snapshots that standard input asks for, as one line of JSON."""
    from envdoctor.errors import EnvdoctorError

    request = json.load(sys.stdin)
    sys.path += [one for one in request["path"] if one not in sys.path]
    targets = [(request["pid"], "python", sys.executable)]
    if request["parent"]:
        targets += [(pid, "pid", str(pid)) for pid in _workers(request["parent"]) if pid != request["pid"]]
    answers: list[Answer] = []
    for pid, kind, value in targets:
        try:
            answers.append((pid, _document(kind, value, request["wanted"]), ""))
        except EnvdoctorError as error:
            answers.append((pid, None, str(error)))
    sys.stdout.write("\n" + json.dumps(answers))


def _workers(parent: int) -> list[int]:
    """The numbers of the workers that a process has started: those that run Python."""
    try:
        import psutil
    except ImportError:
        return []
    children = psutil.Process(parent).children()
    own = [one for one in children if one.name().startswith(("python", "ray::"))]
    return [one.pid for one in own if not {"-c", "-m"} & set(one.cmdline()) and "/agent" not in " ".join(one.cmdline())]


def _document(kind: str, value: str, wanted: Mapping[str, Sequence[str]]) -> str:
    from envdoctor import targets
    from envdoctor.probes import answered
    from envdoctor.renderers.redaction import Redactor
    from envdoctor.renderers.snapshot_document import asked, render

    examined = answered(targets.examine(kind, value, wanted=wanted), lambda now: asked(now, wanted))
    return render(examined, wanted, Redactor.of_this_user(wanted.get("env", ())))
