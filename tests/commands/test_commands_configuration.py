"""``[tool.envdoctor]`` of pyproject.toml and envdoctor.toml: defaults of options, and findings to ignore."""

import json
import os

import pytest
from conftest import environment, run_envdoctor, run_here

from envdoctor.commands import configuration
from envdoctor.errors import UsageError

FACTS = {
    "python": {"version": "3.12.1"}, "packages": {"one": "1", "two": "1", "three": "1"},
    "requirements": {"one": ["two>=2", "gone"], "three": ["two>=3"]},
}  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a snapshot that has an error and two warnings; ``project(text)`` writes its pyproject.toml."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "facts.json").write_text(json.dumps(FACTS))
    monkeypatch.chdir(tmp_path)

    def write(text, name="pyproject.toml"):
        (tmp_path / name).write_text(text)
        return tmp_path

    return write


def check(*words, cwd=None, command="check"):
    done = run_here(command, "--snapshot", "facts.json", *words, cwd=cwd)
    assert "Traceback" not in done.stderr
    return done


def document(*words):
    return json.loads(check("-f", "json", *words).stdout)


def rules(found):
    return sorted(one["rule"] for one in found)


def test_a_finding_is_ignored_for_a_package_until_a_day(project):
    project(
        '[tool.envdoctor]\nfail-on = "warning"\nignore = [\n'
        '  {rule = "requirement-missing", reason = "vendored", until = 2999-12-31},\n'
        '  {rule = "requirement-incompatible", package = "Three", reason = "works"},\n]\n'
    )

    found = document()

    assert rules(found["findings"]) == ["requirement-incompatible"]
    assert [(one["rule"], one["ignored"]["reason"]) for one in found["ignored"]] == [
        ("requirement-missing", "vendored"), ("requirement-incompatible", "works")
    ]  # fmt: skip
    assert found["ignored"][1]["ignored"]["source"].endswith("pyproject.toml, line 5")
    done = check()
    assert done.returncode == 1  # from warnings on, and there is one left
    assert done.stdout.startswith("1 warning in Python 3.12.1")
    assert "2 findings" in done.stdout.splitlines()[-1]


def test_nothing_but_ignored_findings_is_a_calm_line_and_status_0(project):
    project('[[ignore]]\nrule = "requirement-missing"\nreason = "x"\n', "envdoctor.toml")

    done = check("--ignore", "requirement-incompatible")

    assert done.returncode == 0
    assert done.stdout.endswith("rules, 3 findings ignored)\n")
    assert done.stdout.count("\n") == 1


def test_an_expired_and_a_useless_wish_are_findings_with_their_line(project):
    project(
        '[tool.envdoctor]\nignore = [\n  {rule = "requirement-missing", reason = "a", until = 2020-01-31},\n'
        '  {rule = "requirement-missing", package = "three", reason = "b"},\n]\n'
    )

    found = {one["rule"]: one for one in document()["findings"]}

    assert "requirement-missing" in found
    assert found["ignore-expired"]["evidence"][0]["source"].endswith("pyproject.toml, line 3")
    assert found["ignore-useless"]["evidence"][0]["source"].endswith("pyproject.toml, line 4")
    assert check("--fail-on", "info", "--ignore", "requirement-missing").returncode == 1


def test_reports_leave_out_what_is_ignored_and_explanations_do_not(project, tmp_path):
    project('[tool.envdoctor]\nignore = [{rule = "requirement-missing", reason = "x"}]\n')
    (tmp_path / "error.log").write_text("one 1 requires gone, which is not installed.\n")

    assert "**error**" not in check(command="report").stdout
    assert "1 finding ignored." in check(command="report").stdout
    assert "requirement-missing" in check("error.log", command="explain").stdout


def test_the_command_line_wins_and_lists_add_up(project, tmp_path):
    (tmp_path / "more").mkdir()
    home = project('[tool.envdoctor]\nformat = "json"\nrules = ["more"]\nall = true\n')
    (home / "deep").mkdir()
    (home / "deep" / "facts.json").write_text(json.dumps(FACTS))

    assert json.loads(check(cwd=home / "deep").stdout)["findings"]
    assert check("-f", "text").stdout.startswith("1 error, 2 warnings")


def test_findings_name_the_page_of_their_rule_where_a_catalogue_is_served(project):
    project('[tool.envdoctor]\ncatalogue = "https://rules.example/env/"\n')
    for found in document()["findings"]:
        page = f"https://rules.example/env/rules/{found['rule']}.html"
        assert found["references"][0] == page
        assert len(found["references"]) > 1
        assert page in check("--all").stdout
    assert "rules.example" not in check("--catalogue", "https://other.example").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.envdoctor]\ncatalogue = 3\n", "catalogue is 3: give a text"),
        ("[tool.envdoctor]\nfail_on = 'error'\n", "tool.envdoctor.fail_on is no option; did you mean fail-on?"),
        ("[tool.envdoctor]\nnonsense = 1\n", "tool.envdoctor.nonsense is no option; known are fail-on, format"),
        ("[tool.envdoctor]\nfail-on = 'fatal'\n", "fail-on is 'fatal': give one of error, warning, info, never"),
        ("[tool.envdoctor]\nall = 'yes'\n", "all is 'yes': give true or false"),
        ("[tool.envdoctor]\nrules = [1]\n", "rules is [1]: give a text or a list of them"),
        ("[tool]\nenvdoctor = 3\n", "tool.envdoctor must be a table"),
        ("[tool.envdoctor]\nignore = 'all'\n", "tool.envdoctor.ignore must be a list of tables"),
        ("[tool.envdoctor]\nignore = [{reason = 'x'}]\n", "an entry without rule"),
        ("[tool.envdoctor]\nignore = [{rule = 'x'}]\n", 'an entry without reason: write reason = "..."'),
        ("[tool.envdoctor]\nignore = [{rul = 'x'}]\n", "ignore: rul is no option; did you mean rule?"),
        ("[tool.envdoctor]\nignore = [{rule = 'x', reason = 'y', until = 'soon'}]\n", "until is 'soon': give a date"),
        ("[tool.envdoctor\n", "pyproject.toml is not TOML"),
        ("[tool.envdoctor]\nx = " + "[" * 5000, "pyproject.toml is not TOML"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_file_and_key(project, text, said):
    project(text)

    done = run_envdoctor(env=environment())

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("envdoctor: ")
    assert os.path.join(os.getcwd(), "pyproject.toml") in done.stderr
    assert said in done.stderr


def test_a_file_that_is_not_utf8_is_no_traceback(project):
    home = project("")
    (home / "envdoctor.toml").write_bytes(b"all = '\xff'\n")

    with pytest.raises(UsageError, match=r"envdoctor\.toml is not TOML"):
        configuration.settings_of(*configuration.find(str(home)))


def test_the_nearest_file_with_the_table_counts_and_no_other_repository(project, tmp_path):
    home = project("[tool.envdoctor]\nall = true\n")
    inner, other = home / "package" / "src", home / "vendored"
    inner.mkdir(parents=True)
    (home / "package" / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["pyenvdoctor"]\n')
    (other / ".git").mkdir(parents=True)

    assert configuration.find(str(inner))[0] == str(home / "pyproject.toml")
    assert configuration.find(str(other)) is None
    (inner / "envdoctor.toml").write_text("")
    assert configuration.find(str(inner))[0] == str(inner / "envdoctor.toml")


def test_a_pipe_in_the_place_of_the_file_does_not_block(project):
    home = project("")
    os.remove(home / "pyproject.toml")
    os.mkfifo(home / "pyproject.toml")

    assert configuration.find(str(home)) is None


def test_options_of_the_parser_and_of_the_file_are_the_same(capsys):
    from envdoctor.cli import main

    main(["check", "--help"])

    said = capsys.readouterr().out
    for name, choices in configuration.OPTIONS.items():
        assert f"--{name}" in said
        if isinstance(choices, tuple):
            assert "{" + ",".join(choices) + "}" in said
