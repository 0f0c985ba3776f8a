"""What a rule must be besides well formed: specific, bounded, proven at its edges, and cured by its remedies.

Each demand is a row in :data:`DEMANDS`, a function from a :class:`Subject` to complaints. Nothing here executes a
rule's script: a proof's cells are held against the rule as examples.
"""

from __future__ import annotations

import builtins
import os
import re
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.engine.versions import within
from envdoctor.rulebase import record
from envdoctor.rulebase import status as statuses
from envdoctor.rulebase.document import Complaint, shorten
from envdoctor.rulebase.patterns import LITERALS_NEEDED, danger, literals
from envdoctor.rulebase.placeholders import filled
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.sources import files_below, proof_of
from envdoctor.rulebase.syntax import read_files, read_rules
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop import installable
from envdoctor.workshop.lint_proof import Subject, edges_unproven, project_unproven, proof_contradicted
from envdoctor.workshop.lint_record import proof_underivable, remedies_not_quiet, severity_unshown
from envdoctor.workshop.lint_remedies import remedies_without_effect
from envdoctor.workshop.lint_scripts import scripts_dishonest, symptoms_of_everybody

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from packaging.specifiers import SpecifierSet

    from envdoctor.rulebase.document import Where
    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.every_release import Published as Release

    Releases = Callable[[Sequence[str]], Mapping[str, "list[str] | None"]]
    Gone = Callable[[Sequence[str]], set[str]]
    Published = Callable[[str], "Sequence[Release] | None"]

_TODO = re.compile(r"\bTODO\b|^todo-")
_NO_INDEX = "no index answered, so ranges and versions were not held against the known releases"
_HINTS = {
    "title": "what breaks with what, in one line",
    "when": "the distributions and versions that are bad together",
    "why": "what changed, in which release, and why that hurts",
    "symptoms": "the class and the characteristic words of the error",
    "remedies": "what to install, or to change, instead",
    "references": "the address of the thread or the release notes that tell of it",
    "proof": "a script that fails in each bad cell and passes in each good one, with real releases",
}


def lint(
    paths: Sequence[str],
    releases: Releases | None = None,
    gone: Gone | None = None,
    published: Published | None = None,
    *,
    write: bool = False,
) -> list[Complaint]:
    """Every complaint about the rules in some files and directories, by file and line.

    ``releases`` answers for many distributions at once, as :func:`envdoctor.probes.releases.known_releases` does;
    without it, ranges are not held against the index. ``gone`` tells which addresses lead nowhere, and ``published``
    the releases of a distribution with the Pythons they are for; with ``write``, proofs record what follows from that.
    Raises :class:`~envdoctor.errors.RuleError` where the vocabulary cannot be read.
    """
    files, complaints = _files(paths)
    home = _home(files or list(paths))
    vocabulary = vocabulary_of(home)
    rules, found = read_files(files, vocabulary)
    unfinished = {rule.id: list(_unfinished(rule)) for rule in rules}
    complaints += chain(found, *unfinished.values())
    finished = [rule for rule in rules if not unfinished[rule.id]]
    known = _known(finished, releases)
    base = {rule.id: rule for rule in [*read_rules(home, vocabulary)[0], *rules]}
    complaints += chain.from_iterable(_replaced(rule, base) for rule in rules)
    subjects = _subjects(base, vocabulary, known)
    for rule in finished:
        subject = subjects.get(rule.id) or Subject(rule, vocabulary, known)
        complaints += chain.from_iterable(demand(subject) for demand in DEMANDS[rule.status])
    complaints += _lost(finished, gone) if gone else []
    if published is not None:
        barred = (installable.complaints(rule, vocabulary, published, write=write) for rule in finished)
        complaints += chain.from_iterable(barred)
    complaints.sort(key=lambda one: (one.path, one.line))
    if None in known.values():
        complaints.append(Complaint(path=paths[0], line=1, message=_NO_INDEX, note=True))
    return complaints


def _known(rules: Sequence[Rule], releases: Releases | None) -> Mapping[str, list[str] | None]:
    """The releases of all distributions that rules name."""
    return releases(sorted(set().union(*map(distributions, rules)))) if releases and rules else {}


def _subjects(
    base: Mapping[str, Rule], vocabulary: Mapping[str, Any], known: Mapping[str, list[str] | None]
) -> dict[str, Subject]:
    """The rules that are in force, each with all of them beside it."""
    subjects: dict[str, Subject] = {}
    for name, rule in statuses.of_base(base).items():
        subjects[name] = Subject(rule, vocabulary, known, subjects.values())
    return subjects


def _replaced(rule: Rule, base: Mapping[str, Rule]) -> Iterator[Complaint]:
    """The replacement of a retired rule: another rule by its id, or a sentence that says why nothing does."""
    named = rule.replaced_by
    known = named in base and base[named].status != statuses.RETIRED
    if rule.status == statuses.RETIRED and " " not in named and not known:
        hint = "write the id of a rule that is not retired, or a sentence that says why nothing does"
        message = f"no rule `{shorten(named)}` can replace it; {hint}"
        yield Complaint(path=rule.path, line=rule.line("replaced-by"), message=message)


def _files(paths: Sequence[str]) -> tuple[list[str], list[Complaint]]:
    files: list[str] = []
    complaints = []
    for path in paths:
        found = files_below(path) if os.path.isdir(path) else [path] if os.path.isfile(path) else []
        files += [file for file in found if file not in files]
        if not found:
            message = "no rule is here; give a rule's file, or a directory that holds some"
            complaints.append(Complaint(path=path, line=1, message=message))
    return files, complaints


def _home(paths: Sequence[str]) -> str:
    """The directory that a rule belongs to: the nearest one above it with a vocabulary, else its own."""
    own = os.path.dirname(os.path.abspath(paths[0]))
    folder = own
    while not os.path.isfile(os.path.join(folder, "vocabulary.yaml")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return own
        folder = parent
    return folder


def _unfinished(rule: Rule) -> Iterator[Complaint]:
    """What the skeleton left to be written, each part by its line."""
    for key, hint in _HINTS.items():
        seen = set()
        for text, where in _words(getattr(rule, key), (key,)):
            line = rule.line(*where)
            if _TODO.search(text) and line not in seen:
                seen.add(line)
                yield Complaint(path=rule.path, line=line, message=f"`{key}` is unfinished; write {hint}")


def _words(value: Any, where: Where) -> Iterator[tuple[str, Where]]:
    """Every text in a tree of plain data, keys included, with its key path."""
    if isinstance(value, str):
        yield value, where
    elif isinstance(value, dict):
        for key, one in value.items():
            yield str(key), (*where, key)
            yield from _words(one, (*where, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _words(one, (*where, number))


def _symptoms(subject: Subject) -> Iterator[Complaint]:
    """Symptoms that many causes share, or whose expression may take very long."""
    for number, symptom in enumerate(subject.rule.symptoms):
        where = ("symptoms", number)
        message = filled(symptom.get("message", ""))
        if message:
            found = danger(message)
            if found:
                yield subject.complaint((*where, "message"), found)
        elif not ("raises" in symptom and "in" in symptom):
            given = " and ".join(f"`{key}`" for key in symptom)
            yield subject.complaint(where, f"{given} alone is not specific; add the characteristic words as `message:`")
        if message and literals(message) < LITERALS_NEEDED and not _names_a_rare_error(symptom):
            hint = f"write at least {LITERALS_NEEDED} characters that must be there literally"
            yield subject.complaint((*where, "message"), f"the message `{shorten(message)}` is not specific; {hint}")


def _names_a_rare_error(symptom: Mapping[str, str]) -> bool:
    """Whether the class alone tells most: one of some library's own, or raised in a named one."""
    return "raises" in symptom and ("in" in symptom or not hasattr(builtins, symptom["raises"]))


def _references(subject: Subject) -> Iterator[Complaint]:
    """References that are missing or lead nowhere."""
    if not subject.rule.references:
        hint = "add the address of the thread or the release notes that tell of it"
        yield subject.complaint(("references",), f"a rule needs a reference; {hint}")
    urls = {("references", number): url for number, url in enumerate(subject.rule.references)}
    urls |= {where: cell["recorded"] for where, cell in subject.cells() if "recorded" in cell}
    for where, url in urls.items():
        if not _is_address(url):
            yield subject.complaint(where, f"`{shorten(url)}` is not an address; write https://...")


def _lost(rules: Sequence[Rule], gone: Gone) -> list[Complaint]:
    """References to addresses that do not exist."""
    nowhere = gone([url for rule in rules for url in rule.references])
    return [
        Complaint(path=rule.path, line=rule.line("references", number), message=f"nothing is at {shorten(url)}")
        for rule in rules
        for number, url in enumerate(rule.references)
        if url in nowhere
    ]


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and "." in parts.netloc and not re.search(r"\s", url)


def distributions(rule: Rule) -> set[str]:
    """Every distribution that a rule names."""
    names = {leaf.key for leaf in leaves(rule.when, ()) if leaf.fact == "packages"}
    names |= rule.consumers.keys()
    for cell in [*rule.proof["bad"], *rule.proof["good"]]:
        names |= cell.get("packages", {}).keys() if "recorded" not in cell else set()
    names |= {name for _, name, _ in _required(rule)}
    return {name for name in names if name and name != "python"}


def _required(rule: Rule) -> Iterator[tuple[Where, str, SpecifierSet]]:
    """The distributions that remedies want installed, without those in braces."""
    for number, remedy in enumerate(rule.remedies):
        texts = remedy.get("requirements") or [remedy.get("requirement", "")]
        for text in texts:
            parsed = requirement_of(text)
            if parsed is not None:
                yield ("remedies", number), str(canonicalize_name(parsed.name)), parsed.specifier


def _ranges(subject: Subject) -> Iterator[Complaint]:
    """Ranges that hold no release or every one, and distributions that the index does not know."""
    for where, name, specifier in _stated_ranges(subject.rule):
        versions = subject.releases(name)
        if versions is None:
            continue
        if versions and not specifier:
            continue
        inside = [version for version in versions if within(version, specifier)]
        if not versions:
            yield subject.complaint(where, f"no index knows a distribution `{name}`; look at its spelling")
        elif not inside:
            hint = f"its releases go from {versions[0]} to {versions[-1]}"
            yield subject.complaint(where, f"`{name}: {specifier}` holds for no release; {hint}")
        elif len(inside) == len(versions) and where[0] == "when":
            hint = f"write `{name}: present`, or the release where it begins"
            yield subject.complaint(where, f"`{name}: {specifier}` holds for every release; {hint}")


def _stated_ranges(rule: Rule) -> Iterator[tuple[Where, str, str]]:
    for leaf in leaves(rule.when, ("when",)):
        if leaf.fact == "packages":
            yield leaf.where, leaf.key, "" if leaf.value in {"present", "absent"} else leaf.value
    for name, line in rule.consumers.items():
        yield ("consumers", name), name, line["bad"]
    for where, name, specifier in _required(rule):
        if name != "python":
            yield where, name, str(specifier)


def _versions(subject: Subject) -> Iterator[Complaint]:
    """Cells and consumers that name a release which does not exist."""
    named = [
        ((*where, "packages", name), name, version)
        for where, cell in subject.cells()
        if "recorded" not in cell
        for name, version in cell.get("packages", {}).items()
    ]
    named += [(("consumers", name), name, line["works"]) for name, line in subject.rule.consumers.items()]
    for where, name, version in named:
        versions = subject.releases(name)
        if versions is None or version is None or any(_same(version, one) for one in versions):
            continue
        if not versions:
            yield subject.complaint(where, f"no index knows a distribution `{name}`; look at its spelling")
        else:
            hint = f"write an existing one, or add `recorded: address`; the newest is {versions[-1]}"
            yield subject.complaint(where, f"{name} has no release {version}; {hint}")


def _same(one: str, other: str) -> bool:
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def _proof_file(subject: Subject) -> Iterator[Complaint]:
    """Complain of a proof that is older than its rule, was not written by the runner, or shows the rule to be wrong."""
    rule = subject.rule
    found = record.read(proof_of(rule.path))
    if found is None:
        return
    status = record.status(rule, subject.vocabulary, found)
    again = f"run: envdoctor rules verify {rule.id}"
    if found["edited"]:
        yield subject.complaint(("proof",), f"the proof file was not written by the runner as it is; {again}")
    elif status == record.STALE:
        yield subject.complaint(("proof",), f"the rule has changed since its proof was run; {again}")
    elif status == record.REFUTED and rule.status != statuses.CANDIDATE:
        for trial in found["trials"]:
            if trial["verdict"] == "contradicts":
                said = f"{trial['trial']} was run: {trial.get('reason')}; correct the rule"
                yield subject.complaint(("proof",), said)


_OF_A_LEAD = (_symptoms, symptoms_of_everybody, _references, _ranges, _versions, proof_contradicted, _proof_file)
_OF_RECORD = (proof_underivable, remedies_not_quiet, severity_unshown)
#: Everything that lint asks of one rule by itself, by what is stated as its status.
DEMANDS: Mapping[str, Sequence[Callable[[Subject], Iterator[Complaint]]]] = {
    "": (*_OF_A_LEAD, edges_unproven, project_unproven, remedies_without_effect, scripts_dishonest, *_OF_RECORD),
    statuses.CANDIDATE: _OF_A_LEAD,
    statuses.RETIRED: (),
}
