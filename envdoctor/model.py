"""The nouns every layer shares. Immutable, built from plain values, and free of imports."""

from __future__ import annotations

from envdoctor.facts import Facts, Row
from envdoctor.facts import Record as Record  # noqa: PLC0414 - every layer takes it from here
from envdoctor.facts import Unknown as Unknown  # noqa: PLC0414

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import Self

    from envdoctor.facts import Probes

#: The severities of a finding, most severe first.
SEVERITIES = ("error", "warning", "info")
#: What a finding does to its victim.
IMPACTS = ("crash", "hang", "wrong-result", "install-failure", "slow")
#: How far a remedy may be trusted: as it is, with a loss it names, or only by hand.
SAFETIES = ("safe", "workaround", "manual")


class Location(str):
    """A path, and a line in it where that is known, as one text: ``train.py:3``, ``train.ipynb cell 2 line 3``.

    ``line`` is one of the file: of a notebook's cell it is ``None``.
    """

    __slots__ = ("line", "path")
    path: str
    line: int | None

    def __new__(cls, path: str, line: int | None = None, cell: int | None = None) -> Self:  # noqa: D102 - as above
        said = f":{line}" if cell is None else f" cell {cell} line {line}"
        made = super().__new__(cls, path if line is None else path + said)
        made.path, made.line = path, line if cell is None else None
        return made


class Distribution(Record):
    """One distribution that the target's interpreter would import from.

    ``name`` is normalised (PEP 503); ``version`` is the text of its metadata, or ``None`` where it is not known;
    ``path`` is the metadata directory or file that says so and ``location`` the ``sys.path`` entry it is in
    (both ``None`` for what is not installed). ``candidates`` are the versions of which a lock file installs one,
    while ``version`` is ``None``. ``optional`` says that only extras or groups of the project ask for it.
    """

    name: str
    version: str | None
    path: str | None = None
    location: str | None = None
    candidates: Sequence[Distribution] = ()
    optional: bool = False

    def __init__(
        self,
        *,
        name: str,
        version: str | None,
        path: str | None = None,
        location: str | None = None,
        candidates: Sequence[Distribution] = (),
        optional: bool = False,
    ) -> None:
        self.__dict__.update(name=name, version=version, path=path, location=location)
        if candidates:
            self.__dict__["candidates"] = candidates
        if optional:
            self.__dict__["optional"] = True


class Snapshot(Record):
    """What is known of one target.

    ``python`` has ``version`` (and ``implementation``, ``free_threaded``, ``debug``, ``executable``, ``prefix``);
    ``platform`` has ``system`` (``linux``, ``darwin``, ``win32``) and ``machine``; ``start_method`` has ``default``,
    ``stated`` where the user said what the program will use, and ``children`` where a running process shows it. A
    missing key is unknown.

    ``packages`` maps a normalised name to the distribution that would be imported; ``complete`` says whether a name
    that is not in it is known to be absent. ``duplicates`` are further distributions of a name that come behind the
    first. ``source`` names where the packages were read. ``siblings`` are the further environments of a target that
    has several, each to be judged by itself.

    ``facts`` are further ones, by kind and key: what compiled rules will ask of them is answered by ``probes``, where
    there are any, before the rules are evaluated. Only :func:`envdoctor.probes.answered` calls them. ``effects`` are
    those of the actions that were applied to the snapshot in memory (see ``engine.effects``).
    """

    target: Mapping[str, Any]
    python: Mapping[str, Any]
    packages: Mapping[str, Distribution]
    platform: Mapping[str, Any] = {}
    start_method: Mapping[str, Any] = {}
    complete: bool = True
    duplicates: Sequence[Distribution] = ()
    source: str = "the snapshot"
    facts: Facts = Facts()
    probes: Probes | None = None
    effects: Sequence[Any] = ()
    notes: Sequence[UnknownFact] = ()
    siblings: Sequence[Snapshot] = ()

    def says(self, one: Distribution | None) -> str:
        """Where a distribution is stated, or where all of them are."""
        path = one.path if one else None
        return self.source if not path else path if isinstance(path, Location) else Location(path)


class Evidence(Record):
    """One fact that a finding rests on. ``fact`` is a dotted name such as ``packages.NAME``.

    ``source`` says where it comes from, in words or as a :class:`Location`.
    """

    fact: str
    value: str
    source: str

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if not self.source:
            raise ValueError(f"evidence for {self.fact} needs a source")

    @property
    def location(self) -> Location | None:
        """The path, and the line where it is known, of what comes from a file."""
        return self.source if isinstance(self.source, Location) else None


class Action(Record):
    """The change that a remedy makes, as data: nothing in it is parsed again.

    ``verb`` is ``install`` (which upgrades and downgrades, too), ``uninstall``, ``reinstall``, ``replace`` (uninstall
    ``packages``, then install ``requirements``), ``set``, ``setenv`` or ``change``. ``requirements`` are PEP 508
    requirements to end up with, of which one named ``python`` is about the interpreter; ``packages`` are distributions
    to remove or to install again. ``file``, ``key`` and ``to`` say a configuration entry, ``name`` and ``to`` an
    environment variable. ``at`` is ``run`` or ``build``.
    """

    verb: str
    requirements: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    file: str | None = None
    key: str | None = None
    name: str | None = None
    to: Any = None
    at: str = "run"


class Remedy(Record):
    """One way out, ready to be shown.

    ``kind`` is the verb: ``upgrade``, ``downgrade``, ``pin``, ``install``, ``uninstall``, ``reinstall``, ``replace``,
    ``set``, ``setenv`` or ``change``. ``requirement`` is a PEP 508 requirement to end up with, ``package`` a
    distribution to remove; ``file``, ``line``, ``key``, ``to`` say a configuration entry (``line`` where it is known),
    and ``write`` what to write there, in place of ``replaces`` or of the whole line;
    ``name`` and ``to`` an environment variable; ``text`` is advice in words. ``at`` is ``run`` or ``build``.
    ``command`` is what to type in the examined environment, or ``None`` where nothing can be typed; ``text`` then says
    what else to know of it. ``action`` is the same as data.
    """

    kind: str
    requirement: str | None = None
    package: str | None = None
    file: str | None = None
    line: int | None = None
    key: str | None = None
    write: str | None = None
    replaces: str | None = None
    name: str | None = None
    to: Any = None
    text: str | None = None
    safety: str = "safe"
    effect: str | None = None
    at: str = "run"
    command: str | None = None
    action: Action | None = None


class Finding(Record):
    """A rule that holds in a snapshot, with the evidence. One without evidence cannot be made.

    ``packages`` are the distributions it is about, ``facts`` the kinds of fact its condition names, ``consumer`` the
    distribution that trips over the cause where the rule lists several. ``matched`` is what ``explain`` recognised
    in the text, and ``confirmed`` whether the environment agrees: ``True``, ``False``, or ``None`` for unknown.
    ``proof`` says whether a machine has run the rule's proof: ``proven``, ``unproven``, ``stale`` or ``refuted``;
    ``status`` is that of the rule: ``stable``, ``reported`` (cited, not proven) or ``candidate``; or ``derived``, where
    there is no rule and ``explain`` concluded it from the text and the environment. ``several`` is the title of more
    than one finding, with ``{count}`` in it, where the rule has one. ``environment`` is the prefix it was found in,
    where a target has several.
    """

    rule: str
    severity: str
    impact: str
    title: str
    why: str
    packages: Sequence[str]
    facts: Sequence[str]
    evidence: Sequence[Evidence]
    remedies: Sequence[Remedy] = ()
    references: Sequence[str] = ()
    proof: str = "unproven"
    status: str = "stable"
    consumer: str | None = None
    matched: Sequence[str] = ()
    confirmed: bool | None = None
    several: str = ""
    environment: str | None = None

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if not self.evidence:
            raise ValueError(f"a finding of {self.rule} needs evidence")


class Group(Record):
    """The findings of one rule, shown as one: one title, one list, and remedies that serve as many as they can.

    ``findings`` has at least one; they share rule, severity and impact. ``remedies`` come best first, equal ones once,
    those of several findings joined into one command where there is such a command.
    """

    title: str
    findings: Sequence[Finding]
    remedies: Sequence[Remedy] = ()


class Ignore(Record):
    """A wish to leave out the findings of a rule, of one ``package`` or of any.

    It counts up to and with the day ``until`` (``YYYY-MM-DD``), or for ever; ``source`` is where it is written.
    """

    rule: str
    source: str
    package: str | None = None
    reason: str | None = None
    until: str | None = None


class UnknownFact(Record):
    """A fact that a rule asked for, or that every rule would want, and that could not be read."""

    rule: str | None
    fact: str
    reason: str


class _Notebook(Row):
    """What renders a report that the last line of a cell evaluates to."""

    html: str = "renderers.html:fragment"
    text: str = "renderers.terminal:render"


class Report(Record):
    """The result of one run: what was examined, against how many rules, and what was found.

    ``groups`` are the findings as people are shown them, in the same order. ``ignored`` are findings that the user does
    not want to see, each with the wish that says so; they are not among ``findings``. ``ruled_out`` holds what
    ``explain`` recognised in the text but the environment contradicts; ``understood`` is what it made of the text, for
    a report without findings. ``parts`` are the reports of each environment, where the target has several.
    ``planned`` is the line of a plan that was made for just this, and what to know of it; empty where there is none.
    ``attached`` is what a bug report has besides: ``machine`` (rows of a label and texts), ``command`` (what
    reproduces it), ``traceback`` (lines), ``explained`` (a report) and ``snapshot`` (a document).
    """

    snapshot: Snapshot
    findings: Sequence[Finding]
    unknown: Sequence[UnknownFact] = ()
    rules: int = 0
    groups: Sequence[Group] = ()
    ignored: Sequence[tuple[Finding, Ignore]] = ()
    ruled_out: Sequence[Finding] = ()
    understood: Mapping[str, Any] = {}
    known_packages: Sequence[str] = ()
    parts: Sequence[Report] = ()
    planned: Sequence[str] = ()
    attached: Mapping[str, Any] = {}

    def _repr_html_(self) -> str:
        """What a notebook shows of a report."""
        text: str = _Notebook().function("html")(self)
        return text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - as IPython calls it
        """What IPython prints of a report."""
        printer.text(_Notebook().function("text")(self))


class Difference(Record):
    """One fact that two targets tell differently, by its dotted name; ``None`` on the side where it is not there.

    ``rules`` are the ids of those that hold on one of the sides and rest on it; ``known`` says whether any rule is
    about it. ``environment`` is where it is, where both targets have several.
    """

    fact: str
    before: str | None
    after: str | None
    rules: Sequence[str] = ()
    known: bool = False
    environment: str | None = None


class Comparison(Record):
    """Two reports side by side: what differs, the findings of the second that the first lacks, and the other way.

    Each of ``new`` comes with the differences that explain it; ``both`` counts the findings that the two share.
    """

    before: Report
    after: Report
    differences: Sequence[Difference]
    new: Sequence[tuple[Finding, Sequence[Difference]]]
    gone: Sequence[Finding]
    both: int = 0


class Kin(Record):
    """Environments that tell the same: their names, the report of one, and what differs from the first group."""

    names: Sequence[str]
    report: Report
    differences: Sequence[Difference] = ()


class Fleet(Record):
    """Many environments by groups, the one that the others are compared with first; and who was ``silent``, and why."""

    groups: Sequence[Kin]
    silent: Sequence[tuple[str, str]] = ()
