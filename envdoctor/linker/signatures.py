"""Signatures of functions as they are written, and whether a call fits one."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Decorators that leave a signature as it is written.
_KEEPING = {
    *("staticmethod", "classmethod", "abstractmethod", "final", "override", "lru_cache", "cache", "coroutine"),
    *("contextmanager", "asynccontextmanager", "no_type_check"),
}


class Signature(NamedTuple):
    """A signature as a summary has it, read; ``variable`` and ``keywords`` say that it has stars."""

    positional_only: int
    names: Sequence[str]
    defaults: int
    variable: int
    only: Sequence[str]
    required: Sequence[str]
    keywords: int


def of_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Any] | None:
    """The signature of a definition; ``None`` where a decorator may change it."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name not in _KEEPING:
            return None
    given = node.args
    required = [one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults) if default is None]
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    return [
        len(given.posonlyargs),
        names,
        len(given.defaults),
        int(given.vararg is not None),
        [one.arg for one in given.kwonlyargs],
        required,
        int(given.kwarg is not None),
    ]


def of_text(text: str) -> list[Any]:
    """The signature that is written as the library's data has it: ``a/,b=,*c,d=,**e``."""
    positional = defaults = variable = keywords = 0
    names: list[str] = []
    only: list[str] = []
    required: list[str] = []
    behind = False
    for part in filter(None, text.split(",")):
        name = part.rstrip("=").rstrip("/")
        if part.startswith("**"):
            keywords = 1
        elif part.startswith("*"):
            behind, variable = True, variable or int(part != "*")
        elif behind:
            only.append(name)
            required += [] if part.endswith("=") else [name]
        else:
            names.append(name)
            positional += "/" in part
            defaults += part.endswith("=")
    return [positional, names, defaults, variable, only, required, keywords]


def of_call(node: ast.Call, held: Mapping[str, Sequence[str]] = {}) -> list[Any]:
    """How many arguments a call has, which keywords, and whether these are all; ``held`` are keys of dictionaries."""
    starred = any(isinstance(one, ast.Starred) for one in node.args)
    keywords = [one.arg for one in node.keywords if one.arg is not None]
    exact = not starred and len(keywords) == len(node.keywords)
    for one in node.keywords:
        if one.arg is None and isinstance(one.value, ast.Name):
            keywords += held.get(one.value.id, ())
    return [len(node.args) - starred, keywords, int(exact)]


def misfit(signature: Sequence[Any], call: Sequence[Any], *, bound: bool) -> tuple[str, str] | None:
    """Where a call does not fit a signature: the kind of mistake and the argument; ``None`` where it fits.

    ``bound`` leaves out the first parameter, which Python fills in.
    """
    return next(_misfits(signature, call, bound=bound), None)


def _misfits(signature: Sequence[Any], call: Sequence[Any], *, bound: bool) -> Iterator[tuple[str, str]]:
    """Each mistake of a call, with its argument: first those for which the signature alone has no place."""
    positional_only, names, defaults, variable, only, required, keywords = signature
    given, named, exact = call[:3]
    taken = names[int(bound) :]
    named_too = max(positional_only - bound, 0)
    if not keywords:
        accepted = [*taken[named_too:], *only]
        yield from (("unknown", name) for name in named if name not in accepted)
    if not variable and given > len(taken):
        yield "many", str(len(taken))
    yield from (("twice", name) for name in taken[named_too:given] if name in named)
    if exact:
        needed = [*taken[given : max(len(taken) - defaults, 0)], *required]
        yield from (("missing", name) for name in needed if name not in named)
