import json
import os
import re

import jsonschema
import pytest
from conftest import untraced
from golden import samples
from hypothesis import given, settings
from hypothesis import strategies as st
from known_facts import facts_of

from envdoctor.model import Distribution, Evidence, Group, Ignore, Remedy, Report, Snapshot, Unknown, UnknownFact
from envdoctor.renderers import json as as_json
from envdoctor.renderers import markdown, snapshot_document

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
NASTY = st.text() | st.sampled_from(
    ["|", "`", "```", "a`|b", "\\|", "</details>", "<script>", "\n# x", "\r\n|", "* _x_", ""]
)


def schema(name):
    with open(os.path.join(DOCS, name + ".schema.json"), encoding="utf-8") as file:
        loaded = json.load(file)
    jsonschema.Draft202012Validator.check_schema(loaded)
    return loaded


@pytest.mark.parametrize("name", ["check", "explain", "unexplained", "clean"])
def test_json_is_golden_and_valid(name):
    text = as_json.render(getattr(samples, name.upper()))
    version = json.loads(text)["envdoctor"]
    samples.same(f"{name}.json", text.replace(f'"envdoctor": "{version}"', '"envdoctor": "VERSION"'))
    jsonschema.validate(json.loads(text), schema("check"))
    assert text.isascii()
    assert text.endswith("}\n")


def test_remedies_have_only_the_fields_that_say_something():
    remedy = json.loads(as_json.render(samples.CHECK))["findings"][0]["remedies"][0]
    assert set(remedy) == {"kind", "requirement", "safety", "at", "command"}


def test_what_is_ignored_is_listed_apart():
    wish = Ignore(rule=samples.GYM.rule, source="pyproject.toml, line 3", reason="x", until="2030-01-31")
    report = samples.CHECK.replace(findings=[samples.FLASK], ignored=[(samples.GYM, wish)])

    document = json.loads(as_json.render(report))

    jsonschema.validate(document, schema("check"))
    assert [one["rule"] for one in document["findings"]] == [samples.FLASK.rule]
    assert document["ignored"][0]["ignored"]["until"] == "2030-01-31"


def test_the_schema_refuses_a_finding_without_evidence():
    document = json.loads(as_json.render(samples.CHECK))
    document["findings"][0]["evidence"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema("check"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\udcff", b"x", {1: (2, {3})}, Unknown(reason="dark")])
def test_whatever_stands_in_a_report_becomes_json(value):
    remedy = Remedy(kind="set", file="f", key="k", to=value)
    text = as_json.render(samples.CHECK.replace(findings=[samples.PICKLE.replace(remedies=[remedy])]))
    document = json.loads(text, parse_constant=pytest.fail)
    jsonschema.validate(document, schema("check"))
    str(document).encode("utf-8")  # no half characters


@pytest.mark.parametrize("name", ["check", "explain", "unexplained", "clean"])
def test_markdown_is_golden(name):
    text = markdown.render(getattr(samples, name.upper()), redactor=samples.redactor())
    samples.same(f"{name}.md", re.sub(r"(\| envdoctor \| )`[^`]+`", r"\1`VERSION`", text))
    assert "ada" not in text


def test_markdown_counts_what_it_hides():
    assert "values redacted.</sub>" in markdown.render(samples.CHECK, redactor=samples.redactor())
    bare = Report(snapshot=Snapshot(target={}, python={}, packages={}), findings=[])
    assert "Nothing had to be redacted." in markdown.render(bare, redactor=samples.redactor())


@given(text=NASTY, version=NASTY)
def test_nothing_breaks_out_of_its_cell(text, version):
    odd = Distribution(name="odd", version=version, path=text)
    target = {"kind": text, "path": text, "installer": text}
    snap = Snapshot(target=target, python={"version": text}, packages={"odd": odd}, duplicates=[odd])
    finding = samples.PICKLE.replace(
        title=text, why=text, evidence=[Evidence(fact=f"packages.{text}", value=version, source=text or "-")]
    )
    report = Report(snapshot=snap, findings=[finding], known_packages=["odd"])
    calm = Report(snapshot=snap.replace(target={"kind": "a", "path": "b", "installer": "c"}), findings=[], rules=1)
    rows = markdown.render(report, redactor=samples.redactor()).split("\n")
    table = [row for row in rows if row.startswith("| ")]
    assert len(table) <= len([row for row in markdown.render(calm).split("\n") if row.startswith("| ")])
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in table)
    assert sum(row.startswith("<details>") for row in rows) == rows.count("</details>")
    outside = [row for row in rows if not row.startswith(("<details>", "</details>", "<sub>"))]
    fences = [row for row in outside if re.match(r"`{3,}", row)]
    assert len(fences) % 2 == 0


@given(text=NASTY)
def test_code_holds_what_it_was_given(text):
    import html

    page = markdown._Page(samples.redactor())
    code = page.code(text)
    assert "\n" not in code
    assert "|" not in code
    inner = re.fullmatch(r"`([^`]+)`|<code>(.*)</code>", code)
    assert inner is not None
    assert (inner[1] or html.unescape(inner[2])).strip() == page.plain(text).strip()


SIZES = st.integers(0, 40) | st.sampled_from([300, 2_000])


@pytest.mark.trials
@settings(max_examples=10)
@given(
    text=st.sampled_from(["x", "`", "|", "```\n", "\u202e", "é", "<b>", "\U0001f600", "\\"]), times=SIZES, rules=SIZES,
    findings=SIZES, packages=SIZES, explained=st.booleans(),
)  # fmt: skip
def test_a_report_fits_whatever_the_environment(*, text, times, rules, findings, packages, explained):
    long = text * times
    rules, findings = min(rules, 200), min(findings, 200)
    evidence = [Evidence(fact=f"packages.{long}", value=long, source=long or "-")] * 3
    finding = samples.PICKLE.replace(
        title=long, why=long, evidence=evidence, matched=[long] * 50 if explained else [],
        remedies=[Remedy(kind="upgrade", requirement="x", command=long or None, effect=long)], references=[f"https://{long}"],
    )  # fmt: skip
    of_rules = [finding.replace(rule=f"rule-{n}") for n in range(rules)]
    together = [finding.replace(evidence=[*evidence, evidence[0].replace(value=str(n))]) for n in range(findings)]
    named = {f"p{n}": Distribution(name=f"p{n}", version=long or None, path=long) for n in range(min(packages, 2_000))}
    snap = Snapshot(
        target={"kind": long, "path": long, "installer": long, "chosen": long}, python={"version": long},
        packages=named, duplicates=[*named.values()], platform={"system": long},
        notes=[UnknownFact(rule=None, fact=long, reason=f"{n} {long}") for n in range(min(rules, 200))],
    )  # fmt: skip
    report = Report(
        snapshot=snap, findings=[*of_rules, *together], ruled_out=of_rules if explained else [], known_packages=[*named],
        groups=[Group(title=long, findings=some, remedies=finding.remedies) for some in (of_rules, together) if some],
        understood={"message": long} if explained else {},
    )  # fmt: skip

    for one in (report, report.replace(groups=())):
        with untraced():
            said = markdown.render(one, redactor=samples.redactor())
        assert len(said) <= markdown.LIMIT
        assert said.endswith("</sub>\n")
        rows = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", said).split("\n")  # each block is closed by as many marks
        assert not [row for row in rows if re.match(r"`{3,}", row)]
        assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows if row.startswith("| "))
        assert sum(row.startswith("<details>") for row in rows) == rows.count("</details>")


def test_a_report_says_how_much_it_leaves_out():
    findings = [samples.PICKLE.replace(rule=f"rule-{n}", title=f"number {n}") for n in range(400)]
    packages = {f"p{n}": Distribution(name=f"p{n}", version="1.0") for n in range(9_000)}
    report = Report(snapshot=samples.SNAPSHOT.replace(packages=packages), findings=findings, known_packages=[*packages])

    said = markdown.render(report, redactor=samples.redactor())

    shown = said.count("**error**")
    assert f"Left out here: {400 - shown} errors." in said
    listed = len(re.findall(r"^p\d+==1\.0$", said, re.MULTILINE))
    assert f"… and {9_000 - listed:,} more" in said
    assert "#### 400 errors" in said
    assert re.search(r"`, and [\d,]+ more\n", said)


def test_a_snapshot_is_golden_and_valid():
    text = snapshot_document.render(samples.SNAPSHOT, samples.WANTED, samples.redactor())
    document = json.loads(text)
    samples.same("snapshot.json", text.replace(f'"envdoctor": "{document["envdoctor"]}"', '"envdoctor": "VERSION"'))
    jsonschema.validate(document, schema("snapshot"))
    assert "ada" not in text
    assert "pa55word" not in text
    assert document["env"] == {"USE_TF": "0", "HF_TOKEN": "<redacted>", "PIP_CONSTRAINT": None}
    assert document["redactions"] > 0


def test_a_snapshot_lists_what_it_cannot_tell():
    asked = samples.SNAPSHOT.replace(
        facts=facts_of(
            {(kind, key): Unknown(reason=f"no {kind}") for kind, key in (("env", "A"), ("requirements", "flask"))},
            samples.PACKAGES,
        )
    )
    document = json.loads(snapshot_document.render(asked, {"env": ["A"]}, samples.redactor()))
    assert {"fact": "env.A", "reason": "no env"} in document["unknown"]
    assert {"fact": "requirements.flask", "reason": "no requirements"} in document["unknown"]


def test_a_variable_that_no_rule_names_is_hidden():
    asked = samples.SNAPSHOT.replace(facts=facts_of({("env", "OTHER"): "something"}))
    document = json.loads(snapshot_document.render(asked, {"env": ["OTHER"]}, samples.redactor()))
    assert document["env"] == {"OTHER": "<redacted>"}


def test_the_name_of_a_distribution_is_not_the_name_of_a_person():
    redactor = samples.Redactor(home="/home/rich", user="rich", host="flask")
    document = json.loads(snapshot_document.render(samples.SNAPSHOT, {}, redactor))
    assert document["packages"] == samples.VERSIONS
    assert document["distributions"]["rich"]["path"].endswith("/site-packages/rich-13.0.0.dist-info")


def test_a_minimal_snapshot_is_valid():
    jsonschema.validate({"python": {"version": "3.11.7"}, "packages": {"cloudpickle": "1.6.0"}}, schema("snapshot"))
