"""Takes out of a text what belongs to a person rather than to a defect, and counts how often.

Secrets are removed anywhere: credentials in addresses, values that are named like a secret, and tokens whose shape
gives them away. The home directory, the user and the host are replaced by words. Versions, hashes and ordinary paths
stay. Every expression here runs in linear time, whatever it is given.
"""

from __future__ import annotations

import re
from typing import Any

from envdoctor.renderers.secret_shapes import KEY, RANDOM, TOKEN, WEBHOOK, is_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

SECRET, USER, HOST, MAIL = "<redacted>", "<user>", "<host>", "<e-mail>"

#: Names that many machines share and that give nobody away.
GENERIC = frozenset(
    (  # noqa: SIM905 - words
        "root user users runner admin administrator ubuntu debian fedora centos ec2-user vagrant docker jovyan nobody "
        "guest test dev app home git conda python localhost localdomain linux windows host redacted e-mail mail pc "
        "default public shared"
    ).split()
)
_SECRET_WORDS = frozenset({"token", "secret", "password", "passwd", "passphrase", "pwd", "credential", "credentials"})
_SECRET_NAMES = re.compile(r"api_?key|access_?key|private_?key|secret_?key|account_?key|auth_?key|_auth$|authorization")
_QUERY_WORDS = frozenset({"key", "sig", "signature", "auth", "code"})
_SECTIONS_BY_DISTRIBUTION = frozenset(
    {"packages", "distributions", "requirements", "requires_python", "tags", "installer"}
)
_SECTIONS_OF_ENVIRONMENT = frozenset({"env", "environ", "environment"})
_REFERENCE = re.compile(r"\$\w+|\$\{\w+\}?|%\w+%|\*+|None|null|true|false")

_SK = re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}")
_USERINFO = re.compile(r"(?<=://)(?:[^\s/?#\"'<>|]*|[^\s/@:?#\"'<>|]{0,256}:(?!\d{0,5}[/\\])[^\s@\"'<>|]{0,256})@")
_QUERY = re.compile(r"([?&;#])([\w.~%-]+)=([^&\s#\"'<>;|]+)")
_ASSIGNED = re.compile(
    r"(?<![\w.-])([A-Za-z_][\w.-]*)"
    r"([\"']?[ \t]{0,8}(?:(?<![=!<>~])=(?!=)|:(?!//))[ \t]{0,8}[\"']?)"
    r"([^\s\"',;&<>|]+)"
)
_FLAG = re.compile(r"(?<!\S)--?([A-Za-z][\w-]*)[ \t]{1,8}(?!-)([^\s<>\"']+)")
_HEADER = re.compile(
    r"(?i)(?<![\w-])((?:proxy-)?authorization[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:(?:bearer|basic|token)\s{1,8})?)"
    r"(?!(?:bearer|basic|token)\s)"
    r"([^\s\"',<>]+)"
)
_BEARER = re.compile(r"(?<![\w-])([Bb]earer\s{1,8})([A-Za-z0-9._~+/=-]{16,})")
_MAIL = re.compile(r"(?<![\w.+%-])([\w.+%-]+)@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w-])")
_HOMES = re.compile(r"(?i)(?<![\w.~-])((?:[a-z]:)?[\\/]{1,4}(?:home|users)[\\/]{1,4})([^\s\\/:\"'<>|,;()\[\]]+)")


class Redactor:
    """Replaces what is private and counts the replacements.

    ``home``, ``user`` and ``host`` are those of the person who sends the text; each may be empty. ``known_env`` are
    the environment variables whose values may be shown. ``keep`` are words that stay although they are the name of
    the user or host: the names of distributions. Without ``personal`` only secrets are replaced, as for a text that
    stays with who asked for it.
    """

    def __init__(
        self, *, home: str = "", user: str = "", host: str = "", known_env: Collection[str] = (),
        keep: Collection[str] = (), personal: bool = True,
    ) -> None:  # fmt: skip
        self.count = 0
        self._home, self._user, self._host = home, user, host
        self._known_env = frozenset(known_env)
        self._personal = personal
        self.keep(keep)

    @classmethod
    def of_this_user(cls, known_env: Collection[str] = ()) -> Redactor:
        """Redact what would give away who runs this process, and where."""
        import getpass
        import os
        import platform

        try:
            user = getpass.getuser()
        except (KeyError, ImportError, OSError):  # a container whose user has no name
            user = ""
        return cls(home=os.path.expanduser("~"), user=user, host=platform.node(), known_env=known_env)

    def keep(self, names: Collection[str]) -> None:
        """Do not take these words for the user or the host."""
        self._names: list[tuple[re.Pattern[str], str]] = []
        home = self._home.rstrip("\\/")
        if len(home) > 1 and home[-1] != ":":
            first, *rest = (re.escape(part) for part in re.split(r"[\\/]+", home))
            path = (r"[\\/]" if not first else first + r"[\\/]{1,4}") + r"[\\/]{1,4}".join(rest)
            flags = re.IGNORECASE if re.match(r"[A-Za-z]:", home) else 0
            self._names.append((re.compile(rf"(?<![\w.~-]){path}(?![\w.+-])", flags), "~"))
        for name, word in ((self._host, HOST), (self._host.partition(".")[0], HOST), (self._user, USER)):
            if len(name) >= 3 and name.lower() not in GENERIC and name not in names:  # noqa: PLR2004 - shorter is a word
                tail = r"(?:\.[A-Za-z0-9-]+)*(?![\w-])" if word is HOST else r"(?![\w+-]|\.\w)"
                flags = re.IGNORECASE if word is HOST else 0
                self._names.append((re.compile(rf"(?<![\w+-])(?<!\w\.){re.escape(name)}{tail}", flags), word))

    def text(self, text: str) -> str:
        """The text without what is private. Redacting it again changes nothing."""
        for _ in range(8):
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def data(self, value: Any, _section: str = "") -> Any:
        """A structure of mappings, lists and texts, redacted; names of distributions and their versions stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._mapping(value, _section)
        if isinstance(value, (list, tuple)):
            return [self.data(item, _section) for item in value]
        return value

    def _mapping(self, value: Mapping[str, Any], section: str) -> dict[str, Any]:
        redacted: dict[str, Any] = {}
        for key, item in value.items():
            name = str(key) if section in _SECTIONS_BY_DISTRIBUTION else self.text(str(key))
            while name in redacted:
                name += "'"
            if isinstance(item, str) and self._hidden(str(key), item, section):
                self.count += item != SECRET
                redacted[name] = SECRET
            elif section == "packages" and isinstance(item, str) and re.fullmatch(r"\d[\w.!+-]{0,60}", item):
                redacted[name] = item
            else:
                redacted[name] = self.data(item, str(key))
        return redacted

    def _hidden(self, key: str, value: str, section: str) -> bool:
        if section in _SECTIONS_BY_DISTRIBUTION or not value:
            return False
        return _secret_name(key) or (section in _SECTIONS_OF_ENVIRONMENT and key not in self._known_env)

    def _once(self, text: str) -> str:
        text = self._without_tokens(text)
        text = self._sub(_SK, lambda found: SECRET if re.search(r"\d", found[0]) else found[0], text)
        if "@" in text:
            text = self._sub(_USERINFO, _without_userinfo, text)
        if "=" in text or ":" in text:
            text = self._sub(_HEADER, lambda found: found[1] + SECRET, text)
            text = self._sub(_QUERY, _without_query, text)
            text = self._sub(_ASSIGNED, _without_value, text)
        text = self._sub(_BEARER, lambda found: found[1] + SECRET, text)
        text = self._sub(_FLAG, _without_flag, text)
        return self._without_person(text) if self._personal else text

    def _without_tokens(self, text: str) -> str:
        """The text without what its shape alone gives away."""
        if "-----BEGIN " in text or "PuTTY-" in text:
            text = self._sub(KEY, lambda _: SECRET, text)
        text = self._sub(TOKEN, lambda _: SECRET, text)
        text = self._sub(WEBHOOK, lambda found: found[1] + SECRET, text)
        return self._sub(RANDOM, lambda found: SECRET if is_random(found[0]) else found[0], text)

    def _without_person(self, text: str) -> str:
        if "@" in text:
            text = self._sub(_MAIL, _without_mail, text)
        for pattern, word in self._names:
            text = self._sub(pattern, lambda _, word=word: word, text)  # type: ignore[misc]
        return self._sub(_HOMES, _without_home, text)

    def _sub(self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
        def counted(found: re.Match[str]) -> str:
            new = replace(found)
            self.count += new != found[0]
            return new

        return pattern.sub(counted, text)


def _words(name: str) -> set[str]:
    return set(re.split(r"[_.\W]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _secret_name(name: str) -> bool:
    """Whether a variable, flag or key is named like something that nobody should see."""
    lowered = re.sub(r"[-.]", "_", name).lower()
    return bool(_words(name) & _SECRET_WORDS or _SECRET_NAMES.search(lowered))


def _without_userinfo(found: re.Match[str]) -> str:
    return found[0] if found[0] in ("git@", "hg@", "svn@", SECRET + "@") else SECRET + "@"


def _without_query(found: re.Match[str]) -> str:
    name = found[2]
    if not (_secret_name(name) or (found[1] != "#" and _words(name) & _QUERY_WORDS)):
        return found[0]
    return f"{found[1]}{name}={SECRET}"


def _without_value(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    loose = ":" in between and between[0] not in "\"'"  # prose: "invalid token: x"
    if loose and not re.search(r"[_-]|passw|pwd", name.lower()):
        return found[0]
    if not _secret_name(name) or _REFERENCE.fullmatch(value):
        return found[0]
    return name + between + SECRET


def _without_flag(found: re.Match[str]) -> str:
    if not _secret_name(found[1]) or _REFERENCE.fullmatch(found[2]):
        return found[0]
    return found[0][: found.start(2) - found.start()] + SECRET


def _without_mail(found: re.Match[str]) -> str:
    return found[0] if found[1] in ("git", "hg", "svn") or found[1].endswith(".git") else MAIL


def _without_home(found: re.Match[str]) -> str:
    name = found[2]
    return found[0] if name.lower() in GENERIC or set(name) <= set(".*$") else found[1] + USER
