"""Build hook for hatchling: a wheel carries the rules compiled, and the words that further rules may use."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RulesHook(BuildHookInterface[Any]):
    """Compiles ``rules/`` and adds the result to the wheel, not to the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what is compiled to a standard wheel; an editable one reads the checkout."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            from envdoctor.rulebase.reader import compile_directory, compile_words

            rules = os.path.join(self.root, "rules")
            asked, silent = compile_directory(rules)
            compiled = {
                "rules.idx": asked,
                "silent.idx": silent,
                "words.json": compile_words(os.path.join(rules, "vocabulary.yaml")),
            }
        finally:
            sys.path.remove(self.root)
        self._directory = tempfile.mkdtemp()
        added = build_data["force_include"]
        for name, content in compiled.items():
            path = os.path.join(self._directory, name)
            with open(path, "wb") as file:
                file.write(content)
            added[path] = f"envdoctor/{name}"
        for name in ("vocabulary.yaml", "schema.json", "history.zip", "import-names.gz"):
            added[os.path.join(self.root, "rules", name)] = f"envdoctor/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the compiled rules that :meth:`initialize` wrote."""
        directory = getattr(self, "_directory", None)
        if directory:
            shutil.rmtree(directory)
