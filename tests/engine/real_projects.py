"""Conditions asked of the files of a project, as they are."""

from envdoctor.engine.evaluate import holds
from envdoctor.engine.questions import questions
from envdoctor.engine.trace import Trace
from envdoctor.facts import ENV, LIBRARY, PROJECT
from envdoctor.model import Snapshot
from envdoctor.probes import answered
from envdoctor.probes.project import Project
from envdoctor.rulebase.compile import note_raised
from envdoctor.rulebase.compile_condition import compile_condition


class Beside:
    """Answers from the files of a project; the machine has the variables that are given, and every library."""

    def __init__(self, files, variables):
        self.project, self.variables = Project.of(files), variables

    def answers(self, asked):
        known = {PROJECT: lambda _: True, ENV: self.variables.get, LIBRARY: lambda _: "present"}
        return {
            kind: {key: known.get(kind, lambda key, kind=kind: self.project.ask(kind, key))(key) for key in keys}
            for kind, keys in asked.items()
        }


def judged(when, files, words=None, symptoms=(), **variables):
    """The verdict on a condition, and the evidence as texts."""
    condition, trace = compile_condition(when, words or {}), Trace()
    note_raised(condition, symptoms)
    here = Snapshot(target={}, python={"version": "3.11.4"}, packages={}, probes=Beside(files, variables))
    here = answered(here, lambda now: questions([{"when": condition, "asks": []}], now))
    verdict = holds(condition, here, trace)
    return verdict, [f"{one.fact}={one.value} {one.source}" for one in trace.evidence()]
