"""Founding story 1, on the real software: broken, found, cured by the first command that envdoctor prints, quiet."""

import json
import os
import sys

import interpreters
import pytest
from conftest import environment, run

USE = """
import cloudpickle, math
roots = cloudpickle.loads(cloudpickle.dumps(lambda n: [math.sqrt(i) for i in range(n)]))
assert roots(3) == [0.0, 1.0, math.sqrt(2)]
"""


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def envdoctor(folder, *words):
    scripts = str(python_of(folder).parent)
    active = environment(VIRTUAL_ENV=str(folder), PATH=scripts + os.pathsep + os.environ["PATH"])
    return run(sys.executable, "-m", "envdoctor", *words, env=active, cwd=folder)


def found(folder):
    done = envdoctor(folder, "check", "-f", "json", "--fail-on", "warning")
    findings = json.loads(done.stdout)["findings"]
    return done.returncode, {finding["rule"]: finding for finding in findings if finding["severity"] != "info"}


@pytest.mark.parametrize("with_pip", [True, False], ids=["pip", "uv"])
def test_python_3_11_with_cloudpickle_1_6_is_found_and_cured(make_environment, with_pip):
    pip = ["pip"] if with_pip else []
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==1.6.0", *pip)

    broken = run(python_of(folder), "-c", USE)
    assert "IndexError: tuple index out of range" in broken.stderr

    status, findings = found(folder)
    assert status == 1
    (finding,) = findings.values()
    assert finding["severity"] == "error"
    assert finding["packages"] == ["cloudpickle"]
    assert {"python", "packages"} <= set(finding["facts"])
    assert {"fact": "packages.cloudpickle", "value": "1.6.0"}.items() <= finding["evidence"][1].items()
    assert all(evidence["source"] for evidence in finding["evidence"])
    kinds = [remedy["kind"] for remedy in finding["remedies"]]
    assert kinds[0] == "upgrade"
    assert kinds[-1] == "downgrade"

    printed = envdoctor(folder)
    assert finding["remedies"][0]["command"] in printed.stdout
    shell = environment(VIRTUAL_ENV=str(folder), PATH=f"{python_of(folder).parent}{os.pathsep}{os.environ['PATH']}")
    cured = run("sh", "-c", finding["remedies"][0]["command"], env=shell)
    assert cured.returncode == 0, cured.stderr

    assert run(python_of(folder), "-c", USE).returncode == 0
    assert found(folder) == (0, {})
    quiet = envdoctor(folder)
    assert quiet.returncode == 0
    assert len(quiet.stdout.splitlines()) == 1


def test_python_3_10_with_cloudpickle_1_6_is_quiet_from_the_start(make_environment):
    folder = make_environment(interpreters.need("3.10"), "cloudpickle==1.6.0")

    assert run(python_of(folder), "-c", USE).returncode == 0
    assert found(folder) == (0, {})


def test_the_traceback_alone_leads_to_the_rule(make_environment):
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==1.6.0")
    broken = run(python_of(folder), "-c", USE)

    done = run(
        sys.executable, "-m", "envdoctor", "explain", "-", "--no-target", "-f", "json",
        input=broken.stderr, env=environment(),
    )  # fmt: skip
    first = json.loads(done.stdout)["findings"][0]

    assert first["packages"] == ["cloudpickle"]
    assert first["matched"]
