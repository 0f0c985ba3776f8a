"""One rule, as every room of the rule base and the workshop takes it."""

from __future__ import annotations

from typing import Any

from envdoctor.model import Record
from envdoctor.rulebase.document import line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.rulebase.document import Where


class Rule(Record):
    """One rule, checked and normalised.

    ``when`` is the condition as written, with normalised names. ``symptoms`` have some of ``raises``, ``message`` and
    ``in``. ``remedies`` have ``kind`` and, by kind, ``requirement`` (``requirements`` where there are several),
    ``package`` (several joined by a space), ``file``/``key``/``to``, ``name``/``to`` or ``text``; then ``safety``,
    ``at`` and, where given, ``effect`` and ``when``. ``proof`` has ``script``, ``write``, ``each``, ``bad`` and
    ``good``, and where given ``installs``, ``needs`` and ``tests``; ``consumers`` maps a name to ``bad``, ``works``
    (or ``None``) and ``module``. ``several`` is the title of more than one finding, or nothing. ``status`` is what is
    stated: ``candidate``, ``retired`` or nothing; a retired rule need not have more than ``id``, ``title`` and
    ``replaced_by``. ``lines`` gives the line of each key path.
    """

    id: str
    title: str
    severity: str
    impact: str
    when: Mapping[str, Any]
    why: str
    symptoms: Sequence[Mapping[str, Any]]
    remedies: Sequence[Mapping[str, Any]]
    references: Sequence[str]
    proof: Mapping[str, Any]
    consumers: Mapping[str, Mapping[str, Any]]
    status: str
    replaced_by: str = ""
    several: str = ""
    path: str
    lines: Mapping[Where, int]

    def line(self, *where: object) -> int:
        """The line of a key path, or of the nearest part of it that is in the file."""
        return line_of(self.lines, where)
