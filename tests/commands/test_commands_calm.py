"""What a sick environment prints, and what it costs: trees of metadata as an installer leaves them."""

import itertools
import json
import os
import sys

import pytest
from conftest import environment, run, run_envdoctor

from envdoctor import doctor
from envdoctor.commands import output

SITE = os.path.join("lib", "python{}.{}".format(*sys.version_info), "site-packages")


@pytest.fixture
def tree(tmp_path):
    """Build an environment of metadata alone: ``tree({"name==1.0": [requirement, ...]})`` returns its directory."""

    def build(distributions, name=".venv"):
        folder = tmp_path / name
        (folder / "bin").mkdir(parents=True)
        os.symlink(sys.executable, folder / "bin" / "python")
        (folder / "pyvenv.cfg").write_text(
            f"home = {os.path.dirname(sys.executable)}\nversion = {sys.version.split()[0]}\n"
        )
        for pinned, lines in distributions.items():
            project, _, version = pinned.partition("==")
            home = folder / SITE / f"{project.replace('-', '_')}-{version}.dist-info"
            home.mkdir(parents=True)
            requires = "".join(f"Requires-Dist: {line}\n" for line in lines)
            (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n{requires}\n")
            (home / "INSTALLER").write_text("uv\n")
        return folder

    return build


@pytest.fixture
def examined(tree, monkeypatch):
    """The snapshot of such an environment as the active one."""
    numbers = itertools.count()

    def examine(distributions):
        monkeypatch.setenv("VIRTUAL_ENV", str(tree(distributions, name=f"env-{next(numbers)}")))
        return doctor.examine()

    return examine


def large(number, missing=4):
    """So many distributions that each require some of the others, and a few that are not there."""
    return {
        f"dist-{n}==1.0": [
            *(f"dist-{(n * 7 + step) % number}>=1" for step in range(6)),
            *(f"gone-{n}-{step} (>=1.{step})" for step in range(missing)),
            "everybody-wants-this<3,>=2",
        ]
        for n in range(number)
    }


def envdoctor(folder, *words, columns=None, **variables):
    if columns:
        variables["COLUMNS"] = str(columns)
    done = run_envdoctor(*words, cwd=folder.parent,
        env=environment(VIRTUAL_ENV=str(folder), **variables),
    )  # fmt: skip
    assert done.stderr == ""
    return done


def height(text, columns):
    """The rows of a terminal of so many columns."""
    return sum(max(1, -(-len(row) // columns)) for row in text.splitlines())


# --- groups ---------------------------------------------------------------------------------------------------------


def test_many_missing_requirements_are_one_title_one_list_and_one_command(tree):
    folder = tree(
        {"one==1.0": ["aa>=1", "bb[x] (>=2,<3) ; python_version > '3'"], "two==2.0": ["aa<3", "cc"], "three==3": []}
    )

    done = envdoctor(folder)
    rows = done.stdout.splitlines()

    assert rows[0].startswith("4 errors in Python ")
    assert rows[0].endswith(" rules")
    assert [row for row in rows if row.startswith("error")] == ["error     4 requirements are not installed"]
    assert sum("A distribution that its author declared necessary" in row for row in rows) == 1
    (fix,) = [row for row in rows if row.startswith("  fix")]
    for word in ("aa", "bb", "cc"):
        assert fix.count(word) == 1
    assert "aa not installed" in done.stdout
    assert "and 1 more" in done.stdout
    assert done.returncode == 1


def test_a_pair_that_a_rule_knows_is_an_error_and_no_warning_besides(tree):
    folder = tree({"flask==2.2.3": ["werkzeug<3"], "werkzeug==3.0.1": []})

    found = json.loads(envdoctor(folder, "-f", "json").stdout)

    (one,) = (one for one in found["findings"] if "python" not in one["facts"])  # newer ones run neither
    assert one["rule"] == "werkzeug3-url-helpers-removed"
    assert "requirements.flask" in [item["fact"] for item in one["evidence"]]
    assert [found["findings"].index(one)] in [group["findings"] for group in found["groups"]]


def test_json_has_every_finding_with_its_own_command_and_groups_with_theirs(tree):
    folder = tree({"one==1.0": ["aa", "bb"], "two==1.0": ["three<1"], "three==2.0": []})

    found = json.loads(envdoctor(folder, "-f", "json").stdout)

    commands = [one["remedies"][0]["command"] for one in found["findings"]]
    assert [command.split()[-1] for command in commands] == ["aa", "bb", "'three<1'"]
    assert [group["findings"] for group in found["groups"]] == [[0, 1], [2]]
    assert found["groups"][0]["remedies"][0]["command"].split()[-2:] == ["aa", "bb"]


# --- two screens ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_any_environment_fits_two_screens_and_all_shows_everything(tree, columns):
    folder = tree({**large(40), "flask==2.2.3": ["werkzeug<3"], "werkzeug==3.0.1": [], "odd==1": ["werkzeug<1"]})

    short, whole = envdoctor(folder, columns=columns).stdout, envdoctor(folder, "--all", columns=columns).stdout

    assert height(short, columns) <= output.SCREENS * output.HEIGHT
    assert short.splitlines()[0] == whole.splitlines()[0]
    assert "\nleft out  " in short
    assert "--all shows" in short
    assert "left out" not in whole
    for n in range(40):
        assert f"gone-{n}-3 not installed" in whole
    assert "werkzeug3-url-helpers-removed" in short  # no list of another rule takes its place
    assert "requirement-incompatible" in short


def test_what_is_left_out_is_counted(tree):
    folder = tree({**large(30), "odd==1": ["dist-1<1", "dist-2<1"]})

    done = run(
        sys.executable, "-c", "import sys; from envdoctor.commands import output; output.HEIGHT = 4; "
        "from envdoctor.cli import main; sys.exit(main())",
        cwd=folder.parent, env=environment(VIRTUAL_ENV=str(folder)),
    )  # fmt: skip

    assert done.stdout.startswith("150 errors, 2 warnings in Python")
    assert "left out  2 warnings; --all shows everything" in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_pipe_has_neither_colour_nor_letters_that_it_cannot_carry(tree, encoding):
    text = envdoctor(tree(large(3)), PYTHONIOENCODING=encoding).stdout

    assert "\x1b" not in text
    assert text.isascii() is (encoding == "ascii")
    assert "?" not in text
    assert ("->" in text) is (encoding == "ascii")


def test_a_sick_environment_needs_no_library_for_its_layout(tree):
    program = (
        "import sys; from envdoctor.cli import main; main([]); print('rich' in sys.modules, 'json' in sys.modules)"
    )

    around = environment(VIRTUAL_ENV=str(tree(large(3))))
    around.pop("COLUMNS", None)  # a width that is stated is kept to, by a library

    done = run(sys.executable, "-c", program, cwd="/", env=around)

    assert "3 requirements" in done.stdout or "15 requirements" in done.stdout
    assert done.stdout.splitlines()[-1].split()[0] == "False"


# --- cost -----------------------------------------------------------------------------------------------------------


def calls(work):
    """How many calls of Python functions some work makes: a measure that no busy machine changes."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.trials
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_the_cost_grows_with_the_environment_and_not_with_its_square(examined, form):
    def cost(number):
        snapshot = examined(large(number))
        return calls(lambda: output.rendered(doctor.check(snapshot), form, plain=True))

    cost(5)  # what is imported and compiled once
    small, big = cost(50), cost(200)

    assert big < 4 * 1.5 * small


@pytest.mark.parametrize("line", ["missing-{n} (>=1.{n})", "two>=2.{n}"])
def test_one_distribution_with_very_many_requirements_costs_as_much_for_each_as_few_do(examined, line):
    def cost(number):
        snapshot = examined({"one==1.0": [line.format(n=n) for n in range(number)], "two==1.0": []})
        return calls(lambda: output.rendered(doctor.check(snapshot), "text", plain=True))

    cost(5)
    small, big = cost(100), cost(1_000)

    assert big < 10 * 1.3 * small


def test_text_of_twice_the_findings_makes_no_more_commands(examined, monkeypatch):
    from envdoctor.remedies import commands

    made = []
    original = commands.with_command
    monkeypatch.setattr(commands, "with_command", lambda *some: made.append(1) or original(*some))
    for number in (10, 20):
        made.clear()
        (group,) = doctor.check(examined(large(number))).groups
        assert len(group.findings) == 5 * number
        assert len(made) == len(group.remedies) == 2
