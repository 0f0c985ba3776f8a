"""From rules as their authors write them to the compiled file that the engine reads."""

from __future__ import annotations

import json
from typing import Any

from envdoctor.engine.index import MAGIC, NEVER, OF_NOTHING, bucket_of
from envdoctor.engine.installed_requirements import normalise, parse
from envdoctor.engine.versions import intervals
from envdoctor.facts import KINDS, MODULE, OPERATORS, SHADOWS
from envdoctor.probes.project.shadows import VARYING
from envdoctor.rulebase import record
from envdoctor.rulebase import status as statuses
from envdoctor.rulebase.compile_condition import asks, compile_condition, kinds, leaves_of, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule

#: Exceptions that are caught for many reasons, and those of imports and names, which are provided for otherwise.
_CAUGHT_FOR_MANY_REASONS = {"AttributeError", "ImportError", "ModuleNotFoundError"}
_CAUGHT_FOR_MANY_REASONS |= {"Exception", "KeyError", "OSError", "RuntimeError", "ValueError"}
_TEXT_KEYS = ("title", "several", "severity", "impact", "why", "references")


def compile_rule(rule: Rule, vocabulary: Mapping[str, Any]) -> dict[str, Any]:
    """The whole rule as plain data: its texts, and ``match``, the part that :func:`engine.evaluate.matches` takes.

    ``asks`` is there where a target has to be asked for more than its distributions and its Python: it has the
    conditions of remedies for which that is so.
    """
    when = dict(rule.when)
    match: dict[str, Any] = {}
    if "installed" in when:
        match["installed"] = when.pop("installed")
    match["when"] = list(NEVER) if rule.status == statuses.RETIRED else compile_condition(when, vocabulary)
    note_raised(match["when"], rule.symptoms)
    made = [_remedy(remedy, vocabulary) for remedy in rule.remedies]
    conditions = [match["when"], *(remedy["when"] for remedy in made if "when" in remedy)]
    if any(map(asks, conditions)):
        match["asks"] = list(filter(asks, conditions[1:]))
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
        "remedies": made,
        "consumers": match.get("consumers", {}),
        "match": match,
    }


def note_raised(condition: Sequence[Any], symptoms: Iterable[Mapping[str, Any]]) -> None:
    """Add to the tests of calls the exceptions of the symptoms: code that catches just one of these provides for it.

    Where a rule asks for calls that are ``uncaught``, those that are caught for many reasons too.
    """
    every = {str(one.get("raises", "")).rpartition(".")[2] for one in symptoms} - {""}
    for leaf in leaves_of(condition):
        if leaf[:2] == ["source", "call"]:
            names = every if leaf[3].get("uncaught") else every - _CAUGHT_FOR_MANY_REASONS
            leaf[3].update({"raises": sorted(names)} if names else {})


def _consumer(name: str, line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **({"severity": line["severity"]} if "severity" in line else {}),
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
    if kind in {"packages", "present", "build"}:
        return list(condition[1])
    parts = [_anchors(part, weight) for part in condition[1:]] if kind in {"all", "any"} else []
    if kind == "all":
        return _rarest(parts, weight)
    if kind == "any":
        return None if None in parts else [name for names in parts for name in names or ()]
    return None


def _rarest(choices: Iterable[list[str] | None], weight: Mapping[str, int]) -> list[str] | None:
    """The names that the fewest rules are about, ``None`` where there is no choice."""
    known = [names for names in choices if names is not None]
    return min(known, key=lambda names: sum(weight.get(name, 0) for name in names), default=None)


def _file_under(match: Mapping[str, Any], weight: Mapping[str, int]) -> list[str] | None:
    consumers = list(match["consumers"]) if "consumers" in match else None
    return _rarest([_anchors(match["when"], weight), consumers], weight)


def _besides(match: Mapping[str, Any]) -> list[str] | None:
    names = {OPERATORS[leaf[0]].under for leaf in leaves_of(match["when"])} - {""}
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
        if names is None:
            always.append(entry)
        elif names == list(match.get("consumers", ())):
            for name in names:
                own = {**match, "consumers": {name: match["consumers"][name]}}
                under.setdefault(name, []).append([offset, len(body), own])
        else:
            for name in names:
                under.setdefault(name, []).append(entry)
        bodies.append(body)
        offset += len(body)
    asked = sum(rule["match"]["when"] != NEVER for rule in rules)
    newest = max((str(rule.get("date", "")) for rule in rules), default="")
    head = {"rules": asked, "date": newest, "digest": digest, "wanted": _wanted(rules), "buckets": _buckets(len(under))}
    return _lay_out(head, under, always, bodies)


#: Up to so many names a table of sixteen times as many offsets is still read at once.
_FEW_NAMES = 2_000


def _buckets(names: int) -> int:
    """How many buckets a table has: so many that most hold one name at most, and hardly one is read in vain."""
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
    wanted: dict[str, set[str]] = {name: set() for name in sorted(kind.name for kind in KINDS if kind.wanted)}
    for rule in rules:
        for leaf in _all_leaves(rule):
            if leaf and leaf[0] in wanted:
                wanted[leaf[0]].add(leaf[1])
            elif leaf and leaf[0] == SHADOWS.called:
                wanted[MODULE.name].update(VARYING)
    return {kind: sorted(keys) for kind, keys in wanted.items()}


def _all_leaves(rule: Mapping[str, Any]) -> Iterator[Any]:
    """The conditions in a rule's own and in those of its remedies that have no parts."""
    for one in (rule["match"], *rule["remedies"]):
        if "when" in one:
            yield from leaves_of(one["when"])


def compile_rules(
    rules: Iterable[Rule], words: Mapping[str, Any], proofs: Mapping[str, Any], *, own: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rules, with their proofs by the paths of their files, compiled for :func:`pack`.

    First come those that ordinary runs ask; then those that stay out of them: candidates, and what never holds.
    ``own`` rules keep their severity without a proof.
    """
    made: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for rule in rules:
        made[statuses.silent(rule.status)].append(_with_status(rule, words, proofs.get(rule.path), own=own))
    return made


def _pythons(proof: Mapping[str, Any]) -> dict[str, str]:
    """The Pythons of requirements of remedies that cannot be installed on others, or were seen not to cure there."""
    places = [proof.get(key, {}) for key in ("installable", "cures")]
    return {text: ",".join(one[text] for one in places if text in one) for one in places for text in one}


def _with_status(rule: Rule, words: Mapping[str, Any], found: Mapping[str, Any] | None, *, own: bool) -> dict[str, Any]:
    """A compiled rule with its status, its proof, and the severity that these allow."""
    proof = record.status(rule, words, found)
    status = statuses.of(rule, proof)
    severity = statuses.severity(rule, status, own=own)
    made = {**compile_rule(rule, words), "severity": severity, "proof": proof, "status": status}
    if severity != rule.severity:
        made["stated"] = rule.severity
    if found is not None and "date" in found:
        made["date"] = found["date"]
    if places := _pythons(found or {}):
        made["installable"] = places
    if rule.replaced_by:
        made["replaced_by"] = rule.replaced_by
    return {**made, "match": {"when": list(NEVER)}} if proof == record.DISPROVED else made
