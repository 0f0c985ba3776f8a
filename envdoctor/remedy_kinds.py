"""The kinds of remedy: one row for each, with all that they differ in."""

from __future__ import annotations

from envdoctor.facts import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class RemedyKind(Row):
    """A verb of a rule's remedies. Functions are named as ``module:function`` (see :class:`~envdoctor.facts.Row`).

    ``reads`` is how its value is read (``(node) -> fields of the remedy``), ``takes`` the part of the rules' schema
    that describes that value, and ``said`` how it is put into words where there is no command (``(remedy) -> str``).

    ``verb`` is that of its action, where it is not its own. ``words`` are those of the installer's calls
    (``(action, place) -> calls``), ``line`` is what any shell takes (``(action, system) -> str``); one without either
    is done by hand. Several that are ``joinable`` may become one command.

    An action that ``moves`` changes which releases are there, and ``removes`` its packages before it installs its
    requirements; one that ``renews`` its packages installs the same again. ``changes`` says how facts change, by the
    name of their kind (``(effect, key, value) -> value``). One with an ``instead`` has ``with`` beside it: the
    requirements to install.
    """

    reads: str
    takes: str
    said: str = "by_hand"
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
    _homes: Mapping[str, str] = {
        "reads": "rulebase.remedy",
        "said": "renderers.layout",
        "words": "remedies.words",
        "line": "remedies.shell",
        "changes": "engine.effects",
    }

    @property
    def typed(self) -> bool:
        """Whether a line can carry it out."""
        return bool(self.words or self.line)


# fmt: off
_BOUNDED = RemedyKind(
    reads="bounded", takes="requirements", said="required", verb="install", words="install", joinable=True, moves=True,
)
KINDS: Mapping[str, RemedyKind] = {
    "upgrade": _BOUNDED,
    "downgrade": _BOUNDED,
    "pin": _BOUNDED,
    "install": _BOUNDED.replace(reads="requirements"),
    "uninstall": RemedyKind(
        reads="distributions", takes="distributions", words="uninstall", joinable=True, moves=True, removes=True,
    ),
    "reinstall": RemedyKind(
        reads="distributions", takes="distributions", words="reinstall", joinable=True, renews=True,
    ),
    "replace": RemedyKind(
        reads="distributions", takes="distributions", said="replaced", words="replace", moves=True, removes=True,
        instead=True,
    ),
    "set": RemedyKind(reads="entry", takes="entry", said="entry", changes={"config": "entry"}),
    "setenv": RemedyKind(
        reads="variable", takes="assignment", said="variable", line="variable", changes={"env": "variable"},
    ),
    "change": RemedyKind(reads="text", takes="text", safety="manual", changes={"source": "source"}),
}
# fmt: on


def verb_of(kind: str) -> str:
    """The verb of the action of a kind of remedy."""
    return KINDS[kind].verb or kind


def scalar(value: object) -> str:
    """A value as configuration states it, in quotes where it may need them."""
    import json
    import re

    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w./-]*", value) else json.dumps(value)
