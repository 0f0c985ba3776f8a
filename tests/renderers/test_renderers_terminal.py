import io
import re

import pytest
from golden import samples
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor import renderers
from envdoctor.errors import UsageError
from envdoctor.model import Action, Evidence, Group, Remedy, Report, Snapshot, UnknownFact
from envdoctor.renderers import layout, line, page, terminal

REPORTS = {
    "check": samples.CHECK,
    "clean": samples.CLEAN,
    "explain": samples.EXPLAIN,
    "unexplained": samples.UNEXPLAINED,
}
ALLOWED = {"1", "2", "0", "31", "32", "33", "36"}  # bold, dim, reset, red, green, yellow, cyan


def plain(report, width=80, **options):
    return terminal.render(report, width=width, color=False, unicode=options.get("unicode", True))


def with_finding(**changes):
    return samples.CHECK.replace(findings=[samples.PICKLE.replace(**changes)])


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", REPORTS)
def test_text_is_golden(name, width):
    samples.same(f"{name}-{width}.txt", plain(REPORTS[name], width))


@pytest.mark.parametrize("name", REPORTS)
def test_colored_text_is_golden_and_uses_the_terminals_own_colours(name):
    text = terminal.render(REPORTS[name], width=80, color=True, unicode=True)
    samples.same(f"{name}-80-color.txt", text)
    codes = {code for run in re.findall(r"\x1b\[([\d;]*)m", text) for code in run.split(";")}
    assert codes <= ALLOWED
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == plain(REPORTS[name])


@pytest.mark.parametrize("name", REPORTS)
def test_ascii_where_the_encoding_has_no_more(name):
    assert plain(REPORTS[name], unicode=False).isascii()


def test_the_worst_comes_first():
    text = plain(samples.CHECK)
    assert text.index("cloudpickle-bytecode-py311") < text.index("gym-extras-require")


def test_prose_fits_the_width_and_commands_are_whole():
    text = plain(samples.CHECK)
    assert f"  fix     {samples.LONG_COMMAND}\n" in text
    long = [row for row in text.splitlines() if len(row) > 80]
    assert len(long) == 1
    assert samples.LONG_COMMAND in long[0]


def test_a_long_word_and_a_long_path_stay_whole():
    path = "/very" * 60
    evidence = [Evidence(fact="packages.cloudpickle", value="1.6.0", source=path)]
    text = plain(with_finding(title="T" * 300, why="see " + "W" * 300, evidence=evidence), width=40)
    assert "T" * 300 in text
    assert "W" * 300 in text
    assert path in text


@pytest.mark.parametrize("nasty", ["\x1b[2J", "\n", "\r", "\x07", "\u202e", "\x9b1m", "\udcff"])
def test_nothing_from_outside_drives_the_terminal(nasty):
    evidence = [Evidence(fact=f"packages.a{nasty}b", value=f"1{nasty}0", source=f"/p{nasty}q")]
    remedies = [Remedy(kind="pin", requirement="a", command=f"pip{nasty}install"), Remedy(kind=f"odd{nasty}")]
    report = with_finding(
        title=f"t{nasty}u", why=f"w{nasty}v", evidence=evidence, remedies=remedies, references=[nasty]
    )
    report = report.replace(unknown=[UnknownFact(rule=None, fact=nasty, reason=f"r{nasty}s")])
    for text in (
        plain(report),
        plain(report.replace(findings=[])),
        plain(samples.UNEXPLAINED.replace(understood={"message": nasty})),
    ):
        assert all(row.isprintable() for row in text.split("\n"))


@settings(max_examples=15)
@given(
    rules=st.integers(0, 60), each=st.integers(1, 50), long=st.integers(1, 400), width=st.integers(40, 200),
    lines=st.integers(20, 200), unknown=st.integers(0, 30), explained=st.booleans(),
)  # fmt: skip
def test_a_report_keeps_to_its_lines(*, rules, each, long, width, lines, unknown, explained):
    evidence = [
        samples.PICKLE.evidence[0],
        *(Evidence(fact=f"packages.a{n}", value="1", source="/s") for n in range(3)),
    ]
    one = samples.PICKLE.replace(
        title="word " * min(long, 30), why="word " * long, evidence=evidence, references=["https://x"] * 5,
        matched=["seen"] if explained else [],
    )  # fmt: skip
    groups = [
        Group(
            title=one.title, findings=[one.replace(rule=f"rule-{n}", evidence=[*evidence, evidence[1].replace(value=str(m))]) for m in range(each)],
            remedies=[Remedy(kind="install", command="pip install " + "x" * long * 20)] * 4,
        )
        for n in range(rules)
    ]  # fmt: skip
    report = samples.CHECK.replace(
        groups=groups, findings=[found for group in groups for found in group.findings],
        unknown=[UnknownFact(rule=f"rule-{n}", fact="word " * long, reason=f"{n} " * long) for n in range(unknown)],
        ruled_out=[one] * (rules // 2) if explained else [],
    )  # fmt: skip

    text = terminal.render(report, width=width, color=False, unicode=True, lines=lines)

    if groups:
        rows = sum(max(1, -(-page.cells(row) // width)) for row in text.splitlines())
        assert rows <= max(lines, 45)  # what one finding needs is shown in any case
        assert text.startswith(layout.headline(report))
    assert "rule-0 " in text or not groups


@given(
    st.lists(st.tuples(st.text("ab —漢", max_size=30), st.sampled_from(["", "bold", "dim"])), max_size=5),
    st.integers(40, 60),
)
def test_wrapping_loses_no_word_and_keeps_to_the_width(parts, width):
    whole = page.Page(width)
    whole.prose(("label", ""), *parts)

    rows = whole.text(color=False, unicode=True).splitlines()

    assert "".join(row[page.GUTTER :] for row in rows).replace(" ", "") == "".join(text for text, _ in parts).replace(
        " ", ""
    )
    words = "".join(text for text, _ in parts).split(" ")
    longest = max(map(page.cells, words)) + page.GUTTER  # a longer word stays whole, and its line with it
    assert all(page.cells(row) <= width for row in rows) or longest > width


def test_several_findings_of_a_rule_share_what_is_equal():
    others = [Evidence(fact=f"packages.consumer{n}", value=str(n), source=f"/s/consumer{n}") for n in range(3)]
    findings = [samples.FLASK.replace(evidence=[other, samples.FLASK.evidence[1]]) for other in others]
    report = samples.CHECK.replace(
        findings=findings, groups=[Group(title="several", findings=findings, remedies=samples.FLASK.remedies)]
    )

    text = plain(report)

    assert text.startswith("3 errors in Python 3.11.7")
    assert text.count("werkzeug 3.0.1") == 1
    assert [f"consumer{n} {n}" in text for n in range(3)] == [True] * 3
    assert text.count(samples.FLASK.why.split(",", maxsplit=1)[0][:30]) == 1


def test_the_first_line_says_which_environment_and_why():
    chosen = samples.SNAPSHOT.replace(target={**samples.SNAPSHOT.target, "chosen": ".venv of this project"})

    assert plain(samples.CHECK.replace(snapshot=chosen)).splitlines()[0] == (
        "2 errors, 1 warning in Python 3.11.7 at .venv of this project — 400 rules"
    )
    assert line.subject(chosen) == "Python 3.11.7, 5 distributions in .venv of this project"


def test_markup_of_the_library_is_only_text():
    assert "[bold]x[/bold] :smile:" in plain(with_finding(title="[bold]x[/bold] :smile:"))


@pytest.mark.parametrize(
    ("environ", "tty", "color"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": "", "TERM": "xterm"}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_when_colour_is_wanted(environ, tty, color):
    stream = io.StringIO()
    stream.isatty = lambda: tty
    assert line.colorful(stream, environ) is color
    assert line.colorful(None, {}) is False


def test_the_output_decides_where_nothing_is_said(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    assert "\x1b" not in renderers.load("text")(samples.CHECK)


@pytest.mark.parametrize(("encoding", "carried"), [("utf-8", True), ("ascii", False), ("cp1252", False)])
def test_which_encodings_carry_the_marks(encoding, carried):
    assert line.carries_unicode(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) is carried


def test_the_verdict_is_one_line():
    expected = "Python 3.11.7, 5 distributions in .venv: nothing known to be wrong (1,000 rules)"
    assert line.verdict(samples.CLEAN, color=False, unicode=True) == "✓ " + expected
    assert line.verdict(samples.CLEAN, color=False, unicode=False) == "ok: " + expected
    assert line.verdict(samples.CLEAN, color=True, unicode=True) == "\x1b[32m✓\x1b[0m " + expected


def test_the_verdict_says_once_what_is_unknown():
    said = line.verdict(samples.CLEAN.replace(unknown=samples.UNKNOWN), color=False, unicode=True)
    assert said.splitlines()[1:] == [
        "  could not be examined:",
        "    system.glibc (the interpreter did not answer, so 3 rules cannot be decided)",
        "    packages.huge (METADATA is 1.0 GB long; at most 8 MB are read)",
    ]


def test_many_reasons_are_cut_short():
    unknown = [UnknownFact(rule=None, fact=f"env.A{n}", reason=f"reason {n}") for n in range(9)]
    assert line.reasons(samples.CLEAN.replace(unknown=unknown))[-1] == "and 6 more reasons, listed by -f json"
    same = [UnknownFact(rule=None, fact=f"env.A{n}", reason="dark") for n in range(9)]
    assert line.reasons(samples.CLEAN.replace(unknown=same)) == ["env.A0, env.A1, env.A2 and 6 more (dark)"]


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ({}, "an unknown Python"),
        ({"version": "3.11.7"}, "Python 3.11.7"),
        ({"version": "3.10.13", "implementation": "pypy"}, "PyPy 3.10.13"),
        ({"version": "3.13.0", "free_threaded": True, "debug": True}, "Python 3.13.0 (free-threaded, debug)"),
    ],
)
def test_how_an_interpreter_is_called(python, said):
    assert line.python(Snapshot(target={}, python=python, packages={})) == said


def test_a_text_alone_is_said_to_be_alone():
    nowhere = Snapshot(target={}, python={}, packages={})
    finding = samples.PICKLE.replace(matched=["IndexError"], confirmed=None)
    text = plain(Report(snapshot=nowhere, findings=[finding], rules=3))
    assert "not confirmed: no environment was examined" in text
    assert "in the text alone — 3 rules" in text


@pytest.mark.parametrize(
    ("remedy", "said"),
    [
        (Remedy(kind="downgrade", requirement="python<3.11"), "use Python <3.11"),
        (
            Remedy(
                kind="upgrade",
                requirement="python>=3.9 a>=2",
                action=Action(verb="install", requirements=["python>=3.9", "a>=2"]),
            ),
            "use Python >=3.9, with a>=2",
        ),
        (Remedy(kind="pin", requirement="a<2"), "pin a<2"),
        (Remedy(kind="uninstall", package="enum34"), "uninstall enum34"),
        (Remedy(kind="replace", package="a", requirement="b>=1"), "replace a with b>=1"),
        (Remedy(kind="set", file="c.yaml", key="a.b", to="none"), "in c.yaml write a.b: none"),
        (Remedy(kind="set", file="c.yaml", key="a.b", to="1.0"), 'in c.yaml write a.b: "1.0"'),
        (Remedy(kind="setenv", name="A", to="1"), "set the environment variable A=1"),
        (Remedy(kind="change", text="do this"), "do this"),
    ],
)
def test_remedies_without_a_command(remedy, said):
    assert f"  fix     {said}\n" in plain(with_finding(remedies=[remedy]))


def test_an_unknown_format_is_a_usage_error():
    with pytest.raises(UsageError, match="text, json, markdown"):
        renderers.load("xml")


def _cured(rule, severity):
    remedy = Remedy(kind="install", requirement="a<2", action=Action(verb="install", requirements=("a<2",)))
    finding = samples.PICKLE.replace(rule=rule, severity=severity, remedies=[remedy])
    return Group(title=rule, findings=[finding], remedies=[remedy])


@pytest.mark.parametrize(
    ("found", "end"),
    [
        ([("a", "error"), ("b", "warning")], "envdoctor fix plans one set of changes that ends every error"),
        ([("a", "warning"), ("b", "warning")], "envdoctor fix --all plans one set of changes that ends them all"),
        (
            [("a", "error"), ("b", "error"), ("linked-name-missing", "error")],
            "envdoctor fix plans one set of changes that ends every error of rules",
        ),
        (
            [("a", "warning"), ("b", "warning"), ("linked-name-missing", "warning")],
            "envdoctor fix --all plans one set of changes that ends all findings of rules",
        ),
        ([("a", "error"), ("linked-name-missing", "error")], None),
        ([("a", "error")], None),
    ],
)
def test_what_a_plan_would_end_is_said_where_there_is_something_to_plan(found, end):
    groups = [_cured(*one) for one in found]
    report = samples.CHECK.replace(groups=groups, findings=[one for group in groups for one in group.findings])
    said = [row.split(None, 1)[1] for row in plain(report, width=120).splitlines() if row.startswith("together")]
    assert said == ([end] if end else [])
