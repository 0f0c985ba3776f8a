"""The arguments of a call: their kinds, what made them, and what would travel with them into another process."""

from __future__ import annotations

import ast
import itertools

from envdoctor.probes.source.abstract_values import Value, last, names_class, qualified
from envdoctor.probes.source.bindings import Function, parameters
from envdoctor.probes.source.call_graph import Callers
from envdoctor.probes.source.carried import MOST_DEEP, MOST_ELEMENTS, MOST_ENTRIES, Carried
from envdoctor.probes.source.earlier_uses import EarlierUses
from envdoctor.probes.source.inheritance import attributes, own_classes, pickles_itself
from envdoctor.probes.source.literals import beginnings, constant, constants, forms
from envdoctor.probes.source.parent_state import ParentState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from envdoctor.probes.source.bindings import Place, Scope
    from envdoctor.probes.source.carried import Given
    from envdoctor.probes.source.excerpts import Excerpts
    from envdoctor.probes.source.name_resolver import Resolver

    #: An expression and its place.
    Written = tuple[ast.expr, Place]

#: Functions of asyncio whose calls are coroutines.
_COROUTINES = {
    f"asyncio.{name}" for name in ("sleep", "wait_for", "wait", "open_connection", "start_server", "to_thread")
}
_COROUTINES.update({"asyncio.Queue.get", "asyncio.Queue.put", "asyncio.Queue.join", "asyncio.Event.wait"})
#: What is among the results of a function that raises one which is lost on the way.
EXCEPTION = "exception"


class Arguments:
    """Describes arguments. ``by_value``: the file runs as a program, so its own functions travel with their globals."""

    def __init__(
        self, module: Scope, resolver: Resolver, excerpts: Excerpts, *, by_value: bool, notebook: bool = False
    ) -> None:
        self.resolver = resolver
        self.excerpts = excerpts
        self.by_value = by_value
        self.notebook = notebook
        self.parent = ParentState(module, resolver)
        self.callers = Callers(module, resolver)
        self._earlier = EarlierUses()

    def of_call(self, node: ast.Call, place: Place) -> list[dict[str, Any]]:
        """The ``arguments`` and ``keywords`` of a call, and whether it is ``open`` to more; without empty fields.

        Where parameters of a function around it are passed on, once for each call of that function in this file.
        """
        passed: set[Scope] = set()
        own = self._of_call(node, place, None, passed)
        callers = self.callers.of(passed)
        return [self._of_call(node, place, one, set()) for one in callers] or [own]

    def _of_call(self, node: ast.Call, place: Place, given: Given, passed: set[Scope]) -> dict[str, Any]:
        plain, named, seen = self._written(node, place)
        whole: dict[str, Any] = {"given": given, "passed": passed}
        fields = {
            "arguments": [self.describe(one, where, **whole) for one, where in plain],
            "keywords": {name: self.describe(one, where, name, **whole) for name, (one, where) in named.items()},
            "open": not seen,
        }
        if isinstance(node.func, (ast.Attribute, ast.Call)):
            base = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if any(one.kind in {"made", "self", "parameter"} for one in self.resolver.resolve(base, place)):
                fields["on"] = self.describe(base, place, **whole)
        return {field: value for field, value in fields.items() if value}

    def _written(self, node: ast.Call, place: Place) -> tuple[list[Written], dict[str, Written], bool]:
        """The arguments of a call by position and by keyword, those of a partial first, and whether these are all."""
        plain: list[Written] = []
        named: dict[str, Written] = {}
        seen = True
        for call, where in [*self._bound(node, place), (node, place)]:
            given = call.args[call is not node :]
            before = list(itertools.takewhile(lambda one: not isinstance(one, ast.Starred), given))
            plain += [(one, where) for one in before]
            for keyword in call.keywords:
                if keyword.arg:
                    named[keyword.arg] = (keyword.value, where)
                else:
                    entries, is_all = self._spread(keyword.value, where)
                    named.update({name: (value, there) for name, value, there in entries})
                    seen = seen and is_all
            seen = seen and len(before) == len(given)
        return plain, named, seen

    def _bound(self, node: ast.Call, place: Place) -> list[tuple[ast.Call, Place]]:
        """The call of ``functools.partial`` that made what a call calls, if one did."""
        found = [one for one in self.resolver.resolve(node.func, place) if one.kind == "partial"]
        return [(one.node, one.place) for one in found[:1] if isinstance(one.node, ast.Call) and one.place is not None]

    def _spread(self, node: ast.expr, place: Place) -> tuple[list[tuple[str, ast.expr, Place]], bool]:
        """The entries of dictionaries that are spread over keywords, and whether these are all; none after a change."""
        found = self.resolver.resolve(node, place)
        replaced = (one for one in found if one.spared and isinstance(one.node, (ast.Dict, ast.Call)))
        if any(one.kind == "unknown" for one in found) or any(replaced):
            return [], False
        dicts = [one for one in found if one.kind == "dict" and not one.spared]
        parts = [part for one in dicts for part in one.parts[:MOST_ENTRIES]]
        named = [(str(getattr(key, "value", "")), value, where) for key, value, where in parts]
        known = [one for one in named if one[0].isidentifier()]
        return known, len(known) == len(named) and len(dicts) == len(found) > 0

    def calls(self, name: str) -> bool:
        """Whether anything in this file calls a function or method of a name."""
        return self.callers.calls(name)

    def describe(
        self,
        node: ast.expr,
        place: Place,
        label: str = "",
        depth: int = 0,
        given: Given = None,
        passed: set[Scope] | None = None,
    ) -> dict[str, Any]:
        """An argument, without the fields that are empty."""
        found = self.resolver.resolve(node, place)
        late = [(node, place)] if isinstance(node, ast.Name) else []
        answer = self.summary(found, label or self.excerpts.of(node), depth, given, passed, late)
        answer["text"] = self.excerpts.of(node)
        if written := forms(node, ()):
            answer["form"] = sorted({*written, *answer.get("form", ())})
        return {**answer, **self._earlier.of(node, place)} if isinstance(node, ast.Name) else answer

    def summary(
        self,
        found: list[Value],
        label: str,
        depth: int = 0,
        given: Given = None,
        passed: set[Scope] | None = None,
        late: Sequence[tuple[ast.Name, Place]] = (),
    ) -> dict[str, Any]:
        """A description of several possible values; ``label`` says in ``via`` where they are given."""
        carried = Carried(self, label, given)
        found = [each for one in found for each in carried.meant(one)]
        flat = [each for one in self.flat(found) for each in self.flat(carried.meant(one))]
        carries = carried.all(found)
        for name in late:
            carried.late(*name)
        position = next(map(_position, carried.parameters), None)
        fields = {"parameter": position, **self._values(flat)}
        fields.update({"carries": carries, "itself": sorted(_named_by(found, {"made"}))})
        if passed is not None:
            passed |= carried.passed
        written = forms(None, found) | {"coroutine" for one in flat if self._is_awaited(one)}
        fields.update({"form": sorted(written), "values": constants(found, flat), "begins": beginnings(flat)})
        answer: dict[str, Any] = {field: value for field, value in fields.items() if value}
        answer.update(constant(found))
        if any(one.spared for one in (*found, *flat)):
            answer["provided"] = True
        if depth == 0:
            self._entries(flat, answer)
        return answer

    def _values(self, flat: list[Value]) -> dict[str, Any]:
        """What each of some values is, by field."""
        parameter = next((_position(one) for one in flat if one.kind == "parameter"), None)
        return {
            "is": sorted({"factory" if self._is_called(one) else kind(one) for one in flat}) or ["unknown"],
            "made_by": sorted({_maker(one) for one in flat if one.kind in {"made", "self"}}),
            "names": sorted(_named_by(flat, {"ref", "function", "class", "method"})),
            "maker": self._makes(flat[0]) if len(flat) == 1 else None,
            "lacks": list(itertools.chain.from_iterable(map(self._lacks, flat))),
            "results": list(itertools.chain.from_iterable(map(self._results, flat))),
            "runs": sorted({name for one in flat for name in self._runs(one)}),
            **({"parameter": parameter} if parameter else {}),
        }

    def _is_awaited(self, one: Value, within: Sequence[ast.AST] = ()) -> bool:
        """Whether a value is the call of an ``async`` function, of this file or of asyncio, or a generator of these."""
        if one.kind == "generator" and isinstance(one.node, ast.GeneratorExp):
            found = self.resolver.evaluate(one.node.elt, self.resolver.scope_of[id(one.node)].inside)
            return one.node not in within and any(self._is_awaited(each, (*within, one.node)) for each in found)
        if one.kind != "made" or not isinstance(one.node, ast.Call) or one.place is None:
            return False
        called = self.resolver.evaluate(one.node.func, one.place)
        is_own = any(each.scope is not None and isinstance(each.scope.node, ast.AsyncFunctionDef) for each in called)
        return is_own or one.name in _COROUTINES

    def _is_called(self, one: Value) -> bool:
        """Whether a value is an object of a class of this file that says what calling it does."""
        if one.kind != "made" or one.scope is None:
            return False
        return bool(attributes(self.resolver.evaluate, one.scope, "__call__"))

    def _runs(self, one: Value, depth: int = 0) -> Iterator[str]:
        """The names of what a partial, a lambda, a local function or delayed calls run."""
        inner = [each for node, place in self._called_by(one) for each in self.resolver.evaluate(node, place)]
        yield from _named_by(inner, {"ref", "function", "class", "method"})
        for each in inner if depth < MOST_DEEP else ():
            yield from self._runs(each, depth + 1)

    def _called_by(self, one: Value) -> list[Written]:
        """What calling a value calls: a partial, a lambda, a local function or a generator of delayed calls."""
        if one.kind == "partial":
            return _first_given(one.node, one.place)
        if one.kind == "generator":
            delayed = getattr(getattr(one.node, "elt", None), "func", None)
            inside = self.resolver.scope_of.get(id(one.node))
            return _first_given(delayed, inside.inside if inside else None)
        if one.scope is None or not (one.kind == "lambda" or (one.kind == "function" and one.scope.nested())):
            return []
        return [(each.func, place) for each, place in one.scope.reads if isinstance(each, ast.Call)][:MOST_ENTRIES]

    def _lacks(self, one: Value) -> list[dict[str, Any]]:
        """What a function, or that of a partial, reads and only the program has set."""
        found = [lack for each in self.resolver.of_partial(one) for lack in self._lacks(each)]
        if one.scope is None:
            return found
        if one.kind in {"function", "method"}:
            return self.parent.lacks(one.scope)
        classes = own_classes(self.resolver.evaluate, one.scope) if one.kind in {"made", "self"} else []
        methods = [method for own in classes for method in own.children if _runs_there(method.name)]
        return [*found, *(lack for method in methods for lack in self.parent.lacks(method))]

    def _results(self, one: Value) -> list[dict[str, Any]]:
        """What a function, or that of a partial, gives back and nothing can pickle, with the ``line``."""
        if one.kind == "partial":
            inner = self.resolver.of_partial(one)
            return [result for each in inner if each.kind != "partial" for result in self._results(each)]
        if one.kind not in {"function", "method"} or one.scope is None or not isinstance(one.scope.node, Function):
            return []
        found = [(_made_name(each), each.node) for each in self._returns(one.scope)]
        found += [(EXCEPTION, node) for node, place in self._raised(one.scope) if self._is_lost(node, place)]
        return [{"name": name, "line": getattr(node, "lineno", None), "via": "its result"} for name, node in found]

    def _returns(self, scope: Scope) -> Iterator[Value]:
        """The generators, lambdas and objects made elsewhere that a function returns."""
        if scope.yields:
            yield Value("generator", node=scope.node)
        for node, place in scope.returns:
            for one in self.resolver.evaluate(node, place):
                if one.kind in {"generator", "lambda", "made"} and one.scope is None:
                    yield one

    def _raised(self, scope: Scope) -> Iterator[Written]:
        """The calls that make what a function raises."""
        raised = {id(one.exc) for one in ast.walk(scope.node) if isinstance(one, ast.Raise)}
        yield from ((node, place) for node, place in scope.reads if id(node) in raised)

    def _is_lost(self, node: ast.expr, place: Place) -> bool:
        """Whether a raised exception is of a class of this file that takes more than it passes on to its base.

        What it passes on is all that its class is given where another process makes it again.
        """
        made = [one.scope for one in self.resolver.resolve(node, place) if one.kind == "made" and one.scope is not None]
        return any(
            _passes_less(method)
            for scope in made
            for method in ([] if pickles_itself(self.resolver.evaluate, scope) else scope.children)
            if method.name == "__init__" and method.receiver
        )

    def _makes(self, one: Value, depth: int = 0) -> dict[str, Any] | None:
        """The call of something elsewhere that made a value: its ``name``, its constants, and what it was called on."""
        if one.kind != "made" or one.scope or not isinstance(one.node, ast.Call) or not one.place or depth > MOST_DEEP:
            return None
        answer: dict[str, Any] = {"name": one.name}
        node = one.node
        plain = [self._constant(argument, one.place, depth) for argument in node.args]
        named = {each.arg: self._constant(each.value, one.place, depth) for each in node.keywords if each.arg}
        base = getattr(node.func, "value", None)
        on = self._constant(base, one.place, depth).get("maker") if base is not None else None
        more = {"arguments": plain, "keywords": named, "on": on}
        return {**answer, **{field: value for field, value in more.items() if value}}

    def _constant(self, node: ast.expr, place: Place, depth: int) -> dict[str, Any]:
        """Of an argument its constant value, or what made it."""
        found = self.resolver.evaluate(node, place)
        if len(found) != 1:
            return {}
        if found[0].kind == "constant":
            return constant(found)
        if found[0].kind in {"function", "method", "ref"}:
            return {"names": [found[0].name]}
        if found[0].kind == "partial":
            return {"names": sorted(self._runs(found[0]))}
        maker = self._makes(found[0], depth + 1)
        return {"maker": maker} if maker else {}

    def _entries(self, flat: list[Value], answer: dict[str, Any]) -> None:
        """The entries of a dictionary, or of those in a list, by key; ``open`` where others may be among them."""
        dicts = [one for one in flat if one.kind == "dict"]
        if not dicts:
            return
        entries: dict[str, Any] = {}
        unknown = len(dicts) < len(flat)
        for one in dicts:
            for key, value, place in one.parts[:MOST_ENTRIES]:
                known = isinstance(key, ast.Constant) and isinstance(key.value, str)
                unknown = unknown or not known
                if known:
                    entries[key.value] = self.describe(value, place, depth=1)
        answer["entries"] = entries
        if unknown:
            answer["open"] = True

    def flat(self, found: list[Value]) -> list[Value]:
        """Things, with the elements of lists in place of the lists; of lists of many lists, the first."""
        answer: list[Value] = []
        waiting = [(one, 0) for one in reversed(found)]
        steps = 0
        while waiting and steps < MOST_ELEMENTS:
            one, depth = waiting.pop()
            steps += 1
            if one.kind != "items":
                answer.append(one)
            elif depth < MOST_DEEP:
                for node, place in reversed(one.parts[:MOST_ENTRIES]):
                    waiting += [(inner, depth + 1) for inner in self.resolver.evaluate(node, place)]
        return answer


def _first_given(call: ast.AST | None, place: Place | None) -> list[Written]:
    """The first argument of a call, where it has one."""
    return [(one, place) for one in call.args[:1]] if isinstance(call, ast.Call) and place is not None else []


def _passes_less(method: Scope) -> bool:
    """Whether a method passes fewer arguments to that of its base class than it requires itself."""
    required = [default for _, default in parameters(method.node.args)[1:]].count(None)  # type: ignore[attr-defined]
    passed = (call for call, _ in method.reads if isinstance(call, ast.Call) and _is_of_base(call))
    return any(len(call.args) < required for call in passed)


def _is_of_base(call: ast.Call) -> bool:
    """Whether a call is ``super().__init__(...)`` with all that it gives."""
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    return not starred and ast.unparse(call.func) in {"super().__init__", "Exception.__init__"}


def _runs_there(method: str) -> bool:
    """Whether a method runs in the process that an object is sent to: ``run``, ``__getitem__``, ``__call__``."""
    return method in {"run", "__call__", "__getitem__", "__getitems__", "__iter__", "__next__"}


def _position(one: Value) -> dict[str, Any] | None:
    """Of a parameter of a module's function: ``of`` which, ``at`` which place and its ``name``."""
    scope = one.scope
    if scope is None or not isinstance(scope.node, Function) or scope.parent is None or scope.parent.kind != "module":
        return None
    names = [argument.arg for argument, _ in parameters(scope.node.args)]
    return {"of": qualified(scope), "at": names.index(one.name), "name": one.name}


def kind(one: Value) -> str:
    """The word for what a thing is."""
    if one.kind == "made":
        return "instance" if one.scope is not None or names_class(one.name) else "result"
    if one.kind == "ref":
        return _named(one.name)
    if one.kind in {"function", "class"} and one.scope is not None and one.scope.nested():
        return "local-function"
    return _KINDS.get(one.kind, "unknown")


_KINDS = {
    "self": "instance",
    "partial": "factory",
    "method": "function",
    **{word: word for word in ("function", "class", "lambda", "constant", "generator")},
}


def _named(name: str) -> str:
    """The kind of an imported name, as far as its spelling says."""
    if names_class(name):
        return "unknown" if last(name).isupper() else "class"
    return "function" if "." in name else "unknown"


def _named_by(values: list[Value], kinds: set[str]) -> set[str]:
    return {one.name for one in values if one.kind in kinds}


def _maker(one: Value) -> str:
    return qualified(one.scope) if one.kind == "self" and one.scope is not None else one.name


def _made_name(one: Value) -> str:
    """The class of an object that is made elsewhere, else what kind of value it is."""
    return one.name if one.kind == "made" else one.kind
