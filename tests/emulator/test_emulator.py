"""The emulator itself: collectives and atomics are correct in every order, and planted bugs are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
import sparsezc.device.cuda
from tests.emulator import ahead
from tests.emulator import cases as kernel_cases
from tests.emulator.compiler import Compiler
from tests.emulator.device import (
    ORDERS,
    EmulatedDevice,
    EmulatorError,
    sanitizer_environment,
    why_unavailable,
)
from tests.emulator.rehearsal import rehearse, rehearsing

pytestmark = pytest.mark.skipif(why_unavailable() is not None, reason=str(why_unavailable()))

HERE = Path(__file__).parent
BUGS = (HERE / "bugs.cu").read_text()
COLLECTIVES = (HERE / "collectives.cu").read_text()
THREADS = 96
LANE = np.arange(THREADS) % 32
WARP_START = np.arange(THREADS) // 32 * 32
every_order = pytest.mark.parametrize("order", ORDERS)
I32 = np.int32


def run(name: str, args: tuple, order: str = "forward", grid: int = 1, block: int = THREADS, **options: object) -> None:
    source = BUGS if f"void {name}(" in BUGS else COLLECTIVES
    EmulatedDevice(order, **options).compile(source, name)(grid, block, args)


def warps(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 32)


# ---- defined in CUDA ----------------------------------------------------------------------------------------------


@every_order
def test_shuffles(order: str) -> None:
    value = np.random.default_rng(0).integers(-(2**40), 2**40, THREADS)
    out = np.zeros((6, THREADS), np.int64)
    run("shuffles", (value, out), order)
    t = np.arange(THREADS)

    def take(source: np.ndarray, width: int = 32) -> np.ndarray:
        """Return the shuffled values; a lane whose source is outside its segment keeps its own."""
        return value[np.where(source // width == t // width, source, t)]

    assert (out[0] == value[WARP_START + t * 7 % 32]).all()
    assert (out[1] == take(t - 3)).all()
    assert (out[2] == take(t + 5, 16)).all()
    assert (out[3] == value[t ^ 9]).all()
    assert (out[4] == value[t // 8 * 8 + 2]).all()
    assert (out[5] == take(t - 1, 4).astype(np.int16)).all()


@every_order
def test_votes(order: str) -> None:
    value = np.random.default_rng(1).integers(0, 6, THREADS)
    value[32:64] = 5
    out = np.zeros((5, THREADS), np.uint32)
    run("votes", (value, out), order)

    def ballot(flags: np.ndarray) -> np.ndarray:
        return np.repeat((warps(flags) << np.arange(32)).sum(1), 32)

    assert (out[0] == ballot(value & 1)).all()
    assert (out[1] == np.repeat((warps(value) == 5).any(1), 32)).all()
    assert (out[2] == 1).all()
    assert (out[3] == [ballot(value == v)[t] for t, v in enumerate(value)]).all()
    assert (out[4] == np.where(LANE % 2, ballot((value >> 1 & 1) * (LANE % 2)), 0)).all()


@every_order
def test_reductions_and_counting_barriers(order: str) -> None:
    value = np.random.default_rng(2).integers(-500, 500, THREADS).astype(I32)
    out = np.zeros((9, THREADS), I32)
    run("reductions", (value, out), order)
    bits = value.view(np.uint32)
    expected = [
        warps(value).sum(1),
        warps(value).min(1),
        warps(value).max(1),
        warps(bits).min(1).view(I32),
        np.bitwise_and.reduce(warps(value), 1),
        np.bitwise_or.reduce(warps(value), 1),
        np.bitwise_xor.reduce(warps(value), 1),
    ]
    for row, by_warp in zip(out, expected, strict=False):
        assert (row == np.repeat(by_warp, 32)).all()
    assert (out[7] == (value > 0).sum()).all()
    assert (out[8] == 2).all()


def test_bit_functions() -> None:
    value = np.random.default_rng(3).integers(0, 2**32, THREADS, dtype=np.uint32)
    value[:3] = 0, 1, 2**31
    out = np.zeros((6, THREADS), np.uint32)
    run("bits", (value, out))
    text = [f"{v:032b}" for v in value]
    assert (out[0] == [s.count("1") for s in text]).all()
    assert (out[1] == [len(s) - s.rindex("1") if "1" in s else 0 for s in text]).all()
    assert (out[2] == [len(s) - len(s.lstrip("0")) for s in text]).all()
    assert (out[3] == [int(s[::-1], 2) for s in text]).all()
    assert (out[4] == 2 * out[0]).all()
    assert (out[5] == 32 + out[2]).all()


@every_order
def test_atomics_and_the_last_block_to_arrive(order: str) -> None:
    value = np.random.default_rng(4).integers(1, 900, 300).astype(I32)
    doubles, floats = np.zeros(2), np.zeros(1, np.float32)
    ints, longs = np.array([0, 10**9, -(10**9)], I32), np.zeros(3, np.uint64)
    shorts, ticket, total = np.zeros(1, np.uint16), np.zeros(1, np.uint32), np.zeros(1, I32)
    run("atomics", (value, I32(300), doubles, floats, ints, longs, shorts, ticket, total), order, grid=5, block=64)
    assert list(doubles) == [value.sum(), value.max()]
    assert floats[0] == total[0] == value.sum()
    assert list(ints) == [value.sum(), value.min(), value.max()]
    assert list(longs) == [value.sum(), np.bitwise_xor.reduce(value), np.bitwise_or.reduce(value)]
    assert (shorts[0], ticket[0]) == (300, 5)


@every_order
def test_a_lock_within_a_warp_and_a_shared_work_counter(order: str) -> None:
    counter, lock, count, done = np.zeros(1, np.uint64), np.zeros(1, I32), np.zeros(1, I32), np.zeros(20, I32)
    run("lock_and_work", (counter, lock, count, done, np.uint64(20)), order, grid=3, block=64, seconds=5.0)
    assert (done == 1).all()
    assert count[0] == 3 * 64


@every_order
@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_that_wait_for_each_other(order: str, blocks: int) -> None:
    seats, device = np.zeros(blocks, np.int64), EmulatedDevice(order, multiprocessors=3)
    kernel = device.compile(COLLECTIVES, "round_table")
    kernel.together(blocks, THREADS, (seats, np.zeros(32, np.uint64), 4))
    own = np.arange(blocks)
    for _ in range(4):
        own = own + np.roll(own, -1)
    assert seats.tolist() == own.tolist()
    with pytest.raises(EmulatorError, match="round_table: 4 blocks do not run at once, 3 do"):
        kernel.together(4, THREADS, (seats, np.zeros(32, np.uint64), 4))


def test_a_block_that_leaves_the_grid_is_found() -> None:
    device, out = EmulatedDevice(), np.zeros(32, I32)
    with pytest.raises(EmulatorError, match="sync_grid after some blocks of the launch have returned"):
        device.compile(BUGS, "leaves_the_grid")(3, 32, (out, np.zeros(32, np.uint64)))
    run("votes", (np.zeros(THREADS, np.int64), np.zeros((5, THREADS), np.uint32)))  # the emulator still works


def test_arguments_by_value() -> None:
    pair = np.array((2.5, -7), np.dtype([("a", "f8"), ("b", "i4")], align=True))[()]
    out = np.zeros(7)
    run("by_value", (np.int8(-3), np.uint64(2**53), np.float32(0.5), np.bool_(True), pair, np.uint64(0), out))
    assert list(out) == [-3, 2**53, 0.5, 1, 2.5, -7, 1]


# ---- undefined in CUDA --------------------------------------------------------------------------------------------


@every_order
@pytest.mark.parametrize(
    ("name", "args", "block", "message"),
    [
        ("divergent_barrier", (), 32, r"__syncthreads at kernel:8 after some threads of the block have returned"),
        (
            "different_barriers",
            (),
            64,
            "threads of one block met in different barriers: thread .* in __syncthreads at kernel:1[46], thread",
        ),
        ("divergent_shuffle", (), 32, r"lanes of one warp met in different calls: thread \d+ in shuffle at .*, thread"),
        ("exited_lane", (I32(20),), 32, "thread 19 shuffles from lane 20, which takes no part"),
        ("partial_mask", (), 32, r"thread \d shuffles from lane 9, which takes no part"),
        ("unnamed_lane", (), 32, r"thread (16|31|2\d|1\d|30) calls a collective whose mask does not name its lane"),
        ("deadlock", (), 32, "deadlock: no thread can go on; thread 0 waits in vote at .*thread 3 waits in __syncwarp"),
        ("traps", (), 32, r"thread 7 ran into __trap\(\) at"),
    ],
)
def test_a_planted_bug_is_found(name: str, args: tuple, block: int, message: str, order: str) -> None:
    out = np.zeros(block, I32)
    with pytest.raises(EmulatorError, match=f"{name}, {order}, block 0: .*{message}"):
        run(name, (out, *args), order, block=block)
    run("votes", (np.zeros(THREADS, np.int64), np.zeros((5, THREADS), np.uint32)), order)  # the emulator still works


@every_order
def test_an_endless_loop_ends(order: str) -> None:
    with pytest.raises(EmulatorError, match="runs on and on"):
        run("endless", (np.zeros(32, I32),), order, block=32, seconds=0.2)


def test_a_stack_that_overflows_is_a_fault() -> None:
    with pytest.raises(EmulatorError, match="thread 0 touches memory that is not there"):
        run("overflows_stack", (np.zeros(32, I32),), block=32)


@pytest.mark.parametrize(
    ("guard", "first", "thread"), [("after", 1, 31), ("after", 0, None), ("before", -1, 0), ("before", 0, None)]
)
def test_guarded_arrays(guard: str, first: int, thread: int | None) -> None:
    given, out = np.arange(32, dtype=I32), np.zeros(32, I32)
    if thread is None:
        run("out_of_bounds", (out, given, I32(first)), guard=guard, block=32)
        assert (out == given).all()
    else:
        with pytest.raises(EmulatorError, match=f"thread {thread} touches memory that is not there"):
            run("out_of_bounds", (out, given, I32(first)), guard=guard, block=32)


def test_a_race_gives_itself_away_by_its_answers() -> None:
    def answers(name: str, block: int) -> set[bytes]:
        found = set()
        for order in ORDERS:
            out = np.zeros(block, I32)
            run(name, (out,), order, block=block)
            found.add(out.tobytes())
        return found

    assert len(answers("race", 64)) > 1
    assert len(answers("race_in_warp", 32)) > 1


def test_random_order_goes_between_atomics() -> None:
    counts = set()
    for seed in range(8):
        out = np.zeros(64, I32)
        run("lost_update", (out,), "random", block=64, seed=seed)
        counts.add(int(out[0]))
    assert min(counts) < 64
    out = np.zeros(64, I32)
    run("lost_update", (out,), "forward", block=64)
    assert out[0] == 64


def test_atomics_of_earlier_launches_give_no_lane_priority() -> None:
    """A lane yields to others after 4,096 atomics, counted from the start of its own launch."""
    kernel, out = EmulatedDevice("forward").compile(BUGS, "lost_update"), np.zeros(64, I32)
    for _ in range(4100):
        out[0] = 0
        kernel(1, 64, (out,))
        assert out[0] == 64


def test_shared_memory_starts_as_garbage_in_every_block() -> None:
    out = np.zeros(32, I32)
    run("uncleared_shared", (out,), grid=3, block=32)
    assert (out == int.from_bytes(b"\xa5" * 4, "little", signed=True) + 32).all()


# ---- refused by the launcher --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.zeros(32, I32),), "exited_lane takes 2 arguments, 1 were given"),
        ((np.zeros(32), I32(1)), "argument 0: the kernel takes a pointer to 4-byte items, an array of float64"),
        ((np.zeros(64, I32)[::2], I32(1)), "argument 0: .* an array that is not contiguous was given"),
        ((np.zeros(32, I32), np.int64(1)), r"argument 1: the kernel takes 4 bytes \(i\), int64 was given"),
        ((np.zeros(32, I32), np.float32(1)), r"argument 1: the kernel takes 4 bytes \(i\), float32 was given"),
        ((np.zeros(32, I32), 1.0), r"argument 1: the kernel takes 4 bytes \(i\), 1.0 \(float\), not a NumPy scalar"),
        ((np.zeros(32, I32), True), r"argument 1: the kernel takes 4 bytes \(i\), True \(bool\), not a NumPy scalar"),
        ((np.zeros(32, I32), 2**31), r"argument 1: the kernel takes 4 bytes \(i\), 2147483648 was given"),
        ((np.float64(0), I32(1)), "argument 0: the kernel takes a pointer to 4-byte items"),
    ],
)
def test_wrong_arguments_are_named(args: tuple, message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        run("exited_lane", args, block=32)


def test_a_compile_error_names_file_line_and_cause() -> None:
    device = EmulatedDevice()
    good = 'extern "C" __global__ void one(int* out) { out[0] = 1; }'
    bad = '#include "portability.cuh"\nusing namespace szc;\n' + good.replace("= 1", "= no_such_name")
    with pytest.raises(EmulatorError, match=r"kernel:3:.*no_such_name") as caught:
        device.compile_many([(good, "one"), (bad, "one")])
    assert "cuda_emu" not in str(caught.value)
    out = np.zeros(1, I32)
    device.compile(good, "one")(1, 1, (out,))
    assert out[0] == 1
    with pytest.raises(EmulatorError, match=r'"nowhere\.cuh" is in none of'):
        device.compile('#include "nowhere.cuh"', "one")


def test_atomics_that_cuda_does_not_have_do_not_compile() -> None:
    source = 'extern "C" __global__ void signed_add(long long* out) { atomicAdd(out, 1ll); }'
    with pytest.raises(EmulatorError, match=r"invalid conversion from .long long int\*. to .long long unsigned int\*"):
        EmulatedDevice().compile(source, "signed_add")


def test_kernels_of_one_name_do_not_mix() -> None:
    """Kernels may define the same names, shared memory and macros, in one library or in several."""
    device = EmulatedDevice()
    text = """
    #include "portability.cuh"
    #define FACTOR {factor}
    typedef {ctype} T;
    namespace szc {{
    struct Helper {{ static __device__ T twice(T v) {{ return 2 * v; }} }};
    inline __device__ T scale(T v) {{ __shared__ T s[2]; s[0] = v; return Helper::twice(s[0]) * FACTOR; }}
    extern "C" __global__ void scale_all(T* out) {{ out[threadIdx.x] = scale(out[threadIdx.x]); }}
    }}
    """
    cases = [(c, d, f) for f in (3, 5) for c, d in (("int", np.int32), ("double", np.float64), ("short", np.int16))]
    texts = [(text.format(ctype=ctype, factor=factor), "scale_all") for ctype, _, factor in cases]
    for kernels in (device.compile_many(texts), [device.compile(text + "//", name) for text, name in texts]):
        for kernel, (_, dtype, factor) in zip(kernels, cases, strict=True):
            out = np.arange(4).astype(dtype)
            kernel(1, 4, (out,))
            assert list(out) == [2 * factor * v for v in range(4)]


def test_a_rehearsal_to_the_end_goes_past_comparisons_and_sees_entries() -> None:
    asked: list[int] = []

    def asks() -> None:
        found = gb.Vector.from_coo([1], [2], size=40).to("gpu")
        assert found.apply("abs").new().isequal(gb.Vector(int, 40).to("gpu"))
        asked.append(found.apply("abs").new().nvals)
        while True:
            found << found.apply("ainv")

    cases = rehearse([asks], to_the_end=True)
    assert asked == [0, 1]
    assert "vector_map" in {name for _, name in cases}


def test_a_rehearsal_writes_kernels_down_and_runs_none() -> None:
    out = np.zeros(32, I32)

    def asks(name: str) -> None:
        sparsezc.device.cuda.current().compile(BUGS, name)(1, 32, (out,))
        raise ValueError("passed over")

    names = ("traps", "endless", "traps")
    assert rehearse(lambda name=name: asks(name) for name in names) == [(BUGS, "traps"), (BUGS, "endless")]
    assert not out.any()
    assert not rehearsing()


def test_kernels_that_are_asked_for_together_are_compiled_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups are those that a cache recorded; a kernel that is in no group is compiled alone."""
    asked = [case[1:] for case in kernel_cases.every_semiring()[:2]]
    monkeypatch.setattr(ahead, "in_use", False)
    monkeypatch.setattr(ahead, "FILE", tmp_path / "ahead.json.xz")
    Compiler(tmp_path / "one").compile_many(asked)
    assert ahead.write(tmp_path / "one") == 2
    monkeypatch.setattr(ahead, "in_use", True)
    ahead._groups.cache_clear()
    try:
        assert ahead.together(*asked[1]) == [asked[1], asked[0]]
        assert ahead.together(BUGS, "traps") == [(BUGS, "traps")]
        Compiler(tmp_path / "two").compile_many(asked[:1])
        ahead.compile_groups(tmp_path / "three")
    finally:
        ahead._groups.cache_clear()
    for cache in ("two", "three"):
        assert len(list((tmp_path / cache).glob("*.library"))) == 2
        assert len(list((tmp_path / cache).glob("kernels-*.so"))) == 1


@pytest.mark.parametrize("prelude", ["typedef int Z;", "struct S {\nint a;\n}\n;", "typedef c64 Z;\nvoid f() {\n}\n"])
@pytest.mark.parametrize("counting", [False, True])
def test_the_parts_of_a_text_are_found_again(counting: bool, prelude: str) -> None:
    """It holds also for a prelude that contains a brace like the one that closes it."""
    case = ahead.Case(counting, "mxv.cu", "mxv", prelude)
    assert ahead._case(case.text(), "mxv") == case
    assert ahead._case(BUGS, "traps") is None


def test_a_kernel_of_an_earlier_run_that_does_not_compile_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others of its group stay together, and it is not compiled again until a test asks for it."""
    good, other = (case[1:] for case in kernel_cases.every_semiring()[:2])
    bad = (good[0] + "\nno kernel;\n", good[1])
    monkeypatch.setattr(ahead, "in_use", True)
    monkeypatch.setattr(ahead, "together", lambda *one: [one, bad, other])
    compiler = Compiler(tmp_path)
    (library, symbol), = compiler.compile_many([good])  # fmt: skip
    assert compiler.compile_many([other])[0][0] == library
    assert not compiler._ahead({symbol: good})
    with pytest.raises(EmulatorError, match="g\\+\\+ refuses the kernel"):
        compiler.compile_many([bad])


# ---- AddressSanitizer, in a process of its own ----------------------------------------------------------------------

SANITIZED = """
import sys, numpy as np
from pathlib import Path
from tests.emulator.device import EmulatedDevice, EmulatorError
device = EmulatedDevice(sanitize="address")
text = Path("tests/emulator/bugs.cu").read_text()
names = "divergent_barrier", "out_of_bounds", sys.argv[1]
refused, good, bad = device.compile_many([(text, name) for name in names])
out = np.zeros(32, np.int32)
try:
    refused(1, 32, (out,))
except EmulatorError as error:
    print(error)
good(2, 32, (out, np.arange(32, dtype=np.int32), np.int32(0)))
print("ran to the end", out[5], flush=True)
bad(1, 32, (out,) if sys.argv[1] == "overflows_shared" else (out, np.arange(32, dtype=np.int32), np.int32(1)))
"""


@pytest.mark.parametrize(
    ("bug", "message"),
    [("overflows_shared", "index 32 out of bounds for type 'int [32]'"), ("out_of_bounds", "heap-buffer-overflow")],
)
def test_address_sanitizer(bug: str, message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED, bug],
        capture_output=True,
        text=True,
        env=sanitizer_environment(),
        cwd=HERE.parents[1],
        check=False,
    )
    assert "after some threads of the block have returned" in done.stdout  # the emulator's own findings
    assert "ran to the end 5" in done.stdout
    assert message in done.stderr
    assert done.returncode != 0
