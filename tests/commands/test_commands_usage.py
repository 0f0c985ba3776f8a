"""The command line as it is typed: help, mistakes, exit statuses, and where output goes."""

import json
import os
import re
import sys

import pytest
from conftest import environment, run, run_envdoctor

from envdoctor.cli import main
from envdoctor.commands import COMMANDS

BAD = "cloudpickle==1.6.0\n"


@pytest.fixture
def bad(tmp_path):
    """A requirements file in which a rule finds something."""
    path = tmp_path / "requirements.txt"
    path.write_text(BAD)
    return [*("-r", str(path), "--python-version", "3.11")]


@pytest.fixture
def broken_snapshot(tmp_path):
    """A snapshot with a warning and nothing worse."""
    path = tmp_path / "facts.json"
    document = {
        "python": {"version": "3.12.1"}, "packages": {"one": "1", "two": "1"}, "requirements": {"one": ["two>=2"]}
    }  # fmt: skip
    path.write_text(json.dumps(document))
    return str(path)


def said(capsys, *words):
    """The exit status of a command line, and what it printed on stdout and stderr."""
    status = main([str(word) for word in words])
    return (status, *capsys.readouterr())


def envdoctor(*words, **options):
    variables = options.pop("env", {})
    return run_envdoctor(*words, env=environment(**variables), **options)


# --- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [[], *([name] for name in COMMANDS), *(["rules", c] for c in ("list", "show", "new", "lint"))]
)
def test_every_command_has_help_with_examples(words, capsys):
    status, out, err = said(capsys, *words, "--help")

    assert (status, err) == (0, "")
    assert out.startswith("usage: envdoctor " + " ".join(words))
    examples = out.partition("\nexamples:\n")[2].splitlines()
    assert examples[0].startswith(("  envdoctor", "  python"))
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("words", [["--version"], ["-V"]])
def test_version(words, capsys):
    from envdoctor import __version__

    status, out, err = said(capsys, *words)

    assert (status, err) == (0, "")
    assert re.fullmatch(rf"envdoctor {re.escape(__version__)} \(\d+ rules of \d{{4}}-\d\d-\d\d\)\n", out)


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("chekc", "no command 'chekc' (did you mean 'check'?)"),
        ("frobnicate", "no command 'frobnicate'; envdoctor --help lists them"),
        ("--pyhton /usr/bin/python3", "no option --pyhton; did you mean --python?"),
        ("check --fail-one=error", "no option --fail-one; did you mean --fail-on?"),
        ("check here", "'here' is one word too many"),
        ("explain a b", "'b' is one word too many"),
        ("-f xml", "invalid choice: 'xml'"),
        ("--python", "--python: expected one argument"),
        ("--python a --pid 1", "--python and --pid are both targets: give one"),
        ("--root a --snapshot b", "--root and --snapshot are both targets: give one"),
        ("-r a -r b", "-r is given twice"),
        ("--snapshot a --python-version 3.11", "--python-version describes a requirements file: give it with -r FILE"),
        ("--platform linux", "--platform describes a requirements file"),
        ("-r x --python-version three", "'three' is not a version of Python"),
        ("--rules /not/there", "no rules at /not/there"),
        ("rules", "rules needs a command: list, show, new, draft, lint"),
        ("rules lsit", "rules has no command 'lsit'; did you mean 'list'?"),
        ("rules show no-such-rule-at-all", "there is no rule no-such-rule-at-all"),
        ("rules show cloudpickle-bytecode-py31", "did you mean cloudpickle-bytecode-py311?"),
        ("rules lint /not/there", "no rules at /not/there"),
        ("rules lint --ofline", "did you mean --offline?"),
        ("rules new Bad_Name", "try bad-name"),
        ("explain /not/there", "'/not/there' could not be read: No such file or directory"),
        ("explain - --snapshot -", "cannot both come from stdin"),
        ("explain --no-target --python x", "--no-target leaves out what --python names"),
        ("--fix", "no option --fix; envdoctor fix plans what ends every error, and carries it out with --apply"),
        ("fix -- pytest", "a command after -- is run before and after a plan is tried: give --try, too"),
        ("check --quiet", "no option --quiet; an environment in which nothing is wrong takes one line"),
        ("-q", "no option -q; an environment"),
        ("uv.lock", "no command 'uv.lock'; did you mean envdoctor -r uv.lock?"),
        ("check sub/requirements-dev.txt", "did you mean envdoctor -r sub/requirements-dev.txt?"),
        ("4711", "did you mean envdoctor --pid 4711?"),
        ("explain cloudpickle-bytecode-py311", "did you mean envdoctor rules show cloudpickle-bytecode-py311?"),
        ("cloudpickle-bytecode-py311", "did you mean envdoctor rules show cloudpickle-bytecode-py311?"),
        ("explain no-such-rule", "'no-such-rule' could not be read: No such file or directory"),
        ("-r uv.lock --platform macos", "did you mean --platform darwin?"),
        ("-r uv.lock --platform OSX", "did you mean --platform darwin?"),
        ("-r uv.lock --platform windows", "did you mean --platform win32?"),
        ("-r uv.lock --platform beos", "invalid choice: 'beos'"),
        ("--python 3.11", "did you mean --python python3.11, or -r FILE --python-version 3.11?"),
        ("--resolve", "--resolve describes a requirements file: give it with -r FILE"),
    ],
)
def test_a_mistake_is_named_in_one_line(line, answer, capsys):
    status, out, err = said(capsys, *line.split())

    assert status == 2
    assert out == ""
    assert err.startswith("envdoctor: ")
    assert err.count("\n") == 1
    assert answer in err


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("--python /not/there", "There is no interpreter /not/there"),
        ("--python no-such-command", "neither as a command on PATH"),
        ("--root /not/there", "/not/there does not exist"),
        ("--snapshot /not/there", "/not/there cannot be read"),
        ("-r /not/there", "/not/there does not exist"),
        ("-r .", "is a directory"),
        ("--python 3.11 --root /not/there", "/not/there does not exist"),
    ],
)
def test_a_target_that_cannot_be_examined_is_status_3(line, answer, capsys):
    for command in ("check", "report", "snapshot"):
        status, out, err = said(capsys, command, *line.split())

        assert (status, out) == (3, "")
        assert answer in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["check", "report", "explain"])
def test_an_artifact_that_is_not_there_is_status_3(command, tmp_path, capsys):
    (tmp_path / "log").write_text("ImportError: no")
    words = [tmp_path / "log"] if command == "explain" else []

    status, out, err = said(capsys, command, *words, "--artifact", tmp_path / "gone.pkl")

    assert (status, out) == (3, "")
    assert (
        err == f"envdoctor: --artifact {tmp_path / 'gone.pkl'} does not exist: give the file that the program loads\n"
    )


def test_what_is_there_is_named_with_the_option_that_takes_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("my env", "project", "conda/conda-meta"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "my env" / "pyvenv.cfg").touch()
    for file in ("facts.json", "error.log", "\x1b[31m"):
        (tmp_path / file).touch()

    def meant(word):
        return said(capsys, word)[2].partition("did you mean ")[2].strip()

    assert meant("my env") == "envdoctor --python 'my env'?"
    assert meant("conda") == "envdoctor --python conda?"
    assert meant("project") == "envdoctor --project project?"
    assert meant("facts.json") == "envdoctor --snapshot facts.json?"
    assert meant("error.log") == "envdoctor explain error.log?"
    assert meant("\x1b[31m") == ""


# --- exit status ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fail_on", "expected"), [("error", 1), ("warning", 1), ("info", 1), ("never", 0)])
def test_an_error_fails_unless_nothing_may(bad, fail_on, expected, capsys):
    status, out, _ = said(capsys, *bad, "--fail-on", fail_on)

    assert status == expected
    assert "cloudpickle-bytecode-py311" in out


@pytest.mark.parametrize(("fail_on", "expected"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_a_warning_fails_where_warnings_do(broken_snapshot, fail_on, expected, capsys):
    status, out, _ = said(capsys, "check", "--snapshot", broken_snapshot, "--fail-on", fail_on)

    assert status == expected
    assert "requirement-incompatible" in out


def test_nothing_found_is_one_calm_line_and_status_0(tmp_path, capsys):
    path = tmp_path / "requirements.txt"
    path.write_text("cloudpickle==3.1.0\n")

    status, out, err = said(
        capsys, "-r", path, "--python-version", "3.12", "--platform", "linux", "--machine", "x86_64"
    )

    assert (status, err) == (0, "")
    assert "Python 3.12" in out.splitlines()[0]
    assert "nothing known to be wrong" in out.splitlines()[0]


def test_rules_that_cannot_be_read_are_status_4_and_an_own_mistake_too(tmp_path, wheel):
    import shutil
    import zipfile

    copy = tmp_path / "copy"
    zipfile.ZipFile(wheel).extractall(copy)
    index = copy / "envdoctor" / "rules.idx"
    data = index.read_bytes()
    script = "import sys; sys.path.insert(0, sys.argv[1]); from envdoctor.cli import main; sys.exit(main(sys.argv[2:]))"
    for spoilt in (b"", b"\0" * 100, data[: len(data) // 2], b"garbage" + data):
        index.write_bytes(spoilt)
        done = run(sys.executable, "-S", "-c", script, copy, env=environment())
        assert done.returncode == 4, (spoilt[:20], done)
        assert done.stdout == ""
        assert done.stderr.startswith("envdoctor: ")
        assert "Traceback" not in done.stderr
    shutil.rmtree(copy)


# --- where output goes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_output_to_a_file_is_plain_and_leaves_stdout_alone(bad, form, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    path = tmp_path / "out"

    status, out, err = said(capsys, *bad, "-f", form, "-o", path)

    assert (status, out, err) == (1, "", "")
    text = path.read_text(encoding="utf-8")
    assert "cloudpickle-bytecode-py311" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("place", ["", "/not/there/out", "."])
def test_a_file_that_cannot_be_written_is_named(bad, place, capsys):
    status, out, err = said(capsys, *bad, "-o", place)

    assert (status, out) == (2, "")
    assert f"could not be written to {place!r}" in err


def test_color_follows_the_usual_variables(bad):
    plain = envdoctor(*bad).stdout
    assert "\x1b" not in plain
    assert "\x1b[" in envdoctor(*bad, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b" not in envdoctor(*bad, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of POSIX")
@pytest.mark.parametrize(("variables", "colored"), [({}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_has_color_unless_it_is_dumb(bad, variables, colored):
    import pty

    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as screen:
        env = environment(**{"TERM": "xterm-256color", **variables})
        done = run_on(follower, sys.executable, "-m", "envdoctor", *bad, env=env)
        os.close(follower)
        text = b""
        try:
            while chunk := screen.read(1 << 16):
                text += chunk
        except OSError:  # the other side is closed
            pass

    assert done.returncode == 1
    assert (b"\x1b[" in text) is colored


def run_on(follower, *words, env):
    import subprocess

    return subprocess.run(words, stdout=follower, stderr=subprocess.PIPE, env=env, check=False, timeout=300)


@pytest.mark.parametrize("columns", [80, 120])
def test_lines_keep_to_the_columns(bad, columns):
    lines = envdoctor(*bad, env={"COLUMNS": str(columns)}).stdout.splitlines()

    assert max(len(line) for line in lines if "/" not in line) <= columns


def test_letters_that_stdout_does_not_have_are_replaced(bad):
    for words in (bad, ["--snapshot", "-"]):
        env = environment(PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
        done = run(
            sys.executable,
            "-m",
            "envdoctor",
            *words,
            env=env,
            input='{"packages": {"\u03b1": "\u03b2"}, "target": {"path": "/\u00fcber"}}',
        )
        assert done.returncode in {0, 1}
        assert done.stdout.isascii()
        assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="descriptors of POSIX")
@pytest.mark.parametrize("line", ["", "check", "--help", "check --help", "rules list", "-f json", "snapshot", "report"])
def test_a_reader_that_has_gone_away_is_no_failure(line):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        import subprocess

        words = [sys.executable, "-m", "envdoctor", *line.split()]
        env = environment()
        env.pop("PYTHONUNBUFFERED", None)
        done = subprocess.run(words, stdout=stream, stderr=subprocess.PIPE, env=env, check=False, timeout=300)

    assert done.stderr == b""
    assert done.returncode in {0, 1}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("line", ["", "--help", "rules list", "check -f json"])
def test_a_full_disk_is_said(line):
    done = run("sh", "-c", f"exec '{sys.executable}' -m envdoctor {line} >/dev/full", env=environment())

    assert done.returncode == 2
    assert "could not be written to standard output: No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&-", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize(
    ("line", "status"),
    [("--nope", 2), ("explain /not/there", 2), ("-r /not/there", 3), ("--python /not/there", 3), ("--pid 0", 2)],
)
def test_the_status_stays_where_nobody_can_be_told(line, status, stderr):
    done = run("sh", "-c", f"exec '{sys.executable}' -m envdoctor {line} {stderr}", env=environment())

    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@pytest.mark.skipif(os.name == "nt", reason="descriptors of POSIX")
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("", {0, 1}),
        ("check -f json", {0, 1}),
        ("--help", {0}),
        ("rules list", {0}),
        ("explain", {2}),
        ("--snapshot -", {3}),
    ],
)
def test_closed_streams_are_survived(line, status):
    done = run("sh", "-c", f"exec '{sys.executable}' -m envdoctor {line} <&- >&-", env=environment())

    assert done.returncode in status
    assert "envdoctor itself failed" not in done.stderr
    assert "Traceback" not in done.stderr
