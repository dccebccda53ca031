"""A page of plots of a comparison of placements, if matplotlib is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.frame import Case, Report
from benchmarks.harness.plot import pyplot
from benchmarks.out_of_memory.summary import GOAL_BEST, PLACEMENTS

_NAMES = ("tab:blue", "tab:green", "tab:orange", "tab:brown", "tab:red", "tab:purple", "0.5")
_COLOURS = dict(zip(PLACEMENTS, _NAMES, strict=True))


def page(report: Report) -> Path | None:
    """Draw the page beside the report's JSON, as .png; return its path, None if not drawn.

    A graph at several budgets has two rows, time and bytes over the budget, with a column for each kernel. All graphs
    at one budget share a row of bars: times as multiples of hybrid's.
    """
    cases = [case for case in report.cases if case.trials]
    plt = pyplot() if cases else None
    if plt is None:
        return None
    graphs = list(dict.fromkeys(case.setting["graph"] for case in cases))
    kernels = list(dict.fromkeys(case.name for case in cases))
    swept = [graph for graph in graphs if len(_budgets(cases, graph)) > 1]
    single = [case for case in cases if case.setting["graph"] not in swept]
    height, columns = 2 * len(swept) + bool(single), len(kernels)
    figure = plt.figure(figsize=(3.4 * columns, 2.9 * height))
    grid = figure.add_gridspec(height, columns)
    for k, graph in enumerate(swept):
        for column, kernel in enumerate(kernels):
            lines = [case for case in cases if (case.setting["graph"], case.name) == (graph, kernel)]
            times, moved = figure.add_subplot(grid[2 * k, column]), figure.add_subplot(grid[2 * k + 1, column])
            _over_budget(times, moved, lines)
            times.set_title(f"{graph}: {kernel}", fontsize=9)
            if column == 0:
                times.set_ylabel("ms")
                moved.set_ylabel("bytes over the link / edge bytes")
                times.legend(fontsize=6)
    if single:
        _bars(figure.add_subplot(grid[height - 1, :]), single)
    figure.suptitle(f"Placements at budgets below the edges, {report.started}", fontsize=10)
    figure.tight_layout()
    path = report.path.with_suffix(".png")
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


def _budgets(cases: list[Case], graph: str) -> set[float]:
    """Return the budgets at which a graph was measured in a placement that obeys them."""
    return {c.setting["budget"] for c in cases if c.setting["graph"] == graph and c.setting["placement"] != "uvm"}


def _over_budget(times: Any, moved: Any, cases: list[Case]) -> None:
    for placement, colour in _COLOURS.items():
        line = sorted((c for c in cases if c.setting["placement"] == placement), key=lambda c: c.setting["budget"])
        if placement == "uvm" and line:
            times.axhline(line[0].figure("ms"), color=colour, lw=0.8, ls="--", label="uvm, all on the card")
        elif line:
            at = [case.setting["budget"] for case in line]
            times.plot(at, [case.figure("ms") for case in line], "o-", ms=3, color=colour, label=placement)
            moved.plot(at, [case.notes["moved"] for case in line], "o-", ms=3, color=colour)
    times.set_yscale("log")
    moved.set_xlabel("budget, % of the edges")


def _bars(axes: Any, cases: list[Case]) -> None:
    """Draw a group for each graph and kernel, a bar for each placement: its time as a multiple of hybrid's."""
    groups = list(dict.fromkeys((case.setting["graph"], case.name) for case in cases))
    base = {(c.setting["graph"], c.name): c.figure("ms") for c in cases if c.setting["placement"] == "hybrid"}
    kinds = [kind for kind in _COLOURS if any(case.setting["placement"] == kind for case in cases)]
    for k, kind in enumerate(kinds):
        chosen = [case for case in cases if case.setting["placement"] == kind]
        chosen = [case for case in chosen if (case.setting["graph"], case.name) in base]
        keys = [(case.setting["graph"], case.name) for case in chosen]
        at = [groups.index(key) + (k - len(kinds) / 2) * 0.8 / len(kinds) for key in keys]
        bars = [case.figure("ms") / base[key] for case, key in zip(chosen, keys, strict=True)]
        axes.bar(at, bars, 0.75 / len(kinds), color=_COLOURS[kind], label=kind)
    axes.axhline(1 / GOAL_BEST, color="k", lw=0.6, ls=":", label=f"hybrid {GOAL_BEST} times slower")
    axes.set_yscale("log")
    names = [f"{graph.partition('.')[0]}\n{kernel}" for graph, kernel in groups]
    axes.set_xticks(range(len(groups)), names, fontsize=6)
    budgets = "%, ".join(f"{budget:g}" for budget in sorted({case.setting["budget"] for case in cases}))
    axes.set_title(f"time beside hybrid's, budget of {budgets}%", fontsize=9)
    axes.legend(fontsize=6)
