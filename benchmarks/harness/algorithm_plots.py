"""The plots of docs/performance/index.md: algorithms, deep searches, batches, triangles, and the host's time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.drawing import NAMES, bars, chosen, median_of, save

_GAP = "algorithms/h200-gap.json"
_GRAPHS = ("kron:24", "urand:24")
_MEMORIES = {"zerocopy": "host memory", "device": "device memory"}


def _beside_emogi(plt: Any, placement: str, peer: str, name: str) -> Path:
    """Draw each algorithm's time beside EMOGI's, for edges in one memory."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
    for axes, graph in zip(panels, _GRAPHS, strict=True):
        found = [case for case in chosen(_GAP, graph=graph, placement=placement) if case["name"] in NAMES]
        groups = [NAMES[case["name"]].replace(", ", ",\n") for case in found]
        ours = [case["derived"]["median"] * 1e3 for case in found]
        bars(axes, groups, {"sparsezc": ours, peer: [case["reference"] for case in found]}, ("tab:blue", "0.7"))
        axes.set_yscale("log")
        axes.set_title(f"{graph}, edges in {_MEMORIES[placement]}", fontsize=9)
    panels[0].set_ylabel("ms (less is better)")
    return save(plt, figure, name)


def algorithms(plt: Any) -> Path:
    """Draw each algorithm's time beside EMOGI's, for edges in host memory."""
    return _beside_emogi(plt, "zerocopy", "EMOGI", "topics/h200-gap-emogi.png")


def device(plt: Any) -> Path:
    """Draw each algorithm's time beside EMOGI's, for edges in device memory."""
    return _beside_emogi(plt, "device", "EMOGI in HBM", "topics/h200-gap-device.png")


def host(plt: Any) -> Path:
    """Draw the slowdown of calls on a slow host, and on a core that another process uses."""
    result = "machine/h200-latency.json"
    kinds = {"slow host": ", slow against fast host", "shared core": ", core shared with a spinning process"}
    names = {"bfs": "search", "sssp": "shortest\npaths", "connected components": "components",
             "pagerank, 20 iterations": "PageRank", "betweenness, a source": "betweenness\nof a source"}  # fmt: skip
    series: dict[str, list[float | None]] = {
        kind: [median_of(result, name + suffix) for name in names] for kind, suffix in kinds.items()
    }
    figure, axes = plt.subplots(figsize=(8, 3.2))
    bars(axes, list(names.values()), series, ("tab:blue", "tab:orange"))
    axes.axhline(1, color="k", lw=0.8, ls=":")
    axes.set_ylabel("times as long (less is better)")
    axes.set_title("kron:24 in device memory", fontsize=9)
    return save(plt, figure, "topics/h200-host.png")


def components(plt: Any) -> Path:
    """Draw the time of components beside EMOGI's, for edges in either memory."""
    places = [(graph, placement) for graph in _GRAPHS for placement in ("device", "zerocopy")]
    found = [next(c for c in chosen(_GAP, graph=graph, placement=at) if c["name"] == "cc") for graph, at in places]
    groups = [f"{graph},\n{_MEMORIES[placement]}" for graph, placement in places]
    ours = [case["derived"]["median"] * 1e3 for case in found]
    figure, axes = plt.subplots(figsize=(8, 3.2))
    bars(axes, groups, {"sparsezc": ours, "EMOGI": [case["reference"] for case in found]}, ("tab:blue", "0.7"))
    axes.set_yscale("log")
    axes.set_ylabel("ms (less is better)")
    return save(plt, figure, "topics/h200-components.png")


def deep(plt: Any) -> Path:
    """Draw times of searches, shortest paths and components on a road network and on a grid."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4))
    for axes, graph in zip(panels, ("road", "grid:4096x4096"), strict=True):
        series: dict[str, list[float | None]] = {
            memory: [median_of("algorithms/h200-road.json", name, graph=graph, placement=placement, unit=1e-3)
                     for name in ("bfs", "sssp", "cc")]
            for placement, memory in _MEMORIES.items()
        }  # fmt: skip
        bars(axes, ["search", "shortest paths", "components"], series, ("tab:blue", "tab:cyan"))
        axes.set_yscale("log")
        axes.set_title({"road": "roads of seven cities, 478,011 vertices"}.get(graph, graph), fontsize=9)
    panels[0].set_ylabel("ms (less is better)")
    return save(plt, figure, "topics/h200-road.png")


def batches(plt: Any) -> Path:
    """Draw the time of one search, alone and as one of 64, beside EMOGI's."""
    result = "algorithms/h200-bfs64.json"
    alone = [next(c for c in chosen(result, graph=graph) if c["name"] == "bfs") for graph in _GRAPHS]
    series: dict[str, list[float | None]] = {
        "one of 64 at once": [median_of(result, "bfs64", graph=graph, unit=64e-3) for graph in _GRAPHS],
        "alone": [case["derived"]["median"] * 1e3 for case in alone],
        "EMOGI": [case["reference"] for case in alone],
    }
    figure, axes = plt.subplots(figsize=(7, 3.2))
    bars(axes, list(_GRAPHS), series, ("tab:blue", "tab:cyan", "0.7"))
    axes.set_yscale("log")
    axes.set_ylabel("ms a search (less is better)")
    axes.set_title("edges in host memory, row heads", fontsize=9)
    return save(plt, figure, "topics/h200-bfs64.png")


def triangles(plt: Any) -> Path:
    """Draw the time of counting the triangles of kron:24, beside GAP's algorithm's."""
    names = {"triangle_count": "sparsezc, one H200", "GAP's algorithm": "GAP's algorithm, 16 cores"}
    times = [median_of("algorithms/h200-triangles.json", name) for name in names]
    figure, axes = plt.subplots(figsize=(8, 1.7))
    drawn = axes.barh(list(names.values()), times, color=("tab:blue", "0.7"))
    axes.bar_label(drawn, [f"{seconds:.3g} s" for seconds in times], fontsize=8, padding=2)
    axes.set_xscale("log")
    axes.margins(x=0.1)
    axes.invert_yaxis()
    axes.set_xlabel("seconds for the 10.28 billion triangles of kron:24 (less is better)")
    return save(plt, figure, "topics/h200-triangles.png")


def calls(plt: Any) -> Path:
    """Draw the host's time for a small product, of the launch alone and with a wait for its end."""
    names = {"mxv": "mxv", "mxv, mask": "mask", "mxv, mask, accum": "mask and\naccumulator",
             "mxv, ~mask, accum, replace": "complement,\naccumulator,\nreplace"}  # fmt: skip
    found = [next(c for c in chosen("machine/h200-latency.json") if c["name"] == name) for name in names]
    series: dict[str, list[float | None]] = {
        "launched": [case["derived"]["median"] * 1e6 for case in found],
        "launched and waited for": [case["notes"]["with_a_wait_us"] for case in found],
    }
    figure, axes = plt.subplots(figsize=(8, 3.2))
    bars(axes, list(names.values()), series, ("tab:blue", "tab:cyan"))
    axes.set_ylabel("us a call from Python (less is better)")
    return save(plt, figure, "topics/h200-calls.png")
