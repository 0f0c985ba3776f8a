"""Tracebacks against rules of a few lines: by the text alone, and with an environment that confirms or rules out."""

import pytest
from engine import rule_bases
from engine.rule_bases import base, rule, snapshot

from envdoctor.probes.error_text import read

GONE = {"raises": "ImportError", "message": "cannot import name 'pad' from 'left'"}
CONSUMERS = {
    "right": {"bad": "<1.4", "works": "1.4"},
    "wrong-way": {"bad": "<2", "works": None, "module": "wrong"},
    "third": {"bad": "<9", "works": "9.1"},
    "fourth": {"bad": "<9", "works": "9.1"},
    "fifth": {"bad": "<9", "works": "9.1"},
}
REMEDIES = [{"upgrade": "{consumer}>={works}"}, {"downgrade": "left<2"}]


def removed(name="left-pad-removed", **fields):
    fields = {
        "symptoms": [GONE], "consumers": CONSUMERS, "remedies": REMEDIES,
        "title": "left 2 removed pad, which {consumer} imports", **fields,
    }  # fmt: skip
    return rule(name, **fields)


def traceback(*modules, error="ImportError: cannot import name 'pad' from 'left'", python="3.11"):
    site = f"/venv/lib/python{python}/site-packages"
    frames = [
        f'  File "{site}/{module.replace(".", "/")}.py", line 3, in <module>\n    import it\n' for module in modules
    ]
    return "Traceback (most recent call last):\n" + '  File "app.py", line 1, in <module>\n' + "".join(frames) + error


def explained(text, here=None, *rules):
    return rule_bases.explained(read(text), here, [base(*rules)])


# -- by the text alone ---


def test_the_rule_is_named_with_what_matched_and_is_not_confirmed():
    written = rule(symptoms=[GONE])

    report = explained(traceback("left.core"), None, written)

    (finding,) = report.findings
    assert (finding.rule, finding.confirmed, list(finding.packages)) == ("left-breaks-right", None, ["left"])
    assert finding.matched == ("raises ImportError", "message \"cannot import name 'pad' from 'left'\"")
    assert finding.evidence[0].source == "the text"
    assert (report.rules, report.ruled_out, report.understood["exception"]) == (1, [], "ImportError")


def test_the_frame_picks_the_consumer():
    (finding,) = explained(traceback("wrong.deep", "left.core"), None, removed()).findings

    assert (finding.consumer, list(finding.packages)) == ("wrong-way", ["wrong-way", "left"])
    assert finding.title == "left 2 removed pad, which wrong-way imports"
    assert [one.requirement for one in finding.remedies] == ["left<2"], "nothing works together with wrong-way"


def test_of_several_consumers_in_a_traceback_the_innermost_trips():
    (finding,) = explained(traceback("right.app", "third.plugin", "left.core"), None, removed()).findings

    assert finding.consumer == "third"
    assert [one.requirement for one in finding.remedies] == ["third>=9.1", "left<2"]


def test_a_symptom_of_the_consumer_picks_it_too():
    written = removed(symptoms=[{**GONE, "in": "{module}"}, {"message": "{consumer} is broken by left"}])

    (by_frame,) = explained(traceback("wrong.deep"), None, written).findings
    (by_name,) = explained("fourth is broken by left", None, written).findings

    assert (by_frame.consumer, by_name.consumer) == ("wrong-way", "fourth")


def test_a_version_in_the_text_picks_a_consumer_where_no_frame_does():
    text = f"{traceback()}\nright==1.3\nother==2\n"

    (finding,) = explained(text, None, removed()).findings

    assert finding.consumer == "right"


def test_without_a_clue_all_consumers_and_the_cause_are_named_in_one_finding():
    (finding,) = explained(traceback("stranger.core"), None, removed()).findings

    assert finding.consumer is None
    assert list(finding.packages) == [*CONSUMERS, "left"]
    assert finding.title == "left 2 removed pad, which right, wrong-way, third or one of 2 others imports"
    assert [one.requirement for one in finding.remedies] == ["right>=1.4", "third>=9.1", "left<2"]


def test_consumers_that_share_an_import_name_are_both_meant():
    both = {"right": CONSUMERS["right"], "right-ng": {"bad": "<2", "works": "2.1", "module": "right"}}
    written = removed(
        consumers=both, symptoms=[{**GONE, "in": "{module}"}], title="{consumer} before {works} imports {module}"
    )

    (finding,) = explained(traceback("right.core"), None, written).findings

    assert finding.title == "an older right or right-ng imports right"
    assert list(finding.packages) == ["right", "right-ng", "left"]


def test_no_text_of_a_finding_has_braces_left():
    written = removed(
        why="{consumer} before {works} imports {module}.", remedies=[*REMEDIES, {"uninstall": "{consumer}"}]
    )
    here = [None, snapshot({"left": "2"}), snapshot({"left": "1"}), snapshot({"left": "2", "right": "1"})]

    for environment in [*here, snapshot({}, complete=False)]:
        for modules in ([], ["right.core"], ["other"]):
            report = explained(traceback(*modules), environment, written)
            for finding in [*report.findings, *report.ruled_out]:
                said = [finding.title, finding.why, *(str(one.requirement or one.package) for one in finding.remedies)]
                assert not [text for text in said if "{" in text or "}" in text]


def test_what_the_text_itself_contradicts_comes_last():
    rules = [
        rule("a-newer", symptoms=[GONE], when={"python": ">=3.12", "packages": {"left": ">=2"}}),
        rule("b-older", symptoms=[{"message": GONE["message"]}], when={"python": "<3.12", "packages": {"left": ">=2"}}),
    ]

    old = explained(traceback("left.core", python="3.9"), None, *rules)
    new = explained(traceback("left.core", python="3.13"), None, *rules)

    assert [one.rule for one in old.findings] == ["b-older", "a-newer"]
    assert [one.rule for one in new.findings] == ["a-newer", "b-older"]


def test_the_more_that_matched_the_higher():
    rules = [
        rule("a-vague", symptoms=[{"message": "cannot import name"}]),
        rule("b-exact", symptoms=[GONE]),
        rule("c-framed", symptoms=[{**GONE, "in": "left"}]),
    ]

    report = explained(traceback("left.core"), None, *rules)

    assert [one.rule for one in report.findings] == ["c-framed", "b-exact", "a-vague"]


def test_a_text_that_no_rule_knows_is_still_understood():
    report = explained(traceback("stranger.core", error="KeyError: 'x'") + "\n\nleft==1.0\n", None, removed())

    assert report.findings == []
    assert report.understood == {
        "versions": {"left": "1.0"}, "python": "3.11", "exception": "KeyError", "message": "'x'", "frame": "stranger",
    }  # fmt: skip
    assert explained("", None, removed()).understood["python"] is None


# -- with an environment ---


def test_the_environment_confirms():
    (finding,) = explained(traceback("left.core"), snapshot({"left": "2.1"}), rule(symptoms=[GONE])).findings

    assert finding.confirmed is True
    assert [(one.fact, one.value) for one in finding.evidence] == [("packages.left", "2.1")]


def test_the_environment_rules_out():
    report = explained(traceback("left.core"), snapshot({"left": "1.9"}), rule(symptoms=[GONE]))

    assert report.findings == []
    (out,) = report.ruled_out
    assert (out.rule, out.confirmed, out.evidence[0].fact) == ("left-breaks-right", False, "environment")


def test_the_environment_does_not_tell():
    here = snapshot({}, complete=False, source="requirements.txt")

    (finding,) = explained(traceback("left.core"), here, rule(symptoms=[GONE])).findings

    assert finding.confirmed is None
    assert finding.evidence[0].fact == "text"


@pytest.mark.parametrize(
    ("modules", "confirmed"),
    [(["right.core"], False), (["right.core", "left.core"], None), ([], None), (["left.core"], None)],
)
def test_a_rule_about_the_projects_own_code_is_ruled_out_where_a_library_did_it(modules, confirmed):
    own = rule("own", when={"packages": {"left": ">=2"}, "source": {"uses": ["left.pad"]}}, symptoms=[GONE])

    report = explained(traceback(*modules), snapshot({"left": "2.1", "right": "1.0"}), own)

    (finding,) = [*report.findings, *report.ruled_out]
    assert finding.confirmed is confirmed
    if confirmed is False:
        assert "in the code of right" in finding.evidence[-1].value


def test_a_rule_that_holds_without_the_projects_code_is_not_ruled_out_by_whose_code_failed():
    uses = {"any": [{"source": {"uses": ["left.pad"]}}, {"packages": {"right": "<2"}}]}
    either = rule("either", when={"packages": {"left": ">=2"}, **uses}, symptoms=[GONE])

    report = explained(traceback("right.core"), snapshot({"left": "2.1", "right": "1.0"}), either)

    assert [(one.rule, one.confirmed) for one in report.findings] == [("either", True)]


def test_by_the_text_alone_it_comes_last():
    own = rule("own", when={"packages": {"left": ">=2"}, "source": {"uses": ["left.pad"]}}, symptoms=[GONE])

    found = explained(traceback("unknown.core"), None, own, removed(symptoms=[{"raises": "ImportError"}])).findings

    assert [one.rule for one in found] == ["left-pad-removed", "own"]


def test_what_is_confirmed_comes_before_what_matches_better():
    rules = [
        rule("a-open", symptoms=[{**GONE, "in": "left"}], when={"env": {"X": {"is": "set"}}}),
        rule("b-sure", symptoms=[GONE]),
    ]

    report = explained(traceback("left.core"), snapshot({"left": "2"}), *rules)

    assert [(one.rule, one.confirmed) for one in report.findings] == [("b-sure", True), ("a-open", None)]


@pytest.mark.parametrize(
    ("modules", "consumers"),
    [
        (["third.core"], ["third"]),
        ([], ["right", "third"]),
        (["other.core"], ["right", "third"]),
        (["right", "third"], ["third"]),
    ],
)
def test_the_frame_picks_among_the_confirmed_consumers(modules, consumers):
    here = snapshot({"left": "2", "right": "1", "third": "1", "fourth": "9.5"})

    report = explained(traceback(*modules), here, removed())

    assert [(one.consumer, one.confirmed) for one in report.findings] == [(name, True) for name in consumers]


def test_a_symptom_of_one_consumer_is_not_laid_at_another():
    written = removed(symptoms=[{**GONE, "in": "{module}"}])

    report = explained(traceback("right.core"), snapshot({"left": "2", "right": "1.5", "third": "1"}), written)

    assert report.findings == []
    assert [one.rule for one in report.ruled_out] == ["left-pad-removed"]


def test_a_cause_that_is_there_explains_even_where_nothing_on_the_list_is_affected():
    report = explained(traceback("my_app.views"), snapshot({"left": "2.1", "right": "1.5"}), removed())

    (finding,) = report.findings
    assert (finding.confirmed, finding.consumer, list(finding.packages)) == (None, None, ["left"])
    assert (finding.evidence[0].fact, finding.evidence[0].value) == ("packages.left", "2.1")
    assert "your own code" in finding.evidence[-1].value
    assert [one.requirement for one in finding.remedies] == ["left<2"]


def test_a_symptom_in_a_package_that_is_not_there_explains_nothing():
    text, here = "ImportError: cannot import name 'pad' from 'left'", snapshot({"left": "2.1"})
    only_there = removed(symptoms=[{**GONE, "in": "right"}], consumers={"right": CONSUMERS["right"]})

    report = explained(text, here, only_there)

    assert report.findings == []
    assert [one.rule for one in report.ruled_out] == ["left-pad-removed"]


def test_a_cause_without_a_consumer_comes_after_what_is_merely_unknown():
    rules = [
        removed("a-cause-alone", consumers={"right": CONSUMERS["right"]}),
        rule("b-unknown", symptoms=[GONE], when={"packages": {"left": ">=2"}, "env": {"X": {"is": "set"}}}),
    ]

    report = explained(traceback("other"), snapshot({"left": "2.1"}), *rules)

    assert [(one.rule, one.confirmed) for one in report.findings] == [("b-unknown", None), ("a-cause-alone", None)]


def test_consumers_that_the_environment_clears_are_not_named():
    here = snapshot({"left": None, "right": "1.0", "third": "9.5"})

    (finding,) = explained(traceback("other"), here, removed()).findings

    assert (finding.confirmed, finding.consumer, list(finding.packages)) == (None, "right", ["right", "left"])


def test_a_rule_that_is_too_slow_to_search_for_is_said_to_be_unknown(monkeypatch):
    monkeypatch.setattr("envdoctor.engine.symptoms.MOST_SECONDS", -1.0)

    report = explained(
        traceback("left.core") + "\n" + "cannot import name 'pad' from 'left" * 2000, None, rule(symptoms=[GONE])
    )

    assert [(one.rule, one.fact) for one in report.unknown] == [("left-breaks-right", "text")]
