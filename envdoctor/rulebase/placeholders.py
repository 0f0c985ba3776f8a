"""Words in braces that a rule's texts may have: which are known, and which do not belong there."""

from __future__ import annotations

from typing import Any

from envdoctor.engine.wording import fill, placeholders, unsaid, whole
from envdoctor.facts import WORDS
from envdoctor.rulebase.document import Node
from envdoctor.rulebase.when_tree import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.rulebase.document import Where

#: What texts may name in braces: in a rule with consumers, and in one about installed metadata.
CONSUMER_NAMES = {"consumer": "name", "works": "1.0", "module": "name"}
INSTALLED_NAMES = {
    "distribution": "name", "requirement": "name==1.0", "required": "name", "found": "1.0",
    "lock": "name.lock", "sync": "tool sync",
}  # fmt: skip

#: The texts of a rule that readers see, also where a text is explained without an environment.
_SAID = ("title", "why", "change", "effect")


def filled(text: str) -> str:
    """A text with something plausible in place of the words in braces."""
    names = {
        **{name: "name" for kind in WORDS.values() for name in kind.names},
        **CONSUMER_NAMES,
        **INSTALLED_NAMES,
    }
    return fill(whole(text), names)


def complain_of_placeholders(fields: Mapping[str, Node], values: Mapping[str, Any]) -> None:
    """Refuse words in braces that nothing will fill."""
    known = _known(values)
    for key in ("title", "why", "remedies"):
        if key in fields:
            _complain_of_unsaid(fields[key], key, known)
    for key in ("title", "why", "remedies", "symptoms"):
        for text, where in strings(fields[key].value, (key,)) if key in fields else ():
            for word in placeholders(text):
                if word not in known and (known or word in CONSUMER_NAMES or word in INSTALLED_NAMES):
                    _complain_of_placeholder(fields[key], where, word, known)


def _known(values: Mapping[str, Any]) -> set[str]:
    """The names that a match of a rule gives its texts."""
    known: set[str] = set()
    if values.get("consumers"):
        known |= CONSUMER_NAMES.keys()
    conditions = [values.get("when", {}), *(remedy.get("when", {}) for remedy in values.get("remedies", ()))]
    facts = {leaf.fact for condition in conditions for leaf in leaves(condition, ())}
    if "installed" in facts:
        known |= INSTALLED_NAMES.keys()
    return known.union(*(WORDS[fact].names for fact in facts))


def _complain_of_placeholder(node: Node, where: Where, word: str, known: set[str]) -> None:
    words = "one of " + ", ".join(f"{{{one}}}" for one in sorted(known)) if known else "the name itself"
    Node(node.book, where, word).complain(f"nothing fills {{{word}}} in this rule; write {words}")


def _complain_of_unsaid(node: Node, key: str, known: set[str]) -> None:
    """Refuse a text for readers that says nothing where one of its words is not known."""
    for text, where in strings(node.value, (key,)):
        for word in unsaid(text) if where[-1] in _SAID else ():
            if word in known:
                Node(node.book, where, text).complain(
                    f"without {{{word}}} this cannot be said, and not every reader's text or project tells it; put the "
                    f"clause in brackets, [... {{{word}}} ...], or with other words, [... {{{word}}} ...|...]"
                )


def strings(value: Any, where: Where) -> Iterator[tuple[str, Where]]:
    """Every text in a tree of plain data, with its key path."""
    if isinstance(value, str):
        yield value, where
    elif isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from strings(one, (*where, key))
