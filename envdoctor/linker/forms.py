"""Source that every Python can parse and some refuse when they run it: forms of expressions, and what they mean.

What is here is documented by the language reference and the standard library's "What's new" of the version named.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from envdoctor.linker.makings import last
from envdoctor.linker.summary import LATER, Form
from envdoctor.linker.syntax_trees import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from envdoctor.linker.module_record import ModuleRecord
    from envdoctor.linker.scopes import Scope

_SUBSCRIPTED, _UNITED, _STRICT_DEFAULTS = (3, 9), (3, 10), (3, 11)
_STRICT_PATTERNS, _NO_U = (3, 11), (3, 11)
_NO_WRAPPED_PROPERTY, _NO_LOOP, _LAZY_ANNOTATIONS = (3, 13), (3, 14), (3, 14)

_GENERIC = {"list", "dict", "tuple", "set", "frozenset", "type"}
_TYPES = _GENERIC | {"str", "int", "float", "bool", "bytes", "complex", "bytearray", "object"}
#: Classes of the standard library that cannot be subscripted before Python 3.9 (PEP 585).
_LATE_GENERIC = {
    "collections": "deque defaultdict OrderedDict Counter ChainMap UserDict UserList",
    "collections.abc": "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Iterable Iterator Generator "
    "Reversible Container Collection Callable Set MutableSet Mapping MutableMapping Sequence MutableSequence KeysView "
    "ItemsView ValuesView MappingView",
    "contextlib": "AbstractContextManager AbstractAsyncContextManager",
    "os": "PathLike DirEntry",
    "re": "Pattern Match",
    "queue": "Queue LifoQueue PriorityQueue SimpleQueue",
    "asyncio": "Future Task Queue",
    "subprocess": "Popen CompletedProcess",
    "weakref": "WeakKeyDictionary WeakValueDictionary WeakSet ReferenceType",
}
#: Keywords that functions take as any keyword, and pass on to what refuses them from a version on.
_PASSED_ON = {
    ("json", "load", "encoding"): (3, 9),
    ("json", "loads", "encoding"): (3, 9),
    **{
        ("asyncio", name, "loop"): (3, 10)
        for name in (
            *("open_connection", "start_server", "open_unix_connection", "start_unix_server"),
            *("create_subprocess_exec", "create_subprocess_shell"),
        )
    },
}
_MODULES = {"re", *(module for module, _, _ in _PASSED_ON)}
_PATTERNS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
#: What a class is said to have that compares its objects and has no hash for them.
NO_HASH = "no hash"
#: What is raised not by the form itself but where it is used.
_ON_USE = "TypeError where it is used"
_RUNS = {"run_until_complete", "run_forever"}
#: A module that imports one of these knows how annotations are kept since Python 3.14.
_KNOWING = {"annotationlib", "get_annotate_from_class_namespace"}
_ANNOTATIONS = "__annotations__"


class Forms:
    """Gathers, for a reader, what its target refuses, as a summary has it.

    What depends on a name of Python is kept with the name and the scope, which must not bind it.
    """

    def __init__(self, reader: ModuleRecord) -> None:
        self._reader = reader
        self._minor = reader.target.minor
        self._found: list[tuple[list[Any], str, Scope]] = []
        self._unhashable: set[str] = set()
        self._loops: dict[str, Any] = {}

    def kept(self, names: Container[str]) -> list[list[Any]]:
        """What was found, but for names that the module or a function binds itself."""
        return [entry for entry, root, scope in self._found if root not in names and not _is_bound(root, scope)]

    def _note(self, form: str, bound: str, line: int, error: str, root: str = "", wanted: str = "") -> None:
        reader = self._reader
        flags = reader.flags | (LATER if error == _ON_USE else 0)
        row = Form(form, bound, line, flags, reader.attempt, reader.handler, 0, error, wanted)
        self._found.append(([*row], root, reader.scope))

    # --- types as expressions ---------------------------------------------------------------------------------------

    def subscript(self, node: ast.Subscript) -> None:
        """``list[int]`` before Python 3.9, and ``namespace["__annotations__"]`` of a class that is made since 3.14."""
        if not isinstance(node.ctx, ast.Load):
            return
        name = self._generic(node.value) if self._minor < _SUBSCRIPTED else ""
        if name:
            self._note(f"{name}[...]", "python>=3.9", node.lineno, "TypeError", name.partition(".")[0])
        elif getattr(node.slice, "value", "") == _ANNOTATIONS and self._is_namespace(node.value):
            self._note(f"{ast.unparse(node.value)}['{_ANNOTATIONS}']", "python<3.14", node.lineno, "KeyError")

    def _is_namespace(self, whole: ast.expr) -> bool:
        """Whether something is the dictionary of a class, or is given to what makes classes."""
        if self._minor < _LAZY_ANNOTATIONS or not _KNOWING.isdisjoint(self._reader.roots):
            return False
        if isinstance(whole, ast.Attribute):
            return whole.attr == "__dict__"
        return isinstance(whole, ast.Name) and any(_is_meta(one) for one in (self._reader.scope.record or [()])[0])

    def _generic(self, node: ast.expr) -> str:
        """The words for a class that cannot be subscripted yet; nothing for anything else."""
        root, path = chain(node) or ("", ())
        if not path and root in _GENERIC:
            return root
        origins = self._reader.scope.imports.get(root) or self._reader.top.imports.get(root, [])
        full = [".".join(filter(None, (module, inner, *path))) for module, inner in origins]
        module, _, name = full[0].rpartition(".") if len(full) == 1 else ("", "", "")
        return full[0] if name in _LATE_GENERIC.get(module, "").split() else ""

    def united(self, node: ast.BinOp, *, annotation: bool = False) -> None:
        """``int | None`` before Python 3.10."""
        if self._minor >= _UNITED or not isinstance(node.op, ast.BitOr):
            return
        plain = [self._is_type(one) for one in (node.left, node.right)]
        if any(plain) if annotation and not all(plain) else all(plain) and not annotation:
            self._note("X | Y between types", "python>=3.10", node.lineno, "TypeError")

    def _is_type(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Name) and node.value.id in _GENERIC
        if isinstance(node, ast.Constant):
            return node.value is None
        return isinstance(node, ast.Name) and node.id in _TYPES

    def annotation(self, node: ast.expr | None) -> None:
        """The unions in an annotation that is evaluated: in it, a name is a type."""
        for one in ast.walk(node) if node is not None and self._minor < _UNITED else ():
            if isinstance(one, ast.BinOp):
                self.united(one, annotation=True)

    # --- classes ----------------------------------------------------------------------------------------------------

    def kind(self, node: ast.ClassDef, record: list[Any]) -> None:
        """A dataclass whose default has no hash, since Python 3.11, and properties wrapped in a class method."""
        made = [one for one in node.decorator_list if last(getattr(one, "func", one)) == "dataclass"]
        if made and self._minor >= _STRICT_DEFAULTS:
            self._defaults(node)
        if _has_no_hash(node, made):
            self._unhashable.add(node.name)
            record[1].add(NO_HASH)
        for one in node.body if self._minor >= _NO_WRAPPED_PROPERTY else ():
            decorators = [last(each) for each in getattr(one, "decorator_list", ())]
            if decorators[:2] == ["classmethod", "property"]:
                self._note("@classmethod over @property", "python<3.13", one.lineno, _ON_USE)

    def _defaults(self, node: ast.ClassDef) -> None:
        for one in node.body:
            name = _default(one) if isinstance(one, ast.AnnAssign) else ""
            origins = self._reader.top.imports.get(name, ())
            wanted = ":".join(origins[0]) if len(origins) == 1 else ""
            if wanted or name in self._unhashable:
                form = "a default without a hash of a dataclass field"
                self._note(form, "python<3.11", one.lineno, "ValueError", wanted=wanted)

    # --- calls ------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call, called: tuple[str, tuple[str, ...]] | None) -> None:
        """A call with an argument that the standard library refuses in some versions; ``called`` is the chain of it."""
        root, path = called or ("", ())
        if root == "open" and not path:
            self._mode(node)
        elif root in _MODULES and len(path) == 1 and self._reader.top.imports.get(root) == [(root, "")]:
            self._of_library(node, root, path[0])
        name = last(node.func)
        if name in _RUNS and type(node.func) is ast.Attribute:
            if self._is_lonely(node, root, path):
                self._lonely(node)
        elif name == "set_event_loop":
            self._loops[""] = self._reader.scope

    def _is_lonely(self, node: ast.Call, root: str, path: tuple[str, ...]) -> bool:
        """Whether the event loop that runs something is asked for where none was made."""
        if root:
            return len(path) <= 1 and self._loops.get(root) is self._reader.scope
        return _is_asking(node.func.value)  # type: ignore[attr-defined]

    def _of_library(self, node: ast.Call, module: str, name: str) -> None:
        """A pattern, or a keyword that a function of the library passes on to what refuses it."""
        if module == "re" and name in _PATTERNS:
            self._pattern(node)
        for given in node.keywords:
            since = _PASSED_ON.get((module, name, given.arg or ""))
            if since and self._minor >= since and not _is_none(given.value):
                bound = f"python<{since[0]}.{since[1]}"
                self._note(f"{module}.{name}({given.arg}=...)", bound, node.lineno, "TypeError")

    def _mode(self, node: ast.Call) -> None:
        mode = next((one.value for one in node.keywords if one.arg == "mode"), node.args[1] if node.args[1:] else None)
        text = getattr(mode, "value", None)
        # old libraries have functions for Python 2
        mine = self._reader.script or self._reader.scope.kind != "function"
        if mine and self._minor >= _NO_U and isinstance(text, str) and "U" in text:
            self._note(f"open(..., '{text}')", "python<3.11", node.lineno, "ValueError", "open")

    def _pattern(self, node: ast.Call) -> None:
        pattern = getattr(node.args[0], "value", None) if node.args else None
        if self._minor < _STRICT_PATTERNS or not isinstance(pattern, (str, bytes)):
            return
        text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
        found = _FLAGS.search(text)
        if found and found.start() and not text[:1].isspace() and _is_misplaced(text):
            self._note(f"a pattern with {found.group()} behind its start", "python<3.11", node.lineno, "error")

    def assigned(self, node: ast.Assign) -> None:
        """``loop = asyncio.get_event_loop()``, outside a coroutine and where nothing is caught."""
        if self._minor >= _NO_LOOP and _is_asking(node.value):
            targets = [one.id for one in node.targets if isinstance(one, ast.Name)]
            self._loops.update(dict.fromkeys(targets, self._reader.scope if not self._reader.attempt else None))

    def _lonely(self, node: ast.Call) -> None:
        """A loop that runs, and that nobody has made."""
        reader = self._reader
        if self._minor >= _NO_LOOP and not reader.attempt and self._loops.get("") is not reader.scope:
            self._note("asyncio.get_event_loop() where no loop is set", "python<3.14", node.lineno, "RuntimeError")


def _is_bound(name: str, scope: Scope | None) -> bool:
    """Whether a name is bound in a scope of a function or class, or around it."""
    while scope is not None and name:
        if name in scope.bound or name in scope.shadowed:
            return True
        scope = scope.parent
    return False


def _is_asking(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and chain(node.func) == ("asyncio", ("get_event_loop",))


def _default(field: ast.AnnAssign) -> str:
    """The name of the class that makes the default of a field of a dataclass; nothing for another default."""
    value = field.value
    if isinstance(value, ast.Call) and last(value.func) == "field":
        value = next((each.value for each in value.keywords if each.arg == "default"), None)
    if not isinstance(value, ast.Call) or "ClassVar" in ast.unparse(field.annotation):
        return ""
    return getattr(value.func, "id", "")


def _is_meta(base: tuple[str, tuple[str, ...]] | None) -> bool:
    """Whether a class that is derived from a base, a name and its attributes, makes classes."""
    return base is not None and (base == ("type", ()) or [base[0], *base[1]][-1].endswith("Meta"))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_misplaced(pattern: str) -> bool:
    """Whether a pattern sets flags for all of it elsewhere than at its start, as the parser of patterns says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            re.compile(pattern)
    except (re.error, DeprecationWarning) as error:
        return "lags not at the start" in str(error)
    except (ValueError, RecursionError, OverflowError, FutureWarning):
        return False
    return False


def _has_no_hash(node: ast.ClassDef, made: Sequence[ast.expr]) -> bool:
    """Whether the objects of a class cannot be hashed: it compares them, and says nothing of a hash."""
    names = {getattr(one, "name", "") for one in node.body} | set(_assigned(node))
    if "__hash__" in names:
        return False
    if not made:
        return "__eq__" in names
    given = {one.arg: getattr(one.value, "value", None) for each in made for one in getattr(each, "keywords", ())}
    return given.get("eq", True) is True and not any(given.get(one) for one in ("frozen", "unsafe_hash"))


def _assigned(node: ast.ClassDef) -> Iterator[str]:
    for one in node.body:
        for target in one.targets if isinstance(one, ast.Assign) else ():
            yield getattr(target, "id", "")
