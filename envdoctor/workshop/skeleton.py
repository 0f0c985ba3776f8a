"""The beginning of a rule: a file that parses, teaches, and whose unfinished parts lint names one by one."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.errors import RuleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TEMPLATE = """\
# One rule, one file. Replace every TODO, then: envdoctor rules lint {file}
# The language on one page: rules/README.md
id: {id}
title: "TODO: what breaks with what"     # one line, as a person would say it
severity: error                         # error: it breaks | warning: it breaks in some uses (say which) | info
impact: crash                           # crash | hang | wrong-result | install-failure | slow
when:                                   # all of these hold; also: marker, env, module, system, start_method
  python: ">={python}"                      # leave it out if every Python is affected; versions always in quotes
  packages: {{{when}}} # a specifier, `present` or `absent`
why: >
  TODO: what changed, in which release, and why that hurts. One or two sentences.
symptoms:                               # message: a regular expression, searched in the error's text
  - {symptom}
remedies:                               # best first; upgrade, downgrade, pin, install, uninstall, replace, set, change
  - {remedy}{todo}
references:
  - https://TODO.example/where-it-is-told
proof:                                  # real releases: `envdoctor rules verify` builds each cell and runs the script
  script: |
    {script}{todo}
  bad:                                  # the script fails here, and the rule matches
    - {{python: "{python}", packages: {{{bad}}}, raises: {raises}}}{todo}
  good:                                 # one cell just past each boundary that `when` names
    - {{python: "{python}", packages: {{{good}}}}}{todo}
    - {{python: "3.10", packages: {{{bad}}}}}{todo}
"""


_UNKNOWN = {
    "python": "3.11",
    "when": 'todo-distribution: "<2.0"',
    "symptom": '{raises: TypeError, message: "TODO: the words that only this error has"}',
    "remedy": "upgrade: todo-distribution>=2.0",
    "script": "import todo_distribution",
    "bad": 'todo-distribution: "1.9"',
    "good": 'todo-distribution: "2.0"',
    "raises": '"TypeError: TODO"',
    "todo": "",
}
#: The most distributions that a skeleton takes from a traceback.
_MOST = 3
_MESSAGE = 160


def skeleton(rule_id: str, seen: Mapping[str, Any] | None = None) -> str:
    """Return the text of a new rule's file, with what is known of a failure in its place.

    ``seen`` is what :func:`from_traceback` gives. Raises :class:`RuleError` where the id is not made of lower-case
    words joined by hyphens.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule_id):
        better = re.sub(r"[^a-z0-9]+", "-", rule_id.lower()).strip("-") or "name-of-the-cause"
        raise RuleError(
            f"a rule could not be named {rule_id!r}: ids are lower-case words joined by hyphens; try {better}"
        )
    return _TEMPLATE.format(id=rule_id, file=f"{rule_id}.yaml", **{**_UNKNOWN, **(seen or {})})


def from_traceback(error_text: Any, installed: Mapping[str, str | None]) -> dict[str, str]:
    """The last failure in a text: exception, message, frames, Python, and the distributions on its way.

    ``error_text`` is what ``probes.error_text.read`` gives; ``installed`` has the versions of the environment, for
    those that the text does not tell. Raises :class:`RuleError` where the text shows no failure.
    """
    failures = [one for one in error_text.failures if one.exception]
    if not failures:
        raise RuleError("the text shows no exception: give the traceback from its first line to the message")
    last = failures[-1]
    versions = {**{name: version for name, version in installed.items() if version}, **error_text.versions}
    found = {"python": error_text.python or _UNKNOWN["python"], "todo": "    # TODO: measure"}
    place = _innermost(last)
    found.update(_failure(last, place))
    named = [one for one in on_the_way(last, versions) if one in versions][:_MOST]
    if named:
        found.update(when=_versions(named, "<=", versions), remedy=f"upgrade: {named[0]}>=2.0")
        found["script"] = f"import {place or named[0].replace('-', '_')}"
        found["bad"] = found["good"] = _versions(named, "", versions)
    return found


def _versions(names: Sequence[str], sign: str, versions: Mapping[str, str]) -> str:
    return ", ".join(f'{one}: "{sign}{versions[one]}"' for one in names)


def _failure(failure: Any, place: str | None) -> dict[str, str]:
    """The symptom, and what a bad cell raises, by the last line of a failure."""
    name = failure.exception.rpartition(".")[2]
    message = " ".join(failure.message.split())[:_MESSAGE]
    inside = f", in: {place}" if place else ""
    pattern = quoted(re.escape(message).replace("\\ ", " ").replace("\\-", "-").replace("\\'", "'"))
    symptom = f"{{raises: {name}, message: {pattern}{inside}}}  # TODO: keep what is the same everywhere"
    return {"symptom": symptom, "raises": quoted(f"{name}: {message}".rstrip(": "))}


def _innermost(failure: Any) -> str | None:
    """The import name of the innermost installed frame."""
    modules = [frame.module for frame in failure.frames if frame.installed and frame.module]
    return modules[-1].partition(".")[0] if modules else None


def on_the_way(failure: Any, versions: Mapping[str, str]) -> list[str]:
    """The distributions that the frames and the message name, innermost first, as far as their names show it."""
    modules = [frame.module.partition(".")[0] for frame in reversed(failure.frames) if frame.installed and frame.module]
    words = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", failure.message)
    known = {re.sub(r"[-_.]+", "_", name).lower(): name for name in versions}
    return list(dict.fromkeys(known[word.lower()] for word in [*modules, *words] if word.lower() in known))


def quoted(text: str) -> str:
    """A text in double quotes, as YAML reads it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
