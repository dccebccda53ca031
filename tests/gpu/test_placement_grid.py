"""The grid of tests/ops, products of it, over matrices in every placement: every mask, accumulator and way to write."""

from __future__ import annotations

from itertools import cycle
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
PLACEMENTS = ["zerocopy", "uvm", "stream", "gather", "cached", "hybrid"]
PRODUCTS = [name for name in VECTOR if name.startswith(("mxv", "vxm"))]
TYPES = ("INT64", "FP32", "UINT8", "BOOL")


def placed(placement: str) -> Engine:
    """Matrices lie there, vectors on the card."""

    def put(x: Any) -> Any:
        given = {"placement": placement} if getattr(x, "ndim", 0) == 2 else {}
        return x.to("gpu", **given) if getattr(x, "ndim", 0) else x

    return Engine(f"gpu, {placement}", put, full=False)


@pytest.fixture
def engine(placement: str, gpu: Any, small_pieces: None) -> Any:
    """With room for a part of a matrix."""
    with gb.config.set(budget=budget.working_bytes(N) + 6000, packing="off"):
        yield placed(placement)


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
