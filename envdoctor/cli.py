"""The command line: arguments in, exit status out. A command's code is imported when it runs.

``envdoctor`` without arguments never builds a parser: it costs about as much as starting Python.
"""

from __future__ import annotations

import sys

from envdoctor.errors import EnvdoctorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status. No exception leaves it."""
    import gc

    from envdoctor.targets import environment

    gc.disable()
    environment.shield()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words in ([], ["check"]):
            return _at_once(plain()) if arguments is None else plain()
        from envdoctor.commands import run

        return run(words)
    except EnvdoctorError as error:
        return _end(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _end("interrupted", INTERRUPTED)
    except SystemExit as end:  # the parser's, after it has printed its help
        return int(end.code or 0)
    except Exception as error:  # noqa: BLE001 - the last stop: a user gets a line, never a traceback
        return _own_failure(error)
    finally:
        environment.unshield()
        gc.enable()
        if arguments is None:
            gc.freeze()  # the process ends: nobody needs to look through everything for garbage once more


def plain() -> int:
    """``envdoctor`` alone: the environment at hand, one calm line where nothing is wrong."""
    from envdoctor import doctor
    from envdoctor.commands import configuration, run
    from envdoctor.commands.output import show, status
    from envdoctor.targets.project import default

    if configuration.find():
        return run(["check"])
    report = doctor.check(doctor.examine(surroundings=default()))
    show(report)
    return status(report, "error")


def _at_once(status: int) -> NoReturn:
    """End the process of a plain run: to take an interpreter apart, object by object, costs a tenth of such a run."""
    import atexit
    import os

    atexit._run_exitfuncs()  # noqa: SLF001 - what is to be kept of this run; what it has said is flushed
    os._exit(status)


def _own_failure(error: Exception) -> int:
    import os

    if os.environ.get("ENVDOCTOR_DEBUG"):
        raise error
    return _end(
        f"envdoctor itself failed: {type(error).__name__}: {error}\n"
        "  This is a mistake in envdoctor. Run it again with ENVDOCTOR_DEBUG=1 and report what it prints.",
        EnvdoctorError.exit_code,
    )


def _end(message: str, status: int) -> int:
    """Say why the run ends, and return its exit status."""
    from envdoctor.commands.output import say

    say(f"envdoctor: {message}")
    return status
