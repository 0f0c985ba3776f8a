"""YAML text as plain data that remembers its lines, and nodes that read it and complain.

A rule needs less than YAML offers: mappings, lists and scalars. Anchors, aliases, tags and deep nesting are refused
from the events of the parser, so nothing can expand; every mistake becomes a :class:`Complaint`.
"""

from __future__ import annotations

import difflib
import math
from typing import Any

import yaml

from envdoctor.model import Record
from envdoctor.yaml_events import TAG, Begun, EventReader, events, first_line, mistake, tag_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import NoReturn

    Where = tuple[Any, ...]

#: A rule file is about thirty lines; this is for mistakes and malice.
SIZE_LIMIT = 256 * 1024
DEPTH_LIMIT = 24


class Complaint(Record):
    """Something wrong with a rule, where, and what to write instead. A ``note`` is said but refuses nothing."""

    path: str
    line: int
    message: str
    note: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Document(Record):
    """The content of a YAML file.

    ``lines`` gives the line of each key path, such as ``("proof", "bad", 0, "python")``; ``plain`` the text of each
    scalar that was written without quotes.
    """

    path: str
    data: Any
    lines: Mapping[Where, int]
    plain: Mapping[Where, str]


def line_of(lines: Mapping[Where, int], where: Where) -> int:
    """The line of a key path, or of the nearest part of it that is in the file."""
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where, 1)


def suggest(word: str, known: Iterable[str]) -> str:
    """Which known word was probably meant, as the end of a sentence."""
    words = sorted(known)
    close = difflib.get_close_matches(word[:40], words, 1)
    return f"did you mean `{close[0]}`?" if close else "known here: " + ", ".join(words)


def shorten(text: str) -> str:
    """A text that fits into a complaint."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."  # noqa: PLR2004 - about half a line


class _Refused(Exception):  # noqa: N818 - it never leaves this file
    """The file cannot be read any further."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class _Builder(EventReader):
    """Builds plain data; a place is a key path."""

    def __init__(self, path: str) -> None:
        super().__init__(DEPTH_LIMIT, ())
        self.path = path
        self.lines: dict[Where, int] = {(): 1}
        self.plain: dict[Where, str] = {}
        self.complaints: list[Complaint] = []

    def take_text(self, text: str) -> None:
        for event in events(text):
            if self.documents and isinstance(event, yaml.DocumentStartEvent):
                raise _Refused(first_line(event), "a second document begins here; write one rule per file")
            self.take(event)

    def begin(self, event: Any) -> Where:
        if self.at_key():
            raise _Refused(first_line(event), "a key must be a plain word")
        return self.place(event)

    def place(self, event: Any) -> Where:
        """The key path of a value that begins with ``event``."""
        if event.anchor is not None:
            what = "anchors (&name) and aliases (*name) are refused in rules; write the value out"
            raise _Refused(first_line(event), what)
        if event.tag is not None:
            what = f"the tag {shorten(event.tag)} is refused in rules; write the value without it"
            raise _Refused(first_line(event), what)
        around = self.open[-1]
        if around.mapping:
            return (*around.where, around.items[-1])
        if len(self.open) == 1:
            return ()
        where: Where = (*around.where, len(around.items))
        self.lines[where] = first_line(event)
        return where

    def end(self, done: Begun) -> Any:
        """A list, or a mapping by the text of its keys, of which the first of two that are the same counts."""
        if not done.mapping:
            return done.items
        return {key: value for key, value in zip(done.items[::2], done.items[1::2]) if isinstance(key, str)}

    def scalar(self, event: Any) -> Any:
        """A value, as YAML 1.1 resolves it where it has no quotes."""
        where = self.place(event)
        text: str = event.value
        if not text.isascii() and text != text.encode("utf-8", "replace").decode():
            self.complain(first_line(event), "the text holds half a surrogate pair; write the character itself")
            return ""
        if event.style:
            return text
        self.plain[where] = text
        convert = _SCALARS.get(tag_of(text))
        return convert(text) if convert else text

    def key(self, event: Any) -> Any:
        """The text of a key, or more than that where it is there already."""
        key = event.value
        if event.anchor is not None or event.tag is not None:
            raise _Refused(first_line(event), "a key must be a plain word")
        where = (*self.open[-1].where, key)
        if where not in self.lines:
            self.lines[where] = event.start_mark.line + 1
            return key
        self.complain(first_line(event), f"`{shorten(key)}` is here twice; keep one of them")
        return key, "again"

    def alias(self, event: Any) -> Any:
        """Refuse it, as an anchor is."""
        return self.begin(event)

    def too_deep(self, event: Any) -> NoReturn:
        raise _Refused(first_line(event), f"values nest deeper than {DEPTH_LIMIT} levels; write a flatter condition")

    def complain(self, line: int, message: str) -> None:
        """Note a mistake that does not end the reading."""
        self.complaints.append(Complaint(path=self.path, line=line, message=message))


def _integer(text: str) -> int | str:
    try:
        return int(text.replace("_", "")) if len(text) <= 20 else text  # noqa: PLR2004 - no entry needs more digits
    except ValueError:
        return text


def _decimal(text: str) -> float | str:
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        return text
    return value if math.isfinite(value) else text


_SCALARS: dict[str, Callable[[str], Any]] = {
    TAG + "bool": lambda text: text.lower() in {"true", "yes", "on", "y"},
    TAG + "null": lambda _: None,
    TAG + "int": _integer,
    TAG + "float": _decimal,
}


def read_document(text: str, path: str) -> tuple[Document | None, list[Complaint]]:
    """Read a YAML file into plain data. No text makes it raise: what is wrong comes back as complaints."""
    if len(text) > SIZE_LIMIT:
        return None, [Complaint(path=path, line=1, message=_TOO_LARGE)]
    builder = _Builder(path)
    try:
        builder.take_text(text)
    except _Refused as refused:
        builder.complain(refused.line, refused.message)
    except yaml.MarkedYAMLError as error:
        line, problem = mistake(error)
        builder.complain(line or 1, f"this is not YAML: {_explain(problem, text, line or 1)}")
    except yaml.YAMLError:
        builder.complain(_unprintable_line(text), "the file holds a character that YAML does not allow; remove it")
    except UnicodeError:
        builder.complain(_unprintable_line(text), "the file is not valid Unicode text; save it as UTF-8")
    else:
        if builder.documents:
            (data,) = builder.documents
            return Document(path=path, data=data, lines=builder.lines, plain=builder.plain), builder.complaints
        builder.complain(1, "the file is empty; `envdoctor rules new ID` writes a rule to start from")
    return None, builder.complaints


_TOO_LARGE = f"the file is larger than {SIZE_LIMIT // 1024} kB; a rule has about thirty lines, so split it"


def _explain(problem: str, text: str, line: int) -> str:
    lines = text.splitlines()
    source = lines[line - 1] if line <= len(lines) else ""
    if "\t" in source[: len(source) - len(source.lstrip())]:
        return f"{problem}; indent with spaces, not tabs"
    if any(sign in source for sign in (": >", ": <", ": =", ": ~", ": !", "[>", "[<")):
        return f'{problem}; put versions in quotes: ">=3.11"'
    return f"{problem}; text that holds `: `, `#`, quotes or brackets belongs into quotes"


def _unprintable_line(text: str) -> int:
    for number, line in enumerate(text.split("\n"), 1):
        if any(not (char.isprintable() or char in "\t\r\x85\u2028\u2029\u00a0") for char in line):
            return number
    return 1


def read_file(path: str) -> tuple[str | None, list[Complaint]]:
    """The text of a rule file, at most a little more than the limit, or why it cannot be read."""
    try:
        with open(path, "rb") as file:
            content = file.read(SIZE_LIMIT + 1)
        if len(content) > SIZE_LIMIT:
            return None, [Complaint(path=path, line=1, message=_TOO_LARGE)]
        return content.decode("utf-8-sig"), []
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}; look at its permissions"
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return None, [Complaint(path=path, line=line, message="the file is not UTF-8 text; save it as UTF-8")]
    return None, [Complaint(path=path, line=1, message=message)]


def read_documents(paths: Iterable[str]) -> tuple[list[tuple[Document, list[Complaint]]], list[Complaint]]:
    """The documents of some files, each with what is wrong in it, and the complaints about files that hold none."""
    documents = []
    refused: list[Complaint] = []
    for path in paths:
        text, complaints = read_file(path)
        document = None
        if text is not None:
            document, complaints = read_document(text, path)
        if document is None:
            refused += complaints
        else:
            documents.append((document, complaints))
    return documents, refused


class Book:
    """The complaints about one document, and what its nodes share."""

    def __init__(self, document: Document, vocabulary: Mapping[str, Any]) -> None:
        self.document = document
        self.vocabulary = vocabulary
        self.lines: dict[Where, int] = dict(document.lines)
        self.complaints: list[Complaint] = []

    def root(self) -> Node:
        """The whole document."""
        return Node(self, (), self.document.data)


class Node:
    """One value of a document, with the words to read it. A reading that fails complains and gives an empty value."""

    def __init__(self, book: Book, where: Where, value: Any) -> None:
        self.book = book
        self.where = where
        self.value = value

    def complain(self, message: str) -> None:
        """Say what is wrong with this value and what to write instead."""
        line = line_of(self.book.lines, self.where)
        self.book.complaints.append(Complaint(path=self.book.document.path, line=line, message=message))

    def name(self) -> str:
        """The name of the value in a complaint: its last key."""
        words = [part for part in self.where if isinstance(part, str)]
        return shorten(words[-1]) if words else "the file"

    def entries(self) -> dict[str, Node]:
        """The entries of a mapping that is not empty."""
        if not isinstance(self.value, dict) or not self.value:
            self.complain(f"`{self.name()}` must hold entries, as in `{self.name()}: {{key: value}}`")
            return {}
        return {key: Node(self.book, (*self.where, key), value) for key, value in self.value.items()}

    def fields(self, known: Collection[str], needed: Iterable[str] = ()) -> dict[str, Node]:
        """The entries of a mapping with known keys; complains of unknown and of missing ones."""
        if not isinstance(self.value, dict):
            self.complain(f"`{self.name()}` must be a mapping of some of: {', '.join(sorted(known))}")
            return {}
        found = {key: Node(self.book, (*self.where, key), value) for key, value in self.value.items()}
        for key in [key for key in found if key not in known]:
            found.pop(key).complain(f"`{shorten(key)}` is not known in {self.name()}; {suggest(key, known)}")
        for key in needed:
            if key not in self.value:
                self.complain(f"{self.name()} lacks `{key}`; add a line `{key}: ...`")
        return found

    def items(self) -> list[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.complain(f"`{self.name()}` must be a list; begin each item with `- `")
            return []
        return [Node(self.book, (*self.where, number), value) for number, value in enumerate(self.value)]

    def items_or_self(self) -> list[Node]:
        """The items of a list, or the value itself where it is not one."""
        return self.items() if isinstance(self.value, list) else [self]

    def text(self) -> str:
        """A text that is not empty."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value
        written = self.book.document.plain.get(self.where)
        if written and not isinstance(self.value, str):
            self.complain(f'`{self.name()}` must be text; write "{shorten(written)}" in quotes')
        else:
            self.complain(f"`{self.name()}` must be text, and not empty")
        return ""

    def quoted(self) -> str:
        """A text in quotes, as versions must be: YAML reads 3.10 as the number 3.1."""
        written = self.book.document.plain.get(self.where)
        if written:
            self.complain(f'unquoted version; write "{shorten(written)}" in quotes')
            return ""
        return self.text()

    def choice(self, words: Collection[str]) -> str:
        """One of some words."""
        text = self.text()
        if text and text not in words:
            self.complain(f"`{shorten(text)}` is no {self.name()}; {suggest(text, words)}")
        return text

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.complain(f"`{self.name()}` must be `true` or `false`, without quotes")
        return self.value is True
