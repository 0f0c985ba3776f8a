"""Names that a module does not bind, and that something else may give it when it runs."""

from __future__ import annotations

import os

from envdoctor.linker.summary import WRITES_GLOBALS
from envdoctor.linker.verdicts import no, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.linker.module_files import Layout
    from envdoctor.linker.run_time import RunTime
    from envdoctor.linker.store import Store
    from envdoctor.linker.summary import Summary
    from envdoctor.linker.verdicts import Answer
    from envdoctor.linker.word_search import Words


class FilledNames:
    """Answers for such names: why a module may have one, and whether it does."""

    def __init__(self, layout: Layout, store: Store, run_time: RunTime, words: Words) -> None:
        self._layout, self._store, self._run_time, self._words = layout, store, run_time, words

    def doubt(self, summary: Summary, module: str, name: str, *, may_make: bool) -> str:
        """The reason for which a module may have a name that it does not bind; empty for none.

        ``may_make`` says that it has a ``__getattr__`` of which it is not known what it answers.
        """
        reason = "a module-level __getattr__" if may_make else self._filled_by(summary, module)
        return "named in __all__" if name in (self._store.definitions(module).get("all") or ()) else reason

    def _filled_by(self, summary: Summary, module: str) -> str:
        """The reason for which a module may have names that it does not bind; empty for none."""
        if summary.get("dynamic"):
            return str(summary["dynamic"][0])
        return "put into sys.modules or loaded by a loader" if self._run_time.may_fill(module) else ""

    def answer(self, summary: Summary, module: str, name: str, *, weak: bool) -> Answer:
        """The answer where there is no such reason: a no, unless a path or a compiled module may bring the name."""
        elsewhere = bool(summary.get("path"))
        if elsewhere and (not name[:1].isupper() or self._layout.on_disk(f"{module}.{name}")):
            return unknown("a package whose modules may be elsewhere")
        if self._run_time.is_set_by_native(module, name) or self._is_filled_as_a_stub_says(module):
            return unknown("set from outside")
        return no("name", module, name, weak=weak or elsewhere)

    def _is_filled_as_a_stub_says(self, module: str) -> bool:
        """Whether a stub is beside a source file that binds nothing: another module gives it what the stub lists."""
        names = self._store.definitions(module).get("names", {})
        return not any(name[:2] != "__" for name in names) and os.path.exists(f"{self._layout.modules[module].path}i")

    def unless_written_nowhere(self, module: str, name: str, reason: str) -> Answer:
        """The answer where there is a reason: unknown, or a weak no for a name that its distribution never writes."""
        if reason == WRITES_GLOBALS and self._run_time.is_no_key(self._store.text(module), module, name):
            return no("name", module, name, weak=True)
        parts = name.split("_") if "globals()" in reason else [name]  # which may be put together in a loop
        if all(self._words.anywhere(self._layout.modules[module].owner, part) for part in parts):
            return unknown(reason)
        return no("name", module, name, weak=True)
