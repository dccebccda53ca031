"""ops.best_label and ops.label_weight against sums over a dense matrix."""

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.engines.cpu.labels.numpy_loops import Sorting


def problem(n, seed, density=0.3, heavy=0):
    """Return a matrix with loops and whole weights, and labels; `heavy` rows have entries everywhere."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n)) < density, rng.integers(0, 4, (n, n)), -1)
    dense[:heavy] = rng.integers(0, 4, (heavy, n))
    i, j = np.nonzero(dense >= 0)
    label = rng.integers(0, n, n) if seed % 2 else rng.integers(0, 3, n)
    return (i, j, dense[i, j].astype(float)), label


def judge(n, entries, label, weighs):
    """Return e(i, c), the sum of row i's entries within label c without its own, and where label c occurs in row i."""
    i, j, w = entries
    e, seen = np.zeros((n, n)), np.zeros((n, n), bool)
    for a, b, x in zip(i, j, w, strict=True):
        if a != b:
            e[a, label[b]] += x if weighs else 1
            seen[a, label[b]] = True
    seen[np.arange(n), label] = True
    return e, seen


def expected(n, entries, label, weighs, stays):
    e, seen = judge(n, entries, label, weighs)
    best = {}
    for i in range(n):
        scores = {c: e[i, c] for c in np.flatnonzero(seen[i])}
        winners = [c for c, score in scores.items() if score == max(scores.values())]
        choice = label[i] if stays and label[i] in winners else min(winners)
        if choice != label[i]:
            best[i] = int(choice)
    return best


def on(engine, entries, n):
    i, j, w = entries
    A = gb.Matrix.from_coo(i, j, w, nrows=n, ncols=n)
    return A.to(engine) if engine else A


CASES = [(op, stays) for op in ("plus_first", "plus_pair") for stays in (True, False)]


def compare(engine, n, seed, case, **how):
    op, stays = case
    entries, label = problem(n, seed, **how)
    A, v = on(engine, entries, n), gb.Vector.from_dense(label)
    found = ops.best_label(A, v, op, stays=stays)
    judged = expected(n, entries, label, op == "plus_first", stays)
    assert found.new().to_dict() == judged
    return A, v, found, judged


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_cpu_engine(case, seed):
    compare(None, 40, seed, case)


@pytest.mark.parametrize("case", CASES)
def test_without_numba(case, monkeypatch):
    monkeypatch.setattr("sparsezc.engines.cpu.labels.weights.loops", Sorting)
    compare(None, 40, 3, case)
    weigh(None)


@pytest.mark.parametrize("case", CASES)
def test_gpu_engine(case, gpu):
    compare("gpu", 40, 1, case)


def test_rows_of_all_lengths(gpu):
    """Rows are taken by a warp, a block, or a block with a second table in device memory."""
    for op in ("plus_first", "plus_pair"):
        compare("gpu", 2600, 5, (op, True), density=0.005, heavy=2)
        compare("gpu", 700, 6, (op, False), density=0.01, heavy=3)


@pytest.mark.parametrize("engine", [None, "gpu"])
def test_write_rule(engine, gpu):
    """Masks, accumulators and replace write as in every statement, and rows outside the mask are not computed."""
    n = 50
    A, v, found, judged = compare(engine, n, 2, ("plus_first", True))
    mask = gb.Vector.from_coo(range(0, n, 2), [i % 4 == 0 for i in range(0, n, 2)], size=n)
    old = {i: 100 + i for i in range(0, n, 3)}
    allowed = {"S": set(range(0, n, 2)), "V": set(range(0, n, 4))}
    for kind in ("S", "V"):
        for complement in (False, True):
            for accum in (None, gb.binary.plus):
                for replace in (False, True):
                    w = gb.Vector.from_coo(list(old), list(old.values()), "INT64", size=n)
                    m = getattr(mask, kind)
                    w(~m if complement else m, accum=accum, replace=replace) << found
                    inside = set(range(n)) - allowed[kind] if complement else allowed[kind]
                    wanted = {} if replace else {i: x for i, x in old.items() if i not in inside}
                    for i in inside:
                        both = [x[i] for x in (old if accum else {}, judged) if i in x]
                        if both:
                            wanted[i] = sum(both)
                    assert w.to_dict() == wanted
    assert A.isequal(A.dup())
    assert v.nvals == n


@pytest.mark.parametrize("engine", [None, "gpu"])
def test_label_weight(engine, gpu):
    weigh(engine)


def weigh(engine):
    for n, heavy in ((40, 0), (2100, 2)):
        entries, label = problem(n, 2, 0.3 if n < 100 else 0.01, heavy)
        A = on(engine, entries, n)
        for op in ("plus_first", "plus_pair"):
            e, _ = judge(n, entries, label, op == "plus_first")
            found = ops.label_weight(A, gb.Vector.from_dense(label), op).new()
            assert found.to_dense().tolist() == e[np.arange(n), label].tolist()


@pytest.mark.parametrize("placement", ["device", "zerocopy", "stream"])
def test_placements(placement, gpu):
    with gb.config.set(engine="gpu", placement=placement):
        compare("gpu", 60, 1, ("plus_first", True))


def test_nothing_there(gpu):
    for engine in (None, "gpu"):
        A = gb.Matrix("FP64", 3, 3)
        A = A.to(engine) if engine else A
        label = gb.Vector.from_dense([0, 1, 2])
        assert ops.best_label(A, label, "plus_pair").new().nvals == 0
        assert ops.label_weight(A, label, "plus_pair").new().to_dense().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("engine", [None, "gpu"])
def test_bad_operands(engine, gpu):
    A = on(engine, ([0, 1], [1, 0], [1.0, 1.0]), 2)
    label = gb.Vector.from_dense([0, 1])
    with pytest.raises(gb.exceptions.DimensionMismatch, match="2 x 3"):
        ops.best_label(gb.Matrix("FP64", 2, 3), label, "plus_pair")
    with pytest.raises(gb.exceptions.DimensionMismatch, match=r"label is .* a size of 2 is needed"):
        ops.label_weight(A, gb.Vector.from_dense([0, 1, 2]), "plus_pair")
    with pytest.raises(TypeError, match=r"label is .* INT64 is needed"):
        ops.best_label(A, gb.Vector.from_dense([0.0, 1.0]), "plus_pair")
    with pytest.raises(TypeError, match="plus_first or plus_pair"):
        ops.best_label(A, label, "min_plus")
    with pytest.raises(TypeError, match="must be a Matrix"):
        ops.best_label(A.T, label, "plus_pair")
    for bad in ([0, 2], [-1, 0]):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"0 .. 1 are needed"):
            ops.best_label(A, gb.Vector.from_dense(bad), "plus_pair").new()
    with pytest.raises(gb.exceptions.InvalidValue, match="has 1 entries; 2 are needed"):
        ops.best_label(A, gb.Vector.from_coo([0], [1], size=2), "plus_pair").new()
    assert A.nvals == 2
    late = ops.best_label(A, label, "plus_pair")
    A.resize(1, 1)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="resized"):
        late.new()


@pytest.mark.parametrize("placement", ["zerocopy", "device"])
def test_the_edges_that_are_read_are_counted(placement, counting):
    A = gb.io.read("kron:9").to("gpu", placement=placement)
    label = gb.Vector.from_dense(np.arange(A.nrows))
    for found in (ops.best_label(A, label, "plus_pair"), ops.label_weight(A, label, "plus_pair")):
        with gb.stats.collect() as moved:
            found.new()
        read = 4 * A.nvals
        far, near = (moved.link_bytes, moved.device_bytes) if placement == "zerocopy" else (moved.device_bytes, 0)
        assert far >= read
        assert (moved.requests > 0) == (placement == "zerocopy")
        assert near == 0


@pytest.mark.parametrize("engine", [None, "gpu"])
def test_no_vertices(engine, gpu):
    A, v = on(engine, ([], [], []), 0), gb.Vector("INT64", 0)
    assert ops.best_label(A, v, "plus_pair").new().size == 0
    assert ops.label_weight(A, v, "plus_first").new().size == 0
