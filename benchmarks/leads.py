"""What came of leads: pairs of releases that packagers of other channels keep apart, installed, linked and imported.

    python benchmarks/leads.py DIR [--candidates CANDIDATES] [--spack PACKAGES] [--write docs/leads.md] [--seconds N]

CANDIDATES is what `envdoctor rules import` wrote, PACKAGES the directory of package recipes in a checkout of Spack's
packages: its `conflicts`, and what its recipes bound from above. Of each lead the newest releases that it keeps apart
are installed from wheels, with what they require; then the consumer is imported, `envdoctor` is asked, and the linker
about the two.
DIR keeps what came of each, so that the command goes on where it was; what is heavy is left out.
"""

from __future__ import annotations

import argparse
import ast
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from typing import Any, NamedTuple

import tool
import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

sys.path.insert(0, tool.CHECKOUT)

from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan
from envdoctor.probes.releases import configuration, files
from envdoctor.rulebase.syntax import load_vocabulary
from envdoctor.workshop.proof import pythons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What takes gigabytes, and what only builds others.
HEAVY = ("torch", "tensorflow", "jaxlib", "jax", "ray", "pyspark", "triton", "vtk", "torchvision", "torchaudio")
BUILDING = {"setuptools", "pip", "wheel", "cython", "pybind11", "setuptools-scm", "poetry-core", "hatchling", "flit-core",
            "meson-python", "versioneer", "pytest-runner", "python"}  # fmt: skip
SECONDS = 120
#: Modules that Python, or setuptools, no longer has: whoever imports one does not want a distribution.
GONE = {"distutils", "imp", "asyncore", "asynchat", "pkg_resources"}
#: The states of a lead that somebody has to look at.
SEEN = ("the linker finds it", "the import fails")
MINORS = ("3.12", "3.11", "3.10", "3.9", "3.8", "3.7", "3.13")
IMPORT = """
import importlib, importlib.metadata as metadata, sys, traceback
files = [str(one) for one in metadata.distribution(sys.argv[1]).files or ()]
tops = sorted({one.split("/")[0].removesuffix(".py") for one in files if one.endswith(".py") and ".." not in one})
aside = {"tests", "test", "docs", "doc", "examples", "benchmarks", "scripts", "setup", "conftest", "tools"}
for top in [one for one in tops if one.isidentifier() and one[:1] != "_" and one not in aside][:6]:
    try:
        importlib.import_module(top)
    except BaseException as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}")
        traceback.print_exc()
        break
"""


class Lead(NamedTuple):
    """Two distributions with the releases that are kept apart, and who says so."""

    consumer: str
    releases: str
    provider: str
    other: str
    source: str


def imported(folder: str) -> Iterator[Lead]:
    """The leads of candidates, each about two distributions."""
    for path in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            rule = yaml.safe_load(file)
        packages = rule["when"].get("packages", {})
        if len(packages) == len(("consumer", "provider")):
            (consumer, releases), (provider, other) = packages.items()
            yield Lead(consumer, _some(releases), provider, _some(other), "conda-forge")


def _some(releases: object) -> str:
    return "" if releases == "present" else str(releases)


_ASKED = re.compile(r'(depends_on|conflicts)\(\s*"\^?py-([\w-]+)@([^"+~% ]+)"([^)]*)\)')
_WHEN = re.compile(r'when="@([^"+~%^ ]+)"')


def of_spack(folder: str) -> Iterator[Lead]:
    """The leads of recipes: what conflicts, and what is newer than a recipe takes."""
    for path in sorted(glob.glob(os.path.join(folder, "py_*", "package.py"))):
        name = os.path.basename(os.path.dirname(path))[3:].replace("_", "-")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for kind, provider, versions, rest in _ASKED.findall(text):
            when = _WHEN.search(rest)
            if "when=" in rest and when is None:
                continue
            apart = _range(versions) if kind == "conflicts" else _above(versions)
            if apart and provider not in BUILDING:
                yield Lead(name, _range(when[1]) if when else "", provider, apart, "Spack")


def _range(versions: str) -> str:
    """A range of Spack as a specifier: its upper end is a prefix; of several ranges none."""
    low, colon, high = versions.partition(":")
    if "," in versions:
        return ""
    if not colon:
        return f"=={low}.*"
    return ",".join([*([f">={low}"] if low else []), *([f"<{_next(high)}"] if high else [])])


def _above(versions: str) -> str:
    """What is newer than a range of Spack."""
    high = versions.rpartition(":")[2]
    return f">={_next(high)}" if ":" in versions and high[:1].isdigit() else ""


def _next(version: str) -> str:
    """The first version that does not begin with one."""
    *first, last = version.split(".")
    return ".".join([*first, str(int(last) + 1)]) if last.isdigit() else version


class Index:
    """The wheels of distributions, by release."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Version, list[Mapping[str, Any]]]] = {}

    def newest(self, name: str, releases: str, python: str) -> str:
        """The newest release of a range with a wheel for a Python; empty for none."""
        if name not in self._known:
            self._known[name] = self._wheels(name)
        some = SpecifierSet(releases).filter(sorted(self._known[name], reverse=True))
        return next((str(one) for one in some if any(_takes(file, python) for file in self._known[name][one])), "")

    @staticmethod
    def _wheels(name: str) -> dict[Version, list[Mapping[str, Any]]]:
        found: dict[Version, list[Mapping[str, Any]]] = {}
        for file in files(f"{configuration().urls[0].rstrip('/')}/{name}/") or ():
            try:
                version = parse_wheel_filename(file["filename"])[1] if not file.get("yanked") else None
            except (InvalidWheelFilename, InvalidVersion):
                continue
            if version is not None and not version.is_prerelease:
                found.setdefault(version, []).append(file)
        return found


def _takes(file: Mapping[str, Any], python: str) -> bool:
    """Whether a wheel may be for a Python on this kind of machine."""
    short = "cp" + python.replace(".", "")
    try:
        is_for = f"{python}.0" in SpecifierSet(file.get("requires-python") or "")
    except InvalidSpecifier:
        return False
    return is_for and any(
        (one.interpreter in {"py3", short} or one.abi == "abi3")
        and ("any" in one.platform or ("linux" in one.platform and "x86_64" in one.platform))
        for one in parse_wheel_filename(file["filename"])[3]
    )


def run(words: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str] | None:
    """A finished command; nothing where it took too long."""
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, **more)
    except subprocess.TimeoutExpired:
        return None


def tried(lead: Lead, index: Index, place: str) -> dict[str, Any]:
    """What comes of a lead."""
    try:
        some = ((one, index.newest(lead.consumer, lead.releases, one)) for one in MINORS)
        pairs = [(one, own, index.newest(lead.provider, lead.other, one)) for one, own in some if own]
    except InvalidSpecifier:
        return {"state": "no releases"}
    python, own, other = next((one for one in pairs if one[2]), ("", "", ""))
    interpreter = pythons.find(python) if python else None
    if interpreter is None:
        return {"state": "no releases"}
    row = {"python": python, "pins": [f"{lead.consumer}=={own}", f"{lead.provider}=={other}"]}
    shutil.rmtree(place, ignore_errors=True)
    run([tool.uv(), "venv", "-q", "--python", interpreter[1], place])
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    heavy = os.path.join(os.path.dirname(place), "heavy.txt")
    with open(heavy, "w", encoding="utf-8") as file:
        file.writelines(f"{one}<0\n" for one in HEAVY)
    # setuptools as it was before 82, which is a cause of its own
    words = ["pip", "install", "-q", "--no-build", "-c", heavy, "--python", place, "setuptools<81", *row["pins"]]
    installed = run([tool.uv(), *words], env=environment)
    if installed is None or installed.returncode:
        said = installed.stderr if installed else ""
        is_declared = "depends on" in said and f"{lead.provider}" in said and "no usable wheels" not in said
        return {**row, "state": "the metadata says so" if is_declared else "not installable"}
    python_there = os.path.join(place, "bin", "python")
    asked = run([python_there, "-c", IMPORT, lead.consumer], env=environment, cwd=os.path.dirname(place))
    row["error"] = asked.stdout.strip() if asked else ""
    empty = os.path.join(os.path.dirname(place), "empty")
    os.makedirs(empty, exist_ok=True)
    there = {"env": {**environment, "PYTHONPATH": tool.CHECKOUT}, "cwd": empty}
    found = findings("check", python_there, **there)
    row["rules"] = sorted({one["rule"] for one in found if _is_about(one, lead)})
    explained = findings("explain", python_there, "-", input=asked.stderr, **there) if asked and row["error"] else []
    row["explained"] = sorted({one["rule"] for one in explained} & {one["rule"] for one in found})
    row["linked"] = linked(place, lead, python)
    return {**row, "state": _state(row)}


def findings(command: str, python: str, *words: str, **more: Any) -> list[dict[str, Any]]:
    """What a command of envdoctor finds in an environment."""
    told = run([sys.executable, "-m", "envdoctor", command, "--python", python, "-f", "json", *words], **more)
    return json.loads(told.stdout)["findings"] if told and told.stdout else []


_ABSENT = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")


def _state(row: Mapping[str, Any]) -> str:
    """What came of a lead that was installed."""
    absent = _ABSENT.match(row["error"])
    if row["rules"]:
        return "a rule knows it"
    if row["explained"]:
        return "a rule knows another cause"
    if row["linked"]:
        return "the linker finds it"
    if absent and absent[1] not in sys.stdlib_module_names | GONE:
        return "the consumer imports what it does not require"
    return "the import fails" if row["error"] else "nothing was seen"


def linked(place: str, lead: Lead, python: str) -> list[str]:
    """What the consumer takes of the provider that it does not have; of the others that are installed nothing is read."""
    (site,) = glob.glob(os.path.join(place, "lib", "python3*", "site-packages"))
    pair = [one for one in scan([site]).packages.values() if one.name in (lead.consumer, lead.provider)]
    major, minor = map(int, python.split("."))
    words = load_vocabulary(os.path.join(tool.CHECKOUT, "rules", "vocabulary.yaml"))
    missing = link(pair, Target((major, minor), "linux"), lambda _doing: None, vocabulary=words).missing
    return [
        f"{one.severity}: {one.asked} ({one.kind})"
        for one in missing
        if one.severity in {"error", "warning"} and (one.consumer, one.provider) == (lead.consumer, lead.provider)
    ][:5]


def _is_about(finding: Mapping[str, Any], lead: Lead) -> bool:
    text = json.dumps(finding)
    return all(re.search(rf"\b{re.escape(name)}\b", text) for name in (lead.consumer, lead.provider))


def page(rows: Mapping[str, Mapping[str, Any]], looked_at: Mapping[str, str]) -> str:
    """The page, from what came of the leads, and what somebody who looked found."""
    lines = [
        "# What came of leads", "",
        "Written by `benchmarks/leads.py` from runs. A lead is two distributions with the releases that packagers of another",
        "channel keep apart. The newest of these were installed from wheels with what they require; the consumer was imported, and",
        "rules and the linker were asked about the two. *Nothing was seen* says that the import works and the linker finds",
        "nothing: it is no proof that they work together. *A rule knows another cause* says that the import fails by something",
        "that a rule explains, and that is not about the two. What takes gigabytes, and what only builds others, was left out.", "",
        "| | conda-forge | Spack |", "|---|--:|--:|",
    ]  # fmt: skip
    counts = Counter((row["state"], row["source"]) for row in rows.values())
    states = sorted(
        {state for state, _ in counts}, key=lambda one: -sum(counts[one, by] for by in ("conda-forge", "Spack"))
    )
    lines += [f"| {state} | {counts[state, 'conda-forge']} | {counts[state, 'Spack']} |" for state in states]
    lines += [
        "", "Those of which something was seen, and that no rule is about, were looked at one by one. What was found is kept in",
        "`docs/leads.yaml`: why no rule is about the two, or what stands in the way of one.", "",
        "| lead | pins | Python | what was seen | what was found |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for key, row in sorted(rows.items()):
        if row["state"] in SEEN or key in looked_at:
            seen = "; ".join([*dict.fromkeys(row["linked"][:2]), *_last(row["error"])])
            cells = [key, " ".join(row["pins"]), row["python"], seen, looked_at.get(key, "nobody has looked")]
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _last(printed: str) -> list[str]:
    """The last line that an import printed, which is its exception, without the paths in it."""
    lines = [line for line in printed.splitlines() if line.strip()]
    return [re.sub(r"\s*\(?[\w.-]*(/[\w.+-]+){2,}\)?", "", line) for line in lines[-1:]]


def main() -> None:
    """Try what was not tried before, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--candidates")
    parser.add_argument("--spack")
    parser.add_argument("--write")
    parser.add_argument("--again", action="store_true", help="try those again of which something was seen")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--part", type=ast.literal_eval, default=(0, 1), help="only every n-th lead: (at, n)")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    leads = [*(imported(options.candidates) if options.candidates else ())]
    leads += of_spack(options.spack) if options.spack else ()
    leads = [one for one in dict.fromkeys(leads) if not {one.consumer, one.provider} & {*HEAVY}]
    random.Random(1).shuffle(leads)
    leads.sort(key=lambda one: one.source, reverse=True)
    at, parts = options.part
    index, rows, began = Index(), _kept(options.folder), time.monotonic()
    seen = {key for key, row in rows.items() if options.again and row["state"] in SEEN}
    for number, lead in enumerate(leads):
        key = f"{lead.consumer} {lead.releases} with {lead.provider} {lead.other}"
        if number % parts == at and (key not in rows or key in seen) and time.monotonic() - began < options.seconds:
            place = os.path.join(options.folder, f"place{at}")
            row = {"key": key, "source": lead.source, "at": time.time(), **tried(lead, index, place)}
            with open(os.path.join(options.folder, f"rows{at}.jsonl"), "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            sys.stderr.write(f"{number} of {len(leads)}: {key}: {row['state']}\n")
    with open(os.path.join(tool.CHECKOUT, "docs", "leads.yaml"), encoding="utf-8") as file:
        looked_at = yaml.safe_load(file)
    tool.put(page(_kept(options.folder), looked_at), options.write)


def _kept(folder: str) -> dict[str, dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in glob.glob(os.path.join(folder, "rows*.jsonl")):
        with open(path, encoding="utf-8") as file:
            rows += map(json.loads, file)
    return {row["key"]: row for row in sorted(rows, key=lambda row: row.get("at", 0))}


if __name__ == "__main__":
    main()
