"""What a plan changes in files: one line each, and nothing where one line is not enough."""

import pytest

from envdoctor.model import Remedy
from envdoctor.plans import Move
from envdoctor.remedies import project_files

NUMPY = Move(package="numpy", before="2.1", after="1.26.4")
FLASK = Move(package="flask", before="1.1.2", after="2.3.3")
GONE = Move(package="a-b", before="1.0", after=None)


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("flask==1.1.2  # keep\n", "flask==2.3.3  # keep\n"),
        ("Flask[async] == 1.1.2 ; python_version > '3.8'\r\n", "Flask[async] ==2.3.3 ; python_version > '3.8'\r\n"),
        ("numpy>=2.0,!=2.0.1 # why\n", "numpy>=1.26.4,<2 # why\n"),
        ("numpy>=1.20\n", "numpy>=1.20\n"),
        ("numpy\n", "numpy\n"),
        ("A_B>=1\n", ""),
        ("flask<2 --hash=sha256:abc\n", "flask<2 --hash=sha256:abc\n"),
        ("-r flask==1.1.2\n", "-r flask==1.1.2\n"),
        ("flask @ https://example.org/flask.zip\n", "flask @ https://example.org/flask.zip\n"),
    ],
)
def test_a_requirement_admits_what_is_moved_to(line, made):
    assert project_files.requirements("# top\n" + line, [NUMPY, FLASK, GONE]) == "# top\n" + made


def test_the_requirements_of_a_project_are_edited_where_they_stand():
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
    ],
)
def test_an_entry_is_set_on_its_line_or_not_at_all(name, text, line, made):
    remedy = Remedy(kind="set", file=name, key="run.fast", line=line, to=False)

    assert project_files.entry(remedy, text) == made
