// Streaming of rows in mxv.cu where the first columns' values are in shared memory (layouts/hub_columns.py).
//
// A block keeps these values for the whole launch, so only 32 warps run on a multiprocessor: warps that waited for each
// slice would leave it idle. Therefore a warp requests the values of FLIGHT slices at once, and the next ids while it
// waits. All rows are wanted and their ids are plain and in device memory, so the entries of a presence word's rows are
// one run, except for rows of more than LONG entries. For slices within one row each lane keeps a sum of its own, which
// is folded where the row ends; other slices are folded one by one. So floating-point sums differ from those of
// stream_rows in their last digits. The multiply gets no row (0): an operator that reads values reads no positions.
//
// The prelude is that of mxv.cu.
#pragma once
#include "fold.cuh"

namespace szc {

// Slices in flight: as many as fit 64 registers a thread, the limit for 1,024 threads a block.
constexpr u32 FLIGHT = sizeof(X) + (READS_VALUES && !ISO ? sizeof(A) : 0) <= 8 ? 4 : 2;

// Visits entries base + begin .. base + end - 1 (base: a multiple of 32; begin < 32) by visit(offset of the slice,
// whether the lane has an entry in it, its product or else the identity).
template <class Matrix, class Visit>
__device__ __forceinline__ void each_slice(const Matrix& m, u64 base, u32 begin, u32 end, Visit visit) {
  const u32 lane = lane_id();
  const Id* const ids = m.indices + base;
  Id ahead[FLIGHT];
#pragma unroll
  for (u32 k = 0; k < FLIGHT; ++k) ahead[k] = 32 * k + lane < end ? load_host(ids + 32 * k + lane, 0) : Id();
  for (u32 first = 0; first < end; first += 32 * FLIGHT) {
    Id id[FLIGHT];
    A a[FLIGHT];
    X x[FLIGHT];
    bool in[FLIGHT];
#pragma unroll
    for (u32 k = 0; k < FLIGHT; ++k) {
      const u32 at = first + 32 * k + lane, later = at + 32 * FLIGHT;
      in[k] = at >= begin && at < end;
      a[k] = A();
      if (READS_VALUES && ISO) a[k] = m.values[0];
      if (READS_VALUES && !ISO && in[k]) a[k] = load_host(m.values + base + at, 1);
      id[k] = ahead[k];
      x[k] = !in[k] ? X() : id[k] < m.hubs ? m.hub_values[id[k]] : m.x[id[k]];
      ahead[k] = later < end ? load_host(ids + later, 0) : Id();
    }
#pragma unroll
    for (u32 k = 0; k < FLIGHT; ++k) {
      if (first + 32 * k < end) visit(first + 32 * k, in[k], in[k] ? multiply(a[k], x[k], 0, id[k]) : identity());
    }
  }
}

// Folds all lanes in lane order: valid in lane 0 only.
__device__ __forceinline__ Z fold_all(Z z) {
  for (u32 d = 1; d < 32; d <<= 1) z = add(z, __shfl_down_sync(ALL, z, d));
  return z;
}

// Sums the rows whose bits are set in `rows` (lane = row), whose entries follow each other; a sum is in its row's lane.
template <class Matrix>
__device__ __forceinline__ void stream_run(const Matrix& m, u64 begin, u64 end, u32 rows, Z& sum, bool& has) {
  const u32 lane = lane_id(), first = (u32)__ffs((int)rows) - 1, last = 31u - (u32)__clz((int)rows);
  const u64 from = __shfl_sync(ALL, begin, first), base = from & ~(u64)31;
  const bool own = has_bit(rows, lane);
  const u32 low = own ? (u32)(begin - base) : ALL, high = own ? (u32)(end - base) : 0;
  const u32 stop = __shfl_sync(ALL, high, last);
  u32 row = first, until = from == base ? __shfl_sync(ALL, high, first) : 0;  // `row` has the entries before `until`
  bool whole = false;  // whether `part` has sums of slices of `row`
  Z part = identity();
  const auto finish = [&] {
    const Z z = __shfl_sync(ALL, fold_all(part), 0);
    if (lane == row) sum = has ? add(sum, z) : z;
    has |= lane == row;
    whole = false;
  };
  each_slice(m, base, (u32)(from - base), stop, [&](u32 at, bool in, Z z) {
    if (at + 32 <= until) {
      part = whole ? add(part, z) : z;
      whole = true;
      return;
    }
    if (whole) finish();
    const bool mine = low < at + 32 && high > at;
    const u32 lo = mine && low > at ? low - at : 0, hi = mine && high - at < 32 ? high - at : 32;
    const u32 heads = or_lanes(mine ? bit(lo) : 0) & (ALL >> (31u - lane));
    fold(heads ? 31u - (u32)__clz((int)heads) : lane, mine ? bit_range(lo, hi) : 0, in, z, sum, has);
    row = 31u - (u32)__clz((int)__ballot_sync(ALL, mine));
    until = __shfl_sync(ALL, high, row);
  });
  if (whole) finish();
}

}  // namespace szc
