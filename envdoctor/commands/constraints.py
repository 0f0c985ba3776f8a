"""``envdoctor constraints``."""

from __future__ import annotations

from envdoctor import doctor
from envdoctor.commands.configuration import parse
from envdoctor.commands.options import add_candidates, add_format, add_output, add_target, examine, parser_for
from envdoctor.commands.output import write
from envdoctor.engine.barred import bounds
from envdoctor.engine.installed_requirements import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.engine.barred import Bound

EXAMPLES = """\
examples:
  envdoctor constraints > constraints.txt      then: pip install -c constraints.txt ..., or uv pip install -c
  envdoctor constraints -f uv                  for [tool.uv] of pyproject.toml
  envdoctor constraints -r uv.lock numpy scipy what concerns these two of a lock file
  envdoctor constraints -f conda >> conda-meta/pinned

Of releases that do not go together, those are bounded that are not in use; the comment says which are. Rules that
depend on more than releases, such as your source or settings, are left to envdoctor check.
"""


def run(words: Sequence[str]) -> int:
    """``envdoctor constraints``."""
    parser = parser_for(
        "constraints",
        "Write the rules that concern what is installed as constraints for an installer, each with the id of its rule.",
        EXAMPLES,
    )
    parser.add_argument("packages", nargs="*", metavar="NAME", help="only what is said of these distributions")
    add_target(parser)
    add_candidates(parser)
    add_format(parser, FORMATS, "pip")
    add_output(parser, formats=False)
    options = parse(parser, words)
    wanted = set(map(normalise, options.packages))
    made = bounds(examine(options), doctor.rule_bases(options.rules, candidates=options.candidates))
    write(FORMATS[options.format]([one for one in made if not wanted or one.package in wanted]), options.output)
    return 0


def _comment(one: Bound) -> str:
    """Why a bound is there."""
    since = f": {', '.join(one.since)} {'is' if len(one.since) == 1 else 'are'} in use" if one.since else ""
    against = f"; in place of what {one.against}" if one.against else ""
    return f"# {one.rule}{since}{'; broken as it is' if one.broken else ''}{against}"


def _lines(made: Sequence[Bound], form: str) -> str:
    """A line for each bound, with its reason."""
    texts = [form.format(one=one) for one in made]
    width = max(map(len, texts), default=0)
    return "".join(f"{text:{width}}  {_comment(one)}\n" for text, one in zip(texts, made))


def _of_uv(made: Sequence[Bound]) -> str:
    """The settings of uv: bounds that a requirement of what is installed excludes are put in its place."""
    said = "[tool.uv]\n"
    for name, against in (("constraint-dependencies", False), ("override-dependencies", True)):
        some = [one for one in made if bool(one.against) == against]
        if some or not against:
            said += f"{name} = [\n" + _lines(some, '    "{one.package}{one.specifier}",') + "]\n"
    return said


def _taken(form: str) -> Callable[[Sequence[Bound]], str]:
    """What an installer without overrides takes; the rest is said in comments."""
    return lambda made: (
        _lines([one for one in made if not one.against], form)
        + _lines([one for one in made if one.against], f"# {form}")
    )


FORMATS: Mapping[str, Callable[[Sequence[Bound]], str]] = {
    "pip": _taken("{one.package}{one.specifier}"),
    "uv": _of_uv,
    "conda": _taken("{one.package} {one.specifier}"),
}
