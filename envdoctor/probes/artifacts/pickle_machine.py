"""The objects that a pickle would build, as far as they matter: names, functions as bytecode, what they captured."""

from __future__ import annotations

from envdoctor.probes.artifacts import arrays, code_objects, marks
from envdoctor.probes.artifacts.pickled_values import UNSEEN, Function, Items, Made, Named, Pairs, short
from envdoctor.probes.artifacts.streams import BrokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from envdoctor.probes.artifacts.code_objects import Code
    from envdoctor.probes.artifacts.streams import BoundedReader, Budget

#: What is kept of one kind of finding.
NAME_LIMIT, CODE_LIMIT, PATH_LIMIT = 5_000, 500, 100
MEMO_LIMIT, MARK_LIMIT = 500_000, 10_000
#: Objects of one class whose attributes are looked at, and classes.
STATE_LIMIT, CLASS_LIMIT = 20, 500


class Notes:
    """The notes about one artefact, over all the pickles in it."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.packages: dict[str, str] = {}
        self.paths: dict[str, None] = {}
        self.codes: list[tuple[str | None, Code]] = []
        self.functions: dict[int, Function] = {}
        self.protocol: int | None = None
        self.gaps: list[str] = []
        self.where: str | None = None
        self.arrays = False
        self._states: dict[str, list[set[str]]] = {}

    def name(self, name: str) -> None:
        """A class or function is named."""
        if len(self.names) < NAME_LIMIT:
            self.names.setdefault(name)
        else:
            self.gap(f"names more than {NAME_LIMIT} classes and functions: the others are not looked at")

    def path(self, text: object) -> None:
        """A text may be an absolute path."""
        if isinstance(text, str) and is_path(text) and len(self.paths) < PATH_LIMIT:
            self.paths.setdefault(text)

    def code(self, code: Code) -> None:
        """A code object is carried; those inside it are described with it."""
        inside = {id(inner) for inner in code.constants}
        self.codes = [pair for pair in self.codes if id(pair[1]) not in inside] if inside else self.codes
        if len(self.codes) < CODE_LIMIT:
            self.codes.append((self.where, code))
        else:
            self.gap(f"holds more than {CODE_LIMIT} functions as bytecode: the others are not looked at")

    def state(self, name: str, state: object) -> None:
        """An object that was made empty is given its attributes."""
        known = self._states.get(name, [])
        if len(known) >= STATE_LIMIT or len(self._states) >= CLASS_LIMIT:
            return
        parts = state if isinstance(state, tuple) else (state,)
        keys = parts[0].keys() if parts and isinstance(parts[0], Pairs) else None
        if keys is not None and all(isinstance(key, str) for key in keys):
            self._states.setdefault(name, []).append({str(key) for key in keys})

    def attributes(self) -> dict[str, list[str]]:
        """By class, the attributes that each of its objects is given."""
        return {name: sorted(set.intersection(*known)) for name, known in self._states.items()}

    def gap(self, reason: str) -> None:
        """Something could not be read."""
        if reason not in self.gaps and len(self.gaps) < PATH_LIMIT:
            self.gaps.append(reason)


def is_path(text: str) -> bool:
    """Whether a text is an absolute path of some system."""
    if len(text) > 1000 or any(character < " " for character in text):  # noqa: PLR2004
        return False
    posix = (
        text.startswith("/") and text.count("/") > 1 and not text.startswith("//") and "/" not in (text[1], text[-1])
    )
    return posix or (text[1:3] in (":\\", ":/") and text[0].isalpha())


class Machine:
    """The stack and the memo of one pickle while it is walked; the instructions work on it."""

    def __init__(self, reader: BoundedReader, budget: Budget, notes: Notes, nested: Callable[[], object]) -> None:
        self.reader: BoundedReader = reader
        self.budget, self.notes = budget, notes
        #: Walks a pickle that begins where the reader is.
        self.nested = nested
        self.stack: list[object] = []
        self.marks: list[list[object]] = []
        self.memo: dict[int, object] = {}
        self.memoized: int = 0
        self.protocol: int | None = None
        self.needs = 0

    def mark(self) -> None:
        """Begin a group."""
        if len(self.marks) >= MARK_LIMIT:
            raise BrokenError(f"nests more than {MARK_LIMIT} groups: it is not read further")
        self.marks.append(self.stack)
        self.stack = []

    def group(self) -> list[object]:
        """End a group; its values."""
        values = self.stack
        self.stack = self.marks.pop()
        return values

    def remember(self, at: int) -> None:
        """Put the top into the memo."""
        self.memoized += 1
        if len(self.memo) < MEMO_LIMIT or at in self.memo:
            self.memo[at] = self.stack[-1]

    def recall(self, at: int) -> None:
        """Push what was put into the memo."""
        if at not in self.memo and len(self.memo) >= MEMO_LIMIT:
            self.notes.gap(f"uses more than {MEMO_LIMIT} values again: the others are not followed")
        self.stack.append(self.memo.get(at, UNSEEN))

    def keep(self, size: int, most: int) -> bool:
        """Whether a value of so many bytes is kept; otherwise it is skipped."""
        if size <= most and self.budget.keep(size):
            return True
        self.reader.skip(size)
        self.stack.append(UNSEEN)
        return False

    def text(self, text: str) -> None:
        """Push a text."""
        if text[:1] == "/" or text[1:2] == ":":
            self.notes.path(text)
        self.stack.append(text)

    def named(self, module: object, name: object) -> None:
        """Push a class or function."""
        if not (isinstance(module, str) and isinstance(name, str)):
            self.notes.gap("names a class or function by a value that is not followed")
            self.stack.append(UNSEEN)
            return
        full = f"{module}.{name}"
        self.notes.name(full)
        self.stack.append(Named(full))

    def call(self, called: object, arguments: object) -> None:
        """Push what a call would make."""
        self.stack.append(self.result(called, arguments if isinstance(arguments, tuple) else ()))

    def result(self, called: object, arguments: tuple[object, ...]) -> object:
        """The object that a call would make, as far as it matters."""
        name = called.name if isinstance(called, Named) else ""
        code = code_objects.of_arguments(arguments)
        first = next(iter(arguments), None)
        if name == marks.ENCODER and isinstance(first, str):
            return first.encode("latin-1", "replace")
        if code is not None:
            self.notes.code(code)
            self.notes.path(code.filename)
            return code
        if isinstance(first, Function) and short(name) in marks.FILLERS and arguments[1:]:
            fill(first, arguments[1])
            return first
        if short(name) in marks.PATH_OBJECTS and all(isinstance(part, str) for part in arguments):
            self.notes.path("/".join(map(str, arguments)).replace("//", "/", 1))
        if isinstance(first, code_objects.Code):
            return self.function(called, arguments, first)
        return Made(called, arguments)

    def function(self, called: object, arguments: tuple[object, ...], code: Code) -> Function:
        """A function that is made of a code object and what else is given."""
        made = Function(called, arguments, code)
        made.qualified = code.qualified
        for argument in arguments[1:]:
            if isinstance(argument, tuple) and any(is_cell(item) for item in argument):
                made.closure = argument
        self.notes.functions[id(code)] = made
        return made

    def build(self, target: object, state: object) -> None:
        """An object is given its state; the bytes of an array follow."""
        if isinstance(target, Function):
            fill(target, state)
        elif isinstance(target, Made):
            target.state = state
            if target.bare:
                self.notes.state(target.name, state)
            if short(target.name) == marks.ARRAY_STANDIN:
                self.notes.arrays = True
                if arrays.skip(self.reader, state):
                    self.nested()


def is_cell(value: object) -> bool:
    """Whether a value is a variable that a function captured."""
    return isinstance(value, Made) and short(value.name) in marks.CELLS


def fill(function: Function, state: object) -> None:
    """Give a function the captured values and the name that its state holds."""
    parts = state if isinstance(state, tuple) else (state,)
    for part in parts:
        if not isinstance(part, Pairs):
            continue
        for key in marks.CLOSURES:
            values = part.get(key)
            if isinstance(values, Items):
                values = tuple(values.values)
            if isinstance(values, tuple) and values:
                function.closure = values
        for key in marks.QUALIFIED:
            text = part.get(key)
            function.qualified = text if isinstance(text, str) else function.qualified
