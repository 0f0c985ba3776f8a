"""The fast readers agree with packaging wherever they answer, and hand over what they do not read."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.markers import evaluate
from envdoctor.engine.versions import intervals, key, within

numbers = st.integers(0, 12)
release = st.lists(numbers, min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
suffix = st.sampled_from(
    ["", "", "", "a1", "b2", "rc1", ".post1", ".dev0", ".dev3", "rc1.post2", ".post1.dev4", "a1.dev2"]
)
local = st.sampled_from(["", "", "", "+cu118", "+local.1"])
odd = st.sampled_from(
    [
        "v1.0",
        "1.0-1",
        "1!2.0",
        "1.0alpha1",
        "1.0c1",
        "2004d",
        "1..0",
        "",
        "1.0.post",
        "1.0_rc1",
        "٣.1",
        "3.0dev",
        "2.0a.0",
        "1.0-rev2",
        "vv1",
        "v1!1",
        "1.0.",
        "1.0+",
        "1.0+a..b",
        "1.0PRE2",
        " 1.0 ",
        "1.0-preview-3",
        "1.0r4",
        "1.0+u_1-2",
        "1.0a1b2",
        "1!v2",
    ]
)
ODD_NO_VERSION = {"2004d", "1..0", "", "٣.1", "vv1", "1.0.", "1.0+", "1.0+a..b", "1.0a1b2", "1!v2"}
versions = st.one_of(st.builds(lambda a, b, c: a + b + c, release, suffix, local), odd)
clauses = st.one_of(
    st.builds(lambda op, v, s: op + v + s, st.sampled_from(["==", "!=", "<=", ">=", "<", ">", "~="]), release, suffix),
    st.builds(lambda op, v: f"{op} {v}.*", st.sampled_from(["==", "!="]), release),
    st.builds(lambda v: f"==={v}", release),
    st.sampled_from(["<2.0a.0", "<3.0dev", "~=1.0.0b4", ">1.0a1", "<1.0.post1", "~=1", ">=1!2", "<=1.0-1", "==v1.0"]),
    st.builds(lambda v: f"=={v}+cu118", release),
)
specifiers = st.lists(clauses, max_size=3).map(",".join)


def is_specifier(text):
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


@settings(max_examples=600, deadline=None)
@given(versions, specifiers)
@example("1.0.post1", ">1.0")
@example("1.0+local", ">1.0")
@example("1.0rc1", "<1.0")
@example("1.0.dev1", "==1.0.*")
@example("1.4.5", "~=1.4.2")
def test_a_version_is_within_a_specifier_as_packaging_says(version, specifier):
    assume(version not in ODD_NO_VERSION and is_specifier(specifier))
    expected = SpecifierSet(specifier).contains(Version(version), prereleases=True)
    assert within(version, specifier) is expected
    assert within(version, specifier, intervals(specifier)) is expected  # as a compiled rule has it


@pytest.mark.parametrize("text", sorted(ODD_NO_VERSION))
def test_what_is_no_version_is_within_no_stated_range(text):
    assert not within(text, ">=1.0")
    assert not within(text, "<2.0a1.post1")
    assert within(text, "")


@settings(max_examples=300, deadline=None)
@given(versions, versions)
def test_keys_order_public_versions_as_packaging_does(left, right):
    try:
        expected = Version(Version(left).public) < Version(Version(right).public)
    except InvalidVersion:
        return
    assert (key(left) < key(right)) is expected


@given(release, suffix)
def test_every_version_has_a_key(head, tail):
    assert key(head + tail) is not None


@given(st.one_of(versions, st.text("0123456789.abcrdevpostlh-_+!v ", max_size=12)))
@example("0a_")
@example("1.post-.dev_1")
def test_what_has_a_key_is_a_version_and_the_other_way_round(text):
    try:
        Version(text)
    except InvalidVersion:
        assert key(text) is None
    else:
        assert key(text) is not None


def test_an_empty_range_has_no_interval_and_an_open_one_has_no_bound():
    assert intervals(">=2,<1") == []
    assert intervals("") == [[None, None]]
    assert within("1.0", ">=2,<1") is False


variables = st.sampled_from(
    ["python_version", "python_full_version", "sys_platform", "os_name", "platform_system", "implementation_name"]
)
comparisons = st.one_of(
    st.builds(
        lambda v, op, n, q: f"{v} {op} {q}{n}{q}",
        st.sampled_from(["python_version", "python_full_version"]),
        st.sampled_from(["<", "<=", "==", "!=", ">=", ">", "~="]),
        st.sampled_from(["3.8", "3.11", "3.12", "3.11.4"]),
        st.sampled_from(["'", '"']),
    ),
    st.builds(
        lambda v, op, t: f'{v}{op}"{t}"',
        st.sampled_from(["sys_platform", "os_name", "platform_system", "implementation_name"]),
        st.sampled_from(["==", "!=", " in ", " not in "]),
        st.sampled_from(["linux", "win32", "posix", "nt", "Linux", "cpython", "linux darwin"]),
    ),
    st.sampled_from(
        ['"linux" in sys_platform', "extra == 'test'", '"3.8" <= python_version', "platform_release >= '5'"]
    ),
)
markers = st.recursive(
    comparisons,
    lambda inner: st.builds(
        lambda a, op, b, brackets: f"({a} {op} {b})" if brackets else f"{a} {op} {b}",
        inner,
        st.sampled_from(["and", "or"]),
        inner,
        st.booleans(),
    ),
    max_leaves=5,
)
ENVIRONMENT = {
    "python_version": "3.11",
    "python_full_version": "3.11.4",
    "sys_platform": "linux",
    "os_name": "posix",
    "platform_system": "Linux",
    "implementation_name": "cpython",
    "platform_release": "6.1.0",
}


@settings(max_examples=300, deadline=None)
@given(markers)
def test_a_marker_holds_as_packaging_says(marker):
    assert evaluate(marker, ENVIRONMENT.get) is Marker(marker).evaluate(ENVIRONMENT)


@pytest.mark.parametrize(
    ("marker", "verdict"),
    [
        ('sys_platform == "win32" and python_version < "3"', False),
        ('sys_platform == "linux" and python_version < "3"', None),
        ('sys_platform == "linux" or python_version < "3"', True),
        ("sys_platform ==", None),
    ],
)
def test_an_unknown_variable_only_matters_where_it_decides(marker, verdict):
    assert evaluate(marker, {"sys_platform": "linux"}.get) is verdict


names = st.sampled_from(["numpy", "Foo.Bar", "zope_interface", "a", "x-y--z"])
extras = st.sampled_from(["", "[x]", "[x, y]", " [x] "])
requirements = st.builds(
    lambda n, e, s, form, m: n + e + (f" ({s})" if form and s else s) + m,
    names,
    extras,
    specifiers,
    st.booleans(),
    st.sampled_from(["", " ; python_version < '3.8'", ';sys_platform=="win32"']),
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(requirements, st.sampled_from(["x @ https://example.org/x.whl", "", "==1", "a b", "x (>=1", "é>=1"])))
def test_a_requirement_is_read_as_packaging_reads_it(line):
    try:
        expected = Requirement(line)
    except InvalidRequirement:
        assert parse(line) is None
        return
    name, specifier, marker = parse(line)
    assert name == __import__("packaging.utils").utils.canonicalize_name(expected.name)
    assert SpecifierSet(specifier) == expected.specifier
    assert (marker is None) is (expected.marker is None)
