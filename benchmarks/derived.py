"""What `explain --no-rules --online` derives of incidents about missing names, held against each incident's own fix.

    python benchmarks/derived.py CASES [--envdoctor COMMAND] [--instead REQUIREMENT] [--write docs/derived.md]

CASES is a directory of incidents, a YAML file each. Counted are those about versions whose text names something that
is missing, and whose own fix moves one of the two sides. Needs the index. Where an edge is tried, ``--instead`` names
a release to install in place of an incident's pin of the same distribution, such as a build without graphics cards.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any

import tool
import yaml
from linker import WITHOUT, build, is_left_out, normal
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.probes.releases import known_releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

MOVES = {"upgrade", "downgrade"}
SIDES = ("provider", "consumer")
MISSING = re.compile(
    r"cannot import name|has no attribute|No module named|unexpected keyword argument"
    r"|missing \d+ required|takes \d+ positional arguments?|(?:was|has been) (?:removed|moved)"
)


def moved(entries: Any) -> Iterator[tuple[str, str, str]]:
    """Verb, name and specifier of what a fix moves."""
    for entry in entries or ():
        for verb, text in entry.items():
            found = re.fullmatch(r"([\w.-]+)([<>=!~]=?[\w.*]+)", str(text).strip())
            if verb in MOVES and found:
                yield verb, normal(found[1]), found[2]


def first(specifier: str, releases: Sequence[str]) -> str:
    """The release at which a specifier turns, from in to out or from out to in."""
    form, version = re.fullmatch(r"([<>=!~]+)(.+)", specifier.partition(",")[0]).groups()
    beyond = SpecifierSet(f"{'>' if form in {'<=', '>'} else '>='}{version}", prereleases=False)
    return next((one for one in releases if one in beyond), "")


def same(stated: str, derived: str, releases: Sequence[str]) -> bool:
    """Whether two specifiers turn at the same release; one that names a single release must be in the other."""
    if stated.startswith("=="):
        return SpecifierSet(derived).contains(stated[2:], prereleases=True)
    return first(stated, releases) == first(derived, releases)


def wider(stated: str, derived: str, releases: Sequence[str]) -> bool:
    """Whether all releases that a fix admits are among those that the derived one admits."""
    kept, more = (SpecifierSet(text, prereleases=True) for text in (stated, derived))
    admitted = [one for one in releases if one in kept]
    return bool(admitted) and all(one in more for one in admitted)


def statement(case: Mapping[str, Any], *, provider: bool) -> list[str]:
    """The words behind Python of an incident's own command; for a provider's side else the import that its error is about."""
    said = re.match(r"(?i:python) (-c (?:'[^']*'|\"[^\"]*\"))", str(case.get("repro")))
    if said:
        return shlex.split(said[1])
    lacks = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", case["error"]) if provider else None
    return ["-c", f"from {lacks[2]} import {lacks[1]}"] if lacks else []


def installed(case: Mapping[str, Any], instead: str) -> dict[str, str]:
    """The pins of an incident, with one of them replaced, and then without what only works on graphics cards."""
    pins = {normal(one): str(version) for one, version in case["environment"]["packages"].items()}
    other, _, version = instead.partition("==")
    if other not in pins:
        return pins
    return {
        one: have for one, have in {**pins, other: version}.items() if one == other or not is_left_out(one, WITHOUT)
    }


def ran(case: Mapping[str, Any], name: str, words: Sequence[str], sides: Sequence[str], options: Any) -> str:
    """``yes`` where a command fails as an incident says, and passes with a release that only the derived side admits.

    ``sides`` are the stated and the derived specifier, and ``wider`` is said where it fails there too, or nothing of
    this can be run: releases are as they come, with what they require.
    """
    stated, derived, releases = *map(SpecifierSet, sides), _releases(name)
    admitted = [one for one in releases if one in derived and one not in stated]
    if not words or not admitted or name == "python":
        return "wider"
    release = admitted[0] if sides[1].startswith(">") else admitted[-1]
    environment = case["environment"]
    pins = installed(case, options.instead)
    minor = ".".join(str(environment["python"]).split(".")[:2])
    shown = [failure(minor, some, words) for some in (pins, {**pins, name: release})]
    message = case["error"].splitlines()[-1].partition(": ")[2][:60]
    return "yes" if message in shown[0] and not shown[1] else "wider"


def failure(minor: str, pins: Mapping[str, str], words: Sequence[str]) -> str:
    """What a command prints that fails in a new environment with these releases; empty where it passes."""
    with tempfile.TemporaryDirectory() as folder:
        build(folder, minor, {})
        fixed = [f"{one}=={version}" for one, version in pins.items()]
        line = [tool.uv(), "pip", "install", "--quiet", "--python", folder, *fixed]
        left = subprocess.run(line, check=False, capture_output=True).returncode
        command = [os.path.join(folder, "bin", "python"), *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        return str(left) if left else done.stderr if done.returncode else ""


def _releases(name: str) -> Sequence[str]:
    """The releases of a distribution, or the minor ones of Python, oldest first."""
    if name == "python":
        return [f"3.{minor}" for minor in range(6, 16)]
    return sorted(known_releases([name])[name] or (), key=Version)


def snapshot(case: Mapping[str, Any]) -> str:
    """The environment of an incident as a saved snapshot."""
    environment = case["environment"]
    packages = {normal(name): str(version) for name, version in environment["packages"].items()}
    return json.dumps({"schema": 1, "packages": packages, "python": {"version": str(environment["python"])}})


def explained(command: Sequence[str], case: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int, float]:
    """The findings, how many releases were read for them, and the seconds that took."""
    text = (case.get("traceback_hint") or "") + "\n" + case["error"]
    with tempfile.TemporaryDirectory() as cache:
        with open(os.path.join(cache, "facts.json"), "w", encoding="utf-8") as file:
            file.write(snapshot(case))
        words = ["explain", "-", "--no-rules", "--online", "--snapshot", file.name, "-f", "json"]
        began = time.monotonic()
        around: dict[str, Any] = {"env": {**os.environ, "XDG_CACHE_HOME": cache}, "input": text}
        done = subprocess.run([*command, *words], check=False, capture_output=True, text=True, **around)
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"{case['id']}: {done.stderr[-300:]}")
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings, len(re.findall(r"^envdoctor: reading ", done.stderr, re.MULTILINE)), time.monotonic() - began


def row(case: Mapping[str, Any], options: Any) -> dict[str, Any] | None:
    """What was derived of one incident, by side; nothing where its fix moves neither."""
    findings, read, seconds = explained(shlex.split(options.envdoctor), case)
    culprits = {normal(one) for one in case["culprit"]}
    found = next((one for one in findings if one["packages"] and culprits & {*one["packages"]}), None)
    sides = by_side(case, culprits, found, options)
    if not sides or (found is None and not MISSING.search(case["error"])):
        return None
    return {"id": case["id"], "read": read, "seconds": seconds, **sides}


def by_side(
    case: Mapping[str, Any], culprits: Container[str], found: Mapping[str, Any] | None, options: Any
) -> dict[str, Any]:
    """What was derived for the provider's side and for the consumer's, of those that the fix of an incident moves."""
    consumer = found.get("consumer") if found else None
    sides: dict[str, Any] = {}
    for verb, name, stated in moved(case["fix"]):
        side = "consumer" if name == consumer else "provider" if name in culprits else ""
        if not side or sides.get(side, {}).get("right") == "yes" or (side == "consumer" and verb == "downgrade"):
            continue
        sides[side] = compared(case, name, stated, found, options)
    return sides


def requirements(name: str, found: Mapping[str, Any]) -> list[str]:
    """What a finding asks of a distribution; nothing where its releases were not read."""
    asked = [one.get("requirement") or "" for one in found.get("remedies", ())]
    read = {one["fact"] for one in found.get("evidence", ())}
    known = name == "python" or f"history.{name}" in read
    return [one[len(name) :] for one in asked if known and re.match(rf"{re.escape(name)}[<>=]", one)]


def compared(
    case: Mapping[str, Any], name: str, stated: str, found: Mapping[str, Any] | None, options: Any
) -> dict[str, Any]:
    """What a fix states for one distribution beside what was derived for it."""
    releases, derived = _releases(name), requirements(name, found or {})
    verdicts = {"yes": same, "wider": wider}
    agreeing = [(said, one) for said, holds in verdicts.items() for one in derived if holds(stated, one, releases)]
    said, shown = (agreeing or [("no", (derived or ["?"])[0])])[0]
    words = statement(case, provider=bool(found and found.get("consumer") != name))
    tried = ran(case, name, words, (stated, shown), options) if said == "wider" else said
    return {"stated": name + stated, "derived": name + shown, "right": tried, "tried": tried != said}


def page(rows: Sequence[Mapping[str, Any]], commit: str, instead: str) -> str:
    """The page, from the figures alone."""
    said = "; ".join(_share(side, [one[side]["right"] for one in rows if side in one]) for side in SIDES)
    instead = f" (with {instead} in place of its own pin)" if instead else ""
    return f"""# Derived cures

Written by `benchmarks/derived.py` on {time.strftime("%Y-%m-%d")}, at {commit}, by `explain --no-rules --online` alone, from the text
and the environment of each incident; nothing here is typed by hand. An edge is right where it turns at the same
release as the incident's own fix, or where it admits more and the incident's own command, run here, fails as it says
and passes with a release that only the derived edge admits ("run"). An incident without a command is run as the
import that its error is about, for the provider's side{instead}. Where nothing could be run, or it fails there too, the edge
is wider: {said}.
The median incident took {sorted(one["read"] for one in rows)[len(rows) // 2]} releases and {sorted(one["seconds"] for one in rows)[len(rows) // 2]:.0f} s.

| incident | provider: its fix | derived | right | consumer: its fix | derived | right | releases read | s |
|---|---|---|---|---|---|---|--:|--:|
{chr(10).join(map(_line, rows))}
"""


def _share(side: str, answers: Sequence[str]) -> str:
    """How many of the edges that were derived for a side are right, and how many admit more."""
    right, wide, of = answers.count("yes"), answers.count("wider"), len(answers)
    return f"the {side}'s edge in {right} of {of} ({100 * right / of:.0f} %), and wider in {wide}"


def _line(incident: Mapping[str, Any]) -> str:
    """The row of the table for one incident."""
    cells = [incident["id"], *(cell for side in SIDES for cell in _cells(incident.get(side)))]
    return f"| {' | '.join(cells)} | {incident['read']} | {incident['seconds']:.0f} |"


def _cells(edge: Mapping[str, Any] | None) -> list[str]:
    """What the fix states, what was derived, and whether that is right; empty where the fix does not move a side."""
    if edge is None:
        return ["", "", ""]
    return [edge["stated"], edge["derived"], f"{edge['right']}{' (run)' if edge['tried'] else ''}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("--envdoctor", metavar="COMMAND", default=f"{sys.executable} -m envdoctor")
    parser.add_argument("--instead", metavar="REQUIREMENT", default="", help="NAME==VERSION, in place of a pin of NAME")
    parser.add_argument("--only", metavar="TEXT", default="", help="incidents whose name contains this")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_args()
    rows = []
    for path in sorted(glob.glob(os.path.join(options.cases, "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            case = yaml.safe_load(file)
        if case["category"] == "version" and MISSING.search(case["error"]) and options.only in case["id"]:
            found = row(case, options)
            rows += [found] if found else []
            print(found, file=sys.stderr, flush=True)
    commit = subprocess.getoutput(f"git -C {shlex.quote(tool.CHECKOUT)} rev-parse --short HEAD")
    tool.put(page(rows, commit, options.instead), options.write)


if __name__ == "__main__":
    main()
