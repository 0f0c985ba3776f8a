"""Bodies are left out where they hold nothing that is asked for; with them back, the tree is that of the whole text."""

import ast
import os
import random
import sysconfig
import textwrap
import warnings

import pytest

from envdoctor.probes.project import Project
from envdoctor.probes.source import expect, uses
from envdoctor.probes.source.outline import WORTH_LEAVING_OUT, Outline
from envdoctor.probes.source.uses import WORTH_SPARING

#: A line long enough to make a body worth leaving out.
LONG = "long = 1  # " + "." * WORTH_LEAVING_OUT
#: What makes a file long enough for that.
FILLING = "#" * WORTH_SPARING + "\n"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def empty(tree):
    """The names of functions whose body is not there."""
    return {node.name for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and _is_nothing(node.body)}


def _is_nothing(body):
    return len(body) == 1 and isinstance(body[0], ast.Expr) and getattr(body[0].value, "value", None) == 0


def restored(source):
    outline = Outline(source, ())
    for node in ast.walk(outline.tree):
        if isinstance(node, FUNCTIONS):
            outline.restore(node)
    return dump(outline.tree)


def whole(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dump(ast.parse(source))


def dump(tree):
    """All of a tree but the columns in which bodies end and what documentation says."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = 0
        if isinstance(getattr(node, "body", None), list):
            node.end_col_offset = 0
    return ast.dump(tree, include_attributes=True)


def test_only_functions_without_the_words_are_left_out():
    source = f"def a():\n  {LONG}\n  call()\nclass B:\n  def b(self):\n    {LONG}\n  def c(self): pass\n"
    assert empty(Outline(source, ()).tree) == {"a", "b"}
    assert empty(Outline(source, ("call",)).tree) == {"b"}
    assert empty(Outline(source, ("all", "cal")).tree) == {"a", "b"}
    assert empty(Outline(source).tree) == set()


@pytest.mark.parametrize(
    "source",
    [
        f"def f():\n    {LONG}\n    s = '''\nat the edge\n'''\n    y = 2\n",
        f"def f():\n    {LONG}\n    s = '''\n'''\ndef g():\n    {LONG}\n    return '''\n    '''\n",
        f'def f():\n    """One."""\n    {LONG}\n    s = "\'\'\'" + """\nedge \'\'\'\n"""\n    y = 2\n',
        f"def f():\n    {LONG}\n    s = [\n1,\n]\n    y = 2\n",
        f"def f():\n    {LONG}\n    s = 1 + \\\n2\n    y = 2\n",
        f"def f():\n    {LONG}\n# at the edge\n    y = 2\n# behind\n\nz = 3\n",
        f"def f():\n    {LONG}\n\f\n    y = 2\n",
        f"def f():\n    {LONG}\n    \f  \n    y = 2\n",
        f"text = '''\ndef f():\n    {LONG}\n'''\ndef g():\n    {LONG}\n",
        f"text = '''\ndef f():\n    {LONG}\n    '''\ndef g():\n    {LONG}\n",
        f"@d(\n  1)\nasync def f(a, b=(1, ')'),\n            *, c: int) -> 'x:':  # (:\n    {LONG}\n    await a\n",
        f"def f(a=')',\n  b=1):\n    {LONG}\n    if a:\n        b = 2\n",
        f"def f(a='):',  # ):\n  b=1):\n    {LONG}\n    if a:\n        b = 2\n",
        f"def f(): return 1\nif 1:\n    def g():\n        {LONG}\nelse:\n    def g():\n        {LONG}\n",
        f"class A:\n\tdef f(self):\n\t\t{LONG}\n\n\tdef g(self):\n\t\t{LONG}\n",
        f"def f():\n    {LONG}\n    def g():\n        {LONG}\n    return g",
        f"def f():\n    {LONG}\n    class A:\n        def g(self):\n            {LONG}\n",
        f"def f(\n):\n    {LONG}\n    return 1\nx = f",
        f"if x: \n  def f():\n   {LONG}\n   return 1\n  def g(): \n      {LONG}\n",
        f"def f():\n    {LONG}\n    return f'{{x}}' f\"{{y['a']}}\" '''{{\n'''\nx = 1\n",
        f"def f():\n    {LONG}\n    a = \"'''\"; b = '''\n'''\ndef g():\n    {LONG}\n    a = \"'''\"\n",
        f"def f():\n    {LONG}\n    # '''\n    return '''\n'''\ndef g():\n    {LONG}\n    # '''\n",
    ],
)
def test_the_tree_is_the_same_once_the_bodies_are_back(source):
    assert restored(source) == whole(source)


def test_the_tree_is_the_same_whatever_lines_come_together():
    lines = [
        *[
            "def f():",
            "def f(a=')',",
            "  b=1):",
            "async def f(): # (:",
            "class A:",
            "    def g(self):",
            "if 1:",
            "else:",
        ],
        *[
            "    " + LONG,
            "        " + LONG,
            "    pass",
            "x = 1",
            "",
            "# c",
            "    # '''",
            "    z = 1 \\",
            "2",
            "    y = (",
            ")",
        ],
        *["    x = '''", "'''", "    '''", "        '''", '    """', '"""', "x = '''", '    """One."""'],
        *["    a = \"'''\"", "    a = \"'''\"; b = '''", "    '''one''' '''", "    s = \"\\\"'''\"", "    'a\\", "b'"],
    ]
    draw = random.Random(1)
    shortened = 0
    for _ in range(40_000):
        source = "\n".join(draw.choice(lines) for _ in range(draw.randint(2, 9))) + "\n"
        try:
            expected = whole(source)
        except SyntaxError:
            continue
        shortened += bool(empty(Outline(source, ()).tree))
        assert restored(source) == expected, source
    assert shortened > 20


def test_the_trees_of_the_standard_library_are_the_same():
    above = sysconfig.get_path("stdlib")
    paths = [os.path.join(above, name) for name in sorted(os.listdir(above)) if name.endswith(".py")]
    names = [path for path in paths if os.path.isfile(path)][::3]
    shortened = 0
    for name in names:
        with open(name, encoding="utf-8") as file:
            source = file.read()
        shortened += bool(empty(Outline(source, ()).tree))
        assert restored(source) == whole(source), name
    assert shortened > len(names) // 2


@pytest.mark.parametrize(
    "statement", ["print 'a'", "print x, y", "raise E, 'a'", "try:\n    x\n  except E, e:\n    raise e, 'b'"]
)
def test_what_only_python_2_understands_is_not_looked_into(statement):
    source = f"import lib\ndef f():\n  {LONG}\n  {statement}\nlib.call()\n{FILLING}"
    project = Project.of({"main.py": source})
    expect(project, ["lib.call"])
    answer = uses(project, "lib.call")
    assert not answer["found"]
    assert "main.py:" in answer["gaps"][0]
    assert "does not understand it" in answer["gaps"][0]


def test_a_mistake_in_a_body_counts_where_the_body_does():
    mistake = f"def f():\n  {LONG}\n  return 1 +\n"
    source = "import lib\nx = lib.make\n" + mistake + "x()\n" + FILLING
    project = Project.of({"main.py": source, "other.py": source.replace("1 +", "x( +")})
    expect(project, ["lib.make"])
    answer = uses(project, "lib.make")
    assert [(use["file"], use["line"]) for use in answer["found"]] == [("main.py", 2), ("main.py", 6)]
    assert "other.py:5 is not looked into" in answer["gaps"][0]


def test_after_a_mistake_the_file_is_read_anew():
    source = textwrap.dedent(
        f"""
        import lib
        x = lib.make
        def f():
          {LONG}
          return x( +
        lib.other()
        """
    )
    source += FILLING
    project = Project.of({"main.py": source})
    expect(project, ["lib.make"])
    assert uses(project, "lib.make")["gaps"]
    expect(project, ["lib.other"])
    assert [use["line"] for use in uses(project, "lib.other")["found"]] == [3 + 4]
