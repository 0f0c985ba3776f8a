"""Where in a file a name that is asked for may turn up, so that nothing else of it has to be looked into.

Such a name holds a word of its pattern, and that word stands where the name is imported or taken as an attribute. From
there it gets elsewhere by what a statement binds or a function returns: that has a name too, which stands where it is
used. So where a word stands, what is bound or returned there is resolved, and if it may hold what is asked for, its
name is one word more: for all of the file, or for the function that alone can see it. This goes on until no word is
added. Functions that hold none of the words are not even walked.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right

from envdoctor.probes.source.names import Resolver
from envdoctor.probes.source.scopes import (
    ADDED,
    ELEMENT,
    IMPORT,
    PARAMETER,
    VALUE,
    Binding,
    below,
    outermost,
    silent,
    within,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from envdoctor.probes.source.asked import Patterns
    from envdoctor.probes.source.scopes import Scope
    from envdoctor.probes.source.things import Thing
    from envdoctor.probes.source.walk import Walker
    from envdoctor.probes.source.words import Words

#: How often, and for how many words, a file is gone through before all of it is looked into.
MOST_ROUNDS = 64
MOST_WORDS = 2000
#: Things that may hold or return others.
_HOLDING = {"function", "lambda", "method", "items", "dict", "partial"}
#: Kinds of bindings whose value may come from elsewhere.
_TELLING = {VALUE, IMPORT, ELEMENT, ADDED, PARAMETER}
_ANYWHERE = 0, 1 << 60


class Spread:
    """For one file and what is asked of it."""

    def __init__(self, words: Words, walker: Walker, asked: Patterns) -> None:
        self._text = words
        #: One of its own: of values that depend on each other, what is asked first makes a difference.
        self._resolver = Resolver(walker.scope_of)
        self._asked = asked
        self._parts = [_Part(*one) for one in walker.functions]
        self._starts = [one.start for one in self._parts]
        #: What is not in a function.
        self._top = _Part(0, len(words.source), walker.module)
        self._part_of = {one.scope: one for one in (*self._parts, self._top)}
        #: The outermost functions that no word leads to.
        self.left_out = {one.scope for one in self._parts}
        self._words: set[str] = set()
        self._waiting: list[tuple[str, _Part | None]] = []
        for word in asked.words:
            self._add(word)
        if asked.open:
            self._waiting.append(("import", None))  # any of the project's own names may be meant
        for scope in outermost(walker.module, self.left_out):
            self._top.values += filter(None, self._handed_on(scope, self._top))
        self._pass(self._top, [])
        rounds = 0
        while self._waiting and rounds < MOST_ROUNDS and len(self._words) <= MOST_WORDS:
            self._follow()
            rounds += 1
        self._gives_up = bool(self._waiting)
        while self._gives_up and self.left_out:
            self.left_out.pop().opened()
        for part in self._part_of.values():
            part.values.clear()  # which refer to the part

    def words(self, scope: Scope) -> set[str]:
        """The names that what is asked for may have in a scope."""
        while scope not in self._part_of and scope.parent is not None:
            scope = scope.parent
        return self._words | self._part_of[scope].words

    def is_worth(self, target: ast.expr, words: set[str]) -> bool:
        """Whether what a name, an attribute or something else stands for may be asked for."""
        if self._gives_up:
            return True
        if type(target) is ast.Attribute and not self._asked.open:
            return target.attr in words
        while type(target) is ast.Attribute:
            if target.attr in words:
                return True
            target = target.value
        return type(target) is not ast.Name or target.id in words

    def _add(self, word: str, part: _Part | None = None) -> None:
        """Add a word, for one part or for all of the file."""
        words = self._words if part is None else part.words
        if word not in self._words and word not in words:
            words.add(word)
            self._waiting.append((word, part))

    def _follow(self) -> None:
        """Look for the words that have been added."""
        waiting, self._waiting = self._waiting, []
        lines: dict[_Part, list[int]] = {}
        for word, part in waiting:
            whole = part or self._top
            for at in self._text.find(word, whole.start, whole.end):
                one = self._part(at)
                if part is None or one is part:
                    lines.setdefault(one, []).append(self._text.line(at))
        for one, found in lines.items():
            if one.scope in self.left_out:
                self.left_out.remove(one.scope)
                for scope in below(one.scope):
                    one.values += filter(None, self._handed_on(scope, one))
            self._pass(one, sorted(found))

    def _part(self, at: int) -> _Part:
        number = bisect_right(self._starts, at) - 1
        return self._parts[number] if number >= 0 and at < self._parts[number].end else self._top

    def _pass(self, part: _Part, lines: list[int]) -> None:
        """Hand on what stands on some lines of a part."""
        left = []
        for one in part.values:
            at = bisect_left(lines, one.first)
            if one.first and not (at < len(lines) and lines[at] <= one.end):
                left.append(one)
            elif one.name not in self._words and self._may_hold(one.things(self._resolver)):
                self._add(one.name, one.part)
        part.values = left

    def _handed_on(self, scope: Scope, part: _Part) -> Iterator[_Value | None]:
        """What a scope binds and returns, as far as its value can be anything."""
        seen_by = None if scope.kind in {"module", "class"} else part
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                if binding.kind in _TELLING:
                    yield self._bound(name, binding, scope, seen_by)
        for name, binding, owner in _outward(scope):
            yield self._bound(name, binding, owner, None)
        if scope.kind == "function" and scope.parent is not None and not scope.yields:
            seen_by = part if scope.parent.kind == "function" else None
            for node, place in scope.returns:
                yield _Value((node.lineno, node.end_lineno or 0), scope.name, seen_by, (node, place))

    def _bound(self, name: str, binding: Binding, scope: Scope, part: _Part | None) -> _Value | None:
        kind, value = binding.kind, binding.value
        if kind not in _TELLING or silent(binding):
            return None
        if kind == IMPORT:
            if self._is_meant(value):
                self._add(name, part)
            return None
        if kind == PARAMETER or binding.order == binding.place.order:  # in an f-string the line may be wrong
            return _Value(_ANYWHERE, name, part, (binding, scope))
        node = value if kind == VALUE else value[1]
        return _Value((node.lineno, node.end_lineno), name, part, (binding, scope))

    def _may_hold(self, found: Iterable[Thing]) -> bool:
        """Whether something that is asked for may be among things, or within one of them."""
        named = {"ref", "member", "made", "declared"} if self._asked.open else {"ref", "member"}
        return any(
            one.kind in _HOLDING or (one.kind in named and one.scope is None and self._is_meant(one.name))
            for one in found
        )

    def _is_meant(self, name: str) -> bool:
        """Whether a qualified name has a word that is asked for, or may stand for one that has."""
        return not self._asked.words.isdisjoint(name.split(".")) or (self._asked.open and self._asked.is_own(name))


def _outward(scope: Scope) -> Iterator[tuple[str, Binding, Scope]]:
    """What a scope binds outside of itself: attributes of its first parameter, ``global`` and ``nonlocal`` names."""
    for name, binding in scope.assigned:
        if scope.parent is not None:
            yield name, binding, scope.parent
    for name, owner in scope.outer.items():
        for binding in owner.bindings.get(name, ()):
            if within(binding.place.scope, scope):
                yield name, binding, owner


class _Part:
    """An outermost function, or all that is in none: the words that only it sees, and what its words are not on yet."""

    def __init__(self, start: int, end: int, scope: Scope) -> None:
        self.start = start
        self.end = end
        self.scope = scope
        self.words: set[str] = set()
        self.values: list[_Value] = []


class _Value:
    """What a name is given on some lines: by a binding, with its scope, or by what is returned, with its place."""

    __slots__ = ("_what", "end", "first", "name", "part")

    def __init__(self, lines: tuple[int, int], name: str, part: _Part | None, what: tuple[Any, Any]) -> None:
        self.first, self.end = lines
        self.name = name
        #: Where the name can be seen, if not everywhere.
        self.part = part
        self._what = what

    def things(self, resolver: Resolver) -> list[Thing]:
        if isinstance(self._what[0], Binding):
            resolver.steps = 0
            return resolver.bound(*self._what)
        return resolver.things(*self._what)
