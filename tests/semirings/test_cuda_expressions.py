"""The CUDA expression of every operator equals SuiteSparse's result, for every type, at extreme and random values."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from sparsezc.device import nvrtc
from sparsezc.semirings import TypedOp, binary, indexunary, select, unary
from sparsezc.semirings.algebra import names
from sparsezc.semirings.algebra.operators import reads_of
from sparsezc.semirings.types import datatypes
from tests.emulator import resources

from . import cuda_expressions, samples
from .cases import NOT_COMPARED, Case, case, operators_of_values, typed_operators
from .cuda_expressions import HostProgram

EVERY = [typed for kind in ("unary", "binary", "indexunary", "select") for _, typed in typed_operators(kind)]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> HostProgram:
    return HostProgram(EVERY, tmp_path_factory.mktemp("operators"))


@pytest.mark.parametrize(
    "typed", [x for kind in ("unary", "binary", "indexunary") for x in operators_of_values(kind)], ids=repr
)
def test_values(typed: TypedOp, program: HostProgram) -> None:
    x, y = (case(typed).operands * 2)[:2]
    case(typed).check(program(typed, x, y))
    if typed.op.kind == "indexunary":
        case(typed).check(program(select.__dict__[typed.name][typed.type], x, y))


@pytest.mark.parametrize("name", NOT_COMPARED)
def test_the_faces_agree_where_there_is_no_judge(name: str, program: HostProgram) -> None:
    for _, typed in typed_operators("binary"):
        if typed.name == name:
            x, y = samples.pairs(typed.type)
            Case(typed, (x, y), typed.numpy(x, y)).check(program(typed, x, y))


def test_integers_divided_by_zero() -> None:
    x = np.array([-5, 0, 7], np.int8)
    zero = np.zeros_like(x)
    assert binary.cdiv["INT8"].numpy(x, zero).tolist() == [-128, 0, 127]
    assert binary.floordiv["INT8"].numpy(x, zero).tolist() == binary.mod["INT8"].numpy(x, zero).tolist() == [0, 0, 0]


def test_positions(program: HostProgram) -> None:
    i, k, j = (a.ravel() for a in np.indices((3, 4, 5)))
    operands_of = {"unary": (i, j), "binary": (i, k, j)}
    for kind in ("unary", "binary", "indexunary", "select"):
        for _, typed in typed_operators(kind):
            if not typed.is_positional:
                continue
            x = np.zeros(len(i), typed.type.np_type)
            for thunk in (-2, 0, 1):
                y_type = typed.type if kind in operands_of else typed.thunk_type
                y = np.full(len(i), thunk, y_type.np_type)
                operands = operands_of.get(kind, (x, i, j, y))
                got = program(typed, x, y, i, k, j)
                np.testing.assert_array_equal(got, typed.numpy(*operands), err_msg=repr(typed))


def test_the_compiler_has_nothing_to_say(program: HostProgram) -> None:
    assert program.warnings == ""


@pytest.mark.skipif(resources.why_unavailable() is not None, reason=str(resources.why_unavailable()))
def test_nvrtc_takes_every_operator() -> None:
    # One type of each kind: the others would only take time.
    operators = [typed for typed in EVERY if typed.type.name in ("BOOL", "INT8", "UINT64", "FP32")]
    usage = resources.parse_report(resources.compile_program(cuda_expressions.text(operators, device=True), 90))
    assert len(usage) == len(operators) > 250
    assert all(use.spills == 0 for use in usage.values())


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["unary", "binary", "indexunary"])
def test_values_on_a_gpu(kind: str) -> None:
    import cupy

    module = cupy.cuda.Module()
    module.load(
        nvrtc.compiled(
            cupy.cuda.nvrtc, cuda_expressions.text(EVERY, device=True), int(cupy.cuda.Device().compute_capability)
        )
    )
    numbers = {id(typed): n for n, typed in enumerate(EVERY)}
    wrong = []
    for typed in operators_of_values(kind):
        x, y = (cupy.asarray(a) for a in (case(typed).operands * 2)[:2])
        z = cupy.empty(len(x), typed.return_type.np_type)
        kernel = module.get_function(f"run{numbers[id(typed)]}")
        kernel(((len(x) + 127) // 128,), (128,), (x, y, 0, 0, 0, z, np.int64(len(x))))
        try:
            case(typed).check(cupy.asnumpy(z), on_gpu=True)
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


def test_reads() -> None:
    assert reads_of("quotient(x, y)") == {"x", "y"}
    assert reads_of("Z(1)") == frozenset()
    assert binary.second["FP64"].reads == {"y"}
    assert binary.pair["FP64"].reads == frozenset()
    assert names.lookup("semiring", "any_secondi")["FP64"].reads == {"k"}
    assert unary.ss.positionj1["FP64"].reads == {"j"}
    assert indexunary.tril["FP64"].reads == {"i", "j", "y"}
    assert select.valuegt["FP64"].reads == {"x", "y"}
    for kind in names.KINDS:
        for op in names.names_of(kind).values():
            words = set(re.findall(r"[A-Za-z_]\w*", op.cuda))
            assert words & {"x", "y", "i", "j", "k"} == next(iter(op[t] for t in op.types)).reads


def test_constants_survive_being_written(tmp_path: Path) -> None:
    values = [(t, v) for t in datatypes.ALL for v in samples.values(t)]
    lines = [f"{t.ctype} c{n} = {t.literal(v)};" for n, (t, v) in enumerate(values)]
    source, library = tmp_path / "constants.cpp", tmp_path / "constants.so"
    source.write_text("\n".join([cuda_expressions.HOST, "namespace szc {", 'extern "C" {', *lines, "}", "}"]))
    cuda_expressions.compile_host(source, library)
    loaded = ctypes.CDLL(str(library))
    for n, (t, v) in enumerate(values):
        raw = (ctypes.c_char * t.np_type.itemsize).in_dll(loaded, f"c{n}").raw
        got = np.frombuffer(raw, t.np_type)[0]
        assert got == v or (got != got and v != v), (t, v, t.literal(v))
