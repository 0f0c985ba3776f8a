"""Facts are values: nothing changes them, and what is made of them is another table."""

import pytest

from envdoctor.facts import ENV, NOT_RECORDED, Facts, Unknown

TOLD = {ENV: {"A": "1"}}


def test_facts_cannot_be_changed():
    facts = Facts(TOLD)

    with pytest.raises(AttributeError, match="immutable"):
        facts._tables = {}
    with pytest.raises(AttributeError):
        facts.more = 1
    with pytest.raises(TypeError):
        facts._tables[ENV] = {}
    for one in (facts, facts.having({}), facts.changed(lambda _kind, _key, value: value)):
        with pytest.raises(TypeError):
            one._tables[ENV]["A"] = "2"


def test_what_has_more_or_other_facts_leaves_the_first_ones_as_they_were():
    facts = Facts(TOLD)

    assert facts.having({ENV: {"A": "2", "B": None}}) == Facts({ENV: {"A": "2", "B": None}})
    assert facts.changed(lambda _kind, _key, value: value + "0").ask(ENV, "A") == "10"
    assert facts == facts.having({}) == Facts(TOLD) != Facts()
    assert facts.ask(ENV, "B") == Unknown(reason=NOT_RECORDED)
