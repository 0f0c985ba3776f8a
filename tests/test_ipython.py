"""The extension of IPython in a real kernel, and reports as a notebook shows them."""

import json
import sys

import pytest
from browser import CONTRAST, browser  # noqa: F401 - a fixture
from conftest import environment, run

#: Runs the cells of a notebook in a new kernel; its outputs as JSON.
PROGRAM = """
import json, sys
import nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell(one) for one in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
NotebookClient(notebook, allow_errors=True, kernel_name="python3").execute()
json.dump([one.outputs for one in notebook.cells], sys.stdout)
"""
CELLS = [
    "def load():\n    import sys\n    from collections import Mapping\n    return Mapping\n",
    "load()",
    "%load_ext envdoctor",
    "x = 1\n\nfrom collections import Sequence",
    "1 / 0",
    "try:\n    {}['a']\nexcept KeyError:\n    load()",
    "print 'a'",
    "class Own: pass\nOwn().name",
    "import envdoctor\nenvdoctor.check(envdoctor.examine())",
    "%unload_ext envdoctor",
    "load()",
]


@pytest.fixture(scope="module")
def jupyter(shared, wheel):
    def build(folder):
        assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
        done = run("uv", "pip", "install", "--quiet", "--python", folder, wheel, "ipykernel", "nbclient")
        assert done.returncode == 0, done.stderr

    return shared("jupyter", build) / "bin" / "python"


@pytest.fixture(scope="module")
def outputs(jupyter, tmp_path_factory):
    """What each of the cells shows, by the kind of data."""
    words = {"cwd": tmp_path_factory.mktemp("session"), "env": environment(), "input": json.dumps(CELLS)}
    done = run(jupyter, "-c", PROGRAM, **words)
    assert done.returncode == 0, done.stderr
    return [
        [one["data"] for one in cell if one["output_type"] in {"display_data", "execute_result"}]
        for cell in json.loads(done.stdout)
    ]


@pytest.mark.heavy
def test_the_exception_just_shown_and_later_ones_are_explained_with_cell_and_line(outputs):
    for number, place, found in (
        (2, "Cell In[1], line 3", "session.ipynb cell 1 line 3"),
        (3, "Cell In[4], line 3", "session.ipynb cell 4 line 3"),
        (5, "Cell In[1], line 3", "session.ipynb cell 1 line 3"),
    ):
        (shown,) = outputs[number]
        assert shown["text/plain"].startswith(place + "\n1 confirmed")
        assert "python310-names-in-code" in shown["text/plain"]
        assert found in shown["text/plain"]
        assert place in shown["text/html"]
        assert "interactiveshell" not in shown["text/plain"]


@pytest.mark.heavy
def test_what_nobody_knows_and_what_says_it_all_itself_is_left_alone(outputs):
    assert [outputs[number] for number in (0, 1, 4, 6, 7, 9, 10)] == [[]] * 7


@pytest.mark.heavy
def test_a_report_is_a_page_in_a_notebook(outputs, browser, tmp_path):  # noqa: F811
    (shown,) = outputs[8]
    assert "nothing known to be wrong" in shown["text/plain"]
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body style='background: #111'>{shown['text/html']}")
    browser.open(page.as_uri())
    assert "ipykernel" in browser.value("document.body.textContent")
    assert browser.value(CONTRAST)[0] >= 4.5
    assert (
        browser.value("getComputedStyle(document.querySelector('.envdoctor')).backgroundColor") == "rgb(255, 255, 255)"
    )
    assert browser.messages == []
