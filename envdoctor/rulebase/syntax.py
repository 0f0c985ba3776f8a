"""A rule file as its author writes it -> a :class:`.Rule`. The grammar is `rules/README.md`, row by row.

Nothing here executes anything, and no text makes it raise: what is wrong comes back as complaints, all of a file at
once, each with its line and what to write instead.
"""

from __future__ import annotations

import os
import re
from typing import Any

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.errors import RuleError
from envdoctor.facts import KINDS
from envdoctor.model import IMPACTS, SEVERITIES
from envdoctor.rulebase.document import Book, Complaint, read_document, read_documents, shorten
from envdoctor.rulebase.placeholders import complain_of_placeholders, filled
from envdoctor.rulebase.project_conditions import (
    START_METHODS,
    read_project,
    read_stated_artifacts,
    read_writer,
)
from envdoctor.rulebase.remedy import read_remedies
from envdoctor.rulebase.rule import Rule
from envdoctor.rulebase.sources import VOCABULARY, files_below
from envdoctor.rulebase.status import CANDIDATE, RETIRED, STATED, STATUSES
from envdoctor.rulebase.values import read_name, read_names, read_pattern, read_specifier, read_version
from envdoctor.rulebase.when_tree import read_condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.rulebase.document import Document, Node

__all__ = ["Complaint", "load_vocabulary", "parse", "read_rules"]

PLATFORMS = ("linux", "darwin", "win32")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def parse(text: str, path: str, vocabulary: Mapping[str, Any]) -> tuple[Rule | None, list[Complaint]]:
    """Read one rule. There is a rule exactly where there is no complaint."""
    document, complaints = read_document(text, path)
    return (None, complaints) if document is None else _rule(document, complaints, vocabulary)


def _rule(
    document: Document, wrong: Sequence[Complaint], vocabulary: Mapping[str, Any]
) -> tuple[Rule | None, list[Complaint]]:
    """The rule of a document in which some things may be wrong already, and everything that is wrong with it."""
    book = Book(document, vocabulary)
    root = book.root()
    stated = root.value.get("status") if isinstance(root.value, dict) else None
    fields = root.fields(KEYS, needed=next((NEEDED[one] for one in STATED if one == stated), NEEDED[""]))
    values = {key: KEYS[key](node) for key, node in fields.items()}
    if "replaced-by" in fields and stated != RETIRED:
        fields["replaced-by"].complain("only a retired rule is replaced; add `status: retired`, or leave this out")
    complain_of_placeholders(fields, values)
    complaints = sorted([*wrong, *book.complaints], key=lambda one: one.line)
    if complaints:
        return None, complaints
    named = {key.replace("-", "_"): value for key, value in values.items()}
    return Rule(**{**DEFAULTS, **named, "path": document.path, "lines": book.lines}), []


def _id(node: Node) -> str:
    text = node.text()
    stem = os.path.splitext(os.path.basename(node.book.document.path))[0]
    if text and not _ID.fullmatch(text):
        node.complain(f"`{shorten(text)}` is not an id; write lower-case words joined by hyphens")
    elif text and text != stem:
        node.complain(f"the id `{shorten(text)}` differs from the name of the file; write `{shorten(stem)}`, or rename")
    return text


def _status(node: Node) -> str:
    text = node.text()
    if text in STATUSES and text not in STATED:
        node.complain(f"`{text}` is not stated, it follows from the proof; leave the line out")
    return text if text in STATUSES else node.choice(STATED)


def _consumers(node: Node) -> dict[str, dict[str, Any]]:
    return {name: _consumer(name, child) for name, child in read_names(node).items()}


def _consumer(name: str, node: Node) -> dict[str, Any]:
    fields = node.fields(("bad", "works", "module", "severity"), needed=("bad", "works"))
    line: dict[str, Any] = {"bad": "", "works": None, "module": name.replace("-", "_")}
    if "bad" in fields:
        line["bad"] = read_specifier(fields["bad"])
    if "works" in fields and fields["works"].value is not None:
        line["works"] = read_version(fields["works"])
    if "module" in fields:
        line["module"] = _import_name(fields["module"])
    if "severity" in fields:
        line["severity"] = fields["severity"].choice(SEVERITIES)
    return line


def _import_name(node: Node) -> str:
    text = filled(node.text())
    if text and not all(part.isidentifier() for part in text.split(".")):
        node.complain(f"`{shorten(text)}` is not what `import` takes; write a module's dotted name")
    return str(node.value)


def _symptoms(node: Node) -> list[dict[str, str]]:
    readers: dict[str, Callable[[Node], str]] = {"raises": _raises, "message": _message, "in": _import_name}
    symptoms = []
    for item in node.items():
        fields = item.fields(readers)
        if not fields:
            item.complain('a symptom needs some of: raises, message, in; write {raises: KeyError, message: "..."}')
        symptoms.append({key: readers[key](child) for key, child in fields.items()})
    return symptoms


def _raises(node: Node) -> str:
    text = node.text()
    if text and not _CLASS.fullmatch(text):
        node.complain(f"`{shorten(text)}` is not the last part of an exception's name; write one such as TypeError")
    return text


def _message(node: Node) -> str:
    text = node.text()
    read_pattern(node, filled(text))
    return text


def _references(node: Node) -> list[str]:
    return [item.text() for item in node.items()]


def _proof(node: Node) -> dict[str, Any]:
    fields = node.fields(("script", "write", "each", "bad", "good", *_BESIDES), needed=("bad",))
    proof: dict[str, Any] = {"script": "", "write": None, "each": None, "bad": [], "good": []}
    for kind in ("bad", "good"):
        if kind in fields:
            proof[kind] = [_cell(item) for item in fields[kind].items()]
    proof.update({word: read(fields[word]) for word, read in _BESIDES.items() if word in fields})
    proof.update({word: fields[word].text() for word in ("script", "write") if word in fields})
    _complain_of_cells(node, fields, proof)
    if "each" in fields:
        proof["each"] = fields["each"].choice(("consumer",))
    return proof


def _complain_of_cells(node: Node, fields: Mapping[str, Node], proof: Mapping[str, Any]) -> None:
    """What the cells of a proof need has to be there."""
    cells = [cell for cell in [*proof["bad"], *proof["good"]] if "recorded" not in cell]
    if cells and not {"script", "installs", "tests"} & fields.keys():
        node.complain("`proof` lacks `script`; write the few lines of Python that fail in a bad cell")
    if {"script", "tests"} <= fields.keys():
        fields["tests"].complain("a proof has a `script` or `tests`; leave one of them out")
    _complain_of_installed(fields.get("installs"), proof, cells)
    if "write" not in fields and any("writer" in cell for cell in [*proof["bad"], *proof["good"]]):
        node.complain("a cell names a `writer`, so `proof` needs `write`: the lines that write the artefact there")


def _complain_of_installed(node: Node | None, proof: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> None:
    """What is installed has to be among the packages of each cell, which say the release."""
    for name in proof.get("installs", ()) if node is not None else ():
        if node is not None and name != "{consumer}" and any(name not in cell.get("packages", {}) for cell in cells):
            node.complain(f"`installs` names {shorten(name)}, so each cell needs its release in `packages`")


def _installs(node: Node) -> list[str]:
    texts = [(item, item.text()) for item in node.items_or_self()]
    return [text if text == "{consumer}" else read_name(item, text) for item, text in texts if text]


def _needs(node: Node) -> list[str]:
    for item in node.items():
        text = item.text()
        if requirement_of(text) is None:
            item.complain(f"`{shorten(text)}` is not a requirement; write one such as pytest>=7")
    return [item.text() for item in node.items()]


#: What a proof may have besides its script and its cells. It is stated only where it is written.
_BESIDES: dict[str, Callable[[Node], Any]] = {
    "installs": _installs,
    "needs": _needs,
    "tests": lambda node: [_import_name(item) for item in node.items_or_self()],
}


def _cell(node: Node) -> dict[str, Any]:
    fields = node.fields(CELL)
    cell = {key: CELL[key](child) for key, child in fields.items()}
    if "python" not in fields and "recorded" not in fields and isinstance(node.value, dict):
        node.complain('a cell needs its Python; write `python: "3.11"`')
    return cell


def texts(node: Node) -> dict[str, str]:
    """Texts by name; what is set may be empty."""
    return {name: child.value if child.value == "" else child.text() for name, child in node.entries().items()}


def _cell_packages(node: Node) -> dict[str, str]:
    if node.value in (None, {}):
        return {}
    return {name: read_version(child) for name, child in read_names(node).items()}


def table(node: Node) -> dict[str, Any]:
    """The facts that a cell states, of those that a section of the vocabulary lists; without a section, of any."""
    kinds: Mapping[str, str] = node.book.vocabulary.get(node.name(), dict.fromkeys(node.entries(), "text"))
    return {key: _STATED[kinds[key]](child) for key, child in node.fields(kinds).items()}


_STATED: dict[str, Callable[[Node], Any]] = {
    "version": read_version,
    "boolean": lambda node: node.flag(),
    "text": lambda node: node.text(),
}


#: How each entry of a proof's cell is read.
CELL: dict[str, Callable[[Node], Any]] = {
    "python": read_version,
    "implementation": lambda node: node.text(),
    "free-threaded": lambda node: node.flag(),
    "debug": lambda node: node.flag(),
    "packages": _cell_packages,
    "raises": lambda node: node.text(),
    "platform": lambda node: node.choice(PLATFORMS),
    "machine": lambda node: node.text(),
    "absent": lambda node: [read_name(item, item.text()) for item in node.items()],
    "recorded": lambda node: node.text(),
    "files": read_project,
    "artifact": read_stated_artifacts,
    "writer": read_writer,
    "together": lambda node: node.flag(),
    "prepare": lambda node: node.text(),
    "finding": texts,
    "start_method": lambda node: node.choice(START_METHODS),
}
CELL.update({kind.section: kind.function("states") for kind in KINDS if kind.states})

#: How each key of a rule is read.
KEYS: dict[str, Callable[[Node], Any]] = {
    "id": _id,
    "title": lambda node: node.text().strip(),
    "several": lambda node: node.text().strip(),
    "severity": lambda node: node.choice(SEVERITIES),
    "impact": lambda node: node.choice(IMPACTS),
    "when": read_condition,
    "consumers": _consumers,
    "why": lambda node: " ".join(node.text().split()),
    "symptoms": _symptoms,
    "remedies": read_remedies,
    "references": _references,
    "proof": _proof,
    "status": _status,
    "replaced-by": lambda node: node.text().strip(),
}
_WHOLE = ("id", "title", "severity", "impact", "when", "why", "remedies", "references", "proof")
#: What has to be there, by what is stated as ``status``.
NEEDED = {"": _WHOLE, CANDIDATE: _WHOLE[:-1], RETIRED: ("id", "title", "replaced-by")}
DEFAULTS: dict[str, Any] = {
    "severity": "info", "impact": "", "when": {}, "why": "", "symptoms": [], "remedies": [], "references": [],
    "consumers": {}, "several": "", "status": "", "replaced_by": "",
    "proof": {"script": "", "write": None, "each": None, "bad": [], "good": []},
}  # fmt: skip


#: The sections of a vocabulary.
_SHAPES: dict[str, type] = {
    "pack": str,
    "families": dict,
    "companions": dict,
    "system": dict,
    "process": dict,
    "machine": dict,
    "modules": list,
    "artifacts": list,
    "calls": dict,
    "start_methods": dict,
    "workers": dict,
    "state_of_process": list,
    "distributions": dict,
    "images": dict,
    "imports": dict,
    "classes": dict,
    "aliases": dict,
    "symbols": dict,
    "plugins": dict,
    "loaders": dict,
    "voices": dict,
    "stands_in": dict,
    "compiled": dict,
    "generated": dict,
    "libraries": dict,
    "hooks": dict,
    "dotted": dict,
    "makes": dict,
    "builds": dict,
    "first_use": dict,
    "gpu": dict,
}


def load_vocabulary(path: str) -> dict[str, Any]:
    """The words that rules share, by section; see the vocabulary of envdoctor.

    Raises :class:`RuleError` where the file cannot be read or has another shape.
    """
    documents, complaints = read_documents([path])
    complaints += [one for _, found in documents for one in found]
    if complaints:
        raise RuleError("the vocabulary of the rules could not be read:\n  " + "\n  ".join(map(str, complaints)))
    ((document, _),) = documents
    data = document.data if isinstance(document.data, dict) else {"families": None}
    for key, shape in _SHAPES.items():
        if not isinstance(data.setdefault(key, shape()), shape):
            raise RuleError(f"{path} cannot be used: {key} must be a {shape.__name__}; see the vocabulary of envdoctor")
    return data


def read_rules(directory: str, vocabulary: Mapping[str, Any] | None = None) -> tuple[list[Rule], list[Complaint]]:
    """Every rule below a directory, sorted by id, and the complaints about all of them.

    The vocabulary is by default the directory's own ``vocabulary.yaml``; see :func:`load_vocabulary`.
    """
    words = load_vocabulary(os.path.join(directory, VOCABULARY)) if vocabulary is None else vocabulary
    return read_files(files_below(directory), words)


def read_files(paths: Sequence[str], vocabulary: Mapping[str, Any]) -> tuple[list[Rule], list[Complaint]]:
    """The rules of some files, sorted by id; an id that two of them share is refused."""
    documents, complaints = read_documents(paths)
    rules: dict[str, Rule] = {}
    for document, wrong in documents:
        rule, found = _rule(document, wrong, vocabulary)
        complaints += found
        if rule is not None and rule.id in rules:
            message = f"the id `{rule.id}` is taken by {rules[rule.id].path}; choose another, and rename the file"
            complaints.append(Complaint(path=rule.path, line=rule.line("id"), message=message))
        elif rule is not None:
            rules[rule.id] = rule
    return [rules[name] for name in sorted(rules)], complaints
