"""JSON is read without the ``json`` package, and what is damaged is a ``ValueError`` all the same."""

import sys

import pytest
from conftest import CHECKOUT, environment, run

WHOLE = '{"a": [1, 2.5, "x\\u00e9", true, null], "b": {"c": "d"}}'
PROGRAM = """
import sys
from envdoctor.plainjson import decode
try:
    print(decode(sys.argv[1].encode()))
except (ValueError, StopIteration) as error:
    print("damaged")  # from Python 3.14 on the scanner itself imports the exception that it raises then
else:
    assert "json" not in sys.modules
"""


@pytest.mark.parametrize("end", [len(WHOLE), len(WHOLE) - 1, 20, 16, 8, 5, 2, 1])
def test_a_document_is_read_whole_or_is_damaged(end):
    done = run(sys.executable, "-c", PROGRAM, WHOLE[:end], cwd=CHECKOUT, env=environment())

    assert done.stderr == ""
    assert done.stdout == ("damaged\n" if end < len(WHOLE) else "{'a': [1, 2.5, 'xé', True, None], 'b': {'c': 'd'}}\n")
