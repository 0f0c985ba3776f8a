"""``envdoctor mcp``: check, explain, plan and show a rule as tools of a coding agent. Nothing is changed."""

from __future__ import annotations

import contextlib
import functools
import gc
from typing import Any

from envdoctor import doctor, explaining, fixing
from envdoctor.commands.configuration import parse
from envdoctor.commands.explain import frames_of
from envdoctor.commands.options import Parser, add_ignore, add_project, add_target, examine, parser_for
from envdoctor.commands.rules_list import document, named
from envdoctor.errors import EnvdoctorError, UsageError
from envdoctor.probes.error_text import read as read_error
from envdoctor.renderers import layout, line
from envdoctor.renderers import plan as plans
from envdoctor.renderers.json import plain
from envdoctor.renderers.secrets import without_secrets
from envdoctor.targets.project import default

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.model import Group, Report

#: So many findings, pieces of evidence of each, reasons and lines of a file's changes are answered with.
_FINDINGS, _ROWS, _REASONS, _LINES = 20, 6, 5, 60
_INSTRUCTIONS = """\
Examines Python environments by their files: nothing is imported, executed or changed. Without a target it is the
environment at hand: the active one, else .venv of the project around the server's directory. A target is one of
python (an interpreter, or the directory of its environment), requirements (a requirements or lock file, with
python_version such as 3.12) and root (the file system of an image); project is a directory whose source and
configuration are read besides."""


def run(words: Sequence[str]) -> int:
    """``envdoctor mcp``."""
    Parser(
        prog="envdoctor mcp",
        description="Serve check, explain, plan and rule as tools to a coding agent, on stdin and stdout, by the\n"
        "Model Context Protocol. Nothing is changed: a plan is only shown. Needs pip install 'pyenvdoctor[mcp]'.",
        epilog="examples:\n  envdoctor mcp      as an agent's configuration has it: command envdoctor, arguments mcp\n",
    ).parse_args(words)
    gc.enable()  # this process does not end after one run
    serve, failure, hints = _sdk()
    server = serve("envdoctor", instructions=_INSTRUCTIONS, log_level="WARNING")
    for tool in (check, explain, plan, rule):
        server.tool(annotations=hints(readOnlyHint=True))(_telling(tool, failure))
    server.run("stdio")
    return 0


def _sdk() -> tuple[Any, Any, Any]:
    """The server of the SDK, the error of a tool, and what is said of tools, by the names that its release has."""
    from importlib import import_module

    for module, name in (("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP")):
        with contextlib.suppress(ModuleNotFoundError):
            serve, failure = import_module(module), import_module(f"{module}.exceptions")
            return getattr(serve, name), failure.ToolError, import_module("mcp.types").ToolAnnotations
    raise UsageError("envdoctor mcp needs the SDK of the Model Context Protocol: pip install 'pyenvdoctor[mcp]'")


def _telling(tool: Callable[..., dict[str, Any]], failure: Callable[[str], Exception]) -> Callable[..., dict[str, Any]]:
    """The tool, whose errors tell the agent what to do instead."""

    @functools.wraps(tool)
    def called(**given: Any) -> dict[str, Any]:
        try:
            return tool(**given)
        except EnvdoctorError as error:
            raise failure(str(error)) from error

    return called


def check(
    python: str = "", requirements: str = "", python_version: str = "", root: str = "", project: str = ""
) -> dict[str, Any]:
    """Find known-bad combinations in a Python environment, or in what a requirements or lock file would install.

    Each finding has its evidence, why it is one, and fixes, the best first, with the command where one line does it.
    """
    options = _options(locals())
    report = doctor.check(examine(options), options.rules, ignore=options.ignoring)
    return _answer(report)


def explain(text: str, python: str = "", requirements: str = "", python_version: str = "") -> dict[str, Any]:
    """Explain a traceback or a log, by the rules that know it and by the environment that it comes from.

    Best first. What the environment confirms is certain; what is derived was proven by nobody.
    """
    given = locals()
    said = read_error(given.pop("text"))
    options = _options(given)
    return _answer(explaining.explain(said, examine(options, frames_of(said)), options.rules))


def plan(python: str = "", project: str = "", everything: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002
    """Plan one set of changes that ends every error of an environment, with everything its warnings too.

    Nothing is changed. The package index is asked which releases go together. Apply it by the command, if at all.
    """
    options = _options({"python": python, "project": project})
    words = {"ignore": options.ignoring, "everything": everything, "project": options.project or default()}
    made, snapshot = fixing.plan(examine(options), options.rules, **words)
    return _plain({
        "target": line.subject(snapshot),
        "command": made.line,
        "python": made.python,
        "moves": [{"package": one.package, "from": one.before, "to": one.after, "why": one.why} for one in made.moves],
        "edits": [{"file": one.path, "diff": "\n".join([*plans.diff(one)][:_LINES])} for one in made.edits],
        "by_hand": [layout.way(one).text for one in made.advice],
        "not_cured": [line.one_line(one.title) for one in made.left[:_FINDINGS]],
    })  # fmt: skip


def rule(id: str) -> dict[str, Any]:  # noqa: A002 - what the command line calls it
    """Show one rule whole, by the id that findings name: its condition, reason, symptoms, remedies and references."""
    return _plain(document(named(id)))


def _options(given: dict[str, Any]) -> argparse.Namespace:
    """The options that a command line with these words has, defaults of the project's configuration among them."""
    parser = parser_for("mcp", "", "")
    add_target(parser)
    add_project(parser)
    add_ignore(parser)
    return parse(parser, [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value])


def _answer(report: Report) -> dict[str, Any]:
    report = without_secrets(report)
    groups = layout.groups(report)
    return _plain({
        "target": line.subject(report.snapshot),
        "result": layout.headline(report),
        "findings": [dict(_finding(group, report)) for group in groups[:_FINDINGS]],
        "more_findings": len(groups[_FINDINGS:]),
        "not_examined": line.reasons(report, most=_REASONS),
    })  # fmt: skip


def _finding(group: Group, report: Report) -> Iterator[tuple[str, Any]]:
    """What one rule found, in few words."""
    finding = group.findings[0]
    rows, more = layout.rows(group, report, _ROWS)
    yield from {"rule": finding.rule, "severity": finding.severity, "impact": finding.impact}.items()
    yield from {"title": line.one_line(group.title), "standing": layout.credit(finding)}.items()
    if finding.matched:
        yield "matched", layout.confirmation(finding, report)
    yield "evidence", [f"{what} ({place})" for what, place in rows] + [f"and {more} more"] * bool(more)
    yield "why", " ".join(layout.whys(group)[:1])
    yield "fixes", [_fix(layout.way(one)) for one in group.remedies]
    yield "references", layout.references(group)[:2]


def _fix(way: layout.Way) -> dict[str, str]:
    said = {"command" if way.typed else "do": way.text, "trust": way.tag or "safe", "cost": way.cost}
    return {name: value for name, value in said.items() if value}


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = plain(answer)
    return made
