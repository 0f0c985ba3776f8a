"""Looks for what makes a proof show nothing: scripts that know the answer, and symptoms that everybody has."""

from __future__ import annotations

import re

from envdoctor.engine.wording import fill
from envdoctor.rulebase.placeholders import filled
from envdoctor.workshop.lint_record import consumers_never_run
from envdoctor.workshop.proof import scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.rulebase.document import Complaint
    from envdoctor.workshop.lint_proof import Subject

#: What Python itself says of any module, name and argument: without a word besides, a message is no symptom.
_STOCK = re.compile(
    r"cannot import name|No module named|DLL load failed while importing|most likely due to a circular import"
    r"|has no attribute|is not (?:callable|subscriptable|iterable|defined|supported)|index out of range|invalid syntax"
    r"|No such file or directory|unsupported operand type|unhashable type|unexpected|keyword|positional|required"
    r"|missing"
    r"|\b(?:module|object|instance|type|got|an|takes|from|arguments?|but|was|were|given|name|must|be|not|for|__init__)\b"
    r"|\b(?:list|dict|str|int|float|bool|bytes|NoneType|function|tuple|set|string)\b"
)
_NOT_LITERAL = re.compile(r"\[[^\]]*\]|\(\?[:=!]|\\[dwsDWSbBAZ]|\{[\d,]*\}|[\^$*+?|().]")
_WORD = 3


def scripts_dishonest(subject: Subject) -> Iterator[Complaint]:
    """Scripts that look at versions, raise the failure themselves, or leave a consumer out."""
    rule = subject.rule
    script = str(rule.proof.get("script") or "")
    if not script or subject.about_metadata():
        return
    for said in scripts.looks_at_versions(script):
        hint = "a proof uses what breaks; leave the version out"
        yield subject.complaint(("proof", "script"), f"the script looks at a version (`{said}`); {hint}")
    for said in scripts.raised(script):
        hint = "call what fails, and let it fail"
        yield subject.complaint(("proof", "script"), f"the script raises something itself (`{said}`); {hint}")
    messages = [filled(one["message"]) for one in rule.symptoms if "message" in one]
    for text in scripts.said(script):
        if any(re.search(message, text) for message in messages):
            hint = "call what fails, and let it say so"
            yield subject.complaint(("proof", "script"), f"the script has the symptom in it (`{text[:60]}`); {hint}")
    yield from _consumers_left_out(subject, script)


def _consumers_left_out(subject: Subject, script: str) -> Iterator[Complaint]:
    code = scripts.bare(script)
    left_out = {}
    for name, line in subject.rule.consumers.items():
        words = set(re.findall(r"[\w-]+", fill(code, {"consumer": name, "module": line["module"]})))
        if not words & {name, name.replace("-", "_"), line["module"].partition(".")[0]}:
            left_out[name] = line["module"]
    for name in consumers_never_run(subject, left_out):
        hint = "import `{module}` in the script, and say `each: consumer`"
        yield subject.complaint(("consumers", name), f"the script never runs the consumer `{name}`; {hint}")


def symptoms_of_everybody(subject: Subject) -> Iterator[Complaint]:
    """Symptoms that half of all tracebacks show."""
    for number, symptom in enumerate(subject.rule.symptoms):
        message = filled(symptom.get("message", ""))
        left = _STOCK.sub(" ", _NOT_LITERAL.sub(" ", message).replace("\\", ""))
        if message and "in" not in symptom and sum(map(str.isalnum, left)) < _WORD:
            hint = "add the name that is missing, or `in:`"
            where = ("symptoms", number, "message")
            yield subject.complaint(where, f"the message `{message[:60]}` is what any traceback says; {hint}")
