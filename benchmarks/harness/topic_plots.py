"""One plot for each topic of docs/performance/: ``python -m benchmarks.harness.topic_plots [TOPIC ...]``.

Each is drawn from published results (from a page's table if trials are not published) into ``published/topics/``, and
can be drawn again when these change.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import algorithm_plots, application_plots, scaling_plots
from benchmarks.harness.drawing import bars, beside_equal, cases, chosen, save
from benchmarks.harness.plot import pyplot


def compressed(plt: Any) -> Path:
    """Draw products, PageRank and searches over plain and compressed ids."""
    result = "memory/h200-compressed.json"
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axes, graph in zip(panels, ("kron:24", "urand:24"), strict=True):
        found = {(c["name"], c["setting"]["ids"]): c for c in chosen(result, graph=graph, placement="zerocopy")}
        series: dict[str, list[float | None]] = {}
        for ids in ("plain", "natural", "degree"):
            bits = found["mxv", ids]["setting"]["bits"]
            names = ("mxv", "pagerank", "bfs")
            series[f"{ids}, {bits:.3g} bits an id"] = [found[name, ids]["derived"]["median"] * 1e3 for name in names]
        bars(axes, ["mxv", "PageRank,\nan iteration", "search"], series, ("0.7", "tab:cyan", "tab:blue"))
        axes.set_title(f"{graph}, edges in host memory", fontsize=9)
    panels[0].set_ylabel("ms (less is better)")
    return save(plt, figure, "topics/h200-compressed.png")


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
    bars(axes, ["search", "components", "PageRank", "mxv"], series, ("tab:blue", "tab:cyan", "tab:orange"))
    axes.set_yscale("log")
    axes.set_ylabel("GB/s of edges (more is better)")
    axes.set_title("150 GiB of edges in host memory, 140 GiB of device memory", fontsize=9)
    return save(plt, figure, "topics/h200-beyond_the_card.png")


def transfers(plt: Any) -> Path:
    """Draw the useful rate of each transfer over the share of rows that a product reads."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axes, mean in zip(panels, (150, 16), strict=True):
        for placement, colour in (("hybrid", "tab:blue"), ("zerocopy", "tab:green"), ("gather", "tab:red"),
                                  ("stream", "tab:purple")):  # fmt: skip
            line = chosen("memory/h200-transfers.json", graph=f"shifted, mean {mean}", placement=placement)
            shares = [100 * case["setting"]["share"] for case in line]
            rates = [case["derived"]["bytes_per_second"] / 1e9 for case in line]
            axes.plot(shares, rates, "o-", ms=3, color=colour, label=placement)
        axes.set_xscale("log")
        axes.set_xlabel("rows that are wanted, %")
        axes.set_title(f"rows of {mean} entries on average", fontsize=9)
        axes.legend(fontsize=8)
    panels[0].set_ylabel("useful GB/s (more is better)")
    return save(plt, figure, "topics/h200-transfers.png")


def model(plt: Any) -> Path:
    """Draw the bytes that the model predicts against the bytes that the GPU counts."""
    figure, axes = plt.subplots(figsize=(5.4, 4.6))
    ends: list[float] = []
    for graph, colour in (("kron:24", "tab:blue"), ("urand:24", "tab:orange")):
        found = [c for c in chosen("machine/h200-model.json", graph=graph) if c["notes"].get("counted")]
        predicted = [case["notes"]["nbytes"] / 1e6 for case in found]
        counted = [case["notes"]["counted"]["nbytes"] / 1e6 for case in found]
        axes.plot(predicted, counted, "o", ms=5, color=colour, label=graph)
        ends += predicted
    beside_equal(axes, ends, "MB over the host link, predicted on a CPU", "MB counted by the GPU")
    axes.legend(fontsize=8)
    return save(plt, figure, "topics/h200-model.png")


def shapes(plt: Any) -> Path:
    """Draw the time a byte of matrices of many shapes, relative to that of long rows."""
    found = [c for c in chosen("machine/h200-shapes.json", placement="zerocopy") if c["name"] == "mxv plus_second"]
    base = next(c for c in found if c["setting"]["graph"] == "stream")["derived"]["bytes_per_second"]
    labels = [case["setting"]["graph"] for case in found]
    figure, axes = plt.subplots(figsize=(8, 0.7 + 0.26 * len(found)))
    bars = axes.barh(labels, [base / case["derived"]["bytes_per_second"] for case in found], color="tab:blue")
    axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
    axes.axvline(1, color="k", lw=0.8, ls=":")
    axes.invert_yaxis()
    axes.tick_params(labelsize=8)
    axes.set_xlabel("time for each byte, beside rows of 2,048 entries (less is better)")
    return save(plt, figure, "topics/h200-shapes.png")


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
    return save(plt, figure, "topics/cpu-peers.png")


#: The drawings by topic; those of index.md, applications.md and scaling.md are in files of their own.
TOPICS: dict[str, Callable[[Any], Path]] = {
    **{each.__name__: each for each in (
        algorithm_plots.algorithms, algorithm_plots.host, algorithm_plots.components, algorithm_plots.deep,
        algorithm_plots.batches, algorithm_plots.device, algorithm_plots.triangles, algorithm_plots.calls,
        compressed, beyond_the_card, transfers, model, shapes, cpu,
    )},
    **{each.__name__: each for each in (
        application_plots.applications, application_plots.on_a_cpu, application_plots.parts,
    )},
    "scaling_model": scaling_plots.model,
    **{each.__name__: each for each in (
        scaling_plots.predicted, scaling_plots.scaling, scaling_plots.by_search, scaling_plots.two_ranks,
        scaling_plots.exchange, scaling_plots.cuts,
    )},
}  # fmt: skip


def main() -> None:
    """Draw the named plots, by default all."""
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
