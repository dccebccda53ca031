"""The grid of tests/ops, products of it, over matrices in every placement: every mask, accumulator and way to write."""

from __future__ import annotations

from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.engines.gpu import panel
from sparsezc.memory import budget
from tests.ops.cases import VECTOR
from tests.ops.judge import Engine, judge, operands, target, ways

# The judge keeps positional operators under `.ss` now and warns; sparsezc has them where they were.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

N, WIDTH = 90, 4
COMPRESSED = ["compressed on the card", "compressed on the host"]
PLACEMENTS = ["device", "zerocopy", "uvm", "stream", "gather", "cached", "hybrid", "mapped", *COMPRESSED]
PRODUCTS = [name for name in VECTOR if name.startswith(("mxv", "vxm"))]
TYPES = ("INT64", "FP32", "UINT8", "BOOL")


def placed(placement: str, files: Path) -> Engine:
    """Matrices lie there, vectors on the card; mapped ones in files of this folder."""
    names = count()

    def put(x: Any) -> Any:
        if getattr(x, "ndim", 0) != 2:
            return x.to("gpu") if getattr(x, "ndim", 0) else x
        if placement == "mapped":
            path = files / f"{next(names)}.h5"
            gb.io.write(x, path)
            return gb.io.read(path, placement="mapped")
        if placement in COMPRESSED:
            return x.to("gpu", placement="device" if placement == COMPRESSED[0] else "zerocopy").compress()
        return x.to("gpu", placement=placement)

    return Engine(f"gpu, {placement}", put, full=False)


@pytest.fixture
def engine(placement: str, gpu: Any, small_pieces: None, tmp_path: Path) -> Any:
    """With room for a part of a matrix, where a part is enough."""
    room = None if placement in ("device", *COMPRESSED) else budget.working_bytes(N) + 6000
    with gb.config.set(budget=room, packing="off"):
        yield placed(placement, tmp_path)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_matrices_lie_where_the_grid_says(placement: str, engine: Engine) -> None:
    arrays = operands(0, "INT64", n=N, density=0.2)["A"]
    A = engine.put(gb.Matrix.from_coo(arrays.rows, arrays.columns, arrays.values, nrows=N, ncols=N))
    ids = A._store.lying()[0].indices
    lies = dict(zip(COMPRESSED, ("device", "zerocopy"), strict=True)).get(placement, placement)
    assert (ids.placement, A._store.lying()[0].compressed) == (lies, placement in COMPRESSED)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_vector_products_in_every_way(placement: str, engine: Engine) -> None:
    for name, dtype in zip(PRODUCTS, cycle(TYPES)):
        for seed, (mask, accum, replace) in engine.sample(enumerate(ways()), name + placement):

            def statement(g: Any, o: Any, name: str = name, way: Any = (mask, accum, replace)) -> Any:
                target(g, o.w, o.m, *way) << VECTOR[name](g, o)
                return o.w

            label = (name, mask, accum, replace, dtype)
            judge(statement, operands(seed, dtype, n=N, density=0.2), engine, label)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_products_with_few_columns_in_every_way(
    placement: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "_LONG", 1)
    for seed, (mask, accum, replace) in engine.sample(enumerate(ways()), placement):

        def statement(g: Any, o: Any, way: Any = (mask, accum, replace)) -> Any:
            x, y, m = (matrix[:, :WIDTH].new() for matrix in (o.B, o.C, o.M))
            target(g, y, m, *way) << o.A.mxm(x, g.semiring.min_plus)
            return y

        judge(statement, operands(seed, "INT64", n=N, density=0.2), engine, (mask, accum, replace))
