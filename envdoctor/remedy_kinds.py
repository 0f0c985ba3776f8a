"""The kinds of remedy: one row for each, with all that they differ in."""

from __future__ import annotations

from envdoctor.immutable import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class RemedyKind(Record):
    """A verb of a rule's remedies. Functions are named as ``module:function`` (see :func:`facts.implementation`).

    ``reads`` is how its value is read (``(node) -> fields of the remedy``), ``takes`` the part of the rules' schema
    that describes that value, and ``said`` how it is put into words where there is no command (``(remedy) -> str``).

    ``verb`` is that of its action, where it is not its own. ``words`` are those of the installer's calls
    (``(action, place) -> calls``), ``line`` is what any shell takes (``(action, system) -> str``); one without either
    is done by hand. Several that are ``joinable`` may become one command.

    An action that ``moves`` changes which releases are there, and ``removes`` its packages before it installs its
    requirements; one that ``renews`` its packages installs the same again. ``changes`` is what becomes of facts, by the
    name of their kind (``(effect, key, value) -> value``). One with an ``instead`` has ``with`` beside it: the
    requirements to install.
    """

    reads: str
    takes: str
    said: str = "envdoctor.renderers.layout:told"
    verb: str = ""
    safety: str = "safe"
    words: str = ""
    line: str = ""
    joinable: bool = False
    moves: bool = False
    removes: bool = False
    renews: bool = False
    changes: Mapping[str, str] = {}
    instead: bool = False

    @property
    def typed(self) -> bool:
        """Whether a line can carry it out."""
        return bool(self.words or self.line)


_READ, _WORDS, _EFFECTS = "envdoctor.rulebase.remedy:", "envdoctor.remedies.words:", "envdoctor.engine.effects:"
_SAID = "envdoctor.renderers.layout:"


def _installs(reads: str) -> RemedyKind:
    """A verb that ends in installed requirements."""
    return RemedyKind(
        reads=_READ + reads, takes="requirements", said=_SAID + "required", verb="install", words=_WORDS + "install",
        joinable=True, moves=True,
    )  # fmt: skip


KINDS: Mapping[str, RemedyKind] = {
    "upgrade": _installs("bounded"),
    "downgrade": _installs("bounded"),
    "pin": _installs("bounded"),
    "install": _installs("requirements"),
    "uninstall": RemedyKind(
        reads=_READ + "distributions", takes="distributions", words=_WORDS + "uninstall", joinable=True, moves=True,
        removes=True,
    ),
    "reinstall": RemedyKind(
        reads=_READ + "distributions", takes="distributions", words=_WORDS + "reinstall", joinable=True, renews=True
    ),
    "replace": RemedyKind(
        reads=_READ + "distributions", takes="distributions", said=_SAID + "replaced", words=_WORDS + "replace",
        moves=True, removes=True, instead=True,
    ),
    "set": RemedyKind(
        reads=_READ + "entry", takes="entry", said=_SAID + "entry", changes={"config": _EFFECTS + "entry"}
    ),
    "setenv": RemedyKind(
        reads=_READ + "variable", takes="variable", said=_SAID + "variable", line="envdoctor.remedies.shell:variable",
        changes={"env": _EFFECTS + "variable"},
    ),
    "change": RemedyKind(
        reads=_READ + "text", takes="text", safety="manual", changes={"source": _EFFECTS + "source"}
    ),
}  # fmt: skip


def verb_of(kind: str) -> str:
    """The verb of the action of a kind of remedy."""
    return KINDS[kind].verb or kind
