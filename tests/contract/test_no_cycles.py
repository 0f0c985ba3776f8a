"""No module of the package imports itself by way of others: not at run time, not in a function, not for types."""

import graphlib

import grimp
import pytest


def test_imports_have_an_order():
    graph = grimp.build_graph("envdoctor", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert "envdoctor.engine.trace" in imports["envdoctor.engine.open_versions"]  # which it takes for types too

    try:
        order = list(graphlib.TopologicalSorter(imports).static_order())
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))
    assert order.index("envdoctor.engine.evaluate") < order.index("envdoctor.doctor")
