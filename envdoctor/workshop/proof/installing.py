"""Trials of which the installation itself is what fails or passes: by pip, whose messages people paste."""

from __future__ import annotations

import os
import re
from typing import Any

from envdoctor.engine.installed_requirements import name_of
from envdoctor.workshop.proof import bytecode_cache, sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.workshop.proof.trials import Trial

#: Seconds that building and installing may take.
SECONDS = 900
#: The same of one that may well be impossible.
BRIEF_SECONDS = 150
#: What pip says where the index did not answer: no rule is about that.
_UNREACHED = re.compile(
    r"NewConnectionError|(?:Read|Connect)TimeoutError|Max retries exceeded|name resolution|Network is unreachable"
)
#: The variables that say where pip installs from.
_PLACES = ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "CERT", "TRUSTED_HOST", "PROXY", "CONFIG_FILE")
_KEPT = {*(f"PIP_{name}" for name in _PLACES), "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
_CONFIGURATIONS = ("~/.config/pip/pip.conf", "~/.pip/pip.conf")
_LONG = 300


def install(trial: Trial, python: str, work: str, *, offline: bool) -> sandbox.ProgramEnd:
    """Install with pip what a trial installs, in an environment that holds the other distributions of its place.

    Those hold in the environments where pip builds, too, unless the trial has other ``constraints`` for them.
    """
    wanted = [text for text in trial.place.install if name_of(text) in trial.installs]
    bounds = {name_of(text): text for text in trial.place.install if text not in wanted}
    bounds.update({name_of(text): text for text in trial.constraints})
    path = os.path.join(work, ".constraints.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(bounds.values()))
    own = {
        "PIP_CONSTRAINT": path,  # pip before 25.3 heeds it where it builds, too
        "PIP_BUILD_CONSTRAINT": path,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_NO_INPUT": "1",
        "VIRTUAL_ENV": os.path.dirname(os.path.dirname(python)),
        **({"PIP_NO_INDEX": "1"} if offline else {}),
        **bytecode_cache.variables(python),
    }
    command = [python, "-m", "pip", "install", "--no-color", "--progress-bar", "off", *wanted]
    seconds = BRIEF_SECONDS if trial.place.brief else SECONDS
    return sandbox.run(command, work, {**_sources(), **trial.env, **own}, seconds=seconds, network=True)


def _sources() -> dict[str, str]:
    """The variables that say where this user's pip installs from."""
    found = {name: value for name, value in os.environ.items() if name.upper() in _KEPT}
    paths = [path for path in map(os.path.expanduser, _CONFIGURATIONS) if os.path.isfile(path)]
    return {**({"PIP_CONFIG_FILE": paths[0]} if paths else {}), **found}


def result(came: sandbox.ProgramEnd) -> dict[str, Any]:
    """How the installation ended; where the index did not answer it is ``unbuilt``."""
    if came.status != 0 and _UNREACHED.search(came.output):
        lines = [line.strip() for line in came.output.splitlines() if _UNREACHED.search(line)]
        return {"outcome": "unbuilt", "reason": lines[-1][:_LONG]}
    return {**sandbox.result(came, sandbox.OUTPUT), "installing": True}  # compilers go on long after the first error
