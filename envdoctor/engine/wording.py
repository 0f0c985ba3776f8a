"""What the texts of a rule say, with what is known in place of what they name in braces.

Where not everything that they may name is known, no braces reach a reader.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Words for what only a finding can name. A text says the others in a clause that can be left out.
UNNAMED = {
    "consumer": "a consumer", "works": "a later release", "distribution": "a distribution", "file": "a file",
    "call": "a call", "name": "a name", "module": "a module", "key": "a key", "writer": "another environment",
    "functions": "{...}", "artifact": "artefact", "start_method": "its start method",
    "object": "an object", "given": "it",
}  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def fill(text: str, names: Mapping[str, str]) -> str:
    """Replace ``{name}`` by its value; other braces stay."""
    if "{" not in text:
        return text
    said, *pieces = text.split("{")
    for piece in pieces:
        name, brace, rest = piece.partition("}")
        said += names[name] + rest if brace and name in names else "{" + piece
    return said


def said(text: str, names: Mapping[str, str]) -> str:
    """A text of a rule with what is known in place of its placeholders, and words for what is not.

    It may be about one consumer, which may have no release that works.
    """
    if names.get("works") == "":
        text = text.replace(" before {works}", "")
    return worded(text, names)


def worded(text: str, names: Mapping[str, str]) -> str:
    """A text with what is known in place of its placeholders, without the clauses that name something else."""
    return fill(_with_clauses(text, names), {**UNNAMED, **names}) if "{" in text else text


def whole(text: str) -> str:
    """A text as if everything that it may name were known: its clauses without the brackets and other words."""
    return _with_clauses(text, None)


def unsaid(text: str) -> list[str]:
    """The placeholders outside of clauses for which there are no other words."""
    outside = "".join("" if isinstance(part, tuple) else part for part in _parts(text))
    return [word for word in placeholders(outside) if word not in UNNAMED]


def placeholders(text: str) -> list[str]:
    """The names in braces, in order."""
    found = [piece.partition("}") for piece in text.split("{")[1:]]
    return [name for name, brace, _ in found if brace and name and not name.strip(_LETTERS)]


def _with_clauses(text: str, names: Mapping[str, str] | None) -> str:
    """A text with those of its clauses that can be said where these names are known, or all of them for ``None``.

    A clause is ``[in {file}, line {line}]``; with words for where one of them is not known,
    ``[Python {found}|this Python]``.
    """
    said, begins = "", False
    for part in _parts(text):
        if isinstance(part, str):
            piece = part
        elif names is None or all(word in names for word in placeholders(part[0])):
            piece = part[0]
        else:
            piece, begins = part[1] or "", begins or (part[1] is None and part[0][0].isupper())
        said += piece[:1].upper() + piece[1:] if begins else piece
        begins = begins and not piece
    return said


def _parts(text: str) -> list[str | tuple[str, str | None]]:
    """A text in parts: what is outside of clauses, and of each clause its own words and those in place of them."""
    first, *pieces = text.split("[")
    parts: list[str | tuple[str, str | None]] = [first]
    for piece in pieces:
        inside, bracket, rest = piece.partition("]")
        clause, bar, other = inside.partition("|")
        if bracket and "|" not in other and placeholders(clause):
            parts += [(clause, other if bar else None), rest]
        else:
            parts.append("[" + piece)
    return parts
