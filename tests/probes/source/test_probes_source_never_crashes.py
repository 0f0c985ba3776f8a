"""Whatever a file holds, it is read or refused with a reason."""

import ast
import json

import pytest
from conftest import untraced
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.probes.project import Project
from envdoctor.probes.source import expect, uses
from envdoctor.probes.source.file_uses import UnreadableError, exports_of, uses_of

pytestmark = pytest.mark.trials

EVERYTHING = frozenset(["**"]), frozenset()
NAMES = st.sampled_from(["a", "b", "self", "f", "C", "x"])
PLAIN = st.one_of(
    NAMES,
    NAMES.map("{}.y".format),
    st.sampled_from(["1", "'s'", "-1", "None", "[]", "{}", "()", "lambda: a", "lambda b=a: b.c"]),
)


def compound(inner):
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(inner, NAMES).map("({0[0]}).{0[1]}".format),
        pair.map("({0[0]})({0[1]})".format),
        pair.map("f({0[0]}, *{0[1]}, k={0[0]}, **{0[1]})".format),
        pair.map("[({0[0]}), *({0[1]})]".format),
        pair.map("{{'k': {0[0]}, **{0[1]}}}".format),
        pair.map("({0[0]})[{0[1]}]".format),
        pair.map("[({0[0]}) for x in ({0[1]})]".format),
        pair.map("{{x: ({0[0]}) for x in ({0[1]})}}".format),
        pair.map("(({0[0]}) for a, x in ({0[1]}) if x)".format),
        pair.map("(({0[0]}) if ({0[1]}) else b)".format),
        pair.map("(lambda x, *a: ({0[0]}, {0[1]}))".format),
        pair.map("((x := ({0[0]})) or ({0[1]}))".format),
        pair.map("(({0[0]}) + [{0[1]}] * 2)".format),
    )


EXPRESSIONS = st.recursive(PLAIN, compound, max_leaves=8)


def indented(lines):
    return "\n".join("  " + line for line in "\n".join(lines).split("\n"))


def blocks(inner):
    body = st.lists(inner, min_size=1, max_size=3).map(indented)
    return st.one_of(
        st.tuples(EXPRESSIONS, body, body).map("if {0[0]}:\n{0[1]}\nelse:\n{0[2]}".format),
        st.tuples(EXPRESSIONS, body).map("for x, a in {0[0]}:\n{0[1]}".format),
        st.tuples(EXPRESSIONS, body).map("while {0[0]}:\n{0[1]}".format),
        st.tuples(EXPRESSIONS, body).map("with {0[0]} as b:\n{0[1]}".format),
        st.tuples(body, body).map("try:\n{0[0]}\nexcept (ImportError, AttributeError) as a:\n{0[1]}".format),
        st.tuples(NAMES, EXPRESSIONS, body).map("def {0[0]}(self, x: a.B = {0[1]}, *y, k=1, **z):\n{0[2]}".format),
        st.tuples(NAMES, body).map("class {0[0]}(a.B):\n{0[1]}".format),
        body.map("if __name__ == '__main__':\n{}".format),
    )


SIMPLE = st.one_of(
    EXPRESSIONS,
    st.tuples(NAMES, EXPRESSIONS).map("{0[0]} = {0[1]}".format),
    st.tuples(NAMES, EXPRESSIONS).map("{0[0]} += {0[1]}".format),
    st.tuples(NAMES, EXPRESSIONS).map("self.{0[0]} = {0[1]}".format),
    st.tuples(NAMES, EXPRESSIONS).map("x, *{0[0]} = {0[1]}".format),
    st.tuples(NAMES, EXPRESSIONS).map("{0[0]}['k'] = {0[1]}".format),
    st.tuples(NAMES, EXPRESSIONS).map("{0[0]}.append({0[1]})".format),
    NAMES.map("del {}".format),
    NAMES.map("global {}".format),
    st.sampled_from(["import a", "import a.b as f", "from . import a", "from .a import b as x, C", "from a import *"]),
)
FUNCTIONS = st.tuples(NAMES, EXPRESSIONS).map("def {0[0]}(x=1):\n  return {0[1]}".format)
PROGRAMS = st.lists(st.recursive(SIMPLE | FUNCTIONS, blocks, max_leaves=6), min_size=1, max_size=8).map("\n".join)

PATTERNS = st.sampled_from(["a.b", "a.y", "a.**.y", "**.y", "b.C", "**.C", "a.**", "b.*", "a.b.c", "**.f", "a.?", "**"])


@given(PROGRAMS)
@example("def f(x=1):\n  return ((f(a, *a, k=a, **a)) for a, x in (a) if x)")  # a generator of what gives itself
def test_programs(source):
    try:
        ast.parse(source)
    except SyntaxError:
        return
    source = "import a\nfrom b import C, f\n" + source
    with untraced():
        answers = *uses_of(source, EVERYTHING), exports_of(source)
        answer = uses(Project.of({"x.py": source, "b.py": source}), "**")
    assert json.loads(json.dumps(answers)) == [*answers]
    assert json.loads(json.dumps(answer)) == answer
    for use in answer["found"]:
        for argument in (*use.get("arguments", ()), *use.get("keywords", {}).values()):
            assert argument["is"]
            told = {"is", "made_by", "names", "carries", "text", "value", "entries", "open", "maker", "itself"}
            told |= {"form", "values", "begins", "provided"}
            assert set(argument) <= told | {"lacks", "results", "parameter", "runs"}


@given(PROGRAMS, st.lists(PATTERNS, min_size=1, max_size=4, unique=True))
def test_what_is_announced_is_answered_alike(source, patterns):
    try:
        ast.parse(source)
    except SyntaxError:
        return
    files = {"x.py": "import a\nfrom b import C, f\n" + source, "b.py": source}
    project = Project.of(files)
    with untraced():
        expect(project, patterns)
        for pattern in patterns:
            assert uses(project, pattern) == uses(Project.of(files), pattern)


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_bytes(data):
    for name in ("x.py", "x.ipynb"):
        answer = uses(Project.of({name: b"import a.b\n" + data if name == "x.py" else data}), "a.b")
        assert answer["found"] or answer["gaps"] or not data or name == "x.ipynb"


@given(st.text(alphabet="ab()[]{}:=.,'\"\n \\@%!lambdefifor", max_size=80))
def test_texts(source):
    try:
        uses_of(source, EVERYTHING)
    except UnreadableError as error:
        assert error.reason  # noqa: PT017 - either is fine


def test_lists_of_lists_by_name_do_not_multiply():
    lines = ["import a, b", "x0 = [b.C()]"] + [f"x{level} = [{f'x{level - 1}, ' * 60}]" for level in range(1, 8)]
    source = "\n".join([*lines, "a.f(x7)"])
    (use,) = uses_of(source, EVERYTHING)[0]["f"]
    assert use["arguments"][0]["is"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import " * 100_000, 0),
        ("import;" * 100_000, 0),
        ("x import (" * 50_000, 0),
        ("import \\\n" * 100_000, 0),
        ("lib.call()\n#" + "def " * 200_000, 1),
        ("lib.call()\n#" + "print x " * 100_000, 1),
        ("lib.call()\ndef f():\n  " + "x = 1;" * 30 + "\n" + "    # c\n" * 100_000, 1),
        ("lib.call()\n'''\n" + ("def f(a):\n  " + "x" * 120 + "\n") * 5_000 + "'''\n", 1),
        ("lib.call()\n" + ("class A:\n  '''\ndef f(a):\n  " + "x" * 120 + "\n  '''\n") * 5_000, 1),
        ("lib.call()\n" + "def f(\n" * 100_000, 0),
        ("lib.call()\n" + "#\ndef f(\n" * 100_000, 0),
    ],
    ids=range(11),
)
def test_what_takes_long_to_read_line_by_line_is_read_once(text, found):
    project = Project.of({"main.py": "import lib\n" + text + "\n"})
    expect(project, ["lib.call"])
    answer = uses(project, "lib.call")
    assert len(answer["found"]) == found
    assert found or answer["gaps"] or "import" in text
