"""The lines of an error text -> drafts of the failures in it, by the forms that a line can have."""

from __future__ import annotations

import re

from envdoctor.probes.error_lines import HEADER, MOST_LINE, NAME, source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MOST_LINES = 60

_KNOWN = re.compile(
    r"(?:Base)?Exception$|_?[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Group|Failure|Fault|Timeout|Iteration|Abort)$"
)
_ALONE = re.compile(r"Exception$|[A-Z][a-z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|Group)$")
_DOTTED = re.compile(r"(?:[a-z_]\w*\.)+(?:error|[A-Z]\w*[a-z]\w*)$")
_WRAPPERS = re.compile(
    r"subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|failed-wheel-build"
    r"|Command errored out|Failed building wheel|Could not build wheels"
    r"|[Cc]ommand .*(?:failed with exit|returned non-zero)"
)
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}
_WORDS = {
    "segmentation fault": "SIGSEGV",
    "access violation": "SIGSEGV",
    "0xc0000005": "SIGSEGV",
    "illegal instruction": "SIGILL",
    "illegal hardware instruction": "SIGILL",
    "bus error": "SIGBUS",
    "floating point exception": "SIGFPE",
    "aborted": "SIGABRT",
    "killed": "SIGKILL",
}
_SIGNAL = re.compile(
    r"\b(?P<name>SIG(?:SEGV|ABRT|ILL|BUS|FPE|KILL|TERM))\b"
    rf"|(?:^|(?<=[\s:(]))(?P<words>(?i:{'|'.join(_WORDS)}))(?=[\s.:(),]|$)"
    r"|(?:\bsignal|waitpid returned) (?P<number>\d{1,2})\b"
    r"|\b(?:exit|returncode|status)[^\d\n-]{0,30}(?P<code>-\d{1,2}|1[34]\d)\b"
)


class Spot:
    """Where a frame points, as printed."""

    def __init__(self, file: str, line: str | None, function: str | None, code: str | None) -> None:
        self.file = file.strip()
        self.line = int(line) if line and line.isdecimal() else None
        self.function = (function or "").strip() or None
        self.code = code


class Draft:
    """One failure while it is read; see ``error_text.Failure`` for what the attributes mean."""

    def __init__(self, exception: str | None, message: str) -> None:
        self.exception = exception
        self.lines = [message]
        self.frames: list[Spot] = []
        self.signal: str | None = None
        self.chained: str | None = None
        self.prefix = ""
        self.number = 0
        self.complete = False
        self.located = False

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return (self.exception or "").rpartition(".")[2]


def drafts(lines: Iterable[tuple[str, str]]) -> list[Draft]:
    """The failures of every program that speaks in ``lines`` (prefix and text), in the order of their last lines."""
    readers: dict[str, _Reader] = {}
    for number, (prefix, line) in enumerate(lines):
        speaker = source(prefix) if prefix else ""
        if speaker not in readers:
            readers[speaker] = _Reader()
        readers[speaker].read(number, prefix, line)
    for reader in readers.values():
        reader.flush()
    return _once(sorted((draft for reader in readers.values() for draft in reader.drafts), key=lambda d: d.number))


def _once(found: list[Draft]) -> list[Draft]:
    """Without those that only repeat what came before: the summary of a test run, a log that repeats itself."""
    seen: set[tuple[str, str]] = set()
    said: list[tuple[str, str]] = []
    kept = []
    for draft in found:
        this = (draft.name, draft.lines[0])
        known = this in seen or (
            this[1].endswith("...") and any(a == this[0] and b.startswith(this[1][:-3]) for a, b in said[-50:])
        )
        if draft.frames or not known:
            kept.append(draft)
        seen.add(this)
        said.append(this)
    return kept


def signal_of(text: str) -> str | None:
    """The signal that a text names first: by its own name, in words, or by a number."""
    found = _SIGNAL.search(text)
    if not found:
        return None
    if found["name"] or found["words"]:
        return found["name"] or _WORDS[found["words"].lower()]
    return _SIGNALS.get(abs(int(found["number"] or found["code"])) % 128)


def _is_exception(name: str, message: str | None) -> bool:
    last = name.rpartition(".")[2]
    if not message:
        return bool(_ALONE.match(last))
    return bool((last not in {"Error", "Warning"} and _KNOWN.match(last)) or _DOTTED.match(name))


def _shape(prefix: str) -> str:
    return re.sub(r"[\d\s]+", " ", prefix).strip()


class _Reader:
    """Reads the lines of one program in their order. What is still open is its state.

    Each method that takes a match reads one form of a line, and answers whether the line was of that form after all.
    """

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.frames: list[Spot] = []
        self.dump: list[Spot] | None = None  # takes the frames of a stack dump, which begins innermost
        self.open: Draft | None = None  # the failure whose message may go on
        self.head: int | None = None  # how far the first line of the traceback is indented
        self.chained: str | None = None
        self.code: str | None = None  # the source that a test runner showed before it named the place
        self.blank = False
        self.number, self.prefix, self.line = 0, "", ""

    def read(self, number: int, prefix: str, line: str) -> None:
        self.number, self.prefix, self.line = number, prefix, line
        if self.open and prefix.strip() and _shape(prefix) != _shape(self.open.prefix):
            self.open = None
        if not line.strip():
            self.blank = True
            return
        if not self.known(line[:MOST_LINE]):
            self.other(line)
        self.blank = False

    def known(self, head: str) -> bool:
        for words, form, take in _FORMS:
            for word in words:
                if word in head:
                    found = form.search(head)
                    if found and take(self, found):
                        return True
                    break
        return False

    def flush(self) -> None:
        """Make a failure of frames without a last line."""
        if self.frames:
            self.fail(None, "")
        self.open = self.dump = None

    def fail(self, exception: str | None, message: str, signal: str | None = None) -> None:
        draft = Draft(exception, message)
        draft.frames, draft.signal, draft.chained = self.frames, signal, self.chained
        draft.prefix, draft.number, draft.complete = self.prefix, self.number, self.head is not None
        self.drafts.append(draft)
        self.frames, self.open, self.chained, self.head, self.dump = [], draft, None, None, None

    def marked(self, mark: str) -> bool:
        return self.prefix.strip() == mark

    def in_code(self) -> bool:
        """Whether an indented line is a line of source inside a traceback."""
        return bool(self.head is not None and self.frames and len(self.line) - len(self.line.lstrip()) > self.head)

    def header(self, found: re.Match[str]) -> bool:
        self.flush()
        self.head = len(found["indent"])
        return True

    def chain(self, found: re.Match[str]) -> bool:
        self.flush()
        self.chained = found.lastgroup
        return True

    def stack(self, found: re.Match[str]) -> bool:
        self.open = None
        self.dump = [] if not found["current"] else self.drafts[-1].frames if self.drafts else self.frames
        return True

    def end(self, _found: re.Match[str]) -> bool:
        self.open = None
        return True

    def frame(self, found: re.Match[str]) -> bool:
        self.open = None
        spot = Spot(found["file"], found["line"], found["function"], self.code)
        self.code = None
        if self.dump is None:
            self.frames.append(spot)
        else:
            self.dump.insert(0, spot)
        return True

    def location(self, found: re.Match[str]) -> bool:
        """Read ``file.py:12: ValueError`` below the error of a test, or a warning with its message."""
        name, message = found["name"], found["message"]
        if not _is_exception(name, message):
            return False
        last = self.drafts[-1] if self.drafts else None
        repeats = last and not last.located and (not last.exception or last.name == name.rpartition(".")[2])
        if not repeats or (last and message and message != last.lines[0]):
            self.fail(name, message or "")
        last = self.drafts[-1]
        last.frames.append(Spot(found["file"], found["line"], None, self.code))
        last.exception, last.located = last.exception or name, True
        self.open = self.code = None
        return True

    def arrow(self, found: re.Match[str]) -> bool:
        """Read a numbered line of source; an arrow points at the one that failed."""
        if not self.frames:
            return False
        if found["arrow"] or "❱" in self.prefix:
            self.frames[-1].line = self.frames[-1].line or int(found["line"])
            self.frames[-1].code = found["code"].strip("│ ").removesuffix("**")
        return True

    def exception(self, found: re.Match[str]) -> bool:
        name, message = found["name"], found["message"]
        if self.in_code() and not self.marked("E"):
            return False
        last = name.rpartition(".")[2]
        if not (_is_exception(name, message) or self.ends(found, last)):
            return False
        if last.endswith("RemoteTraceback"):
            self.open = None  # what it quotes follows
        elif message or self.frames or not self.line.rstrip().endswith(":"):
            self.fail(name, self.line[found.start("message") :] if message else "")
        return True

    def ends(self, found: re.Match[str], last: str) -> bool:
        """Whether there is a name of any kind where the traceback before it must end."""
        boxed = "│" in self.prefix
        return bool(self.frames and len(found["indent"]) == self.head and not last.isupper() and not boxed)

    def tool(self, found: re.Match[str]) -> bool:
        if self.in_code():
            return False
        self.flush()
        if not _WRAPPERS.match(found["message"]):
            self.fail(None, found["message"].strip())
        return True

    def crash(self, found: re.Match[str]) -> bool:
        signal = signal_of(self.line[:MOST_LINE]) or ("SIGABRT" if found["fatal"] else None)
        if not signal or self.in_code():
            return False
        self.flush()
        if not (self.drafts and self.drafts[-1].signal == signal):
            self.fail(None, found.string.strip(), signal)
        self.open = None
        return True

    def embedded(self, found: re.Match[str]) -> bool:
        if self.open or self.frames:
            return False
        self.fail(found["name"], found["message"])
        return True

    def goes_on(self, line: str) -> bool:
        """Whether a line of no known form belongs to the message above it."""
        is_empty = self.open is not None and self.open.lines == [""] and self.open.frames
        return not self.blank or line[:1].isspace() or self.marked("E") or bool(is_empty)

    def other(self, line: str) -> None:
        if self.open and self.goes_on(line):
            if len(self.open.lines) < _MOST_LINES:
                self.open.lines += ["", line] if self.blank else [line]
            return
        self.open = None
        if self.marked("E"):
            self.fail(None, line.strip())
        elif self.frames and not self.frames[-1].code and line[:1].isspace() and line.strip("~^ "):
            self.frames[-1].code = line.strip()
        elif self.marked(">") and self.head is None:
            self.code = line.strip()


_FILE = r"(?P<file>(?:[A-Za-z]:)?[^\s:<][^:\n]{0,500}?\.pyx?)"
_LOADER = (
    r"undefined symbol: |symbol lookup error|GLIBC(?:XX)?_[\d.]+' not found|cannot open shared object file"
    r"|static TLS block|Symbol not found: |Library not loaded|\bld: cannot find "
)
_CRASHES = (
    r"(?:^|[\s:(])(?:Segmentation fault|Bus error|Floating point exception|Aborted \()|^Killed$"
    r"|\b[Ii]llegal (?:hardware )?instruction"
    r"|\bSIG(?:SEGV|ABRT|ILL|BUS|FPE|KILL)\b|0xC0000005|\bsignal \d|waitpid returned \d|\bexit.{0,30}(?:-\d|1[34]\d)"
)
_CRASHED = (
    "Fatal Python",
    "fault",
    "SIG",
    "exit",
    "signal ",
    "returned ",
    "0xC",
    "Killed",
    "Aborted",
    "llegal",
    "Bus err",
    "Floating",
)
_LOADED = ("symbol", "Symbol", "GLIBC", "cannot open", "static TLS", "not loaded", "ld: ")
_SAID = r"(?P<name>(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): (?P<message>\S.*)"
_OLD_CELL = (
    r"(?P<file>(?:[~/.]|[A-Za-z]:[\\/]|<ipython)[^:\n]{0,500}|[^\s:]{1,300}\.pyx) in "
    r"(?P<function><module>|<cell line: \d+>|(?:init )?[\w<>.]+\(.*)(?P<line>(?=.{0,4}$))"
)

# Each form with some words of which a line of it has at least one, so that most lines are held against few forms.
_TABLE: tuple[tuple[tuple[str, ...], str, Callable[[_Reader, re.Match[str]], bool]], ...] = (
    (("Traceback",), rf"^(?P<indent>\s*)(?:{NAME}\s+)?(?:{HEADER}|Traceback:?$)", _Reader.header),
    (("direct cause",), r"exception was the direct (?P<cause>cause) of", _Reader.chain),
    (("During handling",), r"During handling of the (?P<context>above) exception", _Reader.chain),
    (("+-",), r"^\s*\+-[-+]* \d+ (?P<group>-+)\s*$", _Reader.chain),
    (("ignored ",), r"^\s*Exception (?P<ignored>ignored) (?:in|on|while)", _Reader.chain),
    (("most recent call first",), r"(?P<current>Current )?[Tt]hread 0x[0-9a-f]+.{0,80}\(most recent", _Reader.stack),
    (tuple("0123456789"), r"^\s*(?P<arrow>-{1,8}>)?\s*(?:\*\*)?(?P<line>\d+) (?P<code>.*)$", _Reader.arrow),
    (
        ('"""', "```", "~~~", "[end", "hint: ", "note: ", "---", "===", "___", "***", "_ _", "+-"),
        r'^\s*(?:"""|```|~~~|\[end of output\]|(?:hint|note): |([-=_*])\1{4,}|(?:_ ){4,}|\+-)',
        _Reader.end,
    ),
    (
        ('File "',),
        r'File "(?P<file>[^"]{1,1000})"(?=,| in )(?:, line (?P<line>\w+))?(?:,? in (?P<function>\S.{0,300}))?',
        _Reader.frame,
    ),
    (
        ("File ",),
        r'^\s*File (?P<file>[^\s"][^"\n]{0,500}?):(?P<line>\d+)(?:, in (?P<function>\S.*))?$',
        _Reader.frame,
    ),
    (
        (" In",),
        r"^\s*(?P<file>(?:Cell|Input) In ?\[\d*\])(?:, line (?P<line>\d+)|, in (?P<function>\S.*))?",
        _Reader.frame,
    ),
    ((" in ",), rf"^{_OLD_CELL}", _Reader.frame),
    ((".py",), rf"^\s*{_FILE}:(?P<line>\d+)(?::? in(?: (?P<function>\S.*))?|:\s*)$", _Reader.frame),
    (
        (".py",),
        rf"^\s*{_FILE}:(?P<line>\d+): (?P<name>[A-Za-z_][\w.]*)(?:: (?P<message>\S.*))?$",
        _Reader.location,
    ),
    (("",), rf"^(?P<indent>\s*)(?P<name>{NAME})(?:\(\w+\))?(?:: (?P<message>.*)|:?\s*)$", _Reader.exception),
    ((": ",), r"^\s*(?:ERROR|[Ee]rror|fatal(?: error)?|CRITICAL|FATAL): (?P<message>\S.*)", _Reader.tool),
    (("error in ",), r"^\s*(?P<message>error in \S+ setup command: .*)", _Reader.tool),
    (("error: ",), r"^\s*(?P<message>[^\s:][^:\n]*(?::\d+){1,2}: (?:fatal )?error: .*)", _Reader.tool),
    (_LOADED, rf"^(?P<message>.*(?:{_LOADER}).*)", _Reader.tool),
    (_CRASHED, rf"^\s*(?P<fatal>Fatal Python error: )|{_CRASHES}", _Reader.crash),
    (
        ("Error(", "Exception("),
        r"^\s*(?P<name>(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception))\(['\"](?P<message>.*)['\"],?\)$",
        _Reader.embedded,
    ),
    (
        ("Error: ", "Exception: "),
        rf"^(?! {{4}})(?!.{{0,200}}\bexcept\b).{{0,400}}?[\s\"'(=\[]{_SAID}",
        _Reader.embedded,
    ),
)
_FORMS = tuple((words, re.compile(form), take) for words, form, take in _TABLE)
