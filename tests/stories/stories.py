"""The variations of the founding stories, their truth, and what envdoctor says of them.

``python tests/stories/stories.py NAME PYTHON`` runs a story's variations on real software, with the interpreter of an
environment that has it, and records what came out in ``truth/NAME.json``; ``python tests/stories/stories.py first NAME``
keeps what envdoctor says of a story before anything is mended for it; ``python tests/stories/stories.py page`` writes
``docs/stories.md`` from what is recorded and from envdoctor's judgement.
"""

import functools
import importlib
import json
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "stories.md"
#: By module: what the page calls it.
STORIES = {
    "start_methods": "1. The start method, set in many shapes",
    "subproc_envs": "2. What SubprocVecEnv is given",
    "saved_models": "3. A model that another Python saved",
    "parallel_envs": "4. Environments for ParallelEnv",
    "collectors": "5. Policies for TorchRL's collectors",
    "yaml_edits": "1. The switch in `configs.yaml`, in many shapes",
}
#: What came of a variation, and what each outcome means.
OUTCOMES = {
    "found": "it fails, and is found", "missed": "it fails, and nothing is said", "quiet": "it works, and nothing is said",
    "unknown": "it fails, and envdoctor says that it does not know", "false error": "it works, and an error is said",
    "false warning": "it works, and a warning is said", "cured": "the remedy that is printed ends it",
    "elsewhere": "an edit is printed of another project's file of that name",
    "by hand": "found, but no line can be printed that ends it", "not cured": "the remedy that is printed does not end it",
}  # fmt: skip


def truth(story):
    """What was recorded of a story, by variation."""
    return json.loads((HERE / "truth" / f"{story}.json").read_text(encoding="utf-8"))


@functools.cache
def outcomes(story):
    """The outcome of each variation, by name."""
    module = importlib.import_module(story)
    recorded = truth(story)
    return {name: module.outcome(one, recorded[name]) for name, one in module.variations().items()}


def found_or_not(findings, truth):
    """The outcome where a program works or fails, and findings say so or not."""
    severities = {one.severity for one in findings.values()}
    if truth == "works":
        return f"false {'error' if 'error' in severities else 'warning'}" if severities else "quiet"
    return "found" if severities else "missed"


def record(story, python):
    """Run the variations of a story and record what came out."""
    module = importlib.import_module(story)
    if hasattr(module, "runs"):
        made = module.runs(python)
    else:
        made = {name: module.run(python, one) for name, one in module.variations().items()}
    text = json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True)
    (HERE / "truth" / f"{story}.json").write_text(text + "\n", encoding="utf-8")


def first(story):
    """Keep how many of a story's variations came to which outcome; only once."""
    path = HERE / "truth" / "first_sight.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    text = json.dumps({story: Counter(outcomes(story).values()), **kept}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _counts(counted):
    return ", ".join(f"{n} {one}" for one, n in Counter(counted).most_common())


def page():
    """The page of all stories."""
    lines = [
        "# The founding stories, in the shapes that people write", "",
        "Each variation was run on the real software; what came out is recorded in `tests/stories/truth`. This page is",
        "made by `python tests/stories/stories.py page`, from that record and from what envdoctor says today.", "",
    ]  # fmt: skip
    seen = truth("first_sight")
    for story, title in STORIES.items():
        found = outcomes(story)
        counted = Counter(found.values())
        lines += [
            f"## {title}",
            "",
            f"{len(found)} variations: {_counts(counted)}.",
            *([f"At first sight, before anything was mended for it: {_counts(seen[story])}."] if story in seen else []),
            "",
        ]
        lines += ["| variation | what happens | envdoctor |", "|---|---|---|"]
        recorded = truth(story)
        lines += [f"| {name} | {_said(recorded[name])} | {outcome} |" for name, outcome in found.items()] + [""]
    lines += ["## The words", "", *(f"- *{word}*: {meaning}" for word, meaning in OUTCOMES.items()), ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def _said(recorded):
    text = recorded if isinstance(recorded, str) else recorded["said"]
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    {"page": page, "first": first}.get(sys.argv[1], record)(*sys.argv[1 + (sys.argv[1] in {"page", "first"}) :])
