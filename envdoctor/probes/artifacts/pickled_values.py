"""The values on the stack while a pickle is walked: plain values, and for everything else what would make it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.artifacts.code_objects import Code

#: The helpers of pickle that ask a class for an empty object.
_EMPTY = ("._reconstructor", ".__newobj__", ".__newobj_ex__")
#: Items of one list, set or dictionary that are kept.
ITEM_LIMIT = 5_000


class Unseen:
    """A value that is not kept: too large, or not known."""

    __slots__ = ()


UNSEEN = Unseen()


class Named:
    """A class or function that would be imported."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Items:
    """A list or a set."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: list[object] = []

    def extend(self, values: list[object]) -> None:
        """Keep more, up to the limit."""
        if len(self.values) < ITEM_LIMIT:
            self.values += values[: ITEM_LIMIT - len(self.values)]


class Pairs(Items):
    """A dictionary: keys and values in turn."""

    __slots__ = ()

    def keys(self) -> list[object] | None:
        """The keys; ``None`` where there are more than are kept."""
        return self.values[::2] if len(self.values) < ITEM_LIMIT else None

    def get(self, key: str) -> object:
        """The last value of a key that is a text, or ``UNSEEN``."""
        values = self.values
        for at in range(len(values) - 2, -1, -2):
            if isinstance(values[at], str) and values[at] == key:
                return values[at + 1]
        return UNSEEN


class Made:
    """The object that a call would make; ``state`` is what it would be given afterwards.

    ``bare`` where the class alone is asked for an empty object, and nothing of its own runs.
    """

    __slots__ = ("arguments", "bare", "called", "state")

    def __init__(self, called: object, arguments: object) -> None:
        self.called = called
        self.bare = isinstance(called, Named) and called.name.endswith(_EMPTY)
        self.arguments: tuple[object, ...] = arguments if isinstance(arguments, tuple) else ()
        self.state: object = None

    @property
    def name(self) -> str:
        """The class or function that is called, also where a helper of the pickle module calls it; or nothing."""
        first = self.arguments[0] if self.arguments else None
        if isinstance(self.called, Named):
            helped = self.called.name.endswith(_EMPTY)
            return first.name if helped and isinstance(first, Named) else self.called.name
        return ""


class Function(Made):
    """A function that travels as bytecode, with the values of its free variables."""

    __slots__ = ("closure", "code", "qualified")

    def __init__(self, called: object, arguments: object, code: Code) -> None:
        super().__init__(called, arguments)
        self.code = code
        self.closure: tuple[object, ...] = ()
        self.qualified: str | None = None


def short(name: str) -> str:
    """The last word of a dotted name."""
    return name.rpartition(".")[2]
