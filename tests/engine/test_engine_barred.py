"""Bounds that keep out what rules bar, and nothing that goes together."""

import pytest
import tomli
from conftest import run_envdoctor
from engine import rule_bases
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from envdoctor.commands.constraints import FORMATS
from envdoctor.engine.barred import _without, bounds
from envdoctor.engine.versions import intervals, within

RELEASES = ["0.9", "1.0", "1.0.1", "1.0.post1", "1.1", "1.9", "2.0", "2.0.1", "2.1", "3.0", "10.0"]


@pytest.mark.parametrize(
    ("bad", "version", "specifier"),
    [
        ("<2.1", "3.0", ">=2.1"),
        ("<=2.0", "3.0", ">2.0"),
        (">=3.0", "1.0", "<3.0"),
        (">2.0", "1.0", "<=2.0"),
        (">=2.0rc1", "1.0", "<2.0"),
        ("<2.0rc1", "3.0", ">=2.0"),
        ("==1.0", "2.0", "!=1.0"),
        ("==1.*", "2.0", "!=1.*"),
        (">=1.0,<2.0", "3.0", ">=2.0"),
        (">=1.0,<2.0", "0.9", "<1.0"),
        (">=1.0,!=1.1", "0.9", "<1.0"),  # on this side of both gaps
        (">=0", "1", "<0.0"),
    ],
)
def test_what_is_bad_is_outside(bad, version, specifier):
    said = _without(intervals(bad), version)

    assert set(said.split(",")) >= set(specifier.split(","))
    for one in RELEASES:
        if within(one, bad):
            assert not SpecifierSet(said).contains(one), one
    assert SpecifierSet(said).contains(version) is not within(version, bad)


def said(fields, packages, **more):
    here = rule_bases.snapshot(packages, **more)
    found = bounds(here, [rule_bases.base(rule_bases.rule(**fields))])
    return [(one.package + one.specifier, list(one.since), one.broken) for one in found]


PAIR = {"when": {"packages": {"left": ">=2", "right": "<1.5"}}}
CONSUMERS = {
    "when": {"packages": {"left": ">=2"}},
    "consumers": {"right": {"bad": "<1.5", "works": "1.5"}, "other": {"bad": "<3", "works": "3"}},
    "remedies": [{"upgrade": "{consumer}>={works}"}],
}


@pytest.mark.parametrize(
    ("fields", "packages", "expected"),
    [
        ({}, {"left": "1.0"}, [("left<2.0", [], False)]),
        ({}, {"left-cpu": "1.0"}, [("left-cpu<2.0", [], False)]),
        ({}, {"left": "2.0"}, [("left<2.0", [], True)]),
        (PAIR, {"left": "2.1", "right": "1.5"}, [("right>=1.5", ["left 2.1"], False)]),
        (PAIR, {"left": "1.0", "right": "1.0"}, [("left<2.0", ["right 1.0"], False)]),
        (PAIR, {"left": "1.0", "right": "1.5"}, [("right>=1.5", ["left 1.0"], False)]),
        (PAIR, {"left": "2.0", "right": "1.0"}, [("right>=1.5", ["left 2.0"], True)]),
        (PAIR, {"left": "2.0"}, []),
        (CONSUMERS, {"left": "2.0", "right": "2.0", "other": "1.0"}, [("other>=3.0", ["left 2.0"], True), ("right>=1.5", ["left 2.0"], False)]),
        ({"when": {"python": ">=3.12", "packages": {"left": "<2"}}}, {"left": "1.0"}, []),
        ({"when": {"python": ">=3.11", "packages": {"left": "<2"}}}, {"left": "2.0"}, [("left>=2.0", [], False)]),
        ({"when": {"packages": {"left": ">=2"}, "env": {"A": "b"}}}, {"left": "1.0"}, []),
        ({"when": {"any": [{"packages": {"left": "<1"}}, PAIR["when"]]}}, {"left": "1.0", "right": "1.0"}, [("left>=1.0", [], False), ("left<2.0", ["right 1.0"], False)]),
        ({"when": {"not": {"packages": {"left": "<2"}}}}, {"left": "1.0"}, []),
        ({"severity": "info"}, {"left": "1.0"}, []),
    ],
)  # fmt: skip
def test_the_side_that_is_in_use_stays(fields, packages, expected):
    assert said(fields, packages) == expected


def test_bounds_that_exclude_each_other_are_not_said_together():
    rules = [
        rule_bases.rule("low", when={"packages": {"left": "<2"}}),
        rule_bases.rule("high", when={"packages": {"left": ">=2"}}),
    ]
    found = bounds(rule_bases.snapshot({"left": "1.0"}), [rule_bases.base(*rules)])

    assert len(found) == 1


def test_what_a_requirement_excludes_is_put_in_its_place():
    """A constraint beside such a requirement would leave a resolver without any release."""
    says = {("requirements", "right"): ["left>=2.0", "left<1; python_version < '3'"], ("requirements", "left"): []}
    here = rule_bases.snapshot({"left": "2.0", "right": "1.0"}, lookups=says)

    found = {one.rule: one for one in bounds(here, [rule_bases.base(rule_bases.rule("high"))])}

    assert found["high"].against == "right 1.0 requires left>=2.0"
    assert tomli.loads(FORMATS["uv"](list(found.values())))["tool"]["uv"] == {
        "constraint-dependencies": [], "override-dependencies": ["left<2.0"],
    }  # fmt: skip
    assert FORMATS["pip"](list(found.values())).startswith("# left<2.0  # high")


def test_each_format_says_the_same(tmp_path):
    (tmp_path / "requirements.txt").write_text("flask==2.0\nwerkzeug==3.0.1\npandas==2.0.0\nnumpy==1.26.4\n")
    target = ["-r", tmp_path / "requirements.txt", "--python-version", "3.11"]
    pip, conda, toml = (run_envdoctor("constraints", *target, "-f", form).stdout for form in ("pip", "conda", "uv"))

    requirements = [str(Requirement(line.partition("  #")[0])) for line in pip.splitlines()]
    assert "flask>=2.2.4" in requirements
    assert [line.partition("  #")[0].strip().replace(" ", "") for line in conda.splitlines()] == requirements
    assert tomli.loads(toml)["tool"]["uv"]["constraint-dependencies"] == requirements
    assert all(" # " in line for line in pip.splitlines())
    named = run_envdoctor("constraints", "NumPy", *target).stdout
    assert {line.partition("<")[0] for line in named.splitlines()} == {"numpy"}
