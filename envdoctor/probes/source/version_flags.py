"""The names by which a file remembers which release is installed: ``IS_NEW = Version(lib.__version__) >= TWO``."""

from __future__ import annotations

import ast
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: What a name or attribute is called that answers which version there is, or whether something is.
ASKING = {"__version__", "version_info", "Version", "parse_version", "LooseVersion", "hasattr", "find_spec"}
ASKING.update({"__version_info__", "StrictVersion", "NumpyVersion", "signature", "getfullargspec"})
ASKING.update({"TYPE_CHECKING", "PY2", "PY3", "short_version", "full_version", "version_tuple"})
#: Functions and methods that give what they are given in another form.
_FORMS = {"int", "float", "str", "tuple", "list", "map", "bool", "parse", "split", "startswith", "match", "join"}
_METADATA = {"importlib.metadata", "importlib_metadata"}
_VERSION_OF = {f"{module}.version" for module in _METADATA}
#: What is an answer where a part of it is.
_WHOLE = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Subscript, ast.Tuple)
_WORTH_IT = re.compile(r"version|hasattr|find_spec|signature|getfullargspec|compat")


class VersionFlags:
    """Collects these names in the order of a file, of all its scopes; ``source`` says whether any can be there."""

    def __init__(self, source: str) -> None:
        self.names: set[str] = set()
        #: What is imported: modules, for the most part.
        self.modules: set[str] = set()
        #: Other names of the module that gives the version of a distribution.
        self._metadata = {"metadata", "importlib_metadata"}
        self._is_worth_it = _WORTH_IT.search(source) is not None

    def assigned(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        """Note what an assignment gives to names, or to attributes of ``self``."""
        if self._is_worth_it and self._asks(value):
            for target in targets:
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                self.names.update(filter(None, map(name_of, parts)))

    def returned(self, function: str, value: ast.expr) -> None:
        """Note what a function returns."""
        if self._is_worth_it and self._asks(value):
            self.names.add(function)

    def imported(self, module: str, name: str, bound: str) -> None:
        """Note other names of what asks for a version, and what a project keeps in its module of flags."""
        self.modules.add(bound)
        if f"{module}.{name}" in _VERSION_OF or name in ASKING or module.rpartition(".")[2].endswith("compat"):
            self.names.add(bound)
        if f"{module}.{name}".lstrip(".") in _METADATA:
            self._metadata.add(bound)

    def says(self, node: ast.AST) -> bool:
        """Whether a part of a test is such a name, or a ``getattr`` of a module that says what else it gives."""
        if isinstance(node, ast.Call):
            is_open = getattr(node.func, "id", "") == "getattr" and len(node.args) == 3  # noqa: PLR2004 - and a default
            return self._is_release(node) or (is_open and getattr(node.args[0], "id", "") in self.modules)
        return name_of(node) in self.names

    def _asks(self, node: ast.expr) -> bool:
        """Whether a value is an answer about a version, or about what there is."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            is_known = name_of(node) in self.names or _word(node) in ASKING
            return is_known or _is_version_of_module(node) or self._asks_inside(node)
        if isinstance(node, ast.Call):
            word = _word(node.func)
            is_known = self._is_release(node) or word in ASKING or word in self.names
            return is_known or (word in _FORMS and self._asks_inside(node))
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return self._asks(node.generators[0].iter)
        return isinstance(node, _WHOLE) and self._asks_inside(node)

    def _is_release(self, node: ast.Call) -> bool:
        """Whether it is a call of ``importlib.metadata.version``."""
        return _word(node.func) == "version" and _word(getattr(node.func, "value", node)) in self._metadata

    def _asks_inside(self, node: ast.expr) -> bool:
        return any(self._asks(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))


def name_of(node: ast.AST) -> str | None:
    """A plain name, or the attribute of ``self`` or ``cls``."""
    if isinstance(node, ast.Attribute):
        return node.attr if getattr(node.value, "id", None) in {"self", "cls"} else None
    return getattr(node, "id", None)


def _is_version_of_module(node: ast.expr) -> bool:
    """Whether it is ``lib.version.version``."""
    return _word(node) == "version" == _word(getattr(node, "value", node)) and isinstance(node, ast.Attribute)


def _word(node: ast.AST) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", ""))
