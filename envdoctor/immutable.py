"""Values with named fields, and what is not known. On the plain path.

The standard ``dataclasses`` and ``typing`` cost a third of a start of Python, so :class:`Record` stands in for a
frozen, keyword-only dataclass; type checkers see one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: bool) -> Callable[[type], type]:
        """Stand in for the type checker's decorator at run time."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """An immutable value with named fields, given by keyword; class attributes are the defaults."""

    _fields: tuple[str, ...] = ()
    _known: frozenset[str] = frozenset()
    _needed: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(name for name in cls.__annotations__ if name[0] != "_")
        cls._known = frozenset(cls._fields)
        cls._needed = frozenset(name for name in cls._fields if name not in cls.__dict__)

    def __init__(self, **values: Any) -> None:
        if not self._needed <= values.keys() <= self._known:
            missing = ", ".join(sorted(self._needed - values.keys())) or "none"
            strange = ", ".join(sorted(values.keys() - self._known)) or "none"
            raise TypeError(f"{type(self).__name__}: missing fields: {missing}; fields it does not have: {strange}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({fields})"

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, in the order of their declaration."""
        return {name: getattr(self, name) for name in self._fields}

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields changed."""
        return type(self)(**{**self.as_dict(), **changes})


class Unknown(Record):
    """A fact that is not known, with the reason: neither true nor false.

    ``asked`` is false where nobody wanted it looked at, such as a project that was not named: that is no gap to report.
    """

    reason: str
    asked: bool = True

    def __bool__(self) -> bool:
        raise TypeError("an unknown fact is neither true nor false")
