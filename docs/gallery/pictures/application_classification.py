"""A hidden pattern, and the probabilities that both rules give to its places."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states."""
    return bool(
        [each.to_dense().argmax(axis=0).tolist() == found.hidden.tolist() for each in found.log_p.values()]
        == [True, False]
    )


def draw(found: SimpleNamespace) -> Figure:
    """Draw the surroundings of the pattern and the probabilities of its true places."""
    hidden = [int(v) for v in found.hidden]
    graph = nx.DiGraph([(int(u), int(v)) for u, v in zip(*found.G.to_coo(values=False)[:2], strict=True)])
    around = set(hidden).union(*(nx.all_neighbors(graph, v) for v in hidden))
    shown = graph.subgraph(around).to_undirected()
    angle = np.pi / 2 - 2 * np.pi * np.arange(5) / 5
    corners = dict(zip(hidden, 0.4 * np.c_[np.cos(angle), np.sin(angle)], strict=True))
    start = {v: corners.get(v, np.random.default_rng(v).uniform(-1, 1, 2)) for v in shown}
    layout = nx.spring_layout(shown, pos=start, fixed=hidden, k=0.3, iterations=200, seed=3)
    figure, (left, right) = style.panels(1, 1.1, height=3.9)
    for edge in shown.edges:
        left.plot(*np.array([layout[v] for v in edge]).T, color=style.PALE, lw=0.9, zorder=1)
    for a, b in zip(*found.P.to_coo(values=False)[:2], strict=True):
        ends = layout[hidden[int(b)]], layout[hidden[int(a)]]
        arrow = {"arrowstyle": "-|>", "color": style.OURS, "lw": 2, "shrinkA": 8, "shrinkB": 8}
        left.annotate("", *ends, arrowprops=arrow, zorder=3)
    others = [v for v in shown if v not in hidden]
    style.vertices(left, np.array([layout[v] for v in others]), style.GREY, 30)
    style.vertices(left, np.array([layout[v] for v in hidden]), style.MARKED, 230, zorder=4)
    for k, v in enumerate(hidden):
        left.text(*layout[v], str(k), ha="center", va="center", fontsize=9, zorder=5)
    style.bare(left, f"The pattern in {len(around)} of {found.G.nrows} vertices")
    for rule, color, shift in (("corrected", style.OURS, -0.2), ("published", style.PUBLISHED, 0.2)):
        chance = np.exp(found.log_p[rule].to_dense())[hidden, np.arange(5)]
        right.bar(np.arange(5) + shift, chance, width=0.38, color=color, label=f'rule="{rule}"')
    chance = 1 / found.G.nrows
    right.axhline(chance, color=style.INK, lw=1, ls=":")
    right.text(4.47, chance, "chance", va="center", fontsize=8.5, bbox={"fc": "white", "ec": "none", "pad": 1})
    right.set(yscale="log", ylim=(1e-4, 8), xlim=(-0.5, 5), xticks=range(5))
    right.set(xlabel="vertex of the pattern", ylabel="probability of its true place")
    right.set_title("What the rules believe")
    right.legend(loc="upper right", ncols=2, borderaxespad=0)
    return figure
