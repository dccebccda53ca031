"""One plot for each topic of docs/performance/: ``python -m benchmarks.harness.topic_plots [TOPIC ...]``.

Each is drawn from published results into ``published/topics/``, so it can be drawn again whenever these change.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness.plot import pyplot

PUBLISHED = Path(__file__).resolve().parents[1] / "published"
_NAMES = {"bfs": "search", "cc": "components", "sssp": "shortest paths", "pagerank": "PageRank, an iteration"}


def cases(result: str) -> list[dict[str, Any]]:
    """Return the cases of a published result that were measured."""
    found = json.loads((PUBLISHED / result).read_text())["cases"]
    return [case for case in found if "median" in case.get("derived", {})]


def _chosen(result: str, **setting: Any) -> list[dict[str, Any]]:
    """Return the cases of a result that have these settings."""
    return [case for case in cases(result) if setting.items() <= case["setting"].items()]


def _bars(axes: Any, groups: list[str], series: dict[str, list[float | None]], colours: tuple[str, ...]) -> None:
    """Draw a group of bars for each label, one bar a series, with its value above it."""
    width = 0.8 / len(series)
    for k, (name, values) in enumerate(series.items()):
        at = [place + (k - (len(series) - 1) / 2) * width for place in range(len(groups))]
        drawn = [(x, value) for x, value in zip(at, values, strict=True) if value is not None]
        bars = axes.bar([x for x, _ in drawn], [y for _, y in drawn], 0.95 * width, color=colours[k], label=name)
        axes.bar_label(bars, [f"{y:,.0f}" if y >= 1000 else f"{y:.3g}" for _, y in drawn], fontsize=7)
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.margins(y=0.15)
    axes.legend(fontsize=8)


def algorithms(plt: Any) -> Path:
    """Draw each algorithm beside EMOGI's time, edges in host memory."""
    result = "algorithms/h200-gap.json"
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
    for axes, graph in zip(panels, ("kron:24", "urand:24"), strict=True):
        found = [case for case in _chosen(result, graph=graph, placement="zerocopy") if case["reference"]]
        groups = [_NAMES[case["name"]].replace(", ", ",\n") for case in found]
        ours = [case["derived"]["median"] * 1e3 for case in found]
        _bars(axes, groups, {"sparsezc": ours, "EMOGI": [case["reference"] for case in found]}, ("tab:blue", "0.7"))
        axes.set_yscale("log")
        axes.set_title(f"{graph}, edges in host memory", fontsize=9)
    panels[0].set_ylabel("ms (less is better)")
    return _save(plt, figure, "topics/h200-gap-emogi.png")


def compressed(plt: Any) -> Path:
    """Draw products, PageRank and searches over plain and compressed ids."""
    result = "memory/h200-compressed.json"
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axes, graph in zip(panels, ("kron:24", "urand:24"), strict=True):
        found = {(c["name"], c["setting"]["ids"]): c for c in _chosen(result, graph=graph, placement="zerocopy")}
        series: dict[str, list[float | None]] = {}
        for ids in ("plain", "natural", "degree"):
            bits = found["mxv", ids]["setting"]["bits"]
            names = ("mxv", "pagerank", "bfs")
            series[f"{ids}, {bits:.3g} bits an id"] = [found[name, ids]["derived"]["median"] * 1e3 for name in names]
        _bars(axes, ["mxv", "PageRank,\nan iteration", "search"], series, ("0.7", "tab:cyan", "tab:blue"))
        axes.set_title(f"{graph}, edges in host memory", fontsize=9)
    panels[0].set_ylabel("ms (less is better)")
    return _save(plt, figure, "topics/h200-compressed.png")


def beyond_the_card(plt: Any) -> Path:
    """Draw the rates at which a graph larger than device memory is processed."""
    found = cases("memory/h200-beyond_the_card.json")
    names = {("zerocopy", "off"): "zerocopy", ("zerocopy", "on"): "zerocopy, row heads", ("hybrid", "off"): "hybrid"}
    kernels = ["bfs", "cc", "pagerank", "spmv"]
    rates = {(c["name"], names[c["setting"]["placement"], c["setting"]["heads"]]): c["derived"] for c in found}
    series: dict[str, list[float | None]] = {
        name: [rates[kernel, name]["bytes_per_second"] / 1e9 if (kernel, name) in rates else None for kernel in kernels]
        for name in names.values()
    }
    figure, axes = plt.subplots(figsize=(8, 3.4))
    axes.axhline(found[0]["rate"] / 1e9, color="k", lw=0.8, ls=":", label="copy rate of the host link")
    _bars(axes, ["search", "components", "PageRank", "mxv"], series, ("tab:blue", "tab:cyan", "tab:orange"))
    axes.set_yscale("log")
    axes.set_ylabel("GB/s of edges (more is better)")
    axes.set_title("150 GiB of edges in host memory, 140 GiB of device memory", fontsize=9)
    return _save(plt, figure, "topics/h200-beyond_the_card.png")


def transfers(plt: Any) -> Path:
    """Draw the useful rate of each transfer over the share of rows that a product wants."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axes, mean in zip(panels, (150, 16), strict=True):
        for placement, colour in (("hybrid", "tab:blue"), ("zerocopy", "tab:green"), ("gather", "tab:red"),
                                  ("stream", "tab:purple")):  # fmt: skip
            line = _chosen("memory/h200-ways.json", graph=f"shifted, mean {mean}", placement=placement)
            shares = [100 * case["setting"]["share"] for case in line]
            rates = [case["derived"]["bytes_per_second"] / 1e9 for case in line]
            axes.plot(shares, rates, "o-", ms=3, color=colour, label=placement)
        axes.set_xscale("log")
        axes.set_xlabel("rows that are wanted, %")
        axes.set_title(f"rows of {mean} entries on average", fontsize=9)
        axes.legend(fontsize=8)
    panels[0].set_ylabel("useful GB/s (more is better)")
    return _save(plt, figure, "topics/h200-ways.png")


def model(plt: Any) -> Path:
    """Draw the bytes that the model predicts against those that the GPU counts."""
    figure, axes = plt.subplots(figsize=(5.4, 4.6))
    ends: list[float] = []
    for graph, colour in (("kron:24", "tab:blue"), ("urand:24", "tab:orange")):
        found = [c for c in _chosen("machine/h200-model.json", graph=graph) if c["notes"].get("counted")]
        predicted = [case["notes"]["nbytes"] / 1e6 for case in found]
        counted = [case["notes"]["counted"]["nbytes"] / 1e6 for case in found]
        axes.plot(predicted, counted, "o", ms=5, color=colour, label=graph)
        ends += predicted
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color="k", lw=0.8, ls=":", label="equal")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("MB over the host link, predicted on a CPU")
    axes.set_ylabel("MB counted by the GPU")
    axes.legend(fontsize=8)
    return _save(plt, figure, "topics/h200-model.png")


def shapes(plt: Any) -> Path:
    """Draw the time for each byte of matrices of many shapes, beside that of long rows."""
    found = [c for c in _chosen("machine/h200-shapes.json", placement="zerocopy") if c["name"] == "mxv plus_second"]
    base = next(c for c in found if c["setting"]["graph"] == "stream")["derived"]["bytes_per_second"]
    labels = [case["setting"]["graph"] for case in found]
    figure, axes = plt.subplots(figsize=(8, 0.7 + 0.26 * len(found)))
    bars = axes.barh(labels, [base / case["derived"]["bytes_per_second"] for case in found], color="tab:blue")
    axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
    axes.axvline(1, color="k", lw=0.8, ls=":")
    axes.invert_yaxis()
    axes.tick_params(labelsize=8)
    axes.set_xlabel("time for each byte, beside rows of 2,048 entries (less is better)")
    return _save(plt, figure, "topics/h200-shapes.png")


def cpu(plt: Any) -> Path:
    """Draw the processor time of each algorithm on each graph, beside the least of other libraries."""
    found = [case for case in cases("cpu/cpu_peers.json") if case["notes"].get("cpu_ratio")]
    rows = list(dict.fromkeys(case["name"] for case in found))
    graphs = list(dict.fromkeys(case["setting"]["graph"] for case in found))
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.2 * len(rows)))
    for k, graph in enumerate(graphs):
        of_graph = [case for case in found if case["setting"]["graph"] == graph]
        ratios = [case["notes"]["cpu_ratio"] for case in of_graph]
        axes.plot(ratios, [rows.index(case["name"]) for case in of_graph], "osD^v<>P"[k], ms=5, alpha=0.8, label=graph)
    axes.axvline(1, color="k", lw=0.8, ls=":")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.grid(axis="y", lw=0.3)
    axes.tick_params(labelsize=8)
    axes.set_xlabel("processor time / the least of networkit, igraph and SciPy (less is better)")
    axes.legend(fontsize=7, loc="center left")
    return _save(plt, figure, "topics/cpu-peers.png")


def applications(plt: Any) -> Path:
    """Draw what applications reach, as a multiple of the figure that was asked for."""
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
    return _save(plt, figure, "topics/h200-applications.png")


def scaling(plt: Any) -> Path:
    """Draw what two and four cards gain on kron:26."""
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
    return _save(plt, figure, "topics/h200-scaling.png")


def _save(plt: Any, figure: Any, name: str) -> Path:
    """Write a figure into the published plots."""
    path = PUBLISHED / name
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


TOPICS: dict[str, Callable[[Any], Path]] = {
    each.__name__: each
    for each in (algorithms, compressed, beyond_the_card, transfers, model, shapes, cpu, applications, scaling)
}


def main() -> None:
    """Draw the plots that are asked for, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(TOPICS)} (all)")
    asked = parser.parse_args().topics
    if unknown := set(asked) - set(TOPICS):
        parser.error(f"no topic {min(unknown)!r}; there are {', '.join(TOPICS)}")
    plt = pyplot()
    for topic in asked or TOPICS:
        if plt is not None:
            print(f"drawn: {TOPICS[topic](plt)}")


if __name__ == "__main__":
    main()
