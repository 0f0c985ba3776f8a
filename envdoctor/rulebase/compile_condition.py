"""From a condition as its author wrote it to the lists that ``engine.evaluate`` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdoctor.engine.installed_requirements import normalise
from envdoctor.engine.versions import intervals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Words = Mapping[str, Any]

#: Cheap operators first: a condition is left at the first part that is false.
_COSTS = (
    "python", "packages", "present", "absent", "trait", "marker", "env", "system", "process", "library", "module",
    "start_method", "config", "shadowed", "artifact", "source",
)  # fmt: skip
_TRAITS = {"implementation": "implementation", "free-threaded": "free_threaded", "debug": "debug"}


def bounds(specifier: str) -> list[Any]:
    """A specifier as its intervals, or as its text where only ``packaging`` reads it: never both."""
    admitted = intervals(specifier)
    return [specifier if admitted is None else None, admitted]


def compile_condition(tree: Mapping[str, Any], words: Words) -> list[Any]:
    """Compile a condition with the words of a vocabulary."""
    parts: list[list[Any]] = []
    for fact, value in tree.items():
        parts += FACTS[fact](value, words)
    parts.sort(key=_cost)
    return parts[0] if len(parts) == 1 else ["all", *parts]


def _cost(part: Sequence[Any]) -> int:
    """What evaluating a part may cost: that of the dearest fact in it."""
    return max((_COSTS.index(leaf[0]) for leaf in leaves_of(part) if leaf[0] in _COSTS), default=len(_COSTS))


def _python(value: Any, words: Words) -> list[list[Any]]:
    if isinstance(value, str):
        value = {"version": value}
    parts: list[list[Any]] = []
    if "version" in value:
        parts.append(["python", *bounds(value["version"])])
    parts += [["trait", fact, value[word]] for word, fact in _TRAITS.items() if word in value]
    return parts


def _packages(value: Mapping[str, str], words: Words) -> list[list[Any]]:
    parts: list[list[Any]] = []
    for raw, specifier in value.items():
        name = normalise(raw)
        names = [name, *words.get("families", {}).get(name, ())]
        if specifier in {"present", "absent"}:
            parts.append([specifier, names])
        else:
            parts.append(["packages", names, *bounds(specifier)])
    return parts


def _env(value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    parts = []
    for name, test in value.items():
        ((kind, wanted),) = test.items() if isinstance(test, dict) else [("equals", test)]
        parts.append(["env", name, kind, wanted])
    return parts


def _table(fact: str) -> Callable[[Mapping[str, Any], Words], list[list[Any]]]:
    def compiled(value: Mapping[str, Any], words: Words) -> list[list[Any]]:
        return [
            [fact, name, wanted, intervals(wanted) if isinstance(wanted, str) else None]
            for name, wanted in value.items()
        ]

    return compiled


def _start_method(value: Any, words: Words) -> list[list[Any]]:
    if not isinstance(value, dict):
        return [["start_method", _listed(value)]]
    return [["start_method", _listed(value["is"]), value["of"], words.get("start_methods", {}).get(value["of"])]]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _config(value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    ((test, wanted),) = [(word, value[word]) for word in ("equals", "matches", "is") if word in value]
    return [["config", value["file"], value["key"], test, wanted]]


_VERBS = {"uses": "name", "imports": "import", "calls": "call"}


def _source(value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    ((kind, names),) = [(kind, value[verb]) for verb, kind in _VERBS.items() if verb in value]
    rest = {word: value[word] for word in ("arguments", "without", "unguarded") if word in value}
    return [["source", kind, names, rest]]


def _artifact(value: Mapping[str, Any], words: Words) -> list[list[Any]]:
    test: dict[str, Any] = {word: value[word] for word in ("kind", "names", "code", "where") if word in value}
    if "protocol" in value:
        test["protocol"] = bounds(value["protocol"])
    writer = value.get("written-by", {})
    if "python" in writer:
        test["python"] = bounds(writer["python"])
    if "packages" in writer:
        test["packages"] = [[name, *bounds(specifier)] for name, specifier in writer["packages"].items()]
    return [["artifact", test]]


#: How each fact of a rule's ``when`` is compiled: ``(value, words) -> conditions``, all of which must hold.
FACTS: dict[str, Callable[[Any, Words], list[list[Any]]]] = {
    "all": lambda value, words: [compile_condition(part, words) for part in value],
    "any": lambda value, words: [["any", *(compile_condition(part, words) for part in value)]],
    "not": lambda value, words: [["not", compile_condition(value, words)]],
    "python": _python,
    "packages": _packages,
    "marker": lambda value, _: [["marker", value]],
    "env": _env,
    "module": lambda value, _: [["module", name, kind] for name, kind in value.items()],
    "system": _table("system"),
    "process": _table("process"),
    "library": lambda value, _: [["library", name, wanted] for name, wanted in value.items()],
    "start_method": _start_method,
    "config": _config,
    "source": _source,
    "artifact": _artifact,
    "shadowed": lambda value, _: [["shadowed", value]],
}

_AT_HAND = frozenset(("python", "trait", "packages", "present", "absent"))
_KIND_OF = {"trait": "python", "present": "packages", "absent": "packages", "shadowed": "module"}


def leaves_of(condition: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Every fact that a compiled condition asks for."""
    if condition and condition[0] in {"all", "any", "not"}:
        for part in condition[1:]:
            yield from leaves_of(part)
    else:
        yield condition


def asks(condition: Sequence[Any]) -> bool:
    """Whether a compiled condition asks a target for more than its distributions and its Python."""
    return any(leaf and leaf[0] not in _AT_HAND for leaf in leaves_of(condition))


def kinds(condition: Sequence[Any]) -> set[str]:
    """The kinds of fact that a compiled condition names."""
    return {_KIND_OF.get(leaf[0], leaf[0]) for leaf in leaves_of(condition)}


def named(condition: Sequence[Any]) -> set[str]:
    """The distributions that a compiled condition wants installed."""
    return {leaf[1][0] for leaf in leaves_of(condition) if leaf[0] in {"packages", "present"}}
