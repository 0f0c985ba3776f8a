"""What compiled and generated modules miss, in words: one finding for each distribution and cause."""

from __future__ import annotations

import os

from envdoctor.model import Evidence, Finding, Location, Remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.linker.environment_names import Environment
    from envdoctor.linker.verdicts import Missing

#: The titles by kind, which the linker's other findings do not have.
TITLES = {
    "library": "{who} needs the shared library {asked}, which this system does not have",
    "version": "{who} needs {asked}, and the library that is there has versions up to {detail}",
    "symbol": "{who} needs the symbol {asked}, which no library has that it is linked with",
    "compiled": "{who} was compiled for {asked}, and {provider} is installed",
    "generated": "{who} has generated code for {asked}, and {provider} is installed",
}
_WHY = {
    "library": "{file} cannot be loaded: {detail} names {asked}, and it is neither installed nor the system's.",
    "version": "{file} cannot be loaded: it asks for versions that this library is too old to have.",
    "symbol": "{file} cannot be loaded: {detail} takes a symbol of others that none of them defines.",
    "compiled": "{file} says so itself: it was compiled with the headers of other releases.",
    "generated": "{file} says so itself: the code in it refuses other releases, or they refuse it.",
}
_RELEASE = "use a release of {consumer} that was made for {provider}"
_AGAIN = "generate {file} again, with tools that are not newer than {provider}, nor much older"
_REMEDIES = {
    "library": "install the package of the system that has {asked}{package}",
    "version": "use a newer system, or a release of {consumer} whose wheel asks for less",
    "symbol": "use releases of {consumer} and {provider} that were built for each other",
    "compiled": _RELEASE,
    "generated": _RELEASE,
}


def finding(places: Sequence[Missing], environment: Environment, when: str) -> Finding:
    """What one distribution misses for one cause, with the files that it was seen in."""
    first = places[0]
    package = environment.packages_of.get(first.asked)
    words = {
        "who": environment.named(first.consumer),
        "consumer": first.consumer,
        "asked": first.asked,
        "detail": os.path.basename(first.detail),
        "provider": environment.named(first.provider) if first.provider else "the system",
        "file": os.path.basename(first.file),
        "package": f" (on Debian: apt-get install {package})" if package else "",
    }
    own = environment.installed([first.consumer])
    return Finding(
        rule=f"linked-{first.kind}",
        severity=first.severity,
        impact="crash",
        title=TITLES[first.kind].format(**words),
        why=f"{_WHY[first.kind].format(**words)} {when}",
        packages=environment.installed(dict.fromkeys((first.consumer, first.provider))),
        facts=["library", "packages" if first.provider else "system"],
        evidence=[
            Evidence(
                fact=f"packages.{one.consumer}" if own else "source",
                value=f"{one.name or one.module} needs {one.asked}",
                source=Location(one.file),
            )
            for one in places
        ],
        remedies=_remedies(first, (_REMEDIES[first.kind] if own else _AGAIN).format(**words)),
        consumer=next(iter(own), None),
    )


def _remedies(first: Missing, text: str) -> list[Remedy]:
    remedies = [Remedy(kind="change", text=text, safety="manual")]
    if first.kind in {"compiled", "generated"}:
        kind = "downgrade" if "<" in first.asked else "upgrade"
        remedies.append(Remedy(kind=kind, requirement=first.asked, safety="workaround"))
    return remedies


def asked(linked: Finding) -> str:
    """What a finding of these kinds asks for; empty for any other."""
    return linked.evidence[0].value.rpartition(" ")[2] if linked.rule.removeprefix("linked-") in TITLES else ""
