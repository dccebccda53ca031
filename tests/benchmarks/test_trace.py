"""`benchmarks.trace` counts the files that a call enters and the changes between them."""

from __future__ import annotations

import sparsezc as gb
from benchmarks.trace import followed


def test_a_call_within_one_file_enters_it_once() -> None:
    walk = followed(lambda: repr(gb.config))
    assert walk.files == ["sparsezc/config.py"]
    assert walk.changes == 1


def test_a_statement_passes_from_its_check_to_its_engine() -> None:
    v = gb.Vector.from_coo([0], [1.0], size=3)
    v << v.apply(gb.unary.ainv)
    walk = followed(lambda: v << v.apply(gb.unary.ainv))
    assert {"ops/apply.py", "sparsezc/expr/dispatch.py", "sparsezc/engines/cpu/cpu_engine.py"} <= set(walk.files)
    assert walk.files.index("ops/apply.py") < walk.files.index("sparsezc/engines/cpu/cpu_engine.py")
    assert walk.changes >= len(walk.files)


def test_code_of_others_is_not_counted() -> None:
    walk = followed(lambda: sorted([3, 1, 2], key=lambda x: -x))
    assert walk.files == []
    assert walk.changes == 0
