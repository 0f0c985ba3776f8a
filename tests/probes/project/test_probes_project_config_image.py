"""The instructions of a Dockerfile: what holds at the end of its last stage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.probes.project.config_image import dockerfile


def read(text):
    entries, gap = dockerfile(text.encode())
    return {key: (value, line) for key, value, line in entries}, gap


def test_the_last_stage_has_what_it_begins_with():
    text = """# syntax=docker/dockerfile:1
ARG BASE=python:3.11-slim
FROM $BASE as build
ENV A=1 B="two words"
RUN make
FROM node:20
RUN npm
FROM build
ENV A=3
USER app
RUN apt-get update && \\
    # a comment
    apt-get install x
"""
    assert read(text) == (
        {
            "FROM": ("python:3.11-slim", 3),
            "ENV.A": ("3", 9),
            "ENV.B": ("two words", 4),
            "RUN.0": ("make", 5),
            "USER": ("app", 10),
            "RUN.1": ("apt-get update &&      apt-get install x", 11),
        },
        None,
    )


def test_a_command_that_is_a_list_is_a_line():
    text = """FROM python:3.11-slim
ENTRYPOINT ["/entry point.sh"]
CMD flask run
CMD ["celery", "worker", \\
     "-A", "shop"]
"""
    assert read(text) == (
        {
            "FROM": ("python:3.11-slim", 1),
            "ENTRYPOINT": ("'/entry point.sh'", 2),
            "CMD": ("celery worker -A shop", 4),
        },
        None,
    )
    assert read("FROM a\nCMD [ -f x ] && run\nENTRYPOINT []")[0] == {
        "FROM": ("a", 1),
        "CMD": ("[ -f x ] && run", 2),
        "ENTRYPOINT": ("[]", 3),
    }


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("ARG V=3.11 KIND=slim\nFROM python:${V}-${KIND}", "FROM", "python:3.11-slim"),
        ("ARG V=3.11\nARG BASE=python:$V\nFROM ${BASE}", "FROM", "python:3.11"),
        ("FROM a\nARG V\nARG W=2\nENV X=${V:-1} Y=$W", "ENV.X", "1"),
        ("FROM a\nARG W='2 3'\nENV Y=1\nRUN install $W ${Y}.0 $(pwd) $HOME", "RUN.0", "install 2 3 1.0 $(pwd) $HOME"),
        ('FROM a\nENV P=1\nCMD ["run", "$P"]', "CMD", "run '$P'"),
        ('FROM a\nRUN ["pip", "install", "a b"]', "RUN.0", "pip install 'a b'"),
        ("FROM a\nRUN --mount=type=cache,target=/x --network=none pip install a", "RUN.0", "pip install a"),
        ('FROM a\nCOPY --from=b ["x", "y"]', "COPY.0", '--from=b ["x", "y"]'),
        ("FROM a\nRUN one \\\n\n  # two\n   \n  three\n", "RUN.0", "one    three"),
        ("FROM a\nRUN <<EOF\n# one\ntwo \\\n  three\nfour\nEOF\nUSER x", "RUN.0", "\ntwo    three\nfour"),
        ("FROM a\nRUN cat <<EOF > /x\none\nEOF\nUSER x", "RUN.0", "cat <<EOF > /x\none"),
    ],
)
def test_what_is_written_in_other_ways(text, key, value):
    entries, gap = read(text)
    assert gap is None
    assert entries[key][0] == value


def test_variables_that_double_each_other_have_an_end():
    entries, _ = read("FROM a\nENV A=xx\n" + "ENV A=$A$A\n" * 1_000)
    assert len(entries["ENV.A"][0]) < 1_000


def test_a_file_of_too_many_lines_is_not_read():
    assert read("RUN x\n" * 2_001) == ({}, "it has more than 2000 lines, and was not read")


@given(st.text(alphabet="FROMENVRUN asb=\"'\\\n<$#-", max_size=200))
def test_any_text_is_read(text):
    assert all(isinstance(value, str) for value, _ in read(text)[0].values())
