"""The content of an environment that was built: releases, and what its metadata contradicts."""

from __future__ import annotations

import os

from envdoctor.engine.metadata_conflicts import asked, defects
from envdoctor.probes import answered
from envdoctor.probes.distributions import scan
from envdoctor.targets import examine
from envdoctor.targets.environment import beside_lock


def versions(python: str) -> list[str]:
    """The distributions of the environment of an interpreter, as ``name==version``."""
    top = os.path.dirname(os.path.dirname(python))
    sites = [os.path.join(top, "Lib", "site-packages")] if os.name == "nt" else []
    library = os.path.join(top, "lib")
    if os.name != "nt" and os.path.isdir(library):
        sites = [os.path.join(library, name, "site-packages") for name in sorted(os.listdir(library))]
    return sorted(f"{one.name}=={one.version}" for one in scan(sites).packages.values())


def findings(kind: str, python: str, project: str) -> list[dict[str, str]]:
    """What envdoctor finds in an environment of one kind of defect, each by the words that a rule's texts may name.

    ``project`` is the directory of the lock file, where there is one.
    Raises :class:`~envdoctor.errors.TargetError` where the interpreter does not answer.
    """
    snapshot = answered(beside_lock(examine("python", python), project), lambda now: asked([kind], now))
    return [names for _, _, names in defects(kind, snapshot)]
