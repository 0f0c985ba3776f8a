"""What a run of envdoctor costs, as ratios to `uv pip check` and `pip check` in the same session.

    python benchmarks/run.py [--write docs/performance.md] [--rounds 3]

Needs uv on PATH or in this environment. It builds a wheel of this checkout, an environment for it,
four environments of real distributions (benchmarks/environments) and five of generated ones; a directory for them can
be kept with --keep DIR.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import synthetic
import tool

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(HERE)
sys.path.insert(0, CHECKOUT)

from envdoctor.rulebase.compile import compile_rule, pack  # noqa: E402 - from this checkout
from envdoctor.rulebase.rule import Rule  # noqa: E402
from envdoctor.rulebase.sources import files_below  # noqa: E402
from envdoctor.rulebase.syntax import load_vocabulary, read_files  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZES = ("small", "medium", "large")
#: The large environment without these, which many of the others require: about 160 requirements are not met.
SICK = ("protobuf", "google-auth", "grpcio", "rich")
RULES = (100, 1_000, 10_000, 100_000)
#: Environments of generated distributions: how many, and how many of their requirements are not met.
GENERATED = ((500, 0), (4_000, 0), (500, 160), (4_000, 1_280), (1, 20_000))


def call(*words: str) -> None:
    """Run a command that has to succeed."""
    print("$", " ".join(words), file=sys.stderr)
    subprocess.run(words, check=True, stdout=sys.stderr)


def build(directory: str) -> tuple[str, str]:
    """Make the environments; return two ``envdoctor`` commands, one of which may be given other rules."""
    commands = [tool.install(os.path.join(directory, name)) for name in ("tool", "other-rules")]
    for size in SIZES:
        _installed(os.path.join(directory, size), size)
    if not os.path.exists(os.path.join(directory, "sick")):
        _installed(os.path.join(directory, "sick"), "large")
        call(tool.uv(), "pip", "uninstall", "--quiet", "--python", os.path.join(directory, "sick"), *SICK)
    for distributions, unmet in GENERATED:
        synthetic.environment(_generated(directory, distributions, unmet), distributions, unmet)
    return commands[0], commands[1]


def _installed(environment: str, size: str) -> None:
    """Make an environment of the distributions that a list names, unless it is there."""
    if not os.path.exists(environment):
        call(tool.uv(), "venv", "--quiet", "--seed", "--python", sys.executable, environment)
        listed = os.path.join(HERE, "environments", size + ".txt")
        call(tool.uv(), "pip", "install", "--quiet", "--no-deps", "--python", environment, "-r", listed)


def _generated(directory: str, distributions: int, unmet: int) -> str:
    return os.path.join(directory, f"generated-{distributions}-{unmet}")


def names_in(environment: str) -> list[str]:
    """The distributions of an environment, by the names of their metadata directories."""
    version = "python{}.{}".format(*sys.version_info)
    entries = os.listdir(os.path.join(environment, "lib", version, "site-packages"))
    names = [name.rpartition("-")[0] for name in entries if name.endswith(".dist-info")]
    return sorted(name.lower().replace("_", "-").replace(".", "-") for name in names)


def generated(number: int, installed: Sequence[str]) -> bytes:
    """A rule base of so many rules, none of which holds.

    Each names two distributions. They are drawn from the installed ones and from as many others as there are rules,
    with the weights of a Zipf distribution, so that popular names have many rules and most have one. The shipped rules
    about installed metadata come on top, so that requirements are held against what is installed.
    """
    random.seed(number)
    names = [*installed, *(f"generated-{index}" for index in range(number))]
    random.shuffle(names)
    weights = [1 / (rank + 1) for rank in range(len(names))]
    duties = files_below(os.path.join(CHECKOUT, "rules", "installed"))
    words = load_vocabulary(os.path.join(CHECKOUT, "rules", "vocabulary.yaml"))
    rules = [compile_rule(rule, words) for rule in read_files(duties, words)[0]]
    for index, pair in enumerate(zip(*(random.choices(names, weights, k=number) for _ in range(2)))):
        rules.append(compile_rule(_rule(index, pair), {}))
    return pack(rules, str(number))


def _rule(index: int, pair: Sequence[str]) -> Rule:
    low = random.randint(100, 200)
    return Rule(
        id=f"generated-{index}",
        title=f"{pair[0]} {low} changed what {pair[1]} needs",
        severity="error",
        impact="crash",
        when={"python": ">=3.8", "packages": {pair[0]: f">={low},<{low + 3}", pair[1]: f"<{low}.5"}},
        why="A sentence of the usual length that tells what was changed, in which release, and why that hurts. " * 2,
        symptoms=[{"raises": "ImportError", "message": f"cannot import name 'thing_{index}'"}],
        remedies=[{"kind": "upgrade", "requirement": f"{pair[0]}>={low + 3}", "safety": "safe", "at": "run"}],
        references=[f"https://example.org/{index}"],
        proof={},
        consumers={},
        status="",
        path="generated",
        lines={},
    )


def measure(commands: Mapping[str, Sequence[str]], environment: str, rounds: int) -> dict[str, float]:
    """Seconds of each command, the lower quartile of ten runs a round.

    The commands take turns, run by run, so that a slow moment hits all of them. Those of pip run once a round.
    """
    taken: dict[str, list[float]] = {name: [] for name in commands}
    variables = {**os.environ, "VIRTUAL_ENV": environment}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    for turn in range(-2, 10 * rounds):
        for name, words in commands.items():
            if "-m" in words and turn % 10:
                continue
            start = time.perf_counter()
            os.waitpid(os.posix_spawnp(words[0], words, variables, file_actions=nothing), 0)
            if turn >= 0:
                taken[name].append(time.perf_counter() - start)
    return {name: statistics.quantiles(times)[0] for name, times in taken.items()}


def first_run(envdoctor: str, environment: str, rounds: int) -> float:
    """Seconds, lower quartile, of a run that nothing has been remembered for."""
    taken = []
    for _ in range(2 * rounds):
        with tempfile.TemporaryDirectory() as cache:
            variables = {**os.environ, "VIRTUAL_ENV": environment, "XDG_CACHE_HOME": cache}
            start = time.perf_counter()
            subprocess.run([envdoctor], check=False, env=variables, stdout=subprocess.DEVNULL)
            taken.append(time.perf_counter() - start)
    return statistics.quantiles(taken)[0]


def sick(envdoctor: str, environment: str, rounds: int) -> dict[str, float]:
    """Seconds of a check that finds much, in text and as JSON, and how many requirements ``uv pip check`` misses."""
    commands = {
        "uv pip check": [tool.uv(), "pip", "check"],
        "envdoctor": [envdoctor],
        "envdoctor --all": [envdoctor, "--all"],
        "envdoctor -f json": [envdoctor, "-f", "json"],
    }
    variables = {**os.environ, "VIRTUAL_ENV": environment}
    words = commands["uv pip check"]
    done = subprocess.run(words, check=False, env=variables, capture_output=True, text=True)
    return {**measure(commands, environment, rounds), "unmet": float(done.stderr.count("\nThe package "))}


def scale(envdoctor: str, directory: str, rounds: int) -> list[dict[str, float]]:
    """What a check of each of the generated environments takes: seconds, those of ``uv pip check``, and MiB."""
    rows = []
    for distributions, unmet in GENERATED:
        environment = _generated(directory, distributions, unmet)
        commands = {"envdoctor": [envdoctor], "uv": [tool.uv(), "pip", "check"]}
        taken = measure(commands, environment, rounds if distributions > 1 else 1)
        rows.append({**taken, "distributions": distributions, "unmet": unmet, "memory": peak([envdoctor], environment)})
    return rows


def peak(words: Sequence[str], environment: str) -> float:
    """Peak memory of a command in MiB. A small process starts it: a child's peak begins with that of its parent."""
    program = (
        "import os, sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); "
        "print(os.wait4(pid, 0)[2].ru_maxrss, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, *words],
        env={**os.environ, "VIRTUAL_ENV": environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stderr) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def run(directory: str, rounds: int) -> dict[str, Any]:
    """All figures."""
    shipped, envdoctor = build(directory)
    python = os.path.join(os.path.dirname(envdoctor), "python")
    (index,) = [
        os.path.join(folder, "rules.idx") for folder, _, names in os.walk(os.path.dirname(os.path.dirname(envdoctor))) if "rules.idx" in names
    ]  # fmt: skip
    environments = {size: os.path.join(directory, size) for size in SIZES}
    installed = names_in(environments["large"])
    figures: dict[str, Any] = {"distributions": {size: len(names_in(path)) for size, path in environments.items()}}
    figures.update({kind: {} for kind in ("sizes", "first", "rules", "memory")})
    _put(index, generated(1_000, installed))
    for size, environment in environments.items():
        commands = {
            "bare python": [python, "-I", "-c", "pass"],
            "envdoctor": [envdoctor],
            "envdoctor, its own rules": [shipped],
            "envdoctor --fail-on warning": [envdoctor, "--fail-on", "warning"],
            "uv pip check": [tool.uv(), "pip", "check"],
            "pip check": [os.path.join(environment, "bin", "python"), "-m", "pip", "check"],
        }
        figures["sizes"][size] = measure(commands, environment, rounds)
        figures["first"][size] = first_run(envdoctor, environment, rounds)
    figures["sick"] = sick(shipped, os.path.join(directory, "sick"), rounds)
    figures["scale"] = scale(shipped, directory, rounds)
    for number in RULES:
        _put(index, generated(number, installed))
        commands = {"envdoctor": [envdoctor]}
        figures["rules"][str(number)] = measure(commands, environments["large"], rounds)["envdoctor"]
        figures["memory"][str(number)] = peak([envdoctor], environments["large"])
    return figures


def _put(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def page(figures: Mapping[str, Any]) -> str:
    """The figures as a page of the documentation."""
    uv = subprocess.check_output([tool.uv(), "--version"], text=True).split()[1]
    where = (
        f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"uv {uv}"
    )
    names = list(figures["sizes"]["small"])
    lines = [
        "# Performance", "",
        "Made by `python benchmarks/run.py --write docs/performance.md`; do not edit. Whole processes, warm cache, lower quartiles.",
        f"{where}. Trust the ratios, not the milliseconds.", "",
        "## Against pip and uv", "",
        "1,000 generated rules, or its own; an active environment; everything is included, the requirement check too.",
        "What the metadata files of 100 distributions or more say is remembered; `first run` is one without that.",
        "", "| environment | distributions | " + " | ".join(f"`{name}`" for name in names)
        + " | first run | envdoctor ÷ uv | its own rules ÷ uv | ms more with an option |",
        "|---|--:|" + "--:|" * (len(names) + 4),
    ]  # fmt: skip
    for size, taken in figures["sizes"].items():
        cells = " | ".join(f"{taken[name] * 1000:.1f}" for name in names)
        ratio, own = (taken[name] / taken["uv pip check"] for name in ("envdoctor", "envdoctor, its own rules"))
        more = (taken["envdoctor --fail-on warning"] - taken["envdoctor"]) * 1000
        first = figures["first"][size] * 1000
        count = figures["distributions"][size]
        lines.append(f"| {size} | {count} | {cells} | {first:.1f} | {ratio:.2f} | {own:.2f} | {more:.1f} |")
    lines += [*_where_much_is_wrong(figures["sick"]), *_by_size(figures["scale"])]
    base = figures["rules"]["1000"]
    lines += ["", "## By the number of rules", "", "The large environment.", "",
              "| rules | ms | ÷ 1,000 rules | peak memory, MiB |", "|--:|--:|--:|--:|"]  # fmt: skip
    for number, seconds in figures["rules"].items():
        memory = figures["memory"][number]
        lines.append(f"| {int(number):,} | {seconds * 1000:.1f} | {seconds / base:.2f} | {memory:.0f} |")
    lines += [
        "",
        "All of it in an empty directory. What a project around costs, where a rule asks, is in [project.md](project.md).",
    ]
    return "\n".join(lines) + "\n"


def _where_much_is_wrong(taken: Mapping[str, float]) -> list[str]:
    uv = taken["uv pip check"]
    return [
        "", "## Where much is wrong", "",
        f"The large environment without {', '.join(SICK)}: {taken['unmet']:.0f} requirements are not met. With its own rules.",
        "", "| | ms | ÷ uv |", "|---|--:|--:|",
        *(f"| `{name}` | {seconds * 1000:.1f} | {seconds / uv:.2f} |" for name, seconds in taken.items() if name != "unmet"),
    ]  # fmt: skip


def _by_size(rows: Sequence[Mapping[str, float]]) -> list[str]:
    """The table of the generated environments; the first of as many unmet requirements for each is the measure."""
    lines = [
        "", "## By the size of the environment", "",
        "Generated distributions that have metadata and no other files. With its own rules.",
        "", "| distributions | requirements not met | ms | µs for each | ÷ for each of 500 | ÷ uv | peak memory, MiB |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    measures: dict[float, float] = {}
    for row in rows:
        each = row["envdoctor"] / row["distributions"]
        base = measures.setdefault(row["unmet"] / row["distributions"], each)
        cells = (
            f"{row['distributions']:,}", f"{row['unmet']:,}", f"{row['envdoctor'] * 1000:,.1f}", f"{each * 1e6:,.0f}",
            f"{each / base:.2f}" if row["distributions"] > 1 else "", f"{row['envdoctor'] / row['uv']:.2f}", f"{row['memory']:.0f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure, print, and perhaps write the page."""
    parser = argparse.ArgumentParser(description="Measure envdoctor against uv pip check and pip check.")
    parser.add_argument("--write", metavar="FILE", help="write the page here as well")
    parser.add_argument("--keep", metavar="DIR", help="keep the environments in this directory")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    for name in ("write", "keep"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    os.chdir(tempfile.mkdtemp(prefix="envdoctor-nowhere-"))  # no project is around: the environment alone is measured
    directory = os.path.abspath(options.keep) if options.keep else tempfile.mkdtemp()
    try:
        text = page(run(directory, options.rounds))
    finally:
        if not options.keep:
            shutil.rmtree(directory)
    tool.put(text, options.write)


if __name__ == "__main__":
    main()
