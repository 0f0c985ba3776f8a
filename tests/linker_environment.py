"""Small environments of distributions that are written where a test needs them, and what the linker says of them."""

import os

from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan


def write(folder, version="1.0", **distributions):
    """Install distributions into a directory: ``name={path: text}``, of one version, with the RECORD of their files."""
    for name, files in distributions.items():
        info = f"{name}-{version}.dist-info"
        whole = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\n", **files}
        record = "".join(f"{path},,\n" for path in [*whole, f"{info}/RECORD"])
        for path, text in {**whole, f"{info}/RECORD": record}.items():
            place = os.path.join(folder, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
    return str(folder)


def linked(folder, minor=(3, 12), system="linux"):
    """What the linker finds in a directory."""
    return link(scan([str(folder)]).packages.values(), Target(minor, system), lambda _doing: None)


def missing(folder, minor=(3, 12), system="linux"):
    """What is missing, as ``(severity, consumer, line, asked)``."""
    found = linked(folder, minor, system).missing
    return [(one.severity, one.consumer, one.line, one.asked) for one in found]
