"""Texts of rows and cases: names, figures with their units, lines of the table."""

from __future__ import annotations

import re

from benchmarks.harness.frame import Case, number
from benchmarks.hive.row import Goal, Row

HEADER = ["row", "graph or entries", "placement", "first s", "min ms", "median", "max", "figure", "goal", "met"]
HEADER += ["predicted", "counted", "of copy", "peer", "x faster", "ok"]


def at_scale(graph: str, scale: int | None) -> str:
    """Return a generated graph at another scale.

    >>> at_scale("kron:24?symmetric=true", 12), at_scale("kron:24", None), at_scale("grid:1000x1000", 6)
    ('kron:12?symmetric=true', 'kron:24', 'grid:8x8')
    """
    if scale is None:
        return graph
    side = 1 << scale // 2
    return re.sub(
        r"(?<=:)(\d+x\d+|\d+)", lambda found: f"{side}x{side}" if "x" in found[0] else str(scale), graph, count=1
    )


def said(value: float | None, unit: str) -> str:
    """Format a figure with its unit.

    >>> said(2.1e9, "steps"), said(0.25, "s"), said(None, "s"), said(0.5, "of peer"), said(2.1e9, "B")
    ('2.10 G steps/s', '0.250 s', '-', '0.500 of peer', '2.10 GB')
    """
    if value is None:
        return "-"
    if unit in ("s", "of peer"):
        return f"{number(value)} {unit}"
    size, letter = next(((s, x) for s, x in ((1e9, " G"), (1e6, " M"), (1e3, " k")) if value >= s), (1.0, " "))
    return f"{number(value / size)}{letter}" + (unit if unit == "B" else f" {unit}/s".replace("  ", " "))


def printed(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    notes = case.notes
    figure, goal = notes["figure"], notes["goal"]
    unit = Goal(goal or 0.0, notes["unit"])
    times = [number(second * 1e3) for second in case.seconds] if case.trials else ["-"] * 3
    share, of_copy = requested(case), number(case.share if case.trials and case.nbytes else None)
    met = "" if goal is None or figure is None else "met" if unit.is_met(figure) else "MISSED"
    if met and share is not None and share < notes.get("least share", 0.0):
        met = "MISSED"
    graph = str(case.setting["graph"] or case.setting.get("input", ""))
    return [
        case.name, graph, str(case.setting["placement"]), number(case.first_seconds or None),
        *times, said(figure, unit.unit) + _spread(case), said(goal, unit.unit), met, predicted(case), counted(case),
        of_copy if share is None else f"{number(share)} of requests",
        f"{case.peer} {said(case.reference, 's' if unit.is_time else unit.unit)}" if case.peer else _left_out(case),
        number(_faster(case, unit)), verdict(case),
    ]  # fmt: skip


def requested(case: Case) -> float | None:
    """Return a call's requests a second over the link's rate of random requests; None if that was not measured.

    Each request counts by itself; on the link, requests that share 32 or 128 bytes are merged.
    """
    rate = case.notes.get("link's requests a second")
    return case.requests / case.seconds.median / rate if rate and case.trials else None


def _spread(case: Case) -> str:
    """Return the least and the largest ratio of the row's call to the peer's, which ran in turns, as text."""
    ratios = case.series.get("ratios")
    return f" ({number(min(ratios))} to {number(max(ratios))})" if ratios else ""


def _left_out(case: Case) -> str:
    """Return the reasons why peers did not run, as text."""
    return "; ".join(f"- ({why})" for name, why in case.notes.items() if name.endswith(", left out")) or "-"


def _faster(case: Case, unit: Goal) -> float | None:
    figure = case.notes["figure"]
    if not case.reference or not figure:
        return None
    if unit.unit == "of peer":
        return float(1 / figure)
    return float(case.reference / figure if unit.is_time else figure / case.reference)


def verdict(case: Case) -> str:
    """Return the verdict on an answer, and if a row ended early, how."""
    ended = case.notes.get("ended")
    return case.verified if ended is None else f"{case.verified}; ended {ended}"


def predicted(case: Case) -> str:
    """Return as text the requests that a call needs, if these limit it, else the bytes that a part of it reads."""
    if case.requests:
        return said(float(case.requests), "requests").removesuffix("/s")
    return said(float(case.notes["predicted"]), "B") if case.notes.get("predicted") else "-"


def counted(case: Case) -> str:
    """Return the counted over the predicted requests or bytes, as text."""
    moved = case.notes.get("counted")
    if moved is None or not (case.requests or case.notes.get("predicted")):
        return "-"
    if case.requests:
        return f"{number(moved['requests'] / case.requests)}x" if moved["requests"] else "-"
    found = (moved["link_bytes"] or moved["device_bytes"]) / case.parts
    return f"{number(found / case.notes['predicted'])}x"


def listed(row: Row) -> list[str]:
    """Return a row's name, graph, description, goals and peers."""
    goals = ", ".join(f"{where}: {said(goal.value, goal.unit)}" for where, goal in row.goals.items())
    return [row.name, row.graph or row.made, row.what, goals, ", ".join(peer.name for peer in row.peers)]
