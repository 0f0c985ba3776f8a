"""The arguments of a call: their kinds, what made them, and what would travel with them into another process."""

from __future__ import annotations

import ast
import itertools

from envdoctor.probes.source.abstract_values import Value, last, names_class, qualified
from envdoctor.probes.source.bindings import Function, below, within
from envdoctor.probes.source.excerpts import is_plain_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar

    from envdoctor.probes.source.bindings import Place, Scope
    from envdoctor.probes.source.excerpts import Excerpts
    from envdoctor.probes.source.resolver import Resolver

#: Bounds of one argument: what it carries, how deep that is followed, and entries of a dictionary.
MOST_CARRIED = 24
MOST_DEEP = 6
MOST_ELEMENTS = 256
MOST_ENTRIES = 64
MOST_VALUE = 200
_LARGEST_NUMBER = 1 << 53
#: A class that defines one of these says itself what travels.
_OWN_PICKLING = {"__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__copyreg__"}


class Arguments:
    """Describes arguments. ``by_value``: the file runs as a program, so its own functions travel with their globals."""

    def __init__(self, resolver: Resolver, excerpts: Excerpts, *, by_value: bool) -> None:
        self.resolver = resolver
        self.excerpts = excerpts
        self.by_value = by_value

    def of_call(self, node: ast.Call, place: Place) -> dict[str, Any]:
        """The ``arguments`` and ``keywords`` of a call, and whether it is ``open`` to more; without empty fields."""
        arguments = list(itertools.takewhile(lambda one: not isinstance(one, ast.Starred), node.args))
        keywords = {one.arg: self.describe(one.value, place, one.arg) for one in node.keywords if one.arg}
        fields = {
            "arguments": [self.describe(one, place) for one in arguments],
            "keywords": keywords,
            "open": len(arguments) < len(node.args) or any(one.arg is None for one in node.keywords),
        }
        return {field: value for field, value in fields.items() if value}

    def describe(self, node: ast.expr, place: Place, label: str = "", depth: int = 0) -> dict[str, Any]:
        """An argument, without the fields that are empty."""
        found = self.resolver.resolve(node, place)
        answer = self.summary(found, label or self.excerpts.of(node), depth)
        answer["text"] = self.excerpts.of(node)
        return answer

    def summary(self, found: list[Value], label: str, depth: int = 0) -> dict[str, Any]:
        """A description of several possible values; ``label`` says in ``via`` where they are given."""
        flat = self._flat(found)
        fields = {
            "is": sorted(set(map(kind, flat))) or ["unknown"],
            "made_by": sorted({_maker(one) for one in flat if one.kind in {"made", "self"}}),
            "names": sorted({one.name for one in flat if one.kind in {"ref", "function", "class", "method"}}),
            "carries": _Carried(self, label).all(found),
        }
        answer: dict[str, Any] = {field: value for field, value in fields.items() if value}
        if len(found) == 1 and found[0].kind == "constant" and _plain(found[0].parts):
            answer["value"] = found[0].parts
        if depth == 0:
            self._entries(found, answer)
        return answer

    def _entries(self, found: list[Value], answer: dict[str, Any]) -> None:
        """The entries of a dictionary, by key; ``open`` where others may be among them."""
        dicts = [one for one in found if one.kind == "dict"]
        if not dicts:
            return
        entries: dict[str, Any] = {}
        unknown = len(dicts) < len(found)
        for one in dicts:
            for key, value, place in one.parts[:MOST_ENTRIES]:
                known = isinstance(key, ast.Constant) and isinstance(key.value, str)
                unknown = unknown or not known
                if known:
                    entries[key.value] = self.describe(value, place, depth=1)
        answer["entries"] = entries
        if unknown:
            answer["open"] = True

    def _flat(self, found: list[Value]) -> list[Value]:
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


class _Carried:
    """Collects what travels with one argument."""

    def __init__(self, arguments: Arguments, label: str) -> None:
        self.arguments = arguments
        self.resolver = arguments.resolver
        self.label = label
        self.seen: set[tuple[object, ...]] = set()
        self.found: list[dict[str, Any]] = []

    def all(self, values: list[Value]) -> list[dict[str, Any]]:
        self._each(values, self.label, 0)
        return self.found

    def _each(self, values: list[Value], via: str, depth: int, given: Any = None, *, inside: bool = False) -> None:
        for one in values:
            key = (one.kind, one.name, id(one.node), id(one.given or given))
            bounded = len(self.seen) < MOST_ELEMENTS and len(self.found) < MOST_CARRIED
            if depth <= MOST_DEEP and key not in self.seen and bounded:
                self.seen.add(key)
                handler = self._carrying.get(one.kind)
                if handler is not None:
                    handler(self, one, via, depth, one.given or given, inside=inside)

    def _note(self, name: str, thing: Value, via: str) -> None:
        line = getattr(thing.node, "lineno", None)
        self.found.append({"name": name, "line": line, "via": via})

    def _expression(self, node: ast.expr, place: Place, via: str, depth: int, given: Any) -> None:
        self._each(self.resolver.evaluate(node, place), via, depth + 1, given)

    def _made(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        self._note(one.name, one, via)
        if one.scope is None or self._pickles_itself(one.scope):
            return
        if one.scope.nested():
            self._note("local-function", one, via)
        if isinstance(one.node, ast.Call) and one.place is not None:
            self._arguments(one.node, one.place, depth, given)
        self._attributes(one.scope, depth)

    def _arguments(self, call: ast.Call, place: Place, depth: int, given: Any) -> None:
        for argument in call.args:
            value = argument.value if isinstance(argument, ast.Starred) else argument
            self._expression(value, place, self.arguments.excerpts.of(value), depth, given)
        for keyword in call.keywords:
            self._expression(
                keyword.value, place, keyword.arg or self.arguments.excerpts.of(keyword.value), depth, given
            )

    def _attributes(self, scope: Scope, depth: int) -> None:
        for name, bindings in scope.attributes().items():
            for binding in bindings:
                self._each(self.resolver.bound(binding, scope), f"self.{name}", depth + 1)

    def _self(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        if one.scope is not None and not self._pickles_itself(one.scope):
            self._attributes(one.scope, depth)

    def _method(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        self._each([one.parts], via, depth + 1, given)

    def _pickles_itself(self, scope: Scope) -> bool:
        return any(name in scope.bindings for name in _OWN_PICKLING)

    def _function(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        """A lambda or local function takes along what it reads; a function of the module is imported again."""
        scope = one.scope
        if scope is None:
            return
        local = one.kind == "lambda" or scope.nested()
        if local:
            self._note("lambda" if one.kind == "lambda" else "local-function", one, via)
        if local or (inside and self.arguments.by_value):
            self._captured(scope, depth, given)
        if local:
            self._defaults(scope, depth, given)

    def _defaults(self, scope: Scope, depth: int, given: Any) -> None:
        if isinstance(scope.node, (*Function, ast.Lambda)) and scope.place is not None:
            for default in filter(None, (*scope.node.args.defaults, *scope.node.args.kw_defaults)):
                self._expression(default, scope.place, self.arguments.excerpts.of(default), depth, given)

    def _captured(self, scope: Scope, depth: int, given: Any) -> None:
        for name, place in _reads(scope):
            owner, _, _ = self.resolver.owner(name, place)
            if owner is not None and not within(owner, scope):
                self._each(self.resolver.lookup(name, place), name, depth + 1, given, inside=True)

    def _parameter(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        if given is not None and one.scope is not None and given[1] is one.scope:
            self._each(self.resolver.argument(one.name, one.scope, given[0]), via, depth + 1)

    def _partial(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        if isinstance(one.node, ast.Call) and one.place is not None:
            self._arguments(one.node, one.place, depth, given)

    def _items(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        for node, place in one.parts[:MOST_ENTRIES]:
            self._expression(node, place, via, depth, given)

    def _dict(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        for key, value, place in one.parts[:MOST_ENTRIES]:
            label = via
            if isinstance(key, ast.Constant):
                label = f"{via if via.isidentifier() else ''}[{repr(key.value) if is_plain_key(key.value) else '...'}]"
            self._expression(value, place, label, depth, given)

    def _generator(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        self._note("generator", one, via)

    def _ref(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        """An imported name may be an object of another file of the project: resolved across files later."""
        if inside and not one.name.startswith("builtins.") and "." in one.name:
            self.found.append({"name": one.name, "line": None, "via": via, "imported": True})

    _carrying: ClassVar[dict[str, Callable[..., None]]] = {
        "made": _made,
        "self": _self,
        "method": _method,
        "lambda": _function,
        "function": _function,
        "parameter": _parameter,
        "partial": _partial,
        "items": _items,
        "dict": _dict,
        "generator": _generator,
        "ref": _ref,
    }


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


def _maker(one: Value) -> str:
    return qualified(one.scope) if one.kind == "self" and one.scope is not None else one.name


def _plain(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_VALUE
    if isinstance(value, (int, float)):
        return -_LARGEST_NUMBER < value < _LARGEST_NUMBER
    return value is None


def _reads(scope: Scope) -> Iterator[tuple[str, Place]]:
    """Every name that a function and what is defined in it read, once each."""
    seen: set[str] = set()
    for one in below(scope):
        for node, place in one.reads:
            root: ast.AST = node.func if isinstance(node, ast.Call) else node
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id not in seen:
                seen.add(root.id)
                yield root.id, place
