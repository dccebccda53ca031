// Bisection in ascending offsets.
#pragma once
#include "warp.cuh"

namespace szc {

// The last k with offsets[k] <= at, for lo <= k < hi and offsets[lo] <= at: the row of entry `at`.
__device__ __forceinline__ u64 last_not_above(const i64* offsets, u64 lo, u64 hi, u64 at) {
  while (hi - lo > 1) {
    const u64 mid = (lo + hi) / 2;
    if ((u64)offsets[mid] <= at) lo = mid; else hi = mid;
  }
  return lo;
}

// The same for all lanes of a warp, whose numbers `at` are close together, the first lane's the smallest. All lanes
// call, with the same lo and hi, and read 32 offsets at a time: a warp waits five times for 2^24 offsets, not 24 times.
__device__ __forceinline__ u64 last_not_above_together(const i64* offsets, u64 lo, u64 hi, u64 at) {
  const u64 end = hi, least = __shfl_sync(ALL, at, 0);
  while (hi - lo > 1) {
    const u64 step = (hi - lo + 31) / 32, mine = lo + step * lane_id();
    const u32 below = __ballot_sync(ALL, mine < hi && (u64)offsets[mine] <= least);
    lo += step * ((u64)__popc(below) - 1);
    hi = lo + step < hi ? lo + step : hi;
  }
  const u64 next = lo + 1 + lane_id();
  const u64 offset = next < end ? (u64)offsets[next] : ~(u64)0;
  const u64 last = __shfl_sync(ALL, offset, 31);
  u32 count = 0;  // of the next 32 offsets, those not above this lane's number
  for (u32 d = 16; d; d >>= 1)
    if (__shfl_sync(ALL, offset, (int)(count + d - 1)) <= at) count += d;
  return last <= at ? last_not_above(offsets, lo + 32, end, at) : lo + count;
}

}  // namespace szc
