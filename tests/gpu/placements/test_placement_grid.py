"""Products in every placement: every way to write, every kind of entries, with vectors and with panels.

The grids are sampled, by hashes of their rows: each placement runs every semiring and every product with vectors, but
not every combination with shapes, widths, kinds and ways to write. On a GPU the sample is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import count, cycle, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.placements import host_gather
from sparsezc.io.hdf5 import csr_file, csr_file_writer
from sparsezc.memory import budget, csr
from sparsezc.stats import Traffic
from tests.emulator.device import HostDevice
from tests.gpu.products.test_panels import PRODUCTS as PANELS
from tests.ops.cases import VECTOR
from tests.ops.judge import (
    Arrays,
    Engine,
    Statement,
    judge,
    make,
    operands,
    random_matrix,
    random_values,
    random_vector,
    target,
    ways,
)

# python-graphblas moved positional operators to `.ss` and warns at their old names, which sparsezc keeps.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

N = 90
COMPRESSED = {"compressed on the card": "device", "compressed on the host": "zerocopy"}
PLACEMENTS = ["device", "zerocopy", "uvm", "stream", "gather", "cached", "hybrid", "mapped", *COMPRESSED]
KEEPING = ("cached", "hybrid", "mapped")  # a second product uses entries that the first brought to the card
ON_THE_CARD = ("device", "uvm", "compressed on the card")
VECTORS = [name for name in VECTOR if name.startswith(("mxv", "vxm"))]
TYPES = ("INT64", "FP32", "UINT8", "BOOL")
WIDTHS = (1, 3, 32, 33, 64, 70)
#: For products with panels: every type, and multiplies that read values, positions, both, or nothing (searches).
SEMIRINGS = [
    ("plus_times", "FP64"), ("plus_times", "FP32"), ("plus_times", "INT8"), ("min_plus", "INT64"),
    ("min_plus", "UINT16"), ("max_first", "INT32"), ("plus_second", "FP32"), ("plus_minus", "INT16"),
    ("plus_pair", "UINT64"), ("lor_land", "BOOL"), ("min_secondi", "INT64"), ("plus_firsti", "UINT32"),
    ("max_secondj", "FP64"), ("any_secondi", "UINT8"), ("any_pair", "BOOL"), ("any_pair", "INT64"),
]  # fmt: skip


class Kind(NamedTuple):
    """The properties of a matrix besides its entries, and the settings of its products."""

    wide: bool = False  # ids of 8 bytes
    iso: bool = False
    both_ways: bool = False  # with its transpose
    packing: str = "off"
    head_cache: str = "off"
    rows_per_warp: int = 32

    def settings(self) -> Any:
        return gb.config.set(packing=self.packing, head_cache=self.head_cache, rows_per_warp=self.rows_per_warp)

    def of(self, arrays: dict[str, Arrays]) -> dict[str, Arrays]:
        """Return operands whose sparse matrices are of this kind."""
        same = [name for name in ("A", "R") if name in arrays and self.iso]
        return arrays | {name: arrays[name]._replace(values=np.asarray(1)) for name in same}


KINDS = {
    "plain": Kind(),
    "wide ids": Kind(wide=True),
    "iso": Kind(iso=True),
    "iso, wide ids": Kind(wide=True, iso=True),
    "both ways": Kind(both_ways=True),
    "packed": Kind(packing="on"),
    "heads": Kind(both_ways=True, head_cache="on"),
    "a row a warp": Kind(rows_per_warp=1),
    "a row a warp, wide ids, both ways": Kind(wide=True, both_ways=True, rows_per_warp=1),
    "a row a warp, heads": Kind(both_ways=True, head_cache="on", rows_per_warp=1),
}
Engines = Callable[[Kind], Engine]


def placed(placement: str, files: Path, kind: Kind) -> Engine:
    """Return an engine that puts matrices in a placement (mapped ones in files) and vectors in device memory."""
    names = count()

    def lay(x: Any) -> Any:
        stored = COMPRESSED.get(placement, placement)
        if placement == "mapped":
            path = files / f"{next(names)}.h5"
            with pytest.MonkeyPatch.context() as patch:
                for module in (csr, csr_file, csr_file_writer) if kind.wide else ():  # as for more than 2^32 columns
                    patch.setattr(module, "index_dtype", lambda *_: np.dtype(np.uint64))
                gb.io.write(x, path)
                return gb.io.read(path, placement=stored)
        if kind.wide:
            return gb.Matrix._from_csr(x._to_csr().place(stored, ids=np.uint64), "gpu")
        return x.to("gpu", placement=stored)

    def put(x: Any) -> Any:
        if getattr(x, "ndim", 0) != 2:
            return x.to("gpu") if getattr(x, "ndim", 0) else x
        made = lay(x)
        if kind.both_ways:
            made._engine.keep_transpose(made._store)
        return made.compress() if placement in COMPRESSED else made

    return Engine(f"gpu, {placement}", put, full=False)


@pytest.fixture
def engines(placement: str, gpu: Any, small_pieces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield a function that returns an engine; the budget holds part of a matrix where that suffices, beside panels."""
    monkeypatch.setattr(panel, "_LONG", 1)
    monkeypatch.setattr(panel, "fits", lambda *_: True)
    space = None if placement in ("device", *COMPRESSED) else budget.working_bytes(N) + 8500
    with gb.config.set(budget=space):
        yield partial(placed, placement, tmp_path)


def sampled(gpu: Any, emulated: int, on_a_gpu: int) -> int:
    """Return one of two sampling intervals, as a case costs more on the emulated device."""
    return emulated if isinstance(gpu, HostDevice) else on_a_gpu


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_matrices_lie_where_the_grid_says(placement: str, kind: str, engines: Engines) -> None:
    asked = KINDS[kind]
    A = engines(asked).put(make(gb, asked.of(panel_operands(0, "INT64", 1, "A X"))["A"]))
    rows, columns = A._store.in_stored_order()
    assert (rows.indices.placement, rows.compressed) == (COMPRESSED.get(placement, placement), placement in COMPRESSED)
    assert rows.wide == (asked.wide and not rows.compressed)
    assert (rows.iso, columns is not None) == (asked.iso, asked.both_ways)


@pytest.mark.parametrize("kind", ["plain", "wide ids", "a row a warp"])  # test_serving.py runs the others with vectors
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_vector_products_in_every_way(placement: str, kind: str, engines: Engines, gpu: Any) -> None:
    engine = engines(KINDS[kind])
    one_in = sampled(gpu, 7, 3) if kind == "plain" else sampled(gpu, 37, 5)
    for name, dtype in zip(VECTORS, cycle(TYPES)):
        for seed, (mask, accum, replace) in engine.sample(enumerate(ways()), name + placement + kind, one_in):

            def statement(g: Any, o: Any, name: str = name, way: Any = (mask, accum, replace)) -> Any:
                target(g, o.w, o.m, *way) << VECTOR[name](g, o)
                return o.w

            label = (name, mask, accum, replace, dtype, kind)
            with KINDS[kind].settings():
                judge(statement, KINDS[kind].of(operands(seed, dtype, n=N, density=0.2)), engine, label)


@pytest.mark.parametrize(("semiring", "dtype"), SEMIRINGS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_products_with_panels_in_every_way(
    placement: str, semiring: str, dtype: str, engines: Engines, gpu: Any
) -> None:
    row = placement + semiring + dtype
    crossings = engines(KINDS["plain"]).sample(product(PANELS, WIDTHS, KINDS), row, sampled(gpu, 360, 41))
    for name, width, kind in crossings:
        engine = engines(KINDS[kind])
        for seed, way in engine.sample(enumerate(ways()), f"{row}{name}{width}", sampled(gpu, 36, 13)):
            arrays = KINDS[kind].of(panel_operands(seed, dtype, width, name))
            statement = panel_statement(name, semiring, way, placement, kind)
            with KINDS[kind].settings():
                judge(statement, arrays, engine, (name, width, kind, *way), values=semiring != "any_secondi")


def panel_statement(name: str, semiring: str, way: Any, placement: str, kind: str) -> Statement:
    """Return a statement that writes a product to C, twice where a placement keeps entries; "packed" packs A first."""

    def statement(g: Any, o: Any) -> Any:
        if kind == "packed":
            o.A.mxv(o.v, g.semiring.plus_times).new()
        for _ in range(2 if placement in KEEPING else 1):
            target(g, o.C, o.M, *way) << PANELS[name](o.A, o.X, o.Y, getattr(g.semiring, semiring))
        assert g is not gb or o.C._store.is_panel
        return o.C

    return statement


@cache
def panel_operands(seed: int, dtype: str, width: int, name: str) -> dict[str, Arrays]:
    """Return A (square, with a full row and column), X of few columns, Y of few rows, and C and M as the result."""
    rng = np.random.default_rng(seed)
    present = rng.random((N, N)) < 0.2
    present[7] = present[:, 40] = True
    rows, columns = np.nonzero(present)
    shape = (width, N) if name.startswith(("X'", "Y")) else (N, width)
    share = (0.7, 1.0)[seed % 2]
    return {
        "A": Arrays(rows, columns, random_values(rng, dtype, rows.size), (N, N), dtype),
        "X": random_matrix(rng, N, width, dtype, share),
        "Y": random_matrix(rng, width, N, dtype, share),
        "C": random_matrix(rng, *shape, dtype, 0.5),
        "M": random_matrix(rng, *shape, "INT8", 0.5),
        "v": random_vector(rng, N, dtype, 1.0),
    }


@pytest.mark.parametrize("name", ["A X", "X' A"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_any_position_is_one_of_the_products(placement: str, name: str, engines: Engines) -> None:
    """The result may be any of the products' positions, so no judge can compare it."""
    arrays, put = panel_operands(2, "INT64", 5, name), engines(KINDS["wide ids"]).put
    A, X, Y = (make(gb, arrays[operand]) for operand in "AXY")
    i, j, k = PANELS[name](put(A), put(X), put(Y), gb.semiring.any_secondi).new().to_coo()
    a, x = (M.apply("one").new("BOOL").to_dense(fill_value=False) for M in (A, X))
    left, right = (x.T, a) if name == "X' A" else (a, x)
    assert (left[i, k] & right[k, j]).all()
    assert i.size == np.count_nonzero(left @ right)


#: Products under a mask: a function that makes operand and mask from full panels of 5 columns (before bytes are
#: counted), the product, and the bytes that it reads of each value.
COUNTED: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any, Any], Any], int]] = {
    "vector": (lambda M: M[:, 0].new(), lambda A, x, m: A.mxv(x, "plus_times").new(mask=m.S), 8),
    "few columns": (lambda M: M, lambda A, x, m: A.mxm(x, "plus_times").new(mask=m.S), 8),
    "few rows": (lambda M: M.T.new(), lambda A, x, m: x.mxm(A.T, "plus_first").new(mask=m.S), 0),
    "bits": (lambda M: M, lambda A, x, m: A.mxm(x, "any_pair").new(mask=m.S), 0),
}


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_what_products_move_is_counted(
    placement: str, name: str, engines: Engines, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes moved are at least the rows that the mask allows, at most all rows aligned, and counted by their kind."""
    for setting, value in (("order", "lockstep"), ("counting", True)):  # settings of the emulator
        monkeypatch.setattr(gpu, setting, value, raising=False)
    monkeypatch.setattr(host_gather, "_SHARE", 1.0)  # gather in every placement that can gather
    operand, product, value_bytes = COUNTED[name]
    arrays, some = panel_operands(0, "FP64", 5, "A X")["A"], np.arange(0, N, 3)
    A = engines(KINDS["plain"]).put(make(gb, arrays))
    x = operand(gb.Matrix.from_dense(np.ones((N, 5))).to("gpu"))
    mask = gb.Matrix.from_coo(np.repeat(some, 5), np.tile(np.arange(5), some.size), True, nrows=N, ncols=5)
    m = operand(mask.to("gpu"))
    with KINDS["plain"].settings(), gb.stats.collect() as moved:
        product(A, x, m)
    rows = A._store.in_stored_order()[0]
    least = (value_bytes + (0 if rows.compressed else 4)) * int(np.isin(arrays.rows, some).sum())
    most = 1.2 * (value_bytes + rows.id_bytes) * rows.nvals
    assert moved.compute_seconds > 0
    if placement in ON_THE_CARD:
        assert least <= moved.device_bytes <= most
        assert moved == Traffic(device_bytes=moved.device_bytes, compute_seconds=moved.compute_seconds)
        return
    assert max(least, 1) <= moved.link_bytes <= (2 if placement == "stream" else 1) * most
    if name == "bits" or placement not in ("stream", "gather", "cached"):  # these are read in place
        assert moved.link_bytes <= 128 * moved.requests
        assert moved.copied_bytes == moved.device_bytes == moved.copy_seconds == moved.gather_seconds == 0
    elif placement != "cached" or moved.copied_bytes:  # cached may choose to read in place
        assert moved.copied_bytes == moved.link_bytes
        assert (moved.requests, moved.copy_seconds > 0) == (0, True)
        assert (moved.gather_seconds > 0) == (placement != "stream")
        assert moved.device_bytes >= least
