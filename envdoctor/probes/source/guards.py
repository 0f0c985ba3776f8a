"""What a condition or an ``except`` clause provides for."""

from __future__ import annotations

import ast
import re

from envdoctor.probes.source.bindings import ATTRIBUTES, CALLS, IMPORTS
from envdoctor.probes.source.version_flags import ASKING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.probes.source.version_flags import VersionFlags

_FAILS = {"ImportError": IMPORTS, "ModuleNotFoundError": IMPORTS, "AttributeError": ATTRIBUTES, "RuntimeError": CALLS}
_FAILS.update(dict.fromkeys(("Exception", "BaseException"), IMPORTS | CALLS))
#: What ``__name__`` is in the main program and in its children, and the name of the main process.
_MAIN = {"__main__", "__mp_main__", "MainProcess"}
_MISSING = {"ImportError", "ModuleNotFoundError", "AttributeError"}
#: What catches everything; for so many plain statements, that is for what one of them may lack.
_EVERYTHING = {"Exception", "BaseException"}
_MOST_TRIED = 3
#: What a call raises that is written for another release.
_REFUSED = {"TypeError", "ValueError"}
#: Part of a name that is a comparison of releases.
_RELEASE = re.compile(
    r"_v_?\d|(?:^|_)(?:ge|gte|gt|le|lte|lt|pre|post|before|since)_?\d|version_(?:predates|before|after|older|newer|at_least|less)"
)
#: A text that asks for a release: ``is_there("lib>=1.6")``.
_REQUIREMENT = re.compile(r"[\w.-]+ ?(?:[<>]=?|[=~]=) ?\d")
#: Part of a name that says what can be asked for.
_OFFERED = re.compile(r"(?:^|_)available(?:$|_)")
#: Context managers that let their block raise what they are given.
_LETTING = {"suppress", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"}
_LETTING |= {"assert_raises", "assert_raises_regex"}
#: Decorators that leave a function out by a condition.
_SKIPPING = {"skipif", "skipIf", "skipUnless"}
#: Functions and methods that do not return.
_LEAVING = {"exit", "quit", "_exit"}
_EXITS = {*_LEAVING, "skip", "skipTest"}
#: What a program calls the systems that it asks for.
_SYSTEMS = {"win32": "win32", "win": "win32", "nt": "win32", "Windows": "win32", "darwin": "darwin", "Darwin": "darwin"}
_SYSTEMS.update({"linux": "linux", "Linux": "linux"})
_ASKED = ("sys.platform", "os.name", "platform.system()", "sys.platform.startswith")
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def caught(kind: ast.expr | None) -> int:
    """What an ``except`` clause provides for, by the names of what it catches."""
    if kind is None:
        return IMPORTS | CALLS
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    found = 0
    for name in names:
        found |= _FAILS.get(str(getattr(name, "id", None) or getattr(name, "attr", "")), 0)
    return found


def caught_by(handlers: Iterable[ast.ExceptHandler]) -> int:
    """What the clauses of a ``try`` provide for; what they raise again they do not."""
    found = 0
    for one in handlers:
        again = any(isinstance(inner, ast.Raise) for statement in one.body for inner in ast.walk(statement))
        found |= caught(one.type) & ~(CALLS if again else 0)
    return found


def tried_out(body: Sequence[ast.stmt], kinds: Iterable[ast.expr | None]) -> int:
    """What a few plain statements may lack, where whatever they raise is caught."""
    if len(body) > _MOST_TRIED or any(hasattr(one, "body") for one in body):
        return 0
    return ATTRIBUTES if any(one is None or _last_name(one) in _EVERYTHING for one in _each(kinds)) else 0


def kept(handlers: Iterable[ast.ExceptHandler]) -> list[ast.expr | None]:
    """What the clauses of a ``try`` catch, without those that raise or leave the program."""
    return [
        one.type for one in handlers if not any(_ends(inner) for statement in one.body for inner in ast.walk(statement))
    ]


def _ends(node: ast.AST) -> bool:
    """Whether a part of a clause raises, or leaves the program."""
    return isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _last_name(node.func) in _LEAVING)


def caught_names(handlers: Iterable[ast.ExceptHandler]) -> tuple[str, ...]:
    """The last segments of the names of what the clauses of a ``try`` catch, without what they raise again."""
    return last_names(_each(kept(handlers)))


def _each(kinds: Iterable[ast.expr | None]) -> Iterator[ast.expr | None]:
    for kind in kinds:
        yield from kind.elts if isinstance(kind, ast.Tuple) else [kind]


def last_names(kinds: Iterable[ast.expr | None]) -> tuple[str, ...]:
    """The last segments of dotted names."""
    return tuple("" if kind is None else _last_name(kind) for kind in kinds)


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", ""))


def suppressed(items: Iterable[ast.withitem]) -> list[ast.expr]:
    """What ``with contextlib.suppress(...)``, or a test's ``with self.assertRaises(...)``, lets a block raise."""
    calls = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
    lists = [one.args for one in calls if getattr(one.func, "id", getattr(one.func, "attr", "")) in _LETTING]
    return [kind for kinds in lists for one in kinds for kind in (one.elts if isinstance(one, ast.Tuple) else [one])]


def instead_of(kind: ast.expr | None) -> int:
    """What the body of an ``except`` clause provides for: after an import that failed, all that it uses instead.

    After a call that was refused, it makes another.
    """
    names = {getattr(name, "id", "") for name in (kind.elts if isinstance(kind, ast.Tuple) else [kind])}
    if names & _MISSING:
        return IMPORTS | ATTRIBUTES
    return caught(kind) | (ATTRIBUTES if names & _REFUSED else 0)


def skipped_by(decorators: Iterable[ast.expr], flags: VersionFlags) -> int:
    """What a function provides for that a test runner leaves out by the version that there is."""
    calls = (one for one in decorators if isinstance(one, ast.Call) and getattr(one.func, "attr", "") in _SKIPPING)
    found = 0
    for call in calls:
        found |= spared_by(call.args[0], flags) if call.args else 0
    return found


def asked_for(test: ast.expr) -> frozenset[str]:
    """The names that ``hasattr`` asks for in a test."""
    calls = [one for one in ast.walk(test) if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "hasattr"]
    return frozenset(str(getattr(one.args[-1], "value", "")) for one in calls if one.args)


def is_for_newer(test: ast.expr) -> bool:
    """Whether a test that asks for a version, or for something new, holds with the newer ones."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not is_for_newer(test.operand)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ORDERED):
        return True
    is_left = not isinstance(test.left, (ast.Constant, ast.Tuple))
    return isinstance(test.ops[0], (ast.Gt, ast.GtE)) is is_left


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether nothing after an ``if`` runs where its body does, as far as its last statement tells."""
    last = body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        called = last.value.func
        return getattr(called, "id", getattr(called, "attr", "")) in _EXITS
    return isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _is_name(node: ast.expr) -> bool:
    """Whether it is ``__name__``, or the name of a process."""
    return getattr(node, "id", None) == "__name__" or getattr(node, "attr", None) == "name"


def _main_name(*sides: ast.expr) -> object:
    """The name of a main program that a comparison holds the name of the module or process against, or ``None``."""
    named = (side.value for side in sides if isinstance(side, ast.Constant) and side.value in _MAIN)
    return next(named, None) if any(map(_is_name, sides)) else None


def main_guard(test: ast.expr) -> tuple[bool, bool]:
    """Whether the body, and whether the ``else``, runs only as the main program."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(main_guard(part)[0] for part in test.values), False
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False, False
    value = _main_name(test.left, test.comparators[0])
    if value is None:
        return False, False
    same, other = isinstance(test.ops[0], ast.Eq), isinstance(test.ops[0], ast.NotEq)
    return (same or other, False) if value == "__mp_main__" else (same, other)


def spared_by(test: ast.expr, flags: VersionFlags | None = None) -> int:
    """What an ``if`` provides for: one that asks for a version, an attribute, what is available, or a type checker.

    ``flags`` has the names that remember such an answer.
    """
    ordered = asked = False
    found = 0
    for node in ast.walk(test):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if _is_loaded(node) or _lists_names(node) or _asks_in_text(node) or (flags is not None and flags.says(node)):
            return IMPORTS | ATTRIBUTES
        if isinstance(name, str):
            if name in ASKING or _says_release(name):
                return IMPORTS | ATTRIBUTES
            found |= CALLS if name == "get_start_method" or _is_offered(node) else 0
            asked = asked or name == "version" or name.endswith("_version")
        ordered = ordered or isinstance(node, ORDERED)
    return found | (IMPORTS | ATTRIBUTES if asked and ordered else 0)


def system(test: ast.expr, *, same: bool = True) -> tuple[tuple[str, bool], ...]:
    """The system that a condition asks for, and whether it is to be that one; empty where it asks for none."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return system(test.operand, same=not same)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        asked, given = test.left, test.comparators[0]
        same = same is isinstance(test.ops[0], ast.Eq)
    elif isinstance(test, ast.Call) and len(test.args) == 1:
        asked, given = test.func, test.args[0]
    else:
        return ()
    named = _SYSTEMS.get(str(getattr(given, "value", "")))
    return ((named, same),) if named and ast.unparse(asked) in _ASKED else ()


def _says_release(name: str) -> bool:
    """Whether a name says that it compares releases: ``LIB_GE_200``, ``LIB_VERSION``, ``is_lib_v2``."""
    if name.isupper():
        return "VERSION" in name or any(map(str.isdigit, name))
    return _RELEASE.search(name) is not None


def _asks_in_text(node: ast.AST) -> bool:
    """Whether a text asks for a release, or the key of an entry says that it compares releases."""
    if isinstance(node, ast.Subscript):
        return _RELEASE.search(str(getattr(node.slice, "value", ""))) is not None
    return isinstance(node, ast.Constant) and _REQUIREMENT.match(str(node.value)) is not None


def _is_offered(node: ast.AST) -> bool:
    """Whether it is a list in which a library says what there is: ``style.available``, ``get_available_languages``."""
    return isinstance(node, ast.Attribute) and _OFFERED.search(node.attr) is not None


def _lists_names(node: ast.AST) -> bool:
    """Whether a member is asked for among the names of something: ``"old" in dir(lib)``."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[-1], (ast.In, ast.NotIn)):
        return False
    listed = node.comparators[-1]
    called = getattr(getattr(listed, "func", None), "id", "")
    return called in {"dir", "vars"} or getattr(listed, "attr", "") == "__dict__"


def _is_loaded(node: ast.AST) -> bool:
    """Whether it is ``sys.modules``: what is there already was imported by somebody else."""
    return isinstance(node, ast.Attribute) and node.attr == "modules" and getattr(node.value, "id", "") == "sys"
