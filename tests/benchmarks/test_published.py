"""README.md and docs/ quote published results exactly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sparsezc.engines.distributed.model.cost import Rates, Work, predicted
from tests.benchmarks.runs import cases

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "benchmarks" / "published"
TEXTS = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_result_that_is_named_is_there() -> None:
    named = {name for text in TEXTS for name in re.findall(r"\bh200-[\w-]+\.(?:json|png)\b", text.read_text())}
    assert len(named) > 5
    assert named <= {path.name for path in PUBLISHED.rglob("*")}


@pytest.mark.parametrize(
    ("row", "placement", "heads"),
    [
        ("search, no heads (two sources)", "zerocopy", "off"),
        ("search, 8 heads a row", "zerocopy", "on"),
        ("search, no heads, `hybrid` (the same two sources)", "hybrid", "off"),
    ],
)
def test_searches_beyond_the_card_are_told_as_measured(row: str, placement: str, heads: str) -> None:
    found = {
        (case["setting"]["placement"], case["setting"]["heads"]): [trial["seconds"] for trial in case["trials"]]
        for case in cases(PUBLISHED / "memory" / "h200-beyond_the_card.json")
        if case["name"] == "bfs"
    }
    page = (ROOT / "docs" / "performance" / "memory.md").read_text()
    section = page.split("\n## Edges that exceed the card\n")[1].split("\n## ")[0]
    (line,) = [line for line in section.splitlines() if line.startswith(f"| {row} |")]
    told = [float(part) for part in line.split("|")[2].split(",")]
    assert sorted(told) == pytest.approx(sorted(found[placement, heads]), abs=0.006)
    in_place = [seconds for (where, _), times in found.items() if where == "zerocopy" for seconds in times]
    said = f"searched in {min(in_place):.1f} to {max(in_place):.1f} s"
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert re.search(rf'Read in place \(`placement="zerocopy"`\), a graph of 150 GiB [^.]*{re.escape(said)}', readme)


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "performance").glob("*.md")), ids=lambda path: path.stem)
def test_a_topic_opens_with_a_table_and_has_a_plot_and_its_provenance(path: Path) -> None:
    _, *topics = re.split(r"^## .*\n\n", path.read_text(), flags=re.MULTILINE)
    for topic in topics or [path.read_text().split("\n\n", 1)[1]]:  # a page of one topic has a title only
        assert topic.startswith("| ")
        plots = re.findall(r"^!\[[^]]{20,}\]\((.*)\)$", topic, re.MULTILINE)
        assert plots
        assert all((path.parent / plot).is_file() for plot in plots)
        assert topic.index("![") < topic.index("\n*Provenance.* ")


def test_every_drawn_topic_is_on_a_page() -> None:
    code = "".join(path.read_text() for path in (ROOT / "benchmarks" / "harness").glob("*_plots.py"))
    drawn = set(re.findall(r'"topics/([\w/-]+\.png)"', code))
    shown = {name for text in TEXTS for name in re.findall(r"published/topics/([\w/-]+\.png)", text.read_text())}
    topics = PUBLISHED / "topics"
    assert drawn == shown == {path.relative_to(topics).as_posix() for path in topics.rglob("*.png")}


def _verdict(ratio: float) -> str:
    return next((said for limit, said in ((0.1, "good"), (0.5, "fair"), (2, "poor")) if ratio < limit), "very poor")


def test_exchange_and_reading_are_told_as_counted() -> None:
    page = (ROOT / "docs" / "performance" / "scaling.md").read_text()
    section = page.split("\n## Computation and communication\n")[1].split("\n## ")[0]
    told = [line for line in section.splitlines() if line[:2] == "| "][2:]
    of_eight = {}
    for result in ("algorithms-scaling", "hive-scaling"):
        for case in cases(PUBLISHED / "applications" / f"{result}.json"):
            if case["setting"]["parts"] == 8:
                of_eight.setdefault(case["name"], case["notes"])
    assert len(told) == len(of_eight)
    for line, (name, notes) in zip(told, of_eight.items(), strict=True):
        done, received = notes["operations"], notes["received_bytes"]
        host, card = (received / 300e9 * rate / (4 * done) for rate in (52e9, 350e9))
        assert line.startswith(
            f"| {name} | {done:,.0f} | {received:,.0f} | {done / received:.3g} | {host:.2g} | {card:.2g} |"
            f" {_verdict(host)}; {_verdict(card)} |"
        )


def _milliseconds(seconds: float) -> str:
    """Return a time as the tables print it: three digits, and below ten milliseconds two decimals."""
    return f"{seconds * 1e3:.2f}" if seconds < 0.01 else f"{seconds * 1e3:.1f}"


def test_the_readme_tells_its_table_as_measured() -> None:
    found = {
        (case["name"], case["setting"]["graph"]): case
        for case in cases(PUBLISHED / "algorithms" / "h200-gap.json")
        if case["setting"]["placement"] == "zerocopy"
    }
    rows = {
        "breadth-first search": "bfs",
        "connected components": "cc",
        "shortest paths, lengths 8..72": "sssp",
        "PageRank, an iteration": "pagerank",
    }
    lines = (ROOT / "README.md").read_text().splitlines()
    for row, name in rows.items():
        cells = []
        for graph, of in (("kron:24", " of the copy rate"), ("urand:24", "")):
            case = found[name, graph]
            share = f" ({case['derived']['share_of_copy_rate']:.2f}{of})" if name == "pagerank" else ""
            cells += [_milliseconds(case["derived"]["median"]) + share, str(case["reference"])]
        assert f"| {row} | {' | '.join(cells)} |" in lines


def test_the_readme_tells_other_runs_as_measured() -> None:
    def case(result: str, name: str, **setting: Any) -> Any:
        setting = {"graph": "kron:24", **setting}
        (one,) = [
            case
            for case in cases(PUBLISHED / result)
            if case["name"] == name and setting.items() <= case["setting"].items()
        ]
        return one

    def time(result: str, name: str, **setting: Any) -> str:
        return f"{_milliseconds(case(result, name, **setting)['derived']['median'])} ms"

    def seconds(result: str, name: str, digits: int, **setting: Any) -> str:
        return f"{case(result, name, **setting)['derived']['median']:.{digits}f} s"

    gap, memory = "algorithms/h200-gap.json", "memory/h200-out_of_memory.json"
    on_card = {
        name: (time(gap, name, placement="device"), case(gap, name, placement="device")["reference"])
        for name in ("bfs", "cc", "sssp", "pagerank", "pagerank32")
    }
    packed = case("memory/h200-compressed.json", "pagerank", placement="zerocopy", ids="degree")
    batch = case("algorithms/h200-bfs64.json", "bfs64")["derived"]["median"]
    streamed = [
        case["derived"]["share_of_copy_rate"]
        for case in cases(PUBLISHED / "memory" / "h200-beyond_the_card.json")
        if case["setting"]["placement"] == "zerocopy" and case["name"] in ("pagerank", "spmv")
    ]
    readme = " ".join((ROOT / "README.md").read_text().split())
    triangles = "algorithms/h200-triangles.json"
    counted = seconds(triangles, "triangle_count", 3), seconds(triangles, "GAP's algorithm", 0)
    four = seconds("algorithms/h200-betweenness.json", "bc", 2, placement="zerocopy")
    opening = seconds("files/h200-opening.json", "open and search", 2, placement="mapped")
    for said in (
        f"a search takes {on_card['bfs'][0]} (EMOGI in HBM: {on_card['bfs'][1]})",
        f"components {on_card['cc'][0]} ({on_card['cc'][1]})",
        f"shortest paths {on_card['sssp'][0]} ({on_card['sssp'][1]})",
        f"a PageRank iteration {on_card['pagerank'][0]} ({on_card['pagerank32'][0].removesuffix(' ms')} in FP32)",
        f"are counted in {counted[0]} (GAP's algorithm on 16 cores: {counted[1]})",
        f"takes {time(memory, 'pagerank', placement='stream')} if the edges are copied in bulk",
        f"{_milliseconds(packed['derived']['median'])} ms with compressed ids",
        f"{packed['setting']['bits']:.1f} bits each",
        f"and {time(memory, 'pagerank', placement='hybrid')} uncompressed with device memory for a quarter",
        f"64 searches at once take {_milliseconds(batch)} ms, {batch * 1e3 / 64:.2f} each",
        f"Betweenness from four sources takes {four}",
        f"opening and searching take {opening}",
        f"streamed at {min(streamed):.2f} to {max(streamed):.2f} of the copy rate",
    ):
        assert said in readme


def test_conversions_are_told_as_measured() -> None:
    lines = (ROOT / "docs" / "formats.md").read_text().splitlines()
    found = cases(PUBLISHED / "files" / "converting.json")
    assert {case["name"] for case in found} >= {"txt", "mtx.gz", "npz"}
    for case in found:
        memory, (peak,), (moved,) = (
            case["setting"]["memory"], case["series"]["peak_bytes"], case["series"]["moved_bytes"]
        )  # fmt: skip
        assert case["verified"] == "yes"
        assert case["notes"]["in_memory"] != "done"
        assert peak <= 1.1 * memory
        assert case["setting"]["out_bytes"] > 4 * memory
        told = [f"{case['setting']['in_bytes'] / 1e9:.2f}", f"{case['derived']['median']:.0f}",
                f"{peak / 1e6:.0f} ({peak / memory:.2f})", f"{moved / 1e9:.1f}"]  # fmt: skip
        assert f"| `.{case['name']}` | {' | '.join(told)} |" in lines


def test_parts_are_told_as_counted() -> None:
    found: dict[str, dict[int, Any]] = {}
    for case in cases(PUBLISHED / "applications" / "hive-scaling.json"):
        found.setdefault(case["name"], {})[case["setting"]["parts"]] = case["notes"]
    page = (ROOT / "docs" / "performance" / "applications.md").read_text()
    section = page.split("\n## Parts of a graph\n")[1]
    lines = [line for line in section.splitlines() if line[:2] == "| "]
    expected = []
    for name, of in found.items():
        ours = [(of[parts]["operations"], of[parts]["received_bytes"]) for parts in (2, 8)]
        theirs = of[8]["study"] and tuple(of[8]["study"].values())
        told = [*ours, theirs]
        cells = [f"{number:,.0f}" if pair else "-" for pair in told for number in pair or (0, 0)]
        cells += [f"{pair[0] / pair[1]:.3g}" if pair else "-" for pair in told[1:]]
        expected.append(f"| {name} | {' | '.join(cells)} |")
    assert lines[2:] == expected


def cpu_lines() -> list[str]:
    """Return one line for each row that was run on a CPU, with its first peer."""
    lines = []
    for case in cases(PUBLISHED / "applications" / "hive-cpu.json"):
        notes = case["notes"]
        if not case["trials"]:
            continue
        peers = [name.removesuffix(", processor") for name in notes if name.endswith(", processor")]
        beside = f"{peers[0]}: {notes[peers[0] + ', processor']:#.3g}" if peers else ""
        ours = case["derived"]["series"]["processor"]["median"]
        lines.append(
            f"| {case['name']} | {case['setting']['graph'] or case['setting']['input']} | {ours:#.3g} | {beside} |"
        )
    return lines


def peer_lines() -> list[str]:
    """Return the table of docs/performance/cpu.md: one algorithm a line, one graph a column."""
    path = PUBLISHED / "cpu" / "cpu_peers.json"
    found = cases(path)
    graphs = list(dict.fromkeys(case["setting"]["graph"] for case in found))
    cells = dict.fromkeys(((case["name"], graph) for case in found for graph in graphs), "-")
    for case in found:
        notes = case["notes"]
        best = min(peer["min"] for peer in notes["peers"].values())
        cells[case["name"], case["setting"]["graph"]] = (
            f"{1e3 * case['derived']['min']:.3g} / {1e3 * best:.3g}: {notes['ratio']:.2f} ({notes['in_python']:.0%})"
        )
    for failure in json.loads(path.read_text())["failures"]:
        name, graph = failure["part"].rsplit(" of ", 1)
        cells[name, graph] = failure["error"].removeprefix("LeftOut: ")
    names = list(dict.fromkeys(name for name, _ in cells))
    head = ["| algorithm | " + " | ".join(graphs) + " |", "| --- " * (len(graphs) + 1) + "|"]
    return head + [
        f"| {name} | " + " | ".join(cells.get((name, graph), "-") for graph in graphs) + " |" for name in names
    ]


def test_algorithms_beside_their_peers_are_told_as_measured() -> None:
    page = (ROOT / "docs" / "performance" / "cpu.md").read_text()
    found = cases(PUBLISHED / "cpu" / "cpu_peers.json")
    assert [line for line in page.splitlines() if line[:2] == "| "] == peer_lines()
    within = sum(case["notes"]["ratio"] <= 1.5 for case in found)
    assert f"{within} of {len(found)} are within 1.5 times" in page
    assert {case["verified"] for case in found} <= {"yes", "not asked"}


def test_rows_on_a_cpu_are_told_as_measured() -> None:
    page = (ROOT / "docs" / "performance" / "applications.md").read_text()
    section = page.split("\n## On a CPU\n")[1].split("\n## ")[0]
    assert [line for line in section.splitlines() if line[:2] == "| "][2:] == cpu_lines()


def test_the_model_predicts_what_two_cards_took() -> None:
    """With kron:22's fixed costs the model predicts kron:24's times on two cards; the page quotes them to a percent."""
    small, large = (_two_cards(graph) for graph in ("kron22", "kron24"))
    section = (
        (ROOT / "docs" / "performance" / "scaling.md").read_text().split("\n## Measured on two and four GPUs\n")[1]
    )
    for row, name, most in (("10 PageRank iterations", "pagerank", 0.15), ("BFS", "bfs", 0.251)):
        known = small[name, "device"]
        steps = known["notes"]["collectives"]
        half = _predicted(known, steps, 0.0)
        step = (known["derived"]["median"] - half) / steps
        for placement, memory in (("device", "device memory"), ("zerocopy", "host memory")):
            case = large[name, placement]
            made, measured = _predicted(case, steps, step), case["derived"]["median"]
            assert abs(made / measured - 1) < most
            (line,) = [x for x in section.splitlines() if x.startswith(f"| {row}, kron:24, {memory}") and "%" in x]
            told = [float(part.strip(" %")) for part in line.split("|")[2:6]]
            assert told[0] == pytest.approx(case["reference"], rel=0.005)
            assert told[1:3] == pytest.approx([made * 1e3, measured * 1e3], rel=0.005)
            assert told[3] == pytest.approx(100 * (made / measured - 1), abs=0.6)


def _two_cards(graph: str) -> dict[tuple[str, str], Any]:
    found = json.loads((PUBLISHED / "scaling" / f"h100x2-{graph}.json").read_text())["cases"]
    return {(x["name"], x["setting"]["placement"]): x for x in found if x["setting"]["transport"] == "ipc"}


def _predicted(case: Any, steps: int, step: float) -> float:
    """Return the seconds predicted on two cards: half of one card's, the bytes that a rank receives, fixed costs."""
    work = Work(steps, case["reference"] / 1e3, 2.0 * case["notes"]["received"])  # a rank receives half of all
    rates = Rates(
        link=1.0, memory=2.0, peer=300e9, network=1.0, latency=0.0, network_latency=0.0, step=0.0, exchange_step=step
    )
    return predicted(work, rates, 2).total
