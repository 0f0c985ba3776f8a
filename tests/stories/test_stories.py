"""The founding stories in the shapes that people write: envdoctor's judgement against what was run."""

import contextlib
import json
import sys
from collections import Counter
from pathlib import Path

import interpreters
import pytest
from conftest import untraced

sys.path.insert(0, str(Path(__file__).parent))
import collectors
import stories
import yaml_edits
from judging import judged

pytest_plugins = ["torch_environment"]

#: By story, what the heavy run needs besides the interpreter.
NEEDS = {
    "start_methods": (),
    "yaml_edits": ("elements==3.22.4", "ruamel.yaml", "numpy"),
}
#: And those that need torch.
WITH_TORCH = {
    "subproc_envs": (
        "stable-baselines3==2.6.0", "gymnasium==1.1.1", "cloudpickle==3.1.1", "pyzmq==27.3.0", "lxml==6.1.3",
    ),
    "saved_models": ("stable-baselines3==2.6.0", "gymnasium==1.1.1", "cloudpickle==3.1.1"),
    "parallel_envs": ("torchrl==0.14.1", "tensordict==0.14.3", "gymnasium==1.1.1"),
}  # fmt: skip

#: The stories whose branches are measured: few other tests reach those about workers.
MEASURED = ("start_methods", "parallel_envs")


@pytest.fixture
def outcomes(shared):
    """The outcomes of a story's variations, judged once for all test processes."""
    judge = stories.outcomes  # one test puts this fixture in its place

    def judged(folder, story):
        folder.mkdir()
        with contextlib.nullcontext() if story in MEASURED else untraced():
            (folder / "outcomes.json").write_text(json.dumps(judge(story)))

    def of(story):
        folder = shared(f"story-{story}", lambda folder: judged(folder, story))
        return json.loads((folder / "outcomes.json").read_text())

    return of


@pytest.mark.trials
@pytest.mark.parametrize(
    "story",
    [one if one in MEASURED else pytest.param(one, marks=pytest.mark.trials) for one in stories.STORIES],
)
def test_a_story_is_judged_as_it_ends(story, outcomes):
    found = outcomes(story)
    counted = Counter(found.values())

    assert set(found.values()) <= stories.OUTCOMES.keys()
    assert [name for name, one in found.items() if one == "false error"] == []
    works = counted["quiet"] + counted["false warning"]
    assert counted["false warning"] <= 0.02 * works, [name for name, one in found.items() if one == "false warning"]
    told = counted["found"] + counted["cured"] + counted["by hand"] + counted["not cured"]
    assert told >= 0.9 * (told + counted["missed"]), [name for name, one in found.items() if one == "missed"]
    cures = counted["cured"] + counted["not cured"]
    assert counted["cured"] >= 0.95 * cures, [name for name, one in found.items() if one == "not cured"]


@pytest.mark.parametrize(
    ("files", "offered"),
    [
        ({"configs.yaml": "block", "agent.py": "import embodied\n"}, ["configs.yaml"]),
        ({"configs.yaml": "block", "agent.py": "import embodied.jax\n"}, ["configs.yaml"]),
        ({"configs.yaml": "block", "agent.py": "import yaml\n"}, []),
        ({"dreamerv3/configs.yaml": "block", "dreamerv3/agent.py": "import embodied\n"}, ["dreamerv3/configs.yaml"]),
        ({"dreamerv3/configs.yaml": "off", "dreamerv3/agent.py": "import embodied\n", "a/configs.yaml": "block"}, []),
    ],
)
def test_the_switch_is_that_of_the_checkout_or_of_the_package_itself(files, offered):
    written = {name: yaml_edits.DRIVER.get(text, text) for name, text in files.items()}
    finding = judged(written, {"cloudpickle": "1.6.0"})["cloudpickle-bytecode-py311"]
    assert [one.action.file for one in finding.remedies if one.kind == "set"] == offered


@pytest.mark.trials  # with the stories that are judged there
def test_the_page_is_what_the_record_says(tmp_path, monkeypatch, outcomes):
    kept = stories.PAGE
    monkeypatch.setattr(stories, "outcomes", outcomes)
    monkeypatch.setattr(stories, "PAGE", tmp_path / "stories.md")
    stories.page()
    assert (tmp_path / "stories.md").read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def recorded_again(story, python, folder, monkeypatch):
    """The outcomes of a story's variations today."""
    monkeypatch.setattr(stories, "HERE", folder)
    (folder / "truth").mkdir()
    stories.record(story, str(python))
    return stories.truth(story)


@pytest.mark.heavy
@pytest.mark.parametrize("story", NEEDS)
def test_a_story_ends_as_is_recorded(story, make_environment, tmp_path, monkeypatch):
    python = make_environment(interpreters.need("3.11"), *NEEDS[story]) / "bin" / "python"
    recorded = stories.truth(story)
    assert recorded_again(story, python, tmp_path, monkeypatch) == recorded


@pytest.mark.heavy
def test_the_story_of_the_collectors_ends_as_is_recorded(make_torch_environment, tmp_path, monkeypatch):
    for version, beside in collectors.COMPANIONS.items():
        pins = [f"{name}=={release}" for name, release in {"torchrl": version, **beside}.items()]
        make_torch_environment(*pins, *(["numpy<2"] if version in collectors.VERSIONS[:3] else []), name=version)
    recorded = stories.truth("collectors")
    assert recorded_again("collectors", tmp_path / "{}" / "bin" / "python", tmp_path, monkeypatch) == recorded


@pytest.mark.heavy
@pytest.mark.parametrize("story", WITH_TORCH)
def test_a_story_with_torch_ends_as_is_recorded(story, make_torch_environment, tmp_path, monkeypatch):
    python = make_torch_environment(*WITH_TORCH[story]) / "bin" / "python"
    recorded = stories.truth(story)
    assert recorded_again(story, python, tmp_path, monkeypatch) == recorded
