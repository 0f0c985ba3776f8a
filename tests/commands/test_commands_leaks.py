"""Secrets planted in every place that something is read from: none of them is printed, whatever the format."""

import json
import os
import pickle
import sys

import pytest
from conftest import environment, run_envdoctor
from planted import EVERY, SECRETS, WORDS, leaked

pytestmark = pytest.mark.trials

RULE = """\
id: {id}
title: "found {title}"
severity: warning
impact: crash
when: {when}
why: because of it
remedies:
  - change: "look at {call} in {{file}}"
references: [https://example.org/1]
proof:
  script: import x
  bad: [{{python: "3.11", packages: {{x: "1.0"}}, recorded: "https://example.org/1"}}]
  good: [{{python: "3.11", packages: {{x: "2.0"}}, recorded: "https://example.org/1"}}]
"""


def rules(folder, **conditions):
    """A directory of rules, each with one condition."""
    folder.mkdir()
    for number, (name, when) in enumerate(conditions.items()):
        call = "{call}" if "source" in when else "it"
        (folder / f"rule-{number}.yaml").write_text(RULE.format(id=f"rule-{number}", title=name, when=when, call=call))
    return folder


def envdoctor(*words, cwd, **variables):
    done = run_envdoctor(*words, cwd=cwd, env=environment(PYTHONSAFEPATH="1", **variables))
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def distribution(site, name, version="1.0", **files):
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + files.pop("header", "")
    )
    for file, text in files.items():
        (folder / file.replace("_json", ".json")).write_text(text)


@pytest.fixture
def venv(make_environment):
    folder = make_environment(sys.executable)
    (site,) = folder.glob("lib/python3*/site-packages")
    distribution(site, "lib")
    return folder, site


FORMS = [("check", "--all"), ("check", "-f", "json"), ("check", "-f", "markdown"), ("report",)]


def test_there_are_enough_of_them():
    assert len(EVERY) >= 60
    assert leaked(" ".join(EVERY)) == EVERY
    assert leaked(" ".join(secret[: len(shape) + 10] for shape, secret in SECRETS)) == [secret for _, secret in SECRETS]


def test_literals_of_the_source(venv, tmp_path):
    """As an argument, by keyword, cut at the end of a long line, in a comment, beside an import, as a key."""
    calls = []
    for number, secret in enumerate(EVERY):
        calls += [
            f"lib.call({secret!r})", f"lib.call(x, 'some', token={secret!r})", f"lib.call(f'{{x}}{secret}', b'{secret}')",
            f"lib.call(some_long_name_of_an_argument, another_long_name_of_it, n, {secret!r}, x)",
            f"lib.call(x,  # {secret}\n    y)", f"import lib.sub{number}; key = {secret!r}  # {secret}",
            f"lib.carry({{{secret!r}: open('x')}}, [open({secret!r})])", f"lib.call({secret!r} + {secret!r})",
        ]  # fmt: skip
    project = tmp_path / "project"
    project.mkdir()
    shown = {}
    for at in range(0, len(calls), 5):  # a finding names five places of each rule
        shown[f"part{at}.py"] = "import lib\nx = y = n = 1\n" + "\n".join(calls[at : at + 5])
    conditions = {
        "calls": "{source: {calls: lib.call}}", "imports": '{source: {imports: "lib.**"}}',
        "carries": '{source: {calls: lib.carry, argument: {at: 0, carries: "builtins.open"}}}',
    }  # fmt: skip
    extra = rules(tmp_path / "rules", **conditions)
    said = ""
    for at in range(0, len(shown), 8):
        for old in project.iterdir():
            old.unlink()
        for name in [*shown][at : at + 8]:
            (project / name).write_text(shown[name])
        words = FORMS[(at // 8) % len(FORMS)]
        said += envdoctor(*words, "--python", venv[0], "--project", project, "--rules", extra, cwd=tmp_path)
    assert said.count("lib.call") > 40
    assert leaked(said) == []


@pytest.mark.parametrize("words", FORMS)
def test_values_of_configuration_and_variables(venv, tmp_path, words):
    project = tmp_path / "project"
    project.mkdir()
    names = [f"NAME_{number}" for number in range(len(EVERY))]
    (project / ".env").write_text("".join(f"{name}={secret}\n" for name, secret in zip(names, EVERY)))
    (project / "conf.yaml").write_text("".join(f"{name}: {json.dumps(secret)}\n" for name, secret in zip(names, EVERY)))
    (project / "conf.json").write_text(json.dumps(dict(zip(names, EVERY))))
    (project / "setup.cfg").write_text("[it]\n" + "".join(f"{name}={secret}\n" for name, secret in zip(names, EVERY)))
    conditions = {}
    for number, name in enumerate(names):
        file = (".env", "conf.yaml", "conf.json", "setup.cfg")[number % 4]
        key = f"it.{name}" if file == "setup.cfg" else name
        conditions[f"config {name}"] = f"{{config: {{file: {file}, key: {key}, is: set}}}}"
        conditions[f"env {name}"] = f"{{env: {{{name}: {{is: set}}}}}}"
        conditions[f"env {name} begins"] = f"{{env: {{{name}: {{matches: '^.'}}}}}}"
    extra = rules(tmp_path / "rules", **conditions)
    variables = dict(zip(names, EVERY))
    said = envdoctor(*words, "--python", venv[0], "--project", project, "--rules", extra, cwd=tmp_path, **variables)
    assert said.count("NAME_") > 150
    assert leaked(said) == []


def test_variables_in_a_snapshot_are_hidden_unless_a_shipped_rule_names_them(venv, tmp_path):
    names = [f"NAME_{number}" for number in range(len(EVERY))]
    conditions = {name: f"{{env: {{{name}: {{is: set}}}}}}" for name in names}
    extra = rules(tmp_path / "rules", **conditions)
    variables = {**dict(zip(names, EVERY)), "TOKENIZERS_PARALLELISM": "false"}
    said = envdoctor("snapshot", "--python", venv[0], "--rules", extra, cwd=tmp_path, **variables)
    assert json.loads(said)["env"].get("NAME_1") == "<redacted>"
    assert leaked(said) == []


def test_metadata_of_distributions(venv, tmp_path):
    folder, site = venv
    for number, secret in enumerate(EVERY):
        bare = "pip" if secret in WORDS else secret  # which nothing but its place gives away
        address = f"https://user:{secret}@example.org/simple/x.whl"
        header = f"Requires-Dist: missing{number} @ {address}\nHome-page: {address}\nRequires-Dist: lib (<1) ; {bare}\n"
        direct = {"url": f"git+{address}?token={secret}", "vcs_info": {"vcs": "git", "commit_id": bare}}
        distribution(site, f"d{number}", header=header, direct_url_json=json.dumps(direct), INSTALLER=bare)
    (site / "more.pth").write_text("\n".join(f"# {secret}" for secret in EVERY))
    with (folder / "pyvenv.cfg").open("a") as file:
        file.write("".join(f"prompt = {secret}\ncommand = python -m venv --token {secret}\n" for secret in EVERY))
    for words in [*FORMS, ("snapshot",)]:
        said = envdoctor(*words, "--python", folder, cwd=tmp_path)
        assert "missing7" in said
        assert leaked(said) == [], words


def test_requirements_and_lock_files(tmp_path):
    addresses = [f"https://user:{secret}@example.org/simple" for secret in EVERY]
    lines = [f"--index-url {one}" for one in addresses] + [f"m{at} @ {one}/x.whl" for at, one in enumerate(addresses)]
    (tmp_path / "requirements.txt").write_text("numpy==2.0.0\npandas==1.5.0\n" + "\n".join(lines) + "\n")
    packages = "".join(
        f'[[package]]\nname = "m{at}"\nversion = "1.0"\nsource = {{ registry = "{one}" }}\n'
        for at, one in enumerate(addresses)
    )
    (tmp_path / "uv.lock").write_text('version = 1\nrequires-python = ">=3.11"\n' + packages)
    for file in ("requirements.txt", "uv.lock"):
        for words in [*FORMS, ("snapshot",)]:
            said = envdoctor(*words, "-r", file, "--python-version", "3.11", cwd=tmp_path)
            assert leaked(said) == [], (file, words)


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_traceback(tmp_path, form):
    """By its shape, in an address, or behind a name that says what it is."""
    for at in range(0, len(EVERY), 18):
        some = EVERY[at : at + 18]
        lines = [
            f"  lib.call(password={one!r})\nGET https://user:{one}@example.org/x?token={one}\n{one_shape(one)}"
            for one in some
        ]
        message = " ".join([*[one_shape(one) for one in some], f"password={some[0]} https://u:{some[-1]}@example.org"])
        text = 'Traceback (most recent call last):\n  File "/home/ada/main.py", line 3, in <module>\n' + "\n".join(
            lines
        )
        (tmp_path / "error.log").write_text(f"{text}\nModuleNotFoundError: No module named 'imp' {message}\n")
        assert leaked(envdoctor("explain", "error.log", "--no-target", "-f", form, cwd=tmp_path)) == []


def one_shape(secret):
    return secret if secret not in WORDS else f"password: {secret}"


def test_what_is_in_an_artefact(venv, tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"names": EVERY, "env": dict.fromkeys(EVERY, 1)}))
    extra = rules(tmp_path / "rules", kind='{artifact: {kind: pickle, protocol: ">=2"}}')
    for words in FORMS:
        said = envdoctor(*words, "--python", venv[0], "--artifact", "model.pkl", "--rules", extra, cwd=tmp_path)
        assert "model.pkl" in said
        assert leaked(said) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the command line of a process is read on Linux")
def test_the_command_line_and_the_variables_of_a_process(venv, tmp_path):
    import subprocess

    words = [str(venv[0] / "bin" / "python"), "-c", "import sys; print(1, flush=True); sys.stdin.read()"]
    for secret in EVERY:
        words += ["--password", secret, f"--api-key={secret}", f"https://user:{secret}@example.org"]
    variables = environment(**{f"NAME_{number}": secret for number, secret in enumerate(EVERY)})
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, cwd=tmp_path) as process:
        process.stdout.readline()
        for command in ("report", "snapshot"):
            assert leaked(envdoctor(command, "--pid", process.pid, cwd=tmp_path)) == []
        process.communicate(b"")


def test_the_home_and_the_name_of_a_user_stay_out_of_report_and_snapshot(tmp_path):
    """By the variable that says where the home is, and where another user's home is in a path."""
    home = tmp_path / "home" / "grace-hopper-1906"
    site = home / "venv" / "site-packages"
    site.mkdir(parents=True)
    distribution(site, "lib", header="Requires-Dist: missing\n")
    document = {
        "python": {"version": "3.11.4", "executable": f"{home}/venv/bin/python", "prefix": f"{home}/venv"},
        "packages": {"lib": "1.0"}, "requirements": {"lib": ["missing"]}, "target": {"path": f"{home}/venv"},
        "distributions": {"lib": {"path": f"{site}/lib-1.0.dist-info", "location": str(site)}},
    }  # fmt: skip
    (tmp_path / "facts.json").write_text(json.dumps(document))
    for command in ("report", "snapshot"):
        said = envdoctor(
            command, "--snapshot", tmp_path / "facts.json", cwd=home, HOME=str(home), USER="grace-hopper-1906"
        )
        assert "grace-hopper" not in said
