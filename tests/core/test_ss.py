"""``A.ss``, ``v.ss`` and ``gb.ss``: SuiteSparse's own methods take and return our objects, on every engine."""

from __future__ import annotations

import inspect
import pickle
import re
from typing import Any

import graphblas
import numpy as np
import pytest

import sparsezc as gb
from tests.ops.conftest import engine as engine
from tests.ops.judge import Engine, judge, operands


def arrays(info: Any) -> Any:
    """Return an export as plain values that can be compared."""
    return {key: value.tolist() if isinstance(value, np.ndarray) else str(value) for key, value in sorted(info.items())}


READS: dict[str, Any] = {
    "scan": lambda g, o: o.u.ss.scan(),
    "scan with an operator": lambda g, o: o.A.ss.scan(g.monoid.max, "columnwise"),
    "export csr": lambda g, o: arrays(o.A.ss.export("csr", sort=True)),
    "export csc": lambda g, o: arrays(o.R.ss.export("csc", sort=True)),
    "export coo": lambda g, o: arrays(o.A.ss.export("coor", sort=True)),
    "export a vector": lambda g, o: arrays(o.u.ss.export("sparse", sort=True)),
    "head": lambda g, o: [part.tolist() for part in o.A.ss.head(3, sort=True)],
    "flatten": lambda g, o: o.A.ss.flatten(),
    "reshape": lambda g, o: o.u.ss.reshape(1, 7),
    "split": lambda g, o: o.u.ss.split([3, 4])[1],
    "sort": lambda g, o: o.u.ss.sort(g.binary.gt)[0],
    "selectk": lambda g, o: o.A.ss.selectk("first", 2),
    "compactify": lambda g, o: o.A.ss.compactify("smallest", 2),
    "iterkeys": lambda g, o: sorted(o.A.ss.iterkeys()),
    "iteritems": lambda g, o: sorted(o.u.ss.iteritems()),
    "no iso value": lambda g, o: o.A.ss.iso_value,
    "an unknown format": lambda g, o: o.A.ss.export("foo"),
    "concat": lambda g, o: g.ss.concat([[o.A, o.R], [o.B, o.R]]),
    "concat of vectors": lambda g, o: g.ss.concat([o.u, o.v, o.x]),
    "concat of nothing": lambda g, o: g.ss.concat([]),
    "diag": lambda g, o: g.ss.diag(o.u, 2),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore::sparsezc.exceptions.PerformanceWarning")
def test_what_it_reads(name: str, engine: Engine) -> None:
    for seed, density in ((0, 0.5), (1, 1.0)):
        judge(READS[name], operands(seed, density=density), engine, name)


def changed(x: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    getattr(x.ss, method)(*args, **kwargs)
    return x


CHANGES: dict[str, Any] = {
    "build_scalar": lambda g, o: changed(g.Matrix(int, 3, 3), "build_scalar", [0, 1], [1, 2], 7),
    "build_diag": lambda g, o: changed(g.Matrix("INT64", 7, 7), "build_diag", o.u),
    "concat into": lambda g, o: changed(g.Vector(int, 14), "concat", [o.u, o.v]),
    "reshape in place": lambda g, o: changed(o.A, "reshape", 1, 49, inplace=True),
    "pack_full": lambda g, o: changed(g.Vector(int, 3), "pack_full", values=np.array([4, 5, 6])),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_it_changes(name: str, engine: Engine) -> None:
    judge(CHANGES[name], operands(0), engine, name)


def test_export_and_import_without_a_copy() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 3.0])
    taken = A.ss.unpack("csr")
    assert A.nvals == 0
    B = gb.Matrix.ss.import_csr(**{k: x for k, x in taken.items() if k != "format"}, take_ownership=True)
    assert type(B) is gb.Matrix
    assert B.to_dicts() == {0: {1: 2.0}, 1: {0: 3.0}}
    v = gb.Vector.ss.deserialize(gb.Vector.from_coo([1], [5], size=3).ss.serialize())
    assert (v.size, v.to_dict()) == (3, {1: 5})


SERIALIZED: dict[str, Any] = {
    "a Matrix": lambda: gb.Matrix.from_coo([0, 1, 300], [1, 0, 299], [2.0, 3.0, 4.0]),
    "of users' type": lambda: gb.Matrix.from_coo([0], [1], np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])),
    "a Vector": lambda: gb.Vector.from_coo(np.arange(0, 900, 3), np.arange(300) % 7, size=1000),
    "an iso Vector": lambda: gb.Vector.from_coo([1, 5], 3, size=2**40),
    "empty": lambda: gb.Matrix(int, 2, 3),
}


@pytest.mark.parametrize("form", [lambda x: x, bytes, bytearray, memoryview, lambda x: np.repeat(x, 2)[::2]])
@pytest.mark.parametrize("name", SERIALIZED)
def test_what_was_serialized_comes_back(name: str, form: Any) -> None:
    x = SERIALIZED[name]()
    for options in ({}, {"compression": "none"}, {"compression": "zstd", "level": 3}):
        data = x.ss.serialize(**options)
        assert (type(data), data.dtype) == (np.ndarray, np.uint8)
        back = type(x).ss.deserialize(form(data), name="back")
        assert (back.dtype, back.shape, back.name) == (x.dtype, x.shape, "back")
        assert [part.tolist() for part in back.to_coo()] == [part.tolist() for part in x.to_coo()]


@pytest.mark.parametrize("name", SERIALIZED)
def test_damaged_bytes_are_refused_before_suitesparse_sees_them(name: str) -> None:
    """Without the check 56 of 60 such inputs ended the process."""
    rng = np.random.default_rng(20)
    x = SERIALIZED[name]()
    sound = x.ss.serialize()
    for trial in range(200):
        data = sound.copy()
        if trial % 4 == 0:
            data = data[: rng.integers(data.size)]
        elif trial % 4 == 1:
            data = np.r_[data, np.zeros(rng.integers(1, 9), np.uint8)]
        else:
            for at in rng.integers(data.size, size=rng.integers(1, 4)):
                data[at] ^= 1 << rng.integers(8)
        if not np.array_equal(data, sound):
            with pytest.raises(gb.exceptions.InvalidObject, match=r"data: [\d,]+ bytes (that were cut|without)"):
                type(x).ss.deserialize(data)


def test_bytes_of_python_graphblas_are_read_where_they_are_trusted() -> None:
    theirs = graphblas.Vector.from_coo([1], [5], size=3)
    data = theirs.ss.serialize()
    with pytest.raises(gb.exceptions.InvalidObject, match=r"deserialize\(data, trusted=True\)"):
        gb.Vector.ss.deserialize(data)
    assert gb.Vector.ss.deserialize(data, trusted=True).to_dict() == {1: 5}
    ours = gb.Vector.from_coo([1], [5], size=3).ss.serialize()
    assert graphblas.Vector.ss.deserialize(ours[48:]).isequal(theirs)
    with pytest.raises(gb.exceptions.InvalidObject, match="digest"):  # refused with `trusted=True` too
        gb.Vector.ss.deserialize(ours[:-1], trusted=True)


def test_bytes_of_another_kind_are_refused() -> None:
    A, v = SERIALIZED["a Matrix"](), SERIALIZED["a Vector"]()
    with pytest.raises(gb.exceptions.InvalidObject, match="of a Matrix"):
        gb.Vector.ss.deserialize(A.ss.serialize())
    with pytest.raises(gb.exceptions.GraphblasException):
        gb.Vector.ss.deserialize(v.ss.serialize(), "FP32")
    for data in (3, "text", None, [1, 2]):
        with pytest.raises(TypeError):
            gb.Vector.ss.deserialize(data)


def test_a_matrix_of_one_value_is_iso() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], 5)
    assert (A.ss.is_iso, A.ss.iso_value.value) == (True, 5)
    A[0, 1] = 6
    assert not A.ss.is_iso


@pytest.mark.filterwarnings("ignore::sparsezc.exceptions.PerformanceWarning")
def test_a_call_copies_an_object_of_the_gpu_once(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = []
    for kind in (gb.Matrix, gb.Vector):
        to = kind.to
        monkeypatch.setattr(kind, "to", lambda x, *given, to=to: copied.append(type(x).__name__) or to(x, *given))
    A, v = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3]), gb.Vector.from_coo([1], [5], size=3)
    for x, theirs in ((A.to("gpu"), graphblas.Matrix(int, 1, 1)), (v.to("gpu"), graphblas.Vector(int, 1))):
        copied.clear()
        scan = x.ss.scan
        assert inspect.signature(scan) == inspect.signature(theirs.ss.scan)
        assert copied == []
        assert scan().nvals == x.nvals
        assert copied == [type(x).__name__]
        assert x.ss.is_iso is (x.ndim == 1)
        assert copied == [type(x).__name__] * 2


def test_names_that_are_none() -> None:
    v = gb.Vector(int, 2)
    for use in (lambda: v.ss.flatten, lambda: gb.Vector.ss.import_csr, lambda: gb.ss.foo, lambda: v.ss.foo):
        with pytest.raises(AttributeError):
            use()
    assert {"import_csr", "deserialize"} <= set(dir(gb.Matrix.ss))
    assert "scan" in dir(v.ss)


def test_the_librarys_own_settings() -> None:
    assert gb.ss.about["library_version"] == graphblas.ss.about["library_version"]
    assert gb.ss.config is graphblas.ss.config


def test_a_recorder_sees_what_runs() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3])
    with gb.Recorder() as recorder:
        A.mxm(A).new()
    assert any("GrB_mxm" in call for call in recorder.data)


@pytest.mark.parametrize(
    "x",
    [
        gb.Matrix.from_coo([0, 2**50], [3, 1], [1.5, 2], name="A"),
        gb.Vector.from_coo([1], [True], size=9, name="u"),
        gb.Scalar.from_value(3, "INT8", name="s"),
        gb.Scalar("FP32"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_objects_pickle(x: Any) -> None:
    copy = pickle.loads(pickle.dumps(x))
    assert copy.isequal(x, check_dtype=True)
    assert (copy.name, copy.shape) == (x.name, x.shape)


def test_a_notebook_shows_placement_and_memory() -> None:
    A = gb.io.read("path:100000", placement="host")
    found = re.findall(r"<td[^>]*>(?:<pre>)?(.*?)(?:</pre>)?</td>", A._repr_html_())
    assert found[1:8] == ["nvals", "nrows", "ncols", "dtype", "format", "placement", "memory"]
    assert found[8:14] == ["199998", "100000", "100000", "BOOL", "csr (iso)", "host"]
    number, unit = found[14].split()
    assert unit == "MiB"
    assert 4 * 300_000 <= float(number) * 2**20 <= 2 * 8 * 300_000  # ids and row offsets take four or eight bytes
    assert "placement" not in gb.Matrix.from_coo([0], [1])._repr_html_()  # below a MiB, only python-graphblas's lines


def test_a_notebook_shows_a_table() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3], name="my_A")
    assert "my" in A._repr_html_()
    assert "<table" in A._repr_html_()
    assert "<td>2</td>" in A._repr_html_()
    assert "<table" in gb.Vector.from_coo([1], [5])._repr_html_()
    assert "<table" in gb.Matrix(int, 0, 3)._repr_html_()
    assert "<td>5</td>" in gb.Vector.from_coo([1], [5], size=2**60)._repr_html_()
    n = 2**60
    wide = gb.Matrix.from_coo([0, n - 1], [3, n - 1], [True, False], nrows=n, ncols=n, name="a<b")._repr_html_()
    assert "<td>True</td>" in wide
    assert "<td>False</td>" in wide  # the opposite corner
    assert "a&lt;b" in wide
    assert len(wide) < 50_000


def test_the_size_of_an_object_counts_its_content() -> None:
    A = gb.Matrix.from_coo(range(100), range(100), 1.5 + np.arange(100))
    assert A.__sizeof__() > 1600
    assert gb.Vector(int, 5).__sizeof__() < 1000
