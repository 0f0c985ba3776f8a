"""JSON without the ``json`` package, whose import costs as much as examining a small environment."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Context:
    """The context of CPython's JSON scanner; ``json.JSONDecoder`` is the same with an import of ``re``."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own cache of keys


def _scanner() -> Callable[[str], Any]:
    try:
        from _json import make_scanner
    except ImportError:  # not CPython
        import json

        return json.loads
    scan = make_scanner(_Context())  # type: ignore[arg-type]
    return lambda text: scan(text, 0)[0]


_scan: Callable[[str], Any] | None = None


def decode(data: bytes) -> Any:
    """The value of a JSON document that envdoctor itself wrote, without white space at its beginning.

    Raises ``ValueError`` or ``StopIteration`` where it is damaged.
    """
    global _scan  # noqa: PLW0603 - made on first use
    if _scan is None:
        _scan = _scanner()
    try:
        return _scan(data.decode())
    except SystemError:  # CPython's scanner, where the exception that it wants to raise was never imported
        raise ValueError("not a JSON document") from None
