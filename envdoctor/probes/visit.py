"""How many requests a long run sends to indexes: counted, bounded, and no page of an index asked for twice."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: So many pages of indexes are kept at a time: some are long.
MOST_PAGES = 64


class Visit:
    """The requests that were ``sent``, of at most ``most``, and the ``pages`` that came back."""

    def __init__(self, most: int | None = None) -> None:
        self.sent, self.most = 0, most
        self.pages: dict[str, list[dict[str, Any]]] = {}

    @property
    def over(self) -> bool:
        """Whether nothing more may be asked."""
        return self.most is not None and self.sent >= self.most

    def keep(self, address: str, page: list[dict[str, Any]]) -> None:
        """Keep a page, and forget the one that was kept first where there are many."""
        if self.most is not None:
            self.pages[address] = page
            if len(self.pages) > MOST_PAGES:
                self.pages.pop(next(iter(self.pages)))


_visits = [Visit()]


def current() -> Visit:
    """The visit that requests belong to."""
    return _visits[-1]


def ask() -> None:
    """Count a request. Raises :class:`OSError` where no more may be sent."""
    visit = current()
    if visit.over:
        message = f"{visit.most} requests were sent, and no more may be"
        raise OSError(message)
    visit.sent += 1


@contextmanager
def bounded(most: int) -> Iterator[Visit]:
    """A visit with at most so many requests."""
    _visits.append(Visit(most))
    try:
        yield current()
    finally:
        _visits.pop()
