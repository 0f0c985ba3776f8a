"""The plugin of pytest: what is known to be wrong in the header, and below the report what explains its failures.

Off until ``--envdoctor`` or ``envdoctor = true`` in the configuration of pytest; until then it imports nothing.
"""

from __future__ import annotations

import functools
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

    from envdoctor.model import Finding, Snapshot

#: So many different errors are explained, and so many tests named with each.
_ERRORS, _TESTS = 20, 3


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, and the entry of the configuration."""
    said = "examine the environment, and explain failures by it"
    parser.getgroup("envdoctor").addoption("--envdoctor", action="store_true", default=False, help=said)
    parser.addini("envdoctor", said, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Register what the option asks for; with xdist, in the process that reports."""
    if (config.getoption("envdoctor") or config.getini("envdoctor")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Explanations(str(config.rootpath)), "envdoctor-explanations")


class Explanations:
    """The hooks of a session. What cannot be examined is said, and fails no test."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    @functools.cached_property
    def _snapshot(self) -> Snapshot:
        from envdoctor import doctor

        return doctor.examine("python", sys.executable, surroundings=self._directory)

    def pytest_report_header(self) -> str:
        """Say how many findings there are."""
        from envdoctor import doctor
        from envdoctor.errors import EnvdoctorError
        from envdoctor.renderers import layout
        from envdoctor.renderers.line import healthy

        try:
            report = doctor.check(self._snapshot)
        except EnvdoctorError as error:
            return f"envdoctor: {error}"
        return f"envdoctor: {layout.tally(report.findings) if report.findings else healthy(report.snapshot)}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Explain the errors of collection and of tests, each cause once."""
        stats = terminalreporter.stats
        causes = self._causes([*stats.get("error", ()), *stats.get("failed", ())])
        if causes:
            terminalreporter.section("envdoctor")
        for finding, tests in causes:
            for text in _lines(finding, tests):
                terminalreporter.write_line(text)

    def _causes(self, reports: Iterable[pytest.CollectReport | pytest.TestReport]) -> list[tuple[Finding, list[str]]]:
        """What explains the failures, in the order in which they came, each with the tests that it explains."""
        errors: dict[str, tuple[str, list[str]]] = {}
        for report in reports:
            text = report.longreprtext
            message = next((one for one in text.splitlines() if one.startswith("E  ")), text[-200:])
            if "AssertionError" not in message and not message.startswith("E       assert "):
                errors.setdefault(message, (text, []))[1].append(report.nodeid)
        causes: dict[tuple[str, str], tuple[Finding, list[str]]] = {}
        for text, tests in list(errors.values())[:_ERRORS]:
            best = self._best(text)
            if best is not None:
                causes.setdefault((best.rule, best.title), (best, []))[1].extend(tests)
        return list(causes.values())

    def _best(self, text: str) -> Finding | None:
        """The first explanation that the environment confirms, or that follows from the text."""
        from envdoctor import doctor, explaining
        from envdoctor.errors import EnvdoctorError
        from envdoctor.renderers.secrets import without_secrets

        try:
            report = without_secrets(doctor.prescribed(explaining.explain(text, self._snapshot)))
        except EnvdoctorError:
            return None
        return next((one for one in report.findings if one.confirmed or one.status == "derived"), None)


def _lines(finding: Finding, tests: list[str]) -> Iterator[str]:
    from envdoctor.renderers import layout, line

    yield f"{finding.severity}  {line.one_line(finding.title)}  [{finding.rule}]"
    for word, text in [
        ("why", finding.why),
        *(("fix" if not place else "or", layout.way(one).text) for place, one in enumerate(finding.remedies)),
        ("in", line.few(sorted(tests), _TESTS)),
    ]:
        yield f"  {word:<4}{line.one_line(text)}"
