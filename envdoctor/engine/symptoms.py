"""From a text to the rules that explain it: symptoms are matched against the text, and ranked.

The second argument of :func:`rank` is what the probe for error texts gives, taken by its attributes alone: ``text``
and ``failures``, each with ``exception``, ``message``, ``frames``, ``exit_signal``, ``chained`` and ``complete``.
"""

from __future__ import annotations

import builtins
import re
from functools import cache
from time import process_time

from envdoctor.errors import RuleError
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

#: Characters of a text that are searched at all, and those that one search may see at once: the more quantifiers an
#: expression has, the fewer, since the steps of a search may grow with one power more of its length than those.
MOST_TEXT = 2_000_000
WINDOWS = (20_000, 4_000, 1_000)
#: Seconds of computing that all symptoms of one rule may take in one text.
MOST_SECONDS = 5.0

#: Exceptions whose message says nothing of their cause.
_ALWAYS_ALIKE = {"RecursionError", "MemoryError"}
# What a match is worth. The literal characters of the message count one each up to the limit.
_MESSAGE, _LITERALS, _UNSTATED, _RAISES = 10, 100, 30, 30
_INSIDE, _ELSEWHERE, _PERHAPS = 60, 15, 5
# How far a match counts, by its place: in the failure that began it all, in one that came of it, in another ...
_ROOT, _CHAINED, _EARLIER, _WARNED, _UNCAUSED = 1.0, 0.9, 0.7, 0.6, 0.5
# ... in the text around, without the frame or without the name of the exception.
_AROUND, _UNPLACED, _UNNAMED = 0.8, 0.9, 0.5
#: How far a message counts that is a line of a log, and of no failure.
OF_A_LINE = _AROUND * _UNNAMED


class SymptomMatch(Record):
    """A rule (and the consumer that trips, where it names several) that knows the text; ``matched`` says by what.

    ``placed`` is false where a frame in some package belongs to it and the text has no frames that tell.
    """

    rule: str
    consumer: str | None
    score: float
    matched: tuple[str, ...]
    placed: bool = True


def rank(symptoms: Iterable[Mapping[str, Any]], error: Any, slow: list[str] | None = None) -> list[SymptomMatch]:
    """The rules that know the text, best first, each with its consumer once.

    A symptom has ``rule``, ``consumer`` (or ``None``), and some of ``raises`` (the last part of an exception's name,
    or a signal), ``message`` (a regular expression) and ``in`` (an import name). The more of it matched, and the
    nearer to the failure that began it all, the higher its place. What the text is too short to tell counts less;
    what it contradicts does not match. ``slow`` receives the rules whose symptoms take too long to be all searched for.

    Raises:
        RuleError: a message is not a regular expression.

    """
    sight = _Sight(error)
    found: list[SymptomMatch] = []
    for symptom in symptoms:
        sight.clock.turn(symptom["rule"])
        found += _matches(symptom, sight)
    if slow is not None:
        slow += sight.clock.late
    return in_order(found)


def in_order(matches: Iterable[SymptomMatch]) -> list[SymptomMatch]:
    """The best match of each rule and consumer, best first."""
    best: dict[tuple[str, str], SymptomMatch] = {}
    for match in matches:
        key = (match.rule, match.consumer or "")
        if key not in best or match.score > best[key].score:
            best[key] = match
    return [match for key, match in sorted(best.items(), key=lambda item: (-item[1].score, item[0]))]


def worth(message: str) -> float:
    """The score of a message that no rule states, and of the exception that has it: less than a stated one's."""
    return _RAISES + _MESSAGE + min(len(message), _UNSTATED)


def weights_of(failures: Sequence[Any]) -> dict[int, float]:
    """How near each failure, by its identity, is to the one that began it all."""
    return dict(zip(map(id, failures), _weights(failures)))


# -- what is seen -------------------------------------------------------------------------------------------------


class _View:
    """One failure, or the text around all of them, ready to be searched."""

    def __init__(self, text: str, frames: Sequence[Any], weight: float, failure: Any = None) -> None:
        self.forms = _forms(text)
        self.frames = frames
        self.weight = weight
        name = getattr(failure, "exception", None)
        self.name = name.rpartition(".")[2] if name else None
        self.signal = getattr(failure, "exit_signal", None)
        self.complete = bool(getattr(failure, "complete", False))


class _Clock:
    """How long each rule has been searched for; ``late`` are those whose time is over."""

    def __init__(self) -> None:
        self.late: dict[str, None] = {}
        self._spent: dict[str, float] = {}
        self._rule = ""

    def turn(self, rule: str) -> None:
        """Say whose symptoms are searched for from now on."""
        self._rule = rule

    def add(self, seconds: float) -> None:
        """Count the time that one search took."""
        self._spent[self._rule] = self._spent.get(self._rule, 0.0) + seconds
        if self._spent[self._rule] > MOST_SECONDS:
            self.late[self._rule] = None

    def over(self) -> bool:
        """Whether this rule's time is over."""
        return self._rule in self.late


class _Sight:
    """The parts of a text that symptoms are matched against."""

    def __init__(self, error: Any) -> None:
        self.clock = _Clock()
        text = error.text
        if len(text) > MOST_TEXT:
            text = f"{text[: MOST_TEXT // 2]}\n{text[-MOST_TEXT // 2 :]}"
        failures = tuple(error.failures)
        self.views = [
            _View(failure.message, failure.frames, weight, failure)
            for failure, weight in zip(failures, _weights(failures))
        ]
        frames = [frame for failure in failures for frame in failure.frames]
        self.around = _View(text, frames, _AROUND)
        self.around.complete = any(view.complete for view in self.views)
        self.frames = frames

    def shows(self, literal: str) -> bool:
        """Whether some form of the text holds the characters that an expression cannot do without."""
        return any(literal in form for view in (self.around, *self.views) for form in view.forms)


def _forms(text: str) -> tuple[str, ...]:
    """The text, and without the breaks that a window or a mail put between or inside its words."""
    forms = (text, " ".join(text.split()), "".join(line.strip() for line in text.split("\n")))
    return tuple(dict.fromkeys(forms))


def _weights(failures: Sequence[Any]) -> list[float]:
    """How near each failure is to the one that began it all."""
    telling = [n for n, failure in enumerate(failures) if _tells(failure)]
    last = telling[-1] if telling else len(failures) - 1
    first = last
    while first > 0 and failures[first].chained:
        first -= 1
    root = last
    while root > first and failures[root].chained == "cause":
        root -= 1
    return [_weight(failure, n, first, root) for n, failure in enumerate(failures)]


def _tells(failure: Any) -> bool:
    name = failure.exception or failure.exit_signal
    return bool(name and not name.endswith("Warning") and failure.chained != "ignored")


def _weight(failure: Any, number: int, first: int, root: int) -> float:
    if failure.chained == "ignored" or (failure.exception or "").endswith("Warning"):
        return _WARNED
    if number == root:
        return _ROOT
    return _CHAINED if number >= first else _EARLIER


# -- one symptom --------------------------------------------------------------------------------------------------


def _matches(symptom: Mapping[str, Any], sight: _Sight) -> Iterator[SymptomMatch]:
    """Every way in which the symptom is in the text."""
    name, message = (symptom.get("raises") or "").rpartition(".")[2], symptom.get("message")
    if message and not sight.shows(_longest(message)):
        return
    expression = _expression(message, symptom["rule"]) if message else None
    for view in sight.views:
        if _named(name, view) if name else expression:
            yield from _match(symptom, sight, view, expression, 1.0)
    if expression and not (name and _contradicted(expression, name, sight)):
        yield from _match(symptom, sight, sight.around, expression, _UNNAMED if name else 1.0)


def _match(
    symptom: Mapping[str, Any], sight: _Sight, view: _View, expression: _Expression | None, share: float
) -> Iterator[SymptomMatch]:
    score, matched, placed = 0.0, [], True
    if symptom.get("raises") and view is not sight.around:
        score += _RAISES
        matched.append(f"raises {symptom['raises']}")
    if expression:
        shown = expression.find(view.forms, sight.clock)
        if shown is None:
            return
        score += _MESSAGE + min(expression.weight, _LITERALS)
        matched.append(f'message "{short(shown.group())}"')
    if symptom.get("in"):
        worth = _placed(symptom["in"], sight, view)
        if worth is None or (not worth and _tells_nothing(symptom)):
            return
        score += worth
        placed = bool(worth)
        share *= 1.0 if placed else _UNPLACED
        matched += [f"a frame in {symptom['in']}"] if worth else []
    yield SymptomMatch(
        rule=symptom["rule"],
        consumer=symptom.get("consumer"),
        score=round(score * share * view.weight, 3),
        matched=tuple(matched),
        placed=placed,
    )


def _tells_nothing(symptom: Mapping[str, Any]) -> bool:
    """Whether a symptom, without its frame, is an exception of Python's own with no words or those it always has."""
    name = symptom.get("raises") or ""
    return hasattr(builtins, name) and (not symptom.get("message") or name in _ALWAYS_ALIKE)


def _named(name: str, view: _View) -> bool:
    """Whether a failure is of the exception or the signal ``name``; Python's own exceptions have descendants."""
    if name in (view.name, view.signal):
        return True
    base, shown = getattr(builtins, name, None), getattr(builtins, view.name or "", None)
    return isinstance(base, type) and isinstance(shown, type) and issubclass(shown, base)


def _contradicted(expression: _Expression, name: str, sight: _Sight) -> bool:
    """Whether the message is there, but as the own words of another exception, not as one that it quotes."""
    for view in sight.views:
        shown = expression.find(view.forms, sight.clock) if view.name and not _named(name, view) else None
        if shown and not re.search(r":\s|\n", shown.string[: shown.start()]):
            return True
    return False


def _placed(name: str, sight: _Sight, view: _View) -> float | None:
    """The score of a frame in ``name``; 0 where the text is too short to tell, ``None`` if none is."""
    own = max((_inside(name, frame) for frame in view.frames), default=0)
    if own:
        return own
    other = max((_inside(name, frame) for frame in sight.frames), default=0)
    if other:
        return min(other, _ELSEWHERE)
    return None if view.frames and view.complete else 0.0


def _inside(name: str, frame: Any) -> float:
    module = getattr(frame, "module", None) or ""
    if module == name or module.startswith(f"{name}."):
        return _INSIDE
    if getattr(frame, "installed", False) or getattr(frame, "standard_library", False):
        return 0
    path = "/" + frame.file.replace("\\", "/")
    part = "/" + name.replace(".", "/")
    return _PERHAPS if f"{part}/" in path or path.endswith(f"{part}.py") else 0


def short(text: str, most: int = 120) -> str:
    """A text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


# -- expressions --------------------------------------------------------------------------------------------------


class _Expression:
    """A compiled message: ``literal`` is a run of characters that every match holds, ``weight`` how many it has."""

    def __init__(self, message: str) -> None:
        self.pattern = re.compile(message, re.MULTILINE)
        self.literal, runs = _longest(message), _literals(message)
        self.weight = sum(map(len, runs)) or len(re.findall(r"\w", message)) // 2
        self.window = WINDOWS[min(len(_FREE.findall(message)), len(WINDOWS) - 1)]

    def find(self, forms: Iterable[str], clock: _Clock) -> re.Match[str] | None:
        """The first match in some form of a text, as far as the time reaches."""
        for form in forms:
            found = self._search(form, clock)
            if found is not None:
                return found
        return None

    def _search(self, text: str, clock: _Clock) -> re.Match[str] | None:
        start = 0
        while start <= len(text) and not clock.over():
            nearest = text.find(self.literal, start)
            if nearest < 0:
                return None
            start = max(start, nearest - self.window // 2)
            began = process_time()
            found = self.pattern.search(text, start, start + self.window)
            clock.add(process_time() - began)
            if found is not None:
                return found
            start += self.window // 2 if start + self.window < len(text) else self.window
        return None


@cache
def _compiled(message: str) -> _Expression:
    return _Expression(message)


def _expression(message: str, rule: str) -> _Expression:
    try:
        return _compiled(message)
    except (re.error, OverflowError, RecursionError) as error:
        raise RuleError(
            f"rule {rule}: the message {message!r} of a symptom is not a regular expression ({error}); "
            "write a backslash before each character that is meant literally"
        ) from error


#: A quantifier that may take many characters, or what repeats another's; a backslash before it, or a set around it,
#: only makes for more care.
_FREE = re.compile(r"[*+]|\{\d*,?\d*\}|\\[1-9]|\(\?P=")

#: Flags for a whole expression, of which some ignore the case or the spaces.
_FLAGS = re.compile(r"\(\?[aLmsu]*[ix][aiLmsux]*\)")

_TOKEN = re.compile(
    r"(?P<escape>\\.)|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<repeat>[*?]|\{\d*,?\d*\})\??|(?P<more>\+\??)"
    r"|(?P<open>\()|(?P<close>\))|(?P<either>\|)|[.^$]|(?P<plain>.)",
    re.DOTALL,
)


@cache
def _longest(message: str) -> str:
    """The longest run of characters that every match of an expression must hold; empty where there is none."""
    return max(_literals(message), key=len, default="")


def _literals(message: str) -> list[str]:
    """The runs of characters, outside any group, that every match of an expression must hold.

    Empty where the expression offers a choice at its top, or sets flags that change what its characters mean.
    """
    if _FLAGS.search(message):
        return []
    runs, depth = [""], 0
    for token in _TOKEN.finditer(message):
        kind, text = token.lastgroup, token.group()
        depth += (kind == "open") - (kind == "close")
        if depth == 0 and kind == "either":
            return []
        if depth:
            runs.append("")
        elif literal := _literal(kind, text):
            runs[-1] += literal
        else:
            if kind == "repeat":
                runs[-1] = runs[-1][:-1]
            runs.append("")
    return [run for run in runs if run]


def _literal(kind: str | None, text: str) -> str:
    """The character that a token of an expression means literally; empty for one with a meaning."""
    if kind == "escape":
        return "" if text[1].isalnum() else text[1]
    return text if kind == "plain" else ""
