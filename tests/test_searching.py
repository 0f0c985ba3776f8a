"""Whole plans of many environments on the index of tiny wheels, with the calls of the resolver that each took."""

import json
from itertools import combinations

import pytest
from golden.samples import same
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from test_fixing import BLOG, OLD, RELEASES, SHOP, SITE, TIED, index, rule

from envdoctor import doctor, fixing
from envdoctor.facts import Metadata, Unknown
from envdoctor.model import Distribution, Snapshot
from envdoctor.remedies.offers import Offers
from envdoctor.remedies.resolver import resolve
from envdoctor.remedies.task import Refusal, Task

__all__ = ["index"]
PINS = {"core": "2.0", "shop": "1.0", "site": "1.0", "blog": "1.0"}
MIDDLE = rule("core20", {"core": "==2.0"}, ("upgrade", "core>2.0"), ("downgrade", "core<2.0"))
NEITHER = rule("shop-at-all", {"shop": ">=0"}, ("change", "write core.new for core.old"))
WARNED = {**rule("site-warned", {"site": "<2"}, ("upgrade", "site>=2")), "severity": "warning"}
RULES = {one["id"]: one for one in (SHOP, SITE, BLOG, OLD, TIED, MIDDLE, NEITHER, WARNED)}
PLANS = [
    *((names, {}) for size in (1, 2) for names in combinations([one for one in RULES if one != "tied-core1"], size)),
    (("shop-core2", "site-core2", "blog-core3"), {"core": "3.0"}),
    (("blog-core3", "shop-core2"), {"core": "3.0", "shop": "1.1"}),
    (("site2-shop1", "core20"), {"site": "2.0", "core": "2.1"}),
    (("tied-core1",), {"tied": "1.0"}),
    (("shop-core2", "tied-core1", "core20"), {"tied": "1.0"}),
    (("tied-core1", "blog-core3"), {"core": "1.9", "tied": "1.0"}),
]


def told(folder, names, pins):
    """A plan: its steps, what stays and why, and how often the resolver was called."""
    text = "".join(f"{name}=={version}\n" for name, version in {**PINS, **pins}.items())
    (folder / "requirements.txt").write_text(text)
    calls = []
    rules = [str(folder / "rules" / name) for name in names]
    here = doctor.examine("requirements", str(folder / "requirements.txt"), python_version="3.11", rules=rules)
    plan, _ = fixing.plan(
        here, rules, tell=calls.append, everything=len(names) == 1, refused=[("shop", "1.1")] * ("core" in pins)
    )
    yield f"{' '.join(names)} {pins}: {calls}"
    yield from (f"  {[each for each in one.as_dict().values() if each]}" for one in plan.moves)
    yield f"  {plan.line} {[one.rule for one in plan.left]} {plan.conflicts} {[one.text for one in plan.advice]}"


@pytest.mark.trials  # all pairs of findings, each planned on an index
def test_whole_plans(index, tmp_path):
    for name, text in RULES.items():
        (tmp_path / "rules" / name).mkdir(parents=True)
        (tmp_path / "rules" / name / f"{name}.yaml").write_text(json.dumps(text))
    same("plans.txt", "\n".join(line for names, pins in PLANS for line in told(tmp_path, names, pins)) + "\n")


def offered(python="3.11.4", **packages):
    installed = {name: Distribution(name=name, version=version) for name, version in packages.items()}
    return Offers(Snapshot(target={}, python={"version": python}, packages=installed))


def test_what_the_index_offers(index):
    offers = offered(core="1.5", shop="1.0.0")
    offers.ask(["core", "shop", "core"])
    asked = len(index.asked)
    assert offers.releases("core") == ["1.0", "1.5", "1.9", "2.0", "2.1", "3.0"]
    assert offers.releases("shop") == ["1.0", "1.1", "2.0"], "the installed one under its other name"
    assert len(index.asked) == asked, "the index is asked once"
    assert (offers.has("core", "2.0.0"), offers.has("core", "2.0+cpu"), offers.has("core", "1.5")) == (
        True,
        False,
        False,
    )
    assert offers.releases("nowhere") == []
    assert offers.has("nowhere", "1.0") is False


def test_what_releases_say_of_themselves(index):
    offers = offered()
    said = offers.metadata([("site", "2.0.0"), ("core", "1.0"), ("core", "9.9"), ("nowhere", "1")])
    assert {key: isinstance(one, Metadata) and tuple(one.requires) for key, one in said.items()} == {
        ("site", "2.0.0"): ("core>=2", "extra-part"), ("core", "1.0"): (), ("core", "9.9"): False, ("nowhere", "1"): False,
    }  # fmt: skip
    asked = len(index.asked)
    assert offers.metadata([("core", "1.0")]) is said
    assert len(index.asked) == asked
    assert not any(isinstance(one.requires, Unknown) for one in said.values() if one)


@pytest.mark.parametrize(
    ("names", "bounds", "lines", "apart", "expected"),
    [
        (["shop", "core"], {}, [], [], {"core": "2.0", "shop": "1.0"}),
        (["shop"], {"core": "<2"}, [], [], {"core": "1.9", "shop": "1.0"}),
        (["shop"], {"shop": ">=2"}, ["core!=3.0"], [], {"core": "2.0", "shop": "2.0"}),
        (["site"], {"site": ">=2"}, [], ["extra-part"], {"core": "2.0", "site": "2.0"}),
    ],
)
def test_releases_that_go_together(index, names, bounds, lines, apart, expected):
    kept = {"core": "2.0", "shop": "1.0", "site": "1.0"}
    task = Task(
        python=["--python-version", "3.11"], names=names, preferred=kept, bounds=bounds, lines=lines, apart=apart
    )
    assert resolve(task) == expected
    for name, version in expected.items():
        assert version in RELEASES[name]
        assert Version(version) in SpecifierSet(bounds.get(name, ""))


def test_why_releases_do_not_go_together(index):
    task = Task(
        python=["--python-version", "3.11"],
        names=["tied", "core"],
        preferred={},
        bounds={"core": ">=2"},
        lines=[],
        apart=[],
    )
    assert resolve(task) == Refusal(names=frozenset(["core"]), unknown=None)
    lost = resolve(task.replace(names=["lost"], bounds={}))
    assert (isinstance(lost, Refusal), lost.unknown) == (True, "nowhere")
