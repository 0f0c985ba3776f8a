"""Every import, reference and call of a file whose qualified name is known, with what is passed where."""

from __future__ import annotations

import ast
import functools
import gc
import sys
from fnmatch import fnmatchcase

from envdoctor.dotted import expression
from envdoctor.probes.source.names import MOST_SEGMENTS, Resolver
from envdoctor.probes.source.scopes import ATTRIBUTES, IMPORT, IMPORTS, Function, below, silent
from envdoctor.probes.source.things import OWN, Call, Thing, last
from envdoctor.probes.source.values import Text, Values
from envdoctor.probes.source.walk import TooLargeError, Walker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Optional

    from envdoctor.probes.source.scopes import Binding, Place, Scope

    Fact = list[Any]
    Asked = Optional[tuple[frozenset[str], frozenset[str]]]

#: Larger files are not looked into.
MOST_BYTES = 2 << 20
#: Before 3.11, Python's own parser could run out of stack on long chains of operators.
_MOST_OPERATORS = 160_000
MOST_USES = 20_000
_latest: list[_Reader] = []


class NotReadError(Exception):
    """Why a file could not be looked into, as ``line`` (or ``None``) and a reason."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def facts(source: str, asked: Asked = None) -> dict[str, list[Fact]]:
    """The uses of one file by the last segment of their names; those of its own are marked by ``@``.

    With ``asked``, patterns and the roots of the project's own modules, other uses are left out, unless they begin in
    the project. A use is ``[kind, name, line, guarded, number, spared, among]``: ``number`` is for ``details``,
    ``spared`` the names on the way to this one whose absence the code provides for, ``among`` then all that may stand
    there. Raises ``NotReadError``.
    """
    answer: dict[str, list[Fact]] = _guarded(lambda: _reader(source).uses(asked))
    return answer


def details(source: str, asked: Asked = None) -> dict[str, dict[str, Any]]:
    """The text of all references and calls and what is passed to the calls, without empty fields, by number.

    With ``asked``, of those that match.
    """
    answer: dict[str, dict[str, Any]] = _guarded(lambda: _reader(source).details(asked))
    return answer


def exports(source: str, _asked: Asked = None) -> dict[str, Any]:
    """What the file's top-level names stand for: ``{"ref": name}``, or what they are and, for functions, return."""
    answer: dict[str, Any] = _guarded(lambda: _reader(source).exports())
    return answer


def _guarded(read: Any) -> Any:
    enabled = gc.isenabled()
    gc.disable()  # a syntax tree is many objects and no garbage
    try:
        return read()
    except SyntaxError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        raise NotReadError(error.lineno, f"Python {version} does not understand it: {error.msg}") from None
    except ValueError as error:
        raise NotReadError(None, f"it is not Python source: {error}") from None
    except (RecursionError, MemoryError):
        raise NotReadError(None, "it is nested too deeply") from None
    except TooLargeError:
        raise NotReadError(None, "it is too large") from None
    finally:
        if enabled:
            gc.enable()


def _reader(source: str) -> _Reader:
    """What reads a text; the last one is kept, since who asks for a text's facts may ask for details next."""
    if not _latest or _latest[0].source != source:
        while _latest:
            _latest.pop().close()
        _latest.append(_Reader(source))
    return _latest[0]


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        tree = _parse(source)
        walker = Walker(tree)
        self.imports = walker.imports
        self.module = walker.module
        self.resolver = Resolver(walker.scope_of)
        self.text = Text(source)
        program = any(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in tree.body)
        self.values = Values(self.resolver, self.text, by_value=program or "__main__" in source)
        self.bound = _bound_names(self.module)
        self.direct = _direct(self.module)
        self.asked: _Patterns | None = None
        #: What classes of this file define: an attribute of that name may stand for something of another name.
        self.own = _own_names(self.module)
        self.found: list[tuple[Fact, Place]] = []
        #: Which function is called from where: ``(caller, guarded, function)``.
        self.calls: list[tuple[Scope, bool, Scope]] = []

    def close(self) -> None:
        """Let go of everything at once: scopes refer to each other, and would wait for the collector of garbage."""
        for scope in below(self.module):
            vars(scope).clear()
        vars(self).clear()

    def _reads(self) -> Iterator[tuple[ast.expr, Place]]:
        for scope in below(self.module):
            yield from scope.reads

    def uses(self, asked: Asked = None) -> dict[str, list[Fact]]:
        self.asked = None if asked is None else _patterns(*asked)
        self.found.clear()
        self.calls.clear()
        for number, (name, line, place) in enumerate(self.imports):
            if not place.block.spared & IMPORTS and self._is_asked(name):
                self.found.append((["import", name, line, False, number], place))
        for number, (node, place) in enumerate(self._reads()):
            self._read(node, place, number)
            if len(self.found) >= MOST_USES:
                break
        reached = self._reached()
        answer: dict[str, list[Fact]] = {}
        for use, place in self.found:
            use[3] = place.block.guard or _runner(place.scope) not in reached
            answer.setdefault(last(use[1]), []).append(use)
        return answer

    def details(self, asked: Asked = None) -> dict[str, dict[str, Any]]:
        if not self.found or asked != (self.asked and self.asked.given):
            self.uses(asked)
        wanted = {use[4] for use, _ in self.found if use[0] != "import" and self._is_asked(use[1], linked=False)}
        answer: dict[str, dict[str, Any]] = {}
        for number, (node, place) in enumerate(self._reads()):
            if number in wanted:
                answer[str(number)] = {
                    "text": self.text.of(node),
                    **(self._call(node, place) if isinstance(node, ast.Call) else {}),
                }
        return answer

    def _read(self, node: ast.expr, place: Place, number: int) -> None:
        target = node.func if isinstance(node, ast.Call) else node
        if not self._may_tell(target, place.scope) or self._read_directly(node, target, place, number):
            return
        if self.asked is not None and isinstance(target, ast.Attribute):
            foreign = target.attr not in self.own
            if foreign and not self.asked.end(target.attr):
                return
        things = self.resolver.things(target, place)
        names = {one.name for one in things if one.kind in {"ref", "member"} and "." in one.name.strip(".")}
        if isinstance(node, ast.Call):
            self._note_calls(things, place)
        if place.block.spared & ATTRIBUTES:
            return
        names = {name for name in names if not name.startswith(("builtins.", OWN)) and self._is_asked(name)}
        spared = sorted({name for one in things for name in one.spared})
        among = sorted({one.name for one in things if one.name and one.kind != "parameter"}) if spared else []
        kind = "call" if isinstance(node, ast.Call) else "name"
        for name in sorted(names):
            use: Fact = [kind, name, node.lineno, False, number, spared, among]
            self.found.append((use if spared else use[:5], place))

    def _read_directly(self, node: ast.expr, target: ast.expr, place: Place, number: int) -> bool:
        """Read a dotted name below one that only an import binds, which is what resolving it comes to."""
        attributes = []
        while isinstance(target, ast.Attribute):
            attributes.append(target.attr)
            target = target.value
        binding = self.direct.get(target.id) if isinstance(target, ast.Name) else None
        if binding is None or (place.scope is self.module and binding.order > place.order):
            return False
        name = ".".join([binding.value, *reversed(attributes)]) if attributes else binding.value
        if name.count(".") > MOST_SEGMENTS:
            return False
        if place.block.spared & ATTRIBUTES or not self._is_asked(name):
            return True
        if "." in name.strip(".") and not name.startswith("builtins."):
            kind = "call" if isinstance(node, ast.Call) else "name"
            self.found.append(([kind, name, node.lineno, False, number], place))
        return True

    def _is_asked(self, name: str, *, linked: bool = True) -> bool:
        """Whether a use of a name may be an answer; one of the project's own may stand for any other."""
        if self.asked is None or self.asked.fit(name):
            return True
        return linked and (name[:1] == "." or name.partition(".")[0] in self.asked.own)

    def _may_tell(self, target: ast.expr, scope: Scope) -> bool:
        """Whether a dotted name is worth resolving: something known may be at its root."""
        first = ""
        while isinstance(target, ast.Attribute):
            first, target = target.attr, target.value
        if not isinstance(target, ast.Name):
            return True
        if scope.parent is not None and scope.receiver == target.id:
            return first in scope.parent.bindings or first in scope.parent.attributes
        return target.id in self.bound

    def _call(self, node: ast.Call, place: Place) -> dict[str, Any]:
        arguments = []
        opened = any(keyword.arg is None for keyword in node.keywords)
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                opened = True
                break
            arguments.append(self.values.describe(argument, place))
        keywords = {
            keyword.arg: self.values.describe(keyword.value, place, keyword.arg)
            for keyword in node.keywords
            if keyword.arg
        }
        fields = {"arguments": arguments, "keywords": keywords, "open": opened}
        return {field: value for field, value in fields.items() if value}

    def _note_calls(self, things: Iterable[Thing], place: Place) -> None:
        for one in things:
            callee = one.scope
            if callee is None or one.kind not in {"function", "method", "lambda", "class"}:
                continue
            if one.kind == "class":
                made = callee.bindings.get("__init__", ())
                for binding in made:
                    if isinstance(binding.value, Function):
                        self.calls.append((place.scope, place.block.guard, self.resolver.scope_of[id(binding.value)]))
            else:
                self.calls.append((place.scope, place.block.guard, callee))

    def _reached(self) -> set[Scope]:
        """The scopes that run when the file is imported: its top level, and the functions called from there."""
        callees: dict[Scope, list[Scope]] = {}
        for caller, guarded, callee in self.calls:
            if not guarded:
                callees.setdefault(_runner(caller), []).append(callee)
        reached = {self.module}
        waiting = [self.module]
        while waiting:
            for callee in callees.get(waiting.pop(), ()):
                if callee not in reached:
                    reached.add(callee)
                    waiting.append(callee)
        return reached

    def exports(self) -> dict[str, Any]:
        """What importers of the file may find in it."""
        answer: dict[str, Any] = {}
        end = 1 << 60
        here = type(self.module.inside)(self.module, self.module.inside.block, end)
        for name in self.module.bindings:
            self.resolver.steps = 0
            found = self.resolver.lookup(name, here)
            if len(found) == 1 and found[0].name in found[0].spared:
                continue  # what the file can do without
            if len(found) == 1 and found[0].kind == "ref":
                answer[name] = {"ref": found[0].name}
            elif found:
                answer[name] = self.values.summary(found, name)
                answer[name]["line"] = getattr(found[0].node, "lineno", None)
            classes = [one for one in found if one.kind == "class"]
            if classes:
                made = [Thing("made", one.name, scope=one.scope) for one in classes]
                answer[name]["instance"] = self.values.summary(made, name)
            functions = [one for one in found if one.kind == "function" and one.scope is not None]
            if functions and len(functions) == len(found):
                answer[name]["returns"] = self._returned(functions, here)
        return answer

    def _returned(self, functions: list[Thing], here: Place) -> dict[str, Any]:
        call = Call(ast.Call(func=ast.Name(id="_", ctx=ast.Load()), args=[], keywords=[]), here)
        found = [one for function in functions for one in self.resolver.returned(function, call)]
        return self.values.summary(found, f"{functions[0].name.lstrip(OWN)}()")


def _parse(source: str) -> ast.Module:
    if sys.version_info < (3, 11) and sum(map(source.count, "+-*/%|&^.([")) > _MOST_OPERATORS:
        raise RecursionError
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in somebody else's strings
        return ast.parse(source)


def _bound_names(module: Scope) -> set[str]:
    """Every name of the file that may stand for something of another."""
    found: set[str] = set()
    for scope in below(module):
        found.update(name for name, bindings in scope.bindings.items() if not all(map(silent, bindings)))
    return found


def _direct(module: Scope) -> dict[str, Binding]:
    """The names that one plain import at the top of the file binds, and nothing else anywhere."""
    bindings: dict[str, list[Binding]] = {}
    for scope in below(module):
        for name, some in scope.bindings.items():
            bindings.setdefault(name, []).extend(some)
    top = module.inside.block
    return {
        name: one
        for name, (one, *others) in bindings.items()
        if not others and one.kind == IMPORT and one.place.block is top and not top.spared and one.value[:1] != "."
    }


class _Patterns:
    """The patterns that are asked for, by what they end in, and the roots of the project's own modules."""

    def __init__(self, patterns: frozenset[str], own: frozenset[str]) -> None:
        self.given = patterns, own
        self.own = own
        self._ending: dict[str, list[str]] = {}
        for pattern in patterns:
            self._ending.setdefault(pattern.rpartition(".")[2].replace("**", "*"), []).append(pattern)
        self._open = [one for one in self._ending if not {"*", "?", "["}.isdisjoint(one)]
        self._known: dict[str, list[str]] = {}
        self._fitting: dict[str, bool] = {}

    def end(self, segment: str) -> list[str]:
        """The patterns that a name may match which ends in a segment."""
        known = self._known.get(segment)
        if known is None:
            ends = {segment, *(one for one in self._open if fnmatchcase(segment, one))}
            known = self._known[segment] = [pattern for end in ends for pattern in self._ending.get(end, ())]
        return known

    def fit(self, name: str) -> bool:
        """Whether a name matches one of them."""
        known = self._fitting.get(name)
        if known is None:
            known = any(expression(pattern).fullmatch(name) for pattern in self.end(last(name)))
            self._fitting[name] = known
        return known


@functools.lru_cache(maxsize=4)
def _patterns(patterns: frozenset[str], own: frozenset[str]) -> _Patterns:
    return _Patterns(patterns, own)


def _own_names(module: Scope) -> set[str]:
    """What the bodies and methods of the file's classes assign."""
    found: set[str] = set()
    for scope in below(module):
        if scope.kind == "class":
            found.update(scope.bindings, scope.attributes)
    return found


def _runner(scope: Scope) -> Scope:
    """The function or module in whose course a class body or comprehension runs."""
    while scope.kind in {"class", "comprehension"} and scope.parent is not None:
        scope = scope.parent
    return scope
