"""``envdoctor bisect``: which of the releases that differ make a command fail."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor

from envdoctor.commands.given import add_described, examined
from envdoctor.commands.options import parser_for, parted
from envdoctor.commands.output import say, write
from envdoctor.errors import UsageError
from envdoctor.probes.error_text import read as read_error
from envdoctor.workshop import bisecting, skeleton
from envdoctor.workshop.narrowing import FAILS, PASSES, UNRESOLVED, smallest, units
from envdoctor.workshop.proof import build, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from envdoctor.workshop.bisecting import Sides, TrialResult

    Trial = Callable[[Sides, Collection[str]], TrialResult]

#: So many lines of a program become the script of a proof, and so many distributions its cells.
_LONGEST, _MOST = 40, 3
_EXAMPLES = """\
examples:
  envdoctor bisect works/.venv broken/.venv -- python -m pytest -x tests/test_io.py
  envdoctor bisect main/uv.lock uv.lock --python-version 3.12 -- python app.py
  envdoctor bisect old.json new.json -o rules/ -- python -c 'import app'

GOOD and BAD are what `envdoctor diff` takes; both are built anew, and so are environments between them, in the cache
directory, from which each is removed after its trial. A run fails as in BAD where exit status and exception, or last
line, are the same. Releases that require each other are moved together; what cannot be installed is stepped around.

Exit status: 0 the culprits were found, 1 they were not: the command fails in GOOD, or not in BAD.
"""


def run(words: Sequence[str]) -> int:
    """``envdoctor bisect``."""
    parser = parser_for(
        "bisect",
        "Find the smallest set of releases that makes a command fail: environments between one in which it works and\n"
        "one in which it fails are built with uv, and the command is run in each. Drafts the rule.",
        _EXAMPLES,
    )
    parser.add_argument("good", metavar="GOOD", help="an environment in which the command works")
    parser.add_argument("bad", metavar="BAD", help="one in which it fails")
    add_described(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="trials at a time: fewer rounds, more trials")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="of one run (default: 600)")
    parser.add_argument("-o", "--output", metavar="PATH", help="write the drafted rule to a file or a directory")
    words, command = parted(words)
    options = parser.parse_args(words)
    if not command:
        parser.error("bisect needs a command: envdoctor bisect GOOD BAD -- COMMAND")
    made = bisecting.sides(examined(options.good, options), examined(options.bad, options))
    build.uv()  # raises where there is none; what looks for it is no work for several threads at once
    build.sweep()
    try:
        with processes.stoppable():
            result = found(made, lambda one, moved: bisecting.run(one, moved, command, options.timeout), options.jobs)
    except processes.StoppedError as stopped:
        raise KeyboardInterrupt from stopped
    if result is None:
        return 1
    culprits, failure, trials = result
    write(_said(made, culprits, trials))
    _draft(made, culprits, failure, command, options.output)
    return 0


def found(made: Sides, trial: Trial, jobs: int = 1) -> tuple[list[tuple[str, ...]], TrialResult, int] | None:
    """The culprits, how the command fails, and the number of trials; ``None`` where it does not tell good from bad.

    Each trial, and why there is nothing to look for, is said on stderr.
    """
    everything = frozenset(made.bad)
    with ThreadPoolExecutor(max(jobs, min(os.cpu_count() or 1, 2))) as pool:
        good, bad = pool.map(lambda moved: trial(made, moved), (frozenset(), everything))
        for name, one, wanted in (("GOOD", good, PASSES), ("BAD", bad, FAILS)):
            if one.verdict != wanted:
                say(f"envdoctor: {_unexpected(name, one)}")
                return None
        say(f"envdoctor: the command works in GOOD and fails in BAD: {bad.failure()[1]}")
        seen = {frozenset(): PASSES, everything: FAILS}

        def judge(sets: Sequence[frozenset[str]]) -> list[str]:
            new = [one for one in sets if one not in seen]
            for moved, one in zip(new, pool.map(lambda moved: trial(made, moved), new)):
                alike = one.verdict != FAILS or one.failure() == bad.failure()
                seen[moved] = one.verdict if alike else UNRESOLVED
                aside = "" if alike else f": {one.failure()[1] or 'it says nothing'}"
                how = f"{len(moved)} of {len(everything)} differences as in BAD: {seen[moved]}{aside or one.reason}"
                say(f"envdoctor: trial {len(seen)}, {how}")
            return [seen[one] for one in sets]

        order = units(made.needs, _named(made, bad))
        return smallest(order, made.needs, judge, jobs), bad, len(seen)


def _unexpected(name: str, one: TrialResult) -> str:
    """Why there is nothing to look for."""
    if one.verdict == UNRESOLVED:
        return f"{name} cannot be built anew: {one.reason}"
    if one.verdict == FAILS:
        return f"the command fails in GOOD, too: {one.failure()[1] or 'it says nothing'}"
    return "the command works in BAD as it is built anew: no release makes it fail, but what else differs"


def _named(made: Sides, bad: TrialResult) -> set[str]:
    """What differs and is named by the failure: it is tried first."""
    words = {word.lower() for word in re.findall(r"\w+", bad.said)}
    return {name for name in made.bad if name.replace("-", "_") in words and name != bisecting.PYTHON}


def _said(made: Sides, culprits: Sequence[Sequence[str]], trials: int) -> str:
    lines = [f"found in {trials} trials: what makes the command fail is"]
    named = [name for names in culprits for name in names]
    width = max(map(len, named))
    for names in culprits:
        for place, name in enumerate(names):
            remark = "  (these need each other, or could not be told apart)" if len(names) > 1 and not place else ""
            lines.append(f"  {name:{width}}  {made.good[name] or '-'} -> {made.bad[name] or '-'}{remark}")
    order = set().union(*(made.needs[name] for name in named)) - set(named)
    if order:
        lines.append(f"moved with it, as its metadata asks: {', '.join(sorted(order))}")
    return "\n".join(lines) + "\n"


def _draft(
    made: Sides, culprits: Sequence[Sequence[str]], bad: TrialResult, command: Sequence[str], output: str | None
) -> None:
    """Write the beginning of a rule, or print it."""
    names = [name for names in culprits for name in names]
    packages = [name for name in names if name != bisecting.PYTHON][:_MOST]
    if not packages:
        return
    seen, beside = _failing(made, bad, packages)
    seen.update(_cells(made, packages, beside), **_script(command))
    series = str(made.after.python.get("version") or "3.11").split(".")[:2]
    seen.update(python=".".join(series), todo="    # TODO: measure")
    rule = _id(packages, made.bad[packages[0]] or "absent")
    text = skeleton.skeleton(rule, seen)
    write(text if output else f"\n{text}", output and _new_file(output, rule))


def _new_file(output: str, rule: str) -> str:
    """The file that a rule is written to. Raises :class:`UsageError` where it exists."""
    path = os.path.join(output, f"{rule}.yaml") if os.path.isdir(output) else output
    if os.path.exists(path):
        raise UsageError(f"{path} exists already: give another -o PATH, or remove it first")
    return path


def _id(packages: Sequence[str], version: str) -> str:
    """The id of a rule about a release of the first distribution together with the others."""
    release = re.sub(r"[^a-z0-9]+", "", version.lower())
    return f"{packages[0]}{release}-{'-'.join(packages[1:]) or 'breaks'}"


def _failing(made: Sides, bad: TrialResult, packages: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What the failure says for a draft, and the releases of other distributions on its way."""
    error_text = read_error(re.sub(r" \([^()\n]*[/\\][^()\n]*\)$", "", bad.said, flags=re.MULTILINE))
    versions = {name: one.version for name, one in made.at(made.bad).items() if one.version}
    failures = [one for one in error_text.failures if one.exception]
    if not failures:
        return {"script": f"import {packages[0].replace('-', '_')}"}, {}
    beside = [name for name in skeleton.on_the_way(failures[-1], versions) if name not in packages]
    seen = {"script": f"import {packages[0].replace('-', '_')}", **skeleton.from_traceback(error_text, versions)}
    return seen, {name: versions[name] for name in beside[:_MOST]}


def _cells(made: Sides, packages: Sequence[str], beside: Mapping[str, str]) -> Mapping[str, str]:
    """The condition, both cells and the remedy of the culprits, and of what else is on the way of the failure."""

    def stated(side: Mapping[str, str | None], sign: str) -> str:
        versions = {**{name: side[name] for name in packages}, **beside}
        return ", ".join(f'{name}: "{sign}{one}"' if one else f"{name}: absent" for name, one in versions.items())

    first, good = packages[0], made.good[packages[0]]
    remedy = f"downgrade: {first}<={good}" if good else f"uninstall: {first}"
    cells = {"bad": stated(made.bad, ""), "good": stated(made.good, "")}
    return {"when": stated(made.bad, "=="), "remedy": remedy, **cells}


def _script(command: Sequence[str]) -> dict[str, str]:
    """The source of a Python command, as the proof has it, where it is short."""
    text = ""
    if command[1:2] == ["-c"]:
        text = "".join(command[2:3])
    elif command[1:] and command[1].endswith(".py") and os.path.isfile(command[1]):
        with open(command[1], encoding="utf-8", errors="replace") as file:
            text = file.read()
    lines = text.strip().splitlines()
    return {"script": "\n    ".join(lines)} if 0 < len(lines) <= _LONGEST else {}
