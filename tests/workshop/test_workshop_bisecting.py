"""``envdoctor bisect``: planted culprits among many differing releases, found in real environments of tiny wheels."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile

import pytest
from conftest import environment, new_cache, run, run_envdoctor

from envdoctor.targets import snapshot_file
from envdoctor.workshop import bisecting, narrowing
from envdoctor.workshop.commands import bisect

pytestmark = pytest.mark.trials

NAMES = [f"part{number:03}" for number in range(100)]
_LOT = random.Random(19)
#: Ten sets of one to three culprits, the last releases among them, which take longest to be found.
PLANTED = [_LOT.sample(NAMES, 1 + number % 3) for number in range(9)] + [NAMES[-3:]]


def needs_of(*pairs):
    return {name: {other for one, other in pairs if one == name} for name in NAMES}


def searched(bad, needs=None, broken=lambda _: False, jobs=1):
    """The culprits of a search, and how many sets were judged: it fails where all of ``bad`` are moved."""
    needs = needs or needs_of()
    judged = {}

    def judge(sets):
        for moved in sets:
            fits = not broken(moved) and all(needs[name] <= moved for name in moved)
            verdict = narrowing.FAILS if set(bad) <= moved else narrowing.PASSES
            judged[moved] = verdict if fits else narrowing.UNRESOLVED
        return [judged[moved] for moved in sets]

    judge([frozenset(), frozenset(NAMES)])
    return narrowing.smallest(narrowing.units(needs), needs, judge, jobs), len(judged)


def test_any_three_of_a_hundred_take_no_more():
    lot = random.Random(3)
    assert max(searched(lot.sample(NAMES, 3))[1] for _ in range(200)) <= 25


def test_releases_that_require_each_other_are_one_culprit_and_what_one_requires_moves_with_it():
    twins = needs_of((NAMES[7], NAMES[93]), (NAMES[93], NAMES[7]))
    assert searched([NAMES[7]], twins)[0] == [(NAMES[7], NAMES[93])]

    one_way = needs_of((NAMES[7], NAMES[93]), (NAMES[93], NAMES[50]))
    assert searched([NAMES[7]], one_way)[0] == [(NAMES[7],)]
    assert searched([NAMES[50], NAMES[7]], one_way)[0] == [(NAMES[7],)]  # it cannot be moved alone
    assert searched([NAMES[93]], one_way)[0] == [(NAMES[93],)]


def test_what_cannot_be_built_is_stepped_around():
    def refused(moved):
        return (NAMES[40] in moved) != (NAMES[60] in moved)  # which no metadata says

    assert searched([NAMES[10]], broken=refused)[0] == [(NAMES[10],)]
    found, trials = searched([NAMES[50]], broken=refused)
    assert NAMES[50] in found[0]
    assert found == [tuple(NAMES[40:61])]  # all between: none of them could be told apart
    assert trials < 50


def test_several_at_a_time_find_the_same():
    assert all(sorted(searched(bad, jobs=3)[0]) == sorted((name,) for name in bad) for bad in PLANTED)


@pytest.fixture(scope="module")
def wheels(shared):
    """Two releases of each part; the second says so, and of one also what it requires."""
    from small_environments import wheel

    def make(folder):
        folder.mkdir()
        for name in NAMES:
            for version in ("1.0", "2.0"):
                more = ["Requires-Dist: part001>=2"] if (name, version) == ("part002", "2.0") else []
                wheel(folder, name, version, {f"{name}/__init__.py": f"version = {version!r}\n"}, *more)

    return shared("parts", make)


def snapshot(folder, name, version, names=NAMES):
    path = folder / f"{name}.json"
    python = {"version": "{}.{}.{}".format(*sys.version_info[:3]), "executable": sys.executable}
    requires = {"part002": ["part001>=2"]} if version == "2.0" else {}
    facts = {"python": python, "packages": dict.fromkeys(names, version), "requirements": requires}
    path.write_text(json.dumps(facts))
    return path


def command(bad):
    """A program that fails where the second releases of some parts come together."""
    modules = ", ".join(bad)
    second = " and ".join(f"{name}.version == '2.0'" for name in bad)
    return ["python", "-c", f"import {modules}\nif {second}: raise TypeError('they do not go together')"]


def bisected(folder, wheels, bad, names, *words):
    good, late = (snapshot(folder, *side, names) for side in (("good", "1.0"), ("bad", "2.0")))
    around = environment(UV_FIND_LINKS=str(wheels), UV_NO_INDEX="1", XDG_CACHE_HOME=new_cache(folder / "cache"))
    return run_envdoctor("bisect", good, late, *words, "--", *command(bad), cwd=folder, env=around)


@pytest.fixture(scope="module")
def unpacked(wheels, shared):
    """Each release in a separate directory."""

    def make(folder):
        for path in wheels.glob("*.whl"):
            zipfile.ZipFile(path).extractall(folder / "-".join(path.name.split("-")[:2]))

    return shared("unpacked", make)


@pytest.mark.parametrize("bad", PLANTED, ids=" ".join)
def test_planted_culprits_are_found_in_25_trials(bad, unpacked, tmp_path):
    """The releases of each trial are linked together, which takes less than an installer does."""
    numbers = itertools.count()

    def trial(made, moved):
        site = tmp_path / str(next(numbers))
        site.mkdir()
        for name, one in made.at(moved).items():
            (site / name).symlink_to(unpacked / f"{name}-{one.version}" / name)
        program = f"import sys; sys.path.insert(0, {str(site)!r})\n{command(bad)[2]}"
        done = run(sys.executable, "-I", "-S", "-c", program)
        verdict = narrowing.FAILS if done.returncode else narrowing.PASSES
        return bisecting.TrialResult(verdict=verdict, status=done.returncode, said=done.stderr)

    good, late = (snapshot(tmp_path, *side) for side in (("good", "1.0"), ("bad", "2.0")))
    made = bisecting.sides(*(snapshot_file.snapshot_of(str(path)) for path in (good, late)))
    culprits, failure, trials = bisect.found(made, trial)

    assert sorted(culprits) == sorted((name,) for name in bad)
    assert failure.failure() == (1, "TypeError: they do not go together")
    assert trials == next(numbers) <= 25


def left(folder):
    """What is left in the directory where trials are built."""
    lab = folder / "cache" / "envdoctor" / "lab"
    return list(lab.iterdir()) if lab.is_dir() else []


def test_environments_are_built_and_a_rule_is_drafted(wheels, tmp_path):
    bad = ["part002", "part005"]
    done = bisected(tmp_path, wheels, bad, NAMES[:8], "-o", "draft.yaml")

    assert done.returncode == 0, done.stderr
    assert "  part005  1.0 -> 2.0\n" in done.stdout
    assert "  part002  1.0 -> 2.0\nmoved with it, as its metadata asks: part001\n" in done.stdout
    assert "fails in BAD: TypeError: they do not go together" in done.stderr
    assert left(tmp_path) == []
    text = (tmp_path / "draft.yaml").read_text()
    assert 'part005: "==2.0"' in text
    assert '{raises: TypeError, message: "they do not go together"}' in text
    assert "raise TypeError('they do not go together')" in text
    from envdoctor.workshop.lint import lint

    complaints = [one.message for one in lint([str(tmp_path / "draft.yaml")])]
    assert not [one for one in complaints if "YAML" in one], complaints


def test_a_command_that_does_not_tell_good_from_bad_is_status_1(wheels, tmp_path):
    done = bisected(tmp_path, wheels, ["part001"], NAMES[3:5])
    assert done.returncode == 1
    assert "the command fails in GOOD, too: ModuleNotFoundError: No module named 'part001'" in done.stderr


def test_an_interruption_leaves_nothing_behind(wheels, tmp_path):
    good, late = (snapshot(tmp_path, *side, NAMES[:3]) for side in (("good", "1.0"), ("bad", "2.0")))
    around = environment(UV_FIND_LINKS=str(wheels), UV_NO_INDEX="1", XDG_CACHE_HOME=new_cache(tmp_path / "cache"))
    program = "import os, time\nopen('started', 'a').write(f'{os.getpid()}\\n')\ntime.sleep(600)"
    words = [sys.executable, "-m", "envdoctor", "bisect", good, late, "--", "python", "-c", program]
    process = subprocess.Popen(words, cwd=tmp_path, env=around, stderr=subprocess.PIPE, text=True)
    started = tmp_path / "started"
    while process.poll() is None and not (started.exists() and started.read_text().endswith("\n")):
        time.sleep(0.02)  # until a trial runs: nothing tells so but what it writes
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)

    assert process.returncode == 130, said
    assert left(tmp_path) == []
    for pid in started.read_text().split():
        assert not os.path.exists(f"/proc/{pid}/cwd")


@pytest.mark.heavy
@pytest.mark.parametrize("bad", PLANTED, ids=" ".join)
def test_planted_culprits_are_found_in_environments_that_are_built(bad, wheels, tmp_path):
    done = bisected(tmp_path, wheels, bad, NAMES)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[2]) <= 25
    assert sorted(line.split()[0] for line in done.stdout.splitlines()[1 : 1 + len(bad)]) == sorted(bad)
