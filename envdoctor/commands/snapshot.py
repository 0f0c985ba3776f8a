"""``envdoctor snapshot``."""

from __future__ import annotations

from envdoctor import doctor
from envdoctor.commands.configuration import parse
from envdoctor.commands.options import TARGET_EXAMPLES, add_output, add_target, examine, parser_for
from envdoctor.commands.output import write
from envdoctor.probes import answered
from envdoctor.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run(words: Sequence[str]) -> int:
    """``envdoctor snapshot``."""
    parser = parser_for(
        "snapshot",
        "Write the facts of an environment as JSON, redacted. envdoctor check --snapshot FILE diagnoses it anywhere.",
        TARGET_EXAMPLES.format(command="snapshot") + "  envdoctor snapshot -o facts.json\n",
    )
    add_target(parser)
    add_output(parser, formats=False)
    options = parse(parser, words)
    from envdoctor.renderers.line import few
    from envdoctor.renderers.redaction import Redactor
    from envdoctor.renderers.snapshot_document import asked, render
    from envdoctor.rulebase.shipped import shipped

    wanted, public = doctor.wanted(options.rules), shipped().wanted["env"]  # rules of others make nothing public
    examined = examine(options)
    if examined.siblings:
        first, *others = [str(one.target["environment"]) for one in (examined, *examined.siblings)]
        say(f"this is {first}; --python names another one: {few(others)}")
    examined = answered(examined, lambda now: asked(now, wanted))
    write(render(examined, wanted, Redactor.of_this_user(public)), options.output)
    return 0
