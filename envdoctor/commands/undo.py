"""``envdoctor undo``."""

from __future__ import annotations

import os

from envdoctor import doctor
from envdoctor.commands.configuration import parse
from envdoctor.commands.options import parser_for
from envdoctor.commands.output import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = """\
examples:
  envdoctor undo                               the active environment, else the project's .venv
  envdoctor undo --python /opt/app/bin/python

Every file of the environment, and every file that was edited beside it, is what it was, byte by byte. What was kept
for that is in .envdoctor of the environment; after a run that was killed, too, undo is all there is to do.
"""


def run(words: Sequence[str]) -> int:
    """``envdoctor undo``."""
    parser = parser_for("undo", "Bring back what was before envdoctor fix --apply changed an environment.", EXAMPLES)
    parser.add_argument("--python", metavar="PATH", help="the interpreter, or its environment's directory")
    parser.add_argument(
        "--yes-really", action="store_true", help="even where that takes back what was installed since, too"
    )
    options = parse(parser, words)
    from envdoctor.remedies.apply import undo
    from envdoctor.talk import say

    write(undo(_prefix(options.python), say, consent=options.yes_really) + "\n")
    return 0


def _prefix(python: str | None) -> str:
    """The environment that is meant: one whose interpreter is gone has still got what was kept."""
    from envdoctor.remedies.journal import FOLDER

    above = os.path.abspath(python) if python else ""
    for _ in range(3):
        if above and os.path.isdir(os.path.join(above, FOLDER)):
            return above
        above = os.path.dirname(above)
    found = doctor.examine("python", python) if python else doctor.examine()
    return str(found.python.get("prefix"))
