// Bisection in ascending numbers.
#pragma once
#include "port.cuh"

namespace szc {

// The last k with offsets[k] <= at, for lo <= k < hi and offsets[lo] <= at: the row of an entry.
__device__ __forceinline__ u64 last_not_above(const i64* offsets, u64 lo, u64 hi, u64 at) {
  while (hi - lo > 1) {
    const u64 mid = (lo + hi) / 2;
    if ((u64)offsets[mid] <= at) lo = mid; else hi = mid;
  }
  return lo;
}

}  // namespace szc
