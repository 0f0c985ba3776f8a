"""What `envdoctor check --link` finds in incidents and in healthy environments, each built and each report tried.

    python benchmarks/linker.py DIR [--cases CASES] [--healthy LISTS] [--write docs/linker.md]

DIR keeps the environments and what came of each (what is there already is used); `--sweep` removes each after its run.
What no trial can decide was read, or has a script that is run: `docs/linker-readings.yaml` says which, and
why. CASES is a directory of incidents in YAML, LISTS one of lists of pins in JSON: of each project the newest with at
least `--least` distributions, in alphabetical order the first `--most`, and the large environment of these benchmarks.
Distributions are installed from wheels and without their dependencies, and those in `--without` not at all.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from typing import Any

import tool
import yaml

sys.path.insert(0, tool.CHECKOUT)

from envdoctor.linker.branches import Target
from envdoctor.linker.link import Linked, link
from envdoctor.probes.distributions import scan
from envdoctor.rulebase.syntax import load_vocabulary
from envdoctor.workshop.proof import pythons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.linker.verdicts import Missing

#: Seconds for an installation, and for a trial.
SECONDS, TRIED = 900, 300
#: What a person read, or a script to run instead, for each report that no trial decides.
READINGS = os.path.join(tool.CHECKOUT, "docs", "linker-readings.yaml")
KINDS = {"bad": "environment", "good": "fixed_environment"}
#: Gigabytes of what runs on graphics cards, and what only works with it.
WITHOUT = (
    "torch", "torchvision", "torchaudio", "triton", "tensorflow", "tensorflow-*", "jaxlib", "jax-cuda*", "bitsandbytes",
    "nvidia-*", "cuda-*", "cupy-*", "xformers", "vllm", "flash-attn",
)  # fmt: skip
#: How the trial of a report ends: the name is there, it is missing, or that cannot be tried.
THERE, MISSING = 20, 21
VERDICTS = {THERE: "false", MISSING: "confirmed"}
#: Imports who asks, then walks to what is asked for, as the report says that nobody can.
TRIAL = """
import importlib, inspect, os, sys
asks, asked, kind, detail, file = sys.argv[1:]
def walk(words):
    thing = importlib.import_module(words[0])
    for at, word in enumerate(words[1:], 1):
        plain, owner = word.replace("()", ""), thing
        if not hasattr(thing, plain):
            importlib.import_module(".".join(words[:at + 1]))
        thing = getattr(thing, plain)
        if word.endswith("()"):
            try:
                thing = thing()
            except TypeError:  # what an object has is looked for in its class
                pass
    return thing, inspect.isclass(owner) and inspect.isfunction(thing)
def fits(thing, unbound):
    parameters = list(inspect.signature(thing, follow_wrapped=False).parameters.items())
    taken = dict(parameters[unbound:])
    kinds = [one.kind for one in taken.values()]
    if kind == "unknown":
        return detail in taken or inspect.Parameter.VAR_KEYWORD in kinds
    if kind == "many":
        return inspect.Parameter.VAR_POSITIONAL in kinds or sum(one < 2 for one in kinds) > int(detail)
    return detail not in taken or taken[detail].default is not inspect.Parameter.empty
def tried():
    if kind == "syntax":
        compile(open(file, "rb").read(), file, "exec")
        return True
    try:
        importlib.import_module(asks)
    except BaseException:
        pass
    found = walk(asked.split("."))
    return kind not in ("unknown", "many", "missing") or fits(*found)
try:
    there = tried()
except (ImportError, AttributeError, SyntaxError) as error:
    name = getattr(error, "name", None) or ""
    other = isinstance(error, ImportError) and kind != "broken" and name.split(".")[0] != asked.split(".")[0]
    os._exit(1 if other else MISSING)
os._exit(THERE if there else MISSING)
""".replace("THERE", str(THERE)).replace("MISSING", str(MISSING))


def kept(folder: str, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A row of the tables, from an earlier run of the same code that was interrupted, or a new one."""
    digest = hashlib.blake2b(digest_size=8)
    for path in [*sorted(glob.glob(os.path.join(tool.CHECKOUT, "envdoctor", "linker", "*.*"))), __file__, READINGS]:
        with open(path, "rb") as file:
            digest.update(file.read())
    place = os.path.join(folder, "rows", f"{name}-{digest.hexdigest()}.json")
    if not os.path.exists(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        text = json.dumps(make())
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    with open(place, encoding="utf-8") as file:
        row: dict[str, Any] = json.load(file)
    print(row, file=sys.stderr, flush=True)
    return row


def build(folder: str, python: str, pins: Mapping[str, str], *more: str) -> list[str]:
    """Make an environment with exactly these releases, ``more`` being words for uv; what of them is not in it."""
    marker = os.path.join(folder, "done.json")
    if not os.path.exists(marker):
        known = pythons.find(python)
        if known is None:
            return [f"Python {python}"]
        subprocess.run([tool.uv(), "venv", "--quiet", "--python", known[1], folder], check=True)
        words = [f"{name}=={version}" for name, version in pins.items()]
        left = _left(folder, words, more)
        with open(marker, "w", encoding="utf-8") as file:
            json.dump({"python": python, "installed": pins, "dropped": left}, file)
    with open(marker, encoding="utf-8") as file:
        dropped: list[str] = json.load(file)["dropped"]
    return dropped


def _left(folder: str, words: Sequence[str], more: Sequence[str]) -> list[str]:
    """What cannot be installed, by halves."""
    if _installs(folder, [*more, *words]):
        return []
    middle = len(words) // 2
    return [*_left(folder, words[:middle], more), *_left(folder, words[middle:], more)] if middle else list(words)


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
    if one.kind == "broken":
        words = (one.detail,)
    return fails(folder, one.file, () if one.kind == "syntax" else words)


def module_of(file: str) -> str:
    """The dotted name of a module's file."""
    _, _, inside = file.partition("site-packages" + os.sep)
    return inside[: -len(".py")].replace(os.sep, ".").removesuffix(".__init__")


def fails(folder: str, file: str, words: Sequence[str]) -> bool:
    """Whether importing the module in a file fails in the environment; where words are given, with one of them."""
    python = os.path.join(folder, "bin", "python")
    try:
        done = subprocess.run(
            [python, "-c", f"import {module_of(file)}"], check=False, capture_output=True, text=True, timeout=TRIED
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode != 0 and (not words or any(word in done.stderr for word in words))


def verdict(folder: str, one: Missing) -> str:
    """What a trial in the environment says of a warning: confirmed, false, or not tried."""
    done = None
    if one.kind != "override":
        done = _run(folder, TRIAL, module_of(one.file), one.asked, one.kind, one.detail, one.file)
    return VERDICTS.get(done.returncode, "not tried") if done else "not tried"


def read(folder: str, one: Missing, readings: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """What its script, or else its source, says of a warning that no trial decides; and why."""
    name = os.path.basename(folder)
    reading = next(
        (it for it in readings if _report(one).startswith(it["report"]) and name in it["environments"]), None
    )
    if reading is None:
        return "not tried", ""
    if "script" not in reading:
        return reading["verdict"], reading["why"]
    done = _run(folder, reading["script"])
    if done and done.returncode == 0:
        return "false", reading["why"]
    return "confirmed" if done and reading["raises"] in done.stderr.decode() else "not tried", reading["why"]


def _report(one: Missing) -> str:
    return f"{one.consumer} takes {one.asked} ({' '.join(filter(None, (one.kind, one.detail)))})"


def _run(folder: str, script: str, *words: str) -> subprocess.CompletedProcess[bytes] | None:
    line = [os.path.join(folder, "bin", "python"), "-c", script, *words]
    try:
        return subprocess.run(line, check=False, capture_output=True, cwd=folder, timeout=TRIED)
    except subprocess.TimeoutExpired:
        return None


def incidents(folder: str, cases: str, without: Sequence[str]) -> list[dict[str, Any]]:
    """For each incident about versions whose two environments can be built: what was found."""
    rows = []
    for path in sorted(glob.glob(os.path.join(cases, "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            case = yaml.safe_load(file)
        if case["category"] == "version" and not any(is_left_out(one, without) for one in case["culprit"]):
            rows.append(kept(folder, case["id"], functools.partial(incident, folder, case, without)))
    return [row for row in rows if row["built"]]


def incident(folder: str, case: Mapping[str, Any], without: Sequence[str]) -> dict[str, Any]:
    """What was found in one incident, and whether its two environments could be built."""
    seen = {}
    for kind, name in KINDS.items():
        place = os.path.join(folder, "cases", f"{case['id']}.{kind}")
        environment = {**case["environment"], **(case.get(name) or {})}
        packages = environment.get("packages") or {}
        pins = {one: str(version) for one, version in packages.items() if not is_left_out(one, without)}
        python = ".".join(str(environment.get("python") or "3.10").split(".")[:2])
        if len(pins) == 0 or build(place, python, pins):
            return {"id": case["id"], "found": [], "false": 0, "built": False}
        seen[kind] = [one for one in look(place).missing if one.severity in {"error", "warning"}]
    good = os.path.join(folder, "cases", f"{case['id']}.good")
    return {"id": case["id"], "built": True, **_judged(case, seen, good)}


def _judged(case: Mapping[str, Any], seen: Mapping[str, Sequence[Missing]], good: str) -> dict[str, Any]:
    """Findings that are gone with the fix and name a culprit; errors of the fixed environment that import all the same."""
    culprits = {normal(name) for name in case["culprit"]}
    fixed = {key(one) for one in seen["good"]}
    found = [
        one for one in seen["bad"] if key(one) not in fixed and culprits & {one.consumer, one.provider or "python"}
    ]
    false = [one for one in seen["good"] if one.severity == "error" and not confirmed(good, one)]
    return {"found": sorted({f"{one.severity}: {one.asked}" for one in found})[:2], "false": len(false)}


def is_left_out(name: str, without: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(normal(name), one) for one in without)


def chosen(folder: str, without: Sequence[str], least: int, most: int) -> dict[str, Any]:
    """Python and pins by name: of each project the newest list that is long enough, and the large environment."""
    newest: dict[str, Any] = {}
    for path in glob.glob(os.path.join(folder, "*.json")):
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8") as file:
            snapshot = json.load(file)
        pins = {one: release for one, release in snapshot["packages"].items() if not is_left_out(one, without)}
        if len(pins) >= least:
            project = name.rpartition("-")[0].lower() if name[-4:].isdigit() else name.lower()
            newest[project] = max(newest.get(project, ("",)), (name, snapshot["python"], pins))
    with open(os.path.join(tool.CHECKOUT, "benchmarks", "environments", "large.txt"), encoding="utf-8") as file:
        large = dict(line.strip().split("==") for line in file if "==" in line)
    first = [newest[project] for project in sorted(newest)[:most]]
    return {name: (python, pins) for name, python, pins in [*first, ("large", "3.11", large)]}


def healthy(folder: str, python: str, pins: Mapping[str, str], readings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the linker says of a healthy environment, and what trials and readings say of it."""
    dropped = build(folder, python, pins, "--no-build")
    found = look(folder)
    (site,) = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
    errors = {key(one): one for one in found.missing if one.severity == "error"}
    warned = {key(one)[1:]: one for one in found.missing if one.severity == "warning"}
    tried = [(one, "confirmed" if confirmed(folder, one) else "false", "") for one in errors.values()]
    for one in warned.values():
        said = verdict(folder, one)
        tried.append((one, *((said, "") if said != "not tried" else read(folder, one, readings))))
    return {
        "name": os.path.basename(folder),
        "python": os.path.basename(os.path.dirname(site))[len("python") :],
        "distributions": len(scan([site]).packages),
        "dropped": dropped,
        "modules": found.modules,
        "counts": Counter(f"{one.severity} {said}" for one, said, _ in tried),
        "judged": [(one.severity, said, why, _report(one), one.line) for one, said, why in tried],
        "reasons": Counter(found.unknown).most_common(5),
    }


def page(rows: Sequence[Mapping[str, Any]], sound: Sequence[Mapping[str, Any]]) -> str:
    """The page, from the figures alone."""
    hits = [row for row in rows if row["found"]]
    share = round(100 * len(hits) / len(rows)) if rows else 0
    incidents = (
        f"**Incidents** about versions whose broken and fixed environments could be built: {len(rows)}. Found by the linker "
        f"alone, with no rule: **{len(hits)}** ({share} %). Counted are errors and warnings that name a culprit and that "
        f"the fix removes. False errors on the fixed environments: **{sum(row['false'] for row in rows)}**."
    )
    lines = [
        "# What the linker finds", "",
        "Written by `benchmarks/linker.py` from runs. Nothing here is typed by hand.", "",
        incidents, "",
        "| incident | found |", "|---|---|",
        *(f"| {row['id']} | {'; '.join(row['found']) or 'no'} |" for row in rows), "",
        *_of_healthy(sound),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


_COLUMNS = ("error confirmed", "error false", "warning confirmed", "warning false", "warning not tried")


def _of_healthy(sound: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tables of the healthy environments: counts, and each report that a trial did not confirm."""
    rows = [
        f"| {one['name']} | {one['python']} | {one['distributions']} | {len(one['dropped'])} | {one['modules']} | "
        + " | ".join(str(one["counts"].get(column, 0)) for column in _COLUMNS) + " |"
        for one in sound
    ]  # fmt: skip
    total = [sum(one["counts"].get(column, 0) for one in sound) for column in _COLUMNS]
    most = max((one["counts"].get("warning false", 0) for one in sound), default=0)
    doubtful = [
        f"| {one['name']} | {severity} {said} | {report} | {why} |"
        for one in sound
        for severity, said, why, report, _ in one["judged"]
        if said != "confirmed" or why
    ]
    return [
        "**Healthy environments**: of each project the newest list of pins that is long enough, in alphabetical order, and the",
        "large environment of these benchmarks; installed from wheels, releases without a wheel left out. Each error was tried by",
        "importing the module that asks; each warning by importing who asks, then walking to what is asked for (a name) or",
        "holding the call against the signature. A name that is really missing where nothing guards it is a true warning, and so",
        "is a call that the distribution of a base class makes and an override cannot take. What no trial decides was tried by a",
        "script of its own, or read in the source (`linker-readings.yaml`).", "",
        f"False errors: **{total[1]}**. False warnings: **{total[3]}** in {len(sound)} environments, and at most {most} in one.", "",
        f"Not decided: {total[4]}.", "",
        "| environment | Python | distributions | left out | modules | errors, confirmed | false | warnings, confirmed | false | not tried |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *rows, "",
        "What a trial did not confirm, and what was confirmed in another way:", "",
        "| environment | verdict | report | why |", "|---|---|---|---|",
        *doubtful,
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the linker.")
    parser.add_argument("folder")
    parser.add_argument("--cases")
    parser.add_argument("--healthy", metavar="LISTS")
    parser.add_argument("--without", nargs="*", default=WITHOUT)
    parser.add_argument("--least", type=int, default=100)
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--write")
    options = parser.parse_args()
    rows = incidents(options.folder, options.cases, options.without) if options.cases else []
    lists = chosen(options.healthy, options.without, options.least, options.most) if options.healthy else {}
    sound = []
    with open(READINGS, encoding="utf-8") as file:
        readings = yaml.safe_load(file)
    for name, (python, pins) in lists.items():
        place = os.path.join(options.folder, "healthy", name)
        sound.append(kept(options.folder, name, functools.partial(healthy, place, python, pins, readings)))
        if options.sweep:
            shutil.rmtree(place, ignore_errors=True)
    tool.put(page(rows, sound), options.write)


if __name__ == "__main__":
    main()
