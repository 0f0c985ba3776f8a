"""The facts of a rule's ``when`` that are read outside of packages: a project, artefacts, processes, start methods."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from envdoctor.engine.builds import WORDS
from envdoctor.rulebase.document import shorten, suggest
from envdoctor.rulebase.values import read_globs, read_names, read_pattern, read_several, read_specifier, read_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from envdoctor.rulebase.document import Node

START_METHODS = ("fork", "spawn", "forkserver")
#: The verbs of a source condition: any reference to a name, an import of it, or a call.
USES = ("uses", "imports", "calls")
#: What an argument can be, as ``probes.source`` tells it.
ARGUMENTS = (
    "instance", "result", "lambda", "local-function", "function", "class", "factory", "constant", "generator",
    "text", "list", "tuple", "set", "dictionary", "coroutine",
)  # fmt: skip
_FLAGS = ("unguarded", "uncaught")
LIBRARY = ("present", "missing")
#: What a rule may say of a worker (see ``engine.workers``).
OF_WORKERS = ("given-object", "given-function", "given-shared", "started-at-import", "lacks")
_POSITIONS = 100
_KEY = re.compile(r"[^\s.]+(\.[^\s.]+)*")
_FILE_NAME = re.compile(r"[\w.+-]+", re.ASCII)


def read_config(node: Node) -> dict[str, Any]:
    """A configuration entry: the files, what counts in their place, the end of the key, and one test of the value."""
    tests: dict[str, Callable[[Node], Any]] = {
        "equals": _scalar,
        "matches": lambda child: read_pattern(child, child.text()),
        "is": lambda child: child.choice(("set",)),
    }
    fields = node.fields(("file", "unless", "key", *tests), needed=("file", "key"))
    found: dict[str, Any] = {word: fields[word].text() for word in ("file", "key") if word in fields}
    if found.get("file", "").startswith(("/", "../")) or "\n" in found.get("file", ""):
        fields["file"].complain("`file` is a glob relative to the project; write one such as **/settings.yaml")
    if found.get("key") and not _KEY.fullmatch(found["key"]):
        fields["key"].complain(f"`{shorten(found['key'])}` is not a dotted key; write one such as run.workers")
    if "unless" in fields:
        found["unless"] = [_beside(item) for item in fields["unless"].items_or_self()]
    given = [word for word in tests if word in fields]
    if len(given) != 1 and isinstance(node.value, dict):
        node.complain("`config` needs exactly one of: equals, matches, is")
    return {**found, **{word: tests[word](fields[word]) for word in given}}


def _beside(node: Node) -> str:
    text = node.text()
    if not _FILE_NAME.fullmatch(text):
        node.complain(
            f"`{shorten(text)}` is not the name of a file in the same directory; write one such as settings.toml"
        )
    return text


def _scalar(node: Node) -> Any:
    if isinstance(node.value, (dict, list)):
        node.complain(f"`{node.name()}` takes one value")
    return node.value


def read_source(node: Node) -> dict[str, Any]:
    """A use of a qualified name in the project's source, and what a call is given."""
    fields = node.fields((*USES, "argument", "arguments", "without", *_FLAGS))
    verbs = [word for word in USES if word in fields]
    if len(verbs) != 1:
        if isinstance(node.value, dict):
            node.complain(f"`source` needs exactly one of: {', '.join(USES)}")
        return {}
    verb = verbs[0]
    names = read_globs(fields[verb])
    for word in fields:
        if verb not in {"calls", word}:
            fields[word].complain(f"`{word}` is about a call; write `calls:` instead of `{verb}:`")
    return {verb: names, **_read_call(fields)}


def _read_call(fields: Mapping[str, Node]) -> dict[str, Any]:
    """The arguments that a call has, and does not have."""
    found: dict[str, Any] = {}
    stated = [fields["argument"]] if "argument" in fields else []
    stated += fields["arguments"].items() if "arguments" in fields else []
    if stated:
        found["arguments"] = [_argument(item) for item in stated]
    if "without" in fields:
        found["without"] = [_absent(item) for item in fields["without"].items_or_self()]
    found.update((word, True) for word in _FLAGS if word in fields and fields[word].flag())
    return found


def read_worker(node: Node) -> dict[str, Any]:
    """What is asked of the workers that source starts; ``of`` some calls alone, by their word in the vocabulary."""
    groups: Mapping[str, Any] = node.book.vocabulary.get("workers", {})
    fields = node.fields(("is", "of"), needed=("is",))
    found: dict[str, Any] = {"is": fields["is"].choice(OF_WORKERS)} if "is" in fields else {}
    return {**found, "of": [item.choice(groups) for item in fields["of"].items_or_self()]} if "of" in fields else found


def _absent(node: Node) -> dict[str, Any]:
    """An argument that must not be given: its keyword, or its keyword and position."""
    if not isinstance(node.value, dict):
        return {"name": node.text()}
    fields = node.fields(("name", "at"), needed=("name",))
    return {word: TESTS[word](child) for word, child in fields.items()}


def _position(node: Node) -> int:
    if isinstance(node.value, bool) or not isinstance(node.value, int) or not 0 <= node.value < _POSITIONS:
        node.complain("`at` is the argument's position, counted from 0")
        return 0
    return node.value


def _kinds(node: Node) -> list[str]:
    return [item.choice(ARGUMENTS) for item in node.items_or_self()]


def _carried(node: Node) -> list[str]:
    """Globs, and the words of the vocabulary that mean several."""
    words: Mapping[str, list[str]] = node.book.vocabulary.get("calls", {})
    found: list[str] = []
    for item in node.items_or_self():
        if item.value in ("lambda", "local-function", "generator"):
            found.append(item.value)
        elif isinstance(item.value, str) and item.value in words:
            found += words[item.value]
        elif isinstance(item.value, str) and words and "." not in item.value:
            item.complain(
                f"`{shorten(item.value)}` is no dotted name and no word of `calls`; {suggest(item.value, words)}"
            )
        else:
            found += read_globs(item)
    return found


#: The tests of an argument, each with how it is read.
TESTS: dict[str, Callable[[Node], Any]] = {
    "at": _position,
    "name": lambda node: node.text(),
    "is": _kinds,
    "made-by": read_globs,
    "not-made-by": read_globs,
    "names": read_globs,
    "carries": _carried,
    "through": read_globs,
    "equals": lambda node: [_scalar(item) for item in node.items()] if isinstance(node.value, list) else _scalar(node),
    "differs": _scalar,
    "matches": lambda node: read_pattern(node, node.text()),
}


def _argument(node: Node) -> dict[str, Any]:
    fields = node.fields(TESTS)
    if not {"at", "name"} & fields.keys() and isinstance(node.value, dict):
        node.complain("an argument needs its position or its keyword: `at: 0`, or `name: target`")
    return {word: TESTS[word](child) for word, child in fields.items()}


def read_shadowed(node: Node) -> str:
    """What a file of the project hides; it is the only condition, since there is a finding for each file."""
    if len(node.where) != 2:  # noqa: PLR2004 - when, shadowed
        node.complain("`shadowed` belongs at the top of a rule's `when`; move it there")
    return node.choice(("standard-library",))


def read_artifact(node: Node) -> dict[str, Any]:
    """What an artefact is, what it refers to, and what wrote it."""
    readers: dict[str, Callable[[Node], Any]] = {
        "kind": lambda child: [_artifact_kind(item) for item in child.items_or_self()],
        "names": read_globs,
        "protocol": read_specifier,
        "written-by": partial(read_writer, read=read_specifier),
        "code": lambda child: child.choice(("foreign", "any")),
        "where": read_several,
    }
    fields = node.fields(readers)
    if "where" in fields and "code" not in fields:
        node.complain("`where` says where the functions are; it belongs to `code`")
    if isinstance(node.value, dict) and not fields:
        node.complain("`artifact` says nothing; write one such as `artifact: {kind: pickle, names: module.**}`")
    return {word: readers[word](child) for word, child in fields.items()}


def _artifact_kind(node: Node) -> str:
    return node.choice(node.book.vocabulary.get("artifacts", ()))


def read_library(node: Node) -> dict[str, str]:
    """Whether the dynamic loader finds a shared library, by file name."""
    return _there(node, "the file name of a shared library, such as libgomp.so.1")


def read_program(node: Node) -> dict[str, str]:
    """Whether a program is on ``PATH``, by the name that it is called by."""
    return _there(node, "the name of a program, such as ffmpeg")


def _there(node: Node, wanted: str) -> dict[str, str]:
    found = {}
    for name, child in node.entries().items():
        if not _FILE_NAME.fullmatch(name):
            child.complain(f"`{shorten(name)}` is not {wanted}")
        found[name] = child.choice(LIBRARY)
    return found


def read_image(node: Node) -> dict[str, str]:
    """What the image of a Dockerfile lacks, by a name of ``images`` in the vocabulary."""
    fields = node.fields(("lacks",), needed=("lacks",))
    known = node.book.vocabulary.get("images", {}).get("brings", {})
    return {"lacks": fields["lacks"].choice(known)} if "lacks" in fields else {}


def read_file(node: Node) -> dict[str, str]:
    """Whether files are there that globs name: below the import path, or of the machine where a glob is absolute."""
    found = {}
    for glob, child in node.entries().items():
        if ": " in glob or ".." in glob.split("/") or "\n" in glob:
            child.complain(f"`{shorten(glob)}` is no glob of files; write one such as /usr/lib/*/libcuda.so.1")
        found[glob] = child.choice(LIBRARY)
    return found


def read_written(node: Node) -> dict[str, list[str]]:
    """What files say, as a cell states it."""
    return {key: [item.text() for item in child.items_or_self()] for key, child in node.entries().items()}


def read_build(node: Node) -> dict[str, Any]:
    """Distributions that the vocabulary knows the builds of, and what is wrong with one, or what it is."""
    fields = node.fields(("of", "is"), needed=("of", "is"))
    known = node.book.vocabulary.get("builds", {})
    names = fields["of"].items_or_self() if "of" in fields else []
    for item in names:
        if item.text() not in known:
            item.complain(f"how `{shorten(item.text())}` is built is not known; add it to `builds` of the vocabulary")
    return {"of": [item.text() for item in names], "is": fields["is"].choice(WORDS) if "is" in fields else ""}


def read_table(node: Node) -> dict[str, Any]:
    """Read facts that a section of the vocabulary lists, by how each is compared: version, boolean or text.

    Without such a section any name is allowed, and the value says how it is compared.
    """
    section = node.name()
    kinds: Mapping[str, str] = node.book.vocabulary.get(section, {})
    if not node.value:
        node.complain(f"`{section}` says nothing; write one such as `{section}: {{{next(iter(kinds), 'x')}: ...}}`")
    if section in node.book.vocabulary:
        return {key: _COMPARED[kinds[key]](child) for key, child in node.fields(kinds).items()}
    return {
        key: _COMPARED["boolean" if isinstance(child.value, bool) else "version"](child)
        for key, child in node.entries().items()
    }


_COMPARED: dict[str, Callable[[Node], Any]] = {
    "version": read_specifier,
    "boolean": lambda node: node.flag(),
    "text": lambda node: {"matches": read_pattern(node, node.text())},
}


def read_start_method(node: Node) -> Any:
    """One or several start methods, of the program or of a library that the vocabulary knows."""
    if not isinstance(node.value, dict):
        return _methods(node)
    libraries = node.book.vocabulary.get("start_methods", {})
    fields = node.fields(("of", "is"), needed=("of", "is"))
    return {
        "of": _library_of(fields["of"], libraries) if "of" in fields else "",
        "is": _methods(fields["is"]) if "is" in fields else [],
    }


def _library_of(node: Node, libraries: Mapping[str, Any]) -> str:
    text = node.text()
    if text and text not in libraries:
        node.complain(f"how `{shorten(text)}` chooses is not known; add it to `start_methods` of the vocabulary")
    return text


def _methods(node: Node) -> Any:
    items = node.items_or_self()
    if not items:
        node.complain(f"`start_method` needs one of: {', '.join(START_METHODS)}")
    methods = [item.choice(START_METHODS) for item in items]
    return methods if isinstance(node.value, list) else methods[0]


# --- what a cell of a proof states ----------------------------------------------------------------------------------


def read_stated_artifacts(node: Node) -> list[dict[str, Any]]:
    """One or several artefacts as a cell states them."""
    return [_stated_artifact(item) for item in node.items_or_self()]


def _stated_artifact(node: Node) -> dict[str, Any]:
    """``kind``, and some of ``file``, ``names``, ``protocol``, ``written-by``, ``code`` and ``functions``."""
    readers: dict[str, Callable[[Node], Any]] = {
        "file": lambda child: child.text(),
        "kind": _artifact_kind,
        "names": lambda child: [item.text() for item in child.items_or_self()],
        "protocol": _protocol,
        "written-by": read_writer,
        "code": _stated_code,
        "functions": lambda child: {name: one.value for name, one in child.entries().items()},
    }
    fields = node.fields(readers, needed=("kind",))
    return {word: readers[word](child) for word, child in fields.items()}


def _stated_code(node: Node) -> Any:
    """The Pythons whose bytecode it holds, as specifiers; by the entry that has it, or a list."""
    if isinstance(node.value, dict):
        return {where: read_specifier(child) for where, child in node.entries().items()}
    return read_several(node)


def _protocol(node: Node) -> int:
    if not isinstance(node.value, int):
        node.complain("`protocol` is the number of a pickle protocol")
        return 0
    return node.value


def read_writer(node: Node, read: Callable[[Node], str] = read_version) -> dict[str, Any]:
    """The environment that wrote an artefact: exact versions, or what ``read`` makes of each."""
    fields = node.fields(("python", "packages"))
    found: dict[str, Any] = {}
    if "python" in fields:
        found["python"] = read(fields["python"])
    if "packages" in fields:
        found["packages"] = {name: read(child) for name, child in read_names(fields["packages"]).items()}
    return found


def read_project(node: Node) -> dict[str, str]:
    """The project of a cell: file names relative to it, and the contents."""
    found = {}
    for name, child in node.entries().items():
        if name.startswith("/") or ".." in name.split("/") or "\\" in name:
            child.complain(f"`{shorten(name)}` is not a file in the project; write a relative name with /")
        found[name] = child.value if isinstance(child.value, str) else child.text()
    return found
