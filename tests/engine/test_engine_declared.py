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
        ("docker-compose.prod.yml", "services:\n  a:\n    environment:\n      - LEVEL=2\n", 4),
        ("compose.override.yaml", "services:\n  a:\n    environment:\n      LEVEL: ${LEVEL:-2}\n", 4),
        ("compose.yaml", "x: &x\n  LEVEL: 2\nservices:\n  a:\n    environment:\n      <<: *x\n", 2),
        ("Dockerfile.prod", "FROM a\nARG L=2\nENV LEVEL=${L}\n", 3),
        ("app.service", '[Service]\nEnvironment="LEVEL=2" "A=1"\n', 2),
        ("app.service", "[Service]\nEnvironment=LEVEL=2\nEnvironment=A=1\n", 3),
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


IMAGES = {
    "bare": ["python:*slim*"],
    "bases": {"stand-in": ["python:3.1?"], "other": ["*alpine*"]},
    "plain": ["curl", "other"],
}
WORDS = {"images": {**IMAGES, "brings": {"libx.so.1": ["libx1", "stand-in", "x-tools"], "y": ["y-tools"]}}}
MISSING = {"library": {"libx.so.1": "missing"}}
PIP = "RUN pip install x\n"
SLIM = "FROM python:3.11-slim\n"
#: What brings no library, and what installs packages of Python.
NOTHING = [
    "RUN set -eux; apt-get -qq -o A::B=c install -y -t new curl >/dev/null 2>&1; exit 0",
    "RUN --mount=type=cache,target=/var/cache/apt apt-get install -y curl || true",
    "RUN <<EOF\n#!/bin/sh\n# tools\napt-get install \\\n  curl\nEOF",
    'RUN ["apt-get", "install", "curl"]',
    "RUN bash -o pipefail -c 'apt-get update && apt-get install -y curl | tee log'",
    "ARG WANTED='curl'\nRUN apt-get install $WANTED",
    "RUN echo 'a | b; c && d' > x && sed -i 's|a|b|' x",
    "COPY --chown=a entrypoint.sh /usr/local/bin/\nCOPY . /app\nADD https://x.org/a.tar.gz /tmp/",
    "COPY locales /app/locales\nRUN cp -r a b && ln -s /usr/bin/a /usr/bin/b",
    "RUN python -c 'import a' && python3 -m compileall . && python manage.py check",
    "RUN curl -sSL https://install.python-poetry.org | python3 -",
]
INSTALL = [
    "RUN python -m venv /venv && . /venv/bin/activate && pip install x",
    "RUN /venv/bin/pip install x",
    'RUN ["pip", "install", "x"]',
    "COPY --from=ghcr.io/astral-sh/uv:latest /uv /uvx /bin/\nRUN --mount=type=cache,target=/x uv sync",
    "COPY --from=build /opt/venv /opt/venv",
    "COPY --from=build /root/.local /root/.local",
    "COPY --from=build /usr/local/lib/python3.11/site-packages /usr/local/lib/python3.11/site-packages",
    "COPY --from=build --chown=app /app /app\nENV PATH=/app/.venv/bin:$PATH",
    "COPY --from=build /install /usr/local",
]
#: What may bring a library.
PERHAPS = [
    "RUN apt-get install -y \\\n  curl \\\n\n  libx1",
    "RUN cat packages.txt | xargs apt-get install -y",
    "RUN sed 's/#.*//' packages.txt | xargs apt-get install -y",
    "RUN bash -c 'apt-get install -y libx1'",
    'RUN ["apt-get", "install", "libx1"]',
    "ARG WANTED='curl libx1'\nRUN apt-get install $WANTED",
    "COPY lib/ /usr/lib/",
    "COPY libx-1.0 /opt/libx",
    "COPY root /",
    "ADD https://x.org/a.tar.gz /usr/local",
    "RUN cp -r vendor/lib/* /usr/lib/",
    "RUN curl -L https://x.org/libx-1.tar.gz -o /usr/local/lib/libx.so.1",
    "RUN uv run x install --with-deps",
    "COPY --from=build /usr/local /usr/local",
]


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
        "FROM python:3.11-alpine\nRUN apk add --no-cache -t .build curl && apk del .build\n" + PIP,
        *(SLIM + command + "\n" + PIP for command in NOTHING),
        *(SLIM + command + "\n" for command in INSTALL),
    ],
)
def test_an_image_that_installs_nothing_that_brings_a_library_lacks_it(text):
    verdict, evidence = lacks(text)
    assert verdict is True
    assert "missing in python:3.11-" in evidence[0]


def test_an_image_lacks_what_those_of_its_packages_lack():
    assert lacks("FROM python:3.11\n" + PIP)[0] is False
    assert judged({"program": {"y": "missing"}}, {"Dockerfile.prod": "FROM python:3.11\n" + PIP}, WORDS)[0] is True


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
        *(SLIM + command + "\n" + PIP for command in PERHAPS),
    ],
)
def test_what_is_not_known_of_an_image_says_nothing(text):
    assert lacks(text) == (False, [])
