"""What a project's source calls, refers to and imports, by qualified name. Nothing is imported or run.

The stdlib's ``ast`` with name resolution of its own, rather than a structural-search library: a pattern search sees
``P(2, env)``, while a rule asks what ``P`` and ``env`` are after aliases, assignments and calls of the project's own
functions.

``uses`` answers with ``found``, a list of::

    {"kind": "import" | "name" | "call", "name": "lib.envs.Parallel", "file": "train.py", "line": 12,
     "guarded": False, "text": "Parallel(2, env)", "arguments": [Arg], "keywords": {"name": Arg}, "open": False}

``open`` says that ``*args`` or ``**kwargs`` may add arguments, ``guarded`` that importing the file does not get there.
In a notebook ``line`` is ``None`` and ``cell`` the number of the code cell. An Arg is::

    {"is": ["instance"], "made_by": ["train.MyEnv"], "names": [], "text": "env",
     "carries": [{"name": "socket.socket", "line": 3, "via": "self.socket"}]}

with ``value`` where it is one literal constant, and, for a dictionary, its ``entries`` as Args by key and ``open``
where there may be more. What the code itself provides for is left out: imports in a ``try`` that catches
``ImportError``, references in one that catches ``AttributeError``, and both under an ``if`` that asks for a version,
``hasattr`` or ``TYPE_CHECKING``.
"""

from __future__ import annotations

import weakref
from fnmatch import fnmatchcase

from envdoctor.probes.source import texts
from envdoctor.probes.source.cache import Cache
from envdoctor.probes.source.link import Linker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    class Project(Protocol):
        """The files of a project, by name."""

        def files(self) -> list[str]:
            """Give all names."""
            ...

        def mentioning(self, word: bytes) -> list[str]:
            """Give the source files that contain a word."""
            ...

        def read(self, name: str) -> bytes:
            """Give the bytes of a file."""
            ...

    Answer = dict[str, list[Any]]

_cache = Cache()
_sources: weakref.WeakKeyDictionary[Any, Source] = weakref.WeakKeyDictionary()


def uses(project: Project, pattern: str) -> Answer:
    """Every use of a name that matches a dotted glob; ``*`` stays in one segment, ``**`` is any number of them."""
    source = _sources.get(project)
    if source is None:
        source = _sources[project] = Source(project)
    return source.uses(pattern)


def matches(pattern: Sequence[str], name: Sequence[str]) -> bool:
    """Whether the segments of a name match those of a pattern."""
    if not pattern:
        return not name
    if pattern[0] == "**":
        return any(matches(pattern[1:], name[skipped:]) for skipped in range(len(name) + 1))
    return bool(name) and fnmatchcase(name[0], pattern[0]) and matches(pattern[1:], name[1:])


class Source:
    """The source of one project; each file is read when a pattern's words are in it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._texts: dict[str, texts.Text | None] = {}
        self._gaps: dict[str, str] = {}
        self._linker: Linker | None = None

    def uses(self, pattern: str) -> Answer:
        """As the function of the same name."""
        segments = pattern.split(".")
        while "**.**" in pattern:
            pattern = pattern.replace("**.**", "**")
            segments = pattern.split(".")
        found = []
        gaps: list[str] = []
        for file in self._mentioning([one for one in segments if not set("*?[") & set(one)]):
            found += self._in(file, segments, gaps)
        _cache.tidy()
        return {"found": found, "gaps": gaps}

    def _mentioning(self, words: Sequence[str]) -> list[str]:
        """The files that contain every literal word of a pattern."""
        notebooks = [name for name in self._project.files() if name.endswith(".ipynb")]
        if not words:
            return [name for name in self._project.files() if name.endswith(".py")] + notebooks
        lists = [self._project.mentioning(word.encode()) for word in words]
        common = set(lists[0]).intersection(*lists[1:])
        texts_ = [(name, self._text(name)) for name in notebooks]
        common.update(name for name, text in texts_ if text and all(word in text.source for word in words))
        return sorted(common)

    def _text(self, file: str) -> texts.Text | None:
        """A file's text; only that of notebooks is worth keeping."""
        if file in self._texts:
            return self._texts[file]
        text = None
        data = self._project.read(file)
        try:
            text = texts.read(file, data) if data else None
        except texts.TextError as error:
            self._gaps[file] = f"{file} is not looked into: {error}"
        if file.endswith(".ipynb") or text is None:
            self._texts[file] = text
        return text

    def _in(self, file: str, pattern: Sequence[str], gaps: list[str]) -> list[Any]:
        text = self._text(file)
        if text is None:
            gaps += [self._gaps[file]] if file in self._gaps else []
            return []
        gaps += [f"{file}, {gap}" for gap in text.gaps]
        answer = _cache.ask("facts", text.source)
        if "reason" in answer:
            where = f"{file}:{answer['line']}" if answer["line"] else file
            gaps.append(f"{where} is not looked into: {answer['reason']}")
            return []
        found = []
        for use in answer["value"]:
            name = self._matched(use, file, pattern)
            if name is not None:
                found.append(self._full(use, name, file, text))
        return found

    def _matched(self, use: dict[str, Any], file: str, pattern: Sequence[str]) -> str | None:
        """The name under which a use matches, following names of the project to where they are defined."""
        name: str = use["name"]
        segments = name.split(".")
        if name[0] != "." and matches(pattern, segments):
            return name
        if not fnmatchcase(segments[-1], pattern[-1].replace("**", "*")):
            return None
        linker = self._link()
        if use["kind"] == "import" or not linker.concerns(name):
            return None
        name = linker.name(name, file)
        return name if matches(pattern, name.split(".")) else None

    def _link(self) -> Linker:
        if self._linker is None:
            self._linker = Linker(self._project.files(), self._exported)
        return self._linker

    def _exported(self, file: str) -> dict[str, Any]:
        text = self._text(file)
        answer: dict[str, Any] = _cache.ask("exports", text.source).get("value", {}) if text else {}
        return answer

    def _full(self, use: dict[str, Any], name: str, file: str, text: texts.Text) -> dict[str, Any]:
        """A use with every field of its kind."""
        answer = {"kind": use["kind"], "name": name, "file": file, "line": use["line"]}
        answer["guarded"] = use.get("guarded", False) or text.cells is not None
        answer["text"] = use["text"]
        if text.cells is not None:
            answer["line"], answer["cell"] = None, text.cell(use["line"])
        if use["kind"] == "call":
            argument = self._link().argument
            answer["arguments"] = [argument(one, file) for one in use.get("arguments", ())]
            answer["keywords"] = {key: argument(one, file) for key, one in use.get("keywords", {}).items()}
            answer["open"] = use.get("open", False)
        return answer
