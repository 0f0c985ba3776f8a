"""Every printed command is one that its tool takes: split by a real shell, read by the tool's own parser."""

import os
import re

import pytest
import tools_of_remedies as tools
from conftest import run
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts import INSTALLER, MANAGER, Facts
from envdoctor.model import Action, Distribution, Remedy, Snapshot
from envdoctor.remedies import shell as quoting
from envdoctor.remedies.commands import with_command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are taken apart by a POSIX shell")

INSTALLED = ("left", "right", "pip")
REQUIREMENTS = [
    "left", "left (>=3.0)", "left >= 1, < 2", "left[ b , a ] (~=1.4)", "left @ https://example.org/left-1.0.zip",
    "left==1.0+local.1", "left!=1.*", "left<2.post1", "Left_Pad.js>=1", "left>=1;python_version<'4'", "left===1.0",
    "left[x] @ git+https://example.org/left.git@v1",
]  # fmt: skip
OPTIONS = {
    "-m", "-y", "--force-reinstall", "--no-deps", "--python", "--reinstall", "--prefix", "--upgrade-package",
    "--reinstall-package", "--directory", "--project", "--group", "--dev", "--optional", "--inexact",
}  # fmt: skip


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return tools.Shell(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="module")
def pip(tmp_path_factory):
    with tools.parser("pip", tmp_path_factory.mktemp("pip") / "env") as found:
        yield found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    assert run("uv", "venv", "--quiet", folder / ".venv").returncode == 0
    return folder


PYPROJECT = (
    '[project]\nname = "mine"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["left"]\n'
    '[project.optional-dependencies]\nnet = ["right"]\n[dependency-groups]\ntest = ["other"]\n'
)


def place(shell, installed_by, system="linux", **manager):
    """An environment of a tool at a path with a space."""
    prefix = str(shell.folder / "an env")
    installers = dict.fromkeys(INSTALLED, installed_by)
    return Snapshot(
        target={"kind": "interpreter"},
        python={"version": "3.11", "executable": str(shell.python), "prefix": prefix},
        platform={"system": system},
        packages={name: Distribution(name=name, version="1.0") for name in INSTALLED},
        facts=Facts({INSTALLER: installers, **({MANAGER: {prefix: manager}} if manager else {})}),
    )


def actions(requirements, packages=("left",)):
    """Every kind of action."""
    return [
        Action(verb="install", requirements=tuple(requirements)),
        Action(verb="uninstall", packages=tuple(packages)),
        Action(verb="reinstall", packages=tuple(packages)),
        Action(verb="replace", packages=tuple(packages), requirements=tuple(requirements)),
    ]


def commands(snapshot, requirements, packages=("left",)):
    made = [with_command(Remedy(kind=one.verb, action=one), snapshot) for one in actions(requirements, packages)]
    return [one.command for one in made if one and one.command]


def words_of_pip(call):
    assert call[1:3] == ["-m", "pip"]
    return call[3:]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_pip_takes_every_line(shell, pip, requirement):
    lines = commands(place(shell, "pip"), [requirement])

    assert len(lines) == 4
    for line, calls in zip(lines, shell.calls(*lines)):
        assert [pip.refused(words_of_pip(call)) for call in calls] == [None] * len(calls), line


def test_uv_takes_every_line(shell, project):
    lines = [commands(place(shell, "uv"), [requirement])[0] for requirement in REQUIREMENTS]
    lines += commands(place(shell, "uv"), ["left>=1", "right<2"], ["left", "right"])
    for line, calls in zip(lines, shell.calls(*lines)):
        for call in calls:
            words = [word if word != str(shell.python) else str(project / ".venv") for word in call[1:]]
            assert tools.refused_by_uv(words, project) is None, line


def test_uv_takes_every_line_for_its_projects(shell, project):
    direct = {"left": [], "right": ["--optional", "net"], "other": ["--group", "test"]}
    here = place(shell, "uv", tool="uv-project", directory=str(project), direct=direct)
    wanted = ["left>=1,<2", "right (~=1.0)", "other", "new[x]>=1", "pip>=20", "python<3.14"]
    lines = [line for one in wanted for line in commands(here, [one], ["left"])]
    lines += commands(here, ["left>=1"], ["left", "right"])

    lines = list(dict.fromkeys(lines))
    for line, calls in zip(lines, shell.calls(*lines)):
        for call in calls:
            (project / "pyproject.toml").write_text(PYPROJECT)
            assert tools.refused_by_uv(call[1:], project) is None, line


def test_the_tools_refuse_what_they_do_not_take(pip, project):
    assert pip.refused(["install", "left>=1"]) is None
    for words in (["left", "(>=1)"], ["--index-url", "http://example.org", "left"], ["-e", "."], ["left >= 1 2"], []):
        assert pip.refused(["install", *words]) is not None, words
    assert tools.refused_by_uv(["pip", "install", "left>=1"], project) is None
    for words in (
        ["pip", "install", "left", "(>=1)"],
        ["add", "left>=x"],
        ["lock", "--upgrade-package", "a b"],
        ["sync", "-x"],
    ):
        assert tools.refused_by_uv(words, project) is not None, words


HOSTILE = st.sampled_from(
    [
        "-r http://example.org/x",
        "--pre",
        "$(id)",
        "`id`",
        "a;id",
        'a"b',
        "a'b",
        "a\nb",
        "left && id",
        "-e .",
        "léft",
        "\0",
    ]
)
NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True).filter(
    lambda name: name.lower() != "python"
)
VERSIONS = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}((a|b|rc)[0-9])?(\.post[0-9])?", fullmatch=True)
CLAUSES = st.builds(
    "{}{}{}".format, st.sampled_from(["==", ">=", "<=", "!=", "<", ">"]), st.sampled_from(["", " "]), VERSIONS
)
LINES = st.builds(
    "{}{}{}".format,
    NAMES,
    st.sampled_from(["", "[a]", "[ a , b ]"]),
    st.lists(CLAUSES, max_size=3).map(lambda some: f" ({', '.join(some)})" if len(some) > 1 else "".join(some)),
)


@pytest.mark.trials
@given(
    requirements=st.lists(LINES | LINES | HOSTILE | st.text(max_size=8), min_size=1, max_size=3),
    package=NAMES | HOSTILE,
)
def test_whatever_metadata_says_no_word_is_an_option_or_a_command(shell, pip, requirements, package):
    for tool in ("pip", "uv", "conda", "poetry"):
        lines = commands(place(shell, tool), requirements, [package])
        for line, calls in zip(lines, shell.calls(*lines)):
            for call in calls:
                assert call[0] in {"python", tool, "uv"}, line
                assert {word for word in call[1:] if word.startswith("-")} <= OPTIONS, line
                if tool == "pip":
                    assert pip.refused(words_of_pip(call)) is None, line
                assert all(re.fullmatch(r"[A-Za-z0-9./-][\x20-\x7e]*", word) for word in call[1:]), line


def lines_of_conda(shell):
    here = place(shell, "conda")
    written = [one for one in REQUIREMENTS if "://" not in one]
    return [line for one in [*written, "python<3.11"] for line in commands(here, [one], ["left", "right"])]


def test_conda_takes_every_line(shell):
    lines = lines_of_conda(shell)
    with tools.parser_of_conda() as parser:
        for line, calls in zip(lines, shell.calls(*lines)):
            assert [parser.refused(call[1:]) for call in calls] == [None] * len(calls), line
        assert parser.refused(["install", "left>=1", "(<2)"]) is not None
        assert parser.refused(["install", "--no-such", "left"]) is not None


def test_another_implementation_reads_every_requirement_of_conda(shell, tmp_path):
    lines = lines_of_conda(shell)
    with tools.parser("rattler", tmp_path / "env", "py-rattler") as parser:
        for line, calls in zip(lines, shell.calls(*lines)):
            for call in calls:
                words = [word for word in call[4:] if word[:2] != "--" and "===" not in word]  # which only conda takes
                assert call[:3] == ["conda", call[1], "--prefix"]
                assert parser.refused(words) is None, line


PROGRAMS = ["uv", "conda", "C:\\e\\python.exe", "C:\\my env\\python.exe", "C:\\it's $5\\python.exe"]
CHARACTERS = st.characters(
    codec="utf-8", exclude_categories=["C", "Zl", "Zp"], exclude_characters='"\u2018\u2019\u201a\u201b'
)
WORDS = st.builds(
    "{}{}".format, st.sampled_from("aZ0./_\\$%é ("), st.text(CHARACTERS | st.sampled_from("$`'%!^&|<>()[]{};, =#@~*"))
)


@pytest.fixture(scope="module")
def powershell(tmp_path_factory):
    with tools.parser(
        "powershell", tmp_path_factory.mktemp("ps") / "env", "tree-sitter", "tree-sitter-powershell"
    ) as found:
        yield found


@pytest.fixture(scope="module")
def cmd(tmp_path_factory):
    with tools.parser("cmd", tmp_path_factory.mktemp("cmd") / "env", "mslex") as found:
        yield found


def calls_of(said, powershell, cmd):
    """What PowerShell calls for a line; ``cmd`` calls the same, unless the line is said to be for PowerShell alone."""
    calls = powershell.refused([said])
    if quoting.remark(said, "win32") is None:
        assert cmd.refused([said]) == calls, said
    return calls


CALLS = st.builds(lambda program, words: [program, *words], st.sampled_from(PROGRAMS), st.lists(WORDS, max_size=3))


@given(calls=st.lists(CALLS, min_size=1, max_size=2))
def test_a_line_for_windows_calls_what_it_is_meant_to(powershell, cmd, calls):
    assert calls_of(quoting.line(calls, "win32"), powershell, cmd) == calls


@pytest.mark.parametrize("mark", "'\u2018\u2019\u201a\u201b")
def test_each_of_the_five_single_quotes_of_powershell_is_doubled(mark):
    assert quoting.quote(f"C:\\d{mark}A $x", "win32") == f"'C:\\d{mark}{mark}A $x'"
    assert (
        quoting.variable(Action(verb="setenv", name="X", to=f"{mark}; id"), "win32") == f"$env:X = '{mark}{mark}; id'"
    )


@pytest.mark.parametrize("tool", ["pip", "uv", "conda", "poetry"])
def test_a_command_for_windows_calls_what_it_calls_elsewhere(tool, shell, powershell, cmd):
    for requirement in REQUIREMENTS:
        here, there = (commands(place(shell, tool, system), [requirement]) for system in ("linux", "win32"))
        for said, calls in zip(there, shell.calls(*here)):
            assert [[os.path.basename(call[0]), *call[1:]] for call in calls_of(said, powershell, cmd)] == calls, said


@pytest.mark.heavy
@pytest.mark.parametrize("tool", ["poetry", "pdm", "pipenv"])
def test_tools_of_projects_take_every_line(tool, shell, tmp_path):
    groups = {"poetry": ["--group", "test"], "pdm": ["--dev", "--group", "test"], "pipenv": ["--dev"]}
    direct = {"left": [], "other": groups[tool]}
    folder = tmp_path / "a project"
    folder.mkdir()
    here = place(shell, tool, tool=tool, directory=str(folder), direct=direct)
    wanted = [*REQUIREMENTS, "other>=1", "new"]
    lines = [line for one in wanted for line in commands(here, [one]) + commands(here, [one], ["other"])]

    with tools.parser(tool, tmp_path / "env") as parser:
        for line, calls in zip(lines, shell.calls(*lines)):
            for call in calls:
                refused = parser.refused(call[1:]) if call[0] == tool else None
                assert refused is None, f"{line}: {refused}"
