"""What a condition or an ``except`` clause provides for."""

from __future__ import annotations

import ast

from envdoctor.probes.source.bindings import ATTRIBUTES, IMPORTS

_FAILS = {"ImportError": IMPORTS, "ModuleNotFoundError": IMPORTS, "Exception": IMPORTS, "BaseException": IMPORTS}
_FAILS["AttributeError"] = ATTRIBUTES
_ASKING = {"__version__", "version_info", "Version", "parse_version", "LooseVersion", "hasattr", "find_spec"}
_ASKING.update({"TYPE_CHECKING", "PY2", "PY3"})
_MISSING = {"ImportError", "ModuleNotFoundError", "AttributeError"}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def caught(kind: ast.expr | None) -> int:
    """What an ``except`` clause provides for, by the names of what it catches."""
    if kind is None:
        return IMPORTS
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    found = 0
    for name in names:
        found |= _FAILS.get(getattr(name, "id", ""), 0)
    return found


def instead_of(kind: ast.expr | None) -> int:
    """What the body of an ``except`` clause provides for: after an import that failed, all that it uses instead."""
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    named = any(getattr(name, "id", "") in _MISSING for name in names)
    return IMPORTS | ATTRIBUTES if named else caught(kind)


def main_guard(test: ast.expr) -> tuple[bool, bool]:
    """Whether the body, and whether the ``else``, runs only as the main program."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(main_guard(part)[0] for part in test.values), False
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False, False
    sides = (test.left, test.comparators[0])
    named = any(getattr(side, "id", None) == "__name__" for side in sides)
    main = any(isinstance(side, ast.Constant) and side.value in {"__main__", "__mp_main__"} for side in sides)
    if not (named and main):
        return False, False
    return isinstance(test.ops[0], ast.Eq), isinstance(test.ops[0], ast.NotEq)


def spared_by(test: ast.expr) -> int:
    """What an ``if`` provides for: one that asks for a version, for an attribute, or for a type checker."""
    ordered = asked = False
    for node in ast.walk(test):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if isinstance(name, str):
            if name in _ASKING or _is_version_constant(name):
                return IMPORTS | ATTRIBUTES
            asked = asked or name == "version" or name.endswith("_version")
        ordered = ordered or isinstance(node, _ORDERED)
    return IMPORTS | ATTRIBUTES if asked and ordered else 0


def _is_version_constant(name: str) -> bool:
    return name.isupper() and ("VERSION" in name or any(map(str.isdigit, name)))
