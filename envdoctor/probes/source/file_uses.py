"""Every import, reference and call of a file whose qualified name matches, with what is passed where."""

from __future__ import annotations

import ast
import functools
import gc
import sys
import warnings

from envdoctor.probes.source.abstract_values import CALLED, ITEM, OWN, STARS, Call, Value, last, qualified
from envdoctor.probes.source.arguments import Arguments
from envdoctor.probes.source.ast_expressions import TooLargeError
from envdoctor.probes.source.ast_statements import Walker
from envdoctor.probes.source.bindings import ATTRIBUTES, CALLS, IMPORTS, Function, Place, below, parameters
from envdoctor.probes.source.call_graph import CallGraph, runner
from envdoctor.probes.source.excerpts import Excerpts
from envdoctor.probes.source.inheritance import (
    attributes,
    constructed_above,
    foreign_base,
    is_constructor_above,
    lineage,
    own_classes,
    pickles_itself,
)
from envdoctor.probes.source.name_resolver import Resolver
from envdoctor.probes.source.parent_state import is_given
from envdoctor.probes.source.relevance import Relevance, parted
from envdoctor.probes.source.source_text import NOTEBOOK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from envdoctor.probes.source.bindings import Scope
    from envdoctor.probes.source.relevance import Asked, Patterns

    Use = dict[str, Any]

MOST_USES = 20_000
#: Before 3.11, Python's own parser could run out of stack on long chains of operators.
_MOST_OPERATORS = 160_000
_LAST_PLACE = 1 << 60
#: So many names on the way to an attribute are looked at.
_MOST_PARTS = 8
_NO_MODULES = ("builtins.", OWN)


class UnreadableError(Exception):
    """Why a file cannot be scanned, as ``line`` (or ``None``) and a reason."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def uses_of(source: str, asked: Asked) -> tuple[dict[str, list[Use]], dict[str, Any] | None]:
    """The uses of one file by the last segment of their names; names of the module itself begin with ``@``.

    With them, where a call is given a function, what :func:`program_of` returns for the file.

    ``asked`` are patterns and the top-level names of the project's own modules: returned are the uses that match, and
    those that begin in the project and may resolve to one that does. A use has ``kind``, ``name``, ``line``,
    ``guarded``, ``text``, and, where they are not empty, ``literals``, ``arguments``, ``keywords``, ``open``,
    ``spared`` (names on the way to this one whose absence the code provides for), ``among`` (then all that the
    expression may be) and ``asks`` (names of elsewhere that conditions around it ask). Of kind ``given`` is what the
    file itself gives to a module or class. ``excused`` are calls for whose failure the code provides, or that it asks
    first whether to make; ``systems`` are those that it is made on, and not made on, ``catches`` the exceptions caught
    around it.
    Raises ``UnreadableError``.
    """
    answer: tuple[dict[str, list[Use]], dict[str, Any] | None] = _scanned(source, lambda file: file.uses(asked))
    return answer


def exports_of(source: str) -> dict[str, Any]:
    """What a file's top-level names resolve to: ``{"ref": name}``, or what they are and, for functions, return.

    ``*`` has the ``modules`` of which it imports all.

    Raises ``UnreadableError``.
    """
    answer: dict[str, Any] = _scanned(source, _File.exports)
    return answer


def program_of(source: str) -> dict[str, Any]:
    """What a file does where it runs as a program, and what importing it changes, as :meth:`ParentState.program`.

    Raises ``UnreadableError``.
    """
    answer: dict[str, Any] = _scanned(source, lambda file: file.arguments.parent.program())
    return answer


def _scanned(source: str, scan: Callable[[_File], Any]) -> Any:
    enabled = gc.isenabled()
    gc.disable()  # a syntax tree is many objects and no garbage
    file = None
    try:
        file = _File(source)
        return scan(file)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TooLargeError) as error:
        raise _unreadable(error) from None
    finally:
        if file is not None:
            file.close()
        if enabled:
            gc.enable()


def _unreadable(error: BaseException) -> UnreadableError:
    if isinstance(error, SyntaxError):
        version = ".".join(map(str, sys.version_info[:2]))
        return UnreadableError(error.lineno, f"Python {version} does not understand it: {error.msg}")
    if isinstance(error, ValueError):
        return UnreadableError(None, f"it is not Python source: {error}")
    return UnreadableError(None, "it is too large" if isinstance(error, TooLargeError) else "it is nested too deeply")


def _parsed(source: str) -> ast.Module:
    if sys.version_info < (3, 11) and sum(map(source.count, "+-*/%|&^.([")) > _MOST_OPERATORS:
        raise RecursionError
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in somebody else's strings
        return ast.parse(source)


class _File:
    """The scopes of one file, and what resolves and describes its names."""

    def __init__(self, source: str) -> None:
        tree = _parsed(source)
        walker = Walker(tree, source)
        self.module = walker.module
        self.imports = walker.imports
        self.stars = list(walker.stars)
        self.flags = walker.flags
        self.resolver = Resolver(walker.scope_of, walker.flags)
        self.excerpts = Excerpts(source)
        program = any(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in tree.body)
        notebook = source.endswith(NOTEBOOK)
        whole = program or notebook or "__main__" in source
        self.arguments = Arguments(self.module, self.resolver, self.excerpts, by_value=whole, notebook=notebook)

    def close(self) -> None:
        """Free everything at once: scopes refer to each other, and would wait for the collector of garbage."""
        for scope in list(below(self.module)):
            vars(scope).clear()

    def uses(self, asked: Asked) -> tuple[dict[str, list[Use]], dict[str, Any] | None]:
        """As :func:`uses_of`."""
        imported, patterns = parted(asked)
        found = list(self._imported(imported))
        scopes = list(below(self.module)) if patterns.any else []
        relevance = Relevance(scopes, patterns)
        for node, place in _reads(scopes, unwritten=bool(patterns.unwritten)):
            for one, target in _parts(node):
                concerned = relevance.concerns(target) or is_constructor_above(target)
                provided = self._provided(place) & ATTRIBUTES or getattr(target, "attr", "") in place.block.asked
                if concerned and not provided and len(found) < MOST_USES:
                    found += ((use, place) for use in self._matching(one, target, place, patterns))
        has_function = any(map(_is_given_function, (use for use, _ in found)))
        answer = self._by_end(found)
        for name in filter(patterns.matches, self._given_names[0] if patterns.any else ()):
            answer.setdefault(last(name), []).append({"kind": "given", "name": name, "line": 0})
        return answer, self.arguments.parent.program() if has_function else None

    def _provided(self, place: Place) -> int:
        """What the code around a place provides for, or around every call of the function that it lies in."""
        return place.block.spared | self.arguments.callers.provide(runner(place.scope))

    def _imported(self, patterns: Patterns) -> Iterator[tuple[Use, Place]]:
        """A use for each import that may match, and whose absence the code does not provide for."""
        for name, line, place in self.imports:
            if not place.block.spared & IMPORTS and patterns.may_match(name):
                yield {"kind": "import", "name": name, "line": line, "text": self.excerpts.import_line(line)}, place

    def _matching(self, node: ast.expr, target: ast.expr, place: Place, patterns: Patterns) -> Iterator[Use]:
        """A use for each name that an expression, or what it calls, resolves to and that may match."""
        if is_constructor_above(target):
            values = constructed_above(self.resolver.evaluate, place)
        else:
            values = self.resolver.resolve(target, place) + self.arguments.callers.of_parameter(target, place)
        meant = self._called(values) if isinstance(node, ast.Call) else _foreign(values, called=False)
        modules, objects = self._given_names
        others = sorted(name for name in {*meant} - objects if not is_given(name, modules))
        return self._described(node, place, filter(patterns.may_match, others), values)

    @functools.cached_property
    def _given_names(self) -> tuple[frozenset[str], frozenset[str]]:
        """What the file gives to modules and to objects of others, where it is there whatever they have themselves."""
        return self.arguments.parent.given_names()

    def _called(self, values: list[Value]) -> Iterator[str]:
        """The names that a call of some values calls: of a partial its function, of a class what it inherits."""
        for one in values:
            inner = self.resolver.of_partial(one)
            own = one.scope if one.kind == "class" else None
            if own is not None and not attributes(self.resolver.evaluate, own, "__init__"):
                inner = [base for base in lineage(self.resolver.evaluate, own) if base.scope is None][:1]
            yield from _foreign([one, *inner], called=True)

    def _described(self, node: ast.expr, place: Place, names: Iterable[str], values: Iterable[Value]) -> Iterator[Use]:
        """A use for each name that an expression resolves to."""
        details: list[Use] | None = None
        for name in names:
            details = details or self._details(node, place, values)
            yield from ({**detail, "name": name} for detail in details)

    def _details(self, node: ast.expr, place: Place, values: Iterable[Value]) -> list[Use]:
        """All of a use but its name; of a call in a function, once for each caller that it depends on."""
        text, literals = self.excerpts.with_literals(node)
        spared = sorted({name for one in values for name in one.spared})
        among = {one.name for one in values if one.name and one.kind != "parameter"} if spared else ()
        fields = {
            "literals": [] if literals.count(None) == len(literals) else literals,
            "spared": spared,
            "among": sorted(among),
            "asks": self._asked(place),
        }
        kept = {one: value for one, value in fields.items() if value}
        use = {"line": node.lineno, "text": text, "within": _within(place.scope), **kept}
        if not isinstance(node, ast.Call):
            return [{"kind": "name", **use}]
        return [{"kind": "call", **use, **arguments} for arguments in self.arguments.of_call(node, place)]

    def _asked(self, place: Place) -> list[str]:
        """The names of elsewhere that the conditions around a place ask."""
        nodes = (node for test in place.block.tests for node in ast.walk(test))
        asked = (node for node in nodes if isinstance(node, (ast.Name, ast.Attribute)))
        found = (one.name for node in asked for one in self.resolver.resolve(node, place) if one.kind == "ref")
        return sorted({name for name in found if not name.startswith(_NO_MODULES)})

    def _by_end(self, found: list[tuple[Use, Place]]) -> dict[str, list[Use]]:
        """Uses by the last segments of their names, each with whether importing the file does not reach it."""
        runners = {runner(place.scope) for _, place in found if not place.block.guard}
        graph = CallGraph(self.module, self.resolver)
        reached = graph.reached(runners)
        uncaught = graph.reached(reached, uncaught=True) if reached - {self.module} else reached
        answer: dict[str, list[Use]] = {}
        for use, place in found:
            use["guarded"] = place.block.guard or runner(place.scope) not in reached
            if place.block.spared & CALLS or runner(place.scope) in reached - uncaught:
                use["excused"] = True
            if place.block.on:
                use["systems"] = place.block.on
            if place.block.catches and use["kind"] == "call":
                use["catches"] = sorted({*place.block.catches} - {""})
            answer.setdefault(last(use["name"]), []).append(use)
        return answer

    def exports(self) -> dict[str, Any]:
        """As :func:`exports_of`."""
        answer: dict[str, Any] = {STARS: {"modules": self.stars}} if self.stars else {}
        here = Place(self.module, self.module.inside.block, _LAST_PLACE)
        for name in self.module.bindings:
            self.resolver.steps = 0
            found = self.resolver.lookup(name, here)
            if len(found) == 1 and found[0].name in found[0].spared:
                continue  # what the file can do without
            if found:
                answer[name] = self._export(name, found, here)
                answer[name].update({"flag": True} if name in self.flags.names else {})
        return answer

    def _export(self, name: str, found: list[Value], here: Place) -> dict[str, Any]:
        if len(found) == 1 and found[0].kind == "ref":
            return {"ref": found[0].name}
        answer = {**self.arguments.summary(found, name), "line": getattr(found[0].node, "lineno", None)}
        answer.update(self._state(found))
        made = [Value("made", one.name, scope=one.scope) for one in found if one.kind == "class"]
        if made:
            answer.update(self._instances(made, name, here))
            answer.update(foreign_base(self.resolver.evaluate, made[0].scope) if len(made) == len(found) == 1 else {})
        if all(one.kind == "function" and one.scope is not None for one in found):
            answer["returns"] = self._returned(found, here)
            answer.update({"passes": True} if all(map(_passes, found)) else {})
        return answer

    def _state(self, found: list[Value]) -> dict[str, list[str]]:
        """What functions, and methods of classes, read of this file and of others (``reads``), and set (``sets``)."""
        scoped = [(one.kind, one.scope) for one in found if one.scope is not None]
        functions = [scope for kind, scope in scoped if kind == "function"]
        functions += [method for kind, scope in scoped if kind == "class" for method in scope.children]
        known = zip(("reads", "sets"), self.arguments.parent.reads(functions) if functions else ())
        return {word: names for word, names in known if names}

    def _instances(self, made: list[Value], name: str, here: Place) -> dict[str, Any]:
        """What instances of classes are, what their methods return, and whether one of them says how to pickle it."""
        answer = {"instance": self.arguments.summary(made, name), "methods": self._methods(made, here)}
        reduced = any(pickles_itself(self.resolver.evaluate, one.scope) for one in made if one.scope is not None)
        return {**answer, "reduced": True} if reduced else answer

    def _returned(self, functions: list[Value], here: Place, depth: int = 0) -> dict[str, Any]:
        """What functions return; of a function that they return, in its ``returns`` what that returns."""
        call = Call(ast.Call(func=ast.Name(id="_", ctx=ast.Load()), args=[], keywords=[]), here)
        found = [each for one in functions for each in self.resolver.called(one, call.node, here)]
        answer = self.arguments.summary(found, f"{functions[0].name.lstrip(OWN)}()")
        if found and depth == 0 and all(one.kind in {"function", "lambda"} for one in found):
            answer["returns"] = self._returned(found, here, 1)
        return answer

    def _methods(self, instances: list[Value], here: Place) -> dict[str, Any]:
        """What the methods of a class return, where that is something made."""
        answer = {}
        scopes = (one.scope for one in instances if one.scope is not None)
        for scope in (each for one in scopes for each in own_classes(self.resolver.evaluate, one)):
            for method in scope.children:
                if method.returns and method.kind == "function" and method.name not in answer:
                    found = self._returned([Value("function", qualified(method), node=method.node, scope=method)], here)
                    if found.get("made_by"):
                        answer[method.name] = found
        return answer


def _parts(node: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is read, and what of it is the name: ``a.b.c(1)`` calls ``a.b.c``, and reads ``a.b`` on the way."""
    target = node.func if isinstance(node, ast.Call) else node
    yield node, target
    for _ in range(_MOST_PARTS):
        if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Attribute)):
            return
        target = target.value
        yield target, target


def _reads(scopes: Iterable[Scope], *, unwritten: bool) -> Iterator[tuple[ast.expr, Place]]:
    """What is read in some scopes; also what is so without being written."""
    for scope in scopes:
        yield from scope.reads
        if unwritten:
            scope.unwritten[:] = [(_taken(node), place) for node, place in scope.unwritten]
            yield from scope.unwritten


def _taken(node: ast.expr) -> ast.expr:
    """The method that a subscript calls, as an attribute; any other expression as it is."""
    if not isinstance(node, ast.Subscript):
        return node
    return ast.copy_location(ast.Attribute(node.value, ITEM, ast.Load()), node)


def _is_given_function(use: Use) -> bool:
    """Whether a call is given something that may be a function, of this file or of another."""
    given = (*use.get("arguments", ()), *use.get("keywords", {}).values())
    return any(one.get("runs") or one.get("names") for one in given)


def _passes(function: Value) -> bool:
    """Whether a function returns what it is given."""
    scope = function.scope
    if scope is None or not isinstance(scope.node, Function):
        return False
    names = [node.id if isinstance(node, ast.Name) else "" for node, _ in scope.returns]
    return bool(names) and set(names) <= {one.arg for one, _ in parameters(scope.node.args)}


def _foreign(values: Iterable[Value], *, called: bool) -> Iterator[str]:
    """The names among values that are attributes of modules, and neither built-in nor the file's own."""
    for one in values:
        if "." not in one.name.strip(".") or one.name.startswith(_NO_MODULES):
            continue
        if one.kind in {"ref", "member"}:
            yield one.name
        elif called and one.kind == "made":
            yield f"{one.name}.{CALLED}"


def _within(scope: Scope) -> str:
    """The function or method of the module that a scope lies in, by its name there; empty for the module itself."""
    found = ""
    while scope.parent is not None:
        if isinstance(scope.node, (*Function, ast.ClassDef)):
            found = qualified(scope)
        if scope.parent.kind == "module":
            break
        if scope.parent.kind == "class" and scope.parent.parent is not None and scope.parent.parent.kind == "module":
            break
        scope = scope.parent
    return found
