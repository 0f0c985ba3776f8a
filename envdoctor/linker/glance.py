"""What of a module need not be parsed: bodies of functions that take nothing of others and bind nothing for them.

Whether a body matters is told by its words. Of one that does not, what it sets on objects, and names that it asks for,
are read from the text as well.
"""

from __future__ import annotations

import ast
import codecs
import re
import warnings
from typing import TYPE_CHECKING

from envdoctor.probes.source.outline import Outline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    #: The steps below a module, or a name of it, that matter; ``None`` for any, and an empty one for the name itself.
    Asked = Callable[[str, str], Collection[str] | None]

_WORD = re.compile(r"\w+")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]*(\.*[ \t]*[\w.]*)[ \t]+)?import\b[ \t]*(\([^)]*\)|[^\n\\]*(?:\\\r?\n[^\n\\]*)*)", re.MULTILINE
)
_NO_NAME = re.compile(r"#[^\n]*|[()\\]")
_CLASS = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_CALLED = re.compile(r"^[ \t]*(\w+)[ \t]*=[^\n]*\b(?:import_module|__import__)\b", re.MULTILINE)
#: Words that a body is read for, whatever is imported.
_ALWAYS = frozenset({
    "global", "nonlocal", "globals", "exec", "setattr", "meta_path", "__dict__", "__path__", "__all__", "__class__",
    "declare_namespace", "version_info", "import_module", "__import__",
})  # fmt: skip
_IMPORTING = re.compile(r"(?:^|[:;])[ \t]*(?:from|import)\b", re.MULTILINE)
#: A loop or a block that sets an attribute.
_BLOCK = re.compile(r"\b(?:for|as)[ \t]+\(?\w+\.")
#: The end of a store into an attribute, and what stands before it in a line: alone, in a chain, or with a type.
_STORE = re.compile(r"\.(\w+)[ \t]*([-+@%&|^]|\*\*?|//?|<<|>>|:[^=\n]*|[,)\]][^=\n(]*)?=(?!=)")
_OWNER = re.compile(r"(?<![\w.)\]])([A-Za-z_]\w*)((?:\.\w+)*)\Z")
_TARGETS = re.compile(r"[\s\w.,*()\[\]]*\Z")
_HINT = re.compile(r"""\b(hasattr|getattr)\([^'"]*?,\s*['"](\w+)['"]\s*([,)])""")
_COMPARED = re.compile(r"""['"](\w+)['"] +(?:(?:not +)?in|is|[<>]|[!=]=)""")
#: What Python 3 cannot parse although it may stand in a function, beyond what an outline looks for.
_OLD = (re.compile(r"async\b(?!\s+(?:def|for|with)\b)"), re.compile(r"exec +[\"'\w]"), re.compile(r" 0[0-7]+[,)\n]"))
_FAR = 120


def outline(source: bytes, own: str, asked: Asked) -> Outline:
    """The tree of a module below ``own``, without bodies that do not matter. Raises what ``ast.parse`` raises."""
    text = source.removeprefix(codecs.BOM_UTF8).decode()
    return Outline(
        text, None if _mixes(text) or any(one.search(text) for one in _OLD) else _Words(text, own, asked).matters
    )


def parsed(source: bytes, *words: str) -> ast.Module | None:
    """The tree of some source, without functions that have none of some words; nothing where it cannot be parsed."""
    try:
        try:
            return Outline(source.removeprefix(codecs.BOM_UTF8).decode(), words).tree
        except UnicodeDecodeError:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _mixes(text: str) -> bool:
    """Whether lines are indented in two ways."""
    return "\n\t" in text and "\n  " in text


class _Words:
    """The words that make a body of a function matter."""

    def __init__(self, text: str, own: str, asked: Asked) -> None:
        self._foreign = {*_ALWAYS, *_CALLED.findall(text)}
        self._partly: list[tuple[str, Collection[str]]] = []
        self._roots = set(_CLASS.findall(text))  # of stores
        for origin, names in _IMPORT.findall(text):
            for name, bound in _bound(names):
                self._roots.add(bound)
                top = (origin or name).partition(".")[0].strip()
                if top in {"", own}:
                    continue
                below = asked(origin, name) if origin else asked(name if bound != top else top, "")
                if below is None:
                    self._foreign.add(bound)
                elif below:
                    self._partly.append((bound, below))

    def matters(self, body: str) -> bool:
        """Whether a body may take something of others, or bind something for them."""
        words = set(_WORD.findall(body))
        return (
            not self._foreign.isdisjoint(words)
            or any(name in words and ("" in below or not words.isdisjoint(below)) for name, below in self._partly)
            or {"sys", "modules"} <= words
            or ("import" in words and _IMPORTING.search(body) is not None)
            or _BLOCK.search(body) is not None
            or any(root in self._roots for root, _, _ in stores(body))
        )


def _bound(names: str) -> Iterator[tuple[str, str]]:
    """What an import statement names, each with the name that it binds."""
    for one in _NO_NAME.sub("", names.partition(";")[0]).split(","):
        words = one.split()
        if words:
            yield words[0], words[-1] if len(words) > 1 else words[0].partition(".")[0]


def stores(text: str) -> Iterator[tuple[str, bool, str]]:
    """The attributes that some source sets: on a name, whether on something below it, and which."""
    for found in _STORE.finditer(text):
        at = max(text.rfind("\n", 0, found.start()) + 1, found.start() - _FAR)
        owner, how = _OWNER.search(text, at, found.start()), found[2] or ""
        if owner and (how[:1] not in set(":,)]") or _TARGETS.match(text, at, found.start())):
            yield owner[1], bool(owner[2]), found[1]


def hints(text: str) -> Iterator[str]:
    """The names that some source asks for."""
    if "attr(" in text:
        for function, name, behind in _HINT.findall(text):
            if function == "hasattr" or behind == ",":
                yield name
    yield from _COMPARED.findall(text)
