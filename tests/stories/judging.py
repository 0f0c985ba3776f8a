"""What envdoctor says of a program, in this process: the findings about its project, by rule."""

import json
import tempfile
from pathlib import Path

from running import write

from envdoctor import diagnose, examine


def judged(files, packages, python="3.11.7", artifacts=()):
    """The findings about a program in an environment of some releases, by rule; what is only a remark is not among them."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        write(files, project)
        facts = {
            "schema": 1, "python": {"version": python, "implementation": "cpython"},
            "platform": {"system": "linux", "machine": "x86_64"}, "start_method": {"default": "fork"},
            "packages": packages,
        }  # fmt: skip
        Path(folder, "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        given = [str(project / name) for name in artifacts]
        snapshot = examine("snapshot", str(Path(folder, "facts.json")), project=str(project), artifacts=given)
        return {one.rule: one for one in diagnose(snapshot) if one.severity != "info"}
