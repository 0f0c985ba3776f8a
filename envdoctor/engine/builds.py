"""What an installed distribution was built for, held against the GPU, the driver and what it works with. Pure.

Which files and versions tell it, and the tables of the vendor, are data of the vocabulary (``builds``, ``gpu``). A word
of :data:`WORDS` is what a rule says of a build; where a fact is unknown that decides it, so is the build.
"""

from __future__ import annotations

import re

from envdoctor.engine.evaluate import answer_of
from envdoctor.engine.versions import within
from envdoctor.facts import ENV, FILE, SYSTEM
from envdoctor.model import Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Optional

    from envdoctor.engine.evaluate import Condition, Verdict
    from envdoctor.engine.trace import Trace
    from envdoctor.facts import Kind
    from envdoctor.model import Snapshot

    #: What the texts of a rule may name, where a word holds.
    Fields = Optional[dict[str, str]]
    Capability = tuple[int, int]


def file(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether files that a glob names are there."""
    _, glob, wanted = condition
    found = answer_of(FILE, glob, snapshot, trace)
    if isinstance(found, Unknown):
        return None
    verdict = bool(found) is (wanted == "present")
    if verdict:
        trace.saw("file." + glob, found[0] if found else f"no {glob}", found[0] if found else snapshot.source)
    return verdict


def build(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether a word holds of some distributions that are installed; each makes a finding."""
    verdict: Verdict = False
    for look in _looks(condition, snapshot):
        try:
            fields = WORDS[condition[2]].tells(look)
        except _OpenError as open_fact:
            trace.missed(*open_fact.args)
            verdict = None if verdict is False else verdict
            continue
        if fields is not None:
            verdict = True
            own = snapshot.packages[look.name]
            seen = [("packages." + look.name, own.version, snapshot.says(own)), *look.seen]
            trace.split(seen, {"distribution": look.name, "release": look.version, **fields})
    return verdict


def asked(condition: Condition, snapshot: Snapshot) -> Iterator[tuple[Kind[Any, Any], str]]:
    """The facts that decide it, as far as those that are known leave it open."""
    for look in _looks(condition, snapshot):
        try:
            WORDS[condition[2]].tells(look)
        except _OpenError:
            yield from look.asked


class _OpenError(Exception):
    """A fact that decides is unknown: its name, and the reason."""


class _Look:
    """A distribution with the facts about its build; what is looked at is noted as asked, what decides as seen."""

    def __init__(self, name: str, rows: Mapping[str, Any], table: Mapping[str, Any], snapshot: Snapshot) -> None:
        self.name, self.rows, self.table, self.snapshot = name, rows, table, snapshot
        self.version = snapshot.packages[name].version or ""
        self.asked: list[tuple[Kind[Any, Any], str]] = []
        self.seen: list[tuple[str, object, str]] = []

    def fact(self, kind: Kind[Any, Any], name: str) -> Any:
        """The value of a fact. Raises :class:`_OpenError`."""
        self.asked.append((kind, name))
        value = self.snapshot.facts.ask(kind, name)
        if isinstance(value, Unknown):
            raise _OpenError(f"{kind.name}.{name.partition(': ')[0]}", value.reason)
        return value

    def saw(self, fact: str, value: object, source: str = "") -> None:
        """Note a fact that decides."""
        self.seen.append((fact, value, source or self.snapshot.source))

    def partner(self) -> _Look | None:
        """What this distribution works with, if that is installed."""
        name = self.rows[self.name].get("partner", "")
        if name not in self.snapshot.packages:
            return None
        other = _Look(name, self.rows, self.table, self.snapshot)
        other.asked, other.seen = self.asked, self.seen
        return other

    def says(self, field: str) -> list[str]:
        """What the first row of a field tells that tells anything. Raises :class:`_OpenError`."""
        unknown = None
        for row in self.rows[self.name].get(field, ()):
            try:
                found = self._row(row)
            except _OpenError as open_fact:
                unknown = unknown or open_fact
                continue
            if found:
                found = [str(row["is"])] if "is" in row else found
                self.saw(f"build.{self.name}", f"{field} {' '.join(found)}", row.get("file", ""))
                return found
        if unknown:
            raise unknown
        return []

    def _row(self, row: Mapping[str, Any]) -> list[str]:
        """What one row tells: a text in the name, the version or files; or that release and CUDA are as it says."""
        if "named" in row:
            matches = (re.search(row["named"], path) for path in self.fact(FILE, row["file"]))
            return [match[1] for match in matches if match]
        if "file" in row:
            found: list[str] = self.fact(FILE, f"{row['file']}: {row.get('text') or self.table['text']}")
            return found
        if "name" in row:
            return _part(row["name"], self.name)
        if "local" in row:
            return _part(row["local"], self.version)
        fits = "cuda" not in row or self.cuda() in row["cuda"]
        return [row["is"]] if fits and within(self.version, row.get("release", ">=0")) else []

    def cuda(self) -> str:
        """The CUDA that it is built for, such as 12.1; another word for a build without, or nothing."""
        return next(iter(self.says("cuda")), "")


def _looks(condition: Condition, snapshot: Snapshot) -> Iterator[_Look]:
    _, names, _, rows, table = condition
    return (_Look(name, rows, table, snapshot) for name in names if name in snapshot.packages)


def _release(version: str) -> list[int]:
    """The numbers of a version, without what follows them."""
    return [int(one) for one in re.findall(r"\d+", (re.match(r"[\d.]*", version) or [""])[0])]


# --- the words --------------------------------------------------------------------------------------------------------


def _for_cuda(look: _Look) -> Fields:
    """It is built for CUDA."""
    cuda = look.cuda()
    return {"cuda": cuda} if cuda[:1].isdigit() else None


def _cpu_only(look: _Look) -> Fields:
    """It is built for the CPU alone."""
    return {} if look.cuda() == "cpu" else None


def _needs_newer_driver(look: _Look) -> Fields:
    """The driver is older than its CUDA takes, and no package of the vendor bridges that."""
    cuda = look.cuda()
    drivers = look.table["drivers"]
    needed = drivers.get(cuda) or drivers.get(cuda.partition(".")[0])
    if needed is None:
        return None
    driver = look.fact(SYSTEM, "nvidia-driver")
    if driver is None or within(driver, ">=" + needed) is not False:
        return None
    if look.fact(FILE, look.table["bridge"]) and not re.search(look.table["unbridged"], _models(look)):
        return None
    look.saw("system.nvidia-driver", driver)
    return {"cuda": cuda, "driver": driver, "needed": needed}


def _models(look: _Look) -> str:
    return str(look.fact(SYSTEM, "gpu") or "")


def _lacks_kernels(look: _Look) -> Fields:
    """None of the GPUs runs what it was compiled for."""
    if look.cuda() in ("cpu", "rocm"):
        return None
    gpus = list(_capabilities(look))
    built = " ".join(look.says("architectures")) if gpus else ""
    if not built or any(_runs(one, capability) for _, capability in gpus for one in built.split()):
        return None
    gpu, (major, minor) = gpus[0]
    look.saw("system.gpu", f"{gpu}, compute capability {major}.{minor}")
    return {"gpu": gpu, "needed": f"{major}.{minor}", "kernels": built}


def _capabilities(look: _Look) -> Iterator[tuple[str, Capability]]:
    """Each GPU with its compute capability: by its number on the bus, else by its model; none where one is new."""
    try:
        devices = look.fact(FILE, look.table["devices"])
    except _OpenError:
        devices = []
    known = [(f"GPU {one}", _by_number(one, look.table["numbers"])) for one in devices]
    if not known:
        models = [one for one in _models(look).split(", ") if one]
        known = [(one, _by_model(one, look.table["models"])) for one in models]
    if all(capability for _, capability in known):
        yield from ((name, _numbers(str(capability))) for name, capability in known)


def _by_number(device: str, ranges: Sequence[Sequence[str]]) -> str | None:
    at = int(device, 16)
    return next((found for first, last, found in ranges if int(first, 16) <= at <= int(last, 16)), None)


def _by_model(model: str, rows: Mapping[str, str]) -> str | None:
    return next((found for pattern, found in rows.items() if re.search(pattern, model)), None)


def _numbers(text: str) -> Capability:
    """A compute capability as two numbers: of ``8.6``, ``sm_86``, ``compute_120`` and ``9.0+PTX``."""
    digits = "".join(re.findall(r"\d", text))
    return int(digits[:-1]), int(digits[-1])


def _runs(compiled: str, capability: Capability) -> bool:
    """Whether a GPU runs code compiled for an architecture: of its generation, or translated when it is loaded."""
    built = _numbers(compiled)
    translated = compiled.startswith("compute") or compiled.endswith("PTX")
    return built <= capability if translated else built[0] == capability[0] and built[1] <= capability[1]


def _other_cuda(look: _Look) -> Fields:
    """It and its partner are built for different CUDAs, or one of them for none."""
    partner = look.partner()
    own, theirs = look.cuda(), partner.cuda() if partner else ""
    parts = 1 if look.rows[look.name].get("cuda-by") == "major" else 2
    if not (partner and own and theirs) or own.split(".")[:parts] == theirs.split(".")[:parts]:
        return None
    return _beside(partner, own=own, theirs=theirs)


def _other_release(look: _Look) -> Fields:
    """It is built for another release of its partner than is installed."""
    partner = look.partner()
    own = next(iter(look.says("built-for")), "") if partner else ""
    theirs = partner.version if partner else ""
    wanted, found = _release(own), _release(theirs)
    if partner is None or not wanted or wanted == found[: len(wanted)]:
        return None
    partner.saw("packages." + partner.name, theirs, partner.snapshot.says(partner.snapshot.packages[partner.name]))
    return _beside(partner, own=own, theirs=theirs)


def _other_names(look: _Look) -> Fields:
    """Its binaries refer to names of its partner's libraries that these do not have."""
    partner = look.partner()
    own = look.says("symbols") if partner else []
    theirs = partner.says("symbols") if partner and own else []
    gone = [name for name in own if name not in theirs]
    return _beside(partner, own=gone[0]) if partner and theirs and gone else None


def _no_binary(look: _Look) -> Fields:
    """It has no binary for the CUDA of its partner."""
    partner = look.partner()
    theirs = partner.cuda() if partner else ""
    own = look.says("binaries") if theirs[:1].isdigit() else []
    if partner is None or not own or theirs.replace(".", "") in own:
        return None
    return _beside(partner, own=", ".join(own), theirs=theirs)


def _beside(partner: _Look, **more: str) -> Fields:
    return {"partner": partner.name, **more}


def _hidden(look: _Look) -> Fields:
    """The dynamic loader is made to take an older copy of its library first."""
    for folder in (look.fact(ENV, "LD_LIBRARY_PATH") or "").split(":"):
        if not folder.startswith("/"):
            continue
        for path in look.fact(FILE, f"{folder.rstrip('/')}/{look.rows[look.name]['library']}"):
            found = path.rpartition(".so.")[2]
            have, own = _release(found), _release(look.version)
            if have[:1] == own[:1] and have < own[: len(have)]:
                look.saw("env.LD_LIBRARY_PATH", path, "the environment")
                return {"file": path, "theirs": found}
    return None


class Word(Record):
    """A word for a build: what it tells of a distribution, and the fields of the vocabulary that decide it."""

    tells: Callable[[_Look], Fields]
    fields: Sequence[str]


WORDS: Mapping[str, Word] = {
    "for-cuda": Word(tells=_for_cuda, fields=("cuda",)),
    "cpu-only": Word(tells=_cpu_only, fields=("cuda",)),
    "needs-newer-driver": Word(tells=_needs_newer_driver, fields=("cuda",)),
    "lacks-kernels": Word(tells=_lacks_kernels, fields=("architectures", "cuda")),
    "for-other-cuda": Word(tells=_other_cuda, fields=("cuda", "cuda-by")),
    "for-other-release": Word(tells=_other_release, fields=("built-for",)),
    "for-other-names": Word(tells=_other_names, fields=("symbols",)),
    "without-binary": Word(tells=_no_binary, fields=("binaries", "cuda")),
    "behind-older-library": Word(tells=_hidden, fields=("library",)),
}


def _part(expression: str, text: str) -> list[str]:
    """The groups of a match, joined by dots, or all of it; nothing where a text has none."""
    match = re.search(expression, text)
    return [".".join(match.groups()) or match[0]] if match else []
