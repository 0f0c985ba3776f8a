"""The extension of IPython and Jupyter: ``%load_ext envdoctor`` explains the exception just shown, and later ones."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.model import Group, Report

#: So many explanations of one exception are shown.
_MOST = 3
_loaded: dict[int, Any] = {}


def load_ipython_extension(shell: Any) -> None:
    """Explain the last exception of a session, and each that a cell raises from now on."""

    def after(result: Any) -> None:
        if result.error_in_exec is not None:  # what does not compile says so itself
            _show(shell, result.error_in_exec)

    _loaded[id(shell)] = after
    shell.events.register("post_run_cell", after)
    last = getattr(sys, "last_value", None)
    if last is not None and not _show(shell, last):
        _publish(shell, "envdoctor: nothing that is known explains the last exception\n")


def unload_ipython_extension(shell: Any) -> None:
    """Explain no more exceptions."""
    shell.events.unregister("post_run_cell", _loaded.pop(id(shell)))


def _publish(shell: Any, text: str, **more: str) -> None:
    shell.display_pub.publish(data={"text/plain": text, **more})


def _show(shell: Any, error: BaseException) -> bool:
    """Show what explains an exception, below the cell and line it comes from; whether there is anything."""
    from envdoctor.errors import EnvdoctorError
    from envdoctor.renderers import html, terminal

    text, place = _read_traceback(shell, error)
    try:
        report = _explanation(text, shell.history_manager.input_hist_raw[1:] if place else [])
    except EnvdoctorError as failure:
        _publish(shell, f"envdoctor: {failure}\n")
        return True
    if report is not None:
        said = terminal.render(report, color=False, unicode=True)
        page = html.fragment(report, place)
        _publish(shell, f"{place}\n{said}" if place else said, **{"text/html": page})
    return report is not None


def _explanation(text: str, cells: list[str]) -> Report | None:
    """What the environment confirms, else what follows from the text; ``None`` where there is nothing of the kind.

    The cells of the session, as a notebook, are the project that rules ask about; without them it is the directory.
    """
    from envdoctor import doctor, explaining
    from envdoctor.renderers.secrets import without_secrets

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "session.ipynb"), "w", encoding="utf-8") as file:
            json.dump({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}, file)
        place: dict[str, Any] = {"project": folder} if cells else {"surroundings": os.getcwd()}
        report = without_secrets(explaining.explain(text, doctor.examine("python", sys.executable, **place)))
    groups = _worth_showing(report)
    findings = [finding for group in groups for finding in group.findings]
    shown: Report = report.replace(groups=groups, findings=findings, ruled_out=[], understood={})
    return shown if groups else None


def _worth_showing(report: Report) -> list[Group]:
    """The first groups of what is confirmed, else of what was derived from the text and is more than a remark."""
    from envdoctor.renderers import layout

    first = [(group, group.findings[0]) for group in report.groups]
    confirmed = [group for group, one in first if one.confirmed]
    return (confirmed or [group for group, one in first if layout.derived(one) and one.severity != "info"])[:_MOST]


def _read_traceback(shell: Any, error: BaseException) -> tuple[str, str]:
    """The traceback from its first cell on, and the innermost cell and line, if there are any."""
    shown = traceback.TracebackException.from_exception(error)
    place = ""
    for one in _chain(shown):
        first = None
        for number, frame in enumerate(one.stack):
            cell, _ = _cell(shell, frame.filename), frame.line  # which is looked up by the name of the file
            if cell:
                frame.filename, place = cell, f"{cell}, line {frame.lineno}"
                first = number if first is None else first
        cell = _cell(shell, getattr(one, "filename", None) or "")
        if cell:  # which Python could not read
            one.filename, place, first = cell, f"{cell}, line {one.lineno}", len(one.stack)
        del one.stack[: first or 0]
    return "".join(shown.format()), place


def _chain(shown: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """What an exception comes from, first, and the exception itself."""
    before = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    if before is not None:
        yield from _chain(before)
    yield shown


def _cell(shell: Any, file: str) -> str:
    """A cell as IPython calls it, such as ``Cell In[3]``; empty for a file."""
    name = shell.compile.format_code_name(file)
    return " ".join(name) if name else ""
