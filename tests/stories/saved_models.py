"""Story 3: what a ``model.zip`` of another Python holds, and what the real Stable-Baselines3 makes of it.

torch is there for one Python only, so the entries of another one are pickled there, beside modules that have the names
which they refer to, and put into a real model; everything else in a model is the same on every Python. The interpreter
that runs the truth has ``stable_baselines3`` and ``cloudpickle``; those of the writers are found as all tests do it.
"""

import io
import itertools
import json
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

import interpreters
import stories
from judging import judged
from stories import found_or_not

WRITERS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
#: What a program that makes a model defines itself.
OWN = """
import torch.nn as nn
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

class Activation(nn.Module):
    def forward(self, given):
        return nn.functional.relu(given) if sum([abs(n) for n in (1, 2)]) else given

class Extractor(BaseFeaturesExtractor):
    def __init__(self, space, features_dim=4):
        super().__init__(space, features_dim)
    def forward(self, given):
        return given * sum([abs(n) for n in (1, 0)])

class Policy(ActorCriticPolicy):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
    def extra(self):
        return sum([abs(n) for n in (1, 2)])

class Tracker:
    def __init__(self):
        self.seen = [abs(n) for n in (1, 2)]
    def total(self):
        return sum([abs(n) for n in self.seen])

def constant(value):
    return lambda progress: value

def falling(start):
    def schedule(progress):
        return max(start * progress, abs(min(start, 1e-5)))
    return schedule
"""
#: By name, what an entry of the model is, as an expression over ``OWN``.
ENTRIES = {
    "clip_range": "constant(0.15)",
    "clip_range_vf": "constant(0.15)",
    "learning_rate": "constant(0.0001)",
    "learning_rate of its own": "falling(0.0001)",
    "lr_schedule": "constant(0.0001)",
    "policy_kwargs with an activation": "{'activation_fn': Activation}",
    "policy_kwargs with an extractor": "{'features_extractor_class': Extractor}",
    "policy_class": "Policy",
    "tracker": "Tracker()",
}
SETS = [*((name,) for name in ENTRIES), ("clip_range", "lr_schedule"), ("clip_range", "learning_rate", "lr_schedule"),
        ("clip_range", "lr_schedule", "policy_kwargs with an extractor"), ("policy_class", "policy_kwargs with an activation"),
        ("clip_range", "policy_class", "tracker")]  # fmt: skip
#: ``write.py CLOUDPICKLE OUT NAMES``: the entries as the Python that runs this pickles them, from its main module.
WRITE = """
import base64, json, sys, types
sys.path.insert(0, sys.argv[1])
import cloudpickle
for name, classes in {
    "torch": (), "torch.nn": ("Module",), "torch.nn.functional": (), "stable_baselines3": (),
    "stable_baselines3.common": (), "stable_baselines3.common.policies": ("ActorCriticPolicy",),
    "stable_baselines3.common.torch_layers": ("BaseFeaturesExtractor",),
}.items():
    module = sys.modules[name] = types.ModuleType(name)
    for one in classes:
        setattr(module, one, type(one, (), {"__module__": name}))
    if "." in name:
        setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], module)
exec(sys.argv[4])
written = {}
for name, text in json.loads(sys.argv[3]).items():
    value = eval(text)
    data = base64.b64encode(cloudpickle.dumps(value)).decode()
    written[name] = {":type:": str(type(value)), ":serialized:": data}
json.dump(written, open(sys.argv[2], "w"))
"""
#: ``load.py JOBS``: each model in a fork of one process; how it ends, and what of it is not as it was.
LOAD = """
import json, os, signal, sys, warnings
warnings.simplefilter("ignore")
import gymnasium
from stable_baselines3 import PPO

class Changed(Exception):
    pass

def same(model, names):
    has = {
        "clip_range": lambda: model.clip_range(1.0) == 0.15,
        "clip_range_vf": lambda: model.clip_range_vf is not None and model.clip_range_vf(1.0) == 0.15,
        "learning_rate": lambda: model.lr_schedule(1.0) == 0.0001,
        "learning_rate of its own": lambda: model.lr_schedule(1.0) == 0.0001,
        "lr_schedule": lambda: True,
        "policy_kwargs with an activation": lambda: model.policy.activation_fn.__name__ == "Activation",
        "policy_kwargs with an extractor": lambda: type(model.policy.features_extractor).__name__ == "Extractor",
        "policy_class": lambda: model.policy.extra() == 3,
        "tracker": lambda: model.tracker.total() == 3,
    }
    lost = [name for name in names if not has[name]()]
    if lost:
        raise Changed(", ".join(lost) + " lost without an error")

def tried(job):
    given = {}
    if job.get("custom"):
        own = {}
        exec(job["own"], own)
        given = {"custom_objects": eval(job["custom"], own)}
    model = PPO.load(job["model"], **given)
    model.set_env(gymnasium.make("CartPole-v1"))
    same(model, job["names"])
    model.learn(16)

def main():
    for number, job in enumerate(json.load(open(sys.argv[1]))):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(60)
            said = "works"
            try:
                tried(job)
            except BaseException as error:
                said = f"{type(error).__name__}: {error}".splitlines()[0][:120]
            os.write(write, said.encode())
            os._exit(0)
        os.close(write)
        said = os.read(read, 1000).decode()
        _, status = os.waitpid(child, 0)
        print(json.dumps([number, said or signal.Signals(os.WTERMSIG(status)).name]), flush=True)

own_model = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, clip_range=0.15, learning_rate=1e-4)
own_model.save(sys.argv[2])
if len(sys.argv) > 3:
    main()
"""


def variations():
    """By name, the Python that writes and the entries that it writes."""
    return {
        f"Python {writer}: {', '.join(names)}": (writer, names) for writer, names in itertools.product(WRITERS, SETS)
    }


RULES = ("sb3-model-functions-of-another-python", "sb3-model-objects-of-another-python")
RELEASES = {"stable-baselines3": "2.6.0", "cloudpickle": "3.1.1", "torch": "2.13.0", "gymnasium": "1.1.1"}


def runs(python):
    """What the real load makes of each model, and of each with what is printed; by variation."""
    with tempfile.TemporaryDirectory() as folder:
        site = subprocess.run([python, "-c", "import cloudpickle; print(cloudpickle.__file__)"], capture_output=True, text=True, check=True)  # fmt: skip
        entries = _written(Path(site.stdout.strip()).parents[1], folder)
        _entries().write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        Path(folder, "load.py").write_text(LOAD, encoding="utf-8")
        base = Path(folder, "own.zip")
        subprocess.run([python, "load.py", "-", base], cwd=folder, check=True, capture_output=True)
        jobs = []
        for number, one in enumerate(variations().values()):
            model = Path(folder, f"{number}.zip")
            model.write_bytes(_model(one, base))
            printed = _printed(one)
            jobs.append({"model": str(model), "names": one[1], "own": OWN, "printed": printed})
            jobs.append({**jobs[-1], "custom": _with_own(printed or "{}", one)})
        Path(folder, "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
        done = subprocess.run([python, "load.py", "jobs.json", base, "run"], cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
    ends = [json.loads(line)[1] for line in done.stdout.splitlines() if line.startswith("[")]
    return {
        name: {"said": before, "printed": job["printed"], "cured": after == "works"}
        for name, job, before, after in zip(variations(), jobs[::2], ends[::2], ends[1::2])
    }


def _entries():
    """The file of the entries as each Python writes them."""
    return stories.HERE / "truth" / "saved_models_entries.json"


def _written(site, folder):
    """The entries as each Python writes them, by its minor version."""
    made = {}
    for writer in WRITERS:
        out = Path(folder, "entries.json")
        words = ["-c", WRITE, site, out, json.dumps(ENTRIES), OWN]
        subprocess.run([interpreters.need(writer), *words], check=True, capture_output=True)
        made[writer] = json.loads(out.read_text(encoding="utf-8"))
    return made


def _model(variation, base=None):
    """The zip of a variation: a real model with its entries, or as much of one as envdoctor reads."""
    writer, names = variation
    files = {
        "data": b'{"n_steps": 16}',
        "_stable_baselines3_version": b"2.6.0",
        "system_info.txt": b"- Python: 3.11.7\n",
    }
    if base is not None:
        with zipfile.ZipFile(base) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    entries = json.loads(_entries().read_text(encoding="utf-8"))[writer]
    data = {**json.loads(files["data"]), **{name.partition(" ")[0]: entries[name] for name in names}}
    lines = files["system_info.txt"].decode().splitlines(keepends=True)
    files["system_info.txt"] = "".join(f"- Python: {writer}.0\n" if "Python:" in one else one for one in lines)
    files["data"] = json.dumps(data)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def _printed(variation):
    """The replacement that the remedies print, the same in all; ``None`` where nothing is found."""
    findings = judged({"model.zip": _model(variation)}, RELEASES)
    found = {
        re.search(r"custom_objects=(\{.*?\})\)", findings[rule].remedies[0].text)[1]
        for rule in RULES
        if rule in findings
    }
    return " or ".join(sorted(found)) or None


def _with_own(printed, variation):
    """The replacement with the user's own in place of every ``...``."""
    own = {name.partition(" ")[0]: ENTRIES[name] for name in variation[1]}
    return re.sub(r'"(\w+)": \.\.\.', lambda match: f'"{match[1]}": {own[match[1]]}', printed)


def outcome(variation, truth):
    """What envdoctor makes of it, and whether what it prints today is what was tried."""
    findings = {rule: one for rule, one in judged({"model.zip": _model(variation)}, RELEASES).items() if rule in RULES}
    told = found_or_not(findings, truth["said"])
    if told != "found":
        return told
    return "cured" if truth["cured"] and _printed(variation) == truth["printed"] else "not cured"
