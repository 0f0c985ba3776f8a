"""Every import, reference and call of a file whose qualified name is known, with what is passed where."""

from __future__ import annotations

import ast
import gc
import sys

from envdoctor.probes.source.asked import patterns_of
from envdoctor.probes.source.expressions import TooLargeError
from envdoctor.probes.source.names import MOST_SEGMENTS, Resolver
from envdoctor.probes.source.outline import Outline
from envdoctor.probes.source.reach import Reach, runner
from envdoctor.probes.source.roots import Roots
from envdoctor.probes.source.scopes import ATTRIBUTES, IMPORTS, below, outermost
from envdoctor.probes.source.shown import Text
from envdoctor.probes.source.spread import Spread
from envdoctor.probes.source.things import OWN, Call, Thing, last
from envdoctor.probes.source.values import Values
from envdoctor.probes.source.walk import Walker
from envdoctor.probes.source.words import OUTWARD, Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from envdoctor.probes.source.asked import Asked, Patterns
    from envdoctor.probes.source.scopes import Place, Scope

    Fact = list[Any]

#: Larger files are not looked into.
MOST_BYTES = 2 << 20
MOST_USES = 20_000
#: From how many characters on it pays to leave functions unparsed.
WORTH_SPARING = 3_000
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
    the project and may stand for one of them. A use is ``[kind, name, line, guarded, number, spared, among]``:
    ``number`` is for ``details``, ``spared`` the names on the way to this one whose absence the code provides for,
    ``among`` then all that may stand there. Raises ``NotReadError``.
    """
    answer: dict[str, list[Fact]] = _guarded(lambda: _reader(source, _words(asked)).uses(asked))
    return answer


def details(source: str, asked: Asked = None) -> dict[str, dict[str, Any]]:
    """The text of all references and calls and what is passed to the calls, without empty fields, by number.

    With ``asked``, of those that match.
    """
    answer: dict[str, dict[str, Any]] = _guarded(lambda: _reader(source, _words(asked)).details(asked))
    return answer


def exports(source: str, _asked: Asked = None) -> dict[str, Any]:
    """What the file's top-level names stand for: ``{"ref": name}``, or what they are and, for functions, return."""
    answer: dict[str, Any] = _guarded(lambda: _reader(source, None).exports())
    return answer


def _guarded(read: Any) -> Any:
    enabled = gc.isenabled()
    gc.disable()  # a syntax tree is many objects and no garbage
    try:
        return read()
    except (SyntaxError, ValueError, RecursionError, MemoryError, TooLargeError) as error:
        _forget()  # which may be halfway through
        raise _reason(error) from None
    finally:
        if enabled:
            gc.enable()


def _reason(error: BaseException) -> NotReadError:
    if isinstance(error, SyntaxError):
        version = ".".join(map(str, sys.version_info[:2]))
        return NotReadError(error.lineno, f"Python {version} does not understand it: {error.msg}")
    if isinstance(error, ValueError):
        return NotReadError(None, f"it is not Python source: {error}")
    return NotReadError(None, "it is too large" if isinstance(error, TooLargeError) else "it is nested too deeply")


def _reader(source: str, words: Collection[str] | None) -> _Reader:
    """What reads a text; the last one is kept, since who asks for a text's facts may ask for details next.

    With ``words``, functions that hold none of them are not parsed until something leads into them.
    """
    if not _latest or _latest[0].source != source:
        _forget()
        _latest.append(_Reader(source, words))
    return _latest[0]


def _forget() -> None:
    while _latest:
        _latest.pop().close()


def _words(asked: Asked) -> Collection[str] | None:
    """The words one of which is in every use that is asked for; ``None`` where anything may lead to one."""
    if asked is None:
        return None
    patterns = patterns_of(*asked)
    return None if patterns.open or "" in patterns.words else patterns.words


class _Reader:
    def __init__(self, source: str, words: Collection[str] | None) -> None:
        self.source = source
        self.words = Words(source)
        sparing = words is not None and self.words.plain and len(source) >= WORTH_SPARING
        outline = Outline(source, [*words, *OUTWARD] if words is not None and sparing else None)
        self.walker = Walker(outline, self.words)
        self.module = self.walker.module
        self.resolver = Resolver(self.walker.scope_of)
        self.text = Text(source)
        program = any(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in outline.tree.body)
        self.values = Values(self.resolver, self.text, by_value=program or "__main__" in source)
        self.roots = Roots(self.module)
        self.asked: Patterns | None = None
        #: Uses with their places, and where each stands among all that is read.
        self.found: list[tuple[Fact, Place]] = []
        self.nodes: dict[str, tuple[ast.expr, Place]] = {}

    def close(self) -> None:
        """Let go of everything at once: scopes refer to each other, and would wait for the collector of garbage."""
        for scope in outermost(self.module):
            vars(scope).clear()
        vars(self).clear()

    def uses(self, asked: Asked = None) -> dict[str, list[Fact]]:
        self.asked = None if asked is None else patterns_of(*asked)
        self.found.clear()
        self.nodes.clear()
        spread = None
        if self.asked is not None and self.words.plain and "" not in self.asked.words:
            spread = Spread(self.words, self.walker, self.asked)
        scopes = list(below(self.module) if spread is None else outermost(self.module, spread.left_out))
        for number, (name, line, place) in enumerate(self.walker.imports):
            if not place.block.spared & IMPORTS and self._is_asked(name):
                self.found.append((["import", name, line, False, number], place))
        for scope in scopes:
            self._read_all(scope, spread)
        return self._by_end()

    def _by_end(self) -> dict[str, list[Fact]]:
        runners = {runner(place.scope) for _, place in self.found if not place.block.guard}
        reached = Reach(self.module, self.resolver, self.roots).among(runners)
        answer: dict[str, list[Fact]] = {}
        for use, place in self.found:
            use[3] = place.block.guard or runner(place.scope) not in reached
            answer.setdefault(last(use[1]), []).append(use)
        return answer

    def details(self, asked: Asked = None) -> dict[str, dict[str, Any]]:
        if not self.found or asked != (self.asked and self.asked.given):
            self.uses(asked)
        answer: dict[str, dict[str, Any]] = {}
        for number, (node, place) in self.nodes.items():
            text, literals = self.text.with_literals(node)
            answer[number] = {
                "text": text,
                **({"literals": literals} if any(one is not None for one in literals) else {}),
                **(self._call(node, place) if isinstance(node, ast.Call) else {}),
            }
        return answer

    def _read_all(self, scope: Scope, spread: Spread | None) -> None:
        """Note the uses among what a scope reads; their numbers are the same whatever is asked."""
        place = ""
        words = set() if spread is None else spread.words(scope)
        for at, (node, here) in enumerate(scope.reads):
            target = node.func if isinstance(node, ast.Call) else node
            if spread is not None and not spread.is_worth(target, words):
                continue
            uses = self._read(target, here)
            if not uses or len(self.found) >= MOST_USES:
                continue
            place = place or _path(scope)
            number = f"{place}{at}"
            kind = "call" if isinstance(node, ast.Call) else "name"
            for name, *rest in uses:
                self.found.append(([kind, name, node.lineno, False, number, *rest], here))
                if self._is_asked(name, linked=False):
                    self.nodes[number] = node, here

    def _read(self, target: ast.expr, place: Place) -> list[tuple[Any, ...]]:
        """The names that something stands for, each with what a use of it has to tell besides."""
        if place.block.spared & ATTRIBUTES or not self.roots.may_tell(target, place.scope):
            return []
        direct = self.roots.imported(target, place)
        if direct is not None and direct.count(".") <= MOST_SEGMENTS:
            return [(direct,)] if self._is_use(direct) else []
        things = self.resolver.things(target, place)
        names = {one.name for one in things if one.kind in {"ref", "member"} and self._is_use(one.name)}
        spared = sorted({name for one in things for name in one.spared})
        if not spared:
            return [(name,) for name in sorted(names)]
        among = sorted({one.name for one in things if one.name and one.kind != "parameter"})
        return [(name, spared, among) for name in sorted(names)]

    def _is_use(self, name: str) -> bool:
        return "." in name.strip(".") and not name.startswith(("builtins.", OWN)) and self._is_asked(name)

    def _is_asked(self, name: str, *, linked: bool = True) -> bool:
        """Whether a use of a name may be an answer; one of the project's own may stand for another."""
        return self.asked is None or self.asked.fit(name) or (linked and self.asked.link(name))

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


def _path(scope: Scope) -> str:
    """Where a scope is among those of its file, which does not depend on what else has been looked into."""
    numbers: list[str] = []
    while scope.parent is not None:
        numbers.append(f"{scope.parent.children.index(scope)}.")
        scope = scope.parent
    return "".join(reversed(numbers))
