"""The commands behind ``envdoctor``, each imported when it runs.

To add a command, write one file with ``run(words) -> exit status`` and add a row to :data:`COMMANDS`.
"""

from __future__ import annotations

COMMANDS = {
    "check": "envdoctor.commands.check:run",
    "explain": "envdoctor.commands.explain:run",
    "run": "envdoctor.commands.run_command:run",
    "fix": "envdoctor.commands.fix:run",
    "undo": "envdoctor.commands.undo:run",
    "constraints": "envdoctor.commands.constraints:run",
    "diff": "envdoctor.commands.diff:run",
    "bisect": "envdoctor.commands.rules:bisect",
    "fleet": "envdoctor.commands.fleet:run",
    "report": "envdoctor.commands.report:run",
    "snapshot": "envdoctor.commands.snapshot:run",
    "rules": "envdoctor.commands.rules:run",
    "mcp": "envdoctor.commands.mcp:run",
}

HELP = """\
usage: envdoctor [COMMAND] [OPTIONS]

Examines a Python environment, matches it against rules that declare known-bad combinations, and prints the fix.

commands:
  check        examine an environment and diagnose it (the default)
  explain      find the rules that explain a traceback or a log
  run          run a command, and explain its failure
  fix          plan one set of changes that ends every error; try it, apply it
  undo         bring back what was before the last plan was applied
  constraints  write the rules that matter here as constraints for pip, uv or conda
  diff         compare two environments, and explain what one has and the other has not
  bisect       find which of the releases that differ between two environments make a command fail
  fleet        judge many snapshots, or a cluster's nodes and workers, and name the odd ones out
  report       write the Markdown attachment for a bug report, redacted
  snapshot     write the facts as JSON, redacted
  rules        list, show, write, lint, prove and measure rules
  mcp          serve check, explain, a dry plan and rules to a coding agent

examples:
  envdoctor                                   the environment at hand, see below
  envdoctor --python .venv/bin/python         another interpreter, CPython 3.6 or later
  envdoctor -r uv.lock --python-version 3.12  what a lock file would install
  envdoctor --project . --artifact model.zip  your source and configuration too, and a file you will load
  envdoctor --pid 4711                        a running or hung job
  envdoctor -f json --fail-on warning         one JSON document; exit status 1 from warnings on
  envdoctor explain error.log                 why did it break?
  envdoctor run python train.py               the same, at the moment of failure
  envdoctor fix                               one plan for everything that was found

Where none is named, it is the active environment (VIRTUAL_ENV, CONDA_PREFIX); with python -m envdoctor, that python;
else what the project around the current directory has (.venv, venv, or what uv, poetry, pdm, pipenv or hatch keep for
it); else its lock file, where nothing is installed; else python on PATH; else the environment that envdoctor is
installed in. One that was made for envdoctor alone is only examined by name.

envdoctor COMMAND --help says more. Exit status: 0 nothing found, 1 something found, 2 wrong usage,
3 the target could not be examined, 4 envdoctor itself failed.
"""


def run(words: list[str]) -> int:
    """Run a command line that has words in it; without a command, ``check``."""
    from envdoctor.commands.output import write
    from envdoctor.errors import UsageError

    first = words[0]
    if first in {"-h", "--help", "help"}:
        write(HELP)
        return 0
    if first in {"-V", "--version"}:
        write(_version())
        return 0
    if first not in COMMANDS and not first.startswith("-"):
        raise UsageError(f"there is no command {first!r}{_nearest(first)}")
    from importlib import import_module

    command, rest = (first, words[1:]) if first in COMMANDS else ("check", words)
    module, _, function = COMMANDS[command].partition(":")
    status: int = getattr(import_module(module), function)(rest)
    return status


def _version() -> str:
    """The release, the number of rules, and the day of the newest proof among them."""
    from envdoctor._version import __version__
    from envdoctor.errors import EnvdoctorError
    from envdoctor.rulebase.shipped import shipped

    try:
        rules = shipped()
    except EnvdoctorError as error:  # to say which release it is that has damaged rules is worth more
        return f"envdoctor {__version__} ({error})\n"
    return f"envdoctor {__version__} ({rules.rules} rules of {rules.date})\n"


def _nearest(word: str) -> str:
    """What was probably meant, or where to look."""
    import difflib

    from envdoctor.commands import instead

    close = difflib.get_close_matches(word, COMMANDS, 1)
    if close:
        return f" (did you mean {close[0]!r}?); envdoctor --help lists them"
    if "--" + word in instead.OPTIONS:
        return f": {instead.OPTIONS['--' + word]}"
    meant = instead.word(word)
    return f"; did you mean {meant}?" if meant else "; envdoctor --help lists them"
