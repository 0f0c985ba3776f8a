"""One row for one thing: a new kind of each is its row and one file that implements it, and then it works."""

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import environment, run

from envdoctor import facts, remedy_kinds, renderers, tools
from envdoctor.rulebase.shipped_files import checkout
from envdoctor.workshop import schemas

HOME = Path(checkout()).parent
RULE = """\
id: six-{remedy}
title: six and this arithmetic
severity: error
impact: crash
when: {{packages: {{six: "<9"}}{when}}}
why: It does.
remedies: [{{{remedy}: six}}]
references: ["https://example.org/1"]
proof:
  script: import six
  bad: [{{python: "3.10", packages: {{six: "1.0"}}{cell}}}]
  good: [{{python: "3.10", packages: {{six: "9.0"}}{cell}}}]
"""
#: What is added: the registry's file with the line above which the row is written, the row, and the other file.
ADDED = {
    "fact": (
        "facts.py",
        "# fmt: on\n",
        """\
ARITHMETIC: Kind[str, Scalar] = Kind(
    name="arithmetic", section="arithmetic", value="scalar", about="Sizes of numbers.",
    said="numbers of {key} {value}", probe="probes.arithmetic:size", reads=_READ + "read_table", states="table",
    compiles="table", decides="table", asks="by_name", cost=15, wanted=True,
)
""",
        "probes/arithmetic.py",
        """\
import sys

def size(key):
    return {"hash": str(sys.hash_info.width)}[key]
""",
    ),
    "remedy": (
        "remedy_kinds.py",
        '    "change": RemedyKind(',
        """\
    "rebuild": RemedyKind(
        reads="distributions", takes="distributions", words="remedies.rebuild:calls", renews=True,
    ),
""",
        "remedies/rebuild.py",
        """\
def calls(action, place):
    return [["rebuild", "--from-source", *action.packages]]
""",
    ),
    "lock": (
        "tools.py",
        '    "requirements.txt": Format(',
        """\
    "acme.lock": Format(
        reader="acme", contains=r"^acme 1$", names=("acme.lock",), tool="poetry", sync="acme sync",
    ),
""",
        "targets/locks/acme.py",
        """\
from envdoctor.targets.locks.contents import Contents, Entry

def read(source, stated):
    lines = enumerate(source.text.splitlines(), 1)
    pairs = [(number, *line.split()) for number, line in lines if number > 1]
    return Contents(entries=[Entry(name=name, version=version, where=source.at(at)) for at, name, version in pairs])
""",
    ),
    "output": (
        "renderers/__init__.py",
        '    "markdown": Format(',
        '    "names": Format(render="renderers.names_alone:render"),\n',
        "renderers/names_alone.py",
        """\
def render(report, *, width=None, color=None, lines=None):
    return "".join(one.rule + "\\n" for one in report.findings)
""",
    ),
}


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*.py")}


@pytest.fixture(scope="module")
def extended(wheel, tmp_path_factory):
    """A copy of the package with one more kind of each, its command, and the files that each addition touched."""
    folder = tmp_path_factory.mktemp("extended")
    zipfile.ZipFile(wheel).extractall(folder)
    touched = {}
    for kind, (registry, above, row, other, text) in ADDED.items():
        before = contents(folder)
        path = folder / "envdoctor" / registry
        head, mark, tail = path.read_text("utf-8").rpartition(above)
        path.write_text(head + row + mark + tail, "utf-8")
        (folder / "envdoctor" / other).write_text(text, "utf-8")
        after = contents(folder)
        touched[kind] = [path for path in after if after[path] != before.get(path)]
    for name in schemas.SCHEMAS:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(HOME / name, folder / name)
    (folder / "arithmetic").mkdir()
    rule = RULE.format(when=', arithmetic: {hash: ">=1"}', cell=', arithmetic: {hash: "64"}', remedy="uninstall")
    (folder / "arithmetic" / "six-uninstall.yaml").write_text(rule)
    (folder / "rebuilt").mkdir()
    (folder / "rebuilt" / "six-rebuild.yaml").write_text(RULE.format(when="", cell="", remedy="rebuild"))
    (folder / "acme.lock").write_text("acme 1\nsix 1.17.0\n")

    def command(*words, module="envdoctor", said=""):
        variables = environment(PYTHONPATH=str(folder), XDG_CACHE_HOME=str(folder / "cache"))
        done = run(sys.executable, "-m", module, *map(str, words), cwd=folder, env=variables)
        assert done.stderr == said
        return done.stdout

    return folder, command, touched


def findings(text):
    return {one["rule"]: one for one in json.loads(text)["findings"]}


def test_an_addition_touches_its_row_and_one_file(extended):
    assert {kind: len(files) for kind, files in extended[2].items()} == dict.fromkeys(ADDED, 2)


def test_a_new_fact_is_read_decided_said_and_recorded(extended, make_environment):
    folder, command, _ = extended
    target = ("--python", make_environment(sys.executable, "six==1.17.0"), "--rules", "arithmetic")
    found = findings(command(*target, "-f", "json"))["six-uninstall"]
    assert [one["value"] for one in found["evidence"] if one["fact"] == "arithmetic.hash"] == [str(sys.hash_info.width)]
    assert found["facts"] == ["arithmetic", "packages"]
    assert f"numbers of hash {sys.hash_info.width}" in command(*target)

    command("snapshot", *target, "-o", "saved.json")
    assert json.loads((folder / "saved.json").read_text())["arithmetic"] == {"hash": str(sys.hash_info.width)}
    again = command("--snapshot", "saved.json", "--rules", "arithmetic", "-f", "json")
    assert findings(again)["six-uninstall"]["facts"] == found["facts"]
    command("rules", "lint", "--offline", "arithmetic", said="every rule is well formed\n")


def test_a_new_lock_format_is_read_and_a_new_remedy_printed(extended):
    _, command, _ = extended
    words = ("-r", "acme.lock", "--python-version", "3.11", "--rules", "rebuilt")
    document = command(*words, "-f", "json")
    assert json.loads(document)["target"]["format"] == "acme.lock"
    found = findings(document)["six-rebuild"]
    assert found["evidence"][0]["source"] == "acme.lock:2"
    assert found["remedies"][0]["command"] == "rebuild --from-source six"
    assert "rebuild --from-source six" in command(*words)
    assert command(*words, "-f", "names") == "six-rebuild\n"


def test_the_schemas_of_the_copy_follow_its_rows(extended):
    folder, command, _ = extended
    written = command(folder, module="envdoctor.workshop.schemas").split()
    assert {os.path.relpath(path, folder) for path in written} == set(map(os.path.normpath, schemas.SCHEMAS))
    check, _, _, _, snapshot, rules = (json.loads((folder / name).read_text("utf-8")) for name in schemas.SCHEMAS)
    assert "rebuild" in check["$defs"]["remedy"]["properties"]["kind"]["enum"]
    assert snapshot["properties"]["arithmetic"]["description"] == "Sizes of numbers."
    assert "arithmetic" in rules["$defs"]["facts"]["properties"]
    assert {"required": ["rebuild"]} in rules["$defs"]["remedy"]["oneOf"]


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_the_schemas_say_what_the_rows_say(name):
    text = (HOME / name).read_text("utf-8")
    assert schemas.made(name, text) == text


def functions_named():
    """The functions that rows name: the row, the column, and the name."""
    for row in (*facts.KINDS, *remedy_kinds.KINDS.values(), *renderers.FORMATS.values()):
        for column in {*row._homes, *row._fields[:1]} - {"name"}:
            named = getattr(row, column)
            yield from ((row, column, name) for name in (named.values() if column == "changes" else [named]) if name)
    yield from ((kind, "decides", name) for kind in facts.KINDS for name in kind.operators.values() if name)


def test_what_a_row_names_is_there():
    for row, column, name in functions_named():
        assert callable(row.function(column, name)), (row, column, name)


def test_what_a_row_of_locks_names_is_there():
    for row in tools.FORMATS.values():
        assert (Path(tools.__file__).parent / "targets" / "locks" / f"{row.reader}.py").exists()
        assert row.tool is None or row.tool in tools.TOOLS
