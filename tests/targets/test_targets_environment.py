"""The environment at hand: read by its files, it is what its own interpreter says it is, and what pip sees."""

import json
import os
import shutil
import subprocess
import sys

import interpreters
import pytest
from conftest import CHECKOUT, run, run_envdoctor
from conftest import environment as variables
from known_facts import fact

from envdoctor import collector, doctor, targets
from envdoctor.targets import environment

posix_only = pytest.mark.skipif(os.name == "nt", reason="builds environments in the layout of POSIX")


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def site_of(folder):
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages")
    return site


def add(site, name, version="1.0", metadata=""):
    """Write the metadata of a distribution, as an installer does."""
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}\n")
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A virtual environment of the interpreter that runs the tests, without anything; copied by those who change it."""
    folder = tmp_path_factory.mktemp("environment") / ".venv"
    assert run(sys.executable, "-m", "venv", "--without-pip", folder).returncode == 0
    return folder


@pytest.fixture
def folder(bare, tmp_path):
    copy = tmp_path / ".venv"
    shutil.copytree(bare, copy, symlinks=True)
    return copy


@pytest.fixture(autouse=True)
def _nothing_is_active(monkeypatch):
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)


def versions(snapshot):
    return {name: item.version for name, item in snapshot.packages.items()}


def findings(snapshot):
    return {(one.rule, *one.packages[:1]) for one in doctor.diagnose(snapshot)}


# --- which environment ----------------------------------------------------------------------------------------------


def test_without_an_active_environment_it_is_the_interpreter_that_runs():
    snapshot = targets.examine()

    assert snapshot.python["executable"] == sys.executable
    assert snapshot.python["prefix"] == sys.prefix
    assert "pytest" in snapshot.packages


def test_an_active_environment_is_examined_from_elsewhere(folder, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    add(site_of(folder), "one")

    snapshot = targets.examine()

    assert snapshot.target["path"] == str(folder)
    assert versions(snapshot) == {"one": "1.0"}
    assert fact(snapshot, "marker", "python_version") == "{}.{}".format(*sys.version_info)


def test_the_active_environment_is_not_asked_twice_when_it_runs_envdoctor(monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setattr(environment, "facts_of_files", None)  # neither its files nor its interpreter

    snapshot = targets.examine(None)

    assert snapshot.target["chosen"] == "the active environment (VIRTUAL_ENV)"
    assert snapshot.python["executable"] == sys.executable


def test_a_deactivated_leftover_variable_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))

    snapshot = targets.examine()

    assert snapshot.python["prefix"] == sys.prefix
    assert [(note.fact, note.reason) for note in snapshot.notes] == [
        ("VIRTUAL_ENV", f"it names {tmp_path / 'gone'}, where there is no environment")
    ]


@posix_only
def test_a_conda_environment_is_asked_and_its_distributions_named(tmp_path, monkeypatch):
    """Its interpreter is a program in its prefix; here links lead to a real one instead."""
    prefix = tmp_path / "conda"
    base = sys.base_prefix
    (prefix / "bin").mkdir(parents=True)
    version = "python{}.{}".format(*sys.version_info)
    os.symlink(os.path.join(base, "lib"), prefix / "lib")
    shutil.copy(os.path.realpath(sys.executable), prefix / "bin" / version)
    os.symlink(version, prefix / "bin" / "python")
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta" / "history").touch()
    if run(prefix / "bin" / "python", "-c", "import os").returncode:
        pytest.skip("this interpreter cannot be moved")
    monkeypatch.setenv("CONDA_PREFIX", str(prefix))

    snapshot = targets.examine()

    assert snapshot.python["prefix"] == str(prefix)
    assert snapshot.python["version"].startswith("{}.{}.".format(*sys.version_info))


@pytest.mark.skipif(sys.platform != "linux", reason="the loader of Linux")
@pytest.mark.parametrize("is_active", [False, True])
def test_libraries_are_those_that_its_interpreter_would_load(folder, monkeypatch, tmp_path, is_active):
    if is_active:
        monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    shutil.copy(os.path.realpath(sys.executable), tmp_path / "libmine.so.1")
    (tmp_path / "libstdc++.so.6").write_bytes((tmp_path / "libmine.so.1").read_bytes()[:64] + b"\0GLIBCXX_3.4.66\0")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))

    snapshot = targets.examine()

    names = ("libmine.so.1", "libnowhere.so.1")
    assert [fact(snapshot, "library", name) for name in names] == ["present", "missing"]
    assert "is not the name of a file" in fact(snapshot, "library", "a/b").reason
    told = fact(snapshot, "system", "libstdcxx")
    assert told == "3.4.66" or (not is_active and collector._mapped("libstdc++.so.6"))


@pytest.mark.skipif(os.name == "nt", reason="a program is one by its mode")
def test_programs_are_those_on_the_path_or_beside_the_interpreter(folder, monkeypatch, tmp_path):
    for place, mode in ((tmp_path / "mine", 0o755), (tmp_path / "text", 0o644), (folder / "bin" / "beside", 0o755)):
        place.write_text("#!/bin/sh\n")
        place.chmod(mode)
    monkeypatch.setenv("PATH", str(tmp_path))

    snapshot = targets.examine("python", str(folder / "bin" / "python"))

    found = {name: fact(snapshot, "program", name) for name in ("mine", "text", "beside", "nowhere")}
    assert found == {"mine": "present", "text": "missing", "beside": "present", "nowhere": "missing"}
    assert "is not the name of a program" in fact(snapshot, "program", "a/b").reason


# --- by its files as by its interpreter -----------------------------------------------------------------------------


@pytest.mark.parametrize("python", interpreters.each())
def test_files_say_what_the_interpreter_says(python, tmp_path, monkeypatch):
    folder = tmp_path / "env"
    made = run(python, "-m", "venv", "--without-pip", folder)
    if made.returncode:
        pytest.skip(f"this Python makes no environment: {made.stderr[-200:]}")
    add(site_of(folder), "in_site", "2")
    add(tmp_path / "elsewhere", "by.path-file", "3")
    add(tmp_path / "first", "in_site", "1")
    (site_of(folder) / "more.pth").write_text(f"# remark\n\nimport sys\n{tmp_path / 'elsewhere'}\n/not/there\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "first"))
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))

    name = os.path.basename(os.path.dirname(site_of(folder)))
    usual = os.name == "nt" or os.path.exists(os.path.join(os.path.dirname(python), name))
    assert (
        environment.facts_of_files(str(folder)) is not None
    ) is usual  # else it is asked, as its files do not say enough
    by_files = doctor.examine()
    asked = doctor.examine("python", str(folder))

    assert versions(by_files) == versions(asked) == {"in-site": "1", "by-path-file": "3"}
    assert [item.version for item in by_files.duplicates] == [item.version for item in asked.duplicates] == ["2"]
    for name in ("version", "implementation", "free_threaded", "prefix"):
        assert by_files.python[name] == asked.python[name], name
    assert by_files.platform == asked.platform
    assert by_files.start_method == asked.start_method
    for marker in ("python_version", "python_full_version", "implementation_name", "sys_platform", "os_name"):
        assert fact(by_files, "marker", marker) == fact(asked, "marker", marker), marker


def test_an_environment_with_system_site_packages_shows_both_and_its_own_first(tmp_path, monkeypatch):
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    assert run(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", inner).returncode == 0
    assert run(sys.executable, "-m", "venv", "--without-pip", outer).returncode == 0
    add(site_of(inner), "ours")
    monkeypatch.setenv("VIRTUAL_ENV", str(inner))

    assert environment.facts_of_files(str(inner)) is None
    snapshot = doctor.examine()

    paths = [item.location for item in snapshot.packages.values()]
    assert snapshot.packages["ours"].location == str(site_of(inner))
    told = run(python_of(inner), "-c", "import sys; print(*sys.path[1:], sep='\\n')", env=variables()).stdout.split(
        "\n"
    )
    assert set(paths) <= set(told)


def test_the_facts_that_rules_want_are_asked_of_an_environment_that_has_to_run(tmp_path, monkeypatch):
    inner = tmp_path / "inner"
    assert run(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", inner).returncode == 0
    monkeypatch.setenv("VIRTUAL_ENV", str(inner))

    snapshot = targets.examine(wanted=lambda: {"module": ["json"], "env": ["PATH"]})

    assert fact(snapshot, "module", "json")["kind"] == "standard-library"
    assert fact(snapshot, "env", "PATH") == os.environ["PATH"]


@posix_only
def test_the_user_site_counts_where_the_interpreter_looks_there(tmp_path):
    version = "python{}.{}".format(*sys.version_info)
    add(tmp_path / "lib" / version / "site-packages", "of_the_user", "7")
    base = os.path.join(sys.base_prefix, "bin", version)
    if not os.path.exists(base):
        pytest.skip("no interpreter outside a virtual environment")

    def seen(**changes):
        script = "from envdoctor import doctor; import json, sys; s = doctor.examine('python', sys.argv[1]); print(*s.packages)"
        env = variables(PYTHONUSERBASE=str(tmp_path), **changes)
        done = run(sys.executable, "-c", script, base, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert "of-the-user" in seen()
    assert "of-the-user" not in seen(PYTHONNOUSERSITE="1")


def test_an_interpreter_that_was_exchanged_is_asked_for_its_version(folder, monkeypatch):
    settings = folder / "pyvenv.cfg"
    real = "{}.{}.{}".format(*sys.version_info)
    settings.write_text(
        settings.read_text().replace(f"version = {real}", "version = {}.{}.99".format(*sys.version_info))
    )
    assert environment.facts_of_files(str(folder))["python"]["version"].endswith(".99")
    home = folder / "home"
    home.mkdir()
    name = "python.exe" if os.name == "nt" else "python{}.{}".format(*sys.version_info)
    lines = [line for line in settings.read_text().splitlines() if not line.startswith("home")]
    settings.write_text("\n".join([*lines, f"home = {home}"]))
    assert environment.facts_of_files(str(folder)) is None  # the Python behind it is gone
    while not (home / name).exists() or (home / name).stat().st_ctime <= settings.stat().st_ctime:
        (home / name).write_text("another")  # until the clock of the file system has moved on

    assert environment.facts_of_files(str(folder)) is None


@posix_only
def test_an_environment_whose_python_is_gone_says_so(folder, monkeypatch):
    (folder / "bin" / "python").unlink()
    for other in (folder / "bin").glob("python*"):
        other.unlink()
    os.symlink("/nowhere/python", folder / "bin" / "python")

    done = run_envdoctor(env=variables(VIRTUAL_ENV=str(folder)), cwd=folder)

    assert done.returncode == 3
    assert "the Python that this environment was made with is gone" in done.stderr


@pytest.mark.parametrize(
    "settings",
    ["", "home\n=\n", "home = /usr/bin\n", "version = x\nhome = /usr/bin", "version = 3\nhome=\n", "\0\xff = \xff"],
)
def test_settings_that_say_nothing_are_left_to_the_interpreter(folder, settings):
    (folder / "pyvenv.cfg").write_text(settings, encoding="utf-8")

    assert environment.facts_of_files(str(folder)) is None


@posix_only
def test_a_name_that_is_no_directory_and_a_link_that_leads_round_are_survived(folder):
    site = site_of(folder)
    os.symlink(site, site / "again")
    os.symlink("round.pth", site / "round.pth")
    os.symlink("loop-1.0.dist-info", site / "loop-1.0.dist-info")
    os.mkfifo(site / "pipe.pth")
    (site / "fifo-1.0.dist-info").mkdir()
    os.mkfifo(site / "fifo-1.0.dist-info" / "METADATA")
    big = add(site, "big") / "METADATA"
    with open(big, "r+b") as file:
        file.truncate(1 << 30)

    done = run_envdoctor("--fail-on", "warning",
        env=variables(VIRTUAL_ENV=str(folder)), cwd=folder, timeout=300,
    )  # fmt: skip

    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "fifo-1.0.dist-info" in done.stdout
    assert "loop-1.0.dist-info" in done.stdout
    assert "big-1.0" not in done.stdout


# --- what shadows what ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [[], ["-f", "json"], ["report"], ["snapshot"], ["rules", "list"], ["explain", "--no-target"]]
)
def test_what_shadows_the_standard_library_does_not_shadow_it_for_envdoctor(words, tmp_path):
    for name in ("typing", "enum", "dataclasses", "random", "argparse", "json", "rich", "yaml", "packaging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('fell for it')\n")
    script = (
        "import sys; from envdoctor.cli import main; found = sys.path[:]; status = main(sys.argv[1:]); "
        "assert found == sys.path; sys.exit(status)"
    )
    search = os.pathsep.join([str(tmp_path), CHECKOUT])

    done = run(
        sys.executable, "-c", script, *words, env=variables(PYTHONPATH=search), cwd=CHECKOUT, input="ValueError: x"
    )

    assert "fell for it" not in done.stderr + done.stdout
    assert done.returncode in {0, 1}, done.stderr


def test_a_backport_counts_only_where_its_directory_comes_first(make_environment, monkeypatch):
    folder = make_environment(sys.executable, "dataclasses==0.6")

    def found(**changes):
        done = run(
            sys.executable,
            "-m",
            "envdoctor",
            "-f",
            "json",
            env=variables(VIRTUAL_ENV=str(folder), **changes),
            cwd=CHECKOUT,
        )
        assert done.stderr == ""
        return [one["rule"] for one in json.loads(done.stdout)["findings"]]

    assert found() == []
    assert found(PYTHONPATH=str(site_of(folder))) == ["dataclasses-backport-shadows-stdlib"]


def test_the_path_that_is_examined_is_the_one_that_was_found(tmp_path, monkeypatch):
    add(tmp_path, "first", "9")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    environment.shield()
    try:
        assert sys.path[0] != str(tmp_path)
        assert versions(environment.running())["first"] == "9"
        assert environment.running().packages["first"].location == str(tmp_path)
    finally:
        environment.unshield()
    assert sys.path[0] == str(tmp_path)


# --- what pip check finds -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_pip(tmp_path_factory):
    """A real environment with pip and a handful of distributions that require each other."""
    folder = tmp_path_factory.mktemp("pip") / "env"
    assert run("uv", "venv", "--quiet", "--seed", "--python", sys.executable, folder).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--python", python_of(folder), "requests<2.33", "jinja2", "tox<5")
    assert done.returncode == 0, done.stderr
    return folder


def pip_says(folder):
    """The pairs that pip complains about: who, and which requirement (or platform)."""
    done = run(python_of(folder), "-m", "pip", "check", env=variables())
    pairs = set()
    for line in done.stdout.splitlines():
        words = line.split()
        if "which is not installed" in line:
            pairs.add(("requirement-missing", words[0].lower(), words[3].rstrip(",").lower()))
        elif "but you have" in line:
            required = line.partition(" has requirement ")[2].partition(", but you have ")
            pairs.add(("requirement-incompatible", words[0].lower(), required[2].split()[0].lower()))
        elif "is not supported on this platform" in line:
            pairs.add(("wheel-for-other-platform", words[0].lower(), None))
        else:
            assert line == "No broken requirements found."
    return pairs


def envdoctor_says(folder):
    done = run_envdoctor("-f", "json", "--fail-on", "warning",
        env=variables(VIRTUAL_ENV=str(folder)), cwd=folder,
    )  # fmt: skip
    pairs = set()
    for one in json.loads(done.stdout)["findings"]:
        if one["rule"].startswith("requirement-"):
            whose, other = one["packages"] if len(one["packages"]) > 1 else (one["packages"][0], None)
            pairs.add((one["rule"], whose, other))
        elif one["rule"].startswith("wheel-"):
            pairs.add((one["rule"], one["packages"][0], None))
    assert done.returncode == int(bool(pairs))
    return pairs


def without_other(pairs):
    return {(rule, whose) for rule, whose, _ in pairs}


def test_a_whole_environment_satisfies_both(with_pip):
    assert pip_says(with_pip) == envdoctor_says(with_pip) == set()


def test_missing_and_incompatible_requirements_and_foreign_wheels_are_those_of_pip_check(with_pip, tmp_path):
    folder = tmp_path / "env"
    shutil.copytree(with_pip, folder, symlinks=True)
    site = site_of(folder)
    for name in ("idna", "virtualenv"):
        (info,) = site.glob(f"{name}-*.dist-info")
        shutil.rmtree(info)
    for name, version in (("urllib3", "1.0"), ("pluggy", "0.1"), ("markupsafe", "1.0")):
        (info,) = site.glob(f"{name}-*.dist-info")
        metadata = info / "METADATA"
        text = metadata.read_text(encoding="utf-8")
        shutil.move(info, info.with_name(f"{name}-{version}.dist-info"))
        metadata = site / f"{name}-{version}.dist-info" / "METADATA"
        metadata.write_text(
            text.replace(f"\nVersion: {info.name.split('-')[1].rpartition('.dist')[0]}\n", f"\nVersion: {version}\n"),
            encoding="utf-8",
        )
    foreign = add(site, "foreign")
    (foreign / "WHEEL").write_text("Wheel-Version: 1.0\nTag: cp27-cp27m-win32\n")

    pip, ours = pip_says(folder), envdoctor_says(folder)

    assert without_other(ours) == without_other(pip)
    assert len(ours) == len(pip) > 3


def test_an_unusual_set_of_requirements_is_judged_as_pip_judges_it(with_pip, tmp_path):
    folder = tmp_path / "env"
    shutil.copytree(with_pip, folder, symlinks=True)
    site = site_of(folder)
    add(site, "fine", "1.0.post1", "Requires-Dist: Other_Name[extra] (>=1,<2)\nRequires-Dist: absent; extra == 'x'\n")
    add(site, "other.name", "1.5", "Requires-Dist: fine === 1.0.post1\nProvides-Extra: extra\n")
    add(site, "local", "1.0+cpu", "Requires-Dist: fine ~= 1.0\nRequires-Dist: never ; python_version < '3'\n")
    add(site, "early", "2.0rc1", "Requires-Dist: local == 1.0\nRequires-Dist: other-name != 1.5.*\n")
    add(site, "late", "1!0.1", "Requires-Dist: early >= 2.0\nRequires-Dist: local == 1.0+gpu\n")
    add(
        site,
        "needs_late",
        "1.0",
        "Requires-Dist: late > 5\nRequires-Dist: missing @ https://example.org/missing-1.zip\n",
    )

    pip, ours = pip_says(folder), envdoctor_says(folder)

    assert without_other(ours) == without_other(pip)
    assert len(ours) == len(pip)


def test_duplicates_leftovers_and_broken_metadata_are_found(folder, tmp_path, monkeypatch):
    site = site_of(folder)
    add(site, "twice", "1.0")
    add(site, "twice", "2.0")
    add(site, "~alf", "1.0")
    (site / "empty-1.0.dist-info").mkdir()
    (site / "nothing.dist-info").mkdir()
    (site / "binary-1.0.dist-info").mkdir()
    (site / "binary-1.0.dist-info" / "METADATA").write_bytes(bytes(range(256)) * 9)
    add(site, "old", "1.0", "Requires-Python: <3\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))

    found = {one.rule for one in doctor.diagnose(doctor.examine())}

    assert found >= {"duplicate-metadata", "install-leftover", "metadata-unreadable", "python-not-supported"}


def test_a_run_leaves_no_trace_in_the_environment(folder):
    add(site_of(folder), "one", "1.0", "Requires-Dist: two\n")
    (site_of(folder) / "one.py").write_text("raise SystemExit('imported')\n")

    def listing():
        return sorted((str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*"))

    before = listing()
    for words in ([], ["--python", folder], ["report"], ["snapshot", "--python", folder]):
        done = run_envdoctor(*words, env=variables(VIRTUAL_ENV=str(folder)))
        assert done.returncode in {0, 1}, done.stderr

    assert listing() == before


@posix_only
def test_start_up_noise_of_an_environment_does_not_matter(tmp_path):
    inner = tmp_path / "inner"
    assert run(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", inner).returncode == 0
    (site_of(inner) / "sitecustomize.py").write_text(
        "import sys\nprint('{clatter}')\nprint('clatter', file=sys.stderr)\n"
    )

    done = run_envdoctor("-f", "json", env=variables(VIRTUAL_ENV=str(inner)))

    assert done.returncode in {0, 1}
    assert "clatter" not in done.stdout + done.stderr
    assert json.loads(done.stdout)["target"]["path"] == str(inner)


@posix_only
def test_an_interrupt_ends_quietly_and_takes_the_examined_interpreter_along(tmp_path):
    import signal

    slow = tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\nread question\necho $$ > {tmp_path}/ready\nexec sleep 600\n")
    slow.chmod(0o755)
    os.mkfifo(tmp_path / "ready")
    child = subprocess.Popen(
        [sys.executable, "-m", "envdoctor", "--python", str(slow)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - a shell's background jobs ignore it
    )  # fmt: skip
    examined = int((tmp_path / "ready").read_text())
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=300)

    assert child.returncode == 130
    assert said == "envdoctor: interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(examined, 0)
