"""The summary of a comparison of placements: a table of all cases, and ``hybrid`` beside the others.

All is derived from the cases of a result file, so it can be printed again without a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log
from typing import NamedTuple

from benchmarks.harness.frame import Case, number, table

ASCETIC = "ascetic"  # cached as published: entries that are not resident are gathered, never read in place
PLACEMENTS = ("hybrid", "zerocopy", "cached", ASCETIC, "gather", "stream", "uvm")
SINGLE = ("zerocopy", "cached", ASCETIC, "gather", "stream")  # they obey a budget and transfer in one way

# The project's goals, for a budget of a quarter of the edges; and for cached, of a half.
GOAL_BUDGET = 25.0
GOAL_BEST = 1.1  # most, over the best single placement's time
GOALS = {"gather": 2.0, ASCETIC: 1.5}  # least speed-up over these, geometric mean
GOAL_MOVED = 0.4  # most bytes of cached over gather's, for PageRank at a budget of half of the edges

HEADER = ["graph", "kernel", "budget", "placement", "cold ms", "min ms", "median", "max", "calls", "moved", "copied"]
HEADER += ["x hybrid", "ok"]


def alike(case: Case, cases: Iterable[Case], placement: str) -> Case | None:
    """Return the case that differs from this one in its placement alone; None if there is none."""
    same = ("graph", "budget")
    for other in cases:
        if (
            other.name == case.name
            and other.setting["placement"] == placement
            and all(other.setting[key] == case.setting[key] for key in same)
        ):
            return other
    return None


def row(case: Case, cases: list[Case]) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    hybrid = alike(case, cases, "hybrid")
    against = None if hybrid is None else case.figure("ms") / hybrid.figure("ms")
    name = case.name + (" / iteration" if case.parts > 1 else "")
    return [
        str(case.setting["graph"]), name, f"{case.setting['budget']:g}%", str(case.setting["placement"]),
        number(case.first_seconds * 1e3 / case.parts), *[number(second * 1e3) for second in case.seconds],
        str(len(case.trials)), number(case.notes.get("moved")), number(case.notes.get("copied")), number(against),
        case.verified,
    ]  # fmt: skip


class Beside(NamedTuple):
    """``hybrid`` beside the single placements, for one graph, kernel and budget."""

    hybrid: Case
    others: dict[str, Case]

    @property
    def best(self) -> Case:
        return min(self.others.values(), key=lambda case: case.figure("ms"))

    @property
    def over_best(self) -> float:
        return self.hybrid.figure("ms") / self.best.figure("ms")

    @property
    def fastest_over_best(self) -> float:
        """The ratio to the best for the fastest calls, which other load on the machine slows least."""
        return self.hybrid.seconds.min / min(case.seconds.min for case in self.others.values())

    def faster(self, placement: str) -> float | None:
        """Return how many times faster ``hybrid`` is than a placement; None if that was not measured."""
        other = self.others.get(placement)
        return None if other is None else other.figure("ms") / self.hybrid.figure("ms")


def beside(cases: list[Case]) -> list[Beside]:
    """Return a comparison for each case of ``hybrid`` with measured single placements."""
    found = []
    for case in cases:
        if case.setting["placement"] == "hybrid":
            others = {placement: other for placement in SINGLE if (other := alike(case, cases, placement))}
            if others:
                found.append(Beside(case, others))
    return found


def geometric_mean(numbers: Iterable[float]) -> float:
    """Return the geometric mean of some numbers.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    logs = [log(value) for value in numbers]
    return exp(sum(logs) / len(logs))


class Goal(NamedTuple):
    """A goal: the figure that was found, and its bound (at least or at most)."""

    what: str
    found: float
    bound: float
    least: bool

    @property
    def met(self) -> bool:
        return self.found >= self.bound if self.least else self.found <= self.bound


def goals(cases: list[Case]) -> list[Goal]:
    """Return the project's goals that these cases allow to check."""
    made = []
    wanted = [each for each in beside(cases) if each.hybrid.setting["budget"] == GOAL_BUDGET]
    if wanted:
        worst = max(wanted, key=lambda each: each.over_best)
        at = f"{worst.hybrid.setting['graph']}, {worst.hybrid.name}, {worst.best.setting['placement']}"
        what = f"hybrid's time over the best single placement's, at worst ({at})"
        made.append(Goal(what, worst.over_best, GOAL_BEST, least=False))
    for placement, bound in GOALS.items():
        ratios = [ratio for each in wanted if (ratio := each.faster(placement))]
        if ratios:
            what = f"hybrid's speed over {placement}'s, geometric mean of {len(ratios)}"
            made.append(Goal(what, geometric_mean(ratios), bound, least=True))
    for case in cases:
        gather = alike(case, cases, "gather")
        if gather and (case.name, case.setting["placement"], case.setting["budget"]) == ("pagerank", "cached", 50.0):
            what = f"PageRank at half of the edges, {case.setting['graph']}: bytes that cached moves over gather's"
            made.append(Goal(what, case.notes["moved"] / gather.notes["moved"], GOAL_MOVED, least=False))
    return made


def tables(cases: list[Case]) -> str:
    """Return the tables of all cases, of hybrid beside the others, and of the goals."""
    rows = sorted((row(case, cases) for case in cases), key=lambda r: (r[0], r[1], float(r[2][:-1])))
    parts = [table(HEADER, rows, left=4) if rows else "nothing was measured"]
    lines = [
        [
            str(each.hybrid.setting["graph"]), each.hybrid.name, f"{each.hybrid.setting['budget']:g}%",
            str(each.best.setting["placement"]), number(each.best.figure("ms")), number(each.hybrid.figure("ms")),
            number(each.over_best), number(each.fastest_over_best),
            *[number(each.faster(placement)) for placement in ("gather", ASCETIC, "cached")],
        ]
        for each in beside(cases)
    ]  # fmt: skip
    if lines:
        header = [
            "graph",
            "kernel",
            "budget",
            "best single",
            "its ms",
            "hybrid ms",
            "hybrid / best",
            "of fastest calls",
        ]
        parts.append(table([*header, "gather / hybrid", "ascetic / hybrid", "cached / hybrid"], lines, left=4))
    said = [
        [goal.what, number(goal.found), f"{'>=' if goal.least else '<='} {goal.bound}", "met" if goal.met else "MISSED"]
        for goal in goals(cases)
    ]
    if said:
        parts.append(table(["goal", "here", "bound", ""], said))
    return "\n\n".join(parts)
