"""Two snapshots side by side: what differs as far as both tell, and which findings a difference explains."""

import pytest
from engine.rule_bases import snapshot

from envdoctor.engine.differences import about, between, facts_of, identity
from envdoctor.model import Distribution, Evidence, Finding, Unknown

PYTHONS = [
    ({"version": "3.11.7", "implementation": "cpython"}, "3.11.7"),
    ({"version": "3.11.7"}, "3.11.7"),
    ({"version": "3.10.14", "implementation": "PyPy"}, "PyPy 3.10.14"),
    ({"version": "3.13.1", "free_threaded": True, "debug": True}, "3.13.1 free-threaded debug"),
    ({"version": "3.13.1", "free_threaded": False}, "3.13.1"),
    ({"implementation": "cpython"}, None),
]


@pytest.mark.parametrize(("python", "said"), PYTHONS)
def test_python_is_said_with_what_is_unusual(python, said):
    assert facts_of(snapshot().replace(python=python), {}).get("python") == said


def differing(before, after):
    return [(one.fact, one.before, one.after) for one in between(before, after, {})]


def with_packages(*, complete=True, **versions):
    packages = {name: Distribution(name=name, version=version) for name, version in versions.items()}
    return snapshot().replace(packages=packages, complete=complete)


def test_distributions_come_last_and_in_order():
    before = with_packages(zoo="1", left="1.0", same="1").replace(platform={"system": "linux"})
    after = with_packages(left="2.0", same="1", new="1").replace(platform={"system": "darwin"})
    assert differing(before, after) == [
        ("platform.system", "linux", "darwin"),
        ("packages.left", "1.0", "2.0"), ("packages.new", None, "1"), ("packages.zoo", "1", None),
    ]  # fmt: skip


@pytest.mark.parametrize("unknown", [with_packages(complete=False), with_packages(left=None)])
def test_what_one_of_them_does_not_tell_is_no_difference(unknown):
    assert differing(with_packages(left="1.0"), unknown) == differing(unknown, with_packages(left="1.0")) == []


def test_variables_and_the_machine_are_compared_as_far_as_both_answered():
    wanted = {"env": ["LIMIT", "GONE", "UNSAID"], "system": ["glibc"]}
    known = {("env", "LIMIT"): "1", ("env", "GONE"): None, ("env", "UNSAID"): Unknown(reason="nobody asked")}
    before = snapshot(lookups={**known, ("system", "glibc"): "2.17"})
    after = snapshot(lookups={**known, ("env", "LIMIT"): "2", ("env", "UNSAID"): "3", ("system", "glibc"): "2.36"})

    assert {"env.LIMIT": "1", "env.GONE": None, "system.glibc": "2.17"}.items() <= facts_of(before, wanted).items()
    assert "env.UNSAID" not in facts_of(before, wanted)
    found = [(one.fact, one.before, one.after) for one in between(before, after, wanted)]
    assert found == [("env.LIMIT", "1", "2"), ("system.glibc", "2.17", "2.36")]


def test_environments_of_images_are_compared_by_their_places():
    def image(**versions):
        first, *others = [
            with_packages(left=version).replace(target={"environment": place}) for place, version in versions.items()
        ]
        return first.replace(siblings=others)

    found = between(image(a="1", b="1", gone="1"), image(b="2", a="1", new="1"), {})
    assert [(one.environment, one.fact, one.after) for one in found] == [("b", "packages.left", "2")]


def test_a_finding_is_explained_by_its_evidence_and_the_distributions_that_it_names():
    evidence = [
        Evidence(fact="requirements.asker", value="x", source="y"),
        Evidence(fact="platform.system", value="x", source="y"),
    ]
    finding = Finding(
        rule="r", title="t", why="w", severity="error", impact="crash", packages=["left"], evidence=evidence,
        status="stable", proof="proven", facts=[], references=[], remedies=[],
    )  # fmt: skip
    before = with_packages(left="1", asker="1", other="1").replace(platform={"system": "linux"})
    after = with_packages(left="2", asker="2", other="2").replace(platform={"system": "win32"})
    explained = about(finding, between(before, after, {}))
    assert [one.fact for one in explained] == ["platform.system", "packages.asker", "packages.left"]
    elsewhere = [one.replace(environment="/venv") for one in explained]
    assert about(finding, elsewhere) == []
    assert about(finding.replace(environment="/venv"), elsewhere) == elsewhere
    assert identity(finding) != identity(finding.replace(environment="/venv"))
    assert identity(finding.replace(packages=["b", "a"])) == identity(finding.replace(packages=["a", "b"]))
