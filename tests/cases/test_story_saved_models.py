"""Founding story 3, on the real software: a model.zip of Stable-Baselines3 that another Python wrote.

The ordinary tests write and read the functions in such a file as Stable-Baselines3 does: its own schedules, from the
source of a real release, through cloudpickle, in a zip of the same layout. The heavy ones save and load real models.
torch is there for one Python only, so the model of another one is a real model with the functions exchanged for those
which the other Python writes; everything else in it is the same on every Python.
"""

import re
import sys

import interpreters
import pytest
from cases.test_story_subproc_vec_env import diagnosed, explained
from conftest import environment, python_of, run

pytest_plugins = ["torch_environment"]

RULE = "sb3-model-functions-of-another-python"
#: Bytecode that an interpreter takes for its own: mostly a segmentation fault.
CRASH = None

#: ``functions.py UTILS OUT``: pickle the schedules of a model as the Python that runs this does.
FUNCTIONS = """
import ast, base64, json, sys, types
import cloudpickle

with open(sys.argv[1], encoding="utf-8") as file:
    tree = ast.parse(file.read())
tree.body = [node for node in tree.body if getattr(node, "name", "") in ("constant_fn", "get_schedule_fn")]
for node in ast.walk(tree):
    for name in ("annotation", "returns"):
        if hasattr(node, name):
            setattr(node, name, None)
utils = types.ModuleType("stable_baselines3.common.utils")
sys.modules.update({"stable_baselines3": utils, "stable_baselines3.common": utils, utils.__name__: utils})
exec(compile(tree, sys.argv[1], "exec"), vars(utils))
functions = {"clip_range": utils.get_schedule_fn(0.15), "lr_schedule": utils.get_schedule_fn(0.0001)}
with open(sys.argv[2], "w") as file:
    json.dump({
        key: {":type:": str(type(value)), ":serialized:": base64.b64encode(cloudpickle.dumps(value)).decode()}
        for key, value in functions.items()
    }, file)
"""

#: ``package.py FUNCTIONS OUT PYTHON [MODEL]``: the zip around them, or a real model with them in place of its own.
PACKAGE = """
import json, sys, zipfile

functions, out, python, *model = sys.argv[1:]
with open(functions) as file:
    functions = json.load(file)
files = {
    "data": json.dumps({"learning_rate": 0.0001, "n_steps": 16}),
    "_stable_baselines3_version": "2.6.0",
    "system_info.txt": "- OS: Linux\\n- Python: 3.11.7\\n- Stable-Baselines3: 2.6.0\\n- Numpy: 1.26.4\\n",
}
for name in model:
    with zipfile.ZipFile(name) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
files["data"] = json.dumps({**json.loads(files["data"]), **functions}, indent=4)
lines = files["system_info.txt"] if isinstance(files["system_info.txt"], str) else files["system_info.txt"].decode()
files["system_info.txt"] = "".join(
    "- Python: " + python + "\\n" if "Python:" in line else line for line in lines.splitlines(keepends=True)
)
with zipfile.ZipFile(out, "w") as archive:
    for name, content in files.items():
        archive.writestr(name, content)
"""

#: Reads each entry as Stable-Baselines3 does, except those that ``custom_objects`` replaces, and calls it as PPO does.
READ = """
import base64, json, sys, zipfile
import cloudpickle

with zipfile.ZipFile("model.zip") as archive:
    data = json.loads(archive.read("data"))
for key, item in data.items():
    if isinstance(item, dict) and ":serialized:" in item:
        data[key] = cloudpickle.loads(base64.b64decode(item[":serialized:"]))
print("clip_range", data["clip_range"](1.0))
"""


def replacement(finding):
    """The call that the first remedy says to write."""
    return re.search(r'PPO\.load\("[^"]+", custom_objects=\{.*?\}\)', finding["remedies"][0]["text"])[0]


def failed(done, outcome):
    """Whether a program ended as an outcome says: with a message, or in the interpreter itself, however that may be."""
    return done.returncode != 0 if outcome is CRASH else outcome in done.stderr


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Build an environment with exactly these requirements, torch not among them."""

    def make(version, *requirements, release="2.6.0"):
        folder = tmp_path_factory.mktemp("environment") / "venv"
        assert run("uv", "venv", "--quiet", "--python", interpreters.need(version), folder).returncode == 0
        for words in (requirements, ["--no-deps", f"stable-baselines3=={release}"]):
            done = run("uv", "pip", "install", "--quiet", "--python", folder, *words)
            assert done.returncode == 0, done.stderr
        return folder

    return make


@pytest.fixture(scope="module")
def reader(build):
    """Python 3.11 with a release of stable-baselines3."""
    return build("3.11", "cloudpickle==3.1.1")


@pytest.fixture
def written_by(make_environment, tmp_path):
    """Write ``model.zip`` into a project with the functions of some Python: ``write(version, utils, [model])``."""

    def write(version, site, *model):
        writer = make_environment(interpreters.need(version), "cloudpickle>=2.2", name=f"writer{version}")
        (utils,) = site.rglob("stable_baselines3/common/utils.py")
        functions, project = tmp_path / f"functions{version}.json", tmp_path / "project"
        project.mkdir(exist_ok=True)
        done = run(python_of(writer), "-c", FUNCTIONS, utils, functions)
        assert done.returncode == 0, done.stderr
        full = run(python_of(writer), "-c", "import platform; print(platform.python_version())").stdout.strip()
        done = run(sys.executable, "-c", PACKAGE, functions, project / "model.zip", full, *model)
        assert done.returncode == 0, done.stderr
        return project

    return write


#: What Python 3.11 makes of functions that others wrote, where PPO calls its clip_range.
OUTCOMES = {
    "3.7": "code expected at least 16 arguments, got 15",
    "3.8": "code() argument 13 must be str, not int",
    "3.9": "code() argument 13 must be str, not int",
    "3.10": "code() argument 13 must be str, not int",
    "3.12": "float expected at most 1 argument, got 2",
    "3.13": CRASH,
}
FAMILIES = {
    "3.7": ">=3.6,<3.8", "3.8": ">=3.8,<3.11", "3.9": ">=3.8,<3.11", "3.10": ">=3.10,<3.11", "3.12": ">=3.12,<3.13",
    "3.13": ">=3.13,<3.14",
}  # fmt: skip


@pytest.mark.parametrize("version", OUTCOMES)
@pytest.mark.trials
def test_functions_of_another_python_are_found_before_anyone_loads_them(version, reader, written_by):
    project = written_by(version, reader)
    broken = run(python_of(reader), "-c", READ, cwd=project)
    assert failed(broken, OUTCOMES[version]), (broken.returncode, broken.stderr)

    finding = diagnosed(reader, project)[1][RULE]

    assert {"packages", "artifact"} <= set(finding["facts"])
    (evidence,) = (item for item in finding["evidence"] if item["fact"] == "artifact.stable-baselines3")
    assert evidence["source"] == "model.zip"
    assert f"clip_range is a function in the bytecode of Python {FAMILIES[version]}" in evidence["value"]
    assert "this is 3.11" in evidence["value"]
    assert [remedy["kind"] for remedy in finding["remedies"]] == ["change", "change", "upgrade"]
    call = replacement(finding)
    given = eval(call.partition("custom_objects=")[2][:-1])
    values = {key: value(1.0) if callable(value) else value for key, value in given.items()}
    assert values == {"clip_range": 0.15, "lr_schedule": 0.0001}


@pytest.mark.trials
def test_functions_of_the_same_python_are_nothing_to_speak_of(reader, written_by):
    project = written_by("3.11", reader)

    assert run(python_of(reader), "-c", READ, cwd=project).stdout == "clip_range 0.15\n"
    assert RULE not in diagnosed(reader, project)[1]


@pytest.mark.trials
def test_an_upgrade_mends_no_file_that_exists(build, reader, written_by):
    project = written_by("3.10", reader)

    newer = build("3.11", "cloudpickle==3.1.1", release="2.8.0")

    finding = diagnosed(newer, project)[1][RULE]
    assert [remedy["kind"] for remedy in finding["remedies"]] == ["change", "change"]


@pytest.mark.trials
def test_the_file_is_named_where_it_lies_outside_of_the_project(reader, written_by, tmp_path):
    project = written_by("3.10", reader)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert RULE not in diagnosed(reader, elsewhere)[1]
    finding = diagnosed(reader, elsewhere, "--artifact", project / "model.zip")[1][RULE]

    assert str(project / "model.zip") in finding["title"]


@pytest.mark.trials
def test_without_stable_baselines3_nothing_is_said_of_its_models(make_environment, reader, written_by):
    project = written_by("3.10", reader)
    folder = make_environment(interpreters.need("3.11"), "cloudpickle==3.1.1", name="other")

    assert diagnosed(folder, project) == (0, {})


# --- real models, with torch ----------------------------------------------------------------------------------------

SAVE = """\
from stable_baselines3 import PPO

PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, clip_range=0.15, learning_rate=1e-4).save("model.zip")
"""
LOAD = """\
import gymnasium
from stable_baselines3 import PPO

model = PPO.load("model.zip")
print("clip_range", model.clip_range(1.0), flush=True)
model.set_env(gymnasium.make("CartPole-v1"))
model.learn(16)
print("learned", flush=True)
"""


@pytest.fixture
def saved(make_torch_environment, in_environment, tmp_path):
    """A real model that Python 3.11 saved, and what loads it: ``folder, project, load(text)``."""
    folder = make_torch_environment("stable-baselines3==2.6.0", "gymnasium==1.1.1")
    project = tmp_path / "project"
    project.mkdir()
    done = in_environment(folder, "-c", SAVE, cwd=project)
    assert done.returncode == 0, done.stderr
    return folder, project, lambda text=LOAD: in_environment(folder, "-c", text, cwd=project)


#: What the real load and the next training make of it; ``None`` where another clip_range is all that comes of it.
LOADED = {
    "3.10": ("Could not deserialize object clip_range", "clip_range 0.2\nlearned\n"),
    "3.12": ("TypeError: float expected at most 1 argument, got 2", ""),
    "3.13": (CRASH, ""),
}


@pytest.mark.heavy
def test_models_of_other_pythons_from_failure_to_cure(saved, written_by):
    folder, project, load = saved
    own = (project / "model.zip").read_bytes()
    assert load().stdout == "clip_range 0.15\nlearned\n"
    assert diagnosed(folder, project, "--fail-on", "warning") == (0, {})

    for version, (outcome, printed) in LOADED.items():
        (project / "own.zip").write_bytes(own)
        written_by(version, folder, project / "own.zip")
        (project / "own.zip").unlink()
        broken = load()
        assert failed(broken, outcome), (version, broken.returncode, broken.stderr)
        assert broken.stdout == printed, version
        assert outcome is CRASH or explained(broken.stderr)[0] == RULE, version

        status, findings = diagnosed(folder, project, "--fail-on", "warning")
        assert (status, list(findings)) == (1, [RULE]), version
        call = replacement(findings[RULE])
        again = load(LOAD.replace('PPO.load("model.zip")', call) + 'model.save("model.zip")\n')
        assert again.stdout == "clip_range 0.15\nlearned\n", again.stderr
        assert load().stdout == "clip_range 0.15\nlearned\n", version
        assert diagnosed(folder, project, "--fail-on", "warning") == (0, {}), version


@pytest.mark.heavy
def test_the_published_workaround_breaks_the_next_training(saved, written_by):
    folder, project, load = saved
    (project / "model.zip").rename(project / "own.zip")
    written_by("3.10", folder, project / "own.zip")

    broken = load(LOAD.replace('print("clip_range", model.clip_range(1.0), flush=True)', "model.clip_range = 0.2"))

    assert "TypeError: 'float' object is not callable" in broken.stderr
    assert explained(broken.stderr)[0] == RULE


@pytest.mark.heavy
def test_a_model_of_newer_releases_from_failure_to_cure(make_torch_environment, in_environment, tmp_path):
    newer = make_torch_environment("stable-baselines3==2.8.0", "gymnasium==1.1.1", "numpy>=2", name="newer")
    older = make_torch_environment(
        "stable-baselines3==2.6.0", "gymnasium==1.1.1", "numpy==1.26.4", "pandas<3", name="older"
    )
    project = tmp_path / "project"
    project.mkdir()
    saved = in_environment(newer, "-c", SAVE, cwd=project)
    assert saved.returncode == 0, saved.stderr
    assert diagnosed(newer, project, "--fail-on", "warning") == (0, {})

    broken = in_environment(older, "-c", LOAD, cwd=project)
    assert "ModuleNotFoundError: No module named 'numpy._core.numeric'" in broken.stderr
    assert explained(broken.stderr)[0] == "sb3-model-written-with-numpy2"
    status, findings = diagnosed(older, project)
    assert status == 1
    assert findings.keys() == {"sb3-model-written-with-numpy2", "sb3-model-schedule-classes-unknown"}
    upgrade = findings["sb3-model-written-with-numpy2"]["remedies"][0]["command"]
    assert run("sh", "-c", upgrade, env=environment()).returncode == 0

    changed = in_environment(older, "-c", LOAD, cwd=project)
    assert changed.stdout == "clip_range 0.2\nlearned\n"
    assert "Can't get attribute 'FloatSchedule' on <module 'stable_baselines3.common.utils'" in changed.stderr
    status, findings = diagnosed(older, project, "--fail-on", "warning")
    assert list(findings) == ["sb3-model-schedule-classes-unknown"]
    remedies = findings["sb3-model-schedule-classes-unknown"]["remedies"]
    assert [remedy["kind"] for remedy in remedies] == ["upgrade", "change"]
    call = replacement({"remedies": remedies[1:]})
    again = LOAD.replace('PPO.load("model.zip")', call) + 'model.save("model.zip")\n'
    assert in_environment(older, "-c", again, cwd=project).stdout == "clip_range 0.15\nlearned\n"
    assert diagnosed(older, project, "--fail-on", "warning") == (0, {})
