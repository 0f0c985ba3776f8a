"""The fast readers agree with packaging wherever they answer, and hand over what they do not read."""

import sys

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.markers import evaluate
from envdoctor.engine.versions import LONGEST, complement, covers, intersect, intervals, key, meets, within

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


FINAL = [3, 0, -1, 1 << 62]
KEYS = {
    "1": [0, [1], *FINAL], "0.0": [0, [], *FINAL], "1.10.0": [0, [1, 10], *FINAL], "v1.0.1": [0, [1, 0, 1], *FINAL],
    " 1.0 ": [0, [1], *FINAL], "3!2.0": [3, [2], *FINAL], "1.0+local.1": [0, [1], *FINAL],
    "1.0a1": [0, [1], 0, 1, *FINAL[2:]], "1.0-alpha.2": [0, [1], 0, 2, *FINAL[2:]], "1.0b": [0, [1], 1, 0, *FINAL[2:]],
    "1.0RC1": [0, [1], 2, 1, *FINAL[2:]], "1.0c12": [0, [1], 2, 12, *FINAL[2:]],
    "1.0.post2": [0, [1], 3, 0, 2, 1 << 62], "1.0-4": [0, [1], 3, 0, 4, 1 << 62], "1.0_rev_5": [0, [1], 3, 0, 5, 1 << 62],
    "1.0.dev3": [0, [1], -1, 0, -1, 3], "1.0a1.dev2": [0, [1], 0, 1, -1, 2], "1.0.post1.dev4": [0, [1], 3, 0, 1, 4],
    "1" * LONGEST: [0, [int("1" * LONGEST)], *FINAL], "1" * (LONGEST + 1): None, "1.": None, "a!1": None, "1.0+_": None,
}  # fmt: skip


@pytest.mark.parametrize("version", KEYS)
def test_the_key_of_a_version(version):
    assert key(version) == KEYS[version]


ONE, TWO, AFTER = [0, [1], 3], [0, [2], -2], [0, [1], 3, 0, 0]
INTERVALS = {
    "": [[None, None]], " , ": [[None, None]], ">=1.0": [[ONE, None]], "<=1": [[None, AFTER]], "==1": [[ONE, AFTER]],
    "!=1": [[None, ONE], [AFTER, None]], "<2": [[None, TWO]], ">1": [[[0, [1], 4], None]], " >= 1 , < 2 ": [[ONE, TWO]],
    "==1.9.*": [[[0, [1, 9], -2], [0, [1, 10], -2]]], "!=1.*": [[None, [0, [1], -2]], [TWO, None]],
    "~=1.4.2": [[[0, [1, 4, 2], *FINAL], [0, [1, 5], -2]]], "~=1.4rc1": [[[0, [1, 4], 2, 1, *FINAL[2:]], TWO]],
    "<1a1": [[None, [0, [1], 0, 1, *FINAL[2:]]]], "<=1a1": [[None, [0, [1], 0, 1, *FINAL[2:], 1]]], ">=2,<1": [],
    "==1.post1": [[[0, [1], 3, 0, 1, 1 << 62], [0, [1], 3, 0, 1, 1 << 62, 1]]],
    **dict.fromkeys(["~=1", ">1a1", "<1.post1", "===1", "==1+cu1", "==1!1.*", ">=1.*", "1", "==" + "1" * LONGEST + ".1.*"]),
}  # fmt: skip


@pytest.mark.parametrize("specifier", INTERVALS)
def test_the_intervals_of_a_specifier(specifier):
    assert intervals(specifier) == INTERVALS[specifier]


@pytest.mark.parametrize(
    "specifier", ["", ">=1", "<=1.0", "<2", "==1.0", ">=0.9, <2", "!=1.1", "~=1.0", "==1.*", ">0.9"]
)
def test_common_specifiers_need_no_import(specifier, monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.specifiers", None)
    assert within("1.0", specifier) is True
    assert within("3.0", "!=1.0,<2") is False
    assert within("nothing", specifier) in {None, specifier == ""}


@pytest.mark.parametrize(
    ("specifier", "verdict"),
    [
        (">=1", True), ("<=1", True), ("==1", True), ("!=1", False), ("<1", False), ("<1.1", True), (" >=0 , <2 ", True),
        (">=2,~=1.0", False), *((one, None) for one in ["~=1.0", ">0", "==1+a", "<1a1", ">=x", "===1", "<"]),
    ],
)  # fmt: skip
def test_simple_clauses_are_decided_by_one_comparison(specifier, verdict):
    assert meets("1.0", specifier) is verdict
    assert meets("no version", specifier) is None


@given(versions, specifiers, specifiers)
def test_intervals_are_a_set(version, left, right):
    a, b = intervals(left), intervals(right)
    assume(a is not None and b is not None and key(version) is not None)
    inside = within(version, None, a)
    assert within(version, None, intersect(a, b)) is (inside and within(version, None, b))
    assert within(version, None, complement(a)) is not inside
    assert complement(complement(a)) == a or not a or len(a) > 1
    if covers(left, right):
        assert within(version, None, b) or not inside


COVERED = [
    (">=1", ">=0.9", True),
    (">=1", ">=1.1", None),
    ("<1", ">=1", False),
    ("==1.*", "!=2", True),
    ("", ">=1", None),
]


@pytest.mark.parametrize(("inner", "outer", "verdict"), [*COVERED, ("~=1", ">=1", None), (">=1", "===1", None)])
def test_a_range_covers_all_or_none_or_some_of_another(inner, outer, verdict):
    assert covers(inner, outer) is covers(inner, outer, intervals(outer)) is verdict


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


@given(markers)
def test_a_marker_holds_as_packaging_says(marker):
    assert evaluate(marker, ENVIRONMENT.get) is Marker(marker).evaluate(ENVIRONMENT)


@given(markers, st.sets(st.sampled_from(sorted(ENVIRONMENT))))
@example("'3.11.4' == python_full_version", {"python_full_version"})
def test_what_is_decided_without_some_variables_is_what_packaging_says_with_them(marker, unknown):
    known = {name: value for name, value in ENVIRONMENT.items() if name not in unknown}

    assert evaluate(marker, known.get) in {None, Marker(marker).evaluate(ENVIRONMENT)}


@pytest.mark.parametrize(
    ("marker", "verdict"),
    [
        ('sys_platform == "win32" and python_version < "3"', False),
        ('sys_platform == "linux" and python_version < "3"', None),
        ('sys_platform == "linux" or python_version < "3"', True),
        ('sys_platform == "win32" or python_version < "3"', None),
        ('python_version < "3" or sys_platform == "linux"', True),
        ('python_version < "3" or os_name == "nt"', None),
        ('python_version < "3" and os_name == "nt"', None),
        ('(python_version < "3" or sys_platform == "linux") and sys_platform != "win32"', True),
        ('python_version < "3" or sys_platform == "linux" and sys_platform != "linux"', None),
        ('(sys_platform == "linux") or (sys_platform == "win32")', True),
        ('extra == "x"', False),
        ("extra != 'x' and sys_platform == 'linux'", True),
        ('platform_release >= "5" or sys_platform == "linux"', True),
        ('platform_release >= "5" and sys_platform == "linux"', None),
        ('platform_release >= "5" or unheard_of == "linux"', None),
        ('unheard_of == "x" or sys_platform == "linux"', None),
        *(
            (broken, None)
            for broken in [
                "sys_platform == 'linux')",
                "sys_platform == 'linux' os_name",
                "sys_platform ==",
                "(" * 9999,
                '(sys_platform == "linux"',
                'os == "x"',
                "or",
            ]
        ),
    ],
)
def test_an_unknown_variable_only_matters_where_it_decides(marker, verdict):
    assert evaluate(marker, {"sys_platform": "linux"}.get) is verdict


@pytest.mark.parametrize("marker", [
    'python_version >= "3.8"', "python_version<'4' and (os_name == 'posix' or sys_platform=='win32')",
    'python_full_version == "3.11.*"', 'platform_machine != "arm64" and implementation_name == "cpython"',
    '( sys_platform == "linux" and extra != "x" )', 'python_version >= "3" or python_version == "2.7" or os_name == "nt"',
])  # fmt: skip
def test_common_markers_need_no_import(marker, monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.markers", None)
    here = {**ENVIRONMENT, "python_full_version": "3.11.4+", "platform_machine": "x86_64"}
    assert evaluate(marker, here.get) is True
    assert evaluate(f"({marker}) and os_name == 'nt'".replace('"', "'"), here.get) is False


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


@example("numpy===0,~=1")
@given(st.one_of(requirements, st.sampled_from(["x @ https://example.org/x.whl", "", "==1", "a b", "x (>=1", "é>=1"])))
def test_a_requirement_is_read_as_packaging_reads_it(line):
    try:
        expected = Requirement(line)
    except ValueError:  # an InvalidSpecifier, too, which packaging lets out
        assert parse(line) is None
        return
    name, specifier, marker = parse(line)
    assert name == __import__("packaging.utils").utils.canonicalize_name(expected.name)
    assert SpecifierSet(specifier) == expected.specifier
    assert (marker is None) is (expected.marker is None)
