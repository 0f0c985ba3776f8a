"""What travels with an argument into another process: what made it, and all that it holds on to."""

from __future__ import annotations

import ast

from envdoctor.probes.source.abstract_values import CALLED, OWN, Value, last, names_class
from envdoctor.probes.source.bindings import VALUE, Function, below, within
from envdoctor.probes.source.excerpts import is_plain_key
from envdoctor.probes.source.inheritance import lineage, own_classes, pickles_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, ClassVar, Optional, Protocol

    from envdoctor.probes.source.abstract_values import Call
    from envdoctor.probes.source.bindings import Binding, Place, Scope
    from envdoctor.probes.source.excerpts import Excerpts
    from envdoctor.probes.source.name_resolver import Resolver

    #: The call of a function that is looked at, and the function.
    Given = Optional[tuple[Call, Scope]]

    class File(Protocol):
        """The file of an argument; ``by_value`` where its own functions travel with their globals."""

        resolver: Resolver
        excerpts: Excerpts
        by_value: bool
        notebook: bool

        def calls(self, name: str) -> bool:
            """Whether anything in the file calls a function or method of a name."""


#: Bounds: what an argument carries, how deep that is followed, steps on the way, and entries of a dictionary.
MOST_CARRIED = 24
MOST_DEEP = 6
MOST_ELEMENTS = 256
MOST_ENTRIES = 64
#: Objects that no call makes.
_STREAMS = {"sys.stdin", "sys.stdout", "sys.stderr"}
#: What runs when an instance is made.
_FIRST = {"__init__", "__new__", "__post_init__"}
#: The arguments of a field that make its value for each instance.
_FACTORIES = {"default_factory", "factory"}
#: What makes a class, of which pickles have the name that it is given first.
_MAKES_CLASSES = {"collections.namedtuple", "typing.NamedTuple", "dataclasses.make_dataclass"}
#: What the ``via`` of something begins with that a generator gives, one after the other.
EACH = "each of "


class Carried:
    """Collects what travels with one argument. ``given`` is the call of the function around it that is looked at."""

    def __init__(self, file: File, label: str, given: Given) -> None:
        self.file = file
        self.resolver = file.resolver
        self.label = label
        self.given = given
        #: The functions whose parameters are among what travels.
        self.passed: set[Scope] = set()
        #: The parameters that are held as they are given.
        self.parameters: list[Value] = []
        #: Whether what is noted travels only with who pickles a program's own functions and classes by value.
        self.valued = False
        #: The calls of other files that what is noted was given to; it travels if what they made keeps it.
        self.kept_by: tuple[str, ...] = ()
        #: The method that has to be called for what is noted to be there.
        self.after = ""
        self.seen: set[tuple[object, ...]] = set()
        self.found: list[dict[str, Any]] = []

    def all(self, values: list[Value]) -> list[dict[str, Any]]:
        """What travels with some values: ``name``, ``line``, and ``via``, which says where it is held."""
        self._each(values, self.label, 0, self.given)
        return self.found

    def meant(self, one: Value) -> list[Value]:
        """A value, or in place of a parameter what it is given."""
        given = one.given or self.given
        if one.kind == "parameter" and given is not None and one.scope is not None and given[1] is one.scope:
            return self.resolver.argument(one.name, one.scope, given[0])
        return [one]

    def _each(self, values: list[Value], via: str, depth: int, given: Any = None, *, inside: bool = False) -> None:
        for one in values:
            key = (one.kind, one.name, id(one.node), id(one.given or given))
            bounded = len(self.seen) < MOST_ELEMENTS and len(self.found) < MOST_CARRIED
            if depth <= MOST_DEEP and key not in self.seen and bounded:
                self.seen.add(key)
                handler = self._carrying.get(one.kind)
                if handler is not None:
                    handler(self, one, via, depth, one.given or given, inside=inside)

    def _note(self, name: str, thing: Value, via: str, *, imported: bool = False) -> None:
        line = None if imported else getattr(thing.node, "lineno", None)
        told: dict[str, Any] = {
            "by_value": self.valued,
            "kept_by": list(self.kept_by),
            "after": self.after,
            "imported": imported,
        }
        self.found.append({"name": name, "line": line, "via": via, **{key: one for key, one in told.items() if one}})

    def _expression(self, node: ast.expr, place: Place, via: str, depth: int, given: Any) -> None:
        self._each(self.resolver.evaluate(node, place), via, depth + 1, given)
        if isinstance(node, ast.Name):
            self.late(node, place, depth)

    def late(self, node: ast.Name, place: Place, depth: int = 0) -> None:
        """Add what a name's object is given as an attribute before it is read."""
        for name, attr, value, where in place.scope.late:
            if name == node.id and value is not None and where.order < place.order:
                self._expression(value, where, f"{name}.{attr}", depth, self.given)

    def _defined(self, scope: Scope, via: str) -> None:
        """Note what another process finds by its name only, where it is a notebook that defines it."""
        if self.file.notebook and not scope.nested():
            self._note("notebook-definition", Value("function", node=scope.node), via)

    def _made(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        self._note(one.name, one, via)
        if one.scope is not None:
            self._defined(one.scope, via)
        mode = _mode(one)
        if mode:
            self._note(f"{one.name}.{mode}", one, via)
        if one.scope is None:
            self._kept(one, depth, given)
            if self._is_of_unnamed_class(one):
                self._note("local-class", one, via)
        if one.scope is None or pickles_itself(self.resolver.evaluate, one.scope):
            return
        self._class(Value("class", scope=one.scope), via, depth, given, inside=inside)
        if one.scope.nested():
            self._note("local-function", one, via)
        if isinstance(one.node, ast.Call) and one.place is not None:
            self._arguments(one.node, one.place, depth, given)
        self._inherited(one.scope)
        self._attributes(one.scope, depth, made=True)

    def _is_of_unnamed_class(self, one: Value) -> bool:
        """Whether an object is of a class that a call made, and that its file has not under the name it was given."""
        if not one.name.endswith(CALLED) or not isinstance(one.node, ast.Call) or one.place is None:
            return False
        made = self.resolver.evaluate(one.node.func, one.place)
        return bool(made) and all(each.name in _MAKES_CLASSES and not _is_found(each) for each in made)

    def _kept(self, one: Value, depth: int, given: Any) -> None:
        """What a call of elsewhere is given: whether the object keeps it, is known where names are resolved."""
        if not isinstance(one.node, ast.Call) or one.place is None:
            return
        before = self.kept_by
        if isinstance(one.node.func, ast.Call):
            self._each(self.resolver.evaluate(one.node.func, one.place), self.label, depth + 1, given)
        owner, _, method = one.name.rpartition(".")
        if method == CALLED and names_class(owner):
            return  # an object that is called gives something new
        self.kept_by = before if method == CALLED else (*before, one.name)
        self._arguments(one.node, one.place, depth, given)
        self.kept_by = before

    def _arguments(self, call: ast.Call, place: Place, depth: int, given: Any) -> None:
        for argument in call.args:
            value = argument.value if isinstance(argument, ast.Starred) else argument
            self._expression(value, place, self.file.excerpts.of(value), depth, given)
        for keyword in call.keywords:
            self._expression(keyword.value, place, keyword.arg or self.file.excerpts.of(keyword.value), depth, given)

    def _inherited(self, scope: Scope) -> None:
        """Note the classes of elsewhere that a class is derived from: its objects are theirs too."""
        for one in lineage(self.resolver.evaluate, scope):
            if one.scope is None:
                self._note(one.name, Value("class", node=scope.node), "")

    def _attributes(self, scope: Scope, depth: int, *, made: bool = False) -> None:
        """What methods assign; of one that is not called while an object is made, only if it is called later."""
        classes = own_classes(self.resolver.evaluate, scope)
        first = _run_first(classes) if made else None
        before = self.after
        for own in classes:
            for name, bindings in own.attributes().items():
                for binding in bindings:
                    method = binding.place.scope.name
                    called = first is None or method in first or self.file.calls(method)
                    self.after = before if called else method
                    self._each(self.resolver.bound(binding, own), f"self.{name}", depth + 1)
            for name, bindings in own.bindings.items():
                for binding in bindings:
                    self._each(self._by_factory(binding), f"self.{name}", depth + 1)
        self.after = before

    def _by_factory(self, binding: Binding) -> list[Value]:
        """What each instance is given that a class body declares as a field with a factory."""
        call = binding.value if binding.kind == VALUE and isinstance(binding.value, ast.Call) else None
        made = [each.value for each in call.keywords if each.arg in _FACTORIES] if call is not None else []
        found = [one for node in made for one in self.resolver.evaluate(node, binding.place)]
        called = ast.copy_location(ast.Call(made[0], [], []), made[0]) if made else None
        return [each for one in found if called for each in self.resolver.called(one, called, binding.place)]

    def _class(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        """A class of a program travels by value with those who do so, and its attributes with it."""
        if one.scope is None or not self.file.by_value:
            return
        self._defined(one.scope, via)
        before, self.valued = self.valued, True
        for own in own_classes(self.resolver.evaluate, one.scope):
            for name, bindings in own.bindings.items():
                for binding in bindings:
                    values = self.resolver.bound(binding, own) if binding.kind == VALUE else []
                    self._each(values, f"{own.name}.{name}", depth + 1)
            for method in own.children:
                self._captured(method, depth, given)
        self.valued = before

    def _self(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        if one.scope is not None and not pickles_itself(self.resolver.evaluate, one.scope):
            self._inherited(one.scope)
            self._attributes(one.scope, depth)

    def _method(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        decorators = getattr(one.node, "decorator_list", ())
        of_class = any(getattr(each, "id", "") == "classmethod" for each in decorators)
        self._each([Value("class", scope=one.parts.scope) if of_class else one.parts], via, depth + 1, given)

    def _function(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        """A lambda or local function takes along what it reads; a function of the module is imported again."""
        scope = one.scope
        if scope is None:
            return
        local = one.kind == "lambda" or scope.nested()
        self._each(self._decorated(scope), via, depth + 1, given)
        self._defined(scope, via)
        if local:
            self._note("lambda" if one.kind == "lambda" else "local-function", one, via)
        if local or self.file.by_value:
            before, self.valued = self.valued, self.valued or not (local or inside)
            self._captured(scope, depth, given)
            self.valued = before
        if local:
            self._defaults(scope, depth, given)

    def _decorated(self, scope: Scope) -> list[Value]:
        """The functions inside functions that decorators of this file put in the place of one, under their own name."""
        if not isinstance(scope.node, Function) or scope.place is None:
            return []
        written = ((decorator, scope.place) for decorator in scope.node.decorator_list)
        returns = (each for _, decorator in self._functions(written) for each in decorator.returns)
        return [one for one, inner in self._functions(returns) if not _renamed(inner)]

    def _functions(self, written: Iterable[tuple[ast.expr, Place]]) -> Iterator[tuple[Value, Scope]]:
        """The functions of this file among the values of expressions, with their scopes."""
        for node, place in written:
            for one in self.resolver.evaluate(node, place):
                if one.kind == "function" and one.scope is not None:
                    yield one, one.scope

    def _defaults(self, scope: Scope, depth: int, given: Any) -> None:
        if isinstance(scope.node, (*Function, ast.Lambda)) and scope.place is not None:
            for default in filter(None, (*scope.node.args.defaults, *scope.node.args.kw_defaults)):
                self._expression(default, scope.place, self.file.excerpts.of(default), depth, given)

    def _captured(self, scope: Scope, depth: int, given: Any) -> None:
        for name, place in _reads(scope):
            owner, _, _ = self.resolver.owner(name, place)
            if owner is not None and not within(owner, scope):
                self._each(self.resolver.lookup(name, place), name, depth + 1, given, inside=True)

    def _parameter(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        if one.scope is None:
            return
        if given is not None and given[1] is one.scope:
            self._each(self.resolver.argument(one.name, one.scope, given[0]), via, depth + 1)
        elif self.given is not None and self.given[1] is one.scope:
            self._each(self.resolver.argument(one.name, one.scope, self.given[0]), via, depth + 1)
        else:
            self.passed.add(one.scope)
            self.parameters += [] if self.kept_by or self.after else [one]

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
        if isinstance(one.node, ast.GeneratorExp):
            scope = self.resolver.scope_of[id(one.node)]
            self._expression(one.node.elt, scope.inside, EACH + via, depth, given)

    def _ref(self, one: Value, via: str, depth: int, given: Any, *, inside: bool) -> None:
        """An imported name may be an object of another file of the project: resolved across files later."""
        if one.name in _STREAMS:
            self._note(one.name, one, via)
        elif (inside or depth) and not one.name.startswith("builtins.") and "." in one.name:
            self._note(one.name, one, via, imported=True)
        elif not inside and "." not in one.name and one.name[:1] != OWN:
            self._note("types.ModuleType", one, via)

    _carrying: ClassVar[dict[str, Callable[..., None]]] = {
        "made": _made,
        "self": _self,
        "class": _class,
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


def _renamed(scope: Scope) -> bool:
    """Whether a function is decorated, as by ``functools.wraps``, which gives it another's name."""
    return bool(getattr(scope.node, "decorator_list", ()))


def _run_first(classes: list[Scope]) -> set[str]:
    """The names of the methods that run when an instance is made: the first, and what they call."""
    methods = {method.name: method for own in reversed(classes) for method in own.children}
    waiting, found = list(_FIRST), set(_FIRST)
    while waiting:
        method = methods.get(waiting.pop())
        reads = method.reads if method is not None else ()
        new = {
            node.func.attr for node, _ in reads if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        waiting += new - found
        found |= new
    return found


def _is_found(made: Value) -> bool:
    """Whether the file of a call binds the class that it made to the name that it gave."""
    call, place = made.node, made.place
    if not isinstance(call, ast.Call) or place is None:
        return True
    name = getattr(call.args[0], "value", None) if call.args else None
    bound = place.scope.module.bindings.get(name, ()) if isinstance(name, str) else ()
    return not isinstance(name, str) or any(binding.value is call for binding in bound)


def _mode(one: Value) -> str:
    """How a file is opened, where a call of ``open`` says so by a constant: ``r``, ``rb``, ``w`` or ``wb``."""
    if last(one.name) != "open" or not isinstance(one.node, ast.Call):
        return ""
    given = [each.value for each in one.node.keywords if each.arg == "mode"]
    given += one.node.args[one.name == "builtins.open" or len(one.node.args) > 1 :][:1]
    mode = getattr(given[0], "value", None) if given else "r"
    if not isinstance(mode, str):
        return ""
    return ("w" if set(mode) & set("wxa+") else "r") + ("b" if "b" in mode else "")


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
