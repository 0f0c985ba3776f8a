"""Attributes that a library has lost, by the shipped history, met in what imports it; what is distinctive, and what is not."""

import linker_environment as env
import pytest

#: Graphs lost ``node`` after 2.3.
GRAPHS = {"networkx/__init__.py": "class Graph:\n    def nodes(self): pass\n"}
TAKES = "import networkx\ndef f(g):\n    return g.node[1]\n"
OTHER = {"other.py": "class X:\n    node = 1\n"}


def lost(tmp_path, source, version="2.4", **others):
    env.write(tmp_path, version, networkx=GRAPHS)
    env.write(tmp_path, a={"a.py": source}, **others)
    return [(one.severity, one.line, one.detail) for one in env.linked(tmp_path).missing if one.kind == "lost"]


def test_an_attribute_that_a_class_had(tmp_path):
    ((severity, line, said),) = lost(tmp_path, TAKES)
    assert (severity, line) == ("warning", 3)
    assert said.endswith("gone in 2.4")


@pytest.mark.parametrize("version", ["2.2", "1.0"])
def test_a_release_that_has_it_still(tmp_path, version):
    assert lost(tmp_path, TAKES, version) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(g):\n    return g.node\n",
        "import networkx\nclass X:\n    def f(self):\n        return self.node\n",
        "import networkx\ndef f(g):\n    g.node = 1\n",
        "import networkx\nclass Mine:\n    def __init__(self):\n        self.node = 1\ndef f(g):\n    return g.node\n",
        "import networkx\ndef f(g):\n    try:\n        return g.node\n    except AttributeError:\n        return g.nodes\n",
        "import networkx\ndef f(g):\n    if networkx.__version__ < '2.4':\n        return g.node\n",
        "import networkx\ndef f(g):\n    return g.node if hasattr(g, 'node') else g.nodes\n",
        "import networkx\ndef f(s):\n    return s.format(1)\n",
    ],
    ids=["not imported", "its own", "set", "defined here", "caught", "by version", "asked for first", "built in"],
)
def test_what_is_no_evidence(tmp_path, source):
    assert lost(tmp_path, source) == []


def test_another_library_that_is_imported_has_it(tmp_path):
    assert lost(tmp_path, "import other\n" + TAKES, other=OTHER) == []
    assert len(lost(tmp_path / "apart", TAKES, other=OTHER)) == 1


def test_a_parameter_that_a_method_had(tmp_path):
    env.write(
        tmp_path, "2.0.1", pandas={"pandas/__init__.py": "class DataFrame:\n    def to_records(self, **more): pass\n"}
    )
    source = "import pandas\ndef f(d):\n    d.to_records(convert_datetime64=1)\n    d.other(convert_datetime64=1)\n"
    env.write(tmp_path, a={"a.py": source})
    (one,) = (one for one in env.linked(tmp_path).missing if one.kind == "lost")
    assert (one.line, one.asked) == (3, ".to_records(convert_datetime64=)")
    assert "pandas, last in " in one.detail
