"""From words to a line for a shell: the one place where anything is quoted.

On Windows the line is for PowerShell, which every Windows has. Most lines are right for ``cmd`` as well; of the others
:func:`remark` says so.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Action

WINDOWS = "win32"
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./\\:=+!")
#: Characters without a special meaning in the shells of all other systems.
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")
#: Characters without a special meaning between double quotes in both shells of Windows.
_QUOTABLE = _LETTERS | frozenset(" <>~,*[]()@#&;|^")
#: What ends a text between single quotes in PowerShell unless it is doubled: its language specification, 2.3.5.2.
_SINGLE = str.maketrans({mark: mark * 2 for mark in "'\u2018\u2019\u201a\u201b"})


def line(calls: Sequence[Sequence[str]], system: str) -> str:
    """The line that makes calls, each when the one before it has succeeded, for the shell of a platform."""
    if system != WINDOWS:
        return " && ".join(" ".join(quote(word, system) for word in call) for call in calls)
    first, *others = [_call(call) for call in calls]
    return first + "".join(f"; if ($?) {{ {call} }}" for call in others)


def _call(words: Sequence[str]) -> str:
    said = " ".join(quote(word, WINDOWS) for word in words)
    return said if said[0] not in "\"'" else "& " + said


def quote(word: str, system: str) -> str:
    """One word, quoted for the shell of a platform."""
    if system != WINDOWS:
        return word if word and set(word) <= _PLAIN else "'" + word.replace("'", "'\"'\"'") + "'"
    if word and set(word) <= _LETTERS:
        return word
    return f'"{word}"' if word and set(word) <= _QUOTABLE else _verbatim(word)


def _verbatim(word: str) -> str:
    return "'" + word.translate(_SINGLE) + "'"


def variable(action: Action, system: str) -> str:
    """The line that sets an environment variable for what is called after it."""
    name, value = str(action.name), str(action.to)
    if system != WINDOWS:
        return f"export {name}={quote(value, system)}"
    return f"$env:{name} = " + (f'"{value}"' if set(value) <= _QUOTABLE else _verbatim(value))


def remark(said: str, system: str) -> str | None:
    """What else to know of a line: that only one of the shells takes it."""
    only = system == WINDOWS and (said[0] in "&$" or "'" in said or "; if ($?)" in said)
    return "for PowerShell" if only else None
