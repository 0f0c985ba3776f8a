"""The entries of a project's configuration files that a rule asks for. Only files that a rule names are read."""

from __future__ import annotations

import fnmatch
import itertools
import time

from envdoctor.file_keys import glob_and_others
from envdoctor.probes.project import tree
from envdoctor.probes.project.globs import Glob
from envdoctor.probes.project.walk import FORMATS, dockerfile, is_configuration, is_dotenv, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.facts import Answer
    from envdoctor.found import Setting
    from envdoctor.probes.project.config_text import Contents, Entry

#: A JSON document of more values is searched for each question, and so many of its values are returned.
MOST_REMEMBERED = 100_000
MOST_OF_A_KEY = 100
#: Seconds that reading all configuration may take.
_SECONDS = 5.0
#: Of the entries of one key so many bytes are parsed again to find out how their lines could be edited.
_MOST_PARSED_AGAIN = 1 << 20
#: Settings in Python are read where a rule asks for them: a glob of such files ends so.
PYTHON = ".py"


class ConfigReader:
    """Reads the configuration of one project; every file is read once."""

    def __init__(self, project: tree.Files) -> None:
        self._project = project
        self._names: list[str] | None = None
        self._globs: dict[str, list[str]] = {}
        self._contents: dict[str, Contents] = {}
        self._left = _SECONDS

    def lookup(self, pattern: str, path: str) -> Answer[Setting]:
        """The scalars whose dotted path ends as a key says, in the files that :func:`config_file` names."""
        pattern, others = glob_and_others(pattern)
        glob = Glob(pattern)
        wanted = path.split(".")
        found: list[Setting] = []
        gaps, left = [], _MOST_PARSED_AGAIN
        for name in (one for one in self._matching(pattern, glob) if not self._is_replaced(one, others)):
            entries, gap = self._read(name, wanted, exact=glob.exact)
            if gap:
                gaps.append(f"{name}: {shown(' '.join(gap.split()))}")
            for entry in (one for one in entries if _ends(one[0], wanted)):
                found.append(self._setting(name, entry, edited=left > 0))
                left -= len(self._project.read(name))
        return self._project.answer(found, gaps, lambda name: _may_match(pattern, name) and _matches(glob, name))

    def _setting(self, name: str, entry: Entry, *, edited: bool) -> Setting:
        dotted, value, line = entry
        found: Setting = {"file": name, "line": line, "key": dotted, "value": value}
        if format_of(name) == "yaml":
            from envdoctor.probes.project import config_yaml

            found["written"] = config_yaml.written(self._project.read(name), dotted) if edited else None
        return found

    def _matching(self, pattern: str, glob: Glob) -> list[str]:
        if self._names is None:
            self._names = [name for name in self._project.files() if is_configuration(name)]
        if pattern not in self._globs:
            names = self._project.files() if pattern.endswith(PYTHON) else self._names
            self._globs[pattern] = [name for name in names if _matches(glob, name)]
        return self._globs[pattern]

    def _is_replaced(self, name: str, others: Sequence[str]) -> bool:
        """Whether one of some other files is beside a file."""
        folder = name.rpartition("/")[0]
        return any(self._project.is_file(f"{folder}/{other}" if folder else other) for other in others)

    def _read(self, name: str, wanted: Sequence[str], *, exact: bool) -> Contents:
        """The contents of a file; where many files match, only of one that mentions what is wanted."""
        if name in self._contents:
            return self._contents[name]
        if self._left <= 0:
            return (), f"not read, as reading the project's configuration took longer than {_SECONDS:g} s"
        started = time.process_time()
        form = format_of(name)
        large = exact and form in ("yaml", "json")
        data = self._project.read(name, tree.MOST_BYTES_EXACT if large else tree.MOST_BYTES)
        try:
            if not exact and not _mentions(data, wanted):
                return (), None
            if large and form == "json" and data.count(b",") > MOST_REMEMBERED:
                return _crowded_json(data, wanted)
            self._contents[name] = contents = _READERS[form](data)
        finally:
            self._left -= time.process_time() - started
        return contents


def _crowded_json(data: bytes, wanted: Sequence[str]) -> Contents:
    """Of a document that is too large to be remembered, what is asked for; without lines."""
    from envdoctor.probes.project.config_text import json_values

    values, gap = json_values(data)
    matching = ((path, value, None) for path, value in values if _ends(path, wanted))
    try:
        return list(itertools.islice(matching, MOST_OF_A_KEY)), gap
    except RecursionError:
        return (), "it is nested too deeply, and was not read"


def _may_match(pattern: str, name: str) -> bool:
    """Whether a file is of a format that a glob reads: settings in Python where it ends so."""
    return is_configuration(name) or (pattern.endswith(PYTHON) and name.endswith(PYTHON))


def _matches(glob: Glob, name: str) -> bool:
    """Whether a glob means a file: one for ``Dockerfile`` means ``Dockerfile.prod`` and the like as well."""
    folder, _, own = name.rpartition("/")
    kind = dockerfile(own)
    return glob.matches(name) or (kind is not None and glob.matches(f"{folder}/{kind}" if folder else kind))


def contents(name: str, data: bytes) -> Contents:
    """The entries of a file of some name, and what of it could not be read."""
    return _READERS[format_of(name)](data)


def format_of(name: str) -> str:
    """The format of a configuration file, by its name: a word of :data:`_READERS`."""
    own = name.rpartition("/")[2]
    if dockerfile(own):
        return "dockerfile"
    known = FORMATS.get(own) or _SUFFIXES.get(own.rpartition(".")[2].lower())
    return known or ("env" if is_dotenv(own) else "ini")


def _ends(dotted: str, wanted: Sequence[str]) -> bool:
    """Whether a path ends in these segments, each of which may hold wildcards."""
    path = dotted.split(".")
    if len(path) < len(wanted):
        return False
    return all(fnmatch.fnmatchcase(one, want) for one, want in zip(reversed(path), reversed(wanted)))


def _mentions(data: bytes, wanted: Sequence[str]) -> bool:
    """Whether a file can contain the key at all: plain names are written in it as they are. In doubt it can."""
    if b"\0" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\\" in data:
        return True
    plain = [word for word in wanted if word.isascii() and not word.isdigit() and not set("*?[") & set(word)]
    return all(word.encode() in data for word in plain)


def _yaml(data: bytes) -> Contents:
    from envdoctor.probes.project import config_yaml

    return config_yaml.read(data)


def _python(data: bytes) -> Contents:
    from envdoctor.probes.project import config_python

    return config_python.python(data)


def _dockerfile(data: bytes) -> Contents:
    from envdoctor.probes.project import config_image

    return config_image.dockerfile(data)


def _text(form: str) -> Callable[[bytes], Contents]:
    def read(data: bytes) -> Contents:
        from envdoctor.probes.project import config_text

        contents: Contents = getattr(config_text, form)(data)
        return contents

    return read


_SUFFIXES = {
    **{form: form for form in ("yaml", "toml", "json", "ini", "env")},
    "yml": "yaml",
    **dict.fromkeys(("cfg", "conf", "service"), "ini"),
    "ipynb": "json",
    "py": "python",
}
_READERS: dict[str, Callable[[bytes], Contents]] = {
    "yaml": _yaml,
    "python": _python,
    "dockerfile": _dockerfile,
    **{form: _text(form) for form in ("toml", "json", "ini", "env")},
}
