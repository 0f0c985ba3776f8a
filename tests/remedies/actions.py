"""Remedies as the engine makes them, and environments that they are for."""

from envdoctor.facts import INSTALLER, Facts
from envdoctor.model import Action, Distribution, Remedy, Snapshot
from envdoctor.remedies.commands import with_command

PATH = "/opt/env/bin/python"


def examined(packages=(), tool=None, **fields):
    """A snapshot of an environment whose distributions ``tool`` installed."""
    tools = tool if isinstance(tool, dict) else dict.fromkeys(packages, tool)
    fields = {"target": {"kind": "python"}, "platform": {"system": "linux"}, **fields}
    fields.setdefault("python", {"version": "3.11", "executable": PATH, "prefix": "/opt/env"})
    return Snapshot(
        packages={name: Distribution(name=name, version="1.0") for name in packages},
        facts=Facts({INSTALLER: {name: tools.get(name) for name in packages}}),
        **fields,
    )


def remedy(kind, requirement=(), package=(), **fields):
    """A remedy as the engine makes it; several requirements, or packages, are in a list."""
    requirements, packages = ([some] if isinstance(some, str) else list(some) for some in (requirement, package))
    data = {key: fields[key] for key in ("file", "key", "name", "to", "at") if key in fields}
    verb = "install" if kind in {"upgrade", "downgrade", "pin"} else kind
    action = Action(verb=verb, requirements=tuple(requirements), packages=tuple(packages), **data)
    stated = {"requirement": " ".join(requirements) or None, "package": " ".join(packages) or None}
    return Remedy(kind=kind, action=action, **stated, **fields)


def command(kind, here, **fields):
    return with_command(remedy(kind, **fields), here).command
