"""A report that is printed holds no secret that a project, a variable or an address brought into it."""

import re

import pytest
from golden import samples

from envdoctor.model import Evidence, Group, Ignore, Remedy, UnknownFact
from envdoctor.renderers import secret_shapes
from envdoctor.renderers.redaction import Redactor
from envdoctor.renderers.secret_shapes import is_random
from envdoctor.renderers.secrets import without_secrets

ADDRESS, HIDDEN = "https://ada:s3cret@pypi.corp.org/simple", "https://<redacted>@pypi.corp.org/simple"
TOKEN = "ghp_" + "aB3" * 12


def finding(value="1.6.0", fact="packages.cloudpickle", **fields):
    return samples.PICKLE.replace(evidence=[Evidence(fact=fact, value=value, source="METADATA")], **fields)


def cleaned(**fields):
    return without_secrets(samples.CHECK.replace(**fields))


def test_an_address_in_any_part_of_a_report_is_hidden():
    bad, good = finding(ADDRESS), [HIDDEN]
    group = Group(title=f"from {ADDRESS}", findings=[bad], remedies=[Remedy(kind="run", command=f"pip -i {ADDRESS}")])
    dark = UnknownFact(rule=None, fact="packages", reason=f"{ADDRESS} did not answer")
    part = samples.CHECK.replace(findings=[bad])
    before = samples.CHECK.snapshot.replace(notes=[dark])
    wish = Ignore(rule=bad.rule, source="pyproject.toml, line 3")

    clean = cleaned(
        findings=[bad], groups=[group], ignored=[(bad, wish)], parts=[part], ruled_out=[bad], unknown=[dark],
        snapshot=before, understood={"errors": [ADDRESS, ("said", ADDRESS)]},
    )  # fmt: skip

    def values(findings):
        return [evidence.value for one in findings for evidence in one.evidence]

    assert values(clean.findings) == values(clean.parts[0].findings) == values(clean.ruled_out) == good
    assert values(one for one, _ in clean.ignored) == values(clean.groups[0].findings) == good
    assert clean.ignored[0][1] is wish
    assert clean.groups[0].title == f"from {HIDDEN}"
    assert clean.groups[0].remedies[0].command == f"pip -i {HIDDEN}"
    assert [one.reason for one in clean.unknown] == [one.reason for one in clean.snapshot.notes]
    assert clean.unknown[0].reason == f"{HIDDEN} did not answer"
    assert clean.understood == {"errors": [HIDDEN, ["said", HIDDEN]]}


def test_what_only_names_releases_is_the_very_same_finding():
    plain = finding()
    group = Group(title="two of one cause", findings=[plain])

    clean = cleaned(findings=[plain], groups=[group])

    assert clean.findings[0] is plain
    assert clean.groups[0] is group


@pytest.mark.parametrize(
    "one",
    [
        finding(TOKEN, fact="source.call"),
        finding(TOKEN, fact="config"),
        finding(title=f"{ADDRESS} {TOKEN}"),
        finding(remedies=[Remedy(kind="run", command=f"pip -i {ADDRESS} {TOKEN}")]),
        finding(remedies=[Remedy(kind="upgrade", requirement=f"x @ {ADDRESS}#{TOKEN}")]),
        finding(f"{ADDRESS} {TOKEN}"),
    ],
)
def test_whatever_may_hold_a_secret_is_searched_and_what_a_rule_states_stays(one):
    (clean,) = cleaned(findings=[one]).findings

    assert TOKEN in str(one.as_dict())
    assert TOKEN not in str(clean.as_dict())
    assert "s3cret" not in str(clean.as_dict())
    for name in ("rule", "severity", "impact", "references", "proof", "status"):
        assert getattr(clean, name) == getattr(one, name)
    assert [evidence.fact for evidence in clean.evidence] == [evidence.fact for evidence in one.evidence]


def test_a_report_of_check_understands_no_text():
    assert not cleaned().understood


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("k3Jx9QmZ2vR7tLp4WnY8sBd5HgF6cXa1", True),
        ("k3jx9qmz2vr7tlp4wny8sbd5hgf6cxa1", False),  # no capital: a digest
        ("K3JX9QMZ2VR7TLP4WNY8SBD5HGF6CXA1", False),
        ("kXjYxQmZqvRrtLpfWnYgsBdhHgFjcXaK", False),  # no digit
        ("kXjYxQmZqvRrtLpfWnYgsBdhHgFjcXa1", False),  # one digit: a name with its number
        ("kXjYxQm2qvRrtLpfWnYgsBdhHgFjcXa1", True),
        ("kXjYxQmqqvRrtLpfWnYgsBdhHgFjcX12", False),  # adjacent digits are one number
        ("SomethingLongerThanThat1Whatever2More", False),  # long runs of small letters: words
    ],
)
def test_a_word_that_is_drawn_by_lot_has_all_kinds_of_letters_in_no_order(word, expected):
    assert is_random(word) is expected
    assert (Redactor(personal=False).text(f"said {word} there") == "said <redacted> there") is expected


def test_half_of_the_letters_and_a_little_less_must_change_their_kind():
    """The bound is 0.45 of the length: 18 changes in 40 letters are by lot, 17 are not."""
    word = "aA1" * 6 + "A1" + "b" * 20
    changes = sum(kind(one) != kind(other) for one, other in zip(word, word[1:]))
    assert (len(word), changes) == (40, 20)
    fewer = "aA1" * 5 + "aA" + "b" * 23
    assert (len(fewer), sum(kind(one) != kind(other) for one, other in zip(fewer, fewer[1:]))) == (40, 17)
    assert is_random(word)
    assert not is_random(fewer)
    assert is_random("aA1" * 5 + "aA1" + "b" * 22)


def kind(letter):
    return (letter.islower(), letter.isupper(), letter.isdigit())


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("to https://hooks.slack.com/services/T0/B0/abc now", "to https://hooks.slack.com/services/<redacted> now"),
        ("https://api.telegram.org/bot1:x/send", "https://api.telegram.org/bot<redacted>"),
        ("hg+ssh://hg@h.org/r svn+ssh://svn@h.org/r", "hg+ssh://hg@h.org/r svn+ssh://svn@h.org/r"),
        ("https://<redacted>@h.org/r", "https://<redacted>@h.org/r"),
    ],
)
def test_what_lets_anybody_write_is_hidden_and_what_everybody_is_called_is_not(text, hidden):
    assert Redactor(personal=False).text(text) == hidden


@pytest.mark.parametrize("row", range(len(secret_shapes._TABLE)))
def test_every_beginning_of_a_row_is_one_of_its_tokens(row):
    beginnings, _, least = secret_shapes._TABLE[row]
    expression = re.compile(secret_shapes._rows()[row])
    for beginning in beginnings.split():
        assert expression.fullmatch(beginning + "A" * least), beginning
        assert not expression.fullmatch(beginning + "A" * (least - 1)), beginning
        assert not expression.fullmatch(f"?{beginning}{'A' * least}")
