"""What rules will ask is known before they are evaluated: all of it, once, and nothing that does not matter."""

import os
import re

import pytest
from conftest import CHECKOUT
from engine.rule_bases import base, rule, snapshot

from envdoctor.engine import diagnose as engine
from envdoctor.engine.declared import PLACES
from envdoctor.engine.evaluate import holds, matches
from envdoctor.engine.questions import questions
from envdoctor.engine.trace import Trace
from envdoctor.facts import CONFIG, ENV, MODULE, PROJECT, SOURCE, SYSTEM, Answer, Facts
from envdoctor.probes import answered
from envdoctor.rulebase.compile import compile_rule
from envdoctor.rulebase.sources import files_below
from envdoctor.rulebase.syntax import load_vocabulary, parse
from envdoctor.workshop.cells import snapshot_of

RULES = os.path.join(CHECKOUT, "rules")
ASKING = re.compile(
    r"^ *-? *\{?(?:source|config|artifact|env|module|system|process|library|marker|shadowed):", re.MULTILINE
)


class Asked(Facts):
    """Facts of which none is asked that was not answered."""

    def ask(self, kind, key):
        assert self.has(kind, key), f"{kind} {key} was not among the questions"
        return super().ask(kind, key)


class Told:
    """Answers, by the name of a kind, and notes every question."""

    def __init__(self, **values):
        self.values, self.rounds = values, []

    def answers(self, asked):
        self.rounds.append({kind: list(keys) for kind, keys in asked.items()})
        return {kind: dict.fromkeys(keys, self.values[kind.name]) for kind, keys in asked.items()}


@pytest.mark.trials
def test_no_shipped_rule_asks_for_more_than_was_said():
    words = load_vocabulary(os.path.join(RULES, "vocabulary.yaml"))
    seen = set()
    for path in files_below(RULES):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not ASKING.search(text):
            continue
        written, _ = parse(text, path, words)
        match = compile_rule(written, words)["match"]
        for cell in (*written.proof["bad"], *written.proof["good"]):
            here = answered(snapshot_of(cell, words), lambda now, match=match: questions([match], now))
            strict = here.replace(facts=Asked(here.facts._tables))
            if matches(match, strict):
                for one in match.get("asks", ()):
                    holds(one, strict, Trace())
            seen.update(kind.name for kind in here.facts._tables)
    assert {"source", "config", "artifact", "marker", "env", "system", "library"} <= seen


def found(here, *rules):
    candidates = engine.candidates(here, [base(*rules)])
    here = answered(here, lambda now: engine.asked(candidates, now))
    return engine.diagnose(here.replace(facts=Asked(here.facts._tables), probes=None), candidates)[0]


USES = {"uses": ["left.call"]}


def test_each_question_is_put_once_and_what_is_dear_only_where_it_matters():
    told = Told(env="1", system="2.17", project=True, source=Answer(), config=Answer(), module={"kind": "missing"})
    rules = [
        rule("a", when={"packages": {"left": ">=2"}, "env": {"X": "1"}, "source": USES}),
        rule("b", when={"packages": {"left": ">=2"}, "env": {"X": "2"}, "module": {"right": "missing"}}),
        rule("c", when={"packages": {"left": "<2"}, "system": {"glibc": "<3"}}),
        rule("d", when={"packages": {"left": ">=2"}, "source": USES}),
    ]

    assert found(snapshot({"left": "2.1"}, probes=told), *rules) == []
    declared = [(file, key.format("X")) for file, key in PLACES]
    dear = {SOURCE: ["left.call"], CONFIG: declared, MODULE: ["right"]}
    assert told.rounds == [{ENV: ["X"], PROJECT: ["named", "there"]}, dear]


def test_a_remedy_asks_once_its_rule_is_not_ruled_out():
    remedies = [{"install": "compat", "when": {"system": {"glibc": "<3"}}}, {"downgrade": "left<2"}]
    written = [rule("a", when={"env": {"X": value}, "packages": {"left": ">=2"}}, remedies=remedies) for value in "12"]

    offered = []
    for one in written:
        told = Told(env="1", system="2.17", project=False)
        offered += [
            [remedy.kind for remedy in finding.remedies] for finding in found(snapshot({"left": "2"}, probes=told), one)
        ]
        asked = {kind for round_ in told.rounds for kind in round_}
        assert asked == ({ENV, SYSTEM, PROJECT} if one is written[0] else {ENV, PROJECT})
    assert offered == [["install", "downgrade"]]


def test_a_target_that_leaves_a_question_open_is_not_asked_again():
    class Silent:
        def answers(self, asked):
            return {}

    here = answered(snapshot(probes=Silent()), lambda _: {MODULE: ["x"], ENV: ["Y"]})

    assert here.facts.ask(MODULE, "x").reason == here.facts.ask(ENV, "Y").reason == "this target cannot tell"
