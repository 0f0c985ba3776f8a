"""What a project's files say of the machine: the variables that they set, and what an image lacks."""

import pytest
from engine.real_projects import judged

EMPTY = {"env": {"THREADS": {"is": "empty"}}}
TWO = {"env": {"LEVEL": "2"}}


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        (".env", "A=1\nLEVEL=2\n", 2),
        ("deploy/.env", "LEVEL='2'\n", 1),
        (".envrc", "export LEVEL=2\n", 1),
        ("Dockerfile", "FROM a\nENV X=1 LEVEL=2\n", 2),
        ("Dockerfile", "FROM a\nENV LEVEL 2\n", 2),
        ("compose.yaml", "services:\n  a:\n    environment:\n      LEVEL: 2\n", 4),
        ("docker-compose.yml", "services:\n  a:\n    environment:\n      - LEVEL=2\n", 4),
        ("app.service", '[Service]\nEnvironment="LEVEL=2" "A=1"\n', 2),
    ],
)
def test_a_variable_that_a_file_of_the_project_sets_counts(file, text, line):
    assert judged(TWO, {file: text}) == (True, [f"env.LEVEL=2 {file}:{line}"])
    assert judged(TWO, {file: text.replace("2", "3")})[0] is False


def test_the_machine_comes_first_and_what_is_unset_there_is_asked_of_it_alone():
    assert judged(TWO, {".env": "LEVEL=2"}, LEVEL="2") == (True, ["env.LEVEL=2 the environment"])
    assert judged({"env": {"LEVEL": {"is": "unset"}}}, {".env": "LEVEL=2"})[0] is True
    assert judged({"env": {"LEVEL": {"is": "set"}}}, {".env": "LEVEL=0"})[0] is True
    assert judged(TWO, {".env.example": "LEVEL=2", "a.yml": "environment: {LEVEL: 2}"})[0] is False


def test_a_variable_may_be_set_and_empty():
    assert judged(EMPTY, {".env": "THREADS=\n"})[0] is True
    assert judged(EMPTY, {}, THREADS="")[0] is True
    assert judged(EMPTY, {".env": "THREADS=1\n"})[0] is False
    assert judged(EMPTY, {"compose.yaml": "services: {a: {environment: {THREADS: }}}"})[0] is False  # handed on


WORDS = {"images": {"bare": ["python:*slim*"], "plain": ["curl"], "brings": {"libx.so.1": ["libx1", "x-tools"]}}}
MISSING = {"library": {"libx.so.1": "missing"}}
PIP = "RUN pip install x\n"


def lacks(text):
    return judged(MISSING, {"Dockerfile": text}, WORDS)


@pytest.mark.parametrize(
    "text",
    [
        "FROM python:3.11-slim\n" + PIP,
        "FROM python:3.11-slim\nRUN apt-get update && apt-get install -y --no-install-recommends curl \\\n && rm -rf /x\n"
        + PIP,
        "ARG V=3.11-slim\nFROM python:${V} AS base\nFROM base\nCOPY . .\n" + PIP,
        "FROM golang AS tools\nRUN make\nFROM python:3.11-slim\n" + PIP,
    ],
)
def test_an_image_that_installs_nothing_that_brings_a_library_lacks_it(text):
    verdict, evidence = lacks(text)
    assert verdict is True
    assert "missing in python:3.11-slim Dockerfile:" in evidence[0]


@pytest.mark.parametrize(
    "text",
    [
        "FROM python:3.11\n" + PIP,
        "FROM python:3.11-slim\nRUN apt-get install -y libx1\n" + PIP,
        "FROM python:3.11-slim\nRUN apt-get install -y curl x-tools=1.2\n" + PIP,
        "FROM python:3.11-slim\nRUN apt-get install -y something-else\n" + PIP,
        "FROM python:3.11-slim\nRUN apt-get install -y $(cat packages.txt)\n" + PIP,
        "FROM python:3.11-slim\nRUN ./install.sh\n" + PIP,
        "FROM python:3.11-slim AS base\nRUN apt-get install -y libx1\nFROM base\n" + PIP,
        "FROM python:3.11-slim\nCOPY --from=tools /usr/lib /usr/lib\n" + PIP,
        "FROM python:3.11-slim\nRUN <<END\napt-get install -y libx1\nEND\n" + PIP,
        "FROM python:3.11-slim\nCOPY . .\n",
    ],
)
def test_what_is_not_known_of_an_image_says_nothing(text):
    assert lacks(text) == (False, [])
