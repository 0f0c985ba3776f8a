"""Writes the catalogue of rules: a page for each, and an index by distribution.

python -m envdoctor.workshop.catalogue [RULES] [DIRECTORY]      (default: rules docs/rules)
python -m envdoctor.workshop.catalogue --diff                    says what is out of date, and fails
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.engine.wording import worded
from envdoctor.errors import RuleError
from envdoctor.rulebase import record
from envdoctor.rulebase import status as statuses
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.sources import proof_of
from envdoctor.rulebase.syntax import read_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule

_INDEX = "README.md"


def well_formed(directory: str) -> list[tuple[Rule, Mapping[str, Any] | None]]:
    """The rules of a directory, each with its proof. Raises :class:`RuleError` where they are not well formed."""
    rules, complaints = read_rules(directory, vocabulary_of(directory))
    if complaints:
        raise RuleError("the rules are not well formed:\n  " + "\n  ".join(map(str, complaints)))
    return [(rule, record.read(proof_of(rule.path))) for rule in rules]


def pages(directory: str, known: Sequence[tuple[Rule, Mapping[str, Any] | None]] = ()) -> dict[str, str]:
    """The text of every page, by file name, for the rules of a directory, which are read unless they are known."""
    known = known or well_formed(directory)
    words, rules = vocabulary_of(directory), [rule for rule, _ in known]
    proofs = {rule.id: proof for rule, proof in known}
    status = {rule.id: record.status(rule, words, proofs[rule.id]) for rule in rules}
    found = {f"{rule.id}.md": "\n".join(_page(rule, status[rule.id], proofs[rule.id])) + "\n" for rule in rules}
    found[_INDEX] = "\n".join(_index(rules, status)) + "\n"
    return found


def _said(text: str) -> str:
    return worded(" ".join(text.split()), {}).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Text as code, in a table too."""
    return f"`{text}`".replace("|", "\\|")


def _page(rule: Rule, status: str, proof: Mapping[str, Any] | None) -> Iterator[str]:
    yield f"# {rule.id}"
    yield ""
    yield f"{_said(rule.title)}."
    yield ""
    yield "| | |"
    yield "|---|---|"
    if rule.status == statuses.RETIRED:
        yield f"| Status | retired: {_replaced(rule)} |"
        return
    standing = statuses.of(rule, status)
    for label, text in (
        ("Status", standing),
        ("Severity", _severity(rule, standing)),
        ("Impact", rule.impact),
        ("Range", _range(rule)),
        ("Proven by", _proven(status, proof)),
        ("Remedies", "<br>".join(map(_remedy, rule.remedies))),
        ("References", "<br>".join(f"<{one}>" for one in rule.references)),
    ):
        yield f"| {label} | {text} |"
    yield ""
    yield _said(rule.why)


def _replaced(rule: Rule) -> str:
    return _said(rule.replaced_by) if " " in rule.replaced_by else f"see [{rule.replaced_by}]({rule.replaced_by}.md)"


def _severity(rule: Rule, standing: str) -> str:
    """The severity that is stated and, where it differs, the one of findings."""
    shown = statuses.severity(rule, standing)
    return shown if shown == rule.severity else f"{shown} ({rule.severity}, once it is proven)"


def _range(rule: Rule) -> str:
    when = yaml.safe_dump(dict(rule.when), default_flow_style=True, sort_keys=False, width=10_000).strip()
    lines = [code(when.removeprefix("{").removesuffix("}"))]
    for name, line in rule.consumers.items():
        less = f", {line['severity']}" if "severity" in line else ""
        lines.append(f"{name} {code(line['bad'])}{_gap(line)}{less}")
    return "<br>".join(lines)


def _gap(line: Mapping[str, Any]) -> str:
    """What is said where the release that works is not the first one past the range."""
    ends = [Version(one.version) for one in SpecifierSet(line["bad"]) if one.operator in {"<", "<="}]
    if not (line["works"] and ends) or Version(line["works"]) in ends:
        return ""
    return f" (works from {line['works']}; for releases in between nothing was shown)"


def _proven(status: str, proof: Mapping[str, Any] | None) -> str:
    """How many trials agreed, on which Pythons, and when."""
    if proof is None or status == record.STALE:
        return status
    trials = proof["trials"]
    agreed = [trial for trial in trials if trial["verdict"] == "agrees"]
    pythons = sorted({".".join(one["python"].split(".")[:2]) for one in agreed}, key=lambda one: int(one.split(".")[1]))
    where = f" on Python {', '.join(pythons)}" if pythons else ""
    said = f"{status}: {len(agreed)} of {len(trials)} trials agree{where}, {proof['date']}"
    reasons = dict.fromkeys(_said(one["reason"]) for one in trials if one["verdict"] != "agrees")
    return "<br>".join([said, *reasons])


def _remedy(remedy: Mapping[str, Any]) -> str:
    what = remedy.get("requirement") or ", ".join(remedy.get("requirements", ())) or remedy.get("package") or ""
    if "text" in remedy:
        said = _said(remedy["text"])
    elif "to" in remedy:
        name = remedy.get("key") or remedy.get("name")
        said = "set " + code(f"{name}={remedy.get('to')}")
        said += f" in {code(remedy['file'])}" if remedy.get("file") else " in the environment"
    else:
        said = f"{remedy['kind']} {code(_said(what.replace('{requirement}', 'NAME')).replace('&lt;', '<'))}"
    tags = [remedy["safety"]] if remedy["safety"] == "workaround" else []
    tags += ["for the build environment only"] if remedy["at"] == "build" else []
    return said + (f" ({', '.join(tags)})" if tags else "")


def _index(rules: Sequence[Rule], status: Mapping[str, str]) -> Iterator[str]:
    proven = sum(one == record.PROVEN for one in status.values())
    yield "# Rules"
    yield ""
    live = statuses.of_base({rule.id: rule for rule in rules}).values()
    yield f"{len(live)} rules, {proven} proven by running them. By distribution; those about Python itself come last."
    for title, some in (*_by_name(live), *_aside(rules)):
        yield from ("", f"## {title}", "", *(_line(rule, status[rule.id]) for rule in some))


def _by_name(rules: Iterable[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    """The distributions that rules are about, each with its rules; what is about none comes last."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        for name in about(rule) or [""]:
            found.setdefault(name, []).append(rule)
    for name in sorted(found, key=lambda name: (not name, name)):
        yield name or "Python and the machine", found[name]


def _aside(rules: Sequence[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    """The rules that are not in force, by why."""
    for title, status in (("Candidates", statuses.CANDIDATE), ("Retired", statuses.RETIRED)):
        some = [rule for rule in rules if rule.status == status]
        if some:
            yield title, some


def _line(rule: Rule, status: str) -> str:
    standing = statuses.of(rule, status)
    shown = {statuses.STABLE: status, statuses.RETIRED: standing}.get(standing, f"{standing}, {status}")
    shown = shown if standing == statuses.RETIRED else f"{statuses.severity(rule, standing)}, {shown}"
    return f"- [{rule.id}]({rule.id}.md): {_said(rule.title)} ({shown})"


def about(rule: Rule) -> list[str]:
    """The distributions that a rule names."""
    from envdoctor.rulebase.when_tree import leaves

    named = {leaf.key for leaf in leaves(rule.when, ()) if leaf.fact == "packages" and leaf.value != "absent"}
    return sorted({*named, *rule.consumers})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the catalogue, or say where it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="?", default="rules")
    parser.add_argument("directory", nargs="?", default=os.path.join("docs", "rules"))
    parser.add_argument("--diff", action="store_true")
    options = parser.parse_args(arguments)
    wanted = pages(options.rules)
    present = _present(options.directory)
    changed = sorted(name for name in {*wanted, *present} if wanted.get(name) != present.get(name))
    if options.diff:
        for name in changed:
            print(
                f"{os.path.join(options.directory, name)} is out of date; run: python -m envdoctor.workshop.catalogue"
            )
        return int(bool(changed))
    os.makedirs(options.directory, exist_ok=True)
    for name in changed:
        path = os.path.join(options.directory, name)
        if name in wanted:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(wanted[name])
        else:
            os.unlink(path)
    print(f"{len(wanted)} pages, {len(changed)} of them changed", file=sys.stderr)
    return 0


def _present(directory: str) -> dict[str, str]:
    found = {}
    for name in os.listdir(directory) if os.path.isdir(directory) else ():
        if name.endswith(".md"):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                found[name] = file.read()
    return found


if __name__ == "__main__":
    sys.exit(main())
