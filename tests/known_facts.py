"""Facts for tests, by the names of their kinds: ``facts_of({("env", "X"): "1", ("requirements", "left"): []}, ...)``."""

from envdoctor import facts
from envdoctor.probes import answered, ask

KINDS = {kind.name: kind for kind in vars(facts).values() if isinstance(kind, facts.Kind)}
OF_METADATA = {"requirements": "requires", "requires_python": "requires_python", "tags": "tags"}


def facts_of(answers, packages=()):
    """A table; requirements, Requires-Python and tags are those of the releases that ``packages`` has."""
    tables, stated = {}, {}
    for (name, key), value in answers.items():
        if name in OF_METADATA:
            stated.setdefault(key, {})[OF_METADATA[name]] = value
        else:
            tables.setdefault(KINDS[name], {})[key] = value
    unsaid = dict.fromkeys(OF_METADATA.values(), facts.Unknown(reason=facts.NOT_RECORDED))
    releases = {(name, packages[name].version): facts.Metadata(**{**unsaid, **said}) for name, said in stated.items()}
    return facts.Facts({**tables, facts.METADATA: releases})


def fact(snapshot, name, key):
    """The value of one fact of a target, by the name of its kind, or why it is unknown."""
    if name not in OF_METADATA:
        return ask(snapshot, KINDS[name], key)
    release = key, snapshot.packages[key].version
    snapshot = answered(snapshot, lambda _: {facts.METADATA: [release]})
    return getattr(snapshot.facts.metadata(*release), OF_METADATA[name])
