"""The plots of docs/performance/applications.md: on a GPU, on a CPU, and the exchange between parts of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.drawing import cases, counted, save


def applications(plt: Any) -> Path:
    """Draw the figure that each application reaches, as a multiple of the required one."""
    found = [case for case in cases("applications/h200-hive.json") if case["notes"]["goal"]]
    reached = {}
    for case in found:
        figure, goal = case["notes"]["figure"], case["notes"]["goal"]
        is_time = case["notes"]["unit"] in ("s", "of peer")
        reached[case["name"], case["setting"]["placement"]] = goal / figure if is_time else figure / goal
    names = list(dict.fromkeys(name for name, _ in reached))
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.28 * len(names)))
    for k, (placement, colour) in enumerate((("zerocopy", "tab:blue"), ("device", "tab:cyan"))):
        here = [(at + 0.4 * k - 0.2, reached[name, placement]) for at, name in enumerate(names)
                if (name, placement) in reached]  # fmt: skip
        said = {"zerocopy": "edges in host memory", "device": "edges in device memory"}[placement]
        bars = axes.barh([at for at, _ in here], [ratio for _, ratio in here], 0.38, color=colour, label=said)
        axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
    axes.axvline(1, color="k", lw=0.8, ls=":")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.tick_params(labelsize=8)
    axes.margins(x=0.1)
    axes.set_xlabel('times as good as "at least" asks (more is better)')
    axes.legend(fontsize=8)
    return save(plt, figure, "topics/h200-applications.png")


def on_a_cpu(plt: Any) -> Path:
    """Draw the processor time of each application on a CPU, beside its first peer's."""
    rows = [(case["name"], case["derived"]["series"]["processor"]["median"], first_peer(case["notes"]))
            for case in cases("applications/hive-cpu.json")]  # fmt: skip
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.2 * len(rows)))
    axes.plot([ours for _, ours, _ in rows], range(len(rows)), "o", ms=5, color="tab:blue", label="sparsezc")
    beside = [(at, peer) for at, (_, _, peer) in enumerate(rows) if peer is not None]
    axes.plot([peer for _, peer in beside], [at for at, _ in beside], "s", ms=4, color="0.6", label="the first peer")
    _name_rows(axes, [name for name, _, _ in rows])
    axes.set_xlabel("seconds of the processor a call (less is better)")
    return save(plt, figure, "topics/applications/cpu.png")


def first_peer(notes: dict[str, Any]) -> float | None:
    """Return the processor seconds of the first peer that ran; None if none did."""
    return next((value for name, value in notes.items() if name.endswith(", processor")), None)


def parts(plt: Any) -> Path:
    """Draw the operations a byte that the busiest of 8 parts receives, beside the study's formulas."""
    found = [case for case in counted("applications/hive-scaling.json") if case["setting"]["parts"] == 8]
    ours = [case["notes"]["operations"] / case["notes"]["received_bytes"] for case in found]
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.24 * len(found)))
    axes.plot(ours, range(len(found)), "o", ms=5, color="tab:blue", label="counted")
    studied = [(at, list(case["notes"]["study"].values())) for at, case in enumerate(found) if case["notes"]["study"]]
    axes.plot([done / received for _, (done, received) in studied], [at for at, _ in studied], "s", ms=4, color="0.6",
              label="the study's formula")  # fmt: skip
    _name_rows(axes, [case["name"] for case in found])
    axes.set_xlabel("operations a byte that the busiest of 8 parts receives (more is better)")
    return save(plt, figure, "topics/applications/parts.png")


def _name_rows(axes: Any, names: list[str]) -> None:
    """Label a row for each name, from the top, beside a logarithmic axis."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.grid(axis="y", lw=0.3)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8)
