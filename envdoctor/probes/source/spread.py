"""Where in a file a name that is asked for may turn up, so that nothing else of it has to be looked into.

Such a name holds a word of its pattern, and that word stands where the name is imported or taken as an attribute. From
there it gets elsewhere by what the statement or function around it binds or returns: that has a name too, which stands
where it is used. So the functions that hold a word are looked into, what they and other statements hand on by a name
adds that name to the words, and so on until no word is added.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right

from envdoctor.probes.source.scopes import ADDED, ELEMENT, IMPORT, VALUE, below, outermost, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.source.asked import Patterns
    from envdoctor.probes.source.names import Resolver
    from envdoctor.probes.source.scopes import Binding, Place, Scope
    from envdoctor.probes.source.things import Thing
    from envdoctor.probes.source.walk import Walker
    from envdoctor.probes.source.words import Words

#: Things that may hold or return others.
_HOLDING = {"function", "lambda", "method", "items", "dict", "partial"}


class Spread:
    """For one file and what is asked of it."""

    def __init__(self, words: Words, walker: Walker, resolver: Resolver, asked: Patterns) -> None:
        self._text = words
        self._resolver = resolver
        self._asked = asked
        self._functions = walker.functions
        self._starts = [start for start, _, _ in self._functions]
        #: The outermost functions that no word leads to.
        self.left_out = {scope for _, _, scope in self._functions}
        #: The bindings at the top of the file and of its classes whose values hold no word so far.
        self._bindings: list[tuple[int, int, str, Binding, Scope]] = []
        self._words: set[str] = set()
        self._waiting: list[str] = []
        self._add(*asked.words)
        self._begin(walker.module)
        while self._waiting:
            self._follow()

    def is_worth(self, target: ast.expr, place: Place) -> bool:
        """Whether what a name, an attribute or something else stands for may be asked for."""
        if type(target) is ast.Attribute:
            if target.attr in self._words:
                return True
            if not self._asked.open:
                return False
        while type(target) is ast.Attribute:
            if target.attr in self._words:
                return True
            target = target.value
        return type(target) is not ast.Name or target.id in self._words or _is_local(target.id, place.scope)

    def _add(self, *words: str) -> None:
        self._waiting += [word for word in words if word not in self._words]
        self._words.update(words)

    def _begin(self, module: Scope) -> None:
        """Take what imports give, and note the other bindings outside of functions."""
        for scope in outermost(module, self.left_out):
            if scope.kind in {"module", "class"}:
                for name, bindings in scope.bindings.items():
                    for binding in bindings:
                        self._note(name, binding, scope)
        if self._asked.open:
            self._waiting.append("import")  # of the project's own names any may be meant

    def _note(self, name: str, binding: Binding, scope: Scope) -> None:
        if binding.kind == IMPORT:
            if self._is_meant(binding.value):
                self._add(name)
        elif binding.kind in {VALUE, ELEMENT, ADDED}:
            value = binding.value if binding.kind == VALUE else binding.value[1]
            if binding.order == binding.place.order:  # within an expression: its own line may be wrong
                self._hand_on(name, binding, scope)
            elif type(value) is not ast.Constant:
                self._bindings.append((value.lineno, value.end_lineno, name, binding, scope))

    def _follow(self) -> None:
        """Look for the words that have been added, in functions and elsewhere."""
        lines = []
        functions = []
        waiting, self._waiting = self._waiting, []
        for word in waiting:
            for at in self._text.find(word):
                number = bisect_right(self._starts, at) - 1
                if number < 0 or at >= self._functions[number][1]:
                    lines.append(self._text.line(at))
                elif self._functions[number][2] in self.left_out:
                    functions.append(self._functions[number][2])
                    self.left_out.remove(functions[-1])
        for function in functions:
            self._leave(function)
        self._pass(sorted(lines))

    def _pass(self, lines: list[int]) -> None:
        """Hand on what is bound on some lines."""
        left = []
        for one in self._bindings:
            first, end, name, binding, scope = one
            at = bisect_left(lines, first)
            if at < len(lines) and lines[at] <= end:
                self._hand_on(name, binding, scope)
            else:
                left.append(one)
        self._bindings = left

    def _leave(self, function: Scope) -> None:
        """Hand on what a function returns, and what it binds outside of itself or in classes of its own."""
        for scope in below(function):
            if scope.kind == "function" and scope.name not in self._words and not scope.yields:
                returned = (self._resolver.things(node, place) for node, place in scope.returns)
                if any(map(self._may_hold, returned)):
                    self._add(scope.name)
            for name, binding, owner in _handed(scope, function):
                self._hand_on(name, binding, owner)

    def _hand_on(self, name: str, binding: Binding, owner: Scope) -> None:
        if name not in self._words:
            self._resolver.steps = 0
            if self._may_hold(self._resolver.bound(binding, owner)):
                self._add(name)

    def _may_hold(self, found: Iterable[Thing]) -> bool:
        """Whether something that is asked for may be among things, or within one of them."""
        named = {"ref", "member", "made", "declared"} if self._asked.open else {"ref", "member"}
        return any(
            one.kind in _HOLDING or (one.kind in named and one.scope is None and self._is_meant(one.name))
            for one in found
        )

    def _is_meant(self, name: str) -> bool:
        """Whether a qualified name has a word that is asked for, or may stand for one that has."""
        segments = name.split(".")
        return not self._asked.words.isdisjoint(segments) or (self._asked.open and self._asked.is_own(name))


def _handed(scope: Scope, function: Scope) -> Iterator[tuple[str, Binding, Scope]]:
    """What a scope within a function binds where a name or an attribute elsewhere may reach it."""
    for name, binding in scope.assigned:
        if scope.parent is not None:
            yield name, binding, scope.parent
    for name, owner in scope.outer.items():
        for binding in owner.bindings.get(name, ()):
            if within(binding.place.scope, function):
                yield name, binding, owner
    if scope.kind == "class":
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                yield name, binding, scope


def _is_local(name: str, scope: Scope) -> bool:
    """Whether a function around a read binds a name, or something within the function."""
    one: Scope | None = scope
    while one is not None and one.kind != "module":
        if (name in one.bindings or name in one.outer) and (one.kind != "class" or one.nested()):
            return True
        one = one.parent
    return False
