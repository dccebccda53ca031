"""ops.color_rows equals a loop over sets."""

import numpy as np
import pytest

import sparsezc as gb
from sparsezc import ops
from sparsezc.device import cuda
from sparsezc.engines.cpu.labels import moves
from sparsezc.engines.cpu.labels.numpy_loops import Sorting
from sparsezc.engines.gpu.graphs import colors


@pytest.fixture(params=["cpu", "without numba", "gpu"])
def put(request, monkeypatch):
    """Return a function that puts a matrix on the engine of this test."""
    if request.param == "gpu":
        before = cuda.use(request.getfixturevalue("emulated"))
        # warps test 32 colours at once; blocks, which take rows of more than 64 entries, test 256
        monkeypatch.setattr(colors, "_WORDS", 1)
        monkeypatch.setattr(colors, "LONG_ROW", 64)
        yield lambda A: A.to("gpu", placement="zerocopy")
        cuda.use(before)
        return
    if request.param == "without numba":
        monkeypatch.setattr(moves, "loops", Sorting)
    yield lambda A: A


def greedy(near, order):
    color = {}
    for v in sorted(range(len(order)), key=lambda v: (-int(order[v]), v)):
        around = {color[u] for u in near[v] if u in color}
        color[v] = min(set(range(len(around) + 1)) - around)
    return [color[v] for v in range(len(order))]


def graph(n, density, seed, hubs=0):
    """Return a symmetric matrix with loops, and the set of neighbours of each vertex."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, n)) < density
    dense[:hubs] = True
    dense |= dense.T
    i, j = np.nonzero(dense)
    return gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n), [
        set(np.flatnonzero(row)) - {v} for v, row in enumerate(dense)
    ]


@pytest.mark.parametrize(("n", "density", "hubs"), [(1, 1, 0), (40, 1, 0), (200, 0.03, 3), (280, 1, 0)])
def test_colours(put, n, density, hubs):
    """Neighbours differ and each vertex has the smallest free colour; complete graphs need a colour for each vertex."""
    A, near = graph(n, density, n, hubs)
    A = put(A)
    degree = np.array([len(x) for x in near])
    ends = np.iinfo(np.int64)
    for order in (degree, np.random.default_rng(1).permutation(n), np.resize([ends.min, ends.max, 0], n)):
        found = ops.color_rows(A, gb.Vector.from_dense(order)).new()
        assert found.dtype == "INT64"
        assert found.to_dense().tolist() == greedy(near, order)


def test_masks_and_nothing(put):
    A, near = graph(40, 0.1, 5)
    order = gb.Vector.from_dense(np.arange(40))
    w = gb.Vector.from_scalar(7, 40)
    w(gb.Vector.from_coo([3, 9], True, size=40).S) << ops.color_rows(put(A), order)
    judged = greedy(near, range(40))
    assert [x for x in enumerate(w.to_dense()) if x[1] != 7] == [(v, judged[v]) for v in (3, 9) if judged[v] != 7]
    empty = put(gb.Matrix("BOOL", 4, 4))
    assert ops.color_rows(empty, gb.Vector.from_scalar(0, 4)).new().to_dense().tolist() == [0] * 4
    assert ops.color_rows(put(gb.Matrix("BOOL", 0, 0)), gb.Vector("INT64", 0)).new().size == 0


def test_bad_operands():
    A = gb.Matrix("BOOL", 2, 2)
    with pytest.raises(TypeError, match=r"order is .* of FP64; INT64 is needed"):
        ops.color_rows(A, gb.Vector.from_scalar(1.0, 2))
    with pytest.raises(TypeError, match="must be a Matrix"):
        ops.color_rows(A.T, gb.Vector.from_scalar(1, 2))
    with pytest.raises(gb.exceptions.DimensionMismatch, match=r"2 x 2 and order, .* has 3"):
        ops.color_rows(A, gb.Vector.from_scalar(1, 3))
    with pytest.raises(gb.exceptions.InvalidValue, match="2 are needed"):
        ops.color_rows(A, gb.Vector("INT64", 2)).new()
