"""Which names of a file matter to the patterns that are asked for: only these are resolved."""

from __future__ import annotations

import ast
import functools
from fnmatch import fnmatchcase

from envdoctor.file_keys import IMPORTED
from envdoctor.globs_of_names import expression
from envdoctor.probes.source.abstract_values import STARS, UNWRITTEN, last
from envdoctor.probes.source.bindings import IMPORT, annotation_of, classes_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.source.bindings import Scope

    #: Patterns, those of imports alone with ``IMPORTED``, and the top-level names of the project's own modules.
    Asked = tuple[frozenset[str], frozenset[str]]

_GLOB = frozenset("*?[")


class Patterns:
    """Dotted globs, and the top-level names of the project's own modules."""

    def __init__(self, patterns: frozenset[str], own: frozenset[str]) -> None:
        self._own = own
        #: Whether uses are asked for that are no imports.
        self.any = bool(patterns)
        self._by_end: dict[str, list[str]] = {}
        for pattern in patterns:
            self._by_end.setdefault(end_of(pattern), []).append(pattern)
        self._open = [end for end in self._by_end if not _GLOB.isdisjoint(end)]
        #: For every pattern one segment of each name that matches it; ``""`` where there is none.
        self.words = frozenset(map(_word, patterns))
        #: Whether a name may match whose last segment is not one of the words.
        self.open = bool(self._open)
        #: The methods that some are about and that nobody writes.
        self.unwritten = UNWRITTEN & self._by_end.keys()

    @functools.cache  # noqa: B019 - as many as there are different last segments
    def ending(self, segment: str) -> list[str]:
        """The patterns that a name with this last segment may match."""
        ends = {segment, *(end for end in self._open if fnmatchcase(segment, end))}
        return [pattern for end in ends for pattern in self._by_end.get(end, ())]

    @functools.cache  # noqa: B019
    def matches(self, name: str) -> bool:
        """Whether a name matches one of them."""
        return any(expression(pattern).fullmatch(name) for pattern in self.ending(last(name)))

    def may_match(self, name: str) -> bool:
        """Whether a name matches, or is one of the project's own that may resolve to another which does."""
        return self.matches(name) or (self.is_own(name) and bool(self.ending(last(name))))

    def is_own(self, name: str) -> bool:
        """Whether a name begins in the project."""
        return name[:1] in {".", STARS} or name.partition(".")[0] in self._own


def end_of(pattern: str) -> str:
    """The glob for the last segment of a name that matches a pattern."""
    return glob_of(pattern).rpartition(".")[2].replace("**", "*")


def _word(pattern: str) -> str:
    """The last segment of a pattern that is no glob."""
    return next((one for one in reversed(pattern.split(".")) if _GLOB.isdisjoint(one) and one not in UNWRITTEN), "")


@functools.lru_cache(maxsize=64)
def patterns_of(patterns: frozenset[str], own: frozenset[str]) -> Patterns:
    """The same object for the same patterns: it remembers which names match."""
    return Patterns(patterns, own)


def parted(asked: Asked) -> tuple[Patterns, Patterns]:
    """The patterns that imports may match, and those that other uses may."""
    patterns, own = asked
    rest = frozenset(one for one in patterns if not one.startswith(IMPORTED))
    return patterns_of(frozenset(map(glob_of, patterns)), own), patterns_of(rest, own)


def glob_of(pattern: str) -> str:
    """The glob of names in a pattern."""
    return pattern.removeprefix(IMPORTED)


class Relevance:
    """The identifiers by which a file may refer to something that matches.

    That are the words of the patterns, and every name that a statement binds, assigns or returns which reads one of the
    identifiers: more than resolving would find, and cheaper.
    """

    def __init__(self, scopes: Iterable[Scope], patterns: Patterns) -> None:
        self._patterns = patterns
        self._all = "" in patterns.words
        self._names: set[str] = set() if self._all else self._follow(list(scopes))

    def concerns(self, target: ast.expr) -> bool:
        """Whether a name, an attribute or another expression may resolve to something that matches."""
        if self._all or (isinstance(target, ast.Attribute) and target.attr in self._patterns.unwritten):
            return True
        if isinstance(target, ast.Attribute) and not self._patterns.open:
            return target.attr in self._names
        while isinstance(target, ast.Attribute):
            if target.attr in self._names:
                return True
            target = target.value
        return not isinstance(target, ast.Name) or target.id in self._names

    def _follow(self, scopes: list[Scope]) -> set[str]:
        """The identifiers that are reached from the words; statements are known by their place in the file."""
        reading: dict[str, set[int]] = {}
        giving: dict[int, set[str]] = {}
        found = set(self._patterns.words)
        for scope in scopes:
            for node, order in _read(scope):
                for name in _identifiers(node):
                    reading.setdefault(name, set()).add(order)
            for name, order in _given(scope):
                giving.setdefault(order, set()).add(name)
            found.update(self._imported(scope))
        waiting = list(found)
        while waiting:
            for order in reading.pop(waiting.pop(), ()):
                new = giving.pop(order, set()) - found
                found |= new
                waiting += new
        return found

    def _imported(self, scope: Scope) -> Iterator[str]:
        """The names that import statements of a scope give to what may match."""
        words, patterns = self._patterns.words, self._patterns
        for name, bindings in scope.bindings.items():
            for one in bindings:
                if one.kind == IMPORT and (
                    not words.isdisjoint(one.value.split(".")) or (patterns.open and patterns.is_own(one.value))
                ):
                    yield name


def _identifiers(node: ast.expr) -> Iterator[str]:
    """The segments of a dotted name, or of the one that is called."""
    if isinstance(node, ast.Call):
        node = node.func
    while isinstance(node, ast.Attribute):
        yield node.attr
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _read(scope: Scope) -> Iterator[tuple[ast.expr, int]]:
    """The expressions that statements of a scope read, each with its statement's place; parameters read annotations."""
    for node, place in scope.reads:
        yield node, place.order
    for bindings in scope.bindings.values():
        for one in bindings:
            for node in classes_in(annotation_of(one)):
                yield node, one.place.order


def _given(scope: Scope) -> Iterator[tuple[str, int]]:
    """The names that statements of a scope bind, assign or return, each with the place of its statement."""
    for name, bindings in scope.bindings.items():
        for one in bindings:
            if one.kind != IMPORT:
                yield name, one.place.order
    for name, binding in scope.assigned:
        yield name, binding.place.order
    for _, place in scope.returns:
        yield scope.name, place.order
