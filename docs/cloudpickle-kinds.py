"""Twenty kinds of object, each pickled by value here, and loaded and used in another process of the same Python.

The last line says how many came through: `17 of 20`. Runs on every Python from 3.6 on, so it is written for that.
"""

import abc
import asyncio
import collections
import contextlib
import enum
import functools
import math
import os
import sys
import tempfile
import types
import typing
from subprocess import run

import cloudpickle

SCALE = 3
T = typing.TypeVar("T")


def plain(number, power=2):
    return SCALE * math.pow(number, power)


def counter(start):
    total = start

    def add(number):
        nonlocal total
        total += number
        return total

    return add


def generated(end):
    for number in range(end):
        yield math.floor(number / 2) + SCALE


def nested(end):
    return [[SCALE * column for column in range(row)] for row in range(end) if math.sqrt(row) >= 1]


def guarded(text):
    try:
        with contextlib.suppress(TypeError):
            return int(text) + SCALE
    except ValueError:
        return math.inf
    finally:
        str(text)


def annotated(number: int, *, times: "int" = 2) -> typing.Optional[int]:
    return number * times + SCALE


async def awaited(number):
    await asyncio.sleep(0)
    return number + SCALE


def logged(function):
    @functools.wraps(function)
    def around(*arguments, **named):
        return SCALE, function(*arguments, **named)

    return around


@logged
def decorated(number):
    return math.floor(number)


module = types.ModuleType("made_here")
exec("import math\n\ndef half(number):\n    return math.floor(number) / SCALE\n\nSCALE = 2", module.__dict__)


class Base:
    def value(self):
        return SCALE


class Derived(Base):
    def __init__(self, more):
        self.more = more

    def value(self):
        return super().value() + math.floor(self.more)


class Described:
    def __init__(self):
        self._half = SCALE / 2

    @property
    def half(self):
        return self._half

    @classmethod
    def made(cls):
        return cls()

    @staticmethod
    def floor(number):
        return math.floor(number)


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        """Give the area."""


class Square(Shape):
    def area(self):
        return SCALE * SCALE


class Meta(type):
    def __call__(cls, *arguments):
        made = super().__call__(*arguments)
        made.by = "Meta"
        return made


class Made(metaclass=Meta):
    pass


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Point(typing.NamedTuple):
    x: int
    y: int = 2


class Box(typing.Generic[T]):
    def __init__(self, content: T) -> None:
        self.content = content


class Failure(Exception):
    def __init__(self, code):
        super().__init__("failed", code)
        self.code = code

    def __reduce__(self):
        return Failure, (self.code,)


Pair = collections.namedtuple("Pair", ["left", "right"])

#: What is pickled, the expression that uses it where it was loaded, and its value.
KINDS = {
    "lambda with globals": (lambda n: [math.sqrt(i) + abs(i) for i in range(n)], "it(2)", [0.0, 2.0]),
    "function with a default": (plain, "it(4)", 48.0),
    "closure that counts": (counter(1), "(it(2), it(3))", (3, 6)),
    "generator function": (generated, "list(it(4))", [3, 3, 4, 4]),
    "nested comprehension": (nested, "it(3)", [[0], [0, 3]]),
    "function with try and with": (guarded, "(it('1'), it('x'), it(None))", (4, math.inf, None)),
    "annotated function": (annotated, "it(2, times=3)", 9),
    "coroutine function": (awaited, "asyncio.new_event_loop().run_until_complete(it(1))", 4),
    "decorated function": (decorated, "it(2.5)", (3, 2)),
    "module made at run time": (module, "it.half(3.5)", 1.5),
    "partial": (functools.partial(plain, power=1), "it(2)", 6.0),
    "class with super()": (Derived, "it(1.5).value()", 4),
    "property and classmethod": (Described, "(it.made().half, it.floor(1.5))", (1.5, 1)),
    "instance with __slots__": (Slotted(1, 2), "(it.x, it.y)", (1, 2)),
    "abstract base class": (Square, "it().area()", 9),
    "metaclass": (Made, "it().by", "Meta"),
    "Enum": (Colour.BLUE, "(it.name, it is type(it)(2))", ("BLUE", True)),
    "NamedTuple": (Point(1), "(it.x, it.y)", (1, 2)),
    "generic class": (Box([Pair(1, 2)]), "it.content[0].right", 2),
    "exception": (Failure(7), "it.code", 7),
}
LOADER = """
import asyncio, os, pickle, sys
folder = sys.argv[1]
for name in sorted(os.listdir(folder)):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with open(os.path.join(folder, name), "rb") as file:
                it, use, value = pickle.load(file)
            status = int(eval(use) != value)
        except BaseException as error:
            print(type(error).__name__, str(error)[:150].replace("\\n", " "))
        sys.stdout.flush()
        os._exit(status)
    print(int(name), int(os.waitpid(child, 0)[1] == 0), flush=True)
"""


def dumped(number, path):
    """Pickle one kind in a separate process, which may crash."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        with open(path + ".new", "wb") as file:
            cloudpickle.dump(list(KINDS.values())[number], file)
        os.rename(path + ".new", path)
    except BaseException as error:
        print("{}: {}: {}".format(list(KINDS)[number], type(error).__name__, str(error)[:150]))
    sys.stdout.flush()
    os._exit(0)


with tempfile.TemporaryDirectory() as folder:
    for number in range(len(KINDS)):
        dumped(number, os.path.join(folder, str(number)))
    for name in os.listdir(folder):
        if name.endswith(".new"):
            os.unlink(os.path.join(folder, name))
    done = run([sys.executable, "-c", LOADER, folder], stdout=-1, stderr=-2, universal_newlines=True, check=False)
came = 0
for line in done.stdout.splitlines():
    words = line.split()
    if len(words) == 2 and words[0].isdigit():
        came += int(words[1])
        print(list(KINDS)[int(words[0])], "ok" if words[1] == "1" else "FAILS")
    else:
        print("   ", line)
print("{} of {}".format(came, len(KINDS)))
