"""benchmarks.peers compares logs of peers' programs, written here in their formats, with a result of benchmarks.gap."""

import json
from pathlib import Path

import pytest

from benchmarks.peers.__main__ import main
from benchmarks.peers.logs import Times, read

CUGRAPH = """\
RMM pool 90 GiB
{"kernel": "bfs_do", "source": 3, "ms_median": 4.0, "ms_all": [4.0, 5.0], "reached": 7}
{"kernel": "bfs_do", "source": 9, "ms_median": 6.0, "ms_all": [6.0], "reached": 7}
{"kernel": "bfs_do", "ms_median": 5.0, "ms_min": 4.5, "ms_all": [4.5, 6.0], "build_ms": {}}
{"kernel": "pagerank", "ms_median": 70.0, "ms_all": [70.0, 80.0], "iterations": 20}
{"kernel": "wcc", "ms_all": [46.0], "components": 2}
{"kernel": "bc", "ms_all": [180.0], "sources": 2}
{"kernel": "louvain", "ms_all": [7300.0], "modularity": 0.06}
{"kernel": "sssp", "error": "RuntimeError: rc=1"}
FINAL {"c": {"kernels": {}}}
"""
BLEST = """\
LOAD n=8 m=20 load_s=0.001 rss_GB=0.10
GPU kernel=lazy grid=8 block=128 upload_ms=1.0 gpu_GB=0.1
SOURCE 3 run=0 levels=4 visited=7 edges=20 kernel_ms=1.2500 event_ms=1.2 reset_ms=0.2500 gteps(edges/2)=1.0 check=ok
SOURCE 9 run=0 levels=4 visited=7 edges=20 kernel_ms=1.5000 event_ms=1.2 reset_ms=0.2500 gteps(edges/2)=1.0 CHECK=BAD(2)
SUMMARY sources=2 runs=2 mean_kernel_ms=1.3750 harmonic_mean_gteps=1.0
"""
ECL_CC = """\
ECL-CC v1.1 (eclcc.cu)
warmup compute_ms=9.0000
RUN compute_ms=8.5000
RUN compute_ms=8.1000
SUMMARY runs=2 median_ms=8.3000 min_ms=8.1000 Medges/s=100.0
union-find components: 2  check=ok
"""


def log(folder: Path, text: str) -> Path:
    path = folder / "peer.log"
    path.write_text(text)
    return path


def test_cugraph(tmp_path: Path) -> None:
    assert read("cugraph", log(tmp_path, CUGRAPH)) == [
        Times("bfs", "cugraph, both directions", [4.0, 5.0, 6.0]),
        Times("pagerank", "cugraph, FP32", [3.5, 4.0]),
        Times("cc", "cugraph", [46.0]),
        Times("bc", "cugraph", [90.0]),
        Times("sssp", "cugraph", [], "RuntimeError: rc=1"),
    ]


def test_blest_and_its_failed_check(tmp_path: Path) -> None:
    assert read("blest", log(tmp_path, BLEST)) == [
        Times("bfs", "blest", [1.25, 1.5], "its check failed"),
        Times("bfs", "blest, with clearing", [1.5, 1.75], "its check failed"),
    ]
    components = log(tmp_path, "CC components=2 kernel_ms=3.5 check=ok(edges)")
    assert read("blest", components) == [Times("cc", "blest", [3.5])]


def test_ecl_cc_without_its_warm_up(tmp_path: Path) -> None:
    assert read("ecl-cc", log(tmp_path, ECL_CC)) == [Times("cc", "ecl-cc", [8.5, 8.1])]
    (wrong,) = read("ecl-cc", log(tmp_path, ECL_CC.replace("check=ok", "CHECK=BAD")))
    assert wrong.failed == "union-find components: 2  CHECK=BAD"


@pytest.mark.parametrize(
    ("peer", "text", "message"),
    [
        ("cugraph", "\n{'kernel': 3}", r"peer\.log:2: JSONDecodeError"),
        ("cugraph", '{"kernel": "bc", "ms_all": [1.0]}', r"peer\.log:1: KeyError: 'sources'"),
        ("cugraph", '{"kernel": "tc", "ms_all": [1.0]}', "no line of cugraph with a time"),
        ("blest", "SOURCE 3 run=0 kernel_ms=fast", r"peer\.log:1: kernel_ms is fast; a number is needed"),
        ("blest", ECL_CC, "no line of blest with a time: 'SOURCE 3"),
        ("ecl-cc", "RUN compute=3", r"peer\.log:1: compute_ms is None"),
        ("ecl-cc", "", "no line of ecl-cc"),
    ],
)
def test_damaged_logs(peer: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read(peer, log(tmp_path, text))


@pytest.fixture
def result(tmp_path: Path) -> Path:
    def case(name: str, graph: str, placement: str, median: float) -> dict[str, object]:
        derived = {"min": median / 2, "median": median, "max": 2 * median}
        return {"name": name, "setting": {"graph": graph, "placement": placement}, "derived": derived}

    cases = [
        case("bfs", "kron:24", "device", 0.001),
        case("bfs", "kron:24", "zerocopy", 0.5),
        case("bc", "kron:24", "device", 0.36),
        {"name": "cc", "setting": {"graph": "kron:24", "placement": "device"}, "derived": {}},  # it failed
        case("bfs", "urand:24", "device", 0.7),
    ]
    path = tmp_path / "gap.json"
    path.write_text(json.dumps({"cases": cases}))
    return path


def test_both_side_by_side(result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(result), f"cugraph={log(tmp_path, CUGRAPH)}", "--graph", "kron:24"]
    assert main(given) == 1  # cuGraph's shortest paths failed
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "bfs 1 (0.5 to 2) cugraph, both directions 5 (4 to 6) 0.20 yes" in lines
    assert "bc 90 (45 to 180) cugraph 90 (90 to 90) 1.00 yes" in lines  # each divided by its number of sources
    assert "cc - cugraph 46 (46 to 46) - yes" in lines
    assert "sssp - cugraph - - RuntimeError: rc=1" in lines
    assert main([str(result), f"ecl-cc={log(tmp_path, ECL_CC)}", "--graph", "urand:24"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gunrock=x"], "gunrock=x': PEER=FILE is needed, with PEER one of cugraph, blest, ecl-cc"),
        (["blest=missing.log", "--graph", "kron:24"], "missing.log"),
        (["blest=missing.log"], "--graph is None; one of those with --placement device is needed: kron:24, urand:24"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(result), *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
