"""A report on several environments keeps to the length of a report, and says which it had no room for."""

import pytest

from envdoctor.model import Evidence, Finding, Group, Report, Snapshot
from envdoctor.renderers import markdown, several, terminal

FINDING = Finding(
    rule="r", severity="error", impact="crash", title="t" * 200, why="w" * 500, packages=["a"], facts=["packages"],
    evidence=[Evidence(fact="packages.a", value="1", source="/x")],
)  # fmt: skip


def report(environments, findings, left_out=0):
    target = {
        "kind": "root",
        "path": "/image",
        "left_out": [{"path": f"/gone{n}", "reason": "x" * 90} for n in range(left_out)],
    }
    parts = []
    for number in range(environments):
        place = f"/env{number}"
        snapshot = Snapshot(target={**target, "environment": place}, python={"version": "3.11"}, packages={})
        found = [FINDING.replace(rule=f"r{n}", environment=place) for n in range(findings)]
        groups = [Group(title=one.title, findings=[one], remedies=[]) for one in found]
        parts.append(Report(snapshot=snapshot, findings=found, groups=groups, rules=1))
    return parts[0].replace(findings=[one for part in parts for one in part.findings], parts=parts)


@pytest.mark.parametrize(
    ("environments", "findings", "left_out"), [(2, 1, 0), (20, 30, 0), (3, 300, 2), (2, 1, 900), (900, 1, 900)]
)
def test_a_report_has_at_most_as_many_characters_as_one_of_one_environment(environments, findings, left_out):
    whole = report(environments, findings, left_out)
    said = several.render(whole, "markdown", markdown.render)
    assert len(said) <= markdown.LIMIT
    shown = said.count("\n## /env")
    named = said.count("for which there is no room")
    assert shown + named == environments or "more\n" in said
    assert shown == 2 or environments != 2


def test_text_shows_every_environment():
    said = several.render(
        report(20, 30), "text", lambda one: terminal.render(one, width=80, color=False, unicode=False)
    )
    assert said.count("\n/env") == 20
