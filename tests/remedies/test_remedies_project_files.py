"""What a plan changes in files: one line each, and nothing where one line is not enough."""

import pytest

from envdoctor.model import Remedy
from envdoctor.plans import Move
from envdoctor.remedies import project_files
from envdoctor.remedies.ranges import narrowed
from envdoctor.targets.locks.poetry_constraints import specifiers

NUMPY = Move(package="numpy", before="2.1", after="1.26.4")
FLASK = Move(package="flask", before="1.1.2", after="2.3.3")
GONE = Move(package="a-b", before="1.0", after=None)
HEIR = Move(package="old", before="1.0", after=None, heir="new==2.0")


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("flask==1.1.2  # keep\n", "flask==2.3.3  # keep\n"),
        ("Flask[async] == 1.1.2 ; python_version > '3.8'\r\n", "Flask[async] ==2.3.3 ; python_version > '3.8'\r\n"),
        ("numpy>=2.0,!=2.0.1 # why\n", "numpy>=1.26.4,<2 # why\n"),
        ("numpy>=1.20\n", "numpy>=1.20\n"),
        ("numpy\n", "numpy\n"),
        ("A_B>=1\n", ""),
        ("a-b  # mine\n", ""),
        ("old~=1.0 ; python_version > '3'  # c\n", "new==2.0 ; python_version > '3'  # c\n"),
        ("Old\r\n", "new==2.0\r\n"),
        ("flask<2 --hash=sha256:abc\n", "flask<2 --hash=sha256:abc\n"),
        ("-r flask==1.1.2\n", "-r flask==1.1.2\n"),
        ("flask @ https://example.org/flask.zip\n", "flask @ https://example.org/flask.zip\n"),
    ],
)
def test_a_requirement_admits_what_is_moved_to(line, made):
    assert project_files.requirements("# top\n" + line, [NUMPY, FLASK, GONE, HEIR]) == "# top\n" + made


def test_what_a_resolver_is_told_is_all_that_moves():
    why = ["some-rule"]
    moves = [NUMPY, FLASK, Move(package="core", before="2.0", after="1.9", down=True, why=why), GONE]

    made = project_files.requirements("numpy>=1.20\nflask  # mine\nshop", moves, steers=True)

    assert made == "numpy>=1.20,<2\nflask>=2.3.3  # mine\nshop\ncore<2  # some-rule\n"


def test_the_requirements_of_a_project_are_edited_in_place():
    text = '[project]\nname = "flask==1.1.2"\ndependencies = [\n  "flask==1.1.2", # mine\n  "other",\n]\n'

    made = project_files.declared(text, [FLASK])

    assert made == text.replace('  "flask==1.1.2"', '  "flask==2.3.3"')


@pytest.mark.parametrize(
    ("name", "text", "line", "made"),
    [
        ("a.yaml", "run:\n  fast: True  # c\n  x: 1\n", 2, "run:\n  fast: False  # c\n  x: 1\n"),
        ("a.yaml", "run: {fast: true, x: 1}\n", 1, "run: {fast: false, x: 1}\n"),
        ("a.yaml", "b: &x true\nrun:\n  fast: *x\n", 3, "b: &x true\nrun:\n  fast: false\n"),
        ("a.yaml", "run:\n  fast: &x true\nb: *x\n", 2, None),
        ("a.yaml", "run:\n  fast: |\n    yes\n", 2, None),
        ("a.toml", "[run]\nfast = true # c\n", 2, "[run]\nfast = false # c\n"),
        ("a.json", '{"run": {"fast": true}}\n', 1, '{"run": {"fast": false}}\n'),
        ("a.py", "run.fast = True  # c\n", 1, "run.fast = False  # c\n"),
        ("a.py", 'run = {\n    "fast": True, "x": 1}\n', 2, 'run = {\n    "fast": False, "x": 1}\n'),
        ("a.py", "run.fast = True\nrun.fast = x\n", 1, None),
    ],
)
def test_an_entry_is_set_on_its_line_or_not_at_all(name, text, line, made):
    remedy = Remedy(kind="set", file=name, key="run.fast", line=line, to=False)

    assert project_files.entry(remedy, text) == made


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ('numpy = "^2.0"  # why', 'numpy = ">=1.26.4,<2"  # why'),
        ('numpy = {version = ">=1.20", extras = ["x"]}', 'numpy = {version = ">=1.20,<2", extras = ["x"]}'),
        ("flask = '1.1.2'", "flask = '2.3.3'"),
        ('flask = "*"', 'flask = ">=2.3.3"'),
        ('flask = {git = "https://example.org/flask"}', None),
        ('flask = "<2 || >=4"', None),
        ('other = "^1"', None),
    ],
)
@pytest.mark.parametrize("table", ["[tool.poetry.dependencies]", "[tool.poetry.group.dev.dependencies]", "[packages]"])
def test_a_table_of_requirements_is_edited_in_place(table, line, made):
    text = f'{table}\npython = "^3.9"\n{line}\n# end\n'

    changed = project_files.declared(text, [NUMPY, FLASK, GONE], read=specifiers, steers=True)

    assert changed == text.replace(line, made or line)


@pytest.mark.parametrize(
    ("stated", "before", "after", "releases", "range_"),
    [
        (">=8.1,<9", "8.2.1", "8.1.8", ["8.1.7", "8.1.8", "8.2.1", "9.0"], ">=8.1,<8.2"),
        ("", "2.1", "1.26.4", ["1.26.3", "1.26.4", "2.0", "2.1"], "<2"),
        ("", "1.4.2", "1.4.1", ["1.4.1", "1.4.2"], "<1.4.2"),
        ("<1.1", "1.0", "1.1", ["1.0", "1.1", "2.0"], ">=1.1,<2"),
        (">=1,!=1.5", "1.4", "1.6", ["1.4", "1.5", "1.6", "1.7", "2.0"], ">=1.6,<1.7"),
        (">=1,!=1.5", "1.7", "1.6", ["1.4", "1.5", "1.6", "1.7"], ">=1,<1.7,!=1.5"),
        ("~=1.4", "1.5", "2.0", ["1.5", "2.0"], ">=2.0"),
        ("==1.0", "1.0", "1.1", ["1.0", "1.1"], "==1.1"),
        ("", "1.0", "1.1.1", ["1.0", "1.1.1", "1.1.2"], "==1.1.1"),
        (">=1!1", "1!2.0", "1!1.0", ["1!1.0", "1!2.0"], ">=1!1,<1!2.0"),
    ],
)
def test_a_range_is_as_near_as_it_can_be_and_its_newest_release_is_the_plans(stated, before, after, releases, range_):
    move = Move(package="x", before=before, after=after, down=before > after)

    assert narrowed(stated, move, releases) == range_
