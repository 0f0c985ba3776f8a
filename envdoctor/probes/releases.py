"""The known releases of distributions, as the index answers that the user's pip is configured with.

Index, extra indexes and certificate come from `pip config`, the default index from pip's own help, credentials from
the URLs. The answer is the simple repository API, as JSON (PEP 691) or HTML (PEP 503), so releases for every Python
are in it. Answers are kept for a week in the user's cache directory; without an index, older ones serve.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from typing import Any

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from envdoctor.model import Record
from envdoctor.probes import cache as caches
from envdoctor.probes import visit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FRESH = 7 * 24 * 3600
_DAY = 24 * 3600
TIMEOUT = 20
SIZE_LIMIT = 64 * 1024 * 1024
WORKERS = 8
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_NOT_FOUND = (404, 410)


class Configuration(Record):
    """Where pip looks: the addresses of its indexes, and the certificates it trusts."""

    urls: Sequence[str]
    certificates: str | None = None


class _Unreachable(Exception):  # noqa: N818 - it never leaves this file
    """An index did not answer."""


def releases(name: str) -> list[str] | None:
    """Every release of a distribution, oldest first; empty where no index knows it, ``None`` where none answers."""
    return known_releases([name])[name]


def ask(address: str) -> bytes | None:
    """The content at an address of an index; empty where there is none, ``None`` where nobody answers."""
    try:
        return _fetch(address)[1]
    except _Unreachable:
        return None


def known_releases(names: Iterable[str]) -> dict[str, list[str] | None]:
    """What :func:`releases` says of several distributions, asked side by side; progress goes to stderr."""
    found: dict[str, list[str] | None] = {}
    wanted = []
    for name in sorted(set(names)):
        kept = caches.remembered(place("releases", name), FRESH)
        if kept is None:
            wanted.append(name)
        else:
            found[name] = kept
    found.update(_ask_all(wanted))
    return found


def _ask_all(names: Sequence[str]) -> dict[str, list[str] | None]:
    """Ask for names that are not in the cache; after the first silence, only the cache is asked."""
    found: dict[str, list[str] | None] = {}
    silent = False

    def answer(name: str) -> list[str] | None:
        nonlocal silent
        if not silent:
            try:
                return _ask(name)
            except _Unreachable:
                silent = True
        kept: list[str] | None = caches.remembered(place("releases", name))
        return kept

    began = time.monotonic()
    with ThreadPoolExecutor(WORKERS) as pool:
        pending = {pool.submit(answer, name): name for name in names}
        for done, future in enumerate(as_completed(pending), 1):
            found[pending[future]] = future.result()
            if time.monotonic() - began > 1 and sys.stderr.isatty():
                sys.stderr.write(f"\rasking the index for releases: {done} of {len(names)} distributions")
    if time.monotonic() - began > 1 and sys.stderr.isatty():
        sys.stderr.write("\n")
    return found


def _ask(name: str) -> list[str]:
    versions: set[Version] = set()
    if not configuration().urls:
        raise _Unreachable
    for url in configuration().urls:
        address = f"{url.rstrip('/')}/{canonicalize_name(name)}/"
        listed = _listed(address, *_fetch(address))
        versions.update(version for file in listed for version in [version_of(file["filename"])] if version)
    ordered = [str(version) for version in sorted(versions)]
    caches.remember(place("releases", name), ordered)
    return ordered


def request(address: str, headers: Mapping[str, str], seconds: float = TIMEOUT) -> Any:
    """The open answer of an index, by the certificates that pip trusts. Raises :class:`OSError` or :class:`ValueError`.

    The request is counted.
    """
    visit.ask()
    sent = urllib.request.Request(address, headers={"User-Agent": "envdoctor", **headers})  # noqa: S310 - the user's own
    context = None if address.startswith("file:") else _context(configuration().certificates)
    return urllib.request.urlopen(sent, timeout=seconds, context=context)  # noqa: S310


def _fetch(address: str) -> tuple[str, bytes]:
    """What an index answers: its media type and its text, both empty where it does not know the distribution."""
    if address.startswith("file:"):
        address += "index.html"
    address, headers = _credentials(address)
    try:
        with request(address, headers) as answer:
            content: bytes = answer.read(SIZE_LIMIT + 1)
            if len(content) > SIZE_LIMIT:
                raise _Unreachable
            return answer.headers.get_content_type(), content
    except urllib.error.HTTPError as error:
        with error:
            if error.code in _NOT_FOUND:
                return "", b""
        raise _Unreachable from error
    except (OSError, ValueError) as error:
        if address.startswith("file:"):
            return "", b""
        raise _Unreachable from error


@cache
def _context(certificates: str | None) -> ssl.SSLContext:
    """What connections trust; to read all certificates takes longer than a small answer."""
    return ssl.create_default_context(cafile=certificates)


def _credentials(address: str) -> tuple[str, dict[str, str]]:
    """Move a user and a password from an address into a header."""
    parts = urllib.parse.urlsplit(address)
    user, separator, host = parts.netloc.rpartition("@")
    headers = {"Accept": _ACCEPT}
    if separator:
        headers["Authorization"] = "Basic " + base64.b64encode(urllib.parse.unquote(user).encode()).decode()
    return urllib.parse.urlunsplit(parts._replace(netloc=host)), headers


class _Anchors(html.parser.HTMLParser):
    """Collects the files that a page of the simple API links to, in the words of its JSON (PEP 503, 691)."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.files: list[dict[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the last part of a link's path, and what else is said of the file."""
        said = dict(attrs)
        target = said.get("href") if tag == "a" else None
        if target:
            path = urllib.parse.urlsplit(target).path
            file = {"filename": urllib.parse.unquote(path.rpartition("/")[2])}
            file["url"] = urllib.parse.urljoin(self.address, target).partition("#")[0]
            file.update((name[5:], value) for name, value in said.items() if name.startswith("data-") and value)
            self.files.append(file)


def files(address: str) -> list[dict[str, Any]] | None:
    """What an index says of the files at an address, in the words of PEP 691; ``None`` where nobody answers."""
    kept = visit.current().pages.get(address)
    if kept is not None:
        return kept
    try:
        page = _listed(address, *_fetch(address))
    except _Unreachable:
        return None
    visit.current().keep(address, page)
    return page


def files_of(name: str) -> list[dict[str, Any]] | None:
    """What all indexes say of the files of a distribution; ``None`` where one does not answer, or there is none."""
    found: list[dict[str, Any]] = []
    urls = configuration().urls
    for url in urls:
        page = files(f"{url.rstrip('/')}/{canonicalize_name(name)}/")
        if page is None:
            return None
        found += page
    return found if urls else None


def _listed(address: str, kind: str, content: bytes) -> list[dict[str, Any]]:
    if kind.endswith("json"):
        try:
            page: Any = json.loads(content)
            return [
                {**file, "filename": str(file["filename"]), "url": urllib.parse.urljoin(address, str(file.get("url")))}
                for file in page["files"]
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise _Unreachable from error
    parser = _Anchors(address)
    parser.feed(content.decode("utf-8", "replace"))
    return parser.files


def version_of(file: str) -> Version | None:
    """The version that a file name gives, ``None`` for what is neither a wheel nor a source distribution."""
    try:
        if file.endswith(".whl"):
            return parse_wheel_filename(file)[1]
        for ending in (".tar.bz2", ".tar.Z", ".tgz"):
            if file.endswith(ending):
                file = file[: -len(ending)] + ".zip"
        return parse_sdist_filename(file)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion, ValueError):
        return None


@cache
def configuration() -> Configuration:
    """Read where the user's pip looks; without pip there are only the variables that it would read.

    The answer is kept for a day, as long as none of pip's files and variables changes, unless it has a password in it.
    """
    path = _path_of_configuration()
    kept = caches.remembered(path, _DAY)
    if kept is not None:
        return Configuration(urls=kept[0], certificates=kept[1])
    settings = _settings()
    urls = [settings.get("index-url") or _default_index(), *settings.get("extra-index-url", "").split()]
    certificates = settings.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE") or None
    found = Configuration(urls=[url for url in urls if url], certificates=certificates)
    if found.urls and not any("@" in url for url in found.urls):
        caches.remember(path, [list(found.urls), certificates])
    return found


def _path_of_configuration() -> str:
    """The file that keeps what pip says, named after all that it depends on."""
    home, name = os.path.expanduser("~"), "pip.ini" if os.name == "nt" else "pip.conf"
    bases = [os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), os.environ.get("APPDATA") or home]
    bases += [os.environ.get("ProgramData") or "/etc/xdg", "/Library/Application Support"]  # noqa: SIM112 - its spelling
    files = [os.path.join(base, "pip", name) for base in (*bases, os.path.join(home, "Library", "Application Support"))]
    files += [os.path.join(place, name) for place in (os.path.join(home, ".pip"), home, "/etc", sys.prefix)]
    named = os.environ.get("PIP_CONFIG_FILE")
    stated = [sys.executable, shutil.which("pip"), *([_stamp(one) for one in [*files, *([named] if named else [])]])]
    variables = sorted(
        (key, value) for key, value in os.environ.items() if key[:4] == "PIP_" or key[-9:] == "CA_BUNDLE"
    )
    digest = hashlib.sha256(json.dumps([stated, variables]).encode("utf-8", "backslashreplace")).hexdigest()[:24]
    return os.path.join(caches.directory(), "pip", digest + ".json")


def _stamp(path: str) -> list[object]:
    try:
        status = os.stat(path)
    except OSError:
        return [path]
    return [path, status.st_mtime_ns, status.st_size]


def _pip(*arguments: str) -> str:
    """The output of the pip that belongs to this Python, else of the one on the path; empty without either."""
    programs = [[sys.executable, "-m", "pip"], *([shutil.which("pip")] if shutil.which("pip") else [])]
    for program in programs:
        command = [*(program if isinstance(program, list) else [program]), *arguments]
        environment = {**os.environ, "COLUMNS": "1000", "PYTHONWARNINGS": "ignore"}
        try:
            done = subprocess.run(  # noqa: S603 - pip itself, with literal arguments
                command, capture_output=True, text=True, timeout=60, check=False, env=environment
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if done.returncode == 0:
            return done.stdout
    return ""


def _settings() -> dict[str, str]:
    """What pip's files and variables say, the stronger after the weaker: files, then sections, then variables."""
    found: dict[str, str] = {}
    for line in sorted(_pip("config", "list").splitlines(), key=_strength):
        key, separator, value = line.partition("=")
        section, _, name = key.strip().partition(".")
        if separator and section in {"global", "index", "install", "download", ":env:"}:
            found[name] = _unquote(value)
    for name in ("index-url", "extra-index-url", "cert"):
        stated = os.environ.get("PIP_" + name.upper().replace("-", "_"))
        if stated:
            found[name] = stated
    return found


def _strength(line: str) -> int:
    return 2 if line.startswith(":env:") else 0 if line.startswith("global.") else 1


def _unquote(value: str) -> str:
    try:
        return " ".join(str(ast.literal_eval(value)).split())
    except (ValueError, SyntaxError):
        return value


def _default_index() -> str:
    """The address that pip would use by itself: its help names it."""
    found = re.search(r"--index-url <url>.*?\(default:?\s+(\S+?)\)", _pip("download", "--help"), re.DOTALL)
    return found[1] if found else ""


def place(kind: str, name: str) -> str:
    """The path of what these indexes said of a distribution."""
    indexes = hashlib.sha256("\n".join(configuration().urls).encode()).hexdigest()[:12]
    file = re.sub(r"[^a-z0-9-]", "_", canonicalize_name(name)) + ".json"
    return os.path.join(caches.directory(), "published", indexes, kind, file)
