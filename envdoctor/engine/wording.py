"""What the texts of a rule say where not everything that they may name is known: no braces reach a reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Words for what only a finding can name. A text says the others in a clause that can be left out.
UNNAMED = {
    "consumer": "a consumer", "works": "a later release", "distribution": "a distribution", "file": "a file",
    "call": "a call", "name": "a name", "module": "a module", "key": "a key", "writer": "another environment",
    "functions": "{...}", "artifact": "artefact", "start_method": "its start method",
}  # fmt: skip
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
#: ``[in {file}, line {line}]``; with words for where one of them is not known, ``[Python {found}|this Python]``.
_CLAUSE = re.compile(r"\[([^\[\]|]*\{[a-z_]+\}[^\[\]|]*)(?:\|([^\[\]|]*))?\]")
_BEGUN = "\0"


def worded(text: str, names: Mapping[str, str]) -> str:
    """A text with what is known in place of its placeholders, without the clauses that name something else."""

    def clause(found: re.Match[str]) -> str:
        if all(word in names for word in PLACEHOLDER.findall(found[1])):
            return found[1]
        if found[2] is not None:
            return found[2]
        return _BEGUN if found[1][0].isupper() else ""

    said = re.sub(_BEGUN + "(.?)", lambda found: found[1].upper(), _CLAUSE.sub(clause, text))
    return PLACEHOLDER.sub(lambda found: names.get(found[1], UNNAMED.get(found[1], found[0])), said)


def whole(text: str) -> str:
    """A text as if everything that it may name were known: its clauses without the brackets and other words."""
    return _CLAUSE.sub(r"\1", text)


def unsaid(text: str) -> list[str]:
    """The placeholders outside of clauses for which there are no other words."""
    return [word for word in PLACEHOLDER.findall(_CLAUSE.sub("", text)) if word not in UNNAMED]
