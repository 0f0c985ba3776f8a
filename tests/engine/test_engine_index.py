"""The compiled rule base: what is asked for is found, wherever it is filed, and damage is said, never shown."""

import json

import pytest
from engine.rule_bases import base, diagnose, rule
from hypothesis import assume, given
from hypothesis import strategies as st

from envdoctor.engine.index import MAGIC, Index, bucket_of, from_bytes
from envdoctor.errors import EngineError
from envdoctor.model import Distribution, Snapshot
from envdoctor.plainjson import decode
from envdoctor.probes import opened
from envdoctor.rulebase.compile import pack

NAMES = st.sampled_from(["a", "b", "c", "d", "left", "left-cpu", "left-gpu", "x" * 40])


def condition(names):
    """The condition of a rule that needs one of some names, or, without names, none in particular."""
    return {"any": [{"packages": {name: "present"}} for name in names]} if names else {"python": ">=3"}


def with_family(names):
    return names | ({"left-cpu", "left-gpu"} if "left" in names else set())


@given(st.lists(st.frozensets(NAMES, max_size=3), max_size=12), st.sets(NAMES))
def test_the_candidates_are_the_rules_that_some_name_stands_for_and_those_that_none_does(wanted, installed):
    index = base(*(rule(f"rule-{number}", when=condition(names)) for number, names in enumerate(wanted)))

    found = {index.texts(entry)["id"] for entry in index.candidates(installed)}

    expected = {f"rule-{n}" for n, names in enumerate(wanted) if not names or with_family(set(names)) & installed}
    assert found == expected
    assert {index.texts(entry)["id"] for entry in index.all()} == {f"rule-{n}" for n in range(len(wanted))}
    assert index.rules == len(wanted)


@given(st.lists(st.frozensets(NAMES, max_size=3), min_size=1, max_size=6), st.text(max_size=30))
def test_every_entry_leads_to_its_own_texts(wanted, title):
    assume(title.strip() and "{" not in title)
    try:
        rules = [rule(f"rule-{n}", when=condition(names), title=f"{title} {n}") for n, names in enumerate(wanted)]
    except AssertionError:  # a title that the language refuses
        assume(False)  # noqa: FBT003
    index = base(*rules)

    for entry in index.all():
        (stated,) = [one for one in rules if one["id"] == index.texts(entry)["id"]]
        assert index.texts(entry) == {key: value for key, value in stated.items() if key != "match"}
        assert entry[2] == stated["match"]


def test_names_that_share_a_bucket_are_told_apart():
    names = [f"n{number}" for number in range(60)]
    index = base(*(rule(f"rule-{name}", when={"packages": {name: "present"}}) for name in names))
    buckets = [bucket_of(name, 2 * len(names) + 1) for name in names]
    assert len(set(buckets)) < len(names), "none collide: choose other names"

    for name in names:
        assert [index.texts(entry)["id"] for entry in index.about(name)] == [f"rule-{name}"]
    assert list(index.about("absent")) == []


def test_a_rule_filed_under_several_names_is_one_rule():
    index = base(rule(when=condition({"a", "b"})))
    here = Snapshot(
        target={}, python={"version": "3.11"}, packages={n: Distribution(name=n, version="1") for n in ("a", "b")}
    )

    assert len(list(index.candidates(["a", "b"]))) == 2
    assert len(diagnose(here, [index])[0]) == 1


def test_an_empty_rule_base_has_nothing():
    index = base()

    assert (index.rules, list(index.all()), list(index.candidates(["a"]))) == (0, [], [])


def test_a_file_reads_as_its_bytes_do(tmp_path):
    data = pack([rule("one"), rule("two", when={"python": ">=3"})], "digest")
    path = tmp_path / "rules.idx"
    path.write_bytes(data)

    on_disk, in_memory = Index(opened(str(path)), str(path)), from_bytes(data, "x")

    assert list(on_disk.all()) == list(in_memory.all())
    assert (on_disk.rules, on_disk.digest, on_disk.wanted) == (
        2,
        "digest",
        {"env": [], "library": [], "module": [], "program": [], "system": []},
    )


def test_integers_are_little_endian_on_every_machine():
    assert bucket_of("ab", 1000) == (0x61 + 0x62 * 256) % 1000
    data = pack([rule()], "d")
    start, length = (
        sum(byte << 8 * place for place, byte in enumerate(data[at : at + 4])) for at in (len(MAGIC), len(MAGIC) + 4)
    )
    assert start + length == len(data)
    assert json.loads(data[start : start + length])["rules"] == 1


@pytest.mark.parametrize("text", ['{"a": [1, -2.5e3, true, null, "\\u00e9\\ud83d\\ude00 \\n"]}', '"é"', "[]", "12"])
def test_the_small_decoder_agrees_with_json(text):
    assert decode(text.encode()) == json.loads(text)


# -- damage ---


def use(index):
    """Everything that is ever asked of an index."""
    entries = [*index.all(), *index.candidates(["left", "right", "absent"])]
    return [index.texts(entry) for entry in entries]


def damaged(data, match="reinstall envdoctor"):
    with pytest.raises(EngineError, match=match):
        use(from_bytes(data, "rules.idx"))


@pytest.mark.parametrize(
    "data", [b"", b"envdoctor", b"PK\3\4" + bytes(100), b"envdoctor rules 0\n" + bytes(100), MAGIC]
)
def test_another_file_is_refused_and_named(data, tmp_path):
    damaged(data, r"rules\.idx.*: reinstall envdoctor")
    path = tmp_path / "rules.idx"
    path.write_bytes(data)
    with pytest.raises(EngineError, match="reinstall"):
        Index(opened(str(path)), str(path))


def test_a_directory_is_no_rule_base(tmp_path):
    with pytest.raises((EngineError, PermissionError)):  # Windows does not open one
        Index(opened(str(tmp_path)), str(tmp_path))


def test_a_file_cut_anywhere_is_refused_and_never_read_as_less():
    data = pack([rule("one"), rule("two", when={"packages": {"right": "<1"}})], "d")

    for length in range(len(data)):
        damaged(data[:length])


@pytest.mark.parametrize(
    "head",
    [
        "[]", "{", "null", '"x"', "{}", "12abc", "[" * 50_000,
        '{"rules": "1", "digest": "d", "wanted": {}, "always": [], "buckets": 1, "table": 0}',
        '{"rules": 1, "digest": "d", "wanted": {}, "always": [], "buckets": 0, "table": 0}',
        '{"rules": 1, "digest": "d", "wanted": {}, "always": [], "buckets": 99999999999999, "table": 0}',
        '{"rules": 1, "digest": "d", "wanted": {}, "always": [], "buckets": 1, "table": 999999999999999999999}',
        '{"rules": 1, "digest": "d", "wanted": {}, "always": [], "buckets": 1, "table": -3}',
    ],
)  # fmt: skip
def test_a_head_of_another_shape_is_refused(head, tmp_path):
    at = len(MAGIC) + 8
    data = MAGIC + at.to_bytes(4, "little") + len(head).to_bytes(4, "little") + head.encode()
    damaged(data)
    (tmp_path / "rules.idx").write_bytes(data)
    with pytest.raises(EngineError, match="reinstall"):
        Index(opened(str(tmp_path / "rules.idx")), str(tmp_path / "rules.idx"))


DATA = pack([rule("one"), rule("two", when={"packages": {"right": "<1"}}), rule("any", when={"python": ">=3"})], "d")


@given(st.integers(0, len(DATA) - 1), st.binary(min_size=1, max_size=8))
def test_no_damage_shows_as_an_error_of_python(place, noise):
    data = DATA[:place] + noise + DATA[place + len(noise) :]
    try:
        use(from_bytes(data, "rules.idx"))
    except EngineError as error:
        assert "reinstall envdoctor" in str(error)  # noqa: PT017
