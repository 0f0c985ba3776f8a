"""Calls that a function refuses: the way that it takes with these arguments surely ends in an exception.

Libraries keep names that they have removed as functions that do nothing but raise, and check what they are given.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.linker.evaluation import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.linker.forwarded_keywords import ForwardedKeywords
    from envdoctor.linker.own_checks import OwnChecks, Refused
    from envdoctor.linker.store import Store

#: What says that a function is there only to tell that it is gone. Others raise because that is what they are for.
_RETIRED = re.compile(r"(?i)deprecat|remov|no longer|renamed|replaced|obsolete|discontinued|has moved|migrat")
#: So many bytes behind the name of a definition are searched for a reason to follow it.
_NEAR = 6000
_REASON = re.compile(rb"(?i)\braise\b|deprecat|remov|\bassert\b")
#: A method raises for many reasons, and has to say that it is gone.
_GONE = re.compile(_RETIRED.pattern.encode())
#: What leaves the body of a method as it is.
_PLAIN = {"classmethod", "staticmethod"}
#: What says that something is not installed that need not be.
_CHOICES = {"ImportError", "ModuleNotFoundError"}
#: What ends a program, or says that a method is for derived classes.
_ABSTRACT = "NotImplementedError"
_MEANT = {_ABSTRACT, "SystemExit", "KeyboardInterrupt", "StopIteration", "GeneratorExit"}


class RefusedCalls:
    """Follows the functions that are called; ``code`` finds them, and ``checks`` follows them."""

    def __init__(self, code: ForwardedKeywords, checks: OwnChecks, store: Store) -> None:
        self._code, self._checks, self._store = code, checks, store
        self._known: dict[str, str] = {}

    def misfit(self, value: Any, call: Sequence[Any]) -> tuple[str, str] | None:
        """The exception that a call of a function or class surely raises, as a kind of misfit and its text."""
        if not call[2] or value[0] not in {"function", "class"}:
            return None
        key = repr((value[:3], call[:2]))
        if key not in self._known:
            self._known[key] = self._said(value, call)
        return ("refuses", self._known[key]) if self._known[key] else None

    def of_method(self, found: Any, method: str, call: Sequence[Any]) -> tuple[str, str] | None:
        """What :meth:`misfit` returns, for a method that says that it is gone, as a resolver found it."""
        if not call or not call[2] or not isinstance(found, tuple):
            return None
        key = repr((found[:2], method, call[:2]))
        if key not in self._known:
            self._known[key] = self._said_by_method(found, method, call)
        return ("refuses", self._known[key]) if self._known[key] else None

    def _said_by_method(self, found: Sequence[Any], method: str, call: Sequence[Any]) -> str:
        text = self._store.text(found[0])
        places = re.finditer(rb"def %s\b" % method.encode(), text)
        near = (text[one.start() : one.start() + _NEAR] for one in places)
        body = self._code.method(found, method) if any(map(_GONE.search, near)) else None
        if body is None or not isinstance(body.node, ast.FunctionDef) or not _marks(body.node) <= _PLAIN:
            return ""
        error = self._refusal(body, call)
        return error.message.rstrip(": ") if error and not _is_meant(error) and _is_retired(body.node, error) else ""

    def _refusal(self, body: Any, call: Sequence[Any]) -> Refused | None:
        """The exception that a call surely raises; nothing is known of an object, or of what a call gives."""
        function, static = self._checks.defined(body.module, body.node), _marks(body.node) & {"staticmethod"}
        own = [UNKNOWN] * (body.kind is not None and not static)
        return self._checks.refusal(function, [*own, *[UNKNOWN] * call[0]], dict.fromkeys(call[1], UNKNOWN))

    def _said(self, value: Any, call: Sequence[Any]) -> str:
        body = self._code.code(value) if self._has_reason(value) else None
        if body is None or not isinstance(body.node, ast.FunctionDef) or body.node.decorator_list:
            return ""
        error = self._refusal(body, call)
        if error is None or _is_meant(error):
            return ""
        parameters = body.node.args
        named = [one.arg for one in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)]
        function = self._checks.defined(body.module, body.node)
        whatever = self._checks.refusal(function, [], dict.fromkeys(named, UNKNOWN))
        is_own_fault = whatever is None and error.name not in _CHOICES  # of what this call does not give
        return error.message.rstrip(": ") if is_own_fault or _is_retired(body.node, error) else ""

    def _has_reason(self, value: Any) -> bool:
        """Whether a definition has anything near it that raises, so that it is worth following."""
        text = self._store.text(value[1])
        names = self._store.definitions(value[1]).get("names", {})
        wanted = ["f" if value[0] == "function" else "c", value[2]]
        name = next((one for one in names if names[one] == wanted), None)
        if name is None:
            return False
        kind = b"def" if value[0] == "function" else b"class"  # a pattern that begins with plain text is found fast
        found = re.search(rb"%s %s\b" % (kind, name.encode()), text)
        return found is not None and _REASON.search(text, found.start(), found.start() + _NEAR) is not None


def _marks(node: ast.FunctionDef) -> set[str]:
    """What a definition is decorated with, as it is written."""
    return {ast.unparse(one) for one in node.decorator_list}


def _is_meant(error: Refused) -> bool:
    """Whether an exception is what a function is there for."""
    return error.name in _MEANT and not (error.name == _ABSTRACT and _RETIRED.search(error.message))


def _is_retired(node: ast.FunctionDef, error: Refused) -> bool:
    """Whether a function that always raises says that it is no longer there for use."""
    return _RETIRED.search(f"{error.name} {error.message} {ast.unparse(node)}") is not None
