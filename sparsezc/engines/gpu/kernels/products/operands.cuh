// The matrices of a product: their values, where the multiply reads them, and bisection for an id in a row.
#pragma once
#include "portability.cuh"

namespace szc {

template <class Id, class T> struct Matrix {
  const i64* indptr;
  const Id* ids;
  const T* values;

  template <bool READS, bool ISO> __device__ __forceinline__ T value(u64 at) const {
    return !READS ? T() : ISO ? values[0] : load_host(values + at, 1);
  }

  // The entry among from .. to-1 whose id is `id`; without a `hit`, the position where it would be.
  __device__ __forceinline__ u64 find(u64 from, u64 to, u64 id, bool& hit) const {
    const u64 end = to;
    while (from < to) {
      const u64 mid = (from + to) / 2;
      if ((u64)load_host_cached(ids + mid, 0) < id) from = mid + 1; else to = mid;
    }
    hit = from < end && (u64)load_host_cached(ids + from, 0) == id;
    return from;
  }
};

}  // namespace szc
