"""A driver that reads the slots' addresses finds each argument; the emulator acts as the driver."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sparsezc.device.argument_slots import ArgumentSlots
from sparsezc.device.signature import Signature, typedefs
from tests.emulator.device import EmulatedDevice, EmulatorError

TEXT = """
#include "portability.cuh"
namespace szc {
struct alignas(8) c64 { float re, im; };
struct alignas(16) c128 { double re, im; };
typedef i16 Small;
typedef double Real;
typedef c64 Pair;
extern "C" __global__ void KERNEL(u64 big, Small small, bool yes, const double* x, float f, i64 low, c128 whole, Real r,
                                  Pair pair, u8 tiny, u32 word, double* out, const double* null) {
  out[0] = (double)(big >> 1); out[1] = small; out[2] = yes; out[3] = x[1]; out[4] = f; out[5] = (double)low;
  out[6] = whole.re; out[7] = whole.im; out[8] = r; out[9] = pair.re; out[10] = pair.im; out[11] = tiny;
  out[12] = word; out[13] = null == nullptr;
}
}
"""


def on_device(array: Any) -> Any:
    """Return an array as CuPy does: its address is in `data`."""
    return SimpleNamespace(data=SimpleNamespace(ptr=array.ctypes.data))


def test_a_kernel_reads_what_was_written() -> None:
    passed = Signature.parse(TEXT, "KERNEL", "its text").passed(typedefs(TEXT) | {"Pair": np.dtype("c8")})
    device = EmulatedDevice()
    kernel, slots = device.compile(TEXT, "KERNEL", passed), ArgumentSlots(passed)
    x, out = np.array([0.5, 1.25]), np.zeros(14)
    for sign in (1, -1):  # the second launch overwrites all values of the first
        slots.write((
            np.uint64(2**64 - 2), np.int16(-7 * sign), np.bool_(sign > 0), on_device(x), np.float32(1.5 * sign),
            -3 * sign, np.complex128(2 - 3j * sign), np.float64(0.1), np.complex64(-1 + 4j * sign), 255,
            np.uint32(2**32 - 1),
            out.ctypes.data if sign > 0 else on_device(out), np.uint64(0) if sign > 0 else 0,
        ))  # fmt: skip
        device._launch(kernel, ctypes.c_void_p(slots.address), 1, 1)
        wanted = [
            2.0**63,
            -7 * sign,
            sign > 0,
            1.25,
            1.5 * sign,
            -3 * sign,
            2,
            -3 * sign,
            0.1,
            -1,
            4 * sign,
            255,
            2**32 - 1,
            1,
        ]
        np.testing.assert_array_equal(out, wanted)


def test_some_arguments_are_written_again() -> None:
    passed = Signature.parse(TEXT, "KERNEL", "its text").passed(typedefs(TEXT) | {"Pair": np.dtype("c8")})
    device = EmulatedDevice()
    kernel, slots = device.compile(TEXT, "KERNEL", passed), ArgumentSlots(passed)
    x, y, out = np.array([0.5, 1.25]), np.array([3.0, 4.0]), np.zeros(14)
    slots.write(
        (
            8,
            -7,
            np.bool_(True),
            on_device(x),
            np.float32(1.5),
            -3,
            np.complex128(2j),
            np.float64(0.1),
            np.complex64(4j),
            255,
            6,
            on_device(out),
            0,
        )
    )
    slots.part(3, 3)((on_device(y), np.float32(2.5), -5))  # parameters before the complex ones
    slots.part(9, 2)((7, 2**32 - 1))  # parameters behind them
    device._launch(kernel, ctypes.c_void_p(slots.address), 1, 1)
    np.testing.assert_array_equal(out, [4, -7, 1, 4, 2.5, -5, 0, 2, 0.1, 0, 4, 7, 2**32 - 1, 1])


def test_the_emulator_refuses_types_that_are_not_the_kernels() -> None:
    passed = Signature.parse(TEXT, "KERNEL", "its text").passed(typedefs(TEXT) | {"Pair": np.dtype("c8")})
    with pytest.raises(EmulatorError, match="parameters are told as"):
        EmulatedDevice().compile(TEXT, "KERNEL", (np.dtype("u4"), *passed[1:]))
