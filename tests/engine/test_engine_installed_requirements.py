"""Requirements in any form become the canonical one, and mean to ``packaging`` what they meant before."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from envdoctor.engine.installed_requirements import canonical, is_name, is_version, parse, parts, unmet
from envdoctor.model import Distribution

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True)
VERSIONS = st.from_regex(
    r"([0-9]!)?[0-9]{1,3}(\.[0-9]{1,3}){0,3}((a|b|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?", fullmatch=True
)
SPACES = st.sampled_from(["", " ", "  "])
CLAUSES = st.builds(
    "{1}{0}{1}{2}{1}".format, st.sampled_from(["==", ">=", "<=", "!=", "<", ">", "~=", "==="]), SPACES, VERSIONS
)  # fmt: skip
EXTRAS = st.lists(NAMES, max_size=2).map(lambda names: f" [ {' , '.join(names)} ]" if names else "")
LINES = st.builds(
    lambda name, extras, clauses, brackets, marker: (
        name + extras + (f" ({','.join(clauses)})" if brackets and clauses else ",".join(clauses)) + marker
    ),
    NAMES, EXTRAS, st.lists(CLAUSES, max_size=3), st.booleans(), st.sampled_from(["", " ; python_version > '3'"]),
)  # fmt: skip
ODD = st.text("ab1-_.[](),;@=<>!~ \n\"'$&/:", max_size=14) | st.text(max_size=8)


@example("name,")
@example("name (,)")
@example("name@;")
@example("name@address;")
@example("name@address ; python_version > '3'")
@given(LINES | ODD)
def test_a_line_keeps_its_meaning(line):
    found = parts(line)
    try:
        known = Requirement(line if found is None or found[3] else line.partition(";")[0].strip())
        known.marker = None
    except ValueError:  # an InvalidSpecifier, too, which packaging lets out
        known = None
    if found is None:
        assert known is None or any(one.operator == "===" for one in known.specifier) or known.url
        return
    text = canonical(found)
    assert known is not None, text
    assert Requirement(text) == known
    assert text.isprintable()
    assert text[0].isalnum()
    assert parts(text) == found


@given(st.text("ab1-_.", max_size=6) | VERSIONS | st.text("0123456789.abcdev+-! \n", max_size=8))
def test_names_and_versions_are_those_of_packaging(text):
    assert is_name(text) is (
        text.isascii() and bool(text) and text[0].isalnum() and text[-1].isalnum() and not set(text) & set("!+ \n")
    )
    try:
        known = str(Version(text)) is not None and text == text.strip()
    except InvalidVersion:
        known = False
    assert is_version(text) is known


def test_what_is_met_once_is_not_looked_at_again():
    lines = ["left>=1", "left>=2", "gone", "old (>1) ; python_version < '3'", "weird >> 1"]
    packages = {"left": Distribution(name="left", version="1.5")}
    met = set()

    found = list(unmet(lines, packages, {"python_version": "3.11"}.get, {}, met))

    assert [(kind, line) for kind, line, _ in found] == [
        ("incompatible", "left>=2"), ("missing", "gone"), ("unreadable", "weird >> 1"),
    ]  # fmt: skip
    assert met == {"left>=1"}
    assert list(unmet(["left>=1"], {}, {}.get, {}, met)) == []  # which was met
    assert [kind for kind, *_ in unmet(["left>=1"], {}, {}.get, {}, set())] == ["missing"]


@pytest.mark.parametrize(
    "line", ["left==" + "9" * 5000, "left[x]==1." + "9" * 5000, "left>=1!" + "9" * 5000, "left===" + "a" * 201]
)
def test_what_nobody_can_have_released_is_no_requirement(line):
    assert parts(line) is parse(line) is None


@pytest.mark.parametrize("line", ["a[b]>=1", "a [b, c] >=1", "a[b] (>=1)", "a (>=1)", "a>=1"])
def test_extras_and_brackets_leave_name_and_range(line):
    assert parse(line) == ("a", ">=1", None)
