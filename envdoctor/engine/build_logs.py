"""What a log says of what was being built or run: the distribution of a build, and the plugins of a test run. Pure."""

# ruff: noqa: E501 - an expression is one row

from __future__ import annotations

import re

#: Characters at the end of a log in which the name of what is being built is looked for.
MOST_LOG = 200_000

_NAME = r"[A-Za-z0-9](?:[\w.-]{0,80}[A-Za-z0-9])?"
_VERSION = r"\d(?:[\w.!+]{0,60}\w)?"
_LISTED = re.compile(rf"^plugins: ({_NAME}-{_VERSION}(?:, {_NAME}-{_VERSION})*)$", re.MULTILINE)
#: Where a log says which distribution is being built, the last and the most telling at the end.
_BUILT = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        rf"^\s{{0,20}}Collecting (?P<name>{_NAME})",
        rf"^\s{{0,20}}Downloading (?:\S{{1,200}}/)?(?P<name>{_NAME}?)-\d[\w.]*\.(?:tar\.gz|zip|tar\.bz2)",
        r"[/\\]pip-(?:install|req-build|wheel)-\w+[/\\](?P<name>[\w.-]+?)(?:_[0-9a-f]{32})?[/\\]",
        rf"(?:Building wheel for|Running setup\.py (?:install|bdist_wheel) for) (?P<name>{_NAME})",
        r"[/\\\\]pip-modern-metadata-\w+[/\\\\]{1,2}(?P<name>[\w.-]+?)(?:-\d[\w.+!]*)?\.(?:egg|dist)-info",
        rf"[Ff]ailed (?:building (?:editable )?wheel for|to build) [`']?(?P<name>{_NAME}?)(?:==\S+)?[`']?(?: when .{{1,120}})?\s*$",
        rf"error in (?P<name>{_NAME}) setup command",
    )
)
_SCENE = re.compile(
    r"pip-build-env|[/\\]overlay[/\\]|builds-v\d|pip-(?:install|req-build|wheel)-|(?i:failed (?:to build|building)|egg_info|setup command"
    r"|(?:wheel|metadata)\b.{0,40}(?:error|did not run)|exited-with-error|metadata-generation-failed)"
)


def plugins(text: str) -> dict[str, str]:
    """The distributions of plugins that the head of a test run lists without their first word, by import name."""
    listed = [item for line in _LISTED.findall(text) for item in line.split(", ")]
    return {item.rpartition("-")[0].replace("-", "_"): f"pytest-{item.rpartition('-')[0]}" for item in listed}


def building(text: str) -> str | None:
    """The distribution that was being built when something failed, as the log of an installer names it."""
    if not _SCENE.search(text):
        return None
    name: str | None = None
    for form in _BUILT:
        names = [match["name"] for match in form.finditer(text[-MOST_LOG:])]
        name = names[-1] if names else name
    return name
