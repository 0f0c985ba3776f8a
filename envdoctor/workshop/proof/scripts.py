"""What the script of a proof does, read and not run: it may neither look at versions nor raise what it is to show."""

from __future__ import annotations

import ast
import builtins
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where versions are: attributes, and calls by the end of their dotted names.
_VERSIONS = {"__version__", "__version_info__", "VERSION", "version_info", "hexversion", "python_version_tuple"}
_ASKING = ("metadata.version", "pkg_resources.get_distribution", "platform.python_version", "sys.version")


def parsed(script: str) -> ast.Module | None:
    """A script whose braces are filled with names; ``None`` for what is none."""
    try:
        return ast.parse(re.sub(r"\{(\w+)\}", r"\1", script))
    except SyntaxError:
        return None


def bare(script: str) -> str:
    """A script without its comments, its braces unchanged."""
    return "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("#"))


def imported(script: str) -> set[str]:
    """The modules at the top that a script names in imports."""
    tree = parsed(script)
    return {name.partition(".")[0] for _, name in _imports(tree)} if tree else set()


def _imports(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node, node.module
            yield from ((node, f"{node.module}.{one.name}") for one in node.names)


def looks_at_versions(script: str) -> Iterator[str]:
    """Each place where a script asks for the version of something, as source."""
    tree = parsed(script)
    if tree is None:
        return
    for statement, name in _imports(tree):
        if name.endswith(_ASKING) or name.rpartition(".")[2] in _VERSIONS:
            yield ast.unparse(statement)
    for node in ast.walk(tree):
        named = isinstance(node, ast.Attribute) and (node.attr in _VERSIONS or ast.unparse(node).endswith(_ASKING))
        asked = isinstance(node, ast.Call) and [ast.unparse(one) for one in node.args[1:2]] == ["'__version__'"]
        if named or asked:
            yield ast.unparse(node)


def raised(script: str) -> Iterator[str]:
    """Each statement by which a script raises a new exception, not one that was caught."""
    tree = parsed(script)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Raise) and _raises(node):
            yield ast.unparse(node)


def raises(code: str) -> bool:
    """Whether a line raises an exception with its own words, or by an assertion about a value."""
    try:
        return any(map(_raises, ast.walk(ast.parse(code.strip()))))
    except SyntaxError:
        return False


def _raises(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    made = node.exc if isinstance(node, ast.Raise) else None
    if isinstance(made, ast.Call) and not all(isinstance(one, ast.Constant) for one in made.args):
        return False  # in words that came from elsewhere
    named = made.func if isinstance(made, ast.Call) else made
    return isinstance(named, ast.Name) and hasattr(builtins, named.id) and named.id != "SystemExit"


def said(script: str) -> Iterator[str]:
    """The texts in a script."""
    tree = parsed(script)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
