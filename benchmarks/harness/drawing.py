"""Helpers of the plots of docs/performance/: published cases, tables of the pages, groups of bars, and the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PAGES = Path(__file__).resolve().parents[2] / "docs" / "performance"
PUBLISHED = Path(__file__).resolve().parents[1] / "published"
NAMES = {"bfs": "search", "cc": "components", "sssp": "shortest paths", "pagerank": "PageRank, an iteration"}


def counted(result: str) -> list[dict[str, Any]]:
    """Return all cases of a published result, those without a time among them."""
    found: list[dict[str, Any]] = json.loads((PUBLISHED / result).read_text())["cases"]
    return found


def cases(result: str) -> list[dict[str, Any]]:
    """Return the cases of a published result that were timed."""
    return [case for case in counted(result) if "median" in case.get("derived", {})]


def chosen(result: str, **setting: Any) -> list[dict[str, Any]]:
    """Return the cases of a result that have these settings."""
    return [case for case in cases(result) if setting.items() <= case["setting"].items()]


def median_of(result: str, name: str, unit: float = 1.0, **setting: Any) -> float:
    """Return the median time, in units of `unit` seconds, of the case that has a name and these settings."""
    (case,) = [case for case in chosen(result, **setting) if case["name"] == name]
    seconds: float = case["derived"]["median"]
    return seconds / unit


def bars(axes: Any, groups: list[str], series: dict[str, list[float | None]], colours: tuple[str, ...]) -> None:
    """Draw a group of bars for each label, one bar a series, with its value above it."""
    width = 0.8 / len(series)
    for k, (name, values) in enumerate(series.items()):
        at = [place + (k - (len(series) - 1) / 2) * width for place in range(len(groups))]
        drawn = [(x, value) for x, value in zip(at, values, strict=True) if value is not None]
        drawn_bars = axes.bar([x for x, _ in drawn], [y for _, y in drawn], 0.95 * width, color=colours[k], label=name)
        axes.bar_label(drawn_bars, [f"{y:,.0f}" if y >= 1000 else f"{y:.3g}" for _, y in drawn], fontsize=7)
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.margins(y=0.15)
    axes.legend(fontsize=8)


def beside_equal(axes: Any, ends: list[float], predicted: str, counted: str) -> None:
    """Draw the line of equal counted and predicted numbers between the ends, and label the axes."""
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color="k", lw=0.8, ls=":", label="equal")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(predicted)
    axes.set_ylabel(counted)


def table(page: str, heading: str, first: str = "") -> list[list[str]]:
    """Return the cells of a page's first table under a heading with `first` in its head, for times without trials."""
    section = (PAGES / page).read_text().split(f"\n## {heading}\n\n")[1].split("\n## ")[0]
    found = next(part for part in section.split("\n\n") if part.startswith("| ") and first in part.partition("\n")[0])
    lines = [[cell.strip() for cell in line[1:-1].split("|")] for line in found.splitlines()]
    return [lines[0], *lines[2:]]


def save(plt: Any, figure: Any, name: str) -> Path:
    """Write a figure into the published plots."""
    path = PUBLISHED / name
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path
