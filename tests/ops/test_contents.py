"""Content in and out: build, compressed rows and columns, dicts, diagonals, compared with python-graphblas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from tests.ops.judge import ENGINES, Engine, judge, operands

CPU = ENGINES["cpu"]


def listed(parts: Any) -> list[Any]:
    """Return arrays as lists, which compare."""
    return [part.tolist() for part in parts]


@pytest.mark.parametrize("form", ["csr", "csc", "dcsr", "dcsc"])
def test_compressed_there_and_back(form: str) -> None:
    for seed, density in ((0, 0.5), (1, 0.1), (2, 0.0), (3, 1.0)):
        arrays = operands(seed, density=density)
        for of in (lambda o: o.R, lambda o: o.R.T):
            judge(lambda g, o, of=of: listed(getattr(of(o), f"to_{form}")()), arrays, CPU, (form, density))
            judge(lambda g, o, of=of: listed(getattr(of(o), f"to_{form}")("FP32")), arrays, CPU, (form, density))

            def back(g: Any, o: Any, of: Any = of) -> Any:
                parts = getattr(of(o), f"to_{form}")()
                size = {"csr": ("ncols",), "csc": ("nrows",)}.get(form, ("nrows", "ncols"))
                sizes = {name: getattr(of(o), name) for name in size}
                return getattr(g.Matrix, f"from_{form}")(*parts, **sizes)

            judge(back, arrays, CPU, (form, density, "back"))


BAD_DOUBLY: dict[str, Any] = {
    "offsets of another number": ([0, 2], [0, 1], [1, 2]),
    "offsets that descend": ([0, 2], [0, 2, 1], [1]),
    "offsets that end elsewhere": ([0, 2], [0, 1, 3], [1, 2]),
}


@pytest.mark.parametrize("name", BAD_DOUBLY)
@pytest.mark.parametrize("form", ["dcsr", "dcsc"])
def test_damaged_compressed_rows_are_refused(name: str, form: str) -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="indptr"):
        getattr(gb.Matrix, f"from_{form}")(*BAD_DOUBLY[name], 1, nrows=4, ncols=4)


def test_dicts() -> None:
    for order in ("rowwise", "columnwise", "colwise", "C", "rows"):
        judge(lambda g, o, order=order: o.R.to_dicts(order), operands(1), CPU, order)
        judge(lambda g, o, order=order: o.R.T.to_dicts(order), operands(1), CPU, order)

        def back(g: Any, o: Any, order: str = order) -> Any:
            nested = o.A.to_dicts(order)
            return g.Matrix.from_dicts(nested, order=order, nrows=o.A.nrows, ncols=o.A.ncols)

        judge(back, operands(2), CPU, order)
    judge(lambda g, o: o.A.to_dicts("diagonal"), operands(1), CPU)


def test_a_matrix_of_enormous_size() -> None:
    n = 2**60
    A = gb.Matrix.from_coo([5, 0, n - 1], [n - 1, 3, 2], [1, 2, 3], nrows=n, ncols=n)
    assert listed(A.to_coo()) == [[0, 5, n - 1], [3, n - 1, 2], [2, 1, 3]]
    assert listed(A.to_dcsr()) == [[0, 5, n - 1], [0, 1, 2, 3], [3, n - 1, 2], [2, 1, 3]]
    assert listed(A.T.to_coo("FP32")) == [[3, n - 1, 2], [0, 5, n - 1], [2.0, 1.0, 3.0]]
    assert A.isequal(A.dup())
    assert (A @ A.T).new().nvals == 3


BUILDS: dict[str, Any] = {
    "a vector": lambda g, o: _built(g.Vector("INT8", 9), [3, 1], [1.0, 2.0]),
    "a vector of another size": lambda g, o: _built(g.Vector("INT8", 9), [3, 1], [1, 2], size=4),
    "a vector that is cleared": lambda g, o: _built(o.u, [3, 1], [1, 2], clear=True),
    "a vector that is not empty": lambda g, o: _built(o.u, [3, 1], [1, 2]),
    "a vector with duplicates": lambda g, o: _built(g.Vector(int, 9), [3, 3], [1, 2], dup_op=g.binary.plus),
    "a vector with duplicates refused": lambda g, o: _built(g.Vector(int, 9), [3, 3], [1, 2]),
    "a vector beyond its size": lambda g, o: _built(g.Vector(int, 3), [3], [1]),
    "a matrix": lambda g, o: _built(g.Matrix("FP32", 5, 6), [3, 1], [0, 5], [1, 2]),
    "a matrix of another size": lambda g, o: _built(g.Matrix(int, 5, 6), [3, 1], [0, 5], [1, 2], nrows=4, ncols=8),
    "a matrix that is cleared": lambda g, o: _built(o.A, [3, 1], [0, 5], [1, 2], clear=True),
    "a matrix that is not empty": lambda g, o: _built(o.A, [3, 1], [0, 5], [1, 2]),
    "a matrix with duplicates": lambda g, o: _built(g.Matrix(int, 5, 6), [3, 3], [1, 1], [1, 2], dup_op=g.binary.times),
    "a matrix of different lengths": lambda g, o: _built(g.Matrix(int, 5, 6), [3, 3], [1], [1, 2]),
}


def _built(x: Any, *args: Any, **kwargs: Any) -> Any:
    x.build(*args, **kwargs)
    return x


@pytest.mark.parametrize("name", BUILDS)
def test_build(name: str, engine: Engine) -> None:
    judge(BUILDS[name], operands(0), engine, name)


@pytest.mark.parametrize("shape", [(7, 7), (7, 9), (9, 7)])
@pytest.mark.parametrize("k", [0, 2, -3, 8, -8, 9])
def test_a_diagonal_is_written_to(shape: tuple[int, int], k: int, engine: Engine) -> None:
    size = min(shape[0] + k, shape[1]) if k < 0 else min(shape[1] - k, shape[0])

    def matrix(o: Any) -> Any:
        return o.A if shape == (7, 7) else o.R if shape == (7, 9) else o.R.T.new()

    def values(g: Any, what: str) -> Any:
        at = [i for i in range(size) if i % 3 != 1]
        if what == "vector":
            return g.Vector.from_coo(at, [10 + i for i in at], size=max(size, 0))
        return {"number": 7, "scalar": g.Scalar.from_value(3), "array": np.arange(max(size, 0))}[what]

    def statement(g: Any, o: Any, what: str, mask: str, accum: Any) -> Any:
        C = matrix(o)
        given: dict[str, Any] = {
            "none": lambda: None,
            "matrix": lambda: C.dup().V,
            "not matrix": lambda: ~C.dup().S,
            "vector": lambda: values(g, "vector").S,
            "not vector": lambda: ~values(g, "vector").S,
            "too long": lambda: g.Vector.from_coo([0], [1], size=99).S,
        }
        C.setdiag(values(g, what), k, mask=given[mask](), accum=accum and getattr(g.binary, accum))
        return C

    for what in ("number", "scalar", "array", "vector"):
        for mask in ("none", "matrix", "not matrix", "vector", "not vector", "too long"):
            for accum in (None, "plus"):
                if mask != "none" and ((k and mask != "matrix") or (what == "vector" and accum is None)):
                    continue  # the judge ignores k with some masks and gaps in some vectors: see the next test
                label = (shape, k, what, mask, accum)
                judge(lambda g, o, a=what, b=mask, c=accum: statement(g, o, a, b, c), operands(3), engine, label)


@pytest.mark.parametrize("k", [0, 2, -3])
@pytest.mark.parametrize("complement", [False, True])
def test_a_masked_diagonal_is_written_as_far_as_the_mask_allows(k: int, complement: bool, engine: Engine) -> None:
    size, n = 7 - abs(k), 7
    v = gb.Vector.from_coo(range(0, size, 2), range(0, size, 2), size=size)
    m = gb.Vector.from_coo(range(1, size), [1] * (size - 1), size=size)
    for accum in (None, gb.binary.plus):
        A = engine.put(gb.Matrix.from_scalar(100, n, n))
        expected = A.to_dicts()
        A.setdiag(v, k, mask=~m.S if complement else m.S, accum=accum)
        for d in range(size):
            i, j = d - min(k, 0), d + max(k, 0)
            if (d in m) == complement:
                continue
            if d in v:
                expected[i][j] = v.get(d) + (100 if accum else 0)
            elif accum is None:
                del expected[i][j]
        assert A.to_dicts() == expected, (k, complement, accum)


@pytest.mark.parametrize("values", [gb.Matrix(int, 2, 2), "ab", None, [[1, 2], [3, 4]], [1, 2, 3]])
def test_what_is_no_diagonal_is_refused(values: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        gb.Matrix(int, 2, 2).setdiag(values)
    with pytest.raises(TypeError, match="k must be an integer"):
        gb.Matrix(int, 2, 2).setdiag(1, 1.5)
