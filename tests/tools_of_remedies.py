"""What the real tools say to command lines: a shell takes a line apart, and each tool's own parser takes its words.

A parser of :data:`PARSERS` is a program that runs in the tool's own environment: a JSON list of arguments on each line
of its input, and on each line of its output what is wrong with them, or ``null``.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import environment, run

_LOOP = """
import json, sys
for line in sys.stdin:
    words = json.loads(line)
    try:
        wrong = refused(words)
    except BaseException as error:
        wrong = f"{type(error).__name__}: {error}"
    print(json.dumps(wrong), flush=True)
"""
PARSERS = {
    "pip": """
from pip._internal.commands import create_command
from pip._internal.req.constructors import install_req_from_line
def refused(words):
    plain = create_command(words[0])
    options, arguments = plain.parse_args(words[1:])
    known = {"yes", "force_reinstall", "ignore_dependencies"}
    odd = {name for name, value in vars(options).items() if value != getattr(plain.parse_args(["left"])[0], name)}
    for one in arguments:
        found = install_req_from_line(one)
        if found.req is None or found.editable:
            return f"{one} is not a requirement"
    return f"options {odd - known}" if odd - known else None if arguments else "nothing to do"
""",
    "poetry": """
from cleo.io.inputs.argv_input import ArgvInput
from poetry.console.application import Application
from poetry.utils.cache import ArtifactCache
from poetry.utils.dependency_specification import RequirementsParser
from pathlib import Path
application = Application()
def refused(words):
    command = application.find(words[0])
    command.merge_application_definition()
    given = ArgvInput(["poetry", *words])
    given.bind(command.definition)
    given.validate()
    parser = RequirementsParser(artifact_cache=ArtifactCache(cache_dir=Path("cache")))
    names = given.arguments.get("name") or given.arguments.get("packages")
    read = [parser.parse(name)["name"] for name in names]
    return None if read else "nothing to do"
""",
    "pdm": """
from pdm.core import Core
from pdm.models.requirements import parse_requirement
core = Core()
core.init_parser()
core.load_plugins()
def refused(words):
    options = core.parser.parse_args(words)
    read = [parse_requirement(one).key for one in options.packages]
    return None if read else "nothing to do"
""",
    "pipenv": """
from pipenv.cli.options import build_parser
from pipenv.utils.dependencies import expansive_install_req_from_line
parser = build_parser()
def refused(words):
    read = [expansive_install_req_from_line(one)[0] for one in parser.parse_args(words).packages]
    if not all(one.req or one.link for one in read):
        return f"{read} are not requirements"
    return None if read else "nothing to do"
""",
    "conda": """
from conda.cli.conda_argparse import generate_parser
from conda.models.match_spec import MatchSpec
parser = generate_parser()
def refused(words):
    options = parser.parse_args(words)
    read = [MatchSpec(one).get_exact_value("name") for one in vars(options).get("packages") or options.package_names]
    return None if read and all(read) else "nothing to do"
""",
    # not conda: an implementation of its requirements by others
    "rattler": """
from rattler import MatchSpec
def refused(words):
    for one in words:
        name = str(MatchSpec(one)).split()[0].partition("[")[0]
        if not name or not one.lower().startswith(name):
            return f"{one} is a requirement of {name}"
""",
    # not PowerShell: a grammar of its language by others; what a line calls, of which ``null`` is a line with errors
    "powershell": """
from tree_sitter import Language, Parser
import tree_sitter_powershell
parser = Parser(Language(tree_sitter_powershell.language()))
def text_of(node):
    text = node.text.decode()
    if node.type == "expandable_string_literal":
        return text[1:-1] if "$" not in text and "`" not in text else None
    if node.type == "verbatim_string_characters":
        return text[1:-1].replace("''", "'")
    return text_of(node.children[0]) if len(node.children) == 1 else text
def texts(node):
    for child in node.children:
        if child.type == "command_elements":
            yield from texts(child)
        elif child.type not in ("command_argument_sep", "command_invokation_operator"):
            yield text_of(child)
def commands(node):
    if node.type == "command":
        yield list(texts(node))
    else:
        for child in node.children:
            yield from commands(child)
def refused(words):
    tree = parser.parse(words[0].encode())
    return None if tree.root_node.has_error else list(commands(tree.root_node))
""",
    # not cmd: what it and the C library of Windows make of a line, by others who measured it there
    "cmd": """
import mslex
def refused(words):  # a "!" means nothing to it, unless it was started with /V:ON
    return [[word.replace("\\u25cb", "!") for word in mslex.split(words[0].replace("!", "\\u25cb"))]]
""",
}


class Parser:
    """A tool's own parser, kept running."""

    def __init__(self, tool, python):
        self._process = subprocess.Popen(
            [str(python), "-c", PARSERS[tool] + _LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment(),
        )  # fmt: skip

    def refused(self, words):
        """What the tool has against its arguments, or ``None``; of a shell's line, what it calls."""
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the parser ended"
        return json.loads(answer)

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=300)


@contextlib.contextmanager
def parser_of_conda():
    """The parser of the conda that is on ``PATH``; without one the test is skipped."""
    conda = shutil.which("conda") or pytest.skip("no conda on PATH")
    with open(os.path.realpath(conda), encoding="utf-8") as script:
        found = Parser("conda", script.readline()[2:].strip())
    try:
        yield found
    finally:
        found.close()


@contextlib.contextmanager
def parser(tool, folder, *requirements):
    """The parser of a tool that is installed from the index into a separate environment."""
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--python", folder, *(requirements or [tool]))
    assert done.returncode == 0, done.stderr
    found = Parser(tool, folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    try:
        yield found
    finally:
        found.close()


def refused_by_uv(words, project):
    """What uv has against its arguments, or ``None``. Nothing is fetched, and nothing changed outside of ``project``."""
    if words[:2] == ["venv", "--python"]:  # asks for an interpreter, which is looked for where it would be
        words = ["python", "find", "--offline", words[2]]
    else:
        dry = ["--frozen"] if words[0] in {"add", "remove"} else ["--dry-run"]
        words = [*words, *(dry if words[:2] != ["pip", "uninstall"] else []), "--offline"]
    done = run("uv", *words, cwd=project, env=environment(UV_NO_CONFIG="1", UV_NO_INDEX="1", NO_COLOR="1"))
    misread = ("Failed to parse", "invalid value", "unexpected argument", "required arguments", "Not a valid")
    return (
        done.stderr
        if any(said in done.stderr for said in misread) or (done.returncode == 2 and "pip" not in words)
        else None
    )


class Shell:
    """A POSIX shell in which every program only writes down what it was called with."""

    def __init__(self, folder):
        self.folder = folder
        self.python = folder / "an env" / "bin" / "python"
        self._log = folder / "log"
        programs = [folder / name for name in ("uv", "poetry", "pdm", "pipenv", "conda", "python", "python3")]
        for path in (*programs, self.python, folder / ".venv" / "bin" / "python"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path)

    @staticmethod
    def _write(path):
        path.write_text('#!/bin/sh\nprintf "%s\\0" "$0" "$@" "" >> "$LOG"\n')
        path.chmod(0o755)

    @contextlib.contextmanager
    def standing_in_for(self, python):
        """Such a program in the place of the interpreter of an environment."""
        target = os.readlink(python)
        os.unlink(python)
        self._write(python)
        yield
        os.unlink(python)
        os.symlink(target, python)

    def calls(self, *lines):
        """For each line the lists of words that it calls programs with; the program is its last name."""
        self._log.write_bytes(b"")
        script = "".join(f"(\n{line}\n) || exit\nprintf '|\\0\\0' >> \"$LOG\"\n" for line in lines)
        variables = {"PATH": str(self.folder), "LOG": str(self._log)}
        done = run(shutil.which("sh"), "-c", script, cwd=self.folder, env=variables)
        assert done.returncode == 0, f"{lines}\n{done.stderr}"
        found = [[]]
        for call in self._log.read_bytes().decode().split("\0\0")[:-1]:
            program, *words = call.split("\0")
            if program == "|":
                found.append([])
            else:
                found[-1].append([os.path.basename(program), *words])
        return found[:-1]
