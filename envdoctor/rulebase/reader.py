"""From the files of rules to the compiled base, each step once: text, document, rule, checked, compiled."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from envdoctor.errors import RuleError
from envdoctor.model import Record
from envdoctor.rulebase import merge, record
from envdoctor.rulebase.compile import compile_rules, pack
from envdoctor.rulebase.document import Complaint, shorten
from envdoctor.rulebase.patterns import danger
from envdoctor.rulebase.placeholders import filled
from envdoctor.rulebase.shipped_files import vocabulary
from envdoctor.rulebase.sources import VOCABULARY, RuleSource, directory, proof_of
from envdoctor.rulebase.syntax import load_vocabulary, read_files
from envdoctor.rulebase.when_tree import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from envdoctor.rulebase.document import Where
    from envdoctor.rulebase.rule import Rule

    Known = Callable[[Collection[str]], Mapping[str, tuple[str, str]]]


class Compiled(Record):
    """A source that was read: its rules as an index's bytes, those that keep silent apart, and what was left out.

    ``ids`` gives the file and a digest of what each rule states, ``words`` the source's own vocabulary.
    """

    name: str
    asked: bytes
    silent: bytes
    ids: Mapping[str, tuple[str, str]]
    words: Mapping[str, Any]
    complaints: Sequence[Complaint]


def read_source(source: RuleSource, known: Known) -> Compiled:
    """Read, check and compile the rules of a source. A file that is not well formed is left out, with a complaint.

    ``known`` gives what the rules that came with envdoctor state, of some ids, as in ``ids``. Raises
    :class:`RuleError` where the source contradicts these or their vocabulary, and where its own cannot be read.
    """
    own, words = _vocabulary(source)
    name = _name(source, own)
    rules, complaints = checked(source.rules, words)
    if source.wrong:
        complaints.append(Complaint(path=source.declared, line=1, message=source.wrong))
    named = {rule.id: rule for rule in (_named(rule, name) for rule in rules)}
    made = compile_rules(named.values(), words, _proofs(rules), own=source.own)
    ids = {one["id"]: (named[one["id"]].path, stated(one)) for found in made for one in found}
    twice = known(ids) if source.own else {}
    merge.rules((twice, ids))  # raises where they differ: what is the same is asked once
    asked, silent = (pack([one for one in found if one["id"] not in twice], source.place) for found in made)
    return Compiled(name=name, asked=asked, silent=silent, ids=ids, words=own, complaints=complaints)


def _vocabulary(source: RuleSource) -> tuple[dict[str, Any], dict[str, Any]]:
    """The own words of a source, and all that its rules may use."""
    common = load_vocabulary(vocabulary())
    own = load_vocabulary(source.vocabulary) if source.vocabulary else {}
    words = merge.vocabularies(common, own, (vocabulary(), source.vocabulary or ""))
    if source.own:
        _refuse_unbounded(own, common, source.vocabulary or "")
    return own, words


def _name(source: RuleSource, own: Mapping[str, Any]) -> str:
    """The namespace that the ids of a pack begin with."""
    said = own.get("pack", "")
    if source.name and said not in ("", source.name):
        raise RuleError(f"{source.declared} names the pack {source.name}, and {source.vocabulary} {said}: say the same")
    return source.name or str(said)


def _named(rule: Rule, pack_name: str) -> Rule:
    """A rule under the name of its pack."""
    if not pack_name:
        return rule
    other = rule.replaced_by
    prefixed = f"{pack_name}/{other}" if other and " " not in other else other
    named: Rule = rule.replace(id=f"{pack_name}/{rule.id}", replaced_by=prefixed)
    return named


def stated(rule: Mapping[str, Any]) -> str:
    """A digest of what a compiled rule states, without its proof."""
    said = {key: rule.get(key) for key in ("title", "when", "consumers", "why", "symptoms", "remedies", "references")}
    said["severity"] = rule.get("stated", rule["severity"])
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=list).encode()).hexdigest()[:16]


def vocabulary_files(folder: str) -> list[str]:
    """The files of words that the rules below a directory may use: what came with envdoctor, and its own."""
    own = os.path.join(folder, VOCABULARY)
    return [vocabulary(), *([own] if os.path.isfile(own) else [])]


def vocabulary_of(folder: str) -> dict[str, Any]:
    """The words that the rules below a directory may use. Raises :class:`RuleError` where they contradict."""
    first, *others = vocabulary_files(folder)
    words = load_vocabulary(first)
    return merge.vocabularies(words, load_vocabulary(others[0]), (first, others[0])) if others else words


def checked(paths: Sequence[str], words: Mapping[str, Any]) -> tuple[list[Rule], list[Complaint]]:
    """The rules of some files that are well formed and safe to search with, and the complaints about the others."""
    rules, complaints = read_files(paths, words)
    unbounded = [complaint for rule in rules for complaint in _unbounded(rule)]
    unsafe = {complaint.path for complaint in unbounded}
    return [rule for rule in rules if rule.path not in unsafe], [*complaints, *unbounded]


def compile_directory(folder: str, *, own: bool = False) -> tuple[bytes, bytes]:
    """The compiled rule bases of a directory, of which all has to be well formed; see :func:`.compile.compile_rules`.

    Raises :class:`RuleError` with all complaints where a rule is not well formed, or has an expression that could keep
    a search busy for ever.
    """
    known = load_vocabulary(os.path.join(folder, VOCABULARY))
    rules, complaints = checked(directory(folder).rules, known)
    if complaints:
        raise RuleError("the rules could not be compiled:\n  " + "\n  ".join(map(str, complaints)))
    asked, silent = compile_rules(rules, known, _proofs(rules), own=own)
    return pack(asked, folder), pack(silent, folder)


def _proofs(rules: Iterable[Rule]) -> dict[str, Any]:
    """The proofs of some rules, by the paths of the rules."""
    return {rule.path: record.read(proof_of(rule.path)) for rule in rules}


#: The sections of the vocabulary that error texts are read by.
_WORDS = (
    *("imports", "families", "classes", "aliases", "symbols", "plugins", "loaders", "voices", "stands_in"),
    *("hooks", "dotted", "makes", "compiled", "generated", "libraries", "machine"),
)


def compile_words(path: str) -> bytes:
    """The words of a vocabulary that error texts and installed files are read by, as JSON."""
    words = load_vocabulary(path)
    return json.dumps({section: words[section] for section in _WORDS}, separators=(",", ":")).encode()


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


def _refuse_unbounded(words: Mapping[str, Any], common: Mapping[str, Any], path: str) -> None:
    """Raise for the same in a vocabulary, whose expressions look through error texts and files."""
    known = set(_stated_expressions(common))
    for expression in _stated_expressions(words):
        found = expression not in known and danger(expression)
        if found:
            raise RuleError(f"the vocabulary {path} cannot be used: `{shorten(expression)}`: {found}")


def _stated_expressions(words: Mapping[str, Any]) -> Iterable[str]:
    yield from words.get("voices", ())
    tables = [rows for section in ("compiled", "generated") for rows in words.get(section, {}).values()]
    yield from _texts(tables, ("text", "file"))
    fields = [rows for build in words.get("builds", {}).values() for rows in build.values() if isinstance(rows, list)]
    yield from _texts(fields, ("text", "local"))


def _texts(tables: Iterable[Iterable[Mapping[str, Any]]], keys: Sequence[str]) -> Iterable[str]:
    return (str(row[key]) for rows in tables for row in rows for key in keys if key in row)
