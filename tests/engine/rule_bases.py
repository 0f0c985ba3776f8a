"""Rule bases for tests, made from short rule texts: ``base(rule("left", when=...))``."""

import json

from known_facts import facts_of

from envdoctor.engine import diagnose as engine
from envdoctor.engine import explanation
from envdoctor.engine.index import from_bytes
from envdoctor.model import Distribution, Snapshot
from envdoctor.rulebase.compile import compile_rule, pack
from envdoctor.rulebase.syntax import parse

VOCABULARY = {
    "families": {"left": ["left-cpu", "left-gpu"]},
    "system": {"glibc": "version", "container": "boolean"},
    "modules": ["standard-library", "site-packages", "local", "missing"],
}


def rule(name="left-breaks-right", **fields):
    """A rule as its author would write it; ``fields`` replace or add to the least that one needs."""
    text = {
        "id": name,
        "title": "left 2 breaks right",
        "severity": "error",
        "impact": "crash",
        "when": {"packages": {"left": ">=2"}},
        "why": "left 2 removed a name.",
        "remedies": [{"downgrade": "left<2"}],
        "references": ["https://example.org/1"],
        "proof": {"script": "import right", "bad": [{"python": "3.10", "packages": {"left": "2.0"}}]},
        **fields,
    }
    found, complaints = parse(json.dumps(text), f"{name}.yaml", VOCABULARY)
    assert not complaints, [str(one) for one in complaints]
    return compile_rule(found, VOCABULARY)


def base(*rules, digest="d"):
    return from_bytes(pack(list(rules), digest), "a rule base")


def snapshot(packages=None, python="3.11.4", *, complete=True, lookups=None, **fields):
    """A snapshot of a few lines; ``lookups`` maps ``(kind, key)`` to an answer, and the rest is not recorded."""
    fields = {"target": {}, "platform": {"system": "linux", "machine": "x86_64"}, **fields}
    interpreter = python if isinstance(python, dict) else {"version": python, "implementation": "cpython"}
    installed = {name: Distribution(name=name, version=version) for name, version in (packages or {}).items()}
    return Snapshot(
        python=interpreter if python else {},
        packages=installed,
        complete=complete,
        facts=facts_of(lookups or {}, installed),
        **fields,
    )


def diagnose(here, indexes):
    """What rule bases find in a snapshot that is given with all that is known of it."""
    return engine.diagnose(here, engine.candidates(here, indexes))


def explained(said, here, indexes):
    """What rule bases explain of an error text."""
    return explanation.explain(explanation.recognised(said, indexes), here)
