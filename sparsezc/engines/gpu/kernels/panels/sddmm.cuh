// Single entries of a product of two full panels: entry (i, j) is the sum over c of X(i, c) (x) Y(j, c).
//
// Included by sddmm.cu, which writes them, and spmm.cuh, spmm_few.cu and two_way.cu, which multiply by them. Panels are
// on the device, row i at i * inner. GROUP lanes share an entry: they read neighbouring values of one row, and add up
// their sums. Where rows are so short that a lane reads one in few requests, each lane has an entry of its own: a warp
// then has requests for 32 rows in flight, not for a few.
//
// The prelude supplies L, R (types of X and Y), GROUP (a power of two), INNER (the length of rows that a lane reads
// alone, else 0), ALIGNED_SIDES (X and Y begin at a multiple of 16 bytes), and in a namespace `dot` Z, the monoid, and
// `Z multiply(L x, R y, u64 row, u64 shared, u64 col)`.
#pragma once
#include "warp.cuh"

namespace szc {

// Reads N values, the first at a multiple of N in its array, in requests of 16 bytes where the array is aligned for
// them.
template <u32 N, bool ALIGNED, class T> __device__ __forceinline__ void read_row(const T* from, T (&row)[N]) {
  if constexpr (ALIGNED && N * sizeof(T) % 16 == 0) {
    struct alignas(16) Words { u64 low, high; };
#pragma unroll
    for (u32 k = 0; k < N * sizeof(T) / 16; ++k) {
      const Words words = ((const Words*)from)[k];
      memcpy((char*)row + 16 * k, &words, 16);
    }
  } else {
#pragma unroll
    for (u32 c = 0; c < N; ++c) row[c] = from[c];
  }
}

// An entry that one lane computes alone.
__device__ __forceinline__ dot::Z dot_alone(const L* left, const R* right, u64 i, u64 j) {
  constexpr u32 N = INNER ? INNER : 1;
  L v[N];
  R w[N];
  read_row<N, ALIGNED_SIDES>(right + j * N, w);
  read_row<N, ALIGNED_SIDES>(left + i * N, v);
  dot::Z sum = dot::multiply(v[0], w[0], i, 0, j);
#pragma unroll
  for (u32 c = 1; c < N; ++c) sum = dot::add(sum, dot::multiply(v[c], w[c], i, c, j));
  return sum;
}

// The entry (row, id) of each lane whose bit is set in `active`. All lanes call.
__device__ __forceinline__ dot::Z dot_entries(const L* left, const R* right, u64 inner, u64 row, u64 id, u32 active) {
  const u32 lane = lane_id();
  if (INNER) return has_bit(active, lane) ? dot_alone(left, right, row, id) : dot::Z();
  constexpr u32 TOGETHER = 32 / GROUP;
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
