"""One page of plots of EMOGI's experiments, if matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.emogi import paper
from benchmarks.harness.frame import Case, Report
from benchmarks.harness.plot import pyplot

_COLOURS = {"uvm": "0.6", "naive": "tab:red", "merged": "tab:orange", "aligned": "tab:green", "sparsezc": "tab:blue"}
_SIZES = ("32 B", "64 B", "96 B", "128 B")


def page(report: Report) -> Path | None:
    """Draw the page beside the report's JSON, as .png; return its path, or None without matplotlib."""
    path = report.path.with_suffix(".png")
    plt = pyplot() if report.cases else None
    if plt is None:
        return None
    figure, axes = plt.subplots(3, 2, figsize=(13, 14))
    searches = [case for case in report.cases if case.name == "bfs"]
    _sizes(axes[0, 0], searches)
    _bars(axes[0, 1], searches, lambda case: case.requests / 1e6 or None, "BFS: requests, millions (figure 7)")
    axes[0, 1].set_yscale("log")
    _bars(axes[1, 0], searches, lambda case: _gbs(case), "BFS: GB/s over the link (figure 8; UVM: at least)")
    rate = report.rates.get("zerocopy")
    if rate:
        axes[1, 0].axhline(rate / 1e9, color="k", lw=0.8, ls=":", label="cudaMemcpy")
        for kind, there in paper.LINK_GBS.items():
            scaled = there.value / paper.COPY_GBS * rate / 1e9
            label = f"paper, {kind} ({there.value} of {paper.COPY_GBS} GB/s)"
            axes[1, 0].axhline(scaled, color=_COLOURS[kind], lw=0.8, ls="--", label=label)
        axes[1, 0].legend(fontsize=7)
    _speed(axes[1, 1], searches)
    _bars(
        axes[2, 0],
        searches,
        lambda case: case.notes["amplification"],
        "BFS: bytes for each of the edge list (figure 10; UVM: at least)",
    )
    for kind, there in paper.AMPLIFICATION.items():
        label = f"paper, {kind}, {there.what}: {there.value}"
        axes[2, 0].axhline(there.value, color=_COLOURS[kind], lw=0.8, ls="--", label=label)
    axes[2, 0].legend(fontsize=7)
    _bars(
        axes[2, 1],
        report.cases,
        lambda case: case.notes["mean_seconds"] * 1e3,
        "ms, mean of the calls, whose number is above (figure 11)",
        above=lambda case: str(len(case.trials)),
    )
    axes[2, 1].set_yscale("log")
    figure.suptitle(f"EMOGI's experiments, {report.started}; dashed: {paper.CITATION}", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _gbs(case: Case) -> float:
    mean: float = case.notes["mean_seconds"]
    return case.nbytes / mean / 1e9


def _groups(cases: list[Case]) -> list[str]:
    several = len({case.name for case in cases}) > 1
    return list(dict.fromkeys(_group(case, several) for case in cases))


def _group(case: Case, several: bool) -> str:
    return f"{case.setting['graph']} {case.name}" if several else str(case.setting["graph"])


def _bars(
    axes: Any,
    cases: list[Case],
    of: Callable[[Case], float | None],
    title: str,
    *,
    above: Callable[[Case], str] = lambda _case: "",
) -> None:
    """Draw a group of bars for each graph (and algorithm), a bar for each variant, with the text of `above` on top."""
    axes.set_title(title, fontsize=9)
    if not cases:
        return
    groups = _groups(cases)
    several = len({case.name for case in cases}) > 1
    kinds = [kind for kind in _COLOURS if any(case.setting["variant"] == kind for case in cases)]
    for k, kind in enumerate(kinds):
        chosen = [case for case in cases if case.setting["variant"] == kind]
        at = [groups.index(_group(case, several)) + (k - len(kinds) / 2) * 0.8 / len(kinds) for case in chosen]
        bars = axes.bar(at, [of(case) or 0 for case in chosen], 0.75 / len(kinds), color=_COLOURS[kind], label=kind)
        axes.bar_label(bars, [above(case) for case in chosen], fontsize=6)
    axes.set_xticks(range(len(groups)), groups, fontsize=8, rotation=20 if several else 0)
    axes.legend(fontsize=7)


def _sizes(axes: Any, cases: list[Case]) -> None:
    """Draw requests by size, in shares, a bar for each graph and variant."""
    counted = [case for case in cases if case.notes.get("by_size")]
    names = [f"{case.setting['graph']}\n{case.setting['variant']}" for case in counted]
    below = [0.0] * len(counted)
    for k, size in enumerate(_SIZES):
        sizes = [list(case.notes["by_size"].values()) for case in counted]
        shares = [of_case[k] / max(sum(of_case), 1) for of_case in sizes]
        axes.bar(range(len(counted)), shares, 0.7, bottom=below, label=size, color=f"C{k}")
        below = [low + share for low, share in zip(below, shares, strict=True)]
    there = paper.SHARE_128["merged"]
    axes.axhline(1 - there.value, color="k", lw=0.8, ls="--", label=f"paper, merged: {there.value:.0%} of 128 B")
    axes.set_xticks(range(len(counted)), names, fontsize=7)
    axes.set_title("BFS: requests by size (figure 5)", fontsize=9)
    axes.legend(fontsize=7)


def _speed(axes: Any, searches: list[Case]) -> None:
    """Draw the speed of searches as a multiple of UVM's."""
    base = {case.setting["graph"]: case.notes["mean_seconds"] for case in searches if case.setting["variant"] == "uvm"}
    beside = [case for case in searches if case.setting["graph"] in base]
    _bars(
        axes,
        beside,
        lambda case: base[case.setting["graph"]] / case.notes["mean_seconds"],
        "BFS: times UVM's speed (figure 9)",
    )
    for kind, there in paper.OVER_UVM.items():
        axes.axhline(there.value, color=_COLOURS[kind], lw=0.8, ls="--", label=f"paper, {kind}: {there.value}")
    axes.legend(fontsize=7)
