"""The scopes of a file: which names are bound where, and the places of calls, references and imports.

The rules of scope are those of the language reference ("Naming and binding"): parameters, class bodies that their
methods do not see, comprehensions with their own scope, ``global``, ``nonlocal`` and ``del``.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: What may go wrong without harm in a block, since the code itself provides for it; calls: it catches what they raise,
#: or asks first whether to call.
IMPORTS, ATTRIBUTES, CALLS = 1, 2, 4
#: How a binding's value is to be understood.
VALUE, IMPORT, DEFINITION, PARAMETER, ELEMENT, ADDED, UNKNOWN, DELETED, PART, ANNOTATED = range(10)

#: Segments of a name: beyond these, nothing is said.
MOST_SEGMENTS = 12
#: Longer annotations in texts are not read.
_LONGEST = 200

Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Block:
    """A list of statements. ``branch`` is the arm of its statement; ``ends`` that control never reaches its end.

    ``on`` are the systems that it runs on (``True``) and does not run on (``False``), ``catches`` the names of the
    exceptions that are caught around it, ``narrowed`` what conditions around it in its scope ask of the classes of
    names, and the block where each holds, ``tests`` the conditions that decide whether it runs, as far as it is not
    known that they ask for a version, ``asked`` the attributes without which it does not run.
    """

    __slots__ = ("asked", "branch", "catches", "ends", "guard", "loop", "narrowed", "on", "parent", "spared", "tests")

    def __init__(  # noqa: PLR0913 - each is a separate trait
        self,
        parent: Block | None,
        *,
        branch: int = 0,
        loop: bool = False,
        guard: bool = False,
        spared: int = 0,
        on: tuple[tuple[str, bool], ...] = (),
        catches: tuple[str, ...] = (),
        narrowed: tuple[tuple[str, ast.expr, bool], ...] = (),
        tests: tuple[ast.expr, ...] = (),
        asked: frozenset[str] = frozenset(),
        root: bool = False,
    ) -> None:
        self.parent = None if root else parent
        self.branch = branch
        self.loop = loop
        self.guard: bool = guard or (parent is not None and parent.guard)
        self.spared: int = spared | (parent.spared if parent is not None else 0)
        self.on: tuple[tuple[str, bool], ...] = on + (parent.on if parent is not None else ())
        self.catches: tuple[str, ...] = catches + (parent.catches if parent is not None else ())
        self.narrowed: tuple[tuple[str, ast.expr, bool, Block], ...] = tuple((*one, self) for one in narrowed)
        if parent is not None and not root:
            self.narrowed += parent.narrowed
        self.tests: tuple[ast.expr, ...] = tests + (parent.tests if parent is not None else ())
        self.asked: frozenset[str] = asked | parent.asked if parent is not None else asked
        self.ends = False

    def path(self) -> list[Block]:
        """Give this block and those around it within the same scope, innermost first."""
        found: list[Block] = []
        block: Block | None = self
        while block is not None:
            found.append(block)
            block = block.parent
        return found


class Place:
    """The place of an expression: its scope, its block, and its statement's number in the file."""

    __slots__ = ("block", "order", "scope")

    def __init__(self, scope: Scope, block: Block, order: int) -> None:
        self.scope = scope
        self.block = block
        self.order = order


class Binding:
    """One way in which a name gets a value; only what is ``definite`` replaces what was there before."""

    __slots__ = ("definite", "kind", "order", "place", "value")

    def __init__(self, kind: int, value: Any, place: Place, order: int, *, definite: bool = True) -> None:
        self.kind = kind
        self.value = value
        self.place = place
        self.order = order
        self.definite = definite


class Scope:
    """A module, class, function, lambda or comprehension. ``place`` is its place in the scope around it."""

    def __init__(self, kind: str, node: ast.AST, place: Place | None) -> None:
        self.kind = kind
        self.node = node
        self.place = place
        self.parent = place.scope if place else None
        #: Where its body begins.
        self.inside = Place(self, Block(place.block if place else None, root=True), place.order if place else 0)
        self.bindings: dict[str, list[Binding]] = {}
        #: Names that ``global`` or ``nonlocal`` move to another scope.
        self.outer: dict[str, Scope] = {}
        #: For methods: what they assign to attributes of their first parameter, in order.
        self.assigned: list[tuple[str, Binding]] = []
        self._attributes: dict[str, list[Binding]] | None = None
        self.returns: list[tuple[ast.expr, Place]] = []
        #: What statements change in place: the entry or attribute of an object, or the object by one of its methods.
        self.changes: list[tuple[ast.expr, Place]] = []
        #: What statements bind or delete of an object that has a name: the name, the attribute, the value or ``None``.
        self.late: list[tuple[str, str, ast.expr | None, Place]] = []
        self.yields = False
        #: What it yields one by one.
        self.yielded: list[tuple[ast.expr, Place]] = []
        #: Names and calls read in this scope, in order.
        self.reads: list[tuple[ast.expr, Place]] = []
        #: Calls that nobody writes: of methods of what is iterated over, assigned to or taken apart; and subscripts.
        self.unwritten: list[tuple[ast.expr, Place]] = []
        self.children: list[Scope] = []
        self.name = getattr(node, "name", "<lambda>")
        #: The name of a method's first parameter (``self``), or ``None`` where this is no plain method.
        self.receiver = _receiver(node) if self.parent is not None and self.parent.kind == "class" else None

    @property
    def module(self) -> Scope:
        """The file's own scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def attribute(self, name: str) -> list[Binding]:
        """For classes: what methods assign to one attribute of their first parameter."""
        return self.attributes().get(name, [])

    def attributes(self) -> dict[str, list[Binding]]:
        """For classes: what methods assign to all attributes of their first parameter."""
        if self._attributes is None:
            self._attributes = {}
            for name, binding in (pair for method in self.children for pair in method.assigned):
                self._attributes.setdefault(name, []).append(binding)
        return self._attributes

    def members(self) -> set[str]:
        """For classes: the names that the body and the methods bind."""
        return {*self.bindings, *self.attributes()}

    def nested(self) -> bool:
        """Whether it is defined inside a function, so that it has no name to be imported by."""
        scope = self.parent
        while scope is not None and scope.kind in {"class", "comprehension"}:
            scope = scope.parent
        return scope is not None and scope.kind != "module"


def _receiver(node: ast.AST) -> str | None:
    if not isinstance(node, Function):
        return None
    positional = node.args.posonlyargs or node.args.args
    if not positional or any(getattr(decorator, "id", None) == "staticmethod" for decorator in node.decorator_list):
        return None
    return positional[0].arg


def bind(scope: Scope, name: str, binding: Binding) -> None:
    """Add a binding to the scope that the name belongs to."""
    owner = scope.outer.get(name)
    if owner is not None:
        binding.definite = False
        scope = owner
    scope.bindings.setdefault(name, []).append(binding)


def declared(scope: Scope, name: str, *, nonlocal_: bool) -> Scope:
    """The scope that ``nonlocal`` or ``global`` means."""
    outer = scope.parent
    while nonlocal_ and outer is not None:
        if outer.kind in {"function", "lambda"} and name in outer.bindings:
            return outer
        outer = outer.parent
    return scope.module


def below(scope: Scope) -> Iterator[Scope]:
    """A scope and all that lie in it. What is given may be let go of before the next is asked for."""
    waiting = [scope]
    while waiting:
        one = waiting.pop()
        waiting += one.children
        yield one


def within(inner: Scope, outer: Scope) -> bool:
    """Whether a scope is another or lies in it."""
    scope: Scope | None = inner
    while scope is not None and scope is not outer:
        scope = scope.parent
    return scope is outer


def silent(binding: Binding) -> bool:
    """Whether a binding can tell nothing about a qualified name: a constant, a plain parameter, what is unpacked."""
    value = binding.value
    if binding.kind == VALUE:
        return isinstance(value, ast.Constant)
    if binding.kind == PARAMETER:
        argument, default, _ = value
        plain = default is None or isinstance(default, ast.Constant)
        return plain and argument.annotation is None and binding.place.scope.receiver != argument.arg
    return binding.kind in {UNKNOWN, DELETED}


def parameters(node: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Every parameter with its default."""
    positional = [*node.posonlyargs, *node.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
    pairs = list(zip(positional, [*missing, *node.defaults]))
    pairs += list(zip(node.kwonlyargs, node.kw_defaults))
    return pairs


def annotation_of(binding: Binding) -> ast.expr | None:
    """What is written beside a name that a binding gives a value."""
    if binding.kind == PARAMETER:
        found: ast.expr | None = binding.value[0].annotation
        return found
    return binding.value if binding.kind == ANNOTATED else getattr(binding.value, "annotation", None)


#: Types of which an object is, where it is of one of those that they are given.
_OF_EITHER = {"Optional", "Union", "Annotated", "ClassVar", "Final"}


def classes_in(annotation: ast.expr | None) -> list[ast.expr]:
    """The names in an annotation that an object may be of: also within ``Optional`` and the like, and in a text."""
    if isinstance(annotation, (ast.Name, ast.Attribute)):
        return [annotation]
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return classes_in(_read_as_expression(annotation, annotation.value))
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return classes_in(annotation.left) + classes_in(annotation.right)
    if isinstance(annotation, ast.Subscript):
        head = getattr(annotation.value, "attr", getattr(annotation.value, "id", ""))
        inner = getattr(annotation.slice, "elts", [annotation.slice]) if head in _OF_EITHER else []
        return [found for one in inner for found in classes_in(one)]
    return []


def _read_as_expression(node: ast.Constant, text: str) -> ast.expr | None:
    """The expression in a text, the same object each time."""
    if not hasattr(node, "expression"):
        try:
            node.expression = ast.parse(text, mode="eval").body if len(text) <= _LONGEST else None  # type: ignore[attr-defined]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            node.expression = None  # type: ignore[attr-defined]
    found: ast.expr | None = node.expression  # type: ignore[attr-defined]
    return found


def reaching(bindings: list[Binding], place: Place, *, later: bool) -> list[Binding]:
    """The bindings whose value a read at ``place`` may see.

    ``later`` also takes those that come afterwards: what a function's body reads is settled when it is called.
    A statement in a block around the read replaces earlier ones; arms of one ``if`` exclude each other; nothing falls
    out of a block that ends in ``return`` or ``raise``; the end of a loop reaches its beginning.
    """
    if len(bindings) == 1 and (later or (bindings[0].order <= place.order and bindings[0].place.block is place.block)):
        return bindings
    last = _last_around(bindings, place)
    since = last.order if last is not None else -1
    found = [one for one in bindings if one is last or (one.order > since and (later or _reaches(one, place, last)))]
    return found if later else _not_replaced(found, place)


def _not_replaced(bindings: list[Binding], place: Place) -> list[Binding]:
    """The bindings without those that another one comes after for certain, in a block around them and before a read."""
    last: dict[Block, int] = {}
    for one in bindings:
        if one.definite and one.order <= place.order and one.place.scope is place.scope:
            last[one.place.block] = max(one.order, last.get(one.place.block, one.order))
    return [one for one in bindings if all(last.get(block, -1) <= one.order for block in one.place.block.path())]


def _last_around(bindings: list[Binding], place: Place) -> Binding | None:
    """The last binding that comes before a read for certain."""
    path, last = place.block.path(), None
    for one in bindings:
        if one.definite and one.order <= place.order and one.place.block in path and one.place.scope is place.scope:
            last = one
    return last


def _reaches(binding: Binding, place: Place, last: Binding | None) -> bool:
    if binding.place.scope is not place.scope:
        return True
    own, path = binding.place.block.path(), place.block.path()
    around = last.place.block.path() if last is not None else []
    looped = any(block.loop and block in path and block not in around for block in own)
    if binding.order > place.order:
        return looped
    ours, theirs = _without(own, path), _without(path, own)
    exclusive = 0 != _branch(ours) == _branch(theirs)
    return not any(block.ends for block in ours) and (looped or not exclusive)


def _without(blocks: list[Block], others: list[Block]) -> list[Block]:
    return [block for block in blocks if block not in others]


def _branch(blocks: list[Block]) -> int:
    return blocks[-1].branch if blocks else 0
