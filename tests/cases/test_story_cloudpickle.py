"""Founding story 1, on the real software: broken, found, cured by the first command that envdoctor prints, quiet."""

import json
import os
import textwrap

import interpreters
import pytest
from conftest import environment, python_of, run, run_envdoctor

USE = """
import cloudpickle, math
roots = cloudpickle.loads(cloudpickle.dumps(lambda n: [math.sqrt(i) for i in range(n)]))
assert roots(3) == [0.0, 1.0, math.sqrt(2)]
"""


def envdoctor(folder, *words):
    scripts = str(python_of(folder).parent)
    active = environment(VIRTUAL_ENV=str(folder), PATH=scripts + os.pathsep + os.environ["PATH"])
    return run_envdoctor(*words, env=active, cwd=folder)


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

    done = run_envdoctor("explain", "-", "--no-target", "-f", "json",
        input=broken.stderr, env=environment(),
    )  # fmt: skip
    first = json.loads(done.stdout)["findings"][0]

    assert first["packages"] == ["cloudpickle"]
    assert first["matched"]


# -- the same with the project that it happened in: a checkout of DreamerV3 as it was between two of its commits -----

#: What DreamerV3 does with its environments, in the layout of each time: where its options are, and what starts workers.
MAIN = """
import math
import multiprocessing
import os

import cloudpickle
import yaml


def serve(made, pipe):
    pipe.send(cloudpickle.loads(made)(4))


def drive(make, parallel):
    if not parallel:
        return make(4)
    mine, its = multiprocessing.Pipe()
    worker = multiprocessing.Process(target=serve, args=(cloudpickle.dumps(make), its))
    worker.start()
    its.close()
    try:
        return mine.recv()
    finally:
        worker.join()


if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "configs.yaml")) as file:
        options = yaml.safe_load(file)["defaults"]
    parallel = {parallel}
    print(drive(lambda n: [math.sqrt(i) for i in range(n)], parallel))
"""
#: By layout: the lines of the options, what the program asks of them, and the line to change, before and after.
LAYOUTS = {
    "April to December 2024": (
        """
        defaults:

          seed: 0
          task: dummy_disc

          jax:
            platform: gpu
            debug: False

          run:
            script: train
            num_envs: 16
            timer: True
            driver_parallel: True
            agent_process: False

        debug:

          run:
            num_envs: 4
        """,
        'options["run"]["driver_parallel"]',
        ("    driver_parallel: True", "driver_parallel: false"),
    ),
    "before": (
        """
        defaults:

          seed: 0
          run:
            script: train
            train_ratio: 32.0

          envs: {amount: 4, parallel: process, length: 0, reset: True}
        """,
        'options["envs"]["parallel"] != "none"',
        ("parallel: process", "parallel: none"),
    ),
    "since": (
        """
        defaults:

          run:
            steps: 1e10
            envs: 16
            debug: False

          jax: {platform: cuda, debug: False}
        """,
        'not options["run"]["debug"]',
        ("    debug: False", "debug: true"),
    ),
    "without a switch": (
        """
        defaults:
          run: {script: train, envs: 16}
        """,
        "True",
        None,
    ),
}
UPGRADE, SWITCH, DOWNGRADE = "upgrade", "set", "downgrade"


@pytest.fixture
def checkout(tmp_path):
    """Write a checkout in one of the layouts: ``checkout(layout)``."""

    def write(layout):
        options, parallel, _ = LAYOUTS[layout]
        folder = tmp_path / "checkout"
        (folder / "dreamerv3").mkdir(parents=True)
        (folder / "dreamerv3" / "configs.yaml").write_text(textwrap.dedent(options).lstrip(), encoding="utf-8")
        (folder / "dreamerv3" / "main.py").write_text(MAIN.replace("{parallel}", parallel), encoding="utf-8")
        return folder

    return write


def check(folder, project, *words):
    """The findings about an environment and a project, by rule, without the mere remarks; and what is printed."""
    scripts = str(python_of(folder).parent)
    active = environment(VIRTUAL_ENV=str(folder), PATH=scripts + os.pathsep + os.environ["PATH"])
    told = run_envdoctor("check", "-f", "json", *words, env=active, cwd=project)
    findings = {one["rule"]: one for one in json.loads(told.stdout)["findings"] if one["severity"] != "info"}
    return findings, run_envdoctor("check", *words, env=active, cwd=project).stdout


def train(folder, project):
    return run(python_of(folder), os.path.join("dreamerv3", "main.py"), cwd=project, env=environment())


def test_the_upgrade_comes_first_then_the_line_of_the_checkout_then_an_older_python(make_environment, checkout):
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==1.6.0", "pyyaml==6.0.2")
    project = checkout("April to December 2024")

    broken = train(folder, project)
    assert broken.returncode != 0
    assert "IndexError: tuple index out of range" in broken.stderr

    findings, printed = check(folder, project)
    finding = findings["cloudpickle-bytecode-py311"]
    assert [one["kind"] for one in finding["remedies"]] == [UPGRADE, SWITCH, DOWNGRADE]
    switch = finding["remedies"][1]
    assert (switch["file"], switch["line"]) == ("dreamerv3/configs.yaml", 14)
    assert (switch["key"], switch["to"], switch["safety"]) == ("defaults.run.driver_parallel", False, "workaround")
    assert "in dreamerv3/configs.yaml, line 14, write driver_parallel: false" in printed

    command = finding["remedies"][0]["command"]
    assert command in printed
    shell = environment(VIRTUAL_ENV=str(folder), PATH=f"{python_of(folder).parent}{os.pathsep}{os.environ['PATH']}")
    cured = run("sh", "-c", command, env=shell)
    assert cured.returncode == 0, cured.stderr
    assert train(folder, project).stdout.startswith("[0.0, 1.0, 1.41")
    assert check(folder, project)[0] == {}


@pytest.mark.parametrize("layout", [layout for layout, (_, _, change) in LAYOUTS.items() if change])
def test_the_line_that_is_named_cures_without_an_upgrade(make_environment, checkout, layout):
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==1.6.0", "pyyaml==6.0.2")
    project = checkout(layout)
    assert "IndexError: tuple index out of range" in train(folder, project).stderr

    findings, printed = check(folder, project)
    (switch,) = (one for one in findings["cloudpickle-bytecode-py311"]["remedies"] if one["kind"] == SWITCH)
    before, after = LAYOUTS[layout][2]
    assert f"in dreamerv3/configs.yaml, line {switch['line']}, write {after}" in printed

    options = project / "dreamerv3" / "configs.yaml"
    lines = options.read_text(encoding="utf-8").splitlines(keepends=True)
    named = lines[switch["line"] - 1]
    assert before in named
    lines[switch["line"] - 1] = named.replace(before.strip(), after)
    options.write_text("".join(lines), encoding="utf-8")
    assert train(folder, project).stdout.startswith("[0.0, 1.0, 1.41")

    again = check(folder, project)[0]["cloudpickle-bytecode-py311"]
    assert [one["kind"] for one in again["remedies"]] == [UPGRADE, DOWNGRADE]  # the environment is as broken as before


@pytest.mark.parametrize("folder_given", ["without a switch", None])
def test_without_the_key_no_line_is_offered(make_environment, checkout, tmp_path, folder_given):
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==1.6.0")
    project = checkout(folder_given) if folder_given else tmp_path

    findings, _ = check(folder, project, "--project", ".")
    assert [one["kind"] for one in findings["cloudpickle-bytecode-py311"]["remedies"]] == [UPGRADE, DOWNGRADE]


def test_a_cloudpickle_too_old_for_python_3_8_is_not_cured_by_python_3_10(make_environment):
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==0.8.1")

    _, findings = found(folder)
    assert [one["kind"] for one in findings["cloudpickle-bytecode-py311"]["remedies"]] == [UPGRADE]
