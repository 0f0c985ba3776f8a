"""From rules as their authors write them to the file that the engine looks into."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from envdoctor.engine.index import MAGIC, NEVER, OF_NOTHING, OF_PROCESS, OF_PROJECT, bucket_of
from envdoctor.engine.requirements import normalise, parse
from envdoctor.engine.versions import intervals
from envdoctor.errors import RuleError
from envdoctor.probes import cache
from envdoctor.workshop import status as statuses
from envdoctor.workshop.compile_condition import compile_condition, kinds, leaves_of, named
from envdoctor.workshop.conditions import leaves
from envdoctor.workshop.document import SIZE_LIMIT, Complaint
from envdoctor.workshop.lint_patterns import danger
from envdoctor.workshop.placeholders import filled
from envdoctor.workshop.proof import record
from envdoctor.workshop.syntax import load_vocabulary, read_rules, rule_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from envdoctor.workshop.document import Where
    from envdoctor.workshop.syntax import Rule

_TEXT_KEYS = ("title", "several", "severity", "impact", "why", "references")


def compile_rule(rule: Rule, vocabulary: Mapping[str, Any]) -> dict[str, Any]:
    """The whole rule as plain data: its texts, and ``match``, the part that :func:`engine.evaluate.matches` takes."""
    when = dict(rule.when)
    match: dict[str, Any] = {}
    if "installed" in when:
        match["installed"] = when.pop("installed")
    match["when"] = list(NEVER) if rule.status == statuses.RETIRED else compile_condition(when, vocabulary)
    if "source" in kinds(match["when"]):
        match["asks"] = "source"
    if rule.consumers:
        match["consumers"] = {normalise(name): _consumer(name, line) for name, line in rule.consumers.items()}
    texts = {key: getattr(rule, key) for key in _TEXT_KEYS}
    kin = _kin(rule, vocabulary)
    return {
        **({"kin": kin} if any(kin.values()) else {}),
        "id": rule.id,
        **texts,
        "packages": sorted(named(match["when"])),
        "facts": sorted({*kinds(match["when"]), *(["installed"] if "installed" in match else [])}),
        "when": rule.when,
        "symptoms": rule.symptoms,
        "remedies": [_remedy(remedy, vocabulary) for remedy in rule.remedies],
        "consumers": match.get("consumers", {}),
        "match": match,
    }


def _consumer(name: str, line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bad": line["bad"],
        "intervals": intervals(line["bad"]),
        "works": line.get("works"),
        "module": line.get("module") or normalise(name).replace("-", "_"),
    }


def _remedy(remedy: Mapping[str, Any], vocabulary: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in remedy.items() if value is not None}
    if "requirements" in made:
        made["requirement"] = " ".join(made["requirements"])
    if " " in made.get("package", ""):
        made["packages"] = made["package"].split()
    if "when" in made:
        made["when"] = compile_condition(made["when"], vocabulary)
    return made


def _kin(rule: Rule, vocabulary: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The families and companions of what the remedies of a rule name."""
    texts = [text for one in rule.remedies for text in (*one.get("requirements", ()), one.get("requirement", ""))]
    named = {found[0] for found in map(parse, texts) if found}
    named.update(normalise(name) for one in rule.remedies for name in one.get("package", "").split())
    tables = {kind: vocabulary.get(kind) or {} for kind in ("families", "companions")}
    return {kind: {name: list(table[name]) for name in named & table.keys()} for kind, table in tables.items()}


def _anchors(condition: Sequence[Any], weight: Mapping[str, int]) -> list[str] | None:
    """Names of which at least one must be installed for the condition to hold; ``None`` where there are none."""
    kind = condition[0]
    if kind in {"packages", "present"}:
        return list(condition[1])
    if kind == "all":
        choices = [found for part in condition[1:] for found in [_anchors(part, weight)] if found is not None]
        return min(choices, key=lambda names: sum(weight.get(name, 0) for name in names), default=None)
    if kind == "any":
        parts = [_anchors(part, weight) for part in condition[1:]]
        return None if None in parts else [name for names in parts for name in names or ()]
    return None


def _file_under(match: Mapping[str, Any], weight: Mapping[str, int]) -> list[str] | None:
    choices = [names for names in [_anchors(match["when"], weight)] if names is not None]
    if "consumers" in match:
        choices.append(list(match["consumers"]))
    return min(choices, key=lambda names: sum(weight.get(name, 0) for name in names), default=None)


#: Where a rule is filed that no distribution stands for, by a kind of fact that it asks for.
_BESIDES = {
    **dict.fromkeys(("config", "source", "shadowed", "artifact"), OF_PROJECT),
    "process": OF_PROCESS,
}


def _besides(match: Mapping[str, Any]) -> list[str] | None:
    names = {_BESIDES[leaf[0]] for leaf in leaves_of(match["when"]) if leaf[0] in _BESIDES}
    return sorted(names) or None


def _weights(rules: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    weight: dict[str, int] = {}
    for rule in rules:
        for leaf in leaves_of(rule["match"]["when"]):
            for name in leaf[1] if leaf[0] in {"packages", "present"} else ():
                weight[name] = weight.get(name, 0) + 1
    return weight


def pack(rules: Sequence[Mapping[str, Any]], digest: str) -> bytes:
    """The compiled rule base of rules from :func:`compile_rule`; see ``engine.index`` for the layout."""
    weight = _weights(rules)
    bodies: list[bytes] = []
    under: dict[str, list[list[Any]]] = {}
    always: list[list[Any]] = []
    offset = 0
    for rule in rules:
        body = _encode({key: value for key, value in rule.items() if key != "match"})
        match = rule["match"]
        entry = [offset, len(body), match]
        names = [OF_NOTHING] if match["when"] == NEVER else _file_under(match, weight) or _besides(match)
        by_consumer = names is not None and names == list(match.get("consumers", ()))
        for name in names or ():
            own = (
                [offset, len(body), {**match, "consumers": {name: match["consumers"][name]}}] if by_consumer else entry
            )
            under.setdefault(name, []).append(own)
        if names is None:
            always.append(entry)
        bodies.append(body)
        offset += len(body)
    asked = sum(rule["match"]["when"] != NEVER for rule in rules)
    newest = max((str(rule.get("date", "")) for rule in rules), default="")
    head = {"rules": asked, "date": newest, "digest": digest, "wanted": _wanted(rules), "buckets": _buckets(len(under))}
    return _lay_out(head, under, always, bodies)


#: Up to so many names a table of sixteen times as many offsets is still read at once.
_FEW_NAMES = 2_000


def _buckets(names: int) -> int:
    """How many buckets a table has: of few names most stand alone, so that hardly a bucket is read in vain."""
    return 2 * names + 1 if names > _FEW_NAMES else 16 * names + 1


def _lay_out(
    head: dict[str, Any], under: Mapping[str, list[list[Any]]], always: list[list[Any]], bodies: list[bytes]
) -> bytes:
    """Texts come first after the head, so that no offset depends on the length of what holds it."""
    buckets: dict[int, dict[str, list[list[Any]]]] = {}
    for name, entries in under.items():
        buckets.setdefault(bucket_of(name, head["buckets"]), {})[name] = entries
    texts = len(MAGIC) + 8
    for entry in {id(entry): entry for entries in [*under.values(), always] for entry in entries}.values():
        entry[0] += texts
    encoded = [_encode(buckets[number]) if number in buckets else b"" for number in range(head["buckets"])]
    at = texts + sum(map(len, bodies))
    table = [at]
    for bucket in encoded:
        at += len(bucket)
        table.append(at)
    header = _encode({**head, "always": always, "table": at})
    return b"".join(
        [
            MAGIC,
            (at + 4 * len(table)).to_bytes(4, "little"),
            len(header).to_bytes(4, "little"),
            *bodies,
            *encoded,
            *(number.to_bytes(4, "little") for number in table),
            header,
        ]
    )


def _encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _wanted(rules: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The keys that rules ask of a target, by kind of fact: what a snapshot has to record."""
    wanted: dict[str, set[str]] = {"env": set(), "library": set(), "module": set(), "system": set()}
    for rule in rules:
        conditions = [rule["match"]["when"], *(remedy["when"] for remedy in rule["remedies"] if "when" in remedy)]
        for leaf in (leaf for condition in conditions for leaf in leaves_of(condition)):
            if leaf and leaf[0] in wanted:
                wanted[leaf[0]].add(leaf[1])
    return {kind: sorted(keys) for kind, keys in wanted.items()}


def compile_base(
    rules: Iterable[Rule], words: Mapping[str, Any], name: str, *, silent: bool = False, own: bool = False
) -> bytes:
    """The compiled rule base of rules with their proofs; ``name`` is the digest it carries.

    ``silent`` takes the rules that stay out of ordinary runs, in place of the others: candidates, and those that never
    hold. ``own`` rules keep their severity without a proof.
    """
    return pack([_standing(one, words, own=own) for one in rules if statuses.silent(one.status) is silent], name)


def _standing(rule: Rule, words: Mapping[str, Any], *, own: bool) -> dict[str, Any]:
    """A compiled rule with its status, its proof, and the severity that these allow."""
    found = record.read(record.path_of(rule.path))
    proof = record.status(rule, words, found)
    status = statuses.of(rule, proof)
    severity = statuses.severity(rule, status, own=own)
    made = {**compile_rule(rule, words), "severity": severity, "proof": proof, "status": status}
    if severity != rule.severity:
        made["stated"] = rule.severity
    if found is not None and "date" in found:
        made["date"] = found["date"]
    if rule.replaced_by:
        made["replaced_by"] = rule.replaced_by
    return {**made, "match": {"when": list(NEVER)}} if proof == record.DISPROVED else made


def compile_directory(
    directory: str, vocabulary: str | None = None, *, silent: bool = False, own: bool = False
) -> bytes:
    """Compile the rules below a directory; see :func:`compile_base`.

    Raises :class:`RuleError` with all complaints where a rule is not well formed, or has an expression that could keep
    a search busy for ever. ``vocabulary`` is the file of words that rules share, by default the directory's own.
    """
    vocabulary = vocabulary or os.path.join(directory, "vocabulary.yaml")
    return compile_base(*_sound(directory, vocabulary), digest(directory, vocabulary), silent=silent, own=own)


#: The sections of the vocabulary that error texts are read by.
_WORDS = (
    *("imports", "families", "classes", "symbols", "plugins", "loaders", "voices", "stands_in"),
    *("hooks", "dotted", "compiled", "generated", "libraries"),
)


def compile_words(vocabulary: str) -> bytes:
    """The words of a vocabulary that error texts and installed files are read by, as JSON."""
    words = load_vocabulary(vocabulary)
    return json.dumps({section: words[section] for section in _WORDS}, separators=(",", ":")).encode()


def _sound(directory: str, vocabulary: str) -> tuple[list[Rule], dict[str, Any]]:
    """The rules below a directory, and the words that they share; raises where one is not well formed."""
    words = load_vocabulary(vocabulary)
    rules, complaints = read_rules(directory, words)
    complaints += [complaint for rule in rules for complaint in _unbounded(rule)]
    if complaints:
        lines = [f"{one.path}:{one.line}: {one.message}" for one in complaints]
        raise RuleError("the rules could not be compiled:\n  " + "\n  ".join(lines))
    return rules, words


def _unbounded(rule: Rule) -> Iterable[Complaint]:
    """Expressions that could take very long on some text: rules come from anywhere, and a search cannot be stopped."""
    stated: list[tuple[Where, str]] = [
        (("symptoms", number, "message"), symptom["message"])
        for number, symptom in enumerate(rule.symptoms)
        if "message" in symptom
    ]
    conditions: list[tuple[Where, Mapping[str, Any]]] = [(("when",), rule.when)]
    conditions += [(("remedies", n, "when"), one["when"]) for n, one in enumerate(rule.remedies) if one.get("when")]
    stated += [test for where, condition in conditions for test in _expressions(condition, where)]
    for where, expression in stated:
        found = danger(filled(expression))
        if found:
            yield Complaint(path=rule.path, line=rule.line(*where), message=found)


def _expressions(condition: Mapping[str, Any], where: Where) -> Iterable[tuple[Where, str]]:
    """The regular expressions of a condition."""
    for leaf in leaves(condition, where):
        if isinstance(leaf.value, dict) and isinstance(leaf.value.get("matches"), str):
            yield leaf.where, leaf.value["matches"]


#: The modules that what is compiled depends on, besides this one.
_MAKERS: Sequence[str] = (
    "workshop.compile_condition",
    "workshop.conditions",
    "workshop.document",
    "workshop.lint_patterns",
    "workshop.placeholders",
    "workshop.project_conditions",
    "workshop.proof.record",
    "workshop.remedy",
    "workshop.status",
    "workshop.syntax",
    "workshop.values",
    "engine.index",
    "engine.requirements",
    "engine.versions",
)


def digest(directory: str, vocabulary: str | None = None) -> str:
    """A name for the content of all rule files below a directory, their vocabulary, and the code that compiles them."""
    state = hashlib.sha256(MAGIC)
    for name in ("envdoctor.workshop.compile", *(f"envdoctor.{maker}" for maker in _MAKERS)):
        module = sys.modules[name]
        loader: Any = module.__spec__ and module.__spec__.loader
        if module.__file__ and hasattr(loader, "get_data"):
            state.update(loader.get_data(module.__file__))
    rules = rule_files(directory)
    words = vocabulary or os.path.join(directory, "vocabulary.yaml")
    for path in dict.fromkeys([*rules, *map(record.path_of, rules), words]):
        content = _content(path)
        state.update(f"{os.path.relpath(path, directory)}\n{len(content)}\n".encode(errors="surrogateescape"))
        state.update(content)
    return state.hexdigest()


def _content(path: str) -> bytes:
    """The bytes of a file as far as they can be read; why not is said where rules are read."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(SIZE_LIMIT + 1)
    except OSError:
        return b""


def cached(directory: str, vocabulary: str | None = None, *, silent: bool = False, own: bool = False) -> bytes:
    """The compiled rules of a directory, compiled where their content changed and kept in the user's cache.

    A cache file is the digest of what it was made from, and the rules. One that is damaged, out of date or out of reach
    is made anew.
    """
    vocabulary = vocabulary or os.path.join(directory, "vocabulary.yaml")
    state = digest(directory, vocabulary).encode()
    name = hashlib.sha256(os.path.realpath(directory).encode(errors="surrogateescape")).hexdigest()[:24]
    stem = os.path.join(cache.directory(), f"rules-{name}{'-own' if own else ''}")
    paths = {False: f"{stem}.idx", True: f"{stem}-silent.idx"}
    kept = cache.read(paths[silent]) or b""
    if kept.startswith(state):
        return kept[len(state) :]
    rules, words = _sound(directory, vocabulary)  # reading them is most of the work: both are made from it
    made = {one: compile_base(rules, words, state.decode(), silent=one, own=own) for one in paths}
    for one, data in made.items():
        cache.keep(paths[one], state + data)
    return made[silent]
