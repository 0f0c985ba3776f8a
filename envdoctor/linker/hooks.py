"""Implementations of hooks against the specifications that are installed, as a plugin manager compares them.

Whose markers and plain names make a function a hook is knowledge: ``hooks`` of the vocabulary.
"""

from __future__ import annotations

import ast
import functools
import os
from typing import Any, NamedTuple

from envdoctor.engine.installed_requirements import name_of
from envdoctor.linker.module_files import PROJECT
from envdoctor.linker.reach import ENTRY, groups
from envdoctor.linker.syntax_trees import chain
from envdoctor.linker.verdicts import Missing
from envdoctor.model import Distribution
from envdoctor.probes.distributions import required_by
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.module_files import Layout

    Function = ast.FunctionDef | ast.AsyncFunctionDef

_SPECIFICATION, _IMPLEMENTATION = "specification", "implementation"


class Hook(NamedTuple):
    """A function: of which framework's hook ``name`` it is a specification or implementation, with its class."""

    framework: str
    name: str
    owner: str
    module: str
    file: str
    line: int
    arguments: tuple[str, ...]
    within: str


class HookFile(NamedTuple):
    """Source that may have hooks; ``plain`` are the frameworks whose hooks need no marker in it."""

    owner: str
    module: str
    path: str
    text: bytes
    plain: Sequence[str] = ()
    sure: bool = False


class Hooks:
    """The hooks of a layout. Nothing is read where nothing installed makes markers."""

    def __init__(self, layout: Layout, knowledge: Mapping[str, Any]) -> None:
        self._layout = layout
        self._makers = {maker: kind for kind in (_SPECIFICATION, _IMPLEMENTATION) for maker in knowledge.get(kind, ())}
        self._plain: Mapping[str, Mapping[str, Any]] = knowledge.get("plain", {})
        self._markers: dict[tuple[str, str], tuple[str, str]] = {}
        self._specified: dict[tuple[str, str], list[Hook]] = {}
        self._specify()

    def _specify(self) -> None:
        """Take note of the markers that are made, and of the specifications that have them."""
        layout = self._layout
        homes = {layout.owner(maker.partition(".")[0]) for maker in self._makers} - {""}
        makers = [owner for owner in layout.names if homes & required(layout, owner)] if homes else []
        trees = {file: tree for owner in makers for file in self._files(owner) if (tree := parsed(file.text))}
        for file, tree in trees.items():
            self._define(file, _NamesOfFile(file, tree))
        for file, tree in trees.items():
            for kind, hook in self._hooks(file, tree):
                if kind == _SPECIFICATION:
                    self._specified.setdefault((hook.framework, hook.name), []).append(hook)

    def _files(self, owner: str) -> Iterator[HookFile]:
        """The source of a distribution that mentions markers, or hooks that need none."""
        words = self._words()
        found = groups(self._layout.metadata[owner])
        for name in self._layout.names[owner]:
            module = self._layout.modules[name]
            plain = [one for one, row in self._plain.items() if name in found.get(row["entry_points"], ())]
            if module.owner != owner or module.kind == "native" or (self._layout.is_aside(name) and not plain):
                continue
            text = _content(module.path)
            if plain or any(word in text for word in words):
                sure = any(name in modules for modules in found.values())
                yield HookFile(owner, name, module.path, text, tuple(plain), sure)

    def _words(self) -> set[bytes]:
        """The words of which source with markers contains one."""
        words = {word.rpartition(".")[2] for word in self._makers} | {name for _, name in self._markers}
        return {word.encode() for word in words}

    def _define(self, file: HookFile, names: _NamesOfFile) -> None:
        """Take note of the markers that a file makes."""
        for node in names.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
                kind, given = self._makers.get(names.dotted(node.value.func)), node.value.args[0]
                if kind and isinstance(given, ast.Constant) and isinstance(given.value, str):
                    for target in node.targets:
                        if isinstance(target, ast.Name):
                            self._markers[file.owner, target.id] = kind, given.value

    def _hooks(self, file: HookFile, tree: ast.Module) -> Iterator[tuple[str, Hook]]:
        """The hooks of a file, with what each is."""
        names = _NamesOfFile(file, tree)
        found = [(node, within, self._marked(node, names)) for node, within in names.functions()]
        of_objects = [(_IMPLEMENTATION, one) for one in file.plain]
        unmarked = [*{mark for _, _, mark in found if mark and mark[0] == _SPECIFICATION}, *of_objects]
        for node, within, mark in found:
            place = within.name if within else ""
            plain = unmarked if within is None else of_objects if place in names.registered else []
            kind, framework = mark or self._plainly(node, plain)
            if kind:
                arguments = _arguments(node, within, every=kind == _SPECIFICATION)
                name = _name_of_hook(node)
                yield kind, Hook(framework, name, file.owner, file.module, file.path, node.lineno, arguments, place)

    def _plainly(self, node: Function, unmarked: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """What a function is by its name alone: one of what needs no marker where it is, or nothing."""
        found = (one for one in unmarked if node.name.startswith(self._prefix(one[1])))
        return next(found, ("", ""))

    def _prefix(self, framework: str) -> tuple[str, ...]:
        return (self._plain[framework]["prefix"],) if framework in self._plain else ()

    def _marked(self, node: Function, names: _NamesOfFile) -> tuple[str, str] | None:
        """The marker that a function is decorated with: its kind and framework."""
        for decorator in node.decorator_list:
            dotted = names.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            first, _, last = dotted.rpartition(".")
            owner = self._layout.owner(first.partition(".")[0]) if first else names.file.owner
            if (owner, last) in self._markers:
                return self._markers[owner, last]
        return None

    # --- what does not fit ------------------------------------------------------------------------------------------

    def installed(self) -> Iterator[Missing]:
        """What installed plugins declare and the specification does not have."""
        homes = {owner for owner, _ in self._markers}
        entries = {row["entry_points"] for row in self._plain.values()}
        for owner in self._layout.names if self._specified else ():
            if homes & {owner, *required(self._layout, owner)} or entries & groups(self._layout.metadata[owner]).keys():
                for file in self._files(owner):
                    yield from self._misfits(file)

    def of_project(self, files: Iterable[tuple[str, str, bytes]]) -> Iterator[Missing]:
        """The same for the files of a project: key, path and source."""
        for key, path, text in files if self._specified else ():
            base = os.path.basename(path)
            plain = tuple(framework for framework, row in self._plain.items() if base in row["files"])
            if plain or any(name.encode() in text for _, name in self._markers):
                yield from self._misfits(HookFile(PROJECT, key, path, text, plain, bool(plain)))

    def _misfits(self, file: HookFile) -> Iterator[Missing]:
        """The hooks of a file that do not fit; of one with several branches, where none does."""
        found: dict[tuple[str, str, str], list[tuple[list[str], Hook]]] = {}
        for lacking, hook in self._compared(file):
            found.setdefault((hook.framework, hook.name, hook.within), []).append((lacking, hook))
        for branches in found.values():
            least, hook = min(branches, key=lambda one: len(one[0]))
            if least:
                spec, words = self._specified[hook.framework, hook.name][0], ", ".join(least)
                registered = hook.within and hook.framework in file.plain  # by a function, which may not be called
                severity = "error" if file.sure and not registered else "warning"
                asked = f"{spec.module}.{hook.name}({words.replace(' ', '')})"
                yield Missing(
                    hook.owner, hook.file, hook.line, asked, spec.owner, "hook", severity, ENTRY, spec.module,
                    hook.name, words,
                )  # fmt: skip

    def _compared(self, file: HookFile) -> Iterator[tuple[list[str], Hook]]:
        """The implementations in a file of others' hooks, with the arguments that the nearest specification lacks."""
        tree = parsed(file.text)
        for kind, hook in self._hooks(file, tree) if tree else ():
            specified = self._specified.get((hook.framework, hook.name), ())
            if kind == _IMPLEMENTATION and specified and all(one.owner != hook.owner for one in specified):
                lacking = ([one for one in hook.arguments if one not in spec.arguments] for spec in specified)
                yield min(lacking, key=len), hook


class _NamesOfFile:
    """Resolves the names of one file to dotted names."""

    def __init__(self, file: HookFile, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self._imported: dict[str, str] = {}
        for node in _statements(tree):
            if isinstance(node, ast.Import):
                self._imported.update({one.asname: one.name for one in node.names if one.asname})
            elif isinstance(node, ast.ImportFrom):
                origin = node.module or "" if not node.level else file.module.partition(".")[0]
                self._imported.update({one.asname or one.name: f"{origin}.{one.name}" for one in node.names})

    @functools.cached_property
    def registered(self) -> set[str]:
        """The classes that the file gives to a ``register``, or objects of which it gives there."""
        nodes = list(ast.walk(self.tree)) if b".register(" in self.file.text else []
        made = {target: _made_by(one.value) for one in nodes if isinstance(one, ast.Assign) for target in _bound(one)}
        calls = (one for one in nodes if isinstance(one, ast.Call) and one.args)
        given = {_made_by(one.args[0]) for one in calls if getattr(one.func, "attr", "") == "register"}
        return {made.get(one, one) for one in given}

    def dotted(self, node: ast.expr) -> str:
        """The full name of an expression; empty where it has none."""
        found = chain(node)
        return ".".join([self._imported.get(found[0], found[0]), *found[1]]) if found else ""

    def functions(self) -> Iterator[tuple[Function, ast.ClassDef | None]]:
        """The functions of the file and of its classes that are defined once, or once in each branch of a condition."""
        classes = [one for one in self.tree.body if isinstance(one, ast.ClassDef)]
        for within in (None, *classes):
            body = self.tree.body if within is None else within.body
            defined = _functions(body)
            inner = [one for node in body if isinstance(node, (ast.If, ast.Try)) for one in _statements(node)]
            names = [one.name for one in (*defined, *_functions(inner))]
            for name, found in _alternatives(body).items():
                yield from ((one, within) for one in found if names.count(name) == len(found))


def _alternatives(body: Sequence[ast.stmt]) -> dict[str, list[Function]]:
    """The functions that some statements define whatever holds, by name: of a condition, one for each branch."""
    found = {one.name: [one] for one in _functions(body)}
    for node in body:
        if isinstance(node, ast.If):
            then, other = _alternatives(node.body), _alternatives(node.orelse)
            found.update({name: then[name] + other[name] for name in then.keys() & other.keys()})
    return found


def _bound(node: ast.Assign) -> list[str]:
    """The plain names that an assignment binds."""
    return [one.id for one in node.targets if isinstance(one, ast.Name)]


def _made_by(node: ast.expr) -> str:
    """The name of what a call calls, or a plain name; else empty."""
    return getattr(node.func if isinstance(node, ast.Call) else node, "id", "")


def _functions(nodes: Iterable[ast.AST]) -> list[Function]:
    return [one for one in nodes if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _content(path: str) -> bytes:
    """The content of a file; nothing where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _statements(node: ast.AST) -> Iterator[Any]:
    """A node and the statements in it, level by level: expressions have none."""
    nodes: list[Any] = [node]
    for one in nodes:
        yield one
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            nodes += getattr(one, part, ())


def required(layout: Layout, owner: str) -> set[str]:
    """What a distribution requires without its extras."""
    if owner not in layout.requires and owner in layout.metadata:
        lines = required_by(Distribution(name=owner, version=None, path=layout.metadata[owner]))
        layout.requires[owner] = {name_of(line) for line in lines}
    return layout.requires.get(owner, set())


def _arguments(node: Function, within: ast.ClassDef | None, *, every: bool) -> tuple[str, ...]:
    """The arguments that are passed to a hook: without defaults, unless it is the specification; without self."""
    given = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    if not every and node.args.defaults:
        given = given[: -len(node.args.defaults)]
    static = any(getattr(one, "id", "") == "staticmethod" for one in node.decorator_list)
    named = given[1:] if within is not None and not static else given
    return (*named, *(one.arg for one in node.args.kwonlyargs)) if every else tuple(named)


def _name_of_hook(node: Function) -> str:
    """The hook that a marker names, in place of the function's own name."""
    for decorator in node.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "specname" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value or node.name)
    return node.name
