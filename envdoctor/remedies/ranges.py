"""The range that a requirement has to state for a plan: as near as it can be to the one that is stated now. Pure."""

from __future__ import annotations

import re

from envdoctor.engine.versions import key, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.plans import Move

_CLAUSE = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([^,\s]+)\s*")


def narrowed(stated: str, move: Move, releases: Sequence[str] = ()) -> str:
    """The nearest range to a stated one that admits where a plan moves to, and not from where.

    Of ``releases``, those on offer, the newest in it is the one of the plan, so that a resolver takes just that. A pin
    stays a pin, and is what is left where no range will do.
    """
    after = str(move.after)
    if "," in stated or not stated.startswith("=="):
        found = (text for text in _ranges(_CLAUSE.findall(stated), move) if text and _leads(text, move, releases))
        return next(found, f"=={after}")
    return f"=={after}"


def _ranges(clauses: Sequence[tuple[str, str]], move: Move) -> Iterator[str]:
    """The ranges that may do, the nearest to some clauses first."""
    apart = [value for operator, value in clauses if operator == "!="]
    for high in _highs(clauses, move):
        for low in dict.fromkeys([_lows(clauses), f">={move.after}"]):
            bounds = ",".join(one for one in (low, high) if one)
            yield ",".join(filter(None, [bounds, *(f"!={one}" for one in apart if within(one, bounds))]))


def _lows(clauses: Sequence[tuple[str, str]]) -> str:
    """The lower bounds among some clauses."""
    whole = {"~=": ">=", "==": ">=", ">=": ">=", ">": ">"}
    return ",".join(whole[operator] + value.rstrip(".*") for operator, value in clauses if operator in whole)


def _highs(clauses: Sequence[tuple[str, str]], move: Move) -> Iterator[str]:
    """Upper bounds, the widest first: the stated one, the next major and minor release, and what there was before."""
    yield ",".join(operator + value for operator, value in clauses if operator in {"<", "<="})
    at = key(str(move.after))
    if at and not at[0]:
        major, minor = (*at[1], 0, 0)[:2]
        yield f"<{major + 1}"
        yield f"<{major}.{minor + 1}"
    if move.down:
        yield f"<{move.before}"


def _leads(text: str, move: Move, releases: Sequence[str]) -> bool:
    after = str(move.after)
    if within(after, text) is not True or (move.before and within(move.before, text)):
        return False
    inside = [at for at, one in ((key(one), one) for one in releases) if at and within(one, text)]
    return not inside or max(inside) == key(after)
