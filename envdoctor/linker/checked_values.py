"""What releases, metadata, the system and Python are worth in code that is followed."""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.engine.installed_requirements import normalise
from envdoctor.linker import operations, release_values
from envdoctor.linker.branches import known_value
from envdoctor.linker.evaluation import UNKNOWN, Namespace, Taken, Undecided
from envdoctor.linker.module_getattr import Evaluator
from envdoctor.linker.operations import Builtin
from envdoctor.linker.release_values import Installed, Release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.linker.binaries import Binaries
    from envdoctor.linker.world import World

    #: Two values that were compared, how, and what came out; or just that Python was asked about.
    Compared = tuple[Any, ...]

_VERSIONS = {"__version__", "VERSION", "version", "version_info", "__version_info__"}
_METADATA = {"importlib.metadata.version", "importlib_metadata.version"}
_DISTRIBUTION = {"pkg_resources.get_distribution", "importlib.metadata.distribution", "importlib_metadata.distribution"}

_WRITTEN = re.compile(rb"(?m)^__version__ *(?:: *str *)?= *[\"']([\w.+!-]+)[\"']")


class Releases(Evaluator):
    """Follows code that asks for releases; ``natives`` knows which shared libraries the system has."""

    def __init__(self, world: World, natives: Binaries | None = None) -> None:
        super().__init__(world.layout, world.store, world.resolver)
        self.target = world.target
        self._natives = natives if world.target.system == "linux" else None
        #: The releases that were asked for, the last one last.
        self.asked_releases: dict[str, str] = {}
        self.compared: Compared | None = None
        #: What was compared where a name got its value.
        self.origins: dict[str, Compared] = {}
        #: A library that was looked for and is not there.
        self.lacking = ""

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """The value as it is followed; of a name of a version what the module says, or else the metadata."""
        if isinstance(value, Taken) and value.name == "__version__" and "." not in value.module:
            return self._version(value, self._written(value.module))
        found = super().value(value)
        return self._version(value, found) if isinstance(value, Taken) and value.name in _VERSIONS else found

    def _written(self, module: str) -> Any:
        """The version that a module's source has as a text; unknown where it has none: metadata has it then."""
        found = _WRITTEN.search(self._store.text(module)) if module in self._layout.modules else None
        return found[1].decode() if found else UNKNOWN

    def _version(self, taken: Taken, found: Any) -> Any:
        owner = self._layout.owner(taken.module)
        version = self._layout.versions.get(owner, "")
        if version and operations.is_unknown(found):
            found = version if "." not in taken.module and taken.name == "__version__" else UNKNOWN
        numbers = release_values.numbers_of(found)
        if version and numbers:
            self._note(owner, found if isinstance(found, str) else ".".join(map(str, numbers)))
        return found

    def inside(self, whole: Any, name: str) -> Any:
        """An attribute; of a module's version, the value."""
        if isinstance(whole, (Release, Installed)):
            return whole.attribute(name)
        if isinstance(whole, Taken) and not whole.name and name in _VERSIONS:
            found = self.value(Taken(whole.module, name))
            return UNKNOWN if operations.is_unknown(found) else found
        if isinstance(whole, Taken) and whole.module in {"sys", "os"} and not whole.name:
            value = known_value(ast.Attribute(ast.Name(whole.module), name), self.target)
            return UNKNOWN if value is None else value
        return super().inside(whole, name)

    def _lookup(self, name: str, scope: Namespace) -> Any:
        found = super()._lookup(name, scope)
        is_python = found is UNKNOWN and name in release_values.BUILTIN and not self._is_bound(name, scope)
        return Builtin(name) if is_python else found

    @staticmethod
    def _is_bound(name: str, scope: Namespace) -> bool:
        inner: Namespace | None = scope
        while inner is not None and name not in inner.names:
            inner = inner.parent
        return inner is not None

    # --- expressions ------------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, scope: Namespace) -> Any:
        """The value of an expression; besides what others follow, comparisons of versions and parts of texts."""
        if isinstance(node, ast.Compare):
            return self._compare(node, scope)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._slice(node, node.slice, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self.evaluate(node.operand, scope)
            return -number if isinstance(number, int) else UNKNOWN
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            value = known_value(node, self.target)
            if value is not None:
                return value
        if isinstance(node, ast.Attribute) and node.attr in release_values.OF_TEXT:
            whole = self.value(self.evaluate(node.value, scope))
            return Builtin(node.attr, whole) if isinstance(whole, str) else UNKNOWN
        return super().evaluate(node, scope)

    def _compare(self, node: ast.Compare, scope: Namespace) -> Any:
        values = [self.value(self.evaluate(one, scope)) for one in (node.left, *node.comparators)]
        for left, kind, right in zip(values, node.ops, values[1:]):
            held = release_values.ordered(left, kind, right)
            if held is UNKNOWN:
                return super().evaluate(node, scope)
            if release_values.numbers_of(left) and release_values.numbers_of(right):
                self.compared = (left, kind, right, held)
            if not held:
                return False
        return True

    def _slice(self, node: ast.Subscript, cut: ast.Slice, scope: Namespace) -> Any:
        value = known_value(node, self.target)
        if value is not None:
            return value
        whole = self.value(self.evaluate(node.value, scope))
        ends = [None if one is None else self.evaluate(one, scope) for one in (cut.lower, cut.upper, cut.step)]
        fits = isinstance(whole, (str, list)) or type(whole) is tuple
        return whole[slice(*ends)] if fits and all(one is None or isinstance(one, int) for one in ends) else UNKNOWN

    def call(self, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The value that a function returns, those known that ask for releases."""
        dotted = ".".join(filter(None, function)) if isinstance(function, Taken) else ""
        known = [self.value(one) for one in given]
        answers = self._asked(dotted, known[0]) if dotted and known and isinstance(known[0], str) else []
        if answers:
            return answers[0]
        if isinstance(function, Builtin) and not named:
            found = self._mapped(known) if function.name == "map" else release_values.builtin(function, known)
            if found is not None:
                return found
        return super().call(function, given, named)

    def _asked(self, dotted: str, text: str) -> list[Any]:
        """What a function of metadata, versions or libraries returns for a text, as a list of one; else nothing."""
        if release_values.makes_release(dotted):
            return [Release(text)]
        if dotted in _METADATA | _DISTRIBUTION:
            name = normalise(text)
            version = self._layout.versions.get(name)
            if not version:
                raise Undecided
            self._note(name, version)
            return [version if dotted in _METADATA else Installed(version)]
        if dotted == "ctypes.util.find_library":
            lacks = self._natives is not None and self._natives.machine.has(text) is False
            self.lacking = self.lacking or (text if lacks else "")
            return [None if lacks else f"lib{text}.so"]
        return []

    def _note(self, owner: str, version: str) -> None:
        """Take note of a release that was asked for, as the last one."""
        self.asked_releases.pop(owner, None)
        self.asked_releases[owner] = version

    def _mapped(self, known: Sequence[Any]) -> Any:
        """The values that ``map`` gives, as a list."""
        rows = known[1] if len(known) == len(("function", "values")) else None
        return [self.call(known[0], [one], {}) for one in rows] if isinstance(rows, (list, tuple)) else UNKNOWN
