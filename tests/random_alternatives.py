"""Other sets of releases that may cure an environment, drawn at random, to hold what a plan costs against."""

import random

from envdoctor import doctor
from envdoctor.remedies import planner
from envdoctor.remedies.planner import DOWN
from envdoctor.searching import PlanSearch


def searched(venv):
    """The search for a plan for an environment, and the best that it finds."""
    search = PlanSearch(
        doctor.examine("python", str(venv)), doctor.rule_bases([], candidates=False), [],
        everything=False, project=None, tell=lambda _: None,
    )  # fmt: skip
    return search, search.run()


def cheaper(search, best, number, seed=0):
    """What those of so many draws cost that are steps cheaper than a plan; what is left of findings costs most.

    Only those are resolved of which what they want does not cost as much already.
    """
    drawing = random.Random(seed)
    for _ in range(number):
        choice = _drawn(search, drawing)
        made = search.candidate(choice) if choice and choice.cost[:DOWN] < best.cost[:DOWN] else None
        if made is not None and made.cost[:DOWN] < best.cost[:DOWN]:
            yield made.cost, made.versions


def _drawn(search, drawing):
    """A way for each finding, and of each distribution that it wants some of the releases that would do."""
    wants, picks = {}, []
    for clause in search.clauses:
        ways = planner.cure_only(clause).alternatives or clause.alternatives
        way = drawing.choice(ways)
        wants = planner.merged(wants, way.wants)
        if wants is None:
            return None
        picks.append((clause, way))
    some = {
        name: frozenset(drawing.sample(sorted(allowed), drawing.randint(1, len(allowed))))
        for name, allowed in wants.items()
    }
    least = [search.market.best(name, allowed)[0] for name, allowed in some.items()]
    return planner.Choice(wants=some, cost=planner.total([*least, *(way.cost for _, way in picks)]), picks=picks)
