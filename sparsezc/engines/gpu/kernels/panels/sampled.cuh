// Entries of a product of two full panels, where they are asked for: entry (i, j) is the sum over c of X(i, c) (x) Y(j, c).
//
// Who calls: sampled.cu, which writes them, and spmm.cu, which multiplies by them. Panels lie on the device, row i at i * inner.
// GROUP lanes share an entry: they read neighbouring values of one row, and add up their sums.
//
// The prelude supplies L, R (types of X and Y), GROUP (a power of two), and in a namespace `dot` Z, the monoid, and
// `Z multiply(L x, R y, u64 row, u64 shared, u64 col)`.
#pragma once
#include "warp.cuh"

namespace szc {

// The entry (row, id) of each lane whose bit is set in `active`. All lanes call.
__device__ __forceinline__ dot::Z dot_entries(const L* left, const R* right, u64 inner, u64 row, u64 id, u32 active) {
  constexpr u32 TOGETHER = 32 / GROUP;
  const u32 lane = lane_id();
  dot::Z mine = dot::Z();
  for (u32 t = 0; t < 32; t += TOGETHER) {
    if (!(active & bit_range(t, t + TOGETHER))) continue;
    const u32 from = t + lane / GROUP;
    const u64 i = __shfl_sync(ALL, row, from), j = __shfl_sync(ALL, id, from);
    dot::Z sum = dot::identity();
    bool has = false;
    if (has_bit(active, from))
      for (u64 c = lane % GROUP; c < inner; c += GROUP) {
        const dot::Z z = dot::multiply(left[i * inner + c], right[j * inner + c], i, c, j);
        sum = has ? dot::add(sum, z) : z;
        has = true;
      }
    for (u32 d = 1; d < GROUP; d <<= 1) {
      const dot::Z other = __shfl_xor_sync(ALL, sum, (int)d);
      if (__shfl_xor_sync(ALL, (int)has, (int)d)) {
        sum = has ? dot::add(sum, other) : other;
        has = true;
      }
    }
    const dot::Z found = __shfl_sync(ALL, sum, ((lane - t) & (TOGETHER - 1)) * GROUP);
    if (lane - t < TOGETHER) mine = found;
  }
  return mine;
}

}  // namespace szc
