"""What a project takes of a module that one of its files hides, and that the file does not have."""

from __future__ import annotations

import ast

from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.project.tree import Files

#: A file with one of these has names that it does not write, or imports the module from elsewhere.
_OPEN = (b"__getattr__", b"globals(", b"sys.path", b"exec(", b"importlib", b"__path__")


def lacking(project: Files, module: str, file: str, readers: Iterable[str]) -> list[str]:
    """The names that files take of ``module``, and that ``file``, a module or a package by its directory, lacks."""
    own = _names(project, file)
    found: set[str] = set()
    for reader in readers if own is not None else ():
        text = project.read(reader)
        tree = parsed(text) if module.encode() in text and not any(one in text for one in _OPEN) else None
        found.update(_taken(tree, module, asks=b"hasattr" in text) if tree else ())
    return sorted(one for one in found - (own or set()) if not one.startswith("__"))


def _names(project: Files, file: str) -> set[str] | None:
    """All names that a module binds anywhere, and the modules of a package; ``None`` where they are not known."""
    is_module = file.endswith(".py")
    text = project.read(file if is_module else f"{file}/__init__.py")
    tree = None if any(one in text for one in _OPEN) else parsed(text)
    if tree is None:
        return None
    parts = () if is_module else (one[len(file) + 1 :] for one in project.files() if one.startswith(f"{file}/"))
    names = {one.partition("/")[0].partition(".")[0] for one in parts}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    return None if "*" in names else names


def _taken(tree: ast.Module, module: str, *, asks: bool) -> Iterator[str]:
    """The names that are imported from a module, or read of it; not in a ``try``, and not where the file asks first."""
    nodes = list(_untried(tree))
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            inside = node.module.partition(".")
            if node.module == module:
                yield from (alias.name for alias in node.names if alias.name != "*")
            elif inside[0] == module:
                yield inside[2].partition(".")[0]
        elif isinstance(node, ast.Import):
            bound.update(alias.asname or module for alias in node.names if alias.name == module)
    bound -= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound -= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes if bound and not asks else ():
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield from [node.attr] if getattr(node.value, "id", "") in bound else ()


def _untried(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree that are not in a ``try`` with a handler."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        if not (isinstance(node, ast.Try) and node.handlers):
            pending.extend(ast.iter_child_nodes(node))
