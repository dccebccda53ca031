"""The plots of docs/performance/scaling.md: several cards, several ranks, and the bytes that they exchange."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.drawing import bars, beside_equal, cases, counted, save, table

_LINK, _CARD, _PEER = (
    52e9,
    350e9,
    300e9,
)  # bytes a second of the host link, of device memory in products, and between cards, as on the page


def model(plt: Any) -> Path:
    """Draw the bytes that a rank receives by the model against the counted ones."""
    figure, axes = plt.subplots(figsize=(5.4, 4.4))
    ends: list[float] = []
    marks = {"h100x2-kron22": "o", "h100x2-kron24": "s", "h200x2-kron24": "D", "h200x2-kron26": "^",
             "h200x4-kron24": "v", "h200x4-kron26": "<"}  # fmt: skip
    for name, mark in marks.items():
        found = [case["notes"] for case in cases(f"scaling/{name}.json") if case["notes"].get("model")]
        told = [notes["model"] / 1e6 for notes in found]
        axes.plot(told, [notes["received"] / 1e6 for notes in found], mark, ms=5, alpha=0.7, label=name)
        ends += told
    beside_equal(axes, ends, "MB that a rank receives, by the model", "MB counted")
    axes.legend(fontsize=7)
    return save(plt, figure, "topics/scaling/model.png")


def predicted(plt: Any) -> Path:
    """Draw the speed-ups that the model predicts for 1 to 64 GPUs, from the table of the page."""
    head, *rows = table("scaling.md", "Predicted for GPUs")
    ranks = [int(cell) for cell in head[1:-1]]
    figure, axes = plt.subplots(figsize=(8, 4))
    axes.plot(ranks, ranks, color="k", lw=0.8, ls=":", label="as many times as fast as cards")
    for row, mark in zip(rows, "osD^v<>Px", strict=True):
        times = [float(cell) for cell in row[1:-1]]
        axes.plot(ranks, [times[0] / time for time in times], f"{mark}-", ms=4, label=row[0])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(ranks, ranks)
    axes.set_yticks(ranks, ranks)
    axes.set_xlabel("GPUs, eight a machine")
    axes.set_ylabel("times as fast as one (more is better)")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return save(plt, figure, "topics/scaling/predicted.png")


def scaling(plt: Any) -> Path:
    """Draw the speed-ups of two and four cards on kron:26."""
    gains: dict[tuple[str, str], dict[int, float]] = {}
    for ranks in (2, 4):
        for case in cases(f"scaling/h200x{ranks}-kron26.json"):
            line = gains.setdefault((case["name"], case["setting"]["placement"]), {1: 1.0})
            line[ranks] = case["reference"] / (1e3 * case["derived"]["median"])
    figure, axes = plt.subplots(figsize=(6, 3.6))
    axes.plot([1, 2, 4], [1, 2, 4], color="k", lw=0.8, ls=":", label="as many times as fast as cards")
    names = {"pagerank": "PageRank", "bfs": "search"}
    memories = {"zerocopy": "host memory", "device": "device memory"}
    for (name, placement), line in gains.items():
        mark = "o-" if placement == "zerocopy" else "s--"
        colour = {"pagerank": "tab:blue", "bfs": "tab:orange"}[name]
        axes.plot(list(line), list(line.values()), mark, color=colour, label=f"{names[name]}, {memories[placement]}")
    axes.set_xticks([1, 2, 4])
    axes.set_xlabel("H200s of one machine")
    axes.set_ylabel("times as fast as one (more is better)")
    axes.set_title("kron:26, 2.1 billion stored edges", fontsize=9)
    axes.legend(fontsize=8)
    return save(plt, figure, "topics/h200-scaling.png")


def by_search(plt: Any) -> Path:
    """Draw the times of batches of searches on two CPU ranks, divided in both ways, from the table of the page."""
    _, *rows = table("scaling.md", "Batches of searches", "by vertices")
    series: dict[str, list[float | None]] = {
        "divided by vertices": [float(row[1]) for row in rows],
        "divided by searches": [float(row[2]) for row in rows],
    }
    figure, axes = plt.subplots(figsize=(9, 3.2))
    bars(axes, [row[0].replace(", ", ",\n") for row in rows], series, ("0.7", "tab:blue"))
    axes.set_ylabel("ms of processor time (less is better)")
    axes.set_title("two CPU ranks, one thread each", fontsize=9)
    return save(plt, figure, "topics/scaling/by-search.png")


def two_ranks(plt: Any) -> Path:
    """Draw the times of one CPU rank, predicted for two and measured on two, from the table of the page."""
    _, *rows = table("scaling.md", "Measured on two ranks of a CPU")
    columns = {"one rank": 3, "predicted for 2": 4, "measured on 2": 5}
    series: dict[str, list[float | None]] = {
        name: [float(row[column]) for row in rows] for name, column in columns.items()
    }
    figure, axes = plt.subplots(figsize=(10, 3.4))
    bars(axes, [row[0].replace(", ", ",\n").replace(" of ", "\nof ") for row in rows], series,
         ("0.7", "tab:cyan", "tab:blue"))  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylabel("ms of processor time (less is better)")
    return save(plt, figure, "topics/scaling/two-ranks.png")


def exchange(plt: Any) -> Path:
    """Draw the ratio of exchange to reading of each algorithm on 8 parts, edges in either memory."""
    ratios = exchange_ratios()
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.24 * len(ratios)))
    for k, (said, colour) in enumerate((("host memory", "tab:blue"), ("device memory", "tab:cyan"))):
        axes.plot([pair[k] for pair in ratios.values()], range(len(ratios)), "os"[k], ms=5, color=colour,
                  label=f"edges in {said}")  # fmt: skip
    for limit, verdict in ((0.1, "good"), (0.5, "fair"), (2, "poor")):
        axes.axvline(limit, color="k", lw=0.8, ls=":")
        axes.annotate(verdict, (limit, 0), (-3, 4), textcoords="offset points", ha="right", fontsize=7)
    axes.set_yticks(range(len(ratios)), ratios)
    axes.set_ylim(len(ratios) - 0.5, -1)
    axes.set_xscale("log")
    axes.grid(axis="y", lw=0.3)
    axes.tick_params(labelsize=8)
    axes.set_xlabel("time of exchange over time of reading, 8 parts (less is better)")
    axes.legend(fontsize=8, loc="lower right")
    return save(plt, figure, "topics/scaling/exchange.png")


def exchange_ratios() -> dict[str, tuple[float, float]]:
    """Return ratios of exchange time to reading time on 8 parts: for edges in host memory, and in device memory."""
    ratios = {}
    for result in ("algorithms-scaling", "hive-scaling"):
        for case in counted(f"applications/{result}.json"):
            if case["setting"]["parts"] == 8 and case["name"] not in ratios:
                seconds = case["notes"]["received_bytes"] / _PEER
                read = 4 * case["notes"]["operations"]  # bytes
                ratios[case["name"]] = seconds * _LINK / read, seconds * _CARD / read
    return ratios


def cuts(plt: Any) -> Path:
    """Draw the bytes that the busiest rank receives in an iteration of PageRank, for each way to cut a graph."""
    names = {"1D gather": "1D, all of the vector", "1D halo": "1D, halo", "2D": "2D", "high/low": "high and low"}
    found = [case for case in counted("scaling/partitions.json") if case["name"] == "pagerank"]
    graphs = list(dict.fromkeys(case["setting"]["graph"] for case in found))
    figure, panels = plt.subplots(1, len(graphs), figsize=(11, 3.4))
    for axes, graph in zip(panels, graphs, strict=True):
        here = [case for case in found if case["setting"]["graph"] == graph]
        ranks = [case["setting"]["ranks"] for case in here]
        for (way, said), mark in zip(names.items(), "osD^", strict=True):
            received = [case["notes"]["busiest_bytes"][way] / 1e3 for case in here]
            axes.plot(ranks, received, f"{mark}-", ms=4, label=said)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(ranks, ranks)
        axes.set_xlabel("ranks")
        axes.set_title(graph.partition(".")[0], fontsize=9)
    panels[0].set_ylabel("KB that the busiest rank receives")
    panels[0].legend(fontsize=7)
    return save(plt, figure, "topics/scaling/cuts.png")
