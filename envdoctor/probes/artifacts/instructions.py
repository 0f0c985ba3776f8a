"""The instructions of a pickle: what each does to the stack, the memo and the notes of a walk."""

from __future__ import annotations

import codecs
import pickletools
import struct

from envdoctor.probes.artifacts import marks
from envdoctor.probes.artifacts.pickled_values import UNSEEN, Items, Made, Pairs
from envdoctor.probes.artifacts.streams import BrokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envdoctor.probes.artifacts.pickle_machine import Machine

    Handler = Callable[[Machine], None]

#: The number of the instruction that says the protocol, and the highest protocol there is.
PROTO, HIGHEST = 0x80, 5
#: Longer texts, bytes and numbers are skipped.
TEXT_LIMIT, BYTES_LIMIT, NUMBER_LIMIT = 1 << 14, 1 << 18, 1 << 10
_DIGITS = 300


def _proto(machine: Machine) -> None:
    protocol = machine.reader.read(1)[0]
    if protocol > HIGHEST:
        raise BrokenError(f"says that it is a pickle of protocol {protocol}, which is not known")
    machine.protocol = max(protocol, machine.protocol or 0)


def _push(value: object) -> Handler:
    return lambda machine: machine.stack.append(value)


def _packed(form: str) -> Handler:
    unpack, size = struct.Struct(form).unpack, struct.calcsize(form)
    return lambda machine: machine.stack.append(unpack(machine.reader.read(size))[0])


def _sized(form: str, most: int, push: Callable[[Machine, bytes], None]) -> Handler:
    """An instruction whose argument follows its length: pushed, or skipped where it is longer than what is kept."""
    unpack, size = struct.Struct(form).unpack, struct.calcsize(form)

    def handler(machine: Machine) -> None:
        length = unpack(machine.reader.read(size))[0]
        if length < 0:
            raise BrokenError("is not a pickle that can be read: it holds a text or a number of negative length")
        if machine.keep(length, most):
            push(machine, machine.reader.read(length))

    return handler


def _text(form: str) -> Handler:
    return _sized(form, TEXT_LIMIT, lambda machine, data: machine.text(data.decode("utf-8", "replace")))


def _old_text(form: str) -> Handler:
    return _sized(form, TEXT_LIMIT, lambda machine, data: machine.text(data.decode("latin-1")))


def _bytes(form: str) -> Handler:
    return _sized(form, BYTES_LIMIT, lambda machine, data: machine.stack.append(data))


def _number(form: str) -> Handler:
    return _sized(
        form, NUMBER_LIMIT, lambda machine, data: machine.stack.append(int.from_bytes(data, "little", signed=True))
    )


def _written_number(machine: Machine) -> None:
    line = machine.reader.line()
    if line in (b"00", b"01"):
        machine.stack.append(line == b"01")
        return
    try:
        machine.stack.append(int(line.rstrip(b"L")) if len(line) < _DIGITS else UNSEEN)
    except ValueError as error:
        raise BrokenError("is not a pickle that can be read: a number is not one") from error


def _written_float(machine: Machine) -> None:
    try:
        machine.stack.append(float(machine.reader.line()))
    except ValueError as error:
        raise BrokenError("is not a pickle that can be read: a number is not one") from error


def _quoted(machine: Machine) -> None:
    line = machine.reader.line().strip()
    if len(line) < 2 or line[0] != line[-1] or line[:1] not in (b"'", b'"'):  # noqa: PLR2004
        raise BrokenError("is not a pickle that can be read: a text has no end")
    machine.text(line[1:-1].decode("latin-1"))


def _written_text(machine: Machine) -> None:
    line = machine.reader.line()
    machine.text(codecs.decode(line, "raw_unicode_escape", "replace"))


def _tuple_of(count: int) -> Handler:
    def handler(machine: Machine) -> None:
        stack = machine.stack
        values = tuple(stack[-count:])
        if len(values) < count:
            raise IndexError
        del stack[-count:]
        stack.append(values)

    return handler


def _tuple(machine: Machine) -> None:
    values = tuple(machine.group())
    machine.stack.append(values)


def _items(machine: Machine) -> None:
    values = Items()
    values.extend(machine.group())
    machine.stack.append(values)


def _pairs(machine: Machine) -> None:
    values = machine.group()
    made = Pairs()
    made.extend(values)
    _versions(machine, values)
    machine.stack.append(made)


def _append(machine: Machine) -> None:
    value, target = machine.stack.pop(), machine.stack[-1]
    if isinstance(target, Items):
        target.extend([value])


def _appends(machine: Machine) -> None:
    values, target = machine.group(), machine.stack[-1]
    if isinstance(target, Items):
        target.extend(values)


def _set_item(machine: Machine) -> None:
    value, key, target = machine.stack.pop(), machine.stack.pop(), machine.stack[-1]
    if isinstance(target, Items):
        target.extend([key, value])
    _versions(machine, [key, value])


def _set_items(machine: Machine) -> None:
    values, target = machine.group(), machine.stack[-1]
    if isinstance(target, Items):
        target.extend(values)
    _versions(machine, values)


def _versions(machine: Machine, values: list[object]) -> None:
    for at in range(0, len(values) - 1, 2):
        key, value = values[at], values[at + 1]
        if isinstance(key, str) and key in marks.VERSION_KEYS and isinstance(value, str):
            machine.notes.packages.setdefault(marks.VERSION_KEYS[key], value)


def _global(machine: Machine) -> None:
    module, name = machine.reader.line(), machine.reader.line()
    machine.named(module.decode("utf-8", "replace"), name.decode("utf-8", "replace"))


def _stack_global(machine: Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.named(module, name)


def _extension(form: str) -> Handler:
    size = struct.calcsize(form)

    def handler(machine: Machine) -> None:
        machine.reader.read(size)
        machine.notes.gap("names a class by a number of the writer's own registry, which is not in the file")
        machine.stack.append(UNSEEN)

    return handler


def _reduce(machine: Machine) -> None:
    arguments, called = machine.stack.pop(), machine.stack.pop()
    machine.call(called, arguments)


def _new(machine: Machine) -> None:
    _reduce(machine)
    made = machine.stack[-1]
    if isinstance(made, Made):
        made.bare = True


def _new_with_keywords(machine: Machine) -> None:
    machine.stack.pop()
    _new(machine)


def _inst(machine: Machine) -> None:
    arguments = tuple(machine.group())
    _global(machine)
    machine.call(machine.stack.pop(), arguments)


def _obj(machine: Machine) -> None:
    values = machine.group()
    machine.call(values[0], tuple(values[1:]))


def _build(machine: Machine) -> None:
    state = machine.stack.pop()
    machine.build(machine.stack[-1], state)


def _persistent(machine: Machine) -> None:
    machine.stack.append(Made(UNSEEN, (machine.stack.pop(),)))


def _written_persistent(machine: Machine) -> None:
    machine.stack.append(Made(UNSEEN, (machine.reader.line().decode("latin-1"),)))


def _pop(machine: Machine) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.group()


def _get(form: str) -> Handler:
    unpack, size = struct.Struct(form).unpack, struct.calcsize(form)
    return lambda machine: machine.recall(unpack(machine.reader.read(size))[0])


def _put(form: str) -> Handler:
    unpack, size = struct.Struct(form).unpack, struct.calcsize(form)
    return lambda machine: machine.remember(unpack(machine.reader.read(size))[0])


def _written_at(machine: Machine) -> int:
    line = machine.reader.line()
    if not line.isdigit() or len(line) > _DIGITS:
        raise BrokenError("is not a pickle that can be read: a number is not one")
    return int(line)


def _nothing(machine: Machine) -> None:
    """Leave everything as it is."""


_BY_NAME: Mapping[str, Handler] = {
    "PROTO": _proto,
    "FRAME": lambda machine: machine.reader.skip(8),
    "MARK": lambda machine: machine.mark(),
    "POP": _pop,
    "POP_MARK": lambda machine: machine.group().clear(),
    "DUP": lambda machine: machine.stack.append(machine.stack[-1]),
    "NONE": _push(None),
    "NEWTRUE": _push(True),  # noqa: FBT003 - a value, not a switch
    "NEWFALSE": _push(False),  # noqa: FBT003
    "INT": _written_number,
    "LONG": _written_number,
    "FLOAT": _written_float,
    "BININT": _packed("<i"),
    "BININT1": _packed("<B"),
    "BININT2": _packed("<H"),
    "BINFLOAT": _packed(">d"),
    "LONG1": _number("<B"),
    "LONG4": _number("<i"),
    "STRING": _quoted,
    "BINSTRING": _old_text("<i"),
    "SHORT_BINSTRING": _old_text("<B"),
    "UNICODE": _written_text,
    "SHORT_BINUNICODE": _text("<B"),
    "BINUNICODE": _text("<I"),
    "BINUNICODE8": _text("<Q"),
    "SHORT_BINBYTES": _bytes("<B"),
    "BINBYTES": _bytes("<I"),
    "BINBYTES8": _bytes("<Q"),
    "BYTEARRAY8": _bytes("<Q"),
    "NEXT_BUFFER": _push(UNSEEN),
    "READONLY_BUFFER": _nothing,
    "EMPTY_TUPLE": _push(()),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "TUPLE": _tuple,
    "EMPTY_LIST": lambda machine: machine.stack.append(Items()),
    "EMPTY_SET": lambda machine: machine.stack.append(Items()),
    "EMPTY_DICT": lambda machine: machine.stack.append(Pairs()),
    "LIST": _items,
    "FROZENSET": _items,
    "DICT": _pairs,
    "APPEND": _append,
    "APPENDS": _appends,
    "ADDITEMS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "EXT1": _extension("<B"),
    "EXT2": _extension("<H"),
    "EXT4": _extension("<i"),
    "REDUCE": _reduce,
    "NEWOBJ": _new,
    "NEWOBJ_EX": _new_with_keywords,
    "INST": _inst,
    "OBJ": _obj,
    "BUILD": _build,
    "PERSID": _written_persistent,
    "BINPERSID": _persistent,
    "GET": lambda machine: machine.recall(_written_at(machine)),
    "BINGET": _get("<B"),
    "LONG_BINGET": _get("<I"),
    "PUT": lambda machine: machine.remember(_written_at(machine)),
    "BINPUT": _put("<B"),
    "LONG_BINPUT": _put("<I"),
    "MEMOIZE": lambda machine: machine.remember(machine.memoized),
}
#: By its number, what an instruction does, and the protocol that it needs.
HANDLERS: Mapping[int, Handler] = {
    ord(known.code): _BY_NAME[known.name] for known in pickletools.opcodes if known.name in _BY_NAME
}
NEEDED: Mapping[int, int] = {ord(known.code): known.proto for known in pickletools.opcodes}
