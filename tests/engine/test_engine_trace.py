"""The basis of an evaluation: what was said first stays, and what another evaluation is based on comes after."""

from envdoctor.engine.trace import Trace, evidence_of


def test_what_another_evaluation_saw_comes_after_what_was_seen():
    first, second = Trace(), Trace()
    first.saw("a", 1, "here")
    first.split([("c", 1, "x")], {"n": "1"})
    first.entries["f", "k"] = {"line": 1}
    first.say(file="first", line="1")
    second.saw("b", 2, "there")
    second.split([("d", 1, "x")], {"n": "2"})
    second.entries["f", "k"] = {"line": 2}
    second.entries["f", "l"] = {"line": 3}
    second.say(file="second", call="f()")
    second.missed("e", "nobody looked")

    first.add(second)

    assert first.seen == [("a", 1, "here"), ("b", 2, "there")]
    assert first.cases == [([("c", 1, "x")], {"n": "1"}), ([("d", 1, "x")], {"n": "2"})]
    assert first.entries == {("f", "k"): {"line": 2}, ("f", "l"): {"line": 3}}
    assert first.names == {"file": "first", "line": "1", "call": "f()"}
    assert first.unknown == []
    assert (second.seen, second.names) == ([("b", 2, "there")], {"file": "second", "call": "f()"})


def test_findings_of_another_condition_count_where_there_is_none_for_the_place():
    first, second = Trace(), Trace()
    first.saw("a", 1, "here")
    first.split([("c", 1, "x")], {"n": "1"})
    second.saw("a", 1, "here")
    second.saw("b", 2, "there")
    second.split([("d", 1, "x")], {"n": "2"})
    second.split([("d", 1, "y")], {"n": "3"})

    first.add_cases(second)

    assert first.seen == [("a", 1, "here")]
    assert first.cases == [([("c", 1, "x")], {"n": "1"}), ([("b", 2, "there"), ("d", 1, "y")], {"n": "3"})]


def test_evidence_is_text_with_its_fact_and_source():
    trace = Trace()
    trace.saw("a", 1, "here")
    trace.saw("b", value=True, source="there")
    shown = [("a", "1", "here"), ("b", "True", "there")]
    assert [(one.fact, one.value, one.source) for one in trace.evidence()] == shown
    assert evidence_of(trace.seen) == trace.evidence()
    assert evidence_of([]) == []
