"""One clue of a text with who is concerned by it, and the words for both. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.derived_words import WORDS
from envdoctor.engine.suspects import parties
from envdoctor.engine.symptoms import short
from envdoctor.engine.versions import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.engine.families import Clue
    from envdoctor.engine.metadata_conflicts import Requirements
    from envdoctor.engine.names import Names
    from envdoctor.model import Distribution, Snapshot

#: Families that tell where something happened and not what is wrong, and the rules of their findings.
VAGUE_FAMILIES = frozenset({"frames", "warning", "crash"})
VAGUE = frozenset(WORDS[family].rule for family in VAGUE_FAMILIES)
_SAY_THEMSELVES = frozenset({"announced", "stated", "voice"})
_MISSING = frozenset({"missing-name", "missing-attribute", "missing-module"})
#: How much of a text one line of a finding quotes, and how many unmet requirements it lists.
MOST_SAID, _MOST_UNMET = 160, 3


_DRIVE = re.compile(r"/|[A-Za-z]:[\\/]")
_LIBRARY = re.compile(
    r"(?i)(?:site|dist)-packages|[\\/]lib(?:64|32)?[\\/](?:pypy|python)|[\\/]python[\d.]*[\\/]lib[\\/]|conda\d?[\\/]lib"
)


class Case:
    """One clue, who is concerned by it, and the row of words that fits.

    ``seen`` is what was found in files, see :func:`envdoctor.engine.derived.derive`. ``life`` is that of what is asked
    for, and ``asking`` how long it is asked for, as far as releases tell.
    """

    def __init__(
        self, clue: Clue, names: Names, snapshot: Snapshot, seen: Mapping[str, Any], requirements: Requirements
    ) -> None:
        self.clue = clue
        self.said = clue.groups
        self.names = names
        self.snapshot = snapshot
        edges = seen.get("edges", {}).get(clue.said)
        self.life: Any = (edges and edges.life) or seen.get("history", {}).get((self._module(), self.said.get("name")))
        self._is_read = bool(edges and edges.life)
        self.asking: Any = edges and edges.asking
        self.who = parties(clue, names, seen, complete=snapshot.complete)
        found = {side: name for side in ("provider", "consumer") if (name := edges and getattr(edges, side))}
        if found:
            self.who = self.who.replace(**found, left=(), others=())
        self.made = bool(edges and edges.made)
        self.offer: tuple[str, str] | None = seen.get("offers", {}).get((self._module(), self.said.get("name", "")))
        self.python = str(snapshot.python.get("version") or "")
        self.since = self.asking.tells if self.asking else ""
        self._requirements = requirements
        self.words = WORDS[self._key()]

    def tells(self) -> bool:
        """Whether there is anything to say: a distribution, the interpreter, or a family that needs neither."""
        if self.packages() or self._is_of_library():
            return True
        if self.clue.family in {*VAGUE_FAMILIES, *_SAY_THEMSELVES}:
            return False
        return self.who.python or self.clue.family not in {*_MISSING, "signature", "super"}

    def _is_of_library(self) -> bool:
        """Whether code of the user's own called what failed in the standard library."""
        return self.clue.family == "frames" and self.who.python and self.who.own is not None

    def packages(self) -> list[str]:
        """The distributions concerned: who asked, who was asked, what else the message names, and who else may be."""
        who = self.who
        found = (who.consumer, who.provider, *who.others, *who.left, *who.alike)
        return list(dict.fromkeys(name for name in found if name))

    def version(self, name: str) -> str:
        """The installed version of a distribution; empty where it is not known."""
        have = self.snapshot.packages.get(name)
        return (have.version if have else None) or ""

    def left(self, name: str) -> str:
        """The releases of a distribution that have what is asked for, where the history and what is here agree.

        Between two releases of the shipped history there may be others that lack it already.
        """
        life = self.life if self.life and self.life.distribution == name else None
        if not (life and life.gone and within(self.version(name) or life.gone, f">={life.gone}")):
            return ""
        return f"<{life.gone}" if self._is_read else f"<={life.last}"

    def came(self, name: str) -> str:
        """The first release of a distribution with what is asked for, where what is here is older or not known."""
        since = self.life.since if self.life and self.life.distribution == name and not self.life.gone else None
        return since if since and not (self.version(name) and within(self.version(name), f">={since}")) else ""

    def release(self, name: str) -> str:
        """A distribution with its version, where that is known."""
        return f"{name} {self.version(name)}".strip()

    def unmet(self) -> list[tuple[Distribution, str, str]]:
        """What the metadata of those concerned requires and the environment does not have: owner, line and name."""
        concerned = set(self.packages())
        found = self._requirements.unmet() if concerned and self.snapshot.packages else []
        ours = [(owner, line, name) for owner, _, line, name in found if {owner.name, name} & concerned]
        return ours[:_MOST_UNMET]

    def dotted(self) -> Iterator[str]:
        """The dotted name that is missing, and all that it is below."""
        module, name = self._module(), self.said.get("name", "")
        method = self.names.method(self.said.get("owner", ""), name)
        if method:
            yield method
        if module and name:
            yield f"{module}.{name}"
        while module:
            yield module
            module = module.rpartition(".")[0]

    def _module(self) -> str:
        return self.said.get("module", "")

    # -- which words -------------------------------------------------------------------------------------------------

    def _key(self) -> str:
        family = self.clue.family
        if family not in _MISSING:
            return self._of_calls(family)
        if self._hidden() or self.made:
            return "missing/made" if self.made else "shadowed"
        if self.who.python or self.names.standard(self._module()):
            return "missing/python-without" if self._is_always_there() else f"missing/python{self._moved()}"
        return f"missing{self._variant()}"

    def _of_calls(self, family: str) -> str:
        """The words of a family in which nothing is missing by name."""
        if family == "signature" and self.who.python:
            return "descriptor"
        if family in {"signature", "frames", "super"} and not self.who.provider:
            variant = "python" if self._is_of_library() else "unknown"
            return f"{family.replace('super', 'frames')}/{variant}"
        return "program/unknown" if family == "program" and not self.who.consumer else family

    def _hidden(self) -> bool:
        """Whether a file of the user's own has the name of a module that another one brings.

        The text says where it was found, or misses what the library of every Python has.
        """
        path, module = self.said.get("path", ""), self._module()
        if self._is_always_there() and "." in next(self.dotted()):
            return True
        if not _DRIVE.match(path) or _LIBRARY.search(path):
            return False
        return self.names.standard(module) or self.names.distribution(module) in self.snapshot.packages

    def _is_always_there(self) -> bool:
        """Whether the standard library of every version has what is missing."""
        return self.names.standard(self._module()) and self.names.always(next(self.dotted()))

    def _variant(self) -> str:
        """How it comes that a distribution does not have what was asked for."""
        who, installed = self.who, self.snapshot.packages
        verdict = self.offer[0] if self.offer else ""
        whole = "." not in self._module() or (self.snapshot.complete and installed)
        absent = bool(whole) and who.provider not in installed
        variants = (
            ("/unknown", not who.provider),
            ("/inside", who.inside),
            ("/loading", who.loading and self.clue.family == "missing-module"),
            ("/absent", absent and self.clue.family == "missing-module"),
            ("/submodule", verdict == "submodule"),
            ("/there", verdict == "there"),
            ("/own", who.own is not None),
        )
        return next((variant for variant, fits in variants if fits), "")

    def _moved(self) -> str:
        """Whether the standard library has it no longer, or not yet, as far as is known."""
        found = next(filter(None, map(self.names.moved, self.dotted())), None)
        if found is None:
            return ""
        self.since = found[1]
        return f"-{found[0]}"

    # -- in words ----------------------------------------------------------------------------------------------------

    def fields(self) -> dict[str, str]:
        """The texts that replace the words in braces."""
        who, said = self.who, self.said
        named = [self.release(name) for name in (who.provider, *who.others) if name]
        minor = ".".join(self.python.split(".")[:2])
        return {
            "asker": self._asker(),
            "asked": self._asked(),
            "consumer": who.consumer or "the program",
            "provider": who.provider or "what it uses",
            "thing": self._thing(),
            "said": short(self._first_said("said") or self.clue.said, MOST_SAID),
            "python": f"Python {minor}" if minor else "this Python",
            "since": self.since,
            "object": f"`{short(said.get('object', '').strip(chr(39)), MOST_SAID)}`",
            "library": self._first_said("library", "program", "named", "name") or "that the text names",
            "requirement": self._first_said("requirement", "distribution"),
            "also": f"Concerned besides: {', '.join(named)}." if named else "",
        }

    def _first_said(self, *names: str) -> str:
        """The first of some parts of the text that it has; empty where it has none."""
        return next((self.said[name] for name in names if self.said.get(name)), "")

    def _asked(self) -> str:
        if self.who.provider:
            return self.release(self.who.provider)
        return "Python" if self.who.python else "what is installed"

    def _asker(self) -> str:
        who = self.who
        if who.consumer:
            return self.release(who.consumer)
        if who.own is not None:
            line = f", line {who.own.line}" if who.own.line else ""
            return f"your own code ({who.own.file}{line})"
        return "the program"

    def _thing(self) -> str:
        said = self.said
        name = self._first_said("name", "named")
        if "function" in said and self.clue.family == "signature":
            return f"`{said['function']}()`"
        if "symbol" in said:
            return f"`{said['symbol']}`"
        owner = said.get("owner") or said.get("module")
        if owner:
            return f"`{owner}.{name}`" if name else f"`{owner}`"
        return f"`{name}`" if name else "what is asked for"


def filled(text: str, fields: Mapping[str, str]) -> str:
    """A text with its words in braces replaced; where one is empty, without the gap that it leaves."""
    for name, value in fields.items():
        text = text.replace("{" + name + "}", value)
    return " ".join(text.split()).replace(" ,", ",").replace(" .", ".")
