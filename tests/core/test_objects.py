"""Facts about their content that matrices and vectors cache, and the changes that invalidate them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sparsezc as gb


def test_a_program_that_never_names_matrix_can_make_one() -> None:
    program = "import sparsezc as gb; assert gb.Vector.from_coo([0], [1]).diag().nvals == 1"
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=60)


def test_a_vector_with_one_value_everywhere_holds_it_in_its_own_type() -> None:
    assert gb.Vector.from_scalar(2.7, 2, "INT8").dup("FP64").to_dict() == {0: 2.0, 1: 2.0}
    wide = gb.Scalar.from_value(300)
    assert gb.Vector.from_scalar(wide, 2, "UINT8").dup("INT64").to_dict() == {0: 44, 1: 44}


def test_symmetry_is_forgotten_when_another_object_may_change_the_matrix() -> None:
    A = gb.Matrix.from_csr([0, 1, 2, 2], [1, 0], 1, symmetric=True)
    assert A.shape == (3, 3)
    A.to_graphblas()[2, 0] = 1
    assert gb.algorithms.connected_components(A).to_dict() == {0: 0, 1: 0, 2: 0}


def test_a_matrix_that_is_not_square_cannot_be_symmetric() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match=r"symmetric=True, and the matrix is 2 x 3"):
        gb.Matrix.from_csr([0, 1, 2], [1, 0], 1, ncols=3, symmetric=True)


def test_a_vector_without_a_place_remembers_single_elements() -> None:
    """A vector keeps single elements until a statement gives it an engine, so it is built once."""
    v = gb.Vector.from_scalar(7, 5)
    s = gb.Scalar.from_value(1)
    v[3] = s
    s << 9
    v[0] << 2
    v[3] << 4
    assert v._engine is None
    assert v.nvals == 5
    w, x = v.dup(), v.dup(dtype="FP64")
    assert w._engine is None
    assert w.to_dict() == x.to_dict() == v.to_dict() == {0: 2, 1: 7, 2: 7, 3: 4, 4: 7}
    assert (x.dtype.name, v._engine.name) == ("FP64", "cpu")
    u = gb.Vector(int, 3)
    u[1] = 5
    u[1] = 6
    assert (u.nvals, u._engine) == (1, None)
    u.resize(2)
    assert u.to_dict() == {1: 6}
    u = gb.Vector(int, 1000)
    for k in range(1000):
        u[k] = k
    assert (u.nvals, u.reduce("plus").new().value) == (1000, 499500)
    u = gb.Vector(int, 3)
    u[1] = 5
    u.clear()
    assert u.nvals == 0
    del u[1]
    with pytest.raises(gb.exceptions.IndexOutOfBound):
        u[3] = 1


def test_algorithms_run_whatever_the_program_has_set() -> None:
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    with gb.config.set(autocompute=False):
        assert gb.algorithms.pagerank(A).nvals == 3
        assert gb.algorithms.sssp(A, 0).to_dict() == {0: 0.0, 1: 1.0, 2: 3.0}
        assert gb.algorithms.strongly_connected_components(A).to_dict() == {0: 0, 1: 0, 2: 0}
        with pytest.raises(TypeError, match="autocompute"):
            _ = (A + A).nvals


def test_what_an_expression_computed_as_an_operand_stays_as_it_was() -> None:
    v = gb.Vector.from_coo([0, 1], [1, 2])
    doubled = v + v
    later = doubled + 1
    made = doubled.new()
    made[0] = 99
    assert later.new().to_dict() == {0: 3, 1: 5}


def test_elements_of_a_vector_without_a_place_have_its_type() -> None:
    v = gb.Vector("INT64", 3)
    v[0] = 1.5
    assert v.dup("FP64").to_dict() == {0: 1.0}
