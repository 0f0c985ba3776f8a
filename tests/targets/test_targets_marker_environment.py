"""The marker environment from what was stated, against ``packaging``."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.markers import Marker

from envdoctor.errors import UsageError
from envdoctor.targets import marker_environment


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("3.11", "3.11"),
        ("3.11.7", "3.11.7"),
        ("311", "3.11"),
        ("37", "3.7"),
        (" 3.9 ", "3.9"),
        ("3.13.0rc1", "3.13.0rc1"),
        ("3", None),
        (None, None),
    ],
)
def test_python_versions(stated, expected):
    assert marker_environment.version(stated) == expected


def test_platforms():
    assert marker_environment.environment(platform="linux")["sys_platform"] == "linux"
    assert marker_environment.environment(platform="manylinux2014_x86_64")["os_name"] == "posix"
    assert marker_environment.environment(platform="macosx_12_0_arm64")["platform_system"] == "Darwin"
    assert marker_environment.environment(platform="win_amd64")["os_name"] == "nt"
    assert marker_environment.environment(platform="win32", machine="x86_64")["platform_machine"] == "AMD64"
    assert marker_environment.environment(platform="linux", machine="arm64")["platform_machine"] == "aarch64"
    assert marker_environment.environment(machine="ppc64le")["platform_machine"] == "ppc64le"
    assert marker_environment.environment() == {
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    with pytest.raises(UsageError, match="linux, darwin or win32"):
        marker_environment.environment(platform="amiga")


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("python_full_version < '3.12'", True),
        ("python_full_version >= '3.11'", True),
        ("python_full_version < '3.11'", False),
        ("python_full_version == '3.11.*'", True),
        ("python_full_version < '3.11.4'", None),
        ("python_full_version == '3.11.4'", None),
        ("python_full_version != '3.11.4'", None),
        ("python_full_version == '3.10.4'", False),
        ("'3.12' > python_full_version", True),
        ("python_version in '3.10 3.11'", True),
        ("sys_platform == 'win32' and python_version < '3'", False),
        ("sys_platform == 'win32' or python_version > '3'", True),
        ("sys_platform == 'win32'", None),
        ("os.name == 'nt'", None),
        ("extra == 'x'", None),
        ("'a' in extras", None),
        ("platform_python_implementation != 'PyPy'", True),
        ("python_implementation == 'CPython'", True),
        ("", True),
        ("nonsense", None),
        ("python_version", None),
        ("python_version >", None),
        ("python_version > '3' and", None),
        ("(python_version > '3'", None),
        ("'3' < '4'", None),
        ("and or not", None),
        ("python_version ~= 'x'", None),
        ("(" * 5000, None),
        ("os_name == 'a\"b'", None),
        ("unheard_of == 'x'", None),
    ],
)
def test_markers_are_three_valued(marker, expected):
    verdict = marker_environment.Markers(marker_environment.environment("3.11")).holds(marker)
    assert verdict.holds is expected
    assert bool(verdict.unknown) is (expected is None)


FULL = {
    **marker_environment.environment("3.11.7", "linux", "x86_64"),
    "platform_release": "6.1",
    "platform_version": "#1 SMP",
}
VARIABLES = st.sampled_from(sorted(set(FULL) - {"platform_release", "platform_version"}))
LITERALS = st.sampled_from(
    ["3", "3.8", "3.11", "3.11.7", "3.11.*", "3.12.0", "linux", "win32", "posix", "nt", "x86_64", "CPython", ""]
)
OPERATORS = st.sampled_from(["==", "!=", "<", ">", "<=", ">=", "in", "not in"])
LEAVES = st.builds(
    lambda variable, operator, literal, quote, turned: " ".join(
        [f"{quote}{literal}{quote}", operator, variable]
        if turned
        else [variable, operator, f"{quote}{literal}{quote}"],
    ),
    VARIABLES,
    OPERATORS,
    LITERALS,
    st.sampled_from("\"'"),
    st.booleans(),
)


def _joined(inner):
    """Two expressions, with ``and`` or ``or`` between them, with brackets or without."""
    return st.builds(
        lambda left, word, right, brackets: f"({left}) {word} ({right})" if brackets else f"{left} {word} {right}",
        inner,
        st.sampled_from(["and", "or"]),
        inner,
        st.booleans(),
    )


PAIRS = _joined(LEAVES)
EXPRESSIONS = st.one_of(LEAVES, PAIRS, _joined(st.one_of(LEAVES, PAIRS)))


@given(EXPRESSIONS)
def test_markers_equal_packaging(marker):
    try:
        expected = Marker(marker).evaluate(FULL)
    except Exception:  # noqa: BLE001 - what packaging cannot decide need only be unknown here
        return
    found = marker_environment.Markers(FULL).holds(marker)
    assert found.holds is expected


@given(EXPRESSIONS)
@example('implementation_name == "3"')  # packaging 22 takes the name for a version, and raises
def test_what_is_decided_early_stays_so(marker):
    """A verdict from the minor version alone holds for every micro version and platform."""
    early = marker_environment.Markers(marker_environment.environment("3.11")).holds(marker)
    if early.holds is None:
        return
    for micro, platform in itertools.product(("3.11.0", "3.11.4", "3.11.7", "3.11.42"), ("linux", "win32", "darwin")):
        known = marker_environment.environment(micro, platform, "x86_64")
        assert marker_environment.Markers(known).holds(marker).holds is early.holds
