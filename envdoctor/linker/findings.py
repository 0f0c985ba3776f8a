"""Missing references as findings: one for each cause, with everybody who trips over it."""

from __future__ import annotations

from envdoctor.linker import binary_words
from envdoctor.linker.reach import ENTRY, SUBMODULE
from envdoctor.linker.release_cures import ReleaseCures, requirement
from envdoctor.linker.summary import LATER, PROGRAM
from envdoctor.model import SEVERITIES, Action, Evidence, Finding, Location, Remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from envdoctor.linker.environment_names import Environment
    from envdoctor.linker.history import Life
    from envdoctor.linker.verdicts import Missing

#: So many places are shown of one cause.
MOST_PLACES = 6
_RULES = {"unknown": "linked-argument-unknown", "many": "linked-argument-unknown", "twice": "linked-argument-unknown",
          "missing": "linked-argument-missing", "forwarded": "linked-argument-unknown",
          "syntax": "linked-syntax", "hidden": "linked-module-hidden",
          "hook": "linked-hook-argument",
          "setting": "linked-setting-removed", "form": "linked-form-refused", "float": "linked-form-refused",
          "undeclared": "linked-import-undeclared",
          "check": "linked-version-refused", "refuses": "linked-call-refused",
          "override": "linked-override", "state": "linked-attribute-unsaved"}  # fmt: skip
_ARGUMENTS = {"unknown": "with the argument {detail}", "many": "with more than {detail} arguments",
              "forwarded": "with the argument {detail}",
              "twice": "with {detail} by position and by name",
              "missing": "without the argument {detail}"}  # fmt: skip
_VERBS = {"setting": "sets", "form": "has", "undeclared": "imports", "argument": "passes on", "check": "asks for",
          "float": "gives a float to", "state": "lacks"}  # fmt: skip
_TITLES = {
    "name": "{who} take{s} {asked}, which {provider} does not have",
    "syntax": "{who} has a module that Python {python} cannot parse: {asked}",
    "arguments": "{who} call{s} {asked}() {how}, which {provider} does not accept",
    "broken": "{who} take{s} {asked}, which cannot be imported: {detail} is not installed",
    "refused": "{who} take{s} {asked}, which {provider} refuses to import",
    "refuses": "{who} call{s} {asked}(), which {provider} refuses",
    "hidden": "{detail} hides {provider} from {who}, which take{s} {asked} of it",
    "override": "{who} override{s} {asked}, and cannot take what {provider} calls it with",
    "setting": "{who} set{s} {name}, which {provider} no longer reads",
    "form": "{who} ha{ve} {asked}, which Python {python} refuses",
    "float": "{who} give{s} {asked}() a float, which {provider} refuses with Python {python}",
    "argument": "{who} hand{s} {name} to setup(), which {provider} refuses",
    "check": "{who} refuse{s} to be imported with {provider}",
    "loader": "{who} take{s} {asked}, which nothing loads with Python {python}",
    "undeclared": "{who} import{s} {asked}, which nothing installed has",
    "state": "{who} ha{ve} an object without {asked}, which {provider} reads",
    "lost": "{who} use{s} {asked} of an object, an attribute that {provider} no longer has",
    "hook": "{who} declare{s} {detail} in the hook {name}, which {provider} does not pass",
}
#: Of several findings about one provider that are shown together.
_SEVERAL = {
    "name": "{who} take{s} {{count}} things that {provider} does not have",
    "state": "{who} ha{ve} objects without {{count}} attributes that {provider} reads",
    "arguments": "{who} give{s} {{count}} arguments that {provider} does not accept",
    "lost": "{who} use{s} {{count}} attributes of objects that {provider} no longer has",
}
_WHY = {
    "name": "{module} of {provider} was read, and nothing in it binds {name}.",
    "broken": "{module} of {provider} imports {detail}, which no installed distribution has.",
    "refused": "Importing {module} of {provider} raises {detail}.",
    "refuses": "{module}.{name} of {provider} was followed with these arguments, and always raises {detail}.",
    "attribute": "The class and its bases were read in {module} of {provider}, and none of them has {name}.",
    "result": "{provider} says of what is asked for {name} that it is of this type, which has no such attribute.",
    "lost": "{detail}. Nothing else that is imported here has an attribute of this name, and no class is known.",
    "module": "{provider} has no module {name} in {module}.",
    "gone": "The module-level __getattr__ of {module} refuses {name}: {provider} has removed it.",
    "standard": "The standard library has {module}{dot}{name} {span}; this environment has Python {python}.",
    "syntax": "Python {python} cannot parse this file ({detail}), so importing it raises SyntaxError.",
    "hidden": "{detail} of the project is beside this file, so {module} is that file, and not that of {provider}.",
    "override": "{provider} calls {name} {detail}, each time with arguments that the override does not take.",
    "state": "{provider} sets {name} when it makes such an object, not when one is loaded, and reads it in {detail}.",
    "setting": "{detail}. No installed distribution mentions it, so it has no effect.",
    "form": "It raises {detail}; it works with {name}.",
    "float": "The stub of {module} takes an int in the place of {detail}, and Python 3.10 converts no float any more.",
    "argument": "{module} checks {name}, and raises {detail}.",
    "check": "{module} checks that itself, and raises {detail}.",
    "loader": "{module} loads {name} by find_module, which Python calls no more since 3.12, and has no find_spec.",
    "undeclared": "No metadata requires it, so nothing has installed it; importing it raises ModuleNotFoundError.",
    "hook": "{module} of {provider} specifies the hook {name} without {detail}, and refuses a plugin that declares it.",
    "unknown": "The signature of {module}.{name} in {provider} takes no argument {detail}.",
    "many": "The signature of {module}.{name} in {provider} takes {detail} positional arguments.",
    "forwarded": "{module}.{name} of {provider} passes {detail} on, and no function that receives it takes it.",
    "twice": "In the signature of {module}.{name} in {provider}, {detail} has the place of an argument before it.",
    "missing": "The signature of {module}.{name} in {provider} requires the argument {detail}.",
}


def findings(missing: Iterable[Missing], environment: Environment) -> list[Finding]:
    """Errors and warnings by cause, the most severe first."""
    causes: dict[tuple[str, ...], list[Missing]] = {}
    for one in missing:
        if one.severity != "info":
            causes.setdefault(_cause(one), []).append(one)
    cures = ReleaseCures()
    made = [_finding(places, environment, cures) for places in causes.values()]
    return sorted(made, key=lambda one: (SEVERITIES.index(one.severity), one.title))


def _cause(one: Missing) -> tuple[str, ...]:
    if one.kind in binary_words.TITLES:
        return (one.kind, one.consumer, one.asked)
    if one.kind in {"syntax", "form", "check"}:
        return (one.kind, one.consumer, one.file if one.kind == "syntax" else one.asked)
    if one.kind in {*_ARGUMENTS, "broken", "hook", "refuses"}:
        return (one.kind, one.provider, one.asked, one.detail)
    return ("name", one.provider, one.module, one.name)


def _finding(places: Sequence[Missing], environment: Environment, cures: ReleaseCures) -> Finding:
    places = sorted(places, key=lambda one: (SEVERITIES.index(one.severity), one.consumer, one.file, one.line))
    first = places[0]
    if first.kind in binary_words.TITLES:
        return binary_words.finding(places[:MOST_PLACES], environment, _when(first.way))
    consumers = list(dict.fromkeys(one.consumer for one in places))
    life = cures.life(first, environment.version(first.provider))
    return Finding(
        rule=_RULES.get(first.kind, "linked-name-missing"),
        severity=first.severity,
        impact="wrong-result" if first.kind == "setting" else "crash",
        title=_title(first, consumers, environment, _TITLES),
        several=_title(first, consumers, environment, _SEVERAL) if _form(first) in _SEVERAL else "",
        why=_why(first, environment, life),
        packages=environment.installed(dict.fromkeys([*consumers, first.provider])),
        facts=["source", "packages" if first.provider else "python"],
        evidence=_evidence(places, environment),
        remedies=_remedies(first, consumers, environment, life),
        consumer=next(iter(environment.installed(consumers)), None),
    )


def _form(first: Missing) -> str:
    """Which of the titles is that of a kind of mistake."""
    form = "arguments" if first.kind in _ARGUMENTS else first.kind
    return form if form in _TITLES else "name"


def _title(first: Missing, consumers: Sequence[str], environment: Environment, titles: Mapping[str, str]) -> str:
    more = len(consumers) - 1
    who = environment.named(consumers[0]) + (f" and {more} more" if more else "")
    return titles[_form(first)].format(
        who=who,
        python=environment.python,
        how=_ARGUMENTS.get(first.kind, "").format(detail=first.detail),
        s="" if more else "s",
        ve="ve" if more else "s",
        **first._asdict() | {"provider": environment.named(first.provider)},
    )


def _why(first: Missing, environment: Environment, life: Life | None) -> str:
    span = _span(environment.standard.span(first.module, first.name)) if first.kind == "standard" else ""
    why = _WHY[first.kind].format(
        module=first.module,
        name=first.name,
        dot="." if first.name else "",
        provider=environment.named(first.provider),
        python=environment.python,
        detail=first.detail,
        span=span,
    )
    known = life.said() if life else first.detail if first.kind == "attribute" else ""
    said = f" {known}." if known else ""
    return why if first.kind in {"setting", "state"} else f"{why}{said} {_when(first.way)}"


def _span(ends: tuple[str, str] | None) -> str:
    if ends is None:
        return "in no version"
    first, last = ends
    return f"up to Python {last}" if last else f"from Python {first} on"


def _when(way: int) -> str:
    """When a reference is reached, in words."""
    if way & LATER:
        return "It is taken when a function is called."
    if way & SUBMODULE:
        return "It is taken when this submodule is imported."
    if way & PROGRAM:
        return "It is taken when this file runs as a program."
    if way & ENTRY:
        return "It is taken when a command or plugin starts."
    return "It is taken by a plain import."


def _evidence(places: Sequence[Missing], environment: Environment) -> list[Evidence]:
    shown = [
        Evidence(
            fact=f"source.{one.consumer}" if environment.installed([one.consumer]) else "source",
            value=f"{environment.named(one.consumer)} {_VERBS.get(one.kind, 'takes')} {one.asked}",
            source=Location(one.file, one.line or None),
        )
        for one in places[:MOST_PLACES]
    ]
    first = places[0]
    if first.provider:
        fact = Evidence(
            fact=f"packages.{first.provider}",
            value=environment.version(first.provider),
            source=f"module {first.module}",
        )
    else:
        fact = Evidence(fact="python.version", value=environment.python, source="the standard library by version")
    return [*shown, fact]


def _remedies(first: Missing, consumers: Sequence[str], environment: Environment, life: Life | None) -> list[Remedy]:
    """Both sides: a consumer that no longer asks, a provider that still has it."""
    change = Remedy(kind="change", text=_consumers_side(first, consumers, environment), safety="manual")
    wanted = requirement(life, environment.version(first.provider)) if life else _wanted(first, environment)
    if wanted:
        kind = "upgrade" if ">" in wanted else "downgrade"
        action = Action(verb="install", requirements=(wanted,))
        return [change, Remedy(kind=kind, requirement=wanted, safety="workaround", action=action)]
    if not first.provider:
        return [change]
    other = "the release of {} that wrote it" if first.kind == "state" else "a release of {} that still has it"
    return [change, Remedy(kind="change", text=f"use {other.format(first.provider)}", safety="manual")]


def _wanted(first: Missing, environment: Environment) -> str:
    """The requirement that what is missing states by itself: on Python, or what a check asks for; else empty."""
    ends = environment.standard.span(first.module, first.name) if first.kind == "standard" else None
    if ends is not None:
        since, last = ends
        numbers = [int(part) for part in last.split(".")] if last else []
        return f"python<{numbers[0]}.{numbers[1] + 1}" if numbers else f"python>={since}"
    return {"form": first.name, "float": first.name, "check": first.asked if first.name else ""}.get(first.kind, "")


def _consumers_side(first: Missing, consumers: Sequence[str], environment: Environment) -> str:
    provider = environment.named(first.provider)
    if first.kind == "hidden":
        return f"rename {first.detail}"
    if first.kind == "setting":
        return f"remove {first.name} from {first.file}, and set what the release notes of {first.provider} name instead"
    installed = environment.installed(consumers)
    if installed:
        return f"use a release of {', '.join(installed)} that works with {provider}"
    if not first.line and first.consumer == first.file:
        return f"write {first.file} anew with {provider}"
    return f"change {first.file}{f':{first.line}' if first.line else ''} to what {provider} has"


def absorbed(rules: Sequence[Finding], missing: Iterable[Missing], environment: Environment) -> list[Finding]:
    """Findings of rules and of the linker, the most severe first.

    Where a rule is about what a consumer misses, its finding gains the evidence; who else misses it is told apart.
    """
    kept, rest, cures = list(rules), [], ReleaseCures()
    each: dict[tuple[str, ...], list[Missing]] = {}
    for one in missing:
        if one.severity != "info":
            each.setdefault((*_cause(one), one.consumer), []).append(one)
    for places in each.values():
        linked = _finding(places, environment, cures)
        at = next((at for at, rule in enumerate(rules) if _is_same(rule, linked)), None)
        if at is None:
            rest += places
        else:
            kept[at] = _joined(kept[at], linked)
    kept += findings(rest, environment)
    order = sorted(range(len(kept)), key=lambda at: (SEVERITIES.index(kept[at].severity), at))
    return [kept[at] for at in order]


def _joined(rule: Finding, linked: Finding) -> Finding:
    """The finding of a rule with the evidence of the linker; as severe as the linker says where both name one pair."""
    severity = rule.severity
    if set(linked.packages) <= set(rule.packages) and len(linked.packages) != 1:
        severity = min(severity, linked.severity, key=SEVERITIES.index)
    facts = {one.fact for one in rule.evidence if one.fact.startswith(("packages.", "python."))}
    known = facts | {one.source for one in rule.evidence}
    more = [one for one in linked.evidence if one.fact not in known and one.source not in known]
    joined: Finding = rule.replace(evidence=[*rule.evidence, *more], severity=severity)
    return joined


def _is_same(rule: Finding, linked: Finding) -> bool:
    """Whether a rule is about what the linker found: the same two sides, or a side and the missing name.

    What a rule says of one consumer is not said of another. What the project takes of the standard library has no
    side: there it is the same line.
    """
    if rule.rule.startswith("linked-"):
        return False
    if linked.consumer and linked.consumer not in rule.packages and set(rule.packages) - set(linked.packages):
        return False
    if not linked.packages:
        return "python" in rule.facts and not _sources(rule).isdisjoint(_sources(linked))
    return _has_side(rule, linked)


def _has_side(rule: Finding, linked: Finding) -> bool:
    """Whether a rule is about both sides of what the linker found, or about one of them and the missing name."""
    sides = set(linked.packages)
    common, several = sides & set(rule.packages), len(sides) > 1
    if several and common == sides:
        return True
    asked = binary_words.asked(linked)
    if not common or (several and asked):
        return False
    if _sources(rule) & _sources(linked):
        return True
    name = asked or linked.evidence[0].value.rpartition(" ")[2].rpartition(".")[2].rstrip("()")
    return name in f"{rule.title} {rule.why}" or (linked.facts[1] == "python" and "python" in rule.facts)


def _sources(finding: Finding) -> set[str]:
    return {one.source for one in finding.evidence}
