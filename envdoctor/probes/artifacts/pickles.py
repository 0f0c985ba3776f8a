"""Pickles, walked instruction by instruction. Nothing is imported, called or built: a pickle is only read.

Enough of the stack and of the memo is followed to tell which names would be imported, which functions travel as
bytecode and what they captured. Everything is bounded; where a limit is reached, the walk ends and says so.
"""

from __future__ import annotations

from typing import NamedTuple

from envdoctor.probes.artifacts import arrays, code_objects, instructions, signatures
from envdoctor.probes.artifacts.streams import BrokenError
from envdoctor.probes.artifacts.values import UNSEEN, Function, Items, Made, Named, Pairs, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.artifacts.code_objects import Code
    from envdoctor.probes.artifacts.streams import Budget, Reader

#: What is kept of one kind of finding.
NAME_LIMIT, CODE_LIMIT, PATH_LIMIT = 5_000, 500, 100
MEMO_LIMIT, MARK_LIMIT = 500_000, 10_000
_EVERY = 1024
_STOP = 0x2E


class Notes:
    """What was seen in one artefact, over all the pickles in it."""

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
        """A code object is carried; those inside it are told with it."""
        inside = {id(inner) for inner in code.constants}
        self.codes = [pair for pair in self.codes if id(pair[1]) not in inside] if inside else self.codes
        if len(self.codes) < CODE_LIMIT:
            self.codes.append((self.where, code))
        else:
            self.gap(f"holds more than {CODE_LIMIT} functions as bytecode: the others are not looked at")

    def gap(self, reason: str) -> None:
        """Something could not be looked at."""
        if reason not in self.gaps and len(self.gaps) < PATH_LIMIT:
            self.gaps.append(reason)


class Walked(NamedTuple):
    """One pickle: what stands on top of the stack at its end, and whether it was walked to its end."""

    value: object
    whole: bool


def is_path(text: str) -> bool:
    """Whether a text is an absolute path of some system."""
    if len(text) > 1000 or any(character < " " for character in text):  # noqa: PLR2004
        return False
    posix = (
        text.startswith("/") and text.count("/") > 1 and not text.startswith("//") and "/" not in (text[1], text[-1])
    )
    return posix or (text[1:3] in (":\\", ":/") and text[0].isalpha())


def walk(reader: Reader, budget: Budget, notes: Notes) -> Walked:
    """Walk one pickle to its end. ``BrokenError`` where it is damaged."""
    machine = Machine(reader, budget, notes)
    try:
        return machine.run()
    except (IndexError, UnicodeError) as error:
        raise BrokenError(f"is not a pickle that can be read: it goes wrong at byte {reader.position}") from error


def stream(reader: Reader, budget: Budget, notes: Notes, most: int = 100) -> list[object]:
    """The values of all pickles in a stream; what follows the last of them is not looked at."""
    found: list[object] = []
    while len(found) < most:
        walked = walk(reader, budget, notes)
        found.append(walked.value)
        if not walked.whole or not another(reader):
            break
    return found


def another(reader: Reader) -> bool:
    """Whether another pickle begins where the last one ended."""
    ahead = reader.peek(2)
    return len(ahead) == 2 and ahead[0] == instructions.PROTO and 2 <= ahead[1] <= instructions.HIGHEST  # noqa: PLR2004


class Machine:
    """One pickle while it is walked. ``instructions`` works on it."""

    def __init__(self, reader: Reader, budget: Budget, notes: Notes) -> None:
        self.reader: Reader = reader
        self.budget, self.notes = budget, notes
        self.stack: list[object] = []
        self.marks: list[list[object]] = []
        self.memo: dict[int, object] = {}
        self.memoized: int = 0
        self.protocol: int | None = None
        self.needs = 0

    def run(self) -> Walked:
        """Follow the instructions up to the end, or to a limit."""
        read, handlers, needed, count = self.reader.read, instructions.HANDLERS, instructions.NEEDED, 0
        while True:
            number = read(1)[0]
            if number == _STOP:
                break
            handler = handlers.get(number)
            if handler is None:
                raise BrokenError(f"is not a pickle: byte {self.reader.position - 1} is no instruction of one")
            handler(self)
            if needed[number] > self.needs:  # noqa: PLR1730 - a call for each instruction costs
                self.needs = needed[number]
            count += 1
            if count % _EVERY == 0 and not self._goes_on():
                self._note_protocol()
                return Walked(UNSEEN, whole=False)
        self.budget.steps -= count % _EVERY
        self._note_protocol()
        return Walked(self.stack.pop(), whole=True)

    def _goes_on(self) -> bool:
        """Whether there is time and room for more."""
        self.budget.steps -= _EVERY
        if self.budget.steps > 0 and not self.budget.late():
            return True
        self.notes.gap(f"is read up to byte {self.reader.position} only: its pickle is too long to be followed further")
        return False

    def _note_protocol(self) -> None:
        """Keep the highest protocol: what the pickle says, else what its instructions need."""
        mine = self.protocol if self.protocol is not None else self.needs
        self.notes.protocol = max(mine, self.notes.protocol or 0)

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
        """What a call would make, as far as it matters."""
        name = called.name if isinstance(called, Named) else ""
        if name == signatures.ENCODER and arguments and isinstance(arguments[0], str):
            return arguments[0].encode("latin-1", "replace")
        code = code_objects.of_arguments(arguments)
        if code is not None:
            self.notes.code(code)
            self.notes.path(code.filename)
            return code
        if short(name) in signatures.FILLERS and len(arguments) > 1 and isinstance(arguments[0], Function):
            fill(arguments[0], arguments[1])
            return arguments[0]
        if short(name) in signatures.PATH_OBJECTS and all(isinstance(part, str) for part in arguments):
            self.notes.path("/".join(map(str, arguments)).replace("//", "/", 1))
        if arguments and isinstance(arguments[0], code_objects.Code):
            return self.function(called, arguments, arguments[0])
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
            if short(target.name) == signatures.ARRAY_STANDIN:
                self.notes.arrays = True
                if arrays.skip(self.reader, state):
                    walk(self.reader, self.budget, self.notes)


def is_cell(value: object) -> bool:
    """Whether a value is a variable that a function captured."""
    return isinstance(value, Made) and short(value.name) in signatures.CELLS


def fill(function: Function, state: object) -> None:
    """Give a function the captured values and the name that its state holds."""
    parts = state if isinstance(state, tuple) else (state,)
    for part in parts:
        if not isinstance(part, Pairs):
            continue
        for key in signatures.CLOSURES:
            values = part.get(key)
            if isinstance(values, Items):
                values = tuple(values.values)
            if isinstance(values, tuple) and values:
                function.closure = values
        for key in signatures.QUALIFIED:
            text = part.get(key)
            function.qualified = text if isinstance(text, str) else function.qualified
