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
``ImportError``, references in one that catches ``AttributeError``, both under an ``if`` that asks for a version,
``hasattr`` or ``TYPE_CHECKING`` and after an import that failed, and whatever is used through a name that was bound in
such a place: unless the pattern speaks of something else (``lib`` may be missing, ``lib.save`` is used where it is
not), and of every alternative.
"""

from __future__ import annotations

import weakref
from fnmatch import fnmatchcase

from envdoctor.dotted import expression
from envdoctor.probes.source import texts
from envdoctor.probes.source.answers import Answers
from envdoctor.probes.source.cache import Cache
from envdoctor.probes.source.link import Linker
from envdoctor.probes.source.mentions import Mentions
from envdoctor.probes.source.shown import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from envdoctor.probes.source.asked import Asked
    from envdoctor.probes.source.mentions import Project
    from envdoctor.probes.source.uses import Fact

    Answer = dict[str, list[Any]]

#: Bytes and files that are looked into at once.
_BATCH = 16 << 20
_FILES = 1024
#: Characters of texts that are kept.
_MOST_HELD = 32 << 20
_GLOB = frozenset("*?[")
_cache = Cache()
_sources: weakref.WeakKeyDictionary[Any, Source] = weakref.WeakKeyDictionary()


def uses(project: Project, pattern: str) -> Answer:
    """Every use of a name that matches a dotted glob; ``*`` stays in one segment, ``**`` is any number of them."""
    return _of(project).uses(pattern)


def expect(project: Project, patterns: Sequence[str]) -> None:
    """Look into the files for several patterns at once, before :func:`uses` is asked for each."""
    _of(project).expect(patterns)


def _of(project: Project) -> Source:
    source = _sources.get(project)
    if source is None:
        source = _sources[project] = Source(project)
    return source


class Source:
    """The source of one project; each file is read when a pattern's words are in it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._texts: dict[str, texts.Text | None] = {}
        #: Characters of texts that are kept, but for notebooks, which cost more to make.
        self._held = 0
        self._gaps: dict[str, str] = {}
        self._facts: dict[tuple[str, Asked], dict[str, list[Fact]]] = {}
        self._linked: dict[tuple[str, str], str] = {}
        self._exports: dict[str, dict[str, Any]] = {}
        self._linker: Linker | None = None
        self._own: dict[str, bool] = {}
        self._mentions: Mentions | None = None
        self._mentioned: dict[str, list[str]] = {}
        #: The patterns that were announced and that a file mentions, and the project's roots: for others, it is read in
        #: full.
        self._asked: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._notebooks: list[str] | None = None
        self._answers: Answers | None = None

    def uses(self, pattern: str) -> Answer:
        """As the function of the same name."""
        answer = self._remembered().get(pattern)
        if answer is None:
            answer = self._search(_plain(pattern))
            self._remembered().put(pattern, answer)
        return answer

    def expect(self, patterns: Sequence[str]) -> None:
        """As the function of the same name."""
        missing = [_plain(pattern) for pattern in patterns if self._remembered().get(pattern) is None]
        self._mention(missing)
        asked: dict[str, set[str]] = {}
        for pattern in missing:
            for file in self._mentioning(pattern):
                asked.setdefault(file, set()).add(pattern)
        roots = self._link().tops
        self._asked = {file: (frozenset(some), roots) for file, some in asked.items()}
        for batch in _batches(sorted(asked), self._project):
            texts_ = [(file, text.source) for file in batch if (text := self._text(file)) is not None]
            _cache.prepare([(source, self._asked[file]) for file, source in texts_])
            self._expect_exports(file for file, _ in texts_)
        for pattern in missing:
            self.uses(pattern)

    def _expect_exports(self, files: Iterable[str]) -> None:
        """Look into the files that define what others use."""
        defining = set()
        for file in files:
            text = self._text(file)
            facts = self._read(file, text, self._asked[file], []) if text is not None else {}
            for kind, name, *_ in (use for uses_ in facts.values() for use in uses_):
                other = self._link().defined_in(name, file) if kind != "import" else None
                if other is not None:
                    defining.add(other)
        texts_ = [self._text(file) for file in sorted(defining)]
        _cache.prepare([(text.source, None) for text in texts_ if text is not None])

    def _remembered(self) -> Answers:
        if self._answers is None:
            self._answers = Answers(self._project)
        return self._answers

    def _search(self, pattern: str) -> Answer:
        found = []
        gaps: list[str] = []
        for file in self._mentioning(pattern):
            found += self._in(file, pattern, gaps)
        _cache.tidy()
        return {"found": found, "gaps": gaps}

    def _mentioning(self, pattern: str) -> list[str]:
        """The files in which a pattern may match."""
        if pattern not in self._mentioned:
            self._mention([pattern])
        return self._mentioned[pattern]

    def _mention(self, patterns: Sequence[str]) -> None:
        """Find the files in which each of some patterns may match."""
        if self._notebooks is None:
            self._notebooks = [name for name in self._project.files() if name.endswith(".ipynb")]
        split = {one: one.split(".") for one in patterns if one not in self._mentioned}
        worded = {one: segments for one, segments in split.items() if any(map(_GLOB.isdisjoint, segments))}
        if worded and self._mentions is None:
            self._mentions = Mentions(self._project)
        found = dict(zip(worded, self._mentions.of_several(list(worded.values())))) if self._mentions else {}
        for pattern, segments in split.items():
            files = found.get(pattern)
            if files is None:
                files = [name for name in self._project.files() if name.endswith(".py")]
            self._mentioned[pattern] = sorted([*files, *self._in_notebooks(segments)])

    def _in_notebooks(self, segments: Sequence[str]) -> list[str]:
        """The notebooks that hold all words of a pattern."""
        words = [one for one in segments if _GLOB.isdisjoint(one)]
        texts_ = [(name, self._text(name)) for name in self._notebooks or ()]
        return [name for name, text in texts_ if text and all(word in text.source for word in words)]

    def _text(self, file: str) -> texts.Text | None:
        """A file's text, which is kept while there is room: many patterns ask for the same file."""
        if file in self._texts:
            return self._texts[file]
        text = None
        data = self._project.read(file)
        try:
            text = texts.read(file, data) if data else None
        except texts.TextError as error:
            self._gaps[file] = f"{file} is not looked into: {error}"
        length = 0 if text is None or file.endswith(".ipynb") else len(text.source)
        if self._held + length <= _MOST_HELD:
            self._held += length
            self._texts[file] = text
        return text

    def _in(self, file: str, pattern: str, gaps: list[str]) -> list[Any]:
        text = self._text(file)
        if text is None:
            gaps += [self._gaps[file]] if file in self._gaps else []
            return []
        gaps += [f"{file}, {gap}" for gap in text.gaps]
        wanted = _end(pattern)
        announced = self._asked.get(file)
        asked = announced if announced is not None and pattern in announced[0] else None
        facts = self._read(file, text, asked, gaps)
        found = []
        for end in [wanted] if wanted in facts else [one for one in facts if fnmatchcase(one, wanted)]:
            for use in facts[end]:
                name = self._matched(use, file, pattern)
                if name is not None and _unprovided(use, pattern):
                    found.append((use, name))
        return self._full(sorted(found, key=lambda one: (one[0][2], one[0][0], one[0][1])), file, text, asked)

    def _read(self, file: str, text: texts.Text, asked: Asked, gaps: list[str]) -> dict[str, list[Fact]]:
        """The uses of a file by their last segments."""
        facts = self._facts.get((file, asked))
        if facts is None:
            answer = _cache.ask("facts", text.source, asked)
            if "reason" in answer:
                where = f"{file}:{answer['line']}" if answer["line"] else file
                self._gaps[file] = f"{where} is not looked into: {answer['reason']}"
            facts = self._facts[file, asked] = answer.get("value", {})
        if file in self._gaps:
            gaps.append(self._gaps[file])
        return facts

    def _matched(self, use: Fact, file: str, pattern: str) -> str | None:
        """The name under which a use matches, following names of the project to where they are defined."""
        name: str = use[1]
        root, wanted = name.partition(".")[0], pattern.partition(".")[0]
        if root != wanted and _GLOB.isdisjoint(wanted) and (use[0] == "import" or not self._concerns(name)):
            return None
        if name[0] != "." and expression(pattern).fullmatch(name):
            return name
        if use[0] == "import" or not self._concerns(name):
            return None
        linked = self._linked.get((name, file))
        if linked is None:
            linked = self._linked[name, file] = self._link().name(name, file)
        return linked if expression(pattern).fullmatch(linked) else None

    def _concerns(self, name: str) -> bool:
        root, _, _ = name.partition(".")
        known = self._own.get(root)
        if known is None:
            known = self._own[root] = self._link().concerns(name)
        return known

    def _link(self) -> Linker:
        if self._linker is None:
            self._linker = Linker(self._project.files(), self._exported)
        return self._linker

    def _exported(self, file: str) -> dict[str, Any]:
        if file not in self._exports:
            text = self._text(file)
            self._exports[file] = _cache.ask("exports", text.source).get("value", {}) if text else {}
        return self._exports[file]

    def _full(
        self, uses_: Sequence[tuple[Fact, str]], file: str, text: texts.Text, asked: Asked
    ) -> list[dict[str, Any]]:
        """Uses with every field of their kinds."""
        numbers = {str(use[4]) for use, _ in uses_ if use[0] != "import"}
        details = _cache.ask("details", text.source, asked).get("value", {}) if numbers else {}
        if not numbers.issubset(details):  # one that another file of the project names differently
            details = _cache.ask("details", text.source).get("value", {})
        answers = []
        for (kind, _, line, guarded, number, *_), name in uses_:
            detail: dict[str, Any] = (
                details.get(str(number), {}) if kind != "import" else {"text": Text(text.source).line(line)}
            )
            answer: dict[str, Any] = {"kind": kind, "name": name, "file": file, "line": line}
            answer["guarded"] = guarded or text.cells is not None
            answer["text"] = detail.get("text", "")
            answer["literals"] = detail.get("literals", [])
            if text.cells is not None:
                answer["line"], answer["cell"] = None, text.cell(line)
            if kind == "call":
                argument = self._link().argument
                answer["arguments"] = [argument(one, file) for one in detail.get("arguments", ())]
                answer["keywords"] = {key: argument(one, file) for key, one in detail.get("keywords", {}).items()}
                answer["open"] = detail.get("open", False)
            answers.append(answer)
        return answers


def _plain(pattern: str) -> str:
    while "**.**" in pattern:
        pattern = pattern.replace("**.**", "**")
    return pattern


def _end(pattern: str) -> str:
    """What the last segment of a name has to fit."""
    return pattern.rpartition(".")[2].replace("**", "*")


def _batches(files: Iterable[str], project: Project) -> Iterator[list[str]]:
    """Files, as many at a time as fit into memory with what is made of them."""
    batch: list[str] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(project.read(file))
        if size > _BATCH or len(batch) == _FILES:
            yield batch
            batch, size = [], 0
    yield batch


def _unprovided(use: Fact, pattern: str) -> bool:
    """Whether the code does not itself provide for the absence of what a pattern speaks of."""
    spared, among = use[5:] or ((), ())
    meant = expression(pattern).fullmatch
    return not any(map(meant, spared)) and all(map(meant, among))
