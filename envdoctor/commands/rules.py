"""``envdoctor rules``: what is asked of rules here, and what the workshop does with them."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from envdoctor.commands.options import Parser
from envdoctor.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_EXAMPLES = """\
commands:
  list        every rule, a line each
  show        one rule, whole
  new         write the skeleton of a rule
  draft       write a rule from a traceback, with the edges that releases tell
  lint        read rules back; all mistakes of a file at once
  verify      run their proofs in throw-away environments
  spot-check  run releases that no proof names, and say where a rule is wrong about them
  bisect      measure where a rule begins and ends
  matrix      draw what works with what
  import      write candidates from another channel's patches
  history     write which names of a distribution were there in which releases
  gaps        print the names that a release removed and no rule asks for
  mine        write candidates from the releases at both sides of what a distribution removed

examples:
  envdoctor rules list                       every rule, a line each
  envdoctor rules list DISTRIBUTION          the rules about one distribution
  envdoctor rules show requirement-missing
  envdoctor rules new my-cause --area web    write the skeleton of a rule
  envdoctor rules lint rules/web             read rules back
  envdoctor rules verify my-cause            run its proof

envdoctor rules COMMAND --help says more.
"""


def run(words: Sequence[str]) -> int:
    """Run ``envdoctor rules``."""
    parser = Parser(
        prog="envdoctor rules",
        usage="envdoctor rules COMMAND [OPTIONS]",
        description="List, show, write and lint rules. The language is on one page: rules/README.md.",
        epilog=_EXAMPLES,
    )
    if not words:
        parser.error(f"rules needs a command: {', '.join(_COMMANDS)}")
    if words[0] not in _COMMANDS:
        parser.parse_known_args(words)  # --help ends here
        close = difflib.get_close_matches(words[0], _COMMANDS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        parser.error(f"rules has no command {words[0]!r}{hint}")
    make, execute = (loaded(f"rules {words[0]}", function) for function in _COMMANDS[words[0]])
    status: int = execute(make().parse_args(words[1:]))
    return status


def bisect(words: Sequence[str]) -> int:
    """``envdoctor bisect``, which builds environments as the workshop does."""
    status: int = loaded("bisect", "workshop.commands.bisect:run")(words)
    return status


def loaded(command: str, function: str) -> Callable[..., Any]:
    """A function by the name of its module and its own; the workshop is an extra, and may lack what it needs."""
    module, _, name = function.partition(":")
    try:
        found: Callable[..., Any] = getattr(import_module(f"envdoctor.{module}"), name)
    except ModuleNotFoundError as error:
        message = f"{command} needs {error.name}, which only authors of rules need"
        raise UsageError(f"{message}: pip install 'pyenvdoctor[workshop]'") from error
    return found


#: What makes the parser of a command, and what runs it.
_COMMANDS: Mapping[str, tuple[str, str]] = {
    "list": ("commands.rules_list:list_parser", "commands.rules_list:list_rules"),
    "show": ("commands.rules_list:show_parser", "commands.rules_list:show"),
    "new": ("workshop.commands.rules_write:new_parser", "workshop.commands.rules_write:new"),
    "draft": ("workshop.commands.rules_draft:parser", "workshop.commands.rules_draft:run"),
    "lint": ("workshop.commands.rules_write:lint_parser", "workshop.commands.rules_write:lint"),
    "verify": ("workshop.commands.rules_verify:parser", "workshop.commands.rules_verify:run"),
    "import": ("workshop.commands.rules_import:parser", "workshop.commands.rules_import:run"),
    "history": ("workshop.commands.rules_history:parser", "workshop.commands.rules_history:run"),
    "gaps": ("workshop.commands.rules_gaps:parser", "workshop.commands.rules_gaps:run"),
    "mine": ("workshop.commands.rules_mine:parser", "workshop.commands.rules_mine:run"),
    "bisect": ("workshop.commands.rules_measure:bisect_parser", "workshop.commands.rules_measure:bisect"),
    "matrix": ("workshop.commands.rules_measure:matrix_parser", "workshop.commands.rules_measure:matrix"),
    "spot-check": ("workshop.commands.rules_spot_check:parser", "workshop.commands.rules_spot_check:run"),
}
