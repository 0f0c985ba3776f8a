import pytest

from envdoctor.globs_of_names import expression


@pytest.mark.parametrize(("glob", "name", "expected"), [
    ("a.b", "a.b", True), ("a.b", "a.b.c", False), ("a.b", "axb", False), ("a", "a.b", False), ("a.b*", "a.bc", True),
    ("a.*", "a.b", True), ("a.*", "a", False), ("a.*", "a.b.c", False), ("a.read_*.x", "a.read_csv.x", True),
    ("a.**", "a", True), ("a.**", "a.b.c", True), ("a.**", "ab", False), ("**", "a", True), ("**", "a.b", True),
    ("a.**.c", "a.c", True), ("a.**.c", "a.b.b.c", True), ("a.**.c", "a.bc", False),
    ("**.c", "c", True), ("**.c", "a.b.c", True), ("a.?", "a.b", True), ("a.?", "a.bc", False), ("a.?", "a..", False),
])  # fmt: skip
def test_globs_of_dotted_names(glob, name, expected):
    assert bool(expression(glob).fullmatch(name)) is expected
