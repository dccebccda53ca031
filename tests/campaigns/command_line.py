"""The command line under odd arguments, names, files, outputs and signals.

Most trials call ``sparsezc.cli.main`` in this process; a few start a process, to close streams or send a signal. Loops
over the trial's random edges judge the answers of ``--out``, which other libraries read back.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow.parquet

import sparsezc as gb
from sparsezc import cli
from tests.campaigns.frame import Trial

DEADLINE, MEMORY = 60.0, 400_000_000
ROOT = Path(__file__).resolve().parent.parent.parent

ODD = (
    "\x1b[31m", "\x1b]0;t\x07", "\n", "\r", "\t", "\x7f", "\x9b1m", "\u202e", "\u2028", "\udcff", "ä", "汉", " ", "'",
    '"', "%s", "{0}", "\\", "*", "$HOME", "~", ":", "?weights=1-9", "-", "--json", "..", ".gz", ".txt", "x" * 200, "=",
)  # fmt: skip
GOOD = ("kron:4", "urand:4:2", "grid:3x4", "path:7", "star:9", "star:1", "star:9?weights=1-9", "good.txt", "good.txt")
MADE = (
    "path:0", "kron:-1", "kron:99", "kron:", "kron:x", "grid:0x0", "grid:99999999999x99999999999", "grid:3x",
    "path:1e3", "path:" + "9" * 30, "star:²", "path:٣", "star:9?weights=", "star:9?weights=9-1", "kron:4?foo=1",
    "kron:4:0", "kron:3:999999999999", "urand:4:-1", "path:" + "9" * 5000, "kron:4:", "star:9?", "grid:1x1",
    "urand:0", "kron:0",
)  # fmt: skip
NUMBERS = (
    "0", "1", "3", "7", "-1", "99", "1e3", "0x10", "٣", "", " 2", "1_0", "9" * 20, "9" * 5000, "-" + "9" * 40, "nan",
    "inf", "-inf", "1e400", "1e-320", "0.5", "2", "abc", "0.85", "1e-6", "½", "0", "1", "2", "0.5",
)  # fmt: skip
SIZES = (
    "1GB", "300MB", "2GiB", "0", "-1", "0.5", "1.5", "1e-9", "nan", "inf", "1e30GB", "16 GB", "٣GB", "", "GB",
    "9" * 400,     "1GB", "0.9",
)  # fmt: skip
WEIGHTS = (
    "none", "FP32", "INT8", "UINT64", "bool", "FC64", "1-9", "0-0", "9-1", "1-4294967296", "f8,(", "S5", "INT64[2]", "",
    "O", "-1-5", "object", "9" * 5000,
)  # fmt: skip
READ_AS = ("snap", "mtx", "dimacs", "metis", "gap", "emogi", "npz", "parquet", "binsparse", "foo", "")
SUFFIXES = (
    ".txt", ".tsv", ".csv", ".json", ".npy", ".npz", ".parquet", ".pq", ".h5", ".hdf5", ".txt.gz", ".csv.gz",
    ".json.gz", ".tsv.gz", ".TXT", ".CSV.GZ",
)  # fmt: skip
FORMATS = (
    ".txt", ".mtx", ".gr", ".graph", ".sg", ".wsg", ".bel", ".npz", ".parquet", ".h5", ".mtx.gz", ".csv", ".xyz", "",
)  # fmt: skip
CONTENTS = (b"0 1\n1 2 5\n", b"", b"\x1b[31m\n", b"0 1\n1 \x1b[2J\xff\n", b"%%MatrixMarket\n", b"\0" * 99)
REDIRECTED = (
    ">/dev/full", "2>/dev/full", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", ">&- 2>/dev/full", "| head -c 1", "| true",
)  # fmt: skip
ENVIRONMENT = {"LC_ALL": ["C", "C.UTF-8"], "COLUMNS": ["0", "1", "-5", "x", "9" * 9], "TMPDIR": ["/none"]}
OUTPUT_REFUSED = "sparsezc: standard output cannot be written: No space left on device\n"


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Run one random kind of attack; a failure's message has the arguments."""
    kinds = {"arguments": odd_arguments, "answers": answers, "process": process, "interrupt": interrupt}
    kind = rng.choice(list(kinds), p=[0.6, 0.36, 0.03, 0.01])
    return Trial({f"{kind}: {what}": 1 for what in kinds[kind](Draw(rng, folder))})


@dataclass
class Draw:
    """A trial's random choices, and its folder."""

    rng: np.random.Generator
    folder: Path

    def one(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def name(self) -> str:
        """Return a file name, mostly an odd one, without a folder."""
        parts = [self.one(ODD) if self.chance(0.7) else self.one("abc") for _ in range(self.rng.integers(1, 4))]
        made = "".join(parts).replace("/", "_")[:200]
        return made if made not in (".", "..") else "dots"


@dataclass
class Outcome:
    """A command's exit status and output."""

    code: Any
    out: str
    err: str
    refused: bool = False  # standard output refused all text


def called(arguments: list[str], folder: Path, *, encoding: str = "utf-8", output: str = "open") -> Outcome:
    """Run a command in this process, in a folder and with streams of its own."""
    streams = sys.stdout, sys.stderr
    out: Any = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    err = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    full = Path("/dev/full").open("w") if output == "full" else None  # noqa: SIM115
    sys.stdout, sys.stderr = {"open": out, "full": full, "closed": None}[output], err  # type: ignore[assignment]
    try:
        with chdir(folder):
            code = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code  # type: ignore[assignment]
    finally:
        sys.stdout, sys.stderr = streams
        gb.config.reset()
        if full is not None:
            with suppress(OSError):
                full.close()
    printed = [stream.buffer.getvalue().decode(encoding) for stream in (out, err) if not stream.flush()]
    return Outcome(code, *printed, output == "full")


def judge(arguments: list[str], outcome: Outcome) -> str:
    """Check the rules for exit status, messages and output of any command, and return the kind of its end."""
    said = f"{arguments!r} ended with {outcome.code!r}, said {outcome.err[-3000:]!r}"
    own = [line for line in outcome.err.split("\n") if line and not line.startswith("sparsezc: warning: ")]
    shown = outcome.err if "--out" not in arguments or outcome.code else ""  # with "--out -" the report is on stderr
    assert "Traceback" not in outcome.err, said
    assert "unexpected" not in outcome.err, said
    assert "Exception ignored" not in outcome.err, said
    assert outcome.code in (0, 1, 2, 130), said
    for text in (outcome.err, outcome.out):
        assert all(line.isprintable() for line in text.split("\n")), f"{said}; control characters in {text[:3000]!r}"
    assert len(shown) < 6000, f"{said}: {len(shown)} characters"
    if outcome.code == 0:
        assert not own or "--out" in arguments or any(each.startswith("--out=") for each in arguments), said
    elif outcome.code == 1:
        assert len(own) == 1, said
        assert own[0].startswith("sparsezc: "), said
        assert not outcome.out, f"{said} and printed {outcome.out[:300]!r}"
    elif outcome.code == 2:
        assert own[0].startswith("usage: "), said
        assert "error: " in own[-1], said
    return f"exit status {outcome.code}"


def odd_arguments(draw: Draw) -> list[str]:
    """Run any subcommand with any of its options and some unknown ones."""
    inner = draw.folder / "in"
    inner.mkdir()
    (inner / "good.txt").write_text("0 1\n1 2\n")
    for name, behind in (("link.csv", "new.csv"), ("loop.csv", "loop.csv"), ("away.csv", "none/a.csv")):
        (inner / name).symlink_to(behind)
    file = inner / (draw.name() + draw.one(FORMATS))
    with suppress(OSError):  # the name may be too long
        file.write_bytes(draw.one(CONTENTS))
    odd = (draw.one(MADE), str(file), file.name, str(inner), "", "-", draw.name(), "/dev/null")
    target = draw.name() + draw.one(FORMATS + SUFFIXES)
    targets = (target, f"ok{draw.one(FORMATS + SUFFIXES)}", str(inner), "", "-", "/dev/null", "/dev/full", "none/a.csv")
    targets += ("link.csv", "loop.csv", "away.csv", "good.txt", "./good.txt")
    targets += (target, f"ok{draw.one(FORMATS + SUFFIXES)}", file.name)
    choices = cli.parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    parser = {name: each for name, each in choices.items() if name != "mpirun"}  # mpirun's exit status is a program's
    command = draw.one([*parser, *parser, *parser, draw.name(), "--version", "--help", ""])
    arguments = [command]
    if command in parser:
        for action in parser[command]._actions:
            if not action.option_strings:
                graph = draw.one(GOOD if draw.chance(0.6) else odd)
                arguments += [graph if action.dest == "graph" else draw.one(targets)] * (not draw.chance(0.02))
            elif draw.chance(0.5 if action.dest == "out" else 0.08) and action.dest not in ("debug", "help"):
                arguments += [draw.one(action.option_strings)]
                arguments += [] if action.nargs == 0 else [value(draw, action, targets)]
    if draw.chance(0.04):
        arguments.insert(int(draw.rng.integers(len(arguments) + 1)), draw.name())
    if "doctor" in arguments:
        arguments += ["--quick"]  # without a GPU there is no link to measure
    before = state(inner)
    output = draw.one(["open"] * 8 + ["full", "closed"])
    outcome = called(arguments, inner, encoding=draw.one(["utf-8", "ascii", "latin-1"]), output=output)
    kind = judge(arguments, outcome)
    after = state(inner)
    said = f"{arguments!r}, {outcome.code!r}, {outcome.err[-500:]!r}"
    left = [name for name in after if ".part" in name and name not in before]
    assert not left, f"left behind: {left} by {said}"
    if outcome.code != 0 and not outcome.refused:
        assert after == before, f"changed {set(after) ^ set(before)} by {said}"
    changed = [name for name in after if after[name] != before.get(name)]
    assert not set(before) - set(after), f"lost {set(before) - set(after)} by {said}"
    assert len(changed) <= 3, f"changed {changed} by {said}"
    if outcome.code == 0 and "--json" in arguments and "--out" not in arguments and output == "open":
        assert json.loads(outcome.out)["command"] == command
    return [f"{command if command in parser else 'no command'}, {kind}"]


def value(draw: Draw, action: Any, targets: tuple[str, ...]) -> str:
    """Return a random value for an option, of its kind or not."""
    if draw.chance(0.1):
        return draw.name()
    if action.choices and not draw.chance(0.1):
        return str(draw.one(list(action.choices)))
    if action.dest == "out":
        return str(draw.one(targets))
    if action.dest == "weights":
        return str(draw.one(WEIGHTS))
    if action.dest in ("memory", "budget", "host_budget", "head_budget"):
        return str(draw.one(SIZES))
    if action.dest == "format":
        return str(draw.one(READ_AS))
    return str(draw.one(NUMBERS))


def state(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder, by name; of a link, its target."""
    paths = [Path(at, name) for at, _, names in os.walk(folder) for name in names]
    return {
        str(path.relative_to(folder)): os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in paths
    }


def answers(draw: Draw) -> list[str]:
    """Run a valid command on a small graph, read its answer back, and judge it."""
    n = int(draw.rng.integers(1, 25))
    gaps = draw.chance(0.4)
    ids = np.sort(draw.rng.choice(200, n, replace=False)) if gaps else np.arange(n)
    drawn = draw.rng.integers(0, n, (int(draw.rng.integers(1, 3 * n + 2)), 2))
    lengths = draw.rng.integers(1, 10, len(drawn))
    weighted = draw.chance(0.5)
    relabel, undirected = draw.chance(0.5), draw.chance(0.3)
    graph = draw.folder / f"g{draw.name()[:100].strip()}.el"
    rows = list(zip(ids[drawn[:, 0]].tolist(), ids[drawn[:, 1]].tolist(), lengths.tolist(), strict=True))
    lines = (f"{i} {j} {w if weighted else ''}\n" for i, j, w in rows)
    graph.write_text("".join(lines))
    edges: dict[tuple[int, int], int] = {}
    for i, j, w in rows:
        for pair in [(i, j)] + [(j, i)] * undirected:
            length = w if weighted else 1
            edges[pair] = min(edges.get(pair, length), length)
    occur = sorted({v for pair in edges for v in pair})
    vertices = occur if relabel else list(range(max(occur) + 1))
    command = draw.one(["bfs", "sssp", "pagerank", "cc"])
    suffix = draw.one(SUFFIXES)
    target = draw.folder / (f"o{draw.name()[:100]}" + suffix) if not draw.chance(0.1) else None
    if target is not None and draw.chance(0.3):
        target.write_bytes(b"old")
    arguments = [command, str(graph), "--out", "-" if target is None else str(target)]
    arguments += ["--relabel"] * relabel + ["--undirected"] * undirected
    source = int(draw.one(occur))
    if command in ("bfs", "sssp"):
        arguments += ["--source", str(source)]
    if command == "pagerank":
        arguments += ["--tol", "1e-13", "--max-iter", "2000"]
    before = {each.name for each in draw.folder.iterdir()}
    outcome = called(arguments, draw.folder)
    said = f"{arguments!r}, {graph.read_text()!r}: {outcome}"
    assert outcome.code == 0, said
    judge(arguments, outcome)
    assert {each.name for each in draw.folder.iterdir()} == before | ({target.name} if target else set()), said
    right = ANSWERS[command](edges, vertices, source)
    if target is None:
        found = {int(a): float(b) for a, b in (line.split(" ") for line in outcome.out.splitlines())}
    else:
        found = read_back(target, suffix.lower(), vertices, arguments)
    assert list(found) == sorted(right), f"{said}: vertices {list(found)}, not {sorted(right)}"
    for vertex, x in right.items():
        close = abs(found[vertex] - x) < 1e-9 if command == "pagerank" else found[vertex] == x
        assert close, f"{said}: {found[vertex]} at {vertex}, not {x}"
    return [f"{command} {'-' if target is None else suffix.lower()}"]


def levels(edges: dict[tuple[int, int], int], _: list[int], source: int) -> dict[int, float]:
    """Return the hops from a vertex."""
    return distances(dict.fromkeys(edges, 1), _, source)


def distances(edges: dict[tuple[int, int], int], _: list[int], source: int) -> dict[int, float]:
    """Return the distances from a vertex, by relaxing all edges until none changes."""
    found: dict[int, float] = {source: 0}
    while True:
        before = dict(found)
        for (i, j), w in edges.items():
            if i in found:
                found[j] = min(found.get(j, np.inf), found[i] + w)
        if found == before:
            return found


def components(edges: dict[tuple[int, int], int], vertices: list[int], _: int) -> dict[int, float]:
    """Return for each vertex the smallest vertex of its component."""
    label: dict[int, float] = {v: v for v in vertices}
    while True:
        before = dict(label)
        for i, j in edges:
            label[i] = label[j] = min(label[i], label[j])
        if label == before:
            return label


def ranks(edges: dict[tuple[int, int], int], vertices: list[int], _: int) -> dict[int, float]:
    """Return PageRanks by their definition."""
    n, out = len(vertices), defaultdict(list)
    for i, j in edges:
        out[i].append(j)
    rank = dict.fromkeys(vertices, 1 / n)
    for _round in range(400):
        spread = 0.85 * sum(rank[v] for v in vertices if v not in out) / n + 0.15 / n
        following = dict.fromkeys(vertices, spread)
        for i, targets in out.items():
            for j in targets:
                following[j] += 0.85 * rank[i] / len(targets)
        rank = following
    return rank


ANSWERS = {"bfs": levels, "sssp": distances, "cc": components, "pagerank": ranks}


def read_back(path: Path, suffix: str, vertices: list[int], arguments: list[str]) -> dict[int, float]:
    """Return an answer from its file, without sparsezc."""
    data = path.read_bytes()
    if suffix.endswith(".gz"):
        data, suffix = gzip.decompress(data), suffix.removesuffix(".gz")
    if suffix in (".txt", ".tsv", ".csv"):
        rows = list(csv.reader(io.StringIO(data.decode()), delimiter={".txt": " ", ".tsv": "\t", ".csv": ","}[suffix]))
        assert suffix != ".csv" or rows.pop(0) == ["vertex", "value"]
        return {int(vertex): float(x) for vertex, x in rows}
    if suffix == ".npy":
        full = np.load(io.BytesIO(data))
        assert full.size == len(vertices)
        unreached = np.inf if full.dtype.kind == "f" else np.iinfo(full.dtype).max
        missing = unreached if arguments[0] == "sssp" else -1
        return {v: x for v, x in zip(vertices, full.tolist(), strict=True) if x != missing}
    if suffix == ".json":
        held = json.loads(data)
        keys, values = held["vertices"], held["values"]
    elif suffix == ".npz":
        with np.load(io.BytesIO(data)) as arrays:
            keys, values = arrays["vertices"].tolist(), arrays["values"].tolist()
    elif suffix in (".parquet", ".pq"):
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
        keys, values = table["vertex"].to_pylist(), table["value"].to_pylist()
    else:
        with h5py.File(io.BytesIO(data)) as file:
            keys, values = file["indices_0"][:].tolist(), file["values"][:].tolist()
    return dict(zip(keys, values, strict=True))


def process(draw: Draw) -> list[str]:
    """Run a command as a process whose streams a shell redirects."""
    name = draw.folder / f"g{draw.name()[:50]}.txt"
    name.write_text("0 1\n1 2\n")
    arguments = draw.one(
        [
            ["--version"], ["--help"], ["convert", "--help"], ["info", str(name)], ["bfs", str(name), "--out", "-"],
            ["cc", str(name), "--json"], ["fly"], ["bfs", str(draw.folder / draw.name())], ["doctor", "--quick"],
            ["convert", str(name), str(draw.folder / "a.mtx")],
        ]
    )  # fmt: skip
    redirected = draw.one(REDIRECTED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for key, values in ENVIRONMENT.items():
        if draw.chance(0.3):
            environment[key] = draw.one(values)
    command = ["sh", "-c", f'"$@" {redirected}', "sh", sys.executable, "-m", "sparsezc", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=50, check=False)
    err = done.stderr.decode()
    said = f"{arguments!r} {redirected}: {done.returncode}, {err!r}"
    assert "Traceback" not in err, said
    assert "Exception ignored" not in err, said
    assert all(line.isprintable() for line in err.split("\n")), said
    assert done.returncode in (0, 1, 2), said
    if redirected == ">/dev/full" and arguments != ["fly"] and "does not exist" not in err:
        assert (done.returncode, err) == (1, OUTPUT_REFUSED), said
    return [redirected]


READY = "import sys; from sparsezc.cli import main; print('ready', flush=True); sys.exit(main(sys.argv[1:]))"


def interrupt(draw: Draw) -> list[str]:
    """Interrupt a writing command at a random moment: the old file must stay, or the new one be whole."""
    target = draw.folder / f"o{draw.name()[:50]}.csv"
    target.write_bytes(b"old")
    arguments = ["cc", "kron:13", "--out", str(target), "--json"]
    running = subprocess.Popen(
        [sys.executable, "-c", READY, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    time.sleep(float(draw.rng.random() ** 2))
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=50)
    held = target.read_bytes()
    said = f"{running.returncode}, {err!r}, {held[:20]!r}"
    assert list(draw.folder.iterdir()) == [target], said
    if running.returncode == 0:
        assert held.count(b"\n") == 8193, said
    else:
        assert running.returncode in (130, -signal.SIGINT), said
        assert held == b"old" or held.count(b"\n") == 8193, said
        assert err == b"\nsparsezc: interrupted\n", said
    return ["done before" if running.returncode == 0 else "interrupted"]
