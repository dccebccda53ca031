"""What matrices and vectors remember of their content, and when they must forget it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sparsezc as gb


def test_a_program_that_never_names_matrix_can_make_one() -> None:
    program = "import sparsezc as gb; assert gb.Vector.from_coo([0], [1]).diag().nvals == 1"
    root = Path(__file__).resolve().parent.parent
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=60)


def test_a_vector_with_one_value_everywhere_holds_it_in_its_own_type() -> None:
    assert gb.Vector.from_scalar(2.7, 2, "INT8").dup("FP64").to_dict() == {0: 2.0, 1: 2.0}
    assert gb.Vector.from_scalar(300, 2, "UINT8").dup("INT64").to_dict() == {0: 44, 1: 44}


def test_symmetry_is_forgotten_when_another_object_may_change_the_matrix() -> None:
    A = gb.Matrix.from_csr([0, 1, 2, 2], [1, 0], 1, symmetric=True)
    assert A.shape == (3, 3)
    A.to_graphblas()[2, 0] = 1
    assert gb.algorithms.connected_components(A).to_dict() == {0: 0, 1: 0, 2: 0}


def test_a_matrix_that_is_not_square_cannot_be_symmetric() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match=r"symmetric=True, and the matrix is 2 x 3"):
        gb.Matrix.from_csr([0, 1, 2], [1, 0], 1, ncols=3, symmetric=True)


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
