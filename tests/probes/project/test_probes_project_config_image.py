"""The instructions of a Dockerfile: what holds at the end of its last stage."""

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


def test_a_file_of_too_many_lines_is_not_read():
    assert read("RUN x\n" * 2_001) == ({}, "it has more than 2000 lines, and was not read")


@given(st.text(alphabet="FROMENVRUN asb=\"'\\\n<$#-", max_size=200))
def test_any_text_is_read(text):
    assert all(isinstance(value, str) for value, _ in read(text)[0].values())
