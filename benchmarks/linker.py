"""What `envdoctor check --link` finds in incidents and in healthy environments, each built and each error tried.

    python benchmarks/linker.py DIR [--cases CASES] [--healthy FILE ...] [--write docs/linker.md]

DIR keeps the environments (and those that are there already are used). CASES is a directory of incidents in YAML, FILE a
list of pins in JSON. Distributions are installed without their dependencies, and those in `--without` not at all.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import tool
import yaml

sys.path.insert(0, tool.CHECKOUT)

from envdoctor.authoring.proof import pythons
from envdoctor.authoring.syntax import load_vocabulary
from envdoctor.linker.conditions import Target
from envdoctor.linker.link import Linked, link
from envdoctor.probes.distributions import scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.linker.missing import Missing

SECONDS = 300
KINDS = {"bad": "environment", "good": "fixed_environment"}


def build(folder: str, python: str, pins: Mapping[str, str]) -> list[str]:
    """Make an environment with exactly these releases; what of them is not in it."""
    marker = os.path.join(folder, "done.json")
    if not os.path.exists(marker):
        known = pythons.find(python)
        if known is None:
            return [f"Python {python}"]
        subprocess.run([tool.uv(), "venv", "--quiet", "--python", known[1], folder], check=True)
        words = [f"{name}=={version}" for name, version in pins.items()]
        left = [] if _installs(folder, words) else [word for word in words if not _installs(folder, [word])]
        with open(marker, "w", encoding="utf-8") as file:
            json.dump({"python": python, "installed": pins, "dropped": left}, file)
    with open(marker, encoding="utf-8") as file:
        dropped: list[str] = json.load(file)["dropped"]
    return dropped


def _installs(folder: str, words: Sequence[str]) -> bool:
    line = [tool.uv(), "pip", "install", "--quiet", "--no-deps", "--python", folder, *words]
    try:
        return subprocess.run(line, check=False, capture_output=True, timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def look(folder: str) -> Linked:
    """What the linker says of an environment."""
    (site,) = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
    minor = os.path.basename(os.path.dirname(site))[len("python") :].split(".")
    target = Target((int(minor[0]), int(minor[1])))
    words = load_vocabulary(os.path.join(tool.CHECKOUT, "rules", "vocabulary.yaml"))
    return link(scan([site]).packages.values(), target, lambda _doing: None, vocabulary=words)


def normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def key(one: Missing) -> tuple[str, ...]:
    return (one.consumer, one.provider, one.kind, one.module, one.name, one.detail)


def confirmed(folder: str, one: Missing) -> bool:
    """Whether importing the module that an error is about fails in the environment, as the error says."""
    words = (one.name or one.detail or one.module).rpartition(".")[2], one.module
    return fails(folder, one.file, () if one.kind == "syntax" else words)


def fails(folder: str, file: str, words: Sequence[str]) -> bool:
    """Whether importing the module in a file fails in the environment; where words are given, with one of them."""
    _, _, inside = file.partition("site-packages" + os.sep)
    module = inside[: -len(".py")].replace(os.sep, ".").removesuffix(".__init__")
    python = os.path.join(folder, "bin", "python")
    try:
        done = subprocess.run(
            [python, "-c", f"import {module}"], check=False, capture_output=True, text=True, timeout=60
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode != 0 and (not words or any(word in done.stderr for word in words))


def incidents(folder: str, cases: str, without: Sequence[str]) -> list[dict[str, Any]]:
    """For each incident about versions whose two environments can be built: what was found."""
    rows = []
    for path in sorted(glob.glob(os.path.join(cases, "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            case = yaml.safe_load(file)
        if case["category"] != "version" or set(case["culprit"]) & set(without):
            continue
        row: dict[str, Any] = {"id": case["id"], "found": [], "false": 0}
        seen = {}
        for kind, name in KINDS.items():
            place = os.path.join(folder, "cases", f"{case['id']}.{kind}")
            told = {**case["environment"], **(case.get(name) or {})}
            pins = {one: str(version) for one, version in (told.get("packages") or {}).items() if one not in without}
            python = ".".join(str(told.get("python") or "3.10").split(".")[:2])
            if len(pins) == 0 or build(place, python, pins):
                break
            seen[kind] = [one for one in look(place).missing if one.severity in {"error", "warning"}]
        else:
            row.update(_judged(case, seen, os.path.join(folder, "cases", f"{case['id']}.good")))
            rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return rows


def _judged(case: Mapping[str, Any], seen: Mapping[str, Sequence[Missing]], good: str) -> dict[str, Any]:
    """Findings that are gone with the fix and name a culprit; errors of the fixed environment that import all the same."""
    culprits = {normal(name) for name in case["culprit"]}
    fixed = {key(one) for one in seen["good"]}
    found = [
        one for one in seen["bad"] if key(one) not in fixed and culprits & {one.consumer, one.provider or "python"}
    ]
    false = [one for one in seen["good"] if one.severity == "error" and not confirmed(good, one)]
    return {"found": sorted({f"{one.severity}: {one.asked}" for one in found})[:2], "false": len(false)}


def healthy(folder: str) -> dict[str, Any]:
    """What the linker says of a healthy environment, and how many of its errors imports confirm."""
    begin, before = time.monotonic(), _seconds()
    found = look(folder)
    errors = {key(one): one for one in found.missing if one.severity == "error"}
    (site,) = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
    return {
        "name": os.path.basename(folder),
        "distributions": len(scan([site]).packages),
        "modules": found.modules,
        "wall": time.monotonic() - begin,
        "cpu": _seconds() - before,
        "errors": len(errors),
        "confirmed": sum(confirmed(folder, one) for one in errors.values()),
        "warnings": len({key(one)[1:] for one in found.missing if one.severity == "warning"}),
        "reasons": Counter(found.unknown).most_common(5),
    }


def _seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def page(rows: Sequence[Mapping[str, Any]], sound: Sequence[Mapping[str, Any]]) -> str:
    """The page, from the figures alone."""
    hits = [row for row in rows if row["found"]]
    share = round(100 * len(hits) / len(rows)) if rows else 0
    told = (
        f"**Incidents** about versions whose broken and fixed environments could be built: {len(rows)}. Found by the linker "
        f"alone, with no rule: **{len(hits)}** ({share} %). Counted are errors and warnings that name a culprit and that "
        f"the fix removes. False errors on the fixed environments: **{sum(row['false'] for row in rows)}**."
    )
    lines = [
        "# What the linker finds", "",
        "Written by `benchmarks/linker.py` from runs. Nothing here is typed by hand.", "",
        told, "",
        "| incident | found |", "|---|---|",
        *(f"| {row['id']} | {'; '.join(row['found']) or 'no'} |" for row in rows), "",
        "**Healthy environments**, installed; each reported error was tried by importing its module.", "",
        "| environment | distributions | modules | errors | of these confirmed | warnings |", "|---|---|---|---|---|---|",
        *(
            f"| {one['name']} | {one['distributions']} | {one['modules']} | {one['errors']} | {one['confirmed']} | "
            f"{one['warnings']} |"
            for one in sound
        ),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the linker.")
    parser.add_argument("folder")
    parser.add_argument("--cases")
    parser.add_argument("--healthy", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--without", nargs="*", default=["torch", "tensorflow", "jaxlib", "bitsandbytes"])
    parser.add_argument("--write")
    options = parser.parse_args()
    rows = incidents(options.folder, options.cases, options.without) if options.cases else []
    sound = []
    for path in options.healthy:
        with open(path, encoding="utf-8") as file:
            pins = json.load(file)
        place = os.path.join(options.folder, "healthy", os.path.splitext(os.path.basename(path))[0])
        build(
            place, pins["python"], {name: one for name, one in pins["packages"].items() if name not in options.without}
        )
        sound.append(healthy(place))
        print(sound[-1], file=sys.stderr, flush=True)
    tool.put(page(rows, sound), options.write)


if __name__ == "__main__":
    main()
