"""What the installed command finds in incidents that nobody has tuned on, each in its real environment.

    python benchmarks/first_sight.py DIR --cases tests/first_sight/2026-11 [--write docs/first-sight.md]
    python benchmarks/first_sight.py DIR --cases tests/first_sight/healthy [--write docs/first-sight.md]

DIR keeps one pair of environments for each job. envdoctor is this checkout's wheel, or --envdoctor COMMAND. Healthy lists
are judged by their pins, and nothing is built.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tool
import yaml
from linker import KINDS, build, fails, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Found = dict[str, Any]
#: By culprit that is no distribution, the kinds of fact that name it where no distribution is to blame.
FACTS = {
    "python": {"python"},
    "platform": {"platform", "marker", "system"},
    "start_method": {"start_method", "source"},
    "code": {"source", "module"},
    "config": {"config", "env", "system"},
    "artifact": {"artifact"},
    "system": {"system", "module", "env", "marker", "platform", "packages"},
}
ASKED = 3
DRAWS = os.path.join(tool.CHECKOUT, "tests", "first_sight")
RUNS = os.path.join(DRAWS, "runs.jsonl")


def names(found: Found, case: Mapping[str, Any]) -> bool:
    """Whether a finding names a culprit, and all that are installed; where none is a distribution, one of the facts."""
    packages = {normal(one) for one in found["packages"]}
    wanted = {normal(one) for one in case["culprit"] if one not in FACTS}
    installed = {normal(one) for one in case["environment"]["packages"]}
    if not wanted:
        facts = {*found.get("facts", ()), *(one["fact"].partition(".")[0] for one in found["evidence"])}
        return any(FACTS[one] & facts for one in case["culprit"])
    return bool(packages & wanted) and wanted & installed <= packages


def key(found: Found) -> tuple[str, str]:
    """The rule, and for the linker's findings what is taken."""
    linked = found["rule"].startswith("linked-")
    return found["rule"], found["evidence"][0]["value"].split()[-1] if linked else ""


class Trial:
    """One incident: its environments, its project, and the command that examines them."""

    def __init__(self, path: str, folder: str, envdoctor: str) -> None:
        with open(path, encoding="utf-8") as file:
            self.case = yaml.safe_load(file)
        self.folder, self.command = os.path.join(folder, self.case["id"]), shlex.split(envdoctor)
        self.project = os.path.join(self.folder, "project")
        self.counted = self.case["category"] == "version" or "files" in self.case

    def measured(self) -> dict[str, Any]:
        """The row of the incident; nothing of it stays on the disk."""
        self._lay_out()
        row: dict[str, Any] = {"id": self.case["id"], "category": self.case["category"], "left": {}, "errors": []}
        seen = {kind: self._seen(kind, name, row) for kind, name in KINDS.items() if self.case.get(name)}
        found = self._found(seen["bad"] or ([], []), seen.get("good") or ([], []))
        row["by"] = [who for who in found if found[who]] or ["no"] if self.counted else ["not asked"]
        row["as"] = ", ".join(sorted({one["rule"] for some in found.values() for one in some}))
        row["explain"] = self._explained("--python", os.path.join(self.folder, "bad")) if seen["bad"] else "not built"
        row["blind"] = self._explained("--no-target")
        shutil.rmtree(self.folder)
        print(row, file=sys.stderr, flush=True)
        return row

    def _lay_out(self) -> None:
        """Write the project; of an incident about versions it is empty."""
        os.makedirs(self.project)
        for name, text in self.case.get("files", {}).items() if self.case["category"] != "version" else ():
            os.makedirs(os.path.dirname(os.path.join(self.project, name)), exist_ok=True)
            with open(os.path.join(self.project, name), "w", encoding="utf-8") as file:
                file.write(text)

    def _seen(self, kind: str, name: str, row: dict[str, Any]) -> tuple[list[Found], list[Found]] | None:
        """What rules say of an environment, and what they and the linker say of it together."""
        environment, place = self.case[name], os.path.join(self.folder, kind)
        pins = {one: str(version) for one, version in environment["packages"].items()}
        row["left"][name] = build(place, ".".join(str(environment["python"]).split(".")[:2]), pins)
        if not os.path.isdir(place) or not self.counted:
            return ([], []) if os.path.isdir(place) else None
        words = ["check", "--python", place, "--fail-on", "never"]
        words += ["--start-method", environment["start_method"]] if "start_method" in environment else []
        words += ["--project", "."] if self.case["category"] != "version" else []
        both = self._run(*words, "--link")
        if kind == "good":
            row["errors"] = [self._tried(place, one) for one in both if one["severity"] == "error"]
        return self._run(*words), both

    def _run(self, *words: str, text: str = "") -> list[Found]:
        around: dict[str, Any] = {"cwd": self.project, "env": {**os.environ, "XDG_CACHE_HOME": self.folder + "/cache"}}
        line = [*self.command, *words, "-f", "json"]
        done = subprocess.run(line, input=text, check=False, capture_output=True, text=True, **around)
        crash = {"rule": "crash", "severity": "error", "title": done.stderr[-200:], "packages": [], "evidence": []}
        findings: list[Found] = json.loads(done.stdout)["findings"] if done.returncode in {0, 1} else [crash]
        return findings

    def _found(self, bad: Sequence[list[Found]], good: Sequence[list[Found]]) -> dict[str, list[Found]]:
        """By finder, what names the culprits and is gone with the fix. Evidence that rules do not have is the linker's."""
        still = set(map(key, self._naming(good[1])))
        gone = [one for one in self._naming(bad[1]) if one["severity"] != "info" and key(one) not in still]
        known = [evidence for one in bad[0] for evidence in one["evidence"]]
        linked = [one for one in gone if any(evidence not in known for evidence in one["evidence"])]
        return {"rules": [one for one in gone if not key(one)[1]], "linker": linked}

    def _naming(self, found: Iterable[Found]) -> list[Found]:
        """The findings that name the culprits."""
        return [one for one in found if names(one, self.case)]

    def _tried(self, place: str, found: Found) -> tuple[str, str]:
        """An error on the fixed environment, and what importing the module that it names shows."""
        said = f"{found['rule']}: {found['title']}".replace("|", " ")
        for one in found["evidence"]:
            file, _, _line = one["source"].rpartition(":")
            if file.endswith(".py") and "site-packages" in file:
                module, _, name = one["value"].split()[-1].rpartition(".")
                words = () if found["rule"] == "linked-syntax" else (name, module or name)
                return said, "confirmed" if fails(place, file, words) else "false"
        return said, "names no module"

    def _explained(self, *words: str) -> str:
        """Which of the first findings names the culprits: a rule's, one that was derived from the text, or none."""
        text = (self.case.get("traceback_hint") or "") + "\n" + self.case["error"]
        findings = self._run("explain", "-", *words, text=text)[:ASKED]
        first = next((one["rule"] for one in findings if names(one, self.case)), "no")
        return "derived" if first.startswith("derived-") else first


def healthy(path: str, envdoctor: str) -> dict[str, Any]:
    """What is found, at error and at warning level, in the pins of a lock file whose project works."""
    with open(path, encoding="utf-8") as file:
        listed = json.load(file)
    with tempfile.TemporaryDirectory() as folder:  # not here, where there is a project to look at
        with open(os.path.join(folder, "pins.txt"), "w", encoding="utf-8") as pins:
            pins.writelines(f"{name}=={version}\n" for name, version in listed["packages"].items())
        words = ["check", "-r", "pins.txt", "--python-version", listed["python"], "-f", "json", "--fail-on", "never"]
        done = subprocess.run([envdoctor, *words], capture_output=True, text=True, check=True, cwd=folder)
    found = [[one["severity"], one["rule"]] for one in json.loads(done.stdout)["findings"] if one["severity"] != "info"]
    return {"id": os.path.basename(path).removesuffix(".json"), "packages": len(listed["packages"]), "found": found}


def lists(runs: Sequence[Mapping[str, Any]]) -> str:
    """The runs on healthy lists, and what the latest found with the verdict of whoever ran it."""
    classes = _classes("healthy")
    cells = [
        [
            run["date"],
            run["commit"],
            str(len(run["rows"])),
            *(str(_flagged(run, level)) for level in ("error", "warning")),
        ]
        for run in runs
    ]
    found = [
        (row["id"], *one, classes.get(f"{row['id']} {one[1]}", "")) for row in runs[-1]["rows"] for one in row["found"]
    ]
    return f"""## Healthy lists

Pins of published lock files of projects that work, of 60 distributions and more each (`tests/first_sight/healthy`).
What is found is judged by installing and running it (`healthy-misses.yaml`).

| date | commit | lists | with an error | with a warning |
|---|---|--:|--:|--:|
{_lines(cells)}

| list | as | rule | running it says |
|---|---|---|---|
{_lines(found)}
"""


def _flagged(run: Mapping[str, Any], level: str) -> int:
    return sum(any(one[0] == level for one in row["found"]) for row in run["rows"])


def share(values: Iterable[bool]) -> str:
    flags = list(values)
    return f"{sum(flags)} of {len(flags)} ({sum(flags) / max(len(flags), 1):.0%})"


def _lines(cells: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(one)} |" for one in cells)


def _found_by(who: str | None, rows: Iterable[Mapping[str, Any]]) -> str:
    """How many of the incidents that were asked are found by `who`, or by anything."""
    return share(row["by"] != ["no"] if who is None else who in row["by"] for row in rows if row["by"] != ["not asked"])


def figures(run: Mapping[str, Any]) -> list[str]:
    """One run as a line of the table of all runs."""
    rows = run["rows"]
    versions = [row for row in rows if row["category"] == "version"]
    projects = [row for row in rows if row["category"] != "version"]
    built = [row["explain"] != "no" for row in rows if row["explain"] != "not built"]
    false = sum(error[1] == "false" for row in rows for error in row["errors"])
    found = [_found_by(who, versions) for who in ("rules", "linker", None)] + [_found_by(None, projects)]
    blind = share(row["blind"] != "no" for row in rows)
    return [run["draw"], run["date"], run["commit"], *found, share(built), blind, str(false)]


def details(run: Mapping[str, Any]) -> str:
    """Each incident of a run, what was not built, and what was reported where the fix is in place."""
    rows, classes = run["rows"], _classes(run["draw"])
    errors = [(row["id"], *error) for row in rows for error in row["errors"]]
    asked = (("check", "by"), ("explain", "explain"), ("the text alone", "blind"))
    missed = [(row["id"], [one for one, of in asked if row[of] in ("no", ["no"])]) for row in rows]
    return f"""## {run["draw"]}

| incident | kind | found by | as | explain | by the text alone |
|---|---|---|---|---|---|
{_lines([row["id"], row["category"], " and ".join(row["by"]), row["as"], row["explain"], row["blind"]] for row in rows)}

| error on a fixed environment | as | importing the module that it names |
|---|---|---|
{_lines(errors)}

| incident | environment | not built |
|---|---|---|
{_lines([row["id"], kind, ", ".join(left)] for row in rows for kind, left in row["left"].items() if left)}

| missed | by | class |
|---|---|---|
{_lines([one, ", ".join(by), classes.get(one, "")] for one, by in missed if by)}
"""


def _classes(draw: str) -> dict[str, str]:
    """By incident, what people said its class is: `misses.yaml` beside the draw."""
    path = os.path.join(DRAWS, f"{draw}-misses.yaml")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        classes: dict[str, str] = yaml.safe_load(file)
    return classes


def page(runs: Sequence[Mapping[str, Any]]) -> str:
    """The page: a line for every run there was, and the details of each draw's latest."""
    of_lists = [run for run in runs if run["draw"] == "healthy"]
    runs = [run for run in runs if run["draw"] != "healthy"]
    latest = {run["draw"]: run for run in runs}
    return f"""# First sight

Written by `benchmarks/first_sight.py` from its runs (`tests/first_sight/runs.jsonl`) on the draws of `tests/first_sight`;
nothing here is typed by hand but the classes of what is missed (`<draw>-misses.yaml`). The first line of a draw is its
first sight: nothing was changed between looking and scoring. Later lines say what came of working on it.

Found is a warning or an error of `envdoctor check --link` on the built environment that names every distribution to
blame that is installed, and that is gone with the fix. `explain` has to name them among its first {ASKED}.

| draw | date | commit | versions: rules | linker | together | with project files | explain | by the text alone | false errors |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|
{_lines(figures(run) for run in runs)}

{lists(of_lists) + chr(10) if of_lists else ""}{chr(10).join(details(run) for run in latest.values())}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--cases", required=True, metavar="DIR")
    parser.add_argument("--envdoctor", metavar="COMMAND")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", metavar="FILE", help="adds the run to those on record, and writes the page of all")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    command = options.envdoctor or tool.install(os.path.join(folder, "tool"))
    commit = subprocess.getoutput(f"git -C {shlex.quote(tool.CHECKOUT)} rev-parse --short HEAD")
    with ThreadPoolExecutor(options.jobs) as pool:
        lists_of_pins = sorted(glob.glob(os.path.join(options.cases, "*.json")))
        trials = [Trial(path, folder, command) for path in sorted(glob.glob(os.path.join(options.cases, "*.yaml")))]
        rows = [*pool.map(Trial.measured, trials), *pool.map(lambda path: healthy(path, command), lists_of_pins)]
    draw = os.path.basename(os.path.abspath(options.cases))
    run = {"draw": draw, "date": time.strftime("%Y-%m-%d"), "commit": commit, "rows": rows}
    if options.write:
        with open(RUNS, "a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")
    with open(RUNS, encoding="utf-8") as file:
        runs = [json.loads(line) for line in file] if options.write else [run]
    tool.put(page(runs), options.write)


if __name__ == "__main__":
    main()
