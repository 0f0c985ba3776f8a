"""All that is derived from each family of messages, word for word: by the text alone, and beside an environment."""

import pytest
from engine.rule_bases import snapshot
from engine.test_engine_derived import STANDARD, WORDS
from engine.test_engine_explanation import traceback
from engine.test_engine_families import MESSAGES
from golden.samples import same

from envdoctor.engine.asks import Asking, Edges
from envdoctor.engine.derived import asks, derive, endings, modules, questions
from envdoctor.engine.derived_case import filled
from envdoctor.engine.explanation import stated_environment
from envdoctor.engine.families import clues
from envdoctor.engine.names import Names
from envdoctor.linker.history import Life
from envdoctor.probes.error_text import read

HERE = snapshot(
    {"left": "2.1.0", "right-pad": "1.3", "third": "0.21.3", "fourth": "2"},
    lookups={
        ("requirements", "left"): ["third>=1", "absent ; python_version < '4'"],
        ("requirements", "right-pad"): ["left < 2", "fourth"],
        ("requirements", "third"): ["fourth", "left<3"],
        ("marker", "python_version"): "3.11",
    },
    source="the environment",
)
TRACKERS = {"left": "https://example.org/left/issues", "right-pad": "https://example.org/right"}
OFFERS = {("left", "pad"): ("there", "/site/left.py"), ("left.core", "pad"): ("gone", "/site/left/core.py")}
GONE = Life(distribution="left", name="left.pad", since="0.9", last="1.9", gone="2.0")
CAME = Life(distribution="left", name="left.pad", since="3.0")
ASKS = {
    "works": Asking(distribution="right-pad", until="1.4", since="1.5", works="1.6", python=">=3.8", again="2.0", free="1.4"),
    "caps": Asking(distribution="right-pad", until="1.9", caps="1.7", cap="left<2", before="1.0", free="1.6"),
}  # fmt: skip
#: The first message of each family.
FAMILIES = list({family: message for message, (family, _) in reversed(MESSAGES.items())}.values())[::-1]
MISSING = (
    "ImportError: cannot import name 'pad' from 'left.core' (/venv/lib/python3.11/site-packages/left/core.py)",
    "AttributeError: module 'left' has no attribute 'pad'",
    "AttributeError: 'Frame' object has no attribute 'append'",
    "TypeError: Frame.check() got an unexpected keyword argument 'force'",
    "ModuleNotFoundError: No module named 'left.core'",
    "ModuleNotFoundError: No module named 'nowhere.deep'",
    "ModuleNotFoundError: No module named 'distutils.core'",
)


def spelled(finding):
    """A finding with all its fields that are set, a line each."""
    yield f"  {finding.rule} {finding.severity} {finding.impact} {finding.status} {list(finding.facts)}"
    yield f"  {finding.title} {list(finding.packages)} {finding.consumer} {list(finding.matched)}"
    yield f"  {finding.why}"
    yield "  " + "; ".join(f"{one.fact}: {one.value} ({one.source})" for one in finding.evidence)
    for one in finding.remedies:
        said = [
            one.kind,
            one.at,
            one.safety,
            one.requirement or "",
            one.package or "",
            one.text or "",
            one.effect or "",
        ]
        yield f"  * {' | '.join(said)} {one.action.requirements}{one.action.packages}"
    yield from (f"  see {one}" for one in finding.references)


def told(message, frames=("left.core", "rightmod.core"), here=None, seen=None):
    """What a message leads to: the questions to files and to releases, and the findings."""
    said = read(traceback(*frames, error=message))
    found = clues(said, WORDS["voices"])
    known = Names(WORDS, here.packages if here else (), None, STANDARD)
    here, seen = here or stated_environment(said), seen or {}
    yield message.partition("\n")[0][:100]
    yield f"  ? {modules(found, said)} {endings(found)}"
    yield f"  ? { ({kind: each for kind, each in questions(found, known, here, seen).items() if each}) }"
    for one in asks(found, known, here, seen).values():
        yield f"  ? { ({name: each for name, each in one.as_dict().items() if each}) }"
    for finding in derive(found, known, here, seen):
        yield from spelled(finding)


@pytest.mark.parametrize("name", ["text", "environment", "own", "alone", "gone", "came", "works", "caps"])
def test_what_follows_from_each_family_of_messages(name):
    ways = {
        "text": (FAMILIES, {}),
        "environment": (FAMILIES, {"here": HERE, "seen": {"trackers": TRACKERS, "offers": OFFERS}}),
        "own": (MISSING, {"frames": (), "here": HERE}),
        "alone": (MISSING, {"frames": ("left.core",), "here": HERE}),
        "gone": (MISSING, {"here": HERE, "seen": {"history": {("left", "pad"): GONE, ("left.core", "pad"): GONE}}}),
        "came": (MISSING, {"here": HERE, "seen": {"history": {("left", "pad"): CAME, ("left.core", "pad"): CAME}}}),
    }
    for kind, asking in ASKS.items():
        edges = Edges(life=GONE, asking=asking, read={"left": 3})
        ways[kind] = MISSING, {"here": HERE, "seen": {"edges": {one.partition(": ")[2]: edges for one in MISSING}}}
    messages, more = ways[name]
    same(f"derived-{name}.txt", "\n".join(line for one in messages for line in told(one, **more)) + "\n")


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("{a} breaks {b}", {"a": "left 2", "b": "right"}, "left 2 breaks right"), ("{a} , and {b} .", {"a": "x", "b": ""}, "x, and."),
        ("with {b} , it stops", {"b": ""}, "with, it stops"), ("  a\n b  ", {}, "a b"), ("{c} stays", {"a": "x"}, "{c} stays"),
        ("{a}{a}", {"a": "x"}, "xx"), ("one , two , three . four .", {}, "one, two, three. four."),
    ],
)  # fmt: skip
def test_the_words_in_braces_are_replaced_and_leave_no_gap(text, fields, expected):
    assert filled(text, fields) == expected


@pytest.mark.parametrize(
    ("error", "since"),
    [
        ("ImportError: cannot import name 'Mapping' from 'collections'", "<3.10"),
        ("ModuleNotFoundError: No module named 'distutils.core'", "<3.12"),
        ("AttributeError: module 'asyncio' has no attribute 'coroutine'", "<3.11"),
        ("ImportError: cannot import name 'override' from 'typing'", ">=3.12"),
        ("ImportError: cannot import name 'nobody_ever_had_this' from 'typing'", None),
    ],
)
def test_the_python_that_has_a_name_of_the_standard_library(error, since):
    said = read(traceback("rightmod.core", error=error))
    found = derive(clues(said, WORDS["voices"]), Names(WORDS, (), None, STANDARD), stated_environment(said), {})[0]
    of_python = [one.requirement for one in found.remedies if (one.requirement or "").startswith("python")]
    assert ([f"python{since}"] == of_python) is (since is not None)
