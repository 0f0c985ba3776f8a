"""Pickles, walked instruction by instruction. Nothing is imported, called or built: a pickle is only read.

Enough of the stack and of the memo is followed to tell which names would be imported, which functions travel as
bytecode and what they captured. Everything is bounded; where a limit is reached, the walk ends and says so.
``pickletools.genops`` reads each argument whole before anybody can refuse it, and refuses the texts of Python 2 itself:
of it, only the table of instructions serves.
"""

from __future__ import annotations

from typing import NamedTuple

from envdoctor.probes.artifacts import instructions
from envdoctor.probes.artifacts.pickle_machine import Machine
from envdoctor.probes.artifacts.pickled_values import UNSEEN
from envdoctor.probes.artifacts.streams import BrokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.artifacts.pickle_machine import Notes
    from envdoctor.probes.artifacts.streams import BoundedReader, Budget

_EVERY = 1024
_STOP = 0x2E


class Walked(NamedTuple):
    """One pickle: the top of the stack at its end, and whether it was walked to its end."""

    value: object
    whole: bool


def walk(reader: BoundedReader, budget: Budget, notes: Notes) -> Walked:
    """Walk one pickle to its end. ``BrokenError`` where it is damaged."""
    machine = Machine(reader, budget, notes, lambda: walk(reader, budget, notes))
    try:
        return _run(machine)
    except (IndexError, UnicodeError) as error:
        raise BrokenError(f"is not a pickle that can be read: it goes wrong at byte {reader.position}") from error


def stream(reader: BoundedReader, budget: Budget, notes: Notes, most: int = 100) -> list[object]:
    """The values of all pickles in a stream; what follows the last of them is not read."""
    found: list[object] = []
    while len(found) < most:
        walked = walk(reader, budget, notes)
        found.append(walked.value)
        if not walked.whole or not another(reader):
            break
    return found


def another(reader: BoundedReader) -> bool:
    """Whether another pickle begins where the last one ended."""
    ahead = reader.peek(2)
    return len(ahead) == 2 and ahead[0] == instructions.PROTO and 2 <= ahead[1] <= instructions.HIGHEST  # noqa: PLR2004


def _run(machine: Machine) -> Walked:
    """Follow the instructions up to the end, or to a limit."""
    read, handlers, needed, count = machine.reader.read, instructions.HANDLERS, instructions.NEEDED, 0
    while True:
        number = read(1)[0]
        if number == _STOP:
            break
        handler = handlers.get(number)
        if handler is None:
            raise BrokenError(f"is not a pickle: byte {machine.reader.position - 1} is no instruction of one")
        handler(machine)
        if needed[number] > machine.needs:  # noqa: PLR1730 - a call for each instruction costs
            machine.needs = needed[number]
        count += 1
        if count % _EVERY == 0 and not _goes_on(machine):
            _note_protocol(machine)
            return Walked(UNSEEN, whole=False)
    machine.budget.steps -= count % _EVERY
    _note_protocol(machine)
    return Walked(machine.stack.pop(), whole=True)


def _goes_on(machine: Machine) -> bool:
    """Whether there is time and room for more."""
    machine.budget.steps -= _EVERY
    if machine.budget.steps > 0 and not machine.budget.late():
        return True
    at = machine.reader.position
    machine.notes.gap(f"is read up to byte {at} only: its pickle is too long to be followed further")
    return False


def _note_protocol(machine: Machine) -> None:
    """Keep the highest protocol: what the pickle says, else what its instructions need."""
    mine = machine.protocol if machine.protocol is not None else machine.needs
    machine.notes.protocol = max(mine, machine.notes.protocol or 0)
