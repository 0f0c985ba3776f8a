"""From a condition as its author wrote it to the lists that ``engine.evaluate`` takes."""

from __future__ import annotations

from typing import Any

from envdoctor.engine.builds import WORDS
from envdoctor.engine.installed_requirements import normalise
from envdoctor.engine.versions import intervals
from envdoctor.facts import OPERATORS
from envdoctor.facts import WORDS as KINDS_BY_WORD
from envdoctor.file_keys import config_file
from envdoctor.rulebase.values import alternatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Words = Mapping[str, Any]

#: Cheap operators first: a condition is left at the first part that is false.
_ORDER = list(OPERATORS)
_TRAITS = {"implementation": "implementation", "free-threaded": "free_threaded", "debug": "debug"}


def bounds(specifier: str) -> list[Any]:
    """A specifier as its intervals, or as its text where only ``packaging`` reads it: never both."""
    admitted = intervals(specifier)
    return [specifier if admitted is None else None, admitted]


def compile_condition(tree: Mapping[str, Any], words: Words) -> list[Any]:
    """Compile a condition with the words of a vocabulary."""
    parts: list[list[Any]] = []
    for fact, value in tree.items():
        parts += KINDS_BY_WORD[fact].function("compiles")(fact, value, words)
    parts.sort(key=_cost)
    return parts[0] if len(parts) == 1 else ["all", *parts]


def _cost(part: Sequence[Any]) -> int:
    """The cost of evaluating a part: that of the dearest fact in it."""
    return max((_ORDER.index(leaf[0]) for leaf in leaves_of(part)), default=len(_ORDER))


def every(fact: str, value: Any, words: Words) -> list[list[Any]]:
    """All of some conditions."""
    return [compile_condition(part, words) for part in value]


def some(fact: str, value: Any, words: Words) -> list[list[Any]]:
    """One of some conditions."""
    return [[fact, *every(fact, value, words)]]


def negated(fact: str, value: Any, words: Words) -> list[list[Any]]:
    """The opposite of a condition."""
    return [[fact, compile_condition(value, words)]]


def whole(fact: str, value: Any, words: Words) -> list[list[Any]]:
    """A fact that is stated by one value."""
    return [[fact, value]]


def by_name(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """Facts that have names, each with what is wanted of it."""
    return [[fact, name, wanted] for name, wanted in value.items()]


def on_machine(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """What is on a machine: what is missing may be so in the image of a Dockerfile, too, where that is known."""
    parts = []
    for name, wanted in value.items():
        known = wanted == "missing" and name in words.get("images", {}).get("brings", {})
        own = [fact, name, wanted]
        parts.append(["any", own, *image("image", {"lacks": name}, words)] if known else own)
    return parts


def image(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """What an image lacks, with the bases that lack it, and the packages that do not bring it."""
    name, images = value["lacks"], words.get("images", {})
    brings = images.get("brings", {})
    others = {one for packages in brings.values() for one in packages} | set(images.get("plain", ()))
    bases = {"bare": images.get("bare", ()), "bases": images.get("bases", {})}
    return [[fact, name, {**bases, "others": sorted(others.difference(brings.get(name, ())))}]]


def table(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """Facts that have names, each with what is wanted of it and, where that is a range, its intervals."""
    return [
        [fact, name, wanted, intervals(wanted) if isinstance(wanted, str) else None] for name, wanted in value.items()
    ]


def python(fact: str, value: Any, words: Words) -> list[list[Any]]:
    """The version of Python, and what else is asked of it."""
    if isinstance(value, str):
        value = {"version": value}
    parts: list[list[Any]] = []
    if "version" in value:
        parts.append(["python", *bounds(value["version"])])
    parts += [["trait", fact, value[word]] for word, fact in _TRAITS.items() if word in value]
    return parts


def packages(fact: str, value: Mapping[str, str], words: Words) -> list[list[Any]]:
    """Distributions in ranges, present or absent."""
    parts: list[list[Any]] = []
    for raw, specifier in value.items():
        name = normalise(raw)
        names = [name, *words.get("families", {}).get(name, ())]
        if specifier in {"present", "absent"}:
            parts.append([specifier, names])
        else:
            parts.append(["packages", names, *bounds(specifier)])
    return parts


def env(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """Environment variables, each with a test of its value."""
    parts = []
    for name, test in value.items():
        ((kind, wanted),) = test.items() if isinstance(test, dict) else [("equals", test)]
        parts.append(["env", name, "equals", ""] if wanted == "empty" and kind == "is" else ["env", name, kind, wanted])
    return parts


def start_method(fact: str, value: Any, words: Words) -> list[list[Any]]:
    """Start methods, of the program or of a library."""
    if not isinstance(value, dict):
        return [["start_method", _listed(value)]]
    return [["start_method", _listed(value["is"]), value["of"], words.get("start_methods", {}).get(value["of"])]]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def config(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """An entry of configuration, and a test of its value; one for each file and key that braces mean."""
    ((test, wanted),) = [(word, value[word]) for word in ("equals", "matches", "is") if word in value]
    files = [config_file(one, value.get("unless", ())) for one in alternatives(value["file"])]
    parts = [["config", file, key, test, wanted] for file in files for key in alternatives(value["key"])]
    return parts if len(parts) == 1 else [["any", *parts]]


def build(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """What distributions are built for, with what of the vocabulary decides it, and no more."""
    known, word = words.get("builds", {}), value["is"]
    rows = {name: known.get(name, {}) for name in value["of"]}
    rows.update({row["partner"]: known.get(row["partner"], {}) for row in [*rows.values()] if "partner" in row})
    fields = ("partner", *WORDS[word].fields)
    kept = {name: {field: row[field] for field in fields if field in row} for name, row in rows.items()}
    return [[fact, list(value["of"]), word, kept, words.get("gpu", {}).get(word, {})]]


_VERBS = {"uses": "name", "imports": "import", "calls": "call"}


def source(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """A use of names, and tests of what a call is given."""
    ((kind, names),) = [(kind, value[verb]) for verb, kind in _VERBS.items() if verb in value]
    rest = {word: value[word] for word in ("arguments", "without", "unguarded", "uncaught") if word in value}
    return [["source", kind, names, rest]]


def worker(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """What workers are given or lack; with the calls that start them, and what of the vocabulary decides."""
    groups = words.get("workers", {})
    free = [
        name for name, entries in groups.items() if value["is"] == "lacks" or not any("rule" in one for one in entries)
    ]
    wanted = value.get("of", free)
    entries = [one for name in _listed(wanted) for one in groups.get(name, ())]
    kept = {"calls": words.get("calls", {}), "start_methods": words.get("start_methods", {})}
    return [["worker", value["is"], entries, {**kept, "state": words.get("state_of_process", ())}]]


def artifact(fact: str, value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    """Tests of an artefact."""
    test: dict[str, Any] = {word: value[word] for word in ("kind", "names", "code", "where") if word in value}
    if "protocol" in value:
        test["protocol"] = bounds(value["protocol"])
    writer = value.get("written-by", {})
    if "python" in writer:
        test["python"] = bounds(writer["python"])
    if "packages" in writer:
        test["packages"] = [[name, *bounds(specifier)] for name, specifier in writer["packages"].items()]
    return [["artifact", test]]


def leaves_of(condition: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Every fact that a compiled condition asks for."""
    if condition and condition[0] in {"all", "any", "not"}:
        for part in condition[1:]:
            yield from leaves_of(part)
    else:
        yield condition


def asks(condition: Sequence[Any]) -> bool:
    """Whether a compiled condition asks a target for more than its distributions and its Python."""
    return any(leaf and OPERATORS[leaf[0]].asks for leaf in leaves_of(condition))


def kinds(condition: Sequence[Any]) -> set[str]:
    """The kinds of fact that a compiled condition names."""
    rows = {OPERATORS[leaf[0]] for leaf in leaves_of(condition)}
    return {row.shown or row.name for row in rows}


def named(condition: Sequence[Any]) -> set[str]:
    """The distributions that a compiled condition wants installed."""
    return {leaf[1][0] for leaf in leaves_of(condition) if leaf[0] in {"packages", "present"}}
