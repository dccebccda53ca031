"""A bar chart of a report, if matplotlib is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.frame import Report


def pyplot() -> Any:
    """Return matplotlib's pyplot, which draws into files; without matplotlib print a line and return None."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no plot: matplotlib is not installed (pip install matplotlib)")
        return None
    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot


def plot(report: Report) -> Path | None:
    """Draw medians, spreads and references into a .png beside the report's JSON; return its path, None if not drawn."""
    path = report.path.with_suffix(".png")
    cases, unit = [case for case in report.cases if case.trials], report.unit
    if not cases:
        return None
    plt = pyplot()
    if plt is None:
        return None
    ours = [case.figure(unit) for case in cases]
    theirs = [case.reference if case.reference is not None else 0.0 for case in cases]
    ends = [_spread(case.seconds, value, unit) for case, value in zip(cases, ours, strict=True)]
    rows = range(len(cases))
    figure, axes = plt.subplots(figsize=(9, 1 + 0.42 * len(cases)))
    axes.barh([row - 0.2 for row in rows], ours, 0.38, xerr=list(zip(*ends, strict=True)), label="measured", capsize=2)
    if any(theirs):
        axes.barh([row + 0.2 for row in rows], theirs, 0.38, color="0.75", label="reference")
    axes.set_yticks(list(rows), [case.label for case in cases])
    axes.invert_yaxis()
    axes.set_xlabel(f"{unit} ({'less' if unit == 'ms' else 'more'} is better)")
    axes.set_title(f"{report.benchmark}, {report.started}", fontsize=9)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


def _spread(seconds: tuple[float, float, float], value: float, unit: str) -> tuple[float, float]:
    """Return the lengths of a bar's whiskers, down and up, to the trials' extremes, in the report's unit."""
    low, middle, high = seconds
    if unit == "ms":
        return (middle - low) * 1e3, (high - middle) * 1e3
    return max(0.0, value - value * middle / high), max(0.0, value * middle / low - value)
