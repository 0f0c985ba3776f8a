"""The distributions that a message names. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.engine.names import Names

_QUOTED = re.compile(
    r"`(?P<ticked>[A-Za-z][\w-]*)[.`]|\b(?P<dotted>[A-Za-z_]\w*)\.[A-Za-z_]"
    r"|['\"](?P<quoted>[A-Za-z][\w-]*)['\"] "
    r"(?:package|module|library|distribution|extension|plugin|version|is|was|requires|needs)"
    r"|\b(?P<versioned>[A-Za-z][\w-]+)(?:==| v?| version | \(v?)\d+[.\d]*"
    r"|\b(?:pip3?|conda|mamba|poetry|uv) (?:install|add|update|upgrade) (?:-[\w-]+ )*['\"`]?(?P<offered>[A-Za-z][\w-]+)"
    r"|\b(?:feature request|issue|report|bug)s? (?:on|to|in|with|for) (?P<tracked>[a-z][\w-]+)"
    r"|<class '(?P<typed>[A-Za-z]\w*)\.|<module '(?P<module>[A-Za-z]\w*)"
    r"|://(?P<hosted>[\w-]+)\.readthedocs\.|://(?:www\.|docs?\.|errors\.)?(?P<site>[\w-]{3,40})\.(?:org|dev|io|com|ai)\b"
    r"|github\.(?:com|io)/(?:[\w.-]+/)?(?P<repository>[\w.-]+)"
)


def named_in(message: str, names: Names) -> list[str]:
    """The distributions that a message names: in quotes, in a dotted name, or with a version."""
    words = [(match.lastgroup, match[match.lastgroup or 0]) for match in _QUOTED.finditer(message[:2000])]
    sure = set() if names.installed else {"typed", "module"}  # no guess where it is known what is installed
    found = [
        names.known(word) or (names.distribution(word) if kind in sure else None)
        for kind, word in words
        if not names.standard(word)
    ]
    return list(dict.fromkeys(name for name in found if name))
